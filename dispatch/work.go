package dispatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"plumb/access"
	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
	"plumb/loop"
	"plumb/verify"
)

// desk knows which runs this process works on, so that a stop finds them.
type desk struct {
	mu   sync.Mutex
	runs map[string]context.CancelCauseFunc
}

func (k *desk) put(run string, cancel context.CancelCauseFunc) (remove func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.runs == nil {
		k.runs = map[string]context.CancelCauseFunc{}
	}
	k.runs[run] = cancel
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.runs, run)
	}
}

func (k *desk) has(run string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.runs[run] != nil
}

func (k *desk) stop(run string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if cancel := k.runs[run]; cancel != nil {
		cancel(ledger.ErrStopped)
	}
}

// work does what a wake-up asks for: it claims the run and works on it until it has ended, or belongs to somebody else.
func (d *Dispatcher) work(ctx context.Context, id string) error {
	held, err := d.Ledger.Claim(ctx, id, d.Worker, d.Lease)
	if errors.Is(err, ledger.ErrTaken) || errors.Is(err, ledger.ErrUnknown) {
		return nil // dealt with, or being dealt with
	}
	if err != nil {
		return err
	}
	log := d.Log.With("run", id, "conversation", held.Run.Conversation.Key(), "attempt", held.Run.Attempts)
	log.Info("a run was claimed")
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer d.desk.put(id, cancel)()
	var beating sync.WaitGroup
	beating.Go(func() { d.beat(ctx, held.Lease, cancel) })
	err = d.answer(ctx, held)
	cancel(nil)
	beating.Wait()
	switch {
	case err == nil:
		log.Info("a run has ended")
		return nil
	case errors.Is(err, ledger.ErrFenced):
		log.Warn("the run went to another worker")
		return nil
	case errors.Is(err, ErrDrained):
		log.Info("the run is handed back")
		return errors.Join(ErrDrained, d.release(ctx, held.Lease))
	}
	log.Error("a run broke off", "error", err)
	if held.Run.Attempts >= attempts {
		return d.abandon(ctx, held)
	}
	return errors.Join(err, d.release(ctx, held.Lease))
}

// answer runs the loop for a claimed run.
func (d *Dispatcher) answer(ctx context.Context, held ledger.Held) error {
	page := &page{d: d, held: held}
	for _, s := range held.Steps {
		page.heard(s.Heard)
	}
	grant, err := d.Policy.At(held.Run.Conversation.Place)
	if refusal, ok := errors.AsType[*access.Refusal](err); ok {
		return page.Finish(ctx, loop.Outcome{Step: 1, Status: evidence.Refused, Text: refusal.Error(), Unheard: true, Report: verify.Report{Verdict: evidence.Unchecked}})
	}
	budget, ok := d.Budgets[held.Run.Budget]
	if !ok {
		budget = loop.Work()
	}
	return loop.Run(ctx, loop.Config{Model: d.Model, Price: d.Price, Tools: d.Tools(grant), Budget: budget, Journal: page, Observe: page.observe,
		Log: d.Log.With("run", held.Run.ID)}, held)
}

// beat keeps a lease until ctx ends. A heartbeat that fails ends the work (S12), after another try while there is time.
func (d *Dispatcher) beat(ctx context.Context, l ledger.Lease, cancel context.CancelCauseFunc) {
	t := time.NewTicker(d.Lease / 3)
	defer t.Stop()
	failed := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		call, done := context.WithTimeout(ctx, d.Lease/3)
		err := d.Ledger.Extend(call, l, d.Lease)
		done()
		switch {
		case err == nil:
			failed = 0
			continue
		case errors.Is(err, ledger.ErrStopped), errors.Is(err, ledger.ErrFenced):
			cancel(err)
			return
		}
		if failed++; failed > 1 {
			cancel(errors.Join(ledger.ErrFenced, err))
			return
		}
	}
}

func (d *Dispatcher) release(ctx context.Context, l ledger.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return d.Ledger.Release(ctx, l)
}

// attempts is how often a run may break off through a failure of ours before it is given up (S13).
const attempts = 3

// abandon ends a run that broke off too often, and says so in its thread.
func (d *Dispatcher) abandon(ctx context.Context, held ledger.Held) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	page := &page{d: d, held: held}
	text := "Something broke on my side, and I could not answer. Whoever runs me finds the reason in the log under run " + held.Run.ID + "."
	return page.Finish(ctx, loop.Outcome{Step: 1, Status: evidence.Failed, Text: text, Unheard: true, Report: verify.Report{Verdict: evidence.Unchecked}})
}

// heard tells people that the model has their remarks.
func (p *page) heard(said []ledger.Said) {
	for _, s := range said {
		if s.Message.ID != p.held.Run.Question.ID {
			p.d.mark(s.Message, chat.Applied)
		}
	}
}
