package dispatch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"plumb/access"
	"plumb/bus"
	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
	"plumb/ledger/sqlite"
	"plumb/loop"
	"plumb/model"
	"plumb/model/script"
	"plumb/tools"
)

// office is the work side on a real ledger and a real bus, with a scripted model, and somebody who reads the posts.
type office struct {
	t      *testing.T
	ledger ledger.Ledger
	bus    *bus.Bus
	config Config
	posts  chan chat.Post
}

func newOffice(t *testing.T, lines ...string) *office {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	l, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	b, err := bus.Open(t.Context(), bus.Options{Dir: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	o := &office{t: t, ledger: l, bus: b, posts: make(chan chat.Post, 100)}
	o.config = Config{Ledger: l, Bus: b, Policy: access.New([]access.Rule{{Where: "slack:T1:C1", Admins: []string{"UROOT"}}}), Budgets: map[string]loop.Budget{"work": loop.Work()},
		Model: o.script(lines...), Tools: func(access.Grant) loop.Toolset { return none{} }, Worker: "w1", Runs: 4, Lease: 3 * time.Second, Log: log}
	return o
}

func (o *office) script(lines ...string) model.Model {
	m, err := script.Parse(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		o.t.Fatal(err)
	}
	return m
}

// none is a toolset without tools.
type none struct{}

func (none) Specs() []tools.Spec { return nil }
func (none) Prompt() string      { return "" }
func (none) Query(context.Context, string, string) ([]string, [][]any, bool, error) {
	return nil, nil, false, errors.New("nothing to query")
}
func (none) Call(context.Context, string, tools.Input) (tools.Result, error) {
	return tools.Fail("no tools"), nil
}

// open runs a dispatcher and the reader of posts until the returned function is called.
func (o *office) open() (closing func()) {
	o.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := New(o.config).Run(ctx); err != nil {
			o.t.Errorf("the dispatcher ends with %v", err)
		}
	})
	wg.Go(func() {
		err := o.bus.Posts(ctx, chat.Slack, func(ctx context.Context, p chat.Post) error {
			o.posts <- p
			return o.ledger.Delivered(ctx, ledger.Delivery{Post: p.ID, IDs: []string{"1"}})
		})
		if err != nil {
			o.t.Errorf("the posts end with %v", err)
		}
	})
	closing = sync.OnceFunc(func() { cancel(); wg.Wait() })
	o.t.Cleanup(closing)
	return closing
}

func (o *office) next() chat.Post {
	o.t.Helper()
	select {
	case p := <-o.posts:
		return p
	case <-time.After(30 * time.Second):
		o.t.Fatal("no post came")
		panic("unreachable")
	}
}

// quiet fails if another post comes within a while.
func (o *office) quiet() {
	o.t.Helper()
	select {
	case p := <-o.posts:
		o.t.Errorf("another post: %q", p.Text)
	case <-time.After(300 * time.Millisecond):
	}
}

var serial int

func ask(channel, who, text string) chat.Message {
	serial++
	id := fmt.Sprint(serial)
	return chat.Message{Conversation: chat.Conversation{Place: chat.Place{Platform: chat.Slack, Team: "T1", Channel: channel}, Thread: id}, ID: id,
		Who: chat.Person{ID: who}, Text: text, Addressed: true, Opens: true, At: time.Now()}
}

func follow(m chat.Message, who, text string) chat.Message {
	serial++
	m.ID, m.Who, m.Text, m.Addressed, m.Opens, m.At = fmt.Sprint(serial), chat.Person{ID: who}, text, false, false, time.Now()
	return m
}

func (o *office) publish(m chat.Message) {
	o.t.Helper()
	if err := o.bus.PublishEvent(o.t.Context(), chat.Event{Key: fmt.Sprint(time.Now().UnixNano()), Message: &m}); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) runs() []ledger.Run {
	o.t.Helper()
	rs, err := o.ledger.Runs(o.t.Context(), 100)
	if err != nil {
		o.t.Fatal(err)
	}
	return rs
}

// (S1, S15) The same message under other event keys is one run and one answer.
func TestOneMessageOneAnswer(t *testing.T) {
	o := newOffice(t, `{"text":"Hello."}`)
	o.open()
	m := ask("C1", "UANN", "Hi?")
	for range 5 {
		o.publish(m)
	}
	p := o.next()
	if p.Text != "Hello." || !p.Final || p.Reply.To != m.ID || p.Asker.ID != "UANN" {
		t.Errorf("post: %+v", p)
	}
	o.quiet()
	if n := len(o.runs()); n != 1 {
		t.Errorf("%d runs", n)
	}
}

func TestWhatNoRuleAllowsIsRefusedPrivately(t *testing.T) {
	o := newOffice(t)
	o.open()
	o.publish(ask("C9", "UANN", "Hi?"))
	if p := o.next(); !p.Only || !strings.Contains(p.Text, "C9") {
		t.Errorf("post: %+v", p)
	}
	if n := len(o.runs()); n != 0 {
		t.Errorf("%d runs", n)
	}
}

func TestBlankAndOverlongQuestions(t *testing.T) {
	o := newOffice(t)
	o.open()
	for _, text := range []string{"  ", strings.Repeat("long ", 8_000)} {
		o.publish(ask("C1", "UANN", text))
		if p := o.next(); !p.Only || p.Text == "" {
			t.Errorf("post: %+v", p)
		}
	}
}

// hold is a model that waits until it is let go, so that a test can act meanwhile.
type hold struct {
	model.Model
	arrived chan bool
	release chan bool
}

func newHold(m model.Model) *hold { return &hold{m, make(chan bool, 10), make(chan bool)} }

func (h *hold) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Part, error] {
	return func(yield func(model.Part, error) bool) {
		h.arrived <- true
		select {
		case <-h.release:
		case <-ctx.Done():
			yield(model.Part{}, context.Cause(ctx))
			return
		}
		for p, err := range h.Model.Generate(ctx, req) {
			if !yield(p, err) {
				return
			}
		}
	}
}

// (S8, S9, S10) A stop by the asker ends the run at once; a stranger's does not.
func TestStop(t *testing.T) {
	o := newOffice(t, `{"text":"Hello."}`)
	h := newHold(o.config.Model)
	o.config.Model = h
	o.open()
	m := ask("C1", "UANN", "Hi?")
	o.publish(m)
	<-h.arrived
	o.publish(follow(m, "UBOB", "stop"))
	if p := o.next(); !p.Only || p.Asker.ID != "UBOB" || !strings.Contains(p.Text, "not yours") {
		t.Errorf("a stranger's stop: %+v", p)
	}
	o.publish(follow(m, "UANN", "Stop!"))
	if p := o.next(); !strings.HasPrefix(p.Text, "Stopped") || !p.Final {
		t.Errorf("the stop: %+v", p)
	}
	o.quiet()
	if r := o.runs()[0]; r.Status != evidence.Stopped {
		t.Errorf("the run is %s", r.Status)
	}
}

// (S6) What is said while the answer is written is heard before anything is posted.
func TestAWordDuringTheAnswer(t *testing.T) {
	o := newOffice(t, `{"text":"Twelve."}`, `{"expect":{"contains":["only the EU"]},"text":"Seven."}`)
	h := newHold(o.config.Model)
	o.config.Model = h
	o.open()
	m := ask("C1", "UANN", "How many?")
	o.publish(m)
	<-h.arrived
	if rec, err := New(o.config).Receive(t.Context(), follow(m, "UBOB", "only the EU")); err != nil || rec.Decision.Kind != ledger.Steer {
		t.Fatalf("the word is taken as %s, %v", rec.Decision.Kind, err)
	}
	h.release <- true
	<-h.arrived
	h.release <- true
	if p := o.next(); p.Text != "Seven." {
		t.Errorf("post %q", p.Text)
	}
	o.quiet()
}

// (S17) An edit is heard in place of what it replaces, before it was heard; after that, as a correction; and only then.
func TestEdits(t *testing.T) {
	o := newOffice(t, `{"expect":{"contains":["How many in all?"]},"text":"Twelve."}`, `{"expect":{"contains":["only the EU","reads now: How many refunds?"]},"text":"Seven."}`)
	h := newHold(o.config.Model)
	o.config.Model = h
	o.open()
	m := ask("C1", "UANN", "How many in all?")
	o.publish(m)
	<-h.arrived
	d := New(o.config)
	remark := follow(m, "UANN", "only Asia")
	if _, err := d.Receive(t.Context(), remark); err != nil {
		t.Fatal(err)
	}
	for _, c := range []chat.Change{
		{Conversation: m.Conversation, Message: remark.ID, Text: "only the EU", At: time.Now()},
		{Conversation: m.Conversation, Message: m.ID, Text: "How many  in all?", At: time.Now()}, // nothing but a space
		{Conversation: m.Conversation, Message: m.ID, Text: "How many refunds?", At: time.Now()},
	} {
		if err := d.change(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	h.release <- true
	<-h.arrived
	h.release <- true
	if p := o.next(); p.Text != "Seven." {
		t.Errorf("post %q", p.Text)
	}
	run := o.runs()[0]
	whole, err := o.ledger.Run(t.Context(), run.ID)
	if err != nil || len(whole.Record.Steering) != 2 {
		t.Errorf("steering %+v, %v", whole.Record.Steering, err)
	}
	if err := d.change(t.Context(), chat.Change{Conversation: m.Conversation, Message: m.ID, Text: "And now?", At: time.Now()}); err != nil || len(o.runs()) != 1 {
		t.Errorf("an edit after the answer makes %d runs, %v", len(o.runs()), err)
	}
	o.quiet()
}

// (S12, S13) A worker that lets its lease run out is replaced, and cannot write any more.
func TestAnotherWorkerTakesOver(t *testing.T) {
	o := newOffice(t, `{"text":"Hello."}`)
	m := ask("C1", "UANN", "Hi?")
	first := New(o.config)
	rec, err := first.Receive(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	held, err := o.ledger.Claim(t.Context(), rec.Decision.Run, "dead", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	o.open()
	if p := o.next(); p.Text != "Hello." {
		t.Errorf("post %q", p.Text)
	}
	if r := o.runs()[0]; r.Attempts != 2 || r.Status != evidence.Answered {
		t.Errorf("the run: %+v", r)
	}
	zombie := &page{d: first, held: held}
	if err := zombie.Finish(t.Context(), loop.Outcome{Step: 1, Status: evidence.Answered, Text: "late", Unheard: true}); !errors.Is(err, ledger.ErrFenced) {
		t.Errorf("the first worker writes its ending: %v", err)
	}
	o.quiet()
}

// (S19) Asked to leave, the dispatcher hands back what it cannot finish, and the next one answers.
func TestDrain(t *testing.T) {
	o := newOffice(t, `{"text":"Hello."}`)
	real := o.config.Model
	h := newHold(real)
	o.config.Model = h
	closing := o.open()
	o.publish(ask("C1", "UANN", "Hi?"))
	<-h.arrived
	closing()
	o.quiet()
	o.config.Model = real
	o.open()
	if p := o.next(); p.Text != "Hello." {
		t.Errorf("post %q", p.Text)
	}
	o.quiet()
}

// brokenTools fail on our side.
type brokenTools struct{ none }

func (brokenTools) Specs() []tools.Spec { return []tools.Spec{{Tool: model.Tool{Name: "run_sql"}}} }
func (brokenTools) Call(context.Context, string, tools.Input) (tools.Result, error) {
	return tools.Result{}, errors.New("the disk is gone")
}

// (S13, S15) After three attempts the run is given up, and the thread is told.
func TestThreeAttempts(t *testing.T) {
	o := newOffice(t, `{"tool_calls":[{"id":"a","name":"run_sql","arguments":{}}]}`)
	o.config.Tools = func(access.Grant) loop.Toolset { return brokenTools{} }
	o.open()
	o.publish(ask("C1", "UANN", "Hi?"))
	p := o.next()
	if r := o.runs()[0]; r.Status != evidence.Failed || r.Attempts != 3 || !strings.Contains(p.Text, r.ID) || strings.Contains(p.Text, "disk") {
		t.Errorf("%d attempts, %s, %q", r.Attempts, r.Status, p.Text)
	}
	o.quiet()
}

// (B4) At a cap the post names the limit and offers to go on.
func TestACapOffersToContinue(t *testing.T) {
	o := newOffice(t, `{"tool_calls":[{"id":"a","name":"x","arguments":{}}]}`, `{"text":"So far."}`, `{"text":"And now the end."}`)
	b := loop.Work()
	b.ModelCalls = 2
	o.config.Budgets = map[string]loop.Budget{"work": b}
	o.open()
	o.publish(ask("C1", "UANN", "Hi?"))
	p := o.next()
	if !strings.Contains(p.Text, "limit of 2 model calls") || len(p.Buttons) != 1 || p.Buttons[0].Action != chat.Continue {
		t.Fatalf("post: %+v", p)
	}
	press := chat.Press{Conversation: p.Reply.Conversation, Who: chat.Person{ID: "UANN"}, Button: p.Buttons[0], At: time.Now()}
	for range 2 { // pressed twice, continued once
		if err := o.bus.PublishEvent(t.Context(), chat.Event{Key: fmt.Sprint(time.Now().UnixNano()), Press: &press}); err != nil {
			t.Fatal(err)
		}
	}
	if p := o.next(); !strings.Contains(p.Text, "And now the end.") {
		t.Errorf("post %q", p.Text)
	}
	o.quiet()
}

// The evidence of a run is shown where it was asked, and only there.
func TestExhibitsAreForTheirPlace(t *testing.T) {
	o := newOffice(t, `{"tool_calls":[{"id":"a","name":"x","arguments":{}}]}`, `{"text":"Done."}`)
	o.open()
	m := ask("C1", "UANN", "Hi?")
	o.publish(m)
	p := o.next()
	o.config.Policy = access.New([]access.Rule{{Where: "slack:T1:*"}}) // the other channel may ask, too, but not about this
	d := New(o.config)
	if xs, err := d.exhibits(t.Context(), Look{Run: p.Run, At: m.Conversation.Place}); err != nil || len(xs) != 1 {
		t.Errorf("%d exhibits, %v", len(xs), err)
	}
	elsewhere := m.Conversation.Place
	elsewhere.Channel = "C2"
	if _, err := d.exhibits(t.Context(), Look{Run: p.Run, At: elsewhere}); err == nil {
		t.Error("the evidence is shown in another channel")
	}
	o.config.Policy = access.New(nil)
	if _, err := New(o.config).exhibits(t.Context(), Look{Run: p.Run, At: m.Conversation.Place}); err == nil {
		t.Error("the evidence is shown where no rule allows it any more")
	}
}
