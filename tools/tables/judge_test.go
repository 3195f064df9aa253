package tables

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shop opens a small source for statements.
func shop(t *testing.T) (*Files, string) {
	t.Helper()
	dir := folder(t, map[string]string{
		"orders.csv":  "id,customer,amount\n1,Ann,10.5\n2,Bob,20\n3,Ann,4.25\n",
		"words.csv":   "update,delete,drop,insert,Set,select\na,b,c,d,e,f\n",
		"spelled.csv": "Order ID,Größe (cm)\n1,170\n2,180\n",
		"notes.md":    "hello\n",
	})
	return source(t, "shop", dir), dir
}

func source(t *testing.T, name, dir string) *Files {
	t.Helper()
	f, err := Open(t.Context(), name, dir, Options{Temp: t.TempDir(), MemoryMB: 256, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// statements reads a file of them, one a line.
func statements(t *testing.T, file string, replace ...string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if i > 0 {
			all = append(all, strings.NewReplacer(replace...).Replace(line))
		}
	}
	if len(all) < 60 {
		t.Fatalf("%s has only %d statements", file, len(all))
	}
	return all
}

// Every hostile statement is refused, with a reason (D3).
func TestHostileRefused(t *testing.T) {
	f, dir := shop(t)
	for _, sql := range statements(t, "hostile.sql", "$IN", dir, "$OUT", t.TempDir()) {
		began := time.Now()
		_, err := f.Query(t.Context(), sql)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Error() == "" {
			t.Errorf("%s\nis not refused: %v", sql, err)
		}
		if e != nil && e.Kind == TimedOut || time.Since(began) > 2*time.Second {
			t.Errorf("%s\nwas run", sql)
		}
	}
}

// With the judge switched off the same statements do no harm: the engine refuses, or what it does leaves nothing (D3).
func TestHostileHarmless(t *testing.T) {
	f, dir := shop(t)
	out := t.TempDir()
	before := state(t, f)
	files := tree(t, dir)
	for _, sql := range statements(t, "hostile.sql", "$IN", dir, "$OUT", out) {
		if burns(sql) {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		c, err := f.now.engine.connect(ctx)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := guarded(ctx, c, sql)
		c.Close()
		cancel()
		if err == nil && strings.Contains(fmt.Sprint(rows.Rows), "root:") {
			t.Errorf("%s\nshows a file of the machine", sql)
		}
		if err == nil && reaches(sql) {
			t.Errorf("%s\nis run by the engine and gives %v", sql, rows.Rows)
		}
		if diff := cmp.Diff(before, state(t, f)); diff != "" {
			t.Fatalf("%s\nchanged the data:\n%s", sql, diff)
		}
		if diff := cmp.Diff(files, tree(t, dir)); diff != "" {
			t.Fatalf("%s\nchanged the folder:\n%s", sql, diff)
		}
		if left := tree(t, out); len(left) > 0 {
			t.Fatalf("%s\nwrote %v", sql, left)
		}
	}
}

// Each wall of the engine stands by itself (D3).
func TestWalls(t *testing.T) {
	f, dir := shop(t)
	c, err := f.now.engine.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, sql := range []string{"SET memory_limit = '99GB'", "SET enable_external_access = true", "FROM read_csv(" + literal(filepath.Join(dir, "orders.csv")) + ")",
		"COPY orders TO " + literal(filepath.Join(dir, "out.csv")), "ATTACH " + literal(filepath.Join(dir, "out.db")), "LOAD httpfs", "INSTALL httpfs"} {
		if err := exec(t.Context(), c, sql); err == nil {
			t.Errorf("the lock lets through: %s", sql)
		}
	}
	if _, err := prepare(c, "COMMIT"); !errors.Is(err, errMany) {
		t.Errorf("COMMIT: %v", err)
	}
	if _, err := prepare(c, "SELECT 1; SELECT 2"); !errors.Is(err, errMany) {
		t.Errorf("two statements: %v", err)
	}
	if err := readOnly(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := exec(t.Context(), c, "DELETE FROM orders"); err == nil {
		t.Error("the transaction lets a write through")
	}
}

// burns says of a statement that all it would do is cost time and memory, against which the judge is the only wall.
func burns(sql string) bool {
	for _, name := range []string{"repeat(", "lpad(", "range(1000", "generate_series(", "printf("} {
		if strings.Contains(sql, name) {
			return true
		}
	}
	return false
}

// reaches says of a statement that it must fail in the engine, because it would write or reach outside.
func reaches(sql string) bool {
	first, _, _ := strings.Cut(sql, " ")
	return first != "SELECT" && first != "SHOW" && first != "WITH" || strings.Contains(sql, "/etc/passwd") || strings.Contains(sql, "glob(") ||
		strings.Contains(sql, ".csv") || strings.Contains(sql, ";")
}

// state is what a hostile statement might change in the database.
func state(t *testing.T, f *Files) string {
	t.Helper()
	c, err := f.now.engine.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var all []string
	for _, sql := range []string{"FROM main.orders ORDER BY id", "FROM main.words",
		"SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL",
		"SELECT database_name FROM duckdb_databases() ORDER BY ALL", "SELECT schema_name FROM duckdb_schemas() ORDER BY ALL",
		"SELECT name, value FROM duckdb_settings() WHERE name NOT LIKE '%log%' AND name NOT LIKE '%profil%' ORDER BY ALL",
		"SELECT name FROM duckdb_secrets()",
		"SELECT parse_num('1,2')"} {
		rows, err := ask(t.Context(), c, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		all = append(all, fmt.Sprint(rows))
	}
	return strings.Join(all, "\n")
}

// tree lists a folder with sizes.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && path != dir {
			all = append(all, fmt.Sprint(path, info.Size(), info.ModTime()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What only looks dangerous runs (D3).
func TestHarmlessRuns(t *testing.T) {
	f, _ := shop(t)
	for _, sql := range statements(t, "harmless.sql") {
		rows, err := f.Query(t.Context(), sql)
		if err != nil {
			t.Errorf("%s\n%v", sql, err)
		} else if len(rows.Rows) == 0 && !strings.Contains(sql, "%insert%") && !strings.Contains(sql, "EXCEPT") || len(rows.Columns) == 0 {
			t.Errorf("%s\ngives %v", sql, rows)
		}
	}
}

func TestReasons(t *testing.T) {
	f, _ := shop(t)
	for sql, want := range map[string]string{
		"DROP TABLE orders":                   "DROP is not run here",
		"/* x */ insert into orders select 1": "INSERT is not run here",
		"SELECT 1; SELECT 2":                  "2 statements",
		"SELECT * FROM read_csv('x')":         "read_csv",
		"SELECT getenv('X')":                  "getenv",
		"SELECT ?":                            "placeholder",
		"SELEC 1":                             "syntax error",
		"":                                    "no statement",
		"-- nothing":                          "no statement",
		"FROM 'orders.csv'":                   "the file orders.csv is the table orders",
		"SELECT customr FROM orders":          "orders: id BIGINT, customer VARCHAR, amount DOUBLE",
		"SELECT * FROM order_lines":           "words: update VARCHAR",
		"SELECT o.x FROM orders o":            "Tables: orders:",
		"SELECT sum(customer) FROM orders":    "Tables: orders:",
		"SELECT 'x'::INT":                     "TRY_CAST",
		"PIVOT orders ON customer":            "FILTER",
	} {
		_, err := f.Query(t.Context(), sql)
		if e, ok := errors.AsType[*Error](err); !ok || !strings.Contains(e.Error(), want) {
			t.Errorf("%q: %v\nwithout %q", sql, err, want)
		}
	}
}

// The file's own spelling of a column is usable in quotes, alone and beside the name made of it.
func TestOwnSpelling(t *testing.T) {
	f, _ := shop(t)
	for sql, want := range map[string][]string{
		`SELECT "Order ID" FROM spelled`:                                        {"Order ID"},
		`SELECT order_id FROM spelled`:                                          {"order_id"},
		`SELECT * FROM spelled`:                                                 {"order_id", "größe_cm_"},
		`SELECT s."order id" + order_id AS n FROM spelled s`:                    {"n"},
		`SELECT "Größe (cm)" FROM spelled ORDER BY "Order ID"`:                  {"Größe (cm)"},
		`SELECT x."Order ID" FROM (SELECT "Order ID" FROM spelled) x`:           {"Order ID"},
		`SELECT count(*) AS n FROM spelled a JOIN spelled b USING ("Order ID")`: {"n"},
		`WITH s AS (SELECT * FROM spelled) SELECT "Order ID" AS o FROM s`:       {"o"},
		`SELECT "size", 'Order ID' AS x, * FROM (SELECT 1 AS size), spelled`:    {"size", "x", "size", "order_id", "größe_cm_"},
	} {
		rows, err := f.Query(t.Context(), sql)
		if err != nil {
			t.Errorf("%s\n%v", sql, err)
			continue
		}
		if diff := cmp.Diff(want, rows.Columns); diff != "" {
			t.Errorf("%s\n%s", sql, diff)
		}
		if diff := cmp.Diff([]string{"spelled"}, rows.Tables); diff != "" {
			t.Errorf("%s\n%s", sql, diff)
		}
	}
}
