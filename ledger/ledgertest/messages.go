package ledgertest

import (
	"fmt"
	"sync"
	"sync/atomic"

	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
)

var messages = []test{
	{"(S1) a message that comes again changes nothing", again},
	{"(S1) a message that comes sixteen times at once is taken once", atOnce},
	{"the same id in another channel is another message", elsewhere},
	{"(S3) messages at once start one run and steer it", oneRun},
	{"(S3) a second run cannot start while one is under way", second},
	{"a decision that does not fit is an error and leaves nothing", misfit},
	{"the situation tells what is under way and what was last", situations},
	{"a thread that began with a message to the bot is the bot's", owned},
	{"a refusal goes out and is kept", refused},
	{"of what is not for the bot nothing is kept but its key", ignored},
	{"a post without an id gets one of its own", postIDs},
}

func again(b bench) {
	m := message("t", "1", ann, "how many?")
	first := b.receive(m, says(ledger.Decision{Kind: ledger.Start, Run: "r1", Budget: "work", Parent: "r0", Why: "asked",
		Posts: []chat.Post{{ID: "p1", Text: "wait"}}}))
	if first.Duplicate {
		b.Error("the first is called a duplicate")
	}
	second := b.receive(m, func(ledger.Situation) ledger.Decision {
		b.Error("a known message was decided again")
		return ledger.Decision{Kind: ledger.Ignore}
	})
	want := first
	want.Duplicate = true
	b.is("the second receipt", second, want)
	b.is("posts", b.outbox(), []string{"wait"})
	next := message("t", "2", bob, "only EU")
	b.receive(next, says(ledger.Decision{Kind: ledger.Steer, Run: "r1"}))
	b.is("heard", b.claim("r1", long).Steps, []ledger.Step{{N: 1, Heard: []ledger.Said{{Message: m, Seq: 1}, {Message: next, Seq: 2}}}})
}

func atOnce(b bench) {
	m := message("t", "1", ann, "how many?")
	var decided, duplicates atomic.Int32
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			r, err := b.ledger.Receive(b.Context(), m, func(s ledger.Situation) ledger.Decision {
				decided.Add(1)
				return starts(fmt.Sprintf("r%d", i))(s)
			})
			if err != nil {
				b.Errorf("Receive: %v", err)
			}
			if r.Duplicate {
				duplicates.Add(1)
			}
		})
	}
	all.Wait()
	if decided.Load() != 1 || duplicates.Load() != 15 {
		b.Errorf("decided %d times, %d duplicates", decided.Load(), duplicates.Load())
	}
	if runs, err := b.ledger.Runs(b.Context(), 100); err != nil || len(runs) != 1 {
		b.Errorf("%d runs, %v", len(runs), err)
	}
}

func elsewhere(b bench) {
	m := message("t", "1", ann, "how many?")
	b.receive(m, starts("r1"))
	m.Conversation.Channel = "C2"
	if b.receive(m, starts("r2")).Duplicate {
		b.Error("it is called a duplicate")
	}
}

func oneRun(b bench) {
	var kinds [2]atomic.Int32
	var all sync.WaitGroup
	const n = 12
	for i := range n {
		all.Go(func() {
			id := fmt.Sprint(i)
			r, err := b.ledger.Receive(b.Context(), message("t", id, ann, id), routes("r"+id))
			if err != nil {
				b.Errorf("Receive: %v", err)
			}
			if r.Decision.Kind == ledger.Start {
				kinds[0].Add(1)
			} else {
				kinds[1].Add(1)
			}
		})
	}
	all.Wait()
	if kinds[0].Load() != 1 || kinds[1].Load() != n-1 {
		b.Errorf("%d started, %d steered", kinds[0].Load(), kinds[1].Load())
	}
	runs, err := b.ledger.Runs(b.Context(), 100)
	if err != nil || len(runs) != 1 {
		b.Fatalf("%d runs, %v", len(runs), err)
	}
	heard := b.claim(runs[0].ID, long).Steps[0].Heard
	for i, s := range heard {
		if s.Seq != int64(i+1) {
			b.Errorf("message %d has place %d", i+1, s.Seq)
		}
	}
	b.is("heard", len(heard), n)
	b.is("the question is what started the run", runs[0].Question, heard[0].Message)
}

func second(b bench) {
	b.ask("t")
	_, err := b.ledger.Receive(b.Context(), message("t", "2", bob, "and?"), func(s ledger.Situation) ledger.Decision {
		if s.Active == nil || s.Active.ID != "t" {
			b.Errorf("the active run is %v", s.Active)
		}
		return starts("r2")(s)
	})
	if err == nil {
		b.Error("a second run was started")
	}
	b.claim("t", long)
	if _, err := b.ledger.Receive(b.Context(), message("t", "2", bob, "and?"), starts("r2")); err == nil {
		b.Error("a second run was started beside a running one")
	}
}

func misfit(b bench) {
	for _, d := range []ledger.Decision{
		{Kind: ledger.Steer, Run: "nobody"},
		{Kind: ledger.Start},
		{Kind: "dance"},
		{},
	} {
		d.Posts = []chat.Post{{ID: "p", Text: "never"}}
		if _, err := b.ledger.Receive(b.Context(), message("t", "1", ann, "x"), says(d)); err == nil {
			b.Errorf("%+v was taken", d)
		}
	}
	b.is("posts", b.outbox(), []string(nil))
	if b.receive(message("t", "1", ann, "x"), starts("r")).Duplicate {
		b.Error("the failed message is known")
	}
	b.is("the first place is still free", b.claim("r", long).Steps[0].Heard[0].Seq, int64(1))
}

func situations(b bench) {
	var seen []ledger.Situation
	look := func(id string, decide func(ledger.Situation) ledger.Decision) {
		b.receive(message("t", id, bob, id), func(s ledger.Situation) ledger.Decision {
			seen = append(seen, s)
			return decide(s)
		})
	}
	look("1", starts("r1"))
	h := b.claim("r1", long)
	look("2", routes(""))
	b.results(h.Lease, 0)
	look("3", routes(""))
	b.receive(message("t", "e", eve, "eve"), routes(""))
	b.results(h.Lease, 1)
	look("4", says(ledger.Decision{Kind: ledger.Ignore}))
	b.finish(h.Lease, ledger.Ending{Unheard: true, Next: "unused", Record: evidence.Record{Status: evidence.Answered, Answer: "42"}})
	look("5", starts("r5"))
	if len(seen) != 5 {
		b.Fatalf("%d situations", len(seen))
	}
	if seen[0].Active != nil || seen[0].Last != nil {
		b.Errorf("at first: %+v", seen[0])
	}
	if a := seen[1].Active; a == nil || a.ID != "r1" || a.Status != evidence.Running || len(a.Steerers) != 0 || seen[1].Last != nil {
		b.Errorf("with a run under way: %+v", a)
	}
	if a := seen[3].Active; a == nil || len(a.Steerers) != 1 || a.Steerers[0] != eve {
		b.Errorf("after Eve was heard: %+v", a)
	}
	if l := seen[4].Last; seen[4].Active != nil || l == nil || l.ID != "r1" || l.Record.Answer != "42" || l.Status != evidence.Answered {
		b.Errorf("after the run: %+v, %+v", seen[4].Active, l)
	}
}

func owned(b bench) {
	own := func(m chat.Message) (own bool) {
		b.receive(m, func(s ledger.Situation) ledger.Decision { own = s.Own; return ledger.Decision{Kind: ledger.Ignore} })
		return own
	}
	m := message("mine", "1", ann, "how many?")
	m.Opens = true
	b.is("at the message that opens it", own(m), true)
	m = message("mine", "2", bob, "and now?")
	m.Addressed = false
	b.is("later", own(m), true)
	b.is("a thread of others", own(message("theirs", "3", ann, "how many?")), false)
	m = message("nobody's", "4", ann, "morning all")
	m.Opens, m.Addressed = true, false
	b.is("a thread that began with talk", own(m), false)
}

func refused(b bench) {
	b.ask("t")
	d := ledger.Decision{Kind: ledger.Refuse, Why: "not yours", Posts: []chat.Post{{ID: "p", Text: "no", Only: true}}}
	b.is("receipt", b.receive(message("t", "2", eve, "stop"), says(d)).Decision.Why, "not yours")
	b.is("posts", b.outbox(), []string{"no"})
	b.is("heard", texts(b.claim("t", long).Steps[0].Heard), []string{"how many orders?"})
	b.is("steering", b.run("t").Record.Steering, []evidence.Steer{{ID: "2", Who: "U3", Text: "stop", Outcome: evidence.NotAllowed}})
}

func ignored(b bench) {
	b.ask("t")
	m := message("t", "2", eve, "lunch?")
	b.receive(m, says(ledger.Decision{Kind: ledger.Ignore, Why: "not for me"}))
	r := b.receive(m, starts("never"))
	b.is("receipt", r, ledger.Receipt{Duplicate: true, Decision: ledger.Decision{Kind: ledger.Ignore, Why: "not for me"}})
	b.is("heard", texts(b.claim("t", long).Steps[0].Heard), []string{"how many orders?"})
	b.is("steering", b.run("t").Record.Steering, []evidence.Steer(nil))
}

func postIDs(b bench) {
	d := ledger.Decision{Kind: ledger.Refuse, Posts: []chat.Post{{Text: "a"}, {Text: "b"}}}
	one := b.receive(message("t", "1", ann, "x"), says(d)).Decision.Posts
	two := b.receive(message("t", "2", ann, "x"), says(d)).Decision.Posts
	ids := map[string]bool{one[0].ID: true, one[1].ID: true, two[0].ID: true, two[1].ID: true}
	if len(ids) != 4 || ids[""] {
		b.Errorf("ids %v", ids)
	}
	posts, err := b.ledger.Outbox(b.Context(), 0, 100)
	if err != nil {
		b.Fatal(err)
	}
	b.is("the outbox has what the receipts say", posts, append(one, two...))
}
