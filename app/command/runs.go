package command

import (
	"errors"
	"fmt"
	"time"

	"plumb/app"
	"plumb/ledger"
)

type runsCmd struct {
	Config string `help:"The configuration file." placeholder:"FILE"`
	JSON   bool   `name:"json" help:"Print one JSON document."`
	Run_   string `arg:"" optional:"" name:"run" help:"The run to show whole."` //nolint:revive // Run is the method
}

// listed is a run in the list.
type listed struct {
	RunID     string `json:"run_id"`
	Where     string `json:"where"`
	Who       string `json:"who"`
	Question  string `json:"question"`
	Status    string `json:"status"`
	Verdict   string `json:"verdict"`
	Started   string `json:"started"`
	Ended     string `json:"ended"`
	Attempts  int    `json:"attempts"`
	Delivered bool   `json:"delivered"`
}

func (c *runsCmd) Run(s *session) error {
	config, err := target{Config: c.Config}.load(s)
	if err != nil {
		return err
	}
	l, err := app.OpenLedger(s.ctx, config)
	if err != nil {
		return err
	}
	defer l.Close()
	if c.Run_ != "" {
		return c.one(s, l, config)
	}
	runs, err := l.Runs(s.ctx, 200)
	if err != nil {
		return err
	}
	out := []listed{}
	for _, r := range runs {
		out = append(out, listed{r.ID, r.Conversation.Place.String(), r.Question.Who.ID, r.Question.Text, string(r.Status), string(r.Record.Verdict), stamp(r.Started), stamp(r.Ended), r.Attempts, r.Delivered})
	}
	if c.JSON {
		return printJSON(s.Out, map[string]any{"runs": out})
	}
	if len(out) == 0 {
		fmt.Fprintln(s.Out, "no runs yet")
		return nil
	}
	var rows [][]string
	for _, r := range out {
		rows = append(rows, []string{r.RunID, r.Started, r.Where, r.Who, r.Status, r.Verdict, cut(r.Question, 60)})
	}
	printTable(s.Out, "", []string{"run", "started", "where", "who", "status", "verdict", "question"}, rows)
	return nil
}

func (c *runsCmd) one(s *session, l ledger.Ledger, config app.Config) error {
	r, err := l.Run(s.ctx, c.Run_)
	if errors.Is(err, ledger.ErrUnknown) {
		return fmt.Errorf("there is no run %s; `bot runs` lists them", c.Run_)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.Out, r.Record)
	}
	fmt.Fprintf(s.Out, "%s asked in %s at %s:\n  %s\n\n", r.Question.Who.Called(), r.Conversation.Place, stamp(r.Started), r.Question.Text)
	printRecord(s.Out, r.Record, config)
	return nil
}

// stamp is a moment in ISO 8601, or nothing if it has not come.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
