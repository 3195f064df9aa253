package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite"

	"plumb/bench/harness"
	"plumb/tools"
	"plumb/tools/tables"
)

// The commits that a durable run cannot do without: it begins, four steps are kept, it ends with its post.
const floorSchema = `CREATE TABLE %[1]sruns (id TEXT PRIMARY KEY, status TEXT NOT NULL);
CREATE TABLE %[1]ssteps (run TEXT NOT NULL, n INT NOT NULL, result TEXT NOT NULL, PRIMARY KEY (run, n));
CREATE TABLE %[1]soutbox (run TEXT PRIMARY KEY, body TEXT NOT NULL);`

var serial atomic.Int64

func postgresCommits(ctx context.Context, url string) (harness.Figure, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return harness.Figure{}, err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, "DROP TABLE IF EXISTS floor_runs, floor_steps, floor_outbox; "+fmt.Sprintf(floorSchema, "floor_")); err != nil {
		return harness.Figure{}, err
	}
	return harness.Measure("bare commits, PostgreSQL", 1500, 8, 50, func(ctx context.Context) error {
		run := fmt.Sprint("r", serial.Add(1))
		if _, err := pool.Exec(ctx, "INSERT INTO floor_runs VALUES ($1, 'running')", run); err != nil {
			return err
		}
		for n := range harness.Rounds {
			var b pgx.Batch
			b.Queue("INSERT INTO floor_steps VALUES ($1, $2, $3)", run, n, harness.Table)
			b.Queue("UPDATE floor_runs SET status = $2 WHERE id = $1", run, fmt.Sprint("step ", n))
			if err := pool.SendBatch(ctx, &b).Close(); err != nil {
				return err
			}
		}
		var b pgx.Batch
		b.Queue("UPDATE floor_runs SET status = 'done' WHERE id = $1", run)
		b.Queue("INSERT INTO floor_outbox VALUES ($1, $2)", run, harness.Answer)
		return pool.SendBatch(ctx, &b).Close()
	})
}

func sqliteCommits(ctx context.Context, _ string) (harness.Figure, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return harness.Figure{}, err
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "floor.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_txlock=immediate")
	if err != nil {
		return harness.Figure{}, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, fmt.Sprintf(floorSchema, "")); err != nil {
		return harness.Figure{}, err
	}
	return harness.Measure("bare commits, SQLite", 1500, 8, 50, func(ctx context.Context) error {
		run := fmt.Sprint("r", serial.Add(1))
		if _, err := db.ExecContext(ctx, "INSERT INTO runs VALUES (?, 'running')", run); err != nil {
			return err
		}
		for n := range harness.Rounds {
			if _, err := db.ExecContext(ctx, "INSERT INTO steps VALUES (?, ?, ?)", run, n, harness.Table); err != nil {
				return err
			}
		}
		_, err := db.ExecContext(ctx, "INSERT INTO outbox VALUES (?, ?)", run, harness.Answer)
		return err
	})
}

// sqlOverhead asks the same of DuckDB directly and through run_sql.
func sqlOverhead(ctx context.Context) error {
	const n = 1_000_000
	fmt.Printf("run_sql beside DuckDB asked directly: %d rows\n", n)
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	file := filepath.Join(dir, "orders.csv")
	for _, s := range []string{"SET threads = 2", fmt.Sprintf("COPY (SELECT i AS id, ['EU','US','APAC'][1 + i %% 3] AS region, (i * 7919 %% 100000) / 100.0 AS amount, DATE '2026-01-01' + (i %% 330)::INT AS placed FROM range(%d) t(i)) TO '%s' (HEADER)", n, file),
		"CREATE TABLE orders AS SELECT * FROM read_csv('" + file + "')"} {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	files, err := tables.Open(ctx, "bench", dir, tables.Options{Temp: dir, Threads: 2})
	if err != nil {
		return err
	}
	defer files.Close()
	set := tools.New([]tools.Source{files})
	for _, q := range []string{
		"SELECT region, count(*) AS n, sum(amount) AS total FROM orders GROUP BY region ORDER BY region",
		"SELECT date_trunc('month', placed) AS month, avg(amount) AS mean FROM orders GROUP BY 1 ORDER BY 1",
		"SELECT region, median(amount) AS mid FROM orders WHERE placed >= DATE '2026-06-01' GROUP BY region ORDER BY region",
		"SELECT id % 5000 AS customer, sum(amount) AS total FROM orders GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
	} {
		direct, err := middle(15, func() error { return drain(ctx, db, q) })
		if err != nil {
			return err
		}
		ours, err := middle(15, func() error {
			r, err := set.Call(ctx, "run_sql", tools.Input{Args: []byte(fmt.Sprintf(`{"sql":%q}`, q))})
			if err == nil && r.Failed {
				err = fmt.Errorf("%s", r.Text)
			}
			return err
		})
		if err != nil {
			return err
		}
		fmt.Printf("  direct %6.1f ms, run_sql %6.1f ms: %.2f x  %s\n", ms(direct), ms(ours), ours.Seconds()/direct.Seconds(), q[:44])
	}
	return nil
}

func drain(ctx context.Context, db *sql.DB, q string) error {
	rows, err := db.QueryContext(ctx, q)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	cells := make([]any, len(columns))
	for i := range cells {
		cells[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return err
		}
	}
	return rows.Err()
}

// middle is the median of n times.
func middle(n int, f func() error) (time.Duration, error) {
	var took []time.Duration
	for range n {
		began := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[n/2], nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// ask times a question at the terminal, the whole process, beside a process that does nothing.
func ask(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bot := filepath.Join(dir, "bot")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", bot, "./cmd/bot").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	run := func(args ...string) func() error {
		return func() error {
			out, err := exec.CommandContext(ctx, bot, args...).CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
			}
			return nil
		}
	}
	nothing, err := middle(9, run("--help"))
	if err != nil {
		return err
	}
	whole, err := middle(9, run("ask", "-dir", "examples/shop", "-model", "offline", "how many orders per region?"))
	if err != nil {
		return err
	}
	fmt.Printf("A question at the terminal, from start to answer: %.0f ms (the program alone: %.0f ms)\n", ms(whole), ms(nothing))
	return nil
}
