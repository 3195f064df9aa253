package openai

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
		return New(Options{BaseURL: modeltest.OpenAI(t, lines), APIKey: modeltest.Key, Name: "scripted"})
	})
}

func TestRetryAfter(t *testing.T) {
	url := modeltest.OpenAI(t, []modeltest.Line{{Status: 429, RetryAfter: "7"}})
	_, err := model.Collect(t.Context(), New(Options{BaseURL: url, APIKey: modeltest.Key, Name: "m"}), hello, nil)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.After != 7*time.Second {
		t.Errorf("error %#v", err)
	}
}

// answer is a server that gives one answer to every request, and keeps the last request.
func answer(t *testing.T, status int, contentType, body string) (m model.Model, last *string) {
	last = new(string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		*last = string(b)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return New(Options{BaseURL: s.URL + "//v1/", APIKey: "sk-1", Name: "m"}), last
}

var hello = model.Request{Turns: []model.Turn{{Role: model.User, Text: "hello"}}}

// Servers that do not stream, and streams that are not quite what the protocol says.
func TestForms(t *testing.T) {
	whole := `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":[{"id":"","type":"function","function":{"name":"a","arguments":{"n":1}}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	want := model.Reply{Text: "hi", Model: "m", Usage: model.Usage{InputTokens: 3, OutputTokens: 2},
		Calls: []model.Call{{ID: "call_1", Name: "a", Arguments: []byte(`{"n":1}`)}}}
	estimated := model.Reply{Text: "hi", Model: "m", Usage: model.Usage{InputTokens: 2, OutputTokens: 1}}
	for name, c := range map[string]struct {
		contentType, body string
		want              model.Reply
	}{
		"whole":               {"application/json", whole, want},
		"whole, other type":   {"text/plain", whole, want},
		"stream of no type":   {"", "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", estimated},
		"carriage returns":    {"text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\r\n\r\ndata: [DONE]\r\n\r\n", estimated},
		"no [DONE]":           {"text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n", estimated},
		"a second choice":     {"text/event-stream", "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"ho\"}},{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n", estimated},
		"comments and events": {"text/event-stream", ": OPENROUTER\n\nevent: x\ndata: {\"choices\":[{\"delta\":{\"content\":\"hi\",\"reasoning_content\":\"hm\"}}]}\n\ndata: [DONE]\n\n", estimated},
	} {
		m, _ := answer(t, 200, c.contentType, c.body)
		got, err := model.Collect(t.Context(), m, hello, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A failure after the answer 200 has the kind that its words have.
func TestStreamErrors(t *testing.T) {
	for body, want := range map[string]model.Kind{
		`{"error":{"message":"boom","type":"server_error","code":"529"}}`:                 model.Busy,
		`{"error":{"message":"boom","type":"server_error"}}`:                              model.Busy,
		`{"error":{"message":"slow","type":"rate_limit_exceeded"}}`:                       model.Busy,
		`{"error":{"message":"no","code":401}}`:                                           model.Denied,
		`{"error":{"message":"sk-1 is no key","code":"invalid_api_key"}}`:                 model.Denied,
		`{"error":{"message":"no","type":"permission_denied"}}`:                           model.Denied,
		`{"error":{"message":"no","code":"model_not_found"}}`:                             model.Unavailable,
		`{"error":{"message":"bad","type":"invalid_request_error"}}`:                      model.Rejected,
		`{"error":{"message":"maximum context length","code":"context_length_exceeded"}}`: model.TooLong,
		`{"error":"something"}`: model.Busy,
		`{"choices":[{"delta":`: model.Broken,
		`{"choices":[{"delta":{"content":"x"},"finish_reason":null}]}`:                                       model.Broken,
		`{"error":null,"choices":[{"delta":{"content":"x"},"finish_reason":""}]}`:                            model.Broken,
		`{"error":{"message":"boom","type":"server_error","code":"529","metadata":{"key":["sk-1","sk-1"]}}}`: model.Busy,
	} {
		for contentType, frame := range map[string]string{"text/event-stream": "data: %s\n\n", "application/json": "%s"} {
			m, _ := answer(t, 200, contentType, fmt.Sprintf(frame, body))
			_, err := model.Collect(t.Context(), m, hello, nil)
			if got := model.KindOf(err); got != want {
				t.Errorf("%s as %s is %q, want %q: %v", body, contentType, got, want, err)
			}
			if err != nil && strings.Contains(err.Error(), "sk-1") {
				t.Errorf("the error holds the key: %v", err)
			}
		}
	}
}

func TestHTTPFailures(t *testing.T) {
	m, _ := answer(t, 502, "text/html", "<html>sk-1</html>")
	if _, err := model.Collect(t.Context(), m, hello, nil); model.KindOf(err) != model.Busy || !strings.Contains(err.Error(), "Bad Gateway") {
		t.Errorf("error %v", err)
	}
	m, _ = answer(t, 400, "application/json", `{"error":{"message":"maximum context length is 1"}}`)
	if _, err := model.Collect(t.Context(), m, hello, nil); model.KindOf(err) != model.TooLong {
		t.Errorf("error %v", err)
	}
	m = New(Options{BaseURL: "http://127.0.0.1:1/v1", APIKey: "sk-1", Name: "m"})
	if _, err := model.Collect(t.Context(), m, hello, nil); model.KindOf(err) != model.Broken {
		t.Errorf("error %v", err)
	}
	m = New(Options{BaseURL: "http://h:port/v1", APIKey: "sk-1", Name: "m"})
	if _, err := model.Collect(t.Context(), m, hello, nil); model.KindOf(err) != model.Unavailable {
		t.Errorf("error %v", err)
	}
}

// Only what is configured goes to a server, not what happens to be in the environment.
func TestNoKeyFromEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-other")
	t.Setenv("OPENAI_ADMIN_KEY", "sk-admin")
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") }))
	defer s.Close()
	_, _ = model.Collect(t.Context(), New(Options{BaseURL: s.URL + "/v1", Name: "m"}), hello, nil)
	if got != "" {
		t.Errorf("Authorization: %s", got)
	}
}

func TestRequest(t *testing.T) {
	p := New(Options{BaseURL: "http://h/v1", Name: "m", MaxTokens: 7}).(*provider)
	req := model.Request{System: "s", NoCalls: true, Tools: []model.Tool{{Name: "a", Description: "d"}}, Turns: []model.Turn{
		{Role: model.User, Text: "a < b"},
		{Role: model.Assistant, Calls: []model.Call{{ID: "c", Name: "a", Arguments: []byte("no")}}},
		{Role: model.Tools, Results: []model.Result{{CallID: "c", Text: "r"}}},
		{Role: model.Assistant},
	}}
	got, _ := wire.Encode(p.request(req))
	want := `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a < b"},` +
		`{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"a","arguments":"{\"_raw\":\"no\"}"}}]},` +
		`{"role":"tool","content":"r","tool_call_id":"c"}],` +
		`"tools":[{"type":"function","function":{"name":"a","description":"d","parameters":{"type":"object","properties":{}}}}],` +
		`"tool_choice":"none","max_tokens":7,"stream":true,"stream_options":{"include_usage":true}}` + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	own := New(Options{Name: "m", MaxTokens: 7}).(*provider).request(req)
	if own.MaxCompletionTokens != 7 || own.MaxTokens != 0 {
		t.Errorf("OpenAI itself is told max_tokens %d, max_completion_tokens %d", own.MaxTokens, own.MaxCompletionTokens)
	}
}

// Connections are kept: a second call goes over the first one's.
func TestKeepsConnection(t *testing.T) {
	var from []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from = append(from, r.RemoteAddr)
		benchReply(w, r)
		w.(http.Flusher).Flush()
		<-time.After(20 * time.Millisecond) // the end of the body comes later than the last event
	}))
	defer s.Close()
	m := New(Options{BaseURL: s.URL + "/v1", Name: "m"})
	for range 2 {
		if _, err := model.Collect(t.Context(), m, hello, nil); err != nil {
			t.Fatal(err)
		}
	}
	if from[0] != from[1] {
		t.Errorf("connections from %v", from)
	}
}
