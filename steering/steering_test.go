package steering

import (
	"testing"
	"time"

	"plumb/chat"
)

var (
	ann  = chat.Person{ID: "UANN"}
	bob  = chat.Person{ID: "UBOB"}
	root = chat.Person{ID: "UROOT"}
)

func TestIsStop(t *testing.T) {
	for text, want := range map[string]bool{
		"stop": true, "STOP!!!": true, "Stop, please.": true, "please stop": true, " cancel ": true, "abort": true, "halt…": true,
		"Stopp bitte!": true, "arrête": true, "annulla, per favore": true, "por favor, para": true, "Arrête, s’il te plaît !": true,
		"stop the deploy": false, "please": false, "": false, "if so, stop.": false, "don't stop": false, "stop stop": false, "nonstop": false, "cancelled": false,
	} {
		if got := IsStop(text); got != want {
			t.Errorf("IsStop(%q) = %t", text, got)
		}
	}
}

func TestRead(t *testing.T) {
	now := time.UnixMilli(10_000)
	msg := func(who chat.Person, addressed bool, text string) chat.Message {
		return chat.Message{Who: who, Addressed: addressed, Text: text, At: now}
	}
	running := Situation{Own: true, Active: true, Since: 5_000, Asker: ann, Steerers: []chat.Person{}, Admins: []string{"UROOT"}}
	later := running
	later.Since = 20_000
	steered := running
	steered.Steerers = []chat.Person{bob}
	others := Situation{Own: false, Active: true, Since: 5_000, Asker: ann}
	for name, c := range map[string]struct {
		m    chat.Message
		s    Situation
		want Meaning
	}{
		"a mention asks":                         {msg(ann, true, "How many?"), Situation{}, Ask},
		"talk among people":                      {msg(ann, false, "How many?"), Situation{}, NotForMe},
		"a follow-up in the bot's thread":        {msg(bob, false, "And last year?"), Situation{Own: true}, Ask},
		"a word to the run":                      {msg(ann, false, "only the EU"), running, Steer},
		"a word in others' thread":               {msg(ann, false, "only the EU"), others, NotForMe},
		"a mention in others' thread":            {msg(bob, true, "only the EU"), others, Steer},
		"the asker stops":                        {msg(ann, false, "stop"), running, Stop},
		"an admin stops":                         {msg(root, false, "stop"), running, Stop},
		"a stranger may not":                     {msg(bob, false, "stop"), running, NotYours},
		"one who was heard may":                  {msg(bob, false, "stop"), steered, Stop},
		"a stop older than the run":              {msg(ann, false, "stop"), later, Idle},
		"a stop with nothing under way":          {msg(ann, true, "stop"), Situation{Own: true}, Idle},
		"a stop among people":                    {msg(ann, false, "stop"), others, NotForMe},
		"stop the deploy":                        {msg(ann, false, "stop the deploy"), running, Steer},
		"a mention without a word":               {msg(ann, true, "  "), Situation{}, Blank},
		"an empty message (a picture) in thread": {msg(ann, false, ""), running, NotForMe},
	} {
		if got := Read(c.m, c.s); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
