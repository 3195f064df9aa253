package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plumb/adapters/slack/slacktest"
	"plumb/chat"
	"plumb/chat/chattest"
)

// setup is a workspace with the bot in it.
type setup struct {
	*slacktest.Server
	bot *Adapter

	mu       sync.Mutex
	events   []chat.Event
	publish  func(context.Context, chat.Event) error // nil: always works
	exhibits func(ctx context.Context, run string, who chat.Person, at chat.Place) ([]chat.Exhibit, error)
}

// start brings the bot up, connected, and takes it down with the test.
func start(t *testing.T) *setup {
	t.Helper()
	s := prepare(t, slacktest.AppToken, slacktest.BotToken)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.bot.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	s.Wait("the bot to be ready", func() bool { return s.bot.Ready() == nil })
	return s
}

// prepare makes a bot that does not run yet.
func prepare(t *testing.T, app, bot string) *setup {
	s := &setup{Server: slacktest.New(t)}
	s.bot = New(Config{AppToken: app, BotToken: bot, APIURL: s.APIURL()}, Deps{
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Publish: func(ctx context.Context, e chat.Event) error {
			s.mu.Lock()
			publish := s.publish
			s.mu.Unlock()
			if publish != nil {
				if err := publish(ctx, e); err != nil {
					return err
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.events = append(s.events, e)
			return nil
		},
		Exhibits: func(ctx context.Context, run string, who chat.Person, at chat.Place) ([]chat.Exhibit, error) {
			return s.exhibits(ctx, run, who, at)
		},
	})
	return s
}

func (s *setup) published() []chat.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

func (s *setup) setPublish(f func(context.Context, chat.Event) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.publish = f
}

// asked has a person ask in the channel C1 and returns the question's timestamp.
func (s *setup) asked() string { return s.Said("C1", "", "UANN", "<@UBOT> how many?") }

func reply(thread string) chat.Reply {
	place := chat.Place{Platform: chat.Slack, Team: slacktest.Team, Channel: "C1"}
	return chat.Reply{Conversation: chat.Conversation{Place: place, Thread: thread}, To: thread}
}

// body is the text of a message's blocks of a kind, or its plain text when it has no blocks.
func body(m slacktest.Message) string {
	var blocks []struct{ Type, Text any }
	if json.Unmarshal(m.Blocks, &blocks) != nil {
		return m.Text
	}
	for _, b := range blocks {
		if text, ok := b.Text.(string); ok && b.Type == "markdown" {
			return text
		}
	}
	return m.Text
}

func TestContract(t *testing.T) {
	chattest.RunPoster(t, func(t *testing.T) chattest.Harness {
		s := start(t)
		return chattest.Harness{
			Poster: s.bot,
			Reply:  reply(s.asked()),
			Shown: func() (out []string) {
				for _, m := range s.Messages() {
					out = append(out, body(m))
				}
				return out
			},
			Limit: func(d time.Duration) {
				s.Fail("chat.postMessage", slacktest.Status(http.StatusTooManyRequests, int(d.Seconds())))
			},
			Lose:    func() { s.Fail("chat.postMessage", slacktest.Lost) },
			Refuse:  func() { s.Fail("chat.postMessage", slacktest.Code("not_in_channel")) },
			Secrets: []string{slacktest.AppToken, slacktest.BotToken},
		}
	})
}

// A token that Slack will never take ends the bot with a word on which one; the library alone would go on for ever.
func TestRefusedTokens(t *testing.T) {
	for name, tc := range map[string]struct{ app, bot, want string }{
		"bot token as app token": {slacktest.BotToken, slacktest.BotToken, "slack.app_token"},
		"wrong bot token":        {slacktest.AppToken, "xoxb-wrong", "slack.bot_token"},
	} {
		t.Run(name, func(t *testing.T) {
			s := prepare(t, tc.app, tc.bot)
			if s.bot.Ready() == nil {
				t.Error("ready before it ran")
			}
			err := s.bot.Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Run = %v, want a word on %s", err, tc.want)
			}
			for _, secret := range []string{tc.app, tc.bot} {
				if strings.Contains(fmt.Sprint(err), secret) {
					t.Errorf("the error gives a token away")
				}
			}
		})
	}
}

// Trouble that passes does not end the bot.
func TestStartsThoughSlackStumbles(t *testing.T) {
	s := prepare(t, slacktest.AppToken, slacktest.BotToken)
	s.Fail("auth.test", slacktest.Status(http.StatusBadGateway, 0))
	s.Fail("apps.connections.open", slacktest.Code("internal_error"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.bot.Run(ctx) }()
	s.Wait("the bot to be ready", func() bool { return s.bot.Ready() == nil })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAPIRoot(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"http://h:1/api":           "http://h:1/api/",
		"http://h:1/api/":          "http://h:1/api/",
		"http://h:1//api//":        "http://h:1/api/",
		"https://slack.com/x/api/": "https://slack.com/x/api/",
	} {
		if got := apiRoot(in); got != want {
			t.Errorf("apiRoot(%q) = %q, want %q", in, got, want)
		}
	}
}

// Ready names what is missing: first the token, then the socket, then the sign of life.
func TestReadyNamesWhatIsMissing(t *testing.T) {
	s := start(t)
	s.bot.heard.last.Store(time.Now().Add(-2 * silence).UnixNano())
	if s.bot.heard.since() > silence { // unless a ping came in between
		if err := s.bot.Ready(); err != nil && !strings.Contains(err.Error(), "heard") {
			t.Errorf("after a silence: %v", err)
		}
	}
	s.Wait("a ping", func() bool { return s.bot.Ready() == nil })
	s.Fail("apps.connections.open", slices.Repeat([]slacktest.Fault{slacktest.Status(http.StatusBadGateway, 0)}, 3)...)
	s.Drop()
	s.Wait("the socket to be missed", func() bool {
		err := s.bot.Ready()
		return err != nil && strings.Contains(err.Error(), "socket is not connected")
	})
	s.Wait("the bot to be back", func() bool { return s.bot.Ready() == nil })
}

func TestClassify(t *testing.T) {
	s := start(t)
	p := chat.Post{ID: "p", Reply: reply(s.asked()), Text: "hello"}
	for _, tc := range []struct {
		name  string
		fault slacktest.Fault
		want  string
	}{
		{"429 with a time", slacktest.Status(429, 3), "retry after 3s"},
		{"429 bare", slacktest.Status(429, 0), "retry after 1s"},
		{"ratelimited", slacktest.Code("ratelimited"), "retry after 1s"},
		{"rate_limited", slacktest.Code("rate_limited"), "retry after 1s"},
		{"message_limit_exceeded", slacktest.Code("message_limit_exceeded"), "retry after 1s"},
		{"500", slacktest.Status(500, 0), "unknown"},
		{"fatal_error", slacktest.Code("fatal_error"), "unknown"},
		{"lost", slacktest.Lost, "unknown"},
		{"archived", slacktest.Code("is_archived"), "final"},
		{"token", slacktest.Code("token_revoked"), "final"},
		{"400", slacktest.Status(400, 0), "final"},
	} {
		s.Fail("chat.postMessage", tc.fault)
		_, _, err := s.bot.Send(t.Context(), p, 0)
		if got := kind(err); got != tc.want {
			t.Errorf("%s: %s (%v), want %s", tc.name, got, err, tc.want)
		}
	}
	closed := New(Config{APIURL: "http://127.0.0.1:1/api/", BotToken: "xoxb-secret"}, Deps{})
	if _, _, err := closed.Send(t.Context(), p, 0); kind(err) != "retry after 0s" {
		t.Errorf("a connection that is refused: %v", err)
	}
}

func kind(err error) string {
	if after, ok := chat.Retryable(err); ok {
		return "retry after " + after.String()
	}
	if _, ok := errors.AsType[*chat.Unknown](err); ok {
		return "unknown"
	}
	if err == nil {
		return "sent"
	}
	return "final"
}
