// Package dispatch takes a message from the bus to a run and a run to its posts: it routes what people say, claims runs
// that wait, keeps their leases while the loop works on them, writes their endings and hands the posts on. Everything
// it must remember is in the ledger; what it holds in memory may be lost at any moment.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"plumb/access"
	"plumb/bus"
	"plumb/chat"
	"plumb/ledger"
	"plumb/loop"
	"plumb/model"
)

// Config is what a dispatcher works with.
type Config struct {
	Ledger  ledger.Ledger
	Bus     *bus.Bus
	Policy  *access.Policy
	Budgets map[string]loop.Budget
	Model   model.Model
	Price   loop.Price
	Label   string                          // a line under every answer that says what kind of model wrote it; may be empty
	Tools   func(access.Grant) loop.Toolset // what a grant allows to use, as of now
	Worker  string                          // this process, for the record
	Runs    int                             // how many at a time
	Lease   time.Duration
	Drain   time.Duration // how long what is under way may go on once ctx has ended
	Log     *slog.Logger
}

// A Dispatcher is the work side of the product.
type Dispatcher struct {
	Config
	desk  desk
	relay *relay
}

// ErrDrained is the cause of a run's context when the process leaves: the run is handed back for another one.
var ErrDrained = errors.New("this process is leaving")

// New makes a dispatcher.
func New(c Config) *Dispatcher {
	return &Dispatcher{Config: c, relay: newRelay(c.Ledger, c.Bus, c.Log)}
}

// Run works until ctx ends, then lets what is under way finish, for as long as Drain allows.
func (d *Dispatcher) Run(ctx context.Context) error {
	cancel, err := d.serve()
	if err != nil {
		return err
	}
	defer cancel()
	work, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	defer leave(ErrDrained)
	relaying, stopRelay := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRelay()
	var g errgroup.Group
	g.Go(func() error { return d.relay.run(relaying) })
	in, inCtx := errgroup.WithContext(ctx)
	in.Go(func() error { return d.Bus.Events(inCtx, d.event) })
	in.Go(func() error {
		return d.Bus.Runs(inCtx, d.Runs, func(_ context.Context, run string) error { return d.work(work, run) })
	})
	in.Go(func() error { return d.sweep(inCtx) })
	defer context.AfterFunc(inCtx, func() {
		late := time.AfterFunc(d.Drain, func() { leave(ErrDrained) })
		context.AfterFunc(work, func() { late.Stop() })
	})()
	err = in.Wait()
	stopRelay()
	return errors.Join(err, g.Wait())
}

// serve answers what the chat side asks, and listens for stops.
func (d *Dispatcher) serve() (cancel func(), err error) {
	var cancels []func()
	cancel = func() {
		for _, c := range cancels {
			c()
		}
	}
	for _, open := range []func() (func(), error){
		func() (func(), error) { return d.Bus.OnStop(d.desk.stop) },
		func() (func(), error) { return bus.Serve(d.Bus, "exhibits", d.exhibits) },
		func() (func(), error) { return bus.Serve(d.Bus, "delivered", d.delivered) },
	} {
		c, err := open()
		if err != nil {
			cancel()
			return nil, fmt.Errorf("listen on the bus: %w", err)
		}
		cancels = append(cancels, c)
	}
	return cancel, nil
}

// sweep looks again and again for what got stuck: runs whose wake-up was lost or whose worker is gone, posts that were
// not handed on or never reported.
func (d *Dispatcher) sweep(ctx context.Context) error {
	t := time.NewTicker(max(d.Lease/2, time.Second))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if err := d.wakeDue(ctx); err != nil && ctx.Err() == nil {
			d.Log.Warn("cannot look for runs that wait", "error", err)
		}
		if err := d.relay.sweep(ctx, max(d.Lease, 10*time.Second)); err != nil && ctx.Err() == nil {
			d.Log.Warn("cannot look for posts that wait", "error", err)
		}
	}
}

func (d *Dispatcher) wakeDue(ctx context.Context) error {
	runs, err := d.Ledger.Due(ctx, d.Lease, 100)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if d.desk.has(run) {
			continue
		}
		if err := d.Bus.Wake(ctx, run); err != nil {
			return err
		}
	}
	return nil
}

// show tells the chat side how a run stands.
func (d *Dispatcher) show(p chat.Progress) {
	if err := d.Bus.ShowProgress(p); err != nil {
		d.Log.Debug("progress is not shown", "run", p.Run, "error", err)
	}
}

func (d *Dispatcher) mark(m chat.Message, s chat.Sign) {
	if m.Conversation.Platform == chat.CLI {
		return
	}
	if err := d.Bus.ShowMark(chat.Mark{Conversation: m.Conversation, Message: m.ID, Sign: s}); err != nil {
		d.Log.Debug("a mark is not shown", "message", m.ID, "error", err)
	}
}
