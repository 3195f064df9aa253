package relational

import (
	"context"
	"encoding/json"
	"fmt"

	"plumb/evidence"
	"plumb/ledger"
)

// Run is one run whole.
func (l *Ledger) Run(ctx context.Context, run string) (ledger.Run, error) {
	var found []ledger.Run
	var items []evidence.Item
	var steers []evidence.Steer
	var b Batch
	b.query(runsInto(&found), `SELECT `+runColumns+` FROM runs WHERE id = $1`, run)
	b.query(func(r Row) error {
		items = append(items, evidence.Item{})
		return into(&items[len(items)-1])(r)
	}, `SELECT item FROM evidence WHERE run = $1 ORDER BY n`, run)
	b.query(func(row Row) error {
		s, err := scanSteer(row)
		steers = append(steers, s)
		return err
	}, `
		SELECT body, CASE WHEN kind = 'refuse' THEN 'not_allowed' WHEN missed = $1 THEN 'too_late'
			WHEN step > 0 THEN 'applied' WHEN state = 'accepted' THEN 'queued' ELSE 'stopped' END,
			CASE WHEN missed = $1 THEN 0 ELSE step END
		FROM inbox WHERE conversation = (SELECT conversation FROM runs WHERE id = $1)
			AND (missed = $1 OR run = $1 AND kind IN ('steer', 'refuse')) ORDER BY seq`, run)
	err := l.db.Read(ctx, b)
	if err == nil && len(found) == 0 {
		err = ledger.ErrUnknown
	}
	if err != nil {
		return ledger.Run{}, fmt.Errorf("read run %s: %w", run, err)
	}
	found[0].Record.Evidence, found[0].Record.Steering = items, steers
	return found[0], nil
}

// Runs lists runs, newest first.
func (l *Ledger) Runs(ctx context.Context, limit int) ([]ledger.Run, error) {
	var list []ledger.Run
	var b Batch
	b.query(runsInto(&list), `SELECT `+runColumns+` FROM runs ORDER BY n DESC LIMIT $1`, limit)
	if err := l.db.Read(ctx, b); err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	return list, nil
}

func scanSteer(row Row) (evidence.Steer, error) {
	var body, outcome string
	var step int
	if err := row.Scan(&body, &outcome, &step); err != nil {
		return evidence.Steer{}, err
	}
	var m struct {
		ID   string `json:"id"`
		Who  struct{ ID string }
		Text string `json:"text"`
	}
	err := json.Unmarshal([]byte(body), &m)
	return evidence.Steer{ID: m.ID, Who: m.Who.ID, Text: m.Text, Outcome: evidence.Outcome(outcome), Step: step}, err
}
