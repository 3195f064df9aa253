package dispatch

import (
	"context"
	"fmt"
	"strings"

	"plumb/chat"
	"plumb/ledger"
)

// change deals with a message that was edited or taken back (S17). One that no run has heard is replaced or withdrawn.
// One that the run under way has heard is corrected by a further remark, if the words really changed. An answer that is
// out stays: who wants another asks again.
func (d *Dispatcher) change(ctx context.Context, c chat.Change) error {
	a, err := d.Ledger.Amend(ctx, c)
	if err != nil {
		return err
	}
	d.Log.Info("a message was changed", "conversation", c.Conversation.Key(), "message", c.Message, "deleted", c.Deleted, "fate", a.Fate, "run", a.Run)
	if a.Fate != ledger.Heard || c.Deleted || sameWords(a.Was.Text, c.Text) {
		return nil
	}
	m := a.Was
	m.ID, m.At, m.Opens = fmt.Sprintf("%s/edited-%d", c.Message, c.At.UnixMilli()), c.At, false
	m.Text = "I have corrected what I said before. It reads now: " + c.Text
	rec, err := d.Ledger.Receive(ctx, m, func(s ledger.Situation) ledger.Decision {
		if s.Active == nil || s.Active.ID != a.Run {
			return ledger.Decision{Kind: ledger.Ignore, Why: "edited after the end"}
		}
		return ledger.Decision{Kind: ledger.Steer, Run: a.Run}
	})
	if err != nil {
		return fmt.Errorf("record a correction: %w", err)
	}
	d.Log.Info("a correction was routed", "message", m.ID, "decision", rec.Decision.Kind, "run", a.Run)
	return nil
}

// sameWords says whether two texts differ in nothing but spacing.
func sameWords(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}
