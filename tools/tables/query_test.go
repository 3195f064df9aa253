package tables

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCells(t *testing.T) {
	f, _ := shop(t)
	for expr, want := range map[string]any{
		"1":                                    int64(1),
		"1.5":                                  1.5,
		"100::DECIMAL(9,0)":                    int64(100),
		"-0.05::DECIMAL(9,2)":                  -0.05,
		"123456789012345678.25::DECIMAL(30,2)": "123456789012345678.25",
		"9007199254740993":                     "9007199254740993",
		"9007199254740992":                     int64(9007199254740992),
		"170141183460469231731687303715884105727": "170141183460469231731687303715884105727",
		"sum(7::BIGINT)":                       int64(7),
		"'nan'::DOUBLE":                        "NaN",
		"NULL":                                 nil,
		"true":                                 true,
		"DATE '2024-02-29'":                    "2024-02-29",
		"TIMESTAMP '2024-02-29 13:14:15.5'":    "2024-02-29T13:14:15.5",
		"TIMESTAMPTZ '2024-02-29 13:14:15+02'": "2024-02-29T11:14:15Z",
		"TIME '08:09:10'":                      "08:09:10",
		"[1, 2]":                               "[1,2]",
		"{'a': 1, 'b': [true]}":                `{"a":1,"b":[true]}`,
		"MAP {'k': 1.5}":                       `{"k":1.5}`,
		"'ab'::BLOB":                           "6162",
		"INTERVAL 1 MONTH":                     "1 months",
		"'00000000-0000-0000-0000-00000000002a'::UUID": "00000000-0000-0000-0000-00000000002a",
		"3::UTINYINT": int64(3),
		"1.5::FLOAT":  1.5,
	} {
		rows, err := f.Query(t.Context(), "SELECT "+expr+" AS x")
		if err != nil {
			t.Errorf("%s: %v", expr, err)
		} else if diff := cmp.Diff([][]any{{want}}, rows.Rows); diff != "" {
			t.Errorf("%s (%v)\n%s", expr, rows.Types, diff)
		}
	}
}

func TestLimits(t *testing.T) {
	f, _ := shop(t)
	rows, err := f.Query(t.Context(), "SELECT n FROM range(52310) t(n) ORDER BY n DESC")
	if err != nil {
		t.Fatal(err)
	}
	if len(rows.Rows) != 1000 || rows.RowCount != 52310 || !rows.Truncated || rows.Rows[0][0] != int64(52309) || rows.Rows[999][0] != int64(51310) {
		t.Errorf("%d rows of %d, truncated %v, the first %v", len(rows.Rows), rows.RowCount, rows.Truncated, rows.Rows[0])
	}
	rows, err = f.Query(t.Context(), "SELECT n FROM range(1000) t(n)")
	if err != nil || len(rows.Rows) != 1000 || rows.Truncated {
		t.Errorf("%d rows, truncated %v, %v", len(rows.Rows), rows.Truncated, err)
	}
	rows, err = f.Query(t.Context(), "SELECT n, repeat('x', 10000 + n::INT * 0) AS s FROM range(900) t(n)")
	if err != nil || !rows.Truncated || rows.RowCount != 900 || len(rows.Rows) > 8<<20/10000 || len(rows.Rows) < 800 {
		t.Errorf("%d rows of %d, truncated %v, %v", len(rows.Rows), rows.RowCount, rows.Truncated, err)
	}
}

// An endless query ends within a tenth of a second of its context, with the context's cause (S10).
func TestCancel(t *testing.T) {
	f, _ := shop(t)
	over := errors.New("stopped by a person")
	for _, sql := range []string{
		"SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c WHERE a.range + b.range < c.range",
		"SELECT sum(len(s)) FROM (SELECT unnest(range(999999)) AS s1, unnest(range(999999)) AS s2), (SELECT repeat('x', 9999) AS s), range(1000000)",
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var ended time.Time
		timer := time.AfterFunc(150*time.Millisecond, func() { ended = time.Now(); cancel(over) })
		_, err := f.Query(ctx, sql)
		if timer.Stop() {
			t.Fatalf("the query ended by itself: %v", err)
		}
		if took := time.Since(ended); took > 100*time.Millisecond || !errors.Is(err, over) {
			t.Errorf("%v after the end: %v", took, err)
		}
	}
}

func TestConcurrent(t *testing.T) {
	f, dir := shop(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 10 {
				sql := `SELECT sum(amount) AS total FROM orders`
				if i%2 == 0 {
					sql = `SELECT "Order ID" FROM spelled`
				}
				if rows, err := f.Query(t.Context(), sql); err != nil || rows.RowCount == 0 {
					t.Errorf("%v %v", rows, err)
				}
				f.Catalog()
			}
		})
	}
	wg.Go(func() {
		for i := range 3 {
			write(t, dir, "orders.csv", "id,customer,amount\n1,Ann,10.5\n"+strings.Repeat("2,Bob,1\n", i+1))
			if changed, err := f.Refresh(t.Context()); err != nil || !changed {
				t.Errorf("changed %v, %v", changed, err)
			}
		}
	})
	wg.Wait()
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Error(err)
	}
}

// A change of the folder is a new revision with new rows; no change costs no load.
func TestRefresh(t *testing.T) {
	f, dir := shop(t)
	first := f.Catalog().Revision
	if changed, err := f.Refresh(t.Context()); changed || err != nil {
		t.Fatalf("changed %v, %v", changed, err)
	}
	old := f.now
	old.hold()
	write(t, dir, "orders.csv", "id\n1\n2\n3\n4\n")
	if changed, err := f.Refresh(t.Context()); !changed || err != nil {
		t.Fatalf("changed %v, %v", changed, err)
	}
	rows, err := f.Query(t.Context(), "SELECT count(*) FROM orders")
	if err != nil || rows.Rows[0][0] != int64(4) || rows.Revision == first || rows.Revision != f.Catalog().Revision {
		t.Errorf("%v %v", rows, err)
	}
	// The query that was under way still has its own.
	rows, err = old.query(t.Context(), "SELECT count(*) FROM orders")
	if err != nil || rows.Rows[0][0] != int64(3) || rows.Revision != first {
		t.Errorf("%v %v", rows, err)
	}
	old.release()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("%v", err)
	}
	if _, err := f.Query(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("what was loaded is gone with the folder: %v", err)
	}
	f.Close()
	if _, err := f.Query(t.Context(), "SELECT 1"); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}

// What does not fit into memory spills into the temporary folder, never beside the program, and goes with the source.
func TestSpill(t *testing.T) {
	temp := t.TempDir()
	f, err := Open(t.Context(), "x", folder(t, nil), Options{Temp: temp, MemoryMB: 64, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := f.Query(t.Context(), "SELECT count(*) FROM (SELECT n, md5(n::VARCHAR) AS h FROM range(3000000) t(n) ORDER BY h LIMIT 2900000)")
	if err != nil || rows.Rows[0][0] != int64(2900000) {
		t.Fatalf("%v %v", rows.Rows, err)
	}
	if _, err := os.Stat(".tmp"); err == nil {
		t.Error("it spilled beside the program")
	}
	f.Close()
	if left := tree(t, temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Opening a few small files is quick.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	for i := range 5 {
		text := "id,name,amount,day\n"
		for n := range 200 {
			text += fmt.Sprintf("%d,n%d,%.2f,2024-01-%02d\n", n, n%7, math.Sqrt(float64(n)), n%28+1)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("t%d.csv", i)), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		f, err := Open(b.Context(), "x", dir, Options{Temp: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}

func BenchmarkQuery(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte("a,b\n1,2\n3,4\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	f, err := Open(b.Context(), "x", dir, Options{Temp: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for b.Loop() {
		if _, err := f.Query(b.Context(), "SELECT sum(a) FROM t WHERE b > 1"); err != nil {
			b.Fatal(err)
		}
	}
}
