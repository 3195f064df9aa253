package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plumb/model"
)

// A protocol is how a provider speaks.
type protocol interface {
	path() string
	// key is the key in a request, and problem is why the real service would answer 400.
	key(h http.Header) string
	problem(body []byte) error
	refusal(status int, message string) any
	// events are the reply's: what begins it, the text, and the rest.
	begin(l Line) []string
	text(piece string) string
	end(l Line) []string
}

// OpenAI starts a server that speaks chat completions and plays lines, one a request. It returns the base URL.
func OpenAI(t *testing.T, lines []Line) string { return serve(t, openAI{}, lines) + "/v1" }

// Anthropic starts a server that speaks the messages API and plays lines, one a request. It returns the base URL.
func Anthropic(t *testing.T, lines []Line) string { return serve(t, anthropic{}, lines) }

type server struct {
	t     *testing.T
	p     protocol
	mu    sync.Mutex
	lines []Line
}

func serve(t *testing.T, p protocol, lines []Line) string {
	s := httptest.NewServer(&server{t: t, p: p, lines: lines})
	t.Cleanup(s.Close) // which waits for handlers, so that a client that does not hang up is found
	return s.URL
}

func (s *server) take() (Line, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) == 0 {
		return Line{}, false
	}
	l := s.lines[0]
	s.lines = s.lines[1:]
	return l, true
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	refuse := func(status int, message string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(s.p.refusal(status, message+" (key "+Key+")"))
	}
	if r.URL.Path != s.p.path() || r.Method != http.MethodPost {
		refuse(http.StatusNotFound, "no such path: "+r.URL.Path)
		return
	}
	if s.p.key(r.Header) != Key {
		refuse(http.StatusUnauthorized, "incorrect key")
		return
	}
	if err := s.p.problem(body); err != nil {
		s.t.Errorf("the provider would refuse this request: %v\n%s", err, body)
		refuse(http.StatusBadRequest, err.Error())
		return
	}
	l, ok := s.take()
	switch {
	case !ok:
		refuse(http.StatusTeapot, "the test has no more lines")
	case l.Status != 0:
		w.Header().Set("Retry-After", l.RetryAfter)
		refuse(l.Status, "something is wrong")
	default:
		s.play(w, r, l)
	}
}

func (s *server) play(w http.ResponseWriter, r *http.Request, l Line) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(events ...string) {
		for _, e := range events {
			// Cut where it hurts: in the middle of what may be a character of several bytes.
			for _, half := range []string{e[:len(e)/2], e[len(e)/2:]} {
				_, _ = io.WriteString(w, half)
				w.(http.Flusher).Flush()
			}
		}
	}
	send(s.p.begin(l)...)
	for piece := range slices.Chunk([]rune(l.Text), 5) {
		send(s.p.text(string(piece)))
	}
	switch {
	case l.Cut:
		panic(http.ErrAbortHandler)
	case l.Hang:
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
			s.t.Error("the client has not hung up")
		}
	default:
		send(s.p.end(l)...)
	}
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a map of the test's own
	}
	return string(b)
}

// crumbs are the pieces in which arguments are streamed.
func crumbs(c model.Call) []string {
	var out []string
	for piece := range slices.Chunk([]rune(string(c.Arguments)), 7) {
		out = append(out, string(piece))
	}
	return out
}

var (
	goodName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	goodID   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
)

// A pairing checks that calls and results answer each other, as all providers do.
type pairing struct {
	used map[string]bool
	open []string
}

func (p *pairing) call(id, name string, args []byte) error {
	var object map[string]any
	switch {
	case !goodID.MatchString(id):
		return fmt.Errorf("the id %q of a call is not allowed", id)
	case p.used[id]:
		return fmt.Errorf("the id %q is used twice", id)
	case !goodName.MatchString(name):
		return fmt.Errorf("the name %q is not allowed", name)
	case json.Unmarshal(args, &object) != nil || object == nil:
		return fmt.Errorf("the arguments %q are no object", args)
	}
	if p.used == nil {
		p.used = map[string]bool{}
	}
	p.used[id] = true
	p.open = append(p.open, id)
	return nil
}

func (p *pairing) result(id string) error {
	i := slices.Index(p.open, id)
	if i < 0 {
		return fmt.Errorf("there is no open call %q for this result", id)
	}
	p.open = slices.Delete(p.open, i, i+1)
	return nil
}

// answered says whether no call waits.
func (p *pairing) answered() error {
	if len(p.open) > 0 {
		return fmt.Errorf("the calls %s have no result", strings.Join(p.open, ", "))
	}
	return nil
}
