package offline

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A plan is what a question asks of one table.
type plan struct {
	base    *table
	joined  []*table
	counted string  // what people call a row
	agg     mark    // counts, sums …, or lists
	measure *column // nil when rows are counted
	unique  bool    // different values are counted
	nested  bool    // the average of the groups' numbers
	groups  []*column
	grain   grain
	date    *column // for the grain and the period
	filters []filter
	parts   []filter // of a share: what makes the part
	share   bool
	having  *comparison // on the number of rows of a group
	order   bool        // by the measure or the date
	lowest  bool
	limit   int
	show    []*column // of a list
	notes   []string  // how words were read, for the answer

	cost    int
	left    [][2]int // words that nothing is known of
	unclear []string // what is known but has no part in the plan
	ask     string   // what somebody must say first
}

// A filter is a condition on a column.
type filter struct {
	col    *column
	op     string // is, contains, missing, true, from (a period), or a comparison
	values []string
	a, b   float64
	from   time.Time
	to     time.Time
	not    bool
	turn   int
	at     int
}

// A planner fills a plan in. Its steps take mentions away; what is left at the end was not understood.
type planner struct {
	scope
	plan
	said []*mention
	noun *mention // the table, as what is counted or listed
}

// draft plans a question over one table. It always gives a plan; its cost says how well it fits.
func draft(q question, base *table, c catalog, f []found) plan {
	p := planner{scope: scope{q: q, table: base, found: f}}
	p.plan.base = base
	for _, t := range c.tables {
		if base.key(t) != nil {
			p.plan.joined = append(p.plan.joined, t)
		}
	}
	p.scope.joined = p.plan.joined
	p.counted = strings.Join(parts(base.name), " ")
	if stem(p.counted) == p.counted {
		p.counted += " rows"
	}
	// The order matters: each step leaves fewer mentions to the next, and what stands in a fixed place (behind "per",
	// beside a number) is surer than what is merely named somewhere.
	p.said, p.left = p.scope.mentions()
	p.said = slices.DeleteFunc(p.said, func(m *mention) bool { return q.dropped[m.at] })
	p.left = slices.DeleteFunc(p.left, func(s [2]int) bool { return q.dropped[s[0]] })
	p.share = q.share || q.rateAt >= 0 && !slices.ContainsFunc(p.said, func(m *mention) bool { return m.at == q.rateAt })
	p.takeTable()
	p.takeGroups()
	p.takeValues()
	p.takeVersus()
	p.takeComparisons()
	p.takeAggregate()
	p.takeDates()
	p.takeRank()
	p.takeEvents()
	p.finish()
	return p.plan
}

// note keeps how a word was read, once.
func (p *planner) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(p.notes, n) {
		p.notes = append(p.notes, n)
	}
}

// wonder keeps the first thing that somebody must say before the plan can run.
func (p *planner) wonder(format string, args ...any) {
	if p.ask == "" {
		p.ask = fmt.Sprintf(format, args...)
	}
}

// use takes a mention's column: the only candidate that fits, or a question back.
func (p *planner) use(m *mention, fits func(*column) bool) *column {
	cols := m.cols
	if some := slices.DeleteFunc(slices.Clone(cols), func(c *column) bool { return !fits(c) }); len(some) > 0 {
		cols = some
	}
	m.used = true
	if len(cols) > 1 {
		p.wonder("“%s” may be %s of `%s`: which one?", p.text(m), either(cols), p.base.name)
	}
	if m.said != "" {
		p.note("taking `%s` as %s", cols[0].name, strings.ToLower(m.said))
	}
	return cols[0]
}

// text is a mention in the asker's own words.
func (p *planner) text(m *mention) string { return join(p.q.words[m.at : m.at+m.n]) }

// either lists columns to choose from.
func either(cols []*column) string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = "`" + c.name + "`"
	}
	return strings.Join(names, " or ")
}

func anyColumn(*column) bool { return true }

// takeTable finds the table's own name: as what is counted, or as a mere mention.
func (p *planner) takeTable() {
	for _, m := range p.said {
		if m.kind != tableName {
			continue
		}
		m.used = true
		if p.noun == nil {
			p.noun = m
			p.cost -= 2
			if m.said != "" && len(parts(p.base.name)) > 0 {
				p.counted = strings.ToLower(m.said)
				p.note("taking the rows of `%s` as %s", p.base.name, p.counted)
			}
		}
		if m.at == p.q.aggAt || m.at == p.q.rank.at || m.at == p.q.whichAt || m.at == p.q.aggAt+1 && p.q.distinct {
			p.noun = m
			p.cost -= 4
		}
	}
}

// next is the first mention at or behind a word that is not used yet, with nothing but small words and the table's name
// between.
func (p *planner) next(at int) *mention {
	for _, m := range p.said {
		switch {
		case m.at+m.n <= at:
		case !m.used:
			return m.behind(p.q.words, at)
		case m.kind != tableName || m.behind(p.q.words, at) == nil:
			return nil
		default:
			at = m.at + m.n
		}
	}
	return nil
}

// behind is m if nothing but small words stand between a word and it.
func (m *mention) behind(ws []word, at int) *mention {
	for i := at; i < m.at; i++ {
		if k := ws[i].mark; k != fill && k != distinct && k != verb {
			return nil
		}
	}
	return m
}

// takeGroups finds what the answer is split by: what stands behind "per", with "and", and what "which" asks for.
func (p *planner) takeGroups() {
	for _, at := range p.q.groupsAt {
		m := p.next(at)
		for m != nil && m.kind == columnName {
			if p.q.rank.kind == ranks && m.cols[0].measure() {
				break // top 5 by amount: an order, no group
			}
			p.group(m)
			next := m.at + m.n
			if next >= len(p.q.words) || p.q.words[next].low != "and" {
				break
			}
			m = p.next(next)
		}
	}
	if at := p.q.whichAt; at >= 0 && (p.q.rank.kind != open || p.q.agg != open || p.havingAt() >= 0) {
		if m := p.next(at); m != nil && m.kind == columnName && !(p.q.rank.kind != open && m.cols[0].measure()) && len(p.groups) == 0 {
			p.group(m)
		}
	}
	// "top 5 products", "the most common status".
	if r := p.q.rank; r.kind == ranks && !r.recent || r.kind == common || r.kind == rare {
		if m := p.next(r.at); m != nil && m.kind == columnName && !m.cols[0].measure() && len(p.groups) == 0 {
			p.group(m)
		}
	}
	if p.q.list && p.noun == nil && p.q.agg == open && !p.share && p.q.rank.kind == open && len(p.groups) == 0 {
		for _, m := range p.said { // "list the products"
			if m.kind == columnName && !m.used && !m.cols[0].measure() && !m.cols[0].date() {
				p.group(m)
				break
			}
		}
	}
	if p.q.who && p.q.rank.kind != open && p.q.rank.kind != highs && p.q.rank.kind != lows && len(p.groups) == 0 {
		p.wonder("who is meant: please name what to group `%s` by, for example “which … has the most”", p.base.name)
	}
}

// group splits by a mention. A number is rarely what people split by, so a column of something else goes first.
func (p *planner) group(m *mention) {
	if c := p.use(m, func(c *column) bool { return !c.measure() }); !slices.Contains(p.groups, c) {
		p.groups = append(p.groups, c)
	}
}

// beside is a mention of one of these columns right before or behind a word.
func (p *planner) beside(at, end int, cols []*column) *mention {
	for _, m := range p.said {
		if m.kind != columnName || m.used {
			continue
		}
		near := m.at+m.n == at || m.at == end
		if before := m.at + m.n; before < at && at-before <= 2 {
			near = true
			for _, w := range p.q.words[before:at] {
				near = near && (w.mark == fill || w.mark == verb || w.mark == compares)
			}
		}
		if near && slices.ContainsFunc(m.cols, func(c *column) bool { return slices.Contains(cols, c) }) {
			return m
		}
	}
	return nil
}

// takeValues makes conditions of values, of columns that are true or false, and of what is missing.
func (p *planner) takeValues() {
	for _, m := range p.said {
		w := p.q.words[m.at]
		switch {
		case m.used:
		case m.kind == valueOf:
			p.takeValue(m, w)
		case m.kind == columnName && m.at > 0 && p.missingBefore(m.at):
			p.filters = append(p.filters, filter{col: p.use(m, anyColumn), op: "missing", turn: w.turn, at: m.at})
		case m.kind == columnName && m.cols[0].boolean():
			p.filters = append(p.filters, filter{col: p.use(m, (*column).boolean), op: "true", not: w.neg, turn: w.turn, at: m.at})
		}
	}
}

// missingBefore says whether "without" or "no" stands before a word.
func (p *planner) missingBefore(at int) bool {
	for i := at - 1; i >= 0 && i >= at-2; i-- {
		if m := p.q.words[i].mark; m == missing {
			return true
		} else if m != fill {
			return false
		}
	}
	return false
}

// takeValue makes a condition of a value. Two values of one column are alternatives, unless the second was said later:
// then it is a correction.
func (p *planner) takeValue(m *mention, w word) {
	m.used = true
	cols := m.cols
	if label := p.beside(m.at, m.at+m.n, cols); label != nil {
		label.used = true
		cols = slices.DeleteFunc(slices.Clone(cols), func(c *column) bool { return !slices.Contains(label.cols, c) })
	}
	if len(cols) > 1 {
		p.wonder("“%s” occurs in %s of `%s`: which one?", m.value, either(cols), p.base.name)
	}
	f := filter{col: cols[0], op: "is", values: []string{m.value}, not: w.neg, turn: w.turn, at: m.at}
	if m.like {
		f.op = "contains"
	}
	for i := range p.filters {
		old := &p.filters[i]
		if old.col != f.col || old.op != f.op || old.not != f.not {
			continue
		}
		switch {
		case f.turn > old.turn && !w.also: // a correction
			*old = f
		case !slices.Contains(old.values, m.value):
			old.values = append(old.values, m.value)
		}
		return
	}
	p.filters = append(p.filters, f)
}

// takeVersus splits by what is set against each other.
func (p *planner) takeVersus() {
	if !p.q.versus || len(p.groups) > 0 || p.q.grain != "" || p.q.periods > 1 {
		return
	}
	for _, f := range p.filters {
		if len(f.values) > 1 && !f.not {
			p.groups = append(p.groups, f.col)
			return
		}
	}
	p.wonder("what is to be compared? Please name two values of one column, or a column to split by")
}

// finish adds up what the plan is worth, and notes what has no part in it.
func (p *planner) finish() {
	for _, m := range p.said {
		p.cost += m.cost
		switch {
		case m.used:
		case m.kind == columnName && slices.Contains(m.cols, p.measure): // the units sold: said twice
		case m.kind == columnName && p.leadsTo(m): // "orders of German customers": the key says no more than the join
		case m.kind == columnName && p.agg == lists:
			p.show = append(p.show, m.cols[0])
			if m.said != "" {
				p.note("taking `%s` as %s", m.cols[0].name, strings.ToLower(m.said))
			}
		default:
			p.unclear = append(p.unclear, p.text(m))
			p.cost += 6
		}
	}
	for _, s := range p.left {
		p.cost += 15 * (s[1] - s[0]) // worse than anything that is understood
	}
	seen := map[*table]bool{}
	for _, c := range p.columns() {
		if c.table != p.base && !seen[c.table] {
			seen[c.table] = true
			p.cost += 2
		}
	}
	if p.ask != "" {
		p.cost += 5
	}
}

// leadsTo says whether a mention is only of the key to a table that the plan reads.
func (p *planner) leadsTo(m *mention) bool {
	return slices.ContainsFunc(p.columns(), func(c *column) bool {
		return c.table != p.base && slices.Contains(m.cols, p.base.key(c.table))
	})
}

// columns are all that the plan reads.
func (p plan) columns() []*column {
	out := slices.Concat(p.groups, p.show)
	for _, f := range slices.Concat(p.filters, p.parts) {
		out = append(out, f.col)
	}
	for _, c := range []*column{p.measure, p.date} {
		if c != nil {
			out = append(out, c)
		}
	}
	return out
}
