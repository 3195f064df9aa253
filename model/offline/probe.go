package offline

import (
	"slices"
	"strings"
)

// openWords are the words to look for in the data, without plural.
func openWords(q question, left [][2]int) []string {
	var out []string
	for _, l := range left {
		for _, w := range q.words[l[0]:l[1]] {
			if !slices.Contains(out, w.stem) {
				out = append(out, w.stem)
			}
		}
	}
	return out
}

// discover reads what the look for open words gave. Words that stand together are tried together first.
func discover(q question, p plan, text string) []found {
	r, ok := readResult(text)
	if !ok || len(r.columns) != 2 {
		return nil
	}
	var out []found
	for _, l := range p.left {
		ws := q.words[l[0]:l[1]]
		if f, ok := p.holding(ws, r.rows); ok {
			out = append(out, f)
			continue
		}
		for i := range ws {
			if f, ok := p.holding(ws[i:i+1], r.rows); ok {
				out = append(out, f)
			}
		}
	}
	return out
}

// holding is what the rows of a look (column, value) say of words: the value that they are, the only one that holds
// them, or that there are many.
func (p plan) holding(ws []word, rows [][]string) (found, bool) {
	words := strings.ToLower(join(ws))
	part := words
	if len(ws) == 1 {
		part = ws[0].stem
	}
	f := found{words: words}
	exact := slices.ContainsFunc(rows, func(row []string) bool { return strings.EqualFold(row[1], words) })
	var values []string
	for _, row := range rows {
		low := strings.ToLower(row[1])
		c := p.column(row[0])
		if c == nil || !strings.Contains(low, part) || exact && low != words {
			continue
		}
		if !slices.Contains(f.cols, c) {
			f.cols = append(f.cols, c)
		}
		if !slices.Contains(values, low) {
			values = append(values, low)
			f.value = row[1]
		}
	}
	if len(values) > 1 {
		f.value, f.like = part, true
	}
	return f, len(values) > 0
}

// column finds a column by table.column.
func (p plan) column(name string) *column {
	for _, t := range append([]*table{p.base}, p.joined...) {
		for _, c := range t.columns {
			if t.name+"."+c.name == name {
				return c
			}
		}
	}
	return nil
}
