package slack

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"plumb/adapters/markdown"
)

// escape makes a text mean nothing but itself in Slack's own markup.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

// brackets is what a markdown block needs of that: there & is itself, and an &amp; would break addresses.
var brackets = strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace

var (
	quoted     = regexp.MustCompile(`(?m)^((?:&gt; ?)+)`)
	masked     = regexp.MustCompile(`!?\[([^\[\]\n]*)\]\(\s*<?([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)?)>?(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)`)
	definition = regexp.MustCompile(`(?m)^( {0,3})\[([^\]\n]+)\]:`)
	bareAmp    = regexp.MustCompile(`&(?:lt;|gt;)?`)
	strong     = regexp.MustCompile(`\*\*([^*\n]+)\*\*|__([^_\n]+)__`)
	struck     = regexp.MustCompile(`~~([^~\n]+)~~`)
	heading    = regexp.MustCompile(`(?m)^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*$`)
	fenceLine  = regexp.MustCompile("(?m)^ {0,3}(```+|~~~+)([^`\\n]*)$")
)

// harmless is the Markdown of a model in a form that calls nobody and hides no address. Brackets are escaped in code
// as well, since Slack looks for mentions there too and decodes what is escaped once. Quotes keep their sign.
func harmless(text string) string {
	text = brackets(markdown.Outside(text, openLinks))
	return markdown.Outside(text, func(s string) string {
		return quoted.ReplaceAllStringFunc(s, func(q string) string { return strings.ReplaceAll(q, "&gt;", ">") })
	})
}

// openLinks writes the address of every link next to its label, because a label can claim anything. Whatever else
// could be read as a link with a label is broken up.
func openLinks(s string) string {
	s = masked.ReplaceAllStringFunc(s, func(m string) string {
		parts := masked.FindStringSubmatch(m)
		label, target := strings.TrimSpace(parts[1]), parts[2]
		if label == "" || sameAddress(label, target) {
			return target
		}
		return label + " (" + target + ")"
	})
	s = strings.ReplaceAll(s, "](", "] (")
	return definition.ReplaceAllString(s, "$1$2:")
}

// sameAddress says whether a label already is the address, scheme and last slash aside, or its host.
func sameAddress(label, target string) bool {
	bare := func(s string) string {
		s = strings.ToLower(s)
		return strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s, "https://"), "http://"), "/")
	}
	host, _, _ := strings.Cut(bare(target), "/")
	return bare(label) == bare(target) || bare(label) == host
}

// mrkdwn is harmless Markdown in Slack's older markup, for a message without blocks.
func mrkdwn(part string) string {
	part = markdown.Outside(part, func(s string) string {
		s = heading.ReplaceAllString(s, "**$1**")
		s = strong.ReplaceAllString(s, "*$1$2*")
		return struck.ReplaceAllString(s, "~$1~")
	})
	part = fenceLine.ReplaceAllString(part, "```")
	return bareAmp.ReplaceAllStringFunc(part, func(m string) string {
		if m == "&" {
			return "&amp;"
		}
		return m
	})
}

// summary is harmless Markdown as a line for notifications and screen readers.
func summary(part string) string {
	part = fenceLine.ReplaceAllString(part, "")
	part = strings.NewReplacer("**", "", "`", "").Replace(heading.ReplaceAllString(part, "$1"))
	return clip(entities.Replace(part), summaryLimit)
}

// clip escapes a text and keeps at most limit characters of the result, never half an entity.
func clip(text string, limit int) string {
	text = strings.TrimSpace(text)
	whole := escape(text)
	if utf8.RuneCountInString(whole) <= limit {
		return whole
	}
	var out strings.Builder
	n := 0
	for _, r := range text {
		e := escape(string(r))
		if n += utf8.RuneCountInString(e); n > limit-1 {
			break
		}
		out.WriteString(e)
	}
	return strings.TrimRight(out.String(), " \t\n") + "…"
}

// listing is a text as a code block of at most limit characters, fences included. Backticks inside cannot end it.
func listing(text string, limit int) string {
	return "```\n" + clip(unfence(text), limit-8) + "\n```"
}

// unfence keeps three backticks from closing a listing: an invisible space goes between them.
func unfence(text string) string {
	return strings.ReplaceAll(text, "```", "`\u200b`\u200b`")
}
