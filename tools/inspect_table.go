package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"plumb/evidence"
	"plumb/model"
	"plumb/tools/tables"
)

// inspectTable tells what a table is like.
type inspectTable struct{ sources sources }

// Spec describes the tool.
func (inspectTable) Spec() Spec {
	return Spec{Looks: true, Replay: ReadOnly, Tool: model.Tool{
		Name: "inspect_table",
		Description: "Shows one table: its columns with type, share of missing values, number of different values, smallest, largest and " +
			"most common values, notes on the data, and a few sample rows. Look before you compute: it shows how values are spelled.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"source":{"type":"string","description":"Name of the source. May be left out when only one has the table."},` +
			`"table":{"type":"string","minLength":1,"description":"Name of the table."},` +
			`"rows":{"type":"integer","minimum":0,"maximum":50,"description":"Number of sample rows, 5 if left out."}},` +
			`"required":["table"],"additionalProperties":false}`),
	}}
}

// inspected is a catalog's table with sample rows.
type inspected struct {
	Name    string          `json:"name"`
	File    string          `json:"file"`
	Rows    int64           `json:"rows"`
	Columns []tables.Column `json:"columns"`
	Notes   []string        `json:"notes"`
	Sample  sample          `json:"sample"`
}

type sample struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

// Call shows the table.
func (t inspectTable) Call(ctx context.Context, in Input) (Result, error) {
	args := struct {
		Source string
		Table  string
		Rows   *int
	}{}
	if err := json.Unmarshal(in.Args, &args); err != nil {
		return Fail("the arguments of inspect_table cannot be read"), nil
	}
	source, table, err := t.sources.holding(args.Source, args.Table)
	if err != nil {
		return Fail(err.Error()), nil
	}
	n := 5
	if args.Rows != nil {
		n = *args.Rows
	}
	sql := fmt.Sprintf(`SELECT * FROM "%s" LIMIT %d`, strings.ReplaceAll(table.Name, `"`, `""`), n)
	rows, err := source.Query(ctx, sql)
	if _, own := errors.AsType[*tables.Error](err); own {
		return Fail(err.Error()), nil
	}
	if err != nil {
		return Result{}, err
	}
	out := inspected{table.Name, table.File, table.Rows, table.Columns, append([]string{}, table.Notes...), sample{rows.Columns, rows.Rows}}
	text := out.fit()
	return Result{Text: text, Item: evidence.Item{
		Summary: fmt.Sprintf("%s: %s, %s", table.Name, plural(int(table.Rows), "row"), plural(len(table.Columns), "column")),
		SQL:     sql, Columns: rows.Columns, Rows: rows.Rows, RowCount: rows.RowCount, Output: text,
		Sources: []evidence.Source{origin(source.Catalog(), table.Name, table.Notes)},
	}}, nil
}

// fit writes the table within the limit, leaving out first what can be asked for again.
func (in inspected) fit() string {
	all := len(in.Columns)
	for _, less := range []func(*inspected) bool{fewerRows, plainerColumns, fewerNotes, fewerColumns} {
		for len(compact(in)) > maxText-100 && less(&in) {
			continue
		}
	}
	if n := len(in.Columns); n < all {
		in.Notes = append(in.Notes[:len(in.Notes):len(in.Notes)], fmt.Sprintf("only the first %d of %d columns are shown", n, all))
	}
	return compact(in)
}

// Each of these makes an inspection shorter, and says whether it could.

func fewerRows(in *inspected) bool {
	switch len(in.Sample.Rows) {
	case 0:
		return false
	case 1:
		in.Sample = sample{Columns: []string{}, Rows: [][]any{}}
	default:
		in.Sample.Rows = half(in.Sample.Rows)
	}
	return true
}

func plainerColumns(in *inspected) bool {
	bare := make([]tables.Column, len(in.Columns))
	for i, c := range in.Columns {
		bare[i] = tables.Column{Name: c.Name, Type: short(c.Type, 200), NullShare: c.NullShare, Distinct: c.Distinct}
	}
	in.Columns = bare
	return false
}

func fewerNotes(in *inspected) bool {
	if len(in.Notes) < 2 {
		return false
	}
	in.Notes = half(in.Notes)
	return true
}

func fewerColumns(in *inspected) bool {
	if len(in.Columns) < 2 {
		return false
	}
	in.Columns = half(in.Columns)
	return true
}
