package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plumb/evidence"
	"plumb/model"
	"plumb/tools/redact"
	"plumb/tools/tables"
)

// Metrics is a source of time series that is asked in PromQL. Its errors are sentences for whoever wrote the query, and
// hold no address with credentials; when ctx is over, the error is its cause.
type Metrics interface {
	Name() string
	// Query gives what the expression is at one moment.
	Query(ctx context.Context, promql string, at time.Time) (Readings, error)
	// QueryRange gives what it is at each step of a span.
	QueryRange(ctx context.Context, promql string, over Span) (Readings, error)
}

// Readings is what a source of metrics answers: series in its order, which sort() and topk() make matter.
type Readings struct {
	Series []Series
	Notes  []string // what the source warns of
}

// A Series is the points of one set of labels, oldest first.
type Series struct {
	Labels map[string]string
	Points []Point
}

// A Point is a value at a time. The value is a number, or a text where it is none.
type Point struct {
	Time  time.Time
	Value any
}

// queryMetrics asks a source of metrics.
type queryMetrics struct{ sources []Metrics }

// QueryMetrics makes the tool that asks these sources. It is of use with one source at least.
func QueryMetrics(sources []Metrics) Tool { return queryMetrics{sources} }

// Spec describes the tool.
func (t queryMetrics) Spec() Spec {
	return Spec{Replay: ReadOnly, Tool: model.Tool{
		Name: "query_metrics",
		Description: "Asks a Prometheus source with PromQL and returns CSV: time (UTC), one column a label, value. Sources: " + t.names() + ". " +
			"Without start it gives the values of now, one row a series; with start a range. " +
			"Aggregate in PromQL (sum by, topk, max_over_time, increase, rate over a counter) rather than by head: 20 series are shown at most, " +
			"a range has at most 200 points a series, and 1000 rows are kept. No series is no data, not zero.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"source":{"type":"string","description":"Name of the source. May be left out when there is only one."},` +
			`"promql":{"type":"string","minLength":1,"maxLength":10000,"description":"One PromQL expression."},` +
			`"start":{"type":["string","number"],"description":"Start of a range: RFC 3339, unix seconds, or relative to now like -1h or -7d."},` +
			`"end":{"type":["string","number"],"description":"End of the range, written like start; now if left out."},` +
			`"step":{"type":["string","number"],"description":"Distance of the points, such as 30s, 5m or 1d; chosen if left out."}},` +
			`"required":["promql"],"additionalProperties":false}`),
	}}
}

// About tells the prompt of the sources, which have no tables to list.
func (t queryMetrics) About() string {
	return "metrics, to be asked with query_metrics: " + t.names() + "\n"
}

// Call asks the source.
func (t queryMetrics) Call(ctx context.Context, in Input) (Result, error) {
	var args struct {
		Source, PromQL   string
		Start, End, Step plainText
	}
	if err := json.Unmarshal(in.Args, &args); err != nil {
		return Fail("the arguments of query_metrics cannot be read"), nil
	}
	source, err := t.choose(args.Source)
	if err != nil {
		return Fail(err.Error()), nil
	}
	now := time.Now().UTC()
	var got Readings
	var notes []string
	if args.Start+args.End+args.Step == "" {
		got, err = source.Query(ctx, args.PromQL, now)
	} else {
		var over Span
		if over, notes, err = span(string(args.Start), string(args.End), string(args.Step), now); err != nil {
			return Fail(err.Error()), nil
		}
		got, err = source.QueryRange(ctx, args.PromQL, over)
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		return Fail(short(err.Error(), 1000)), nil
	}
	got.Notes = append(notes, got.Notes...)
	return measured(args.PromQL, got, evidence.Source{Source: source.Name(), AsOf: now}), nil
}

// plainText reads a text or a number, because unix seconds come as either.
type plainText string

// UnmarshalJSON takes the text out of its quotes and leaves a number as it was written.
func (p *plainText) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(p))
	}
	*p = plainText(b)
	return nil
}

// names lists the sources for a sentence.
func (t queryMetrics) names() string {
	var all []string
	for _, s := range t.sources {
		all = append(all, s.Name())
	}
	return strings.Join(all, ", ")
}

// choose finds a source by its name, or the only one.
func (t queryMetrics) choose(name string) (Metrics, error) {
	for _, s := range t.sources {
		if strings.EqualFold(s.Name(), name) || name == "" && len(t.sources) == 1 {
			return s, nil
		}
	}
	if name == "" {
		return nil, fmt.Errorf("name the source: there are %s", t.names())
	}
	return nil, fmt.Errorf("there is no source %q of metrics; the sources are: %s", short(name, 100), t.names())
}

// What is kept of an answer, and what the model is shown of it.
const (
	keepRows   = 1000
	showSeries = 20
)

// noSeries says what an empty answer means: a sum over it is not 0, for nobody has measured anything [L10].
const noSeries = "no series matched; that is no data, not zero"

// measured is the result of a query that was answered.
func measured(promql string, got Readings, from evidence.Source) Result {
	got.Series = slices.DeleteFunc(slices.Clone(got.Series), func(s Series) bool { return len(s.Points) == 0 })
	rows := flat(got.Series)
	shown := 0
	for _, s := range got.Series[:min(showSeries, len(got.Series))] {
		shown += len(s.Points)
	}
	var redacted bool
	if rows.Rows, redacted = redact.Rows(rows.Columns, rows.Rows); redacted {
		got.Notes = append(got.Notes, "secrets were redacted")
	}
	item := evidence.Item{Summary: measure(promql, got.Series, rows), Columns: rows.Columns, Rows: rows.Rows, RowCount: rows.RowCount, Truncated: rows.Truncated}
	from.Notes = got.Notes
	item.Sources = []evidence.Source{from}
	rows.Rows = rows.Rows[:min(shown, len(rows.Rows))]
	text := []string{render(item.Summary, rows)}
	for _, n := range got.Notes {
		text = append(text, "note: "+short(n, 300))
	}
	return Result{Text: strings.Join(append(text, advice(got.Series, rows)...), "\n"), Item: item}
}

// measure is the answer in a few words.
func measure(promql string, series []Series, rows tables.Rows) string {
	asked := short(strings.Join(strings.Fields(promql), " "), 120)
	if len(series) == 0 {
		return noSeries + ": " + asked
	}
	text := fmt.Sprintf("%d series of %s", len(series), asked)
	if rows.RowCount > len(series) {
		text += ", " + plural(rows.RowCount, "point")
	}
	if rows.Truncated {
		text += fmt.Sprintf(", cut to the first %d rows", keepRows)
	}
	return text
}

// advice says how to ask better when the answer was empty or too much to show.
func advice(series []Series, rows tables.Rows) []string {
	switch {
	case len(series) == 0:
		return []string{`hint: look at the name, the labels and the time range; count by (__name__) ({__name__=~".*part.*"}) lists the metrics with "part" in their name`}
	case len(series) > showSeries:
		return []string{fmt.Sprintf("hint: at most %d of the %d series are shown; aggregate with sum by (label) (…), or take the largest with topk(%d, …)",
			showSeries, len(series), showSeries)}
	case rows.RowCount > showAll:
		return []string{"hint: not every point is shown; widen the step, or ask for max_over_time, min_over_time or avg_over_time of the range as one value"}
	}
	return nil
}

// flat writes series as rows, one after the other, each with its labels. A metric's name is a column only if it varies,
// and a label that a series does not have is an empty cell.
func flat(series []Series) tables.Rows {
	present, metrics := map[string]bool{}, map[string]bool{}
	for _, s := range series {
		metrics[s.Labels["__name__"]] = true
		for label := range s.Labels {
			present[label] = true
		}
	}
	if len(metrics) < 2 {
		delete(present, "__name__")
	}
	labels := slices.Sorted(maps.Keys(present))
	rows := tables.Rows{Columns: headed(labels), Rows: [][]any{}}
	for _, s := range series {
		rows.RowCount += len(s.Points)
		for _, p := range s.Points[:min(len(s.Points), keepRows-len(rows.Rows))] {
			row := []any{p.Time.UTC().Format("2006-01-02T15:04:05.999Z07:00")}
			for _, label := range labels {
				if v, ok := s.Labels[label]; ok {
					row = append(row, v)
				} else {
					row = append(row, nil)
				}
			}
			rows.Rows = append(rows.Rows, append(row, reading(p.Value)))
		}
	}
	rows.Truncated = rows.RowCount > len(rows.Rows)
	return rows
}

// headed are the columns. A label that is called as one of ours gets another name.
func headed(labels []string) []string {
	columns := []string{"time"}
	for _, name := range labels {
		for name == "time" || name == "value" || slices.Contains(columns, name) {
			name = "label_" + name
		}
		columns = append(columns, name)
	}
	return append(columns, "value")
}

// reading is a value as a cell. A negative zero becomes zero, since nobody would read it as anything else.
func reading(v any) any {
	if f, ok := v.(float64); ok {
		return evidence.Cell(f + 0)
	}
	return evidence.Cell(v)
}
