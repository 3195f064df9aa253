package discord

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"plumb/chat"
)

const (
	progressDelay = time.Second             // a run that is over sooner shows no progress
	progressPace  = 2500 * time.Millisecond // between two edits of one message
	progressIdle  = time.Hour               // without news: the run went elsewhere
	progressLines = 10
	progressTries = 10 // in a row; then the run goes on unseen
)

// A screen shows how a run stands: in a new message when id is empty, else in that one. It returns the message's id.
type screen interface {
	show(ctx context.Context, p chat.Progress, id string) (string, error)
}

// A board keeps one progress message for each run that lasts. One goroutine a run writes it, so that edits can not
// overtake each other; what comes while one is on its way replaces what waits.
type board struct {
	crew   *crew
	screen screen

	mu    sync.Mutex
	views map[string]*view
	ended *memory[bool] // runs whose progress is over, whatever still comes in
}

type view struct {
	latest chat.Progress
	news   chan struct{}
}

func newBoard(c *crew, s screen) *board {
	return &board{crew: c, screen: s, views: map[string]*view{}, ended: newMemory[bool](5000)}
}

// Progress shows how a run stands. It returns at once; some states may never be seen.
func (a *Adapter) Progress(p chat.Progress) { a.board.update(p) }

func (b *board) update(p chat.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, over := b.ended.get(p.Run); over {
		return
	}
	if p.Ended {
		b.ended.put(p.Run, true)
	}
	v := b.views[p.Run]
	switch {
	case v != nil:
		v.set(p)
	case !p.Ended:
		v = &view{news: make(chan struct{}, 1)}
		v.set(p)
		b.views[p.Run] = v
		b.crew.do("progress/"+p.Run, func(ctx context.Context) { b.follow(ctx, v) })
	}
}

// finish ends the progress of a run whose answer is out.
func (b *board) finish(run string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended.put(run, true)
	if v := b.views[run]; v != nil {
		p := v.latest
		p.Ended = true
		v.set(p)
	}
}

func (v *view) set(p chat.Progress) {
	v.latest = p
	select {
	case v.news <- struct{}{}:
	default:
	}
}

func (b *board) look(v *view) chat.Progress {
	b.mu.Lock()
	defer b.mu.Unlock()
	return v.latest
}

// follow shows a run until it has ended.
func (b *board) follow(ctx context.Context, v *view) {
	p := b.look(v)
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.views, p.Run)
	}()
	if !b.crew.pause(ctx, time.Until(p.Started.Add(progressDelay))) {
		return
	}
	id := ""
	for failures := 0; failures < progressTries; {
		select { // what is to be read now is about to be read
		case <-v.news:
		default:
		}
		p = b.look(v)
		if p.Ended && id == "" {
			return
		}
		made, err := b.screen.show(ctx, p, id)
		after, again := chat.Retryable(judge(err))
		if err == nil {
			id, failures = made, 0
		} else {
			failures++
		}
		if p.Ended && !again {
			return
		}
		if !b.crew.pause(ctx, max(progressPace, after)) || (!again && !b.await(ctx, v)) {
			return
		}
	}
}

// await waits for news and says whether there are any.
func (b *board) await(ctx context.Context, v *view) bool {
	t := time.NewTimer(progressIdle)
	defer t.Stop()
	select {
	case <-v.news:
		return true
	case <-t.C:
	case <-b.crew.leaving:
	case <-ctx.Done():
	}
	return false
}

// show implements [screen].
func (a *Adapter) show(ctx context.Context, p chat.Progress, id string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	channel, m := channelOf(p.Reply.Conversation), progressMessage(p)
	if id == "" && p.Started.Before(a.started) {
		id = a.adopt(ctx, channel, p)
	}
	if id != "" {
		return id, a.rest.edit(ctx, channel, id, m)
	}
	m.Nonce, m.EnforceNonce = nonce("progress", p.Run), true
	return a.rest.post(ctx, channel, m)
}

// adopt finds the progress message that this program, before it was started again, left in the thread.
func (a *Adapter) adopt(ctx context.Context, channel string, p chat.Progress) string {
	me := a.me.Load()
	messages, err := a.rest.after(ctx, channel, since(p.Reply))
	if err != nil || me == nil {
		return ""
	}
	for _, m := range messages {
		if run, ok := stopButton(&m.Message); ok && run == p.Run && m.Author != nil && m.Author.ID == me.ID {
			return m.ID
		}
	}
	return ""
}

// progressMessage is how a run stands: its last steps and a Stop button, or, when it is over, one line.
func progressMessage(p chat.Progress) message {
	took := time.Since(p.Started).Round(time.Second)
	if p.Ended {
		return text(fmt.Sprintf("-# Worked for %s%s.", took, steps(len(p.Lines))))
	}
	lines := p.Lines[max(0, len(p.Lines)-progressLines):]
	var out strings.Builder
	out.WriteString("**Working on it**")
	if hidden := len(p.Lines) - len(lines); hidden > 0 {
		fmt.Fprintf(&out, "\n-# … %d earlier steps", hidden)
	}
	for _, l := range lines {
		out.WriteString("\n-# " + shorten(oneLine(undisguised(l)), 150))
	}
	m := text(out.String())
	m.Components = row(button(string(chat.Stop), chat.Stop.Label(), p.Run))
	return m
}

func steps(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", 1 step"
	}
	return fmt.Sprintf(", %d steps", n)
}
