package offline

import "strings"

// takeDates finds the column of dates for a period and a grain.
func (p *planner) takeDates() {
	recent := p.q.rank.kind == ranks && p.q.rank.recent
	if p.q.period == nil && p.q.grain == "" && !recent && !p.q.when {
		return
	}
	if p.q.periods > 1 {
		p.wonder("I read more than one period here; please ask for one at a time, or for a split by month")
	}
	p.grain = p.q.grain
	var all []*column
	for _, c := range p.base.columns {
		if c.date() {
			all = append(all, c)
		}
	}
	for _, m := range p.said {
		if m.kind == columnName && m.cols[0].date() && m.cols[0].table == p.base && p.date == nil {
			p.date = p.use(m, (*column).date)
		}
	}
	switch {
	case p.date != nil && p.date.table == p.base:
	case len(all) == 1:
		p.date = all[0]
	case len(all) == 0:
		p.wonder("`%s` has no column of dates", p.base.name)
		p.cost += 4
		return
	default:
		p.wonder("by which date: %s?", either(all))
		return
	}
	if p.q.trend {
		p.note("showing it by month")
	}
	if p.q.period != nil {
		p.takePeriod(*p.q.period)
	}
}

// takePeriod places the period in the data's own time, and says where it went by that: the bot may be asked about data
// that ends years ago, of which "last month" by the calendar would show nothing.
func (p *planner) takePeriod(s span) {
	last, ok := p.date.last()
	if !ok {
		p.wonder("I do not know which days `%s` covers, so I cannot place “%s”", p.date.name, s.said)
		return
	}
	from, to := s.bounds(last)
	f := filter{col: p.date, op: "from", from: from, to: to}
	p.filters = append(p.filters, f)
	if first, ok := day(p.date.min); ok && (from.After(last) || !to.IsZero() && !to.After(first)) {
		p.note("`%s` covers only %s", p.date.name, strings.TrimPrefix(inWords(first, last.AddDate(0, 0, 1)), "from "))
	}
	switch {
	case s.unit != "":
		p.note("“%s” is taken as the last in the data, %s", s.said, strings.TrimPrefix(strings.TrimPrefix(inWords(from, to), "in "), "on "))
	case s.from != nil && s.from.year == 0 || s.to != nil && s.to.year == 0:
		p.note("“%s” is taken as %s, the latest in the data", s.said, inWords(from, to))
	}
}

// takeEvents reads what is left of columns of dates: "employees who left" are those that have such a date. Where every
// row has one it says nothing.
func (p *planner) takeEvents() {
	for _, m := range p.said {
		if m.used || m.kind != columnName || !m.cols[0].date() || m.cost == 0 || p.agg == lists {
			continue
		}
		m.used = true
		if c := m.cols[0]; c.nulls > 0 {
			w := p.q.words[m.at]
			p.filters = append(p.filters, filter{col: c, op: "present", not: w.neg, turn: w.turn, at: m.at})
		}
	}
}
