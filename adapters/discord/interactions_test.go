package discord

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plumb/adapters/discord/discordtest"
	"plumb/chat"
)

func TestCommandsAreRegistered(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"ask", "stop", "steer"}, start(t).d.Commands()); diff != "" {
		t.Error(diff)
	}
	b := newBench(t)
	b.a.cfg.CommandsGuild = "77"
	b.run()
	b.await("the commands", func() bool { return cmp.Equal([]string{"77/ask", "77/stop", "77/steer"}, b.d.Commands()) })
}

// /ask becomes a line that all can read, with a thread under it; the receipt stands on that line.
func TestAsk(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.d.Uses(general, ann, "ask", "question", "How many [orders](https://evil.example)? @everyone", "source", "shop")
	e := b.event()
	kind, line := b.d.Answered(id)
	if kind != answerDeferred || line.Thinking || line.Content != "**@ann asks:** How many orders (<https://evil.example>)? @everyone\n\nSource: shop" {
		t.Errorf("kind %d, line %+v", kind, line)
	}
	m := e.Message
	if m.ID != id || e.Key != id || !m.Opens || !m.Addressed || m.Conversation.Thread != line.ID || m.Conversation.Channel != general || m.Who.ID != ann {
		t.Errorf("got %+v", m)
	}
	if want := "How many [orders](https://evil.example)? @everyone\n\nSource: shop"; m.Text != want {
		t.Errorf("text %q", m.Text)
	}
	b.await("the receipt", func() bool { return cmp.Equal(b.d.Message(line.ID).Reactions, []string{"👀"}) })

	// The answer goes into the thread with the bot's own token, and does not try to reply to the command.
	p := chat.Post{ID: "p", Reply: chat.Reply{Conversation: m.Conversation, To: id}, Text: "Seven."}
	if _, _, err := b.a.Send(t.Context(), p, 0); err != nil {
		t.Fatal(err)
	}
	if got := b.one(line.ID, "Seven."); got.ReplyTo != "" {
		t.Errorf("got %+v", got)
	}
}

// The first answer is out while everything else hangs.
func TestAskIsAnsweredInTimeThoughAllElseHangs(t *testing.T) {
	t.Parallel()
	b := start(t)
	release := make(chan struct{})
	b.d.Fail(routeThread, "", discordtest.Hold(release))
	b.d.Fail("GET /channels/{channel}", "", discordtest.Hold(release))
	b.d.Asks(general, ann, "slow")
	id := b.d.Uses(general, ben, "ask", "question", "quick?")
	b.await("the first answer", func() bool { kind, _ := b.d.Answered(id); return kind == answerDeferred })
	close(release)
	b.event()
	b.event()
}

func TestAskInAThread(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	id := b.d.Uses(conv.Thread, ann, "ask", "question", "And in March?")
	m := b.event().Message
	if m.Conversation != conv || m.Opens || !m.Addressed || m.ID != id {
		t.Errorf("got %+v", m)
	}
	_, line := b.d.Answered(id)
	if _, _, err := b.a.Send(t.Context(), chat.Post{ID: "p", Reply: chat.Reply{Conversation: conv, To: id}, Text: "Nine."}, 0); err != nil {
		t.Fatal(err)
	}
	if got := b.one(conv.Thread, "Nine."); got.ReplyTo != line.ID {
		t.Errorf("the answer replies to %q, want the line %q", got.ReplyTo, line.ID)
	}
}

// A replayed interaction, or one that another copy of the bot has answered, is left alone.
func TestInteractionsOfOthers(t *testing.T) {
	t.Parallel()
	for _, f := range []discordtest.Fault{discordtest.Refuse(http.StatusNotFound, 10062), discordtest.Refuse(http.StatusBadRequest, 40060)} {
		b := start(t)
		b.d.Fail(routeAck, "", f)
		b.d.Uses(general, ann, "ask", "question", "old?")
		b.await("the attempt", func() bool { return len(b.d.Requests(routeAck)) == 1 })
		b.asked()
		b.quiet()
	}
}

// A first answer that seems lost may have arrived; the question goes on if it did.
func TestLostAcknowledgement(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.d.Fail(routeAck, "", discordtest.Lose(502))
	b.d.Uses(general, ann, "ask", "question", "How many?")
	if got := b.event().Message.Text; got != "How many?" {
		t.Errorf("got %q", got)
	}
}

func TestAskThatCanNotBePublished(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.refuse = 100
	b.d.Uses(general, ann, "ask", "question", "How many?")
	b.await("an apology", func() bool {
		for _, m := range b.d.Messages(general) {
			if m.Only == ann && m.Content == sorry {
				return true
			}
		}
		return false
	})
}

func TestStopAndSteerCommands(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	stop := b.d.Uses(conv.Thread, ann, "stop")
	if p := b.event().Press; p == nil || p.Conversation != conv || p.Button != (chat.Button{Action: chat.Stop}) || p.Who.ID != ann {
		t.Errorf("got %+v", p)
	}
	b.await("the note", func() bool {
		_, m := b.d.Answered(stop)
		return m.Only == ann && strings.Contains(m.Content, "passed that on")
	})

	steer := b.d.Uses(conv.Thread, ben, "steer", "text", "only EU")
	if m := b.event().Message; m == nil || m.Conversation != conv || m.Text != "only EU" || !m.Addressed || m.Opens || m.ID != steer {
		t.Errorf("got %+v", m)
	}
	_, line := b.d.Answered(steer)
	if line.Only != "" || line.Content != "**@ben:** only EU" {
		t.Errorf("the remark is shown as %+v", line)
	}
	b.a.Mark(chat.Mark{Conversation: conv, Message: steer, Sign: chat.Applied})
	b.await("both receipts, whichever came first", func() bool {
		got := b.d.Message(line.ID).Reactions
		return len(got) == 2 && slices.Contains(got, "👀") && slices.Contains(got, "✅")
	})

	for _, command := range []string{"stop", "steer"} {
		id := b.d.Uses(general, ann, command, "text", "x")
		b.await("a hint", func() bool { _, m := b.d.Answered(id); return strings.Contains(m.Content, "in the thread") })
	}
	b.quiet()
}

// answer posts an answer with evidence and two buttons, and returns its message.
func (b *bench) answer(conv chat.Conversation) discordtest.Message {
	b.t.Helper()
	p := chat.Post{ID: "p", Run: "r1", Reply: chat.Reply{Conversation: conv, To: conv.Thread}, Asker: chat.Person{ID: ann}, Text: "Seven.", Exhibits: exhibits(3),
		Buttons: []chat.Button{{Action: chat.Evidence, Run: "r1"}, {Action: chat.Continue, Run: "r1"}, {Action: chat.Stop, Run: "r1"}}}
	if _, _, err := b.a.Send(b.t.Context(), p, 0); err != nil {
		b.t.Fatal(err)
	}
	return b.one(conv.Thread, "Seven.")
}

// exhibits are n queries with a table of 30 rows each.
func exhibits(n int) []chat.Exhibit {
	var out []chat.Exhibit
	for i := range n {
		x := chat.Exhibit{ID: fmt.Sprintf("e%d", i+1), Title: "30 rows", SQL: "SELECT count(*) FROM orders", Columns: []string{"region", "n"}, More: 2, Notes: []string{"cut"}}
		for r := range 30 {
			x.Rows = append(x.Rows, []string{fmt.Sprintf("region %d", r), fmt.Sprint(r * 100)})
		}
		out = append(out, x)
	}
	return out
}

func TestButtonsThatAreEvents(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	m := b.answer(conv)
	for _, action := range []chat.Action{chat.Continue, chat.Stop} {
		id := b.d.Presses(ben, m.ID, action.Label())
		e := b.event()
		if e.Key != id || e.Press == nil || e.Press.Conversation != conv || e.Press.Who.ID != ben || e.Press.Button != (chat.Button{Action: action, Run: "r1"}) || e.Press.At.IsZero() {
			t.Errorf("%s: %+v", action, e)
		}
		if kind, _ := b.d.Answered(id); kind != answerDeferredUpdate {
			t.Errorf("%s was answered with %d", action, kind)
		}
	}
	// What is for Ben alone is shown to him alone, because he has just pressed something here.
	p := chat.Post{ID: "q", Only: true, Asker: chat.Person{ID: ben}, Reply: chat.Reply{Conversation: conv, To: conv.Thread}, Text: "Only Ann may stop it."}
	if _, _, err := b.a.Send(t.Context(), p, 0); err != nil {
		t.Fatal(err)
	}
	if got := b.one(conv.Thread, "Only Ann may"); got.Only != ben {
		t.Errorf("it is shown to %q", got.Only)
	}
}

// Somebody who has pressed nothing is told in the open, for a short time.
func TestOnlyWithoutAnInteraction(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	p := chat.Post{ID: "q", Only: true, Asker: chat.Person{ID: ben}, Reply: chat.Reply{Conversation: conv, To: conv.Thread}, Text: "Only Ann may stop it."}
	id, _, err := b.a.Send(t.Context(), p, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.await("it to go", func() bool { m := b.d.Message(id); return m.Only == "" && m.Deleted })
}

// The evidence is shown to who presses, page by page, and judged at every press.
func TestEvidence(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	m := b.answer(conv)
	asked := 0
	b.exhibits = func(run string, who chat.Person, at chat.Place) ([]chat.Exhibit, error) {
		asked++
		if run != "r1" || at != conv.Place {
			return nil, fmt.Errorf("wrong question: %s %v", run, at)
		}
		if who.ID != ann {
			return nil, errors.New("This channel may not see that. Ask an admin.")
		}
		return exhibits(9), nil
	}
	id := b.d.Presses(ann, m.ID, "Evidence")
	var page discordtest.Message
	b.await("the first page", func() bool { _, page = b.d.Answered(id); return strings.Contains(page.Content, "Page 1 of") })
	if page.Only != ann || !strings.Contains(page.Content, "**e1 · 30 rows**\n```sql\nSELECT count(*) FROM orders\n```") || !strings.Contains(page.Content, "and 12 more rows") {
		t.Errorf("got %+v", page)
	}
	next := b.d.Presses(ann, page.ID, "Next")
	b.await("the second page", func() bool { _, page = b.d.Answered(next); return strings.Contains(page.Content, "Page 2 of") })

	id = b.d.Presses(ben, m.ID, "Evidence")
	b.await("the refusal", func() bool {
		_, page = b.d.Answered(id)
		return page.Content == "This channel may not see that. Ask an admin."
	})
	if page.Only != ben {
		t.Errorf("the refusal is shown to %q", page.Only)
	}

	id = b.d.Presses(ann, m.ID, "CSV")
	b.await("the tables", func() bool { _, page = b.d.Answered(id); return len(page.Files) == 9 })
	if got := page.Files["e2.csv"]; page.Only != ann || !strings.HasPrefix(got, "region,n\nregion 0,0\n") {
		t.Errorf("got %q for %q", got, page.Only)
	}
	if asked != 4 {
		t.Errorf("asked %d times whether it may be shown, want 4", asked)
	}
}

// Buttons work after a restart: what they need is in their id.
func TestButtonsOutliveTheProgram(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	m := b.answer(conv)
	b.a.spots, b.a.tokens, b.a.replies = newMemory[spot](10), newMemory[token](10), newMemory[replied](10)
	b.d.Presses(ann, m.ID, "Stop")
	if p := b.event().Press; p == nil || p.Conversation != conv {
		t.Errorf("got %+v", p)
	}
}
