package loop

import (
	"bytes"
	"encoding/json"
	"fmt"

	"plumb/evidence"
	"plumb/ledger"
	"plumb/model"
	"plumb/tools"
)

// A verdict on a call of a reply: it runs, or why it does not.
type verdict struct {
	same    *ledger.Call // an earlier call whose result serves
	because string       // a sentence for the model
}

// runs is the verdict on a call that runs.
var runs = verdict{}

// judge decides which calls of a reply run: not exact duplicates (L6), not computation next to the look that it should
// rest on (L7), not what the budget has no room for (B1), and after a crash not what may have had its effect (S13).
func (r *run) judge(calls []ledger.Call) []verdict {
	specs := map[string]tools.Spec{}
	for _, s := range r.Tools.Specs() {
		specs[s.Name] = s
	}
	looks := false
	for _, c := range calls {
		looks = looks || specs[c.Call.Name].Looks
	}
	room := len(calls)
	if r.Budget.ToolCalls > 0 {
		room = r.Budget.ToolCalls - r.spent.ToolCalls
	}
	seen := r.succeeded()
	out := make([]verdict, len(calls))
	for i := range calls {
		c := &calls[i]
		key := digest(c.Call)
		switch {
		case c.Done:
			continue
		case seen[key] != nil:
			out[i].same = seen[key]
		case looks && specs[c.Call.Name].Computes:
			out[i].because = "Not run: you asked to look at the data in the same reply. Read what came of that, then ask for this again."
		case room <= 0:
			out[i].because = "Not run: the limit of tool calls for this question is reached."
		default:
			room--
			seen[key] = c
		}
	}
	return out
}

// succeeded are the calls of earlier steps whose result may be given once more.
func (r *run) succeeded() map[string]*ledger.Call {
	seen := map[string]*ledger.Call{}
	for i := range r.steps {
		for j := range r.steps[i].Calls {
			c := &r.steps[i].Calls[j]
			if c.Done && !c.Failed && c.Item != nil && c.Item.DuplicateOf == "" {
				seen[digest(c.Call)] = c
			}
		}
	}
	return seen
}

// digest is what makes two calls the same: the tool, and the arguments whatever their order and spacing.
func digest(c model.Call) string {
	dec := json.NewDecoder(bytes.NewReader(arguments(c.Arguments)))
	dec.UseNumber() // 1 and 1.0 are not the same to every tool
	var v any
	if dec.Decode(&v) != nil || dec.More() {
		return c.Name + "\x00" + string(c.Arguments)
	}
	b, _ := json.Marshal(v)
	return c.Name + "\x00" + string(b)
}

// answerTheRest gives the calls that did not run the result that their verdict says.
func (r *run) answerTheRest(calls []ledger.Call, verdicts []verdict) {
	for i := range calls {
		c, v := &calls[i], verdicts[i]
		switch {
		case c.Done:
		case v.same != nil:
			settle(c, again(*v.same))
		default:
			settle(c, tools.Fail(v.because))
		}
	}
}

// again is the result of a call that was answered before.
func again(first ledger.Call) tools.Result {
	text := fmt.Sprintf("This is the same call as %s, which was not run again. Its result:\n%s", first.Item.ID, first.Text)
	return tools.Result{Text: text, Failed: first.Failed, Item: evidence.Item{
		DuplicateOf: first.Item.ID, Summary: "same as " + first.Item.ID, SQL: first.Item.SQL, Sources: first.Item.Sources, Error: first.Item.Error}}
}
