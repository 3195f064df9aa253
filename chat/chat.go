// Package chat holds the words that every platform shares: where people talk, what they say and press, and what the
// bot says back. It knows no platform and does no I/O, so that adapters have nothing of their own to add to the
// meaning of a conversation; they translate, and that is all.
//
// Two directions: an adapter turns what happens on its platform into an [Event] and publishes it; what the bot has to
// say comes back as a [Post] (durable, delivered exactly once), a [Progress] or a [Mark] (both may be lost).
package chat

import (
	"fmt"
	"strings"
	"time"
)

// A Place is where people talk: a channel of a team on a platform. The terminal and the web chat are places without a
// team or a channel.
type Place struct {
	Platform string `json:"platform"`
	Team     string `json:"team,omitempty"`
	Channel  string `json:"channel,omitempty"`
}

// The platforms.
const (
	Slack   = "slack"
	Discord = "discord"
	Web     = "web"
	CLI     = "cli"
)

// String is the place as configuration and commands write it: slack:TEAM:CHANNEL, discord:GUILD:CHANNEL, web or cli.
func (p Place) String() string {
	if p.Team == "" && p.Channel == "" {
		return p.Platform
	}
	return p.Platform + ":" + p.Team + ":" + p.Channel
}

// ParsePlace reads what [Place.String] writes.
func ParsePlace(s string) (Place, error) {
	parts := strings.Split(s, ":")
	switch {
	case len(parts) == 1 && (s == Web || s == CLI):
		return Place{Platform: s}, nil
	case len(parts) == 3 && (parts[0] == Slack || parts[0] == Discord) && parts[1] != "" && parts[2] != "":
		return Place{parts[0], parts[1], parts[2]}, nil
	}
	return Place{}, fmt.Errorf("%q is no place: write slack:TEAM:CHANNEL, discord:GUILD:CHANNEL, web or cli", s)
}

// A Conversation is one thread of talk in a place. It has at most one run under way.
type Conversation struct {
	Place
	Thread string `json:"thread"`
}

// Key is the conversation as one string.
func (c Conversation) Key() string { return c.Place.String() + "/" + c.Thread }

// A Person is somebody who talks.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"` // for people to read; the ID where the platform gives none
}

// Called is what the person is called in the model's hearing: the name and the id that a mention would show.
func (p Person) Called() string {
	if p.Name == "" || p.Name == p.ID {
		return p.ID
	}
	return p.Name + " (" + p.ID + ")"
}

// An Event is something that happened on a platform. Exactly one of the pointers is set.
type Event struct {
	Key     string   `json:"key"` // the platform's own id of the event; repeated deliveries carry it again
	Message *Message `json:"message,omitempty"`
	Press   *Press   `json:"press,omitempty"`
	Change  *Change  `json:"change,omitempty"`
}

// Conversation is where the event happened.
func (e Event) Conversation() Conversation {
	switch {
	case e.Press != nil:
		return e.Press.Conversation
	case e.Message != nil:
		return e.Message.Conversation
	case e.Change != nil:
		return e.Change.Conversation
	}
	return Conversation{}
}

// A Message is what somebody said, in plain text: the platform's markup undone, the mention of the bot taken off.
type Message struct {
	Conversation Conversation `json:"conversation"`
	ID           string       `json:"id"` // the platform's id, unique in its channel
	Who          Person       `json:"who"`
	Text         string       `json:"text"`
	Addressed    bool         `json:"addressed"`       // mentions the bot, or is said to it alone
	Opens        bool         `json:"opens,omitempty"` // is the first of its thread, so that the thread is the bot's
	At           time.Time    `json:"at"`
}

// A Change is a message edited or taken back by whoever said it.
type Change struct {
	Conversation Conversation `json:"conversation"`
	Message      string       `json:"message"` // the platform's id of it
	Text         string       `json:"text,omitempty"`
	Deleted      bool         `json:"deleted,omitempty"`
	At           time.Time    `json:"at"`
}

// A Press is a button pressed, or anything else that has the meaning of one.
type Press struct {
	Conversation Conversation `json:"conversation"`
	Who          Person       `json:"who"`
	Button       Button       `json:"button"`
	At           time.Time    `json:"at"`
}

// A Button is something to press under a post.
type Button struct {
	Action Action `json:"action"`
	Run    string `json:"run"`
}

// An Action is what a button is for.
type Action string

// The actions. Evidence is answered by the adapter itself, which asks for the exhibits; the others are events.
const (
	Stop     Action = "stop"
	Continue Action = "continue"
	Evidence Action = "evidence"
)

// Label is what stands on the button.
func (a Action) Label() string {
	switch a {
	case Stop:
		return "Stop"
	case Continue:
		return "Continue"
	}
	return "Evidence"
}

// Reply is where an answer goes: the conversation, and the message that it answers.
type Reply struct {
	Conversation Conversation `json:"conversation"`
	To           string       `json:"to"`
}

// A Post is something that the bot says and that must arrive once: an answer, a refusal, a word about a stop.
type Post struct {
	ID       string    `json:"id"` // the outbox's; the same at every attempt
	Run      string    `json:"run,omitempty"`
	Reply    Reply     `json:"reply"`
	Asker    Person    `json:"asker"`             // who is answered
	Only     bool      `json:"only,omitempty"`    // for the asker's eyes alone, where the platform can
	Final    bool      `json:"final,omitempty"`   // ends the run: its progress message has had its day
	Text     string    `json:"text"`              // Markdown, as models write it
	Verdict  string    `json:"verdict,omitempty"` // one line on what was checked
	Footer   string    `json:"footer,omitempty"`  // one line on what it took
	Exhibits []Exhibit `json:"exhibits,omitempty"`
	Buttons  []Button  `json:"buttons,omitempty"`
}

// An Exhibit is one item of evidence, ready to be shown: bounded, redacted, every cell written out.
type Exhibit struct {
	ID      string     `json:"id"`
	Title   string     `json:"title"` // what was done and what came of it
	SQL     string     `json:"sql,omitempty"`
	Text    string     `json:"text,omitempty"`
	Columns []string   `json:"columns,omitempty"`
	Rows    [][]string `json:"rows,omitempty"`
	More    int        `json:"more,omitempty"` // rows that are not shown here
	Notes   []string   `json:"notes,omitempty"`
}

// A Progress is how a run stands. Each one replaces the one before; losing some does no harm.
type Progress struct {
	Run     string    `json:"run"`
	Reply   Reply     `json:"reply"`
	Started time.Time `json:"started"`
	Lines   []string  `json:"lines"` // what was done and what is being done, oldest first
	Ended   bool      `json:"ended,omitempty"`
}

// A Mark is a receipt on something that a person said.
type Mark struct {
	Conversation Conversation `json:"conversation"`
	Message      string       `json:"message"`
	Sign         Sign         `json:"sign"`
}

// A Sign is what a mark tells.
type Sign string

// Taken: the bot has the message. Applied: the model has heard it.
const (
	Taken   Sign = "taken"
	Applied Sign = "applied"
)
