// Package markdown cuts the Markdown of an answer to the size that a chat platform takes, so that each piece can be
// read by itself: a code listing that is cut goes on as a listing in the next piece.
package markdown

import (
	"strings"
	"unicode/utf8"
)

// smallest is the least limit that Split works with: a shorter one would leave no room for a fence and its text.
const smallest = 40

// Split cuts text into parts of at most limit characters. It cuts where a reader would: between paragraphs, before a
// listing, between lines, between words, and only in need within a word. A listing that is cut is closed in one part
// and opened again, with its info string, in the next. The same text is always cut the same way, and nothing is lost
// but blank space at the cuts. There is always at least one part.
func Split(text string, limit int) []string {
	limit = max(limit, smallest)
	var parts []string
	var open fence
	rest := strings.TrimRight(text, " \t\r\n")
	for {
		head := open.reopened()
		if whole := head + rest; fits(whole, limit) {
			return append(parts, whole+open.after(rest).closing())
		}
		// A part may end in a listing that opens within it, so room for closing that one is kept as well.
		room := runesIn(rest, limit-utf8.RuneCountInString(head)-closingRoom(rest, open, limit))
		at := cut(rest, room, open)
		piece := strings.TrimRight(rest[:at], " \t\r\n")
		now := open.after(rest[:at])
		if piece != "" {
			parts = append(parts, head+piece+now.closing())
		}
		rest, open = follow(rest[at:], now)
		if rest == "" {
			return parts
		}
	}
}

// fits says whether a last part is within the limit, a closing fence that it may lack included.
func fits(whole string, limit int) bool {
	return utf8.RuneCountInString(whole)+utf8.RuneCountInString(fence{}.after(whole).closing()) <= limit
}

// closingRoom is what to keep free for a closing fence: the longest one that could be needed in this part.
func closingRoom(rest string, open fence, limit int) int {
	longest := utf8.RuneCountInString(open.closing())
	for line := range strings.Lines(rest[:runesIn(rest, limit)]) {
		if f := opener(line); f.marker != "" {
			longest = max(longest, utf8.RuneCountInString(f.closing()))
		}
	}
	return longest
}

// follow is what comes after a cut: without the blank space there, and without the fence's own end if that is all
// that was left of the listing, because the part before has been closed already.
func follow(rest string, open fence) (string, fence) {
	if open.marker == "" {
		return strings.TrimLeft(rest, "\r\n"), open
	}
	rest = strings.TrimPrefix(rest, "\n")
	line, after, _ := strings.Cut(rest, "\n")
	if open.closedBy(line) {
		return strings.TrimLeft(after, "\r\n"), fence{}
	}
	return rest, open
}

// cut finds where to end a part: a byte offset into rest, above 0 and at most room.
func cut(rest string, room int, open fence) int {
	var paragraph, line, code, pos int
	state, content := open, 0
	for l := range strings.Lines(rest[:room]) {
		switch before := state; {
		case pos == 0:
		case before.marker == "" && (strings.TrimSpace(l) == "" || opener(l).marker != ""):
			paragraph, line = pos, pos
		case before.marker == "":
			line = pos
		case content > 0 && !before.closedBy(l):
			code = pos
		}
		// The last line may be cut off and only look like a fence, so it decides nothing.
		if pos+len(l) < room || strings.HasSuffix(l, "\n") {
			was := state.marker != ""
			state = state.next(l)
			content++
			if state.marker != "" && !was {
				content = 0
			}
		}
		pos += len(l)
	}
	if rest[room-1] == '\n' { // the part ends exactly with a line
		if state.marker == "" {
			line = room
		} else if content > 0 {
			code = room
		}
	}
	for _, at := range []int{paragraph, line, code} {
		if at >= room/2 {
			return at
		}
	}
	if at := max(line, code); at > room/4 {
		return at
	}
	return within(rest, room)
}

// within cuts inside a line: after the last space, or else anywhere but in a character entity or a run of backticks.
func within(rest string, room int) int {
	if at := strings.LastIndexAny(rest[:room], " \t\n"); at >= room/2 {
		return at + 1
	}
	at := room
	if amp := strings.LastIndexByte(rest[:at], '&'); amp > 0 && at-amp < 10 {
		if semi := strings.IndexByte(rest[amp:], ';'); semi >= 0 && semi < 10 && amp+semi >= at {
			at = amp
		}
	}
	ticks := at
	for ticks > 0 && ticks < len(rest) && rest[ticks] == '`' && rest[ticks-1] == '`' {
		ticks--
	}
	if ticks > room/2 {
		at = ticks
	}
	return at
}

// runesIn is the length in bytes of the first n characters, at least one.
func runesIn(s string, n int) int {
	n = max(n, 1)
	for at := range s {
		if n == 0 {
			return at
		}
		n--
	}
	return len(s)
}
