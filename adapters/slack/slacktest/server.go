// Package slacktest is a small Slack for tests: the part of the Web API and of Socket Mode that the adapter uses, as
// strict about blocks as the real one is said to be, and with faults to order.
//
// The workspace is T1, the bot is the user UBOT. What the bot did is read from [Server.Messages], [Server.Views] and
// [Server.Calls], after waiting for it with [Server.Wait].
package slacktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Who is who, and the tokens that are taken.
const (
	Team     = "T1"
	Bot      = "UBOT"
	BotID    = "BBOT"
	AppToken = "xapp-secret-app"
	BotToken = "xoxb-secret-bot"
)

// A Message is what the bot, or a person, has written.
type Message struct {
	Channel, TS, Thread, User, Text, Only string
	Blocks, Metadata                      json.RawMessage
	Unfurls                               bool
	Edits                                 int
	Reactions                             []string
}

// A View is a window that the bot has opened.
type View struct {
	ID      string
	Trigger string
	Body    json.RawMessage
	Updates int
}

// A Call is a request to the Web API.
type Call struct {
	Method string
	Args   url.Values
}

// A Fault takes the place of an honest answer. It may call honest, which lets the request take effect.
type Fault func(w http.ResponseWriter, honest func())

// Server is the workspace.
type Server struct {
	t    testing.TB
	http *httptest.Server

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at every change
	serial   int
	messages []*Message
	views    []*View
	calls    []Call
	faults   map[string][]Fault
	unknown  []string // kinds of blocks that are refused
	links    []*link
	ended    int // links that are gone
	sent     map[string]*envelope
}

// New starts a workspace that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{t: t, changed: make(chan struct{}), faults: map[string][]Fault{}, sent: map[string]*envelope{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{method}", s.serve)
	mux.HandleFunc("/socket", s.serveSocket)
	s.http = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.Drop()
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// APIURL is the root of the Web API.
func (s *Server) APIURL() string { return s.http.URL + "/api/" }

// Fail orders faults for the next calls of a method, one each.
func (s *Server) Fail(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// DoesNotKnow makes the workspace refuse messages with blocks of some kinds.
func (s *Server) DoesNotKnow(kinds ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown = append(s.unknown, kinds...)
}

// Code answers ok:false with a code, and with notes on what is wrong.
func Code(code string, notes ...string) Fault {
	return func(w http.ResponseWriter, _ func()) {
		reply(w, map[string]any{"ok": false, "error": code, "response_metadata": map[string]any{"messages": notes}})
	}
}

// Status answers with a bare HTTP status and, for 429, after how many seconds to come again (0: not said).
func Status(status, retryAfter int) Fault {
	return func(w http.ResponseWriter, _ func()) {
		if retryAfter > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(retryAfter))
		}
		w.WriteHeader(status)
	}
}

// Lost lets the request take effect and cuts the connection in place of an answer.
func Lost(_ http.ResponseWriter, honest func()) {
	honest()
	panic(http.ErrAbortHandler)
}

// Hold keeps a request waiting until release is closed; then it takes effect.
func Hold(release <-chan struct{}) Fault {
	return func(_ http.ResponseWriter, honest func()) {
		<-release
		honest()
	}
}

// Messages are the bot's messages, oldest first.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	for _, m := range s.messages {
		if m.User == Bot {
			c := *m
			c.Reactions = slices.Clone(m.Reactions)
			out = append(out, c)
		}
	}
	return out
}

// Reactions are those of the bot on a message.
func (s *Server) Reactions(channel, ts string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.find(channel, ts); m != nil {
		return slices.Clone(m.Reactions)
	}
	return nil
}

// Views are the windows that were opened, oldest first.
func (s *Server) Views() []View {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []View
	for _, v := range s.views {
		out = append(out, *v)
	}
	return out
}

// Calls are the requests for a method so far, refused ones included.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.calls), func(c Call) bool { return c.Method != method })
}

// Wait waits until cond holds, and fails the test after ten seconds.
func (s *Server) Wait(what string, cond func() bool) {
	s.t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond) // cond may look at more than the workspace
	defer tick.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if cond() {
			return
		}
		select {
		case <-changed:
		case <-tick.C:
		case <-deadline:
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// announce tells those who wait. The caller holds mu.
func (s *Server) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// stamp is a new timestamp. The caller holds mu.
func (s *Server) stamp() string {
	s.serial++
	return fmt.Sprintf("1700000000.%06d", s.serial)
}

// Said files a message of a person and returns its timestamp; [Server.Event] tells the bot of it.
func (s *Server) Said(channel, thread, user, text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &Message{Channel: channel, Thread: thread, User: user, Text: text, TS: s.stamp()}
	s.messages = append(s.messages, m)
	return m.TS
}

// Forget deletes a message.
func (s *Server) Forget(channel, ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = slices.DeleteFunc(s.messages, func(m *Message) bool { return m.Channel == channel && m.TS == ts })
}

func (s *Server) find(channel, ts string) *Message {
	for _, m := range s.messages {
		if m.Channel == channel && m.TS == ts {
			return m
		}
	}
	return nil
}

// serve answers a request of the Web API: by a fault if one is on order, or else honestly.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	method := r.PathValue("method")
	args, err := arguments(r)
	if err != nil {
		reply(w, map[string]any{"ok": false, "error": "invalid_form_data"})
		return
	}
	s.mu.Lock()
	s.calls = append(s.calls, Call{method, args})
	var fault Fault
	if f := s.faults[method]; len(f) > 0 {
		fault, s.faults[method] = f[0], f[1:]
	}
	s.announce()
	s.mu.Unlock()
	honest := func(w http.ResponseWriter) { reply(w, s.answer(method, token(r, args), args)) }
	if fault != nil {
		rec := httptest.NewRecorder()
		fault(w, func() { honest(rec) })
		if rec.Body.Len() > 0 {
			_, _ = w.Write(rec.Body.Bytes())
		}
		return
	}
	honest(w)
}

// arguments are those of a form or of a JSON body; a JSON value that is no text is kept as JSON.
func arguments(r *http.Request) (url.Values, error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		err := r.ParseForm()
		return r.Form, err
	}
	var fields map[string]json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&fields); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	args := url.Values{}
	for k, v := range fields {
		var text string
		if json.Unmarshal(v, &text) != nil {
			text = string(v)
		}
		args.Set(k, text)
	}
	return args, nil
}

func token(r *http.Request, args url.Values) string {
	if t := args.Get("token"); t != "" {
		return t
	}
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func reply(w http.ResponseWriter, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}
