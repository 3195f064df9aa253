package discord

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
)

// mentions says whether a message calls a user. A reply calls the author of what it answers, unless that was switched
// off.
func mentions(m *discordgo.Message, user string) bool {
	named := slices.ContainsFunc(m.Mentions, func(u *discordgo.User) bool { return u != nil && u.ID == user })
	return named || strings.Contains(m.Content, "<@"+user+">") || strings.Contains(m.Content, "<@!"+user+">")
}

var markup = regexp.MustCompile(`<(@!?|@&|#)(\d+)>|<a?:(\w+):\d+>|<t:(-?\d+)(?::\w)?>|</([^:<>]+):\d+>`)

// plain is what somebody wrote without Discord's markup: people by name, the mention of the bot gone, emoji and times
// as text.
func plain(m *discordgo.Message, me string) string {
	text := m.Content
	for _, mention := range []string{"<@" + me + ">", "<@!" + me + ">"} {
		text = strings.ReplaceAll(strings.ReplaceAll(text, " "+mention, ""), mention, "")
	}
	names := map[string]string{}
	for _, u := range m.Mentions {
		if u != nil {
			names[u.ID] = u.DisplayName()
		}
	}
	text = markup.ReplaceAllStringFunc(text, func(s string) string {
		hit := markup.FindStringSubmatch(s)
		switch {
		case hit[1] == "@" || hit[1] == "@!":
			if name := names[hit[2]]; name != "" {
				return "@" + name
			}
			return "@" + hit[2]
		case hit[1] == "@&":
			return "@role-" + hit[2]
		case hit[1] == "#":
			return "#" + hit[2]
		case hit[3] != "":
			return ":" + hit[3] + ":"
		case hit[4] != "":
			return moment(hit[4])
		}
		return "/" + hit[5]
	})
	return strings.TrimSpace(text)
}

// moment is a time of Discord's, which it draws in the reader's own zone, in UTC.
func moment(unix string) string {
	seconds, err := strconv.ParseInt(unix, 10, 64)
	if err != nil {
		return unix
	}
	return time.Unix(seconds, 0).UTC().Format("2006-01-02 15:04 UTC")
}

// born is when something with an id came about: Discord's ids hold the milliseconds since 2015.
func born(id string) time.Time {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return time.Now()
	}
	return time.UnixMilli(n>>22 + 1420070400000)
}
