package slack

import (
	"regexp"
	"strings"
)

// markup is one of Slack's bracketed constructs: a link, a mention, a channel, a group, a date. What people type
// themselves cannot look like one, because Slack escapes their brackets.
var markup = regexp.MustCompile(`<([^<>\n]*)>`)

// entities undoes Slack's escaping, in a single pass: what a person typed as &lt; arrives as &amp;lt; and stays &lt;.
var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// mentions says whether a text mentions somebody.
func mentions(text, user string) bool {
	return strings.Contains(text, "<@"+user+">") || strings.Contains(text, "<@"+user+"|")
}

// plain is a text as its author saw it, without the mention of the bot. The markup is undone before the entities, so
// that brackets which somebody typed never become markup.
func plain(text, bot string, name func(id string) string) string {
	own := regexp.MustCompile(`<@` + regexp.QuoteMeta(bot) + `(?:\|[^<>]*)?>[:,]?[ \t]*`)
	text = own.ReplaceAllString(text, "")
	text = markup.ReplaceAllStringFunc(text, func(m string) string {
		return construct(m[1:len(m)-1], name)
	})
	return strings.TrimSpace(entities.Replace(text))
}

// construct is one construct in words.
func construct(inner string, name func(id string) string) string {
	target, label, labelled := strings.Cut(inner, "|")
	switch {
	case strings.HasPrefix(target, "@"):
		if labelled && label != "" {
			return "@" + strings.TrimPrefix(label, "@")
		}
		return "@" + name(target[1:])
	case strings.HasPrefix(target, "#"):
		if label == "" {
			label = target[1:]
		}
		return "#" + label
	case strings.HasPrefix(target, "!"):
		return special(target[1:], label)
	}
	return link(target, label)
}

// special is a mass mention, a group or a date.
func special(target, label string) string {
	kind, rest, _ := strings.Cut(target, "^")
	switch {
	case kind == "date" && label != "":
		return label
	case kind == "date":
		return rest
	case label != "":
		return "@" + strings.TrimPrefix(label, "@")
	case kind == "subteam":
		return "@" + rest
	}
	return "@" + kind
}

// link is an address, after its label where that tells something else.
func link(target, label string) string {
	bare := strings.TrimPrefix(strings.TrimPrefix(target, "mailto:"), "tel:")
	switch {
	case label == "" || label == target:
		return bare
	case label == bare:
		return label
	case strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(target, "https://"), "http://"), "/") == strings.TrimSuffix(label, "/"):
		return target
	}
	return label + " (" + bare + ")"
}
