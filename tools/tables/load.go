package tables

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// What is loaded of one file. Beyond it the table is cut, and says so.
const (
	maxRows  = 5_000_000
	maxBytes = 1 << 30
	maxCols  = 2000
)

// A loader fills an engine from the files of a folder, one after the other, on a connection of its own.
type loader struct {
	root *os.Root
	conn *duckdb.Conn
	temp string
}

// load makes one file a table of the name given.
func (l *loader) load(ctx context.Context, f found, name string) (Table, error) {
	file, err := open(l.root, f.file)
	if err != nil {
		return Table{}, errors.New(reason(err))
	}
	defer file.Close()
	t := Table{File: f.file, Name: name}
	switch f.kind {
	case "csv", "tsv":
		err = l.csv(ctx, file, f, &t)
	default:
		err = l.whole(ctx, file, f, &t)
	}
	if err == nil {
		err = measure(ctx, l.conn, &t)
	}
	if err != nil {
		exec(context.WithoutCancel(ctx), l.conn, "DROP TABLE IF EXISTS "+quote(t.Name))
	}
	if _, ok := errors.AsType[*duckdb.Error](err); ok {
		err = fmt.Errorf("it could not be loaded: %s", firstLine(err))
	}
	return t, err
}

// csv loads a delimited file: its shape from the beginning, all of it as text, then the types.
func (l *loader) csv(ctx context.Context, file *os.File, f found, t *Table) error {
	const raw = "raw_text"
	defer exec(context.WithoutCancel(ctx), l.conn, "DROP TABLE IF EXISTS "+raw)
	how, err := l.text(ctx, file, f, t, false)
	if how == notUTF8 {
		t.Notes, t.Columns = nil, nil
		how, err = l.text(ctx, file, f, t, true)
	}
	if err != nil || how == typedAlready {
		return err
	}
	cols := make([]string, len(t.Columns))
	for i := range cols {
		cols[i] = fmt.Sprintf("c%d", i)
	}
	first, err := ask(ctx, l.conn, "SELECT * FROM "+raw+" LIMIT 500")
	if err != nil {
		return err
	}
	seen := map[string][]string{}
	for _, row := range first {
		for i, v := range row {
			if s, ok := v.(string); ok && strings.TrimSpace(s) != "" {
				seen[cols[i]] = append(seen[cols[i]], s)
			}
		}
	}
	kinds, err := decide(ctx, l.conn, raw, seen, cols)
	if err != nil {
		return err
	}
	parts := make([]string, len(cols))
	for i, k := range kinds {
		parts[i] = k.cast() + " AS " + quote(t.Columns[i].Name)
		for _, n := range k.notes {
			t.Notes = append(t.Notes, t.Columns[i].Name+" "+n)
		}
	}
	return exec(ctx, l.conn, fmt.Sprintf("CREATE TABLE %s AS SELECT %s FROM %s", quote(t.Name), strings.Join(parts, ", "), raw))
}

// An outcome is what became of reading a delimited file.
type outcome int

const (
	asText       outcome = iota // it is in the table of texts
	typedAlready                // it went straight into its table
	notUTF8                     // it has to be read again in another encoding
)

// quickSize is the size from which a file is first tried in one go.
const quickSize = 16 << 20

// quick reads a large and well-kept file straight into its table, with the types that its first rows suggest and the
// same test of every value on the way; that takes less than half the time of going by a table of texts. The first value
// that fails the test, or line that does not fit, ends it, and the file is read the long way.
func (l *loader) quick(ctx context.Context, in text, s shape, f found, t *Table) bool {
	if f.size < quickSize || f.gzip || s.limit(f) != "" {
		return false
	}
	var kept []*typed
	parts := make([]string, len(s.headers))
	for i := range parts {
		var values []string
		for _, row := range s.data {
			if i < len(row) {
				values = append(values, row[i])
			}
		}
		name := quote(t.Columns[i].Name)
		k := typed{col: fmt.Sprintf("c%d", i), kind: candidate(values)}
		parts[i] = k.strict() + " AS " + name
		if k.kind != varchar {
			continue
		}
		if slices.ContainsFunc(values, isZeros.MatchString) || slices.ContainsFunc(values, isLong.MatchString) {
			kept = append(kept, &typed{col: name, kind: varchar})
		}
	}
	rejects, err := l.read(ctx, fmt.Sprintf("CREATE TABLE %s AS SELECT %s FROM ", quote(t.Name), strings.Join(parts, ", ")), in, s, f, false)
	var ids []string
	if err == nil && len(rejects) == 0 && len(kept) > 0 {
		ids, err = test(ctx, l.conn, quote(t.Name), kept)
	}
	if err != nil || len(rejects) > 0 {
		exec(context.WithoutCancel(ctx), l.conn, "DROP TABLE IF EXISTS "+quote(t.Name))
		return false
	}
	for i, id := range ids {
		if id != "" {
			t.Notes = append(t.Notes, strings.Trim(kept[i].col, `"`)+" "+why(bigint, id))
		}
	}
	return l.cut(ctx, t) == nil
}

// text reads a delimited file into the table of texts, or straight into its own.
func (l *loader) text(ctx context.Context, file *os.File, f found, t *Table, force bool) (outcome, error) {
	in, err := readable(file, f.gzip, force, l.temp)
	if err != nil {
		return asText, err
	}
	defer in.close()
	s, err := sniff(in.sample, in.whole, f.kind == "tsv")
	if err != nil {
		return asText, err
	}
	if len(s.headers) > maxCols {
		return asText, fmt.Errorf("it has more than %d columns", maxCols)
	}
	t.Notes = append(t.Notes, s.notes...)
	if in.note != "" {
		t.Notes = append(t.Notes, in.note)
	}
	t.Columns = columns(s.headers)
	if l.quick(ctx, in, s, f, t) {
		return typedAlready, nil
	}
	const into = "CREATE OR REPLACE TEMP TABLE raw_text AS SELECT * FROM "
	rejects, err := l.read(ctx, into, in, s, f, false)
	if slices.ContainsFunc(rejects, func(r reject) bool { return r.kind == "INVALID ENCODING" }) && !force {
		return notUTF8, nil
	}
	if err == nil && slices.ContainsFunc(rejects, func(r reject) bool { return r.kind == "MISSING COLUMNS" }) {
		// Short rows are filled up, which DuckDB can only do on one thread; that is why it is not done at once.
		t.Notes = append(t.Notes, fmt.Sprintf("%d rows are shorter than the header; their last columns are empty",
			count(rejects, "MISSING COLUMNS")))
		rejects, err = l.read(ctx, into, in, s, f, true)
	}
	if err != nil {
		return asText, fmt.Errorf("it is no table that can be read: %s", firstLine(err))
	}
	return asText, l.account(ctx, t, s, f, rejects)
}

// A reject is a line that DuckDB could not use.
type reject struct {
	kind, line string
	number     uint64
}

func count(rejects []reject, kind string) (n int) {
	for _, r := range rejects {
		if r.kind == kind {
			n++
		}
	}
	return n
}

// maxRejects is where a file stops being one with faults.
const maxRejects = 100_000

// read runs a statement that ends in the reading of the file, and gives the lines that did not fit.
func (l *loader) read(ctx context.Context, into string, in text, s shape, f found, pad bool) ([]reject, error) {
	fields := make([]string, len(s.headers))
	for i := range fields {
		fields[i] = fmt.Sprintf("'c%d': 'VARCHAR'", i)
	}
	options := []string{"auto_detect = false", "header = false", `quote = '"'`, `escape = '"'`, "store_rejects = true",
		fmt.Sprintf("rejects_limit = %d", maxRejects), fmt.Sprintf("skip = %d", s.skip), "delim = " + literal(string(s.comma)),
		"columns = {" + strings.Join(fields, ", ") + "}"}
	if in.gzip {
		options = append(options, "compression = 'gzip'")
	}
	if pad {
		options = append(options, "null_padding = true", "parallel = false")
	}
	err := exec(ctx, l.conn, fmt.Sprintf("%sread_csv(%s, %s)%s", into, literal(in.name), strings.Join(options, ", "), s.limit(f)))
	rows, rerr := ask(ctx, l.conn, "SELECT DISTINCT ON (line) error_type::VARCHAR, csv_line, line FROM reject_errors ORDER BY line")
	exec(context.WithoutCancel(ctx), l.conn, "DROP TABLE IF EXISTS reject_errors; DROP TABLE IF EXISTS reject_scans")
	if rerr != nil {
		return nil, errors.Join(err, rerr)
	}
	var rejects []reject
	for _, r := range rows {
		kind, _ := r[0].(string)
		line, _ := r[1].(string)
		number, _ := r[2].(uint64)
		rejects = append(rejects, reject{kind, line, number})
	}
	return rejects, err
}

// limit ends the reading of a file that is far too large. Others are cut afterwards if at all, because a limit keeps
// DuckDB from reading with all its threads.
func (s shape) limit(f found) string {
	rows := s.most()
	if !f.gzip && float64(f.size) < 1.5*s.width*float64(rows) {
		return ""
	}
	return fmt.Sprintf(" LIMIT %d", rows+1)
}

// most is the number of rows after which a file is cut.
func (s shape) most() int64 { return min(maxRows, int64(maxBytes/max(s.width, 1))) }

// account notes what was left out of a table of texts.
func (l *loader) account(ctx context.Context, t *Table, s shape, f found, rejects []reject) error {
	rows, err := ask(ctx, l.conn, "SELECT count(*) FROM raw_text")
	if err != nil {
		return err
	}
	n := rows[0][0].(int64)
	if bad := int64(len(rejects)); bad > 0 {
		if bad > n {
			return errNoCSV
		}
		t.Notes = append(t.Notes, fmt.Sprintf("%d rows do not fit and were left out, the first is line %d: %s", bad,
			rejects[0].number, excerpt(rejects[0].line)))
	}
	if most := s.most(); n > most {
		t.Notes = append(t.Notes, fmt.Sprintf("cut: only the first %d rows of the file were loaded", most))
		return exec(ctx, l.conn, fmt.Sprintf("CREATE OR REPLACE TEMP TABLE raw_text AS SELECT * FROM raw_text LIMIT %d", most))
	}
	return nil
}

// whole loads a file whose format names and types its columns.
func (l *loader) whole(ctx context.Context, file *os.File, f found, t *Table) error {
	from := fmt.Sprintf("read_parquet(%s)", literal(device(file)))
	if f.kind != "parquet" {
		in, err := readable(file, f.gzip, false, l.temp)
		if err != nil {
			return err
		}
		defer in.close()
		options := "sample_size = -1, dateformat = '%Y-%m-%d'"
		if f.kind == "ndjson" {
			options += ", format = 'newline_delimited'"
		}
		if in.gzip {
			options += ", compression = 'gzip'"
		}
		from = fmt.Sprintf("read_json(%s, %s)", literal(in.name), options)
	}
	described, err := ask(ctx, l.conn, "DESCRIBE SELECT * FROM "+from)
	if err != nil {
		return fmt.Errorf("it is no %s that can be read: %s", format(f.kind), firstLine(err))
	}
	headers := make([]string, len(described))
	for i, d := range described {
		headers[i] = d[0].(string)
	}
	t.Columns = columns(headers)
	parts := make([]string, len(headers))
	for i, h := range headers {
		parts[i] = quote(h) + " AS " + quote(t.Columns[i].Name)
	}
	err = exec(ctx, l.conn, fmt.Sprintf("CREATE TABLE %s AS SELECT %s FROM %s LIMIT %d", quote(t.Name), strings.Join(parts, ", "), from, maxRows+1))
	if err != nil {
		return fmt.Errorf("it is no %s that can be read: %s", format(f.kind), firstLine(err))
	}
	return l.cut(ctx, t)
}

// cut ends a table at the limit.
func (l *loader) cut(ctx context.Context, t *Table) error {
	rows, err := ask(ctx, l.conn, "SELECT count(*) FROM "+quote(t.Name))
	if err != nil || rows[0][0].(int64) <= maxRows {
		return err
	}
	t.Notes = append(t.Notes, fmt.Sprintf("cut: only the first %d rows of the file were loaded", maxRows))
	return exec(ctx, l.conn, fmt.Sprintf("CREATE OR REPLACE TABLE %s AS FROM %[1]s LIMIT %d", quote(t.Name), maxRows))
}

func format(kind string) string {
	if kind == "parquet" {
		return "Parquet"
	}
	return "JSON"
}

// columns names the columns of a table. One without a spelling is numbered.
func columns(headers []string) []Column {
	given := names{}
	out := make([]Column, len(headers))
	for i, h := range headers {
		h = strings.TrimSpace(h)
		out[i] = Column{Name: given.give(h, fmt.Sprintf("column_%d", i+1)), spelling: h}
	}
	return out
}

// firstLine is the first line of an engine's error, without names of files of ours.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if i := strings.Index(line, "/dev/fd/"); i >= 0 {
		end := strings.IndexAny(line[i+8:], `"' `)
		if end < 0 {
			end = len(line) - i - 8
		}
		line = line[:i] + "the file" + line[i+8+end:]
	}
	return excerptN(line, 160)
}

func excerptN(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
