package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plumb/evidence"
	"plumb/model"
	"plumb/tools/python"
	"plumb/tools/tables"
)

// runPython computes on evidence, for what SQL cannot say.
type runPython struct {
	pool    *python.Pool
	sources sources
}

// RunPython makes the tool that runs programs over evidence and over queries to these sources, which are guarded as those
// of run_sql are.
func RunPython(pool *python.Pool, given []Source) Tool {
	t := runPython{pool: pool}
	for _, src := range given {
		t.sources = append(t.sources, shielded{src})
	}
	t.sources = t.sources.with(hasTables)
	return t
}

// Spec describes the tool.
func (runPython) Spec() Spec {
	return Spec{Computes: true, Replay: ReadOnly, Tool: model.Tool{
		Name: "run_python",
		Description: "Runs a Python 3.12 program and returns what it prints. For what SQL cannot say: statistics, correlation, regression, simulation, parsing. " +
			"Data comes in by evidence id: with inputs [\"e1\"] the name e1 (and inputs[\"e1\"]) is the list of dicts that e1's rows are, " +
			"dates being ISO text. sql(query, source=None) runs a SELECT and gives a list of dicts, 1000 rows at most. " +
			"Standard library only, and the helpers median, stdev, pearsonr (r, p) and linregress (slope, intercept, rvalue, pvalue, stderr), " +
			"which leave None out. No files, network, packages or clock; 60 s, 256 MiB. Print every figure with a few words that say what it is.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"code":{"type":"string","minLength":1,"maxLength":65536,"description":"The program."},` +
			`"inputs":{"type":"array","items":{"type":"string"},"maxItems":20,"description":"Ids of the evidence that it works on, such as e1."}},` +
			`"required":["code"],"additionalProperties":false}`),
	}}
}

// Call runs the program.
func (t runPython) Call(ctx context.Context, in Input) (Result, error) {
	var args struct {
		Code   string
		Inputs []string
	}
	if err := json.Unmarshal(in.Args, &args); err != nil {
		return Fail("the arguments of run_python cannot be read"), nil
	}
	inputs, origins, why := given(in.Evidence, args.Inputs)
	if why != "" {
		return Fail(why), nil
	}
	asked := &questions{sources: t.sources, origins: origins}
	got, err := t.pool.Run(ctx, python.Job{Code: args.Code, Inputs: inputs, SQL: asked.sql})
	if err != nil {
		return Result{}, err
	}
	if got.Error != "" {
		text := "the program failed:\n" + got.Error
		if got.Output != "" {
			text += "\nBefore that it printed:\n" + short(got.Output, 1000)
		}
		return Result{Text: short(text, maxText), Failed: true, Item: evidence.Item{Error: short(got.Error, maxText), Summary: "failed", Output: got.Output,
			Sources: asked.origins}}, nil
	}
	item := evidence.Item{Summary: spoken(got), Output: got.Output, Sources: asked.origins}
	return Result{Text: item.Summary + "\n" + printed(got.Output) + warnings(got), Item: item}, nil
}

// given finds the evidence that a program works on, and where it came from. Evidence without rows is its text.
func given(items []evidence.Item, ids []string) (inputs map[string]any, origins []evidence.Source, why string) {
	inputs = map[string]any{}
	for _, id := range ids {
		i := slices.IndexFunc(items, func(it evidence.Item) bool { return strings.EqualFold(it.ID, id) && it.Error == "" })
		if i < 0 {
			return nil, nil, fmt.Sprintf("there is no evidence %q to work on; %s", short(id, 50), usable(items))
		}
		it := items[i]
		if len(it.Columns) > 0 {
			inputs[it.ID] = python.Table{Columns: distinct(it.Columns), Rows: it.Rows}
		} else {
			inputs[it.ID] = it.Output
		}
		for _, s := range it.Sources {
			if it.Truncated {
				s.Notes = append(slices.Clone(s.Notes), fmt.Sprintf("%s has the first %d of %d rows", it.ID, len(it.Rows), it.RowCount))
			}
			origins = append(origins, s)
		}
	}
	return inputs, origins, ""
}

func usable(items []evidence.Item) string {
	var ids []string
	for _, it := range items {
		if it.Error == "" && it.ID != "" {
			ids = append(ids, it.ID)
		}
	}
	if len(ids) == 0 {
		return "there is none so far; ask with run_sql first, or with sql() in the program"
	}
	return "the ids are: " + strings.Join(ids, ", ")
}

// distinct gives columns of the same name different ones, since a dict has each name once.
func distinct(columns []string) []string {
	out := make([]string, 0, len(columns))
	for _, c := range columns {
		name := c
		for n := 2; slices.Contains(out, name); n++ {
			name = fmt.Sprintf("%s_%d", c, n)
		}
		out = append(out, name)
	}
	return out
}

// questions answers a program's queries, and notes where the answers came from.
type questions struct {
	sources sources
	origins []evidence.Source
	count   int
}

// sql answers one query. What is wrong with the query is for the program.
func (q *questions) sql(ctx context.Context, query, source string) (python.Table, string, error) {
	q.count++
	if len(q.sources) == 0 {
		return python.Table{}, "there are no tables to ask here", nil
	}
	ask := runSQL{q.sources}
	src, err := ask.choose(ctx, source, query)
	var rows tables.Rows
	if err == nil {
		if rows, err = src.Query(ctx, query); err != nil {
			err = ask.across(src, err)
		}
	}
	if err != nil {
		if _, own := errors.AsType[*tables.Error](err); ctx.Err() == nil && (own || errors.Is(err, errChoice)) {
			return python.Table{}, err.Error(), nil
		}
		return python.Table{}, "", err
	}
	note := fmt.Sprintf("sql() %d, %s: %s", q.count, summary(rows), short(strings.Join(strings.Fields(query), " "), 500))
	cat := src.Catalog()
	cat.Revision, cat.AsOf = rows.Revision, rows.AsOf
	if len(rows.Tables) == 0 {
		q.origins = append(q.origins, origin(cat, "", []string{note}))
	}
	for _, name := range rows.Tables {
		table, _ := cat.Table(name)
		q.origins = append(q.origins, origin(cat, name, append(slices.Clone(table.Notes), note)))
	}
	return python.Table{Columns: distinct(rows.Columns), Rows: rows.Rows, Truncated: rows.Truncated}, "", nil
}

// spoken sums up what a program printed.
func spoken(r python.Result) string {
	text := "printed nothing"
	if lines := strings.Count(strings.TrimSuffix(r.Output, "\n"), "\n") + 1; r.Output != "" {
		text = "printed " + plural(lines, "line")
	}
	if r.Cut {
		text += ", cut to the first 64 KiB"
	}
	if n := len(r.Queries); n == 1 {
		text += ", asked 1 query"
	} else if n > 1 {
		text += fmt.Sprintf(", asked %d queries", n)
	}
	return text
}

// printed is the output as far as a model reads it.
func printed(output string) string {
	const room = maxText - 600 // for the lines about it
	if output == "" {
		return "Use print() to show a result."
	}
	whole := len([]rune(output))
	if whole <= room {
		return strings.TrimSuffix(output, "\n")
	}
	return short(output, room) + fmt.Sprintf("\n(%d of %d characters shown)", room-1, whole)
}

// warnings name the queries that gave only a part, on which a sum would be wrong.
func warnings(r python.Result) string {
	var cut []string
	for i, q := range r.Queries {
		if q.Truncated {
			cut = append(cut, fmt.Sprint(i+1))
		}
	}
	if len(cut) == 0 {
		return ""
	}
	return short("\nCareful: sql() gave only the first 1000 rows in call "+strings.Join(cut, ", "), 300) + ". Let SQL aggregate."
}
