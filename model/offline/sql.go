package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// listed is how many rows are shown when nobody said how many.
const listed = 20

var (
	plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
	reserved  = set(`all and any as asc between by case cast check column constraint create current_date default desc distinct do else end except false
 fetch for foreign from full grant group having in inner intersect into is join left like limit not null offset on or order outer primary references right
 select some table at offset only position values asof pivot qualify sample semi anti lateral natural current_time localtime session_user grouping_id then to true union unique user using when where window with`)
)

// A writer writes a plan as SQL, in what DuckDB and PostgreSQL have in common.
type writer struct {
	plan
	quoted bool // every name in quotes, for names that would be read otherwise
	joins  bool // so columns need their table's name
}

// sql is the statement that answers the plan.
func (p plan) sql(quoted bool) string {
	w := writer{plan: p, quoted: quoted}
	w.joins = slices.ContainsFunc(p.columns(), func(c *column) bool { return c.table != p.base })
	switch {
	case p.agg == lists:
		return w.rows()
	case p.nested:
		return w.averageOfGroups()
	}
	return w.aggregate()
}

// name writes a name, in quotes where it needs them.
func (w writer) name(s string) string {
	if !w.quoted && plainName.MatchString(s) && !reserved[s] {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// literal writes a text. Nothing of a question gets into a statement on another way than this one or as a number.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// column writes a column, with its table where there is more than one.
func (w writer) column(c *column) string {
	if w.joins {
		return w.name(c.table.name) + "." + w.name(c.name)
	}
	return w.name(c.name)
}

// from is the table with what it leads to. Left joins: a row without a partner stays.
func (w writer) from() string {
	var b strings.Builder
	b.WriteString(" FROM " + w.name(w.base.name))
	seen := map[*table]bool{w.base: true}
	for _, c := range w.columns() {
		if t := c.table; !seen[t] {
			seen[t] = true
			key := w.name(w.base.key(t).name)
			fmt.Fprintf(&b, " LEFT JOIN %s ON %[1]s.%s = %s.%[2]s", w.name(t.name), key, w.name(w.base.name))
		}
	}
	return b.String()
}

// where are the conditions. A bucket of time for rows without one would be no time at all, so those stay out.
func (w writer) where() string {
	var conds []string
	for _, f := range w.filters {
		conds = append(conds, w.condition(f))
	}
	if w.grain != "" && w.date != nil && w.date.nulls > 0 && !slices.ContainsFunc(w.filters, func(f filter) bool { return f.op == "from" }) {
		conds = append(conds, w.column(w.date)+" IS NOT NULL")
	}
	if w.agg == lists && w.order && w.measure != nil && w.measure.nulls > 0 {
		conds = append(conds, w.column(w.measure)+" IS NOT NULL")
	}
	if len(conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conds, " AND ")
}

// condition writes a filter. Its opposite takes rows without a value in: what is not known to be shipped is not shipped.
func (w writer) condition(f filter) string {
	col := w.column(f.col)
	not := func(cond string) string {
		if f.not {
			return "NOT coalesce(" + cond + ", FALSE)"
		}
		return cond
	}
	switch f.op {
	case "is":
		return not(w.is(col, f))
	case "contains":
		var alts []string
		for _, v := range f.values {
			alts = append(alts, fmt.Sprintf("lower(%s) LIKE %s", col, literal("%"+strings.ToLower(v)+"%")))
		}
		return not(anyOf(alts))
	case "missing":
		if f.col.text() {
			return fmt.Sprintf("(%s IS NULL OR %[1]s = '')", col)
		}
		return col + " IS NULL"
	case "present":
		if f.not {
			return col + " IS NULL"
		}
		return col + " IS NOT NULL"
	case "true":
		return not(col)
	case "from":
		var conds []string
		if !f.from.IsZero() {
			conds = append(conds, col+" >= DATE "+literal(f.from.Format(time.DateOnly)))
		}
		if !f.to.IsZero() {
			conds = append(conds, col+" < DATE "+literal(f.to.Format(time.DateOnly)))
		}
		return strings.Join(conds, " AND ")
	case "between":
		return not(col + " BETWEEN " + plain(f.a) + " AND " + plain(f.b))
	}
	return not(col + " " + f.op + " " + plain(f.a))
}

// anyOf joins alternatives.
func anyOf(alts []string) string {
	if len(alts) == 1 {
		return alts[0]
	}
	return "(" + strings.Join(alts, " OR ") + ")"
}

// is compares without regard to case, because data is seldom consistent in it.
func (w writer) is(col string, f filter) string {
	var vals []string
	for _, v := range f.values {
		if f.col.text() {
			v = literal(strings.ToLower(v))
		}
		vals = append(vals, v)
	}
	if f.col.text() {
		col = "lower(" + col + ")"
	}
	if len(vals) == 1 {
		return col + " = " + vals[0]
	}
	return col + " IN (" + strings.Join(vals, ", ") + ")"
}

// plain is a number as SQL takes it.
func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// computed is the expression that is asked for, and a name that says what it is.
func (w writer) computed() (expr, name string) {
	if w.agg == counts && w.measure == nil {
		if w.counted != "" && !strings.HasSuffix(w.counted, " rows") {
			return "count(*)", alias(strings.ReplaceAll(w.counted, " ", "_"))
		}
		return "count(*)", alias(w.base.name)
	}
	col := w.column(w.measure)
	switch w.agg {
	case counts:
		return "count(DISTINCT " + col + ")", alias("different_" + w.measure.name)
	case averages:
		return "avg(" + col + ")", alias("average_" + w.measure.name)
	case medians:
		return "percentile_cont(0.5) WITHIN GROUP (ORDER BY " + col + ")", alias("median_" + w.measure.name)
	case highs:
		return "max(" + col + ")", alias("highest_" + w.measure.name)
	case lows:
		return "min(" + col + ")", alias("lowest_" + w.measure.name)
	}
	return "sum(" + col + ")", alias("total_" + w.measure.name)
}

// alias is a name that is fit for a column of a result.
func alias(s string) string {
	out := strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "_")
	if !plainName.MatchString(out) || reserved[out] {
		return "n_" + out
	}
	return out
}

// buckets are the expressions that the result is grouped by, and their names.
func (w writer) buckets() (exprs, names []string) {
	for _, c := range w.groups {
		if c.folds() {
			exprs, names = append(exprs, "lower("+w.column(c)+")"), append(names, w.name(c.name))
			continue
		}
		exprs, names = append(exprs, w.column(c)), append(names, w.name(c.name))
	}
	if w.grain != "" && w.date != nil {
		e := fmt.Sprintf("date_trunc('%s', %s)", w.grain, w.column(w.date))
		if w.grain != "hour" {
			e = "CAST(" + e + " AS DATE)"
		}
		exprs, names = append(exprs, e), append(names, alias(string(w.grain)))
	}
	return exprs, names
}

// aggregate is one number, or one for each group.
func (w writer) aggregate() string {
	exprs, names := w.buckets()
	var cols, numbers []string
	for i := range exprs {
		numbers = append(numbers, strconv.Itoa(i+1))
		if exprs[i] == names[i] {
			cols = append(cols, exprs[i])
		} else {
			cols = append(cols, exprs[i]+" AS "+names[i])
		}
	}
	expr, name := w.computed()
	if w.share {
		cols = append(cols, w.shareOf(expr, name)...)
	} else {
		cols = append(cols, expr+" AS "+name)
	}
	s := "SELECT " + strings.Join(cols, ", ") + w.from() + w.where()
	if len(exprs) > 0 {
		s += " GROUP BY " + strings.Join(numbers, ", ")
	}
	if w.having != nil {
		s += " HAVING count(*) " + w.having.op + " " + plain(w.having.a)
		if w.having.op == "between" {
			s += " AND " + plain(w.having.b)
		}
	}
	return s + w.ordered(numbers, len(cols))
}

// shareOf are the part, the whole and what the part makes of it; without a part, each group's number and share.
func (w writer) shareOf(expr, name string) []string {
	if len(w.parts) == 0 {
		return []string{expr + " AS " + name, fmt.Sprintf("100.0 * %s / sum(%[1]s) OVER () AS share_percent", expr)}
	}
	var conds []string
	for _, f := range w.parts {
		conds = append(conds, w.condition(f))
	}
	value := "1"
	if w.measure != nil && w.agg == sums {
		value = w.column(w.measure)
	}
	part := fmt.Sprintf("sum(CASE WHEN %s THEN %s ELSE 0 END)", strings.Join(conds, " AND "), value)
	return []string{part + " AS part_of_" + name, expr + " AS " + name, fmt.Sprintf("100.0 * %s / nullif(%s, 0) AS share_percent", part, expr)}
}

// ordered puts time in its order, and groups in the order of their number. Of a rank of one the runners-up are fetched
// too, because there may be a tie. What is level is in the order of its groups, so that the same question gives the same
// rows.
func (w writer) ordered(groups []string, cols int) string {
	direction, by := " DESC", strings.Join(groups, ", ")
	if w.lowest {
		direction = ""
	}
	switch {
	case len(groups) == 0:
		return ""
	case w.order:
		return fmt.Sprintf(" ORDER BY %d%s NULLS LAST, %s LIMIT %d", cols, direction, by, max(w.limit, 5))
	case w.grain != "" && len(groups) > 1:
		return fmt.Sprintf(" ORDER BY %d, %s", len(groups), strings.Join(groups[:len(groups)-1], ", "))
	case w.grain != "":
		return " ORDER BY 1"
	}
	return fmt.Sprintf(" ORDER BY %d DESC NULLS LAST, %s", cols, by)
}

// averageOfGroups is "the average number of orders per day".
func (w writer) averageOfGroups() string {
	inner := w
	inner.nested, inner.agg = false, counts
	exprs, names := inner.buckets()
	expr, name := inner.computed()
	for i := range exprs {
		exprs[i] += " AS " + names[i]
	}
	cols := strings.Join(append(exprs, expr+" AS n"), ", ")
	by := make([]string, len(names))
	for i := range by {
		by[i] = strconv.Itoa(i + 1)
	}
	s := fmt.Sprintf("SELECT avg(n) AS average_%s FROM (SELECT %s%s%s", name, cols, w.from(), w.where())
	if len(by) > 0 {
		s += " GROUP BY " + strings.Join(by, ", ")
	}
	return s + ") AS groups_"
}

// rows lists the rows themselves.
func (w writer) rows() string {
	cols := "*"
	if len(w.show) > 0 || w.joins {
		show := w.show
		if len(show) == 0 {
			show = w.base.columns
		}
		var names []string
		for _, c := range show {
			names = append(names, w.column(c))
		}
		if by := w.orderColumn(); w.order && !slices.Contains(show, by) {
			names = append(names, w.column(by))
		}
		cols = strings.Join(names, ", ")
	}
	s := "SELECT " + cols + w.from() + w.where()
	first := w.column(w.base.columns[0])
	if by := w.orderColumn(); w.order && by != nil {
		direction := " DESC NULLS LAST, "
		if w.lowest {
			direction = " NULLS LAST, "
		}
		first = w.column(by) + direction + first
	}
	s += " ORDER BY " + first
	n := w.limit
	if n == 0 {
		n = listed
	}
	return s + " LIMIT " + strconv.Itoa(n)
}

// orderColumn is what rows are sorted by.
func (w writer) orderColumn() *column {
	if w.measure != nil {
		return w.measure
	}
	return w.date
}

// probe asks which columns hold words that nothing is known of.
func probe(p plan, words []string) string {
	w := writer{plan: p}
	var selects []string
	for _, t := range append([]*table{p.base}, p.joined...) {
		for _, c := range t.columns {
			if !c.text() || int64(len(c.common)) == c.distinct && t.inspected && !holdsAny(c.common, words) {
				continue
			}
			var likes []string
			for _, word := range words {
				likes = append(likes, fmt.Sprintf("lower(%s) LIKE %s", w.name(c.name), literal("%"+word+"%")))
			}
			selects = append(selects, fmt.Sprintf("SELECT DISTINCT %s AS name, %s AS value FROM %s WHERE %s",
				literal(t.name+"."+c.name), w.name(c.name), w.name(t.name), strings.Join(likes, " OR ")))
		}
	}
	if len(selects) == 0 {
		return ""
	}
	return strings.Join(selects, " UNION ALL ") + " ORDER BY 1, 2 LIMIT 100"
}

// holdsAny says whether a value holds a word: a column all of whose values are known needs no look otherwise.
func holdsAny(values, words []string) bool {
	return slices.ContainsFunc(values, func(v string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(v), w) })
	})
}
