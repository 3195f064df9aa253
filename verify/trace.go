package verify

import (
	"fmt"
	"math"
	"strings"
	"time"

	"plumb/evidence"
)

// tracer finds where figures come from.
type tracer struct {
	items []evidence.Item // those that may back a figure
	given []number
	until time.Time
	late  bool
}

func newTracer(in Input, until time.Time) *tracer {
	t := &tracer{until: until}
	for _, it := range in.Items {
		if it.Error == "" && !it.Excluded && it.DuplicateOf == "" {
			t.items = append(t.items, it)
		}
	}
	for _, said := range in.Asked {
		t.given = append(t.given, find(said)...)
	}
	return t
}

// figure says where a number comes from: a cell, an expression over cells, a text, or the asker.
func (t *tracer) figure(n number) evidence.Figure {
	f := evidence.Figure{Text: n.text, Value: n.value, Unit: n.unit, Status: evidence.Unsupported}
	for _, find := range []func(number, *evidence.Figure) bool{t.cell, t.derived, t.output, t.said} {
		if time.Now().After(t.until) {
			t.late = true
		}
		if find(n, &f) {
			break
		}
	}
	return f
}

// same says whether a value shows as the number does: at its precision, and with the factor of a hundred between a share
// and its percentage.
func (n number) same(v float64) bool {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return false
	}
	slack := n.half*(1+1e-9) + 1e-12*math.Abs(v)
	if math.Abs(v-n.value) <= slack {
		return true
	}
	return n.unit == "%" && math.Abs(v*100-n.value) <= slack
}

// A hit is a cell that a number equals, and how well the sentence agrees with it.
type hit struct {
	item, row int
	column    string
	score     int
}

// cell traces a number to the cell that its sentence speaks of. A number that many things could have, such as a small
// integer, must agree with a row or a column that the sentence names, unless the result is that one number (V3).
func (t *tracer) cell(n number, f *evidence.Figure) bool {
	best := hit{score: -1}
	said := saying{n.sentence, wordsOf(n.sentence)}
	for i, it := range t.items {
		for r, row := range it.Rows {
			for c, v := range row {
				x, ok := numeric(v)
				if !ok || c >= len(it.Columns) || !n.same(x) {
					continue
				}
				if h := (hit{i, r, it.Columns[c], score(said, it, r, c)}); h.score >= best.score {
					best = h
				}
			}
		}
	}
	if best.score < 0 || n.common() && best.score == 0 {
		return false
	}
	f.Status, f.Evidence, f.Row, f.Column = evidence.Verified, t.items[best.item].ID, best.row, best.column
	return true
}

// common says whether a number is one that turns up by chance.
func (n number) common() bool {
	a := math.Abs(n.value)
	return a == math.Trunc(a) && (a <= 12 || a <= 1000 && math.Mod(a, 50) == 0)
}

// score says how well a sentence agrees with a cell.
func score(said saying, it evidence.Item, r, c int) int {
	s := 0
	if len(it.Rows) == 1 {
		s += 2 // a result of one row is what was asked for
	}
	for i, v := range it.Rows[r] {
		if label, ok := v.(string); ok && i != c && said.names(label) {
			s += 4
		}
	}
	if mentions(said.words, it.Columns[c]) {
		s += 2
	}
	for _, src := range it.Sources {
		if mentions(said.words, src.Table) {
			s++
		}
	}
	return s
}

// A saying is a sentence with its words.
type saying struct {
	text  string
	words map[string]bool
}

// names says whether a sentence names a label: by its words, or a day or month by its beginning or its name.
func (s saying) names(label string) bool {
	if mentions(s.words, label) {
		return true
	}
	day, err := time.Parse("2006-01-02", label[:min(len(label), 10)])
	if err != nil {
		return false
	}
	return strings.Contains(s.text, label[:7]) || s.words[strings.ToLower(day.Month().String())] || s.words[strings.ToLower(day.Format("Jan"))]
}

// output traces a number to a text that a tool gave: a document, or a printed result.
func (t *tracer) output(n number, f *evidence.Figure) bool {
	words := wordsOf(n.sentence)
	for i := len(t.items) - 1; i >= 0; i-- {
		it := t.items[i]
		if len(it.Rows) > 0 || it.Output == "" {
			continue
		}
		for _, o := range find(cutText(it.Output, maxText)) {
			if n.same(o.value) && o.unit == n.unit && (!n.common() || shares(words, wordsOf(o.sentence))) {
				f.Status, f.Evidence = evidence.Verified, it.ID
				return true
			}
		}
	}
	return false
}

// said is for the asker's own numbers.
func (t *tracer) said(n number, f *evidence.Figure) bool {
	for _, g := range t.given {
		if g.value == n.value && (g.unit == n.unit || g.unit == "" || n.unit == "") {
			f.Status = evidence.Given
			return true
		}
	}
	return false
}

// derived looks for an expression over cells: how many rows there are, or one of a few operations on the cells of one
// column or one row. The plainest wins (V4).
func (t *tracer) derived(n number, f *evidence.Figure) bool {
	said := saying{n.sentence, wordsOf(n.sentence)}
	for i := len(t.items) - 1; i >= 0; i-- {
		it := t.items[i]
		if time.Now().After(t.until) {
			t.late = true
			return false
		}
		if n.unit == "" && !it.Truncated && len(it.Rows) > 0 && n.value == float64(it.RowCount) && n.half == 0.5 && (it.RowCount > 1 || len(it.Columns) > 1) && !bigTable(it) {
			f.Status, f.Evidence, f.Expression = evidence.Derived, it.ID, fmt.Sprintf("count of rows of %s", it.ID)
			return true
		}
		for c := range it.Columns {
			if e, ok := overColumn(n, it, c, said); ok {
				f.Status, f.Evidence, f.Column, f.Expression = evidence.Derived, it.ID, it.Columns[c], e
				return true
			}
		}
		for r := range it.Rows[:min(len(it.Rows), 200)] {
			if e, ok := overRow(n, it, r); ok {
				f.Status, f.Evidence, f.Row, f.Expression = evidence.Derived, it.ID, r, e
				return true
			}
		}
	}
	return false
}

func bigTable(it evidence.Item) bool { return it.RowCount > 1000 }

// overColumn tries the operations on one column: of all its cells, and of two of them.
func overColumn(n number, it evidence.Item, c int, said saying) (string, bool) {
	var vs []float64
	var rows []int
	for r, row := range it.Rows {
		if c < len(row) {
			if x, ok := numeric(row[c]); ok {
				vs, rows = append(vs, x), append(rows, r)
			}
		}
	}
	if len(vs) < 2 {
		return "", false
	}
	name := it.ID + "." + it.Columns[c]
	sum := 0.0
	for _, v := range vs {
		sum += v
	}
	if !it.Truncated && n.same(sum) {
		return "sum(" + name + ")", true
	}
	if !it.Truncated && n.same(sum/float64(len(vs))) {
		return "mean(" + name + ")", true
	}
	if !it.Truncated && n.unit == "%" && sum != 0 {
		for i, v := range vs {
			if math.Abs(v/sum*100-n.value) <= n.half*(1+1e-9) && (len(vs) <= 3 || rowNamed(said, it, rows[i])) {
				return fmt.Sprintf("%s[%d] / sum(%s)", name, rows[i], name), true
			}
		}
	}
	return pairs(n, name, vs, rows, it, said)
}

// pairs tries the operations on two cells of a column. With more than a few rows the sentence must name one of the two.
func pairs(n number, name string, vs []float64, rows []int, it evidence.Item, said saying) (string, bool) {
	const most = 60
	vs, rows = vs[:min(len(vs), most)], rows[:min(len(rows), most)]
	for i, a := range vs {
		for j, b := range vs {
			if i == j || len(vs) > 4 && !rowNamed(said, it, rows[i]) && !rowNamed(said, it, rows[j]) {
				continue
			}
			x, y := fmt.Sprintf("%s[%d]", name, rows[i]), fmt.Sprintf("%s[%d]", name, rows[j])
			if e, ok := pair(n, x, y, a, b); ok {
				return e, true
			}
		}
	}
	return "", false
}

// overRow tries the operations on two cells of one row.
func overRow(n number, it evidence.Item, r int) (string, bool) {
	row := it.Rows[r]
	for i := range row {
		for j := range row {
			a, ok := numeric(row[i])
			b, ok2 := numeric(row[j])
			if i == j || !ok || !ok2 || i >= len(it.Columns) || j >= len(it.Columns) {
				continue
			}
			x, y := fmt.Sprintf("%s.%s[%d]", it.ID, it.Columns[i], r), fmt.Sprintf("%s.%s[%d]", it.ID, it.Columns[j], r)
			if e, ok := pair(n, x, y, a, b); ok {
				return e, true
			}
		}
	}
	return "", false
}

// pair tries a difference, a percentage and a ratio of two values. A common number is no proof of a difference.
func pair(n number, x, y string, a, b float64) (string, bool) {
	exact := func(v float64) bool { return math.Abs(v-n.value) <= n.half*(1+1e-9) }
	switch {
	case n.unit != "%" && !n.common() && exact(a-b):
		return x + " - " + y, true
	case n.unit != "%" && !n.common() && exact(a+b):
		return x + " + " + y, true
	case n.unit == "%" && b != 0 && exact(a/b*100):
		return "100 * " + x + " / " + y, true
	case n.unit == "%" && b != 0 && exact((a-b)/math.Abs(b)*100):
		return "100 * (" + x + " - " + y + ") / " + y, true
	case n.unit == "%" && b != 0 && n.value > 0 && exact(-(a-b)/math.Abs(b)*100):
		return "100 * (" + y + " - " + x + ") / " + y, true
	case n.unit != "%" && !n.common() && b != 0 && exact(a/b):
		return x + " / " + y, true
	}
	return "", false
}

func rowNamed(said saying, it evidence.Item, r int) bool {
	for _, v := range it.Rows[r] {
		if label, ok := v.(string); ok && said.names(label) {
			return true
		}
	}
	return false
}

// numeric is a cell's number, also where it is written as a text.
func numeric(v any) (float64, bool) {
	switch x := v.(type) {
	case int64:
		return float64(x), true
	case float64:
		return x, !math.IsNaN(x) && !math.IsInf(x, 0)
	case string:
		if x == "" || len(x) > 40 || !strings.ContainsAny(x[:1], "0123456789-+$€£(") {
			return 0, false
		}
		if ns := find(x); len(ns) == 1 && len(ns[0].text) >= len(strings.TrimSpace(x))-2 {
			return ns[0].value, true
		}
	}
	return 0, false
}

// wordsOf are the words of a text, lower case, each also without the s of a plural.
func wordsOf(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return r < 0x80 && !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	}) {
		out[w], out[strings.TrimSuffix(w, "s")] = true, true
	}
	return out
}

// mentions says whether all words of a label stand in a text.
func mentions(words map[string]bool, label string) bool {
	any := false
	for w := range wordsOf(label) {
		if w == "" {
			continue
		}
		if !words[w] && !words[strings.TrimSuffix(w, "s")] {
			return false
		}
		any = true
	}
	return any
}

// shares says whether two texts have a word of some length in common.
func shares(a, b map[string]bool) bool {
	for w := range a {
		if len(w) > 3 && b[w] {
			return true
		}
	}
	return false
}

func cutText(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "")
	}
	return s
}
