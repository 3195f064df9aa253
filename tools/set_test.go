package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plumb/tools"
	"plumb/tools/tables"
	"plumb/tools/toolstest"
)

func open(t *testing.T, name string, files map[string]string) *tables.Files {
	t.Helper()
	dir := t.TempDir()
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := tables.Open(t.Context(), name, dir, tables.Options{Temp: t.TempDir(), MemoryMB: 256})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func shop(t *testing.T) *tables.Files {
	big := "n,label\n"
	for i := range 1500 {
		big += fmt.Sprintf("%d,row %d\n", i, i)
	}
	return open(t, "my-shop", map[string]string{
		"orders.csv": "id,customer,amount\n1,Ann,10.5\n2,Bob,20\n3,Ann,\n",
		"big.csv":    big,
		"goals.md":   "# Goals\nSave 500 a month\nRun\n",
		"log.txt":    strings.Repeat("nothing here\n", 5000) + "ERROR disk full\n",
		"x.pdf":      "%PDF",
	})
}

func ops(t *testing.T) *tables.Files {
	return open(t, "ops", map[string]string{"hosts.csv": "host,cpu\na,1\nb,2\n", "orders.csv": "id,n\n7,8\n"})
}

func call(t *testing.T, s *tools.Set, name, args string) tools.Result {
	t.Helper()
	r, err := s.Call(t.Context(), name, tools.Input{Args: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return r
}

func TestContract(t *testing.T) {
	s := tools.New([]tools.Source{shop(t), ops(t)})
	good := map[string][]string{
		"list_sources":  {`{}`},
		"inspect_table": {`{"table":"big"}`, `{"source":"ops","table":"orders","rows":0}`, `{"table":"hosts","rows":50}`, `{"table":"ops.orders"}`},
		"run_sql":       {`{"sql":"SELECT * FROM big ORDER BY n"}`, `{"source":"ops","sql":"SELECT 1 WHERE false"}`, `{"sql":"SELECT cpu FROM hosts ORDER BY cpu"}`, `{"sql":"SELECT 2"}`},
		"search_files":  {`{"pattern":"error"}`, `{"pattern":"zzz","source":"my-shop","max_hits":5}`},
		"read_file":     {`{"names":["goals.md"]}`, `{"names":["LOG.txt","goals.md"],"source":"MY-SHOP"}`},
	}
	bad := map[string][]string{
		"inspect_table": {`{"table":"none"}`, `{"table":"orders"}`, `{"table":"big","source":"none"}`, `{"table":"big","source":"ops"}`},
		"run_sql":       {`{"sql":"DROP TABLE big"}`, `{"sql":"SELECT nope FROM big"}`, `{"sql":"SELECT * FROM orders"}`, `{"sql":"SELECT 1","source":"none"}`, `{"sql":"SELECT * FROM big, hosts"}`},
		"search_files":  {`{"pattern":"("}`, `{"pattern":"x","source":"ops"}`, `{"pattern":"x","source":"none"}`},
		"read_file":     {`{"names":["none"]}`, `{"names":["goals.md","none"]}`},
	}
	for _, one := range s.Tools() {
		name := one.Spec().Name
		t.Run(name, func(t *testing.T) {
			toolstest.Run(t, toolstest.Case{Tool: one, Good: good[name], Bad: bad[name]})
		})
		delete(good, name)
	}
	if len(good) > 0 {
		t.Errorf("not offered: %v", good)
	}
}

func TestListSources(t *testing.T) {
	r := call(t, tools.New([]tools.Source{ops(t)}), "list_sources", `{}`)
	want := `{"sources":[{"name":"ops","kind":"files","tables":[{"name":"hosts","rows":2,"columns":["host VARCHAR","cpu BIGINT"]},` +
		`{"name":"orders","rows":1,"columns":["id BIGINT","n BIGINT"]}],"documents":[],"skipped":[]}]}`
	if diff := cmp.Diff(want, r.Text); diff != "" {
		t.Error(diff)
	}
	if r.Item.Output != r.Text || r.Item.Summary != "1 source, 2 tables, 0 documents" {
		t.Errorf("%+v", r.Item)
	}
}

func TestInspectTable(t *testing.T) {
	r := call(t, tools.New([]tools.Source{ops(t)}), "inspect_table", `{"table":"HOSTS","rows":1}`)
	want := `{"name":"hosts","file":"hosts.csv","rows":2,"columns":[` +
		`{"name":"host","type":"VARCHAR","null_share":0,"distinct":2,"min":"a","max":"b","common":["a","b"]},` +
		`{"name":"cpu","type":"BIGINT","null_share":0,"distinct":2,"min":1,"max":2,"common":["1","2"]}],` +
		`"notes":[],"sample":{"columns":["host","cpu"],"rows":[["a",1]]}}`
	if diff := cmp.Diff(want, r.Text); diff != "" {
		t.Error(diff)
	}
	if len(r.Item.Sources) != 1 || r.Item.Sources[0].Table != "hosts" || r.Item.Sources[0].Revision == "" || r.Item.Sources[0].AsOf.IsZero() {
		t.Errorf("%+v", r.Item.Sources)
	}
}

func TestRunSQL(t *testing.T) {
	s := tools.New([]tools.Source{shop(t)})
	for _, c := range []struct{ sql, text string }{
		{"SELECT customer, amount FROM orders ORDER BY id", "3 rows\ncustomer,amount\nAnn,10.5\nBob,20\nAnn,"},
		{"SELECT count(*) AS n FROM orders", "1 row\nn\n3"},
		{"SELECT id FROM orders WHERE customer = 'Zoe'", "no rows: nothing matched; a sum or count over it is 0, a minimum, maximum or average does not exist\nid"},
		{"SELECT sum(amount) AS s FROM orders WHERE id > 9", "1 row, without values: nothing matched; a sum or count over it is 0, a minimum, maximum or average does not exist\ns\n\"\""},
		{"SELECT 'a,\"b\"' AS x", "1 row\nx\n\"a,\"\"b\"\"\""},
	} {
		if diff := cmp.Diff(c.text, call(t, s, "run_sql", fmt.Sprintf(`{"sql":%q}`, c.sql)).Text); diff != "" {
			t.Errorf("%s\n%s", c.sql, diff)
		}
	}
}

// All rows up to 100, else the first 30 and the count; a cut result says so (L9).
func TestRunSQLShows(t *testing.T) {
	s := tools.New([]tools.Source{shop(t)})
	for _, c := range []struct {
		limit, lines, kept int
		first, last        string
	}{
		{100, 102, 100, "100 rows", "99"},
		{101, 33, 101, "101 rows", "(30 of 101 rows shown)"},
		{1200, 33, 1000, "1200 rows, cut to the first 1000", "(30 of 1200 rows shown)"},
	} {
		r := call(t, s, "run_sql", fmt.Sprintf(`{"sql":"SELECT n FROM big ORDER BY n LIMIT %d"}`, c.limit))
		lines := strings.Split(r.Text, "\n")
		if len(lines) != c.lines || lines[0] != c.first || lines[len(lines)-1] != c.last {
			t.Errorf("%d: %d lines, %q … %q", c.limit, len(lines), lines[0], lines[len(lines)-1])
		}
		if len(r.Item.Rows) != c.kept || r.Item.RowCount != c.limit || r.Item.Truncated != (c.kept < c.limit) {
			t.Errorf("%d: %d rows kept of %d", c.limit, len(r.Item.Rows), r.Item.RowCount)
		}
	}
	r := call(t, s, "run_sql", `{"sql":"SELECT n, repeat('x', 400) AS s FROM big LIMIT 90"}`)
	if n := len([]rune(r.Text)); n > 6000 || !strings.Contains(r.Text, " of 90 rows shown)") {
		t.Errorf("%d characters, ends %q", n, r.Text[len(r.Text)-40:])
	}
}

// A statement finds its source by its tables; one over two sources is told how to go on.
func TestChoice(t *testing.T) {
	s := tools.New([]tools.Source{shop(t), ops(t)})
	for sql, want := range map[string]string{
		"SELECT count(*) AS n FROM hosts":                    "1 row\nn\n2",
		"SELECT count(*) AS n FROM big":                      "1 row\nn\n1500",
		"SELECT count(*) FROM orders":                        "in more than one source (my-shop, ops); name the source",
		"SELECT count(*) FROM big, hosts":                    "One statement asks one source",
		"SELECT count(*) FROM hosts JOIN big ON big.n = cpu": "One statement asks one source",
		"SELECT count(*) FROM nowhere":                       "there is no table",
		"SELECT n FROM big WHERE x = 1":                      "big: n BIGINT, label VARCHAR",
		"DELETE FROM hosts":                                  "DELETE is not run here",
		"SELECT cpu FROM ops.hosts WHERE cpu > 1":            "1 row\ncpu\n2",
	} {
		if r := call(t, s, "run_sql", fmt.Sprintf(`{"sql":%q}`, sql)); !strings.Contains(r.Text, want) {
			t.Errorf("%s\n%s\nwithout %q", sql, r.Text, want)
		}
	}
	r := call(t, s, "run_sql", `{"sql":"SELECT * FROM hosts","source":"my-shop"}`)
	if !strings.Contains(r.Text, "the table hosts is in the source ops") {
		t.Error(r.Text)
	}
}

// What is wrong with a call is a result that helps, and reaches no tool (L5).
func TestArguments(t *testing.T) {
	s := tools.New([]tools.Source{shop(t)})
	for _, c := range []struct{ name, args, want string }{
		{"drop_table", `{}`, "the tools are: list_sources, inspect_table, run_sql, search_files, read_file"},
		{"run_sql", `{"sql":`, "no valid JSON"},
		{"run_sql", `{} {}`, "no valid JSON"},
		{"run_sql", `[]`, "object"},
		{"run_sql", ``, "sql"},
		{"run_sql", `{"query":"SELECT 1"}`, "query"},
		{"run_sql", `{"sql":5}`, "sql: got number, want string"},
		{"inspect_table", `{"table":"big","rows":51}`, "rows: maximum"},
		{"read_file", `{"names":"goals.md"}`, "names: got string, want array"},
		{"read_file", `{"names":["goal.md"]}`, "did you mean goals.md"},
		{"read_file", `{"names":["orders.csv"]}`, "is the table orders: use run_sql"},
	} {
		r := call(t, s, c.name, c.args)
		if !r.Failed || !strings.Contains(r.Text, c.want) || r.Item.Error != r.Text {
			t.Errorf("%s %s: %s\nwithout %q", c.name, c.args, r.Text, c.want)
		}
	}
}

func TestDocumentTools(t *testing.T) {
	s := tools.New([]tools.Source{shop(t)})
	if r := call(t, s, "search_files", `{"pattern":"error"}`); r.Text != "1 hit\nlog.txt:5001: ERROR disk full" {
		t.Error(r.Text)
	}
	if r := call(t, s, "search_files", `{"pattern":"Error"}`); r.Text != "no hits in 2 documents" {
		t.Error(r.Text)
	}
	if r := call(t, s, "search_files", `{"pattern":"nothing","max_hits":100}`); !strings.HasPrefix(r.Text, "the first 100 hits; there are more\n") || !r.Item.Truncated {
		t.Error(r.Text)
	}
	if r := call(t, s, "read_file", `{"names":["goals.md"]}`); r.Text != "== goals.md (my-shop)\n# Goals\nSave 500 a month\nRun" || r.Item.Output != r.Text {
		t.Error(r.Text)
	}
	if r := call(t, s, "read_file", `{"names":["log.txt"]}`); !strings.Contains(r.Text, "cut here") || !r.Item.Truncated || len(r.Text) > 12_300 {
		t.Error(len(r.Text))
	}
}

// Nothing is offered that has nothing to work on, and with no source nothing at all (L3).
func TestOffer(t *testing.T) {
	names := func(s *tools.Set) (all []string) {
		for _, spec := range s.Specs() {
			all = append(all, spec.Name)
		}
		return all
	}
	if got := names(tools.New(nil)); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if r := call(t, tools.New(nil), "run_sql", `{"sql":"SELECT 1"}`); !r.Failed || !strings.Contains(r.Text, "no source") {
		t.Error(r.Text)
	}
	if diff := cmp.Diff([]string{"list_sources", "inspect_table", "run_sql"}, names(tools.New([]tools.Source{ops(t)}))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"list_sources"}, names(tools.New([]tools.Source{open(t, "e", nil)}))); diff != "" {
		t.Error(diff)
	}
}

func TestPrompt(t *testing.T) {
	s := tools.New([]tools.Source{shop(t), ops(t), open(t, "void", nil)})
	want := `my-shop.big (1500 rows): n BIGINT, label VARCHAR
my-shop.orders (3 rows): id BIGINT, customer VARCHAR, amount DOUBLE
documents of my-shop: goals.md, log.txt
ops.hosts (2 rows): host VARCHAR, cpu BIGINT
ops.orders (1 rows): id BIGINT, n BIGINT
void: empty, nothing in it could be loaded
`
	if diff := cmp.Diff(want, s.Prompt()); diff != "" {
		t.Error(diff)
	}
	many := map[string]string{}
	for i := range 14 {
		many[fmt.Sprintf("t%02d.csv", i)] = "secret_column\n1\n"
	}
	if got := tools.New([]tools.Source{open(t, "many", many)}).Prompt(); strings.Contains(got, "secret_column") || !strings.Contains(got, "many.t13 (1 rows)\n") {
		t.Error(got)
	}
	if got := tools.New(nil).Prompt(); got != "" {
		t.Error(got)
	}
}

// However wide a table and however many there are, what the model reads has an end (L9).
func TestCaps(t *testing.T) {
	var header, row []string
	for i := range 300 {
		header, row = append(header, fmt.Sprintf("a_rather_long_column_name_%d", i)), append(row, strings.Repeat("v", 90))
	}
	files := map[string]string{"wide.csv": strings.Join(header, ",") + "\n" + strings.Join(row, ",") + "\n"}
	for i := range 150 {
		files[fmt.Sprintf("a_table_with_a_rather_long_name_%d.csv", i)] = "a,b\n1,2\n"
		files[fmt.Sprintf("a_file_that_cannot_be_read_%d.bin", i)] = "x"
	}
	s := tools.New([]tools.Source{open(t, "caps", files)})
	for name, args := range map[string]string{"list_sources": `{}`, "inspect_table": `{"table":"wide"}`} {
		r := call(t, s, name, args)
		if len(r.Text) > 6000 || !json.Valid([]byte(r.Text)) || len(r.Text) < 2000 {
			t.Errorf("%s: %d characters: %.200s", name, len(r.Text), r.Text)
		}
	}
}

func TestQueryAndRevision(t *testing.T) {
	f := ops(t)
	s := tools.New([]tools.Source{f})
	columns, rows, truncated, err := s.Query(t.Context(), "ops", "SELECT sum(cpu) AS c FROM hosts")
	if err != nil || truncated || !cmp.Equal(columns, []string{"c"}) || !cmp.Equal(rows, [][]any{{int64(3)}}) {
		t.Errorf("%v %v %v %v", columns, rows, truncated, err)
	}
	if _, _, _, err := s.Query(t.Context(), "ops", "DROP TABLE hosts"); err == nil {
		t.Error("checks may write")
	}
	if _, _, _, err := s.Query(t.Context(), "none", "SELECT 1"); err == nil {
		t.Error("a source that is none was asked")
	}
	if a, b := s.Revision(), tools.New([]tools.Source{f, shop(t)}).Revision(); a == "" || a == b || a != s.Revision() {
		t.Errorf("%s %s", a, b)
	}
}
