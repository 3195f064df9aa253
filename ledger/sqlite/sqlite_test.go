package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"plumb/chat"
	"plumb/ledger"
	"plumb/ledger/ledgertest"
)

func TestLedger(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledger.Ledger { return open(t, filepath.Join(t.TempDir(), "led?ger #1%20.db")) })
}

// The bot and a command beside it may open a new ledger at the same moment.
func TestOpenedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "ledger.db")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			l, err := Open(t.Context(), path)
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

// What was said before a restart is there after it.
func TestOpenedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	m := chat.Message{ID: "1", Text: "how many?", Conversation: chat.Conversation{Place: chat.Place{Platform: chat.CLI}, Thread: "t"}}
	start := func(ledger.Situation) ledger.Decision { return ledger.Decision{Kind: ledger.Start, Run: "r"} }
	l := open(t, path)
	if _, err := l.Receive(t.Context(), m, start); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := open(t, path).Receive(t.Context(), m, start)
	if err != nil || !r.Duplicate || r.Decision.Run != "r" {
		t.Errorf("after the restart: %+v, %v", r, err)
	}
}

// (S3) Even a program that does not ask first cannot start a second run in a conversation.
func TestOneRunUnderWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	open(t, path)
	db, err := sql.Open("sqlite", source(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	insert := func(id, status string) error {
		_, err := db.Exec(`INSERT INTO runs (id, conversation, question, budget, parent, status, due, started)
			VALUES (?, 'c', '{}', '', '', ?, 0, 0)`, id, status)
		return err
	}
	if err := errors.Join(insert("over", "answered"), insert("first", "waiting")); err != nil {
		t.Fatal(err)
	}
	if insert("second", "running") == nil {
		t.Error("there are two runs under way")
	}
}

func TestNotALedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("Open: %v", err)
	}
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
