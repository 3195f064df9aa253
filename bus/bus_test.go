package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plumb/chat"
)

func open(t *testing.T, dir string) *Bus {
	t.Helper()
	b, err := Open(t.Context(), Options{Dir: dir, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func message(thread, id string) chat.Event {
	return chat.Event{Key: thread + "/" + id, Message: &chat.Message{Conversation: chat.Conversation{Place: chat.Place{Platform: "slack", Team: "T.1", Channel: "C 1"}, Thread: thread}, ID: id}}
}

// during runs a consumer until what it should see has been seen.
func during(t *testing.T, consume func(context.Context) error, wait func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- consume(ctx) }()
	wait()
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func TestEventsOfOneConversationKeepTheirOrder(t *testing.T) {
	b := open(t, t.TempDir())
	const n = 40
	for i := range n {
		for _, thread := range []string{"a", "b", "c"} {
			if err := b.PublishEvent(t.Context(), message(thread, fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	var mu sync.Mutex
	got := map[string][]string{}
	all := make(chan bool, 3*n)
	during(t, func(ctx context.Context) error {
		return b.Events(ctx, func(_ context.Context, e chat.Event) error {
			mu.Lock()
			defer mu.Unlock()
			got[e.Message.Conversation.Thread] = append(got[e.Message.Conversation.Thread], e.Message.ID)
			all <- true
			return nil
		})
	}, func() {
		for range 3 * n {
			receive(t, all)
		}
	})
	var want []string
	for i := range n {
		want = append(want, fmt.Sprint(i))
	}
	for _, thread := range []string{"a", "b", "c"} {
		if d := cmp.Diff(want, got[thread]); d != "" {
			t.Errorf("thread %s: %s", thread, d)
		}
	}
}

func TestWhatWasNotHandledComesAgain(t *testing.T) {
	b := open(t, t.TempDir())
	if err := b.PublishEvent(t.Context(), message("a", "1")); err != nil {
		t.Fatal(err)
	}
	tries := make(chan int, 8)
	n := 0
	during(t, func(ctx context.Context) error {
		return b.Events(ctx, func(context.Context, chat.Event) error {
			n++
			tries <- n
			if n < 3 {
				return errors.New("not this time")
			}
			return nil
		})
	}, func() {
		for want := range 3 {
			if got := receive(t, tries); got != want+1 {
				t.Fatalf("try %d, want %d", got, want+1)
			}
		}
	})
}

// A process dies with a message in hand; after the next start it comes again, and only it.
func TestARestartLosesNothing(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	for _, id := range []string{"1", "2"} {
		if err := b.PublishEvent(t.Context(), message("a", id)); err != nil {
			t.Fatal(err)
		}
	}
	seen := make(chan string, 8)
	during(t, func(ctx context.Context) error {
		return b.Events(ctx, func(ctx context.Context, e chat.Event) error {
			seen <- e.Message.ID
			if e.Message.ID == "2" {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return nil
		})
	}, func() { receive(t, seen); receive(t, seen) })
	b.Close()
	b = open(t, dir)
	during(t, func(ctx context.Context) error {
		return b.Events(ctx, func(_ context.Context, e chat.Event) error { seen <- e.Message.ID; return nil })
	}, func() {
		if id := receive(t, seen); id != "2" {
			t.Errorf("message %s comes again, want 2", id)
		}
	})
	if len(seen) != 0 {
		t.Errorf("and so does %s", <-seen)
	}
}

func TestAPublishedEventIsNotRepeatedByItsKey(t *testing.T) {
	b := open(t, t.TempDir())
	for range 3 {
		if err := b.PublishEvent(t.Context(), message("a", "1")); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.PublishEvent(t.Context(), message("a", "2")); err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 8)
	during(t, func(ctx context.Context) error {
		return b.Events(ctx, func(_ context.Context, e chat.Event) error { seen <- e.Message.ID; return nil })
	}, func() {
		if got := []string{receive(t, seen), receive(t, seen)}; !slices.Equal(got, []string{"1", "2"}) {
			t.Errorf("got %v", got)
		}
	})
}

func TestNoMoreRunsThanSlots(t *testing.T) {
	b := open(t, t.TempDir())
	for i := range 5 {
		if err := b.Wake(t.Context(), fmt.Sprint("r", i)); err != nil {
			t.Fatal(err)
		}
	}
	held, release, ended := make(chan string, 5), make(chan bool), make(chan bool, 5)
	during(t, func(ctx context.Context) error {
		return b.Runs(ctx, 2, func(_ context.Context, run string) error {
			held <- run
			<-release
			ended <- true
			return nil
		})
	}, func() {
		receive(t, held)
		receive(t, held)
		select {
		case run := <-held:
			t.Errorf("%s is worked on beside two others", run)
		case <-time.After(300 * time.Millisecond):
		}
		close(release)
		for range 5 {
			receive(t, ended)
		}
	})
}

func TestAnUnreadableMessageGoesToTheDeadLetters(t *testing.T) {
	b := open(t, t.TempDir())
	dead := make(chan string, 1)
	cancel, err := on(b, "plumb.dead.dispatch", func(m map[string]any) { dead <- fmt.Sprint(m["data"]) })
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	if _, err := b.js.Publish(t.Context(), "plumb.in.slack.T.C.x", []byte("{ no JSON")); err != nil {
		t.Fatal(err)
	}
	during(t, func(ctx context.Context) error {
		return b.Events(ctx, func(context.Context, chat.Event) error { return errors.New("should not be called") })
	}, func() {
		if got := receive(t, dead); got != "{ no JSON" {
			t.Errorf("dead letter %q", got)
		}
	})
}

func TestPostsGoToTheirPlatform(t *testing.T) {
	b := open(t, t.TempDir())
	for _, platform := range []string{"discord", "slack"} {
		p := chat.Post{ID: "p-" + platform, Reply: chat.Reply{Conversation: chat.Conversation{Place: chat.Place{Platform: platform, Team: "T", Channel: "C"}}}}
		if err := b.PublishPost(t.Context(), p, "1"); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan string, 2)
	during(t, func(ctx context.Context) error {
		return b.Posts(ctx, "slack", func(_ context.Context, p chat.Post) error { got <- p.ID; return nil })
	}, func() {
		if id := receive(t, got); id != "p-slack" {
			t.Errorf("slack gets %s", id)
		}
	})
}

func TestQuestionsBetweenThePrograms(t *testing.T) {
	b := open(t, t.TempDir())
	var out int
	if err := b.Ask(t.Context(), "double", 21, &out); err == nil {
		t.Error("a question that nobody serves is answered")
	}
	cancel, err := Serve(b, "double", func(_ context.Context, n int) (int, error) {
		if n < 0 {
			return 0, errors.New("there is no double of that")
		}
		return 2 * n, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	if err := b.Ask(t.Context(), "double", 21, &out); err != nil || out != 42 {
		t.Errorf("got %d, %v", out, err)
	}
	if err := b.Ask(t.Context(), "double", -1, &out); err == nil || err.Error() != "there is no double of that" {
		t.Errorf("the refusal says %v", err)
	}
}

func TestBook(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	n := 7
	if err := b.Book().Load(t.Context(), "p1", &n); err != nil || n != 7 {
		t.Errorf("an unknown post gives %d, %v", n, err)
	}
	if err := b.Book().Save(t.Context(), "p1", 8); err != nil {
		t.Fatal(err)
	}
	b.Close()
	b = open(t, dir)
	if err := b.Book().Load(t.Context(), "p1", &n); err != nil || n != 8 {
		t.Errorf("after a restart the book says %d, %v", n, err)
	}
}

func TestTokens(t *testing.T) {
	for in, want := range map[string]string{"": "-", "C1": "C1", "169.1": "169_1", "a b*>": "a_b__", "ü": "ü"} {
		if got := token(in); got != want {
			t.Errorf("token(%q) = %q, want %q", in, got, want)
		}
	}
	if got := redacted("nats://user:secret@host:4222"); got != "nats://host:4222" {
		t.Errorf("redacted: %s", got)
	}
}
