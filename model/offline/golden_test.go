package offline_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plumb/model"
	"plumb/model/offline"
	"plumb/tools"
	"plumb/tools/tables"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A talk is one conversation with the planner over real data: every call runs, and its result is read.
type talk struct {
	set     *tools.Set
	turns   []model.Turn
	results []string // of run_sql and of the documents' tools
	calls   []model.Call
}

// say says something and lets the planner work until it answers.
func (tk *talk) say(t *testing.T, text string) string {
	t.Helper()
	tk.turns = append(tk.turns, model.Turn{Role: model.User, Text: "Ada (U1): " + text})
	var offered []model.Tool
	for _, s := range tk.set.Specs() {
		offered = append(offered, s.Tool)
	}
	before := len(tk.calls)
	for range 10 {
		reply, err := model.Collect(t.Context(), offline.New(), model.Request{Turns: tk.turns, Tools: offered}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if reply.Usage != (model.Usage{}) {
			t.Errorf("%q took %v tokens", text, reply.Usage)
		}
		tk.turns = append(tk.turns, reply.Turn())
		if len(reply.Calls) == 0 {
			return reply.Text
		}
		results := model.Turn{Role: model.Tools}
		for _, c := range reply.Calls {
			got, err := tk.set.Call(t.Context(), c.Name, tools.Input{Args: c.Arguments})
			if err != nil {
				t.Fatalf("%q: %s %s: %v", text, c.Name, c.Arguments, err)
			}
			if got.Failed {
				t.Errorf("%q: %s %s failed: %s", text, c.Name, c.Arguments, got.Text)
			}
			results.Results = append(results.Results, model.Result{CallID: c.ID, Text: got.Text, Failed: got.Failed})
			if c.Name != "list_sources" && c.Name != "inspect_table" {
				tk.results = append(tk.results, got.Text)
			}
		}
		tk.calls = append(tk.calls, reply.Calls...)
		tk.turns = append(tk.turns, results)
		if n := len(tk.calls) - before; n > 8 {
			t.Fatalf("%q took %d calls", text, n)
		}
	}
	t.Fatalf("%q has no end", text)
	return ""
}

// TestGolden asks the questions of testdata/*.golden and compares the calls and the answers. A question is a line that
// begins with "? "; lines after it with "+ " are said later, into the answer.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil || len(files) < 4 {
		t.Fatal("there must be four catalogs", files, err)
	}
	asked := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".golden")
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, n := play(t, name, string(want))
			asked += n
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if asked < 60 {
		t.Errorf("only %d questions", asked)
	}
}

// play asks the questions of a golden file and writes it anew.
func play(t *testing.T, name, golden string) ([]byte, int) {
	dir := filepath.Join("testdata", name)
	if name == "shop" {
		dir = "../../examples/shop"
	}
	// One thread: the order in which floats are added up must be the same each time.
	data, err := tables.Open(t.Context(), name, dir, tables.Options{Threads: 1, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	set := tools.New([]tools.Source{data})
	var out bytes.Buffer
	var now *talk
	asked := 0
	for _, line := range strings.Split(golden, "\n") {
		kind, text, _ := strings.Cut(line, " ")
		switch kind {
		case "#":
			fmt.Fprintf(&out, "# %s\n\n", text)
			continue
		case "?":
			now = &talk{set: set}
			asked++
		case "+":
		default:
			continue
		}
		before := len(now.calls)
		answer := now.say(t, text)
		checkFigures(t, text, answer, now.results)
		fmt.Fprintf(&out, "%s %s\n", kind, text)
		for _, c := range now.calls[before:] {
			if c.Name == "list_sources" || c.Name == "inspect_table" {
				continue
			}
			var args struct{ SQL string }
			if json.Unmarshal(c.Arguments, &args); args.SQL == "" {
				args.SQL = string(c.Arguments)
			}
			fmt.Fprintf(&out, "> %s %s\n", c.Name, args.SQL)
		}
		body, ok := strings.CutSuffix(answer, "_Offline planner: a small rule-based stand-in for a language model. It states how it read the question above._")
		if !ok {
			t.Errorf("%q: the answer does not say who wrote it", text)
		}
		fmt.Fprintf(&out, "  %s\n\n", strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n  "))
	}
	return out.Bytes(), asked
}

var bold = regexp.MustCompile(`\*\*(-?[0-9][0-9,.]*)%?\*\*`)
var digits = regexp.MustCompile(`-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?`)

// checkFigures fails when a figure of an answer is in no result, at the precision that it is written with.
func checkFigures(t *testing.T, question, answer string, results []string) {
	t.Helper()
	for _, m := range bold.FindAllStringSubmatch(answer, -1) {
		text := strings.ReplaceAll(m[1], ",", "")
		ok := false
		for _, cell := range digits.FindAllString(strings.Join(results, "\n"), -1) {
			ok = ok || cell == text || rounded(cell, text)
		}
		if !ok {
			t.Errorf("%q: the figure %s is in no result", question, m[1])
		}
	}
}

// rounded says whether a cell is written as text when it has as many decimals.
func rounded(cell, text string) bool {
	_, decimals, _ := strings.Cut(text, ".")
	var v float64
	if _, err := fmt.Sscan(cell, &v); err != nil {
		return false
	}
	return fmt.Sprintf("%.*f", len(decimals), v) == text
}
