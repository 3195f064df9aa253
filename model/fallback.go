package model

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Fallback asks the first model, and the next one where that is overloaded, broken, refuses us or does not exist: give
// it models that retry by themselves. Its name is the first one's; a part with Model tells when another one takes over.
func Fallback(models ...Model) Model {
	if len(models) == 1 {
		return models[0]
	}
	return fallback(models)
}

type fallback []Model

func (f fallback) Name() string {
	if len(f) == 0 {
		return "no model"
	}
	return f[0].Name()
}

func (f fallback) Generate(ctx context.Context, req Request) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		b := &bill{req: req, yield: yield}
		var said []error // by each model that failed, for the operator
		err := error(&Error{Kind: Unavailable, Err: errors.New("no model is configured")})
		for i, m := range f {
			if i > 0 && (!b.again() || !b.pass(Part{Model: m.Name()})) {
				return
			}
			if err = b.ask(ctx, m); err == nil || b.left {
				return
			}
			failure, ok := errors.AsType[*Error](err)
			if !ok {
				break // ctx ended
			}
			said = append(said, fmt.Errorf("%s: %w", m.Name(), failure.Err))
			err = &Error{Kind: failure.Kind, Status: failure.Status, After: failure.After, Err: errors.Join(said...)}
			if b.called || !passable(failure.Kind) {
				break
			}
		}
		b.fail(err)
	}
}

// ask passes one model's reply on.
func (b *bill) ask(ctx context.Context, m Model) error {
	for part, err := range m.Generate(ctx, b.req) {
		if err != nil {
			return err
		}
		if !b.pass(part) {
			return nil
		}
	}
	return nil
}

// passable: what another model may do better. A request that was refused as such would be refused again.
func passable(k Kind) bool {
	switch k {
	case Busy, Broken, Unavailable, Denied:
		return true
	}
	return false
}
