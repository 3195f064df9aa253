package discord

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// A crew does the adapter's work beside the gateway. Jobs of one key run one after the other in the order in which they
// came, jobs of different keys side by side: a thread keeps its order, and no thread waits for another.
type crew struct {
	log    *slog.Logger
	ctx    context.Context // of all jobs: they outlive the handler that ordered them
	cancel context.CancelCauseFunc

	leaving chan struct{} // closed by close

	mu     sync.Mutex
	closed bool
	queues map[string][]func(context.Context)
	wg     sync.WaitGroup
}

var errClosed = errors.New("the Discord adapter is shutting down")

func newCrew(log *slog.Logger) *crew {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &crew{log: log, ctx: ctx, cancel: cancel, leaving: make(chan struct{}), queues: map[string][]func(context.Context){}}
}

// do orders a job and returns at once. After close only what jobs under way order is still done.
func (c *crew) do(key string, job func(context.Context)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed && len(c.queues) == 0 {
		return
	}
	if queue, busy := c.queues[key]; busy {
		c.queues[key] = append(queue, job)
		return
	}
	c.queues[key] = nil
	c.wg.Go(func() {
		for job := job; job != nil; job = c.next(key) {
			c.safely(job)
		}
	})
}

// next takes the next job of a key; with none left the key is free again.
func (c *crew) next(key string) func(context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	queue := c.queues[key]
	if len(queue) == 0 {
		delete(c.queues, key)
		return nil
	}
	c.queues[key] = queue[1:]
	return queue[0]
}

// safely keeps the panic of one job from ending the program.
func (c *crew) safely(job func(context.Context)) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("a Discord job panicked", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	job(c.ctx)
}

// close takes no more jobs, gives those under way some time, cuts them off, and waits for them.
func (c *crew) close(grace time.Duration) {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.leaving)
	}
	c.mu.Unlock()
	t := time.AfterFunc(grace, func() { c.cancel(errClosed) })
	defer t.Stop()
	c.wg.Wait()
	c.cancel(errClosed)
}

// pause waits within a job, and says whether the time has passed; false when the crew is leaving.
func (c *crew) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.leaving:
	case <-ctx.Done():
	}
	return false
}
