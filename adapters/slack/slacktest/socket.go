package slacktest

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// pingEvery is how often the bot is pinged.
const pingEvery = 200 * time.Millisecond

// A link is an open socket.
type link struct {
	conn *websocket.Conn
	mu   sync.Mutex // one writer at a time
}

func (l *link) write(v any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn.WriteJSON(v)
}

// An envelope is what was sent to the bot.
type envelope struct {
	body  map[string]any
	sent  int
	acked bool
}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	l := &link{conn: conn}
	_ = l.write(map[string]any{"type": "hello", "num_connections": 1})
	s.mu.Lock()
	s.links = append(s.links, l)
	s.announce()
	s.mu.Unlock()
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { l.ping(done) })
	for {
		var ack struct {
			ID string `json:"envelope_id"`
		}
		if conn.ReadJSON(&ack) != nil {
			break
		}
		s.mu.Lock()
		if e := s.sent[ack.ID]; e != nil {
			e.acked = true
		}
		s.announce()
		s.mu.Unlock()
	}
	close(done)
	wg.Wait()
	_ = conn.Close()
	s.mu.Lock()
	s.links = slices.DeleteFunc(s.links, func(x *link) bool { return x == l })
	s.ended++
	s.announce()
	s.mu.Unlock()
}

func (l *link) ping(done <-chan struct{}) {
	for tick := time.NewTicker(pingEvery); ; {
		select {
		case <-done:
			tick.Stop()
			return
		case <-tick.C:
			_ = l.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second))
		}
	}
}

// Connected says whether the bot has a socket open.
func (s *Server) Connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.links) > 0
}

// HungUp counts the sockets that were open and are no more. The bot may have the next one open by the time that one
// looks, so a gap between two of them is nothing to wait for.
func (s *Server) HungUp() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// Drop cuts the sockets without a word.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links {
		_ = l.conn.NetConn().Close()
	}
}

// Disconnect asks the bot to connect anew.
func (s *Server) Disconnect() {
	s.mu.Lock()
	links := slices.Clone(s.links)
	s.mu.Unlock()
	for _, l := range links {
		_ = l.write(map[string]any{"type": "disconnect", "reason": "refresh_requested"})
	}
}

// Emit sends an envelope and returns its id.
func (s *Server) Emit(kind string, payload map[string]any) string {
	s.mu.Lock()
	s.serial++
	id := fmt.Sprintf("env-%d", s.serial)
	s.sent[id] = &envelope{body: map[string]any{"type": kind, "envelope_id": id, "payload": payload}}
	s.mu.Unlock()
	s.Redeliver(id)
	return id
}

// Redeliver sends an envelope again.
func (s *Server) Redeliver(id string) {
	s.Wait("a socket", s.Connected)
	s.mu.Lock()
	e, l := s.sent[id], s.links[0]
	e.sent++
	s.mu.Unlock()
	_ = l.write(e.body)
}

// Acked says whether the bot has acknowledged an envelope.
func (s *Server) Acked(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent[id].acked
}

// Event tells the bot of something, as the Events API does. It returns the envelope's id.
func (s *Server) Event(inner map[string]any) string {
	s.mu.Lock()
	id := "Ev" + s.stamp()
	s.mu.Unlock()
	return s.Emit("events_api", map[string]any{
		"type": "event_callback", "team_id": Team, "api_app_id": "A1", "event_id": id, "event": inner,
		"authorizations": []any{map[string]any{"team_id": Team, "user_id": Bot, "is_bot": true}},
	})
}

// Press tells the bot of a button pressed on a message.
func (s *Server) Press(user, channel, ts, action, value string) string {
	s.mu.Lock()
	trigger, pressed := "trigger"+s.stamp(), s.stamp()
	thread := ""
	if m := s.find(channel, ts); m != nil {
		thread = m.Thread
	}
	s.mu.Unlock()
	return s.Emit("interactive", map[string]any{
		"type": "block_actions", "team": map[string]any{"id": Team}, "user": map[string]any{"id": user, "name": "someone"},
		"channel": map[string]any{"id": channel}, "trigger_id": trigger,
		"container": map[string]any{"type": "message", "message_ts": ts, "channel_id": channel, "thread_ts": thread},
		"message":   map[string]any{"type": "message", "ts": ts, "thread_ts": thread},
		"actions":   []any{map[string]any{"type": "button", "action_id": action, "block_id": "b", "value": value, "action_ts": pressed}},
	})
}

// Turn tells the bot of a button pressed in a window.
func (s *Server) Turn(user, view, memory, action, value string) string {
	s.mu.Lock()
	pressed := s.stamp()
	s.mu.Unlock()
	return s.Emit("interactive", map[string]any{
		"type": "block_actions", "team": map[string]any{"id": Team}, "user": map[string]any{"id": user, "name": "someone"},
		"container": map[string]any{"type": "view", "view_id": view},
		"view":      map[string]any{"id": view, "type": "modal", "private_metadata": memory, "blocks": []any{}},
		"actions":   []any{map[string]any{"type": "button", "action_id": action, "block_id": "b", "value": value, "action_ts": pressed}},
	})
}
