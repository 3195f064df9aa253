// Package ledgertest is what every ledger promises, as tests.
package ledgertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
	"plumb/model"
)

// Run checks a ledger. Each test opens one that is empty; closing it is up to open.
func Run(t *testing.T, open func(t *testing.T) ledger.Ledger) {
	for _, group := range [][]test{messages, claims, work, endings, stops, changes, deliveries} {
		for _, tc := range group {
			t.Run(tc.name, func(t *testing.T) { tc.run(bench{t, open(t)}) })
		}
	}
}

type test struct {
	name string
	run  func(b bench)
}

// A bench is a test with its ledger, and the moves that tests are made of.
type bench struct {
	*testing.T
	ledger ledger.Ledger
}

var (
	ann = chat.Person{ID: "U1", Name: "Ann"}
	bob = chat.Person{ID: "U2", Name: "Bob"}
	eve = chat.Person{ID: "U3", Name: "Eve"}
)

// long is a lease that no test outlives.
const long = time.Minute

func message(thread, id string, who chat.Person, text string) chat.Message {
	return chat.Message{ID: id, Who: who, Text: text, Addressed: true, At: time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC),
		Conversation: chat.Conversation{Place: chat.Place{Platform: chat.Slack, Team: "T1", Channel: "C1"}, Thread: thread}}
}

// starts is a decision that starts a run, always.
func starts(run string) func(ledger.Situation) ledger.Decision {
	return func(ledger.Situation) ledger.Decision {
		return ledger.Decision{Kind: ledger.Start, Run: run, Budget: "work"}
	}
}

// routes is the usual decision: steer what is under way, or else start a run.
func routes(run string) func(ledger.Situation) ledger.Decision {
	return func(s ledger.Situation) ledger.Decision {
		if s.Active != nil {
			return ledger.Decision{Kind: ledger.Steer, Run: s.Active.ID}
		}
		return ledger.Decision{Kind: ledger.Start, Run: run, Budget: "work"}
	}
}

func says(d ledger.Decision) func(ledger.Situation) ledger.Decision {
	return func(ledger.Situation) ledger.Decision { return d }
}

func (b bench) receive(m chat.Message, decide func(ledger.Situation) ledger.Decision) ledger.Receipt {
	b.Helper()
	r, err := b.ledger.Receive(b.Context(), m, decide)
	if err != nil {
		b.Fatalf("Receive: %v", err)
	}
	return r
}

// ask starts a run in a thread of its own name, asked by Ann.
func (b bench) ask(run string) chat.Message {
	b.Helper()
	m := message(run, run+"-question", ann, "how many orders?")
	b.receive(m, starts(run))
	return m
}

// remark adds to a run under way.
func (b bench) remark(run, id string, who chat.Person, text string) chat.Message {
	b.Helper()
	m := message(run, id, who, text)
	b.receive(m, says(ledger.Decision{Kind: ledger.Steer, Run: run}))
	return m
}

func (b bench) claim(run string, ttl time.Duration) ledger.Held {
	b.Helper()
	h, err := b.ledger.Claim(b.Context(), run, "worker", ttl)
	if err != nil {
		b.Fatalf("Claim: %v", err)
	}
	return h
}

// reclaim waits for a lease to run out and takes the run.
func (b bench) reclaim(run string) ledger.Held {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 10*time.Second)
	defer cancel()
	for {
		h, err := b.ledger.Claim(ctx, run, "another worker", long)
		if err == nil {
			return h
		}
		if !errors.Is(err, ledger.ErrTaken) {
			b.Fatalf("Claim: %v", err)
		}
	}
}

func (b bench) reply(l ledger.Lease, step int, text string, calls ...model.Call) {
	b.Helper()
	r := model.Reply{Text: text, Calls: calls, Usage: model.Usage{InputTokens: 10, OutputTokens: 1}, Model: "m"}
	if err := b.ledger.Reply(b.Context(), l, step, r, evidence.Usage{ModelCalls: 1, InputTokens: 10, OutputTokens: 1, CostUSD: 0.25}); err != nil {
		b.Fatalf("Reply: %v", err)
	}
}

func (b bench) results(l ledger.Lease, step int, done ...ledger.Call) []ledger.Said {
	b.Helper()
	said, err := b.ledger.Results(b.Context(), l, step, done, evidence.Usage{ToolCalls: len(done), WallMS: 5})
	if err != nil {
		b.Fatalf("Results: %v", err)
	}
	return said
}

func (b bench) finish(l ledger.Lease, e ledger.Ending) bool {
	b.Helper()
	next, err := b.ledger.Finish(b.Context(), l, e)
	if err != nil {
		b.Fatalf("Finish: %v", err)
	}
	return next
}

func (b bench) run(id string) ledger.Run {
	b.Helper()
	r, err := b.ledger.Run(b.Context(), id)
	if err != nil {
		b.Fatalf("Run: %v", err)
	}
	return r
}

// outbox is the texts of the posts that were never handed on.
func (b bench) outbox() []string {
	b.Helper()
	posts, err := b.ledger.Outbox(b.Context(), time.Hour, 100)
	if err != nil {
		b.Fatalf("Outbox: %v", err)
	}
	var texts []string
	for _, p := range posts {
		texts = append(texts, p.Text)
	}
	return texts
}

func (b bench) due(age time.Duration) []string {
	b.Helper()
	list, err := b.ledger.Due(b.Context(), age, 100)
	if err != nil {
		b.Fatalf("Due: %v", err)
	}
	return list
}

// is compares, taking an empty list for none.
func (b bench) is(what string, got, want any) {
	b.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		b.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func (b bench) fails(what string, err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("%s: error %v, want %v", what, err, want)
	}
}

// answered is an ending as a run usually has it.
func answered(text string) ledger.Ending {
	return ledger.Ending{Record: evidence.Record{Status: evidence.Answered, Verdict: evidence.AllVerified, Answer: text},
		Posts: []chat.Post{{Text: text, Final: true}}}
}

func call(id, arguments string) model.Call {
	return model.Call{ID: id, Name: "run_sql", Arguments: []byte(arguments)}
}

// item is what call n left behind.
func item(id, output string) *evidence.Item {
	return &evidence.Item{ID: id, Tool: "run_sql", Args: []byte(`{"sql":"SELECT 1"}`), Summary: "1 row", Columns: []string{"n", "x"},
		Rows: [][]any{{int64(1), 2.5}, {nil, "text"}}, RowCount: 2, Output: output,
		Sources: []evidence.Source{{Source: "shop", Table: "orders", AsOf: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), Notes: []string{"a note"}}}}
}

// texts are the texts of what was heard.
func texts(said []ledger.Said) []string {
	var list []string
	for _, s := range said {
		list = append(list, s.Message.Text)
	}
	return list
}
