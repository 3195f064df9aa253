package offline

import (
	"slices"
	"strings"
)

// A kind says what a word of the question names.
type kind int

const (
	tableName kind = iota
	columnName
	valueOf
)

// A mention is words of the question that name something of the data.
type mention struct {
	kind  kind
	at, n int
	cols  []*column // candidates of equal rank
	value string
	cost  int    // how far the words are from the name
	said  string // the word, when another one was taken for it
	like  bool   // the value was found by looking for a part of it
	used  bool
}

// A found value is one that a look into the data gave for words of the question.
type found struct {
	words string // lower case
	cols  []*column
	value string
	like  bool // many values hold the words
}

// A scope is what the words of a question may mean when it is about one table, and the tables that it leads to.
type scope struct {
	q      question
	table  *table
	joined []*table // each row of base has one row there
	found  []found
}

// named is the best reading of the words that begin here, by names alone.
func (s scope) named(at int) *mention {
	w := s.q.words[at]
	if w.quoted || w.mark != open && w.mark != rate || w.isNum {
		return nil
	}
	best := s.tableAt(at)
	best = better(best, s.columnAt(at, s.table, 0))
	for _, t := range s.joined {
		best = better(best, s.columnAt(at, t, 2))
	}
	return best
}

// at is the best reading of the words that begin here.
func (s scope) at(at int) *mention {
	if at == s.q.aggAt && s.q.agg == counts && s.q.words[at].mark == open {
		if m := s.tableAt(at); m != nil {
			return m // "how many people": the rows, though a department may be called so
		}
	}
	best := better(s.foundAt(at), s.named(at))
	best = better(best, s.valueAt(at, s.table, 0))
	for _, t := range s.joined {
		best = better(best, s.valueAt(at, t, 2))
	}
	if best != nil && s.q.words[at].mark == rate && best.kind != columnName {
		return nil
	}
	return best
}

// better is the reading of more words, then the one that is closer. Of two that are equal the first stays.
func better(a, b *mention) *mention {
	switch {
	case a == nil:
		return b
	case b == nil, a.n > b.n, a.n == b.n && a.cost <= b.cost:
		return a
	}
	return b
}

// spelled says whether words stand here, plural or not.
func (s scope) spelled(at int, words []string) bool {
	if len(words) == 0 || at+len(words) > len(s.q.words) {
		return false
	}
	for i, p := range words {
		if w := s.q.words[at+i]; w.quoted || w.mark != open && w.mark != fill && w.mark != rate && w.mark != counts || w.stem != stem(p) {
			return false
		}
	}
	return true
}

// tableAt reads the name of the table: whole, by its last word, by its root (refunded and refunds), or by a word for
// what its rows are.
func (s scope) tableAt(at int) *mention {
	name, w := parts(s.table.name), s.q.words[at]
	m := &mention{kind: tableName, at: at, n: len(name)}
	switch {
	case len(name) == 0:
		return nil
	case w.low == s.table.name:
		m.n = 1
	case s.spelled(at, name):
	case s.spelled(at, name[len(name)-1:]):
		m.n, m.cost = 1, 1
	case len(name) == 1 && len(w.low) > 3 && root(w.low) == root(name[0]):
		m.n, m.cost = 1, 2
	default:
		rank := slices.IndexFunc(rowNouns[w.stem], func(noun string) bool { return hasAny(name, []string{noun}) })
		if rank < 0 {
			return nil
		}
		m.n, m.cost, m.said = 1, 3+rank, w.text
	}
	return m
}

// hasAny says whether a name holds one of these words.
func hasAny(name, words []string) bool {
	return slices.ContainsFunc(name, func(p string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return stem(w) == stem(p) })
	})
}

// columnAt is the column of a table that the words here name: by its whole name, by its name without an ending like
// _id, by its last word, by a synonym.
func (s scope) columnAt(at int, t *table, extra int) *mention {
	var best *mention
	for _, c := range t.columns {
		n, cost, said := s.names(at, c)
		if n == 0 {
			continue
		}
		m := &mention{kind: columnName, at: at, n: n, cost: cost + extra, cols: []*column{c}, said: said}
		if best != nil && best.n == n && best.cost == m.cost {
			best.cols = append(best.cols, c)
			continue
		}
		best = better(best, m)
	}
	return best
}

// names says how many words here name a column, how far they are from its name, and which of them stood for another
// word. The order is that of trust: a whole name beats everything, a synonym is only taken when nothing else fits.
func (s scope) names(at int, c *column) (n, cost int, said string) {
	name, w := parts(c.name), s.q.words[at]
	core := name
	for len(core) > 1 && tails[core[len(core)-1]] {
		core = core[:len(core)-1]
	}
	switch {
	case w.low == strings.ToLower(c.name):
		return 1, 0, ""
	case len(name) == 0:
		return 0, 0, ""
	case s.spelled(at, name):
		return len(name), 0, ""
	case c.table != s.table && s.spelled(at, append(lastOf(c.table), name...)):
		return len(name) + 1, 0, "" // the name of a customer, for an order
	case s.spelled(at, core):
		return len(core), 1, ""
	case len(core) > 1 && s.spelled(at, core[len(core)-1:]):
		return 1, 2, ""
	case c.date() && len(core) == 1 && len(w.low) > 3 && root(w.low) == root(core[0]):
		return 1, 2, "" // hires are hired_on
	}
	for rank, word := range synonyms[w.stem] {
		if hasAny(core, []string{word}) {
			return 1, 3 + rank, w.text
		}
	}
	return 0, 0, ""
}

// lastOf is the word that names what a table's rows are.
func lastOf(t *table) []string {
	ps := parts(t.name)
	return slices.Clone(ps[max(0, len(ps)-1):])
}

// valueAt is the value of a table's column that stands here.
func (s scope) valueAt(at int, t *table, extra int) *mention {
	var best *mention
	for _, c := range t.columns {
		if !c.text() && !(c.numeric() && s.q.words[at].isNum) {
			continue
		}
		for _, v := range c.common {
			n, cost := s.is(at, v)
			if n == 0 {
				continue
			}
			m := &mention{kind: valueOf, at: at, n: n, cost: cost + extra, cols: []*column{c}, value: v}
			if best != nil && best.n == n && best.cost == m.cost && !slices.Contains(best.cols, c) {
				best.cols = append(best.cols, c)
				continue
			}
			best = better(best, m)
		}
	}
	return best
}

// is says how many words here are a value, and how far from it they are. A small word like "us" must be written as the
// value is.
func (s scope) is(at int, value string) (n, cost int) {
	want := split(value, 0)
	if len(want) == 0 || at+len(want) > len(s.q.words) {
		return 0, 0
	}
	if w := s.q.words[at]; w.quoted {
		if strings.EqualFold(w.text, value) {
			return 1, 0
		}
		return 0, 0
	}
	free := false
	for i, v := range want {
		w := s.q.words[at+i]
		switch {
		case w.mark != open && w.mark != fill && !(w.mark == missing && len(want) > 1):
			return 0, 0
		case w.low == v.low:
			free = free || w.mark == open || w.text == v.text && w.text != w.low
		case len(want) == 1 && w.mark == open && len(w.low) > 3 && w.stem == v.stem:
			return 1, 0
		case len(want) == 1 && w.mark == open && len(w.low) > 3 && root(w.low) == root(v.low):
			return 1, 1
		default:
			return 0, 0
		}
	}
	if !free {
		return 0, 0
	}
	return len(want), 0
}

// foundAt is a value that a look into the data gave.
func (s scope) foundAt(at int) *mention {
	for _, f := range s.found {
		n := len(split(f.words, 0))
		if at+n > len(s.q.words) || strings.ToLower(join(s.q.words[at:at+n])) != f.words {
			continue
		}
		var cols []*column
		for _, c := range f.cols {
			if c.table == s.table || slices.Contains(s.joined, c.table) {
				cols = append(cols, c)
			}
		}
		if own := slices.DeleteFunc(slices.Clone(cols), func(c *column) bool { return c.table != s.table }); len(own) > 0 {
			cols = own
		}
		if len(cols) > 0 {
			return &mention{kind: valueOf, at: at, n: max(n, 1), cols: cols, value: f.value, like: f.like}
		}
	}
	return nil
}

// mentions reads all words. What nothing is known of is left over.
func (s scope) mentions() (named []*mention, left [][2]int) {
	for i := 0; i < len(s.q.words); {
		if m := s.at(i); m != nil {
			named = append(named, m)
			i += m.n
			continue
		}
		w := s.q.words[i]
		if w.mark == open {
			if n := len(left); n > 0 && left[n-1][1] == i && !s.q.words[i-1].quoted && !w.quoted {
				left[n-1][1] = i + 1
			} else {
				left = append(left, [2]int{i, i + 1})
			}
		}
		i++
	}
	return named, left
}
