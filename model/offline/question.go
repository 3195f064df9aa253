package offline

import (
	"regexp"
	"slices"
	"strings"
)

// A question is what a text says, whatever the data is. Parsing never fails: what was not understood is left open.
type question struct {
	words    []word
	agg      mark // counts, sums, averages, medians, highs, lows; open if none was said
	aggAt    int  // the word after it
	nested   bool // the average of a number of …
	distinct bool
	share    bool
	rateAt   int // a word "rate", which may be a column; or -1
	list     bool
	versus   bool // values are set against each other
	when     bool
	who      bool
	whichAt  int // the word after which or what, or -1
	groupsAt []int
	grain    grain
	trend    bool // the grain is ours
	rank     rank
	period   *span
	periods  int // how many of them one message named
	compare  []comparison
	dropped  map[int]bool // words that a later message took back
}

// A rank is an order with an end: top 5, the most, the last 10.
type rank struct {
	n      int
	lowest bool // the lowest or oldest first
	recent bool // by date, not by a measure
	kind   mark // ranks (with a number), most, least, common, rare, highs, lows; open if none
	at     int  // the word after it
	silent bool // the number is ours
}

// A comparison is a condition on a number.
type comparison struct {
	op      string // >, >=, <, <=, =, between
	a, b    float64
	at, end int    // its words
	unit    string // what is said to be compared: euro, ms
}

// parse reads a text.
func parse(text string, turn int) question {
	q := question{words: split(text, turn), rateAt: -1, whichAt: -1, aggAt: -1, dropped: map[int]bool{}}
	q.readDates()
	q.readNumbers()
	q.readPhrases()
	for i := range q.words {
		if w := &q.words[i]; w.mark == open && !w.quoted && !w.isNum && fillers[w.low] {
			w.mark = fill
		}
	}
	return q
}

// marked notes what words mean, so that no later step reads them otherwise.
func (q *question) marked(at, n int, m mark) {
	for i := at; i < at+n; i++ {
		q.words[i].mark = m
	}
}

// readDates finds the period. That there are several is noted: no plan has room for two.
func (q *question) readDates() {
	for i := 0; i < len(q.words); i++ {
		s, n := readSpan(q.words, i)
		if n == 0 {
			continue
		}
		s.said = join(q.words[i : i+n])
		q.period = &s
		q.periods++
		q.marked(i, n, period)
		i += n - 1
	}
}

var comparing = []struct{ words, op string }{
	{"more than", ">"}, {"greater than", ">"}, {"higher than", ">"}, {"larger than", ">"}, {"bigger than", ">"}, {"longer than", ">"}, {"over", ">"},
	{"above", ">"}, {"exceeding", ">"}, {"exceeds", ">"}, {">", ">"}, {"less than", "<"}, {"fewer than", "<"}, {"lower than", "<"}, {"smaller than", "<"},
	{"shorter than", "<"}, {"cheaper than", "<"}, {"under", "<"}, {"below", "<"}, {"<", "<"}, {"at least", ">="}, {"no less than", ">="}, {">=", ">="},
	{"at most", "<="}, {"no more than", "<="}, {"up to", "<="}, {"<=", "<="}, {"exactly", "="}, {"equal to", "="}, {"equals", "="}, {"=", "="},
}

// readNumbers finds comparisons and ranks with a number.
func (q *question) readNumbers() {
	for i := range q.words {
		if q.words[i].mark == open && !q.words[i].quoted && !q.readComparison(i) {
			q.readRank(i)
		}
	}
}

// readComparison reads "over 100 euros", "between 5 and 10", "3 or more". Dates were taken before, so that "between"
// with numbers is one of amounts.
func (q *question) readComparison(i int) bool {
	ws := q.words
	numberAt := func(k int) bool { return k < len(ws) && ws[k].isNum && !ws[k].quoted && ws[k].mark == open }
	add := func(op string, a, b float64, at, n int) bool {
		c := comparison{op: op, a: a, b: b, at: at, end: at + n}
		if strings.ContainsAny(ws[at+n-1].text, "$€£") {
			c.unit = "euro"
		} else if c.end < len(ws) && len(units[ws[c.end].stem]) > 0 && ws[c.end].mark == open {
			c.unit, c.end, n = ws[c.end].stem, c.end+1, n+1
		}
		q.compare = append(q.compare, c)
		q.marked(at, n, compares)
		return true
	}
	if ws[i].low == "between" && numberAt(i+1) && i+2 < len(ws) && ws[i+2].low == "and" && numberAt(i+3) {
		return add("between", min(ws[i+1].num, ws[i+3].num), max(ws[i+1].num, ws[i+3].num), i, 4)
	}
	for _, c := range comparing {
		fields := strings.Fields(c.words)
		if n := len(fields); follows(ws, i, fields) && numberAt(i+n) {
			return add(c.op, ws[i+n].num, 0, i, n+1)
		}
	}
	for _, c := range []struct{ words, op string }{{"or more", ">="}, {"or less", "<="}, {"or fewer", "<="}} {
		if numberAt(i) && follows(ws, i+1, strings.Fields(c.words)) {
			return add(c.op, ws[i].num, 0, i, 3)
		}
	}
	return false
}

var (
	tops    = map[string]rank{"top": {}, "best": {}, "highest": {}, "largest": {}, "biggest": {}, "bottom": {lowest: true}, "worst": {lowest: true}, "lowest": {lowest: true}, "smallest": {lowest: true}}
	recents = map[string]rank{"last": {recent: true}, "latest": {recent: true}, "newest": {recent: true}, "recent": {recent: true}, "first": {recent: true, lowest: true},
		"earliest": {recent: true, lowest: true}, "oldest": {recent: true, lowest: true}}
)

// readRank reads "top 5", "5 largest", "last 10", and "top" or "latest" alone.
func (q *question) readRank(i int) {
	ws := q.words
	r, isTop := tops[ws[i].low]
	recent, isRecent := recents[ws[i].low]
	if isRecent {
		r = recent
	}
	countAt := func(k int) bool {
		return k >= 0 && k < len(ws) && ws[k].isNum && !ws[k].quoted && ws[k].mark == open && ws[k].num >= 1 && ws[k].num <= 1000 && ws[k].num == float64(int(ws[k].num))
	}
	at, n := i, 1
	switch {
	case !isTop && !isRecent:
		return
	case countAt(i + 1):
		r.n, n = int(ws[i+1].num), 2
	case countAt(i - 1):
		r.n, at, n = int(ws[i-1].num), i-1, 2
	case ws[i].low == "top" || ws[i].low == "bottom":
		r.n, r.silent = 5, true
	case isRecent:
		r.n = 1
	default:
		return // "highest" alone is a mark of its own
	}
	r.kind, r.at = ranks, at+n
	q.rank = r
	q.marked(at, n, ranks)
}

// readPhrases finds the words that say what to do.
func (q *question) readPhrases() {
	for i := 0; i < len(q.words); i++ {
		if q.words[i].mark != open || q.words[i].quoted {
			continue
		}
		// "slowest" says both: the highest, and of what. The word stays open for its column.
		if m, ok := superlatives[q.words[i].low]; ok {
			q.take(m, i, i)
			continue
		}
		m, n := find(q.words, i)
		if n == 0 {
			continue
		}
		if i == 0 && n == 1 && q.words[i].low == "no" {
			m = fill // "no, the US" corrects; it takes nothing out
		}
		q.marked(i, n, m)
		q.take(m, i, i+n)
		i += n - 1
	}
}

// take notes what a phrase says; after is the word behind it.
func (q *question) take(m mark, at, after int) {
	switch m {
	case counts, sums, averages, medians:
		switch {
		case m == counts && q.agg == averages, m == averages && q.agg == counts:
			q.agg, q.nested = averages, true
		case q.agg == open || q.agg == sums && m != counts: // "total average" is an average
			q.agg = m
		}
		q.aggAt = after
	case highs, lows, most, least, common, rare:
		if q.rank.kind == open {
			q.rank = rank{n: 1, lowest: m == lows || m == least || m == rare, kind: m, at: after}
		}
	case distinct:
		q.distinct = true
	case share:
		q.share = true
	case rate:
		q.rateAt = at
	case lists:
		q.list = true
	case when:
		q.when = true
	case who:
		q.who = true
	case which:
		if after < len(q.words) && q.whichAt < 0 {
			q.whichAt = after
			if _, unit := grainWords[q.words[after].low]; unit && q.words[after].low != "date" {
				q.takeGroup(after) // "which month had the most"
			}
		}
	case versus:
		q.versus = true
	case per:
		q.takeGroup(after)
	case byGrain:
		q.grain = grainWords[q.words[at].low]
	case trend:
		if q.grain == "" {
			q.grain, q.trend = "month", true
		}
	case not, missing, also:
		q.spread(m, after)
	}
}

// takeGroup notes what follows "per": a unit of the calendar, or words for the data to say.
func (q *question) takeGroup(at int) {
	for at < len(q.words) && (q.words[at].low == "the" || q.words[at].low == "calendar") {
		at++
	}
	if at == len(q.words) {
		return
	}
	if g, ok := grainWords[q.words[at].low]; ok && q.words[at].mark == open {
		q.grain, q.trend = g, false
		q.marked(at, 1, byGrain)
		return
	}
	q.groupsAt = append(q.groupsAt, at)
}

// spread carries "not" and "also" over to the words that they speak of: up to the next word that means something else.
func (q *question) spread(m mark, from int) {
	for i := from; i < len(q.words); i++ {
		w := &q.words[i]
		if other, n := find(q.words, i); n > 0 && other != fill && other != verb || w.mark != open && w.mark != fill {
			return
		}
		w.neg = w.neg || m == not || m == missing
		w.also = w.also || m == also
	}
}

// whole says whether a text is a question by itself. What is none narrows the one before.
func (q question) whole() bool {
	return q.agg != open || q.share || q.list || q.whichAt >= 0 || q.when || q.who || q.rank.kind == ranks
}

// names says whether a text names anything of the data. "Rather the average" does not.
func (q question) names() bool {
	return slices.ContainsFunc(q.words, func(w word) bool { return w.mark == open })
}

var narrowing = regexp.MustCompile(`(?i)^\s*(?:(?:no|sorry|ok|okay|please|wait|actually|i mean|oh)[\s,.:!]+)*(?:only|just|not|without|excluding|except|and|also|but|in|for|since|by|per|what about|how about|same|make it|plus)\b`)

// together reads what was said one after the other: a later text narrows or changes the question before it, or is a
// question of its own. The newest words count.
func together(texts []string) question {
	var q question
	for i, text := range texts {
		next := parse(text, i)
		if i == 0 || next.whole() && next.names() && !narrowing.MatchString(text) {
			q = next
			continue
		}
		q = q.narrow(next)
	}
	return q
}

// narrow is q as a later text changes it.
func (q question) narrow(by question) question {
	off := len(q.words)
	drop := func(at int) { q.dropped[at] = true }
	if by.agg != open {
		q.agg, q.aggAt, q.nested = by.agg, by.aggAt+off, by.nested
	}
	if len(by.groupsAt) > 0 || by.grain != "" {
		for _, at := range q.groupsAt {
			drop(at)
		}
		q.groupsAt, q.grain, q.trend = nil, by.grain, by.trend
		for _, at := range by.groupsAt {
			q.groupsAt = append(q.groupsAt, at+off)
		}
	}
	if by.period != nil {
		q.period, q.periods = by.period, by.periods
	}
	if by.rank.kind != open {
		q.rank = by.rank
		q.rank.at += off
	}
	for _, c := range by.compare {
		c.at, c.end = c.at+off, c.end+off
		q.compare = append(q.compare, c)
	}
	if by.rateAt >= 0 {
		q.rateAt = by.rateAt + off
	}
	q.share, q.distinct, q.versus = q.share || by.share, q.distinct || by.distinct, q.versus || by.versus
	q.words = append(q.words[:off:off], by.words...)
	return q
}
