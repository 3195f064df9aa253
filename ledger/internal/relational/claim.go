package relational

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"plumb/evidence"
	"plumb/ledger"
	"plumb/model"
)

// past is how many earlier runs of a conversation a worker is told of.
const past = 10

// drain gives what waits for a run to the step to come. While results of calls are missing there is no step to come.
const drain = `
	UPDATE inbox SET state = 'consumed', step = (SELECT COALESCE(MAX(n), 0) + 1 FROM steps WHERE steps.run = $1)
	WHERE run = $1 AND state = 'accepted' AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.run = $1 AND NOT done)
	RETURNING seq, body`

// Claim takes a run for a worker until ttl from now.
func (l *Ledger) Claim(ctx context.Context, run, worker string, ttl time.Duration) (ledger.Held, error) {
	h := ledger.Held{Lease: ledger.Lease{Run: run}}
	var heard []ledger.Said
	var b Batch
	b.must(ledger.ErrTaken, `
		UPDATE runs SET status = 'running', fence = fence + 1, worker = $2, attempts = attempts + 1, lease = {now} + $3,
			claimed = CASE WHEN claimed = 0 THEN {now} ELSE claimed END
		WHERE id = $1 AND (status = 'waiting' OR status = 'running' AND lease <= {now})
		RETURNING fence, `+runColumns, run, worker, ttl.Milliseconds())
	b[0].Each = func(row Row) (err error) {
		h.Run, err = scanRun(row, &h.Lease.Fence)
		return err
	}
	b.query(saidInto(&heard), drain, run)
	b.query(runsInto(&h.Past), `
		SELECT `+runColumns+` FROM runs WHERE conversation = (SELECT conversation FROM runs WHERE id = $1)
			AND n < (SELECT n FROM runs WHERE id = $1) ORDER BY n DESC LIMIT $2`, run, past)
	if err := l.db.Write(ctx, b); err != nil {
		return ledger.Held{}, fmt.Errorf("claim run %s: %w", run, err)
	}
	slices.Reverse(h.Past)
	if h.Run.Attempts > 1 {
		var err error
		if h.Steps, err = l.steps(ctx, run); err != nil {
			return ledger.Held{}, fmt.Errorf("read the steps of run %s: %w", run, err)
		}
	} else if len(heard) > 0 {
		h.Steps = []ledger.Step{{N: 1, Heard: inOrder(heard)}}
	}
	for _, s := range h.Steps {
		for _, m := range s.Heard {
			h.Run.Steerers = others(append(h.Run.Steerers, m.Message.Who), h.Run.Question.Who)
		}
	}
	return h, nil
}

// Extend keeps a lease for another ttl.
func (l *Ledger) Extend(ctx context.Context, lease ledger.Lease, ttl time.Duration) error {
	var stopped bool
	var b Batch
	b.must(ledger.ErrFenced, `
		UPDATE runs SET lease = {now} + $3 WHERE id = $1 AND fence = $2 AND status = 'running'
		RETURNING stopped_by <> ''`, lease.Run, lease.Fence, ttl.Milliseconds())
	b[0].Each = func(r Row) error { return r.Scan(&stopped) }
	err := l.db.Write(ctx, b)
	if err == nil && stopped {
		err = ledger.ErrStopped
	}
	if err != nil {
		return fmt.Errorf("keep run %s: %w", lease.Run, err)
	}
	return nil
}

// Release hands a run back.
func (l *Ledger) Release(ctx context.Context, lease ledger.Lease) error {
	var b Batch
	b.must(ledger.ErrFenced, `
		UPDATE runs SET status = 'waiting', lease = 0, due = {now} WHERE id = $1 AND fence = $2 AND status = 'running'
		RETURNING id`, lease.Run, lease.Fence)
	if err := l.db.Write(ctx, b); err != nil {
		return fmt.Errorf("hand run %s back: %w", lease.Run, err)
	}
	return nil
}

// steps reads what a run has been through.
func (l *Ledger) steps(ctx context.Context, run string) ([]ledger.Step, error) {
	var list []ledger.Step
	// A step may have been heard at and have no reply yet, or have a reply to nothing new: whichever row comes first
	// opens it.
	step := func(n int) *ledger.Step {
		i, found := slices.BinarySearchFunc(list, n, func(s ledger.Step, n int) int { return s.N - n })
		if !found {
			list = slices.Insert(list, i, ledger.Step{N: n})
		}
		return &list[i]
	}
	var b Batch
	b.query(func(r Row) error { return scanHeard(r, step) },
		`SELECT step, seq, body FROM inbox WHERE run = $1 AND step > 0 ORDER BY seq`, run)
	b.query(func(r Row) error { return scanReply(r, step) },
		`SELECT n, reply FROM steps WHERE run = $1 ORDER BY n`, run)
	b.query(func(r Row) error { return scanCall(r, step) }, `
		SELECT calls.step, calls.n, calls.call, calls.done, calls.failed, calls.result, COALESCE(evidence.item, '')
		FROM calls LEFT JOIN evidence ON evidence.run = calls.run AND evidence.n = calls.n
		WHERE calls.run = $1 ORDER BY calls.n`, run)
	return list, l.db.Read(ctx, b)
}

func scanHeard(row Row, step func(int) *ledger.Step) error {
	var n int
	var seq int64
	var body string
	if err := row.Scan(&n, &seq, &body); err != nil {
		return err
	}
	m, err := said(seq, body)
	s := step(n)
	s.Heard = append(s.Heard, m)
	return err
}

func scanReply(row Row, step func(int) *ledger.Step) error {
	var n int
	var text string
	if err := row.Scan(&n, &text); err != nil {
		return err
	}
	s := step(n)
	s.Reply = new(model.Reply)
	return json.Unmarshal([]byte(text), s.Reply)
}

func scanCall(row Row, step func(int) *ledger.Step) error {
	var n int
	var c ledger.Call
	var asked, result, item string
	err := row.Scan(&n, &c.N, &asked, &c.Done, &c.Failed, &result, &item)
	if err != nil {
		return err
	}
	if c.Call, err = parseCall(asked); err != nil {
		return err
	}
	if result != "" {
		if err := json.Unmarshal([]byte(result), &c.Text); err != nil {
			return err
		}
	}
	if item != "" {
		c.Item = new(evidence.Item)
		if err := json.Unmarshal([]byte(item), c.Item); err != nil {
			return err
		}
	}
	s := step(n)
	s.Calls = append(s.Calls, c)
	if s.Reply != nil {
		s.Reply.Calls = append(s.Reply.Calls, c.Call)
	}
	return nil
}

// saidInto collects messages from rows of seq and body.
func saidInto(list *[]ledger.Said) func(Row) error {
	return func(row Row) error {
		var seq int64
		var body string
		if err := row.Scan(&seq, &body); err != nil {
			return err
		}
		m, err := said(seq, body)
		*list = append(*list, m)
		return err
	}
}

// inOrder sorts messages as they were said: RETURNING promises no order.
func inOrder(list []ledger.Said) []ledger.Said {
	slices.SortFunc(list, func(a, b ledger.Said) int { return int(a.Seq - b.Seq) })
	return list
}
