package tables

import (
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/google/uuid"

	"plumb/evidence"
)

// cells reads rows as values that JSON holds, up to a number of rows and of bytes.
func cells(rows driver.Rows, most, size int) ([][]any, error) {
	kinds := make([]string, len(rows.Columns()))
	if k, ok := rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		for i := range kinds {
			kinds[i] = k.ColumnTypeDatabaseTypeName(i)
		}
	}
	out := [][]any{}
	values := make([]driver.Value, len(kinds))
	for len(out) < most {
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		row := make([]any, len(values))
		for i, v := range values {
			row[i] = cell(v, kinds[i])
			size -= 16
			if s, ok := row[i].(string); ok {
				size -= len(s)
			}
		}
		if size < 0 {
			return out, errSize
		}
		out = append(out, row)
	}
	return out, nil
}

// errSize says that rows were left out because those before them fill the space for results.
var errSize = errors.New("the result is too large")

// cell makes a value of DuckDB's one that evidence knows.
func cell(v any, kind string) any {
	switch x := v.(type) {
	case nil, bool, string, float64, int64, int32, uint64, float32:
		return evidence.Cell(x)
	case int8:
		return int64(x)
	case int16:
		return int64(x)
	case uint8:
		return int64(x)
	case uint16:
		return int64(x)
	case uint32:
		return int64(x)
	case *big.Int:
		if x.IsInt64() {
			return evidence.Cell(x.Int64())
		}
		return x.String()
	case duckdb.Decimal:
		return decimal(x)
	case time.Time:
		return moment(x, kind)
	case []byte:
		if kind == "UUID" && len(x) == 16 {
			return uuid.UUID(x).String()
		}
		return hex.EncodeToString(x)
	case duckdb.UUID:
		return uuid.UUID(x).String()
	case duckdb.Interval:
		return interval(x)
	}
	b, err := json.Marshal(plain(v))
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// plain turns nested values into what encoding/json writes as people expect it. Types inside are not known here, so a
// date inside a list is written as a time.
func plain(v any) any {
	switch x := v.(type) {
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = plain(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[k] = plain(e)
		}
		return out
	case duckdb.OrderedMap:
		out := map[string]any{}
		keys, values := x.Keys(), x.Values()
		for i, k := range keys {
			out[evidence.Text(cell(k, ""))] = plain(values[i])
		}
		return out
	case duckdb.Union:
		return plain(x.Value)
	}
	return cell(v, "")
}

// decimal is a number where one holds it exactly, else text.
func decimal(d duckdb.Decimal) any {
	text := d.Value.String()
	if d.Scale == 0 {
		return cell(d.Value, "")
	}
	sign, digits := "", text
	if strings.HasPrefix(text, "-") {
		sign, digits = "-", text[1:]
	}
	if n := int(d.Scale) + 1 - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	point := len(digits) - int(d.Scale)
	text = sign + digits[:point] + "." + digits[point:]
	if len(strings.TrimLeft(strings.TrimRight(digits, "0"), "0")) <= 15 {
		f, err := strconv.ParseFloat(text, 64)
		if err == nil {
			return f
		}
	}
	return text
}

// moment is a date or time as ISO 8601 writes it.
func moment(t time.Time, kind string) string {
	const clock = "15:04:05.999999"
	switch {
	case kind == "DATE":
		return t.Format(time.DateOnly)
	case kind == "TIME":
		return t.Format(clock)
	case strings.HasPrefix(kind, "TIME WITH") || kind == "TIMETZ":
		return t.Format(clock + "Z07:00")
	case kind == "TIMESTAMPTZ" || strings.Contains(kind, "WITH TIME ZONE"):
		return t.UTC().Format("2006-01-02T" + clock + "Z")
	}
	return t.Format("2006-01-02T" + clock + "")
}

// interval is a span of time as DuckDB writes it, without the parts that are nought.
func interval(i duckdb.Interval) string {
	var parts []string
	for _, p := range []struct {
		n    int64
		unit string
	}{{int64(i.Months / 12), "years"}, {int64(i.Months % 12), "months"}, {int64(i.Days), "days"}} {
		if p.n != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.unit))
		}
	}
	if i.Micros != 0 || len(parts) == 0 {
		parts = append(parts, (time.Duration(i.Micros) * time.Microsecond).String())
	}
	return strings.Join(parts, " ")
}
