package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"plumb/chat"
)

// SignalStop tells whoever works on a run that it was stopped. It only makes the stop quick: the flag in the ledger is
// what makes it sure.
func (b *Bus) SignalStop(run string) error { return b.nc.Publish("plumb.stop."+token(run), nil) }

// OnStop calls back for every signal of a stop, until the returned function is called.
func (b *Bus) OnStop(stopped func(run string)) (cancel func(), err error) {
	return b.listen("plumb.stop.*", func(m *nats.Msg) { stopped(strings.TrimPrefix(m.Subject, "plumb.stop.")) })
}

// ShowProgress and ShowMark tell the adapter of a platform something that may be lost.
func (b *Bus) ShowProgress(p chat.Progress) error {
	return b.show("progress", p.Reply.Conversation.Platform, p)
}

// ShowMark sends a receipt to the adapter of its platform.
func (b *Bus) ShowMark(m chat.Mark) error { return b.show("mark", m.Conversation.Platform, m) }

func (b *Bus) show(kind, platform string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.nc.Publish("plumb."+kind+"."+token(platform), data)
}

// OnProgress calls back for the progress of runs on a platform, in order; OnMark for receipts.
func (b *Bus) OnProgress(platform string, show func(chat.Progress)) (cancel func(), err error) {
	return on(b, "plumb.progress."+platform, show)
}

// OnMark calls back for receipts on a platform.
func (b *Bus) OnMark(platform string, show func(chat.Mark)) (cancel func(), err error) {
	return on(b, "plumb.mark."+platform, show)
}

func on[T any](b *Bus, subject string, f func(T)) (func(), error) {
	return b.listen(subject, func(m *nats.Msg) {
		var v T
		if err := json.Unmarshal(m.Data, &v); err != nil {
			b.log.Warn("a signal cannot be read", "subject", m.Subject, "error", err)
			return
		}
		f(v)
	})
}

func (b *Bus) listen(subject string, f nats.MsgHandler) (func(), error) {
	sub, err := b.nc.Subscribe(subject, f)
	if err != nil {
		return nil, err
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// reply is how an answer travels. Refused is a sentence for the person who asked.
type reply struct {
	Body    json.RawMessage `json:"body,omitempty"`
	Refused string          `json:"refused,omitempty"`
}

// Ask puts a question to whoever serves it and reads the answer into out.
func (b *Bus) Ask(ctx context.Context, subject string, in, out any) error {
	data, err := json.Marshal(in)
	if err != nil {
		return err
	}
	m, err := b.nc.RequestWithContext(ctx, "plumb.api."+subject, data)
	if errors.Is(err, nats.ErrNoResponders) {
		return errors.New("no executor is there to answer")
	}
	if err != nil {
		return fmt.Errorf("no executor answers: %w", err)
	}
	var r reply
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return err
	}
	if r.Refused != "" {
		return errors.New(r.Refused)
	}
	return json.Unmarshal(r.Body, out)
}

// Serve answers questions, sharing them with everybody else who serves the same, until the returned function is called.
// An error of f is told to the asker as it is. Each question has five seconds.
func Serve[In, Out any](b *Bus, subject string, f func(context.Context, In) (Out, error)) (cancel func(), err error) {
	sub, err := b.nc.QueueSubscribe("plumb.api."+subject, "executors", func(m *nats.Msg) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		var in In
		var r reply
		err := json.Unmarshal(m.Data, &in)
		if err == nil {
			var out Out
			if out, err = f(ctx, in); err == nil {
				r.Body, err = json.Marshal(out)
			}
		}
		if err != nil {
			r.Refused = err.Error()
		}
		data, _ := json.Marshal(r)
		if err := m.Respond(data); err != nil {
			b.log.Warn("an answer could not be sent", "subject", m.Subject, "error", err)
		}
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = sub.Drain() }, nil
}

// Book remembers how far the delivery of each post has come, so that another bot process can go on with it.
type Book struct{ kv jetstream.KeyValue }

// Book is the book of deliveries.
func (b *Bus) Book() Book { return Book{b.book} }

// Load reads what is known of a post's delivery into v, which stays as it is if nothing is.
func (k Book) Load(ctx context.Context, post string, v any) error {
	e, err := k.kv.Get(ctx, token(post))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(e.Value(), v)
}

// Save keeps what is known of a post's delivery.
func (k Book) Save(ctx context.Context, post string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = k.kv.Put(ctx, token(post), data)
	return err
}
