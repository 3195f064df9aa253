package discord

import (
	"slices"
	"strings"
	"unicode/utf8"

	"plumb/adapters/markdown"
	"plumb/chat"
)

// tailLimit bounds the small print under an answer.
const tailLimit = 400

// render writes a post as the messages that it takes. The same post always gives the same messages. The last one carries
// what was checked, what it took, the buttons and the evidence.
func render(p chat.Post) []message {
	tail := smallPrint(p)
	body := laid(p.Text)
	if strings.TrimSpace(body) == "" && tail == "" {
		body = "(There is no text.)"
	}
	var out []message
	for _, content := range markdown.Split(body, contentLimit-utf8.RuneCountInString(tail)) {
		m := text(content)
		if p.Asker.ID != "" && (strings.Contains(content, "<@"+p.Asker.ID+">") || strings.Contains(content, "<@!"+p.Asker.ID+">")) {
			m.Mentions.Users = []string{p.Asker.ID}
		}
		out = append(out, m)
	}
	// A message that was sent from within the thread, or in a direct conversation, can be replied to there; the one that
	// opened the thread stands outside of it.
	if to := p.Reply.To; to != "" && to != p.Reply.Conversation.Thread {
		out[0].Reference = &reference{MessageID: to}
	}
	for i := range out {
		out[i].Nonce, out[i].EnforceNonce = nonce(p.ID, itoa(i)), true
	}
	last := &out[len(out)-1]
	last.Content = strings.TrimLeft(last.Content+tail, "\n")
	last.Components = row(buttons(p)...)
	if len(p.Exhibits) > 0 {
		last.files = []file{{"evidence.md", report(p.Exhibits)}}
	}
	return out
}

// smallPrint is the verdict and the footer, each a line in Discord's small text.
func smallPrint(p chat.Post) string {
	var out strings.Builder
	for _, line := range []string{p.Verdict, p.Footer} {
		if line = oneLine(undisguised(line)); line != "" {
			out.WriteString("\n-# " + shorten(line, tailLimit/2))
		}
	}
	return out.String()
}

// buttons are the post's own, with Evidence and CSV where there is something to show.
func buttons(p chat.Post) []component {
	list := slices.Clone(p.Buttons)
	isEvidence := func(b chat.Button) bool { return b.Action == chat.Evidence }
	if len(p.Exhibits) > 0 && p.Run != "" && !slices.ContainsFunc(list, isEvidence) {
		list = slices.Insert(list, 0, chat.Button{Action: chat.Evidence, Run: p.Run})
	}
	var out []component
	for _, b := range list {
		out = append(out, button(string(b.Action), b.Action.Label(), b.Run))
		if isEvidence(b) && slices.ContainsFunc(p.Exhibits, func(x chat.Exhibit) bool { return len(x.Columns) > 0 }) {
			out = append(out, button(csvAction, "CSV", b.Run))
		}
	}
	return out[:min(len(out), 5)]
}
