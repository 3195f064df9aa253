package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"plumb/evidence"
)

var byRegion = evidence.Item{ID: "e1", Tool: "run_sql", SQL: "SELECT region, count(*) AS orders, sum(amount) AS revenue FROM orders GROUP BY region",
	Columns: []string{"region", "orders", "revenue"}, Rows: [][]any{{"EU", int64(1204), 81234.5}, {"US", int64(980), 60110.25}, {"Asia", int64(310), 20000.0}}, RowCount: 3,
	Sources: []evidence.Source{{Source: "shop", Table: "orders"}}}

var total = evidence.Item{ID: "e2", Tool: "run_sql", SQL: "SELECT count(*) AS n FROM orders", Columns: []string{"n"}, Rows: [][]any{{int64(12)}}, RowCount: 1,
	Sources: []evidence.Source{{Source: "shop", Table: "orders"}}}

var months = evidence.Item{ID: "e1", Columns: []string{"month", "orders"}, Rows: [][]any{{"2026-01-01", int64(55)}, {"2026-02-01", int64(50)}}, RowCount: 2}

func statuses(r Report) string {
	var out []string
	for _, f := range r.Figures {
		out = append(out, f.Text+"="+string(f.Status))
	}
	return strings.Join(out, " ")
}

func TestStatuses(t *testing.T) {
	for name, c := range map[string]struct {
		items  []evidence.Item
		asked  string
		answer string
		want   string
	}{
		"a single result":               {[]evidence.Item{total}, "", "There are **12** orders.", "12=verified"},
		"a wrong one":                   {[]evidence.Item{total}, "", "There are **13** orders.", "13=unsupported"},
		"cells by their labels":         {[]evidence.Item{byRegion}, "", "EU has 1,204 orders and $81,234.50, US 980.", "1,204=verified $81,234.50=verified 980=verified"},
		"at the precision shown":        {[]evidence.Item{byRegion}, "", "EU made 81.2k.", "81.2k=verified"},
		"beyond the precision":          {[]evidence.Item{byRegion}, "", "EU made 81.3k.", "81.3k=unsupported"},
		"a sum":                         {[]evidence.Item{byRegion}, "", "In all 2,494 orders.", "2,494=derived"},
		"a share":                       {[]evidence.Item{byRegion}, "", "EU has 48.3% of the orders.", "48.3%=derived"},
		"a wrong share":                 {[]evidence.Item{byRegion}, "", "EU has 58.3% of the orders.", "58.3%=unsupported"},
		"a difference":                  {[]evidence.Item{byRegion}, "", "EU is 224 orders ahead of US.", "224=derived"},
		"a count of rows":               {[]evidence.Item{byRegion}, "", "There are 3 regions.", "3=derived"},
		"no coincidence":                {[]evidence.Item{{ID: "e1", Columns: []string{"city", "visits"}, Rows: [][]any{{"Rome", int64(7)}, {"Oslo", int64(9)}}, RowCount: 2}}, "", "Seven teams had 7 outages.", "7=unsupported"},
		"what the asker said":           {[]evidence.Item{total}, "orders over 50?", "Of those over 50 there are 12.", "50=given 12=verified"},
		"nothing from a failed call":    {[]evidence.Item{{ID: "e1", Error: "no such table", Columns: []string{"n"}, Rows: [][]any{{int64(77)}}}}, "", "There are 77.", "77=unsupported"},
		"nothing from what is excluded": {[]evidence.Item{{ID: "e1", Excluded: true, Columns: []string{"n"}, Rows: [][]any{{int64(77)}}}}, "", "There are 77.", "77=unsupported"},
		"a document's number":           {[]evidence.Item{{ID: "e1", Tool: "read_file", Output: "The refund window is 45 days."}}, "", "The window is 45 days.", "45=verified"},
		"text cells that are numbers":   {[]evidence.Item{{ID: "e1", Columns: []string{"name", "amount"}, Rows: [][]any{{"Ada", "1,234.50"}}, RowCount: 1}}, "", "Ada paid 1,234.50.", "1,234.50=verified"},
		"a month by its number":         {[]evidence.Item{months}, "", "| 2026-02 | 50 |", "50=verified"},
		"a month by its name":           {[]evidence.Item{months}, "", "In February there were 50.", "50=verified"},
		"another month":                 {[]evidence.Item{months}, "", "In April there were 50.", "50=unsupported"},
		"a share as a fraction":         {[]evidence.Item{{ID: "e1", Columns: []string{"share"}, Rows: [][]any{{0.1764}}, RowCount: 1}}, "", "The share is 18 %.", "18 %=verified"},
	} {
		if got := statuses(Check(t.Context(), Input{Asked: []string{c.asked}, Answer: c.answer, Items: c.items})); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestDerivedFiguresKeepTheirExpression(t *testing.T) {
	r := Check(t.Context(), Input{Answer: "In all 2,494 orders.", Items: []evidence.Item{byRegion}})
	if f := r.Figures[0]; f.Expression != "sum(e1.orders)" || f.Evidence != "e1" {
		t.Errorf("%+v", f)
	}
}

// again is a replayer with a result that a test chooses.
type again struct {
	columns []string
	rows    [][]any
	err     error
	asked   int
}

func (a *again) Query(context.Context, string, string) ([]string, [][]any, bool, error) {
	a.asked++
	return a.columns, a.rows, false, a.err
}

func TestReplay(t *testing.T) {
	shuffled := [][]any{byRegion.Rows[2], {"US", int64(980), 60110.250000000001}, byRegion.Rows[0]}
	for name, c := range map[string]struct {
		change  func(*evidence.Item)
		replay  *again
		verdict evidence.Verdict
		asked   int
		said    string
	}{
		"the same":             {nil, &again{columns: byRegion.Columns, rows: shuffled}, evidence.AllVerified, 1, "1 query re-run, same result"},
		"another value":        {nil, &again{columns: byRegion.Columns, rows: [][]any{{"EU", int64(1205), 81234.5}, byRegion.Rows[1], byRegion.Rows[2]}}, evidence.Review, 1, "another result now"},
		"fewer rows":           {nil, &again{columns: byRegion.Columns, rows: byRegion.Rows[:2]}, evidence.Review, 1, "another result now"},
		"an order that counts": {func(it *evidence.Item) { it.SQL += " ORDER BY 2 DESC" }, &again{columns: byRegion.Columns, rows: shuffled}, evidence.Review, 1, "another result now"},
		"an error":             {nil, &again{err: errors.New("gone")}, evidence.Review, 1, "could not be run again"},
		"too slow":             {func(it *evidence.Item) { it.MS = 501 }, &again{}, evidence.Review, 0, "was not run again"},
		"cut":                  {func(it *evidence.Item) { it.Truncated, it.RowCount = true, 52310 }, &again{}, evidence.Review, 0, "cut at 3 of 52,310 rows"},
	} {
		it := byRegion
		if c.change != nil {
			c.change(&it)
		}
		r := Check(t.Context(), Input{Answer: "EU has 1,204 orders.", Items: []evidence.Item{it}, Replay: c.replay})
		if r.Verdict != c.verdict || c.replay.asked != c.asked || !strings.Contains(r.Line(), c.said) {
			t.Errorf("%s: %s, asked %d times, %q, %+v", name, r.Verdict, c.replay.asked, r.Line(), r.Findings)
		}
	}
}

func TestAChangedFigureSaysBothValues(t *testing.T) {
	now := &again{columns: []string{"n"}, rows: [][]any{{int64(14)}}}
	r := Check(t.Context(), Input{Answer: "There are 12 orders.", Items: []evidence.Item{total}, Replay: now})
	if r.Figures[0].Status != evidence.Changed || len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Detail, "was 12 and is 14") || r.Findings[0].Effect != evidence.Repair {
		t.Errorf("%+v %+v", r.Figures, r.Findings)
	}
}

func TestVerdicts(t *testing.T) {
	if r := Check(t.Context(), Input{Answer: "Hello."}); r.Verdict != evidence.Unchecked {
		t.Errorf("no figure, no evidence: %s", r.Verdict)
	}
	if r := Check(t.Context(), Input{Answer: "There are some.", Items: []evidence.Item{total}}); r.Verdict != evidence.AllVerified {
		t.Errorf("no figure, but evidence: %s", r.Verdict)
	}
	if r := Check(t.Context(), Input{Answer: "There are 13."}); r.Verdict != evidence.Review || len(r.Findings) != 1 {
		t.Errorf("a figure out of nowhere: %s, %+v", r.Verdict, r.Findings)
	}
}

func TestUnknownTables(t *testing.T) {
	for answer, want := range map[string]int{
		"From the table `orders`.": 0, "From the `shop.orders` table.": 0, "From the table `invoices`.": 1, "The `refunds` table, the table `refunds`.": 1,
		"The table `customers` would tell.": 0, "The column `invoices` is text.": 0,
	} {
		r := Check(t.Context(), Input{Asked: []string{"and customers?"}, Answer: answer, Items: []evidence.Item{total}})
		n := 0
		for _, f := range r.Findings {
			if f.Check == "unknown_table" && f.Effect == evidence.Info {
				n++
			}
		}
		if n != want || r.Verdict != evidence.AllVerified {
			t.Errorf("%q: %d findings, want %d; %s", answer, n, want, r.Verdict)
		}
	}
}

// Whatever comes, checking ends soon and says what it left out.
func TestBounds(t *testing.T) {
	big := evidence.Item{ID: "e1", Columns: []string{"name", "value"}, RowCount: 20_000}
	for i := range 20_000 {
		big.Rows = append(big.Rows, []any{fmt.Sprint("n", i), float64(i) * 1.37})
	}
	big.Rows[5] = []any{"nan", math.NaN()}
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "Item %c has %d.%d units.\n", 'a'+i%26, i*7919, i%10)
	}
	began := time.Now()
	r := Check(t.Context(), Input{Answer: b.String(), Items: []evidence.Item{big}})
	if took := time.Since(began); took > 20*time.Second || len(r.NotChecked) == 0 || r.Verdict != evidence.Review {
		t.Errorf("it took %s, %v", took, r.NotChecked)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("EU has 1,204 orders, 48.3 %", "EU", 1204.0)
	f.Fuzz(func(t *testing.T, answer, label string, v float64) {
		Check(t.Context(), Input{Asked: []string{label}, Answer: answer, Items: []evidence.Item{{ID: "e1", Columns: []string{label, "v"}, Rows: [][]any{{label, v}, {answer, -v}}, RowCount: 2}}})
	})
}

// Thirty figures over a thousand rows.
func BenchmarkCheck(b *testing.B) {
	it := evidence.Item{ID: "e1", Columns: []string{"name", "value", "other"}, RowCount: 1000}
	for i := range 1000 {
		it.Rows = append(it.Rows, []any{fmt.Sprintf("name%d", i), float64(i)*13.7 + 0.5, int64(i * 3)})
	}
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "name%d has %.1f.\n", i*31, float64(i*31)*13.7+0.5)
	}
	for b.Loop() {
		Check(b.Context(), Input{Answer: text.String(), Items: []evidence.Item{it}})
	}
}
