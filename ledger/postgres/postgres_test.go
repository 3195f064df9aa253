package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"plumb/internal/pgtest"
	"plumb/ledger"
	"plumb/ledger/ledgertest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestLedger(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledger.Ledger { return open(t, pgtest.Database(t)) })
}

// Through PgBouncer statements are only described, not prepared; the parameter forces that.
func TestLedgerDescribed(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledger.Ledger {
		return open(t, pgtest.Database(t)+"&default_query_exec_mode=cache_describe")
	})
}

// Several executors may start at once on an empty database.
func TestOpenedAtOnce(t *testing.T) {
	url := pgtest.Database(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			l, err := Open(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// (S3) Even a program that does not ask first cannot start a second run in a conversation.
func TestOneRunUnderWay(t *testing.T) {
	url := pgtest.Database(t)
	open(t, url)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	insert := func(id, status string) error {
		_, err := conn.Exec(t.Context(), `INSERT INTO runs (id, conversation, question, budget, parent, status, due, started)
			VALUES ($1, 'c', '{}', '', '', $2, 0, 0)`, id, status)
		return err
	}
	if err := errors.Join(insert("over", "answered"), insert("first", "waiting")); err != nil {
		t.Fatal(err)
	}
	if insert("second", "running") == nil {
		t.Error("there are two runs under way")
	}
}

// A connection without a pooler is one on which prepared statements stay.
func TestMode(t *testing.T) {
	config, err := pgx.ParseConfig(pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	if m, err := mode(t.Context(), config); err != nil || m != pgx.QueryExecModeCacheStatement {
		t.Errorf("mode = %v, %v", m, err)
	}
}

func TestOpenHidesThePassword(t *testing.T) {
	for _, url := range []string{"postgres://plumb:hunter2@127.0.0.1:1/plumb?connect_timeout=1", "postgres://plumb:hunter2@127.0.0.1:port/plumb"} {
		_, err := Open(t.Context(), url)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open: %v", err)
		}
	}
}

func open(t *testing.T, url string) ledger.Ledger {
	t.Helper()
	l, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}
