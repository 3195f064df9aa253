package relational

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
	"plumb/model"
)

// runColumns are those that [scanRun] reads, of the table runs.
const runColumns = `
	id, question, budget, parent, status, verdict, attempts, worker, started, claimed, ended, delivered, stopped_by,
	model_calls, tool_calls, input_tokens, output_tokens, cost_usd, wall_ms, record,
	COALESCE((SELECT string_agg(inbox.who, ',' ORDER BY inbox.seq) FROM inbox
	          WHERE inbox.run = runs.id AND inbox.step > 0), '') AS heard_from`

// scanRun reads a row whose last columns are runColumns.
func scanRun(row Row, before ...any) (ledger.Run, error) {
	var r ledger.Run
	var u evidence.Usage
	var question, stoppedBy, record, heardFrom string
	var started, claimed, ended int64
	var verdict evidence.Verdict
	err := row.Scan(append(before, &r.ID, &question, &r.Budget, &r.Parent, (*string)(&r.Status), (*string)(&verdict),
		&r.Attempts, &r.Worker, &started, &claimed, &ended, &r.Delivered, &stoppedBy,
		&u.ModelCalls, &u.ToolCalls, &u.InputTokens, &u.OutputTokens, &u.CostUSD, &u.WallMS, &record, &heardFrom)...)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(question), &r.Question); err != nil {
		return r, fmt.Errorf("the question of run %s: %w", r.ID, err)
	}
	if record != "" {
		if err := json.Unmarshal([]byte(record), &r.Record); err != nil {
			return r, fmt.Errorf("the record of run %s: %w", r.ID, err)
		}
	}
	if stoppedBy != "" {
		r.StopRequested = true
		if err := json.Unmarshal([]byte(stoppedBy), &r.StoppedBy); err != nil {
			return r, fmt.Errorf("who stopped run %s: %w", r.ID, err)
		}
	}
	var people []chat.Person
	if err := json.Unmarshal([]byte("["+heardFrom+"]"), &people); err != nil {
		return r, fmt.Errorf("who was heard by run %s: %w", r.ID, err)
	}
	r.Conversation = r.Question.Conversation
	r.Steerers = others(people, r.Question.Who)
	r.Started, r.Claimed, r.Ended = at(started), at(claimed), at(ended)
	r.Usage = u
	r.Record.RunID, r.Record.Status, r.Record.Verdict, r.Record.Usage = r.ID, r.Status, verdict, u
	return r, nil
}

// others are the people who spoke besides the asker, each once, in the order in which they first did.
func others(people []chat.Person, asker chat.Person) []chat.Person {
	var list []chat.Person
	for _, p := range people {
		known := func(q chat.Person) bool { return q.ID == p.ID }
		if p.ID != asker.ID && !slices.ContainsFunc(list, known) {
			list = append(list, p)
		}
	}
	return list
}

// into one list: a statement's runs.
func runsInto(list *[]ledger.Run) func(Row) error {
	return func(row Row) error {
		r, err := scanRun(row)
		*list = append(*list, r)
		return err
	}
}

// said reads a message that was heard, from its seq and body.
func said(seq int64, body string) (ledger.Said, error) {
	s := ledger.Said{Seq: seq}
	err := json.Unmarshal([]byte(body), &s.Message)
	return s, err
}

// A call is kept with its arguments as text: a model may write what is no JSON, and then that is what it wrote.
type call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func callJSON(c model.Call) string { return marshal(call{c.ID, c.Name, string(c.Arguments)}) }

func parseCall(text string) (model.Call, error) {
	var c call
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return model.Call{}, err
	}
	m := model.Call{ID: c.ID, Name: c.Name}
	if c.Arguments != "" {
		m.Arguments = json.RawMessage(c.Arguments)
	}
	return m, nil
}

// itemJSON is an item of evidence; arguments that are no JSON become a JSON text.
func itemJSON(it evidence.Item) string {
	if len(it.Args) > 0 && !json.Valid(it.Args) {
		it.Args = json.RawMessage(marshal(string(it.Args)))
	}
	return marshal(it)
}

// postID is the id of a post that came without one. It depends on nothing but what the post is for, so that doing the
// same thing again makes the same post.
func postID(parts ...any) string {
	sum := sha256.Sum256([]byte(marshal(parts)))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:20])
}

// addressed gives posts what they need on their way out: an id, if they have none, and the run that they speak of.
func addressed(list []chat.Post, run string, purpose ...any) []chat.Post {
	list = slices.Clone(list)
	for i, p := range list {
		if p.ID == "" {
			list[i].ID = postID(append(purpose, i)...)
		}
		if p.Run == "" {
			list[i].Run = run
		}
	}
	return list
}

// posts adds posts to the outbox.
func (b *Batch) posts(list []chat.Post) {
	for _, p := range list {
		b.exec(`INSERT INTO outbox (id, run, final, post, created) VALUES ($1, $2, $3, $4, {now})`,
			p.ID, p.Run, p.Final, marshal(p))
	}
}
