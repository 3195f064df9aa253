package slack

import (
	"context"
	"errors"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"plumb/chat"
)

// changed translates a message that its author has edited or deleted. Slack also calls it a change when a link was
// unfolded or a reply was added to a thread: then the words are the same, and nothing happened that concerns the bot.
func (a *Adapter) changed(ctx context.Context, e slackevents.EventsAPIEvent) (chat.Event, bool) {
	m, ok := e.InnerEvent.Data.(*slackevents.MessageEvent)
	if !ok || m.PreviousMessage == nil {
		return chat.Event{}, false
	}
	was := m.PreviousMessage
	if was.BotID != "" || was.User == "" || was.User == a.me.Load().user {
		return chat.Event{}, false
	}
	c := &chat.Change{Conversation: conversation(team(e), m.Channel, was), Message: was.Timestamp, At: at(m.TimeStamp)}
	switch m.SubType {
	case slack.MsgSubTypeMessageDeleted:
		c.Deleted = true
	case slack.MsgSubTypeMessageChanged:
		if m.Message == nil || m.Message.Text == was.Text {
			return chat.Event{}, false
		}
		ctx, cancel := context.WithTimeoutCause(ctx, nameTimeout, errors.New("no names from Slack in time"))
		defer cancel()
		c.Text = plain(m.Message.Text, a.me.Load().user, func(id string) string { return a.names.of(ctx, id) })
	default:
		return chat.Event{}, false
	}
	return chat.Event{Key: c.Conversation.Team + ":" + m.Channel + ":" + c.Message + ":" + m.TimeStamp, Change: c}, true
}

// conversation is the thread that a message is in, or opens.
func conversation(team, channel string, m *slack.Msg) chat.Conversation {
	thread := m.ThreadTimestamp
	if thread == "" {
		thread = m.Timestamp
	}
	return chat.Conversation{Place: chat.Place{Platform: chat.Slack, Team: team, Channel: channel}, Thread: thread}
}
