// Package sqlite is the ledger in a SQLite file, for one process that is the whole product.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver named sqlite

	"plumb/ledger"
	"plumb/ledger/internal/relational"
)

//go:embed migrations/*.sql
var migrations embed.FS

// readers is how many may read while another writes.
const readers = 4

// tries is how often the tables are brought up to date before an error is one.
const tries = 3

// Open opens the ledger in the file at path, and makes or brings up to date what is not there. The file's folder is
// made too, for nobody else to read.
func Open(ctx context.Context, path string) (ledger.Ledger, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the ledger's file: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the ledger's folder: %w", err)
	}
	db := &database{turn: make(chan struct{}, 1), prepared: map[string]*sql.Stmt{}}
	if err := db.open(ctx, path); err != nil {
		return nil, errors.Join(fmt.Errorf("open the ledger in %s; is the file a ledger of this bot, and may it be written? %w", path, err),
			db.Close())
	}
	return relational.New(db), nil
}

// A database is one connection that writes and some that read. SQLite has one writer at a time whatever we do; with
// one connection for it nobody meets a locked database, and its statements stay prepared.
type database struct {
	writers, readers *sql.DB
	writer           *sql.Conn
	turn             chan struct{} // holds a token while somebody writes
	prepared         map[string]*sql.Stmt
	closing          sync.Once
}

// source is the driver's name for the file. In WAL mode a commit survives the death of the process even without
// FULL synchronisation, which only a power cut could tell from NORMAL; and what JetStream keeps beside us, the
// messages that have led here, is not synchronised at each write either. So FULL would cost a wait for the disk at
// every step of a run and buy nothing.
func source(path string, pragmas ...string) string {
	q := url.Values{"_pragma": append([]string{"busy_timeout(10000)", "journal_mode(wal)", "synchronous(normal)"}, pragmas...)}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

func (d *database) open(ctx context.Context, path string) (err error) {
	if d.writers, err = sql.Open("sqlite", source(path)+"&_txlock=immediate"); err != nil {
		return err
	}
	if err := migrate(ctx, d.writers); err != nil {
		return err
	}
	if d.writer, err = d.writers.Conn(ctx); err != nil {
		return err
	}
	if d.readers, err = sql.Open("sqlite", source(path, "query_only(true)")); err != nil {
		return err
	}
	d.readers.SetMaxOpenConns(readers)
	d.readers.SetMaxIdleConns(readers)
	return d.readers.PingContext(ctx)
}

func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	// Another process may make the tables between goose's look and its deed, which then fails and changes nothing. The
	// next look finds them made.
	for range tries {
		if _, err = p.Up(ctx); err == nil {
			break
		}
	}
	return err
}

// Write runs a batch as one transaction.
func (d *database) Write(ctx context.Context, b relational.Batch) error {
	return d.transact(ctx, func() error { return d.run(ctx, b) })
}

// Decide runs two batches as one transaction.
func (d *database) Decide(ctx context.Context, first relational.Batch, next func() (relational.Batch, error)) error {
	return d.transact(ctx, func() error {
		if err := d.run(ctx, first); err != nil {
			return err
		}
		second, err := next()
		if err != nil {
			return err
		}
		return d.run(ctx, second)
	})
}

// transact does something between begin and commit. Rolling back is done even if ctx has ended, as the connection
// must be clean for the next one.
func (d *database) transact(ctx context.Context, do func() error) error {
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err := d.exec(ctx, "BEGIN IMMEDIATE")
	if err == nil {
		err = do()
	}
	if err == nil {
		err = d.exec(ctx, "COMMIT")
	}
	if err != nil {
		// A begin or a commit that was cut short may have happened all the same, so there may be something to roll back
		// after the one and nothing after the other; the error of that is of no interest.
		_ = d.exec(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}

func (d *database) exec(ctx context.Context, text string) error {
	s, err := d.prepare(ctx, text)
	if err == nil {
		_, err = s.ExecContext(ctx)
	}
	return err
}

// run runs statements inside a transaction of the writer.
func (d *database) run(ctx context.Context, b relational.Batch) error {
	for _, s := range b {
		p, err := d.prepare(ctx, s.SQL)
		if err != nil {
			return err
		}
		if s.Each == nil && s.Else == nil {
			if _, err := p.ExecContext(ctx, s.Args...); err != nil {
				return err
			}
			continue
		}
		rows, err := p.QueryContext(ctx, s.Args...)
		if err != nil {
			return err
		}
		if err := read(rows, s); err != nil {
			return err
		}
	}
	return nil
}

// prepare keeps the writer's statements. There are only as many as the ledger has texts.
func (d *database) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if s := d.prepared[text]; s != nil {
		return s, nil
	}
	s, err := d.writer.PrepareContext(ctx, dialect(text))
	if err == nil {
		d.prepared[text] = s
	}
	return s, err
}

// dialect is SQL as SQLite wants it: whoever writes holds the whole database, so that no row needs keeping.
func dialect(text string) string {
	return strings.NewReplacer(
		"{now}", "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
		"{for update}", "",
	).Replace(text)
}

// read takes the rows of a statement.
func read(rows *sql.Rows, s relational.Statement) error {
	defer rows.Close()
	none := true
	for rows.Next() {
		none = false
		if s.Each != nil {
			if err := s.Each(rows); err != nil {
				return err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if none && s.Else != nil {
		return s.Else
	}
	return nil
}

// Read runs a batch on a connection that cannot write, all of it on the same state of the database.
func (d *database) Read(ctx context.Context, b relational.Batch) error {
	tx, err := d.readers.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // it has changed nothing
	for _, s := range b {
		rows, err := tx.QueryContext(ctx, dialect(s.SQL), s.Args...)
		if err != nil {
			return err
		}
		if err := read(rows, s); err != nil {
			return err
		}
	}
	return nil
}

// Ping says whether the file can be read.
func (d *database) Ping(ctx context.Context) error {
	var one int
	return d.readers.QueryRowContext(ctx, "SELECT 1 FROM conversations UNION SELECT 1").Scan(&one)
}

// Close closes the file, once nobody writes any more. Closing it again does nothing.
func (d *database) Close() error {
	var err error
	d.closing.Do(func() { err = d.close() })
	return err
}

func (d *database) close() error {
	d.turn <- struct{}{}
	defer func() { <-d.turn }() // who writes after this is told that the connection is closed
	var errs []error
	for _, s := range d.prepared {
		errs = append(errs, s.Close())
	}
	clear(d.prepared)
	if d.writer != nil {
		errs = append(errs, d.writer.Close())
	}
	if d.readers != nil {
		errs = append(errs, d.readers.Close())
	}
	if d.writers != nil {
		errs = append(errs, d.writers.Close())
	}
	return errors.Join(errs...)
}
