package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A catalog is what the tools have told of the data.
type catalog struct {
	tables    []*table
	documents []string
	sources   []string
}

// A table is one of them; Inspected says whether more is known than its columns.
type table struct {
	source    string
	name      string
	rows      int64
	columns   []*column
	notes     []string
	inspected bool
}

// A column is one of a table. What its values are like is known once the table was inspected.
type column struct {
	table    *table
	name     string
	kind     string
	nulls    float64
	distinct int64
	min, max any
	common   []string
}

// readSources reads what list_sources says.
func readSources(text string) (catalog, error) {
	var in struct {
		Sources []struct {
			Name   string
			Tables []struct {
				Name    string
				Rows    int64
				Columns []string
			}
			Documents []string
		}
	}
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return catalog{}, fmt.Errorf("the list of sources cannot be read: %w", err)
	}
	var c catalog
	for _, s := range in.Sources {
		c.sources = append(c.sources, s.Name)
		c.documents = append(c.documents, s.Documents...)
		for _, t := range s.Tables {
			made := &table{source: s.Name, name: t.Name, rows: t.Rows}
			for _, col := range t.Columns {
				i := strings.LastIndex(col, " ")
				if j := strings.Index(col, " "); j > 0 && strings.Contains(col, "(") {
					i = j // DECIMAL(10, 2)
				}
				if i > 0 {
					made.columns = append(made.columns, &column{table: made, name: col[:i], kind: col[i+1:]})
				}
			}
			c.tables = append(c.tables, made)
		}
	}
	return c, nil
}

// inspect adds what inspect_table says of a table.
func (t *table) inspect(text string) error {
	var in struct {
		Rows    int64
		Columns []struct {
			Name, Type string
			NullShare  float64 `json:"null_share"`
			Distinct   int64
			Min, Max   any
			Common     []string
		}
		Notes []string
	}
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return fmt.Errorf("what was told of the table %s cannot be read: %w", t.name, err)
	}
	t.rows, t.notes, t.inspected, t.columns = in.Rows, in.Notes, true, nil
	for _, c := range in.Columns {
		t.columns = append(t.columns, &column{table: t, name: c.Name, kind: c.Type, nulls: c.NullShare, distinct: c.Distinct,
			min: c.Min, max: c.Max, common: c.Common})
	}
	return nil
}

// The types are those of DuckDB and of PostgreSQL, which spells some of them otherwise. A type with a space in its name
// arrives as its last word.
func (c *column) numeric() bool {
	kind, _, _ := strings.Cut(strings.ToUpper(c.kind), "(")
	return slices.Contains([]string{"BIGINT", "DOUBLE", "INTEGER", "HUGEINT", "DECIMAL", "NUMERIC", "REAL", "FLOAT", "SMALLINT", "TINYINT",
		"DOUBLE PRECISION", "PRECISION", "UBIGINT", "UINTEGER"}, kind)
}

// measure says whether a column holds amounts of something, and not the numbers of things.
func (c *column) measure() bool {
	ps := parts(c.name)
	return c.numeric() && (len(ps) == 0 || !idWords[ps[len(ps)-1]] && ps[0] != "year")
}

// date says whether the column can be split and narrowed by time.
func (c *column) date() bool {
	k := strings.ToUpper(c.kind)
	return strings.HasPrefix(k, "DATE") || strings.HasPrefix(k, "TIMESTAMP")
}

// text says whether values are compared without regard to case.
func (c *column) text() bool {
	k := strings.ToUpper(c.kind)
	return strings.HasPrefix(k, "VARCHAR") || strings.HasPrefix(k, "TEXT") || strings.HasPrefix(k, "CHAR") || k == "VARYING"
}

func (c *column) boolean() bool { return strings.HasPrefix(strings.ToUpper(c.kind), "BOOL") }

// additive says whether a sum of the column means something: amounts and quantities, not temperatures and prices.
func (c *column) additive() bool {
	ps := parts(c.name)
	return c.measure() && slices.ContainsFunc(ps, func(p string) bool {
		return additiveWords[stem(p)] && (len(ps) == 1 || !grainUnit(p)) // delivery_days are no days to add up
	})
}

// folds says whether values of the column differ only in case, so that grouping must not tell them apart.
func (c *column) folds() bool {
	for i, v := range c.common {
		for _, w := range c.common[:i] {
			if v != w && strings.EqualFold(v, w) {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.table.notes, func(n string) bool {
		return strings.Contains(n, c.name) && strings.Contains(n, "only in case")
	})
}

// last is the latest day of a column of dates.
func (c *column) last() (time.Time, bool) { return day(c.max) }

// day reads the day of a date or a time as the tools write it.
func day(v any) (time.Time, bool) {
	s, _ := v.(string)
	if len(s) < len(time.DateOnly) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.DateOnly, s[:len(time.DateOnly)])
	return t, err == nil
}

// key is the one column by which each row of t finds its row of other: both have it, and in other it never repeats.
func (t *table) key(other *table) *column {
	if t.source != other.source || t == other || !other.inspected {
		return nil
	}
	var found *column
	for _, c := range t.columns {
		i := slices.IndexFunc(other.columns, func(o *column) bool { return o.name == c.name })
		if i < 0 || c.kind != other.columns[i].kind || c.date() {
			continue
		}
		if o := other.columns[i]; o.distinct == other.rows && o.rows() > 0 && o.nulls == 0 {
			if found != nil {
				return nil
			}
			found = c
		}
	}
	return found
}

func (c *column) rows() int64 { return c.table.rows }

// rank orders the tables by how well their names and columns fit a question, the best first.
func (c catalog) rank(q question) []*table {
	points := map[*table]int{}
	for _, t := range c.tables {
		s := scope{q: q, table: t}
		for i := range q.words {
			if m := s.named(i); m != nil {
				points[t] += 4 - m.cost
			}
		}
	}
	out := slices.Clone(c.tables)
	slices.SortStableFunc(out, func(a, b *table) int { return points[b] - points[a] })
	return out
}

// list names a table's columns for a sentence.
func (t *table) list(most int) string {
	var names []string
	for i, c := range t.columns {
		if i == most {
			names = append(names, "…")
			break
		}
		names = append(names, "`"+c.name+"`")
	}
	return strings.Join(names, ", ")
}

// grainUnit says whether a word is a unit of the calendar.
func grainUnit(p string) bool { _, ok := grainWords[p]; return ok }
