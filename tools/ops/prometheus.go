package ops

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"plumb/evidence"
	"plumb/tools"
)

// Limits of one query.
const (
	maxTime = 15 * time.Second
	// An answer is decoded in one go, which no stop can cut: 1 MiB takes about 50 ms (S10). It holds 200 series of 200 points.
	maxBody = 1 << 20
)

// Prometheus is a server that is asked in PromQL: Prometheus, or one that speaks its API.
type Prometheus struct {
	name string
	api  v1.API
}

// OpenPrometheus makes a client; nothing is sent before the first question. The URL is the one below which /api/v1 lies, and
// may hold a user and password.
func OpenPrometheus(name, address string, httpc *http.Client) (*Prometheus, error) {
	// The parser's error would repeat the URL, or the piece of a password that it stumbled over.
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the url of the source %s is no http(s) URL; write it like http://prometheus:9090", name)
	}
	if httpc == nil {
		httpc = &http.Client{}
	}
	own := *httpc
	own.Transport = capped{own.Transport}
	c, err := api.NewClient(api.Config{Address: address, Client: &own})
	if err != nil {
		return nil, fmt.Errorf("the source %s cannot be opened: its url is not understood", name)
	}
	return &Prometheus{name: name, api: v1.NewAPI(judged{c})}, nil
}

// Name is the source's name in the configuration.
func (p *Prometheus) Name() string { return p.name }

// Query gives what the expression is at one moment.
func (p *Prometheus) Query(ctx context.Context, promql string, at time.Time) (tools.Readings, error) {
	return p.ask(ctx, func(ctx context.Context) (model.Value, v1.Warnings, v1.Infos, error) {
		return p.api.Query(ctx, promql, at, v1.WithTimeout(maxTime))
	})
}

// QueryRange gives what the expression is at each step of a span.
func (p *Prometheus) QueryRange(ctx context.Context, promql string, over tools.Span) (tools.Readings, error) {
	return p.ask(ctx, func(ctx context.Context) (model.Value, v1.Warnings, v1.Infos, error) {
		return p.api.QueryRange(ctx, promql, v1.Range{Start: over.Start, End: over.End, Step: over.Step}, v1.WithTimeout(maxTime))
	})
}

// Check says how many targets the server looks at, or why it does not answer.
func (p *Prometheus) Check(ctx context.Context) (string, error) {
	got, err := p.Query(ctx, "count(up)", time.Now())
	if err != nil {
		return "", err
	}
	if len(got.Series) == 0 || len(got.Series[0].Points) == 0 {
		return "answers, but looks at no target: there is no series named up", nil
	}
	return fmt.Sprintf("answers; it looks at %s targets", evidence.Text(got.Series[0].Points[0].Value)), nil
}

// errTime is the cause of a query's end when its time is over.
var errTime = errors.New("the query's time is over")

// ask sends one question and puts the answer into our words.
func (p *Prometheus) ask(ctx context.Context, send func(context.Context) (model.Value, v1.Warnings, v1.Infos, error)) (tools.Readings, error) {
	limited, cancel := context.WithTimeoutCause(ctx, maxTime, errTime)
	defer cancel()
	value, warnings, infos, err := send(limited)
	if ctx.Err() != nil {
		return tools.Readings{}, context.Cause(ctx)
	}
	if err != nil {
		if limited.Err() != nil {
			err = errTime
		}
		return tools.Readings{}, p.explain(err)
	}
	series, err := read(value)
	if err != nil {
		return tools.Readings{}, &failure{p.name, "gave " + err.Error(), err}
	}
	return tools.Readings{Series: series, Notes: append(warnings, infos...)}, nil
}
