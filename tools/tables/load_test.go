package tables

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

func zip(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func utf16le(text string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// Messy files are normal (D2). Each is one file; want is schema, rows, the first row, and words that its notes must hold.
func TestMessy(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		schema, row      string
		rows             int64
		notes            []string
	}{
		{"plain", "a.csv", "id,name\n1,x\n2,y\n", "id BIGINT, name VARCHAR", `[1,"x"]`, 2, nil},
		{"no last line end", "a.csv", "id,name\n1,x\n2,y", "id BIGINT, name VARCHAR", `[1,"x"]`, 2, nil},
		{"crlf", "a.csv", "id,name\r\n1,x\r\n2,y\r\n", "id BIGINT, name VARCHAR", `[1,"x"]`, 2, nil},
		{"bom", "a.csv", "\ufeffid,name\n1,x\n", "id BIGINT, name VARCHAR", `[1,"x"]`, 1, nil},
		{"semicolons", "a.csv", "id;name\n1;\"a;b\"\n2;c\n", "id BIGINT, name VARCHAR", `[1,"a;b"]`, 2, nil},
		{"commas in quotes, semicolons outside", "a.csv", "a;b\n\"1,2,3\";x\n\"4,5,6\";y\n", "a VARCHAR, b VARCHAR", `["1,2,3","x"]`, 2, nil},
		{"tsv", "a.tsv", "id\tname\n1\tx, y\n", "id BIGINT, name VARCHAR", `[1,"x, y"]`, 1, nil},
		{"pipes", "a.csv", "id|name\n1|x\n2|y\n", "id BIGINT, name VARCHAR", `[1,"x"]`, 2, nil},
		{"one column", "a.csv", "n\n1\n2\n3\n", "n BIGINT", `[1]`, 3, nil},
		{"line ends in quotes", "a.csv", "a,b\n\"x\ny\",1\nz,2\n", "a VARCHAR, b BIGINT", `["x\ny",1]`, 2, nil},
		{"doubled quotes", "a.csv", "a,b\n\"say \"\"hi\"\"\",1\n", "a VARCHAR, b BIGINT", `["say \"hi\"",1]`, 1, nil},
		{"gzip", "a.csv.gz", zip(t, "id,name\n1,x\n"), "id BIGINT, name VARCHAR", `[1,"x"]`, 1, nil},
		{"utf-16", "a.csv", utf16le("id,name\n1,Zoë\n"), "id BIGINT, name VARCHAR", `[1,"Zoë"]`, 1, []string{"UTF-16"}},
		{"windows-1252", "a.csv", "id,name\n1,Zo\xeb \x80\n", "id BIGINT, name VARCHAR", `[1,"Zoë €"]`, 1, []string{"Windows-1252"}},
		{"windows-1252 far down", "a.csv", "id,name\n" + strings.Repeat("1,abcdefghij\n", 40000) + "2,Zo\xeb\n", "id BIGINT, name VARCHAR", `[1,"abcdefghij"]`, 40001, []string{"Windows-1252"}},
		{"gaps", "a.csv", "a,b,c\n1,,x\n,2,\n", "a BIGINT, b BIGINT, c VARCHAR", `[1,null,"x"]`, 2, nil},
		{"a gap column", "a.csv", "a,b\n1,\n2,\n", "a BIGINT, b VARCHAR", `[1,null]`, 2, nil},
		{"value after many gaps", "a.csv", "a,b\n" + strings.Repeat("1,\n", 3000) + "2,7\n", "a BIGINT, b BIGINT", `[1,null]`, 3001, nil},
		{"blanks around", "a.csv", "a,b\n 1 , x\n 2,y\n", "a BIGINT, b VARCHAR", `[1," x"]`, 2, nil},
		{"late text", "a.csv", "a\n" + strings.Repeat("1\n", 30000) + "n/a\n", "a VARCHAR", `["1"]`, 30001, []string{`a mixes numbers with other text ("n/a")`, "parse_num"}},
		{"late fraction", "a.csv", "a,b\n" + strings.Repeat("1,1\n", 30000) + "2.5,2\n", "a DOUBLE, b BIGINT", `[1,1]`, 30001, nil},
		{"leading zeros", "a.csv", "zip,n\n01234,1\n99999,2\n", "zip VARCHAR, n BIGINT", `["01234",1]`, 2, []string{`zip has leading zeros ("01234")`}},
		{"late leading zeros", "a.csv", "zip,n\n" + strings.Repeat("12345,1\n", 30000) + "01234,2\n", "zip VARCHAR, n BIGINT", `["12345",1]`, 30001, []string{"leading zeros"}},
		{"long ids", "a.csv", "id,n\n1234567890123456,1\n1234567890123457,2\n", "id VARCHAR, n BIGINT", `["1234567890123456",1]`, 2, []string{"more than 15 digits"}},
		{"late long id", "a.csv", "id,n\n" + strings.Repeat("1,1\n", 1000) + "1234567890123456,2\n", "id VARCHAR, n BIGINT", `["1",1]`, 1001, []string{"more than 15 digits"}},
		{"numbers of programmers", "a.csv", "a,b,c\n1,1,1\n1_000,0x1f,1e3\n", "a VARCHAR, b VARCHAR, c DOUBLE", `["1","1",1]`, 2, nil},
		{"nan", "a.csv", "a,b\n1.5,1\nnan,2\n", "a VARCHAR, b BIGINT", `["1.5",1]`, 2, nil},
		{"negatives", "a.csv", "a,b\n-1,-0.5\n2,.25\n", "a BIGINT, b DOUBLE", `[-1,-0.5]`, 2, nil},
		{"dates", "a.csv", "d,t\n2024-02-29,2024-02-29 10:11:12\n2024-03-01,2024-03-01T00:00:00\n", "d DATE, t TIMESTAMP", `["2024-02-29","2024-02-29T10:11:12"]`, 2, nil},
		{"a date that is none", "a.csv", "d,n\n2024-02-28,1\n2024-02-30,2\n", "d VARCHAR, n BIGINT", `["2024-02-28",1]`, 2, []string{"2024-02-30"}},
		{"numeric dates", "a.csv", "d,n\n03/04/2024,1\n05/06/2024,2\n", "d VARCHAR, n BIGINT", `["03/04/2024",1]`, 2, nil},
		{"booleans", "a.csv", "b,n\ntrue,1\nFALSE,2\n", "b BOOLEAN, n BIGINT", `[true,1]`, 2, nil},
		{"yes and no", "a.csv", "b,n\nyes,1\nno,2\n", "b VARCHAR, n BIGINT", `["yes",1]`, 2, nil},
		{"names", "a.csv", "Order ID,order-id,,2024,Amount ($),id,ID\n1,2,3,4,5,6,7\n", "order_id BIGINT, order_id_2 BIGINT, column_3 BIGINT, t_2024 BIGINT, amount_ BIGINT, id BIGINT, id_2 BIGINT", `[1,2,3,4,5,6,7]`, 1, nil},
		{"no header", "a.csv", "1,x,2.5\n2,y,3.5\n", "column_1 BIGINT, column_2 VARCHAR, column_3 DOUBLE", `[1,"x",2.5]`, 2, []string{"no header"}},
		{"years across", "a.csv", "region,2023,2024\nEU,10,11\nUS,20,21\n", "region VARCHAR, t_2023 BIGINT, t_2024 BIGINT", `["EU",10,11]`, 2, nil},
		{"lines above", "a.csv", "Sales report\nAll regions\nid,name\n1,x\n2,y\n3,z\n", "id BIGINT, name VARCHAR", `[1,"x"]`, 3, []string{"2 lines above the header"}},
		{"short rows", "a.csv", "a,b,c\n1,2,3\n4,5\n6,7,8\n", "a BIGINT, b BIGINT, c BIGINT", `[1,2,3]`, 3, []string{"1 rows are shorter"}},
		{"long rows", "a.csv", "a,b\n1,2\n3,4,5\n6,7\n", "a BIGINT, b BIGINT", `[1,2]`, 2, []string{"1 rows do not fit", "line 3", "3,4,5"}},
		{"header only", "a.csv", "a,b\n", "a VARCHAR, b VARCHAR", ``, 0, nil},
		{"blank lines", "a.csv", "a,b\n1,2\n\n3,4\n\n", "a BIGINT, b BIGINT", `[1,2]`, 2, nil},
		{"keywords", "order.csv", "select,from\n1,2\n", "select BIGINT, from BIGINT", `[1,2]`, 1, nil},
		{"json", "a.json", `[{"id":1,"zip":"007","d":"2024-01-02"},{"id":2.5,"ok":true}]`, "id DOUBLE, zip VARCHAR, d DATE, ok BOOLEAN", `[1,"007","2024-01-02",null]`, 2, nil},
		{"json object", "a.json", `{"a": 1, "b": {"c": [1, 2]}}`, `a BIGINT, b STRUCT(c BIGINT[])`, `[1,"{\"c\":[1,2]}"]`, 1, nil},
		{"json numeric dates", "a.json", `[{"d":"01/02/2024"}]`, "d VARCHAR", `["01/02/2024"]`, 1, nil},
		{"ndjson", "a.jsonl", "{\"a\":1}\n{\"a\":2,\"b\":\"x\"}\n", "a BIGINT, b VARCHAR", `[1,null]`, 2, nil},
		{"ndjson late type", "a.ndjson", strings.Repeat("{\"a\":1}\n", 30000) + "{\"a\":\"x\"}\n", "a JSON", `[1]`, 30001, nil},
		{"ndjson gzip", "a.ndjson.gz", zip(t, "{\"a\":1}\n"), "a BIGINT", `[1]`, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := source(t, "s", folder(t, map[string]string{c.file: c.text}))
			cat := f.Catalog()
			if len(cat.Tables) != 1 {
				t.Fatalf("no table: %+v", cat.Skipped)
			}
			table := cat.Tables[0]
			_, schema, _ := strings.Cut(table.Line(), ": ")
			if diff := cmp.Diff(c.schema, schema); diff != "" {
				t.Error(diff)
			}
			if table.Rows != c.rows {
				t.Errorf("%d rows, want %d", table.Rows, c.rows)
			}
			rows, err := f.Query(t.Context(), fmt.Sprintf("SELECT * FROM %q", table.Name))
			if err != nil {
				t.Fatal(err)
			}
			row := ""
			if len(rows.Rows) > 0 {
				b, _ := json.Marshal(rows.Rows[0])
				row = string(b)
			}
			if diff := cmp.Diff(c.row, row); diff != "" {
				t.Error(diff)
			}
			notes := strings.Join(table.Notes, "\n")
			for _, n := range c.notes {
				if !strings.Contains(notes, n) {
					t.Errorf("the notes do not say %q: %s", n, notes)
				}
			}
			if len(c.notes) == 0 && strings.Contains(notes, "rows") {
				t.Errorf("notes: %s", notes)
			}
		})
	}
}

func TestStatistics(t *testing.T) {
	f := source(t, "s", folder(t, map[string]string{"a.csv": "n,d,s,g\n1,2024-01-01,b,\n3,2024-01-03,a,\n2,,b,x\n,2024-01-02,c,\n"}))
	b, err := json.Marshal(f.Catalog().Tables[0])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"a","file":"a.csv","rows":4,"columns":[` +
		`{"name":"n","type":"BIGINT","null_share":0.25,"distinct":3,"min":1,"max":3,"common":["1","2","3"]},` +
		`{"name":"d","type":"DATE","null_share":0.25,"distinct":3,"min":"2024-01-01","max":"2024-01-03","common":["2024-01-01","2024-01-02","2024-01-03"]},` +
		`{"name":"s","type":"VARCHAR","null_share":0,"distinct":3,"min":"a","max":"c","common":["b","a","c"]},` +
		`{"name":"g","type":"VARCHAR","null_share":0.75,"distinct":1,"min":"x","max":"x","common":["x"]}],"notes":[]}`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Error(diff)
	}
}

// What is no table is skipped with a reason a person understands, and takes nothing else with it.
func TestNoTable(t *testing.T) {
	f := source(t, "s", folder(t, map[string]string{
		"page.csv":    "<!DOCTYPE html>\n<html><body>Sign in</body></html>\n",
		"prose.csv":   "Dear all,\nthis, as you see, is a letter, not a table,\nand so, well,\nno.\nYours, me, and, all, the, others, here\nBye,bye\n",
		"binary.csv":  "a,b\x00\x01\x02\n",
		"broken.json": `[{"a":1},{"a":`,
		"fake.gz.csv": "x\n1\n",
		"no.csv.gz":   "a,b\n1,2\n",
		"p.parquet":   "PAR1 not really",
		"empty.csv":   "",
		"binary.txt":  "a\x00b",
		"book.xlsx":   "PK",
		"good.csv":    "a,b\n1,2\n",
	}))
	cat := f.Catalog()
	reasons := map[string]string{}
	for _, s := range cat.Skipped {
		reasons[s.File] = s.Reason
	}
	for file, want := range map[string]string{"page.csv": "HTML", "prose.csv": "no table", "binary.csv": "not text", "broken.json": "no JSON",
		"no.csv.gz": "not gzip", "p.parquet": "no Parquet", "empty.csv": "empty", "binary.txt": "not text", "book.xlsx": "not read"} {
		if !strings.Contains(reasons[file], want) || strings.Contains(reasons[file], "/dev/") {
			t.Errorf("%s: %q, want %q", file, reasons[file], want)
		}
	}
	if len(cat.Tables) != 2 || cat.Tables[1].Name != "good" {
		t.Errorf("tables: %+v", cat.Tables)
	}
}

func TestParquet(t *testing.T) {
	dir := t.TempDir()
	e, err := start(t.Context(), Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	if err := e.exec(t.Context(), fmt.Sprintf("COPY (SELECT 1 AS \"My Id\", DATE '2024-01-02' AS d, 1.25::DECIMAL(9,2) AS m) TO '%s/p.parquet'", dir)); err != nil {
		t.Fatal(err)
	}
	f := source(t, "s", dir)
	rows, err := f.Query(t.Context(), `SELECT "My Id", my_id, d, m FROM p`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]any{{int64(1), int64(1), "2024-01-02", 1.25}}, rows.Rows); diff != "" {
		t.Error(diff)
	}
}
