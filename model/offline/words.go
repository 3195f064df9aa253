package offline

import (
	"regexp"
	"strconv"
	"strings"
)

// A word is one word of a question and what the reading made of it.
type word struct {
	text   string // as written
	low    string
	stem   string
	num    float64
	isNum  bool
	quoted bool // in quotes: a value, whatever it looks like
	turn   int  // which message it is from
	mark   mark // what it means; open if it is left to the data to say
	neg    bool // what it names is to be left out
	also   bool // what it names is added to what was said before
}

// The longest question that is read. What is longer is rather a document than a question.
const (
	maxLetters = 600
	maxWords   = 120
)

var (
	wordPattern = regexp.MustCompile(`"[^"\n]{1,80}"|“[^”\n]{1,80}”|` + "`[^`\n]{1,80}`" +
		`|<[@#!][^>\s]*>|[<>]=?|=|[\p{L}\p{N}_$€£][\p{L}\p{N}_@.,'’%/:\-]*`)
	numberPattern = regexp.MustCompile(`^([0-9]{1,3}(,[0-9]{3})+|[0-9]+)(\.[0-9]+)?[km]?%?$`)
	spelledOut    = map[string]float64{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
		"ten": 10, "twelve": 12, "twenty": 20, "hundred": 100, "thousand": 1000}
)

// split takes a text apart into words. Mentions of people are dropped.
func split(text string, turn int) []word {
	if r := []rune(text); len(r) > maxLetters {
		text = string(r[:maxLetters])
	}
	var out []word
	for _, piece := range wordPattern.FindAllString(text, maxWords) {
		switch {
		case strings.HasPrefix(piece, "<") && len(piece) > 2:
			continue
		case strings.HasPrefix(piece, `"`), strings.HasPrefix(piece, "“"), strings.HasPrefix(piece, "`"):
			inner := strings.TrimSpace(strings.Trim(piece, "\"“”`"))
			if inner != "" {
				out = append(out, word{text: inner, low: strings.ToLower(inner), stem: stem(strings.ToLower(inner)), quoted: true, turn: turn})
			}
			continue
		}
		piece = strings.TrimRight(piece, ".,:'’/-")
		if !numberPattern.MatchString(strings.ToLower(strings.TrimLeft(piece, "$€£"))) && strings.Contains(piece, ",") {
			for _, part := range strings.Split(piece, ",") {
				out = appendWord(out, part, turn)
			}
			continue
		}
		out = appendWord(out, piece, turn)
	}
	return out[:min(len(out), maxWords)]
}

// appendWord adds one word, without the ending of a genitive.
func appendWord(out []word, piece string, turn int) []word {
	for _, tail := range []string{"'s", "’s"} {
		piece = strings.TrimSuffix(piece, tail)
	}
	if piece == "" {
		return out
	}
	w := word{text: piece, low: strings.ToLower(piece), turn: turn}
	w.stem = stem(w.low)
	w.num, w.isNum = number(w.low)
	return append(out, w)
}

// number reads a number as people write it. What has leading zeros is no number but a code.
func number(low string) (float64, bool) {
	if n, ok := spelledOut[low]; ok {
		return n, true
	}
	s := strings.TrimLeft(low, "$€£")
	if !numberPattern.MatchString(s) || len(s) > 1 && s[0] == '0' && s[1] != '.' {
		return 0, false
	}
	s = strings.TrimSuffix(strings.ReplaceAll(s, ",", ""), "%")
	scale := 1.0
	switch s[len(s)-1] {
	case 'k':
		scale, s = 1e3, s[:len(s)-1]
	case 'm':
		scale, s = 1e6, s[:len(s)-1]
	}
	n, err := strconv.ParseFloat(s, 64)
	return n * scale, err == nil
}

// stem takes the plural off an English word. It need not be right, only the same for both sides of a comparison.
func stem(w string) string {
	switch {
	case len(w) < 4 || strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") || strings.HasSuffix(w, "is"):
		return w
	case strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "s"):
		return w[:len(w)-1]
	}
	return w
}

// root takes the ending of a verb off besides, so that a refund and what was refunded meet.
func root(w string) string {
	w = stem(w)
	for _, tail := range []string{"ing", "ed", "e"} {
		cut, ok := strings.CutSuffix(w, tail)
		if !ok || len(cut) < 3 {
			continue
		}
		if n := len(cut); cut[n-1] == cut[n-2] && cut[n-1] != 's' {
			cut = cut[:n-1]
		}
		return cut
	}
	return w
}

// parts are the words of a column's or table's name: order_items and orderItems are two each.
func parts(name string) []string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		if r >= 'A' && r <= 'Z' && before >= 'a' && before <= 'z' {
			b.WriteByte(' ')
		}
		if r == '_' || r == '-' || r == '.' {
			r = ' '
		}
		b.WriteRune(r)
		before = r
	}
	return strings.Fields(strings.ToLower(b.String()))
}

// join writes words down again.
func join(ws []word) string {
	texts := make([]string, len(ws))
	for i, w := range ws {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}
