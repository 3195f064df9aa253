package dispatch

import (
	"fmt"
	"strings"

	"plumb/chat"
	"plumb/evidence"
	"plumb/loop"
)

// Text is an ending in words: what the model said, and what else a reader must know.
func Text(status evidence.Status, text, limit, run string) string {
	switch {
	case limit != "":
		return text + "\n\n_This run met " + limit + " and ended there. Press Continue, or say what to look at next._"
	case status == evidence.Failed:
		return text + " (run " + run + ")"
	}
	return text
}

// Footer says what a run took.
func Footer(u evidence.Usage, run string) string {
	parts := []string{count(u.ModelCalls, "step"), count(u.ToolCalls, "tool call"), count(u.InputTokens+u.OutputTokens, "token")}
	if u.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", u.CostUSD))
	}
	return strings.Join(append(parts, after(u.WallMS), "run "+run), " · ")
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// lines are what a run has done and is doing, for the progress message.
func lines(a loop.Activity) []string {
	var out []string
	for _, l := range a.Done {
		out = append(out, strings.TrimSuffix("✓ "+l.Tool+": "+short(l.What+" → "+l.Came, 140), ": "))
	}
	switch a.Doing {
	case "thinking":
		return append(out, "… thinking")
	case "writing":
		return append(out, "… writing")
	case "checking":
		return append(out, "… checking the figures")
	}
	return append(out, "… running "+a.Doing)
}

// ended is the one line that a progress message comes down to.
func ended(o loop.Outcome) string {
	word := "Done"
	if o.Status != evidence.Answered {
		word = "Ended"
	}
	return word + " · " + count(o.Total.ModelCalls, "step") + " · " + after(o.Total.WallMS)
}

func short(s string, n int) string {
	s = strings.TrimSpace(strings.TrimPrefix(strings.Join(strings.Fields(s), " "), "→ "))
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// A Size bounds what an exhibit shows.
type Size struct{ rows, text, items int }

var (
	// Shown is what stands under an answer, opened what somebody sees who opens the evidence.
	Shown  = Size{rows: 20, text: 1500, items: 12}
	opened = Size{rows: 100, text: 8000, items: 40}
)

// Exhibits are items of evidence as people read them.
func Exhibits(items []evidence.Item, s Size) []chat.Exhibit {
	var out []chat.Exhibit
	for _, it := range items {
		if len(out) == s.items {
			break
		}
		out = append(out, exhibit(it, s))
	}
	return out
}

func exhibit(it evidence.Item, s Size) chat.Exhibit {
	x := chat.Exhibit{ID: it.ID, Title: strings.Join([]string{it.Tool, short(it.Summary, 80), fmt.Sprintf("%d ms", it.MS)}, " · "), SQL: it.SQL, Columns: it.Columns}
	for _, row := range it.Rows[:min(len(it.Rows), s.rows)] {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = short(evidence.Text(v), 200)
		}
		x.Rows = append(x.Rows, cells)
	}
	x.More = it.RowCount - len(x.Rows)
	if it.DuplicateOf != "" {
		x.More = 0
	}
	switch {
	case it.Error != "":
		x.Text = it.Error
	case it.Output != "" && len(it.Columns) == 0:
		x.Text = it.Output
	}
	if strings.HasPrefix(x.Text, "{") { // what a program would read; a glimpse is enough for people
		x.Text = short(x.Text, 300)
	}
	if r := []rune(x.Text); len(r) > s.text {
		x.Text = string(r[:s.text]) + "\n…"
	}
	for _, src := range it.Sources {
		note := src.Source
		if src.Table != "" {
			note += "." + src.Table
		}
		if !src.AsOf.IsZero() {
			note += " as of " + src.AsOf.UTC().Format("2006-01-02 15:04") + " UTC"
		}
		x.Notes = append(append(x.Notes, note), src.Notes...)
	}
	return x
}
