package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// A gate is the gateway's side of the bot's session.
type gate struct {
	conn    *socket
	session string
	seq     int64
	sent    []frame // in this session

	identifies, resumes int
	closes              []int
	mute                bool
	refuse              []int // close codes for the next identifies and resumes
	resumeOp            int   // what the next resume gets: 7, 9, or 0 for what it wants
}

type frame struct {
	Op int             `json:"op"`
	D  json.RawMessage `json:"d"`
	S  int64           `json:"s,omitempty"`
	T  string          `json:"t,omitempty"`
}

type socket struct {
	ws *websocket.Conn
	mu sync.Mutex
}

func (c *socket) send(f frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.ws.SetWriteDeadline(time.Now().Add(5 * time.Second))
	_ = c.ws.WriteJSON(f)
}

// Heartbeat is how often the bot is asked for a sign of life.
const Heartbeat = 200 * time.Millisecond

func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = ws.Close() }()
	ws.SetCloseHandler(func(code int, _ string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.gate.closes = append(s.gate.closes, code)
		s.announce()
		return nil
	})
	c := &socket{ws: ws}
	c.send(frame{Op: 10, D: raw(map[string]any{"heartbeat_interval": Heartbeat.Milliseconds()})})
	for {
		var f frame
		if ws.ReadJSON(&f) != nil || !s.receive(c, f) {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gate.conn == c {
		s.gate.conn = nil
		s.announce()
	}
}

func (s *Server) receive(c *socket, f frame) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.announce()
	g := &s.gate
	var d struct {
		Token     string
		SessionID string `json:"session_id"`
		Seq       int64
	}
	_ = json.Unmarshal(f.D, &d)
	switch f.Op {
	case 1:
		if !g.mute {
			c.send(frame{Op: 11})
		}
		return true
	case 2:
		g.identifies++
	case 6:
		g.resumes++
	default:
		return true
	}
	if d.Token != "Bot "+s.token {
		return shut(c, 4004)
	}
	if len(g.refuse) > 0 {
		code := g.refuse[0]
		g.refuse = g.refuse[1:]
		return shut(c, code)
	}
	if f.Op == 2 {
		g.conn, g.session, g.seq, g.sent = c, s.id(), 0, nil
		s.dispatch("READY", map[string]any{"v": 9, "session_id": g.session, "user": user(Bot), "guilds": []any{}, "application": map[string]any{"id": Bot}})
		return true
	}
	op := g.resumeOp
	g.resumeOp = 0
	switch {
	case op != 0:
		c.send(frame{Op: op, D: raw(false)})
	case d.SessionID != g.session:
		c.send(frame{Op: 9, D: raw(false)})
	default:
		for _, f := range g.sent {
			if f.S > d.Seq {
				c.send(f)
			}
		}
		g.conn = c
		s.dispatch("RESUMED", map[string]any{})
	}
	return true
}

func shut(c *socket, code int) bool {
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
	return false
}

// dispatch sends an event, now or after the next resume. The caller holds mu.
func (s *Server) dispatch(kind string, d any) {
	g := &s.gate
	g.seq++
	f := frame{D: raw(d), S: g.seq, T: kind}
	g.sent = append(g.sent, f)
	if g.conn != nil {
		g.conn.send(f)
	}
}

// Dispatch sends an event as it is.
func (s *Server) Dispatch(kind string, d any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dispatch(kind, d)
}

// Connected says whether the bot hears what happens.
func (s *Server) Connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gate.conn != nil
}

// Hangup cuts the connection without a word.
func (s *Server) Hangup() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.gate.conn; c != nil {
		_ = c.ws.UnderlyingConn().Close()
		s.gate.conn = nil
	}
}

// Op sends a bare frame, such as 7, which asks the bot to connect again.
func (s *Server) Op(op int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gate.conn != nil {
		s.gate.conn.send(frame{Op: op, D: raw(false)})
	}
}

// RefuseSession closes the next attempts to identify or resume with these codes.
func (s *Server) RefuseSession(codes ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gate.refuse = append(s.gate.refuse, codes...)
}

// NextResume answers the next resume with a bare frame: 7 or 9.
func (s *Server) NextResume(op int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gate.resumeOp = op
}

// Mute leaves heartbeats unanswered, or answers them again.
func (s *Server) Mute(mute bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gate.mute = mute
}

// Sessions counts the attempts to identify and to resume.
func (s *Server) Sessions() (identifies, resumes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gate.identifies, s.gate.resumes
}

// Closes are the codes with which the bot closed connections.
func (s *Server) Closes() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.gate.closes)
}
