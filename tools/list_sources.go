package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"plumb/evidence"
	"plumb/model"
	"plumb/tools/tables"
)

// listSources tells what there is to ask.
type listSources struct{ sources sources }

// Spec describes the tool.
func (listSources) Spec() Spec {
	return Spec{Looks: true, Replay: ReadOnly, Tool: model.Tool{
		Name: "list_sources",
		Description: "Lists the data sources: their tables with columns and types, their documents, and the files that could not " +
			"be loaded with the reason. Use it when you do not know which table or document holds the answer.",
		Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
	}}
}

// The words of the list; a table is short here, inspect_table tells the rest.
type (
	listed struct {
		Sources []listedSource `json:"sources"`
	}
	listedSource struct {
		Name      string        `json:"name"`
		Kind      string        `json:"kind"`
		Tables    []listedTable `json:"tables"`
		Documents []string      `json:"documents"`
		Skipped   []tables.Skip `json:"skipped"`
	}
	listedTable struct {
		Name    string   `json:"name"`
		Rows    int64    `json:"rows"`
		Columns []string `json:"columns"`
	}
)

// Call lists the sources.
func (t listSources) Call(context.Context, Input) (Result, error) {
	out := listed{Sources: []listedSource{}}
	item := evidence.Item{}
	tablesN, documentsN := 0, 0
	for _, s := range t.sources {
		c := s.Catalog()
		l := listedSource{Name: c.Name, Kind: c.Kind, Tables: []listedTable{}, Documents: []string{}, Skipped: append([]tables.Skip{}, c.Skipped...)}
		for _, table := range c.Tables {
			cols := make([]string, len(table.Columns))
			for i, col := range table.Columns {
				cols[i] = col.Name + " " + col.Type
			}
			l.Tables = append(l.Tables, listedTable{table.Name, table.Rows, cols})
		}
		for _, d := range c.Documents {
			l.Documents = append(l.Documents, d.Name)
		}
		tablesN, documentsN = tablesN+len(l.Tables), documentsN+len(l.Documents)
		out.Sources = append(out.Sources, l)
		item.Sources = append(item.Sources, origin(c, "", nil))
	}
	item.Output = out.fit()
	item.Summary = fmt.Sprintf("%s, %s, %s", plural(len(out.Sources), "source"), plural(tablesN, "table"), plural(documentsN, "document"))
	return Result{Text: item.Output, Item: item}, nil
}

// fit writes the list within the limit. What goes first is what another tool tells better: columns, then the files that
// were skipped, then the ends of the longest lists.
func (l listed) fit() string {
	for step := 0; ; step++ {
		text := compact(l)
		if len(text) <= maxText {
			return text
		}
		longest := 0
		for i := range l.Sources {
			s := &l.Sources[i]
			switch {
			case step == 0:
				for j := range s.Tables {
					s.Tables[j].Columns = []string{}
				}
			case step == 1:
				s.Skipped = s.Skipped[:min(len(s.Skipped), 5)]
			default:
				s.Tables, s.Documents = half(s.Tables), half(s.Documents)
				longest = max(longest, len(s.Tables), len(s.Documents))
			}
		}
		if step > 1 && longest <= 1 {
			return compact(l)
		}
	}
}

func half[T any](s []T) []T { return s[:(len(s)+1)/2] }
