package command

import (
	"errors"
	"fmt"
	"strings"

	"plumb/access"
	"plumb/app"
	"plumb/chat"
	"plumb/evidence"
)

type sqlCmd struct {
	target
	Source string `help:"The source to query, where there are several." placeholder:"NAME"`
	JSON   bool   `name:"json" help:"Print one JSON document."`
	SQL    string `arg:"" name:"sql" help:"One SELECT statement."`
}

func (c *sqlCmd) Run(s *session) error {
	config, err := c.load(s)
	if err != nil {
		return err
	}
	rows, took, err := app.SQL(s.ctx, config, c.Source, c.SQL, s.quiet())
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.Out, map[string]any{"columns": list(rows.Columns), "rows": list(rows.Rows), "row_count": rows.RowCount, "truncated": rows.Truncated, "ms": took.Milliseconds()})
	}
	var cells [][]string
	for _, r := range rows.Rows {
		line := make([]string, len(r))
		for i, v := range r {
			line[i] = evidence.Text(v)
		}
		cells = append(cells, line)
	}
	printTable(s.Out, "", rows.Columns, cells)
	if rows.Truncated {
		fmt.Fprintf(s.Out, "(cut: %d of %d rows)\n", len(rows.Rows), rows.RowCount)
	}
	return nil
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

type sourcesCmd struct {
	target
	As   string `help:"What a place may see, such as slack:T1:C1." placeholder:"WHERE"`
	JSON bool   `name:"json" help:"Print one JSON document."`
}

func (c *sourcesCmd) Run(s *session) error {
	config, err := c.load(s)
	if err != nil {
		return err
	}
	may := func(string) bool { return true }
	if c.As != "" {
		where, _, _ := strings.Cut(c.As, "/")
		place, err := chat.ParsePlace(where)
		if err != nil {
			return usage{err}
		}
		grant, err := config.Grant(place)
		if _, refused := errors.AsType[*access.Refusal](err); refused {
			return err
		}
		may = grant.May
	}
	catalogs, err := app.Catalogs(s.ctx, config, may, s.quiet())
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.Out, map[string]any{"sources": catalogs})
	}
	for _, cat := range catalogs {
		fmt.Fprintf(s.Out, "%s (%s, as of %s)\n", cat.Name, cat.Kind, cat.AsOf.Local().Format("2006-01-02 15:04:05"))
		for _, t := range cat.Tables {
			fmt.Fprintf(s.Out, "  table     %s: %d rows, from %s\n", t.Name, t.Rows, t.File)
			for _, col := range t.Columns {
				fmt.Fprintf(s.Out, "              %s %s\n", col.Name, col.Type)
			}
			for _, n := range t.Notes {
				fmt.Fprintf(s.Out, "              note: %s\n", n)
			}
		}
		for _, d := range cat.Documents {
			fmt.Fprintf(s.Out, "  document  %s: %d bytes\n", d.Name, d.Bytes)
		}
		for _, k := range cat.Skipped {
			fmt.Fprintf(s.Out, "  skipped   %s: %s\n", k.File, k.Reason)
		}
		if len(cat.Tables)+len(cat.Documents) == 0 {
			fmt.Fprintln(s.Out, "  nothing to ask about")
		}
	}
	return nil
}
