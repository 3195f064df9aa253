package tools

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"plumb/evidence"
	"plumb/tools/documents"
	"plumb/tools/tables"
)

// A Source is tables that can be asked. [*tables.Files] is one.
type Source interface {
	Catalog() tables.Catalog
	// Query runs one statement that reads; what is wrong with the statement is a [*tables.Error].
	Query(ctx context.Context, sql string) (tables.Rows, error)
	// Reads says which tables a statement reads, and gives the error that Query would, without running it.
	Reads(ctx context.Context, sql string) ([]string, error)
}

// A Library is a source that holds documents besides.
type Library interface {
	Document(file string) (io.ReadCloser, error)
}

// sources are those that a run may use, in the order of the configuration.
type sources []Source

// names lists sources for a sentence.
func (ss sources) names() string {
	var all []string
	for _, s := range ss {
		all = append(all, s.Catalog().Name)
	}
	return strings.Join(all, ", ")
}

// called finds a source by its name.
func (ss sources) called(name string) (Source, error) {
	for _, s := range ss {
		if strings.EqualFold(s.Catalog().Name, name) {
			return s, nil
		}
	}
	return nil, fmt.Errorf("there is no source %q here; the sources are: %s", name, ss.names())
}

// with gives the sources of which something is true.
func (ss sources) with(is func(tables.Catalog) bool) sources {
	return slices.DeleteFunc(slices.Clone(ss), func(s Source) bool { return !is(s.Catalog()) })
}

func hasTables(c tables.Catalog) bool    { return len(c.Tables) > 0 }
func hasDocuments(c tables.Catalog) bool { return len(c.Documents) > 0 }

// holding finds the source of a table, which may be written source.table.
func (ss sources) holding(source, table string) (Source, tables.Table, error) {
	if before, after, ok := strings.Cut(table, "."); ok && (source == "" || strings.EqualFold(source, before)) {
		if _, err := ss.called(before); err == nil {
			source, table = before, after
		}
	}
	if source != "" {
		s, err := ss.called(source)
		if err != nil {
			return nil, tables.Table{}, err
		}
		ss = sources{s}
	}
	has := ss.with(func(c tables.Catalog) bool { _, ok := c.Table(table); return ok })
	switch len(has) {
	case 1:
		t, _ := has[0].Catalog().Table(table)
		return has[0], t, nil
	case 0:
		var all []string
		for _, s := range ss {
			for _, t := range s.Catalog().Tables {
				all = append(all, s.Catalog().Name+"."+t.Name)
			}
		}
		return nil, tables.Table{}, fmt.Errorf("there is no table %q; the tables are: %s", short(table, 100), short(strings.Join(all, ", "), 2000))
	}
	return nil, tables.Table{}, fmt.Errorf("the table %s is in more than one source (%s); name the source", table, has.names())
}

// documents lists the documents of one source, or of all.
func (ss sources) documents(source string) ([]documents.Document, error) {
	if source != "" {
		s, err := ss.called(source)
		if err != nil {
			return nil, err
		}
		ss = sources{s}
	}
	var all []documents.Document
	for _, s := range ss {
		lib, ok := s.(Library)
		if !ok {
			continue
		}
		cat := s.Catalog()
		for _, d := range cat.Documents {
			all = append(all, documents.Document{Source: cat.Name, Name: d.Name, File: d.File,
				Open: func() (io.ReadCloser, error) { return lib.Document(d.File) }})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there are no documents in %s", ss.names())
	}
	return all, nil
}

// origin is where an item's data came from: a source whole, or one of its tables.
func origin(c tables.Catalog, table string, notes []string) evidence.Source {
	return evidence.Source{Source: c.Name, Table: table, Revision: c.Revision, AsOf: c.AsOf, Notes: notes}
}

// origins are the sources of which documents were read.
func (ss sources) origins(used func(source string) bool) []evidence.Source {
	var out []evidence.Source
	for _, s := range ss {
		if c := s.Catalog(); used(c.Name) {
			out = append(out, origin(c, "", nil))
		}
	}
	return out
}
