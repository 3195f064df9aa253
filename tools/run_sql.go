package tools

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"plumb/evidence"
	"plumb/model"
	"plumb/tools/tables"
)

// runSQL asks a source.
type runSQL struct{ sources sources }

// Spec describes the tool.
func (runSQL) Spec() Spec {
	return Spec{Computes: true, Replay: ReadOnly, Tool: model.Tool{
		Name: "run_sql",
		Description: "Runs one SELECT statement (DuckDB's SQL) against one source and returns the rows as CSV. Reads only. Compute in SQL " +
			"(sum, count, avg, GROUP BY) rather than by head. At most 1000 rows are kept and 100 shown, so aggregate or use LIMIT. " +
			"Every figure in an answer should come from a query. Tables of two sources cannot be joined in one statement.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"source":{"type":"string","description":"Name of the source. May be left out when only one has the tables."},` +
			`"sql":{"type":"string","minLength":1,"description":"One SELECT statement."}},` +
			`"required":["sql"],"additionalProperties":false}`),
	}}
}

// Call runs the statement.
func (t runSQL) Call(ctx context.Context, in Input) (Result, error) {
	var args struct{ Source, SQL string }
	if err := json.Unmarshal(in.Args, &args); err != nil {
		return Fail("the arguments of run_sql cannot be read"), nil
	}
	source, err := t.choose(ctx, args.Source, args.SQL)
	if err != nil {
		return failed(ctx, args.SQL, err)
	}
	rows, err := source.Query(ctx, args.SQL)
	if err != nil {
		return failed(ctx, args.SQL, t.across(source, err))
	}
	item := evidence.Item{Summary: summary(rows), SQL: args.SQL, Columns: rows.Columns, Rows: rows.Rows,
		RowCount: rows.RowCount, Truncated: rows.Truncated}
	cat := source.Catalog()
	cat.Revision, cat.AsOf = rows.Revision, rows.AsOf
	for _, name := range rows.Tables {
		table, _ := cat.Table(name)
		item.Sources = append(item.Sources, origin(cat, name, table.Notes))
	}
	if len(item.Sources) == 0 {
		item.Sources = []evidence.Source{origin(cat, "", nil)}
	}
	return Result{Text: render(item.Summary, rows), Item: item}, nil
}

// failed is the result of a statement that gave none. Only what is wrong with the statement is the model's to read.
func failed(ctx context.Context, sql string, err error) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if !errors.Is(err, errChoice) {
		if _, own := errors.AsType[*tables.Error](err); !own {
			return Result{}, err
		}
	}
	r := Fail(err.Error())
	r.Item.SQL = sql
	return r, nil
}

// errChoice is an error about the source that was named or should be.
var errChoice = errors.New("no one source fits")

type choiceError struct{ text string }

func (e choiceError) Error() string        { return e.text }
func (e choiceError) Is(target error) bool { return target == errChoice }

// choose finds the source that a statement is for. Without a name it is the one that has all its tables.
func (t runSQL) choose(ctx context.Context, name, sql string) (Source, error) {
	if name != "" {
		s, err := t.sources.called(name)
		if err != nil {
			return nil, choiceError{err.Error()}
		}
		return s, nil
	}
	if len(t.sources) == 1 {
		return t.sources[0], nil
	}
	var fits sources
	var misfit error
	reads := 0
	for _, s := range t.sources {
		names, err := s.Reads(ctx, sql)
		if err != nil {
			if misfit == nil || split(misfit, err) {
				misfit = t.across(s, err)
			}
			continue
		}
		fits, reads = append(fits, s), reads+len(names)
	}
	switch {
	case len(fits) == 0:
		return nil, misfit
	case len(fits) == 1 || reads == 0:
		return fits[0], nil
	}
	return nil, choiceError{fmt.Sprintf("the tables of this statement are in more than one source (%s); name the source", fits.names())}
}

// split says whether the second error tells more than the first: an error about something else than a missing table.
func split(first, second error) bool {
	a, ok := errors.AsType[*tables.Error](first)
	b, also := errors.AsType[*tables.Error](second)
	return ok && also && a.Missing != "" && b.Missing == ""
}

// across explains a missing table that another source has.
func (t runSQL) across(source Source, err error) error {
	bad, ok := errors.AsType[*tables.Error](err)
	if !ok || bad.Missing == "" {
		return err
	}
	here := source.Catalog().Name
	for _, s := range t.sources {
		c := s.Catalog()
		if _, ok := c.Table(bad.Missing); ok && c.Name != here {
			return choiceError{fmt.Sprintf("the table %s is in the source %s, not in %s. One statement asks one source: run one for "+
				"each source and put the results together", bad.Missing, c.Name, here)}
		}
	}
	return err
}

// nothing says what an empty result means [L10].
const nothing = "nothing matched; a sum or count over it is 0, a minimum, maximum or average does not exist"

// summary is the result in a few words.
func summary(rows tables.Rows) string {
	switch {
	case rows.RowCount == 0:
		return "no rows: " + nothing
	case rows.AtLeast:
		return fmt.Sprintf("more than %d rows, cut to the first %d", len(rows.Rows), len(rows.Rows))
	case rows.Truncated:
		return fmt.Sprintf("%d rows, cut to the first %d", rows.RowCount, len(rows.Rows))
	case rows.RowCount == 1 && blank(rows.Rows[0]):
		return "1 row, without values: " + nothing
	}
	return plural(rows.RowCount, "row")
}

func blank(row []any) bool {
	for _, v := range row {
		if v != nil {
			return false
		}
	}
	return true
}

// How many rows the model is shown: all when they are few, else the first ones [L9].
const (
	showAll   = 100
	showFirst = 30
)

// render writes the summary, the rows as CSV, and how many of them are shown if not all.
func render(summary string, rows tables.Rows) string {
	show := len(rows.Rows)
	if show > showAll {
		show = showFirst
	}
	var b strings.Builder
	b.WriteString(summary + "\n" + record(rows.Columns))
	// The last line and the header have room besides.
	left := maxText - 100 - utf8.RuneCountInString(b.String())
	shown := 0
	for ; shown < show; shown++ {
		line := record(texts(rows.Rows[shown]))
		if left -= utf8.RuneCountInString(line); left < 0 {
			break
		}
		b.WriteString(line)
	}
	if shown < rows.RowCount {
		count := fmt.Sprint(rows.RowCount)
		if rows.AtLeast {
			count = "more than " + fmt.Sprint(len(rows.Rows))
		}
		fmt.Fprintf(&b, "(%d of %s rows shown)\n", shown, count)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// texts are the cells of a row; a missing value is empty. A cell is not longer than a sentence can use.
func texts(row []any) []string {
	out := make([]string, len(row))
	for i, v := range row {
		if v != nil {
			out[i] = short(evidence.Text(v), 500)
		}
	}
	return out
}

// record is one line of CSV. One single empty cell is written as a pair of quotes, because its line would be blank.
func record(cells []string) string {
	if len(cells) == 1 && cells[0] == "" {
		return "\"\"\n"
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Write(cells)
	w.Flush()
	return b.String()
}
