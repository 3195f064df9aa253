package relational

import (
	"context"
	"errors"
	"fmt"

	"plumb/evidence"
	"plumb/ledger"
	"plumb/model"
)

// errNoCall is a bug of the caller: there is no such call, or its result is recorded already.
var errNoCall = errors.New("a result must belong to a call of its step that has none yet")

// Reply records what the model said at a step.
func (l *Ledger) Reply(ctx context.Context, lease ledger.Lease, step int, r model.Reply, spent evidence.Usage) error {
	var b Batch
	b.spend(lease, spent, len(r.Calls))
	b.reply(lease.Run, step, r)
	if err := l.db.Write(ctx, b); err != nil {
		return fmt.Errorf("record the reply of step %d of run %s: %w", step, lease.Run, err)
	}
	return nil
}

// Results records what came of a step's calls and drains the inbox.
func (l *Ledger) Results(ctx context.Context, lease ledger.Lease, step int, done []ledger.Call, spent evidence.Usage) ([]ledger.Said, error) {
	var b Batch
	b.spend(lease, spent, 0)
	for _, c := range done {
		b.must(errNoCall, `
			UPDATE calls SET done = TRUE, failed = $4, result = $5 WHERE run = $1 AND n = $2 AND step = $3 AND NOT done
			RETURNING n`, lease.Run, c.N, step, c.Failed, marshal(c.Text))
		if c.Item != nil {
			b.exec(`INSERT INTO evidence (run, n, item) VALUES ($1, $2, $3)`, lease.Run, c.N, itemJSON(*c.Item))
		}
	}
	var heard []ledger.Said
	b.query(saidInto(&heard), `
		UPDATE inbox SET state = 'consumed', step = $2 WHERE run = $1 AND state = 'accepted'
		RETURNING seq, body`, lease.Run, step+1)
	if err := l.db.Write(ctx, b); err != nil {
		return nil, fmt.Errorf("record the results of step %d of run %s: %w", step, lease.Run, err)
	}
	return inOrder(heard), nil
}

// spend adds to what a run has spent, and so locks it: what follows happens only if the lease holds.
func (b *Batch) spend(lease ledger.Lease, u evidence.Usage, calls int) {
	b.must(ledger.ErrFenced, `
		UPDATE runs SET model_calls = model_calls + $3, tool_calls = tool_calls + $4, input_tokens = input_tokens + $5,
			output_tokens = output_tokens + $6, cost_usd = cost_usd + $7, wall_ms = wall_ms + $8, calls = calls + $9
		WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING id`,
		lease.Run, lease.Fence, u.ModelCalls, u.ToolCalls, u.InputTokens, u.OutputTokens, u.CostUSD, u.WallMS, calls)
}

// reply records a reply whose calls the run counts already. The calls are numbered on from those before.
func (b *Batch) reply(run string, step int, r model.Reply) {
	calls := r.Calls
	r.Calls = nil
	b.exec(`INSERT INTO steps (run, n, reply, at) VALUES ($1, $2, $3, {now})`, run, step, marshal(r))
	for i, c := range calls {
		b.exec(`INSERT INTO calls (run, n, step, call) SELECT id, calls + $2, $3, $4 FROM runs WHERE id = $1`,
			run, i+1-len(calls), step, callJSON(c))
	}
}
