package slack

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"plumb/adapters/markdown"
	"plumb/chat"
)

// Slack's limits, some with a margin. All blocks of a message together are refused somewhere above 13,000 characters;
// where exactly is not written down.
const (
	markdownLimit = 9_000
	messageLimit  = 10_000
	sectionLimit  = 3_000
	summaryLimit  = 3_000
	contextLimit  = 1_000
	titleLimit    = 150
	buttonsAtMost = 10
)

// The ids of our buttons.
const (
	actionPrefix   = "plumb:"
	actionPrevious = actionPrefix + "previous"
	actionNext     = actionPrefix + "next"
)

// A message is one part of a post in several forms. The first is the best; each one after it asks less of the
// workspace, and the last is text alone, which every workspace takes.
type message struct {
	summary string          // beside blocks: for notifications, and for whom blocks are not shown
	rungs   [][]slack.Block // richest first
	folds   bool            // the first rung needs the container block
	text    string          // in place of blocks
}

// render makes a part of a post and says whether it is the last. It depends on nothing but the post, so that the same
// post falls into the same parts at every attempt and in every form.
func render(p chat.Post, part int) (m *message, last bool, err error) {
	parts := markdown.Split(harmless(p.Text), markdownLimit)
	if part < 0 {
		return nil, false, fmt.Errorf("post %s has no part %d", p.ID, part)
	}
	if part >= len(parts) {
		return nil, true, nil
	}
	m = &message{}
	text, last := parts[part], part == len(parts)-1
	if text == "" && len(notes(p)) == 0 {
		return nil, true, fmt.Errorf("post %s says nothing", p.ID)
	}
	m.summary, m.text = summary(text), mrkdwn(text)
	var body, foot []slack.Block
	if text != "" {
		body = append(body, slack.NewMarkdownBlock("", text))
	}
	if last {
		foot = footer(p)
		if notes := strings.Join(notes(p), "\n"); notes != "" {
			m.text = strings.TrimSpace(m.text + "\n\n" + notes)
		}
		room := messageLimit - utf8.RuneCountInString(text) - size(foot)
		if c := fold(p.Exhibits, room); c != nil {
			m.folds = true
			m.rungs = append(m.rungs, concat(body, []slack.Block{c}, foot))
		}
	}
	if all := concat(body, foot); len(all) > 0 {
		m.rungs = append(m.rungs, all)
	}
	if m.summary == "" {
		m.summary = clip(strings.Join([]string{p.Verdict, p.Footer}, " "), summaryLimit)
	}
	return m, last, nil
}

func concat(lists ...[]slack.Block) (all []slack.Block) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// notes are the lines under an answer: what was checked, and what it took.
func notes(p chat.Post) (lines []string) {
	for _, s := range []string{p.Verdict, p.Footer} {
		if s = clip(s, contextLimit); s != "" {
			lines = append(lines, s)
		}
	}
	return lines
}

// footer is what stands under the last part of a post.
func footer(p chat.Post) (blocks []slack.Block) {
	if c := small(notes(p)...); c != nil {
		blocks = append(blocks, c)
	}
	if b := buttons(p); b != nil {
		blocks = append(blocks, b)
	}
	return blocks
}

// small is a line of small print; the texts are in Slack's markup.
func small(texts ...string) slack.Block {
	var elements []slack.MixedElement
	for _, t := range texts {
		if t != "" {
			elements = append(elements, slack.NewTextBlockObject(slack.MarkdownType, t, false, false))
		}
	}
	if elements == nil {
		return nil
	}
	return slack.NewContextBlock("", elements...)
}

// buttons offers what can be done about a post. Evidence comes by the run's id, so it needs nothing but that.
func buttons(p chat.Post) slack.Block {
	list := p.Buttons
	if p.Run != "" {
		list = append([]chat.Button{{Action: chat.Evidence, Run: p.Run}}, list...)
	}
	var elements []slack.BlockElement
	seen := map[chat.Action]bool{}
	for _, b := range list {
		if seen[b.Action] || len(elements) == buttonsAtMost {
			continue
		}
		seen[b.Action] = true
		elements = append(elements, button(actionPrefix+string(b.Action), b.Run, b.Action.Label()))
	}
	if elements == nil {
		return nil
	}
	return slack.NewActionBlock("", elements...)
}

func button(id, value, label string) *slack.ButtonBlockElement {
	return slack.NewButtonBlockElement(id, value, slack.NewTextBlockObject(slack.PlainTextType, label, false, false))
}

func section(text string) *slack.SectionBlock {
	return slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, text, false, false), nil, nil)
}

// size counts the characters in blocks of the kinds that we make, as Slack's limit for a message does.
func size(blocks []slack.Block) (n int) {
	count := func(s string) { n += utf8.RuneCountInString(s) }
	for _, b := range blocks {
		switch b := b.(type) {
		case *slack.SectionBlock:
			count(b.Text.Text)
		case *slack.ContextBlock:
			for _, e := range b.ContextElements.Elements {
				if t, ok := e.(*slack.TextBlockObject); ok {
					count(t.Text)
				}
			}
		case *slack.ActionBlock:
			for _, e := range b.Elements.ElementSet {
				if t, ok := e.(*slack.ButtonBlockElement); ok {
					count(t.Text.Text)
				}
			}
		case *slack.TableBlock:
			for _, row := range b.Rows {
				for _, cell := range row {
					if t, ok := cell.(*slack.TableRawTextCell); ok {
						count(t.Text)
					}
				}
			}
		}
	}
	return n
}
