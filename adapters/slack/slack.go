// Package slack speaks Slack in the words of chat. It listens over Socket Mode, so that no address of ours has to be
// reachable, and it posts through the Web API.
//
// Listening: an event is acknowledged only after it has been published, so that Slack sends again what was not.
// Posting: an answer is tried with the newest blocks first and with plainer ones when a workspace refuses them, so that
// a refused block never costs the answer. Receipts and progress go through a pacer of their own that yields to answers.
package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"plumb/chat"
)

// Config is what it takes to be a member of a workspace.
type Config struct {
	AppToken string // xapp-…, opens the socket
	BotToken string // xoxb-…, calls the Web API
	APIURL   string // another root of the Web API, ending in /api/; empty for Slack's own
}

// Deps is what the adapter needs of the rest of the program.
type Deps struct {
	// Publish makes an event durable.
	Publish func(context.Context, chat.Event) error
	// Exhibits gives the evidence of a run to somebody who asks for it at a place. Its error is shown to that person.
	Exhibits func(ctx context.Context, run string, who chat.Person, at chat.Place) ([]chat.Exhibit, error)
	Log      *slog.Logger
}

// How long things may take.
const (
	callTimeout    = 20 * time.Second
	publishTimeout = 2 * time.Second // Slack wants its acknowledgement within 3 s
	silence        = 60 * time.Second
)

// An Adapter is the bot's presence in one workspace.
type Adapter struct {
	deps    Deps
	log     *slog.Logger
	api     *slack.Client
	link    *socketmode.Client
	secrets []string
	names   *names
	pacer   *pacer
	me      atomic.Pointer[identity]
	heard   *pulse
	plain   atomic.Bool // this workspace does not know the container block
	clicks  sync.WaitGroup
}

// identity is who the bot is in the workspace.
type identity struct{ user, bot string }

var _ chat.Poster = (*Adapter)(nil)

// New makes an adapter; nothing happens before [Adapter.Run].
func New(c Config, d Deps) *Adapter {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	a := &Adapter{deps: d, log: d.Log.With("platform", chat.Slack), secrets: []string{c.AppToken, c.BotToken}, heard: &pulse{}}
	options := []slack.Option{
		slack.OptionAppLevelToken(c.AppToken),
		slack.OptionHTTPClient(&http.Client{Timeout: callTimeout}),
	}
	if root := apiRoot(c.APIURL); root != "" {
		options = append(options, slack.OptionAPIURL(root))
	}
	a.api = slack.New(c.BotToken, options...)
	a.link = socketmode.New(a.api, socketmode.OptionDialer(a.heard.dialer()))
	a.names = &names{ask: a.askName, known: map[string]named{}}
	a.pacer = newPacer(a)
	return a
}

// apiRoot forgives a missing or doubled slash.
func apiRoot(raw string) string {
	u, err := url.Parse(raw)
	if raw == "" || err != nil {
		return raw
	}
	u.Path = path.Clean("/"+u.Path) + "/"
	return u.String()
}

// Platform is the name of the platform.
func (a *Adapter) Platform() string { return chat.Slack }

// Run listens and keeps up receipts and progress until ctx ends, or until Slack refuses a token for good.
func (a *Adapter) Run(ctx context.Context) error {
	if err := a.introduce(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	wg.Go(func() { a.pacer.run(inner) })
	wg.Go(func() { cancel(a.connect(inner)) })
	a.listen(inner, cancel)
	wg.Wait()
	a.clicks.Wait()
	if ctx.Err() != nil {
		return nil // asked to end, and not by Slack
	}
	return context.Cause(inner)
}

// introduce asks Slack who the bot is, again and again while Slack cannot be reached.
func (a *Adapter) introduce(ctx context.Context) error {
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		who, err := a.api.AuthTestContext(ctx)
		if err == nil {
			a.me.Store(&identity{user: who.UserID, bot: who.BotID})
			return nil
		}
		if problem := tokenProblem("bot", err); problem != nil {
			return problem
		}
		a.log.Warn("Slack does not say who the bot is, trying again", "error", a.clean(err), "in", pause)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// Ready is nil when the bot token works and Slack was heard on the socket within the last minute.
func (a *Adapter) Ready() error {
	switch {
	case a.me.Load() == nil:
		return errors.New("slack: the bot token has not been accepted yet (auth.test); check slack.bot_token and the network")
	case !a.heard.connected.Load():
		return errors.New("slack: the socket is not connected; check slack.app_token and that Socket Mode is on")
	}
	if quiet := a.heard.since(); quiet > silence {
		return fmt.Errorf("slack: nothing was heard on the socket for %s; it reconnects by itself", quiet.Round(time.Second))
	}
	return nil
}

// Progress shows how a run stands, in its own time. It does not wait and cannot fail.
func (a *Adapter) Progress(p chat.Progress) { a.pacer.progress(p) }

// Mark puts a receipt on a message, in its own time. It does not wait and cannot fail.
func (a *Adapter) Mark(m chat.Mark) { a.pacer.mark(m) }
