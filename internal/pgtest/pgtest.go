// Package pgtest gives tests a real PostgreSQL: each test a database of its own, on the server that the environment
// names, or else on one that lives as long as the test binary.
package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A private server is started once for a test binary, by the first test that needs it, and stopped by Main.
var private struct {
	sync.Mutex
	address string
	close   func()
}

// Main runs the tests of a package and stops the server, if there was need of one. Call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	private.Lock()
	if private.close != nil {
		private.close()
	}
	os.Exit(code)
}

// Database makes an empty database and returns its URL. It is dropped at the end of the test.
func Database(t testing.TB) string {
	t.Helper()
	address, err := serve()
	if err != nil {
		t.Fatal(err)
	}
	name := "plumb_" + strings.ToLower(rand.Text())
	if err := administer(address, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := administer(address, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// serve finds the server to use. What a private one keeps need not survive a power cut.
func serve() (string, error) {
	if address := os.Getenv(Variable); address != "" {
		return address, nil
	}
	private.Lock()
	defer private.Unlock()
	if private.address != "" {
		return private.address, nil
	}
	dir, err := os.MkdirTemp("", "plumb-postgres-")
	if err != nil {
		return "", err
	}
	address, stop, err := Start(dir, "fsync=off")
	if err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	private.address = address
	private.close = func() {
		stop()
		os.RemoveAll(dir)
	}
	return address, nil
}

func administer(address, statement string) error {
	ctx := context.Background() // also after the test's own has ended
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return fmt.Errorf("reach the test server that %s names: %w", Variable, err)
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}
