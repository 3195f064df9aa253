// Package script is a model whose side of the conversation is written down beforehand, a JSON object a line. It makes
// whole programs testable without a model: each line may say what the request must hold, and a miss fails the run.
//
// A script matches by messages, not by count. A request that repeats an earlier one gets the same line, so that a run
// that was killed and goes on hears what it would have heard; in a new process the script first skips the lines that the
// conversation holds already.
package script

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"plumb/model"
	"plumb/model/wire"
)

type player struct {
	name  string
	lines []line

	mu       sync.Mutex
	next     int
	answered map[digest]int // which line a request got
}

type digest [sha256.Size]byte

func (p *player) Name() string { return p.name }

func (p *player) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Part, error] {
	return func(yield func(model.Part, error) bool) {
		if ctx.Err() != nil { // before a line is used up
			yield(model.Part{}, context.Cause(ctx))
			return
		}
		l, err := p.take(req)
		if err == nil {
			err = l.Expect.check(l.number, req)
		}
		if err == nil {
			err = l.play(ctx, req, yield)
		}
		if err != nil && err != errLeft {
			yield(model.Part{}, err)
		}
	}
}

// take finds the line for a request.
func (p *player) take(req model.Request) (line, error) {
	key := digestOf(req)
	p.mu.Lock()
	defer p.mu.Unlock()
	if i, ok := p.answered[key]; ok {
		return p.lines[i], nil
	}
	if p.next == 0 {
		p.next = p.played(req.Turns)
	}
	if p.next == len(p.lines) {
		return line{}, miss("the script is too short: it has %d lines, all of them are used up, and the model is called again", len(p.lines))
	}
	l := p.lines[p.next]
	if l.Error == nil { // a request that failed was not answered: repeated, it is a call like any other
		p.answered[key] = p.next
	}
	p.next++
	return l, nil
}

// played is how many lines an earlier process has played to this conversation, told by the replies in it.
func (p *player) played(turns []model.Turn) int {
	n := 0
	for _, t := range turns {
		if t.Role != model.Assistant {
			continue
		}
		if i := slices.IndexFunc(p.lines[n:], func(l line) bool { return l.wrote(t) }); i >= 0 {
			n += i + 1
		}
	}
	return n
}

func (l line) wrote(t model.Turn) bool {
	return l.Error == nil && l.Text == t.Text && slices.EqualFunc(l.ToolCalls, t.Calls, func(a call, b model.Call) bool {
		return a.Name == b.Name && bytes.Equal(compact(a.Arguments), compact(b.Arguments))
	})
}

// digestOf is over what the conversation says and whether calls are possible. The system prompt is left out: it holds
// what changes between two tries, like the time.
func digestOf(req model.Request) digest {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(toolFree(req)) // a hash takes everything
	for _, t := range req.Turns {
		fmt.Fprintf(h, "%q %q\n", t.Role, t.Text)
		for _, c := range t.Calls {
			fmt.Fprintf(h, "call %q %q %q\n", c.ID, c.Name, compact(c.Arguments))
		}
		for _, r := range t.Results {
			fmt.Fprintf(h, "result %q %q %t\n", r.CallID, r.Text, r.Failed)
		}
	}
	return digest(h.Sum(nil))
}

func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

func toolFree(req model.Request) bool { return req.NoCalls || len(req.Tools) == 0 }

func miss(format string, args ...any) error {
	return &model.Error{Kind: model.Scripted, Err: fmt.Errorf(format, args...)}
}

// check compares a request with what was expected of it.
func (e *expect) check(number int, req model.Request) error {
	if e == nil {
		return nil
	}
	for _, want := range e.Contains {
		if !holds(req, want) {
			return miss("line %d of the script expects that the request holds %q, and it does not", number, want)
		}
	}
	if e.Tools != nil && len(e.Tools) == 0 && !toolFree(req) {
		return miss("line %d of the script expects a call without tools, and there are %s", number, names(req.Tools))
	}
	for _, want := range e.Tools {
		if req.NoCalls || !slices.ContainsFunc(req.Tools, func(t model.Tool) bool { return t.Name == want }) {
			return miss("line %d of the script expects that the tool %s is offered, and it is not; offered: %s", number, want, names(offered(req)))
		}
	}
	return nil
}

func offered(req model.Request) []model.Tool {
	if req.NoCalls {
		return nil
	}
	return req.Tools
}

func names(tools []model.Tool) string {
	if len(tools) == 0 {
		return "none"
	}
	var out []string
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return strings.Join(out, ", ")
}

// holds looks for a text in all that the model would read.
func holds(req model.Request, text string) bool {
	in := func(s string) bool { return strings.Contains(s, text) }
	for _, t := range req.Turns {
		if in(t.Text) {
			return true
		}
		for _, c := range t.Calls {
			if in(c.Name) || in(string(c.Arguments)) || in(string(compact(c.Arguments))) {
				return true
			}
		}
		for _, r := range t.Results {
			if in(r.Text) {
				return true
			}
		}
	}
	for _, t := range req.Tools {
		if in(t.Description) || in(string(t.Schema)) {
			return true
		}
	}
	return in(req.System)
}

var (
	errLeft = errors.New("the listener has gone")
	errCut  = errors.New("the script cuts the connection")
)

// play yields a line at its pace.
func (l line) play(ctx context.Context, req model.Request, yield func(model.Part, error) bool) error {
	if err := pause(ctx, l.DelayMS); err != nil {
		return err
	}
	text := l.Text
	if l.Error != nil {
		text = l.Error.AfterText
	}
	for i, token := range tokens(text) {
		if i > 0 {
			if err := pause(ctx, l.ChunkMS); err != nil {
				return err
			}
		}
		if !yield(model.Part{Text: token}, nil) {
			return errLeft
		}
	}
	if e := l.Error; e != nil {
		if e.Status == 0 {
			return model.FromStatus(0, nil, errCut)
		}
		return model.FromStatus(e.Status, nil, fmt.Errorf("line %d of the script says so", l.number))
	}
	return l.end(req, yield)
}

// end yields the calls and the usage.
func (l line) end(req model.Request, yield func(model.Part, error) bool) error {
	said := model.Reply{Text: l.Text}
	ids := wire.NewIDs(req.Turns)
	for i, c := range l.ToolCalls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d_%d", l.number, i+1)
		}
		c.ID = ids.Take(c.ID)
		said.Calls = append(said.Calls, model.Call(c))
	}
	for i := range said.Calls {
		if !yield(model.Part{Call: &said.Calls[i]}, nil) {
			return errLeft
		}
	}
	usage := model.Estimate(req, said)
	if l.Usage != nil {
		usage = *l.Usage
	}
	if !yield(model.Part{Usage: &usage}, nil) {
		return errLeft
	}
	return nil
}

// pause waits, at least for a look at ctx.
func pause(ctx context.Context, ms int) error {
	if ms == 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tokens cuts a text behind its spaces and line ends, which is about what models do.
func tokens(text string) []string {
	var out []string
	for text != "" {
		n := strings.IndexAny(text, " \n")
		if n < 0 {
			n = len(text) - 1
		}
		out, text = append(out, text[:n+1]), text[n+1:]
	}
	return out
}
