package adapters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"plumb/bus"
	"plumb/chat"
	"plumb/ledger"
)

// A Book keeps how far each delivery has come; it outlives the process.
type Book interface {
	Load(ctx context.Context, post string, v any) error
	Save(ctx context.Context, post string, v any) error
}

var _ Book = bus.Book{}

// A Delivery takes posts to their platform, each part once (S14): before a part is sent the book says "sending", and
// after it the platform's id. A part found as "sending" may be out already, so it is looked for before it is sent again.
type Delivery struct {
	Poster chat.Poster
	Book   Book
	Report func(context.Context, ledger.Delivery) error
	Log    *slog.Logger
}

// state is what the book holds of a post.
type state struct {
	IDs     []string `json:"ids"`     // of the parts that are out
	Sending bool     `json:"sending"` // the next one may be
	Done    bool     `json:"done"`
	Error   string   `json:"error,omitempty"`
}

// longest is how long one call waits for a platform that asks for patience before the bus brings the post again.
const longest = 5 * time.Minute

// Deliver takes a post out and reports it. An error means that the post must come again.
func (d Delivery) Deliver(ctx context.Context, p chat.Post) error {
	var s state
	if err := d.Book.Load(ctx, p.ID, &s); err != nil {
		return err
	}
	if !s.Done {
		if err := d.send(ctx, p, &s); err != nil {
			return err
		}
		s.Done = true
		if err := d.Book.Save(ctx, p.ID, s); err != nil {
			return err
		}
	}
	return d.Report(ctx, ledger.Delivery{Post: p.ID, IDs: s.IDs, Error: s.Error})
}

// send sends the parts that are not out yet. A post that the platform will never take ends with its reason in the book.
func (d Delivery) send(ctx context.Context, p chat.Post, s *state) error {
	for {
		last, err := d.part(ctx, p, s)
		if no, ok := errors.AsType[*refusal](err); ok && ctx.Err() == nil {
			d.Log.Error("a post cannot be delivered", "post", p.ID, "run", p.Run, "conversation", p.Reply.Conversation.Key(), "error", no.err)
			s.Error = no.err.Error()
			return nil
		}
		if err != nil || last {
			return err
		}
	}
}

// part sees to it that the next part is out.
func (d Delivery) part(ctx context.Context, p chat.Post, s *state) (last bool, err error) {
	n := len(s.IDs)
	for wait := time.Duration(0); ; {
		if s.Sending {
			id, found, err := d.Poster.Find(ctx, p, n)
			if err != nil {
				return false, fmt.Errorf("look for part %d: %w", n, err)
			}
			if found {
				d.Log.Info("a part whose fate was unknown is out", "post", p.ID, "part", n)
				// Whether more follow is not known from looking; a part past the last is one that sends nothing.
				return d.sent(ctx, p, s, id, false)
			}
		}
		s.Sending = true
		if err := d.Book.Save(ctx, p.ID, s); err != nil {
			return false, err
		}
		id, last, err := d.Poster.Send(ctx, p, n)
		if err == nil {
			return d.sent(ctx, p, s, id, last)
		}
		if after, again := chat.Retryable(err); again {
			s.Sending = false
			wait = max(after, min(2*wait, 30*time.Second), 500*time.Millisecond)
		} else if unknown(err) {
			wait = max(2*wait, 500*time.Millisecond)
		} else {
			return false, &refusal{err}
		}
		if wait > longest || !rest(ctx, wait) {
			return false, err
		}
	}
}

func (d Delivery) sent(ctx context.Context, p chat.Post, s *state, id string, last bool) (bool, error) {
	s.Sending = false
	if id != "" {
		s.IDs = append(s.IDs, id)
	}
	return last, d.Book.Save(ctx, p.ID, s)
}

// A refusal is a platform's last word on a post.
type refusal struct{ err error }

func (r *refusal) Error() string { return "refused: " + r.err.Error() }

func unknown(err error) bool {
	_, ok := errors.AsType[*chat.Unknown](err)
	return ok
}

func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
