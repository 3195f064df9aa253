// Package anthropic is the provider for Anthropic's messages API. The SDK makes the requests; the stream is read with
// types of our own, since it is the hot path.
package anthropic

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"plumb/model"
	"plumb/model/wire"
)

// Options say whom to ask.
type Options struct {
	BaseURL   string // the bare root; empty for Anthropic itself
	APIKey    string
	Name      string // of the model
	HTTP      *http.Client
	MaxTokens int // of a reply; 8192 if 0, as the provider wants a number
}

// New is a model behind the messages API. It does not try again by itself: that is what model.WithRetry is for.
func New(o Options) model.Model {
	if o.HTTP == nil {
		o.HTTP = wire.Client()
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = 8192
	}
	// Nothing is taken from the environment: a key that happens to be there must not go to a server it is not for.
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(),
		option.WithHTTPClient(o.HTTP), option.WithMaxRetries(0), option.WithAPIKey(o.APIKey),
	}
	m := &provider{name: o.Name, key: o.APIKey, maxTokens: o.MaxTokens}
	if o.BaseURL != "" {
		var root string
		root, m.bad = wire.BaseURL(o.BaseURL)
		// Other servers that speak this API know the key by the header that it had in the API's first version.
		opts = append(opts, option.WithBaseURL(strings.TrimSuffix(root, "v1/")), option.WithHeader("X-Api-Key", o.APIKey))
	}
	m.client = anthropic.NewClient(opts...)
	return m
}

type provider struct {
	client    anthropic.Client
	name      string
	key       string
	maxTokens int
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
	err = m.client.Post(ctx, "v1/messages", body, &res,
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
