package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

func (s *Server) find(channel, id string) (*Message, *problem) {
	for _, m := range s.messages {
		if m.ID == id && !m.Deleted && m.Only == "" && (channel == "" || m.Channel == channel) {
			return m, nil
		}
	}
	return nil, no(http.StatusNotFound, 10008, "Unknown Message")
}

func (s *Server) getMessage(c call) (any, *problem) {
	m, bad := s.find(c.path("channel"), c.path("message"))
	if bad != nil {
		return nil, bad
	}
	return s.wire(m), nil
}

// listMessages gives the messages after an id, the newest first, and only the oldest hundred of them, as Discord does.
func (s *Server) listMessages(c call) (any, *problem) {
	after := c.r.URL.Query().Get("after")
	limit, _ := strconv.Atoi(c.r.URL.Query().Get("limit"))
	out := []any{}
	for _, m := range s.messages {
		newer := len(m.ID) > len(after) || (len(m.ID) == len(after) && m.ID > after)
		if m.Channel == c.path("channel") && !m.Deleted && m.Only == "" && newer && len(out) < limit {
			w := s.wire(m)
			delete(w, "guild_id")
			out = append(out, w)
		}
	}
	slices.Reverse(out)
	return out, nil
}

// A draft is a request to make or change a message.
type draft struct {
	Content    *string `json:"content"`
	Flags      int     `json:"flags"`
	Nonce      string  `json:"nonce"`
	Enforce    bool    `json:"enforce_nonce"`
	Components []any   `json:"components"`
	Mentions   *struct {
		Parse *[]string `json:"parse"`
	} `json:"allowed_mentions"`
	Reference *struct {
		ID   string `json:"message_id"`
		Fail *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
}

// drafted reads a draft and refuses what Discord would, and besides that what could call people.
func drafted(c call) (draft, *problem) {
	var d draft
	if err := json.Unmarshal(c.body, &d); err != nil {
		return d, badForm(err.Error())
	}
	content := ""
	if d.Content != nil {
		content = *d.Content
	}
	switch {
	case d.Mentions == nil || d.Mentions.Parse == nil || len(*d.Mentions.Parse) > 0:
		return d, badForm("allowed_mentions: everybody named would be called")
	case utf8.RuneCountInString(content) > 2000:
		return d, badForm("content: 2000 or fewer in length")
	case strings.TrimSpace(content) == "" && len(c.files) == 0:
		return d, no(http.StatusBadRequest, 50006, "Cannot send an empty message")
	case len(d.Nonce) > 25:
		return d, badForm("nonce: 25 or fewer in length")
	case len(c.files) > 10:
		return d, badForm("files: 10 or fewer")
	}
	_, bad := buttons(d.Components)
	return d, bad
}

// buttons reads rows of buttons, strictly.
func buttons(rows []any) ([]Button, *problem) {
	var out []Button
	ids := map[string]bool{}
	for _, r := range rows {
		row, _ := r.(map[string]any)
		list, _ := row["components"].([]any)
		if row["type"] != 1.0 || len(list) < 1 || len(list) > 5 {
			return nil, badForm("components: a row takes 1 to 5 buttons")
		}
		for _, b := range list {
			m, _ := b.(map[string]any)
			id, _ := m["custom_id"].(string)
			label, _ := m["label"].(string)
			style, _ := m["style"].(float64)
			if m["type"] != 2.0 || id == "" || len(id) > 100 || label == "" || len(label) > 80 || style < 1 || style > 4 || ids[id] {
				return nil, badForm("components: not a button: " + id)
			}
			ids[id] = true
			out = append(out, Button{label, id})
		}
	}
	if len(rows) > 5 {
		return nil, badForm("components: 5 or fewer in length")
	}
	return out, nil
}

func (s *Server) createMessage(c call) (any, *problem) {
	ch, bad := s.channel(c.path("channel"))
	if bad != nil {
		return nil, bad
	}
	d, bad := drafted(c)
	if bad != nil {
		return nil, bad
	}
	if ch.Locked {
		return nil, no(http.StatusBadRequest, 50083, "Thread is archived")
	}
	for _, m := range s.messages {
		if d.Enforce && d.Nonce != "" && m.Nonce == d.Nonce && m.Channel == ch.ID {
			return s.wire(m), nil
		}
	}
	m := s.make(ch.ID, Bot, d, c.files)
	if d.Reference != nil {
		if _, bad := s.find(ch.ID, d.Reference.ID); bad == nil {
			m.ReplyTo = d.Reference.ID
		} else if d.Reference.Fail == nil || *d.Reference.Fail {
			return nil, badForm("message_reference: Unknown message")
		}
	}
	s.dispatch("MESSAGE_CREATE", s.wire(m))
	return s.wire(m), nil
}

// make adds a message. The caller holds mu.
func (s *Server) make(channel, author string, d draft, files map[string]string) *Message {
	m := &Message{ID: s.id(), Channel: channel, Author: author, Nonce: d.Nonce}
	s.messages = append(s.messages, m)
	m.change(d, files)
	return m
}

func (m *Message) change(d draft, files map[string]string) {
	if d.Content != nil {
		m.Content = *d.Content
	}
	m.Flags, m.components = d.Flags, d.Components
	m.Buttons, _ = buttons(d.Components)
	if len(files) > 0 {
		m.Files = files
	}
}

func (s *Server) editMessage(c call) (any, *problem) {
	m, bad := s.find(c.path("channel"), c.path("message"))
	if bad != nil {
		return nil, bad
	}
	if m.Author != Bot {
		return nil, no(http.StatusForbidden, 50005, "Cannot edit a message authored by another user")
	}
	d, bad := drafted(c)
	if bad != nil {
		return nil, bad
	}
	m.change(d, c.files)
	m.Edits++
	return s.wire(m), nil
}

func (s *Server) deleteMessage(c call) (any, *problem) {
	m, bad := s.find(c.path("channel"), c.path("message"))
	if bad != nil {
		return nil, bad
	}
	m.Deleted = true
	return nil, nil
}

// wire is a message as Discord sends it. The caller holds mu.
func (s *Server) wire(m *Message) map[string]any {
	mentions := []any{}
	for _, id := range []string{Bot, Ann, Ben} {
		if strings.Contains(m.Content, "<@"+id+">") {
			mentions = append(mentions, user(id))
		}
	}
	components := m.components
	if components == nil {
		components = []any{}
	}
	reactions := []any{}
	for _, e := range m.Reactions {
		reactions = append(reactions, map[string]any{"count": 1, "me": true, "emoji": map[string]any{"name": e}})
	}
	out := map[string]any{"id": m.ID, "channel_id": m.Channel, "author": user(m.Author), "content": m.Content, "type": 0, "flags": m.Flags,
		"timestamp": time.Now().UTC().Format(time.RFC3339Nano), "mentions": mentions, "components": components, "reactions": reactions, "attachments": []any{}, "embeds": []any{}}
	if c := s.channels[m.Channel]; c != nil && c.Person == "" {
		out["guild_id"] = Guild
	}
	if m.Nonce != "" {
		out["nonce"] = m.Nonce
	}
	return out
}
