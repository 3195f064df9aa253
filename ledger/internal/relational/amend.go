package relational

import (
	"context"
	"fmt"

	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
)

// Amend changes a message that waits to be heard, or takes it back.
func (l *Ledger) Amend(ctx context.Context, c chat.Change) (ledger.Amended, error) {
	amended := ledger.Amended{Fate: ledger.Past}
	var state, kind string
	at := c.Conversation
	var first Batch
	first.exec(`SELECT key FROM conversations WHERE key =
		(SELECT conversation FROM inbox WHERE platform = $1 AND team = $2 AND channel = $3 AND message = $4) {for update}`,
		at.Platform, at.Team, at.Channel, c.Message)
	first.query(func(r Row) error {
		var body string
		if err := r.Scan(&state, &kind, &amended.Run, &body); err != nil || body == "" {
			return err
		}
		return unmarshal(body, &amended.Was)
	}, `SELECT state, kind, run, body FROM inbox WHERE platform = $1 AND team = $2 AND channel = $3 AND message = $4 {for update}`,
		at.Platform, at.Team, at.Channel, c.Message)
	err := l.db.Decide(ctx, first, func() (Batch, error) {
		switch state {
		case "consumed":
			amended.Fate = ledger.Heard
			return nil, nil
		case "accepted":
			amended.Fate = ledger.Unheard
			return amendment(c, amended, kind), nil
		}
		return nil, nil
	})
	if err != nil {
		return ledger.Amended{}, fmt.Errorf("amend message %s in %s: %w", c.Message, at.Key(), err)
	}
	return amended, nil
}

// amendment is what changes for a message that nobody has heard.
func amendment(c chat.Change, was ledger.Amended, kind string) Batch {
	var b Batch
	at := c.Conversation
	key := []any{at.Platform, at.Team, at.Channel, c.Message}
	const here = ` WHERE platform = $1 AND team = $2 AND channel = $3 AND message = $4`
	starts := kind == string(ledger.Start)
	switch {
	case c.Deleted && starts:
		b.stop(ledger.Run{ID: was.Run, Status: evidence.Waiting}, was.Was.Who)
		b.exec(`UPDATE inbox SET state = 'withdrawn'`+here, key...)
	case c.Deleted:
		b.exec(`UPDATE inbox SET state = 'withdrawn'`+here, key...)
	default:
		m := was.Was
		m.Text = c.Text
		b.exec(`UPDATE inbox SET body = $5`+here, append(key, marshal(m))...)
		if starts {
			b.exec(`UPDATE runs SET question = $2 WHERE id = $1`, was.Run, marshal(m))
		}
	}
	return b
}
