package ledgertest

import (
	"strings"

	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
	"plumb/model"
)

var work = []test{
	{"(S13) what a run did is there when another worker goes on", resumed},
	{"(S13) while results are missing nothing new is heard", missing},
	{"what was heard but not replied to is heard again", heardAgain},
	{"(S4) results drain what waits, in order, once", drained},
	{"a result is recorded once, and only for a call of its step", once},
	{"whatever a model writes and a tool gives can be kept", awkward},
	{"spending adds up", spending},
	{"a run is read whole while it is under way", underWay},
}

func resumed(b bench) {
	m := b.ask("r")
	h := b.claim("r", long)
	b.reply(h.Lease, 1, "looking", call("c1", `{"sql": "SELECT 1"}`), call("c2", `{"sql": "SELECT 2"}`))
	remark := b.remark("r", "2", bob, "only EU")
	one := ledger.Call{N: 1, Text: "one", Item: item("e1", "one")}
	two := ledger.Call{N: 2, Text: "no such table", Failed: true, Item: item("e2", "")}
	b.results(h.Lease, 1, one, two)
	b.reply(h.Lease, 2, "again", call("c1", `{"sql": "SELECT 3"}`))
	b.results(h.Lease, 2, ledger.Call{N: 3, Text: "three", Item: item("e3", "three")})
	b.reply(h.Lease, 3, "a draft")
	if err := b.ledger.Release(b.Context(), h.Lease); err != nil {
		b.Fatal(err)
	}
	late := b.remark("r", "3", eve, "only May")
	one.Call, one.Done = call("c1", `{"sql": "SELECT 1"}`), true
	two.Call, two.Done = call("c2", `{"sql": "SELECT 2"}`), true
	three := ledger.Call{N: 3, Call: call("c1", `{"sql": "SELECT 3"}`), Done: true, Text: "three", Item: item("e3", "three")}
	reply := func(text string, calls ...model.Call) *model.Reply {
		return &model.Reply{Text: text, Calls: calls, Usage: model.Usage{InputTokens: 10, OutputTokens: 1}, Model: "m"}
	}
	h = b.claim("r", long)
	b.is("steps", h.Steps, []ledger.Step{
		{N: 1, Heard: []ledger.Said{{Message: m, Seq: 1}}, Reply: reply("looking", one.Call, two.Call), Calls: []ledger.Call{one, two}},
		{N: 2, Heard: []ledger.Said{{Message: remark, Seq: 2}}, Reply: reply("again", three.Call), Calls: []ledger.Call{three}},
		{N: 3, Reply: reply("a draft")},
		{N: 4, Heard: []ledger.Said{{Message: late, Seq: 3}}},
	})
	b.is("steerers", h.Run.Steerers, []chat.Person{bob, eve})
	b.is("steps read again", func() []ledger.Step {
		if err := b.ledger.Release(b.Context(), h.Lease); err != nil {
			b.Fatal(err)
		}
		return b.claim("r", long).Steps
	}(), h.Steps)
}

func missing(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	b.reply(h.Lease, 1, "", call("c1", "{}"), call("c2", "{}"))
	b.is("recorded in part", texts(b.results(h.Lease, 1, ledger.Call{N: 1, Text: "one"})), []string(nil))
	b.remark("r", "2", bob, "only EU")
	if err := b.ledger.Release(b.Context(), h.Lease); err != nil {
		b.Fatal(err)
	}
	h = b.claim("r", long)
	if len(h.Steps) != 1 || !h.Steps[0].Calls[0].Done || h.Steps[0].Calls[1].Done || h.Steps[0].Calls[1].Item != nil {
		b.Fatalf("steps: %+v", h.Steps)
	}
	b.is("heard with the last result", texts(b.results(h.Lease, 1, ledger.Call{N: 2, Text: "two"})), []string{"only EU"})
}

func heardAgain(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	b.remark("r", "2", bob, "only EU")
	if err := b.ledger.Release(b.Context(), h.Lease); err != nil {
		b.Fatal(err)
	}
	h = b.claim("r", long)
	if len(h.Steps) != 1 || h.Steps[0].N != 1 {
		b.Fatalf("steps: %+v", h.Steps)
	}
	b.is("heard", texts(h.Steps[0].Heard), []string{"how many orders?", "only EU"})
}

func drained(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	b.reply(h.Lease, 1, "", call("c", "{}"))
	b.remark("r", "9", bob, "first")
	b.remark("r", "8", eve, "second")
	b.remark("r", "7", ann, "third")
	b.is("drained before a launch", texts(b.results(h.Lease, 1)), []string{"first", "second", "third"})
	b.is("drained again", texts(b.results(h.Lease, 1, ledger.Call{N: 1, Text: "one"})), []string(nil))
	b.is("steerers", b.run("r").Steerers, []chat.Person{bob, eve})
	b.is("steering", b.run("r").Record.Steering, []evidence.Steer{
		{ID: "9", Who: "U2", Text: "first", Outcome: evidence.Applied, Step: 2},
		{ID: "8", Who: "U3", Text: "second", Outcome: evidence.Applied, Step: 2},
		{ID: "7", Who: "U1", Text: "third", Outcome: evidence.Applied, Step: 2},
	})
}

func once(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	b.reply(h.Lease, 1, "", call("c", "{}"))
	b.remark("r", "2", bob, "only EU")
	for _, bad := range []struct {
		step int
		call ledger.Call
	}{{1, ledger.Call{N: 2, Text: "no such call"}}, {2, ledger.Call{N: 1, Text: "another step"}}} {
		if _, err := b.ledger.Results(b.Context(), h.Lease, bad.step, []ledger.Call{bad.call}, evidence.Usage{ToolCalls: 1}); err == nil {
			b.Errorf("the result %q was taken", bad.call.Text)
		}
	}
	b.is("nothing was heard beside a failure", texts(b.results(h.Lease, 1, ledger.Call{N: 1, Text: "one"})), []string{"only EU"})
	if _, err := b.ledger.Results(b.Context(), h.Lease, 1, []ledger.Call{{N: 1, Text: "two"}}, evidence.Usage{ToolCalls: 1}); err == nil {
		b.Error("a second result was taken")
	}
	b.reply(h.Lease, 2, "first")
	if err := b.ledger.Reply(b.Context(), h.Lease, 2, model.Reply{Text: "second"}, evidence.Usage{ModelCalls: 1}); err == nil {
		b.Error("a second reply was taken")
	}
	b.is("usage", b.run("r").Usage, evidence.Usage{ModelCalls: 2, ToolCalls: 1, InputTokens: 20, OutputTokens: 2, CostUSD: 0.5, WallMS: 5})
}

func awkward(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	text := "zero \x00, quote ' \" \\, newline \n, $1 ?1, {now}, 🛑 " + strings.Repeat("x", 100_000)
	c := call("c", `{"sql": oops`)
	b.reply(h.Lease, 1, text, c)
	it := item("e1", text)
	it.Args = []byte(`{"sql": oops`)
	b.results(h.Lease, 1, ledger.Call{N: 1, Text: text, Failed: true, Item: it})
	b.remark("r", "2", bob, text)
	if err := b.ledger.Release(b.Context(), h.Lease); err != nil {
		b.Fatal(err)
	}
	steps := b.claim("r", long).Steps
	if len(steps) != 2 || len(steps[0].Calls) != 1 {
		b.Fatalf("steps: %+v", steps)
	}
	got := steps[0].Calls[0]
	b.is("reply", steps[0].Reply.Text, text)
	b.is("call", got.Call, c)
	b.is("result", got.Text, text)
	b.is("output", got.Item.Output, text)
	b.is("arguments", string(got.Item.Args), `"{\"sql\": oops"`)
	b.is("remark", steps[1].Heard[0].Message.Text, text)
}

func spending(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	b.reply(h.Lease, 1, "", call("c", "{}"))
	b.results(h.Lease, 1, ledger.Call{N: 1})
	e := answered("42")
	e.Spent = evidence.Usage{ModelCalls: 1, ToolCalls: 1, InputTokens: 1, OutputTokens: 1, CostUSD: 0.5, WallMS: 1}
	b.finish(h.Lease, e)
	want := evidence.Usage{ModelCalls: 2, ToolCalls: 2, InputTokens: 11, OutputTokens: 2, CostUSD: 0.75, WallMS: 6}
	b.is("usage", b.run("r").Usage, want)
	b.is("usage in the record", b.run("r").Record.Usage, want)
}

func underWay(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	b.reply(h.Lease, 1, "", call("c1", "{}"), call("c2", "{}"))
	b.results(h.Lease, 1, ledger.Call{N: 2, Text: "two", Item: item("e2", "two")}, ledger.Call{N: 1, Text: "one", Item: item("e1", "one")})
	b.remark("r", "2", bob, "only EU")
	got := b.run("r")
	b.is("record", got.Record, evidence.Record{RunID: "r", Status: evidence.Running, Usage: got.Usage,
		Evidence: []evidence.Item{*item("e1", "one"), *item("e2", "two")},
		Steering: []evidence.Steer{{ID: "2", Who: "U2", Text: "only EU", Outcome: evidence.Queued}}})
}
