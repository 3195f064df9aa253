package discord

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"plumb/chat"
)

// direct stands where a guild's id would, for conversations with one person.
const direct = "dm"

// jobTime bounds the work on one event, waits for Discord's limits included.
const jobTime = time.Minute

// A spot is where a channel stands among Discord's channels.
type spot struct {
	place  chat.Place
	thread string // the thread, if the channel is one
}

// A bookmark is the last message that we heard in a channel.
type bookmark struct{ guild, message string }

// locate finds out whether a channel is a thread, and whose.
func (a *Adapter) locate(ctx context.Context, guild, channel string) (spot, error) {
	if guild == "" {
		return spot{chat.Place{Platform: chat.Discord, Team: direct, Channel: channel}, channel}, nil
	}
	if at, ok := a.spots.get(channel); ok {
		return at, nil
	}
	var ch *discordgo.Channel
	err := persist(ctx, func() (err error) { ch, err = a.rest.channel(ctx, channel); return err })
	if err != nil {
		return spot{}, err
	}
	at := spot{place: chat.Place{Platform: chat.Discord, Team: guild, Channel: channel}}
	if ch.IsThread() {
		at.place.Channel, at.thread = ch.ParentID, channel
	}
	a.spots.put(channel, at)
	return at, nil
}

// heard takes a message off the gateway.
func (a *Adapter) heard(m *discordgo.Message) {
	me := a.me.Load()
	// discordgo hands over an empty message when it could not read one.
	if m == nil || m.Author == nil || me == nil || m.Author.ID == me.ID || m.Author.Bot || m.WebhookID != "" {
		return
	}
	if m.Type != discordgo.MessageTypeDefault && m.Type != discordgo.MessageTypeReply {
		return
	}
	a.crew.do(m.ChannelID, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, jobTime)
		defer cancel()
		a.sort(ctx, m, me.ID)
	})
}

// sort decides what a message is: talk in a thread, a question that opens one, or none of our business.
func (a *Adapter) sort(ctx context.Context, m *discordgo.Message, me string) {
	addressed := m.GuildID == "" || mentions(m, me)
	at, err := a.locate(ctx, m.GuildID, m.ChannelID)
	if err != nil {
		a.log.Warn("a message could not be placed", "channel", m.ChannelID, "error", err)
		if addressed {
			a.shortReply(ctx, m.ChannelID, m.ID, sorry)
		}
		return
	}
	said := &chat.Message{
		Conversation: chat.Conversation{Place: at.place, Thread: at.thread},
		ID:           m.ID, Who: speaker(m), Text: plain(m, me), Addressed: addressed, At: m.Timestamp,
	}
	switch {
	case at.thread != "" && (addressed || said.Text != ""):
		a.seen.put(m.ChannelID, bookmark{m.GuildID, m.ID})
		a.say(ctx, said, m.ChannelID)
	case at.thread == "" && addressed:
		a.seen.put(m.ChannelID, bookmark{m.GuildID, m.ID})
		said.Opens = true
		// The thread will have the message's id. Waiting in its queue from now on, the question stays before all that is
		// said in the thread, and other questions in the channel need not wait for this one.
		a.crew.do(m.ID, func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, jobTime)
			defer cancel()
			said.Conversation.Thread = a.startThread(ctx, at.place, m.ID, said.Text)
			a.say(ctx, said, m.ChannelID)
		})
	}
}

// startThread starts a thread from a message and returns where the conversation goes on: in the channel itself where
// threads can not be had, because an answer in the wrong place is better than none.
func (a *Adapter) startThread(ctx context.Context, at chat.Place, message, question string) string {
	var thread string
	err := persist(ctx, func() (err error) {
		thread, err = a.rest.thread(ctx, at.Channel, message, threadName(question))
		return err
	})
	if err != nil {
		a.log.Warn("no thread could be started; answering in the channel", "channel", at.Channel, "error", err)
		return at.Channel
	}
	a.spots.put(thread, spot{at, thread})
	a.seen.put(thread, bookmark{at.Team, message})
	return thread
}

// threadName is the question in one line of at most 90 characters.
func threadName(question string) string {
	name := oneLine(question)
	if name == "" {
		return "Question"
	}
	return shorten(name, 90)
}

// sorry is what people read when the bot could not take what they said.
const sorry = "Sorry, I could not take that just now. Please try again."

// say publishes a message and gives the receipt; from then on it will be answered.
func (a *Adapter) say(ctx context.Context, said *chat.Message, channel string) {
	if err := a.publish(ctx, chat.Event{Key: said.ID, Message: said}); err != nil {
		a.log.Error("a message could not be published", "message", said.ID, "error", err)
		if said.Addressed {
			a.shortReply(ctx, channel, said.ID, sorry)
		}
		return
	}
	if said.Addressed {
		a.Mark(chat.Mark{Conversation: said.Conversation, Message: said.ID, Sign: chat.Taken})
	}
}

// publish tries a few times: a bus that starts again takes seconds, and Discord does not send an event twice.
func (a *Adapter) publish(ctx context.Context, e chat.Event) error {
	var err error
	for _, wait := range []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second, 0} {
		if err = a.deps.Publish(ctx, e); err == nil {
			return nil
		}
		if wait == 0 || !sleep(ctx, wait) {
			break
		}
	}
	return err
}

// catchUp reads again what was said where we talk while there was no session: Discord does not send it any more.
// Messages that come twice are one by their id.
func (a *Adapter) catchUp(ctx context.Context) {
	for channel, last := range a.seen.all() {
		messages, err := a.rest.after(ctx, channel, last.message)
		if err != nil {
			a.log.Warn("a channel could not be read again", "channel", channel, "error", err)
			continue
		}
		for _, m := range messages {
			m.GuildID = last.guild // which Discord leaves out here
			a.heard(&m.Message)
		}
	}
}

// reacted reads 🛑 and ❌ on a question, or on a progress message, as a press of Stop.
func (a *Adapter) reacted(r *discordgo.MessageReaction) {
	me := a.me.Load()
	if r == nil || me == nil || r.UserID == me.ID || (r.Emoji.Name != "🛑" && r.Emoji.Name != "❌") {
		return
	}
	now := time.Now()
	a.crew.do("reaction/"+r.MessageID, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, jobTime)
		defer cancel()
		conv, button, ok := a.stopped(ctx, r, me.ID)
		if !ok {
			return
		}
		press := &chat.Press{Conversation: conv, Who: chat.Person{ID: r.UserID}, Button: button, At: now}
		key := "stop/" + r.MessageID + "/" + r.UserID
		if err := a.publish(ctx, chat.Event{Key: key, Press: press}); err != nil {
			a.log.Error("a stop could not be published", "message", r.MessageID, "error", err)
		}
	})
}

// stopped finds out what a stop sign stands on: a message that we took, whose conversation it stops, or one of ours with
// a Stop button, whose run it stops.
func (a *Adapter) stopped(ctx context.Context, r *discordgo.MessageReaction, me string) (chat.Conversation, chat.Button, bool) {
	at, err := a.locate(ctx, r.GuildID, r.ChannelID)
	if err != nil {
		return chat.Conversation{}, chat.Button{}, false
	}
	conv := chat.Conversation{Place: at.place, Thread: at.thread}
	if conv.Thread == "" {
		conv.Thread = r.MessageID
	}
	m, err := a.rest.message(ctx, r.ChannelID, r.MessageID)
	if err != nil || m.Author == nil {
		return conv, chat.Button{}, false
	}
	if m.Author.ID == me {
		run, ok := stopButton(m)
		return conv, chat.Button{Action: chat.Stop, Run: run}, ok
	}
	for _, reaction := range m.Reactions {
		if reaction.Me && reaction.Emoji != nil && reaction.Emoji.Name == signs[chat.Taken] {
			return conv, chat.Button{Action: chat.Stop}, true
		}
	}
	return conv, chat.Button{}, false
}

// stopButton is the run of the Stop button under a message.
func stopButton(m *discordgo.Message) (run string, ok bool) {
	for _, row := range m.Components {
		r, isRow := row.(*discordgo.ActionsRow)
		if !isRow {
			continue
		}
		for _, c := range r.Components {
			if b, isButton := c.(*discordgo.Button); isButton {
				if run, ok = strings.CutPrefix(b.CustomID, string(chat.Stop)+":"); ok {
					return run, true
				}
			}
		}
	}
	return "", false
}

// speaker is the author of a message, by the name that the guild knows.
func speaker(m *discordgo.Message) chat.Person {
	name := m.Author.DisplayName()
	if m.Member != nil && m.Member.Nick != "" {
		name = m.Member.Nick
	}
	return chat.Person{ID: m.Author.ID, Name: name}
}

// shorten cuts a text to so many characters, the last of which then is an ellipsis.
func shorten(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// oneLine is a text with every run of blank space a space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
