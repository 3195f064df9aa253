package discord

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"plumb/adapters/discord/discordtest"
	"plumb/chat"
)

// resumed waits for the connection to be back after so many attempts to resume.
func (b *bench) resumed(n int) {
	b.t.Helper()
	b.await("the bot to resume", func() bool { _, r := b.d.Sessions(); return r >= n && b.d.Connected() && b.a.Ready() == nil })
}

// What is said while the connection is cut, or asked to be made again, is heard after it.
func TestResume(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	for i, breakUp := range []func(){b.d.Hangup, func() { b.d.Op(7) }} {
		breakUp()
		b.d.Says(conv.Thread, ann, "only EU")
		if got := b.event().Message.Text; got != "only EU" {
			t.Errorf("got %q", got)
		}
		b.resumed(i + 1)
	}
	if identifies, _ := b.d.Sessions(); identifies != 1 {
		t.Errorf("%d sessions, want the first one", identifies)
	}
}

// A connection that answers no heartbeats is closed with a code that keeps the session.
func TestZombie(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	b.d.Mute(true)
	b.await("the bot to hang up", func() bool { return len(b.d.Closes()) > 0 })
	b.d.Mute(false)
	b.d.Says(conv.Thread, ann, "only EU")
	if got := b.event().Message.Text; got != "only EU" {
		t.Errorf("got %q", got)
	}
	if got := b.d.Closes()[0]; got != 4000 {
		t.Errorf("closed with %d, which ends the session", got)
	}
}

// The frame that makes discordgo wait for its own lock does not silence the bot.
func TestReconnectRightAfterResume(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	b.d.NextResume(7)
	b.d.Hangup()
	b.await("a new session", func() bool { i, _ := b.d.Sessions(); return i == 2 && b.a.Ready() == nil })
	b.d.Says(conv.Thread, ann, "only EU")
	if got := b.event().Message.Text; got != "only EU" {
		t.Errorf("got %q", got)
	}
}

// A lost session loses no talk: the threads are read again from where we left them.
func TestLostSessionIsReadAgain(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	b.d.NextResume(9)
	b.d.Hangup()
	b.d.Says(conv.Thread, ann, "only EU")
	b.d.Asks(general, ben, "And me?")
	var got []string
	for range 2 {
		m := b.event().Message
		got = append(got, m.Text)
		if m.Conversation.Team != discordtest.Guild {
			t.Errorf("%q is placed in %v", m.Text, m.Conversation.Place)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"And me?", "only EU"}) {
		t.Errorf("got %q", got)
	}
}

// What Discord refuses for good ends the bot with a sentence; what it refuses for a moment does not.
func TestRefusedSessions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		code int
		want error
	}{{4004, errToken}, {4013, errIntents}, {4014, errIntents}} {
		b := newBench(t)
		b.d.RefuseSession(tc.code)
		if err := b.a.Run(t.Context()); !errors.Is(err, tc.want) {
			t.Errorf("%d: %v", tc.code, err)
		}
	}
	b := newBench(t)
	b.d.RefuseSession(4009, 4000)
	b.run()
	b.await("the bot to be ready", func() bool { return b.a.Ready() == nil })
}

// A token that is taken back while the bot runs ends it, whether the gateway says so or only drops it.
func TestTokenTakenBack(t *testing.T) {
	t.Parallel()
	for _, codes := range [][]int{nil, {4000, 4000, 4000, 4000}} {
		b := start(t)
		b.d.RefuseSession(codes...)
		b.d.Expire()
		b.d.Hangup()
		select {
		case err := <-b.ran:
			if !errors.Is(err, errToken) {
				t.Errorf("got %v", err)
			}
			b.ran <- err
		case <-time.After(10 * time.Second):
			t.Error("the bot goes on")
		}
	}
}

// While the connection is away the bot says so.
func TestNotReadyWithoutAConnection(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.d.RefuseSession(slices.Repeat([]int{4000}, 1000)...)
	b.d.Hangup()
	b.await("the bot to notice", func() bool { return b.a.Ready() != nil })
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]error{4004: errToken, 4014: errIntents, 4000: nil, 1006: nil} {
		if got := refused(&websocket.CloseError{Code: code}); got != want {
			t.Errorf("%d: %v", code, got)
		}
	}
}

func TestBackoffGrowsAndEnds(t *testing.T) {
	t.Parallel()
	g := &gateway{pace: usualPace}
	for failures, most := range map[int]time.Duration{1: time.Second, 3: 4 * time.Second, 50: time.Minute} {
		if got := g.backoff(failures); got > most || got < most/2 {
			t.Errorf("after %d failures: %s", failures, got)
		}
	}
}

// A panic in one job, or on one event, is the end of that alone.
func TestPanics(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.a.crew.do("x", func(ctx context.Context) { panic("bad") })
	l := &line{g: &gateway{log: b.a.log, hear: func(any) { panic("bad") }}}
	l.on(nil, "event")
	b.asked()
}

// Errors tell the poster what to do, and people what is wrong.
func TestJudge(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		fault discordtest.Fault
		retry time.Duration // -1: no retry
		look  bool
		text  string
	}{
		{"limit", discordtest.Limit(2 * time.Second), 2 * time.Second, false, ""},
		{"limit at the edge", discordtest.EdgeLimit(9 * time.Second), 9 * time.Second, false, ""},
		{"slow mode", discordtest.Refuse(400, 20016), 5 * time.Second, false, ""},
		{"token", discordtest.Refuse(401, 0), time.Minute, false, "token"},
		{"bad gateway", discordtest.Lose(502), -1, true, ""},
		{"server error", discordtest.Lose(500), -1, true, ""},
		{"cut", discordtest.Cut(), -1, true, ""},
		{"no access", discordtest.Refuse(403, 50001), -1, false, "View Channel"},
		{"no permission", discordtest.Refuse(403, 50013), -1, false, "Send Messages in Threads"},
		{"locked", discordtest.Refuse(400, 50083), -1, false, "moderator"},
		{"gone", discordtest.Refuse(404, 10003), -1, false, "gone"},
		{"blocked", discordtest.Refuse(400, 200000), -1, false, "AutoMod"},
		{"new code", discordtest.Refuse(400, 12345), -1, false, "refused"},
	} {
		b := newBench(t)
		b.d.Fail(routePost, "", tc.fault)
		_, _, err := b.a.Send(t.Context(), chat.Post{ID: "p", Reply: chat.Reply{Conversation: chat.Conversation{Thread: general}}, Text: "x"}, 0)
		after, retry := chat.Retryable(err)
		_, look := errors.AsType[*chat.Unknown](err)
		if retry != (tc.retry >= 0) || (retry && after != tc.retry) || look != tc.look || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("%s: %v (retry %v after %s, look %v)", tc.name, err, retry, after, look)
		}
		if strings.Contains(err.Error(), discordtest.Token) {
			t.Errorf("%s: the token is in the error", tc.name)
		}
	}
	b := newBench(t)
	b.d.Close()
	_, _, err := b.a.Send(t.Context(), chat.Post{ID: "p", Reply: chat.Reply{Conversation: chat.Conversation{Thread: general}}, Text: "x"}, 0)
	if _, retry := chat.Retryable(err); !retry {
		t.Errorf("nobody there: %v", err)
	}
}
