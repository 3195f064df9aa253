package archtest

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed says which of our packages a package may import. A folder speaks for the folders below it unless they have a
// row of their own, and may always import what is below it. Adding a package means adding a row, which a reviewer sees.
var allowed = map[string][]string{
	"chat":          {},
	"chat/chattest": {"chat"},
	"evidence":      {},
	"model":         {},
	"access":        {"chat"},
	"ledger":        {"chat", "evidence", "model", "internal/pgtest"},
	"bus":           {"chat"},
	"tools":         {"model", "evidence", "access"},
	"steering":      {"chat", "access"},
	"verify":        {"evidence"},
	// The loop speaks of a run in the ledger's words (a step, a call, what was said); it never sees a database.
	"loop":              {"model", "tools", "steering", "verify", "evidence", "ledger", "chat"},
	"dispatch":          {"loop", "ledger", "bus", "steering", "access", "chat", "evidence", "model", "verify"},
	"adapters":          {"chat", "bus", "ledger"},
	"adapters/slack":    {"chat", "evidence", "adapters/markdown"},
	"adapters/discord":  {"chat", "evidence", "adapters/markdown"},
	"adapters/markdown": {},
	"app":               {"*"},
	"cmd":               {"app"},
	"bench":             {"*"},
	"internal/archtest": {},
	"internal/pgtest":   {},
}

type pkg struct {
	ImportPath string
	Doc        string
	Imports    []string
	GoFiles    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Imports,GoFiles", "plumb/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, "plumb/")
		all = append(all, p)
	}
}

// row finds the longest folder that has a row.
func row(path string) string {
	for ; path != ""; path, _ = cutLast(path) {
		if _, ok := allowed[path]; ok {
			return path
		}
	}
	return ""
}

func cutLast(path string) (string, string) {
	i := strings.LastIndex(path, "/")
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

func under(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

func TestImports(t *testing.T) {
	all := packages(t)
	if len(all) < 15 {
		t.Fatalf("only %d packages found", len(all))
	}
	for _, p := range all {
		from := row(p.ImportPath)
		if from == "" {
			t.Errorf("%s has no row in the table: say what it may import", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			to, ours := strings.CutPrefix(imp, "plumb/")
			if !ours || under(to, from) || slices.Contains(allowed[from], "*") {
				continue
			}
			if !slices.ContainsFunc(allowed[from], func(f string) bool { return under(to, f) }) {
				t.Errorf("%s imports %s, which %s may not", p.ImportPath, to, from)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) > 0 && len(p.Doc) < 20 {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// sdks are libraries whose types stay in the folder that speaks to them.
var sdks = map[string][]string{
	"github.com/slack-go/":                    {"adapters/slack"},
	"github.com/bwmarrin/":                    {"adapters/discord"},
	"github.com/nats-io/":                     {"bus"},
	"github.com/jackc/pgx":                    {"ledger", "internal/pgtest", "bench"},
	"github.com/duckdb/":                      {"tools/tables", "bench"},
	"github.com/tetratelabs/":                 {"tools/python"},
	"github.com/prometheus/client_golang/api": {"tools/ops"},
	"github.com/prometheus/common":            {"tools/ops"},
	"github.com/openai/":                      {"model"},
	"github.com/anthropics/":                  {"model"},
	"modernc.org/sqlite":                      {"ledger", "bench"},
	"github.com/pressly/goose":                {"ledger"},
	"github.com/goccy/go-yaml":                {"app"},
	"github.com/alecthomas/kong":              {"app/command"},
}

func TestLibrariesStayInTheirFolders(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			for lib, folders := range sdks {
				if strings.HasPrefix(imp, lib) && !slices.ContainsFunc(folders, func(f string) bool { return under(p.ImportPath, f) }) {
					t.Errorf("%s imports %s, which stays in %v", p.ImportPath, imp, folders)
				}
			}
		}
	}
}
