package discord

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

func itoa(n int) string { return strconv.Itoa(n) }

var (
	ruler    = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$`)
	fence    = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})([^`\n]*)$")
	emphasis = strings.NewReplacer("**", "", "`", "", `\|`, "|")
)

// laid turns an answer's Markdown into what Discord draws. Listings get the one kind of fence that it knows, and lose
// every other run of three backticks, which would end them for Discord but not for us; tables become listings; and
// outside of listings no link hides where it leads.
func laid(s string) string {
	lines := strings.Split(s, "\n")
	var out, plain []string
	flush := func() {
		if len(plain) > 0 {
			out = append(out, undisguised(unfenced(strings.Join(plain, "\n"))))
		}
		plain = nil
	}
	for i := 0; i < len(lines); {
		if open := fence.FindStringSubmatch(lines[i]); open != nil {
			flush()
			end := listing(lines, i+1, open[1])
			out = append(out, "```"+word(open[2]), unfenced(strings.Join(lines[i+1:end], "\n")), "```")
			i = end + 1
			continue
		}
		if i+1 < len(lines) && isHead(lines[i], lines[i+1]) {
			flush()
			end := i + 2
			for end < len(lines) && strings.Contains(lines[end], "|") {
				end++
			}
			out = append(out, "```", unfenced(drawn(lines[i:end])), "```")
			i = end
			continue
		}
		plain = append(plain, lines[i])
		i++
	}
	flush()
	return strings.Join(out, "\n")
}

// listing finds the line that ends a listing, or the end of the text.
func listing(lines []string, from int, marker string) int {
	for i := from; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		if len(text) >= len(marker) && strings.Trim(text, marker[:1]) == "" {
			return i
		}
	}
	return len(lines)
}

// word is the name of a listing's language, if Discord would take it for one.
func word(info string) string {
	name, _, _ := strings.Cut(strings.TrimSpace(info), " ")
	if strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.#", r)
	}) {
		return ""
	}
	return name
}

// isHead says whether a table begins: a line with columns above a ruler with as many.
func isHead(head, below string) bool {
	return strings.Contains(head, "|") && strings.Contains(below, "-") && ruler.MatchString(below) && len(cells(head)) == len(cells(below))
}

// drawn is a table's lines, the second of which is the ruler, as a grid.
func drawn(lines []string) string {
	var right []bool
	for _, c := range cells(lines[1]) {
		right = append(right, strings.HasSuffix(c, ":") && !strings.HasPrefix(c, ":"))
	}
	head := cells(lines[0])
	var rows [][]string
	for _, l := range lines[2:] {
		rows = append(rows, cells(l))
	}
	return grid(head, rows, right)
}

// cells are the columns of a table's line.
func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	var out []string
	start := 0
	for i := range len(line) + 1 {
		if i == len(line) || (line[i] == '|' && (i == 0 || line[i-1] != '\\')) {
			out = append(out, strings.TrimSpace(emphasis.Replace(line[start:i])))
			start = i + 1
		}
	}
	return out
}

// grid draws a head and rows with aligned columns; right says which columns lean to the right.
func grid(head []string, rows [][]string, right []bool) string {
	widths := make([]int, len(head))
	for _, r := range append([][]string{head}, rows...) {
		for i, c := range r[:min(len(r), len(head))] {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	var out strings.Builder
	line := func(r []string) {
		var b strings.Builder
		for i, width := range widths {
			cell := ""
			if i < len(r) {
				cell = r[i]
			}
			pad := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
			if i > 0 {
				b.WriteString("  ")
			}
			if i < len(right) && right[i] {
				b.WriteString(pad + cell)
			} else {
				b.WriteString(cell + pad)
			}
		}
		out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	}
	line(head)
	var rule []string
	for _, width := range widths {
		rule = append(rule, strings.Repeat("─", width))
	}
	line(rule)
	for _, r := range rows {
		line(r)
	}
	return strings.TrimRight(out.String(), "\n")
}
