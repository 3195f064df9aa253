package slack

import (
	"fmt"
	"strings"
	"testing"

	"plumb/adapters/slack/slacktest"
	"plumb/chat"
)

func answer(thread string) chat.Post {
	return chat.Post{
		ID: "post-1", Run: "run-1", Reply: reply(thread), Asker: chat.Person{ID: "UANN", Name: "ann"}, Final: true,
		Text:    "There are **12** orders in the shop.",
		Verdict: "Every figure was traced.", Footer: "2 calls · 3 s",
		Exhibits: []chat.Exhibit{
			{ID: "e1", Title: "run_sql: 1 row", SQL: "SELECT count(*) FROM orders WHERE total < 5 & x > 1", Columns: []string{"n", "note"}, Rows: [][]string{{"12", ""}}, More: 3, Notes: []string{"as of <noon>"}},
			{ID: "e2", Title: "second", Columns: []string{"region", "n"}, Rows: [][]string{{"EU", "7"}, {"US", "5"}}},
			{ID: "e3", Title: "read_file", Text: "a ``` b"},
		},
		Buttons: []chat.Button{{Action: chat.Continue, Run: "run-1"}},
	}
}

// shape names the blocks of a message.
func shape(m slacktest.Message) string {
	var out []string
	for _, b := range blocksOf(m.Blocks) {
		out = append(out, fmt.Sprint(b["type"]))
	}
	return strings.Join(out, " ")
}

// A refused block costs its rung and not the answer; a container that is refused is not tried again.
func TestLadder(t *testing.T) {
	s := start(t)
	thread := s.asked()
	send := func() slacktest.Message {
		t.Helper()
		if _, _, err := s.bot.Send(t.Context(), answer(thread), 0); err != nil {
			t.Fatal(err)
		}
		all := s.Messages()
		return all[len(all)-1]
	}
	if got := shape(send()); got != "markdown container context actions" {
		t.Errorf("rung A is %q", got)
	}
	s.Fail("chat.postMessage", slacktest.Code("msg_blocks_too_long"))
	if got := shape(send()); got != "markdown context actions" {
		t.Errorf("too long for once: %q", got)
	}
	if got := shape(send()); got != "markdown container context actions" {
		t.Errorf("after too long for once: %q", got)
	}
	s.DoesNotKnow("container")
	calls := len(s.Calls("chat.postMessage"))
	for range 2 {
		if got := shape(send()); got != "markdown context actions" {
			t.Errorf("rung B is %q", got)
		}
	}
	if n := len(s.Calls("chat.postMessage")) - calls; n != 3 {
		t.Errorf("%d calls for two answers, want 3: the container is tried once", n)
	}
	s.DoesNotKnow("markdown")
	m := send()
	if m.Blocks != nil || !strings.Contains(m.Text, "*12* orders") || !strings.Contains(m.Text, "traced") || !strings.Contains(m.Text, "2 calls") {
		t.Errorf("rung C is %q with %s", m.Text, m.Blocks)
	}
	for _, m := range s.Messages() {
		if m.Unfurls || m.Text == "" || m.Thread != thread {
			t.Errorf("unfurls %v, text %q, thread %s", m.Unfurls, m.Text, m.Thread)
		}
	}
}

// An answer at Slack's limits is taken with its evidence cut, not refused.
func TestFullMessage(t *testing.T) {
	s := start(t)
	p := answer(s.asked())
	for i := range 30 {
		p.Exhibits = append(p.Exhibits, chat.Exhibit{ID: fmt.Sprint("e", i+4), Title: strings.Repeat("<&>", 200), SQL: strings.Repeat("<", 9_000),
			Columns: make([]string, 30), Rows: [][]string{make([]string, 30)}, Notes: []string{strings.Repeat("&", 900)}})
	}
	for _, n := range []int{0, 4_000, 8_700, 8_990} {
		p.Text = "x" + strings.Repeat("word ", n/5)
		for part, last := 0, false; !last; part++ {
			var err error
			if _, last, err = s.bot.Send(t.Context(), p, part); err != nil {
				t.Fatalf("%d characters: %v", n, err)
			}
		}
	}
	if got := len(s.Calls("chat.postMessage")); got != len(s.Messages()) {
		t.Errorf("%d calls for %d messages: something was refused", got, len(s.Messages()))
	}
}

// The thread's first message is gone; the answer goes to the channel, and is found there.
func TestThreadGone(t *testing.T) {
	s := start(t)
	thread := s.asked()
	s.Forget("C1", thread)
	s.Fail("chat.postMessage", slacktest.Code("thread_not_found"), slacktest.Lost)
	if _, _, err := s.bot.Send(t.Context(), answer(thread), 0); kind(err) != "unknown" {
		t.Errorf("Send: %v", err)
	}
	if _, found, err := s.bot.Find(t.Context(), answer(thread), 0); err != nil || !found {
		t.Errorf("Find: %v, %v", found, err)
	}
	if all := s.Messages(); len(all) != 1 || all[0].Thread != "" {
		t.Errorf("messages: %v", all)
	}
}

// A refusal is for the asker's eyes alone.
func TestEphemeral(t *testing.T) {
	s := start(t)
	p := chat.Post{ID: "p", Reply: reply(s.asked()), Asker: chat.Person{ID: "UBOB"}, Only: true, Text: "Only ann or an admin can stop this."}
	if _, _, err := s.bot.Send(t.Context(), p, 0); err != nil {
		t.Fatal(err)
	}
	if m := s.Messages()[0]; m.Only != "UBOB" || m.Thread != p.Reply.Conversation.Thread {
		t.Errorf("shown to %q in %q", m.Only, m.Thread)
	}
}

// Somebody else's message with our metadata is not ours.
func TestFindLooksAtTheAuthor(t *testing.T) {
	s := start(t)
	p := answer(s.asked())
	if _, _, err := s.bot.Send(t.Context(), p, 0); err != nil {
		t.Fatal(err)
	}
	s.bot.me.Store(&identity{user: "USOMEBODYELSE", bot: "BELSE"})
	if id, found, _ := s.bot.Find(t.Context(), p, 0); found {
		t.Errorf("found %s, which another user wrote", id)
	}
}
