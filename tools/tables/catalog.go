package tables

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// A Catalog is what a source holds. Its JSON is a public interface, in which no list is ever null.
type Catalog struct {
	Name      string     `json:"name"`
	Kind      string     `json:"kind"`
	Revision  string     `json:"revision"` // changes when any of the data does
	AsOf      time.Time  `json:"as_of"`
	Tables    []Table    `json:"tables"`
	Documents []Document `json:"documents"`
	Skipped   []Skip     `json:"skipped"`
}

// A Table is one table of a source.
type Table struct {
	Name    string   `json:"name"`
	File    string   `json:"file"`
	Rows    int64    `json:"rows"`
	Columns []Column `json:"columns"`
	Notes   []string `json:"notes"` // what was done to the data on its way in
}

// A Column is one column with what its values are like.
type Column struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	NullShare float64  `json:"null_share"`
	Distinct  int64    `json:"distinct"` // an estimate beyond a million rows
	Min       any      `json:"min"`
	Max       any      `json:"max"`
	Common    []string `json:"common"` // the most frequent values, where there are few

	spelling string // as the file has it; stays usable in quotes
}

// A Document is a text to search and to read.
type Document struct {
	Name  string `json:"name"`
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

// A Skip is a file that was not loaded, and why.
type Skip struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// Table finds a table by its name, whatever the case.
func (c Catalog) Table(name string) (Table, bool) {
	i := slices.IndexFunc(c.Tables, func(t Table) bool { return strings.EqualFold(t.Name, name) })
	if i < 0 {
		return Table{}, false
	}
	return c.Tables[i], true
}

// Line is the table's schema on one line, "name: column TYPE, …".
func (t Table) Line() string {
	cols := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		cols[i] = c.Name + " " + c.Type
	}
	return t.Name + ": " + strings.Join(cols, ", ")
}

// MarshalJSON writes the catalog with lists that are never null.
func (c Catalog) MarshalJSON() ([]byte, error) {
	type plain Catalog
	c.Tables, c.Documents, c.Skipped = list(c.Tables), list(c.Documents), list(c.Skipped)
	return json.Marshal(plain(c))
}

// MarshalJSON writes the table with lists that are never null.
func (t Table) MarshalJSON() ([]byte, error) {
	type plain Table
	t.Columns, t.Notes = list(t.Columns), list(t.Notes)
	return json.Marshal(plain(t))
}

// MarshalJSON writes the column with lists that are never null.
func (c Column) MarshalJSON() ([]byte, error) {
	type plain Column
	c.Common = list(c.Common)
	return json.Marshal(plain(c))
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
