// Package documents searches and reads the texts of a source. Searching streams: a log of a gigabyte costs its lines one
// by one.
package documents

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of a search and of reading [D6], in hits and in characters.
const (
	DefaultHits = 30
	MaxHits     = 100
	MaxText     = 12_000
	MaxAll      = 16_000
	maxLine     = 300
)

// A Document is a text somewhere. Name is what people call it.
type Document struct {
	Source, Name, File string
	Open               func() (io.ReadCloser, error)
}

// A Hit is a line that matches.
type Hit struct {
	Source, Name string
	Line         int
	Text         string // cut when long, around the match
}

// Found is the result of a search.
type Found struct {
	Hits   []Hit
	More   bool     // there are further hits
	Unread []string // documents that could not be read, with the reason
}

// Search finds the lines that match a pattern (RE2). A pattern without capitals matches whatever the case.
func Search(ctx context.Context, docs []Document, pattern string, hits int) (Found, error) {
	if hits <= 0 {
		hits = DefaultHits
	}
	hits = min(hits, MaxHits)
	re, err := compile(pattern)
	if err != nil {
		return Found{}, err
	}
	var found Found
	for _, d := range docs {
		err := searchOne(ctx, d, re, hits, &found)
		if ctx.Err() != nil {
			return Found{}, context.Cause(ctx)
		}
		if err != nil {
			found.Unread = append(found.Unread, d.Name+": "+err.Error())
		}
		if found.More {
			break
		}
	}
	return found, nil
}

// compile makes a pattern ready. Only its own letters decide about case: \S and \W are no capitals.
func compile(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, errors.New("the pattern is empty")
	}
	flags := "(?i)"
	escaped := false
	for _, r := range pattern {
		if unicode.IsUpper(r) && !escaped {
			flags = ""
		}
		escaped = r == '\\' && !escaped
	}
	re, err := regexp.Compile(flags + pattern)
	if err != nil {
		return nil, fmt.Errorf("the pattern is no regular expression (RE2): %w", err)
	}
	return re, nil
}

func searchOne(ctx context.Context, d Document, re *regexp.Regexp, most int, found *Found) error {
	in, err := d.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	lines := bufio.NewReaderSize(in, 64<<10)
	for number := 1; ; number++ {
		if number%1000 == 1 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := readLine(lines)
		if at := re.FindStringIndex(line); at != nil && (line != "" || err == nil) {
			if len(found.Hits) == most {
				found.More = true
				return nil
			}
			found.Hits = append(found.Hits, Hit{Source: d.Source, Name: d.Name, Line: number, Text: around(line, at[0])})
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line without its end. What goes beyond a megabyte is passed over, so that a file without line ends
// does not fill the memory.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) < 1<<20 {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return strings.ToValidUTF8(strings.TrimRight(string(line), "\r\n"), "�"), err
	}
}

// around cuts a long line so that the match stays in it.
func around(line string, at int) string {
	line = strings.TrimSpace(line)
	if len(line) <= maxLine {
		return line
	}
	start := max(0, min(at-maxLine/3, len(line)-maxLine))
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	end := min(start+maxLine, len(line))
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	text := line[start:end]
	if start > 0 {
		text = "…" + text
	}
	if end < len(line) {
		text += "…"
	}
	return text
}

// Text is a document, or its beginning.
type Text struct {
	Source, Name string
	Text         string
	Cut          bool // there is more
}

// Read reads documents, each up to MaxText characters and all up to MaxAll; those that find no room come back empty and
// cut.
func Read(ctx context.Context, docs []Document) ([]Text, error) {
	room := MaxAll
	var texts []Text
	for _, d := range docs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t, err := readOne(d, min(room, MaxText))
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", d.Name, err)
		}
		room -= utf8.RuneCountInString(t.Text)
		texts = append(texts, t)
	}
	return texts, nil
}

func readOne(d Document, most int) (Text, error) {
	in, err := d.Open()
	if err != nil {
		return Text{}, err
	}
	defer in.Close()
	// A character takes four bytes at most; one more tells whether there is more.
	b, err := io.ReadAll(io.LimitReader(in, int64(most+1)*utf8.UTFMax))
	if err != nil {
		return Text{}, err
	}
	t := Text{Source: d.Source, Name: d.Name}
	text := strings.ToValidUTF8(strings.TrimPrefix(string(b), "\uFEFF"), "�")
	if r := []rune(text); len(r) > most {
		text, t.Cut = string(r[:most]), true
	}
	t.Text = text
	return t, nil
}

// Pick finds documents by name or file, whatever the case; what it does not find it gives back.
func Pick(docs []Document, names []string) (picked []Document, missing []string) {
next:
	for _, name := range names {
		for _, same := range []func(Document) bool{
			func(d Document) bool { return d.Name == name || d.File == name },
			func(d Document) bool { return strings.EqualFold(d.Name, name) || strings.EqualFold(d.File, name) },
		} {
			for _, d := range docs {
				if same(d) {
					picked = append(picked, d)
					continue next
				}
			}
		}
		missing = append(missing, name)
	}
	return picked, missing
}

// Suggest gives up to three names that are like the one asked for: those that hold it or are held by it, then those
// that share most pairs of letters.
func Suggest(docs []Document, name string) []string {
	var out []string
	best := map[string]float64{}
	for _, d := range docs {
		if s := likeness(d.Name, name); s > 0.3 {
			best[d.Name] = s
		}
	}
	for len(out) < 3 && len(best) > 0 {
		top := ""
		for n, s := range best {
			if top == "" || s > best[top] || s == best[top] && n < top {
				top = n
			}
		}
		out = append(out, top)
		delete(best, top)
	}
	return out
}

// likeness is 1 for names of which one holds the other, else the share of their pairs of letters that both have.
func likeness(a, b string) float64 {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(b) > 2 && strings.Contains(a, b) || len(a) > 2 && strings.Contains(b, a) {
		return 1
	}
	pairs := map[string]int{}
	for i := range max(len(a)-1, 0) {
		pairs[a[i:i+2]]++
	}
	both := 0
	for i := range max(len(b)-1, 0) {
		if p := b[i : i+2]; pairs[p] > 0 {
			pairs[p]--
			both++
		}
	}
	return 2 * float64(both) / float64(max(len(a)+len(b)-2, 1))
}
