package discord

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"plumb/adapters/discord/discordtest"
	"plumb/chat"
	"plumb/chat/chattest"
)

// The REST routes on which tests order faults.
const (
	routePost   = "POST /channels/{channel}/messages"
	routeEdit   = "PATCH /channels/{channel}/messages/{message}"
	routeThread = "POST /channels/{channel}/messages/{message}/threads"
	routeReact  = "PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me"
	routeSelf   = "GET /users/@me"
	routeAck    = "POST /interactions/{use}/{token}/callback"
)

// A bench is an adapter at work against a Discord of the test's own.
type bench struct {
	t   *testing.T
	d   *discordtest.Server
	a   *Adapter
	ran chan error

	mu       sync.Mutex
	events   []chat.Event
	refuse   int // publishes to refuse
	exhibits func(run string, who chat.Person, at chat.Place) ([]chat.Exhibit, error)
	arrived  chan struct{}
}

// quick is the adapter's pace for tests: a heartbeat of the fake is 200 ms.
var quick = pace{
	open: 2500 * time.Millisecond, silence: 400 * time.Millisecond, check: 20 * time.Millisecond, reconnect: 10 * time.Millisecond, reconnectMax: 50 * time.Millisecond,
	drain: 2 * time.Second, short: 200 * time.Millisecond, ack: 2500 * time.Millisecond,
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, d: discordtest.New(), ran: make(chan error, 1), arrived: make(chan struct{}, 1000)}
	t.Cleanup(b.d.Close)
	b.a = New(Config{Token: discordtest.Token, APIURL: b.d.URL()}, Deps{Publish: b.publish, Exhibits: b.show, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	b.a.pace = quick
	return b
}

// start runs the adapter until the test ends, or until it ends by itself.
func start(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.run()
	b.await("the bot to be ready", func() bool { return b.a.Ready() == nil })
	return b
}

func (b *bench) run() {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { b.ran <- b.a.Run(ctx) })
	b.t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
}

func (b *bench) publish(_ context.Context, e chat.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse > 0 {
		b.refuse--
		return errors.New("the bus is away")
	}
	b.events = append(b.events, e)
	b.arrived <- struct{}{}
	return nil
}

func (b *bench) show(_ context.Context, run string, who chat.Person, at chat.Place) ([]chat.Exhibit, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.exhibits == nil {
		return nil, nil
	}
	return b.exhibits(run, who, at)
}

// event waits for the next event that was published.
func (b *bench) event() chat.Event {
	b.t.Helper()
	select {
	case <-b.arrived:
	case <-time.After(10 * time.Second):
		b.t.Fatal("no event came")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.events[0]
	b.events = b.events[1:]
	return e
}

// quiet fails the test if there is an event that it did not ask for.
func (b *bench) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		b.t.Errorf("an event too many: %+v", e)
	}
}

func (b *bench) await(what string, cond func() bool) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond) // for conditions that are not the fake's
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			b.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// one waits for exactly one message in a channel that holds some words.
func (b *bench) one(channel, words string) discordtest.Message {
	b.t.Helper()
	var found []discordtest.Message
	b.await("a message with "+words, func() bool {
		found = nil
		for _, m := range b.d.Messages(channel) {
			if m.Author == discordtest.Bot && strings.Contains(m.Content, words) {
				found = append(found, m)
			}
		}
		return len(found) > 0
	})
	if len(found) != 1 {
		b.t.Fatalf("%d messages with %q", len(found), words)
	}
	return found[0]
}

// asked has Ann open a thread, and gives the conversation that the bot made of it.
func (b *bench) asked() chat.Conversation {
	b.t.Helper()
	b.d.Asks(discordtest.General, discordtest.Ann, "How many?")
	return b.event().Message.Conversation
}

func TestContract(t *testing.T) {
	t.Parallel()
	chattest.RunPoster(t, func(t *testing.T) chattest.Harness {
		b := start(t)
		conv := b.asked()
		b.await("the receipt", func() bool { return len(b.d.Message(conv.Thread).Reactions) == 1 })
		return chattest.Harness{
			Poster: b.a,
			Reply:  chat.Reply{Conversation: conv, To: conv.Thread},
			Shown: func() []string {
				// The suite sends a part twice and wants to see it twice; with its nonce still known Discord would not.
				b.d.Forget()
				var out []string
				for _, m := range b.d.Messages(conv.Thread) {
					out = append(out, m.Content)
				}
				return out
			},
			Limit:   func(d time.Duration) { b.d.Fail(routePost, "", discordtest.EdgeLimit(d)) },
			Lose:    func() { b.d.Fail(routePost, "", discordtest.Lose(502)) },
			Refuse:  func() { b.d.Fail(routePost, "", discordtest.Refuse(403, 50013)) },
			Secrets: []string{discordtest.Token},
		}
	})
}

func TestReady(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if b.a.Ready() == nil {
		t.Error("ready before it runs")
	}
	if got := b.a.Platform(); got != "discord" {
		t.Errorf("platform %q", got)
	}
	b.d.Fail("PUT /applications/{app}/commands", "", discordtest.Refuse(403, 50001))
	b.run()
	b.await("the failure to show", func() bool { return b.a.Ready() != nil && strings.Contains(b.a.Ready().Error(), "permission") })
}

func TestRootsWithAnySlashes(t *testing.T) {
	t.Parallel()
	for _, tail := range []string{"", "/", "//"} {
		d := discordtest.New()
		defer d.Close()
		for _, root := range []string{strings.TrimSuffix(d.URL(), "/") + tail, strings.Replace(d.URL(), "/api/", "//api/", 1)} {
			me, err := newClient(Config{Token: discordtest.Token, APIURL: root}).self(t.Context())
			if err != nil || me.ID != discordtest.Bot {
				t.Errorf("%s: %v, %v", root, me, err)
			}
		}
	}
}

// A wrong token ends the bot at once, with a sentence that says what to do and does not hold the token.
func TestRefusedToken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.d.Expire()
	err := b.a.Run(t.Context())
	if !errors.Is(err, errToken) || strings.Contains(err.Error(), discordtest.Token) {
		t.Errorf("got %v", err)
	}
}

// What was heard before the end is published before Run returns.
func TestDrain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	release := make(chan struct{})
	b.d.Fail(routeThread, "", discordtest.Hold(release))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { b.ran <- b.a.Run(ctx) }()
	b.await("the bot to be ready", func() bool { return b.a.Ready() == nil })
	b.d.Asks(discordtest.General, discordtest.Ann, "How many?")
	b.await("the thread to be asked for", func() bool { return len(b.d.Requests(routeThread)) == 1 })
	cancel()
	close(release)
	if err := <-b.ran; err != nil {
		t.Error(err)
	}
	if e := b.event(); e.Message == nil || e.Message.Text != "How many?" {
		t.Errorf("got %+v", e)
	}
}
