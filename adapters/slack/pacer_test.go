package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"plumb/chat"
)

// desk records the pacer's calls with their time, and fails some.
type desk struct {
	begin time.Time
	log   []string
	fail  map[string][]error
	there string // the message that shown finds
}

func (d *desk) note(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	d.log = append(d.log, fmt.Sprintf("%s %s", time.Since(d.begin).Round(100*time.Millisecond), what))
	name, _, _ := strings.Cut(what, " ")
	if f := d.fail[name]; len(f) > 0 {
		d.fail[name] = f[1:]
		return f[0]
	}
	return nil
}

func (d *desk) react(_ context.Context, m chat.Mark) error { return d.note("react %s", m.Message) }

func (d *desk) show(_ context.Context, p chat.Progress, ts string, _ time.Time) (string, error) {
	what := strings.Join(p.Lines, ",")
	if p.Ended {
		what = "ended"
	}
	if ts != "" {
		return ts, d.note("edit %s %s", p.Run, what)
	}
	if err := d.note("post %s %s", p.Run, what); err != nil {
		return "", err
	}
	return "ts-" + p.Run, nil
}

func (d *desk) shown(context.Context, chat.Progress) (string, error) { return d.there, d.note("look") }

// paced runs a script against a pacer in a bubble of its own and compares the calls it makes.
func paced(t *testing.T, d *desk, script func(p *pacer), want ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d.begin = time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		p := newPacer(d)
		go p.run(ctx)
		script(p)
		synctest.Wait()
		cancel()
		synctest.Wait()
		if diff := cmp.Diff(want, d.log); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func progress(run string, lines ...string) chat.Progress {
	return chat.Progress{Run: run, Started: time.Now(), Lines: lines}
}

// A run shorter than a second shows no progress message at all.
func TestShortRunIsQuiet(t *testing.T) {
	paced(t, &desk{}, func(p *pacer) {
		run := progress("r", "one")
		p.progress(run)
		time.Sleep(900 * time.Millisecond)
		run.Ended = true
		p.progress(run)
		time.Sleep(time.Minute)
	})
}

// The message comes after one second though nothing new happens; the newest state wins; the end comes at once; what is
// late changes nothing.
func TestProgressIsPaced(t *testing.T) {
	paced(t, &desk{}, func(p *pacer) {
		run := progress("r", "one")
		p.progress(run)
		time.Sleep(1500 * time.Millisecond)
		for i := range 10 {
			run.Lines = []string{fmt.Sprint("step", i)}
			p.progress(run)
		}
		time.Sleep(2 * time.Second)
		p.end("r")
		time.Sleep(time.Second)
		p.progress(run)
		p.end("r")
		time.Sleep(time.Minute)
	}, "1s post r one", "3s edit r step9", "3.5s edit r ended")
}

// Fifteen runs and more share Slack's edits.
func TestManyRunsShareThePace(t *testing.T) {
	d := &desk{}
	synctest.Test(t, func(t *testing.T) {
		d.begin = time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		p := newPacer(d)
		go p.run(ctx)
		begun := time.Now()
		for range 200 {
			for r := range 30 {
				p.progress(chat.Progress{Run: fmt.Sprint(r), Started: begun, Lines: []string{time.Since(begun).String()}})
			}
			time.Sleep(time.Second)
		}
		cancel()
		synctest.Wait()
	})
	edits := len(slices.DeleteFunc(slices.Clone(d.log), func(l string) bool { return !strings.Contains(l, "edit") }))
	if most := editsAMinute * 200 / 60; edits > most || edits < most*8/10 {
		t.Errorf("%d edits in 200 s, want nearly %d", edits, most)
	}
}

// Receipts go before progress, and progress waits for answers.
func TestPriorities(t *testing.T) {
	paced(t, &desk{}, func(p *pacer) {
		done := p.answering()
		p.progress(progress("r", "one"))
		time.Sleep(5 * time.Second)
		p.mark(chat.Mark{Message: "m", Sign: chat.Taken})
		time.Sleep(time.Second)
		done()
		time.Sleep(time.Second)
	}, "5s react m", "6s post r one")
}

// Receipts are tried again when Slack says "too fast", and given up on when it says anything else.
func TestReceiptsAreTriedAgain(t *testing.T) {
	d := &desk{fail: map[string][]error{"react": {
		&slack.RateLimitedError{RetryAfter: 3 * time.Second}, slack.StatusCodeError{Code: 429}, slack.SlackErrorResponse{Err: "ratelimited"}, nil, errors.New("broken"),
	}}}
	paced(t, d, func(p *pacer) {
		p.mark(chat.Mark{Message: "a"})
		synctest.Wait()
		p.mark(chat.Mark{Message: "b"})
		time.Sleep(time.Minute)
	}, "0s react a", "0s react b", "1s react a", "2s react a", "2s react b")
}

// Slack's "too fast" about progress silences all progress for that time, and the Stop button goes in the end.
func TestProgressIsSilencedByALimit(t *testing.T) {
	d := &desk{fail: map[string][]error{"edit": {&slack.RateLimitedError{RetryAfter: 5 * time.Second}, errors.New("broken")}}}
	paced(t, d, func(p *pacer) {
		run := progress("r", "one")
		p.progress(run)
		time.Sleep(2 * time.Second)
		run.Ended = true
		p.progress(run)
		time.Sleep(time.Minute)
	}, "1s post r one", "2s edit r ended", "7s edit r ended", "9s edit r ended")
}

// A run that another process began has its message already; one whose post has an unknown fate may have.
func TestProgressIsNotDoubled(t *testing.T) {
	paced(t, &desk{there: "old"}, func(p *pacer) {
		p.progress(chat.Progress{Run: "r", Started: time.Now().Add(-time.Minute), Lines: []string{"resumed"}})
		time.Sleep(time.Second)
	}, "0s look", "0s edit r resumed")
	paced(t, &desk{there: "old", fail: map[string][]error{"post": {errors.New("lost")}}}, func(p *pacer) {
		run := progress("r", "one")
		p.progress(run)
		time.Sleep(2 * time.Second)
		run.Lines = []string{"two"}
		p.progress(run)
		time.Sleep(5 * time.Second)
	}, "1s post r one", "3s look", "3s edit r two")
}

// Neither a mark nor progress waits for anybody, and what waits is bounded.
func TestLeavingWordNeverBlocks(t *testing.T) {
	p := newPacer(&desk{})
	for range 3 * marksWaiting {
		p.mark(chat.Mark{})
		p.progress(chat.Progress{Run: "r"})
	}
	if len(p.marks) != marksWaiting || len(p.cards) != 1 {
		t.Errorf("%d marks and %d cards wait", len(p.marks), len(p.cards))
	}
}

// The whole way: a message in the thread with a Stop button, edited, and one line in the end.
func TestProgressOnSlack(t *testing.T) {
	s := start(t)
	run := chat.Progress{Run: "run-1", Reply: reply(s.asked()), Started: time.Now().Add(-2 * time.Second), Lines: []string{"counting"}}
	s.bot.Progress(run)
	s.Wait("the message", func() bool { return len(s.Messages()) == 1 })
	if m := s.Messages()[0]; !strings.Contains(string(m.Blocks), `"plumb:stop"`) || !strings.Contains(string(m.Blocks), `"run-1"`) || m.Thread != run.Reply.Conversation.Thread {
		t.Errorf("no Stop button in the thread: %s", m.Blocks)
	}
	if _, _, err := s.bot.Send(t.Context(), answer(run.Reply.Conversation.Thread), 0); err != nil {
		t.Fatal(err)
	}
	s.Wait("the end of it", func() bool { m := s.Messages()[0]; return m.Edits == 1 && !strings.Contains(string(m.Blocks), "stop") })
}
