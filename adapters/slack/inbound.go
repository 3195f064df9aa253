package slack

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack/slackevents"

	"plumb/chat"
)

// said is what app_mention and message have in common.
type said struct {
	team, channel, ts, thread string
	user, bot, subtype        string
	text                      string
	direct, hidden, mention   bool
}

// spoken are the subtypes of message in which a person says something.
var spoken = []string{"", "file_share", "thread_broadcast"}

// hear publishes what an event says and tells whether the event is dealt with. One that is not comes again.
func (a *Adapter) hear(ctx context.Context, e slackevents.EventsAPIEvent) bool {
	if c, ok := a.changed(ctx, e); ok {
		return a.publish(ctx, c)
	}
	s, ok := read(e)
	if !ok || !a.minds(s) {
		return true
	}
	m := a.message(ctx, s)
	if !a.publish(ctx, chat.Event{Key: key(m), Message: m}) {
		return false
	}
	if m.Addressed {
		a.Mark(chat.Mark{Conversation: m.Conversation, Message: m.ID, Sign: chat.Taken})
	}
	return true
}

// key is the same for every event about one message: Slack tells of a mention twice, as app_mention and as message.
func key(m *chat.Message) string {
	return m.Conversation.Team + ":" + m.Conversation.Channel + ":" + m.ID
}

func (a *Adapter) publish(ctx context.Context, e chat.Event) bool {
	ctx, cancel := context.WithTimeoutCause(ctx, publishTimeout, errors.New("publishing takes too long"))
	defer cancel()
	if err := a.deps.Publish(ctx, e); err != nil {
		a.log.Error("an event could not be published, Slack is left to send it again", "key", e.Key, "error", err)
		return false
	}
	return true
}

// read takes what somebody said out of an event, if it is one of that kind.
func read(e slackevents.EventsAPIEvent) (said, bool) {
	var s said
	switch m := e.InnerEvent.Data.(type) {
	case *slackevents.AppMentionEvent:
		s = said{channel: m.Channel, ts: m.TimeStamp, thread: m.ThreadTimeStamp, user: m.User, bot: m.BotID, text: m.Text, mention: true}
	case *slackevents.MessageEvent:
		s = said{channel: m.Channel, ts: m.TimeStamp, thread: m.ThreadTimeStamp, user: m.User, bot: m.BotID, subtype: m.SubType,
			text: m.Text, direct: m.IsIM(), hidden: m.Message != nil && m.Message.Hidden}
	default:
		return said{}, false
	}
	s.team = team(e)
	return s, true
}

// team is the workspace in which the bot is installed. In a channel that two organisations share, the outer team can be
// the other one's; an installation for a whole organisation has no team and is known by the organisation.
func team(e slackevents.EventsAPIEvent) string {
	id, enterprise := e.TeamID, e.EnterpriseID
	if c, ok := e.Data.(*slackevents.EventsAPICallbackEvent); ok && len(c.Authorizations) > 0 {
		first := c.Authorizations[0]
		if first.TeamID != "" {
			id = first.TeamID
		}
		if first.EnterpriseID != "" {
			enterprise = first.EnterpriseID
		}
	}
	if id == "" {
		return enterprise
	}
	return id
}

// minds says whether something that was said concerns the bot: said by a person, and to the bot, in a thread, or in
// private. What people say to each other at the top of a channel stays theirs.
func (a *Adapter) minds(s said) bool {
	me := a.me.Load()
	switch {
	case s.bot != "" || s.user == "" || s.user == me.user || s.hidden || !slices.Contains(spoken, s.subtype):
		return false
	case s.ts == "" || s.channel == "":
		return false
	}
	return s.direct || s.mention || mentions(s.text, me.user) || (s.thread != "" && s.thread != s.ts)
}

// message translates.
func (a *Adapter) message(ctx context.Context, s said) *chat.Message {
	ctx, cancel := context.WithTimeoutCause(ctx, nameTimeout, errors.New("no names from Slack in time"))
	defer cancel()
	me := a.me.Load()
	thread := s.thread
	if thread == "" {
		thread = s.ts
	}
	name := func(id string) string { return a.names.of(ctx, id) }
	return &chat.Message{
		Conversation: chat.Conversation{Place: chat.Place{Platform: chat.Slack, Team: s.team, Channel: s.channel}, Thread: thread},
		ID:           s.ts,
		Who:          chat.Person{ID: s.user, Name: name(s.user)},
		Text:         plain(s.text, me.user, name),
		Addressed:    s.direct || s.mention || mentions(s.text, me.user),
		Opens:        thread == s.ts,
		At:           at(s.ts),
	}
}

// at is the time in one of Slack's timestamps: seconds, a dot and microseconds.
func at(ts string) time.Time {
	sec, micro, _ := strings.Cut(ts, ".")
	s, err := strconv.ParseInt(sec, 10, 64)
	if err != nil {
		return time.Time{}
	}
	us, _ := strconv.ParseInt(micro, 10, 64)
	return time.Unix(s, us*1000).UTC()
}
