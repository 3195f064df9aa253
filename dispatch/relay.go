package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"plumb/bus"
	"plumb/chat"
	"plumb/ledger"
)

// relay hands posts from the ledger's outbox on to the bus. The posts of a transaction go out right after it; that they
// did is written down in batches, since it only spares work: a post handed on twice is delivered once all the same.
type relay struct {
	ledger ledger.Ledger
	bus    *bus.Bus
	log    *slog.Logger
	handed chan string
}

func newRelay(l ledger.Ledger, b *bus.Bus, log *slog.Logger) *relay {
	return &relay{ledger: l, bus: b, log: log, handed: make(chan string, 1024)}
}

// post hands posts on at once. What fails is found by the next sweep.
func (r *relay) post(ctx context.Context, posts []chat.Post) {
	for _, p := range posts {
		if err := r.bus.PublishPost(context.WithoutCancel(ctx), p, "1"); err != nil {
			r.log.Warn("a post waits to be handed on", "post", p.ID, "run", p.Run, "error", err)
			continue
		}
		select {
		case r.handed <- p.ID:
		default: // the sweep hands it on once more, which does no harm
		}
	}
}

// run writes down what was handed on, until ctx ends.
func (r *relay) run(ctx context.Context) error {
	for {
		var batch []string
		select {
		case id := <-r.handed:
			batch = append(batch, id)
		case <-ctx.Done():
			return r.flush(ctx, r.more(nil))
		}
		pause := time.NewTimer(100 * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
		}
		if err := r.flush(ctx, r.more(batch)); err != nil {
			r.log.Warn("cannot note which posts were handed on", "error", err)
		}
	}
}

// more takes what waits in the channel without waiting for it.
func (r *relay) more(batch []string) []string {
	for {
		select {
		case id := <-r.handed:
			batch = append(batch, id)
		default:
			return batch
		}
	}
}

func (r *relay) flush(ctx context.Context, batch []string) error {
	if len(batch) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return r.ledger.HandedOn(ctx, batch)
}

// sweep hands on what is in the outbox and was not delivered for long.
func (r *relay) sweep(ctx context.Context, age time.Duration) error {
	posts, err := r.ledger.Outbox(ctx, age, 100)
	if err != nil || len(posts) == 0 {
		return err
	}
	var ids []string
	for _, p := range posts {
		attempt := strconv.FormatInt(time.Now().Unix()/max(int64(age.Seconds()), 1), 10)
		if err := r.bus.PublishPost(ctx, p, attempt); err != nil {
			return fmt.Errorf("hand on %s: %w", p.ID, err)
		}
		ids = append(ids, p.ID)
	}
	return r.ledger.HandedOn(ctx, ids)
}
