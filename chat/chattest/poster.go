package chattest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"plumb/chat"
)

// A Harness is a poster with the platform behind it, for one test.
type Harness struct {
	Poster chat.Poster
	// Reply is a place that the poster can post to.
	Reply chat.Reply
	// Shown are the texts of the bot's messages that people see now, oldest first.
	Shown func() []string
	// Limit makes the platform refuse the next send as too early, for so long.
	Limit func(time.Duration)
	// Lose makes the platform show what is sent next and lose its answer to that.
	Lose func()
	// Refuse makes the platform refuse the next send for good.
	Refuse func()
	// Secrets must not be in any error.
	Secrets []string
}

// RunPoster checks what every chat.Poster promises. Each test gets a harness of its own.
func RunPoster(t *testing.T, start func(t *testing.T) Harness) {
	for _, tc := range []struct {
		name string
		run  func(t *testing.T, h Harness)
	}{
		{"a post arrives once", arrives},
		{"a long post falls into parts that say it all", long},
		{"past the last part nothing is sent", beyond},
		{"a limit means later", limited},
		{"a lost answer means look first", lost},
		{"what was not sent is not found", notFound},
		{"a refusal is final", refused},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, start(t)) })
	}
}

func (h Harness) post(text string) chat.Post {
	return chat.Post{ID: "post-1", Run: "run-1", Reply: h.Reply, Asker: chat.Person{ID: "U1"}, Text: text, Final: true}
}

// clean fails the test if an error gives a secret away.
func (h Harness) clean(t *testing.T, err error) {
	t.Helper()
	for _, s := range h.Secrets {
		if err != nil && strings.Contains(err.Error(), s) {
			t.Errorf("the error %q has a secret in it", strings.ReplaceAll(err.Error(), s, "SECRET"))
		}
	}
}

func (h Harness) times(text string) (n int) {
	for _, s := range h.Shown() {
		if strings.Contains(s, text) {
			n++
		}
	}
	return n
}

func arrives(t *testing.T, h Harness) {
	id, last, err := h.Poster.Send(t.Context(), h.post("There are 42 orders."), 0)
	if err != nil || !last || id == "" {
		t.Fatalf("Send = %q, last %v, %v", id, last, err)
	}
	if n := h.times("There are 42 orders."); n != 1 {
		t.Errorf("the post is shown %d times", n)
	}
	if found, ok, err := h.Poster.Find(t.Context(), h.post("There are 42 orders."), 0); err != nil || !ok || found != id {
		t.Errorf("Find = %q, %v, %v, want %q", found, ok, err, id)
	}
}

func long(t *testing.T, h Harness) {
	var words []string
	for i := range 6_000 {
		words = append(words, fmt.Sprintf("word%d", i))
	}
	p := h.post(strings.Join(words, " "))
	parts := 0
	for last := false; !last; parts++ {
		id, l, err := h.Poster.Send(t.Context(), p, parts)
		if err != nil || id == "" {
			t.Fatalf("part %d: %v", parts, err)
		}
		if found, ok, err := h.Poster.Find(t.Context(), p, parts); err != nil || !ok || found != id {
			t.Errorf("part %d: Find = %q, %v, %v, want %q", parts, found, ok, err, id)
		}
		last = l
	}
	rest := strings.Join(strings.Fields(strings.Join(h.Shown(), " ")), "")
	for _, w := range words {
		_, after, found := strings.Cut(rest, w)
		if !found {
			t.Fatalf("%s is missing or out of place", w)
		}
		rest = after
	}
	again := len(h.Shown())
	if _, _, err := h.Poster.Send(t.Context(), p, 0); err != nil {
		t.Fatal(err)
	}
	if shown := h.Shown(); shown[again] != shown[0] {
		t.Error("the same post fell into other parts the second time")
	}
}

func beyond(t *testing.T, h Harness) {
	for _, part := range []int{1, 7} {
		id, last, err := h.Poster.Send(t.Context(), h.post("short"), part)
		if id != "" || !last || err != nil {
			t.Errorf("Send of part %d of a post with one part = %q, last %v, %v; want nothing, and that it was the last", part, id, last, err)
		}
	}
	if n := len(h.Shown()); n != 0 {
		t.Errorf("%d messages were posted for parts that do not exist", n)
	}
	if _, _, err := h.Poster.Send(t.Context(), h.post("short"), -1); err == nil {
		t.Error("part -1 was sent")
	}
}

func limited(t *testing.T, h Harness) {
	h.Limit(7 * time.Second)
	_, _, err := h.Poster.Send(t.Context(), h.post("later"), 0)
	h.clean(t, err)
	if after, ok := chat.Retryable(err); !ok || after < 7*time.Second {
		t.Errorf("a limit of 7 s became %v (after %s)", err, after)
	}
	if n := h.times("later"); n != 0 {
		t.Errorf("the post is shown %d times", n)
	}
	if _, _, err := h.Poster.Send(t.Context(), h.post("later"), 0); err != nil {
		t.Errorf("the second try: %v", err)
	}
}

func lost(t *testing.T, h Harness) {
	h.Lose()
	_, _, err := h.Poster.Send(t.Context(), h.post("once"), 0)
	h.clean(t, err)
	if _, ok := errors.AsType[*chat.Unknown](err); !ok {
		t.Errorf("a lost answer became %v", err)
	}
	if _, found, err := h.Poster.Find(t.Context(), h.post("once"), 0); err != nil || !found {
		t.Errorf("Find: %v, %v", found, err)
	}
	if n := h.times("once"); n != 1 {
		t.Errorf("the post is shown %d times", n)
	}
}

func notFound(t *testing.T, h Harness) {
	if _, _, err := h.Poster.Send(t.Context(), h.post("mine"), 0); err != nil {
		t.Fatal(err)
	}
	other := h.post("mine")
	other.ID = "post-2"
	if id, found, err := h.Poster.Find(t.Context(), other, 0); found || err != nil {
		t.Errorf("another post was found: %q, %v", id, err)
	}
	if id, found, err := h.Poster.Find(t.Context(), h.post("mine"), 1); found || err != nil {
		t.Errorf("another part was found: %q, %v", id, err)
	}
}

func refused(t *testing.T, h Harness) {
	h.Refuse()
	_, _, err := h.Poster.Send(t.Context(), h.post("never"), 0)
	h.clean(t, err)
	if err == nil {
		t.Fatal("no error")
	}
	_, unknown := errors.AsType[*chat.Unknown](err)
	if _, again := chat.Retryable(err); again || unknown {
		t.Errorf("a refusal is to be tried again: %v", err)
	}
	if n := h.times("never"); n != 0 {
		t.Errorf("the post is shown %d times", n)
	}
}
