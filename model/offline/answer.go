package offline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// signature ends every answer, so that nobody takes this for a language model.
const signature = "_Offline planner: a small rule-based stand-in for a language model. It states how it read the question above._"

var aggregateWords = map[mark]string{sums: "sum of", averages: "average", medians: "median", highs: "highest", lows: "lowest", counts: "number of different"}

// sign puts an answer's parts together.
func sign(paragraphs ...string) string {
	paragraphs = slices.DeleteFunc(paragraphs, func(s string) bool { return strings.TrimSpace(s) == "" })
	return strings.Join(append(paragraphs, signature), "\n\n")
}

// subject says what the plan computes.
func (p plan) subject() string {
	thing := "`" + p.base.name + "`"
	switch {
	case p.agg == lists, p.agg == counts && p.measure == nil && !p.nested:
		return thing
	case p.nested && p.measure == nil:
		return "average number of " + thing
	case p.nested:
		return "average number of different `" + p.measure.name + "`"
	}
	return aggregateWords[p.agg] + " `" + p.measure.name + "`"
}

// conditions says what the plan is narrowed to.
func conditions(filters []filter) string {
	var where, period []string
	for _, f := range filters {
		if f.op == "from" {
			period = append(period, inWords(f.from, f.to))
			continue
		}
		where = append(where, f.words())
	}
	s := strings.Join(period, " and ")
	if len(where) > 0 {
		s = strings.TrimSpace("where " + strings.Join(where, " and ") + ", " + s)
	}
	if s = strings.TrimSuffix(s, ","); s != "" {
		return " " + s
	}
	return ""
}

// words is a condition for people.
func (f filter) words() string {
	is, name := "is", "`"+f.col.name+"`"
	if f.not {
		is = "is not"
	}
	switch f.op {
	case "is":
		return name + " " + is + " " + strings.Join(f.values, " or ")
	case "contains":
		verb := "contains"
		if f.not {
			verb = "does not contain"
		}
		return name + " " + verb + " “" + strings.Join(f.values, "” or “") + "”"
	case "missing", "present":
		if (f.op == "missing") != f.not {
			return name + " is missing"
		}
		return name + " is set"
	case "true":
		return name + " is " + strconv.FormatBool(!f.not)
	case "between":
		return name + " " + is + " between " + plain(f.a) + " and " + plain(f.b)
	}
	return name + " " + is + " " + map[string]string{">": "over", ">=": "at least", "<": "under", "<=": "at most", "=": "exactly"}[f.op] + " " + plain(f.a)
}

// reading is how the question was read.
func (p plan) reading() string {
	s := "Read as: " + p.subject()
	if p.share {
		s = "Read as: share of " + p.subject()
		if len(p.parts) > 0 {
			s += conditions(p.parts) + ", out of all"
		}
	}
	if p.agg == counts && p.measure == nil && !p.share && !p.nested {
		s = "Read as: number of rows in " + p.subject()
	}
	if p.agg == lists {
		s = "Read as: rows of " + p.subject()
	}
	s += conditions(p.filters) + p.split()
	if p.order && p.agg == lists {
		s += ", " + map[bool]string{true: "lowest", false: "highest"}[p.lowest] + " `" + (writer{plan: p}).orderColumn().name + "` first"
	}
	for _, n := range p.notes {
		s += "; " + n
	}
	if p.grain != "" && p.date != nil && p.date.nulls > 0 {
		s += "; rows without `" + p.date.name + "` are left out"
	}
	if p.nested && p.grain != "" {
		s += fmt.Sprintf("; a %s without any is not counted", p.grain)
	}
	for _, c := range p.groups {
		if c.folds() {
			s += "; spellings of `" + c.name + "` that differ in case are put together"
		}
	}
	return s + "."
}

// split says by what the result is split.
func (p plan) split() string {
	var by []string
	for _, c := range p.groups {
		by = append(by, "`"+c.name+"`")
	}
	s := ""
	if len(by) > 0 {
		s = " per " + strings.Join(by, " and ")
	}
	if p.grain != "" && p.date != nil {
		s += fmt.Sprintf(" per %s of `%s`", p.grain, p.date.name)
	}
	return s
}

// answer writes the result down.
func (p plan) answer(r result) string {
	var said string
	switch groups := p.buckets(); {
	case p.agg == lists:
		said = p.listAnswer(r)
	case p.nested || groups == 0:
		said = p.oneAnswer(r)
	case len(r.rows) == 0:
		said = "Nothing in `" + p.base.name + "` matches" + conditions(p.filters) + ", so there is nothing to split" + p.split() + "."
	default:
		said = p.groupAnswer(r, groups)
	}
	return sign(said, p.reading())
}

// buckets is how many of the result's columns say which group a row is.
func (p plan) buckets() int {
	n := len(p.groups)
	if p.grain != "" && p.date != nil {
		n++
	}
	return n
}

// oneAnswer is a single number in a sentence.
func (p plan) oneAnswer(r result) string {
	where := conditions(p.filters)
	if len(r.rows) == 0 || len(r.rows[0]) == 0 {
		return "Nothing in `" + p.base.name + "` matches" + where + "."
	}
	row := r.rows[0]
	last := row[len(row)-1]
	switch {
	case p.share && last == "":
		return "Nothing in `" + p.base.name + "` matches" + where + ", so there is no share."
	case p.share && len(row) == 3:
		return fmt.Sprintf("**%s%%** of %s%s: **%s** of **%s**%s.", percent(last), p.subject(), conditions(p.parts), figure(row[0]), figure(row[1]), where)
	case last == "" && p.agg == sums:
		return "Nothing in `" + p.base.name + "` matches" + where + ", so the sum is zero."
	case last == "":
		return "Nothing in `" + p.base.name + "` matches" + where + ", so there is no " + aggregateWords[p.agg] + " value."
	case p.agg == counts && p.measure == nil && !p.nested:
		return fmt.Sprintf("**%s** %s%s.", figure(last), p.counted, where)
	}
	if p.nested {
		return fmt.Sprintf("The %s%s%s is **%s**.", p.subject(), where, p.split(), figure(last))
	}
	return fmt.Sprintf("The %s in `%s`%s%s is **%s**.", p.subject(), p.base.name, where, p.split(), figure(last))
}

// most that a table in an answer shows; the rest is in the evidence.
const shownRows = 40

// groupAnswer is a table, with its ends in a sentence.
func (p plan) groupAnswer(r result, groups int) string {
	rows := make([][]string, len(r.rows))
	fractions := map[int]bool{} // columns that have decimals somewhere have them everywhere
	for _, row := range r.rows {
		for j, cell := range row {
			fractions[j] = fractions[j] || strings.Contains(cell, ".")
		}
	}
	for i, row := range r.rows {
		rows[i] = make([]string, len(row))
		for j, cell := range row {
			switch {
			case j < groups:
				rows[i][j] = p.label(cell, j)
			case r.columns[j] == "share_percent":
				rows[i][j] = percent(cell) + "%"
			default:
				rows[i][j] = figure(cell)
				if fractions[j] && !strings.Contains(rows[i][j], ".") && cell != "" {
					rows[i][j] += ".00"
				}
			}
		}
	}
	tied := ties(r.rows)
	shown := rows
	if p.order && p.limit > 1 {
		shown = rows[:min(p.limit, len(rows))]
	}
	head := p.headline(rows, groups, tied)
	if len(rows) == 1 && head != "" {
		return head
	}
	return head + "\n\n" + markdown(r.columns, shown) + p.more(r, len(shown))
}

// ties is how many of the first rows have the same number.
func ties(rows [][]string) int {
	n := 0
	for _, row := range rows {
		if row[len(row)-1] != rows[0][len(row)-1] {
			break
		}
		n++
	}
	return n
}

// headline says what the rows come to.
func (p plan) headline(rows [][]string, groups, tied int) string {
	name := func(row []string) string { return strings.Join(row[:groups], ", ") }
	value := func(row []string) string { return row[len(row)-1] }
	where := conditions(p.filters)
	what := "number of " + p.counted + where
	if p.measure != nil || p.share {
		what = fmt.Sprintf("%s in `%s`%s", p.subject(), p.base.name, where)
	}
	if p.share {
		what = "share of " + what
		if len(p.parts) > 0 {
			what = "share of " + p.subject() + conditions(p.parts) + where
		}
	}
	end := "highest"
	if p.lowest {
		end = "lowest"
	}
	switch {
	case p.order && p.limit == 1 && tied > 1:
		var names []string
		for _, row := range rows[:tied] {
			names = append(names, "**"+name(row)+"**")
		}
		return fmt.Sprintf("%s are level, with **%s** each, by %s.", strings.Join(names, " and "), value(rows[0]), what)
	case p.order && p.limit == 1:
		if p.agg == highs || p.agg == lows {
			return fmt.Sprintf("**%s**: **%s**, the %s.", name(rows[0]), value(rows[0]), what)
		}
		return fmt.Sprintf("**%s**: **%s**, the %s %s.", name(rows[0]), value(rows[0]), end, what)
	case p.order:
		return fmt.Sprintf("By %s, %s first:", what, end)
	case len(rows) == 1:
		return fmt.Sprintf("%s: %s **%s**.", upper(what), name(rows[0]), value(rows[0]))
	}
	return fmt.Sprintf("%s%s:%s", upper(what), p.split(), p.ends(rows, groups))
}

// upper begins a sentence.
func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// ends names the groups with the highest and the lowest number, where each is one group and all rows are here.
func (p plan) ends(rows [][]string, groups int) string {
	high, low, ok := 0, 0, true
	num := func(i int) float64 {
		v, err := strconv.ParseFloat(strings.TrimSuffix(strings.ReplaceAll(rows[i][len(rows[i])-1], ",", ""), "%"), 64)
		ok = ok && err == nil
		return v
	}
	for i := range rows {
		if num(i) > num(high) {
			high = i
		}
		if num(i) < num(low) {
			low = i
		}
	}
	same := func(k int) (n int) {
		for _, row := range rows {
			if row[len(row)-1] == rows[k][len(row)-1] {
				n++
			}
		}
		return n
	}
	if !ok || len(rows) < 3 || len(rows) > shownRows || same(high) > 1 || same(low) > 1 {
		return ""
	}
	name := func(i int) string { return strings.Join(rows[i][:groups], ", ") }
	last := func(i int) string { return rows[i][len(rows[i])-1] }
	return fmt.Sprintf(" highest %s with **%s**, lowest %s with **%s**.", name(high), last(high), name(low), last(low))
}

// label names a group: a missing value says so, and a month is not its first day.
func (p plan) label(cell string, at int) string {
	if at < len(p.groups) || len(cell) < len(time.DateOnly) {
		if strings.TrimSpace(cell) == "" {
			return "(missing)"
		}
		return cell
	}
	switch p.grain {
	case "month":
		return cell[:7]
	case "year":
		return cell[:4]
	case "hour":
		return strings.Replace(cell, "T", " ", 1)
	}
	return cell[:10]
}

// listAnswer is the rows themselves.
func (p plan) listAnswer(r result) string {
	if len(r.rows) == 0 {
		return "Nothing in `" + p.base.name + "` matches" + conditions(p.filters) + "."
	}
	head := "Rows of `" + p.base.name + "`" + conditions(p.filters) + ":"
	return head + "\n\n" + markdown(r.columns, r.rows[:min(len(r.rows), shownRows)]) + p.more(r, len(r.rows))
}

// more says when there is more than is shown.
func (p plan) more(r result, shown int) string {
	switch {
	case r.cut:
		return "\n\nThe result was cut: there are more rows than were read, so highest and lowest are of those shown."
	case shown > shownRows:
		return "\n\nOnly the first rows are shown; all are in the evidence."
	case p.agg == lists && p.limit == 0 && shown == listed:
		return "\n\nThere may be more rows than these."
	}
	return ""
}

// markdown is a table of at most eight columns.
func markdown(columns []string, rows [][]string) string {
	n := min(len(columns), 8)
	line := func(cells []string) string {
		out := make([]string, n)
		for i := range out {
			out[i] = strings.NewReplacer("|", "\\|", "\n", " ").Replace(cells[i])
		}
		return "| " + strings.Join(out, " | ") + " |"
	}
	lines := []string{line(columns), "|" + strings.Repeat(" --- |", n)}
	for _, row := range rows[:min(len(rows), shownRows)] {
		lines = append(lines, line(row))
	}
	return strings.Join(lines, "\n")
}
