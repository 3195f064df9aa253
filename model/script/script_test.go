package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"plumb/model"
	"plumb/model/modeltest"
)

func TestContract(t *testing.T) {
	modeltest.Run(t, func(t *testing.T, lines []modeltest.Line) model.Model {
		var file strings.Builder
		for _, l := range lines {
			out := map[string]any{"text": l.Text, "usage": l.Usage}
			var calls []any
			for _, c := range l.Calls {
				calls = append(calls, map[string]any{"id": c.ID, "name": c.Name, "arguments": c.Arguments})
			}
			out["tool_calls"] = calls
			switch {
			case l.Status != 0 || l.Cut:
				out = map[string]any{"error": map[string]any{"status": l.Status, "after_text": l.Text}}
			case l.Hang:
				out["chunk_ms"] = 3_600_000
			}
			b, err := json.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			file.Write(append(b, '\n'))
		}
		m, err := Parse(strings.NewReader(file.String()))
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}

func open(t *testing.T, lines ...string) model.Model {
	t.Helper()
	m, err := Parse(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(text string, tools ...string) model.Request {
	req := model.Request{System: "schema of orders", Turns: []model.Turn{{Role: model.User, Text: text}}}
	for _, name := range tools {
		req.Tools = append(req.Tools, model.Tool{Name: name})
	}
	return req
}

func text(t *testing.T, m model.Model, req model.Request) string {
	t.Helper()
	r, err := model.Collect(t.Context(), m, req, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Text
}

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"{}\n\n{\"texts\": \"a\"}":                `script, line 3: json: unknown field "texts"`,
		`{"expect": {"contain": []}}`:             `unknown field "contain"`,
		`{"text": "a"} {"text": "b"}`:             "line 1: there is more than one object",
		`{"text": "a"`:                            "line 1: the object does not end on this line",
		`null`:                                    "line 1: this is no object",
		`{"text": 5}`:                             "line 1: json: cannot unmarshal number",
		`{"tool_calls": [{"id": "c"}]}`:           "line 1: a tool call needs a name",
		`{"error": {"status": 200}}`:              "line 1: status 200 is no error",
		`{"delay_ms": -1}`:                        "line 1: delay_ms",
		`{"usage": {"input_tokens": -1}}`:         "line 1: usage",
		"{}\n{\"tool_calls\": {\"name\": \"a\"}}": "line 2: json: cannot unmarshal object",
	} {
		if _, err := Parse(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", in, err, want)
		}
	}
	open(t, "\ufeff"+`{"expect": {"contains": ["a"], "tools": []}, "text": "a", "tool_calls": [{"id": "c", "name": "a", "arguments": {}}], "usage": {"input_tokens": 1, "output_tokens": 2}, "delay_ms": 1, "chunk_ms": 1}`,
		"", `  {"error": {"status": 529, "after_text": "a"}}  `, `{"text": "`+strings.Repeat("long ", 100_000)+`"}`)
}

func TestOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.jsonl")
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("error %v", err)
	}
	if err := os.WriteFile(file, []byte("{}\n{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "script s.jsonl, line 2") {
		t.Errorf("error %v", err)
	}
	if err := os.WriteFile(file, []byte(`{"text": "hi"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Open(file)
	if err != nil || m.Name() != "script:s.jsonl" || text(t, m, ask("q")) != "hi" {
		t.Errorf("%v, error %v", m, err)
	}
}

func TestExpect(t *testing.T) {
	full := ask("how many?", "run_sql", "read_file")
	full.Turns = append(full.Turns,
		model.Turn{Role: model.Assistant, Text: "said", Calls: []model.Call{{ID: "c", Name: "run_sql", Arguments: []byte(`{ "sql" : "argued" }`)}}},
		model.Turn{Role: model.Tools, Results: []model.Result{{CallID: "c", Text: "resulted"}}})
	closing := full
	closing.NoCalls = true
	for _, c := range []struct {
		expect string
		req    model.Request
		miss   string // "" where it fits
	}{
		{`{"contains": ["how many", "said", "argued", "{\"sql\":\"argued\"}", "resulted", "schema of"]}`, full, ""},
		{`{"contains": ["how many", "nowhere"]}`, full, `line 2 of the script expects that the request holds "nowhere"`},
		{`{"tools": ["run_sql", "read_file"]}`, full, ""},
		{`{"tools": ["run_sql", "make_chart"]}`, full, "make_chart is offered, and it is not; offered: run_sql, read_file"},
		{`{"tools": ["run_sql"]}`, closing, "offered: none"},
		{`{"tools": []}`, full, "a call without tools, and there are run_sql, read_file"},
		{`{"tools": []}`, closing, ""},
		{`{"tools": []}`, ask("q"), ""},
		{`{"contains": ["how many"]}`, full, ""},
	} {
		m := open(t, "", `{"text": "ok", "expect": `+c.expect+`}`)
		_, err := model.Collect(t.Context(), m, c.req, nil)
		switch {
		case c.miss == "" && err != nil:
			t.Errorf("%s: %v", c.expect, err)
		case c.miss != "" && (model.KindOf(err) != model.Scripted || !strings.Contains(err.Error(), c.miss)):
			t.Errorf("%s: error %v, want %s", c.expect, err, c.miss)
		}
	}
}

func TestTooShort(t *testing.T) {
	m := open(t, `{"text": "one"}`)
	text(t, m, ask("a"))
	if _, err := model.Collect(t.Context(), m, ask("b"), nil); model.KindOf(err) != model.Scripted || !strings.Contains(err.Error(), "too short: it has 1 lines") {
		t.Errorf("error %v", err)
	}
}

// A script matches by messages: the same turns get the same line, whatever the system prompt, unless calls have become
// possible or impossible.
func TestRepeats(t *testing.T) {
	m := open(t, `{"text": "one"}`, `{"text": "two"}`, `{"text": "three"}`)
	a, b := ask("a", "run_sql"), ask("b", "run_sql")
	var got []string
	got = append(got, text(t, m, a), text(t, m, b))
	a.System = "another time"
	got = append(got, text(t, m, a), text(t, m, b))
	a.NoCalls = true
	got = append(got, text(t, m, a), text(t, m, a))
	if diff := cmp.Diff([]string{"one", "two", "one", "two", "three", "three"}, got); diff != "" {
		t.Error(diff)
	}
}

// A line with an error is used up: the same request, tried again, gets the next one.
func TestErrors(t *testing.T) {
	m := open(t, `{"error": {"status": 529, "after_text": "Ther"}}`, `{"error": {}}`, `{"error": {"status": 401}}`, `{"text": "There are 42."}`)
	for _, want := range []struct {
		text   string
		kind   model.Kind
		status int
	}{{"Ther", model.Busy, 529}, {"", model.Broken, 0}, {"", model.Denied, 401}} {
		r, err := model.Collect(t.Context(), m, ask("a"), nil)
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != want.kind || e.Status != want.status || r.Text != want.text {
			t.Errorf("%q, error %v, want %v", r.Text, err, want)
		}
	}
	if got := text(t, m, ask("a")); got != "There are 42." {
		t.Errorf("text %q", got)
	}
	m = model.WithRetry(open(t, `{"error": {"after_text": "Ther"}}`, `{"text": "There are 42."}`), model.RetryOptions{Base: 1})
	if got := text(t, m, ask("a")); got != "There are 42." {
		t.Errorf("with retries: %q", got)
	}
}

// In a new process the script goes on where the conversation is.
func TestGoesOn(t *testing.T) {
	lines := []string{
		`{"tool_calls": [{"name": "run_sql", "arguments": {"sql": "1"}}]}`,
		`{"error": {"status": 500}}`,
		`{"tool_calls": [{"name": "run_sql", "arguments": {"sql": "2"}}]}`,
		`{"text": "done"}`,
	}
	req := ask("q", "run_sql")
	first := open(t, lines...)
	for range 3 { // the second one fails
		r, err := model.Collect(t.Context(), first, req, nil)
		if err != nil {
			continue
		}
		req.Turns = append(req.Turns, r.Turn(), model.Turn{Role: model.Tools, Results: []model.Result{{CallID: r.Calls[0].ID, Text: "x"}}})
	}
	if len(req.Turns) != 5 {
		t.Fatalf("%d turns, want 5", len(req.Turns))
	}
	if got := text(t, open(t, lines...), req); got != "done" {
		t.Errorf("the new process says %q", got)
	}
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, `{"text": "a b c", "delay_ms": 5000, "chunk_ms": 1000}`, `{"error": {"after_text": "a b"}, "delay_ms": 2000}`)
		start := time.Now()
		var at []time.Duration
		_, err := model.Collect(t.Context(), m, ask("q"), func(string) { at = append(at, time.Since(start)/time.Second) })
		if diff := cmp.Diff([]time.Duration{5, 6, 7}, at); diff != "" || err != nil {
			t.Error(err, diff)
		}
		start = time.Now()
		_, _ = model.Collect(t.Context(), m, ask("r"), nil)
		if d := time.Since(start); d != 2*time.Second {
			t.Errorf("the error comes after %v", d)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		stopped := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(stopped) })
		start := time.Now()
		_, err := model.Collect(ctx, open(t, `{"text": "a", "delay_ms": 5000}`), ask("q"), nil)
		if d := time.Since(start); err != stopped || d != time.Second {
			t.Errorf("after %v: %v", d, err)
		}
	})
}

func TestMadeUp(t *testing.T) {
	m := open(t, `{"text": "12345678", "tool_calls": [{"name": "a"}, {"id": "c", "name": "b", "arguments": null}]}`, `{"tool_calls": [{"id": "c", "name": "b"}]}`)
	req := ask("12345678")
	r, err := model.Collect(t.Context(), m, req, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Call{{ID: "call_1_1", Name: "a", Arguments: []byte("{}")}, {ID: "c", Name: "b", Arguments: []byte("{}")}}
	if diff := cmp.Diff(want, r.Calls); diff != "" {
		t.Error(diff)
	}
	if want := (model.Usage{InputTokens: 6, OutputTokens: 4}); r.Usage != want {
		t.Errorf("usage %v, want %v", r.Usage, want)
	}
	req.Turns = append(req.Turns, r.Turn())
	if r, err = model.Collect(t.Context(), m, req, nil); err != nil || r.Calls[0].ID == "c" {
		t.Errorf("an id is used again: %v, error %v", r.Calls, err)
	}
}

// What parses plays: text comes out as it was written, and what fails names its kind.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"expect": {"contains": ["orders"], "tools": ["run_sql"]}, "text": "Let me look.", "tool_calls": [{"id": "c1", "name": "run_sql", "arguments": {"sql": "SELECT"}}]}`))
	f.Add([]byte("{\"text\": \"a\\nb  c\"}\n\n{\"error\": {\"status\": 529, \"after_text\": \"Ther\"}}\n{\"usage\": {\"input_tokens\": 1}, \"delay_ms\": 0}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parse(bytes.NewReader(data))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Fatalf("the error names no line: %v", err)
			}
			return
		}
		for i := range s.lines {
			l := &s.lines[i]
			l.DelayMS, l.ChunkMS = 0, 0
			r, err := model.Collect(t.Context(), s, ask(strings.Repeat("x", i)), nil)
			switch {
			case err != nil && model.KindOf(err) == "":
				t.Fatalf("line %d: %v", l.number, err)
			case err == nil && (r.Text != l.Text || len(r.Calls) != len(l.ToolCalls)):
				t.Fatalf("line %d says %q with %d calls", l.number, r.Text, len(r.Calls))
			}
		}
	})
}
