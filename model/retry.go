package model

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"math"
	"math/rand/v2"
	"time"
)

// RetryOptions say how patient to be. What is zero is at its default.
type RetryOptions struct {
	Attempts int           // in all; 4
	Base     time.Duration // the pause before the second attempt is random up to this and may double each time; 0.5 s
	Longest  time.Duration // but is never drawn from more than this; 8 s
	MaxAfter time.Duration // a provider that asks for more waiting than this is asked sooner than it likes; 20 s
	First    time.Duration // how long the first sign of a reply may take; 60 s
	Between  time.Duration // how long the next one may take; 60 s
	Log      *slog.Logger  // is told of attempts that failed; nil for nobody
}

func (o RetryOptions) withDefaults() RetryOptions {
	set := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	set(&o.Base, 500*time.Millisecond)
	set(&o.Longest, 8*time.Second)
	set(&o.MaxAfter, 20*time.Second)
	set(&o.First, time.Minute)
	set(&o.Between, time.Minute)
	if o.Attempts <= 0 {
		o.Attempts = 4
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// WithRetry is m, asked again where a failure may pass (L14). A reply that broke off is started again, not continued:
// a part with Reset takes back what was yielded of it, and what it took is added to the usage. Once a call was yielded
// there is no other attempt, since whoever listens may have acted on it.
func WithRetry(m Model, o RetryOptions) Model { return &retrying{Model: m, o: o.withDefaults()} }

type retrying struct {
	Model
	o RetryOptions
}

func (r *retrying) Generate(ctx context.Context, req Request) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		b := &bill{req: req, yield: yield}
		for n := 1; ; n++ {
			err := r.attempt(ctx, req, b)
			if err == nil || b.left {
				return
			}
			failure, ok := errors.AsType[*Error](err)
			if !ok || !failure.Retryable() || b.called || n == r.o.Attempts {
				b.fail(err)
				return
			}
			pause := r.pause(n, failure.After)
			r.o.Log.WarnContext(ctx, "the model failed, it is asked again", "model", r.Name(), "attempt", n, "pause", pause, "err", err)
			if err := sleep(ctx, pause); err != nil {
				b.fail(err)
				return
			}
			if !b.again() {
				return
			}
		}
	}
}

// attempt is one try. Its silence is timed; the time that the listener takes is not.
func (r *retrying) attempt(parent context.Context, req Request, b *bill) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	timer := time.AfterFunc(r.o.First, func() {
		cancel(&Error{Kind: Broken, Err: errors.New("the model has been silent for too long")})
	})
	defer timer.Stop()
	for part, err := range r.Model.Generate(ctx, req) {
		timer.Stop()
		switch {
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case !b.pass(part):
			return nil
		}
		timer.Reset(r.o.Between)
	}
	return nil
}

// pause is drawn from the whole range ("full jitter"), so that many runs that failed together do not return together.
func (r *retrying) pause(failed int, after time.Duration) time.Duration {
	most := min(float64(r.o.Longest), float64(r.o.Base)*math.Exp2(float64(failed-1)))
	return max(rand.N(time.Duration(most)+1), min(after, r.o.MaxAfter))
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A bill passes the parts of several attempts on to one listener and adds up what they took.
type bill struct {
	req   Request
	yield func(Part, error) bool

	spent  Usage  // by the attempts before
	usage  *Usage // of this attempt, as far as it was told
	text   int    // bytes of text of this attempt
	called bool   // a call was passed on
	left   bool   // the listener has gone
}

// pass hands a part on. It says whether the listener stays.
func (b *bill) pass(p Part) bool {
	switch {
	case p.Usage != nil:
		b.usage = p.Usage
		sum := b.spent.Add(*p.Usage)
		p.Usage = &sum
	case p.Reset:
		b.text = 0
	case p.Call != nil:
		b.called = true
	}
	b.text += len(p.Text)
	b.left = !b.yield(p, nil)
	return !b.left
}

// close ends an attempt that failed. If it had begun to write, somebody has to pay for it, told or not.
func (b *bill) close() (wrote bool) {
	wrote = b.text > 0
	switch {
	case b.usage != nil:
		b.spent = b.spent.Add(*b.usage)
	case wrote:
		u := Estimate(b.req, Reply{})
		u.OutputTokens = tokens(b.text)
		b.spent = b.spent.Add(u)
	}
	b.usage, b.text = nil, 0
	return wrote
}

// again makes ready for another attempt. It says whether the listener stays.
func (b *bill) again() bool {
	if b.close() {
		b.left = !b.yield(Part{Reset: true}, nil)
	}
	return !b.left
}

// fail ends the reply: first what it took, then the error.
func (b *bill) fail(err error) {
	if b.close(); b.spent != (Usage{}) {
		sum := b.spent
		if !b.yield(Part{Usage: &sum}, nil) {
			return
		}
	}
	b.yield(Part{}, err)
}
