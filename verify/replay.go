package verify

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"plumb/evidence"
)

// slow is how long a query may have taken to be run once more.
const slow = 500

// replay runs the queries behind the figures once more (V6). What gives another result now changes its figures.
func (r *Report) replay(ctx context.Context, in Input) {
	if in.Replay == nil {
		return
	}
	for _, it := range in.Items {
		if !replayable(it) || !r.rests(it.ID) {
			continue
		}
		switch {
		case it.Truncated:
			continue // the cut is said already
		case it.MS > slow:
			r.NotChecked = append(r.NotChecked, fmt.Sprintf("%s took %.1f s and was not run again", it.ID, float64(it.MS)/1000))
			continue
		}
		columns, rows, _, err := in.Replay.Query(ctx, it.Sources[0].Source, it.SQL)
		if err != nil {
			r.NotChecked = append(r.NotChecked, fmt.Sprintf("%s could not be run again", it.ID))
			continue
		}
		r.Replayed++
		if was, now, same := compare(it, columns, rows); !same {
			r.changed(it, was, now)
		}
	}
}

// replayable says whether an item is the result of a query that can be run again.
func replayable(it evidence.Item) bool {
	return it.SQL != "" && it.Error == "" && it.DuplicateOf == "" && len(it.Sources) > 0
}

// rests says whether a figure rests on an item.
func (r *Report) rests(id string) bool {
	return slices.ContainsFunc(r.Figures, func(f evidence.Figure) bool { return f.Evidence == id })
}

func (r *Report) changed(it evidence.Item, was, now string) {
	for i := range r.Figures {
		if r.Figures[i].Evidence == it.ID {
			r.Figures[i].Status = evidence.Changed
		}
	}
	r.Findings = append(r.Findings, evidence.Finding{Check: "replay", Effect: evidence.Repair, Target: it.ID, Evidence: []string{it.ID},
		Detail: fmt.Sprintf("The query of %s gives another result now: it was %s and is %s.", it.ID, was, now)})
}

// compare says whether two results are the same, and otherwise where they first differ. The order of rows counts only
// where the query asks for one; the last bits of floating point sums never do.
func compare(it evidence.Item, columns []string, rows [][]any) (was, now string, same bool) {
	if len(rows) != len(it.Rows) || !slices.Equal(columns, it.Columns) {
		return fmt.Sprintf("%d rows", len(it.Rows)), fmt.Sprintf("%d rows", len(rows)), len(rows) == len(it.Rows) && slices.Equal(columns, it.Columns)
	}
	a, b := it.Rows, rows
	if !strings.Contains(strings.ToLower(it.SQL), "order by") {
		a, b = sorted(a), sorted(b)
	}
	for i := range a {
		for j := range a[i] {
			if j >= len(b[i]) || !alike(a[i][j], b[i][j]) {
				return evidence.Text(a[i][j]), evidence.Text(b[i][min(j, len(b[i])-1)]), false
			}
		}
	}
	return "", "", true
}

func alike(a, b any) bool {
	x, ok := numeric(a)
	y, ok2 := numeric(b)
	if ok && ok2 {
		return math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
	}
	return a == b
}

// sorted orders rows by what they say, with floats rounded so that their last bits do not decide.
func sorted(rows [][]any) [][]any {
	out := slices.Clone(rows)
	key := func(row []any) string {
		var b strings.Builder
		for _, v := range row {
			if f, ok := v.(float64); ok {
				fmt.Fprintf(&b, "%.6g\x00", f)
				continue
			}
			b.WriteString(evidence.Text(v) + "\x00")
		}
		return b.String()
	}
	slices.SortStableFunc(out, func(a, b []any) int { return strings.Compare(key(a), key(b)) })
	return out
}
