package access

import (
	"strings"
	"testing"

	"plumb/chat"
)

func place(t *testing.T, s string) chat.Place {
	t.Helper()
	p, err := chat.ParsePlace(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFirstMatchWins(t *testing.T) {
	p := New([]Rule{
		{Where: "slack:T1:C1", Sources: []string{"orders"}, Admins: []string{"U9"}},
		{Where: "slack:T1:*", Sources: []string{"shop"}, Budget: "conversation"},
		{Where: "web", Sources: []string{"web"}},
	})
	for at, want := range map[string]string{"slack:T1:C1": "slack:T1:C1", "slack:T1:C2": "slack:T1:*", "web": "web", "slack:T2:C1": "", "discord:T1:C1": "", "cli": ""} {
		g, err := p.At(place(t, at))
		if g.Rule != want || (err == nil) != (want != "") {
			t.Errorf("At(%s) = %q, %v, want %q", at, g.Rule, err, want)
		}
	}
	g, _ := p.At(place(t, "slack:T1:C1"))
	if g.Budget != "work" || !g.May("orders") || g.May("shop") || !g.Administers(chat.Person{ID: "U9"}) || g.Administers(chat.Person{ID: "U1"}) {
		t.Errorf("the first rule grants %+v", g)
	}
}

func TestRefusalNamesTheChannelAndWhomToAsk(t *testing.T) {
	_, err := New(nil).At(place(t, "slack:T1:C7"))
	if err == nil || !strings.Contains(err.Error(), "C7") || !strings.Contains(err.Error(), "configuration") {
		t.Errorf("refusal: %v", err)
	}
}

func TestPatternCheck(t *testing.T) {
	for p, ok := range map[Pattern]bool{"slack:T1:C1": true, "discord:*:*": true, "web": true, "cli": true, "slack:T1": false, "irc:a:b": false, "*": false, "": false} {
		if err := p.Check(); (err == nil) != ok {
			t.Errorf("%q: %v", p, err)
		}
	}
}
