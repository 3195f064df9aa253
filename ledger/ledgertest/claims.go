package ledgertest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"plumb/evidence"
	"plumb/ledger"
	"plumb/model"
)

var claims = []test{
	{"a claim gives the run, its question first", claimed},
	{"(S12) of eight workers one gets the run", exclusive},
	{"there is nothing to claim of a run that is unknown or over", notToClaim},
	{"(S12) a lease that runs out goes to another worker, and the old one cannot write", fenced},
	{"(S12) a lease that is kept does not run out", extended},
	{"(S19) a run handed back is claimed at once, and the old lease is void", released},
	{"runs that wait and runs whose worker is gone are due", dueRuns},
	{"a claim tells of earlier runs of the conversation", earlier},
}

func claimed(b bench) {
	m := b.ask("r")
	before := b.run("r")
	if before.Status != evidence.Waiting || !before.Claimed.IsZero() || before.Attempts != 0 || before.Started.IsZero() {
		b.Errorf("before the claim: %+v", before)
	}
	h := b.claim("r", long)
	b.is("lease", h.Lease, ledger.Lease{Run: "r", Fence: 1})
	b.is("steps", h.Steps, []ledger.Step{{N: 1, Heard: []ledger.Said{{Message: m, Seq: 1}}}})
	b.is("past", h.Past, []ledger.Run(nil))
	r := h.Run
	if r.Status != evidence.Running || r.Claimed.IsZero() || r.Attempts != 1 || r.Worker != "worker" || r.Budget != "work" {
		b.Errorf("the run: %+v", r)
	}
	b.is("question", r.Question, m)
	b.is("conversation", r.Conversation, m.Conversation)
}

func exclusive(b bench) {
	for round := range 5 {
		run := fmt.Sprintf("r%d", round)
		b.ask(run)
		var got, taken atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				_, err := b.ledger.Claim(b.Context(), run, "w", long)
				switch {
				case err == nil:
					got.Add(1)
				case errors.Is(err, ledger.ErrTaken):
					taken.Add(1)
				default:
					b.Errorf("Claim: %v", err)
				}
			})
		}
		all.Wait()
		if got.Load() != 1 || taken.Load() != 7 {
			b.Errorf("%d got it, %d were told that it is taken", got.Load(), taken.Load())
		}
	}
}

func notToClaim(b bench) {
	_, err := b.ledger.Claim(b.Context(), "nothing", "w", long)
	b.fails("an unknown run", err, ledger.ErrTaken)
	b.ask("r")
	b.finish(b.claim("r", long).Lease, answered("42"))
	_, err = b.ledger.Claim(b.Context(), "r", "w", long)
	b.fails("a run that is over", err, ledger.ErrTaken)
	_, err = b.ledger.Run(b.Context(), "nothing")
	b.fails("reading an unknown run", err, ledger.ErrUnknown)
}

// refusesAll checks that a lease gives no right to anything, and that trying has left no trace.
func (b bench) refusesAll(l ledger.Lease) {
	b.Helper()
	before := b.run(l.Run)
	ctx := b.Context()
	b.fails("Extend", b.ledger.Extend(ctx, l, long), ledger.ErrFenced)
	b.fails("Reply", b.ledger.Reply(ctx, l, 7, model.Reply{Text: "late", Calls: []model.Call{call("c", "{}")}}, evidence.Usage{ModelCalls: 1}), ledger.ErrFenced)
	_, err := b.ledger.Results(ctx, l, 1, []ledger.Call{{N: 1, Text: "late", Item: item("e1", "late")}}, evidence.Usage{ToolCalls: 1})
	b.fails("Results", err, ledger.ErrFenced)
	e := answered("late")
	e.Step, e.Reply, e.Unheard, e.Next = 8, &model.Reply{Text: "late"}, true, "late"
	_, err = b.ledger.Finish(ctx, l, e)
	b.fails("Finish", err, ledger.ErrFenced)
	b.fails("Release", b.ledger.Release(ctx, l), ledger.ErrFenced)
	b.is("the run afterwards", b.run(l.Run), before)
	b.is("posts", b.outbox(), []string(nil))
}

func fenced(b bench) {
	b.ask("r")
	old := b.claim("r", 50*time.Millisecond)
	b.reply(old.Lease, 1, "looking", call("c1", `{"sql":"SELECT 1"}`))
	b.remark("r", "2", bob, "only EU")
	h := b.reclaim("r")
	if h.Lease.Fence <= old.Lease.Fence || h.Run.Attempts != 2 || h.Run.Worker != "another worker" {
		b.Errorf("the second claim: fence %d, attempt %d by %s", h.Lease.Fence, h.Run.Attempts, h.Run.Worker)
	}
	if !h.Run.Claimed.Equal(old.Run.Claimed) {
		b.Errorf("first claimed at %v, now %v", old.Run.Claimed, h.Run.Claimed)
	}
	b.refusesAll(old.Lease)
	b.is("the remark is still to be heard", texts(b.results(h.Lease, 1, ledger.Call{N: 1, Text: "1"})), []string{"only EU"})
	b.finish(h.Lease, answered("42"))
	if err := b.ledger.Extend(b.Context(), h.Lease, long); !errors.Is(err, ledger.ErrFenced) {
		b.Errorf("Extend of a run that is over: %v", err)
	}
}

func extended(b bench) {
	b.ask("r")
	h := b.claim("r", 50*time.Millisecond)
	if err := b.ledger.Extend(b.Context(), h.Lease, long); err != nil {
		b.Fatal(err)
	}
	b.ask("other")
	b.claim("other", 100*time.Millisecond)
	b.reclaim("other") // by now the first lease would be over, too
	_, err := b.ledger.Claim(b.Context(), "r", "w", long)
	b.fails("Claim", err, ledger.ErrTaken)
}

func released(b bench) {
	b.ask("r")
	h := b.claim("r", long)
	if err := b.ledger.Release(b.Context(), h.Lease); err != nil {
		b.Fatal(err)
	}
	b.refusesAll(h.Lease)
	b.is("attempts", b.claim("r", long).Run.Attempts, 2)
	b.refusesAll(h.Lease)
}

func dueRuns(b bench) {
	b.ask("waits")
	b.ask("held")
	b.claim("held", long)
	b.ask("lost")
	b.claim("lost", time.Millisecond)
	b.ask("over")
	b.finish(b.claim("over", long).Lease, answered("42"))
	deadline := time.Now().Add(10 * time.Second)
	for len(b.due(time.Hour)) == 0 && time.Now().Before(deadline) {
	}
	b.is("due for an hour", b.due(time.Hour), []string{"lost"})
	b.is("due at all", b.due(0), []string{"waits", "lost"})
	if list, err := b.ledger.Due(b.Context(), 0, 1); err != nil || len(list) != 1 {
		b.Errorf("at most one: %v, %v", list, err)
	}
	h := b.reclaim("lost")
	if err := b.ledger.Release(b.Context(), h.Lease); err != nil {
		b.Fatal(err)
	}
	b.is("handed back", b.due(0), []string{"waits", "lost"})
	b.is("handed back just now", b.due(time.Hour), []string(nil))
}

func earlier(b bench) {
	for i := range 12 {
		run := fmt.Sprintf("r%d", i)
		b.receive(message("t", run, ann, "question "+run), starts(run))
		h := b.claim(run, long)
		b.reply(h.Lease, 1, "", call("c", "{}"))
		b.results(h.Lease, 1, ledger.Call{N: 1, Text: "1", Item: item("e1", "")})
		b.finish(h.Lease, answered("answer "+run))
	}
	b.ask("elsewhere")
	b.receive(message("t", "now", ann, "now"), starts("now"))
	var got []string
	for _, r := range b.claim("now", long).Past {
		got = append(got, r.Question.Text+": "+r.Record.Answer)
		if len(r.Record.Evidence) > 0 {
			b.Errorf("%s comes with evidence", r.ID)
		}
	}
	var want []string
	for i := 2; i < 12; i++ {
		want = append(want, fmt.Sprintf("question r%d: answer r%d", i, i))
	}
	b.is("past", got, want)
	var listed []string
	runs, err := b.ledger.Runs(b.Context(), 3)
	if err != nil {
		b.Fatal(err)
	}
	for _, r := range runs {
		listed = append(listed, r.ID)
	}
	b.is("newest first", listed, []string{"now", "elsewhere", "r11"})
}
