package dispatch

import (
	"context"
	"errors"

	"plumb/chat"
	"plumb/ledger"
)

// A Look is somebody's wish to see the evidence of a run.
type Look struct {
	Run string      `json:"run"`
	Who chat.Person `json:"who"`
	At  chat.Place  `json:"at"`
}

// exhibits shows the evidence of a run to somebody in the place where it was asked. The rules are judged as they are
// now: what the channel may no longer see is not shown.
func (d *Dispatcher) exhibits(ctx context.Context, l Look) ([]chat.Exhibit, error) {
	run, err := d.Ledger.Run(ctx, l.Run)
	if errors.Is(err, ledger.ErrUnknown) || err == nil && run.Conversation.Place != l.At {
		return nil, errors.New("there is no such run here")
	}
	if err != nil {
		d.Log.Error("the evidence of a run cannot be read", "run", l.Run, "error", err)
		return nil, errors.New("the evidence cannot be read right now; please try again")
	}
	grant, err := d.Policy.At(l.At)
	if err != nil {
		return nil, err
	}
	for _, it := range run.Record.Evidence {
		for _, s := range it.Sources {
			if !grant.May(s.Source) {
				return nil, errors.New("this channel may no longer see the source " + s.Source)
			}
		}
	}
	return Exhibits(run.Record.Evidence, opened), nil
}

// delivered writes down what became of a post.
func (d *Dispatcher) delivered(ctx context.Context, del ledger.Delivery) (bool, error) {
	return true, d.Ledger.Delivered(ctx, del)
}
