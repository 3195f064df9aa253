package discord

import (
	"context"
	"time"

	"github.com/bwmarrin/discordgo"

	"plumb/chat"
)

// edited takes an author's edit off the gateway. Discord also calls it an update when a link was unfolded; then nobody
// has edited anything, and there is no time at which they did.
func (a *Adapter) edited(m *discordgo.Message) {
	me := a.me.Load()
	if m == nil || me == nil || m.Author == nil || m.Author.Bot || m.Author.ID == me.ID || m.EditedTimestamp == nil {
		return
	}
	a.change(m.GuildID, m.ChannelID, chat.Change{Message: m.ID, Text: plain(m, me.ID), At: *m.EditedTimestamp})
}

// deleted takes a deletion off the gateway. It does not say whose message it was; the ledger knows which ones were for us.
func (a *Adapter) deleted(m *discordgo.Message) {
	if m == nil || m.ID == "" {
		return
	}
	a.change(m.GuildID, m.ChannelID, chat.Change{Message: m.ID, Deleted: true, At: time.Now()})
}

// change publishes a change, in the queue of the message that it is about: never before the message itself.
func (a *Adapter) change(guild, channel string, c chat.Change) {
	a.crew.do(channel, func(context.Context) {
		a.crew.do(c.Message, func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, jobTime)
			defer cancel()
			at, err := a.locate(ctx, guild, channel)
			if err != nil {
				a.log.Warn("a change could not be placed", "channel", channel, "error", err)
				return
			}
			c.Conversation = chat.Conversation{Place: at.place, Thread: at.thread}
			if at.thread == "" { // a question in a channel has opened the thread that bears its id
				c.Conversation.Thread = c.Message
			}
			key := c.Message + "/changed/" + c.At.UTC().Format(time.RFC3339Nano)
			if err := a.publish(ctx, chat.Event{Key: key, Change: &c}); err != nil {
				a.log.Error("a change could not be published", "message", c.Message, "error", err)
			}
		})
	})
}
