package postgres

import (
	"context"
	"embed"
	"errors"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrating is the key of the lock that lets one executor at a time change the tables.
const migrating = 0x706c756d62 // "plumb"

// migrate brings the tables up to date. The lock is a transaction's, which works through PgBouncer; it is held on a
// connection of its own while the migrations commit on another.
func migrate(ctx context.Context, config *pgx.ConnConfig) (err error) {
	config = config.Copy()
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // goose knows nothing of poolers
	db := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, db.Close()) }()
	lock, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Rollback()) }() // it has only locked
	if _, err := lock.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrating)); err != nil {
		return err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}
