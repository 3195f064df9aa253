package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
	"plumb/model"
	"plumb/model/script"
	"plumb/tools"
)

// stage is a loop with a scripted model, tools that a test makes up, and a journal in memory.
type stage struct {
	t       *testing.T
	model   *overhear
	tools   *bench
	budget  Budget
	journal *journal
	held    ledger.Held
}

// overhear is a model that keeps the requests it was given.
type overhear struct {
	model.Model
	mu       sync.Mutex
	requests []model.Request
}

func (o *overhear) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Part, error] {
	o.mu.Lock()
	req.Turns = slices.Clone(req.Turns)
	o.requests = append(o.requests, req)
	o.mu.Unlock()
	return o.Model.Generate(ctx, req)
}

// journal is a page of the ledger in memory, which remembers what was written to it, in order.
type journal struct {
	mu      sync.Mutex
	wrote   []string
	replies []model.Reply
	calls   []ledger.Call
	spent   evidence.Usage
	waiting []chat.Message // what people say meanwhile
	late    []chat.Message // what they say just before the end
	outcome *Outcome
}

func (j *journal) Reply(_ context.Context, step int, r model.Reply, spent evidence.Usage) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wrote = append(j.wrote, fmt.Sprintf("reply %d (%d calls)", step, len(r.Calls)))
	j.replies = append(j.replies, r)
	j.spent = j.spent.Plus(spent)
	return nil
}

func (j *journal) Results(_ context.Context, step int, done []ledger.Call, spent evidence.Usage) ([]ledger.Said, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wrote = append(j.wrote, fmt.Sprintf("results %d (%d)", step, len(done)))
	j.calls = append(j.calls, done...)
	j.spent = j.spent.Plus(spent)
	var out []ledger.Said
	for i, m := range j.waiting {
		out = append(out, ledger.Said{Message: m, Seq: int64(i + 2)})
	}
	j.waiting = nil
	return out, nil
}

func (j *journal) Finish(_ context.Context, o Outcome) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.late) > 0 && !o.Unheard {
		j.waiting, j.late = j.late[:1], j.late[1:]
		j.wrote = append(j.wrote, "too early")
		return ledger.ErrUnread
	}
	j.wrote = append(j.wrote, "finish "+string(o.Status))
	j.spent = j.spent.Plus(o.Spent)
	j.outcome = &o
	return nil
}

// bench is a toolset of functions.
type bench struct {
	specs []tools.Spec
	run   map[string]func(ctx context.Context, in tools.Input) (tools.Result, error)
	mu    sync.Mutex
	ran   []string
}

func (b *bench) add(name string, spec tools.Spec, run func(context.Context, tools.Input) (tools.Result, error)) {
	spec.Name, spec.Schema = name, json.RawMessage(`{"type":"object"}`)
	b.specs = append(b.specs, spec)
	b.run[name] = run
}

func (b *bench) Specs() []tools.Spec { return b.specs }
func (b *bench) Prompt() string      { return "Sources: shop" }
func (b *bench) Query(context.Context, string, string) ([]string, [][]any, bool, error) {
	return nil, nil, false, errors.New("no replay here")
}

func (b *bench) Call(ctx context.Context, name string, in tools.Input) (tools.Result, error) {
	f := b.run[name]
	if f == nil {
		return tools.Fail("There is no tool " + name), nil
	}
	b.mu.Lock()
	b.ran = append(b.ran, name)
	b.mu.Unlock()
	return f(ctx, in)
}

var ann = chat.Person{ID: "UANN", Name: "Ann"}

func said(text string) chat.Message {
	return chat.Message{ID: "m-" + text, Who: ann, Text: text}
}

func newStage(t *testing.T, lines ...string) *stage {
	t.Helper()
	m, err := script.Parse(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, model: &overhear{Model: m}, budget: Work(), journal: &journal{}, tools: &bench{run: map[string]func(context.Context, tools.Input) (tools.Result, error){}}}
	s.tools.add("run_sql", tools.Spec{Computes: true}, func(_ context.Context, in tools.Input) (tools.Result, error) {
		return tools.Result{Text: "1 row\nn\n12", Item: evidence.Item{Summary: "1 row", SQL: string(in.Args), Columns: []string{"n"}, Rows: [][]any{{int64(12)}}, RowCount: 1}}, nil
	})
	s.tools.add("inspect_table", tools.Spec{Looks: true}, func(context.Context, tools.Input) (tools.Result, error) {
		return tools.Result{Text: "{}", Item: evidence.Item{Summary: "looked"}}, nil
	})
	s.held = ledger.Held{Run: ledger.Run{ID: "r1", Question: said("How many orders?"), Started: time.Now(), Claimed: time.Now()},
		Steps: []ledger.Step{{N: 1, Heard: []ledger.Said{{Message: said("How many orders?"), Seq: 1}}}}}
	return s
}

func (s *stage) config() Config {
	return Config{Model: s.model, Tools: s.tools, Budget: s.budget, Journal: s.journal, Log: slog.New(slog.NewTextHandler(s.t.Output(), nil))}
}

func (s *stage) run(ctx context.Context) Outcome {
	s.t.Helper()
	if err := Run(ctx, s.config(), s.held); err != nil {
		s.t.Fatalf("the run breaks off: %v", err)
	}
	if s.journal.outcome == nil {
		s.t.Fatal("the run has no ending")
	}
	return *s.journal.outcome
}

const (
	count  = `{"tool_calls":[{"id":"c1","name":"run_sql","arguments":{"sql":"SELECT count(*) AS n FROM orders"}}]}`
	answer = `{"text":"There are **12** orders."}`
)

func TestOneQueryOneAnswer(t *testing.T) {
	s := newStage(t, count, answer)
	o := s.run(t.Context())
	if o.Status != evidence.Answered || o.Text != "There are **12** orders." {
		t.Errorf("ending: %s %q", o.Status, o.Text)
	}
	want := []string{"reply 1 (1 calls)", "results 1 (1)", "finish answered"}
	if d := cmp.Diff(want, s.journal.wrote); d != "" {
		t.Errorf("(S13) the journal: %s", d)
	}
	if s.journal.spent.ModelCalls != 2 || s.journal.spent.ToolCalls != 1 || o.Total.ModelCalls != 2 {
		t.Errorf("(B1) spent: %+v", s.journal.spent)
	}
	if len(o.Items) != 1 || o.Items[0].ID != "e1" || o.Items[0].Tool != "run_sql" {
		t.Errorf("(L8) evidence: %+v", o.Items)
	}
	last := s.model.requests[1]
	if got := last.Turns[0].Text; got != "Ann (UANN): How many orders?" {
		t.Errorf("the question reaches the model as %q", got)
	}
	if r := last.Turns[2].Results; len(r) != 1 || r[0].CallID != "c1" || !strings.Contains(r[0].Text, "12") {
		t.Errorf("(L13) the result reaches the model as %+v", r)
	}
}

// (L5) What goes wrong in a call is for the model to read; the run goes on.
func TestFailuresOfCallsAreResults(t *testing.T) {
	s := newStage(t, `{"tool_calls":[{"id":"a","name":"rm_rf","arguments":{}},{"id":"b","name":"broken","arguments":{}}]}`, answer)
	s.tools.add("broken", tools.Spec{}, func(context.Context, tools.Input) (tools.Result, error) { return tools.Fail("no such table"), nil })
	o := s.run(t.Context())
	if o.Status != evidence.Answered || len(o.Items) != 2 || o.Items[0].Error == "" || o.Items[1].Error != "no such table" {
		t.Errorf("ending %s with %+v", o.Status, o.Items)
	}
	for _, r := range s.model.requests[1].Turns[2].Results {
		if !r.Failed {
			t.Errorf("%s is not told as failed", r.CallID)
		}
	}
}

// (L5) A failure of ours ends the work, and nothing is written that pretends otherwise.
func TestOurFailureEndsTheWork(t *testing.T) {
	s := newStage(t, `{"tool_calls":[{"id":"a","name":"lost","arguments":{}}]}`, answer)
	s.tools.add("lost", tools.Spec{}, func(context.Context, tools.Input) (tools.Result, error) {
		return tools.Result{}, errors.New("the disk is gone")
	})
	err := Run(t.Context(), s.config(), s.held)
	if err == nil || !strings.Contains(err.Error(), "disk") || s.journal.outcome != nil {
		t.Errorf("got %v and the ending %+v", err, s.journal.outcome)
	}
}

// (L6) The same call again is answered from the first, whatever the order of its arguments; a failed one runs again.
func TestDuplicatesAreNotRunAgain(t *testing.T) {
	s := newStage(t,
		`{"tool_calls":[{"id":"a","name":"run_sql","arguments":{"sql":"SELECT 1","x":1}},{"id":"b","name":"run_sql","arguments":{"x":1,"sql":"SELECT 1"}},{"id":"c","name":"flaky","arguments":{}}]}`,
		`{"tool_calls":[{"id":"d","name":"run_sql","arguments":{"sql":"SELECT 1","x":1}},{"id":"e","name":"run_sql","arguments":{"sql":"SELECT 1","x":1.0}},{"id":"f","name":"flaky","arguments":{}}]}`,
		answer)
	s.tools.add("flaky", tools.Spec{}, func(context.Context, tools.Input) (tools.Result, error) { return tools.Fail("not now"), nil })
	o := s.run(t.Context())
	var dup []string
	for _, it := range o.Items {
		dup = append(dup, it.ID+"="+it.DuplicateOf)
	}
	if d := cmp.Diff([]string{"e1=", "e2=e1", "e3=", "e4=e1", "e5=", "e6="}, dup); d != "" {
		t.Error(d)
	}
	slices.Sort(s.tools.ran)
	if d := cmp.Diff([]string{"flaky", "flaky", "run_sql", "run_sql"}, s.tools.ran); d != "" {
		t.Errorf("what ran: %s", d)
	}
	if again := s.model.requests[2].Turns[4].Results[0].Text; !strings.Contains(again, "same call as e1") || !strings.Contains(again, "12") {
		t.Errorf("the repeated call gets %q", again)
	}
}

// (L7) Computation asked for together with a look waits until the look was read.
func TestComputationWaitsForTheLook(t *testing.T) {
	s := newStage(t, `{"tool_calls":[{"id":"a","name":"run_sql","arguments":{"sql":"SELECT 1"}},{"id":"b","name":"inspect_table","arguments":{}}]}`, count, answer)
	o := s.run(t.Context())
	if d := cmp.Diff([]string{"inspect_table", "run_sql"}, s.tools.ran); d != "" {
		t.Errorf("what ran: %s", d)
	}
	if !strings.Contains(o.Items[0].Error, "look") {
		t.Errorf("the call that waits leaves %+v", o.Items[0])
	}
}

// (L7) Calls of one reply run side by side, and their results keep the order of the calls.
func TestCallsRunSideBySide(t *testing.T) {
	s := newStage(t, `{"tool_calls":[{"id":"a","name":"meet","arguments":{"n":1}},{"id":"b","name":"meet","arguments":{"n":2}}]}`, answer)
	var both sync.WaitGroup
	both.Add(2)
	s.tools.add("meet", tools.Spec{}, func(_ context.Context, in tools.Input) (tools.Result, error) {
		both.Done()
		both.Wait() // one alone would wait for ever
		return tools.Result{Text: string(in.Args)}, nil
	})
	s.run(t.Context())
	r := s.model.requests[1].Turns[2].Results
	if len(r) != 2 || r[0].CallID != "a" || !strings.Contains(r[0].Text, "1") || r[1].CallID != "b" {
		t.Errorf("results: %+v", r)
	}
}

// (B2, B4) One call of the cap is kept: the closing turn has no tools, is told why, and its calls are dropped.
func TestTheClosingTurn(t *testing.T) {
	for name, c := range map[string]struct{ last, want string }{
		"an answer":        {`{"expect":{"tools":[],"contains":["limit of 2 model calls"]},"text":"As far as I came: **12**."}`, "As far as I came"},
		"still wants more": {`{"expect":{"tools":[]},"tool_calls":[{"id":"z","name":"run_sql","arguments":{"sql":"SELECT 2"}}]}`, "One look at the data"},
		"blank":            {`{"expect":{"tools":[]},"text":"  "}`, "One look at the data"},
		"fails":            {`{"expect":{"tools":[]},"error":{"status":400}}`, "One look at the data"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, count, c.last)
			s.budget.ModelCalls = 2
			o := s.run(t.Context())
			if o.Status != evidence.BudgetCalls || !strings.Contains(o.Text, c.want) || o.Cap == "" || o.Total.ModelCalls != 2 {
				t.Errorf("ending %s %q, %d calls", o.Status, o.Text, o.Total.ModelCalls)
			}
			if len(s.tools.ran) != 1 {
				t.Errorf("ran %v", s.tools.ran)
			}
		})
	}
}

// (B1) Parallel calls take their room before they start.
func TestParallelCallsStayInsideTheLimit(t *testing.T) {
	s := newStage(t, `{"tool_calls":[{"id":"a","name":"run_sql","arguments":{"sql":"1"}},{"id":"b","name":"run_sql","arguments":{"sql":"2"}},{"id":"c","name":"run_sql","arguments":{"sql":"3"}}]}`,
		`{"expect":{"tools":[]},"text":"Enough."}`)
	s.budget.ToolCalls = 2
	o := s.run(t.Context())
	if len(s.tools.ran) != 2 || o.Status != evidence.BudgetCalls || !strings.Contains(o.Items[2].Error, "limit") {
		t.Errorf("ran %v, %s, %+v", s.tools.ran, o.Status, o.Items[2])
	}
}

func TestTokensAndCostAreCaps(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*stage)
		want   evidence.Status
	}{
		"tokens": {func(s *stage) { s.budget.Tokens = 900 }, evidence.BudgetTokens},
		"cost":   {func(s *stage) { s.budget.CostUSD = 0.5 }, evidence.BudgetCost},
	} {
		s := newStage(t, `{"tool_calls":[{"id":"c1","name":"run_sql","arguments":{}}],"usage":{"input_tokens":900,"output_tokens":100}}`, `{"text":"Enough."}`)
		c.change(s)
		cfg := s.config()
		cfg.Price = Price{Input: 1000, Output: 1000}
		if err := Run(t.Context(), cfg, s.held); err != nil {
			t.Fatal(err)
		}
		if o := s.journal.outcome; o.Status != c.want {
			t.Errorf("%s: %s", name, o.Status)
		}
	}
}

// A model that hangs until the time is up is left, and is not asked to close: it would hang again.
func TestTheTimeIsUpInTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, count, `{"delay_ms":3600000,"text":"late"}`, `{"text":"should not be asked"}`)
		s.budget.Wall = time.Minute
		began := time.Now()
		o := s.run(t.Context())
		if o.Status != evidence.BudgetWall || len(o.Items) != 1 || !strings.Contains(o.Text, "One look") {
			t.Errorf("ending %s %q", o.Status, o.Text)
		}
		if took := time.Since(began); took != time.Minute || len(s.model.requests) != 2 {
			t.Errorf("it took %s and %d calls", took, len(s.model.requests))
		}
	})
}

// When the time is up while a tool runs, the tool is left, and the model closes from what there is, in a little grace.
func TestTheTimeIsUpInATool(t *testing.T) {
	for name, c := range map[string]struct {
		last, want string
		took       time.Duration
	}{
		"it closes": {`{"expect":{"tools":[],"contains":["time limit","no result of this call"]},"text":"As far as I came."}`, "As far as I came", time.Minute},
		"it hangs":  {`{"delay_ms":3600000,"text":"late"}`, "Two looks", 75 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, `{"tool_calls":[{"id":"a","name":"run_sql","arguments":{}}]}`, `{"tool_calls":[{"id":"b","name":"endless","arguments":{}},{"id":"c","name":"run_sql","arguments":{"sql":"2"}}]}`, c.last)
				s.tools.add("endless", tools.Spec{}, func(ctx context.Context, _ tools.Input) (tools.Result, error) {
					<-ctx.Done()
					return tools.Result{}, context.Cause(ctx)
				})
				s.budget.Wall = time.Minute
				began := time.Now()
				o := s.run(t.Context())
				if len(s.journal.calls) != 2 || s.journal.calls[1].Call.ID != "c" {
					t.Errorf("of the calls that were done the journal has %+v", s.journal.calls)
				}
				if o.Status != evidence.BudgetWall || !strings.Contains(o.Text, c.want) || time.Since(began) != c.took {
					t.Errorf("ending %s %q after %s", o.Status, o.Text, time.Since(began))
				}
			})
		})
	}
}

// (B3) After some rounds the model is asked to end, more firmly each round; nothing is enforced.
func TestSoftStop(t *testing.T) {
	s := newStage(t, strings.Replace(count, "SELECT", "SELECT 1,", 1), strings.Replace(count, "SELECT", "SELECT 2,", 1), strings.Replace(count, "SELECT", "SELECT 3,", 1), answer)
	s.budget.SoftStop = 1
	if o := s.run(t.Context()); o.Status != evidence.Answered || len(s.tools.ran) != 3 {
		t.Errorf("ending %s after %v", o.Status, s.tools.ran)
	}
	var nudges []string
	for _, turn := range s.model.requests[3].Turns {
		if strings.HasPrefix(turn.Text, "Plumb ") {
			nudges = append(nudges, turn.Text)
		}
	}
	if len(nudges) != 3 || nudges[0] == nudges[1] {
		t.Errorf("nudges: %q", nudges)
	}
	if n := len(s.model.requests[1].Turns); n != 4 {
		t.Errorf("the second request has %d turns, want 4: the question, the reply, its result and a nudge", n)
	}
}

// (L15) A blank reply is asked for once more, without tools; then honest words.
func TestABlankReplyIsNoAnswer(t *testing.T) {
	s := newStage(t, count, `{"text":" "}`, `{"expect":{"tools":[]},"text":"There are 12."}`)
	if o := s.run(t.Context()); o.Text != "There are 12." {
		t.Errorf("answer %q", o.Text)
	}
	s = newStage(t, count, `{"text":""}`, `{"text":"\n"}`)
	if o := s.run(t.Context()); !strings.Contains(o.Text, "no answer") || !strings.Contains(o.Text, "evidence") {
		t.Errorf("answer %q", o.Text)
	}
}

// (L14) A model that fails after something was found leaves a partial answer; before that, the run has failed.
func TestAModelThatFails(t *testing.T) {
	s := newStage(t, count, `{"error":{"status":401}}`)
	if o := s.run(t.Context()); o.Status != evidence.Partial || !strings.Contains(o.Text, "api_key") || len(o.Items) != 1 {
		t.Errorf("ending %s %q", o.Status, o.Text)
	}
	s = newStage(t, `{"error":{"status":500}}`)
	if o := s.run(t.Context()); o.Status != evidence.Failed || !strings.Contains(o.Text, "overloaded") {
		t.Errorf("ending %s %q", o.Status, o.Text)
	}
	s = newStage(t, count)
	if o := s.run(t.Context()); !strings.Contains(o.Text, "script") {
		t.Errorf("a script that is too short ends with %q", o.Text)
	}
}

// (S5) What people say comes after the results, as a user's turn with the sender's name.
func TestASteerIsHeardAfterTheResults(t *testing.T) {
	s := newStage(t, count, `{"expect":{"contains":["only the EU"]},"text":"Seven in the EU."}`)
	s.journal.waiting = []chat.Message{said("only the EU")}
	s.run(t.Context())
	turns := s.model.requests[1].Turns
	if last := turns[len(turns)-1]; last.Role != model.User || last.Text != "Ann (UANN): only the EU" || turns[len(turns)-2].Role != model.Tools {
		t.Errorf("turns: %+v", turns)
	}
}

// (S6) What is said while the answer is written sends it back, but not for ever; the draft is kept and not told.
func TestALateWordSendsTheEndingBack(t *testing.T) {
	s := newStage(t, count, answer, `{"expect":{"contains":["only the EU"]},"text":"Seven in the EU."}`)
	s.journal.late = []chat.Message{said("only the EU")}
	o := s.run(t.Context())
	if o.Text != "Seven in the EU." {
		t.Errorf("answer %q", o.Text)
	}
	want := []string{"reply 1 (1 calls)", "results 1 (1)", "too early", "reply 2 (0 calls)", "results 2 (0)", "finish answered"}
	if d := cmp.Diff(want, s.journal.wrote); d != "" {
		t.Error(d)
	}
	lines := []string{count}
	for range redo + 2 {
		lines = append(lines, answer)
	}
	s = newStage(t, lines...)
	for i := range 20 {
		s.journal.late = append(s.journal.late, said(fmt.Sprint("and this? ", i)))
	}
	s.run(t.Context())
	if n := len(s.model.requests); n != redo+2 {
		t.Errorf("%d model calls, want %d", n, redo+2)
	}
}

// (S10) A stop drops what is under way, keeps what was found, and says what was cut off.
func TestAStopKeepsWhatWasFound(t *testing.T) {
	s := newStage(t, `{"tool_calls":[{"id":"a","name":"run_sql","arguments":{"sql":"1"}},{"id":"b","name":"endless","arguments":{}}]}`, answer)
	ctx, cancel := context.WithCancelCause(t.Context())
	s.tools.add("endless", tools.Spec{}, func(ctx context.Context, _ tools.Input) (tools.Result, error) {
		for s.ranCount("run_sql") == 0 {
			if ctx.Err() != nil {
				break
			}
		}
		cancel(ledger.ErrStopped)
		<-ctx.Done()
		return tools.Result{}, context.Cause(ctx)
	})
	o := s.run(ctx)
	if o.Status != evidence.Stopped || !strings.HasPrefix(o.Text, "Stopped") || !strings.Contains(o.Text, "Cut off: endless") {
		t.Errorf("ending %s %q", o.Status, o.Text)
	}
	if len(s.model.requests) != 1 {
		t.Errorf("%d model calls after a stop", len(s.model.requests))
	}
}

func (s *stage) ranCount(name string) (n int) {
	s.tools.mu.Lock()
	defer s.tools.mu.Unlock()
	for _, r := range s.tools.ran {
		if r == name {
			n++
		}
	}
	return n
}

// (S10) A stop cuts the model's stream.
func TestAStopCutsTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, `{"delay_ms":600000,"text":"late"}`)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(ledger.ErrStopped) })
		began := time.Now()
		if o := s.run(ctx); o.Status != evidence.Stopped || time.Since(began) > 1100*time.Millisecond {
			t.Errorf("ending %s after %s", o.Status, time.Since(began))
		}
	})
}

// (S13) A run that begins in the middle asks for exactly what the first worker would have asked for.
func TestResumeAsksTheSame(t *testing.T) {
	first := newStage(t, count, answer)
	first.run(t.Context())
	second := newStage(t, count, answer)
	second.held.Run = first.held.Run
	second.held.Steps[0].Reply = &first.journal.replies[0]
	second.held.Steps[0].Calls = []ledger.Call{{N: 1, Call: first.journal.replies[0].Calls[0]}} // its result was lost
	second.held.Run.Usage = evidence.Usage{ModelCalls: 1}
	o := second.run(t.Context())
	if o.Status != evidence.Answered || o.Total.ModelCalls != 2 {
		t.Errorf("ending %s, %d calls", o.Status, o.Total.ModelCalls)
	}
	if d := cmp.Diff(first.model.requests[1], second.model.requests[0]); d != "" {
		t.Error(d)
	}
	third := newStage(t, count, answer)
	third.held.Run, third.held.Steps = second.held.Run, slices.Clone(second.held.Steps)
	third.held.Steps[0].Calls = first.journal.calls
	third.run(t.Context())
	if d := cmp.Diff(first.model.requests[1], third.model.requests[0]); d != "" || len(third.tools.ran) != 0 {
		t.Errorf("ran %v, %s", third.tools.ran, d)
	}
	if d := cmp.Diff([]string{"finish answered"}, third.journal.wrote); d != "" {
		t.Errorf("what was written is written again: %s", d)
	}
}

// (S13) Of two calls, the one whose result is there is not run again, and only the other is written.
func TestResumeRunsWhatIsMissing(t *testing.T) {
	s := newStage(t, answer)
	done := ledger.Call{N: 1, Call: model.Call{ID: "a", Name: "run_sql", Arguments: []byte(`{"sql":"1"}`)}, Done: true, Text: "12", Item: &evidence.Item{ID: "e1"}}
	open := ledger.Call{N: 2, Call: model.Call{ID: "b", Name: "run_sql", Arguments: []byte(`{"sql":"2"}`)}}
	s.held.Steps[0].Reply = &model.Reply{Calls: []model.Call{done.Call, open.Call}}
	s.held.Steps[0].Calls = []ledger.Call{done, open}
	s.run(t.Context())
	if len(s.journal.calls) != 1 || s.journal.calls[0].N != 2 || len(s.tools.ran) != 1 {
		t.Errorf("ran %v, wrote %+v", s.tools.ran, s.journal.calls)
	}
}

// (L16) An answer whose figures mix two states of the data is blocked; one that rests on a single state is not.
func TestAnAnswerThatMixesRevisionsIsBlocked(t *testing.T) {
	for after, want := range map[string]evidence.Status{"r1": evidence.Answered, "r2": evidence.Blocked} {
		s := newStage(t, `{"tool_calls":[{"id":"a","name":"look","arguments":{"n":41}}]}`, `{"tool_calls":[{"id":"b","name":"look","arguments":{"n":73}}]}`, `{"text":"It was 41, then 73."}`)
		revision := "r1"
		s.tools.add("look", tools.Spec{}, func(_ context.Context, in tools.Input) (tools.Result, error) {
			var args struct{ N int64 }
			_ = json.Unmarshal(in.Args, &args)
			it := evidence.Item{Columns: []string{"n"}, Rows: [][]any{{args.N}}, RowCount: 1, Sources: []evidence.Source{{Source: "shop", Revision: revision}}}
			revision = after
			return tools.Result{Text: "1 row", Item: it}, nil
		})
		if o := s.run(t.Context()); o.Status != want || (want == evidence.Blocked) != strings.Contains(o.Text, "ask again") {
			t.Errorf("then %s: %s %q", after, o.Status, o.Text)
		}
	}
}

// (L13) Ids that a provider repeats or leaves out are made unique.
func TestIDsAreMadeUnique(t *testing.T) {
	calls := unique([]model.Call{{ID: ""}, {ID: "a"}, {ID: "a"}}, []ledger.Step{{Calls: []ledger.Call{{Call: model.Call{ID: "a"}}}}})
	seen := map[string]bool{"a": true}
	for _, c := range calls {
		if c.ID == "" || seen[c.ID] {
			t.Errorf("ids: %+v", calls)
		}
		seen[c.ID] = true
	}
}

// (L3) With no source there is no tool.
func TestWithoutSourcesNoTools(t *testing.T) {
	s := newStage(t, `{"expect":{"tools":[],"contains":["No data source may be used"]},"text":"I can see nothing here."}`)
	s.tools.specs = nil
	cfg := s.config()
	cfg.Tools = nothing{s.tools}
	if err := Run(t.Context(), cfg, s.held); err != nil || s.journal.outcome.Text != "I can see nothing here." {
		t.Errorf("%v, %+v", err, s.journal.outcome)
	}
}

type nothing struct{ *bench }

func (nothing) Prompt() string { return "" }
