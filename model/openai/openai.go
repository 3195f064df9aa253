// Package openai is the provider for OpenAI and for every server that speaks its chat completions, the local ones
// included. The SDK makes the requests; the stream is read with types of our own, since it is the hot path.
package openai

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"plumb/model"
	"plumb/model/wire"
)

// Options say whom to ask.
type Options struct {
	BaseURL   string // ends in /v1; empty for OpenAI itself
	APIKey    string // may be empty for local servers
	Name      string // of the model
	HTTP      *http.Client
	MaxTokens int // of a reply; 0 leaves it to the provider
}

// New is a model behind chat completions. It does not try again by itself: that is what model.WithRetry is for.
func New(o Options) model.Model {
	if o.HTTP == nil {
		o.HTTP = wire.Client()
	}
	// Empty keys are set too: a key that happens to be in the environment must not go to a server that it is not for.
	opts := []option.RequestOption{
		option.WithHTTPClient(o.HTTP), option.WithMaxRetries(0), option.WithAPIKey(o.APIKey), option.WithAdminAPIKey(""),
	}
	m := &provider{name: o.Name, key: o.APIKey, maxTokens: o.MaxTokens, own: o.BaseURL == ""}
	if !m.own {
		var root string
		root, m.bad = wire.BaseURL(o.BaseURL)
		opts = append(opts, option.WithBaseURL(root))
	}
	m.client = openai.NewClient(opts...)
	return m
}

type provider struct {
	client    openai.Client
	name      string
	key       string
	maxTokens int
	own       bool  // it is OpenAI's own server
	bad       error // what is wrong with the configured address
}

func (m *provider) Name() string { return m.name }

var errLeft = errors.New("the listener has gone")

func (m *provider) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Part, error] {
	return func(yield func(model.Part, error) bool) {
		r := &reply{req: req, yield: yield}
		if err := m.ask(ctx, r); err == nil {
			r.finish()
		} else if err != errLeft {
			r.fail(wire.Failure(ctx, nil, err, m.key))
		}
	}
}

// ask sends the request and reads the reply to its end.
func (m *provider) ask(ctx context.Context, r *reply) error {
	if m.bad != nil {
		return m.bad
	}
	body, err := wire.Encode(m.request(r.req))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var res *http.Response
	err = m.client.Post(ctx, "chat/completions", body, &res,
		option.WithHeader("Accept", "text/event-stream"), option.WithHeader("Content-Type", "application/json"))
	if err != nil || res.StatusCode >= http.StatusMultipleChoices {
		return wire.Failure(ctx, res, err, m.key)
	}
	defer res.Body.Close()
	if err := r.read(res); err != nil {
		return err
	}
	wire.Drain(res.Body, cancel)
	return nil
}
