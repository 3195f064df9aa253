// Package bus carries the words of chat between the programs: subjects and streams on NATS, and the server itself,
// embedded without a port, where one process is the whole product.
//
// What must not be lost goes through a JetStream stream and is acknowledged only when it was dealt with: events on
// their way in, wake-ups for runs, posts on their way out. The ledger is the truth behind all of them, so that a message
// delivered twice does no harm and a wake-up lost is made up for. What may be lost is plain NATS: progress, marks, the
// signal of a stop. Questions between the programs are request and reply.
package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Options say where the server is.
type Options struct {
	URL       string // empty: embedded in this process
	Dir       string // where the embedded server keeps its files
	Ephemeral bool   // keep the streams in memory: for one question at a terminal
	Log       *slog.Logger
}

// A Bus is a connection, and perhaps the server at its other end.
type Bus struct {
	nc     *nats.Conn
	js     jetstream.JetStream
	server *server.Server // nil unless embedded
	book   jetstream.KeyValue
	log    *slog.Logger
}

// The streams. Duplicates are kept out of the first for a quarter of an hour, which spares work; what keeps them out for
// good is the ledger's unique key.
const (
	streamIn   = "PLUMB_IN"
	streamRuns = "PLUMB_RUNS"
	streamOut  = "PLUMB_OUT"
	streamDead = "PLUMB_DEAD"
	bookName   = "PLUMB_DELIVERY"
)

func streams(storage jetstream.StorageType) []jetstream.StreamConfig {
	const day = 24 * time.Hour
	return []jetstream.StreamConfig{
		{Name: streamIn, Subjects: []string{"plumb.in.>"}, MaxAge: 7 * day, Duplicates: 15 * time.Minute, Storage: storage},
		{Name: streamRuns, Subjects: []string{"plumb.run.*"}, Retention: jetstream.WorkQueuePolicy, MaxAge: day, Storage: storage},
		{Name: streamOut, Subjects: []string{"plumb.out.>"}, MaxAge: 7 * day, Duplicates: 2 * time.Minute, Storage: storage},
		{Name: streamDead, Subjects: []string{"plumb.dead.>"}, MaxAge: 30 * day, Storage: storage},
	}
}

// Open connects, starting a server first where none is named, and sees to it that the streams are there.
func Open(ctx context.Context, o Options) (*Bus, error) {
	b := &Bus{log: o.Log}
	if err := b.connect(o); err != nil {
		b.Close()
		return nil, err
	}
	storage := jetstream.FileStorage
	if o.Ephemeral {
		storage = jetstream.MemoryStorage
	}
	for _, s := range streams(storage) {
		if _, err := b.js.CreateOrUpdateStream(ctx, s); err != nil {
			b.Close()
			return nil, fmt.Errorf("NATS cannot keep the stream %s (is JetStream on?): %w", s.Name, err)
		}
	}
	var err error
	b.book, err = b.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bookName, TTL: 7 * 24 * time.Hour, Storage: storage})
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("NATS cannot keep the bucket %s: %w", bookName, err)
	}
	return b, nil
}

func (b *Bus) connect(o Options) error {
	opts := []nats.Option{nats.Name("plumb"), nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				b.log.Warn("NATS is gone; trying to reach it again", "error", err)
			}
		})}
	url := o.URL
	if url == "" {
		if err := b.embed(o.Dir); err != nil {
			return err
		}
		opts = append(opts, nats.InProcessServer(b.server))
	}
	var err error
	if b.nc, err = nats.Connect(url, opts...); err != nil {
		return fmt.Errorf("cannot reach NATS at %s (nats.url): %w", redacted(url), err)
	}
	b.js, err = jetstream.New(b.nc)
	return err
}

// embed starts a server in this process. It listens nowhere. It writes its files through once a second; a process that
// is killed loses nothing, a machine that loses power at most that second, which the platforms send again.
func (b *Bus) embed(dir string) error {
	s, err := server.NewServer(&server.Options{ServerName: "plumb", DontListen: true, JetStream: true, StoreDir: dir, SyncInterval: time.Second, NoLog: true, NoSigs: true})
	if err != nil {
		return fmt.Errorf("cannot start the embedded NATS server in %s: %w", dir, err)
	}
	b.server = s
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("the embedded NATS server does not come up in %s: another bot may be using this data_dir", dir)
	}
	return nil
}

// Close ends the connection after what is under way was sent, and then the embedded server.
func (b *Bus) Close() {
	if b.nc != nil {
		_ = b.nc.FlushTimeout(time.Second)
		b.nc.Close()
	}
	if b.server != nil {
		b.server.Shutdown()
		b.server.WaitForShutdown()
	}
}

// Ready says whether the server answers.
func (b *Bus) Ready() error {
	if !b.nc.IsConnected() {
		return errors.New("NATS is not connected")
	}
	return nil
}

// token makes any text one token of a subject.
func token(s string) string {
	if s == "" {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '.' || r == '*' || r == '>' || r == 0x7f {
			return '_'
		}
		return r
	}, s)
}

// redacted takes user and password out of a URL.
func redacted(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	if _, host, ok := strings.Cut(rest, "@"); ok {
		rest = host
	}
	return scheme + "://" + rest
}
