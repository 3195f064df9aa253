package slack

import (
	"context"
	"slices"
	"sync"
	"time"

	"plumb/chat"
)

// The pace of what may come late. Slack allows a workspace about 50 edits a minute, whatever the number of runs.
const (
	quietStart    = time.Second // a shorter run shows no progress message
	shortestPause = 2 * time.Second
	editsAMinute  = 45
	triesAtMost   = 8
	errandTimeout = 10 * time.Second
	marksWaiting  = 1_000
	cardLife      = 10 * time.Minute // how long a run that has ended is remembered
	cardForgotten = 6 * time.Hour    // a run that says nothing for so long has ended somewhere else
	resumedAfter  = 10 * time.Second // a run first heard of at this age may have a progress message already
)

// errands are the calls that the pacer makes.
type errands interface {
	react(ctx context.Context, m chat.Mark) error
	show(ctx context.Context, p chat.Progress, ts string, now time.Time) (string, error)
	shown(ctx context.Context, p chat.Progress) (string, error)
}

// A pacer makes the calls that may be late or lost: receipts first, then progress, and no progress while an answer is
// on its way. Of the progress of a run only the newest counts. One goroutine makes all calls; the others only leave
// word.
type pacer struct {
	errands errands
	wake    chan struct{}

	mu      sync.Mutex
	marks   []*receipt
	cards   map[string]*card
	answers int       // being sent right now
	quiet   time.Time // no progress before: Slack said "too fast"
}

// A receipt is a mark that has yet to be made.
type receipt struct {
	mark  chat.Mark
	due   time.Time
	tries int
}

// A card is the progress message of a run.
type card struct {
	latest  chat.Progress
	version int // of latest; shown is the last one that people see
	shown   int
	ts      string // the message; empty if there is none
	look    bool   // there may be one all the same
	due     time.Time
	touched time.Time
	ended   bool
	tries   int
}

func newPacer(e errands) *pacer {
	return &pacer{errands: e, wake: make(chan struct{}, 1), cards: map[string]*card{}}
}

// mark leaves a receipt to be made. With too many waiting the oldest is dropped: Slack is not taking any.
func (p *pacer) mark(m chat.Mark) {
	p.mu.Lock()
	p.marks = append(p.marks, &receipt{mark: m, due: time.Now()})
	if len(p.marks) > marksWaiting {
		p.marks = p.marks[1:]
	}
	p.mu.Unlock()
	p.nudge()
}

// progress leaves word of how a run stands.
func (p *pacer) progress(latest chat.Progress) {
	p.mu.Lock()
	now := time.Now()
	c := p.cards[latest.Run]
	if c == nil {
		started := latest.Started
		if started.IsZero() {
			started = now
		}
		c = &card{due: started.Add(quietStart), look: now.Sub(started) > resumedAfter}
		p.cards[latest.Run] = c
		p.forget(now)
	}
	if !c.ended {
		c.latest, c.touched, c.tries = latest, now, 0
		c.version++
		if c.ended = latest.Ended; c.ended {
			c.due = now // the Stop button should go as soon as there is nothing to stop
		}
	}
	p.mu.Unlock()
	p.nudge()
}

// end is the progress of a run whose last post is out, in case nobody else says so.
func (p *pacer) end(run string) {
	p.mu.Lock()
	c := p.cards[run]
	var latest chat.Progress
	if c != nil {
		latest = c.latest
	}
	p.mu.Unlock()
	if c != nil {
		latest.Ended = true
		p.progress(latest)
	}
}

// forget drops the cards of runs that are over. The caller holds mu.
func (p *pacer) forget(now time.Time) {
	for run, c := range p.cards {
		idle := now.Sub(c.touched)
		if !c.touched.IsZero() && ((c.ended && idle > cardLife) || idle > cardForgotten) {
			delete(p.cards, run)
		}
	}
}

// answering says that an answer is being sent, until the returned function is called.
func (p *pacer) answering() (done func()) {
	p.mu.Lock()
	p.answers++
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		p.answers--
		p.mu.Unlock()
		p.nudge()
	}
}

func (p *pacer) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run makes the calls until ctx ends.
func (p *pacer) run(ctx context.Context) {
	for ctx.Err() == nil {
		errand, wait := p.next(time.Now())
		if errand != nil {
			call, cancel := context.WithTimeout(ctx, errandTimeout)
			errand(call)
			cancel()
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-p.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// next is what to do now, or how long there is nothing to do.
func (p *pacer) next(now time.Time) (errand func(context.Context), wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait = time.Minute
	for _, r := range p.marks {
		if !r.due.After(now) {
			return func(ctx context.Context) { p.makeMark(ctx, r) }, 0
		}
		wait = min(wait, r.due.Sub(now))
	}
	if p.answers > 0 {
		return nil, wait // the end of the answer wakes
	}
	var first *card
	for _, c := range p.cards {
		if c.version > c.shown && (first == nil || c.due.Before(first.due)) {
			first = c
		}
	}
	if first == nil {
		return nil, wait
	}
	due := first.due
	if p.quiet.After(due) {
		due = p.quiet
	}
	if due.After(now) {
		return nil, min(wait, due.Sub(now))
	}
	return func(ctx context.Context) { p.showCard(ctx, first) }, 0
}

func (p *pacer) makeMark(ctx context.Context, r *receipt) {
	err := p.errands.react(ctx, r.mark)
	after, limited := rateLimited(err)
	p.mu.Lock()
	defer p.mu.Unlock()
	r.tries++
	if limited && r.tries < triesAtMost {
		// All receipts go through one method of Slack's, so all of them wait.
		for _, other := range p.marks {
			other.due = time.Now().Add(after)
		}
		return
	}
	p.marks = slices.DeleteFunc(p.marks, func(x *receipt) bool { return x == r })
}

// showCard brings a progress message up to date. What goes wrong with it is forgotten, up to one thing: after a call
// of unknown fate the message is looked for, so that a run never has two.
func (p *pacer) showCard(ctx context.Context, c *card) {
	p.mu.Lock()
	latest, version, ts, look := c.latest, c.version, c.ts, c.look
	p.mu.Unlock()
	var err error
	if ts == "" && look {
		ts, err = p.errands.shown(ctx, latest)
	}
	if err == nil && (ts != "" || !latest.Ended) {
		var posted string
		if posted, err = p.errands.show(ctx, latest, ts, time.Now()); posted != "" {
			ts = posted
		}
	}
	after, limited := rateLimited(err)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	c.ts, c.due = ts, now.Add(p.pause())
	if c.ended && c.version > version {
		c.due = now
	}
	c.look = err != nil && !limited && code(err) == ""
	c.tries++
	switch {
	case limited && c.tries < triesAtMost:
		p.quiet = now.Add(after)
	case err != nil && c.ended && ts != "" && c.tries < 3:
		c.due = now.Add(shortestPause) // a Stop button for a run that is over is worth another try
	default:
		c.shown = version
	}
}

// pause is the time between two edits of one message, so that all runs together keep to what Slack allows. The caller
// holds mu.
func (p *pacer) pause() time.Duration {
	active := 0
	for _, c := range p.cards {
		if !c.ended {
			active++
		}
	}
	return max(shortestPause, time.Minute*time.Duration(active)/editsAMinute)
}
