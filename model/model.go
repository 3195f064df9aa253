// Package model says what we need of a language model: turns in, text or tool calls out, streamed. The providers are
// folders of their own (openai, anthropic, script, offline); none of their types leaves them. Every provider passes
// modeltest.Run.
package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// A Model answers requests.
type Model interface {
	// Name is the model's name, for people and for the record.
	Name() string
	// Generate asks for one reply and yields it in parts as it is written: pieces of text, whole tool calls, the usage.
	// Leaving the loop or ending ctx drops the request. An error is the last that is yielded; it is an [*Error]
	// unless ctx ended.
	Generate(ctx context.Context, req Request) iter.Seq2[Part, error]
}

// A Request is everything that one reply depends on.
type Request struct {
	System  string
	Turns   []Turn
	Tools   []Tool
	NoCalls bool // tools are only listed because the turns speak of them: the reply must be text
}

// A Turn is one entry of the conversation. What is set besides the role depends on it: a user has said Text; the
// assistant has said Text and asked for Calls; Results answer the calls of the turn before, each exactly once.
type Turn struct {
	Role    Role     `json:"role"`
	Text    string   `json:"text,omitempty"`
	Calls   []Call   `json:"calls,omitempty"`
	Results []Result `json:"results,omitempty"`
}

// A Role is whose turn it is.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tools     Role = "tools"
)

// A Call is a tool that the model wants to run.
type Call struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // as the model wrote them: perhaps no JSON at all
}

// A Result is what the model reads of a call.
type Result struct {
	CallID string `json:"call_id"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
}

// A Tool is one that the model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, an object
}

// A Part is a piece of a reply. One of the fields is set, or none: then it only says that the model is still at work.
type Part struct {
	Text  string
	Call  *Call
	Usage *Usage // of the whole reply so far: a later one replaces it
	Reset bool   // the reply starts again: what came before is void, except for what it took
	Model string // who writes from here on, if not the model that was asked
}

// Usage is what a reply took.
type Usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

// A Reply is a whole reply.
type Reply struct {
	Text  string `json:"text"`
	Calls []Call `json:"calls,omitempty"`
	Usage Usage  `json:"usage"`
	Model string `json:"model,omitempty"` // who wrote it
}

// Turn is the reply as an entry of the conversation.
func (r Reply) Turn() Turn { return Turn{Role: Assistant, Text: r.Text, Calls: r.Calls} }

// Collect asks for a reply and puts its parts together; text, if not nil, is told of each piece of text, and of ""
// when the reply starts again and the pieces before are void. After an error the reply holds what had come.
func Collect(ctx context.Context, m Model, req Request, text func(string)) (Reply, error) {
	r := Reply{Model: m.Name()}
	for part, err := range m.Generate(ctx, req) {
		if err != nil {
			return r, err
		}
		switch {
		case part.Reset:
			r.Text, r.Calls = "", nil
			if text != nil {
				text("")
			}
		case part.Model != "":
			r.Model = part.Model
		case part.Call != nil:
			r.Calls = append(r.Calls, *part.Call)
		case part.Usage != nil:
			r.Usage = *part.Usage
		default:
			r.Text += part.Text
			if text != nil && part.Text != "" {
				text(part.Text)
			}
		}
	}
	return r, nil
}

// An Error is a model's failure in terms of what can be done about it.
type Error struct {
	Kind   Kind
	Status int           // the HTTP status, where there was one
	After  time.Duration // the provider asks to wait this long before another try
	Err    error
}

// A Kind sorts failures by what to do.
type Kind string

// The kinds.
const (
	Busy        Kind = "busy"        // too many requests, or an error on the provider's side: try again
	Broken      Kind = "broken"      // the connection failed or the stream broke off: try again
	Denied      Kind = "denied"      // the key is wrong or may not use this model: somebody must change the configuration
	Rejected    Kind = "rejected"    // the provider does not accept the request: trying again is no use
	TooLong     Kind = "too_long"    // the conversation does not fit into the model's context
	Scripted    Kind = "scripted"    // a script does not fit the conversation: the test is wrong, or the bot is
	Unavailable Kind = "unavailable" // there is no such model or server
)

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("the model answers %d (%s): %v", e.Status, e.Kind, e.Err)
	}
	return fmt.Sprintf("the model fails (%s): %v", e.Kind, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable says whether the same request may succeed later.
func (e *Error) Retryable() bool { return e.Kind == Busy || e.Kind == Broken }

// KindOf is the kind of a model's failure, or "" if err is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// For is a failure as a person in chat reads it: what happened, and whose turn it is.
func (k Kind) For() string {
	switch k {
	case Busy:
		return "the model's provider is overloaded or has an outage; please ask again in a few minutes"
	case Broken:
		return "the connection to the model broke off again and again; please ask again"
	case Denied:
		return "the model's provider refuses our key; whoever runs the bot must check models.primary.api_key in the configuration"
	case TooLong:
		return "this conversation has grown too long for the model; please ask in a new thread"
	case Unavailable:
		return "the configured model cannot be found; whoever runs the bot must check models.primary in the configuration"
	case Scripted:
		return "the script does not fit this conversation"
	}
	return "the model's provider does not accept our request; whoever runs the bot finds the reason in its log"
}
