package discord

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"plumb/chat"
)

// What Discord takes in a message.
const contentLimit = 2000

// Flags of a message.
const (
	flagNoEmbeds  = 1 << 2 // links are not unfolded
	flagEphemeral = 1 << 6 // for one person
)

// A message is a request to make or to change one. It is our own type because discordgo's can neither ask Discord to
// refuse a repetition (nonce) nor clear a message's buttons.
type message struct {
	Content      string      `json:"content"`
	Flags        int         `json:"flags"`
	Mentions     mentionable `json:"allowed_mentions"`
	Components   []component `json:"components"`
	Nonce        string      `json:"nonce,omitempty"`
	EnforceNonce bool        `json:"enforce_nonce,omitempty"`
	Reference    *reference  `json:"message_reference,omitempty"`

	files []file
}

// mentionable is who of those named in a message is called. Parse must be there and be empty: without it Discord calls
// everybody.
type mentionable struct {
	Parse       []string `json:"parse"`
	Users       []string `json:"users,omitempty"`
	RepliedUser bool     `json:"replied_user"`
}

// A reference makes a message a reply. If what it answers is gone, it is a plain message.
type reference struct {
	MessageID       string `json:"message_id"`
	FailIfNotExists bool   `json:"fail_if_not_exists"`
}

// A component is a row of buttons, or a button.
type component struct {
	Type       int         `json:"type"`
	Components []component `json:"components,omitempty"`
	Style      int         `json:"style,omitempty"`
	Label      string      `json:"label,omitempty"`
	CustomID   string      `json:"custom_id,omitempty"`
	Disabled   bool        `json:"disabled,omitempty"`
}

// text is a message that calls nobody.
func text(content string) message {
	return message{Content: content, Flags: flagNoEmbeds, Mentions: mentionable{Parse: []string{}}, Components: []component{}}
}

// row puts buttons under a message; none makes no row.
func row(buttons ...component) []component {
	if len(buttons) == 0 {
		return []component{}
	}
	return []component{{Type: 1, Components: buttons}}
}

// button is one of ours: red for what ends something, blue for what goes on, grey for the rest.
func button(action, label, run string) component {
	style := 2
	switch action {
	case string(chat.Stop):
		style = 4
	case string(chat.Continue):
		style = 1
	}
	return component{Type: 2, Style: style, Label: label, CustomID: action + ":" + run}
}

// nonce names one part of a post, in the 24 of at most 25 characters that Discord takes.
func nonce(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:12])
}

var (
	// A link with a label: the target may have one level of parentheses, angle brackets and a title.
	masked = regexp.MustCompile(`!?\[([^\[\]]*)\]\(\s*<?(\w[\w+.-]*:(?:[^()\s<>]|\([^()\s]*\))*)>?(?:\s+["'(][^)\n]*)?\s*\)`)
	// What would still be one, such as a label with brackets in it.
	leftover = regexp.MustCompile(`\]\((\s*<?\w[\w+.-]*:)`)
)

// undisguised writes out where links lead, so that no label can hide it, and takes out the characters that turn the
// direction of writing. It does so within a line's code as well: what is code to us need not be to Discord.
func undisguised(s string) string {
	s = strings.Map(func(r rune) rune {
		if (r >= '\u202a' && r <= '\u202e') || (r >= '\u2066' && r <= '\u2069') {
			return -1
		}
		return r
	}, s)
	s = masked.ReplaceAllStringFunc(s, func(link string) string {
		hit := masked.FindStringSubmatch(link)
		label, target := strings.TrimSpace(hit[1]), hit[2]
		if label == "" || label == target {
			return "<" + target + ">"
		}
		return label + " (<" + target + ">)"
	})
	return leftover.ReplaceAllString(s, "] ($1")
}
