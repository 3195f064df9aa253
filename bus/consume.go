package bus

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// consume reads a stream until ctx ends and waits for what is being handled. With a key, messages of one key are handled
// in their order, each key in one of the lanes; without, a message is asked for only when a lane is free.
func consume[T any](ctx context.Context, b *Bus, c consumer, handle func(context.Context, T) error, key func(T) string) error {
	cons, err := b.js.CreateOrUpdateConsumer(ctx, c.stream, jetstream.ConsumerConfig{
		Durable: c.name, FilterSubject: c.filter, AckPolicy: jetstream.AckExplicitPolicy, AckWait: c.patience, MaxAckPending: -1, MaxDeliver: -1})
	if ctx.Err() != nil {
		return nil // asked to end before it began
	}
	if err != nil {
		return err
	}
	one := func(m jetstream.Msg, v T) {
		b.settle(ctx, c, m, held(m, c.patience/3, func() error { return handle(ctx, v) }))
	}
	if key == nil {
		return takeWhenFree(ctx, b, cons, c, one)
	}
	return takeInOrder(ctx, b, cons, c, one, key)
}

// takeWhenFree asks for one message at a time, and only when a lane is free.
func takeWhenFree[T any](ctx context.Context, b *Bus, cons jetstream.Consumer, c consumer, one func(jetstream.Msg, T)) error {
	free := make(chan struct{}, c.lanes)
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		m, v, err := fetch[T](ctx, b, cons, c)
		if err != nil {
			return nil // ctx has ended
		}
		wg.Go(func() {
			defer func() { <-free }()
			one(m, v)
		})
	}
}

// takeInOrder deals messages out to lanes by their key.
func takeInOrder[T any](ctx context.Context, b *Bus, cons jetstream.Consumer, c consumer, one func(jetstream.Msg, T), key func(T) string) error {
	type letter struct {
		m jetstream.Msg
		v T
	}
	lanes := make([]chan letter, c.lanes)
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range lanes {
		lanes[i] = make(chan letter, 16)
		defer close(lanes[i])
		wg.Go(func() {
			for l := range lanes[i] {
				if ctx.Err() != nil {
					leave(l.m)
					continue
				}
				one(l.m, l.v)
			}
		})
	}
	for {
		m, v, err := fetch[T](ctx, b, cons, c)
		if err != nil {
			return nil // ctx has ended
		}
		h := fnv.New32a()
		_, _ = h.Write([]byte(key(v)))
		select {
		case lanes[h.Sum32()%uint32(len(lanes))] <- letter{m, v}:
		case <-ctx.Done():
			return nil
		}
	}
}

// fetch waits for one message, however long it takes; its error means that ctx has ended. Pull requests get lost now
// and then, with the connection or without, so each lives for a few seconds only and is then made again.
func fetch[T any](ctx context.Context, b *Bus, cons jetstream.Consumer, c consumer) (m jetstream.Msg, v T, err error) {
	for ctx.Err() == nil {
		wait, cancel := context.WithTimeout(ctx, 5*time.Second)
		batch, err := cons.Fetch(1, jetstream.FetchContext(wait), jetstream.FetchHeartbeat(time.Second))
		if err == nil {
			for m = range batch.Messages() {
			}
			err = batch.Error()
		}
		cancel()
		if m == nil {
			if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, jetstream.ErrNoHeartbeat) && ctx.Err() == nil {
				b.log.Debug("cannot read a stream; trying again", "stream", c.stream, "error", err)
				pause(ctx, 200*time.Millisecond)
			}
			continue
		}
		if err := json.Unmarshal(m.Data(), &v); err != nil {
			b.bury(ctx, c, m, err)
			m = nil
			continue
		}
		return m, v, nil
	}
	return nil, v, context.Cause(ctx)
}

// held handles a message and reports all the while that it is being handled, so that nobody else gets it.
func held(m jetstream.Msg, every time.Duration, handle func() error) error {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				_ = m.InProgress()
			case <-done:
				return
			}
		}
	})
	err := handle()
	close(done)
	wg.Wait()
	return err
}

// settle acknowledges what was handled and arranges for another try of what was not. The acknowledgement is confirmed by
// the server, which is what keeps pull requests for single messages from stalling.
func (b *Bus) settle(ctx context.Context, c consumer, m jetstream.Msg, err error) {
	if err == nil {
		confirm, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := m.DoubleAck(confirm); err != nil {
			b.log.Debug("an acknowledgement was not confirmed; the message may come again", "subject", m.Subject(), "error", err)
		}
		return
	}
	if ctx.Err() != nil {
		leave(m)
		return
	}
	meta, metaErr := m.Metadata()
	if metaErr == nil && c.tries > 0 && meta.NumDelivered >= c.tries && !errors.Is(err, ErrLater) {
		b.bury(ctx, c, m, err)
		return
	}
	if !errors.Is(err, ErrLater) {
		b.log.Warn("a message could not be handled and will come again", "subject", m.Subject(), "error", err)
	}
	_ = m.NakWithDelay(c.backoff)
}

// leave gives a message back because this process leaves. The delay lets our own pull requests go first, or the server
// would hand the message to one of them.
func leave(m jetstream.Msg) { _ = m.NakWithDelay(500 * time.Millisecond) }

// bury puts a message that cannot be handled among the dead letters, with the reason.
func (b *Bus) bury(ctx context.Context, c consumer, m jetstream.Msg, why error) {
	b.log.Error("a message goes to the dead letters", "subject", m.Subject(), "error", why)
	letter := map[string]any{"subject": m.Subject(), "reason": why.Error(), "data": string(m.Data()), "at": time.Now().UTC()}
	if err := b.publish(ctx, "plumb.dead."+c.name, letter, ""); err != nil {
		_ = m.NakWithDelay(c.backoff)
		return
	}
	_ = m.TermWithReason(why.Error())
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
