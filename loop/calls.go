package loop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"plumb/evidence"
	"plumb/ledger"
	"plumb/model"
	"plumb/tools"
)

// sideBySide is how many calls of one reply run at a time (L7).
const sideBySide = 8

// use records a reply with its calls, runs them and records what came of them.
func (r *run) use(ctx context.Context, reply model.Reply) error {
	reply.Calls = unique(reply.Calls, r.steps)
	if err := r.Journal.Reply(ctx, r.step().N, reply, r.unwritten()); err != nil {
		return err
	}
	r.step().Reply, r.step().Calls = &reply, r.intents(reply.Calls)
	return r.launch(ctx)
}

// unique gives a new id to a call whose id is empty or was used before: results find their calls by it.
func unique(calls []model.Call, steps []ledger.Step) []model.Call {
	used := map[string]bool{}
	for _, s := range steps {
		for _, c := range s.Calls {
			used[c.Call.ID] = true
		}
	}
	out := make([]model.Call, len(calls))
	for i, c := range calls {
		for n := 2; c.ID == "" || used[c.ID]; n++ {
			c.ID = fmt.Sprintf("%s_%d", strings.TrimRight(calls[i].ID, "_"), n)
		}
		used[c.ID] = true
		out[i] = c
	}
	return out
}

// intents numbers calls on from those of the run so far.
func (r *run) intents(calls []model.Call) []ledger.Call {
	n := 0
	for _, s := range r.steps {
		n += len(s.Calls)
	}
	var out []ledger.Call
	for i, c := range calls {
		out = append(out, ledger.Call{N: n + i + 1, Call: c})
	}
	return out
}

// resume finishes a step that another worker left with calls under way: those with a result keep it, the others run
// again where that does no harm (S13). A step that was finished is followed by the next; what was said meanwhile was
// heard with the claim.
func (r *run) resume(ctx context.Context) error {
	s := r.step()
	switch {
	case s.Reply == nil:
		return nil
	case doing(s.Calls) == "":
		r.steps = append(r.steps, ledger.Step{N: s.N + 1})
		return nil
	}
	return r.launch(ctx)
}

// launch runs the calls of the step that are not done, side by side, and writes down what came of them.
func (r *run) launch(ctx context.Context) error {
	calls := r.step().Calls
	before := slices.Clone(calls)
	verdicts := r.judge(calls)
	r.Observe(r.activity(doing(calls)))
	errs := make([]error, len(calls))
	slots := make(chan struct{}, sideBySide)
	sofar := r.items()
	var wg sync.WaitGroup
	for i := range calls {
		if calls[i].Done || verdicts[i] != runs {
			continue
		}
		r.spent.ToolCalls++
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = r.call(ctx, &calls[i], sofar)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	r.answerTheRest(calls, verdicts)
	return r.next(ctx, fresh(before, calls))
}

// call runs one tool and keeps what came of it.
func (r *run) call(ctx context.Context, c *ledger.Call, sofar []evidence.Item) error {
	began := time.Now()
	res, err := r.Tools.Call(ctx, c.Call.Name, tools.Input{Args: arguments(c.Call.Arguments), Evidence: sofar})
	switch {
	case ctx.Err() != nil && (err != nil || res.Failed):
		return context.Cause(ctx) // it was cut off; one that was quicker keeps its result
	case err != nil:
		return fmt.Errorf("%s: %w", c.Call.Name, err)
	}
	res.Item.MS = time.Since(began).Milliseconds()
	settle(c, res)
	return nil
}

// settle gives a call its result. Every call leaves one item of evidence, whatever came of it (L8).
func settle(c *ledger.Call, res tools.Result) {
	item := res.Item
	item.ID, item.Tool = "e"+strconv.Itoa(c.N), c.Call.Name
	if args := arguments(c.Call.Arguments); json.Valid(args) {
		item.Args = args
	}
	c.Done, c.Text, c.Failed, c.Item = true, res.Text, res.Failed, &item
}

// fresh are the calls that were not done before.
func fresh(before, after []ledger.Call) []ledger.Call {
	var out []ledger.Call
	for i, c := range after {
		if c.Done && !before[i].Done {
			out = append(out, c)
		}
	}
	return out
}

// salvage writes down the calls that were done when the others of their reply were cut off.
func (r *run) salvage(ctx context.Context) error {
	var done []ledger.Call
	for _, c := range r.step().Calls {
		if c.Done {
			done = append(done, c)
		}
	}
	if len(done) == 0 {
		return nil
	}
	return r.next(ctx, done)
}

// arguments are a call's, or an empty object where the model gave none.
func arguments(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

func doing(calls []ledger.Call) string {
	var names []string
	for _, c := range calls {
		if !c.Done {
			names = append(names, c.Call.Name)
		}
	}
	return strings.Join(names, ", ")
}
