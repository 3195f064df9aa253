package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"plumb/chat"
)

// PublishEvent puts an event where it cannot be lost. When it returns nil the platform may be told that we have it.
func (b *Bus) PublishEvent(ctx context.Context, e chat.Event) error {
	c := e.Conversation()
	subject := fmt.Sprintf("plumb.in.%s.%s.%s.%s", token(c.Platform), token(c.Team), token(c.Channel), token(c.Thread))
	return b.publish(ctx, subject, e, e.Key)
}

// Wake tells the executors that a run waits. The ledger lets only one of them have it.
func (b *Bus) Wake(ctx context.Context, run string) error {
	return b.publish(ctx, "plumb.run."+token(run), run, "")
}

// PublishPost hands a post to the adapter of its platform. The attempt tells a repetition that is meant from one that is not.
func (b *Bus) PublishPost(ctx context.Context, p chat.Post, attempt string) error {
	at := p.Reply.Conversation
	return b.publish(ctx, fmt.Sprintf("plumb.out.%s.%s", token(at.Platform), token(at.Team)), p, p.ID+"/"+attempt)
}

func (b *Bus) publish(ctx context.Context, subject string, v any, id string) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var opts []jetstream.PublishOpt
	if id != "" {
		opts = append(opts, jetstream.WithMsgID(id))
	}
	if _, err := b.js.Publish(ctx, subject, data, opts...); err != nil {
		return fmt.Errorf("publish %s: %w", subject, err)
	}
	return nil
}

// Events handles what comes in until ctx ends; those of one conversation one after the other.
func (b *Bus) Events(ctx context.Context, handle func(context.Context, chat.Event) error) error {
	return consume(ctx, b, inbox, handle, func(e chat.Event) string { return e.Conversation().Key() })
}

// Runs handles wake-ups until ctx ends, at most slots at a time, and asks for one only when a slot is free: a wake-up
// that waits here could be dealt with elsewhere.
func (b *Bus) Runs(ctx context.Context, slots int, handle func(context.Context, string) error) error {
	c := workers
	c.lanes = slots
	return consume(ctx, b, c, handle, nil)
}

// Posts handles what goes out to a platform until ctx ends; what goes to one conversation one after the other.
func (b *Bus) Posts(ctx context.Context, platform string, handle func(context.Context, chat.Post) error) error {
	c := outbox
	c.name, c.filter = "post-"+platform, "plumb.out."+platform+".>"
	return consume(ctx, b, c, handle, func(p chat.Post) string { return p.Reply.Conversation.Key() })
}

// A consumer says how a stream is read.
type consumer struct {
	stream, name, filter string
	lanes                int           // how many are handled side by side
	tries                uint64        // handling that failed so often puts the message among the dead letters; 0: never
	backoff              time.Duration // before another try
	patience             time.Duration // until a message that nobody reports on is delivered again
}

var (
	inbox   = consumer{stream: streamIn, name: "dispatch", filter: "plumb.in.>", lanes: 16, tries: 10, backoff: time.Second, patience: 8 * time.Second}
	workers = consumer{stream: streamRuns, name: "executors", filter: "plumb.run.*", backoff: time.Second, patience: 30 * time.Second}
	outbox  = consumer{stream: streamOut, lanes: 16, tries: 0, backoff: 2 * time.Second, patience: 8 * time.Second}
)

// ErrLater is what a handler returns when the message should come again soon, without anything being wrong.
var ErrLater = errors.New("not now")
