package sqlite

import (
	"path/filepath"
	"testing"

	"plumb/ledger"
	"plumb/ledger/ledgertest"
)

func TestLedger(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledger.Ledger { return open(t, filepath.Join(t.TempDir(), "led?ger #1%20.db")) })
}

func open(t *testing.T, path string) ledger.Ledger {
	t.Helper()
	l, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}
