package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"plumb/chat"
)

// A client makes the REST requests. They go through discordgo for its buckets, that is, its waiting before a limit is
// hit; its retries are off, because they neither end nor obey a context, and a repeated POST may say a thing twice.
type client struct {
	session *discordgo.Session
}

const requestTimeout = 20 * time.Second

func newClient(cfg Config) *client { return &client{newSession(cfg)} }

// newSession is a discordgo session that speaks to the configured root and never retries by itself.
func newSession(cfg Config) *discordgo.Session {
	s, err := discordgo.New("Bot " + cfg.Token)
	if err != nil {
		// discordgo v0.29 has no way to fail here; its signature is older than that.
		panic("discordgo.New: " + err.Error())
	}
	s.Client = &http.Client{Timeout: requestTimeout, Transport: newTransport(cfg.APIURL)}
	s.ShouldRetryOnRateLimit = false
	s.MaxRestRetries = 0
	s.StateEnabled = false // we keep the little that we need ourselves
	s.LogLevel = -1        // discordgo's log lines hold tokens and texts; ours do not
	return s
}

// A transport sends discordgo's requests, whose host is a constant, to another root.
type transport struct {
	root *url.URL // nil: Discord's own
}

func newTransport(root string) transport {
	if root == "" {
		return transport{}
	}
	u, err := url.Parse(root)
	if err != nil || u.Host == "" {
		// The first request says what is wrong; a constructor without an error keeps the wiring plain.
		return transport{&url.URL{Scheme: "http", Host: "invalid.invalid"}}
	}
	u.Path = strings.TrimSuffix(path.Clean("/"+u.Path), "/")
	return transport{u}
}

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(q *http.Request) (*http.Response, error) {
	if t.root != nil {
		rest := strings.TrimPrefix(q.URL.EscapedPath(), "/api/v"+discordgo.APIVersion)
		to, err := url.Parse(t.root.String() + rest)
		if err != nil {
			return nil, err
		}
		to.RawQuery = q.URL.RawQuery
		q = q.Clone(q.Context())
		q.URL, q.Host = to, to.Host
	}
	resp, err := http.DefaultTransport.RoundTrip(q)
	if err == nil && resp.StatusCode == http.StatusTooManyRequests {
		err = readable(resp)
	}
	return resp, err
}

// readable gives a 429 of the network in front of Discord, which is a page of HTML, the form of Discord's own, so that
// the time to wait is not lost in discordgo's parser.
func readable(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	_ = resp.Body.Close()
	if err != nil {
		return err
	}
	if !json.Valid(body) {
		after, err := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64)
		if err != nil {
			after = 5
		}
		body = fmt.Appendf(nil, `{"message":"rate limited before Discord","retry_after":%g}`, after)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// A request is one call of the API.
type request struct {
	method string
	url    string
	bucket string // calls of one bucket share a limit; empty for interactions, which have none
	body   any
	files  []file
}

// A file is an attachment.
type file struct {
	name    string
	content []byte
}

// do makes a request and reads the answer into out, if there is one to be read. Its errors are discordgo's; see judge.
func (c *client) do(ctx context.Context, r request, out any) error {
	if ctx.Err() != nil {
		return &unsent{context.Cause(ctx)}
	}
	kind, body, err := encode(r)
	if err != nil {
		return err
	}
	opt := discordgo.WithContext(ctx)
	if wait := c.wait(r.bucket); wait > patience {
		return &chat.Retry{After: wait, Err: errors.New("at the rate limit")}
	}
	var answer []byte
	if r.bucket == "" {
		// A bucket of discordgo's is kept for ever, and interactions have an address each: they get one to throw away.
		once := discordgo.NewRatelimiter().LockBucket("once")
		answer, err = c.session.RequestWithLockedBucket(r.method, r.url, kind, body, once, 0, opt)
	} else {
		answer, err = c.session.RequestRaw(r.method, r.url, kind, body, r.bucket, 0, opt)
	}
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(answer, out)
}

// patience is how long a request may wait for a limit. discordgo's wait can not be called off, so that longer ones are
// left to the caller.
const patience = 3 * time.Second

// wait is how long discordgo would wait before a request of a bucket.
func (c *client) wait(bucket string) time.Duration {
	if bucket == "" {
		return 0
	}
	b := c.session.Ratelimiter.GetBucket(bucket)
	if !b.TryLock() {
		return 0 // a request is under way, and only its answer will tell
	}
	defer b.Unlock()
	return c.session.Ratelimiter.GetWaitTime(b, 1)
}

func encode(r request) (kind string, body []byte, err error) {
	switch {
	case len(r.files) > 0:
		var files []*discordgo.File
		for _, f := range r.files {
			files = append(files, &discordgo.File{Name: f.name, ContentType: "text/plain; charset=utf-8", Reader: bytes.NewReader(f.content)})
		}
		return discordgo.MultipartBodyWithJSON(r.body, files)
	case r.body != nil:
		body, err = json.Marshal(r.body)
	}
	return "application/json", body, err
}

// self is the bot's own user.
func (c *client) self(ctx context.Context) (*discordgo.User, error) {
	var u discordgo.User
	err := c.do(ctx, request{method: http.MethodGet, url: discordgo.EndpointUser("@me"), bucket: discordgo.EndpointUsers}, &u)
	return &u, err
}

// post sends a message to a channel and returns its id.
func (c *client) post(ctx context.Context, channel string, m message) (string, error) {
	at := discordgo.EndpointChannelMessages(channel)
	var made discordgo.Message
	err := c.do(ctx, request{http.MethodPost, at, at, m, m.files}, &made)
	return made.ID, err
}

// edit changes a message of ours.
func (c *client) edit(ctx context.Context, channel, id string, m message) error {
	bucket := discordgo.EndpointChannelMessage(channel, "")
	return c.do(ctx, request{http.MethodPatch, discordgo.EndpointChannelMessage(channel, id), bucket, m, nil}, nil)
}

// remove deletes a message of ours.
func (c *client) remove(ctx context.Context, channel, id string) error {
	bucket := "DELETE " + discordgo.EndpointChannelMessage(channel, "")
	return c.do(ctx, request{method: http.MethodDelete, url: discordgo.EndpointChannelMessage(channel, id), bucket: bucket}, nil)
}

// message reads one message.
func (c *client) message(ctx context.Context, channel, id string) (*discordgo.Message, error) {
	var m discordgo.Message
	bucket := discordgo.EndpointChannelMessages(channel) + "/one"
	err := c.do(ctx, request{method: http.MethodGet, url: discordgo.EndpointChannelMessage(channel, id), bucket: bucket}, &m)
	return &m, err
}

// after lists up to a hundred messages of a channel that are newer than one, oldest first.
func (c *client) after(ctx context.Context, channel, id string) ([]*listed, error) {
	at := discordgo.EndpointChannelMessages(channel)
	var out []*listed
	err := c.do(ctx, request{method: http.MethodGet, url: at + "?limit=100&after=" + url.QueryEscape(id), bucket: at + "?"}, &out)
	// Discord gives the newest first, whatever the question.
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out, err
}

// A listed message is discordgo's, which does not read the nonce.
type listed struct {
	discordgo.Message
	Nonce json.RawMessage `json:"-"`
}

// UnmarshalJSON reads the message and the nonce. A message that discordgo can not read, because it has a component that
// it does not know, is left with its id alone.
func (l *listed) UnmarshalJSON(b []byte) error {
	var own struct {
		ID    string          `json:"id"`
		Nonce json.RawMessage `json:"nonce"`
	}
	if err := json.Unmarshal(b, &own); err != nil {
		return err
	}
	if err := l.Message.UnmarshalJSON(b); err != nil {
		l.Message = discordgo.Message{ID: own.ID}
	}
	l.Nonce = own.Nonce
	return nil
}

// channel reads a channel.
func (c *client) channel(ctx context.Context, id string) (*discordgo.Channel, error) {
	var ch discordgo.Channel
	err := c.do(ctx, request{method: http.MethodGet, url: discordgo.EndpointChannel(id), bucket: discordgo.EndpointChannels}, &ch)
	return &ch, err
}

// thread starts a thread from a message and returns its id, which is the message's.
func (c *client) thread(ctx context.Context, channel, from, name string) (string, error) {
	body := map[string]any{"name": name, "auto_archive_duration": 1440}
	bucket := discordgo.EndpointChannelThreads(channel)
	var ch discordgo.Channel
	err := c.do(ctx, request{http.MethodPost, discordgo.EndpointChannelMessageThread(channel, from), bucket, body, nil}, &ch)
	if code(err) == codeThreadExists {
		return from, nil
	}
	return ch.ID, err
}

// react puts the bot's reaction on a message. discordgo knows the narrower limit of reactions by this bucket's name.
func (c *client) react(ctx context.Context, channel, id, emoji string) error {
	at := discordgo.EndpointMessageReaction(channel, id, url.PathEscape(emoji), "@me")
	return c.do(ctx, request{method: http.MethodPut, url: at, bucket: discordgo.EndpointMessageReaction(channel, "", "", "")}, nil)
}
