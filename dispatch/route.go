package dispatch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"plumb/access"
	"plumb/chat"
	"plumb/ledger"
	"plumb/steering"
)

// longestQuestion is how many characters a message may have; a longer one belongs into a file.
const longestQuestion = 20_000

// event deals with one event from the bus.
func (d *Dispatcher) event(ctx context.Context, e chat.Event) error {
	switch {
	case e.Message != nil:
		_, err := d.Receive(ctx, *e.Message)
		return err
	case e.Press != nil:
		return d.press(ctx, *e.Press)
	case e.Change != nil:
		return d.change(ctx, *e.Change)
	}
	d.Log.Warn("an event without content is left alone", "key", e.Key)
	return nil
}

// Receive records and routes a message, once, and sets in motion what follows from it.
func (d *Dispatcher) Receive(ctx context.Context, m chat.Message) (ledger.Receipt, error) {
	grant, refusal := d.Policy.At(m.Conversation.Place)
	rec, err := d.Ledger.Receive(ctx, m, func(s ledger.Situation) ledger.Decision { return decide(m, s, grant, refusal) })
	if err != nil {
		return rec, fmt.Errorf("record a message: %w", err)
	}
	d.Log.Info("a message was routed", "conversation", m.Conversation.Key(), "message", m.ID, "decision", rec.Decision.Kind, "run", rec.Decision.Run, "duplicate", rec.Duplicate)
	switch rec.Decision.Kind {
	case ledger.Start, ledger.Steer:
		if !m.Addressed { // what is said to the bot by name has its mark from the adapter, before it comes here
			d.mark(m, chat.Taken)
		}
		if rec.Decision.Kind == ledger.Start {
			err = d.Bus.Wake(ctx, rec.Decision.Run) // a duplicate, too, may have come because we died before this
		}
	case ledger.Halt:
		err = d.Bus.SignalStop(rec.Decision.Run)
	}
	if !rec.Duplicate {
		d.relay.post(ctx, rec.Decision.Posts)
	}
	return rec, err
}

// decide says what to do with a message. It runs inside the ledger's transaction and touches nothing.
func decide(m chat.Message, s ledger.Situation, grant access.Grant, refusal error) ledger.Decision {
	at := steering.Situation{Own: s.Own, Admins: grant.Admins}
	if s.Active != nil {
		at.Active, at.Since, at.Asker, at.Steerers = true, s.Active.Question.At.UnixMilli(), s.Active.Question.Who, s.Active.Steerers
	}
	meaning := steering.Read(m, at)
	switch {
	case meaning == steering.NotForMe:
		return ledger.Decision{Kind: ledger.Ignore, Why: "not for me"}
	case meaning == steering.Stop: // a stop counts whatever the rules have become
		return halt(m, s.Active.ID)
	case refusal != nil:
		return refuse(m, refusal.Error())
	}
	switch meaning {
	case steering.NotYours:
		return refuse(m, "This run is not yours to stop: its asker, people whose remarks it has heard, and this channel's admins may.")
	case steering.Idle:
		return refuse(m, "There is nothing to stop here.")
	case steering.Blank:
		return refuse(m, "What would you like to know? Write your question after my name.")
	}
	if n := len([]rune(m.Text)); n > longestQuestion {
		return refuse(m, fmt.Sprintf("That is too long for me: %d characters, and I read %d at most. Please shorten it, or put the data into a file.", n, longestQuestion))
	}
	if meaning == steering.Steer {
		return ledger.Decision{Kind: ledger.Steer, Run: s.Active.ID}
	}
	start := ledger.Decision{Kind: ledger.Start, Run: newRun(), Budget: grant.Budget}
	if s.Last != nil {
		start.Parent = s.Last.ID
	}
	return start
}

func halt(m chat.Message, run string) ledger.Decision {
	return ledger.Decision{Kind: ledger.Halt, Run: run, Posts: words(m, chat.Post{Run: run, Final: true, Text: "Stopped. The run had not begun."})}
}

// refuse says no to the sender alone.
func refuse(m chat.Message, why string) ledger.Decision {
	return ledger.Decision{Kind: ledger.Refuse, Why: why, Posts: words(m, chat.Post{Only: true, Text: why})}
}

// words addresses a post to the sender of a message. The terminal reads the decision itself and is sent nothing.
func words(m chat.Message, p chat.Post) []chat.Post {
	if m.Conversation.Platform == chat.CLI {
		return nil
	}
	p.ID = "p" + strings.ToLower(rand.Text())
	p.Reply, p.Asker = chat.Reply{Conversation: m.Conversation, To: m.ID}, m.Who
	return []chat.Post{p}
}

// press deals with a button.
func (d *Dispatcher) press(ctx context.Context, p chat.Press) error {
	if p.Button.Run == "" { // whatever is under way here
		_, err := d.Receive(ctx, chat.Message{Conversation: p.Conversation, ID: fmt.Sprintf("press-%s-%d-%s", p.Button.Action, p.At.UnixMilli(), p.Who.ID),
			Who: p.Who, Addressed: true, Text: string(p.Button.Action), At: p.At})
		return err
	}
	run, err := d.Ledger.Run(ctx, p.Button.Run)
	if errors.Is(err, ledger.ErrUnknown) || err == nil && run.Conversation.Place != p.Conversation.Place {
		d.Log.Info("a button of no run of this place was pressed", "run", p.Button.Run, "place", p.Conversation.Place.String())
		return nil
	}
	if err != nil {
		return err
	}
	said := chat.Message{Conversation: run.Conversation, ID: "press-" + string(p.Button.Action) + "-" + run.ID + "-" + p.Who.ID, Who: p.Who, Addressed: true, At: p.At}
	switch p.Button.Action {
	case chat.Stop:
		if run.Status.Final() {
			return nil // an old button
		}
		said.Text, said.At = "stop", run.Question.At
	case chat.Continue:
		said.ID = "press-continue-" + run.ID // whoever presses first, once
		said.Text = "Please go on from where you stopped, and finish the answer."
	default:
		return nil
	}
	_, err = d.Receive(ctx, said)
	return err
}

// newRun is an id that nobody has to spell but everybody can.
func newRun() string { return "r" + strings.ToLower(rand.Text()[:12]) }
