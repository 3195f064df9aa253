package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"plumb/evidence"
	"plumb/model"
	"plumb/tools/documents"
)

// readFile reads documents.
type readFile struct{ sources sources }

// Spec describes the tool.
func (readFile) Spec() Spec {
	return Spec{Looks: true, Replay: ReadOnly, Tool: model.Tool{
		Name: "read_file",
		Description: "Reads documents by name: up to 12000 characters of each and 16000 in all. For a long one search_files finds the lines. " +
			"It does not read tables: use run_sql or inspect_table for those.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"names":{"type":"array","items":{"type":"string","minLength":1},"minItems":1,"maxItems":10,"description":"Names of documents."},` +
			`"source":{"type":"string","description":"Name of the source. May be left out."}},` +
			`"required":["names"],"additionalProperties":false}`),
	}}
}

// Call reads.
func (t readFile) Call(ctx context.Context, in Input) (Result, error) {
	var args struct {
		Names  []string
		Source string
	}
	if err := json.Unmarshal(in.Args, &args); err != nil {
		return Fail("the arguments of read_file cannot be read"), nil
	}
	docs, err := t.sources.documents(args.Source)
	if err != nil {
		return Fail(err.Error()), nil
	}
	picked, missing := documents.Pick(docs, args.Names)
	if len(missing) > 0 {
		return Fail(t.unknown(docs, missing)), nil
	}
	texts, err := documents.Read(ctx, picked)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		return Fail(err.Error()), nil
	}
	var b strings.Builder
	cut := 0
	for _, d := range texts {
		fmt.Fprintf(&b, "== %s (%s)\n%s\n", d.Name, d.Source, strings.TrimRight(d.Text, "\n"))
		if d.Cut {
			cut++
			b.WriteString("(cut here: the document goes on; search_files finds lines in the rest)\n")
		}
	}
	item := evidence.Item{Summary: "read " + strings.Join(args.Names, ", "), Truncated: cut > 0, Output: strings.TrimSuffix(b.String(), "\n")}
	if cut > 0 {
		item.Summary += fmt.Sprintf(" (%d cut)", cut)
	}
	item.Sources = t.sources.origins(func(name string) bool {
		return slices.ContainsFunc(texts, func(d documents.Text) bool { return d.Source == name })
	})
	return Result{Text: item.Output, Item: item}, nil
}

// unknown says which names are none, what may have been meant, and when a table was.
func (t readFile) unknown(docs []documents.Document, missing []string) string {
	var parts []string
	for _, name := range missing {
		part := fmt.Sprintf("there is no document %q", name)
		if like := documents.Suggest(docs, name); len(like) > 0 {
			part += "; did you mean " + strings.Join(like, " or ") + "?"
		}
		for _, s := range t.sources {
			for _, table := range s.Catalog().Tables {
				if strings.EqualFold(table.File, name) || strings.EqualFold(table.Name, name) {
					part += fmt.Sprintf("; %s is the table %s: use run_sql or inspect_table", table.File, table.Name)
				}
			}
		}
		parts = append(parts, part)
	}
	names := make([]string, len(docs))
	for i, d := range docs {
		names[i] = d.Name
	}
	return strings.Join(parts, ". ") + ". The documents are: " + short(strings.Join(names, ", "), 1000)
}
