package slack

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"plumb/chat"
)

// A click is a button pressed, in our words.
type click struct {
	action, value, trigger, ts string
	at                         chat.Conversation
	who                        chat.Person
}

// pressed handles a click. What only concerns the screen is acknowledged at once and done beside the loop; what
// changes a run is published first, so that Slack shows its own warning to the person if that fails.
func (a *Adapter) pressed(ctx context.Context, cb slack.InteractionCallback, ack func()) {
	c, ok := readClick(cb)
	if !ok {
		ack()
		return
	}
	switch c.action {
	case actionPrefix + string(chat.Evidence):
		ack()
		a.clicks.Go(func() { a.open(ctx, c) })
	case actionPrevious, actionNext:
		ack()
		a.turn(ctx, cb.View, c)
	default:
		action, ours := strings.CutPrefix(c.action, actionPrefix)
		if !ours || a.publish(ctx, pressEvent(c, chat.Action(action))) {
			ack()
		}
	}
}

func pressEvent(c click, action chat.Action) chat.Event {
	return chat.Event{
		Key:   c.at.Team + ":" + c.at.Channel + ":" + c.ts + ":" + c.who.ID + ":" + string(action),
		Press: &chat.Press{Conversation: c.at, Who: c.who, At: at(c.ts), Button: chat.Button{Action: action, Run: c.value}},
	}
}

// turn shows another page of an open window.
func (a *Adapter) turn(ctx context.Context, v slack.View, c click) {
	var w window
	number, err := strconv.Atoi(c.value)
	if err != nil || json.Unmarshal([]byte(v.PrivateMetadata), &w) != nil {
		return
	}
	a.clicks.Go(func() { a.fill(ctx, v.ID, w, c.who, number) })
}

func readClick(cb slack.InteractionCallback) (click, bool) {
	if cb.Type != slack.InteractionTypeBlockActions || len(cb.ActionCallback.BlockActions) == 0 {
		return click{}, false
	}
	act := cb.ActionCallback.BlockActions[0]
	team := cb.Team.ID
	if team == "" {
		team = cb.Enterprise.ID
	}
	channel := cb.Channel.ID
	if channel == "" {
		channel = cb.Container.ChannelID
	}
	thread := cb.Container.ThreadTs
	for _, other := range []string{cb.Message.ThreadTimestamp, cb.Container.MessageTs, cb.Message.Timestamp} {
		if thread == "" {
			thread = other
		}
	}
	name := cb.User.Name
	if name == "" {
		name = cb.User.ID
	}
	return click{
		action: act.ActionID, value: act.Value, trigger: cb.TriggerID, ts: act.ActionTs,
		at:  chat.Conversation{Place: chat.Place{Platform: chat.Slack, Team: team, Channel: channel}, Thread: thread},
		who: chat.Person{ID: cb.User.ID, Name: name},
	}, true
}
