package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"plumb/evidence"
	"plumb/model"
	"plumb/tools/documents"
)

// searchFiles finds lines in documents.
type searchFiles struct{ sources sources }

// Spec describes the tool.
func (searchFiles) Spec() Spec {
	return Spec{Looks: true, Replay: ReadOnly, Tool: model.Tool{
		Name: "search_files",
		Description: "Searches the documents (notes, texts, logs) for a regular expression and returns the lines that match with document and " +
			"line number. A pattern without capitals ignores case. It does not search tables: use run_sql for those.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string","minLength":1,"description":"A word or a regular expression (RE2)."},` +
			`"source":{"type":"string","description":"Name of the source. All are searched if left out."},` +
			`"max_hits":{"type":"integer","minimum":1,"maximum":100,"description":"Most lines to return, 30 if left out."}},` +
			`"required":["pattern"],"additionalProperties":false}`),
	}}
}

// Call searches.
func (t searchFiles) Call(ctx context.Context, in Input) (Result, error) {
	var args struct {
		Pattern string
		Source  string
		MaxHits int `json:"max_hits"`
	}
	if err := json.Unmarshal(in.Args, &args); err != nil {
		return Fail("the arguments of search_files cannot be read"), nil
	}
	docs, err := t.sources.documents(args.Source)
	if err != nil {
		return Fail(err.Error()), nil
	}
	found, err := documents.Search(ctx, docs, args.Pattern, args.MaxHits)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		return Fail(err.Error()), nil
	}
	item := evidence.Item{Summary: hits(found, len(docs)), Truncated: found.More}
	item.Sources = t.sources.origins(func(name string) bool { return args.Source == "" || strings.EqualFold(args.Source, name) })
	lines := []string{item.Summary}
	left := maxText - 200 - utf8.RuneCountInString(item.Summary)
	shown := 0
	for _, h := range found.Hits {
		line := fmt.Sprintf("%s:%d: %s", h.Name, h.Line, h.Text)
		if left -= utf8.RuneCountInString(line) + 1; left < 0 {
			break
		}
		lines, shown = append(lines, line), shown+1
	}
	if shown < len(found.Hits) {
		lines = append(lines, fmt.Sprintf("(%d of %d hits shown)", shown, len(found.Hits)))
	}
	for _, u := range found.Unread {
		lines = append(lines, "not searched: "+short(u, 150))
	}
	item.Output = short(strings.Join(lines, "\n"), maxText)
	return Result{Text: item.Output, Item: item}, nil
}

func hits(found documents.Found, docs int) string {
	switch n := len(found.Hits); {
	case n == 0:
		return fmt.Sprintf("no hits in %s", plural(docs, "document"))
	case found.More:
		return fmt.Sprintf("the first %s; there are more", plural(n, "hit"))
	default:
		return plural(n, "hit")
	}
}
