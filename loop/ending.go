package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plumb/evidence"
	"plumb/ledger"
	"plumb/model"
	"plumb/verify"
)

// redo is how often what people say while the ending is written may send it back (S6).
const redo = 5

// conclude checks a reply and ends the run with it.
func (r *run) conclude(ctx context.Context, reply model.Reply, status evidence.Status) error {
	text := strings.TrimSpace(reply.Text)
	if text == "" {
		text = r.honest("The model gave no answer in words.")
	}
	return r.finish(ctx, Outcome{Reply: &reply, Status: status, Text: text})
}

// close is the one closing turn at a cap (B4): no tools, and the model is told why. Whatever becomes of it, the run ends.
func (r *run) close(ctx context.Context, limit evidence.Status) error {
	if err := r.salvage(ctx); err != nil {
		return err
	}
	last, cancel := context.WithTimeoutCause(ctx, max(r.left(), r.Grace), ErrWall)
	defer cancel()
	req := r.request(true)
	req.Turns = append(req.Turns, guidance(fmt.Sprintf("You have reached %s for this question. No more tools. Answer now from what you have, say what is missing, and invent nothing.", r.Budget.Limit(limit))))
	reply, err := r.ask(last, req)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		r.Log.Warn("the closing call failed", "run", r.run.ID, "error", err)
		return r.end(ctx, limit, nil)
	}
	reply.Calls = nil
	return r.end(ctx, limit, &reply)
}

// end ends the run at a cap, with the words of the closing turn or, where there are none, with honest ones.
func (r *run) end(ctx context.Context, limit evidence.Status, reply *model.Reply) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text := ""
	if reply != nil {
		text = strings.TrimSpace(reply.Text)
	}
	if text == "" {
		text = r.honest("There was no room left to write an answer.")
	}
	return r.finish(ctx, Outcome{Reply: reply, Status: limit, Cap: r.Budget.Limit(limit), Text: text, Unheard: true})
}

// giveUp ends a run whose model failed: with what was found, if anything was (L14).
func (r *run) giveUp(ctx context.Context, err error) error {
	r.Log.Warn("the model failed", "run", r.run.ID, "step", r.step().N, "error", err)
	why := model.KindOf(err).For()
	if model.KindOf(err) == model.Scripted {
		why = err.Error()
	}
	if r.useful() == 0 {
		return r.finish(ctx, Outcome{Status: evidence.Failed, Text: "I could not answer: " + why + ".", Unheard: true})
	}
	return r.finish(ctx, Outcome{Status: evidence.Partial, Text: r.honest("I could not finish: " + why + "."), Unheard: true})
}

// stop ends a run that a person has stopped: what was done stays, what was under way is named.
func (r *run) stop(ctx context.Context) error {
	cutOff := r.cutOff()
	if err := r.salvage(ctx); err != nil {
		return err
	}
	text := "Stopped."
	if by := r.run.StoppedBy; by.ID != "" && by.ID != r.run.Question.Who.ID {
		text = "Stopped by " + by.Called() + "."
	}
	return r.finish(ctx, Outcome{Status: evidence.Stopped, Text: strings.TrimSpace(text + " " + r.account() + " " + cutOff), Unheard: true})
}

// honest is the answer when there is none: what is so, and that the evidence is there.
func (r *run) honest(why string) string {
	if r.useful() == 0 {
		return why + " Nothing was found before that."
	}
	return why + " " + r.account()
}

// account says what was found.
func (r *run) account() string {
	switch n := r.useful(); n {
	case 0:
		return "Nothing had been found yet."
	case 1:
		return "One look at the data was finished; it is in the evidence."
	default:
		return words(n) + " looks at the data were finished; they are in the evidence."
	}
}

// cutOff names the calls that were under way.
func (r *run) cutOff() string {
	if names := doing(r.step().Calls); names != "" {
		return "Cut off: " + names + "."
	}
	return ""
}

// words writes small counts out, so that the bot's own bookkeeping is not taken for a figure.
func words(n int) string {
	small := []string{"No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"}
	if n < len(small) {
		return small[n]
	}
	return "Many"
}

// useful counts the calls that gave something.
func (r *run) useful() (n int) {
	for _, it := range r.items() {
		if it.Error == "" && it.DuplicateOf == "" {
			n++
		}
	}
	return n
}

// finish checks the text and ends the run in the journal.
func (r *run) finish(ctx context.Context, o Outcome) error {
	o.Step, o.Items = r.step().N, r.items()
	o.Unheard = o.Unheard || r.redone >= redo
	r.Observe(r.activity("checking"))
	if o.Status == evidence.Answered || o.Cap != "" {
		o.Report = verify.Check(ctx, verify.Input{Asked: r.asked(), Answer: o.Text, Items: o.Items, Replay: r.Tools})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if source := mixed(o.Report.Figures, o.Items); source != "" {
			o.Status, o.Cap = evidence.Blocked, ""
			o.Text = "The data of " + source + " changed while I was looking, and my figures would have mixed the old with the new. Please ask again."
			o.Report = verify.Report{Verdict: evidence.Review, Findings: []evidence.Finding{{Check: "freshness", Effect: evidence.Block, Target: "answer", Detail: "The figures rest on two revisions of " + source + "."}}}
		}
	} else {
		o.Report.Verdict = evidence.Unchecked
		if len(o.Items) > 0 {
			o.Report.Verdict = evidence.Review
		}
	}
	before := r.wrote
	o.Total, o.Spent = r.spent, r.unwritten()
	o.Total.WallMS = r.elapsed().Milliseconds()
	o.Spent.WallMS = o.Total.WallMS - r.run.Usage.WallMS
	err := r.Journal.Finish(ctx, o)
	if errors.Is(err, ledger.ErrUnread) {
		r.wrote = before
	}
	r.over = err == nil
	return err
}

// asked is what people have said to the run.
func (r *run) asked() []string {
	var out []string
	for _, s := range r.steps {
		for _, h := range s.Heard {
			out = append(out, h.Message.Text)
		}
	}
	return out
}

// mixed names a source of which the figures rest on more than one revision, or "" (L16).
func mixed(figures []evidence.Figure, items []evidence.Item) string {
	seen := map[string]string{}
	for _, f := range figures {
		for _, it := range items {
			if it.ID != f.Evidence {
				continue
			}
			for _, s := range it.Sources {
				if before := seen[s.Source]; before != "" && s.Revision != "" && before != s.Revision {
					return s.Source
				} else if s.Revision != "" {
					seen[s.Source] = s.Revision
				}
			}
		}
	}
	return ""
}
