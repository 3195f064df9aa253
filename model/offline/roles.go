package offline

import (
	"slices"
	"strings"
)

// numeric columns that a comparison or an average can be about.
func (p *planner) measures() []*column {
	var out []*column
	for _, c := range p.base.columns {
		if c.measure() {
			out = append(out, c)
		}
	}
	return out
}

// havingAt is the comparison that is about the number of rows of a group ("with more than 5 orders"), or -1.
func (p *planner) havingAt() int {
	for i, c := range p.q.compare {
		if p.q.whichAt >= 0 && p.noun != nil && p.noun.at == c.end {
			return i
		}
	}
	return -1
}

// takeComparisons finds the columns that comparisons are about: the one beside it, or the only one there is.
func (p *planner) takeComparisons() {
	having := p.havingAt()
	for i, c := range p.q.compare {
		if i == having && len(p.groups) > 0 {
			p.having = &p.q.compare[i]
			continue
		}
		f := filter{op: c.op, a: c.a, b: c.b, turn: p.q.words[c.at].turn, at: c.at, not: p.q.words[c.at].neg}
		m := p.beside(c.at, c.end, p.measures())
		if m == nil {
			m = p.compared(c)
		}
		all := p.measures()
		if c.unit != "" && m == nil {
			if fit := slices.DeleteFunc(slices.Clone(all), func(col *column) bool { return !hasAny(parts(col.name), units[c.unit]) }); len(fit) > 0 {
				all = fit
			}
		}
		switch {
		case m != nil:
			f.col = p.use(m, (*column).measure)
			// The column that is averaged is also the one compared: "average amount over 100".
			m.used = m.at != p.q.aggAt && m.at != p.q.aggAt+1
		case len(all) == 1:
			f.col = all[0]
			p.note("taking “%s” as being about `%s`", join(p.q.words[c.at:c.end]), f.col.name)
		default:
			p.wonder("“%s”: of which column? Numbers in `%s` are %s.", join(p.q.words[c.at:c.end]), p.base.name, orNone(all))
			p.cost += 2
			continue
		}
		p.filters = append(p.filters, f)
	}
	p.equalities()
}

// compared is the mention of a number's column that stands before a comparison, however far.
func (p *planner) compared(c comparison) *mention {
	var out *mention
	for _, m := range p.said {
		if m.kind == columnName && !m.used && m.cols[0].measure() && m.at < c.at {
			out = m
		}
	}
	return out
}

// orNone lists columns, for a sentence that must be true without any.
func orNone(cols []*column) string {
	if len(cols) == 0 {
		return "none"
	}
	return either(cols)
}

// equalities reads numbers that stand right behind a column: "status 404".
func (p *planner) equalities() {
	for i, span := range p.left {
		w := p.q.words[span[0]]
		if !w.isNum || span[1] != span[0]+1 {
			continue
		}
		var cols []*column
		for _, c := range p.base.columns {
			if c.numeric() {
				cols = append(cols, c)
			}
		}
		if m := p.beside(span[0], span[1], cols); m != nil && m.at < span[0] {
			p.filters = append(p.filters, filter{col: p.use(m, (*column).numeric), op: "=", a: w.num, not: w.neg, turn: w.turn, at: span[0]})
			p.left[i] = [2]int{}
		}
	}
	p.left = slices.DeleteFunc(p.left, func(s [2]int) bool { return s[0] == s[1] })
}

// takeAggregate settles what is computed, and of which column.
func (p *planner) takeAggregate() {
	p.agg, p.nested = p.q.agg, p.q.nested
	m := p.measureMention()
	switch {
	case p.share:
		p.takeShare(m)
	case p.q.when || p.q.agg == highs && m != nil && m.cols[0].date():
		p.agg = lists // the row tells when
	case p.agg == counts, p.nested:
		p.takeCount(m)
	case p.agg != open:
		p.takeMeasure(m)
	case p.listsRows(m):
		p.agg = lists
		if m != nil && p.q.rank.kind != open && !p.q.rank.recent {
			p.measure = p.use(m, (*column).measure)
		}
	case m == nil && p.q.distinct:
		p.takeCount(nil)
	case m != nil:
		p.takeMeasure(m)
	case p.noun != nil || len(p.groups) > 0 || p.q.grain != "" || len(p.filters) > 0:
		p.agg = counts
	default:
		p.wonder("I do not see what to compute")
	}
}

// measureMention is the mention of the column that is computed on: behind the word that says how, else the first number.
func (p *planner) measureMention() *mention {
	for _, at := range []int{p.q.aggAt, p.q.rank.at} {
		if (p.q.agg == open || p.q.agg != counts) && at >= 0 && at <= len(p.q.words) && (at > 0 || p.q.aggAt == 0) {
			if m := p.next(at); m != nil && m.kind == columnName && m.cols[0].measure() {
				return m
			}
		}
	}
	if p.q.agg == counts || p.nested {
		// Behind "how many" stands what is counted; only the next thing named is it.
		if m := p.next(p.q.aggAt); m != nil && m.kind == columnName && (p.noun == nil || p.noun.at < p.q.aggAt || p.noun.at > m.at) {
			return m
		}
		return nil
	}
	for _, m := range p.said {
		if m.kind == columnName && !m.used && slices.ContainsFunc(m.cols, (*column).measure) {
			return m
		}
	}
	return nil
}

// listsRows says whether the rows themselves are asked for.
func (p *planner) listsRows(m *mention) bool {
	r := p.q.rank
	switch {
	case len(p.groups) > 0 || p.q.grain != "":
		return false
	case r.kind == ranks && (r.recent || p.noun != nil || m != nil):
		return true
	case (p.q.who || p.q.whichAt >= 0 && p.noun != nil && p.noun.at == p.q.whichAt) && !p.q.distinct:
		return true
	}
	return p.q.list && p.noun != nil && (m == nil || p.noun.at < m.at || r.kind == open)
}

// takeCount counts rows, or the different values of a column, or adds up a number of things.
func (p *planner) takeCount(m *mention) {
	if !p.nested {
		p.agg = counts
	}
	if m == nil && p.q.distinct {
		for _, c := range p.said {
			if c.kind == columnName && !c.used {
				m = c
				break
			}
		}
	}
	switch {
	case m == nil && p.q.distinct && p.noun != nil && p.ownKey() != nil:
		p.measure, p.unique = p.ownKey(), true
		if p.q.period != nil {
			p.cost += 8 // which of them something happened to is told by another table
		}
	case m == nil:
		if p.noun == nil {
			p.cost++
		}
	case m.cols[0].date() && !p.q.distinct: // "how many hires per year"
		p.date = p.use(m, (*column).date)
		p.filters = append(p.filters, filter{col: p.date, op: "present", at: m.at, turn: p.q.words[m.at].turn})
	case m.cols[0].additive() && !p.q.distinct && !p.nested:
		p.agg, p.measure = sums, p.use(m, (*column).additive)
	default:
		p.measure, p.unique = p.use(m, func(c *column) bool { return !c.measure() }), true
		if !p.q.distinct {
			p.cost += 3 // the table of that name, if there is one, is likelier meant
		}
	}
}

// ownKey is the column that numbers the table's rows: customer_id of customers.
func (p *planner) ownKey() *column {
	own := parts(p.base.name)
	for _, c := range p.base.columns {
		name := parts(c.name)
		if len(own) > 0 && len(name) == 2 && stem(name[0]) == stem(own[len(own)-1]) && idWords[name[1]] || len(name) == 1 && name[0] == "id" {
			return c
		}
	}
	return nil
}

// takeMeasure computes on a column of numbers, and says which where nobody did.
func (p *planner) takeMeasure(m *mention) {
	all := p.measures()
	switch {
	case m != nil:
		p.measure = p.use(m, (*column).measure)
		if !p.measure.numeric() {
			p.wonder("`%s` is %s, so it has no sum or average; numbers in `%s` are %s", p.measure.name, strings.ToLower(p.measure.kind), p.base.name, orNone(all))
		}
		if revenueWords[stem(strings.ToLower(m.said))] && hasRevenue(p.base) {
			p.cost -= 2
		}
	case len(all) == 1:
		p.measure = all[0]
		p.note("taking `%s`, the only column of numbers in `%s`", p.measure.name, p.base.name)
		p.cost += 2
	default:
		p.wonder("of which column? Numbers in `%s` are %s", p.base.name, orNone(all))
		p.cost += 2
		return
	}
	if p.agg != open {
		return
	}
	r := p.q.rank
	grouped := len(p.groups) > 0 || p.q.grain != ""
	switch {
	case (r.kind == highs || r.kind == lows) && (!grouped || !p.measure.additive() || p.q.whichAt < 0):
		p.agg = r.kind
		if grouped && p.q.whichAt < 0 {
			p.q.rank.kind = open // the highest of each group, all groups
		}
	case p.measure.additive():
		p.agg = sums
	default:
		p.wonder("the sum, the average, the median, the lowest or the highest `%s`?", p.measure.name)
	}
}

// hasRevenue says whether amounts of the table are money that came in: not so in one of refunds.
func hasRevenue(t *table) bool {
	return slices.ContainsFunc(parts(t.name), func(s string) bool { return revenueTables[stem(s)] })
}

// takeShare splits the conditions into those of the whole and those of the part: what is said behind the verb, or
// all of them, is the part.
func (p *planner) takeShare(m *mention) {
	p.share, p.agg = true, counts
	if m != nil && m.cols[0].additive() {
		p.agg, p.measure = sums, p.use(m, (*column).additive)
		if revenueWords[stem(strings.ToLower(m.said))] && hasRevenue(p.base) {
			p.cost -= 2
		}
	}
	behind := -1
	for i, w := range p.q.words {
		if w.mark == verb && w.turn == p.q.words[0].turn && i > 0 {
			behind = i
		}
	}
	isPart := func(f filter) bool { return f.turn == p.q.words[0].turn && f.at > behind }
	if !slices.ContainsFunc(p.filters, isPart) {
		isPart = func(f filter) bool { return f.turn == p.q.words[0].turn }
	}
	var whole []filter
	for _, f := range p.filters {
		if isPart(f) {
			p.parts = append(p.parts, f)
		} else {
			whole = append(whole, f)
		}
	}
	p.filters = whole
	if len(p.parts) == 0 && p.q.rateAt >= 0 {
		p.cost += 5 // a refund rate is what part of the orders was refunded, not how refunds are spread
	}
	if len(p.parts) == 0 && len(p.groups) == 0 {
		p.wonder("a share of what? Please name a value, as in “what share of %s was …”", p.base.name)
		p.cost += 6
	}
}

// takeRank settles order and length.
func (p *planner) takeRank() {
	r := p.q.rank
	if r.kind == open {
		return
	}
	p.limit, p.lowest = r.n, r.lowest
	grouped := len(p.groups) > 0 || p.grain != ""
	switch {
	case p.agg == lists && r.recent:
		p.order = p.date != nil
	case p.agg == lists:
		if p.order = p.measure != nil; !p.order {
			p.wonder("top by what? Numbers in `%s` are %s", p.base.name, orNone(p.measures()))
		}
	case grouped:
		p.order = true
	case r.kind == highs || r.kind == lows:
		p.limit = 0
	case p.agg != open:
		p.wonder("the %s of what? Please say which column to compare", map[bool]string{true: "lowest", false: "highest"}[r.lowest])
	}
	if r.silent {
		p.note("showing five")
	}
}
