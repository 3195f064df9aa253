package command

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// printTable writes rows in columns. Line breaks in a cell would break the table, so they become spaces.
func printTable(w io.Writer, indent string, columns []string, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	line := func(cells []string) {
		clean := make([]string, len(cells))
		for i, c := range cells {
			clean[i] = strings.Join(strings.Fields(c), " ")
		}
		fmt.Fprintf(t, "%s%s\n", indent, strings.Join(clean, "\t"))
	}
	line(columns)
	for _, r := range rows {
		line(r)
	}
	_ = t.Flush()
}
