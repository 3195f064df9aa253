package slack

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"plumb/chat"
)

// Bounds of a progress message. An edited message may have 4,000 characters of text.
const (
	progressLines = 12
	progressLine  = 180
)

// standing is the progress message of a run that goes on: what was done, a word on how to steer, and the Stop button.
func standing(p chat.Progress) (text string, blocks []slack.Block) {
	lines := p.Lines[max(0, len(p.Lines)-progressLines):]
	var out []string
	if n := len(p.Lines) - len(lines); n > 0 {
		out = append(out, fmt.Sprintf("• … %s before", counted(n, "step")))
	}
	for _, l := range lines {
		out = append(out, "• "+clip(strings.Join(strings.Fields(l), " "), progressLine))
	}
	if len(lines) == 0 {
		out = append(out, "• thinking")
	}
	text = strings.Join(out, "\n")
	return text, []slack.Block{
		section(text),
		small("Reply in this thread to steer."),
		buttons(chat.Post{Buttons: []chat.Button{{Action: chat.Stop, Run: p.Run}}}),
	}
}

// ended is the one line that is left of a progress message.
func ended(p chat.Progress, now time.Time) (text string, blocks []slack.Block) {
	text = "Done · " + counted(len(p.Lines), "step")
	if took := now.Sub(p.Started); !p.Started.IsZero() && took >= 0 {
		text += " · " + duration(took)
	}
	return text, []slack.Block{small(text)}
}

// duration is how long something took, as people say it.
func duration(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return fmt.Sprintf("%d min %d s", s/60, s%60)
}

// show posts the progress message of a run, or edits the one with that timestamp, and returns its timestamp.
func (a *Adapter) show(ctx context.Context, p chat.Progress, ts string, now time.Time) (string, error) {
	text, blocks := standing(p)
	if p.Ended {
		text, blocks = ended(p, now)
	}
	m := message{summary: text, text: text, rungs: [][]slack.Block{blocks}}
	c := p.Reply.Conversation
	return a.climb(m, func(text string, blocks []slack.Block) (string, error) {
		options := []slack.MsgOption{
			slack.MsgOptionText(text, false), slack.MsgOptionBlocks(blocks...),
			slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
			slack.MsgOptionMetadata(slack.SlackMetadata{EventType: progressKind, EventPayload: map[string]any{"run": p.Run}}),
		}
		if ts != "" {
			_, _, _, err := a.api.UpdateMessageContext(ctx, c.Channel, ts, options...)
			return ts, err
		}
		_, posted, err := a.api.PostMessageContext(ctx, c.Channel, append(options, slack.MsgOptionTS(c.Thread))...)
		return posted, err
	})
}

// shown looks for a progress message that an earlier process, or a call without an answer, may have left.
func (a *Adapter) shown(ctx context.Context, p chat.Progress) (string, error) {
	return a.find(ctx, p.Reply.Conversation, progressKind, func(payload map[string]any) bool { return payload["run"] == p.Run })
}

// reactions are the signs of receipts.
var reactions = map[chat.Sign]string{chat.Taken: "eyes", chat.Applied: "white_check_mark"}

// react puts a receipt on a message. One that is there already is as good.
func (a *Adapter) react(ctx context.Context, m chat.Mark) error {
	err := a.api.AddReactionContext(ctx, reactions[m.Sign], slack.NewRefToMessage(m.Conversation.Channel, m.Message))
	if slices.Contains([]string{"already_reacted", "message_not_found"}, code(err)) {
		return nil
	}
	return err
}
