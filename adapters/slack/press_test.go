package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plumb/adapters/slack/slacktest"
	"plumb/chat"
)

// A press is published with the run and the thread, and acknowledged only then.
func TestPress(t *testing.T) {
	s := start(t)
	thread := s.asked()
	if _, _, err := s.bot.Send(t.Context(), answer(thread), 0); err != nil {
		t.Fatal(err)
	}
	ts := s.Messages()[0].TS
	s.setPublish(func(context.Context, chat.Event) error { return errors.New("down") })
	failed := s.Press("UANN", "C1", ts, "plumb:stop", "run-1")
	foreign := s.Press("UANN", "C1", ts, "other", "x")
	s.Wait("the other acknowledgement", func() bool { return s.Acked(foreign) })
	if s.Acked(failed) {
		t.Error("a press that was not published was acknowledged: the person believes in it")
	}
	s.setPublish(nil)
	id := s.Press("UANN", "C1", ts, "plumb:stop", "run-1")
	s.Wait("the acknowledgement", func() bool { return s.Acked(id) })
	events := s.published()
	if len(events) != 1 || events[0].Press == nil {
		t.Fatalf("published %v", events)
	}
	p := *events[0].Press
	if p.At.IsZero() {
		t.Error("the press has no time")
	}
	p.At = at("1.0")
	want := chat.Press{Conversation: reply(thread).Conversation, Who: chat.Person{ID: "UANN", Name: "someone"}, Button: chat.Button{Action: chat.Stop, Run: "run-1"}, At: at("1.0")}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The window opens at once and is filled when the evidence has come; the right to see it is asked for at the click.
func TestEvidenceWindow(t *testing.T) {
	s := start(t)
	ts := s.asked()
	fetched := make(chan struct{})
	s.exhibits = func(_ context.Context, run string, who chat.Person, at chat.Place) ([]chat.Exhibit, error) {
		<-fetched
		if who.ID != "UANN" {
			return nil, errors.New("you may not see the evidence of this channel")
		}
		return []chat.Exhibit{{ID: "e1", Title: run + " in " + at.String(), SQL: "SELECT count(*) FROM orders"}}, nil
	}
	id := s.Press("UANN", "C1", ts, "plumb:evidence", "run-1")
	s.Press("UBOB", "C1", ts, "plumb:evidence", "run-1")
	s.Wait("the acknowledgement and the windows", func() bool { return s.Acked(id) && len(s.Views()) == 2 })
	if s.Views()[0].Updates != 0 {
		t.Error("filled before the evidence was there")
	}
	close(fetched)
	s.Wait("both windows filled", func() bool { return s.Views()[0].Updates+s.Views()[1].Updates == 2 })
	both := string(s.Views()[0].Body) + string(s.Views()[1].Body)
	for _, want := range []string{"SELECT count(*) FROM orders", "run-1 in slack:T1:C1", "you may not see the evidence"} {
		if !strings.Contains(both, want) {
			t.Errorf("the windows do not say %q", want)
		}
	}
}

// Evidence beyond one page is reached by turning pages, each within what Slack takes.
func TestEvidencePages(t *testing.T) {
	s := start(t)
	s.exhibits = func(context.Context, string, chat.Person, chat.Place) (out []chat.Exhibit, err error) {
		for i := range 80 {
			out = append(out, chat.Exhibit{ID: fmt.Sprint("e", i), Title: "t", SQL: strings.Repeat("SELECT <1>;\n", 400)})
		}
		return out, nil
	}
	s.Press("UANN", "C1", s.asked(), "plumb:evidence", "run-1")
	s.Wait("the first page", func() bool { return len(s.Views()) == 1 && s.Views()[0].Updates == 1 })
	seen := map[string]bool{}
	for turn := 1; ; turn++ {
		v := s.Views()[0]
		var body struct {
			Memory string `json:"private_metadata"`
			Blocks []struct {
				Text     struct{ Text string }
				Elements []struct {
					ActionID string `json:"action_id"`
					Value    string
				}
			}
		}
		if err := json.Unmarshal(v.Body, &body); err != nil {
			t.Fatal(err)
		}
		next := ""
		for _, b := range body.Blocks {
			if id, _, ok := strings.Cut(strings.TrimPrefix(b.Text.Text, "*"), "* t"); ok {
				seen[id] = true
			}
			for _, e := range b.Elements {
				if e.ActionID == actionNext {
					next = e.Value
				}
			}
		}
		if next == "" {
			break
		}
		s.Turn("UANN", v.ID, body.Memory, actionNext, next)
		s.Wait("the next page", func() bool { return s.Views()[0].Updates == turn+1 })
	}
	if len(seen) != 80 {
		t.Errorf("%d of 80 items on all pages", len(seen))
	}
}

// A click that comes too late for a window gets a word instead.
func TestExpiredTrigger(t *testing.T) {
	s := start(t)
	s.Fail("views.open", slacktest.Code("expired_trigger_id"))
	s.Press("UANN", "C1", s.asked(), "plumb:evidence", "run-1")
	s.Wait("a word", func() bool { return len(s.Messages()) == 1 })
	if m := s.Messages()[0]; m.Only != "UANN" || !strings.Contains(m.Text, "press the button again") {
		t.Errorf("%q to %q", m.Text, m.Only)
	}
}
