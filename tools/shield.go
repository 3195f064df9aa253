package tools

import (
	"context"
	"errors"
	"io"
	"slices"

	"plumb/tools/redact"
	"plumb/tools/tables"
)

// shielded is a source that gives no secrets away (D10): whatever reads from it, reads it redacted.
type shielded struct{ Source }

// Query gives the rows without their secrets, and says so.
func (s shielded) Query(ctx context.Context, sql string) (tables.Rows, error) {
	got, err := s.Source.Query(ctx, sql)
	if err != nil {
		return got, err
	}
	rows, found := redact.Rows(got.Columns, got.Rows)
	if found {
		got.Rows, got.Notes = rows, append(slices.Clone(got.Notes), "secrets were redacted")
	}
	return got, nil
}

// Catalog says nothing of the values of a column that is named as a secret, and leaves the team's notes out.
func (s shielded) Catalog() tables.Catalog {
	c := s.Source.Catalog()
	c.Documents = withoutNotes(c.Documents)
	secret := func(c tables.Column) bool { return redact.Named(c.Name) }
	if !slices.ContainsFunc(c.Tables, func(t tables.Table) bool { return slices.ContainsFunc(t.Columns, secret) }) {
		return c
	}
	c.Tables = slices.Clone(c.Tables)
	for i, t := range c.Tables {
		c.Tables[i].Columns = slices.Clone(t.Columns)
		for j, col := range t.Columns {
			if secret(col) {
				c.Tables[i].Columns[j].Min, c.Tables[i].Columns[j].Max, c.Tables[i].Columns[j].Common = nil, nil, nil
			}
		}
	}
	return c
}

// Document opens a document of a source that has some.
func (s shielded) Document(file string) (io.ReadCloser, error) {
	lib, ok := s.Source.(Library)
	if !ok {
		return nil, errors.New("this source has no documents")
	}
	return lib.Document(file)
}

// clean takes the secrets out of what a tool says in words.
func clean(r Result) Result {
	r.Text, r.Item.Output, r.Item.Error, r.Item.Summary = redact.Text(r.Text), redact.Text(r.Item.Output), redact.Text(r.Item.Error), redact.Text(r.Item.Summary)
	return r
}
