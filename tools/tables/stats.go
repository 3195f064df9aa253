package tables

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// What the statistics of a table cost is bounded: distinct values are counted up to exactRows rows and estimated beyond,
// and common values are listed for columns of few values only.
const (
	exactRows  = 1_000_000
	fewValues  = 50
	commonSize = 5
	// atOnce is how many columns one scan counts; each holds its different values in memory meanwhile.
	atOnce = 40
)

// measure fills in a table's rows and what its columns are like, with few scans.
func measure(ctx context.Context, c *duckdb.Conn, t *Table) error {
	types, err := ask(ctx, c, "DESCRIBE "+quote(t.Name))
	if err != nil {
		return err
	}
	rows, err := ask(ctx, c, "SELECT count(*) FROM "+quote(t.Name))
	if err != nil {
		return err
	}
	t.Rows = rows[0][0].(int64)
	for i := range t.Columns {
		t.Columns[i].Type = types[i][1].(string)
	}
	for from := 0; from < len(t.Columns); from += atOnce {
		if err := describe(ctx, c, t, t.Columns[from:min(from+atOnce, len(t.Columns))]); err != nil {
			return err
		}
	}
	return common(ctx, c, t)
}

// describe fills in what some columns are like, in one scan.
func describe(ctx context.Context, c *duckdb.Conn, t *Table, columns []Column) error {
	distinct := "count(DISTINCT %s)"
	if t.Rows > exactRows {
		distinct = "approx_count_distinct(%s)"
	}
	var parts []string
	for _, col := range columns {
		name := quote(col.Name)
		low, high := "min("+name+")", "max("+name+")"
		switch {
		case col.Type == varchar:
			low, high = "left(min("+name+"), 100)", "left(max("+name+"), 100)"
		case nested(col.Type):
			low, high = "NULL", "NULL"
		}
		parts = append(parts, "count("+name+")", fmt.Sprintf(distinct, name), low, high)
	}
	got, err := read(ctx, c, "SELECT "+strings.Join(parts, ", ")+" FROM "+quote(t.Name))
	if err != nil {
		return err
	}
	for i := range columns {
		col, cells := &columns[i], got[0][4*i:4*i+4]
		filled, _ := cells[0].(int64)
		if t.Rows > 0 {
			col.NullShare = math.Round(1e6*float64(t.Rows-filled)/float64(t.Rows)) / 1e6
		}
		col.Distinct, _ = cells[1].(int64)
		col.Min, col.Max = cells[2], cells[3]
	}
	return nil
}

// common lists the most frequent values of the columns that have few.
func common(ctx context.Context, c *duckdb.Conn, t *Table) error {
	var parts []string
	for i, col := range t.Columns {
		if col.Distinct > 0 && col.Distinct <= fewValues && !nested(col.Type) {
			parts = append(parts, fmt.Sprintf("SELECT %[1]d AS i, left(v::VARCHAR, 100) AS v, n FROM (SELECT %[2]s AS v, count(*) AS n "+
				"FROM %[3]s WHERE %[2]s IS NOT NULL GROUP BY %[2]s ORDER BY n DESC, v LIMIT %[4]d)", i, quote(col.Name), quote(t.Name), commonSize))
		}
	}
	for some := range slices.Chunk(parts, atOnce) {
		rows, err := ask(ctx, c, "SELECT i, v FROM ("+strings.Join(some, " UNION ALL ")+") ORDER BY i, n DESC, v")
		if err != nil {
			return err
		}
		for _, r := range rows {
			col := &t.Columns[r[0].(int32)]
			col.Common = append(col.Common, r[1].(string))
		}
	}
	return nil
}

// nested says whether a type holds others, which have no order worth showing.
func nested(kind string) bool {
	return strings.HasSuffix(kind, "]") || strings.HasPrefix(kind, "STRUCT") || strings.HasPrefix(kind, "MAP") ||
		strings.HasPrefix(kind, "UNION") || kind == "JSON" || kind == "BLOB"
}

// read is ask with cells that JSON can hold.
func read(ctx context.Context, c *duckdb.Conn, sql string) ([][]any, error) {
	rows, err := c.QueryContext(ctx, sql, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return cells(rows, math.MaxInt, math.MaxInt)
}
