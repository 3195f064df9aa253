package slacktest

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// no is a refusal.
func no(code string, notes ...string) map[string]any {
	return map[string]any{"ok": false, "error": code, "response_metadata": map[string]any{"messages": notes}}
}

// answer is the honest answer to a request.
func (s *Server) answer(method, token string, a url.Values) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.announce()
	switch {
	case method == "apps.connections.open" && token != AppToken:
		return no("not_allowed_token_type")
	case method != "apps.connections.open" && token != BotToken:
		return no("invalid_auth")
	}
	switch method {
	case "auth.test":
		return map[string]any{"ok": true, "team_id": Team, "user_id": Bot, "bot_id": BotID}
	case "apps.connections.open":
		return map[string]any{"ok": true, "url": "ws" + strings.TrimPrefix(s.http.URL, "http") + "/socket?ticket=secret-ticket"}
	case "users.info":
		id := a.Get("user")
		return map[string]any{"ok": true, "user": map[string]any{"id": id, "name": strings.ToLower(id),
			"profile": map[string]any{"display_name": strings.ToLower(strings.TrimPrefix(id, "U"))}}}
	case "chat.postMessage", "chat.postEphemeral":
		return s.post(method == "chat.postEphemeral", a)
	case "chat.update":
		return s.update(a)
	case "reactions.add":
		return s.react(a)
	case "conversations.replies", "conversations.history":
		return s.list(method == "conversations.replies", a)
	case "views.open", "views.update":
		return s.view(method == "views.open", a)
	}
	return no("unknown_method")
}

func (s *Server) post(ephemeral bool, a url.Values) map[string]any {
	if code, notes := s.check(a, 40_000); code != "" {
		return no(code, notes...)
	}
	thread := a.Get("thread_ts")
	if thread != "" && !ephemeral && s.find(a.Get("channel"), thread) == nil {
		return no("thread_not_found")
	}
	m := &Message{Channel: a.Get("channel"), Thread: thread, User: Bot, TS: s.stamp(), Unfurls: a.Get("unfurl_links") != "false" || a.Get("unfurl_media") != "false"}
	if ephemeral {
		if m.Only = a.Get("user"); m.Only == "" {
			return no("user_not_in_channel")
		}
	}
	fill(m, a)
	s.messages = append(s.messages, m)
	return map[string]any{"ok": true, "channel": m.Channel, "ts": m.TS, "message_ts": m.TS}
}

func fill(m *Message, a url.Values) {
	m.Text, m.Blocks = a.Get("text"), nil
	if b := a.Get("blocks"); b != "" && b != "[]" {
		m.Blocks = json.RawMessage(b)
	}
	if md := a.Get("metadata"); md != "" {
		m.Metadata = json.RawMessage(md)
	}
}

func (s *Server) update(a url.Values) map[string]any {
	m := s.find(a.Get("channel"), a.Get("ts"))
	if m == nil || m.Only != "" || m.User != Bot {
		return no("message_not_found")
	}
	if code, notes := s.check(a, 4_000); code != "" {
		return no(code, notes...)
	}
	fill(m, a)
	m.Edits++
	return map[string]any{"ok": true, "channel": m.Channel, "ts": m.TS, "text": m.Text}
}

func (s *Server) react(a url.Values) map[string]any {
	m, name := s.find(a.Get("channel"), a.Get("timestamp")), a.Get("name")
	switch {
	case m == nil:
		return no("message_not_found")
	case name == "":
		return no("invalid_name")
	case slices.Contains(m.Reactions, name):
		return no("already_reacted")
	}
	m.Reactions = append(m.Reactions, name)
	return map[string]any{"ok": true}
}

// list pages through a thread or a channel, three messages at a time, so that a reader has to turn pages.
func (s *Server) list(replies bool, a url.Values) map[string]any {
	channel, thread := a.Get("channel"), a.Get("ts")
	if replies && s.find(channel, thread) == nil {
		return no("thread_not_found")
	}
	var all []any
	for _, m := range s.messages {
		inThread := m.Thread == thread || m.TS == thread
		if m.Channel != channel || m.Only != "" || (replies && !inThread) || (!replies && m.Thread != "") {
			continue
		}
		w := map[string]any{"type": "message", "ts": m.TS, "user": m.User, "text": m.Text}
		if m.Metadata != nil && (a.Get("include_all_metadata") == "1" || a.Get("include_all_metadata") == "true") {
			w["metadata"] = m.Metadata
		}
		all = append(all, w)
	}
	const pageLength = 3
	from := len(a.Get("cursor"))
	to, next := min(from+pageLength, len(all)), ""
	if to < len(all) {
		next = strings.Repeat("x", to)
	}
	return map[string]any{"ok": true, "messages": all[from:to], "has_more": next != "", "response_metadata": map[string]any{"next_cursor": next}}
}

func (s *Server) view(open bool, a url.Values) map[string]any {
	var body struct {
		Type     string           `json:"type"`
		Title    map[string]any   `json:"title"`
		Blocks   []map[string]any `json:"blocks"`
		Metadata string           `json:"private_metadata"`
	}
	raw := a.Get("view")
	if json.Unmarshal([]byte(raw), &body) != nil || body.Type != "modal" || utf8.RuneCountInString(text(body.Title)) > 24 || len(body.Metadata) > 3000 {
		return no("invalid_arguments")
	}
	if len(body.Blocks) == 0 || len(body.Blocks) > 100 || len(raw) > 250_000 {
		return no("view_too_large")
	}
	for i, b := range body.Blocks {
		if b["type"] == "table" || b["type"] == "container" || b["type"] == "markdown" {
			return no("invalid_arguments", pointer(i)+": not in a view")
		}
		if note := s.block(b, pointer(i)); note != "" {
			return no("invalid_arguments", note)
		}
	}
	if open {
		if slices.ContainsFunc(s.views, func(v *View) bool { return v.Trigger == a.Get("trigger_id") }) || a.Get("trigger_id") == "" {
			return no("exchanged_trigger_id")
		}
		s.views = append(s.views, &View{ID: "V" + s.stamp(), Trigger: a.Get("trigger_id"), Body: json.RawMessage(raw)})
		return map[string]any{"ok": true, "view": map[string]any{"id": s.views[len(s.views)-1].ID}}
	}
	for _, v := range s.views {
		if v.ID == a.Get("view_id") {
			v.Body = json.RawMessage(raw)
			v.Updates++
			return map[string]any{"ok": true, "view": map[string]any{"id": v.ID}}
		}
	}
	return no("not_found")
}
