package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"plumb/model"
	"plumb/model/wire"
)

// A chunk is an event of the stream, or a whole reply from a server that does not stream: then the message stands
// where the delta would.
type chunk struct {
	Choices []struct {
		Index        int    `json:"index"`
		Delta        delta  `json:"delta"`
		Message      delta  `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content   string     `json:"content"`
	Refusal   string     `json:"refusal"`
	ToolCalls []fragment `json:"tool_calls"`
}

// A reply is one under way.
type reply struct {
	req   model.Request
	yield func(model.Part, error) bool

	calls assembly
	usage *model.Usage
	text  int  // bytes of it
	done  bool // the provider has said that this is all
}

// read reads a reply in whichever form it comes.
func (r *reply) read(res *http.Response) error {
	if wire.Whole(res) {
		return r.whole(res.Body)
	}
	events := ssestream.NewDecoder(res)
	for events.Next() {
		data := bytes.TrimSpace(events.Event().Data)
		if string(data) == "[DONE]" {
			r.done = true
			return nil
		}
		if err := r.take(data); err != nil {
			return err
		}
	}
	if r.done {
		return nil
	}
	if err := events.Err(); err != nil {
		return err
	}
	return errors.New("the stream broke off before its end")
}

func (r *reply) whole(body io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(body, 64<<20))
	if err != nil {
		return err
	}
	if err := r.take(data); err != nil {
		return err
	}
	if !r.done {
		return errors.New("the reply is not finished")
	}
	return nil
}

// take takes one event in. Each is passed on, if only as a sign of life: arguments and thoughts may take minutes.
func (r *reply) take(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return errors.New("the provider sends what is no JSON: " + err.Error())
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return streamError(data, c.Error)
	}
	if c.Usage != nil {
		r.usage = &model.Usage{InputTokens: c.Usage.Prompt, OutputTokens: c.Usage.Completion}
	}
	var part model.Part
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue // we ask for one
		}
		d := &choice.Delta
		part.Text += d.Content + d.Refusal + choice.Message.Content + choice.Message.Refusal
		for _, f := range d.ToolCalls {
			r.calls.add(f)
		}
		for _, f := range choice.Message.ToolCalls {
			r.calls.add(f)
		}
		r.done = r.done || choice.FinishReason != ""
	}
	r.text += len(part.Text)
	if !r.yield(part, nil) {
		return errLeft
	}
	return nil
}

// streamError is a failure that the provider reports when it has answered 200 already.
func streamError(data []byte, inner json.RawMessage) error {
	var e struct {
		Type string
		Code json.RawMessage
	}
	_ = json.Unmarshal(inner, &e) // a bare sentence has neither
	code := strings.Trim(string(e.Code), `"`)
	status, err := strconv.Atoi(code)
	if err != nil || status < http.StatusBadRequest || status > 599 {
		status = statusOf(code + " " + e.Type)
	}
	return model.FromStatus(status, nil, errors.New(wire.Message(data, status)))
}

// statusOf is the status that goes with the words for a failure. What is not known for the request's own fault is
// taken for the server's.
func statusOf(words string) int {
	switch {
	case strings.Contains(words, "context_length"), strings.Contains(words, "invalid_request"):
		return http.StatusBadRequest
	case strings.Contains(words, "authentication"), strings.Contains(words, "invalid_api_key"):
		return http.StatusUnauthorized
	case strings.Contains(words, "permission"):
		return http.StatusForbidden
	case strings.Contains(words, "not_found"):
		return http.StatusNotFound
	case strings.Contains(words, "rate_limit"):
		return http.StatusTooManyRequests
	}
	return http.StatusInternalServerError
}

// finish yields what is only known at the end.
func (r *reply) finish() {
	got := model.Reply{Calls: r.calls.whole(wire.NewIDs(r.req.Turns))}
	for i := range got.Calls {
		if !r.yield(model.Part{Call: &got.Calls[i]}, nil) {
			return
		}
	}
	if r.usage == nil {
		u := model.Estimate(r.req, got)
		u.OutputTokens += (r.text + 3) / 4
		r.usage = &u
	}
	r.yield(model.Part{Usage: r.usage}, nil)
}

// fail yields the error, and before it what the provider had counted.
func (r *reply) fail(err error) {
	if r.usage != nil && !r.yield(model.Part{Usage: r.usage}, nil) {
		return
	}
	r.yield(model.Part{}, err)
}
