// Package discord speaks Discord in the words of package chat.
//
// In: the gateway's events become chat events, which are published and only then marked as taken ([Adapter.Run]). Out:
// posts, progress and receipts become messages, edits and reactions ([Adapter.Send], [Adapter.Progress],
// [Adapter.Mark]). A run lives in a thread that the bot starts from the question; in a direct conversation, in that.
//
// The library is discordgo, whose gateway client can hang and whose REST client can wait for ever; gateway.go and
// rest.go keep both in check. None of its types leaves this folder.
package discord

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"plumb/chat"
)

// Config is what the adapter needs to know to reach Discord.
type Config struct {
	Token         string // the bot's token, without the word Bot
	APIURL        string // another REST root, ending in /api/v9/; empty for Discord's own
	CommandsGuild string // register the slash commands in this guild only, where they show at once
}

// Deps is what the adapter asks of the rest of the program.
type Deps struct {
	// Publish makes an event durable. The event counts as taken when it returns nil.
	Publish func(context.Context, chat.Event) error
	// Exhibits gives the evidence of a run to somebody at a place, or the reason why not, as a sentence for that person.
	Exhibits func(ctx context.Context, run string, who chat.Person, at chat.Place) ([]chat.Exhibit, error)
	Log      *slog.Logger
}

// Adapter is the bot on Discord. It is a [chat.Poster].
type Adapter struct {
	cfg     Config
	deps    Deps
	log     *slog.Logger
	rest    *client
	crew    *crew
	board   *board
	pace    pace
	started time.Time

	me atomic.Pointer[discordgo.User]

	mu         sync.Mutex
	connected  bool
	registered error // why the slash commands are not registered; nil when they are

	spots   *memory[spot]     // channels by id
	seen    *memory[bookmark] // the last message heard in the channels where we talk
	tokens  *memory[token]    // the last interaction of a person in a thread
	replies *memory[replied]  // our messages that stand for an interaction
	marked  *memory[bool]     // receipts given
	sent    *memory[string]   // the nonces of our messages
}

// errStarting is why the bot is not ready before Discord has said so.
var errStarting = errors.New("not connected to Discord yet")

// New makes the bot. It says nothing and hears nothing before [Adapter.Run].
func New(cfg Config, deps Deps) *Adapter {
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	log := deps.Log.With("platform", chat.Discord)
	a := &Adapter{
		cfg: cfg, deps: deps, log: log, pace: usualPace, started: time.Now(),
		rest:    newClient(cfg),
		crew:    newCrew(log),
		spots:   newMemory[spot](10000),
		seen:    newMemory[bookmark](500),
		tokens:  newMemory[token](5000),
		replies: newMemory[replied](5000),
		marked:  newMemory[bool](5000),
		sent:    newMemory[string](5000),
	}
	a.board = newBoard(a.crew, a)
	a.registered = errStarting
	return a
}

// Platform is "discord".
func (a *Adapter) Platform() string { return chat.Discord }

// Ready is nil while the bot hears what is said and its commands are known to Discord; otherwise it says what is amiss.
func (a *Adapter) Ready() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.connected {
		return errStarting
	}
	return a.registered
}

// Run connects and stays connected until ctx ends or Discord refuses the bot for good. It returns when everything that
// it started is over; what was heard by then has been published.
func (a *Adapter) Run(ctx context.Context) error {
	defer a.crew.close(a.pace.drain)
	if err := a.introduce(ctx); err != nil {
		return err
	}
	g := &gateway{cfg: a.cfg, log: a.log, pace: a.pace, hear: a.hear, online: a.online, valid: a.tokenIsGood}
	return g.run(ctx)
}

// introduce asks Discord who the bot is, which also tells a wrong token before anything else is tried.
func (a *Adapter) introduce(ctx context.Context) error {
	for wait := a.pace.reconnect; ; wait = min(2*wait, a.pace.reconnectMax) {
		user, err := a.rest.self(ctx)
		switch {
		case err == nil:
			a.me.Store(user)
			return nil
		case unauthorized(err):
			return errToken
		}
		a.log.Warn("Discord does not answer", "error", err)
		if !sleep(ctx, wait) {
			return nil
		}
	}
}

// tokenIsGood asks whether the token still counts; a failure to ask is no answer.
func (a *Adapter) tokenIsGood(ctx context.Context) bool {
	_, err := a.rest.self(ctx)
	return !unauthorized(err)
}

// online is told when the connection comes and goes. Every new session may have lost events, so the threads are read
// again from where we left them; the first one registers the commands.
func (a *Adapter) online(up, fresh bool) {
	a.mu.Lock()
	a.connected = up
	known := a.registered == nil
	a.mu.Unlock()
	switch {
	case !up || !fresh:
	case known:
		a.crew.do("catch up", a.catchUp)
	default:
		a.crew.do("commands", a.register)
	}
}

// hear takes one event of the gateway. It runs inside discordgo's reading loop and under its lock, so it must not wait.
func (a *Adapter) hear(event any) {
	switch e := event.(type) {
	case *discordgo.MessageCreate:
		a.heard(e.Message)
	case *discordgo.MessageUpdate:
		a.edited(e.Message)
	case *discordgo.MessageDelete:
		a.deleted(e.Message)
	case *discordgo.InteractionCreate:
		a.interacted(e.Interaction)
	case *discordgo.MessageReactionAdd:
		a.reacted(e.MessageReaction)
	}
}

// sleep waits and says whether the time has passed; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
