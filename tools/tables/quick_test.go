package tables

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A large file is read in one go, with what the long way finds: a value far down that is not of its column's type, a
// line that does not fit, an id (D2).
func TestQuick(t *testing.T) {
	good := "id,price,day,at,ok,zip,note\n"
	line := "%d,%d.5,2024-01-%02d,2024-01-02 03:04:05,true,0%04d,some words to make the line longer than it would be\n"
	var b strings.Builder
	b.WriteString(good)
	rows := int64(0)
	for b.Len() < quickSize+1000 {
		fmt.Fprintf(&b, line, rows, rows%100, rows%28+1, rows%10000)
		rows++
	}
	text := b.String()
	for _, c := range []struct{ name, last, schema, note string }{
		{"as it should be", "", "id BIGINT, price DOUBLE, day DATE, at TIMESTAMP, ok BOOLEAN, zip VARCHAR, note VARCHAR", "zip has leading zeros"},
		{"late text", "x,1,2024-01-01,2024-01-02 03:04:05,true,1,n\n", "id VARCHAR, price DOUBLE, day DATE, at TIMESTAMP, ok BOOLEAN, zip VARCHAR, note VARCHAR", `id mixes numbers with other text ("x")`},
		{"late zeros", "007,1,2024-01-01,2024-01-02 03:04:05,true,1,n\n", "id VARCHAR, price DOUBLE, day DATE, at TIMESTAMP, ok BOOLEAN, zip VARCHAR, note VARCHAR", `id has leading zeros ("007")`},
		{"late zeros in fractions", "1,007.5,2024-01-01,2024-01-02 03:04:05,true,1,n\n", "id BIGINT, price VARCHAR, day DATE, at TIMESTAMP, ok BOOLEAN, zip VARCHAR, note VARCHAR", `price has leading zeros ("007.5")`},
		{"late long number", "1,12345678901234567,2024-01-01,2024-01-02 03:04:05,true,1,n\n", "id BIGINT, price VARCHAR, day DATE, at TIMESTAMP, ok BOOLEAN, zip VARCHAR, note VARCHAR", "price has numbers of more than 15 digits"},
		{"late fraction", "1.5,1,2024-01-01,2024-01-02 03:04:05,true,1,n\n", "id DOUBLE, price DOUBLE, day DATE, at TIMESTAMP, ok BOOLEAN, zip VARCHAR, note VARCHAR", ""},
		{"late date", "1,1,2024-1-1,01/02/2024 03:04,yes,1,n\n", "id BIGINT, price DOUBLE, day VARCHAR, at VARCHAR, ok VARCHAR, zip VARCHAR, note VARCHAR", "ok mixes boolean values"},
		{"gaps and blanks", " 1 ,,,,,,\n", "id BIGINT, price DOUBLE, day DATE, at TIMESTAMP, ok BOOLEAN, zip VARCHAR, note VARCHAR", ""},
		{"short line", "1,2\n", "id BIGINT, price DOUBLE, day DATE, at TIMESTAMP, ok BOOLEAN, zip VARCHAR, note VARCHAR", "1 rows are shorter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := source(t, "s", folder(t, map[string]string{"a.csv": text + c.last}))
			if len(f.Catalog().Tables) != 1 {
				t.Fatalf("%+v", f.Catalog().Skipped)
			}
			table := f.Catalog().Tables[0]
			_, schema, _ := strings.Cut(table.Line(), ": ")
			if diff := cmp.Diff(c.schema, schema); diff != "" {
				t.Error(diff)
			}
			n := rows
			if c.last != "" {
				n++
			}
			if table.Rows != n {
				t.Errorf("%d rows, want %d", table.Rows, n)
			}
			if notes := strings.Join(table.Notes, "\n"); !strings.Contains(notes, c.note) {
				t.Errorf("the notes do not say %q: %s", c.note, notes)
			}
		})
	}
}
