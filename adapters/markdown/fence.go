package markdown

import (
	"strings"
	"unicode/utf8"
)

// A fence is a code listing that is open at some point of a text; the zero value is ordinary text.
type fence struct {
	marker string // the backticks or tildes that opened it
	info   string // what stood after them
}

// longestFence bounds the opening line that is repeated when a listing is cut. A longer line is kept as it is, but what
// follows it opens with the marker alone.
const longestFence = 16

// opener reads a line as the start of a listing: three or more backticks or tildes, indented by three spaces at most,
// and no backtick after them.
func opener(line string) fence {
	line = strings.TrimRight(line, " \t\r\n")
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 || text == "" || (text[0] != '`' && text[0] != '~') {
		return fence{}
	}
	info := strings.TrimLeft(text, text[:1])
	marker := text[:len(text)-len(info)]
	if len(marker) < 3 || (text[0] == '`' && strings.Contains(info, "`")) {
		return fence{}
	}
	if utf8.RuneCountInString(info) > longestFence {
		info = ""
	}
	// A marker of many characters would eat up the part; three or four do for all that people write.
	if len(marker) > longestFence/2 {
		return fence{}
	}
	return fence{marker, strings.TrimSpace(info)}
}

// closedBy says whether a line ends the listing.
func (f fence) closedBy(line string) bool {
	text := strings.TrimRight(line, " \t\r\n")
	if f.marker == "" || len(text)-len(strings.TrimLeft(text, " ")) > 3 {
		return false
	}
	text = strings.TrimLeft(text, " ")
	return len(text) >= len(f.marker) && strings.Trim(text, f.marker[:1]) == ""
}

// next is the fence that is open after one more line.
func (f fence) next(line string) fence {
	switch {
	case f.marker == "":
		return opener(line)
	case f.closedBy(line):
		return fence{}
	}
	return f
}

// after is the fence that is open after more lines.
func (f fence) after(text string) fence {
	for line := range strings.Lines(text) {
		f = f.next(line)
	}
	return f
}

func (f fence) reopened() string {
	if f.marker == "" {
		return ""
	}
	return f.marker + f.info + "\n"
}

func (f fence) closing() string {
	if f.marker == "" {
		return ""
	}
	return "\n" + f.marker
}

// Outside calls f with each stretch of text that is no code and keeps the code, fenced or within a line, as it is.
func Outside(text string, f func(string) string) string {
	var out strings.Builder
	var plain strings.Builder
	flush := func() {
		out.WriteString(outsideSpans(plain.String(), f))
		plain.Reset()
	}
	var open fence
	for line := range strings.Lines(text) {
		was := open
		open = open.next(line)
		if was.marker == "" && open.marker == "" {
			plain.WriteString(line)
			continue
		}
		flush()
		out.WriteString(line)
	}
	flush()
	return out.String()
}

// outsideSpans is Outside for text without listings: code there stands between runs of as many backticks.
func outsideSpans(text string, f func(string) string) string {
	var out strings.Builder
	start := 0
	for at := 0; at < len(text); {
		if text[at] != '`' {
			at++
			continue
		}
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		end := closingRun(text[at+run:], run)
		if end < 0 {
			at += run
			continue
		}
		out.WriteString(f(text[start:at]))
		out.WriteString(text[at : at+run+end+run])
		at += run + end + run
		start = at
	}
	out.WriteString(f(text[start:]))
	return out.String()
}

// closingRun finds a run of exactly n backticks in the same paragraph.
func closingRun(text string, n int) int {
	for at := 0; at < len(text); {
		if strings.HasPrefix(text[at:], "\n\n") {
			return -1
		}
		if text[at] != '`' {
			at++
			continue
		}
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if run == n {
			return at
		}
		at += run
	}
	return -1
}
