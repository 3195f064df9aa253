package discordtest

import (
	"encoding/json"
	"net/http"
	"time"
)

const (
	firstAnswer   = 3 * time.Second
	flagEphemeral = 1 << 6
)

// A use is one interaction and what the bot made of it.
type use struct {
	id, token, channel, person, message string
	at                                  time.Time
	kind                                int // of the first answer; 0 before it
	reply                               *Message
}

// Says has somebody write in a channel, a thread or a direct conversation, and returns the message's id.
func (s *Server) Says(channel, person, words string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.make(channel, person, draft{Content: &words}, nil)
	s.dispatch("MESSAGE_CREATE", s.wire(m))
	s.announce()
	return m.ID
}

// Asks is Says with a mention of the bot.
func (s *Server) Asks(channel, person, words string) string {
	return s.Says(channel, person, "<@"+Bot+"> "+words)
}

// Direct is the direct conversation with a person.
func (s *Server) Direct(person string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.channels {
		if c.Person == person {
			return c.ID
		}
	}
	c := &Channel{ID: s.id(), Person: person}
	s.channels[c.ID] = c
	return c.ID
}

// Marks has somebody put a reaction on a message.
func (s *Server) Marks(person, message, emoji string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.ID == message {
			s.dispatch("MESSAGE_REACTION_ADD", map[string]any{"user_id": person, "message_id": m.ID, "channel_id": m.Channel, "guild_id": Guild, "emoji": map[string]any{"name": emoji}})
		}
	}
}

// Uses has somebody use a slash command, its options as name and value in turn, and returns the interaction's id.
func (s *Server) Uses(channel, person, command string, options ...string) string {
	var list []any
	for i := 0; i+1 < len(options); i += 2 {
		list = append(list, map[string]any{"name": options[i], "type": 3, "value": options[i+1]})
	}
	return s.interact(2, &use{channel: channel, person: person}, map[string]any{"id": "1", "name": command, "type": 1, "options": list})
}

// Presses has somebody press the button with a label under a message.
func (s *Server) Presses(person, message, label string) string {
	s.mu.Lock()
	var found *Message
	id := ""
	for _, m := range s.messages {
		if m.ID == message {
			found = m
		}
	}
	if found != nil {
		for _, b := range found.Buttons {
			if b.Label == label {
				id = b.CustomID
			}
		}
	}
	s.mu.Unlock()
	if id == "" {
		panic("discordtest: no button " + label + " under " + message)
	}
	return s.interact(3, &use{channel: found.Channel, person: person, message: message}, map[string]any{"custom_id": id, "component_type": 2})
}

func (s *Server) interact(kind int, u *use, data any) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.id, u.at = s.id(), time.Now()
	u.token = "use-" + u.id
	s.uses = append(s.uses, u)
	event := map[string]any{"id": u.id, "application_id": Bot, "type": kind, "token": u.token, "version": 1, "channel_id": u.channel, "data": data, "app_permissions": "0"}
	if c := s.channels[u.channel]; c.Person != "" {
		event["user"] = user(u.person)
	} else {
		event["guild_id"] = Guild
		event["member"] = map[string]any{"user": user(u.person), "nick": "", "roles": []any{}, "permissions": "0"}
	}
	for _, m := range s.messages {
		if m.ID == u.message {
			event["message"] = s.wire(m)
		}
	}
	s.dispatch("INTERACTION_CREATE", event)
	return u.id
}

// Answered is the kind of the first answer to an interaction, and the message that is the answer.
func (s *Server) Answered(id string) (kind int, m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uses {
		if u.id == id {
			if u.reply != nil {
				m = *u.reply
			}
			return u.kind, m
		}
	}
	return 0, m
}

func (s *Server) used(token string) *use {
	for _, u := range s.uses {
		if u.token == token {
			return u
		}
	}
	return &use{}
}

func (s *Server) callback(c call) (any, *problem) {
	u := s.used(c.path("token"))
	switch {
	case u.id == "" || u.id != c.path("use") || time.Since(u.at) > firstAnswer:
		return nil, no(http.StatusNotFound, 10062, "Unknown interaction")
	case u.kind != 0:
		return nil, no(http.StatusBadRequest, 40060, "Interaction has already been acknowledged.")
	}
	var body struct {
		Type int
		Data struct{ Flags int }
	}
	_ = json.Unmarshal(c.body, &body)
	switch body.Type {
	case 5:
		u.reply = s.make(u.channel, Bot, draft{}, nil)
		u.reply.Thinking = true
		if body.Data.Flags&flagEphemeral != 0 {
			u.reply.Only = u.person
		}
	case 6:
		for _, m := range s.messages {
			if m.ID == u.message {
				u.reply = m
			}
		}
	default:
		return nil, badForm("type")
	}
	u.kind = body.Type
	return nil, nil
}

func (s *Server) fillIn(c call) (any, *problem) {
	u := s.used(c.path("token"))
	if u.reply == nil {
		return nil, no(http.StatusNotFound, 10015, "Unknown Webhook")
	}
	d, bad := drafted(c)
	if bad != nil {
		return nil, bad
	}
	u.reply.change(d, c.files)
	u.reply.Thinking = false
	u.reply.Edits++
	return s.wire(u.reply), nil
}

func (s *Server) followUp(c call) (any, *problem) {
	u := s.used(c.path("token"))
	if u.kind == 0 {
		return nil, no(http.StatusNotFound, 10015, "Unknown Webhook")
	}
	d, bad := drafted(c)
	if bad != nil {
		return nil, bad
	}
	m := s.make(u.channel, Bot, d, c.files)
	if d.Flags&flagEphemeral != 0 {
		m.Only = u.person
	}
	return s.wire(m), nil
}

// Forget makes Discord forget the nonces of all messages, as it does after some minutes.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		m.Nonce = ""
	}
}
