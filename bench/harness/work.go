package harness

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"plumb/access"
	"plumb/bus"
	"plumb/chat"
	"plumb/dispatch"
	"plumb/evidence"
	"plumb/ledger"
	"plumb/ledger/postgres"
	"plumb/ledger/sqlite"
	"plumb/loop"
	"plumb/model"
	"plumb/model/openai"
	"plumb/tools"
)

// The fixed inputs.
const (
	Question = "Why did orders fall last week? Name the region and the payment method, with numbers."
	Schema   = `{"type":"object","properties":{"sql":{"type":"string","description":"the statement"}},"required":["sql"],"additionalProperties":false}`
	about    = "Run one read-only SQL statement on the warehouse and get up to 20 rows."
)

// ToolsJSON is the tool as the provider reads it.
var ToolsJSON = json.RawMessage(fmt.Sprintf(`[{"type":"function","function":{"name":"run_sql","description":%q,"parameters":%s}}]`, about, Schema))

// fixed is a toolset with one tool that always gives the same table.
type fixed struct{}

func (fixed) Specs() []tools.Spec {
	return []tools.Spec{{Tool: model.Tool{Name: "run_sql", Description: about, Schema: json.RawMessage(Schema)}, Computes: true, Replay: tools.ReadOnly}}
}
func (fixed) Prompt() string {
	return "Sources: warehouse.orders (week VARCHAR, region VARCHAR, orders BIGINT, revenue DOUBLE)"
}
func (fixed) Query(context.Context, string, string) ([]string, [][]any, bool, error) {
	return nil, nil, false, errors.New("not replayed here")
}
func (fixed) Call(_ context.Context, _ string, in tools.Input) (tools.Result, error) {
	return tools.Result{Text: Table, Item: evidence.Item{Summary: "20 rows", SQL: string(in.Args), Columns: []string{"week", "region", "orders", "revenue"}, Rows: rows, RowCount: len(rows)}}, nil
}

var rows = func() [][]any {
	var out [][]any
	for line := range strings.Lines(Table) {
		if f := strings.Split(strings.TrimSpace(line), ","); len(f) == 4 && f[0] != "week" {
			out = append(out, []any{f[0], f[1], f[2], f[3]})
		}
	}
	return out
}()

// blank is a journal that keeps nothing but the ending.
type blank struct{ text string }

func (*blank) Reply(context.Context, int, model.Reply, evidence.Usage) error { return nil }
func (*blank) Results(context.Context, int, []ledger.Call, evidence.Usage) ([]ledger.Said, error) {
	return nil, nil
}
func (b *blank) Finish(_ context.Context, o loop.Outcome) error { b.text = o.Text; return nil }

// quiet is a logger that says what is wrong.
func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

// Loop is the loop alone: nothing is kept.
func Loop(base, name string) func(context.Context) error {
	m := model.WithRetry(openai.New(openai.Options{BaseURL: base, APIKey: "x", Name: name, HTTP: Client}), model.RetryOptions{})
	return func(ctx context.Context) error {
		q := chat.Message{ID: "1", Who: chat.Person{ID: "U1"}, Text: Question}
		j := &blank{}
		err := loop.Run(ctx, loop.Config{Model: m, Tools: fixed{}, Budget: loop.Work(), Journal: j, Log: quiet()},
			ledger.Held{Run: ledger.Run{ID: "r", Question: q, Started: time.Now(), Claimed: time.Now()}, Steps: []ledger.Step{{N: 1, Heard: []ledger.Said{{Message: q}}}}})
		if err == nil && j.text != Answer {
			err = fmt.Errorf("the answer is %q", j.text)
		}
		return err
	}
}

// Durable is the whole road: event, bus, ledger, loop, outbox, post. Each run ends when its post has arrived. The ledger
// is a PostgreSQL's URL, or a folder for SQLite.
func Durable(ctx context.Context, base, name, where string, slots int) (run func(context.Context) error, stop func(), err error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, nil, err
	}
	var l ledger.Ledger
	if strings.HasPrefix(where, "postgres") {
		l, err = postgres.Open(ctx, where)
	} else {
		l, err = sqlite.Open(ctx, filepath.Join(dir, "ledger.db"))
	}
	if err != nil {
		return nil, nil, err
	}
	b, err := bus.Open(ctx, bus.Options{Dir: filepath.Join(dir, "nats"), Log: quiet()})
	if err != nil {
		return nil, nil, err
	}
	d := dispatch.New(dispatch.Config{Ledger: l, Bus: b, Policy: access.New([]access.Rule{{Where: "slack:*:*"}}), Budgets: map[string]loop.Budget{"work": loop.Work()},
		Model: model.WithRetry(openai.New(openai.Options{BaseURL: base, APIKey: "x", Name: name, HTTP: Client}), model.RetryOptions{}),
		Tools: func(access.Grant) loop.Toolset { return fixed{} }, Worker: "bench", Runs: slots, Lease: 30 * time.Second, Log: quiet()})
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var waiting sync.Map
	wg.Go(func() { _ = d.Run(ctx) })
	wg.Go(func() {
		_ = b.Posts(ctx, chat.Slack, func(ctx context.Context, p chat.Post) error {
			if c, ok := waiting.Load(p.Reply.To); ok {
				c.(chan string) <- p.Text
			}
			var ok bool
			return b.Ask(ctx, "delivered", ledger.Delivery{Post: p.ID, IDs: []string{"1"}}, &ok)
		})
	})
	stop = func() {
		cancel()
		wg.Wait()
		b.Close()
		_ = l.Close()
		_ = os.RemoveAll(dir)
	}
	return func(ctx context.Context) error { return through(ctx, b, &waiting) }, stop, nil
}

// through sends one question down the road and waits for its post.
func through(ctx context.Context, b *bus.Bus, waiting *sync.Map) error {
	id := rand.Text()
	answer := make(chan string, 2)
	waiting.Store(id, answer)
	defer waiting.Delete(id)
	m := chat.Message{Conversation: chat.Conversation{Place: chat.Place{Platform: chat.Slack, Team: "T", Channel: "C"}, Thread: id}, ID: id, Who: chat.Person{ID: "U1"},
		Text: Question, Addressed: true, Opens: true, At: time.Now()}
	if err := b.PublishEvent(ctx, chat.Event{Key: id, Message: &m}); err != nil {
		return err
	}
	select {
	case text := <-answer:
		if text != Answer {
			return fmt.Errorf("the answer is %q", text)
		}
		return nil
	case <-time.After(5 * time.Minute):
		return errors.New("no answer within five minutes")
	}
}
