package tables

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// An engine is one DuckDB in memory. It loads first; locked, it only reads.
type engine struct {
	db   *duckdb.Connector
	temp string // where it spills; its own, removed with it
}

// errMany is what the engine says to more than one statement, or to one that does not read.
var errMany = errors.New("only one statement that reads is run")

// start opens an engine that may still load. Spilled files go into a folder of its own under temp, made when it is
// needed: DuckDB would leave them in the working folder otherwise.
func start(ctx context.Context, opt Options) (*engine, error) {
	db, err := duckdb.NewConnector("", nil)
	if err != nil {
		return nil, fmt.Errorf("open DuckDB: %w", err)
	}
	e := &engine{db: db, temp: filepath.Join(opt.Temp, "duckdb-"+nonce())}
	memory, threads := opt.MemoryMB, opt.Threads
	if memory <= 0 {
		memory = 1024
	}
	if threads <= 0 {
		threads = min(runtime.NumCPU(), 4)
	}
	// The cache of outside files knows them by name, and here a name is a descriptor that is used again and again.
	err = e.exec(ctx, fmt.Sprintf(`SET memory_limit = '%dMB'; SET threads = %d; SET temp_directory = %s;
		SET enable_external_file_cache = false; SET autoinstall_known_extensions = false;
		SET autoload_known_extensions = false; SET allow_community_extensions = false; SET allow_persistent_secrets = false; SET TimeZone = 'UTC';
		%s`, memory, threads, literal(e.temp), parseNum))
	if err != nil {
		e.close()
		return nil, fmt.Errorf("set DuckDB up: %w", err)
	}
	return e, nil
}

// lock shuts the engine off from everything but what was loaded. It cannot be undone.
func (e *engine) lock(ctx context.Context) error {
	return e.exec(ctx, `SET enable_external_access = false; SET lock_configuration = true`)
}

func (e *engine) close() {
	e.db.Close()
	os.RemoveAll(e.temp)
}

// connect opens a connection. They are cheap, and one that is not used again carries nothing over.
func (e *engine) connect(ctx context.Context) (*duckdb.Conn, error) {
	c, err := e.db.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return c.(*duckdb.Conn), nil
}

// exec runs statements of ours on a connection of their own.
func (e *engine) exec(ctx context.Context, sql string) error {
	c, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return exec(ctx, c, sql)
}

func exec(ctx context.Context, c *duckdb.Conn, sql string) error {
	_, err := c.ExecContext(ctx, sql, nil)
	return err
}

// ask runs a statement of ours and gives all its rows.
func ask(ctx context.Context, c *duckdb.Conn, sql string, args ...any) ([][]driver.Value, error) {
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	rows, err := c.QueryContext(ctx, sql, named)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all [][]driver.Value
	for {
		row := make([]driver.Value, len(rows.Columns()))
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, row)
	}
}

// prepare is the wall under the judge: it takes one statement, and only of the kind that reads. Statements that would
// end the transaction, and so its promise not to write, are of other kinds.
func prepare(c *duckdb.Conn, sql string) (*duckdb.Stmt, error) {
	s, err := c.Prepare(sql)
	if err != nil {
		if strings.Contains(err.Error(), "multi-statement") {
			err = errMany
		}
		return nil, err
	}
	stmt := s.(*duckdb.Stmt)
	kind, err := stmt.StatementType()
	if err == nil && kind != duckdb.STATEMENT_TYPE_SELECT {
		err = errMany
	}
	if err != nil {
		stmt.Close()
		return nil, err
	}
	return stmt, nil
}

// readOnly makes whatever follows on a connection unable to write.
func readOnly(ctx context.Context, c *duckdb.Conn) error {
	return exec(ctx, c, "BEGIN TRANSACTION READ ONLY")
}
