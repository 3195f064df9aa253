package ledgertest

import (
	"fmt"
	"sync"
	"time"

	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
)

var stops = []test{
	{"(S8) a stop ends a run that waits, with its words", stopWaiting},
	{"(S10) a stop tells a run under way, and cancels what waits for it", stopRunning},
	{"(S10) a run that was stopped does not end as if it had not been", stoppedAnswer},
	{"(S10) a stop outlives the worker", stopOutlives},
	{"a stop of a run handed back ends it", stopReleased},
	{"(S10) a second stop changes nothing", stopTwice},
	{"(S10) after a stop the next message starts a run", stopNext},
	{"(S15) a remark that races with a stop is cancelled with the run or starts another", stopRace},
	{"a stop as a message does the same", halts},
	{"there is nothing to stop in a run that is over", stopOver},
}

var sorry = []chat.Post{{Text: "Stopped.", Final: true}}

func (b bench) stop(run string, by chat.Person) ledger.Stopping {
	b.Helper()
	s, err := b.ledger.Stop(b.Context(), run, by, sorry)
	if err != nil {
		b.Fatalf("Stop: %v", err)
	}
	return s
}

func stopWaiting(b bench) {
	b.ask("r")
	b.remark("r", "2", bob, "only EU")
	b.is("stopping", b.stop("r", ann), ledger.StopWaiting)
	r := b.run("r")
	if r.Status != evidence.Stopped || r.Ended.IsZero() || !r.StopRequested || r.StoppedBy != ann || r.Record.Status != evidence.Stopped {
		b.Errorf("the run: %+v", r)
	}
	b.is("posts", b.outbox(), []string{"Stopped."})
	b.is("steering", r.Record.Steering, []evidence.Steer{{ID: "2", Who: "U2", Text: "only EU", Outcome: evidence.WasStopped}})
	_, err := b.ledger.Claim(b.Context(), "r", "w", long)
	b.fails("Claim", err, ledger.ErrTaken)
	b.is("due", b.due(0), []string(nil))
}

func stopRunning(b bench) {
	b.ask("r")
	h := b.claim("r", 50*time.Millisecond)
	b.remark("r", "2", bob, "only EU")
	b.is("stopping", b.stop("r", bob), ledger.StopRunning)
	b.fails("Extend", b.ledger.Extend(b.Context(), h.Lease, long), ledger.ErrStopped)
	_, err := b.ledger.Claim(b.Context(), "r", "w", long)
	b.fails("the lease is kept all the same", err, ledger.ErrTaken)
	b.is("posts", b.outbox(), []string(nil))
	b.is("heard", texts(b.results(h.Lease, 1)), []string(nil))
	if r := b.run("r"); r.Status != evidence.Running || !r.StopRequested || r.StoppedBy != bob {
		b.Errorf("the run: %+v", r)
	}
	b.finish(h.Lease, ledger.Ending{Record: evidence.Record{Status: evidence.Stopped}, Posts: sorry})
	b.is("posts", b.outbox(), []string{"Stopped."})
	b.is("status", b.run("r").Status, evidence.Stopped)
	b.is("steering", b.run("r").Record.Steering, []evidence.Steer{{ID: "2", Who: "U2", Text: "only EU", Outcome: evidence.WasStopped}})
}

func stoppedAnswer(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	b.stop("r", ann)
	_, err := b.ledger.Finish(b.Context(), h.Lease, answered("42"))
	b.fails("Finish", err, ledger.ErrStopped)
	b.is("posts", b.outbox(), []string(nil))
	b.finish(h.Lease, ledger.Ending{Record: evidence.Record{Status: evidence.Failed}, Posts: []chat.Post{{Text: "It broke."}}})
}

func stopOutlives(b bench) {
	b.ask("r")
	b.claim("r", 50*time.Millisecond)
	b.stop("r", ann)
	h := b.reclaim("r")
	if !h.Run.StopRequested || h.Run.StoppedBy != ann {
		b.Errorf("the run: %+v", h.Run)
	}
}

func stopReleased(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	b.reply(h.Lease, 1, "", call("c", "{}"))
	if err := b.ledger.Release(b.Context(), h.Lease); err != nil {
		b.Fatal(err)
	}
	b.is("stopping", b.stop("r", ann), ledger.StopWaiting)
	b.is("posts", b.outbox(), []string{"Stopped."})
}

func stopTwice(b bench) {
	b.ask("r")
	b.claim("r", long)
	b.stop("r", ann)
	b.is("stopping again", b.stop("r", bob), ledger.StopRunning)
	b.is("stopped by", b.run("r").StoppedBy, ann)
	b.ask("w")
	b.stop("w", ann)
	b.is("stopping again", b.stop("w", bob), ledger.StopIdle)
	b.is("posts", b.outbox(), []string{"Stopped."})
}

func stopNext(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	b.stop("r", ann)
	m := b.remark("r", "2", bob, "a new question")
	e := ledger.Ending{Record: evidence.Record{Status: evidence.Stopped}, Unheard: true, Next: "next"}
	b.is("a linked run", b.finish(h.Lease, e), true)
	b.is("question", b.claim("next", long).Run.Question, m)
}

// stopRace lets a remark and a stop of a waiting run meet. Whichever comes first, no remark waits for a run that is over.
func stopRace(b bench) {
	for i := range 20 {
		run := fmt.Sprintf("r%d", i)
		b.ask(run)
		var decision ledger.Decision
		var both sync.WaitGroup
		both.Go(func() {
			r, err := b.ledger.Receive(b.Context(), message(run, run+"-remark", bob, "only EU"), routes("fresh-"+run))
			if err != nil {
				b.Errorf("Receive: %v", err)
			}
			decision = r.Decision
		})
		both.Go(func() {
			if _, err := b.ledger.Stop(b.Context(), run, ann, nil); err != nil {
				b.Errorf("Stop: %v", err)
			}
		})
		both.Wait()
		if decision.Run != run {
			b.is("heard by another run", texts(b.claim(decision.Run, long).Steps[0].Heard), []string{"only EU"})
			continue
		}
		b.is("steering", b.run(run).Record.Steering, []evidence.Steer{
			{ID: run + "-remark", Who: "U2", Text: "only EU", Outcome: evidence.WasStopped}})
	}
}

func halts(b bench) {
	halt := ledger.Decision{Kind: ledger.Halt, Posts: sorry}
	b.ask("w")
	r := b.receive(message("w", "2", ann, "stop"), says(halt))
	b.is("a run that waits", []any{r.Stopping, r.Decision.Run, b.run("w").Status}, []any{ledger.StopWaiting, "w", evidence.Stopped})
	b.is("posts", b.outbox(), []string{"Stopped."})
	b.ask("r")
	h := b.claim("r", long)
	b.remark("r", "2", bob, "only EU")
	r = b.receive(message("r", "3", bob, "stop"), says(halt))
	b.is("a run under way", []any{r.Stopping, r.Decision.Run, len(r.Decision.Posts)}, []any{ledger.StopRunning, "r", 0})
	b.fails("Extend", b.ledger.Extend(b.Context(), h.Lease, long), ledger.ErrStopped)
	b.is("the stop itself is not to be heard", texts(b.results(h.Lease, 1)), []string(nil))
	again := b.receive(message("r", "3", bob, "stop"), says(halt))
	b.is("the same again", again, ledger.Receipt{Duplicate: true, Decision: r.Decision, Stopping: r.Stopping})
	b.is("posts", b.outbox(), []string{"Stopped."})
	r = b.receive(message("r", "4", bob, "stop"), says(ledger.Decision{Kind: ledger.Halt, Run: "an older run"}))
	b.is("a stop of another run", r.Stopping, ledger.StopIdle)
}

func stopOver(b bench) {
	b.ask("r")
	b.finish(b.claim("r", long).Lease, answered("42"))
	b.is("stopping", b.stop("r", ann), ledger.StopIdle)
	if r := b.run("r"); r.Status != evidence.Answered || r.StopRequested {
		b.Errorf("the run: %+v", r)
	}
	_, err := b.ledger.Stop(b.Context(), "nothing", ann, nil)
	b.fails("an unknown run", err, ledger.ErrUnknown)
}
