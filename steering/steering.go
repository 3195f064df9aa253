// Package steering says what a message means to a conversation: a question that starts a run, a word to the run under
// way, a stop, or talk among people that is none of the bot's business. It decides and does nothing: every function
// here is pure, so that routing can run inside a transaction and be tested as a table.
package steering

import (
	"slices"
	"strings"
	"unicode"

	"plumb/chat"
)

// A Meaning is what a message means.
type Meaning string

// The meanings.
const (
	Ask      Meaning = "ask"       // start a run
	Steer    Meaning = "steer"     // tell the run under way
	Stop     Meaning = "stop"      // stop the run under way
	NotYours Meaning = "not_yours" // a stop by somebody who may not
	Idle     Meaning = "idle"      // a stop, and nothing is under way
	NotForMe Meaning = "not_for_me"
	Blank    Meaning = "blank" // addressed to the bot, but nothing is said
)

// A Situation is what a message meets.
type Situation struct {
	Own      bool  // the thread began with a question to the bot
	Active   bool  // a run is under way
	Since    int64 // when it was asked, in milliseconds
	Asker    chat.Person
	Steerers []chat.Person
	Admins   []string
}

// Read says what a message means in a situation.
func Read(m chat.Message, s Situation) Meaning {
	if !m.Addressed && !s.Own {
		return NotForMe
	}
	if IsStop(m.Text) {
		switch {
		case !s.Active || m.At.UnixMilli() < s.Since: // (S8) a stop older than the run is not about it
			return Idle
		case !MayStop(m.Who, s):
			return NotYours
		}
		return Stop
	}
	switch {
	case strings.TrimSpace(m.Text) == "":
		if m.Addressed {
			return Blank
		}
		return NotForMe
	case s.Active:
		return Steer
	}
	return Ask
}

// MayStop says whose stop counts (S9): the asker's, that of people who were heard in the run, and that of admins.
func MayStop(p chat.Person, s Situation) bool {
	heard := func(q chat.Person) bool { return q.ID == p.ID }
	return p.ID == s.Asker.ID || slices.ContainsFunc(s.Steerers, heard) || slices.Contains(s.Admins, p.ID)
}

// stopWords stop a run when they are all that is said. Add a language by adding its words.
var stopWords = []string{
	"stop", "cancel", "abort", "halt",
	"stopp", "abbrechen", "anhalten", // German
	"arrête", "arrete", "annule", "annuler", // French
	"para", "detente", "cancela", "cancelar", // Spanish, Portuguese
	"ferma", "fermati", "annulla", // Italian
}

var pleases = []string{"please", "bitte", "s'il te plaît", "s'il vous plaît", "por favor", "per favore"}

// IsStop says whether a message is a stop: one of a short list of words, perhaps with a please, and nothing else but
// punctuation. "Stop the deploy" is a message like any other.
func IsStop(text string) bool {
	words := strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\'' && r != '’'
	}), " ")
	words = strings.ReplaceAll(words, "’", "'")
	for _, p := range pleases {
		words = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(words, p+" "), " "+p))
	}
	return slices.Contains(stopWords, words)
}
