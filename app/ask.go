package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plumb/bus"
	"plumb/chat"
	"plumb/evidence"
	"plumb/ledger"
	"plumb/ledger/sqlite"
)

// A Question is one asked at the terminal.
type Question struct {
	Text   string
	As     string // WHERE/WHO; empty: the terminal itself
	Thread string // an earlier question's, to go on from there
	Keep   bool   // in the configured ledger, for `bot runs`; else nothing is left
}

// asker reads -as.
func (q Question) asker() (chat.Place, chat.Person, error) {
	if q.As == "" {
		return chat.Place{Platform: chat.CLI}, chat.Person{ID: "you"}, nil
	}
	where, who, found := strings.Cut(q.As, "/")
	place, err := chat.ParsePlace(where)
	if err != nil || found && who == "" {
		return place, chat.Person{}, errors.Join(err, fmt.Errorf("-as wants WHERE/WHO, such as slack:T1:C1/U1"))
	}
	if who == "" {
		who = "you"
	}
	return place, chat.Person{ID: who}, nil
}

// Ask answers one question by the same road as every other: ledger, bus, loop and checks, all in this process. What no
// rule allows comes back as a record with the status refused.
func Ask(ctx context.Context, c Config, q Question, log *slog.Logger) (_ evidence.Record, err error) {
	place, who, err := q.asker()
	if err != nil {
		return evidence.Record{}, err
	}
	temp, err := os.MkdirTemp("", "plumb-")
	if err != nil {
		return evidence.Record{}, err
	}
	defer os.RemoveAll(temp)
	if place.Platform != chat.CLI {
		// The answer stays at the terminal, but what it may rest on is what that place may see.
		g, err := c.policy().At(place)
		if err != nil {
			return evidence.Record{Status: evidence.Refused, Verdict: evidence.Unchecked, Answer: err.Error()}, nil
		}
		c.Access = append([]Rule{{Where: chat.CLI, Sources: g.Sources, Admins: g.Admins, Budget: g.Budget}}, c.Access...)
	}
	s, err := openDesk(ctx, c, q.Keep, temp, log)
	if err != nil {
		return evidence.Record{}, err
	}
	defer s.Close()
	thread := q.Thread
	if thread == "" {
		thread = strings.ToLower(rand.Text()[:8])
	}
	m := chat.Message{Conversation: chat.Conversation{Place: chat.Place{Platform: chat.CLI}, Thread: thread}, ID: strings.ToLower(rand.Text()[:12]),
		Who: who, Text: q.Text, Addressed: true, Opens: q.Thread == "", At: time.Now()}
	return s.answer(ctx, m)
}

// terminal is the work side for one question.
type terminal struct {
	*App
}

// openDesk builds the work side with streams in memory and, unless the question is to be kept, a ledger that goes with it.
func openDesk(ctx context.Context, c Config, keep bool, temp string, log *slog.Logger) (_ *terminal, err error) {
	a := &App{config: c, log: log}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	if keep {
		a.ledger, err = OpenLedger(ctx, c)
	} else {
		a.ledger, err = sqlite.Open(ctx, filepath.Join(temp, "ledger.db"))
	}
	if err != nil {
		return nil, err
	}
	a.onClose("ledger", a.ledger.Close)
	a.config.DataDir, a.config.oneQuestion = temp, true
	if a.bus, err = bus.Open(ctx, bus.Options{Dir: filepath.Join(temp, "nats"), Ephemeral: true, Log: log}); err != nil {
		return nil, err
	}
	a.onClose("bus", func() error { a.bus.Close(); return nil })
	if a.workshop, err = openWorkshop(ctx, a.config, log); err != nil {
		return nil, err
	}
	a.onClose("sources", a.workshop.close)
	return &terminal{a}, nil
}

// answer sends the message on its way and waits for the end of its run.
func (t *terminal) answer(ctx context.Context, m chat.Message) (evidence.Record, error) {
	d, err := newDispatcher(t.config, t.bus, t.ledger, t.workshop, 0, t.log)
	if err != nil {
		return evidence.Record{}, err
	}
	ended := make(chan string, 16)
	cancel, err := t.bus.OnProgress(chat.CLI, func(p chat.Progress) {
		if p.Ended {
			ended <- p.Run
		}
	})
	if err != nil {
		return evidence.Record{}, err
	}
	defer cancel()
	working, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- d.Run(working) }()
	defer func() { stop(); <-done }()
	rec, err := d.Receive(ctx, m)
	switch {
	case err != nil:
		return evidence.Record{}, err
	case rec.Decision.Kind == ledger.Refuse:
		return evidence.Record{Status: evidence.Refused, Verdict: evidence.Unchecked, Answer: rec.Decision.Why}, nil
	case rec.Decision.Kind != ledger.Start:
		return evidence.Record{}, fmt.Errorf("the thread %s is busy with another question; wait for its end or leave -thread out", m.Conversation.Thread)
	}
	for {
		select {
		case run := <-ended:
			if run == rec.Decision.Run {
				r, err := t.ledger.Run(ctx, run)
				return r.Record, err
			}
		case err := <-done:
			done <- err
			return evidence.Record{}, errors.Join(errors.New("the question was not answered"), err, context.Cause(ctx))
		}
	}
}
