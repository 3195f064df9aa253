package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/slack-go/slack"

	"plumb/chat"
)

// How our messages are known again: by what Slack keeps beside them for the app.
const (
	postKind     = "plumb_post"
	progressKind = "plumb_progress"
)

// Bounds of looking for a message of ours.
const (
	findPage  = 200
	findPages = 20
)

// Send posts one part of a post. Blocks that the workspace refuses are left out rung by rung, down to plain text.
func (a *Adapter) Send(ctx context.Context, p chat.Post, part int) (id string, last bool, err error) {
	m, last, err := render(p, part)
	if err != nil || m == nil {
		return "", last, err
	}
	defer a.pacer.answering()()
	id, err = a.climb(*m, func(text string, blocks []slack.Block) (string, error) {
		return a.post(ctx, p, part, text, blocks)
	})
	if err != nil {
		return "", last, a.classify(err)
	}
	if last && p.Final {
		a.pacer.end(p.Run)
	}
	return id, last, nil
}

// climb tries the forms of a message, the best first, and goes one down each time that Slack refuses the blocks.
func (a *Adapter) climb(m message, post func(text string, blocks []slack.Block) (string, error)) (string, error) {
	rungs, folds := m.rungs, m.folds
	if folds && a.plain.Load() {
		rungs, folds = rungs[1:], false
	}
	var refused string
	for i, blocks := range rungs {
		id, err := post(m.summary, blocks)
		if err == nil && i == 1 && folds && refused != "msg_blocks_too_long" {
			// It went through without the container: that is the block which this workspace does not know.
			a.plain.Store(true)
		}
		if refused = code(err); err == nil || !slices.Contains(badBlocks, refused) {
			return id, err
		}
		a.log.Warn("Slack refuses blocks, trying a plainer form", "error", refused, "messages", complaints(err))
	}
	return post(m.text, nil)
}

// complaints is what Slack says about a block that it refuses: what is wrong, and where.
func complaints(err error) []string {
	e, _ := errors.AsType[slack.SlackErrorResponse](err)
	return e.ResponseMetadata.Messages
}

// post is one call to Slack. A thread whose first message is gone cannot be answered in; the channel can.
func (a *Adapter) post(ctx context.Context, p chat.Post, part int, text string, blocks []slack.Block) (string, error) {
	c := p.Reply.Conversation
	options := []slack.MsgOption{
		slack.MsgOptionText(text, false),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
	if len(blocks) > 0 {
		options = append(options, slack.MsgOptionBlocks(blocks...))
	}
	if p.Only {
		return a.api.PostEphemeralContext(ctx, c.Channel, p.Asker.ID, append(options, slack.MsgOptionTS(c.Thread))...)
	}
	options = append(options, slack.MsgOptionMetadata(slack.SlackMetadata{EventType: postKind, EventPayload: map[string]any{"id": p.ID, "part": part}}))
	_, ts, err := a.api.PostMessageContext(ctx, c.Channel, append(options, slack.MsgOptionTS(c.Thread))...)
	if slices.Contains(noThread, code(err)) {
		a.log.Warn("the thread is gone, answering in the channel", "conversation", c.Key())
		_, ts, err = a.api.PostMessageContext(ctx, c.Channel, options...)
	}
	return ts, err
}

// Find looks for a part of a post in its thread, and in the channel if the thread is gone. What only one person can
// see is not to be found again; such a post may come twice.
func (a *Adapter) Find(ctx context.Context, p chat.Post, part int) (id string, found bool, err error) {
	if p.Only {
		return "", false, nil
	}
	id, err = a.find(ctx, p.Reply.Conversation, postKind, func(payload map[string]any) bool {
		n, _ := payload["part"].(float64)
		return payload["id"] == p.ID && int(n) == part
	})
	if id != "" && p.Final {
		a.pacer.end(p.Run)
	}
	return id, id != "", err
}

// find is the timestamp of the bot's own message whose metadata is wanted, or empty.
func (a *Adapter) find(ctx context.Context, c chat.Conversation, kind string, wanted func(map[string]any) bool) (string, error) {
	fetch, cursor := a.replies, ""
	for range findPages {
		messages, next, err := fetch(ctx, c, cursor)
		if slices.Contains(noThread, code(err)) {
			fetch, cursor = a.history, ""
			continue
		}
		if err != nil {
			return "", fmt.Errorf("looking for a message of ours on Slack: %w", a.classify(err))
		}
		for _, m := range messages {
			if a.mine(m) && m.Metadata.EventType == kind && wanted(m.Metadata.EventPayload) {
				return m.Timestamp, nil
			}
		}
		if cursor = next; cursor == "" {
			return "", nil
		}
	}
	return "", nil
}

// mine says whether the bot wrote a message: others can give theirs the same metadata.
func (a *Adapter) mine(m slack.Message) bool {
	me := a.me.Load()
	return me == nil || m.User == me.user || (me.bot != "" && m.BotID == me.bot)
}

func (a *Adapter) replies(ctx context.Context, c chat.Conversation, cursor string) ([]slack.Message, string, error) {
	messages, _, next, err := a.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
		ChannelID: c.Channel, Timestamp: c.Thread, Cursor: cursor, Limit: findPage, IncludeAllMetadata: true})
	return messages, next, err
}

func (a *Adapter) history(ctx context.Context, c chat.Conversation, cursor string) ([]slack.Message, string, error) {
	r, err := a.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
		ChannelID: c.Channel, Oldest: c.Thread, Cursor: cursor, Limit: findPage, IncludeAllMetadata: true})
	if err != nil {
		return nil, "", err
	}
	return r.Messages, r.ResponseMetaData.NextCursor, nil
}
