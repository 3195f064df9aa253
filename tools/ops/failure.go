package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

// A failure is why a source gave no answer: a sentence that says what to do, over the cause for the operator. It never
// holds the source's URL, which may hold a password.
type failure struct {
	source string
	text   string
	err    error
}

func (f *failure) Error() string { return "the source " + f.source + " " + f.text }
func (f *failure) Unwrap() error { return f.err }

// A statusError is an answer with a status by which Prometheus does not speak of a query.
type statusError struct {
	code int
	kind v1.ErrorType // as the body says, if it is the API's
	said string
}

func (e *statusError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("HTTP %d", e.code)
	}
	return fmt.Sprintf("HTTP %d: %s", e.code, e.said)
}

// judged is the client, with an error of ours for each status that is not about the query. The library has text only.
type judged struct{ api.Client }

// Do sends a request.
func (j judged) Do(ctx context.Context, req *http.Request) (*http.Response, []byte, error) {
	resp, body, err := j.Client.Do(ctx, req)
	if err != nil || resp.StatusCode/100 == 2 || resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusUnprocessableEntity {
		return resp, body, err
	}
	bad := &statusError{code: resp.StatusCode}
	var said struct {
		ErrorType v1.ErrorType `json:"errorType"`
		Error     string       `json:"error"`
	}
	if json.Unmarshal(body, &said) == nil {
		bad.kind, bad.said = said.ErrorType, excerpt(said.Error)
	}
	return resp, body, bad
}

// capped is a transport whose answers end with an error when they are too large.
type capped struct{ http.RoundTripper }

// RoundTrip sends a request.
func (c capped) RoundTrip(req *http.Request) (*http.Response, error) {
	rt := c.RoundTripper
	if rt == nil {
		rt = http.DefaultTransport
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxBody)
	return resp, nil
}

// explain makes an error of the client a sentence.
func (p *Prometheus) explain(err error) error {
	say := func(format string, args ...any) error { return &failure{p.name, fmt.Sprintf(format, args...), err} }
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // the outer one tells the URL
	}
	if errors.Is(err, errTime) {
		return say("took longer than %.0f s and was stopped; ask for less: a shorter range, a wider step, fewer series", maxTime.Seconds())
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return say("would answer with more than %d MiB; ask for less: aggregate with sum by (…), take topk(…), or shorten the range", maxBody>>20)
	}
	if bad, ok := errors.AsType[*statusError](err); ok {
		return p.refused(bad, say)
	}
	bad, ok := errors.AsType[*v1.Error](err)
	if !ok {
		return say("cannot be reached (%s); an operator should look at the server and at the url in the configuration", excerpt(err.Error()))
	}
	said := excerpt(strings.TrimPrefix(bad.Msg, `invalid parameter "query": `))
	switch bad.Type {
	case v1.ErrBadData:
		return say("cannot read the query: %s. The numbers before the message are line and column of the PromQL", said)
	case v1.ErrExec:
		return say("cannot work the query out: %s. Change the PromQL, or ask for fewer series or a shorter range", said)
	case v1.ErrTimeout, v1.ErrCanceled:
		return say("gave the query up for time: %s. Ask for a shorter range, a wider step or fewer series", said)
	case v1.ErrBadResponse:
		if strings.Contains(bad.Msg, "unexpected value type") {
			return say("gives a text for this query, not a number; ask for series or a number")
		}
		return say("answers with something that is not Prometheus' API; an operator should look at the url in the configuration")
	}
	return say("refused the query: %s. If the PromQL is right, an operator should look at the server", said)
}

// refused explains a status by what it asks to be done.
func (p *Prometheus) refused(bad *statusError, say func(string, ...any) error) error {
	switch {
	case bad.kind == v1.ErrTimeout:
		return say("gave the query up for time (%s); ask for a shorter range, a wider step or fewer series", bad)
	case bad.code == http.StatusUnauthorized || bad.code == http.StatusForbidden:
		return say("does not let us in (%s); an operator should look at the user and password in its url", bad)
	case bad.code == http.StatusNotFound:
		return say("has no Prometheus API where its url points to (%s); an operator should set the url without /api/v1", bad)
	case bad.code == http.StatusTooManyRequests:
		return say("is asked too much (%s); ask again in a minute", bad)
	case bad.code/100 == 5:
		return say("has a fault of its own (%s); ask again, and if it stays an operator should look at the server", bad)
	}
	return say("refused the request (%s); an operator should look at the url in the configuration", bad)
}

// excerpt is a server's text on one line, and not longer than a sentence can use.
func excerpt(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 400 {
		return string(r[:399]) + "…"
	}
	return text
}
