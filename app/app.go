package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"plumb/adapters"
	"plumb/adapters/discord"
	"plumb/adapters/slack"
	"plumb/bus"
	"plumb/chat"
	"plumb/dispatch"
	"plumb/ledger"
	"plumb/ledger/postgres"
	"plumb/ledger/sqlite"
)

// A Side is what a process does of the whole. The bot is the chat side, and with no NATS named the work side too; the
// executor is the work side alone.
type Side int

// The sides.
const (
	ChatSide Side = 1 << iota
	WorkSide
)

// BotSides are the sides of the bot with this configuration.
func (c Config) BotSides() Side {
	if c.NATS.URL == "" {
		return ChatSide | WorkSide
	}
	return ChatSide
}

// App is one of the programs, built and not yet running.
type App struct {
	config     Config
	log        *slog.Logger
	bus        *bus.Bus
	ledger     ledger.Ledger        // of the work side
	workshop   *workshop            // likewise
	dispatcher *dispatch.Dispatcher // likewise
	adapters   []adapters.Adapter   // of the chat side
	http       *front
	stops      []stop // undone in reverse
}

type stop struct {
	name string
	f    func() error
}

// New builds a program. What it has started when a later step fails is stopped again.
func New(ctx context.Context, c Config, sides Side, log *slog.Logger) (_ *App, err error) {
	a := &App{config: c, log: log}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	if err := a.lock(); err != nil {
		return nil, err
	}
	if a.bus, err = bus.Open(ctx, bus.Options{URL: c.NATS.URL, Dir: filepath.Join(c.DataDir, "nats"), Log: log}); err != nil {
		return nil, err
	}
	a.onClose("bus", func() error { a.bus.Close(); return nil })
	if sides&WorkSide != 0 {
		if err := a.buildWork(ctx); err != nil {
			return nil, err
		}
	}
	if sides&ChatSide != 0 {
		a.buildChat()
	}
	if a.http, err = listen(c.HTTP.Listen, a.ready); err != nil {
		return nil, err
	}
	a.onClose("http", a.http.close)
	return a, nil
}

func (a *App) onClose(name string, f func() error) { a.stops = append(a.stops, stop{name, f}) }

// Close undoes what New did.
func (a *App) Close() {
	for i := len(a.stops) - 1; i >= 0; i-- {
		if err := a.stops[i].f(); err != nil {
			a.log.Warn("a part did not stop cleanly", "part", a.stops[i].name, "error", err)
		}
	}
	a.stops = nil
}

// lock takes the data folder for this process: two that share one would tread on each other's streams.
func (a *App) lock() error {
	if err := os.MkdirAll(a.config.DataDir, 0o755); err != nil {
		return fmt.Errorf("data_dir cannot be made: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(a.config.DataDir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("data_dir cannot be written: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return fmt.Errorf("data_dir %s is in use by another program of this kind: stop it, or give this one another data_dir", a.config.DataDir)
	}
	a.onClose("lock", f.Close)
	return nil
}

// OpenLedger opens the ledger that the configuration names.
func OpenLedger(ctx context.Context, c Config) (ledger.Ledger, error) {
	if c.Ledger.URL != "" {
		return postgres.Open(ctx, c.Ledger.URL)
	}
	if err := os.MkdirAll(c.DataDir, 0o755); err != nil {
		return nil, fmt.Errorf("data_dir cannot be made: %w", err)
	}
	return sqlite.Open(ctx, filepath.Join(c.DataDir, "ledger.db"))
}

func (a *App) buildWork(ctx context.Context) error {
	var err error
	if a.ledger, err = OpenLedger(ctx, a.config); err != nil {
		return err
	}
	a.onClose("ledger", a.ledger.Close)
	if a.workshop, err = openWorkshop(ctx, a.config, a.log); err != nil {
		return err
	}
	a.onClose("sources", a.workshop.close)
	a.dispatcher, err = newDispatcher(a.config, a.bus, a.ledger, a.workshop, drain, a.log)
	return err
}

// drain is how long runs may go on when the process is asked to leave.
const drain = 30 * time.Second

// newDispatcher joins the parts of the work side.
func newDispatcher(c Config, b *bus.Bus, l ledger.Ledger, w *workshop, drain time.Duration, log *slog.Logger) (*dispatch.Dispatcher, error) {
	m, err := c.primary()
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	return dispatch.New(dispatch.Config{Ledger: l, Bus: b, Policy: c.policy(), Budgets: c.budgets(), Model: m, Price: c.price(), Tools: w.toolset,
		Worker: fmt.Sprintf("%s/%d", host, os.Getpid()), Runs: c.Limits.Runs, Lease: duration(c.Limits.Lease), Drain: drain, Label: c.label(), Log: log}), nil
}

func (a *App) buildChat() {
	publish := a.bus.PublishEvent
	exhibits := func(ctx context.Context, run string, who chat.Person, at chat.Place) (out []chat.Exhibit, err error) {
		return out, a.bus.Ask(ctx, "exhibits", dispatch.Look{Run: run, Who: who, At: at}, &out)
	}
	if s := a.config.Slack; s != nil {
		a.adapters = append(a.adapters, slack.New(slack.Config{AppToken: s.AppToken, BotToken: s.BotToken, APIURL: s.APIURL},
			slack.Deps{Publish: publish, Exhibits: exhibits, Log: a.log.With("platform", chat.Slack)}))
	}
	if d := a.config.Discord; d != nil {
		a.adapters = append(a.adapters, discord.New(discord.Config{Token: d.Token, APIURL: d.APIURL, CommandsGuild: d.CommandsGuild},
			discord.Deps{Publish: publish, Exhibits: exhibits, Log: a.log.With("platform", chat.Discord)}))
	}
}

// ready says what is not in order, or nil.
func (a *App) ready(ctx context.Context) error {
	errs := []error{a.bus.Ready()}
	if a.ledger != nil {
		errs = append(errs, a.ledger.Ping(ctx))
	}
	for _, p := range a.adapters {
		if err := p.Ready(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.Platform(), err))
		}
	}
	return errors.Join(errs...)
}

// Run works until ctx ends, or a part cannot go on. Then the work side finishes what it can and hands back the rest, and
// what it has to say goes out before the chat side leaves.
func (a *App) Run(ctx context.Context) error {
	talking, hangUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer hangUp(nil)
	chats, chatsCtx := errgroup.WithContext(talking)
	for _, p := range a.adapters {
		chats.Go(func() error { return adapters.Serve(chatsCtx, p, a.bus, a.log.With("platform", p.Platform())) })
	}
	chats.Go(func() error { return a.http.serve(chatsCtx) })

	working, done := context.WithCancelCause(ctx)
	defer done(nil)
	defer context.AfterFunc(chatsCtx, func() { done(context.Cause(chatsCtx)) })()
	a.log.Info("ready", "http", a.config.HTTP.Listen)
	var err error
	if a.dispatcher != nil {
		err = a.dispatcher.Run(working)
		a.sayTheRest(chatsCtx)
	} else {
		<-working.Done()
	}
	a.log.Info("leaving")
	hangUp(errLeaving)
	return errors.Join(err, chats.Wait())
}

var errLeaving = errors.New("this process is leaving")

// sayTheRest waits a little for posts on their way out. What does not make it goes out after the next start.
func (a *App) sayTheRest(ctx context.Context) {
	if len(a.adapters) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	t := time.NewTicker(50 * time.Millisecond)
	defer t.Stop()
	for {
		left, err := a.ledger.Outbox(ctx, 0, 1)
		if err != nil || len(left) == 0 {
			return
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}
