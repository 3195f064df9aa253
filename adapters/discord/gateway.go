package discord

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

// pace holds the adapter's waits, which tests shorten.
type pace struct {
	open         time.Duration // for a connection to come about, or for discordgo to give its lock back
	silence      time.Duration // two heartbeats of 41.25 s and some more without an answer: nobody is there
	check        time.Duration // between two looks at the connection
	reconnect    time.Duration // the first wait before a new attempt; it doubles
	reconnectMax time.Duration
	drain        time.Duration // for jobs under way at the end
	short        time.Duration // the life of a short reply
	ack          time.Duration // for the first answer to an interaction, for which Discord waits three seconds
}

var usualPace = pace{
	open: 12 * time.Second, silence: 90 * time.Second, check: 2 * time.Second, reconnect: time.Second, reconnectMax: time.Minute,
	drain: 10 * time.Second, short: 20 * time.Second, ack: 2500 * time.Millisecond,
}

// A gateway keeps one connection to Discord's gateway. discordgo does the protocol; that it is alive, that it comes
// back, and that it gives up when it should, is decided here, because discordgo v0.29
//   - can hang for ever in Open (op 7 right after RESUME: it waits for the lock that it holds);
//   - needs five silent heartbeats to notice a dead connection, and then ends the session instead of resuming it;
//   - tries for ever with a token or intents that Discord has refused.
type gateway struct {
	cfg    Config
	log    *slog.Logger
	pace   pace
	hear   func(event any)
	online func(up, fresh bool)
	valid  func(context.Context) bool // whether the token counts
}

// errStuck is the error of a session that does not come back from a call; it is left behind.
var errStuck = errors.New("the gateway library hangs")

// run connects, again and again, until ctx ends or Discord refuses the bot for good.
func (g *gateway) run(ctx context.Context) error {
	var l *line
	defer func() { l.hangUp(websocket.CloseNormalClosure) }()
	failures := 0
	for ctx.Err() == nil {
		if l == nil {
			l = g.newLine()
		}
		err := l.open(ctx)
		if err == nil {
			failures = 0
			err = l.watch(ctx)
			g.online(false, false)
		} else if failures++; refused(err) != nil {
			return refused(err)
		}
		if ctx.Err() != nil {
			return nil
		}
		g.log.Warn("the connection to Discord is lost; connecting again", "error", err)
		if errors.Is(err, errStuck) || failures > 0 {
			// What could not be resumed starts anew.
			l.cut()
			l = nil
		}
		if failures > 1 && !g.valid(ctx) {
			return errToken
		}
		if failures > 0 && !sleep(ctx, g.backoff(failures)) {
			return nil
		}
	}
	return nil
}

// backoff doubles, up to a limit, and is spread, so that many bots do not come back at the same moment.
func (g *gateway) backoff(failures int) time.Duration {
	d := g.pace.reconnect << min(failures-1, 16)
	d = min(d, g.pace.reconnectMax)
	return d/2 + rand.N(d/2+1)
}

// refused reads an error of Open as Discord's last word, or returns nil.
func refused(err error) error {
	e, ok := errors.AsType[*websocket.CloseError](err)
	if !ok {
		return nil
	}
	switch e.Code {
	case 4004:
		return errToken
	case 4013, 4014:
		return errIntents
	}
	return nil
}

// A line is one discordgo session and the socket under it.
type line struct {
	g    *gateway
	s    *discordgo.Session
	down chan struct{} // discordgo says that the connection is gone

	dead atomic.Bool // left behind: nothing that it still says counts
	mu   sync.Mutex
	conn net.Conn
}

const intents = discordgo.IntentGuilds | discordgo.IntentGuildMessages | discordgo.IntentDirectMessages |
	discordgo.IntentGuildMessageReactions | discordgo.IntentDirectMessageReactions | discordgo.IntentMessageContent

func (g *gateway) newLine() *line {
	l := &line{g: g, s: newSession(g.cfg), down: make(chan struct{}, 1)}
	l.s.Identify.Intents = intents
	l.s.SyncEvents = true // or else the order of events is lost
	l.s.ShouldReconnectOnError = false
	dialer := *websocket.DefaultDialer
	dialer.HandshakeTimeout = g.pace.open / 2
	dialer.NetDialContext = l.dial
	l.s.Dialer = &dialer
	l.s.AddHandler(l.on)
	return l
}

// dial keeps hold of the socket, which is the only way to wake a session that hangs.
func (l *line) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err == nil {
		l.mu.Lock()
		l.conn = conn
		l.mu.Unlock()
	}
	return conn, err
}

// on hears all events. It runs under discordgo's lock: it may take note and nothing else. A panic here would end the
// program.
func (l *line) on(_ *discordgo.Session, event any) {
	defer func() {
		if p := recover(); p != nil {
			l.g.log.Error("a Discord event could not be taken", "panic", p)
		}
	}()
	if l.dead.Load() {
		return
	}
	switch event.(type) {
	case *discordgo.Disconnect:
		select {
		case l.down <- struct{}{}:
		default:
		}
	case *discordgo.Ready:
		l.g.online(true, true)
	case *discordgo.Resumed:
		l.g.online(true, false)
	default:
		l.g.hear(event)
	}
}

// open connects. A session that was connected before resumes, so that nothing said meanwhile is lost.
func (l *line) open(ctx context.Context) error {
	select {
	case <-l.down: // of the connection before
	default:
	}
	return l.within(ctx, l.g.pace.open, l.s.Open)
}

// within makes a call of discordgo's that may never return. The goroutine of one that hangs can not be ended; it keeps a
// dead session and nothing else.
func (l *line) within(ctx context.Context, d time.Duration, call func() error) error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
	case <-ctx.Done():
	}
	// Cutting the socket ends every call but one that waits for its own lock.
	l.cut()
	select {
	case <-done:
	case <-time.After(l.g.pace.open / 10):
	}
	return errStuck
}

// watch returns when the connection is gone, silent, or stuck, and when ctx ends.
func (l *line) watch(ctx context.Context) error {
	tick := time.NewTicker(l.g.pace.check)
	defer tick.Stop()
	locked := time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.down:
			return errors.New("closed by Discord")
		case <-tick.C:
		}
		if !l.s.TryRLock() {
			if locked += l.g.pace.check; locked > l.g.pace.open {
				return errStuck
			}
			continue
		}
		locked = 0
		silent := time.Since(l.s.LastHeartbeatAck)
		l.s.RUnlock()
		if silent > l.g.pace.silence {
			// Any code but 1000 and 1001 keeps the session, so that it can be resumed.
			l.hangUp(4000)
			return errors.New("no answer to heartbeats")
		}
	}
}

// hangUp closes the connection in an orderly way, or cuts it when that takes too long.
func (l *line) hangUp(code int) {
	if l == nil || l.dead.Load() {
		return
	}
	ctx := context.Background() // the end of the program is when this is needed
	_ = l.within(ctx, l.g.pace.open/2, func() error { return l.s.CloseWithCode(code) })
}

// cut ends the line for good without asking anybody.
func (l *line) cut() {
	l.dead.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		_ = l.conn.Close()
	}
}
