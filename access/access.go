// Package access decides who may see what, where, and for how much. Rules are read from the top; the first that fits a
// place holds there, and what no rule allows is refused, in a sentence that says whom to ask.
package access

import (
	"fmt"
	"slices"
	"strings"

	"plumb/chat"
)

// A Rule grants the people of a place the use of some sources.
type Rule struct {
	Where   Pattern
	Sources []string
	Admins  []string // ids of people who may stop what others have asked
	Budget  string   // name of a budget; "" is work
}

// A Pattern matches places: a place as [chat.Place.String] writes it, in which * stands for any team or channel.
type Pattern string

// Check says what is wrong with a pattern.
func (p Pattern) Check() error {
	if _, err := chat.ParsePlace(strings.ReplaceAll(string(p), "*", "x")); err != nil {
		return fmt.Errorf("%q matches no place: write slack:TEAM:CHANNEL or discord:GUILD:CHANNEL (each may be *), web or cli", string(p))
	}
	return nil
}

// Matches says whether a place fits.
func (p Pattern) Matches(at chat.Place) bool {
	want, have := strings.Split(string(p), ":"), strings.Split(at.String(), ":")
	return slices.EqualFunc(want, have, func(w, h string) bool { return w == "*" || w == h })
}

// A Policy is a list of rules.
type Policy struct{ rules []Rule }

// New makes a policy.
func New(rules []Rule) *Policy { return &Policy{rules: slices.Clone(rules)} }

// A Grant is what may be done in a place.
type Grant struct {
	Rule    string // the pattern of the rule that gave it
	Sources []string
	Admins  []string
	Budget  string
}

// May says whether a source is granted.
func (g Grant) May(source string) bool { return slices.Contains(g.Sources, source) }

// Administers says whether a person is an admin here.
func (g Grant) Administers(p chat.Person) bool { return slices.Contains(g.Admins, p.ID) }

// A Refusal is the error of asking where no rule allows it. Its text is for the asker.
type Refusal struct{ Place chat.Place }

func (e *Refusal) Error() string {
	where := "here"
	switch e.Place.Platform {
	case chat.Slack:
		where = "in this channel (" + e.Place.Channel + ")"
	case chat.Discord:
		where = "in this channel (" + e.Place.Channel + ")"
	}
	return fmt.Sprintf("I may not answer %s: no access rule covers %s. Whoever runs the bot can add one under `access` in its configuration.", where, e.Place)
}

// At is the grant in force in a place. The error is a [*Refusal].
func (p *Policy) At(at chat.Place) (Grant, error) {
	for _, r := range p.rules {
		if r.Where.Matches(at) {
			g := Grant{Rule: string(r.Where), Sources: slices.Clone(r.Sources), Admins: slices.Clone(r.Admins), Budget: r.Budget}
			if g.Budget == "" {
				g.Budget = "work"
			}
			return g, nil
		}
	}
	return Grant{}, &Refusal{at}
}
