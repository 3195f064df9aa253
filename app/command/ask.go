package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"plumb/app"
	"plumb/chat"
	"plumb/evidence"
)

type askCmd struct {
	target
	Model    string `help:"Another model: offline (built in, needs no key), script:FILE, or a name at the configured provider." placeholder:"NAME"`
	As       string `help:"Ask with the rights of a place, such as slack:T1:C1/U1." placeholder:"WHERE/WHO"`
	Thread   string `help:"Go on in the thread of an earlier question." placeholder:"ID"`
	JSON     bool   `name:"json" help:"Print one JSON document."`
	Question string `arg:"" help:"The question."`
}

func (c *askCmd) Run(s *session) error {
	if strings.TrimSpace(c.Question) == "" {
		return usage{errors.New("the question is blank; write what you would like to know")}
	}
	if n := len([]rune(c.Question)); n > longest {
		return usage{fmt.Errorf("the question has %d characters, and %d are read at most; shorten it, or put the data into a file", n, longest)}
	}
	config, err := c.load(s)
	if err != nil {
		return err
	}
	if err := config.UseModel(c.Model); err != nil {
		return usage{err}
	}
	rec, err := app.Ask(s.ctx, config, app.Question{Text: c.Question, As: c.As, Thread: c.Thread, Keep: c.Config != ""}, s.quiet())
	if err != nil {
		return err
	}
	if c.JSON {
		if err := printJSON(s.Out, rec); err != nil {
			return err
		}
	} else {
		printRecord(s.Out, rec, config)
	}
	if rec.Status == evidence.Failed || rec.Status == evidence.Refused {
		if c.JSON {
			fmt.Fprintln(s.Err, "bot: "+oneLine(errors.New(rec.Answer)))
		}
		return errSaid
	}
	return nil
}

const longest = 20_000

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printRecord writes a run for a person at a terminal: the answer, what was checked, and the evidence under it.
func printRecord(w io.Writer, r evidence.Record, c app.Config) {
	fmt.Fprintf(w, "%s\n", strings.TrimSpace(r.Answer))
	if line := app.VerdictLine(r); line != "" {
		fmt.Fprintf(w, "\n%s\n", line)
	}
	for _, f := range r.Figures {
		fmt.Fprintf(w, "  %-14s %-11s %s\n", f.Text, f.Status, whence(f))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(w, "  ! %s\n", f.Detail)
	}
	if len(r.Evidence) > 0 {
		fmt.Fprintf(w, "\nEvidence\n")
	}
	for _, x := range app.Exhibits(r.Evidence) {
		printExhibit(w, x)
	}
	if r.RunID != "" {
		fmt.Fprintf(w, "\n%s\n", app.Footer(r, c))
	}
}

func whence(f evidence.Figure) string {
	switch {
	case f.Expression != "":
		return "= " + f.Expression
	case f.Evidence != "" && f.Column != "":
		return fmt.Sprintf("%s, row %d, %s", f.Evidence, f.Row+1, f.Column)
	}
	return f.Evidence
}

func printExhibit(w io.Writer, x chat.Exhibit) {
	fmt.Fprintf(w, "  %s · %s\n", x.ID, x.Title)
	for line := range strings.Lines(x.SQL) {
		fmt.Fprintf(w, "      %s\n", strings.TrimRight(line, "\n"))
	}
	if len(x.Columns) > 0 && len(x.Rows) > 0 {
		printTable(w, "      ", x.Columns, x.Rows)
	}
	if x.More > 0 && len(x.Rows) > 0 {
		fmt.Fprintf(w, "      … and %d more rows\n", x.More)
	}
	n := 0
	for line := range strings.Lines(x.Text) {
		if n++; n > 12 {
			fmt.Fprintf(w, "      …\n")
			break
		}
		fmt.Fprintf(w, "      %s\n", strings.TrimRight(line, "\n"))
	}
	for _, note := range x.Notes {
		fmt.Fprintf(w, "      (%s)\n", note)
	}
}
