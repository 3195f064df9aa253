package ledgertest

import (
	"fmt"
	"sync"
	"sync/atomic"

	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
	"plumb/model"
)

var endings = []test{
	{"(S14) an ending is written whole", ended},
	{"(S6) a run does not end over what it has not heard", unread},
	{"(S6) what an ending leaves unheard gets a run of its own", linked},
	{"an ending that may leave things unheard starts no run when there are none", notLinked},
	{"(S6) a remark that races with the ending is never lost", race},
	{"a run ends with a final status, and an ending that may leave things names a run for them", misended},
}

func ended(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	b.reply(h.Lease, 1, "", call("c", "{}"))
	b.results(h.Lease, 1, ledger.Call{N: 1, Text: "one", Item: item("e1", "one")})
	e := answered("There are **42**.")
	e.Step, e.Reply = 2, &model.Reply{Text: "There are **42**."}
	e.Record.Figures = []evidence.Figure{{Text: "42", Value: 42, Status: evidence.Verified, Evidence: "e1"}}
	e.Record.NotChecked = []string{"e1 was cut"}
	b.is("a linked run", b.finish(h.Lease, e), false)
	r := b.run("r")
	want := e.Record
	want.RunID, want.Usage, want.Evidence = "r", r.Usage, []evidence.Item{*item("e1", "one")}
	b.is("record", r.Record, want)
	if r.Status != evidence.Answered || r.Ended.IsZero() || r.Delivered {
		b.Errorf("the run: %+v", r)
	}
	posts, err := b.ledger.Outbox(b.Context(), 0, 100)
	if err != nil || len(posts) != 1 || posts[0].ID == "" || posts[0].Run != "r" || !posts[0].Final {
		b.Fatalf("posts: %+v, %v", posts, err)
	}
	b.receive(message("r", "next", ann, "and May?"), starts("r2"))
}

func unread(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	b.remark("r", "2", bob, "only EU")
	e := answered("42")
	e.Step, e.Reply = 1, &model.Reply{Text: "42"}
	before := b.run("r")
	_, err := b.ledger.Finish(b.Context(), h.Lease, e)
	b.fails("Finish", err, ledger.ErrUnread)
	b.is("the run afterwards", b.run("r"), before)
	b.is("posts", b.outbox(), []string(nil))
	b.reply(h.Lease, 1, "42")
	b.is("heard", texts(b.results(h.Lease, 1)), []string{"only EU"})
	e.Step = 2
	b.finish(h.Lease, e)
	b.is("posts", b.outbox(), []string{"42"})
}

func linked(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	first := b.remark("r", "2", bob, "only EU")
	second := b.remark("r", "3", eve, "only May")
	e := answered("42")
	e.Unheard, e.Next = true, "next"
	b.is("a linked run", b.finish(h.Lease, e), true)
	n := b.claim("next", long)
	b.is("question", n.Run.Question, first)
	b.is("parent", n.Run.Parent, "r")
	b.is("budget", n.Run.Budget, "work")
	b.is("steps", n.Steps, []ledger.Step{{N: 1, Heard: []ledger.Said{{Message: first, Seq: 2}, {Message: second, Seq: 3}}}})
	b.is("steerers", n.Run.Steerers, []chat.Person{eve})
	b.is("steering of the first", b.run("r").Record.Steering, []evidence.Steer{
		{ID: "2", Who: "U2", Text: "only EU", Outcome: evidence.TooLate}, {ID: "3", Who: "U3", Text: "only May", Outcome: evidence.TooLate}})
	b.is("steering of the second", b.run("next").Record.Steering, []evidence.Steer{
		{ID: "3", Who: "U3", Text: "only May", Outcome: evidence.Applied, Step: 1}})
	if _, err := b.ledger.Receive(b.Context(), message("r", "4", ann, "x"), starts("r4")); err == nil {
		b.Error("a run started beside the linked one")
	}
	b.finish(n.Lease, answered("43"))
}

func notLinked(b bench) {
	b.ask("r")
	e := answered("42")
	e.Unheard, e.Next = true, "next"
	b.is("a linked run", b.finish(b.claim("r", long).Lease, e), false)
	if runs, err := b.ledger.Runs(b.Context(), 10); err != nil || len(runs) != 1 {
		b.Errorf("%d runs, %v", len(runs), err)
	}
}

// race lets remarks and endings meet: whatever order they come in, each remark was heard, or belongs to the run that
// comes next.
func race(b bench) {
	for i := range 20 {
		run, next := fmt.Sprintf("r%d", i), fmt.Sprintf("n%d", i)
		b.ask(run)
		h := b.claim(run, long)
		var active atomic.Value
		var both sync.WaitGroup
		both.Go(func() {
			r, err := b.ledger.Receive(b.Context(), message(run, run+"-remark", bob, "only EU"), routes("fresh-"+run))
			if err != nil {
				b.Errorf("Receive: %v", err)
			}
			active.Store(r.Decision.Run)
		})
		both.Go(func() {
			e := answered("42")
			e.Unheard, e.Next = i%2 == 0, next
			_, err := b.ledger.Finish(b.Context(), h.Lease, e)
			if !e.Unheard && err != nil {
				b.fails("Finish", err, ledger.ErrUnread)
			} else if err != nil {
				b.Errorf("Finish: %v", err)
			}
		})
		both.Wait()
		heir := active.Load().(string)
		if heir == run {
			heir = next
			if !b.run(run).Status.Final() {
				b.is("heard", texts(b.results(h.Lease, 1)), []string{"only EU"})
				continue
			}
		}
		heard := b.claim(heir, long).Steps[0].Heard
		b.is("heard by "+heir, texts(heard), []string{"only EU"})
	}
}

func misended(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	for _, status := range []evidence.Status{"", evidence.Waiting, evidence.Running} {
		if _, err := b.ledger.Finish(b.Context(), h.Lease, ledger.Ending{Record: evidence.Record{Status: status}}); err == nil {
			b.Errorf("a run ended with status %q", status)
		}
	}
	e := answered("42")
	e.Unheard = true
	if _, err := b.ledger.Finish(b.Context(), h.Lease, e); err == nil {
		b.Error("things were left for a run without a name")
	}
}
