package discord

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"plumb/adapters/markdown"
	"plumb/chat"
)

// Buttons of the adapter's own.
const (
	csvAction  = "csv"
	pageAction = "page" // page:N:RUN turns the evidence to page N
)

const (
	pageLimit   = contentLimit - 100 // of a page, so that its number fits under it
	pageRows    = 20                 // of a table on a page; the file has them all
	cellLimit   = 60                 // of a cell on a page
	reportLimit = 1 << 20
	filesLimit  = 10
)

// reveal answers a press of Evidence or CSV, or the turning of a page, for the eyes of who pressed. Whether that person
// may see it is asked at every press: the answer may have been posted long ago.
func (a *Adapter) reveal(ctx context.Context, i *discordgo.Interaction, who chat.Person, action, run string) {
	page := 0
	if action == pageAction {
		number, rest, _ := strings.Cut(run, ":")
		page, _ = strconv.Atoi(number)
		run = rest
	}
	at, err := a.locate(ctx, i.GuildID, i.ChannelID)
	if err != nil {
		_, _ = a.fill(ctx, i, text(sorry))
		return
	}
	exhibits, err := a.deps.Exhibits(ctx, run, who, at.place)
	switch {
	case err != nil:
		a.log.Info("evidence is not shown", "run", run, "who", who.ID, "error", err)
		_, _ = a.fill(ctx, i, text(shorten(undisguised(err.Error()), contentLimit)))
	case len(exhibits) == 0:
		_, _ = a.fill(ctx, i, text("There is no evidence for this answer: nothing was looked up."))
	case action == csvAction:
		_, _ = a.fill(ctx, i, sheets(exhibits))
	default:
		_, _ = a.fill(ctx, i, leaf(exhibits, run, page))
	}
}

// leaf is one page of the evidence, with the buttons to turn it.
func leaf(exhibits []chat.Exhibit, run string, page int) message {
	var all []string
	for _, x := range exhibits {
		all = append(all, shown(x))
	}
	pages := markdown.Split(strings.Join(all, "\n"), pageLimit)
	page = min(max(page, 0), len(pages)-1)
	m := text(pages[page])
	if len(pages) == 1 {
		return m
	}
	m.Content += fmt.Sprintf("\n-# Page %d of %d", page+1, len(pages))
	back := button(pageAction, "Back", fmt.Sprintf("%d:%s", page-1, run))
	next := button(pageAction, "Next", fmt.Sprintf("%d:%s", page+1, run))
	back.Disabled, next.Disabled = page == 0, page == len(pages)-1
	m.Components = row(back, next)
	return m
}

// shown is one exhibit as a message shows it.
func shown(x chat.Exhibit) string {
	var out strings.Builder
	fmt.Fprintf(&out, "**%s · %s**\n", x.ID, oneLine(undisguised(x.Title)))
	if x.SQL != "" {
		out.WriteString("```sql\n" + unfenced(strings.TrimSpace(x.SQL)) + "\n```\n")
	}
	if x.Text != "" {
		out.WriteString("```\n" + unfenced(strings.TrimRight(x.Text, "\n")) + "\n```\n")
	}
	if len(x.Columns) > 0 {
		rows := x.Rows[:min(len(x.Rows), pageRows)]
		out.WriteString("```\n" + unfenced(grid(short(x.Columns), shortRows(rows), leaning(x))) + "\n```\n")
		if more := len(x.Rows) - len(rows) + x.More; more > 0 {
			fmt.Fprintf(&out, "-# and %d more rows\n", more)
		}
	}
	for _, n := range x.Notes {
		out.WriteString("-# " + shorten(oneLine(undisguised(n)), 300) + "\n")
	}
	return out.String()
}

// unfenced keeps a text from ending the listing that it stands in.
func unfenced(s string) string { return strings.ReplaceAll(s, "```", "`\u200b`\u200b`") }

func short(row []string) []string {
	out := make([]string, len(row))
	for i, c := range row {
		out[i] = shorten(oneLine(c), cellLimit)
	}
	return out
}

func shortRows(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for i, r := range rows {
		out[i] = short(r)
	}
	return out
}

// leaning says which columns hold numbers and nothing else, and so lean to the right.
func leaning(x chat.Exhibit) []bool {
	out := make([]bool, len(x.Columns))
	for i := range out {
		numbers := 0
		for _, r := range x.Rows {
			if i >= len(r) || r[i] == "" {
				continue
			}
			if !isNumber(r[i]) {
				numbers = -1
				break
			}
			numbers++
		}
		out[i] = numbers > 0
	}
	return out
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	return err == nil
}

// report is all the evidence in a file, which stays with the answer. Its listings have fences longer than any inside.
func report(exhibits []chat.Exhibit) []byte {
	var out strings.Builder
	out.WriteString("# Evidence\n")
	listing := func(kind, s string) {
		fence := "```"
		for strings.Contains(s, fence) {
			fence += "`"
		}
		fmt.Fprintf(&out, "\n%s%s\n%s\n%s\n", fence, kind, strings.TrimRight(s, "\n"), fence)
	}
	for _, x := range exhibits {
		fmt.Fprintf(&out, "\n## %s · %s\n", x.ID, oneLine(undisguised(x.Title)))
		if x.SQL != "" {
			listing("sql", x.SQL)
		}
		if x.Text != "" {
			listing("", x.Text)
		}
		if len(x.Columns) > 0 {
			flat := make([][]string, len(x.Rows))
			for i, r := range x.Rows {
				flat[i] = flatten(r)
			}
			listing("", grid(flatten(x.Columns), flat, leaning(x)))
		}
		if x.More > 0 {
			fmt.Fprintf(&out, "\nand %d more rows, which are not kept here\n", x.More)
		}
		for _, n := range x.Notes {
			fmt.Fprintf(&out, "\n- %s\n", oneLine(undisguised(n)))
		}
	}
	return bounded(out.String())
}

func flatten(row []string) []string {
	out := make([]string, len(row))
	for i, c := range row {
		out[i] = oneLine(c)
	}
	return out
}

// bounded cuts a file that is too large, and says so in it.
func bounded(s string) []byte {
	const note = "\n\n(The file is cut here: it would be larger than 1 MiB.)\n"
	if len(s) <= reportLimit {
		return []byte(s)
	}
	s = s[:reportLimit-len(note)]
	for !utf8.ValidString(s[max(0, len(s)-utf8.UTFMax):]) && len(s) > 0 {
		s = s[:len(s)-1]
	}
	return []byte(s + note)
}

// sheets are the tables as files for a spreadsheet.
func sheets(exhibits []chat.Exhibit) message {
	m := text("")
	left := 0
	for _, x := range exhibits {
		switch {
		case len(x.Columns) == 0:
		case len(m.files) == filesLimit:
			left++
		default:
			m.files = append(m.files, file{safeName(x.ID) + ".csv", sheet(x)})
		}
	}
	switch {
	case len(m.files) == 0:
		m.Content = "There are no tables in this evidence."
	case left > 0:
		m.Content = fmt.Sprintf("The first %d tables; %d more are in evidence.md under the answer.", filesLimit, left)
	default:
		m.Content = "The tables behind the answer:"
	}
	return m
}

func sheet(x chat.Exhibit) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for _, r := range append([][]string{x.Columns}, x.Rows...) {
		safe := make([]string, len(r))
		for i, c := range r {
			safe[i] = inert(c)
		}
		_ = w.Write(safe) // a buffer takes everything
	}
	w.Flush()
	if out.Len() > reportLimit {
		return append(out.Bytes()[:bytes.LastIndexByte(out.Bytes()[:reportLimit], '\n')+1], "(cut here)\n"...)
	}
	return out.Bytes()
}

// inert keeps a spreadsheet from reading a cell as a formula. Numbers may begin with a sign.
func inert(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) && !isNumber(cell) {
		return "'" + cell
	}
	return cell
}

func safeName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || (r >= '0' && r <= '9') || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, s)
}
