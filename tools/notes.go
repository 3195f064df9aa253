package tools

import (
	"fmt"
	"io"
	"strings"

	"plumb/tools/redact"
	"plumb/tools/tables"
)

// A team's own words on its data stand in plumb.md at the top of a files source. They are context for the model and no
// source of figures, so that they are not among the documents that can be searched and read.
const (
	notesFile    = "plumb.md"
	longestNotes = 8000 // characters
)

// notes are what the sources' plumb.md say.
func (ss sources) notes() string {
	var b strings.Builder
	for _, s := range ss {
		lib, ok := s.(Library)
		if !ok {
			continue
		}
		f, err := lib.Document(notesFile)
		if err != nil {
			continue // there is none
		}
		text, err := io.ReadAll(io.LimitReader(f, 4*longestNotes))
		_ = f.Close()
		if err != nil || len(text) == 0 {
			continue
		}
		name := s.Catalog().Name
		fmt.Fprintf(&b, "\nThe team's notes on %s (context, not a source of figures):\n%s\n", name, short(redact.Text(strings.ToValidUTF8(string(text), "")), longestNotes))
	}
	return b.String()
}

// withoutNotes takes plumb.md from the documents.
func withoutNotes(docs []tables.Document) []tables.Document {
	for i, d := range docs {
		if d.File == notesFile {
			return append(append([]tables.Document{}, docs[:i]...), docs[i+1:]...)
		}
	}
	return docs
}
