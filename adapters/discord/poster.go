package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"plumb/chat"
)

var _ chat.Poster = (*Adapter)(nil)

// Send posts one part. Discord is asked to take a part only once, by its nonce, so that a repetition within some
// minutes gives the message that is already there.
func (a *Adapter) Send(ctx context.Context, p chat.Post, part int) (string, bool, error) {
	parts := render(p)
	switch {
	case part < 0:
		return "", false, fmt.Errorf("post %s has no part %d", p.ID, part)
	case part >= len(parts):
		a.arrived(p, true) // the last part was found, and delivery asks for what follows
		return "", true, nil
	}
	id, err := a.send(ctx, p, parts[part])
	if err != nil {
		return "", false, judge(err)
	}
	a.sent.put(id, parts[part].Nonce)
	last := part == len(parts)-1
	a.arrived(p, last)
	return id, last, nil
}

// arrived ends the progress of a run whose answer is there.
func (a *Adapter) arrived(p chat.Post, last bool) {
	if last && p.Final && p.Run != "" {
		a.board.finish(p.Run)
	}
}

func (a *Adapter) send(ctx context.Context, p chat.Post, m message) (string, error) {
	if p.Only {
		if t, ok := a.tokens.get(p.Asker.ID + "/" + p.Reply.Conversation.Thread); ok && time.Since(t.at) < tokenLife {
			if id, err := a.whisper(ctx, t, m); err == nil {
				return id, nil
			}
			// The token may have died early; a short reply does as well.
		}
	}
	if m.Reference != nil {
		if line, ok := a.replies.get(m.Reference.MessageID); ok {
			m.Reference = a.replyTo(p, line)
		}
	}
	channel := channelOf(p.Reply.Conversation)
	id, err := a.rest.post(ctx, channel, m)
	if s := status(err); len(m.files) > 0 && (s == http.StatusForbidden || s == http.StatusBadRequest || s == http.StatusRequestEntityTooLarge) {
		// An answer must not be lost with its file. The evidence is still behind its button.
		a.log.Warn("Discord refuses the file; the answer goes without", "post", p.ID, "error", err)
		m.files = nil
		id, err = a.rest.post(ctx, channel, m)
	}
	if err == nil && p.Only {
		a.expire(channel, id)
	}
	return id, err
}

// replyTo answers a command's line, where that stands in the thread; the one that opened the thread stands outside.
func (a *Adapter) replyTo(p chat.Post, line replied) *reference {
	if line.channel != channelOf(p.Reply.Conversation) {
		return nil
	}
	return &reference{MessageID: line.message}
}

// channelOf is the channel that a conversation's posts go to: a thread is a channel of Discord's.
func channelOf(c chat.Conversation) string {
	if c.Thread != "" {
		return c.Thread
	}
	return c.Channel
}

// shortReply says something to the author of a message that only matters to them.
func (a *Adapter) shortReply(ctx context.Context, channel, to, words string) {
	m := text(words)
	m.Reference = &reference{MessageID: to}
	id, err := a.rest.post(ctx, channel, m)
	if err != nil {
		a.log.Warn("a short reply could not be given", "channel", channel, "error", err)
		return
	}
	a.expire(channel, id)
}

// expire deletes a short reply after a while, or at once when the bot ends.
func (a *Adapter) expire(channel, id string) {
	a.crew.do("expire/"+id, func(ctx context.Context) {
		a.crew.pause(ctx, a.pace.short)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
		defer cancel()
		if err := a.rest.remove(ctx, channel, id); err != nil {
			a.log.Info("a short reply could not be deleted", "message", id, "error", err)
		}
	})
}

// findPages bounds the search for a message, a hundred at a time.
const findPages = 5

// Find looks for a part among what was said since the question. A message of ours is the part if it has the part's
// nonce, or, as Discord forgets nonces, if it has none, was not sent for another one by this
// program, and says the same under the same buttons.
func (a *Adapter) Find(ctx context.Context, p chat.Post, part int) (string, bool, error) {
	parts := render(p)
	if part < 0 || part >= len(parts) {
		return "", false, nil
	}
	me, err := a.whoami(ctx)
	if err != nil {
		return "", false, judge(err)
	}
	channel, after := channelOf(p.Reply.Conversation), since(p.Reply)
	for range findPages {
		messages, err := a.rest.after(ctx, channel, after)
		if err != nil {
			return "", false, judge(err)
		}
		for _, m := range messages {
			if m.Author != nil && m.Author.ID == me && a.same(m, parts[part]) {
				a.arrived(p, part == len(parts)-1)
				return m.ID, true, nil
			}
			after = m.ID
		}
		if len(messages) < 100 {
			break
		}
	}
	return "", false, nil
}

// since is what an answer surely comes after: the question, or, where there is none, the beginning of the thread.
func since(r chat.Reply) string {
	if r.To == "" {
		return channelOf(r.Conversation)
	}
	return r.To
}

// same says whether a message on Discord is one that we meant to send.
func (a *Adapter) same(m *listed, want message) bool {
	if n, ok := a.sent.get(m.ID); ok {
		return n == want.Nonce
	}
	var n string
	if json.Unmarshal(m.Nonce, &n) == nil && n != "" {
		return n == want.Nonce
	}
	return strings.TrimSpace(m.Content) == strings.TrimSpace(want.Content) && customIDs(m) == wantedIDs(want)
}

func customIDs(m *listed) string {
	b, err := json.Marshal(m.Components)
	if err != nil {
		return ""
	}
	var rows []component
	_ = json.Unmarshal(b, &rows)
	return wantedIDs(message{Components: rows})
}

func wantedIDs(m message) string {
	var out []string
	for _, r := range m.Components {
		for _, c := range r.Components {
			out = append(out, c.CustomID)
		}
	}
	return strings.Join(out, " ")
}

// whoami is the bot's own id, asked for if the gateway has not told it yet.
func (a *Adapter) whoami(ctx context.Context) (string, error) {
	if me := a.me.Load(); me != nil {
		return me.ID, nil
	}
	me, err := a.rest.self(ctx)
	if err != nil {
		return "", err
	}
	a.me.Store(me)
	return me.ID, nil
}

// signs are the receipts as reactions.
var signs = map[chat.Sign]string{chat.Taken: "👀", chat.Applied: "✅"}

// Mark puts a receipt on what somebody said. It returns at once; a receipt that can not be given is none.
func (a *Adapter) Mark(m chat.Mark) {
	emoji, ok := signs[m.Sign]
	key := m.Message + "/" + emoji
	if _, given := a.marked.get(key); !ok || given {
		return
	}
	a.marked.put(key, true)
	a.crew.do("mark/"+m.Message, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, jobTime)
		defer cancel()
		channel, id := a.marks(m)
		err := persist(ctx, func() error { return a.rest.react(ctx, channel, id, emoji) })
		if err != nil {
			a.log.Info("a receipt could not be given", "message", m.Message, "error", err)
		}
	})
}

// marks is the message that bears the receipts: that of a command is our line with its words, and the question that
// opened a thread stands in the channel outside.
func (a *Adapter) marks(m chat.Mark) (channel, id string) {
	if line, ok := a.replies.get(m.Message); ok {
		return line.channel, line.message
	}
	if m.Message == m.Conversation.Thread {
		return m.Conversation.Channel, m.Message
	}
	return channelOf(m.Conversation), m.Message
}
