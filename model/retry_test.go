package model

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A scripted model plays one attempt after the other.
type scripted struct {
	name     string
	attempts [][]step
	times    []time.Time // when each began
}

// A step is a part, a pause or a failure.
type step struct {
	part  Part
	pause time.Duration
	err   error
}

func say(text string) step { return step{part: Part{Text: text}} }

func took(in, out int) step {
	return step{part: Part{Usage: &Usage{InputTokens: in, OutputTokens: out}}}
}

func use(name string) step { return step{part: Part{Call: &Call{ID: name, Name: name}}} }

func fails(k Kind) step { return step{err: &Error{Kind: k, Err: errors.New("as planned")}} }

func (s *scripted) Name() string { return s.name }

func (s *scripted) Generate(ctx context.Context, _ Request) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		n := len(s.times)
		s.times = append(s.times, time.Now())
		for _, st := range s.attempts[min(n, len(s.attempts)-1)] {
			if err := sleep(ctx, st.pause); err != nil {
				yield(Part{}, err)
				return
			}
			if st.pause == 0 && !yield(st.part, st.err) {
				return
			}
		}
	}
}

// heard is what a listener hears who shows the text as it comes.
func heard(ctx context.Context, m Model) (Reply, []string, error) {
	var shown []string
	r, err := Collect(ctx, m, Request{System: "12345678"}, func(s string) { shown = append(shown, s) })
	return r, shown, err
}

// [L14] The stream is restarted, not continued; what the failed attempt took is counted.
func TestRetryStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &scripted{name: "m", attempts: [][]step{
			{say("Rev"), say("enue"), took(100, 7), fails(Broken)},
			{say("abcdefgh"), fails(Busy)}, // told no usage: two tokens each way are estimated
			{fails(Busy)},
			{say("Revenue is 5."), use("a"), took(100, 20)},
		}}
		r, shown, err := heard(t.Context(), WithRetry(m, RetryOptions{}))
		if err != nil {
			t.Fatal(err)
		}
		want := Reply{Text: "Revenue is 5.", Calls: []Call{{ID: "a", Name: "a"}}, Usage: Usage{202, 29}, Model: "m"}
		if diff := cmp.Diff(want, r); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"Rev", "enue", "", "abcdefgh", "", "Revenue is 5."}, shown); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRetryGivesUp(t *testing.T) {
	for _, c := range []struct {
		name     string
		attempt  []step
		attempts int
	}{
		{"busy", []step{took(10, 1), fails(Busy)}, 4},
		{"broken", []step{took(10, 1), fails(Broken)}, 4},
		{"denied", []step{took(10, 1), fails(Denied)}, 1},
		{"rejected", []step{took(10, 1), fails(Rejected)}, 1},
		{"scripted", []step{took(10, 1), fails(Scripted)}, 1},
		{"a foreign error", []step{took(10, 1), {err: errors.New("other")}}, 1},
		{"after a call", []step{use("a"), took(10, 1), fails(Broken)}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &scripted{attempts: [][]step{c.attempt}}
				r, _, err := heard(t.Context(), WithRetry(m, RetryOptions{}))
				if want := c.attempt[len(c.attempt)-1].err; err != want {
					t.Errorf("error %v, want %v", err, want)
				}
				if len(m.times) != c.attempts {
					t.Errorf("%d attempts, want %d", len(m.times), c.attempts)
				}
				if want := (Usage{10 * c.attempts, c.attempts}); r.Usage != want {
					t.Errorf("took %v, want %v", r.Usage, want)
				}
			})
		})
	}
}

// Pauses are drawn from the whole range up to 0.5, 1, 2 … 8 s, and are at least what the provider asks for, up to 20 s.
func TestRetryPauses(t *testing.T) {
	r := WithRetry(&scripted{}, RetryOptions{}).(*retrying)
	for n, most := range []time.Duration{0, time.Second / 2, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 8 * time.Second} {
		if n == 0 {
			continue
		}
		var low, high bool
		for range 500 {
			p := r.pause(n, 0)
			if p < 0 || p > most {
				t.Fatalf("pause %d is %v, more than %v", n, p, most)
			}
			low, high = low || p < most/4, high || p > most*3/4
		}
		if !low || !high {
			t.Errorf("pause %d is not drawn from the whole range up to %v", n, most)
		}
	}
	if p := r.pause(1, 12*time.Second); p != 12*time.Second {
		t.Errorf("asked to wait 12s, waits %v", p)
	}
	if p := r.pause(1, time.Hour); p != 20*time.Second {
		t.Errorf("asked to wait 1h, waits %v", p)
	}
	if p := r.pause(500, 0); p > 8*time.Second {
		t.Errorf("pause 500 is %v", p)
	}
}

func TestRetryHonoursAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &scripted{attempts: [][]step{{{err: &Error{Kind: Busy, After: 9 * time.Second, Err: errors.New("x")}}}, {say("ok")}}}
		if _, _, err := heard(t.Context(), WithRetry(m, RetryOptions{})); err != nil {
			t.Fatal(err)
		}
		if d := m.times[1].Sub(m.times[0]); d != 9*time.Second {
			t.Errorf("waited %v", d)
		}
	})
}

// Silence is a failure: before the first sign, and between two.
func TestRetrySilence(t *testing.T) {
	for _, c := range []struct {
		name  string
		first []step
		after time.Duration
	}{
		{"before the first token", []step{{pause: time.Hour}}, 60 * time.Second},
		{"between tokens", []step{{pause: 50 * time.Second}, say("a"), {pause: 50 * time.Second}, {}, {pause: time.Hour}}, 160 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &scripted{attempts: [][]step{c.first, {say("ok")}}}
				r, _, err := heard(t.Context(), WithRetry(m, RetryOptions{Base: 1}))
				if err != nil || r.Text != "ok" {
					t.Fatal(r, err)
				}
				if d := m.times[1].Sub(m.times[0]).Round(time.Second); d != c.after {
					t.Errorf("gave up after %v, want %v", d, c.after)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		m := &scripted{attempts: [][]step{{{pause: time.Hour}}}}
		_, _, err := heard(t.Context(), WithRetry(m, RetryOptions{}))
		if KindOf(err) != Broken || !strings.Contains(err.Error(), "silent") {
			t.Errorf("error %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) { // a slow listener is not the model's silence
		m := &scripted{attempts: [][]step{{say("a"), say("b")}}}
		r, err := Collect(t.Context(), WithRetry(m, RetryOptions{}), Request{}, func(string) { time.Sleep(time.Hour) })
		if err != nil || r.Text != "ab" || len(m.times) != 1 {
			t.Errorf("%v after %d attempts, error %v", r, len(m.times), err)
		}
	})
}

// The end of ctx is its cause itself, during an attempt and during a pause, and nothing is tried after it.
func TestRetryCancelled(t *testing.T) {
	stopped := errors.New("stopped")
	for _, attempt := range [][]step{{{pause: time.Hour}}, {{err: &Error{Kind: Busy, After: time.Hour, Err: errors.New("x")}}}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(10*time.Second, func() { cancel(stopped) })
			m := &scripted{attempts: [][]step{attempt}}
			start := time.Now()
			if _, _, err := heard(ctx, WithRetry(m, RetryOptions{})); err != stopped {
				t.Errorf("error %v", err)
			}
			if d := time.Since(start); d != 10*time.Second || len(m.times) != 1 {
				t.Errorf("ended after %v and %d attempts", d, len(m.times))
			}
		})
	}
}

// Whoever leaves is not called again: a range loop would panic.
func TestRetryLeaving(t *testing.T) {
	for leaveAt := range 6 {
		synctest.Test(t, func(t *testing.T) {
			m := Fallback(
				WithRetry(&scripted{name: "a", attempts: [][]step{{say("x"), took(1, 1), fails(Broken)}}}, RetryOptions{Attempts: 2}),
				&scripted{name: "b", attempts: [][]step{{say("y"), fails(Denied)}}})
			n := 0
			for range m.Generate(t.Context(), Request{}) {
				if n++; n > leaveAt {
					break
				}
			}
		})
	}
}

func TestFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, kind := range []Kind{Busy, Broken, Unavailable, Denied} {
			a := &scripted{name: "a", attempts: [][]step{{say("half"), took(5, 1), fails(kind)}}}
			b := &scripted{name: "b", attempts: [][]step{{say("whole"), took(10, 2)}}}
			m := Fallback(WithRetry(a, RetryOptions{}), WithRetry(b, RetryOptions{}))
			r, shown, err := heard(t.Context(), m)
			if err != nil || m.Name() != "a" {
				t.Fatal(m.Name(), err)
			}
			tries := len(a.times) // of the first model, each with its half
			want := Reply{Text: "whole", Usage: Usage{5*tries + 10, tries + 2}, Model: "b"}
			if diff := cmp.Diff(want, r); diff != "" {
				t.Errorf("%s: %s", kind, diff)
			}
			if n := len(shown); n < 3 || shown[n-2] != "" || shown[n-1] != "whole" {
				t.Errorf("%s: shown %q", kind, shown)
			}
		}
	})
}

func TestFallbackStays(t *testing.T) {
	for name, attempt := range map[string][]step{
		"rejected": {fails(Rejected)}, "too long": {fails(TooLong)}, "scripted": {fails(Scripted)}, "after a call": {use("a"), fails(Broken)},
	} {
		b := &scripted{name: "b", attempts: [][]step{{say("no")}}}
		if _, _, err := heard(t.Context(), Fallback(&scripted{name: "a", attempts: [][]step{attempt}}, b)); err == nil || len(b.times) > 0 {
			t.Errorf("%s: the next model was asked, error %v", name, err)
		}
	}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, _, err := heard(ctx, Fallback(&scripted{attempts: [][]step{{fails(Busy)}}}, &scripted{attempts: [][]step{{{err: stopped}}}})); err == nil {
		t.Error("no error")
	}
}

// When all fail, the kind is the last one's and the operator reads of each.
func TestFallbackAllFail(t *testing.T) {
	m := Fallback(&scripted{name: "first", attempts: [][]step{{fails(Denied)}}}, &scripted{name: "second", attempts: [][]step{{fails(Busy)}}})
	_, _, err := heard(t.Context(), m)
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != Busy || !strings.Contains(err.Error(), "first") || !strings.Contains(err.Error(), "second") {
		t.Errorf("error %v", err)
	}
	if _, _, err := heard(t.Context(), Fallback()); KindOf(err) != Unavailable {
		t.Errorf("without a model: %v", err)
	}
}

func TestEstimate(t *testing.T) {
	req := Request{System: "1234", Tools: []Tool{{Name: "12", Description: "34", Schema: []byte("{}  ")}},
		Turns: []Turn{{Text: "1234", Calls: []Call{{Name: "12", Arguments: []byte("{}")}}, Results: []Result{{Text: "1234"}}}}}
	if got, want := Estimate(req, Reply{Text: "12345", Calls: []Call{{Name: "123"}}}), (Usage{6, 2}); got != want {
		t.Errorf("estimate %v, want %v", got, want)
	}
}
