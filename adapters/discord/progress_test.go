package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plumb/adapters/discord/discordtest"
	"plumb/chat"
)

// A paper is a screen that keeps what it was shown, and when.
type paper struct {
	mu    sync.Mutex
	began time.Time
	shown []string
	fail  []error
}

func (s *paper) show(_ context.Context, p chat.Progress, id string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fail) > 0 {
		err := s.fail[0]
		s.fail = s.fail[1:]
		return "", err
	}
	s.shown = append(s.shown, fmt.Sprintf("%s %s%s %v", time.Since(s.began), strings.Join(p.Lines, "+"), id, p.Ended))
	return "/m1", nil
}

func (s *paper) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.shown, "; ")
}

func withBoard(t *testing.T, act func(b *board, s *paper)) string {
	t.Helper()
	var got string
	synctest.Test(t, func(t *testing.T) {
		s := &paper{began: time.Now()}
		c := newCrew(slog.New(slog.DiscardHandler))
		act(newBoard(c, s), s)
		synctest.Wait()
		c.close(time.Second)
		got = s.seen()
	})
	return got
}

func TestProgressKeepsItsPace(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		act        func(b *board, s *paper)
	}{
		{"a short run shows nothing", "", func(b *board, _ *paper) {
			b.update(chat.Progress{Run: "r", Started: time.Now(), Lines: []string{"a"}})
			time.Sleep(900 * time.Millisecond)
			b.update(chat.Progress{Run: "r", Started: time.Now(), Ended: true})
			time.Sleep(time.Minute)
		}},
		{"the latest state wins", "1s a+b false; 3.5s e/m1 false; 6s f/m1 true", func(b *board, _ *paper) {
			started := time.Now()
			b.update(chat.Progress{Run: "r", Started: started, Lines: []string{"a"}})
			b.update(chat.Progress{Run: "r", Started: started, Lines: []string{"a", "b"}})
			time.Sleep(2 * time.Second)
			for _, l := range []string{"c", "d", "e"} {
				b.update(chat.Progress{Run: "r", Started: started, Lines: []string{l}})
			}
			time.Sleep(2 * time.Second)
			b.update(chat.Progress{Run: "r", Started: started, Lines: []string{"f"}, Ended: true})
			b.update(chat.Progress{Run: "r", Started: started, Lines: []string{"too late"}})
			time.Sleep(time.Minute)
		}},
		{"an answer ends it", "1s a false; 3.5s a/m1 true", func(b *board, _ *paper) {
			b.update(chat.Progress{Run: "r", Started: time.Now(), Lines: []string{"a"}})
			time.Sleep(2 * time.Second)
			b.finish("r")
			b.update(chat.Progress{Run: "r", Lines: []string{"too late"}})
			time.Sleep(time.Minute)
		}},
		{"a limit is kept", "8s a false", func(b *board, s *paper) {
			s.fail = []error{&chat.Retry{After: 7 * time.Second, Err: errors.New("slow down")}}
			b.update(chat.Progress{Run: "r", Started: time.Now(), Lines: []string{"a"}})
			time.Sleep(time.Minute)
		}},
		{"two runs side by side", "1s a false; 1s b false", func(b *board, _ *paper) {
			b.update(chat.Progress{Run: "r", Started: time.Now(), Lines: []string{"a"}})
			time.Sleep(time.Nanosecond)
			b.update(chat.Progress{Run: "q", Started: time.Now().Add(-time.Nanosecond), Lines: []string{"b"}})
			time.Sleep(time.Minute)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := withBoard(t, tc.act)
			if tc.name == "two runs side by side" && got != tc.want {
				got = strings.Join([]string{"1s a false", "1s b false"}, "; ") // either may be first
				if !strings.Contains(got, "b") {
					t.Error("one run waited for the other")
				}
			}
			if got != tc.want {
				t.Errorf("shown: %s\nwant:  %s", got, tc.want)
			}
		})
	}
}

// Progress is one message with a Stop button, becomes one line, and holds nothing that calls people.
func TestProgressMessage(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	reply := chat.Reply{Conversation: conv, To: conv.Thread}
	begun := time.Now().Add(-time.Minute)
	b.a.Progress(chat.Progress{Run: "r1", Reply: reply, Started: begun, Lines: []string{"run_sql shop @everyone"}})
	m := b.one(conv.Thread, "run_sql")
	if len(m.Buttons) != 1 || m.Buttons[0] != (discordtest.Button{Label: "Stop", CustomID: "stop:r1"}) {
		t.Errorf("got %+v", m)
	}
	if _, _, err := b.a.Send(t.Context(), chat.Post{ID: "p", Run: "r1", Reply: reply, Final: true, Text: "Seven."}, 0); err != nil {
		t.Fatal(err)
	}
	b.await("the end of it", func() bool { m = b.d.Message(m.ID); return len(m.Buttons) == 0 })
	if m.Content != "-# Worked for 1m3s, 1 step." && !strings.HasPrefix(m.Content, "-# Worked for 1m") {
		t.Errorf("got %q", m.Content)
	}
}

// After a restart the message that is there goes on to be used.
func TestProgressIsAdopted(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	reply := chat.Reply{Conversation: conv, To: conv.Thread}
	begun := time.Now().Add(-time.Minute)
	b.a.Progress(chat.Progress{Run: "r1", Reply: reply, Started: begun, Lines: []string{"before"}})
	m := b.one(conv.Thread, "before")
	later := newCrew(b.a.log)
	defer later.close(time.Second)
	b.a.board = newBoard(later, b.a)
	b.d.Forget()
	b.a.Progress(chat.Progress{Run: "r1", Reply: reply, Started: begun, Lines: []string{"after"}})
	b.await("the same message to change", func() bool { return strings.Contains(b.d.Message(m.ID).Content, "after") })
}

// Progress and receipts return at once and change nothing when Discord refuses them.
func TestLossesDoNoHarm(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	b.d.Fail(routeReact, "", discordtest.Refuse(403, 50013))
	b.d.Fail(routePost, "first", discordtest.Refuse(403, 50013))
	b.a.Mark(chat.Mark{Conversation: conv, Message: "404", Sign: chat.Applied})
	reply := chat.Reply{Conversation: conv, To: conv.Thread}
	b.a.Progress(chat.Progress{Run: "r1", Reply: reply, Started: time.Now().Add(-time.Minute), Lines: []string{"first"}})
	if _, _, err := b.a.Send(t.Context(), chat.Post{ID: "p", Run: "r1", Reply: reply, Final: true, Text: "Seven."}, 0); err != nil {
		t.Fatal(err)
	}
	b.one(conv.Thread, "Seven.")
}

// An answer that seemed lost and was found ends the progress as well; one whose file is refused goes without it.
func TestAnswerBySideRoads(t *testing.T) {
	t.Parallel()
	b := start(t)
	conv := b.asked()
	reply := chat.Reply{Conversation: conv, To: conv.Thread}
	b.a.Progress(chat.Progress{Run: "r1", Reply: reply, Started: time.Now().Add(-time.Minute), Lines: []string{"looking"}})
	m := b.one(conv.Thread, "looking")
	b.d.Fail(routePost, "Seven", discordtest.Cut())
	p := chat.Post{ID: "p", Run: "r1", Reply: reply, Final: true, Text: "Seven."}
	if _, _, err := b.a.Send(t.Context(), p, 0); err == nil {
		t.Error("a cut connection is no error")
	}
	if _, found, err := b.a.Find(t.Context(), p, 0); !found || err != nil {
		t.Fatalf("found %v, %v", found, err)
	}
	b.await("the end of the progress", func() bool { return len(b.d.Message(m.ID).Buttons) == 0 })

	b.d.Fail(routePost, "Nine", discordtest.Refuse(403, 50013))
	p = chat.Post{ID: "q", Run: "r2", Reply: reply, Text: "Nine.", Exhibits: exhibits(1)}
	if _, _, err := b.a.Send(t.Context(), p, 0); err != nil {
		t.Fatal(err)
	}
	if m := b.one(conv.Thread, "Nine."); len(m.Files) != 0 || len(m.Buttons) != 2 {
		t.Errorf("got %+v", m)
	}
	p = chat.Post{ID: "s", Run: "r2", Reply: reply, Text: "Ten.", Exhibits: exhibits(1)}
	if _, _, err := b.a.Send(t.Context(), p, 0); err != nil {
		t.Fatal(err)
	}
	if m := b.one(conv.Thread, "Ten."); !strings.Contains(m.Files["evidence.md"], "SELECT count(*)") {
		t.Errorf("got %+v", m)
	}
}
