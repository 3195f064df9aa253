package offline

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"plumb/model"
)

const (
	listing   = `{"sources":[{"name":"shop","kind":"files","tables":[{"name":"orders","rows":4,"columns":["region VARCHAR","amount DOUBLE"]}],"documents":[],"skipped":[]}]}`
	listingIn = `{"name":"orders","file":"orders.csv","rows":4,"columns":[{"name":"region","type":"VARCHAR","null_share":0,"distinct":2,"min":"EU","max":"US","common":["EU","US"]},` +
		`{"name":"amount","type":"DOUBLE","null_share":0,"distinct":4,"min":1,"max":9,"common":[]}],"notes":[],"sample":{"columns":[],"rows":[]}}`
)

var allTools = []model.Tool{{Name: "list_sources"}, {Name: "inspect_table"}, {Name: "run_sql"}, {Name: "search_files"}, {Name: "read_file"}}

// drive lets the planner work; answer is the tools' side. It gives the answer and the calls.
func drive(t *testing.T, turns []model.Turn, answer func(model.Call) model.Result) (string, []model.Call, []model.Turn) {
	t.Helper()
	var calls []model.Call
	for range 20 {
		r, err := model.Collect(t.Context(), New(), model.Request{Turns: turns, Tools: allTools}, nil)
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, r.Turn())
		if len(r.Calls) == 0 {
			return r.Text, calls, turns
		}
		results := model.Turn{Role: model.Tools}
		for _, c := range r.Calls {
			res := answer(c)
			res.CallID = c.ID
			results.Results = append(results.Results, res)
		}
		calls = append(calls, r.Calls...)
		turns = append(turns, results)
	}
	t.Fatal("the planner does not end")
	return "", nil, nil
}

func asked(texts ...string) []model.Turn {
	var out []model.Turn
	for _, s := range texts {
		out = append(out, model.Turn{Role: model.User, Text: s})
	}
	return out
}

// answering answers from a table: tool name to text; what begins with "!" has failed.
func answering(texts map[string]string) func(model.Call) model.Result {
	return func(c model.Call) model.Result {
		text, failed := strings.CutPrefix(texts[c.Name], "!")
		return model.Result{Text: text, Failed: failed}
	}
}

func names(calls []model.Call) string {
	var out []string
	for _, c := range calls {
		out = append(out, c.Name)
	}
	return strings.Join(out, " ")
}

func TestCallsAndAnswer(t *testing.T) {
	text, calls, _ := drive(t, asked("Ada (U1): how many orders in the EU?"), answering(map[string]string{
		"list_sources": listing, "inspect_table": listingIn, "run_sql": "1 row\norders\n1234"}))
	if names(calls) != "list_sources inspect_table run_sql" || !strings.HasPrefix(text, "**1,234** orders where `region` is EU.") || !strings.HasSuffix(text, signature) {
		t.Errorf("%s: %s", names(calls), text)
	}
	seen := map[string]bool{}
	for _, c := range calls {
		if seen[c.ID] || !json.Valid(c.Arguments) {
			t.Errorf("call %+v", c)
		}
		seen[c.ID] = true
	}
	if got := string(calls[2].Arguments); got != `{"source":"shop","sql":"SELECT count(*) AS orders FROM orders WHERE lower(region) = 'eu'"}` {
		t.Error(got)
	}
}

// Whatever fails, the answer is honest words without a figure, after at most one other try.
func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		name, calls, contains string
		tools                 map[string]string
	}{
		{"no list", "list_sources", "could not be listed: boom", map[string]string{"list_sources": "!boom"}},
		{"garbled list", "list_sources", "cannot read", map[string]string{"list_sources": "{"}},
		{"no inspection", "list_sources inspect_table run_sql", "**7** orders", map[string]string{"list_sources": listing, "inspect_table": "!boom", "run_sql": "1 row\norders\n7"}},
		{"no query", "list_sources inspect_table run_sql run_sql", "It said: boom", map[string]string{"list_sources": listing, "inspect_table": listingIn, "run_sql": "!boom"}},
		{"garbled result", "list_sources inspect_table run_sql", "cannot read", map[string]string{"list_sources": listing, "inspect_table": listingIn, "run_sql": "what?"}},
		{"nothing there", "list_sources", "no table", map[string]string{"list_sources": `{"sources":[]}`}},
	} {
		text, calls, _ := drive(t, asked("U1: how many orders are there"), answering(tt.tools))
		if names(calls) != tt.calls || !strings.Contains(text, tt.contains) || !strings.HasSuffix(text, signature) {
			t.Errorf("%s: %s: %s", tt.name, names(calls), text)
		}
	}
}

// [L10] Nothing found is said in words.
func TestNothingFound(t *testing.T) {
	for _, tt := range []struct{ question, result, want string }{
		{"U1: total amount of orders in the EU", "1 row, without values: nothing matched\ntotal_amount\n\"\"", "so the sum is zero"},
		{"U1: average amount of orders in the EU", "1 row, without values: nothing matched\naverage_amount\n\"\"", "so there is no average value"},
		{"U1: how many orders per region", "no rows: nothing matched\nregion,orders", "nothing to split"},
		{"U1: show orders in the EU", "no rows: nothing matched\nregion,amount", "Nothing in `orders` matches where `region` is EU"},
	} {
		text, _, _ := drive(t, asked(tt.question), answering(map[string]string{"list_sources": listing, "inspect_table": listingIn, "run_sql": tt.result}))
		if !strings.Contains(text, tt.want) {
			t.Errorf("%q: %s", tt.question, text)
		}
	}
}

// [S5] A query that was cut off by a new message is asked again if it still fits; guidance of the program is no question.
func TestSteered(t *testing.T) {
	cut := true
	answer := func(c model.Call) model.Result {
		switch {
		case c.Name == "list_sources":
			return model.Result{Text: listing}
		case c.Name == "inspect_table":
			return model.Result{Text: listingIn}
		case cut:
			cut = false
			return model.Result{Text: "not run: a new message came", Failed: true}
		}
		return model.Result{Text: "This is the same call as e3, which was not run again. Its result:\n1 row\norders\n42"}
	}
	turns := asked("Ada (U1): how many orders are there?")
	for i := range 3 { // the query is the third reply; its result is that it did not run
		r, err := model.Collect(t.Context(), New(), model.Request{Turns: turns, Tools: allTools}, nil)
		if err != nil || len(r.Calls) != 1 {
			t.Fatal(i, r, err)
		}
		res := answer(r.Calls[0])
		res.CallID = r.Calls[0].ID
		turns = append(turns, r.Turn(), model.Turn{Role: model.Tools, Results: []model.Result{res}})
	}
	turns = append(turns, asked("Plumb (the program you work in): Answer now.", "Bob (U2): thanks, only the US please")...)
	text, calls, turns := drive(t, turns, answer)
	if names(calls) != "run_sql" || !strings.Contains(string(calls[0].Arguments), "lower(region) = 'us'") || !strings.HasPrefix(text, "**42** orders where `region` is US.") {
		t.Errorf("%s: %s", calls, text)
	}
	_, calls, _ = drive(t, append(turns, asked("Ada (U1): how many orders are there?")...), answer)
	if names(calls) != "run_sql" {
		t.Errorf("what was cut off is not asked again: %s", calls)
	}
}

// Without tools, or with none allowed any more, the reply is text: an answer if the result is there.
func TestNoCalls(t *testing.T) {
	for name, req := range map[string]model.Request{
		"no tools": {Turns: asked("U1: how many orders?")},
		"no calls": {Turns: asked("U1: how many orders?"), Tools: allTools, NoCalls: true},
	} {
		r, err := model.Collect(t.Context(), New(), req, nil)
		if err != nil || len(r.Calls) > 0 || !strings.Contains(r.Text, "no tools here") {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	_, _, turns := drive(t, asked("U1: how many orders in the EU?"), answering(map[string]string{"list_sources": listing, "inspect_table": listingIn, "run_sql": "1 row\norders\n3"}))
	turns = turns[:len(turns)-1]
	closing := append(turns[:len(turns):len(turns)], asked("Plumb (the program you work in): no more tools.")...)
	r, err := model.Collect(t.Context(), New(), model.Request{Turns: closing, Tools: allTools, NoCalls: true}, nil)
	if err != nil || len(r.Calls) > 0 || !strings.HasPrefix(r.Text, "**3** orders") {
		t.Errorf("%+v, %v", r, err)
	}
	early := append(turns[:len(turns)-2:len(turns)-2], asked("Plumb (the program you work in): no more tools.")...)
	r, err = model.Collect(t.Context(), New(), model.Request{Turns: early, Tools: allTools, NoCalls: true}, nil)
	if err != nil || len(r.Calls) > 0 || !strings.Contains(r.Text, "could not look any further") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSmallTalk(t *testing.T) {
	for _, s := range []string{"", "U1: ", "Ada (U1): hello!", "U1: thanks a lot", "U1: who are you?", "U1: 👋", "U1: ???"} {
		r, err := model.Collect(t.Context(), New(), model.Request{Turns: asked(s), Tools: allTools}, nil)
		if err != nil || len(r.Calls) > 0 || !strings.Contains(r.Text, "I can count") {
			t.Errorf("%q: %+v, %v", s, r, err)
		}
	}
}

// A question that only goes on is put together with the one before, which the system prompt tells of.
func TestGoesOn(t *testing.T) {
	system := "Earlier in this conversation (look again before you repeat a figure):\n\nAda (U1) asked: how many orders in the EU?\nYou answered (answered): **3** orders"
	c := read(model.Request{System: system, Turns: asked("Ada (U1): and by region?")})
	if got := strings.Join(c.texts, "|"); got != "how many orders in the EU?|and by region?" {
		t.Error(got)
	}
	c = read(model.Request{System: system, Turns: asked("Ada (U1): in which region are most orders?")})
	if got := strings.Join(c.texts, "|"); got != "in which region are most orders?" {
		t.Error(got)
	}
}

func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("stopped")
	cancel(why)
	if _, err := model.Collect(ctx, New(), model.Request{}, nil); !errors.Is(err, why) {
		t.Error(err)
	}
	many := model.Turn{Role: model.Assistant}
	for range maxCalls {
		many.Calls = append(many.Calls, model.Call{ID: "x", Name: "list_sources"})
	}
	r, err := model.Collect(t.Context(), New(), model.Request{Turns: append(asked("U1: how many orders"), many), Tools: allTools}, nil)
	if err != nil || len(r.Calls) > 0 || !strings.Contains(r.Text, "as often as I may") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestReadResult(t *testing.T) {
	for text, want := range map[string]int{"2 rows\na,b\n1,2\n3,\"x\ny\"": 2, "no rows: nothing\na,b": 0, "1 row\na\n\"\"": 1, "1234 rows\na\n1\n2\n(2 of 1234 rows shown)": 2, "boom": -1, "1 row\na,b\n1": -1} {
		r, ok := readResult(text)
		if got := len(r.rows); ok != (want >= 0) || ok && got != want || r.cut != strings.Contains(text, "shown)") {
			t.Errorf("%q: %+v %v", text, r, ok)
		}
	}
}
