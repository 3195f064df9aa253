package slack

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"plumb/adapters/markdown"
	"plumb/chat"
)

// Bounds of what is shown of the evidence under an answer; the rest is behind the button.
const (
	foldChildren = 10 // Slack's
	foldRows     = 20
	foldColumns  = 20 // Slack's
	foldSQL      = 1_500
	foldText     = 800
	foldListed   = 5 // rows of the tables after the first: Slack takes one table in a message
	cellLimit    = 80
	foldLeast    = 250 // a smaller container is not worth its place
)

// fold is the collapsed block under an answer that shows its working, or nil if there is nothing or no room for it.
// Its children are of the few kinds on which all descriptions of the container agree.
func fold(exhibits []chat.Exhibit, room int) *slack.ContainerBlock {
	title := fmt.Sprintf("Evidence · %s", counted(len(exhibits), "item"))
	room -= utf8.RuneCountInString(title)
	if len(exhibits) == 0 || room < foldLeast {
		return nil
	}
	const reserve = 60 // characters for the line that says what is left out
	var children []slack.Block
	shown, tabled := 0, false
	for _, e := range exhibits {
		blocks, table := folded(e, !tabled)
		n := size(blocks)
		if n > room-reserve || len(children)+len(blocks) > foldChildren-1 {
			break
		}
		children = append(children, blocks...)
		room -= n
		tabled = tabled || table
		shown++
	}
	if left := len(exhibits) - shown; left > 0 {
		children = append(children, small(fmt.Sprintf("%s more behind the Evidence button.", counted(left, "item"))))
	}
	return slack.NewContainerBlock(children...).
		WithTitle(slack.NewTextBlockObject(slack.PlainTextType, title, false, false)).
		WithCollapsible(true, true)
}

// folded is one exhibit in brief, and whether it took the message's one table.
func folded(e chat.Exhibit, mayTable bool) (blocks []slack.Block, table bool) {
	text := titled(e)
	if e.SQL != "" {
		text += "\n" + listing(e.SQL, foldSQL)
	}
	if e.Text != "" {
		text += "\n" + listing(e.Text, foldText)
	}
	table = mayTable && len(e.Columns) > 0 && len(e.Columns) <= foldColumns && len(e.Rows) > 0
	rows := min(len(e.Rows), foldRows)
	if !table && len(e.Rows) > 0 {
		rows = min(len(e.Rows), foldListed)
		text += "\n" + listing(aligned(e.Columns, e.Rows[:rows]), sectionLimit-utf8.RuneCountInString(text)-1)
	}
	blocks = append(blocks, section(text))
	if table {
		blocks = append(blocks, grid(e.Columns, e.Rows[:rows]))
	}
	if c := small(remarks(e, rows)...); c != nil {
		blocks = append(blocks, c)
	}
	return blocks, table
}

func titled(e chat.Exhibit) string {
	return "*" + clip(e.ID, 20) + "* " + clip(e.Title, 200)
}

// remarks are the notes of an exhibit, and how many of its rows are shown.
func remarks(e chat.Exhibit, shown int) (lines []string) {
	if total := len(e.Rows) + e.More; shown < total {
		lines = append(lines, fmt.Sprintf("%d of %s shown", shown, counted(total, "row")))
	}
	for _, n := range e.Notes {
		if len(lines) == 8 {
			return append(lines, "…")
		}
		lines = append(lines, clip(n, 200))
	}
	return lines
}

// grid is a table block. Its cells are raw text, in which Slack looks for no markup; none may be empty.
func grid(columns []string, rows [][]string) *slack.TableBlock {
	t := slack.NewTableBlock("")
	for _, row := range append([][]string{columns}, rows...) {
		cells := make([]slack.TableCell, len(columns))
		for i := range columns {
			cells[i] = slack.NewTableRawTextCell(cell(row, i))
		}
		t.AddRow(cells...)
	}
	return t
}

// cell is a cell to be shown: on one line, bounded, a dash where there is nothing.
func cell(row []string, i int) string {
	if i >= len(row) {
		return "–"
	}
	text := strings.Join(strings.Fields(row[i]), " ")
	if text == "" {
		return "–"
	}
	if r := []rune(text); len(r) > cellLimit {
		return string(r[:cellLimit-1]) + "…"
	}
	return text
}

// aligned is a table in plain text, its columns under each other.
func aligned(columns []string, rows [][]string) string {
	widths := make([]int, len(columns))
	lines := append([][]string{columns}, rows...)
	for _, row := range lines {
		for i := range columns {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell(row, i)))
		}
	}
	var out strings.Builder
	for _, row := range lines {
		var line strings.Builder
		for i := range columns {
			c := cell(row, i)
			line.WriteString(c + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)+2))
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return strings.TrimRight(out.String(), "\n")
}

// whole is one exhibit in full, for the window behind the button.
func whole(e chat.Exhibit) (blocks []slack.Block) {
	blocks = append(blocks, section(titled(e)))
	code := func(text string) {
		if strings.TrimSpace(text) == "" {
			return
		}
		for _, part := range markdown.Split("```\n"+escape(unfence(text))+"\n```", sectionLimit) {
			blocks = append(blocks, section(part))
		}
	}
	code(e.SQL)
	code(e.Text)
	if len(e.Columns) > 0 {
		code(aligned(e.Columns, e.Rows))
	}
	if c := small(remarks(e, len(e.Rows))...); c != nil {
		blocks = append(blocks, c)
	}
	return append(blocks, slack.NewDividerBlock())
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
