package adapters

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"plumb/chat"
	"plumb/chat/chattest"
	"plumb/ledger"
)

// memory is a book that forgets nothing and may lose a save.
type memory struct {
	mu    sync.Mutex
	data  map[string][]byte
	saves int
	dieAt int // the save at which the process dies; 0: never
}

var errDied = errors.New("the process died")

func (m *memory) Load(_ context.Context, post string, v any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.data[post]; b != nil {
		return json.Unmarshal(b, v)
	}
	return nil
}

func (m *memory) Save(_ context.Context, post string, v any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.saves++; m.saves == m.dieAt {
		return errDied
	}
	b, err := json.Marshal(v)
	m.data[post] = b
	return err
}

type office struct {
	Delivery
	recorder *chattest.Recorder
	book     *memory
	reports  []ledger.Delivery
}

func newOffice(t *testing.T) *office {
	o := &office{recorder: &chattest.Recorder{PartLimit: 10}, book: &memory{data: map[string][]byte{}}}
	o.Delivery = Delivery{Poster: o.recorder, Book: o.book, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Report: func(_ context.Context, d ledger.Delivery) error {
		o.reports = append(o.reports, d)
		return nil
	}}
	return o
}

func (o *office) shown() string {
	var all []string
	for _, s := range o.recorder.Sent() {
		all = append(all, s.Text)
	}
	return strings.Join(all, "|")
}

var post = chat.Post{ID: "p1", Text: "one two, three four, five"}

const whole = "one two, t|hree four,| five"

func TestPartsArriveInOrderAndAreReported(t *testing.T) {
	o := newOffice(t)
	if err := o.Deliver(t.Context(), post); err != nil {
		t.Fatal(err)
	}
	if o.shown() != whole || len(o.reports) != 1 || len(o.reports[0].IDs) != 3 || o.reports[0].Error != "" {
		t.Errorf("shown %q, reported %+v", o.shown(), o.reports)
	}
	if err := o.Deliver(t.Context(), post); err != nil || o.shown() != whole || len(o.reports) != 2 {
		t.Errorf("the post comes again: shown %q, %d reports, %v", o.shown(), len(o.reports), err)
	}
}

// (S14) Wherever the process dies between two notes in the book, the next one goes on without a double.
func TestADeathAnywhereDoublesNothing(t *testing.T) {
	for at := 1; at <= 7; at++ {
		o := newOffice(t)
		o.book.dieAt = at
		if err := o.Deliver(t.Context(), post); err == nil {
			t.Fatalf("death at note %d goes unnoticed", at)
		}
		if err := o.Deliver(t.Context(), post); err != nil || o.shown() != whole {
			t.Errorf("death at note %d: shown %q, %v", at, o.shown(), err)
		}
	}
}

func TestALostAnswerIsLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.recorder.Lose()
		if err := o.Deliver(t.Context(), post); err != nil || o.shown() != whole {
			t.Errorf("shown %q, %v", o.shown(), err)
		}
	})
}

func TestPatienceWithAPlatform(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.recorder.Fail(&chat.Retry{Err: errors.New("too fast")}, &chat.Unknown{Err: errors.New("cut off")}, &chat.Retry{Err: errors.New("too fast")})
		if err := o.Deliver(t.Context(), post); err != nil || o.shown() != whole {
			t.Errorf("shown %q, %v", o.shown(), err)
		}
	})
}

// What a platform will never take is reported with the reason, and not tried for ever.
func TestAPostThatIsRefused(t *testing.T) {
	o := newOffice(t)
	o.recorder.Fail(errors.New("the channel is archived"))
	if err := o.Deliver(t.Context(), post); err != nil {
		t.Fatal(err)
	}
	if o.shown() != "" || len(o.reports) != 1 || !strings.Contains(o.reports[0].Error, "archived") {
		t.Errorf("shown %q, reported %+v", o.shown(), o.reports)
	}
}
