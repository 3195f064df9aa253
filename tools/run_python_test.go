package tools_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plumb/evidence"
	"plumb/tools"
	"plumb/tools/python"
	"plumb/tools/toolstest"
)

// pool is an interpreter from where `make python` puts it.
func pool(t *testing.T) *python.Pool {
	t.Helper()
	file := python.File(os.Getenv)
	if !filepath.IsAbs(file) {
		file = filepath.Join("..", file)
	}
	cache := t.TempDir()
	if dir, err := os.UserCacheDir(); err == nil {
		cache = filepath.Join(dir, "plumb-python") // what was compiled is good for every test
	}
	p, err := python.Open(t.Context(), python.Options{File: file, Cache: cache, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if errors.Is(err, python.ErrNoInterpreter) {
		t.Skip("no Python interpreter here: `make python` fetches it")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func python3(code string, inputs ...string) string {
	b, err := json.Marshal(map[string]any{"code": code, "inputs": append([]string{}, inputs...)})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestRunPythonContract(t *testing.T) {
	toolstest.Run(t, toolstest.Case{
		Tool: tools.RunPython(pool(t), []tools.Source{shop(t), ops(t)}),
		Good: []string{
			python3("print('total', sum(r['amount'] or 0 for r in sql('SELECT amount FROM orders', 'my-shop')))"),
			python3("print('x' * 100000)"),
			python3("import random\nprint(random.random(), {'a', 'b', 'c'})"),
			python3("pass"),
		},
		Bad: []string{python3("1 / 0"), python3("sql('DROP TABLE orders', 'ops')"), python3("sql('SELECT 1 FROM nowhere')"), python3("pass", "e9"), python3("sql('SELECT n FROM orders', 'other')")},
	})
}

func TestRunPythonComputesOnEvidence(t *testing.T) {
	set := tools.New([]tools.Source{ops(t)}, tools.RunPython(pool(t), []tools.Source{shop(t), ops(t)}))
	from := evidence.Source{Source: "elsewhere", Table: "sales", Revision: "r1", Notes: []string{"a note"}}
	items := []evidence.Item{
		{ID: "e1", Columns: []string{"day", "n", "n"}, Rows: [][]any{{"2024-01-02", int64(3), 1.5}, {"2024-01-03", nil, 2.0}}, RowCount: 9, Truncated: true, Sources: []evidence.Source{from}},
		{ID: "e2", Output: "a document"},
		{ID: "e3", Error: "it failed"},
	}
	ask := func(args string) tools.Result {
		t.Helper()
		r, err := set.Call(t.Context(), "run_python", tools.Input{Args: json.RawMessage(args), Evidence: items})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := ask(python3("print(e1, e2)\nrows = sql('SELECT host, cpu FROM hosts ORDER BY cpu')\nprint('top', rows[-1])", "e1", "E2"))
	if r.Failed || r.Item.Output != "[{'day': '2024-01-02', 'n': 3, 'n_2': 1.5}, {'day': '2024-01-03', 'n': None, 'n_2': 2}] a document\ntop {'host': 'b', 'cpu': 2}\n" {
		t.Errorf("%q %q", r.Text, r.Item.Output)
	}
	if !strings.HasPrefix(r.Text, "printed 2 lines, asked 1 query\n[{") {
		t.Errorf("text %q", r.Text)
	}
	var got []string
	for _, s := range r.Item.Sources {
		if s.Source == "ops" && s.Revision == "" {
			t.Error("a source without a revision")
		}
		got = append(got, fmt.Sprint(s.Source, ".", s.Table, s.Notes))
	}
	want := []string{"elsewhere.sales[a note e1 has the first 2 of 9 rows]", "ops.hosts[sql() 1, 2 rows: SELECT host, cpu FROM hosts ORDER BY cpu]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sources: %s", diff)
	}
	if len(from.Notes) != 1 {
		t.Error("the notes of the evidence were changed")
	}
	for args, says := range map[string]string{
		python3("pass", "e3"): "the ids are: e1, e2",
		python3("print('so far')\nsql('SELECT id FROM orders')"):         "more than one source",
		python3("print('so far')\n{}['x']"):                              "Before that it printed:\nso far",
		python3("sql('SELECT customer FROM hosts')"):                     "SQLError",
		python3("sql(\"SELECT * FROM read_csv('/etc/passwd')\", 'ops')"): "SQLError",
	} {
		if r := ask(args); !r.Failed || !strings.Contains(r.Text, says) {
			t.Errorf("%s: %q, want %q", args, r.Text, says)
		}
	}
}

// A part of the rows is not taken for all of them, and secrets stay where they are, as in run_sql.
func TestRunPythonIsGuarded(t *testing.T) {
	p := pool(t)
	set := tools.New([]tools.Source{ops(t)}, tools.RunPython(p, []tools.Source{shop(t)}))
	r := call(t, set, "run_python", python3("print(len(sql('SELECT n FROM big')), sql('SELECT count(*) AS n FROM big'))"))
	if !strings.Contains(r.Text, "1000 [{'n': 1500}]") || !strings.Contains(r.Text, "only the first 1000 rows in call 1.") {
		t.Errorf("%q", r.Text)
	}
	secret := open(t, "keys", map[string]string{"keys.csv": "name,password\na,hunter2secret\n"})
	set = tools.New([]tools.Source{secret}, tools.RunPython(p, []tools.Source{secret}))
	if r := call(t, set, "run_python", python3("print(list(sql('SELECT * FROM keys')[0]['password']))")); r.Failed || strings.Contains(r.Text, "'h', 'u'") {
		t.Errorf("a secret came through: %q", r.Text)
	}
	set = tools.New([]tools.Source{secret}, tools.RunPython(p, nil))
	if r := call(t, set, "run_python", python3("sql('SELECT 1')")); !r.Failed || !strings.Contains(r.Text, "no tables") {
		t.Errorf("without sources: %q", r.Text)
	}
}
