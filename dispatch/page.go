package dispatch

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
	"plumb/loop"
	"plumb/model"
)

// page is a run's page in the ledger, opened with a lease.
type page struct {
	d    *Dispatcher
	held ledger.Held
}

var _ loop.Journal = (*page)(nil)

func (p *page) Reply(ctx context.Context, step int, r model.Reply, spent evidence.Usage) error {
	return p.d.Ledger.Reply(ctx, p.held.Lease, step, r, spent)
}

func (p *page) Results(ctx context.Context, step int, done []ledger.Call, spent evidence.Usage) ([]ledger.Said, error) {
	said, err := p.d.Ledger.Results(ctx, p.held.Lease, step, done, spent)
	p.heard(said)
	return said, err
}

// Finish writes the ending and its post in one transaction and sends the post on its way.
func (p *page) Finish(ctx context.Context, o loop.Outcome) error {
	run := p.held.Run
	e := ledger.Ending{Step: o.Step, Reply: o.Reply, Spent: o.Spent, Unheard: o.Unheard, Next: newRun(), Record: evidence.Record{
		RunID: run.ID, Status: o.Status, Verdict: o.Report.Verdict, Answer: o.Text, Figures: o.Report.Figures, Findings: o.Report.Findings,
		NotChecked: o.Report.NotChecked, Usage: o.Total}}
	if run.Conversation.Platform != chat.CLI {
		e.Posts = []chat.Post{p.post(o)}
	}
	next, err := p.d.Ledger.Finish(ctx, p.held.Lease, e)
	if err != nil {
		return err
	}
	p.d.relay.post(ctx, e.Posts)
	p.d.show(chat.Progress{Run: run.ID, Reply: p.reply(), Started: run.Started, Ended: true, Lines: []string{ended(o)}})
	if next {
		if err := p.d.Bus.Wake(ctx, e.Next); err != nil {
			p.d.Log.Warn("a linked run waits to be found", "run", e.Next, "error", err)
		}
	}
	return nil
}

func (p *page) reply() chat.Reply {
	return chat.Reply{Conversation: p.held.Run.Conversation, To: p.held.Run.Question.ID}
}

// observe shows what the run is doing.
func (p *page) observe(a loop.Activity) {
	if p.held.Run.Conversation.Platform == chat.CLI {
		return
	}
	p.d.show(chat.Progress{Run: p.held.Run.ID, Reply: p.reply(), Started: a.Since, Lines: lines(a)})
}

// post is what people are shown of an ending.
func (p *page) post(o loop.Outcome) chat.Post {
	run := p.held.Run
	post := chat.Post{ID: "p" + strings.ToLower(rand.Text()), Run: run.ID, Reply: p.reply(), Asker: run.Question.Who, Final: true,
		Text: Text(o.Status, o.Text, o.Cap, run.ID), Footer: Footer(o.Total, run.ID), Exhibits: Exhibits(o.Items, Shown)}
	if len(o.Report.Figures) > 0 || len(o.Items) > 0 {
		post.Verdict = o.Report.Line()
	}
	if o.Cap != "" {
		post.Buttons = append(post.Buttons, chat.Button{Action: chat.Continue, Run: run.ID})
	}
	if p.d.Label != "" && o.Status == evidence.Answered {
		post.Footer += " · " + p.d.Label
	}
	return post
}

// after is the time since a moment, as people say it.
func after(ms int64) string {
	if ms < 1000 {
		return fmt.Sprintf("%d ms", ms)
	}
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond).String()
}
