package tables

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// A column of text becomes something else only if every one of its values does. Trying all types on all values is slow,
// failing casts above all; so a few values say which type to try, all values say whether it holds, and what does not
// hold falls back to the next.
const (
	bigint    = "BIGINT"
	double    = "DOUBLE"
	date      = "DATE"
	timestamp = "TIMESTAMP"
	boolean   = "BOOLEAN"
	varchar   = "VARCHAR"
)

// fallback is what to try when a type does not hold.
var fallback = map[string]string{bigint: double, double: varchar, date: timestamp, timestamp: varchar, boolean: varchar}

var (
	isInt   = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,14})$`)
	isFloat = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	isDate  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	isTime  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}`)
	isZeros = regexp.MustCompile(`^[+-]?0[0-9]`)
	isLong  = regexp.MustCompile(`^[+-]?[0-9]{16,}$`)
)

// guess is the type that one value looks like. Dates only as ISO writes them: 03/04/2024 is never guessed.
func guess(value string) string {
	v := strings.TrimSpace(value)
	switch {
	case isZeros.MatchString(v) || isLong.MatchString(v):
		return varchar
	case isInt.MatchString(v):
		return bigint
	case isFloat.MatchString(v):
		return double
	case isDate.MatchString(v):
		return date
	case isTime.MatchString(v):
		return timestamp
	case strings.EqualFold(v, "true") || strings.EqualFold(v, "false"):
		return boolean
	}
	return varchar
}

// candidate is the type to try on a column of which these values were seen: the one that most of them look like, so
// that one odd value is found by the test of all and can be named.
func candidate(values []string) string {
	votes := map[string]int{}
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			votes[guess(v)]++
		}
	}
	best := varchar
	for _, t := range []string{bigint, double, date, timestamp, boolean} {
		if votes[t] > votes[best] {
			best = t
		}
	}
	if best == bigint && votes[double] > 0 {
		return double
	}
	return best
}

// fails is the condition under which a value is not of a type. What was cast is written out again and compared, which
// finds leading zeros, 1e5, 1_000, 0x1f and dates that are not ISO's at no cost.
func fails(kind, col string) string {
	v := "trim(" + col + ")"
	switch kind {
	case bigint:
		return fmt.Sprintf("TRY_CAST(%[1]s AS BIGINT)::VARCHAR IS DISTINCT FROM %[1]s OR length(%[1]s) > 15 AND abs(TRY_CAST(%[1]s AS HUGEINT)) >= 1000000000000000", v)
	case double:
		return fmt.Sprintf("NOT coalesce(isfinite(TRY_CAST(%[1]s AS DOUBLE)), false) OR contains(%[1]s, '_') OR "+
			"regexp_matches(%[1]s, '^[+-]?0[0-9]|^[+-]?[0-9]{16,}$')", v)
	case date:
		return fmt.Sprintf("TRY_CAST(%[1]s AS DATE)::VARCHAR IS DISTINCT FROM %[1]s", v)
	case timestamp:
		return fmt.Sprintf("TRY_CAST(%[1]s AS TIMESTAMP) IS NULL OR NOT regexp_matches(%[1]s, '^[0-9]{4}-[0-9]{2}-[0-9]{2}')", v)
	}
	return fmt.Sprintf("lower(%s) NOT IN ('true', 'false')", v)
}

// A typed column is one whose type was decided.
type typed struct {
	col   string // in the table of texts
	kind  string
	notes []string
}

// decide finds the types of the columns of a table of texts. first are the columns' values in its first rows.
func decide(ctx context.Context, c *duckdb.Conn, raw string, first map[string][]string, cols []string) ([]typed, error) {
	out := make([]typed, len(cols))
	var open []*typed
	for i, col := range cols {
		out[i] = typed{col: col, kind: candidate(first[col])}
		if len(first[col]) == 0 {
			// Nothing but gaps at the beginning: one value from further down says what to try.
			rows, err := ask(ctx, c, fmt.Sprintf("SELECT any_value(%s) FILTER (trim(%[1]s) <> '') FROM %s", col, raw))
			if err != nil {
				return nil, err
			}
			if v, ok := rows[0][0].(string); ok {
				out[i].kind = guess(v)
			}
		}
		open = append(open, &out[i])
	}
	for len(open) > 0 {
		var next []*typed
		failed, err := test(ctx, c, raw, open)
		if err != nil {
			return nil, err
		}
		for i, t := range open {
			if t.kind != varchar && failed[i] != "" {
				was := t.kind
				t.kind = fallback[t.kind]
				if t.kind == varchar {
					t.notes = append(t.notes, why(was, failed[i]))
				}
				next = append(next, t)
			} else if t.kind == varchar && len(t.notes) == 0 && failed[i] != "" {
				t.notes = append(t.notes, why(bigint, failed[i]))
			}
		}
		open = next
	}
	return out, nil
}

// test gives, for each column, one value that is not of its type, or nothing. Of a column of text it gives a value that
// looks like a number but is kept as text, for its note.
func test(ctx context.Context, c *duckdb.Conn, raw string, cols []*typed) ([]string, error) {
	parts := make([]string, len(cols))
	for i, t := range cols {
		if t.kind != varchar {
			parts[i] = fmt.Sprintf("any_value(%s) FILTER (trim(%[1]s) <> '' AND (%s))", t.col, fails(t.kind, t.col))
			continue
		}
		// Only a column that is digits throughout is a column of ids.
		parts[i] = fmt.Sprintf("CASE WHEN bool_and(regexp_full_match(%[1]s, '[0-9]+')) THEN any_value(%[1]s) FILTER (%[1]s[1] = '0' OR length(%[1]s) > 15) END", t.col)
	}
	rows, err := ask(ctx, c, "SELECT "+strings.Join(parts, ", ")+" FROM "+raw)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(cols))
	for i, v := range rows[0] {
		out[i], _ = v.(string)
	}
	return out, nil
}

// why is the note of a column that stays text though it does not look so.
func why(kind, value string) string {
	v := strings.TrimSpace(value)
	switch {
	case isZeros.MatchString(v):
		return fmt.Sprintf("has leading zeros (%q), so it is kept as text", excerpt(v))
	case isLong.MatchString(v):
		return fmt.Sprintf("has numbers of more than 15 digits (%q), so it is kept as text", excerpt(v))
	case kind == bigint || kind == double:
		return fmt.Sprintf("mixes numbers with other text (%q), so it is text; parse_num(x) reads the numbers", excerpt(v))
	}
	return fmt.Sprintf("mixes %s values with other text (%q), so it is text", strings.ToLower(kind), excerpt(v))
}

// cast turns a text into its type. Gaps become NULL, except in text.
func (t typed) cast() string {
	if t.kind == varchar {
		return t.col
	}
	return fmt.Sprintf("CAST(nullif(trim(%s), '') AS %s)", t.col, t.kind)
}

// strict is cast for values that need no care: any other ends the statement. It costs a third more than not looking at
// all, where fails and cast cost twice that.
func (t typed) strict() string {
	bad := ""
	switch t.kind {
	case bigint:
		bad = "CAST(CAST(%[1]s AS BIGINT) AS VARCHAR) <> %[1]s OR strlen(%[1]s) > 15"
	case double:
		bad = "NOT isfinite(CAST(%[1]s AS DOUBLE)) OR contains(%[1]s, '_') OR %[1]s LIKE '0_%%' AND %[1]s NOT LIKE '0.%%' OR " +
			"%[1]s LIKE '-0_%%' AND %[1]s NOT LIKE '-0.%%' OR strlen(%[1]s) > 15 AND NOT contains(%[1]s, '.')"
	case date:
		bad = "CAST(CAST(%[1]s AS DATE) AS VARCHAR) <> %[1]s"
	case timestamp:
		bad = "%[1]s[5] <> '-' OR %[1]s[8] <> '-'"
	case boolean:
		bad = "lower(%[1]s) NOT IN ('true', 'false')"
	default:
		return t.col
	}
	return fmt.Sprintf("CASE WHEN "+bad+" THEN error('not %[2]s') ELSE CAST(%[1]s AS %[2]s) END", t.col, t.kind)
}

// parseNum makes a number of one written for people: $1,200, (45), 12%, 1 200. What is none becomes NULL.
const parseNum = `CREATE MACRO parse_num(x) AS (
	TRY_CAST(regexp_replace(replace(replace(trim(x::VARCHAR), '(', '-'), ')', ''), '[$€£¥%,''\s  ]', '', 'g') AS DOUBLE)
	* CASE WHEN trim(x::VARCHAR) LIKE '%\%' ESCAPE '\' THEN 0.01 ELSE 1 END);`
