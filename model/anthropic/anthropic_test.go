package anthropic

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plumb/model"
	"plumb/model/modeltest"
	"plumb/model/wire"
)

func TestContract(t *testing.T) {
	modeltest.Run(t, func(t *testing.T, lines []modeltest.Line) model.Model {
		return New(Options{BaseURL: modeltest.Anthropic(t, lines), APIKey: modeltest.Key, Name: "scripted"})
	})
}

func TestRetryAfter(t *testing.T) {
	url := modeltest.Anthropic(t, []modeltest.Line{{Status: 429, RetryAfter: "7"}})
	_, err := model.Collect(t.Context(), New(Options{BaseURL: url, APIKey: modeltest.Key, Name: "m"}), hello, nil)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.After != 7*time.Second {
		t.Errorf("error %#v", err)
	}
}

// answer is a server that gives one answer to every request to the right path.
func answer(t *testing.T, status int, contentType, body string) model.Model {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/messages" {
			t.Errorf("path %s", r.URL.Path)
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return New(Options{BaseURL: s.URL + "//v1/", APIKey: "sk-1", Name: "m"})
}

var hello = model.Request{Turns: []model.Turn{{Role: model.User, Text: "hello"}}}

func events(data ...string) string {
	var out strings.Builder
	for _, d := range data {
		kind, _, _ := strings.Cut(strings.TrimPrefix(d, `{"type":"`), `"`)
		fmt.Fprintf(&out, "event: %s\ndata: %s\n\n", kind, d)
	}
	return out.String()
}

func TestForms(t *testing.T) {
	start := `{"type":"message_start","message":{"usage":{"input_tokens":3,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":1}}}`
	end := `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":0,"output_tokens":9}}`
	want := model.Reply{Text: "hi", Model: "m", Usage: model.Usage{InputTokens: 113, OutputTokens: 9},
		Calls: []model.Call{{ID: "call_1", Name: "a", Arguments: []byte(`{"n":1}`)}}}
	for name, c := range map[string]struct {
		contentType, body string
		want              model.Reply
	}{
		"input with the start, thoughts, unknown events, no end": {"text/event-stream", events(start,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"h"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"i"}}`,
			`{"type":"news","index":1}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"","name":"a","input":{"n":1}}}`, end), want},
		"interleaved blocks": {"text/event-stream", events(start,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"x","name":"a","input":{}}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"y","name":"b","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1}"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"n\":2}"}}`, end, `{"type":"message_stop"}`),
			model.Reply{Model: "m", Usage: want.Usage, Calls: []model.Call{{ID: "x", Name: "a", Arguments: []byte(`{"n":1}`)}, {ID: "y", Name: "b", Arguments: []byte(`{"n":2}`)}}}},
		"whole": {"application/json", `{"type":"message","content":[{"type":"text","text":"hi"},{"type":"tool_use","id":"","name":"a","input":{"n":1}}],"stop_reason":"tool_use","usage":{"input_tokens":113,"output_tokens":9}}`, want},
	} {
		got, err := model.Collect(t.Context(), answer(t, 200, c.contentType, c.body), hello, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestStreamErrors(t *testing.T) {
	for kind, want := range map[string]model.Kind{
		"overloaded_error": model.Busy, "api_error": model.Busy, "rate_limit_error": model.Busy, "timeout_error": model.Busy, "?": model.Busy,
		"authentication_error": model.Denied, "permission_error": model.Denied, "billing_error": model.Denied,
		"not_found_error": model.Unavailable, "invalid_request_error": model.Rejected, "request_too_large": model.TooLong,
	} {
		body := fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":"no, sk-1"}}`, kind)
		for contentType, body := range map[string]string{"text/event-stream": events(body), "application/json": body} {
			_, err := model.Collect(t.Context(), answer(t, 200, contentType, body), hello, nil)
			if got := model.KindOf(err); got != want || strings.Contains(err.Error(), "sk-1") {
				t.Errorf("%s as %s is %q, want %q: %v", kind, contentType, got, want, err)
			}
		}
	}
	for name, body := range map[string]string{
		"nothing": "", "no end": events(`{"type":"content_block_delta","delta":{"text":"x"}}`), "no JSON": "event: message_stop\ndata: {\n\n",
	} {
		if _, err := model.Collect(t.Context(), answer(t, 200, "text/event-stream", body), hello, nil); model.KindOf(err) != model.Broken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What was counted before a failure is told, and what was written since is estimated.
func TestUsageOfFailure(t *testing.T) {
	m := answer(t, 200, "text/event-stream", events(`{"type":"message_start","message":{"usage":{"input_tokens":30,"output_tokens":1}}}`,
		`{"type":"content_block_delta","delta":{"text":"twelve bytes"}}`))
	r, err := model.Collect(t.Context(), m, hello, nil)
	if want := (model.Usage{InputTokens: 30, OutputTokens: 3}); err == nil || r.Usage != want {
		t.Errorf("usage %v, want %v, error %v", r.Usage, want, err)
	}
}

func TestHTTPFailures(t *testing.T) {
	m := answer(t, 400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`)
	if _, err := model.Collect(t.Context(), m, hello, nil); model.KindOf(err) != model.TooLong {
		t.Errorf("error %v", err)
	}
	m = New(Options{BaseURL: "http://127.0.0.1:1", APIKey: "sk-1", Name: "m"})
	if _, err := model.Collect(t.Context(), m, hello, nil); model.KindOf(err) != model.Broken {
		t.Errorf("error %v", err)
	}
	m = New(Options{BaseURL: "localhost", APIKey: "sk-1", Name: "m"})
	if _, err := model.Collect(t.Context(), m, hello, nil); model.KindOf(err) != model.Unavailable {
		t.Errorf("error %v", err)
	}
}

// Only what is configured goes to a server, not what happens to be in the environment.
func TestNoKeyFromEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-other")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "sk-token")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if all := fmt.Sprint(r.Header); strings.Contains(all, "sk-") {
			t.Errorf("headers %s", all)
		}
	}))
	defer s.Close()
	_, _ = model.Collect(t.Context(), New(Options{BaseURL: s.URL, Name: "m"}), hello, nil)
}

func TestRequest(t *testing.T) {
	p := New(Options{BaseURL: "http://h", Name: "m"}).(*provider)
	req := model.Request{System: "s", NoCalls: true, Tools: []model.Tool{{Name: "a", Description: "d"}}, Turns: []model.Turn{
		{Role: model.User, Text: "one"}, {Role: model.User, Text: "two"},
		{Role: model.Assistant, Text: " ", Calls: []model.Call{{ID: "a:c", Name: "a", Arguments: []byte(`"no"`)}}},
		{Role: model.Tools, Results: []model.Result{{CallID: "a:c", Failed: true}}},
		{Role: model.User, Text: "three"},
	}}
	got, _ := wire.Encode(p.request(req))
	want := `{"model":"m","max_tokens":8192,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[` +
		`{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"a","input":{"_raw":"\"no\""}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"(no output)"}],"is_error":true},` +
		`{"type":"text","text":"three","cache_control":{"type":"ephemeral"}}]}],` +
		`"tools":[{"name":"a","description":"d","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"none"},"stream":true}` + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
