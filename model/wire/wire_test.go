package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plumb/model"
)

func TestBaseURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://h/v1":         "http://h/v1/",
		"http://h/v1/":        "http://h/v1/",
		"http://h//v1//":      "http://h/v1/",
		"http://h":            "http://h/",
		" https://h:1/a//b ":  "https://h:1/a/b/",
		"http://h/v1?api=2":   "http://h/v1/?api=2",
		"no address":          "",
		"localhost:11434/v1":  "",
		"http://h:port/wrong": "",
	} {
		got, err := BaseURL(in)
		if got != want || (want == "") != (model.KindOf(err) == model.Unavailable) {
			t.Errorf("BaseURL(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestTurns(t *testing.T) {
	call := func(id, name, args string) model.Call {
		return model.Call{ID: id, Name: name, Arguments: json.RawMessage(args)}
	}
	in := []model.Turn{
		{Role: model.User, Text: "q"},
		{Role: model.Assistant, Calls: []model.Call{call("x", "a", `{"n":1}`), call("x", "b", ""), call("é", "c d", "no")}},
		{Role: model.Tools, Results: []model.Result{{CallID: "é", Text: "third"}, {CallID: "x", Text: "first"}, {CallID: "x", Text: "second"}}},
		{Role: model.Assistant, Calls: []model.Call{call("x", "", "[]")}},
		{Role: model.Tools, Results: []model.Result{{CallID: "x", Text: "fourth"}, {CallID: "stray", Text: "fifth"}}},
	}
	before, _ := json.Marshal(in[2])
	want := []model.Turn{
		{Role: model.User, Text: "q"},
		{Role: model.Assistant, Calls: []model.Call{call("x", "a", `{"n":1}`), call("call_1", "b", "{}"), call("call_2", "c_d", `{"_raw":"no"}`)}},
		{Role: model.Tools, Results: []model.Result{{CallID: "call_2", Text: "third"}, {CallID: "x", Text: "first"}, {CallID: "call_1", Text: "second"}}},
		{Role: model.Assistant, Calls: []model.Call{call("call_3", "unknown", `{"_raw":"[]"}`)}},
		{Role: model.Tools, Results: []model.Result{{CallID: "call_3", Text: "fourth"}, {CallID: "stray", Text: "fifth"}}},
	}
	if diff := cmp.Diff(want, Turns(in)); diff != "" {
		t.Error(diff)
	}
	if after, _ := json.Marshal(in[2]); string(after) != string(before) {
		t.Error("the caller's turns have changed")
	}
}

func TestIDs(t *testing.T) {
	ids := NewIDs([]model.Turn{{Calls: []model.Call{{ID: "call_1"}, {ID: "mine"}}}})
	var got []string
	for _, id := range []string{"", "mine", "new", "new", strings.Repeat("l", 41), strings.Repeat("l", 40)} {
		got = append(got, ids.Take(id))
	}
	if diff := cmp.Diff([]string{"call_2", "call_3", "new", "call_4", "call_5", strings.Repeat("l", 40)}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMessage(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"no such model","code":404}}`: "no such model",
		`{"error":{"type":"overloaded_error"}}`:            "overloaded_error",
		`{"error":"model not loaded"}`:                     "model not loaded",
		`{"detail":"Not Found"}`:                           "Not Found",
		`{"object":"error","message":"too long"}`:          "too long",
		`{"detail":[{"loc":["body"]}]}`:                    `{"detail":[{"loc":["body"]}]}`,
		`upstream connect error`:                           "upstream connect error",
		`<html>nginx</html>`:                               "Bad Gateway",
		``:                                                 "Bad Gateway",
		"\xff\xfe":                                         "Bad Gateway",
	} {
		if got := Message([]byte(body), 502); got != want {
			t.Errorf("Message(%q) = %q, want %q", body, got, want)
		}
	}
	if got := Message([]byte(strings.Repeat("ä", 1000)), 502); len(got) > 510 || !strings.HasSuffix(got, "ä…") {
		t.Errorf("a long message is %d bytes", len(got))
	}
}

func TestFailure(t *testing.T) {
	ctx := t.Context()
	res := &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"3"}}, Body: io.NopCloser(strings.NewReader(`{"error":{"message":"slow down, KEY"}}`))}
	want := &model.Error{Kind: model.Busy, Status: 429, After: 3 * time.Second}
	e, ok := errors.AsType[*model.Error](Failure(ctx, res, errors.New("SDK"), "KEY"))
	if !ok || e.Kind != want.Kind || e.Status != want.Status || e.After != want.After || e.Err.Error() != "slow down, [key]" {
		t.Errorf("error %#v", e)
	}
	err := Failure(ctx, nil, &model.Error{Kind: model.TooLong, Status: 400, Err: errors.New("KEY is long")}, "KEY")
	if model.KindOf(err) != model.TooLong || strings.Contains(err.Error(), "KEY") {
		t.Errorf("error %v", err)
	}
	if err := Failure(ctx, nil, errors.New("reset by KEY"), "KEY"); model.KindOf(err) != model.Broken || strings.Contains(err.Error(), "KEY") {
		t.Errorf("error %v", err)
	}
	cause := errors.New("stopped")
	ended, cancel := context.WithCancelCause(ctx)
	cancel(cause)
	if err := Failure(ended, res, errors.New("SDK"), ""); err != cause {
		t.Errorf("error %v", err)
	}
}

// Drain ends soon, whether the server ends the stream or not.
func TestDrain(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	_, cancel := context.WithCancel(t.Context())
	Drain(r, func() { cancel(); r.Close() })
	Drain(strings.NewReader("\n"), func() { t.Error("cancelled though the stream was at its end") })
}

func TestOffered(t *testing.T) {
	tools := []model.Tool{{Name: "a"}}
	called := []model.Turn{{Calls: []model.Call{{ID: "c"}}}}
	for _, c := range []struct {
		req  model.Request
		want int
	}{
		{model.Request{Tools: tools}, 1},
		{model.Request{Tools: tools, NoCalls: true}, 0},
		{model.Request{Tools: tools, NoCalls: true, Turns: called}, 1},
	} {
		if got := len(Offered(c.req)); got != c.want {
			t.Errorf("%v: %d tools, want %d", c.req, got, c.want)
		}
	}
}
