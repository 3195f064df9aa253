// Package postgres is the ledger in PostgreSQL, shared by any number of executors, directly or through PgBouncer in
// transaction mode: nothing here lives longer on a connection than a transaction.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"plumb/ledger"
	"plumb/ledger/internal/relational"
)

// connections is the most that one executor holds, unless the URL sets pool_max_conns. A run needs one for some
// milliseconds a step, so that a few serve many runs and many executors fit on one server.
const connections = 8

// Open opens the ledger in the database at url, and makes or brings up to date what is not there. Several executors
// may do so at once.
func Open(ctx context.Context, url string) (ledger.Ledger, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read ledger.url, which should be like postgres://user:password@host:5432/database: %w", err)
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = connections
	}
	if err := migrate(ctx, config.ConnConfig); err != nil {
		return nil, fmt.Errorf("prepare the ledger in database %s at %s; does it accept this user, and may the user make tables? %w",
			config.ConnConfig.Database, config.ConnConfig.Host, err)
	}
	if !strings.Contains(url, "default_query_exec_mode") {
		if config.ConnConfig.DefaultQueryExecMode, err = mode(ctx, config.ConnConfig); err != nil {
			return nil, fmt.Errorf("reach the ledger's database: %w", err)
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the ledger's connections: %w", err)
	}
	return relational.New(&database{pool: pool}), nil
}

// mode is how statements are sent. On a connection of its own a statement is prepared once and stays. A pooler like
// PgBouncer may run each transaction on another server process, where the statement is not known; then only its
// description is kept, here, and the server reads it anew. A pooler is recognised by the process that answers not being
// the one that greeted us.
func mode(ctx context.Context, config *pgx.ConnConfig) (pgx.QueryExecMode, error) {
	config = config.Copy()
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var process uint32
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&process); err != nil {
		return 0, err
	}
	if process == conn.PgConn().PID() {
		return pgx.QueryExecModeCacheStatement, nil
	}
	return pgx.QueryExecModeCacheDescribe, nil
}

// A database sends each batch in one piece. PostgreSQL runs what comes in one piece as one transaction and commits it
// unless a statement fails.
type database struct{ pool *pgxpool.Pool }

// Write runs a batch as one transaction.
func (d *database) Write(ctx context.Context, b relational.Batch) error {
	var batch pgx.Batch
	for _, s := range b {
		batch.Queue(dialect(s), s.Args...)
	}
	return read(d.pool.SendBatch(ctx, &batch), b)
}

// Read runs a batch that changes nothing.
func (d *database) Read(ctx context.Context, b relational.Batch) error { return d.Write(ctx, b) }

// Decide runs two batches as one transaction, in two pieces: begin travels with the first, commit with the second.
func (d *database) Decide(ctx context.Context, first relational.Batch, next func() (relational.Batch, error)) error {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // closes a connection that is still in a transaction
	begin := append(relational.Batch{{SQL: "BEGIN"}}, first...)
	err = send(ctx, conn, begin)
	if err == nil {
		var second relational.Batch
		if second, err = next(); err == nil {
			err = send(ctx, conn, append(second, relational.Statement{SQL: "COMMIT"}))
		}
	}
	if err != nil && !conn.Conn().IsClosed() {
		_, failed := conn.Exec(context.WithoutCancel(ctx), "ROLLBACK")
		return errors.Join(err, failed)
	}
	return err
}

func send(ctx context.Context, conn *pgxpool.Conn, b relational.Batch) error {
	var batch pgx.Batch
	for _, s := range b {
		batch.Queue(dialect(s), s.Args...)
	}
	return read(conn.SendBatch(ctx, &batch), b)
}

// read takes the results of a batch. After a failure the rest has not happened, and there is nothing to read.
func read(results pgx.BatchResults, b relational.Batch) error {
	for _, s := range b {
		if err := readOne(results, s); err != nil {
			// The error that closing gives is the same again.
			_ = results.Close()
			if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == unmet && s.Else != nil {
				return s.Else
			}
			return err
		}
	}
	return results.Close()
}

func readOne(results pgx.BatchResults, s relational.Statement) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() && s.Each != nil {
		if err := s.Each(rows); err != nil {
			return err
		}
	}
	rows.Close()
	return rows.Err()
}

// unmet is the SQLSTATE with which plumb_must fails.
const unmet = "PLUMB"

// dialect is a statement as PostgreSQL wants it. One that must give a row is wrapped so that the server itself fails
// if there is none: what follows in the batch is on its way already and would be committed otherwise.
func dialect(s relational.Statement) string {
	text := strings.NewReplacer(
		"{now}", "CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT)",
		"{for update}", "FOR UPDATE",
	).Replace(s.SQL)
	if s.Else == nil {
		return text
	}
	return "WITH met AS (" + text + ") SELECT met.* FROM (SELECT plumb_must(count(*)) FROM met) AS checked LEFT JOIN met ON TRUE"
}

// Ping says whether the server answers.
func (d *database) Ping(ctx context.Context) error { return d.pool.Ping(ctx) }

// Close gives the connections back.
func (d *database) Close() error {
	d.pool.Close()
	return nil
}
