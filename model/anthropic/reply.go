package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"

	"plumb/model"
	"plumb/model/wire"
)

// An event of the stream, with what any of them may hold that we want.
type event struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message whole           `json:"message"`
	Block   content         `json:"content_block"`
	Delta   delta           `json:"delta"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type delta struct {
	Text        string `json:"text"`
	PartialJSON string `json:"partial_json"`
	StopReason  string `json:"stop_reason"`
}

// A whole message comes from servers that do not stream; at the start of a stream it is empty but for the usage.
type whole struct {
	Type       string          `json:"type"`
	Content    []content       `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      *usage          `json:"usage"`
	Error      json.RawMessage `json:"error"`
}

type content struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Usage counts what was read from a cache, or written to it, apart from the other input.
type usage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

// A reply is one under way.
type reply struct {
	req   model.Request
	yield func(model.Part, error) bool

	calls []*use
	usage model.Usage
	text  int // bytes of it

	stopped bool // the model has said why it stopped
	done    bool // the provider has said that this is all
}

// A use of a tool, as far as it has come.
type use struct {
	index     int
	id, name  string
	whole     json.RawMessage // its arguments, where they came with its start
	arguments []byte          // and where they came in pieces
}

// read reads a reply in whichever form it comes.
func (r *reply) read(res *http.Response) error {
	if wire.Whole(res) {
		return r.whole(res.Body)
	}
	events := ssestream.NewDecoder(res)
	for events.Next() {
		data := events.Event().Data
		if len(data) <= 1 { // a line end, after an event that is a name only
			continue
		}
		if err := r.take(data); err != nil {
			return err
		}
		if r.done {
			return nil
		}
	}
	if r.stopped {
		return nil
	}
	if err := events.Err(); err != nil {
		return err
	}
	return errors.New("the stream broke off before its end")
}

func (r *reply) whole(body io.Reader) error {
	var m whole
	data, err := io.ReadAll(io.LimitReader(body, 64<<20))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return errors.New("the provider sends what is no JSON: " + err.Error())
	}
	if m.Type == "error" {
		return streamError(data, m.Error)
	}
	for i, c := range m.Content {
		r.begin(i, c)
		if c.Type == "text" && !r.pass(c.Text) {
			return errLeft
		}
	}
	r.count(m.Usage)
	if m.StopReason == "" {
		return errors.New("the reply is not finished")
	}
	return nil
}

// take takes one event in. Each is passed on, if only as a sign of life: arguments and thoughts may take minutes.
func (r *reply) take(data []byte) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return errors.New("the provider sends what is no JSON: " + err.Error())
	}
	text := ""
	switch e.Type {
	case "error":
		return streamError(data, e.Error)
	case "message_start":
		r.count(e.Message.Usage)
	case "content_block_start":
		r.begin(e.Index, e.Block)
		if e.Block.Type == "text" {
			text = e.Block.Text
		}
	case "content_block_delta":
		text = e.Delta.Text
		if e.Delta.PartialJSON != "" {
			r.more(e.Index, e.Delta.PartialJSON)
		}
	case "message_delta":
		r.count(e.Usage)
		r.stopped = r.stopped || e.Delta.StopReason != ""
	case "message_stop":
		r.done = true
	}
	if !r.pass(text) {
		return errLeft
	}
	return nil
}

func (r *reply) pass(text string) bool {
	r.text += len(text)
	return r.yield(model.Part{Text: text}, nil)
}

// begin notes a tool's use.
func (r *reply) begin(index int, c content) {
	if c.Type == "tool_use" {
		r.calls = append(r.calls, &use{index: index, id: c.ID, name: c.Name, whole: c.Input})
	}
}

func (r *reply) more(index int, arguments string) {
	for _, u := range r.calls {
		if u.index == index {
			u.arguments = append(u.arguments, arguments...)
		}
	}
}

// count notes the usage. It is told at the start and again at the end, where some servers repeat the input and others
// send none or zero.
func (r *reply) count(u *usage) {
	if u == nil {
		return
	}
	r.usage.InputTokens = max(r.usage.InputTokens, u.Input+u.CacheWrite+u.CacheRead)
	r.usage.OutputTokens = max(r.usage.OutputTokens, u.Output)
}

// statuses are what the kinds of failure stand for that are reported within a stream.
var statuses = map[string]int{
	"invalid_request_error": http.StatusBadRequest,
	"authentication_error":  http.StatusUnauthorized,
	"billing_error":         http.StatusPaymentRequired,
	"permission_error":      http.StatusForbidden,
	"not_found_error":       http.StatusNotFound,
	"request_too_large":     http.StatusRequestEntityTooLarge,
	"rate_limit_error":      http.StatusTooManyRequests,
	"timeout_error":         http.StatusGatewayTimeout,
	"overloaded_error":      529,
}

// streamError is a failure that the provider reports when it has answered 200 already.
func streamError(data []byte, inner json.RawMessage) error {
	var e struct{ Type string }
	_ = json.Unmarshal(inner, &e) // what has no type is taken for the server's fault
	status, ok := statuses[e.Type]
	if !ok {
		status = http.StatusInternalServerError
	}
	return model.FromStatus(status, nil, errors.New(wire.Message(data, status)))
}

// finish yields what is only known at the end.
func (r *reply) finish() {
	got := model.Reply{}
	ids := wire.NewIDs(r.req.Turns)
	for _, u := range r.calls {
		arguments := json.RawMessage(u.arguments)
		if len(arguments) == 0 {
			arguments = u.whole
		}
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		got.Calls = append(got.Calls, model.Call{ID: ids.Take(u.id), Name: u.name, Arguments: arguments})
	}
	for i := range got.Calls {
		if !r.yield(model.Part{Call: &got.Calls[i]}, nil) {
			return
		}
	}
	if r.usage == (model.Usage{}) {
		r.usage = model.Estimate(r.req, got)
		r.usage.OutputTokens += (r.text + 3) / 4
	}
	r.yield(model.Part{Usage: &r.usage}, nil)
}

// fail yields the error, and before it what the provider had counted. That was at the start: what was written since is
// an estimate.
func (r *reply) fail(err error) {
	r.usage.OutputTokens = max(r.usage.OutputTokens, r.text/4)
	if r.usage != (model.Usage{}) && !r.yield(model.Part{Usage: &r.usage}, nil) {
		return
	}
	r.yield(model.Part{}, err)
}
