// Package verify says what must be true of an answer before anyone sees it. It finds the figures that a reader would act
// on, traces each to a cell of evidence or derives it from cells, runs the queries behind them once more, and sums it all
// up. It is deterministic, asks no model, and sees nothing but the evidence and read-only SQL.
//
// What it says is that a figure has a source, never that it answers the right question: "checked" is not "correct".
package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plumb/evidence"
)

// Input is what there is to check.
type Input struct {
	Asked  []string // what people said: the question and what followed it
	Answer string   // Markdown
	Items  []evidence.Item
	Replay Replayer // may be nil
}

// A Replayer runs a query again, under the same guards as the first time.
type Replayer interface {
	Query(ctx context.Context, source, sql string) (columns []string, rows [][]any, truncated bool, err error)
}

// Report is what the checks came to.
type Report struct {
	Figures    []evidence.Figure
	Findings   []evidence.Finding
	NotChecked []string
	Verdict    evidence.Verdict
	Replayed   int // queries that were run again
}

// The bounds within which checking stays quick, whatever the answer and the evidence.
const (
	maxFigures = 400
	maxText    = 60_000 // bytes of an answer
	searching  = 30 * time.Millisecond
)

// Check checks an answer.
func Check(ctx context.Context, in Input) Report {
	var r Report
	text := in.Answer
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
		r.NotChecked = append(r.NotChecked, "the answer is long; what comes after its first part was not looked at")
	}
	numbers := find(text)
	if len(numbers) > maxFigures {
		r.NotChecked = append(r.NotChecked, fmt.Sprintf("the answer has %d figures; only the first %d were looked at", len(numbers), maxFigures))
		numbers = numbers[:maxFigures]
	}
	t := newTracer(in, time.Now().Add(searching))
	for _, n := range numbers {
		r.Figures = append(r.Figures, t.figure(n))
	}
	if t.late {
		r.NotChecked = append(r.NotChecked, "the search for how figures are derived was cut short")
	}
	r.replay(ctx, in)
	r.complain()
	r.unknownTables(in)
	r.NotChecked = append(r.NotChecked, cuts(in.Items)...)
	r.Verdict = r.verdict(in)
	return r
}

// complain adds a finding for each figure that no evidence gives.
func (r *Report) complain() {
	for _, f := range r.Figures {
		if f.Status == evidence.Unsupported {
			r.Findings = append(r.Findings, evidence.Finding{Check: "figures", Effect: evidence.Repair, Target: f.Text, Detail: "No evidence gives the figure " + f.Text + "."})
		}
	}
}

// cuts says which results were not seen whole.
func cuts(items []evidence.Item) []string {
	var out []string
	for _, it := range items {
		if it.Truncated && it.Error == "" {
			out = append(out, fmt.Sprintf("%s was cut at %s of %s rows", it.ID, grouped(len(it.Rows)), grouped(it.RowCount)))
		}
	}
	return out
}

func (r *Report) verdict(in Input) evidence.Verdict {
	if len(r.Figures) == 0 && !useful(in.Items) {
		return evidence.Unchecked
	}
	if len(r.NotChecked) > 0 {
		return evidence.Review
	}
	for _, f := range r.Figures {
		if f.Status == evidence.Unsupported || f.Status == evidence.Changed {
			return evidence.Review
		}
	}
	for _, f := range r.Findings {
		if f.Effect != evidence.Info {
			return evidence.Review
		}
	}
	return evidence.AllVerified
}

func useful(items []evidence.Item) bool {
	for _, it := range items {
		if it.Error == "" {
			return true
		}
	}
	return false
}

// Of is the report that a record keeps.
func Of(rec evidence.Record) Report {
	r := Report{Figures: rec.Figures, Findings: rec.Findings, NotChecked: rec.NotChecked, Verdict: rec.Verdict}
	for _, it := range rec.Evidence {
		if replayable(it) && r.rests(it.ID) && !it.Truncated && it.MS <= slow && !slices.ContainsFunc(r.NotChecked, func(s string) bool { return strings.HasPrefix(s, it.ID+" ") }) {
			r.Replayed++
		}
	}
	return r
}

// Line is the report in one line, for people.
func (r Report) Line() string {
	var parts []string
	traced := 0
	for _, f := range r.Figures {
		if f.Status == evidence.Verified || f.Status == evidence.Derived || f.Status == evidence.Given {
			traced++
		}
	}
	switch {
	case len(r.Figures) == 0:
		parts = append(parts, "no figures to trace")
	case len(r.Figures) == 1:
		parts = append(parts, fmt.Sprintf("%d of 1 figure traced", traced))
	default:
		parts = append(parts, fmt.Sprintf("%d of %d figures traced", traced, len(r.Figures)))
	}
	changed := 0
	for _, f := range r.Findings {
		if f.Check == "replay" {
			changed++
		}
	}
	switch {
	case changed > 0:
		parts = append(parts, plural(changed, "query gives", "queries give")+" another result now")
	case r.Replayed > 0:
		parts = append(parts, plural(r.Replayed, "query", "queries")+" re-run, same result")
	}
	var bad []string
	for _, f := range r.Figures {
		if f.Status == evidence.Unsupported {
			bad = append(bad, f.Text)
		}
	}
	if len(bad) > 5 {
		bad = append(bad[:5], "…")
	}
	if len(bad) > 0 {
		parts = append(parts, "no source for: "+strings.Join(bad, ", "))
	}
	if len(r.NotChecked) > 0 {
		parts = append(parts, "not checked: "+strings.Join(r.NotChecked, "; "))
	}
	return strings.Join(parts, " · ")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// grouped writes 52310 as 52,310.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
