// Package modeltest is the contract that every provider of a model passes, and fake servers that speak the providers'
// protocols. The servers play lines and refuse what the real ones refuse.
package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plumb/model"
)

// Key is the key that the model under test must use: the fake servers put it into every failure, and the suite looks
// for it in every error.
const Key = "sk-secret-4711"

// A Line is the provider's side of one call.
type Line struct {
	Text       string
	Calls      []model.Call // as the provider sends them: ids may be empty or double, arguments may be no JSON
	Usage      model.Usage
	Status     int    // the call fails with this status
	RetryAfter string // and this header
	Cut        bool   // the connection is cut after the text
	Hang       bool   // nothing comes after the text; the test fails if the client does not hang up
}

// Run runs the suite. The factory makes a model that is answered by these lines, one a call.
func Run(t *testing.T, open func(t *testing.T, lines []Line) model.Model) {
	t.Run("text", func(t *testing.T) { testText(t, open) })
	t.Run("calls", func(t *testing.T) { testCalls(t, open) })
	t.Run("odd calls", func(t *testing.T) { testOddCalls(t, open) })
	t.Run("conversation", func(t *testing.T) { testConversation(t, open) })
	t.Run("broken history", func(t *testing.T) { testHistory(t, open) })
	t.Run("no calls", func(t *testing.T) { testNoCalls(t, open) })
	t.Run("failures", func(t *testing.T) { testFailures(t, open) })
	t.Run("cut", func(t *testing.T) { testCut(t, open) })
	t.Run("leaving", func(t *testing.T) { testLeaving(t, open) })
	t.Run("cancelled", func(t *testing.T) { testCancelled(t, open) })
	t.Run("side by side", func(t *testing.T) { testSideBySide(t, open) })
}

type factory = func(t *testing.T, lines []Line) model.Model

var sqlTool = model.Tool{
	Name: "run_sql", Description: "Runs SQL.", Schema: json.RawMessage(`{"type":"object","properties":{"sql":{"type":"string"}}}`),
}

func ask(text string) model.Request {
	return model.Request{System: "Be brief.", Turns: []model.Turn{{Role: model.User, Text: text}}, Tools: []model.Tool{sqlTool}}
}

func collect(t *testing.T, m model.Model, req model.Request) model.Reply {
	t.Helper()
	r, err := model.Collect(t.Context(), m, req, nil)
	if err != nil {
		t.Fatalf("the model fails: %v", err)
	}
	return r
}

func testText(t *testing.T, open factory) {
	want := "Umsätze: 1 234 €, 数据 🙂 and <b>&\n\n| a | b |\nthe end"
	m := open(t, []Line{{Text: want, Usage: model.Usage{InputTokens: 900, OutputTokens: 20}}})
	if m.Name() == "" {
		t.Error("the model has no name")
	}
	var pieces []string
	r, err := model.Collect(t.Context(), m, ask("hello"), func(s string) { pieces = append(pieces, s) })
	if err != nil {
		t.Fatal(err)
	}
	if r.Text != want || strings.Join(pieces, "") != want {
		t.Errorf("text %q, in pieces %q", r.Text, pieces)
	}
	if len(pieces) < 2 {
		t.Errorf("the text comes in one piece")
	}
	if diff := cmp.Diff(model.Usage{InputTokens: 900, OutputTokens: 20}, r.Usage); diff != "" {
		t.Error(diff)
	}
	if len(r.Calls) != 0 {
		t.Errorf("calls out of nowhere: %v", r.Calls)
	}
}

func testCalls(t *testing.T, open factory) {
	want := []model.Call{
		{ID: "c1", Name: "run_sql", Arguments: json.RawMessage(`{"sql":"SELECT 'ä🙂' AS \"x\""}`)},
		{ID: "c2", Name: "run_sql", Arguments: json.RawMessage(`{"sql":"SELECT 2"}`)},
		{ID: "c3", Name: "list_sources", Arguments: json.RawMessage(`{}`)},
	}
	m := open(t, []Line{{Text: "Let me look.", Calls: want}, {Calls: want[:1]}})
	r := collect(t, m, ask("how many?"))
	if r.Text != "Let me look." {
		t.Errorf("text %q", r.Text)
	}
	if diff := cmp.Diff(want, r.Calls); diff != "" {
		t.Error(diff)
	}
	r = collect(t, m, ask("and now?"))
	if diff := cmp.Diff(want[:1], r.Calls); r.Text != "" || diff != "" {
		t.Errorf("a reply of calls only: text %q, %s", r.Text, diff)
	}
}

// testOddCalls: ids are unique in the whole conversation, whatever the provider sends, and no arguments are {}.
func testOddCalls(t *testing.T, open factory) {
	m := open(t, []Line{
		{Calls: []model.Call{{Name: "a"}, {ID: "x", Name: "b"}, {ID: "x", Name: "c", Arguments: json.RawMessage(`{"n":1}`)}}},
		{Calls: []model.Call{{ID: "x", Name: "d"}, {Name: "e"}}},
		{Text: "done"},
	})
	req := ask("go")
	seen := map[string]bool{}
	for range 2 {
		r := collect(t, m, req)
		turn := model.Turn{Role: model.Tools}
		for _, c := range r.Calls {
			if !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`).MatchString(c.ID) || seen[c.ID] {
				t.Errorf("call %s has the id %q, after %v", c.Name, c.ID, seen)
			}
			if want := map[string]string{"c": `{"n":1}`}[c.Name]; want == "" && string(c.Arguments) != "{}" || want != "" && string(c.Arguments) != want {
				t.Errorf("call %s has the arguments %s", c.Name, c.Arguments)
			}
			seen[c.ID] = true
			turn.Results = append(turn.Results, model.Result{CallID: c.ID, Text: "ok"})
		}
		req.Turns = append(req.Turns, r.Turn(), turn)
	}
	if len(seen) != 5 {
		t.Errorf("%d calls, want 5", len(seen))
	}
	collect(t, m, req)
}

// testConversation: what a run looks like in the middle, which a server takes apart and refuses if it is out of order.
func testConversation(t *testing.T, open factory) {
	m := open(t, []Line{{Text: "ok"}})
	collect(t, m, model.Request{System: "Be brief.", Tools: []model.Tool{sqlTool}, Turns: []model.Turn{
		{Role: model.User, Text: "Ann: how many?"},
		{Role: model.User, Text: "Bob: only EU"},
		{Role: model.Assistant, Text: "Let me see.", Calls: []model.Call{{ID: "c1", Name: "run_sql", Arguments: json.RawMessage(`{"sql":"x"}`)}, {ID: "c2", Name: "run_sql", Arguments: json.RawMessage(`{}`)}}},
		{Role: model.Tools, Results: []model.Result{{CallID: "c1", Text: "no such table", Failed: true}, {CallID: "c2", Text: ""}}},
		{Role: model.User, Text: "Ann: and hurry"},
		{Role: model.Assistant, Text: "  \n"},
		{Role: model.User, Text: "Ann: hello?"},
	}})
}

// testHistory: a conversation that another provider has begun, or a model with bad manners.
func testHistory(t *testing.T, open factory) {
	m := open(t, []Line{{Text: "ok"}})
	call := func(id, name, args string) model.Call {
		return model.Call{ID: id, Name: name, Arguments: json.RawMessage(args)}
	}
	collect(t, m, model.Request{Tools: []model.Tool{sqlTool}, Turns: []model.Turn{
		{Role: model.Assistant, Text: "I spoke first."},
		{Role: model.User, Text: "how many?"},
		{Role: model.Assistant, Calls: []model.Call{call("call:1/ä", "run_sql", `{"sql": "SEL`), call("", "no such tool!", ``), call("dup", "", `[1]`)}},
		{Role: model.Tools, Results: []model.Result{{CallID: "call:1/ä", Text: "no JSON"}, {CallID: "", Text: "no such tool"}, {CallID: "dup", Text: "x"}}},
		{Role: model.Assistant, Calls: []model.Call{call("dup", "run_sql", `{}`), call(strings.Repeat("long", 20), "run_sql", `null`)}},
		{Role: model.Tools, Results: []model.Result{{CallID: strings.Repeat("long", 20), Text: "2"}, {CallID: "dup", Text: "1"}}},
	}})
}

func testNoCalls(t *testing.T, open factory) {
	m := open(t, []Line{{Text: "closing"}, {Text: "plain"}, {Text: "bare"}})
	req := ask("how many?")
	req.NoCalls = true
	collect(t, m, req)
	req.Turns = append(req.Turns,
		model.Turn{Role: model.Assistant, Calls: []model.Call{{ID: "c1", Name: "run_sql", Arguments: json.RawMessage(`{}`)}}},
		model.Turn{Role: model.Tools, Results: []model.Result{{CallID: "c1", Text: "42"}}},
	)
	collect(t, m, req)
	collect(t, m, model.Request{Turns: []model.Turn{{Role: model.User, Text: "no tools at all"}}})
}

func testFailures(t *testing.T, open factory) {
	for status, want := range map[int]model.Kind{
		400: model.Rejected, 401: model.Denied, 403: model.Denied, 404: model.Unavailable, 408: model.Busy, 409: model.Busy,
		413: model.TooLong, 422: model.Rejected, 429: model.Busy, 500: model.Busy, 503: model.Busy, 529: model.Busy,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			m := open(t, []Line{{Status: status}})
			_, err := model.Collect(t.Context(), m, ask("hello"), nil)
			e, ok := errors.AsType[*model.Error](err)
			if !ok {
				t.Fatalf("error %v", err)
			}
			if e.Kind != want || e.Status != status {
				t.Errorf("status %d, kind %s, want %s", e.Status, e.Kind, want)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), Key) {
				t.Errorf("the error holds the key: %v", err)
			}
		})
	}
}

func testCut(t *testing.T, open factory) {
	m := open(t, []Line{{Text: "half an ans", Cut: true}})
	r, err := model.Collect(t.Context(), m, ask("hello"), nil)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Broken || !e.Retryable() {
		t.Errorf("error %v", err)
	}
	if r.Text != "half an ans" {
		t.Errorf("text %q", r.Text)
	}
}

func testLeaving(t *testing.T, open factory) {
	m := open(t, []Line{{Text: "one two three", Hang: true}})
	for part, err := range m.Generate(t.Context(), ask("hello")) {
		if err != nil {
			t.Fatal(err)
		}
		if part.Text != "" {
			break
		}
	}
}

func testCancelled(t *testing.T, open factory) {
	m := open(t, []Line{{Text: "one two three", Hang: true}})
	stopped := errors.New("stopped by a person")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := model.Collect(ctx, m, ask("hello"), func(string) { cancel(stopped) })
	if err != stopped {
		t.Errorf("error %v, want the cause of the end itself", err)
	}
	if _, err := model.Collect(ctx, m, ask("again"), nil); err != stopped {
		t.Errorf("error %v before the start", err)
	}
}

func testSideBySide(t *testing.T, open factory) {
	const n = 20
	lines := make([]Line, n)
	for i := range lines {
		lines[i] = Line{Text: fmt.Sprint("answer ", i), Calls: []model.Call{{ID: "c1", Name: "run_sql", Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))}}}
	}
	m := open(t, lines)
	var mu sync.Mutex
	got := map[string]string{}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			r, err := model.Collect(t.Context(), m, ask(fmt.Sprint("question ", i)), nil)
			if err != nil || len(r.Calls) != 1 {
				t.Errorf("calls %v, error %v", r.Calls, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			got[r.Text] = string(r.Calls[0].Arguments)
		})
	}
	wg.Wait()
	for i := range n {
		if want := fmt.Sprintf(`{"n":%d}`, i); got[fmt.Sprint("answer ", i)] != want {
			t.Errorf("answer %d goes with %q", i, got[fmt.Sprint("answer ", i)])
		}
	}
}
