package relational

import (
	"context"
	"errors"
	"fmt"

	"plumb/evidence"
	"plumb/ledger"
)

// Finish ends a run and puts its posts into the outbox.
func (l *Ledger) Finish(ctx context.Context, lease ledger.Lease, e ledger.Ending) (next bool, err error) {
	status := e.Record.Status
	if !status.Final() {
		return false, fmt.Errorf("run %s cannot end with status %q", lease.Run, status)
	}
	if e.Unheard && e.Next == "" {
		return false, fmt.Errorf("the ending of run %s leaves things unheard and names no run for them", lease.Run)
	}
	var b Batch
	b.conversationOf(lease.Run)
	b.end(lease, e)
	if e.Reply != nil {
		b.reply(lease.Run, e.Step, *e.Reply)
	}
	heard := "answered"
	if status == evidence.Stopped {
		heard = "cancelled"
	}
	b.exec(`UPDATE inbox SET state = $2 WHERE run = $1 AND state = 'consumed'`, lease.Run, heard)
	b.posts(addressed(e.Posts, lease.Run, "end", lease.Run))
	if e.Unheard {
		b.next(lease.Run, e.Next, &next)
	}
	err = l.db.Write(ctx, b)
	if errors.Is(err, errNotEnded) {
		err = l.whyNot(ctx, lease, e)
	}
	if err != nil {
		return false, fmt.Errorf("end run %s: %w", lease.Run, err)
	}
	return next, nil
}

// errNotEnded stands for whichever of the conditions of an ending does not hold.
var errNotEnded = errors.New("the run cannot end now")

// end ends a run if its lease holds, nothing is unheard and nobody has stopped it, or the ending takes that into account.
func (b *Batch) end(lease ledger.Lease, e ledger.Ending) {
	record, u := e.Record, e.Spent
	record.RunID, record.Evidence, record.Steering = lease.Run, nil, nil
	calls := 0
	if e.Reply != nil {
		calls = len(e.Reply.Calls)
	}
	b.must(errNotEnded, `
		UPDATE runs SET status = $3, verdict = $4, record = $5, ended = {now}, lease = 0,
			model_calls = model_calls + $6, tool_calls = tool_calls + $7, input_tokens = input_tokens + $8,
			output_tokens = output_tokens + $9, cost_usd = cost_usd + $10, wall_ms = wall_ms + $11, calls = calls + $12
		WHERE id = $1 AND fence = $2 AND status = 'running' AND ($13 OR stopped_by = '')
			AND ($14 OR NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.run = $1 AND inbox.state = 'accepted'))
		RETURNING id`,
		lease.Run, lease.Fence, string(record.Status), string(record.Verdict), marshal(record),
		u.ModelCalls, u.ToolCalls, u.InputTokens, u.OutputTokens, u.CostUSD, u.WallMS, calls,
		mindsNoStop(record.Status), e.Unheard)
}

// mindsNoStop says whether a run that a person has stopped may end like this.
func mindsNoStop(s evidence.Status) bool { return s == evidence.Stopped || s == evidence.Failed }

// next starts a run for what the ended one has not heard, if there is anything: the first of it is the question.
func (b *Batch) next(run, next string, started *bool) {
	b.query(func(Row) error { *started = true; return nil }, `
		INSERT INTO runs (id, conversation, question, budget, parent, status, due, started)
		SELECT $2, runs.conversation, inbox.body, runs.budget, runs.id, 'waiting', {now}, {now}
		FROM runs JOIN inbox ON inbox.run = runs.id AND inbox.state = 'accepted'
		WHERE runs.id = $1 ORDER BY inbox.seq LIMIT 1
		RETURNING id`, run, next)
	b.exec(`
		UPDATE inbox SET run = $2, missed = $1, kind = CASE
			WHEN seq = (SELECT MIN(seq) FROM inbox unheard WHERE unheard.run = $1 AND unheard.state = 'accepted')
			THEN 'start' ELSE 'steer' END
		WHERE run = $1 AND state = 'accepted'`, run, next)
}

// whyNot finds out which condition of an ending did not hold.
func (l *Ledger) whyNot(ctx context.Context, lease ledger.Lease, e ledger.Ending) error {
	var held, stopped, unread bool
	var b Batch
	b.query(func(r Row) error { return r.Scan(&held, &stopped, &unread) }, `
		SELECT fence = $2 AND status = 'running', stopped_by <> '',
			EXISTS (SELECT 1 FROM inbox WHERE inbox.run = $1 AND inbox.state = 'accepted')
		FROM runs WHERE id = $1`, lease.Run, lease.Fence)
	err := l.db.Read(ctx, b)
	switch {
	case err != nil:
		return err
	case held && stopped && !mindsNoStop(e.Record.Status):
		return ledger.ErrStopped
	case held && unread && !e.Unheard:
		return ledger.ErrUnread
	}
	return ledger.ErrFenced
}
