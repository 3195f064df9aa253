package relational

import (
	"context"
	"errors"
	"fmt"

	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
)

// errKnown undoes the taking of a message that was taken before.
var errKnown = errors.New("the message is known")

// An arrival is a message on its way in, with what the database knows about it.
type arrival struct {
	m         chat.Message
	seq       int64
	known     bool
	receipt   ledger.Receipt
	situation ledger.Situation
}

// Receive records a message once and does what decide says.
func (l *Ledger) Receive(ctx context.Context, m chat.Message, decide func(ledger.Situation) ledger.Decision) (ledger.Receipt, error) {
	a := arrival{m: m}
	err := l.db.Decide(ctx, a.look(), func() (Batch, error) {
		if a.known {
			return nil, errKnown
		}
		return a.apply(decide(a.situation))
	})
	if errors.Is(err, errKnown) {
		a.receipt.Duplicate = true
		return a.receipt, nil
	}
	if err != nil {
		return ledger.Receipt{}, fmt.Errorf("record message %s in %s: %w", m.ID, m.Conversation.Key(), err)
	}
	return a.receipt, nil
}

// look takes the conversation's row, and with it the right to decide, and then reads what is so.
func (a *arrival) look() Batch {
	var b Batch
	c := a.m.Conversation
	b.query(func(r Row) error { return r.Scan(&a.seq, &a.situation.Own) },
		`INSERT INTO conversations (key, seq, own) VALUES ($1, 1, $2)
		ON CONFLICT (key) DO UPDATE SET seq = conversations.seq + 1, own = conversations.own OR excluded.own
		RETURNING seq, own`, c.Key(), a.m.Opens && a.m.Addressed)
	b.query(func(r Row) error { a.known = true; return into(&a.receipt)(r) },
		`SELECT receipt FROM inbox WHERE platform = $1 AND team = $2 AND channel = $3 AND message = $4`,
		c.Platform, c.Team, c.Channel, a.m.ID)
	// A run under way is the newest of its conversation.
	b.query(func(row Row) error {
		r, err := scanRun(row)
		switch {
		case !r.Status.Final():
			a.situation.Active = &r
		case a.situation.Last == nil:
			a.situation.Last = &r
		}
		return err
	}, `SELECT `+runColumns+` FROM runs WHERE conversation = $1 ORDER BY n DESC LIMIT 2 {for update}`, c.Key())
	return b
}

// apply is what a decision does to the ledger. A decision that does not fit the situation is a bug of whoever decided.
func (a *arrival) apply(d ledger.Decision) (Batch, error) {
	active := a.situation.Active
	about := "" // the run that the posts speak of
	var b Batch
	switch d.Kind {
	case ledger.Start:
		if active != nil || d.Run == "" {
			return nil, fmt.Errorf("the message was to start run %q while the conversation has run %q", d.Run, id(active))
		}
		b.exec(`INSERT INTO runs (id, conversation, question, budget, parent, status, due, started)
			VALUES ($1, $2, $3, $4, $5, 'waiting', {now}, {now})`,
			d.Run, a.m.Conversation.Key(), marshal(a.m), d.Budget, d.Parent)
	case ledger.Steer:
		if active == nil || d.Run != "" && d.Run != active.ID {
			return nil, fmt.Errorf("the message was to steer run %q while the conversation has run %q", d.Run, id(active))
		}
		d.Run = active.ID
	case ledger.Halt:
		a.receipt.Stopping = ledger.StopIdle
		if active != nil && (d.Run == "" || d.Run == active.ID) {
			d.Run = active.ID
			a.receipt.Stopping = b.stop(*active, a.m.Who)
		}
		if a.receipt.Stopping == ledger.StopRunning {
			d.Posts = nil // the run's worker says that it stopped
		}
		about = d.Run
	case ledger.Refuse, ledger.Ignore:
		if d.Kind == ledger.Refuse && d.Run == "" {
			d.Run = id(active)
		}
	default:
		return nil, fmt.Errorf("%q is no kind of decision", d.Kind)
	}
	c := a.m.Conversation
	d.Posts = addressed(d.Posts, about, "message", c.Platform, c.Team, c.Channel, a.m.ID)
	a.receipt.Decision = d
	b.inbox(a)
	b.posts(d.Posts)
	return b, nil
}

// inbox records the message with what was decided. Of a message that is not for the bot nothing is kept but its key.
func (b *Batch) inbox(a *arrival) {
	state := "answered" // a stop and a refusal are done with
	who, body := marshal(a.m.Who), marshal(a.m)
	d := a.receipt.Decision
	run := d.Run
	switch d.Kind {
	case ledger.Start, ledger.Steer:
		state = "accepted"
	case ledger.Ignore:
		state, run, who, body = "ignored", "", "", ""
	}
	c := a.m.Conversation
	b.exec(`INSERT INTO inbox (platform, team, channel, message, conversation, seq, kind, state, run, who, body, receipt, received)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, {now})`,
		c.Platform, c.Team, c.Channel, a.m.ID, c.Key(), a.seq, string(d.Kind), state, run, who, body, marshal(a.receipt))
}

// Stop marks a run as to be stopped, or ends it if no worker has it.
func (l *Ledger) Stop(ctx context.Context, run string, by chat.Person, posts []chat.Post) (ledger.Stopping, error) {
	var found []ledger.Run
	var first Batch
	first.conversationOf(run)
	first.query(runsInto(&found), `SELECT `+runColumns+` FROM runs WHERE id = $1 {for update}`, run)
	stopping := ledger.StopIdle
	err := l.db.Decide(ctx, first, func() (Batch, error) {
		if len(found) == 0 {
			return nil, ledger.ErrUnknown
		}
		var b Batch
		if stopping = b.stop(found[0], by); stopping == ledger.StopWaiting {
			b.posts(addressed(posts, run, "stop", run))
		}
		return b, nil
	})
	if err != nil {
		return ledger.StopIdle, fmt.Errorf("stop run %s: %w", run, err)
	}
	return stopping, nil
}

// stop stops a run whose row is locked. What waits to be heard by it is cancelled now; what it has heard, when it ends.
func (b *Batch) stop(r ledger.Run, by chat.Person) ledger.Stopping {
	if r.Status.Final() {
		return ledger.StopIdle
	}
	if r.Status == evidence.Waiting {
		b.exec(`UPDATE runs SET status = 'stopped', verdict = 'unchecked', ended = {now},
				stopped_by = CASE WHEN stopped_by = '' THEN $2 ELSE stopped_by END WHERE id = $1`, r.ID, marshal(by))
		b.exec(`UPDATE inbox SET state = 'cancelled' WHERE run = $1 AND state IN ('accepted', 'consumed')`, r.ID)
		return ledger.StopWaiting
	}
	b.exec(`UPDATE runs SET stopped_by = $2 WHERE id = $1 AND stopped_by = ''`, r.ID, marshal(by))
	b.exec(`UPDATE inbox SET state = 'cancelled' WHERE run = $1 AND state = 'accepted'`, r.ID)
	return ledger.StopRunning
}

// conversationOf takes the row of a run's conversation.
func (b *Batch) conversationOf(run string) {
	b.exec(`SELECT key FROM conversations WHERE key = (SELECT conversation FROM runs WHERE id = $1) {for update}`, run)
}

func id(r *ledger.Run) string {
	if r == nil {
		return ""
	}
	return r.ID
}
