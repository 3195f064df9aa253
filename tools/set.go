package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// A Set is the tools of one run over the sources that it may use. Making one costs next to nothing.
type Set struct {
	sources sources
	tools   []Tool

	told   sync.Once
	prompt string
}

// New makes the set of tools for these sources and adds more tools to it. A tool that has nothing to work on is not
// offered, and with no source none is [L3].
func New(given []Source, more ...Tool) *Set {
	s := &Set{}
	for _, src := range given {
		s.sources = append(s.sources, shielded{src})
	}
	if len(given) > 0 {
		s.tools = append(s.tools, listSources{s.sources})
	}
	if with := s.sources.with(hasTables); len(with) > 0 {
		s.tools = append(s.tools, inspectTable{with}, runSQL{with})
	}
	if with := s.sources.with(hasDocuments); len(with) > 0 {
		s.tools = append(s.tools, searchFiles{with}, readFile{with})
	}
	s.tools = append(s.tools, more...)
	return s
}

// Specs describes the tools on offer, always in the same order.
func (s *Set) Specs() []Spec {
	specs := make([]Spec, len(s.tools))
	for i, t := range s.tools {
		specs[i] = t.Spec()
	}
	return specs
}

// Call runs a tool by its name. Arguments that do not fit its schema never reach it [L5].
func (s *Set) Call(ctx context.Context, name string, in Input) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, context.Cause(ctx)
	}
	for _, t := range s.tools {
		spec := t.Spec()
		if spec.Name != name {
			continue
		}
		args, why := validate(spec, in.Args)
		if why != "" {
			return Fail(why), nil
		}
		in.Args = args
		r, err := t.Call(ctx, in)
		return clean(r), err
	}
	return Fail(s.unknown(name)), nil
}

func (s *Set) unknown(name string) string {
	if len(s.tools) == 0 {
		return fmt.Sprintf("there is no tool %q: this conversation has no source, so no tools", name)
	}
	names := make([]string, len(s.tools))
	for i, t := range s.tools {
		names[i] = t.Spec().Name
	}
	return fmt.Sprintf("there is no tool %q; the tools are: %s", name, strings.Join(names, ", "))
}

// Query runs a statement against a source with the guards that run_sql has, for checks of what run_sql gave.
func (s *Set) Query(ctx context.Context, source, sql string) (columns []string, rows [][]any, truncated bool, err error) {
	src, err := s.sources.called(source)
	if err != nil {
		return nil, nil, false, err
	}
	got, err := src.Query(ctx, sql)
	if err != nil {
		return nil, nil, false, err
	}
	return got.Columns, got.Rows, got.Truncated, nil
}

// Revision changes when the data of any source does [L16].
func (s *Set) Revision() string {
	h := sha256.New()
	for _, src := range s.sources {
		c := src.Catalog()
		fmt.Fprintf(h, "%q %q\n", c.Name, c.Revision)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// manyTables is the number of tables past which the prompt names them only [L2].
const manyTables = 13

// Prompt tells a model what there is to ask: one line a table, the names of the documents, and the team's notes [L2]. It
// stays as it was at the first call, for one run is one conversation.
func (s *Set) Prompt() string {
	s.told.Do(func() { s.prompt = s.schema() + s.sources.notes() })
	return s.prompt
}

func (s *Set) schema() string {
	var b strings.Builder
	count := 0
	for _, src := range s.sources {
		count += len(src.Catalog().Tables)
	}
	for _, src := range s.sources {
		c := src.Catalog()
		for _, t := range c.Tables {
			if count > manyTables {
				fmt.Fprintf(&b, "%s.%s (%d rows)\n", c.Name, t.Name, t.Rows)
				continue
			}
			_, cols, _ := strings.Cut(t.Line(), ": ")
			fmt.Fprintf(&b, "%s.%s (%d rows): %s\n", c.Name, t.Name, t.Rows, short(cols, 2000))
		}
		if len(c.Documents) > 0 {
			names := make([]string, len(c.Documents))
			for i, d := range c.Documents {
				names[i] = d.Name
			}
			fmt.Fprintf(&b, "documents of %s: %s\n", c.Name, short(strings.Join(names, ", "), 2000))
		}
		if len(c.Tables)+len(c.Documents) == 0 {
			fmt.Fprintf(&b, "%s: empty, nothing in it could be loaded\n", c.Name)
		}
	}
	for _, t := range s.tools {
		// A tool over sources that have no tables tells of them itself.
		if other, ok := t.(interface{ About() string }); ok {
			b.WriteString(other.About())
		}
	}
	if count > manyTables {
		b.WriteString("The columns of a table: inspect_table.\n")
	}
	return b.String()
}

// maxText is the most that a model is given of one result [L9].
const maxText = 6000

// short cuts a text, and shows that it did.
func short(s string, most int) string {
	if len(s) <= most {
		return s
	}
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// plural writes a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// compact writes a value as JSON without escaping what is only dangerous in web pages.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "{}"
	}
	return strings.TrimSpace(b.String())
}
