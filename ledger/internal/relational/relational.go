// Package relational is the ledger over a relational database: all that its two databases have in common, which is
// nearly everything. Each operation is a [Batch] of statements that runs as one transaction, so that a database at the
// other end of a network is asked once and commits once. The folders sqlite and postgres only know how to run a batch.
//
// SQL is written once, in the words that both databases understand. Two places where they differ are spelled out in
// braces and filled in by the database: {now} is its clock in milliseconds, {for update} keeps the rows that a SELECT
// meets from changing until the transaction ends.
//
// Locks are always taken in one order, conversation, run, inbox, so that no two operations can wait for each other.
// Whatever starts or ends a run, or adds a message to it, holds the conversation's row; that is why an ending can be
// sure that nothing unheard slips in beside it. Work on a run in between only locks the run.
package relational

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"plumb/ledger"
)

// A Database runs statements.
type Database interface {
	// Write runs a batch as one transaction.
	Write(ctx context.Context, b Batch) error
	// Decide runs a batch and what next makes of its results as one transaction. An error of next undoes it.
	Decide(ctx context.Context, first Batch, next func() (Batch, error)) error
	// Read runs a batch that changes nothing.
	Read(ctx context.Context, b Batch) error
	Ping(ctx context.Context) error
	Close() error
}

// A Row is one row of a statement's result.
type Row interface{ Scan(dest ...any) error }

// A Statement is a piece of SQL with its arguments, $1, $2 and so on.
type Statement struct {
	SQL  string
	Args []any
	// Each is called for each row of the result. In PostgreSQL the batch may be committed by then, so that an error
	// of Each undoes nothing.
	Each func(Row) error
	// Else, if not nil, is the error of the whole batch, which then changes nothing, if the statement gives no row.
	Else error
}

// A Batch is statements in order.
type Batch []Statement

func (b *Batch) exec(sql string, args ...any) { *b = append(*b, Statement{SQL: sql, Args: args}) }

func (b *Batch) query(each func(Row) error, sql string, args ...any) {
	*b = append(*b, Statement{SQL: sql, Args: args, Each: each})
}

func (b *Batch) must(otherwise error, sql string, args ...any) {
	*b = append(*b, Statement{SQL: sql, Args: args, Else: otherwise})
}

// Ledger is a [ledger.Ledger] over a database.
type Ledger struct{ db Database }

var _ ledger.Ledger = (*Ledger)(nil)

// New is the ledger over a database whose tables are there.
func New(db Database) *Ledger { return &Ledger{db: db} }

// Ping says whether the database answers.
func (l *Ledger) Ping(ctx context.Context) error { return l.db.Ping(ctx) }

// Close gives the connections back.
func (l *Ledger) Close() error { return l.db.Close() }

// marshal is the JSON of a value that always has one.
func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("%T has no JSON: %v", v, err)) // unreachable: what may hold foreign JSON is made safe before
	}
	return string(b)
}

func unmarshal(text string, v any) error { return json.Unmarshal([]byte(text), v) }

// into makes Each of a statement whose one column is JSON.
func into(v any) func(Row) error {
	return func(r Row) error {
		var text string
		if err := r.Scan(&text); err != nil {
			return err
		}
		return unmarshal(text, v)
	}
}

// at is a time as the database keeps it.
func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
