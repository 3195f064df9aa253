package tools

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumb/tools/tables"
)

// (D10) No tool gives a secret away: not in rows, not in statistics, not in texts; and asking again gives the same.
func TestNoToolGivesASecretAway(t *testing.T) {
	dir := t.TempDir()
	key := "AK" + "IAIOSFODNN7EXAMPLE"
	for name, text := range map[string]string{
		"users.csv": "name,user_password,note\nann,correct-horse,fine\nbob,battery-staple,key " + key + "\n",
		"run.md":    "Deploy with password=hunter2hunter2 and " + key + ".\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := tables.Open(t.Context(), "shop", dir, tables.Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	set := New([]Source{files})
	for tool, args := range map[string]string{
		"run_sql": `{"sql":"SELECT * FROM users"}`, "inspect_table": `{"table":"users"}`, "list_sources": `{}`, "search_files": `{"pattern":"password|Deploy"}`, "read_file": `{"names":["run.md"]}`,
	} {
		r, err := set.Call(t.Context(), tool, Input{Args: []byte(args)})
		if err != nil || r.Failed {
			t.Fatalf("%s: %v %s", tool, err, r.Text)
		}
		all := r.Text + compact(r.Item)
		for _, secret := range []string{"correct-horse", "battery-staple", key, "hunter2"} {
			if strings.Contains(all, secret) {
				t.Errorf("%s gives %s away:\n%s", tool, secret, all)
			}
		}
	}
	_, rows, _, err := set.Query(t.Context(), "shop", "SELECT user_password FROM users ORDER BY name")
	if err != nil || len(rows) != 2 || rows[0][0] != "‹redacted: secret›" {
		t.Errorf("%v, %v", rows, err)
	}
}

// The team's notes are told to the model, and cannot be searched or read as a source.
func TestTheTeamsNotes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"plumb.md": "Revenue is without tax. " + strings.Repeat("x", 9000) + "THE END", "other.md": "Hello.", "t.csv": "a\n1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := tables.Open(t.Context(), "shop", dir, tables.Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	set := New([]Source{files})
	if p := set.Prompt(); !strings.Contains(p, "Revenue is without tax.") || strings.Contains(p, "THE END") || strings.Contains(p, "documents of shop: plumb.md") {
		t.Errorf("prompt: %.300s", p)
	}
	if r, err := set.Call(t.Context(), "search_files", Input{Args: []byte(`{"pattern":"Revenue"}`)}); err != nil || strings.Contains(r.Item.Output, "without tax") {
		t.Errorf("%v, %+v", err, r)
	}
}

// mute is a source of metrics that is never asked.
type mute struct{}

func (mute) Name() string { return "prod" }
func (mute) Query(context.Context, string, time.Time) (Readings, error) {
	return Readings{}, errors.New("not asked")
}
func (mute) QueryRange(context.Context, string, Span) (Readings, error) {
	return Readings{}, errors.New("not asked")
}

// A channel that may see metrics and nothing else has the tool for them, is told of them, and is offered no other.
func TestMetricsAlone(t *testing.T) {
	set := New(nil, QueryMetrics([]Metrics{mute{}}))
	if specs := set.Specs(); len(specs) != 1 || specs[0].Name != "query_metrics" || !strings.Contains(set.Prompt(), "prod") {
		t.Errorf("%d tools, prompt %q", len(specs), set.Prompt())
	}
	if none := New(nil); len(none.Specs()) != 0 || none.Prompt() != "" {
		t.Errorf("(L3) without a source there are %d tools and the prompt %q", len(none.Specs()), none.Prompt())
	}
}
