package discord

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"

	"plumb/adapters/discord/discordtest"
	"plumb/chat"
)

const (
	general = discordtest.General
	ann     = discordtest.Ann
	ben     = discordtest.Ben
)

// A mention opens a thread and is published as the message that opens it; it gets its receipt.
func TestMentionOpensAThread(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.d.Asks(general, ann, "How many orders?\nOnly <@"+ben+">'s, in <#"+general+"> <:party:1> <t:0:R>")
	e := b.event()
	want := chat.Event{Key: id, Message: &chat.Message{
		Conversation: chat.Conversation{Place: chat.Place{Platform: "discord", Team: discordtest.Guild, Channel: general}, Thread: id},
		ID:           id, Who: chat.Person{ID: ann, Name: "ann"}, Addressed: true, Opens: true, At: e.Message.At,
		Text: "How many orders?\nOnly @ben's, in #" + general + " :party: 1970-01-01 00:00 UTC",
	}}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if th, ok := b.d.Thread(id); !ok || th.Parent != general || !strings.HasPrefix(th.Name, "How many orders? Only") {
		t.Errorf("the thread is %+v", th)
	}
	b.await("the receipt", func() bool { return slices.Equal(b.d.Message(id).Reactions, []string{"👀"}) })
}

// In a thread nothing needs a mention, but a mention is told apart; the question stays before what follows it.
func TestTalkInAThread(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	first := b.d.Says(conv.Thread, ben, "only EU")
	second := b.d.Asks(conv.Thread, ann, "and March")
	for _, want := range []chat.Message{
		{Conversation: conv, ID: first, Who: chat.Person{ID: ben, Name: "ben"}, Text: "only EU"},
		{Conversation: conv, ID: second, Who: chat.Person{ID: ann, Name: "ann"}, Text: "and March", Addressed: true},
	} {
		got := *b.event().Message
		got.At = time.Time{}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

func TestThreadIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	b.a.spots = newMemory[spot](10)
	b.d.Says(conv.Thread, ann, "only EU")
	if got := b.event().Message.Conversation; got != conv {
		t.Errorf("got %+v, want %+v", got, conv)
	}
}

func TestDirectMessage(t *testing.T) {
	t.Parallel()
	b := start(t)
	dm := b.d.Direct(ann)
	id := b.d.Says(dm, ann, "How many?")
	got := b.event().Message
	if want := (chat.Conversation{Place: chat.Place{Platform: "discord", Team: "dm", Channel: dm}, Thread: dm}); got.Conversation != want || !got.Addressed || got.ID != id {
		t.Errorf("got %+v", got)
	}
	if _, _, err := b.a.Send(t.Context(), chat.Post{ID: "p", Reply: chat.Reply{Conversation: got.Conversation, To: id}, Text: "Seven."}, 0); err != nil {
		t.Fatal(err)
	}
	if m := b.one(dm, "Seven."); m.ReplyTo != id {
		t.Errorf("the answer replies to %q", m.ReplyTo)
	}
}

// Talk among people, other bots, webhooks, the bot itself and what discordgo could not read start nothing.
func TestWhatIsNotForUs(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.d.Says(general, ann, "lunch?")
	author := func(bot bool) map[string]any { return map[string]any{"id": "7", "username": "x", "bot": bot} }
	call := "<@" + discordtest.Bot + "> hi"
	for _, m := range []map[string]any{
		{"id": "1", "channel_id": general, "guild_id": discordtest.Guild, "author": author(true), "content": call},
		{"id": "2", "channel_id": general, "guild_id": discordtest.Guild, "author": author(false), "content": call, "webhook_id": "9"},
		{"id": "3", "channel_id": general, "guild_id": discordtest.Guild, "author": author(false), "content": call, "type": 7},
		{"id": "4", "channel_id": general, "guild_id": discordtest.Guild, "author": author(false), "content": call, "components": []any{map[string]any{"type": 99}}},
		{"id": "5", "channel_id": general, "guild_id": discordtest.Guild},
	} {
		b.d.Dispatch("MESSAGE_CREATE", m)
	}
	b.asked() // which comes after all those
	b.quiet()
	if n := len(b.d.Requests(routeThread)); n != 1 {
		t.Errorf("%d threads were asked for, want Ann's", n)
	}
}

// A thread that exists is used; where threads can not be had the answer goes into the channel.
func TestThreadsThatCanNotBeStarted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		fault discordtest.Fault
		want  func(question string) string
	}{
		{"exists", discordtest.Refuse(http.StatusBadRequest, 160004), func(q string) string { return q }},
		{"forbidden", discordtest.Refuse(http.StatusForbidden, 50013), func(string) string { return general }},
		{"busy", discordtest.EdgeLimit(10 * time.Millisecond), func(q string) string { return q }},
		{"lost", discordtest.Lose(502), func(q string) string { return q }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := start(t)
			b.d.Fail(routeThread, "", tc.fault)
			id := b.d.Asks(general, ann, "How many?")
			if got := b.event().Message.Conversation.Thread; got != tc.want(id) {
				t.Errorf("thread %q, question %q", got, id)
			}
		})
	}
}

// A bus that is away for a moment costs nothing; one that stays away costs a word, which goes away again.
func TestPublishFails(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.refuse = 2
	b.asked()

	b.mu.Lock()
	b.refuse = 100
	b.mu.Unlock()
	id := b.d.Asks(general, ann, "And now?")
	m := b.one(general, sorry)
	if m.ReplyTo != id || len(b.d.Message(id).Reactions) != 0 {
		t.Errorf("the apology %+v, the question %+v", m, b.d.Message(id))
	}
	b.await("the apology to go", func() bool { return b.d.Message(m.ID).Deleted })
}

// A slow question does not hold up the others.
func TestQuestionsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	b := start(t)
	release := make(chan struct{})
	defer close(release)
	b.d.Fail(routeThread, "slow", discordtest.Hold(release))
	b.d.Asks(general, ann, "slow")
	// Starting threads in one channel shares a limit at Discord, so that discordgo sends one at a time; a thread, a
	// direct message and a command go past it.
	b.d.Says(b.d.Direct(ben), ben, "quick")
	if got := b.event().Message.Text; got != "quick" {
		t.Errorf("got %q", got)
	}
}

func TestStopSigns(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	b.await("the receipt", func() bool { return len(b.d.Message(conv.Thread).Reactions) == 1 })
	b.d.Marks(ann, conv.Thread, "👍")
	b.d.Marks(ann, conv.Thread, "🛑")
	if p := b.event().Press; p == nil || p.Conversation != conv || p.Button != (chat.Button{Action: chat.Stop}) || p.Who.ID != ann {
		t.Errorf("on the question: %+v", p)
	}
	b.a.Progress(chat.Progress{Run: "r1", Reply: chat.Reply{Conversation: conv, To: conv.Thread}, Started: time.Now().Add(-time.Minute), Lines: []string{"looking"}})
	b.d.Marks(ann, b.one(conv.Thread, "looking").ID, "❌")
	if p := b.event().Press; p == nil || p.Conversation != conv || p.Button != (chat.Button{Action: chat.Stop, Run: "r1"}) {
		t.Errorf("on the progress: %+v", p)
	}
	chatter := b.d.Says(general, ben, "a silly plan")
	b.d.Marks(ann, chatter, "❌")
	b.d.Says(conv.Thread, ann, "the end")
	if e := b.event(); e.Message == nil || e.Message.Text != "the end" {
		t.Errorf("a sign on other people's talk: %+v", e)
	}
}

func TestThreadName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                   "Question",
		" \n ":                               "Question",
		"one\ntwo":                           "one two",
		strings.Repeat("ä", 120):             strings.Repeat("ä", 89) + "…",
		strings.Repeat("ä", 90):              strings.Repeat("ä", 90),
		"`code` and\u00a0a non-breaking gap": "`code` and a non-breaking gap",
	} {
		if got := threadName(in); got != want {
			t.Errorf("threadName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	users := []*discordgo.User{{ID: "1", Username: "plumb"}, {ID: "2", Username: "ben", GlobalName: "Ben B."}}
	for in, want := range map[string]string{
		"<@1> how many?":     "how many?",
		"<@!1>how many?":     "how many?",
		"hey <@1>, how many": "hey, how many",
		"ask <@2> or <@3>":   "ask @Ben B. or @3",
		"<@&5> please":       "@role-5 please",
		"</ask:77> it":       "/ask it",
		"<a:wave:9> a < b":   ":wave: a < b",
		"<@1>":               "",
	} {
		if got := plain(&discordgo.Message{Content: in, Mentions: users}, "1"); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}

// (S17) An author's edit and a deletion become a change; what Discord updates by itself does not.
func TestChanges(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	id := b.d.Says(conv.Thread, ann, "only Asia")
	b.event()
	update := func(changes map[string]any) map[string]any {
		m := map[string]any{"id": id, "channel_id": conv.Thread, "guild_id": discordtest.Guild, "author": map[string]any{"id": ann, "username": "ann"}, "content": "only the EU", "edited_timestamp": "2026-11-30T20:00:00Z"}
		for k, v := range changes {
			m[k] = v
		}
		return m
	}
	b.d.Dispatch("MESSAGE_UPDATE", update(map[string]any{"edited_timestamp": nil})) // a link was unfolded
	b.d.Dispatch("MESSAGE_UPDATE", update(map[string]any{"author": map[string]any{"id": "7", "username": "x", "bot": true}}))
	b.d.Dispatch("MESSAGE_UPDATE", update(nil))
	at := time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC)
	if d := cmp.Diff(&chat.Change{Conversation: conv, Message: id, Text: "only the EU", At: at}, b.event().Change); d != "" {
		t.Error(d)
	}
	b.d.Dispatch("MESSAGE_DELETE", map[string]any{"id": conv.Thread, "channel_id": general, "guild_id": discordtest.Guild})
	if c := b.event().Change; c == nil || !c.Deleted || c.Message != conv.Thread || c.Conversation != conv {
		t.Errorf("got %+v, want the deletion of the question", c)
	}
	b.quiet()
}
