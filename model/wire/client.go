package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"plumb/model"
)

// Client is an HTTP client for many long replies side by side. It has no time-out of its own: how long a model may be
// silent is the caller's business.
func Client() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns = 0 // no limit beyond the one for each host
	t.MaxIdleConnsPerHost = 1024
	return &http.Client{Transport: t}
}

// BaseURL is a configured address with single slashes and one at its end. What is no address is a failure that every
// request meets.
func BaseURL(s string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", &model.Error{Kind: model.Unavailable, Err: errors.New("base_url is no http or https address")}
	}
	if u.Path = path.Clean("/" + u.Path); u.Path != "/" {
		u.Path += "/"
	}
	return u.String(), nil
}

// Encode is v as JSON, with < and & as they are.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, &model.Error{Kind: model.Rejected, Err: err}
	}
	return b.Bytes(), nil
}

// Failure is what went wrong with a request, in our words and without the key. Of the error that an SDK returns only
// the text is kept: it may hold the request with all its headers. The response, if there was one, says more.
func Failure(ctx context.Context, res *http.Response, err error, key string) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case res != nil && res.StatusCode >= http.StatusMultipleChoices:
		defer res.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
		return model.FromStatus(res.StatusCode, res.Header, Redacted(Message(body, res.StatusCode), key))
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		return &model.Error{Kind: e.Kind, Status: e.Status, After: e.After, Err: Redacted(e.Err.Error(), key)}
	}
	return &model.Error{Kind: model.Broken, Err: Redacted(err.Error(), key)}
}

// Redacted is an error without the key.
func Redacted(text, key string) error {
	if key != "" {
		text = strings.ReplaceAll(text, key, "[key]")
	}
	return errors.New(text)
}

// Message finds the sentence for people in an error's body. There are as many forms as there are servers; a page of
// HTML from a proxy says nothing that the status does not.
func Message(body []byte, status int) string {
	var in struct {
		Error   json.RawMessage
		Message string
		Detail  string
	}
	if json.Unmarshal(body, &in) == nil {
		inner := struct{ Message, Code, Type string }{}
		_ = json.Unmarshal(in.Error, &inner) // what does not fit stays empty, like a code that is a number
		var plain string
		_ = json.Unmarshal(in.Error, &plain)
		for _, s := range []string{inner.Message, plain, in.Message, in.Detail, inner.Code, inner.Type} {
			if s != "" {
				return short(s)
			}
		}
	}
	text := strings.TrimSpace(string(body))
	if text == "" || text[0] == '<' || !utf8.ValidString(text) {
		if name := http.StatusText(status); name != "" {
			return name
		}
		return "no reason given"
	}
	return short(text)
}

func short(s string) string {
	const most = 500
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Whole says whether a reply is one document and no stream: some servers ignore the wish to stream. They are told by
// their first byte, as not all of them name the type of what they send.
func Whole(res *http.Response) bool {
	if strings.Contains(res.Header.Get("Content-Type"), "event-stream") {
		return false
	}
	body := bufio.NewReader(res.Body)
	first, _ := body.Peek(1) // what fails here fails again when the reply is read
	res.Body = struct {
		io.Reader
		io.Closer
	}{body, res.Body}
	return string(first) == "{"
}

// Drain reads what follows the last event, which is nothing, so that the connection can be used again. A server that
// keeps the stream open is not waited for.
func Drain(body io.Reader, cancel context.CancelFunc) {
	timer := time.AfterFunc(100*time.Millisecond, cancel)
	defer timer.Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(body, 4<<10))
}
