package verify

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A number is a figure as it stands in a text.
type number struct {
	text     string  // as written, with its sign, currency and unit
	value    float64 // scaled: 1.2k is 1200; a percentage is its number
	half     float64 // half of the last digit shown, scaled likewise
	unit     string  // %, a currency, or ""
	sentence string  // the line or sentence that it stands in
	at       int     // where in the text
}

// A reader does not act on what these match: code, links, dates and times, names with digits in them, list markers.
var notFigures = []*regexp.Regexp{
	regexp.MustCompile("(?s)```.*?(?:```|$)"),
	regexp.MustCompile("`[^`\n]*`"),
	regexp.MustCompile(`https?://\S+`),
	regexp.MustCompile(`<[@#!][^>]*>`),
	regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?\b`),
	regexp.MustCompile(`\b(?:19|20)\d{2}-(?:0[1-9]|1[0-2]|W\d{2}|Q[1-4])\b`),
	regexp.MustCompile(`\b\d{1,2}[./]\d{1,2}[./](?:19|20)\d{2}\b`),
	regexp.MustCompile(`\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?\b`),
	regexp.MustCompile(`(?i)\b\d{1,2}(?:st|nd|rd|th)?\.?\s+(?:of\s+)?` + month + `\b(?:\s+(?:19|20)\d{2}\b)?`),
	regexp.MustCompile(`(?i)\b` + month + `\s+\d{1,2}(?:st|nd|rd|th)?\b(?:,?\s+(?:19|20)\d{2}\b)?`),
	regexp.MustCompile(`(?i)\b` + month + `,?\s+(?:19|20)\d{2}\b`),
	regexp.MustCompile(`(?i)\b(?:in|since|until|till|from|to|of|for|during|year|before|after|and|fy|q[1-4])\s+(?:19|20)\d{2}\b`),
	regexp.MustCompile(`(?m)^\s*(?:>\s*)?\d{1,3}[.)]\s`),
	regexp.MustCompile(`(?m)^#{1,6}\s+\d+(?:\.\d+)*\.?\s`),
	regexp.MustCompile(`\bv?\d+\.\d+\.\d+(?:[.-]\w+)*\b`),
	regexp.MustCompile(`\bv\d+(?:\.\d+)?\b`),
	regexp.MustCompile(`#\d+\b`),
	regexp.MustCompile(`(?i)\b(?:order|ticket|invoice|id|no\.|step|line|page|port|version|run)\s?[#:]?\s?\d[\w-]*\b`),
	regexp.MustCompile(`\b[A-Za-z_]+[-_]?\d[\w-]*\b`),
	regexp.MustCompile(`(?i)\b\d+(?:st|nd|rd|th)\b`),
	regexp.MustCompile(`(?i)\b(?:top|first|last|bottom)\s+\d+\b`),
	regexp.MustCompile(`(?i)\bQ[1-4]\b`),
}

const month = `(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?`

// figureRE matches a number as people write it: sign, currency, digits in groups or not, decimals, scale, unit.
var figureRE = regexp.MustCompile(`(\()?([-−–+])?\s?([$€£¥]|USD |EUR |GBP )?([-−])?` +
	`(\d{1,3}(?:[,.'’ \x{00A0}\x{202F}\x{2009}]\d{3})+(?:[.,]\d+)?\b|\d+(?:[.,]\d+)?)` +
	`(?:\s?(thousand|million|billion|bn|mn|[kKMmBb])\b)?(?:\s?(%|percent\b|per cent\b|€|\$|£|USD\b|EUR\b|GBP\b))?(\))?`)

var scales = map[string]float64{"k": 1e3, "K": 1e3, "thousand": 1e3, "M": 1e6, "m": 1e6, "mn": 1e6, "million": 1e6, "B": 1e9, "b": 1e9, "bn": 1e9, "billion": 1e9}

// find lists the figures of a text in their order.
func find(text string) []number {
	masked := mask(text)
	var out []number
	for _, m := range figureRE.FindAllStringSubmatchIndex(masked, -1) {
		if n, ok := read(text, masked, m); ok {
			n.sentence, n.at = around(text, m[0]), m[0]
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b number) int { return a.at - b.at })
	return out
}

// mask blanks what are no figures, keeping every place where it is.
func mask(text string) string {
	b := []byte(text)
	for _, re := range notFigures {
		for _, m := range re.FindAllIndex(b, -1) {
			for i := m[0]; i < m[1]; i++ {
				if b[i] != '\n' {
					b[i] = 'x'
				}
			}
			if m[0] > 0 && m[1] < len(b) && b[m[1]-1] == 'x' && (b[m[1]] == ' ') {
				b[m[1]-1] = ' '
			}
		}
	}
	return string(b)
}

// read makes a number of a match, unless what stands beside it says that it is none.
func read(text, masked string, m []int) (number, bool) {
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return masked[m[2*i]:m[2*i+1]]
	}
	before, _ := utf8.DecodeLastRuneInString(masked[:m[2*5]])
	after, _ := utf8.DecodeRuneInString(masked[m[1]:])
	if unicode.IsLetter(before) || before == '_' || m[1] < len(masked) && (unicode.IsLetter(after) || after == '_') {
		return number{}, false // a part of a name
	}
	value, half, ok := digits(group(5))
	if !ok {
		return number{}, false
	}
	plain := group(3) == "" && group(6) == "" && group(7) == "" && !strings.ContainsAny(group(5), ",.' ")
	if plain && len(group(5)) == 4 && value >= 1900 && value <= 2100 {
		return number{}, false // a year, or as good as one
	}
	unit := group(7) + strings.TrimSpace(group(3))
	if strings.HasPrefix(unit, "per") {
		unit = "%"
	}
	scale := group(6)
	if (scale == "m" || scale == "b") && unit == "" {
		scale = "" // metres, minutes, bits
	}
	if s := scales[scale]; s != 0 {
		value, half = value*s, half*s
	}
	minus := group(4) != "" || group(1) != "" && group(8) != "" && group(2) == "" && unit == "" && strings.ContainsAny(group(5), ".,")
	if sign := group(2); sign == "-" || sign == "−" {
		left, _ := utf8.DecodeLastRuneInString(masked[:m[2*2]])
		minus = minus || m[2*2] == 0 || strings.ContainsRune(" (*|\n\t:~", left)
	}
	if minus {
		value = -value
	}
	from, to := m[2*5], m[2*5+1]
	for _, i := range []int{3, 4} {
		if at := m[2*i]; at >= 0 {
			from = min(from, at)
		}
	}
	for _, i := range []int{6, 7} {
		if m[2*i] >= 0 && (i == 7 || scale != "") {
			to = max(to, m[2*i+1])
		}
	}
	shown := strings.TrimSpace(text[from:to])
	if minus && !strings.HasPrefix(shown, "-") && !strings.HasPrefix(shown, "−") {
		shown = "-" + shown
	}
	return number{text: shown, value: value, half: half, unit: unit}, true
}

// digits reads written digits: the last separator is decimal unless groups of three say otherwise.
func digits(s string) (value, half float64, ok bool) {
	clean := strings.NewReplacer("'", "", "’", "", " ", "", "\u00a0", "", "\u202f", "", "\u2009", "").Replace(s)
	dot, comma := strings.LastIndex(clean, "."), strings.LastIndex(clean, ",")
	switch {
	case dot >= 0 && comma >= 0 && dot < comma: // 1.234,5
		clean = strings.ReplaceAll(strings.ReplaceAll(clean, ".", ""), ",", ".")
	case comma >= 0 && (dot >= 0 || len(clean)-comma-1 == 3): // 1,234.5 and 1,234
		clean = strings.ReplaceAll(clean, ",", "")
	case comma >= 0: // 3,5
		clean = strings.Replace(clean, ",", ".", 1)
	case strings.Count(clean, ".") > 1: // 1.234.567
		clean = strings.ReplaceAll(clean, ".", "")
	}
	value, err := strconv.ParseFloat(clean, 64)
	if err != nil || math.IsInf(value, 0) {
		return 0, 0, false
	}
	decimals := 0
	if i := strings.IndexByte(clean, '.'); i >= 0 {
		decimals = len(clean) - i - 1
	}
	return value, 0.5 * math.Pow10(-decimals), true
}

// around is the line or sentence that a place stands in.
func around(text string, at int) string {
	from := strings.LastIndexAny(text[:at], "\n;") + 1
	if i := strings.LastIndex(text[from:at], ". "); i >= 0 {
		from += i + 2
	}
	to := len(text)
	for i := at; i < len(text); i++ {
		if text[i] == '\n' || text[i] == ';' || text[i] == '.' && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n') {
			to = i
			break
		}
	}
	return text[from:to]
}
