// Package loop is the bounded loop that answers a question: hear what was said, ask the model, run the tools it asks
// for, and again; a reply without calls is checked and ends the run. It is linear on purpose. A run is a value with a
// state in one goroutine; the state is what the ledger holds, so that a run which begins in the middle, in another
// process, goes on with the very same requests.
package loop

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"plumb/evidence"
	"plumb/ledger"
	"plumb/model"
	"plumb/tools"
	"plumb/verify"
)

// A Journal is a run's page in the ledger. Its errors end the work at once: the run is somebody else's, or the ledger
// is out of reach.
type Journal interface {
	Reply(ctx context.Context, step int, r model.Reply, spent evidence.Usage) error
	Results(ctx context.Context, step int, done []ledger.Call, spent evidence.Usage) ([]ledger.Said, error)
	// Finish ends the run. [ledger.ErrUnread] means that something was said meanwhile and nothing was written.
	Finish(ctx context.Context, o Outcome) error
}

// A Toolset is what a run may use.
type Toolset interface {
	verify.Replayer
	Specs() []tools.Spec
	Prompt() string
	Call(ctx context.Context, name string, in tools.Input) (tools.Result, error)
}

// Config is what a run works with.
type Config struct {
	Model   model.Model
	Price   Price
	Tools   Toolset
	Budget  Budget
	Journal Journal
	Observe func(Activity) // told of what is being done; may be nil
	Log     *slog.Logger
	Grace   time.Duration // for the closing call once the time is up; 15 s if zero
}

// An Outcome is how a run ends.
type Outcome struct {
	Step    int
	Reply   *model.Reply // nil if no reply is behind it
	Status  evidence.Status
	Text    string
	Report  verify.Report
	Items   []evidence.Item
	Spent   evidence.Usage // by the ending itself
	Total   evidence.Usage // by the whole run
	Cap     string         // the limit that was met, in words
	Unheard bool           // what was said meanwhile is left to a linked run
}

// ErrWall is the cause of a context that ended because the run's time is up.
var ErrWall = errors.New("the run's time is up")

// Run works on a claimed run until it has ended in the journal. When ctx ends because somebody stopped the run, it ends
// as stopped; when it ends for another reason, nothing more is written and the error says why.
func Run(ctx context.Context, c Config, h ledger.Held) error {
	if c.Observe == nil {
		c.Observe = func(Activity) {}
	}
	if c.Grace == 0 {
		c.Grace = 15 * time.Second
	}
	r := &run{Config: c, run: h.Run, past: h.Past, steps: h.Steps, spent: h.Run.Usage, wrote: h.Run.Usage}
	if len(r.steps) == 0 {
		r.steps = []ledger.Step{{N: 1}}
	}
	r.offered = offered(c.Tools.Specs())
	if h.Run.StopRequested {
		return r.stop(ctx)
	}
	err := r.work(ctx)
	stopped := errors.Is(err, ledger.ErrStopped) || errors.Is(context.Cause(ctx), ledger.ErrStopped)
	if stopped && !errors.Is(err, ledger.ErrFenced) && !r.over {
		return r.stop(context.WithoutCancel(ctx))
	}
	return err
}

// run is one run under way.
type run struct {
	Config
	run     ledger.Run
	past    []ledger.Run
	steps   []ledger.Step // the last is the one to come, or under way
	spent   evidence.Usage
	wrote   evidence.Usage // of spent, what the journal knows
	offered []model.Tool
	redone  int  // how often what was said meanwhile has sent the ending back
	over    bool // the journal has the ending
}

// work is the loop.
func (r *run) work(ctx context.Context) error {
	timed, cancel := context.WithDeadlineCause(ctx, time.Now().Add(r.left()), ErrWall)
	defer cancel()
	if err := r.resume(timed); err != nil {
		return r.explain(ctx, err)
	}
	for {
		if limit := r.Budget.cap(r.spent, r.elapsed()); limit != "" {
			return r.close(ctx, limit)
		}
		reply, err := r.ask(timed, r.request(false))
		if err == nil && blank(reply) {
			reply, err = r.ask(timed, r.request(true)) // (L15) once more, without tools
			reply.Calls = nil
		}
		switch {
		case errors.Is(err, ErrWall): // a model that did not answer in all that time is not asked to close either
			return r.end(ctx, evidence.BudgetWall, nil)
		case err != nil:
			return r.explain(ctx, err)
		case len(reply.Calls) > 0:
			err = r.use(timed, reply)
		default:
			err = r.conclude(timed, reply, evidence.Answered)
		}
		switch {
		case r.over && err == nil:
			return nil
		case errors.Is(err, ledger.ErrUnread):
			err = r.hear(ctx, reply)
		}
		if err != nil {
			return r.explain(ctx, err)
		}
	}
}

// explain turns what stopped the loop into an ending, where there is one: the time was up while tools ran, or the model
// failed.
func (r *run) explain(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, ErrWall), errors.Is(err, context.DeadlineExceeded) && r.left() <= 0:
		return r.close(ctx, evidence.BudgetWall)
	case model.KindOf(err) != "":
		return r.giveUp(ctx, err)
	}
	return err
}

// ask makes one model call and counts it.
func (r *run) ask(ctx context.Context, req model.Request) (model.Reply, error) {
	r.Observe(r.activity("thinking"))
	writing := false
	reply, err := model.Collect(ctx, r.Model, req, func(piece string) {
		if !writing && piece != "" {
			writing = true
			r.Observe(r.activity("writing"))
		}
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	r.spent = r.spent.Plus(evidence.Usage{ModelCalls: 1, InputTokens: reply.Usage.InputTokens, OutputTokens: reply.Usage.OutputTokens,
		CostUSD: r.Price.of(reply.Usage.InputTokens, reply.Usage.OutputTokens)})
	return reply, err
}

// hear drains the inbox after an ending that came too early: the draft stays in the record, and the loop goes on.
func (r *run) hear(ctx context.Context, draft model.Reply) error {
	r.redone++
	if err := r.Journal.Reply(ctx, r.step().N, draft, r.unwritten()); err != nil {
		return err
	}
	r.step().Reply = &draft
	return r.next(ctx, nil)
}

// next writes the results of the step and opens the one to come with what was said meanwhile.
func (r *run) next(ctx context.Context, done []ledger.Call) error {
	heard, err := r.Journal.Results(ctx, r.step().N, done, r.unwritten())
	if err != nil {
		return err
	}
	r.steps = append(r.steps, ledger.Step{N: r.step().N + 1, Heard: heard})
	return nil
}

func (r *run) step() *ledger.Step { return &r.steps[len(r.steps)-1] }

// unwritten is what was spent since the journal last heard of it.
func (r *run) unwritten() evidence.Usage {
	u, w := r.spent, r.wrote
	r.wrote = r.spent
	return evidence.Usage{ModelCalls: u.ModelCalls - w.ModelCalls, ToolCalls: u.ToolCalls - w.ToolCalls, InputTokens: u.InputTokens - w.InputTokens,
		OutputTokens: u.OutputTokens - w.OutputTokens, CostUSD: u.CostUSD - w.CostUSD}
}

func (r *run) elapsed() time.Duration {
	if r.run.Claimed.IsZero() {
		return 0
	}
	return time.Since(r.run.Claimed)
}

// left is the time that the budget still gives.
func (r *run) left() time.Duration {
	if r.Budget.Wall <= 0 {
		return 24 * time.Hour
	}
	return r.Budget.Wall - r.elapsed()
}

func (r *run) items() []evidence.Item {
	var out []evidence.Item
	for _, s := range r.steps {
		for _, c := range s.Calls {
			if c.Item != nil {
				out = append(out, *c.Item)
			}
		}
	}
	return out
}

func blank(r model.Reply) bool { return len(r.Calls) == 0 && strings.TrimSpace(r.Text) == "" }
