package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// maxSQL is the longest statement that is looked at.
const maxSQL = 100_000

// A verdict is what the judge found in a statement that may run.
type verdict struct {
	tables []string        // the catalog's tables it reads, by name
	words  map[string]bool // the identifiers it uses, in lower case
}

// judge decides on one statement by the tree that DuckDB's parser makes of it. Words prove nothing: a column may be
// called update, a literal may hold a semicolon, and a comment may hide half of a statement.
func judge(ctx context.Context, c *duckdb.Conn, sql string, cat Catalog) (verdict, error) {
	if len(sql) > maxSQL {
		return verdict{}, refuse("the statement is longer than %d characters", maxSQL)
	}
	if strings.ContainsRune(sql, 0) {
		return verdict{}, refuse("the statement holds a NUL character")
	}
	rows, err := ask(ctx, c, "SELECT json_serialize_sql(?::VARCHAR)::VARCHAR", sql)
	if err != nil {
		return verdict{}, fmt.Errorf("parse the statement: %w", err)
	}
	var tree struct {
		Error      bool   `json:"error"`
		Type       string `json:"error_type"`
		Message    string `json:"error_message"`
		Statements []any  `json:"statements"`
	}
	text, _ := rows[0][0].(string)
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return verdict{}, refuse("the parser does not understand the statement")
	}
	switch {
	case tree.Error && tree.Type == "not implemented":
		return verdict{}, refuse("%s", notRead(sql))
	case tree.Error:
		return verdict{}, &Error{Kind: Mistaken, text: "the statement cannot be parsed: " + tree.Message}
	case len(tree.Statements) == 0:
		return verdict{}, &Error{Kind: Mistaken, text: "there is no statement"}
	case len(tree.Statements) > 1:
		return verdict{}, refuse("there are %d statements; send one at a time", len(tree.Statements))
	}
	j := judgement{catalog: cat, known: map[string]bool{}, used: map[string]bool{}, words: map[string]bool{}}
	j.with(tree.Statements[0])
	if err := j.walk(tree.Statements[0]); err != nil {
		return verdict{}, err
	}
	return verdict{tables: slices.Sorted(maps.Keys(j.used)), words: j.words}, nil
}

// notRead is the reason against a statement that is no query. Its first word is for the sentence only.
func notRead(sql string) string {
	word := strings.ToUpper(leading.FindString(comments.ReplaceAllString(sql, " ")))
	switch word = strings.TrimSpace(word); word {
	case "PIVOT", "UNPIVOT", "FROM", "SELECT", "WITH":
		return "PIVOT without a fixed list of values cannot be checked; use sum(x) FILTER (WHERE …) for each column, or GROUP BY"
	case "":
		return "only one SELECT statement is run here"
	}
	return word + " is not run here, only one SELECT statement that reads"
}

var (
	comments = regexp.MustCompile(`(?s)/\*.*?\*/|--[^\n]*`)
	leading  = regexp.MustCompile(`^[\s;(]*[A-Za-z]+`)
)

// A judgement is a walk through one statement.
type judgement struct {
	catalog Catalog
	known   map[string]bool // the names that WITH gives
	used    map[string]bool
	words   map[string]bool
}

// with collects the names that WITH gives anywhere in the statement.
func (j *judgement) with(n any) {
	switch n := n.(type) {
	case []any:
		for _, e := range n {
			j.with(e)
		}
	case map[string]any:
		if m, ok := n["cte_map"].(map[string]any); ok {
			entries, _ := m["map"].([]any)
			for _, e := range entries {
				if entry, ok := e.(map[string]any); ok {
					j.known[strings.ToLower(str(entry["key"]))] = true
				}
			}
		}
		for _, e := range n {
			j.with(e)
		}
	}
}

// nodes are the kinds of query that read.
var nodes = []string{"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}

func (j *judgement) walk(n any) error {
	switch n := n.(type) {
	case []any:
		for _, e := range n {
			if s, ok := e.(string); ok {
				j.words[strings.ToLower(s)] = true
			}
			if err := j.walk(e); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := j.node(n); err != nil {
			return err
		}
		for key, e := range n {
			if f, ok := e.(map[string]any); ok && key == "function" && n["type"] == "TABLE_FUNCTION" {
				// Judged as a table function; as one, range gives its rows one by one and may be long.
				e = f["children"]
			}
			if err := j.walk(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// node judges one node by itself.
func (j *judgement) node(n map[string]any) error {
	kind := str(n["type"])
	switch {
	case kind == "BASE_TABLE":
		return j.table(strings.ToLower(str(n["schema_name"])), str(n["table_name"]))
	case kind == "TABLE_FUNCTION":
		f, _ := n["function"].(map[string]any)
		name := strings.ToLower(str(f["function_name"]))
		if !slices.Contains(tableFunctions, name) {
			return refuse("the table function %s is not allowed: tables are asked by their names", name)
		}
	case kind == "SHOW_REF":
		if n["query"] == nil && !slices.Contains(shown, strings.Trim(str(n["table_name"]), `"`)) {
			return refuse("SHOW %s is not allowed", excerpt(str(n["table_name"])))
		}
	case n["class"] == "PARAMETER":
		return refuse("the statement has a placeholder; write the value in its place")
	case n["class"] == "FUNCTION" || n["class"] == "WINDOW":
		return function(n)
	case strings.HasSuffix(kind, "_NODE") && !slices.Contains(nodes, kind):
		return refuse("only SELECT is run here")
	}
	return nil
}

// tableFunctions are those that only make rows of what they are given.
var tableFunctions = []string{"range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree",
	"regexp_split_to_table", "string_split", "generate_subscripts"}

// shown are the lists that SHOW may show; their names are the parser's.
var shown = []string{"tables", "__show_tables_expanded"}

// table judges a name after FROM.
func (j *judgement) table(schema, name string) error {
	if schema == "information_schema" && slices.Contains([]string{"tables", "columns"}, strings.ToLower(name)) {
		return nil
	}
	here := slices.Contains([]string{"", "main", "memory", strings.ToLower(j.catalog.Name)}, schema)
	if t, ok := j.catalog.Table(name); ok && here {
		j.used[t.Name] = true
		return nil
	}
	if schema == "" && j.known[strings.ToLower(name)] {
		return nil
	}
	full := name
	if schema != "" {
		full = schema + "." + name
	}
	text := fmt.Sprintf("there is no table %q in the source %s", excerpt(full), j.catalog.Name)
	for _, t := range j.catalog.Tables {
		if strings.EqualFold(t.File, name) || strings.EqualFold(stem(t.File), stem(name)) {
			text += fmt.Sprintf("; the file %s is the table %s", t.File, t.Name)
		}
	}
	return &Error{Kind: Mistaken, Missing: name, text: text + schemaOf(j.catalog, nil)}
}

// forbidden are functions that tell about the server, wait, or change something.
var forbidden = []string{"getenv", "current_setting", "getvariable", "write_log", "parse_duckdb_log_message", "sleep_ms",
	"nextval", "currval", "setseed", "current_query", "which_secret", "json_execute_serialized_sql", "query", "query_table",
	"set_config", "add_parquet_key", "glob"}

// function judges a function outside FROM.
func function(n map[string]any) error {
	name := strings.ToLower(str(n["function_name"]))
	harmless := name == "pg_typeof" || name == "pg_size_pretty"
	for _, prefix := range []string{"duckdb_", "pragma_", "pg_", "read_", "parquet_"} {
		if strings.HasPrefix(name, prefix) && !harmless {
			return refuse("the function %s is not allowed", name)
		}
	}
	if slices.Contains(forbidden, name) && n["is_operator"] != true {
		return refuse("the function %s is not allowed", name)
	}
	args, _ := n["children"].([]any)
	if most, ok := multiplying[name]; ok {
		for _, a := range args {
			if err := bounded(name, a, most); err != nil {
				return err
			}
		}
	}
	if name == "printf" || name == "format" {
		if b, _ := json.Marshal(args); wide.Match(b) {
			return refuse("%s with so wide a field is not allowed", name)
		}
	}
	return nil
}

// multiplying are the functions that make much out of little, with the largest number they are given. DuckDB computes
// constants while it plans, where nothing can interrupt it and no limit of memory holds.
var multiplying = map[string]float64{"repeat": 10_000, "lpad": 10_000, "rpad": 10_000, "list_resize": 1_000_000,
	"array_resize": 1_000_000, "range": 1_000_000, "generate_series": 1_000_000}

var wide = regexp.MustCompile(`"[^"]*[%{][^"]*[0-9]{5,}`)

// bounded judges what a multiplying function is given.
func bounded(name string, arg any, most float64) error {
	switch n := arg.(type) {
	case []any:
		for _, e := range n {
			if err := bounded(name, e, most); err != nil {
				return err
			}
		}
	case map[string]any:
		inner := str(n["function_name"])
		if _, ok := multiplying[strings.ToLower(inner)]; ok || slices.Contains([]string{"*", "**", "^", "pow", "power", "<<"}, inner) && constant(n) {
			return refuse("%s inside %s is not allowed: write the number out", inner, name)
		}
		if v, ok := n["value"].(map[string]any); ok && n["type"] == "VALUE_CONSTANT" {
			if f, ok := v["value"].(float64); ok && (f > most || f < -most) {
				return refuse("%s over more than %.0f is not allowed here; FROM range(…) gives many rows one by one", name, most)
			}
			return nil
		}
		for _, e := range n {
			if err := bounded(name, e, most); err != nil {
				return err
			}
		}
	}
	return nil
}

// constant says whether an expression reads no column.
func constant(n any) bool {
	switch n := n.(type) {
	case []any:
		return !slices.ContainsFunc(n, func(e any) bool { return !constant(e) })
	case map[string]any:
		if n["class"] == "COLUMN_REF" || n["class"] == "SUBQUERY" {
			return false
		}
		for _, e := range n {
			if !constant(e) {
				return false
			}
		}
	}
	return true
}

func str(v any) string {
	s, _ := v.(string)
	return s
}
