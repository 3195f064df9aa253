package postgres

import (
	"testing"

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

func open(t *testing.T, url string) ledger.Ledger {
	t.Helper()
	l, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}
