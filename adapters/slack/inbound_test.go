package slack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plumb/adapters/slack/slacktest"
	"plumb/chat"
)

type fields = map[string]any

// event is an inner event with the usual fields, some of them changed; nil takes one away.
func event(changes fields) fields {
	e := fields{"type": "message", "channel": "C1", "channel_type": "channel", "user": "UANN", "text": "hi", "ts": "1700000100.000200"}
	for k, v := range changes {
		if v == nil {
			delete(e, k)
		} else {
			e[k] = v
		}
	}
	return e
}

// What people say to the bot becomes a message; all else is acknowledged and dropped.
func TestWhatIsHeard(t *testing.T) {
	message := func(change func(*chat.Message)) *chat.Message {
		m := &chat.Message{
			Conversation: reply("1700000100.000200").Conversation, ID: "1700000100.000200", Who: chat.Person{ID: "UANN", Name: "ann"},
			Text: "hi", Addressed: true, Opens: true, At: time.Unix(1700000100, 200_000).UTC(),
		}
		change(m)
		return m
	}
	s := start(t)
	for _, tc := range []struct {
		name string
		in   fields
		want *chat.Message
	}{
		{"mention", event(fields{"type": "app_mention", "text": "<@UBOT> hi"}), message(func(*chat.Message) {})},
		{"the same as message", event(fields{"text": "<@UBOT> hi"}), message(func(*chat.Message) {})},
		{"in a thread", event(fields{"thread_ts": "1700000000.000001"}), message(func(m *chat.Message) {
			m.Conversation.Thread, m.Addressed, m.Opens = "1700000000.000001", false, false
		})},
		{"mention in a thread", event(fields{"thread_ts": "1700000000.000001", "text": "hi <@UBOT>"}), message(func(m *chat.Message) {
			m.Conversation.Thread, m.Opens = "1700000000.000001", false
		})},
		{"direct", event(fields{"channel": "D1", "channel_type": "im"}), message(func(m *chat.Message) { m.Conversation.Channel = "D1" })},
		{"with a file", event(fields{"subtype": "file_share", "text": "<@UBOT> hi"}), message(func(*chat.Message) {})},
		{"also sent to the channel", event(fields{"subtype": "thread_broadcast", "thread_ts": "1700000000.000001"}), message(func(m *chat.Message) {
			m.Conversation.Thread, m.Addressed, m.Opens = "1700000000.000001", false, false
		})},
		{"talk in the channel", event(nil), nil},
		{"thread's first message", event(fields{"thread_ts": "1700000100.000200"}), nil},
		{"another bot", event(fields{"bot_id": "B2", "text": "<@UBOT> hi"}), nil},
		{"another bot's mention", event(fields{"type": "app_mention", "bot_id": "B2", "text": "<@UBOT> hi"}), nil},
		{"bot_message", event(fields{"subtype": "bot_message", "text": "<@UBOT> hi"}), nil},
		{"itself", event(fields{"user": "UBOT", "thread_ts": "1700000000.000001"}), nil},
		{"join", event(fields{"subtype": "channel_join", "text": "<@UBOT> has joined"}), nil},
		{"hidden", event(fields{"hidden": true, "text": "<@UBOT> hi"}), nil},
		{"nobody", event(fields{"user": nil, "text": "<@UBOT> hi"}), nil},
	} {
		before := len(s.published())
		id := s.Event(tc.in)
		s.Wait("the acknowledgement of "+tc.name, func() bool { return s.Acked(id) })
		var got *chat.Message
		if events := s.published(); len(events) > before {
			got = events[before].Message
			if want := "T1:" + got.Conversation.Channel + ":1700000100.000200"; events[before].Key != want {
				t.Errorf("%s: key %s, want %s", tc.name, events[before].Key, want)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.name, diff)
		}
	}
}

// (S17) An author's edit and deletion become a change; what Slack merely calls a change does not.
func TestChanges(t *testing.T) {
	s := start(t)
	before := fields{"type": "message", "user": "UANN", "text": "only Asia", "ts": "1700000100.000200", "thread_ts": "1700000000.000001"}
	with := func(changes fields) fields {
		m := fields{}
		for k, v := range before {
			m[k] = v
		}
		for k, v := range changes {
			m[k] = v
		}
		return m
	}
	change := func(sub string, after, was fields) fields {
		return fields{"type": "message", "subtype": sub, "channel": "C1", "channel_type": "channel", "ts": "1700000200.000300", "hidden": true, "message": after, "previous_message": was}
	}
	want := chat.Change{Conversation: reply("1700000000.000001").Conversation, Message: "1700000100.000200", At: time.Unix(1700000200, 300_000).UTC()}
	edited, deleted := want, want
	edited.Text, deleted.Deleted = "only the EU", true
	for _, tc := range []struct {
		name string
		in   fields
		want *chat.Change
	}{
		{"edited", change("message_changed", with(fields{"text": "only the EU"}), before), &edited},
		{"deleted", change("message_deleted", nil, before), &deleted},
		{"unfolded", change("message_changed", with(fields{"attachments": []any{fields{"title": "x"}}}), before), nil},
		{"our own", change("message_changed", with(fields{"user": "UBOT", "text": "x"}), with(fields{"user": "UBOT"})), nil},
		{"another bot's", change("message_changed", with(fields{"bot_id": "B2", "text": "x"}), with(fields{"bot_id": "B2"})), nil},
	} {
		before := len(s.published())
		id := s.Event(tc.in)
		s.Wait("the acknowledgement of "+tc.name, func() bool { return s.Acked(id) })
		var got *chat.Change
		if events := s.published(); len(events) > before {
			got = events[before].Change
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", tc.name, d)
		}
	}
}

// An installation for a whole organisation has no team; a shared channel's event may carry the other side's.
func TestTeam(t *testing.T) {
	s := start(t)
	for want, outer := range map[string]fields{
		"E1": {"team_id": nil, "enterprise_id": "E1", "authorizations": []any{fields{"enterprise_id": "E1", "team_id": nil}}},
		"T1": {"team_id": "TOTHER", "authorizations": []any{fields{"team_id": "T1"}}},
		"T2": {"team_id": "T2"},
	} {
		payload := fields{"type": "event_callback", "event_id": "Ev" + want, "event": event(fields{"text": "<@UBOT> hi"})}
		for k, v := range outer {
			payload[k] = v
		}
		before := len(s.published())
		s.Emit("events_api", payload)
		s.Wait("the event", func() bool { return len(s.published()) > before })
		if got := s.published()[before].Message.Conversation.Team; got != want {
			t.Errorf("team %s, want %s", got, want)
		}
	}
}

// (S1) What could not be published is not acknowledged; when Slack sends it again, it is.
func TestAcknowledgedOnlyWhenPublished(t *testing.T) {
	s := start(t)
	s.setPublish(func(context.Context, chat.Event) error { return errors.New("the stream is down") })
	id := s.Event(event(fields{"text": "<@UBOT> hi"}))
	other := s.Event(event(nil)) // is acknowledged after the first was dealt with
	s.Wait("the next acknowledgement", func() bool { return s.Acked(other) })
	if s.Acked(id) {
		t.Fatal("acknowledged though it was not published")
	}
	if n := len(s.Calls("reactions.add")); n != 0 {
		t.Errorf("%d receipts for what was not taken", n)
	}
	s.setPublish(nil)
	s.Redeliver(id)
	s.Wait("the acknowledgement", func() bool { return s.Acked(id) })
}

// A stream that hangs costs two seconds, not the connection.
func TestPublishingHasATimeLimit(t *testing.T) {
	s := start(t)
	s.setPublish(func(ctx context.Context, _ chat.Event) error { <-ctx.Done(); return context.Cause(ctx) })
	id := s.Event(event(fields{"text": "<@UBOT> hi"}))
	other := s.Event(event(nil))
	s.Wait("the next acknowledgement", func() bool { return s.Acked(other) })
	if s.Acked(id) {
		t.Error("acknowledged though it was not published")
	}
}

// Events that the library cannot read are acknowledged, or Slack would send them for ever.
func TestUnreadableEvents(t *testing.T) {
	s := start(t)
	for name, id := range map[string]string{
		"unknown event": s.Event(fields{"type": "a_new_event"}),
		"broken block":  s.Event(event(fields{"text": "<@UBOT> hi", "blocks": []any{fields{"type": "table", "rows": []any{[]any{fields{"type": "hologram"}}}}}})),
		"unknown kind":  s.Emit("telepathy", fields{}),
		"slash command": s.Emit("slash_commands", fields{"command": "/plumb", "text": "ask", "user_id": "UANN"}),
	} {
		s.Wait("the acknowledgement of the "+name, func() bool { return s.Acked(id) })
	}
	if n := len(s.published()); n != 0 {
		t.Errorf("%d events published, want none", n)
	}
}

// A conversation keeps its order, over a broken socket too.
func TestOrder(t *testing.T) {
	s := start(t)
	var want []string
	for i := range 30 {
		if i == 15 {
			s.Disconnect()
			s.Wait("the bot to hang up", func() bool { return s.HungUp() == 1 })
		}
		text := fmt.Sprintf("message %d", i)
		want = append(want, text)
		id := s.Event(event(fields{"text": text, "thread_ts": "1.0", "ts": fmt.Sprintf("2.%06d", i)}))
		if i%10 == 0 {
			s.Wait("an acknowledgement", func() bool { return s.Acked(id) })
		}
	}
	s.Wait("all messages", func() bool { return len(s.published()) == len(want) })
	var got []string
	for _, e := range s.published() {
		got = append(got, e.Message.Text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What is addressed to the bot gets eyes at once; other talk does not.
func TestEyes(t *testing.T) {
	s := start(t)
	ts := s.asked()
	s.Event(event(fields{"type": "app_mention", "ts": ts, "text": "<@UBOT> how many?"}))
	s.Event(event(fields{"ts": ts, "text": "<@UBOT> how many?"}))
	s.Wait("the eyes", func() bool { return cmp.Equal(s.Reactions("C1", ts), []string{"eyes"}) })
	talk := s.Said("C1", ts, "UANN", "well")
	s.Event(event(fields{"ts": talk, "thread_ts": ts, "text": "well"}))
	s.Wait("the talk", func() bool { return len(s.published()) == 3 })
	if got := s.Reactions("C1", talk); got != nil {
		t.Errorf("talk has %v", got)
	}
}

// A name that Slack does not give in time is the id, and is not waited for again.
func TestNames(t *testing.T) {
	s := start(t)
	release := make(chan struct{})
	defer close(release)
	s.Fail("users.info", slacktest.Hold(release))
	for i, want := range []string{"UANN", "UANN"} {
		s.Event(event(fields{"text": "<@UBOT> hi", "ts": fmt.Sprintf("3.%06d", i)}))
		s.Wait("the message", func() bool { return len(s.published()) > i })
		if got := s.published()[i].Message.Who.Name; got != want {
			t.Errorf("name %q, want %q", got, want)
		}
	}
	if n := len(s.Calls("users.info")); n != 1 {
		t.Errorf("%d look-ups", n)
	}
}

// (S-19) Text arrives escaped and with links, mentions, channels, groups and dates in brackets.
func TestPlain(t *testing.T) {
	name := func(id string) string { return map[string]string{"U1": "ann"}[id] }
	for in, want := range map[string]string{
		"<@UBOT> how many?":                      "how many?",
		"<@UBOT>: how many?":                     "how many?",
		"<@UBOT|plumb>, how many?":               "how many?",
		"hey <@UBOT> how many?":                  "hey how many?",
		"<@UBOT>\nSELECT 1":                      "SELECT 1",
		"ask <@U1> or <@U2|bob>":                 "ask @ann or @bob",
		"in <#C1|general> and <#C2>":             "in #general and #C2",
		"<!subteam^S1|@ops> <!here> <!channel>":  "@ops @here @channel",
		"<!subteam^S1>":                          "@S1",
		"<!date^1392734382^{date}|Feb 18, 2014>": "Feb 18, 2014",
		"<https://a.example/x>":                  "https://a.example/x",
		"<https://a.example/|a.example>":         "https://a.example/",
		"<https://a.example/x|the page>":         "the page (https://a.example/x)",
		"<mailto:a@b.example|a@b.example>":       "a@b.example",
		"a &lt; b &amp;&amp; c &gt; d":           "a < b && c > d",
		"&lt;@UBOT&gt; is text":                  "<@UBOT> is text",
		"&amp;lt; stays":                         "&lt; stays",
		"<https://a.example/?a=1&amp;b=2>":       "https://a.example/?a=1&b=2",
	} {
		if got := plain(in, "UBOT", name); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, s := range []string{"<@UBOT> x", "<", "<|>", "<!>", "<@>", "<#|>", "&lt;<@U1>&gt;", "<!date^1^{d}|x>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := plain(in, "UBOT", func(id string) string { return id })
		if strings.Contains(got, "<@UBOT>") && !strings.Contains(in, "&") && !strings.Contains(in, "<<") {
			t.Errorf("plain(%q) = %q still mentions the bot", in, got)
		}
		// What a person typed comes back as it was typed.
		if typed := strings.TrimSpace(in); plain(escape(typed), "UBOT", nil) != typed {
			t.Errorf("escaped %q came back as %q", typed, plain(escape(typed), "UBOT", nil))
		}
	})
}
