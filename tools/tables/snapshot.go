package tables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// A snapshot is a folder as it was when it was loaded. It is held by the source while it is the newest, and by each
// query; who lets it go last closes it.
type snapshot struct {
	catalog Catalog
	engine  *engine
	holders atomic.Int64
	closed  func()
}

func (s *snapshot) hold() { s.holders.Add(1) }

func (s *snapshot) release() {
	if s.holders.Add(-1) == 0 {
		s.engine.close()
		s.closed()
	}
}

// load makes a snapshot of a listing. A file that cannot be loaded is skipped with its reason; only a failure of ours is
// an error.
func load(ctx context.Context, name string, root *os.Root, found listing, opt Options) (*snapshot, error) {
	s := &snapshot{catalog: Catalog{Name: name, Kind: "files", Revision: found.revision,
		AsOf: time.Now().UTC().Truncate(time.Second), Skipped: found.skipped}}
	s.holders.Store(1)
	var err error
	if s.engine, err = start(ctx, opt); err != nil {
		return nil, err
	}
	if err = s.fill(ctx, root, found, opt); err == nil {
		err = s.engine.lock(ctx)
	}
	if err != nil {
		s.engine.close()
		return nil, err
	}
	return s, nil
}

// loaders is how many files are loaded side by side. A large one has DuckDB's own threads besides.
const loaders = 4

// fill loads the files. Names are given beforehand and results put in order after, so that the same folder gives the
// same catalog whoever was first.
func (s *snapshot) fill(ctx context.Context, root *os.Root, found listing, opt Options) error {
	type result struct {
		table Table
		err   error
	}
	given, results := names{}, make([]result, len(found.files))
	var g errgroup.Group
	next := make(chan int, len(found.files))
	tableNames := make([]string, len(found.files))
	for i, f := range found.files {
		if f.kind != "text" {
			tableNames[i] = given.give(stem(f.file), "table")
			next <- i
		}
	}
	close(next)
	for range min(loaders, len(next)) {
		g.Go(func() error {
			c, err := s.engine.connect(ctx)
			if err != nil {
				return err
			}
			defer c.Close()
			l := &loader{root: root, conn: c, temp: opt.Temp}
			for i := range next {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				results[i].table, results[i].err = l.load(ctx, found.files[i], tableNames[i])
			}
			return nil
		})
	}
	if err := errors.Join(g.Wait(), context.Cause(ctx)); err != nil {
		return err
	}
	for i, f := range found.files {
		switch err := results[i].err; {
		case f.kind == "text":
			s.document(root, f)
		case err != nil:
			opt.Log.DebugContext(ctx, "file skipped", "source", s.catalog.Name, "file", f.file, "err", err)
			s.catalog.Skipped = append(s.catalog.Skipped, Skip{File: f.file, Reason: err.Error()})
		default:
			s.catalog.Tables = append(s.catalog.Tables, results[i].table)
		}
	}
	s.name()
	slices.SortFunc(s.catalog.Skipped, func(a, b Skip) int { return strings.Compare(a.File, b.File) })
	return s.qualify(ctx)
}

// document lists a text without reading it, besides a look whether it is one.
func (s *snapshot) document(root *os.Root, f found) {
	skip := func(why string) {
		s.catalog.Skipped = append(s.catalog.Skipped, Skip{File: f.file, Reason: why})
	}
	in, err := open(root, f.file)
	if err != nil {
		skip(reason(err))
		return
	}
	defer in.Close()
	sample, _, err := head(in, f.gzip)
	switch {
	case err != nil:
		skip(reason(err))
	case bytes.IndexByte(sample, 0) >= 0:
		skip("it is not text")
	default:
		s.catalog.Documents = append(s.catalog.Documents, Document{File: f.file, Bytes: f.size})
	}
}

// name calls each document by its file's name, and those that share one by their paths.
func (s *snapshot) name() {
	bases := map[string]int{}
	for _, d := range s.catalog.Documents {
		bases[path.Base(d.File)]++
	}
	for i := range s.catalog.Documents {
		d := &s.catalog.Documents[i]
		if d.Name = path.Base(d.File); bases[d.Name] > 1 {
			d.Name = d.File
		}
	}
}

// qualify makes the tables known under the source's name too, because the model is told source.table.
func (s *snapshot) qualify(ctx context.Context) error {
	if slices.Contains([]string{"main", "memory", "temp", "system", "information_schema", "pg_catalog"}, strings.ToLower(s.catalog.Name)) {
		return nil
	}
	var sql strings.Builder
	fmt.Fprintf(&sql, "CREATE SCHEMA %s;", quote(s.catalog.Name))
	for _, t := range s.catalog.Tables {
		fmt.Fprintf(&sql, "CREATE VIEW %s.%s AS FROM main.%[2]s;", quote(s.catalog.Name), quote(t.Name))
	}
	return s.engine.exec(ctx, sql.String())
}
