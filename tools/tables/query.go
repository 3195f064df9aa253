package tables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"
)

// The limits of one query [D3].
const (
	maxResult = 1000
	maxSize   = 8 << 20
	maxTime   = 15 * time.Second
	countTime = 3 * time.Second
	// grace is how long a query may take to notice that nobody waits for it any more.
	grace = 60 * time.Millisecond
)

// Rows is the result of a query.
type Rows struct {
	Columns   []string
	Types     []string
	Rows      [][]any // cells as evidence holds them
	RowCount  int     // all there are; with AtLeast, as many as were seen
	Truncated bool    // Rows holds fewer
	AtLeast   bool    // counting the others took too long
	Tables    []string
	Revision  string // of the data it was asked of
	AsOf      time.Time
	Notes     []string
}

// An Error is why a statement was not run or gave no result, in a sentence for whoever wrote it.
type Error struct {
	Kind    Kind
	Missing string // the table that does not exist, when that is why
	text    string
	err     error
}

// A Kind is a kind of [Error].
type Kind int

// The kinds: the statement is not allowed, it is wrong, or it took too long.
const (
	Refused Kind = iota + 1
	Mistaken
	TimedOut
)

func (e *Error) Error() string { return e.text }
func (e *Error) Unwrap() error { return e.err }

func refuse(format string, args ...any) error {
	return &Error{Kind: Refused, text: "refused: " + fmt.Sprintf(format, args...)}
}

// errTime is the cause of a query's end when its time is over.
var errTime = errors.New("the query's time is over")

// Query runs one statement that reads. What is wrong with the statement is an [*Error]; when ctx ends first, the error
// is its cause.
func (f *Files) Query(ctx context.Context, sql string) (Rows, error) {
	s, err := f.acquire()
	if err != nil {
		return Rows{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, errTime)
	type outcome struct {
		rows Rows
		err  error
	}
	done := make(chan outcome, 1)
	// While it plans, DuckDB hears no interruption. Such a query is left behind: it holds its snapshot until it ends, so
	// that closing still waits for it, but nobody else does.
	go func() {
		defer s.release()
		defer cancel()
		rows, err := s.query(ctx, sql)
		done <- outcome{rows, err}
	}()
	select {
	case o := <-done:
		return o.rows, ended(ctx, o.err)
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case o := <-done:
		return o.rows, ended(ctx, o.err)
	case <-late.C:
		return Rows{}, ended(ctx, context.Cause(ctx))
	}
}

// Reads says which tables a statement reads, and whether Query would take it at all, without running it.
func (f *Files) Reads(ctx context.Context, sql string) ([]string, error) {
	s, err := f.acquire()
	if err != nil {
		return nil, err
	}
	defer s.release()
	c, err := s.engine.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to DuckDB: %w", err)
	}
	defer c.Close()
	v, err := judge(ctx, c, sql, s.catalog)
	return v.tables, err
}

// ended makes the error of a query whose context is over that of the context, unless the statement itself is at fault.
func ended(ctx context.Context, err error) error {
	if _, own := errors.AsType[*Error](err); err == nil || own || ctx.Err() == nil {
		return err
	}
	cause := context.Cause(ctx)
	if !errors.Is(cause, errTime) {
		return cause
	}
	return &Error{Kind: TimedOut, err: err, text: fmt.Sprintf("the query took longer than %.0f s and was stopped; read less: "+
		"filter with WHERE, aggregate, or join on equal columns", maxTime.Seconds())}
}

// query runs a statement on a connection of its own.
func (s *snapshot) query(ctx context.Context, sql string) (Rows, error) {
	c, err := s.engine.connect(ctx)
	if err != nil {
		return Rows{}, fmt.Errorf("connect to DuckDB: %w", err)
	}
	defer c.Close()
	v, err := judge(ctx, c, sql, s.catalog)
	if err != nil {
		return Rows{}, err
	}
	if err := s.spell(ctx, c, v); err != nil {
		return Rows{}, err
	}
	rows, err := guarded(ctx, c, sql)
	if err != nil {
		return Rows{}, s.explain(err, v)
	}
	rows.Tables, rows.Revision, rows.AsOf = v.tables, s.catalog.Revision, s.catalog.AsOf
	for _, name := range v.tables {
		t, _ := s.catalog.Table(name)
		rows.Notes = append(rows.Notes, t.Notes...)
	}
	return rows, nil
}

// guarded runs a statement under the engine's own guards, whether or not it was judged.
func guarded(ctx context.Context, c *duckdb.Conn, sql string) (Rows, error) {
	if err := readOnly(ctx, c); err != nil {
		return Rows{}, err
	}
	defer exec(context.WithoutCancel(ctx), c, "ROLLBACK")
	stmt, err := prepare(c, sql)
	if err != nil {
		return Rows{}, err
	}
	out := Rows{Rows: [][]any{}}
	n, err := stmt.ColumnCount()
	for i := range n {
		name, nerr := stmt.ColumnName(i)
		out.Columns, err = append(out.Columns, name), errors.Join(err, nerr)
	}
	stmt.Close()
	if err != nil {
		return Rows{}, err
	}
	if err := out.fetch(ctx, c, sql); err != nil {
		return Rows{}, err
	}
	return out, nil
}

// fetch runs the statement inside another that ends after one row more than is kept: DuckDB would otherwise make the
// whole result before the first row is seen.
func (r *Rows) fetch(ctx context.Context, c *duckdb.Conn, sql string) error {
	inner, err := enclosed(ctx, c, sql)
	if err != nil {
		return err
	}
	stmt, err := prepare(c, fmt.Sprintf("SELECT * FROM (\n%s\n) LIMIT %d", inner, maxResult+1))
	if err != nil {
		return err
	}
	defer stmt.Close()
	rows, err := stmt.QueryContext(ctx, nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	if k, ok := rows.(interface{ ColumnTypeDatabaseTypeName(int) string }); ok {
		for i := range r.Columns {
			r.Types = append(r.Types, k.ColumnTypeDatabaseTypeName(i))
		}
	}
	r.Rows, err = cells(rows, maxResult+1, maxSize)
	if err != nil && !errors.Is(err, errSize) {
		return err
	}
	r.RowCount = len(r.Rows)
	if err == nil && r.RowCount <= maxResult {
		return nil
	}
	r.Rows, r.Truncated = r.Rows[:min(len(r.Rows), maxResult)], true
	return r.count(ctx, c, inner)
}

// count finds how many rows there are in all, if that can be had quickly.
func (r *Rows) count(ctx context.Context, c *duckdb.Conn, inner string) error {
	short, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	all, err := ask(short, c, "SELECT count(*) FROM (\n"+inner+"\n)")
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil {
		r.AtLeast = true
		return nil
	}
	n, _ := all[0][0].(int64)
	r.RowCount = max(int(n), r.RowCount)
	return nil
}

// enclosed is a statement as it can stand in parentheses: without its semicolon. Where that is not at the very end, the
// parser's own tree is written out again.
func enclosed(ctx context.Context, c *duckdb.Conn, sql string) (string, error) {
	inner := strings.TrimRight(sql, "; \t\r\n")
	if stmt, err := prepare(c, "SELECT * FROM (\n"+inner+"\n)"); err == nil {
		return inner, stmt.Close()
	}
	rows, err := ask(ctx, c, "SELECT json_deserialize_sql(json_serialize_sql(?::VARCHAR))", sql)
	if err != nil {
		return "", err
	}
	return str(rows[0][0]), nil
}

// spell makes the file's own spelling of columns usable on a connection: where a statement uses one, a view takes the
// place of its table and calls the column so. The statement runs as it was written.
func (s *snapshot) spell(ctx context.Context, c *duckdb.Conn, v verdict) error {
	for _, name := range v.tables {
		t, _ := s.catalog.Table(name)
		var parts []string
		respelled := false
		for _, col := range t.Columns {
			own := strings.ToLower(col.spelling)
			foreign := slices.ContainsFunc(t.Columns, func(o Column) bool { return o.Name == own })
			if own == "" || foreign || !v.words[own] {
				parts = append(parts, quote(col.Name))
				continue
			}
			respelled = true
			parts = append(parts, quote(col.Name)+" AS "+quote(col.spelling))
			if v.words[col.Name] {
				parts = append(parts, quote(col.Name))
			}
		}
		if !respelled {
			continue
		}
		err := exec(ctx, c, fmt.Sprintf("CREATE TEMP VIEW %s AS SELECT %s FROM memory.main.%[1]s", quote(t.Name), strings.Join(parts, ", ")))
		if err != nil {
			return fmt.Errorf("spell the columns of %s: %w", t.Name, err)
		}
	}
	return nil
}

// explain makes the engine's error a sentence; one about names brings the names [L11].
func (s *snapshot) explain(err error, v verdict) error {
	if errors.Is(err, errMany) {
		return &Error{Kind: Refused, text: "refused: " + errMany.Error(), err: err}
	}
	de, ok := errors.AsType[*duckdb.Error](err)
	if !ok || de.Type == duckdb.ErrorTypeInterrupt {
		return err
	}
	text := sentence(de.Msg)
	switch de.Type {
	case duckdb.ErrorTypeBinder, duckdb.ErrorTypeCatalog:
		text += schemaOf(s.catalog, v.tables)
	case duckdb.ErrorTypeConversion:
		text += "; TRY_CAST gives NULL where a value does not convert"
	case duckdb.ErrorTypeOutOfMemory:
		text = "the query needs more memory than it may have; aggregate or filter before joining and sorting"
	}
	return &Error{Kind: Mistaken, text: text, err: err}
}

// sentence is the telling part of an engine's message: what comes before the excerpt of the statement, on one line.
func sentence(msg string) string {
	var lines []string
	for line := range strings.Lines(msg) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "LINE ") {
			break
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return excerptN(strings.Join(lines, " "), 600)
}

// manyTables is the number of tables past which their names have to do.
const manyTables = 13

// schemaOf is the schema of some of the tables, or of all, a line each.
func schemaOf(cat Catalog, names []string) string {
	var lines []string
	for _, t := range cat.Tables {
		if len(names) > 0 && !slices.Contains(names, t.Name) {
			continue
		}
		line := t.Line()
		if len(names) == 0 && len(cat.Tables) > manyTables {
			line = t.Name
		}
		lines = append(lines, excerptN(line, 1000))
	}
	if len(lines) == 0 {
		return ". There are no tables here"
	}
	return ". Tables: " + strings.Join(lines, "; ")
}
