package offline

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A grain is a unit of the calendar.
type grain string

var grainWords = map[string]grain{"hour": "hour", "hours": "hour", "hourly": "hour", "day": "day", "days": "day", "date": "day", "daily": "day", "week": "week", "weeks": "week",
	"weekly": "week", "month": "month", "months": "month", "monthly": "month", "quarter": "quarter", "quarters": "quarter", "quarterly": "quarter",
	"year": "year", "years": "year", "yearly": "year", "annual": "year"}

var monthNames = func() map[string]time.Month {
	out := map[string]time.Month{"sept": time.September}
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		out[name], out[name[:3]] = m, m
	}
	return out
}()

// A point is a day, month, quarter or year of the calendar. What was not said is 0; a year that was not said is the
// latest that the data has.
type point struct{ year, month, day, quarter int }

// A span is a period as it was said: from one point to another, both included, either of them open; or the last
// so many units that the data has.
type span struct {
	from, to *point
	unit     grain
	n        int
	said     string
}

var isoDate = regexp.MustCompile(`^([0-9]{4})-([0-9]{2})(?:-([0-9]{2}))?$`)
var quarterWord = regexp.MustCompile(`^q([1-4])$`)

// readPoint reads a date that begins at a word. After a word like "in" a year or "may" may stand alone.
func readPoint(ws []word, at int, led bool) (point, int) {
	if at >= len(ws) || ws[at].quoted || ws[at].mark != open {
		return point{}, 0
	}
	w := ws[at]
	if m := isoDate.FindStringSubmatch(w.low); m != nil {
		p := point{year: atoi(m[1]), month: atoi(m[2]), day: atoi(m[3])}
		if p.month < 1 || p.month > 12 || p.day > days(p.year, p.month) {
			return point{}, 0
		}
		return p, 1
	}
	if m := quarterWord.FindStringSubmatch(w.low); m != nil {
		p, n := point{quarter: atoi(m[1])}, 1
		if y := yearAt(ws, at+1); y > 0 {
			p.year, n = y, 2
		}
		return p, n
	}
	if y := yearAt(ws, at); led && y > 0 {
		return point{year: y}, 1
	}
	if m := monthAt(ws, at, led); m > 0 {
		return monthPoint(ws, at+1, m, 1)
	}
	if d := dayAt(ws, at); d > 0 {
		skip := at + 1
		if skip < len(ws) && ws[skip].low == "of" {
			skip++
		}
		if m := monthAt(ws, skip, true); m > 0 {
			p, n := point{month: m, day: d}, skip+1-at
			if y := yearAt(ws, skip+1); y > 0 {
				p.year, n = y, n+1
			}
			return p, n
		}
	}
	return point{}, 0
}

// monthPoint reads what may follow a month: a day, a year.
func monthPoint(ws []word, at, month, n int) (point, int) {
	p := point{month: month}
	if d := dayAt(ws, at); d > 0 {
		p.day, at, n = d, at+1, n+1
	}
	if at < len(ws) && ws[at].low == "of" && yearAt(ws, at+1) > 0 {
		at, n = at+1, n+1
	}
	if y := yearAt(ws, at); y > 0 {
		p.year, n = y, n+1
	}
	return p, n
}

// monthAt knows a month's name. "may" and "mar" are other words too, so they need a capital or a word before.
func monthAt(ws []word, at int, led bool) int {
	if at >= len(ws) || ws[at].quoted {
		return 0
	}
	w := ws[at]
	m := monthNames[w.low]
	if m > 0 && !led && yearAt(ws, at+1) == 0 && (w.low == "may" || len(w.low) <= 4) && (at == 0 || w.text == w.low) {
		return 0
	}
	return int(m)
}

// yearAt knows a year by its four digits. That 2,000 may be an amount is told by the words before it.
func yearAt(ws []word, at int) int {
	if at < len(ws) && len(ws[at].low) == 4 && ws[at].isNum && ws[at].num >= 1900 && ws[at].num < 2100 && ws[at].mark == open {
		return int(ws[at].num)
	}
	return 0
}

// dayAt reads 4, 4th, 22nd.
func dayAt(ws []word, at int) int {
	if at >= len(ws) {
		return 0
	}
	s := strings.TrimRight(ws[at].low, "stndrh")
	if d, err := strconv.Atoi(s); err == nil && d >= 1 && d <= 31 && len(s) <= 2 {
		return d
	}
	return 0
}

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }

func days(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// readSpan reads a period that begins at a word: "in March", "between … and …", "since …", "last 7 days".
func readSpan(ws []word, at int) (span, int) {
	w := ws[at]
	if w.quoted || w.mark != open {
		return span{}, 0
	}
	switch w.low {
	case "between", "from":
		a, n := readPoint(ws, at+1, true)
		if n > 0 && at+1+n < len(ws) {
			if next := ws[at+1+n].low; next == "and" || next == "to" || next == "until" || next == "till" {
				if b, m := readPoint(ws, at+2+n, true); m > 0 {
					return span{from: &a, to: &b}, 2 + n + m
				}
			}
		}
		if n > 0 && w.low == "from" {
			return span{from: &a, to: &a}, 1 + n
		}
	case "since", "starting", "after":
		if a, n := readPoint(ws, at+1, true); n > 0 {
			if w.low == "after" {
				a = a.next()
			}
			return span{from: &a}, 1 + n
		}
	case "until", "till", "before":
		if a, n := readPoint(ws, at+1, true); n > 0 {
			if w.low == "before" {
				a = a.before()
			}
			return span{to: &a}, 1 + n
		}
	case "in", "on", "during", "for", "of", "only", "just":
		if a, n := readPoint(ws, at+1, true); n > 0 {
			return span{from: &a, to: &a}, 1 + n
		}
	case "last", "this", "past", "latest", "previous", "current":
		return readLast(ws, at)
	case "yesterday", "today":
		return span{unit: "day", n: 1}, 1
	}
	if a, n := readPoint(ws, at, false); n > 0 {
		return span{from: &a, to: &a}, n
	}
	return span{}, 0
}

// readLast reads "last month" and "last 7 days".
func readLast(ws []word, at int) (span, int) {
	n, i := 1, at+1
	if i < len(ws) && ws[i].isNum && ws[i].num >= 1 && ws[i].num <= 1000 && ws[i].num == float64(int(ws[i].num)) {
		n, i = int(ws[i].num), i+1
	}
	if i < len(ws) {
		if g, ok := grainWords[ws[i].low]; ok && ws[i].low != "date" {
			return span{unit: g, n: n}, i + 1 - at
		}
	}
	return span{}, 0
}

// next is the point after p, before the one before it.
func (p point) next() point   { return p.move(1) }
func (p point) before() point { return p.move(-1) }

// move goes on by as many of the units that p is of. Without a year it must not leave the year: the month before
// January is left to the year that the data says.
func (p point) move(by int) point {
	year := p.year
	if year == 0 {
		year = 2000
	}
	switch {
	case p.day > 0:
		t := time.Date(year, time.Month(p.month), p.day+by, 0, 0, 0, 0, time.UTC)
		p.month, p.day = int(t.Month()), t.Day()
		year = t.Year()
	case p.month > 0:
		t := time.Date(year, time.Month(p.month+by), 1, 0, 0, 0, 0, time.UTC)
		p.month, year = int(t.Month()), t.Year()
	case p.quarter > 0:
		t := time.Date(year, time.Month(3*(p.quarter+by)-2), 1, 0, 0, 0, 0, time.UTC)
		p.quarter, year = (int(t.Month())+2)/3, t.Year()
	default:
		year += by
	}
	if p.year > 0 || p.month+p.quarter == 0 {
		p.year = year
	}
	return p
}

// start and end are the first day of p, and the first day after it, with the year of the data where none was said.
func (p point) start(last time.Time) time.Time {
	year, month, day := p.year, p.month, p.day
	if p.quarter > 0 {
		month = 3*p.quarter - 2
	}
	if year == 0 {
		year = last.Year()
		if time.Date(year, time.Month(month), max(day, 1), 0, 0, 0, 0, time.UTC).After(last) {
			year--
		}
	}
	return time.Date(year, time.Month(max(month, 1)), max(day, 1), 0, 0, 0, 0, time.UTC)
}

func (p point) end(last time.Time) time.Time {
	t := p.start(last)
	switch {
	case p.day > 0:
		return t.AddDate(0, 0, 1)
	case p.month > 0:
		return t.AddDate(0, 1, 0)
	case p.quarter > 0:
		return t.AddDate(0, 3, 0)
	}
	return t.AddDate(1, 0, 0)
}

// bounds gives the period's first day and the first one after it; zero where it is open. last is the last day of the
// data, by which "last month" goes: a question about old data means the data's months.
func (s span) bounds(last time.Time) (from, to time.Time) {
	if s.unit != "" {
		from, to = around(s.unit, last)
		for range s.n - 1 {
			from, _ = around(s.unit, from.AddDate(0, 0, -1))
		}
		return from, to
	}
	if s.from != nil {
		from = s.from.start(last)
	}
	if s.to != nil {
		to = s.to.end(last)
	}
	// "from November to February" crosses a year's end.
	if s.from != nil && s.to != nil && s.from.year == 0 && from.After(to) {
		from = from.AddDate(-1, 0, 0)
	}
	return from, to
}

// around is the unit that holds a day. Weeks begin on Monday, as date_trunc has them.
func around(g grain, day time.Time) (from, to time.Time) {
	y, m, d := day.Date()
	date := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	switch g {
	case "week":
		from = date(y, m, d-(int(day.Weekday())+6)%7)
		return from, from.AddDate(0, 0, 7)
	case "month":
		return date(y, m, 1), date(y, m+1, 1)
	case "quarter":
		from = date(y, (m-1)/3*3+1, 1)
		return from, from.AddDate(0, 3, 0)
	case "year":
		return date(y, 1, 1), date(y+1, 1, 1)
	}
	return date(y, m, d), date(y, m, d+1)
}

// inWords names a period for people.
func inWords(from, to time.Time) string {
	const day = "2 January 2006"
	switch {
	case to.IsZero():
		return "since " + from.Format(day)
	case from.IsZero():
		return "until " + to.AddDate(0, 0, -1).Format(day)
	case from.AddDate(0, 0, 1).Equal(to):
		return "on " + from.Format(day)
	case from.Day() == 1 && from.AddDate(0, 1, 0).Equal(to):
		return "in " + from.Format("January 2006")
	case from.YearDay() == 1 && from.AddDate(1, 0, 0).Equal(to):
		return "in " + from.Format("2006")
	}
	return "from " + from.Format(day) + " to " + to.AddDate(0, 0, -1).Format(day)
}
