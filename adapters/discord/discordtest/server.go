// Package discordtest is a small Discord in a test's own process: the part of REST (v9) and of the gateway that the
// adapter uses, stricter than the real one where our own rules are stricter. What it does not know it refuses, so that
// a test can not pass on a request that would fail outside.
//
// There is one guild with one channel. People act through methods ([Server.Says], [Server.Uses], [Server.Presses]);
// what the bot did is read with [Server.Messages] and [Server.Requests] and awaited with [Server.Await].
package discordtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The fixed parts of this Discord.
const (
	Token   = "s3cret-token"
	Bot     = "900000000000000001" // the user, and the application
	Guild   = "900000000000000002"
	General = "900000000000000003"
	Ann     = "900000000000000011"
	Ben     = "900000000000000012"
)

// A Channel is a text channel, a thread (with a parent) or a direct conversation (with a person).
type Channel struct {
	ID, Parent, Name, Person string
	Locked                   bool
}

// A Message is one message as it stands.
type Message struct {
	ID, Channel, Author, Content string
	ReplyTo, Nonce               string
	Only                         string // who alone sees it
	Flags                        int
	Thinking                     bool // deferred and not filled
	Deleted                      bool
	Edits                        int
	Files                        map[string]string
	Buttons                      []Button
	Reactions                    []string // the bot's

	components []any
}

// A Button is under a message.
type Button struct{ Label, CustomID string }

// A Request is a REST request that came in.
type Request struct {
	Route string
	Path  string
	Body  string // the JSON part
}

// Server is this Discord. Make one with [New] and Close it.
type Server struct {
	http *httptest.Server

	mu       sync.Mutex
	changed  chan struct{} // closed and renewed at every change
	serial   int64
	channels map[string]*Channel
	messages []*Message
	uses     []*use
	commands []string
	requests []Request
	faults   []fault
	gate     gate
	token    string
}

type fault struct {
	route, holds string
	do           Fault
}

// A Fault answers a request in the place of the server; honest is what the server would have done.
type Fault func(w http.ResponseWriter, honest func() (int, any))

// New starts a Discord.
func New() *Server {
	s := &Server{changed: make(chan struct{}), channels: map[string]*Channel{}, token: Token}
	s.channels[General] = &Channel{ID: General, Name: "general"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /gateway/", s.serveGateway)
	for route, e := range s.routes() {
		method, path, _ := strings.Cut(route, " ")
		mux.HandleFunc(method+" /api/v9"+path, s.handle(route, e))
	}
	s.http = httptest.NewServer(mux)
	return s
}

// Close ends it.
func (s *Server) Close() {
	s.Hangup()
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the REST root.
func (s *Server) URL() string { return s.http.URL + "/api/v9/" }

// Fail has the next request to a route, such as "POST /channels/{channel}/messages", whose body holds a text, go wrong.
func (s *Server) Fail(route, holds string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		s.faults = append(s.faults, fault{route, holds, f})
	}
}

// Refuse is Discord's no.
func Refuse(status, code int) Fault {
	return func(w http.ResponseWriter, _ func() (int, any)) { answer(w, no(status, code, "refused"), nil) }
}

// Limit is a 429 of Discord's.
func Limit(after time.Duration) Fault {
	return func(w http.ResponseWriter, _ func() (int, any)) {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = fmt.Fprintf(w, `{"message":"You are being rate limited.","retry_after":%g,"global":false}`, after.Seconds())
	}
}

// EdgeLimit is a 429 of the network in front, which is a page.
func EdgeLimit(after time.Duration) Fault {
	return func(w http.ResponseWriter, _ func() (int, any)) {
		w.Header().Set("Retry-After", strconv.FormatFloat(after.Seconds(), 'f', -1, 64))
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, "<html>error 1015</html>")
	}
}

// Lose does what was asked and then answers with a status as if it had not.
func Lose(status int) Fault {
	return func(w http.ResponseWriter, honest func() (int, any)) {
		honest()
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<html>bad gateway</html>")
	}
}

// Cut does what was asked and then cuts the connection.
func Cut() Fault {
	return func(w http.ResponseWriter, honest func() (int, any)) {
		honest()
		panic(http.ErrAbortHandler)
	}
}

// Hold waits for release before it does what was asked.
func Hold(release <-chan struct{}) Fault {
	return func(w http.ResponseWriter, honest func() (int, any)) {
		<-release
		status, out := honest()
		answer(w, &problem{Status: status}, out)
	}
}

// Await waits until cond holds, and looks again after every change. It says whether it came about before ctx ended.
func (s *Server) Await(ctx context.Context, cond func() bool) bool {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if cond() {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return cond()
		}
	}
}

// announce wakes those who wait. The caller holds mu.
func (s *Server) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Requests are those to a route so far; all of them for an empty route.
func (s *Server) Requests(route string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.requests), func(r Request) bool { return route != "" && r.Route != route })
}

// Messages are the messages of a channel that are not deleted, oldest first; of all channels for an empty one.
func (s *Server) Messages(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	for _, m := range s.messages {
		if !m.Deleted && (channel == "" || m.Channel == channel) {
			c := *m
			c.Reactions = slices.Clone(m.Reactions)
			out = append(out, c)
		}
	}
	return out
}

// Message is one message, deleted or not.
func (s *Server) Message(id string) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.ID == id {
			c := *m
			c.Reactions = slices.Clone(m.Reactions)
			return c
		}
	}
	return Message{}
}

// Thread is the channel with an id, if it is a thread.
func (s *Server) Thread(id string) (Channel, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.channels[id]; c != nil && c.Parent != "" {
		return *c, true
	}
	return Channel{}, false
}

// Lock closes a thread for good.
func (s *Server) Lock(thread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[thread].Locked = true
}

// Commands are the names of the slash commands that were registered, and where.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

// Expire makes the bot's token count no more.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = "another"
}

// id makes an id; later ones are greater. The caller holds mu.
func (s *Server) id() string {
	s.serial++
	return strconv.FormatInt((time.Now().UnixMilli()-1420070400000)<<22|s.serial, 10)
}

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
