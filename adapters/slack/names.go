package slack

import (
	"context"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// Bounds of the cache of names.
const (
	nameTimeout = 500 * time.Millisecond // for all the names of one message
	nameLife    = time.Hour
	nameRetry   = time.Minute // how soon to ask again for a name that Slack did not give
	namesKept   = 10_000
)

// names remembers what people are called.
type names struct {
	ask func(ctx context.Context, id string) (string, error)

	mu    sync.Mutex
	known map[string]named
}

type named struct {
	name  string
	until time.Time
}

// of is what somebody is called, or the id where Slack does not say so in time.
func (n *names) of(ctx context.Context, id string) string {
	n.mu.Lock()
	k, ok := n.known[id]
	n.mu.Unlock()
	if ok && time.Now().Before(k.until) {
		return k.name
	}
	if ctx.Err() != nil {
		return id // the names before this one took all the time there was
	}
	name, err := n.ask(ctx, id)
	life := nameLife
	if err != nil || name == "" {
		name, life = id, nameRetry
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= namesKept {
		clear(n.known) // rare, and cheaper to explain than an order of use
	}
	n.known[id] = named{name, time.Now().Add(life)}
	return name
}

func (a *Adapter) askName(ctx context.Context, id string) (string, error) {
	u, err := a.api.GetUserInfoContext(ctx, id)
	if err != nil {
		return "", err
	}
	return displayName(u), nil
}

func displayName(u *slack.User) string {
	for _, name := range []string{u.Profile.DisplayName, u.RealName, u.Profile.RealName, u.Name} {
		if name != "" {
			return name
		}
	}
	return ""
}
