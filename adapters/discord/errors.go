package discord

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"plumb/chat"
)

// The end of the bot: no reconnecting helps.
var (
	errToken   = errors.New("the bot's token is refused by Discord: reset it in the Developer Portal under Bot and set discord.token")
	errIntents = errors.New("the bot may not read what people write: switch on Message Content Intent in the Developer Portal under Bot")
)

// Discord's own error codes that we tell apart.
const (
	codeUnknownInteraction = 10062
	codeSlowMode           = 20016
	codeAlreadyAnswered    = 40060
	codeThreadExists       = 160004
)

// advice is what a person can do about a refusal that trying again does not change, by Discord's code.
var advice = map[int]string{
	10003:  "the channel or thread is gone",
	10008:  "the message is gone",
	40005:  "the message with its files is larger than Discord takes",
	50001:  "the bot can not see this channel: give it the permission View Channel",
	50007:  "this person takes no direct messages from the bot",
	50013:  "the bot may not write here: give it Send Messages, Send Messages in Threads, Create Public Threads, Attach Files and Read Message History",
	50035:  "Discord does not take the message in this form",
	50083:  "the thread is archived and locked: ask a moderator to open it again",
	160005: "the thread is locked: ask a moderator to open it again",
	200000: "the server's AutoMod blocked the message: ask a moderator to exempt the bot",
	200001: "the server's AutoMod blocked the thread's title: ask a moderator to exempt the bot",
}

// unsent is the error of a request that never left.
type unsent struct{ err error }

func (e *unsent) Error() string { return e.err.Error() }
func (e *unsent) Unwrap() error { return e.err }

// code is Discord's own code of an error, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*discordgo.RESTError](err); ok && e.Message != nil {
		return e.Message.Code
	}
	return 0
}

// status is the HTTP status of a refusal, or 0.
func status(err error) int {
	if e, ok := errors.AsType[*discordgo.RESTError](err); ok && e.Response != nil {
		return e.Response.StatusCode
	}
	return 0
}

func unauthorized(err error) bool { return status(err) == http.StatusUnauthorized }

// judge turns the error of a request into what a [chat.Poster] says: try again, look first, or give up.
func judge(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*chat.Retry](err); ok {
		return err
	}
	if e, ok := errors.AsType[*discordgo.RateLimitError](err); ok {
		return &chat.Retry{After: e.RetryAfter, Err: err}
	}
	if neverLeft(err) {
		return &chat.Retry{Err: err}
	}
	switch s := status(err); {
	case s == 0, s >= 500:
		return &chat.Unknown{Err: err}
	case s == http.StatusUnauthorized:
		// Somebody has to set another token; what is to be said waits for that.
		return &chat.Retry{After: time.Minute, Err: errToken}
	case s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, code(err) == codeSlowMode:
		return &chat.Retry{After: 5 * time.Second, Err: err}
	}
	if text, ok := advice[code(err)]; ok {
		return fmt.Errorf("%s: %w", text, err)
	}
	return fmt.Errorf("the message is refused: %w", err)
}

// neverLeft says whether a request surely did not reach Discord.
func neverLeft(err error) bool {
	if _, ok := errors.AsType[*unsent](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// persist does something that may be done twice until it is done, is refused for good, or has failed thrice.
func persist(ctx context.Context, act func() error) error {
	var err error
	for _, wait := range []time.Duration{200 * time.Millisecond, time.Second, 0} {
		if err = judge(act()); err == nil {
			return nil
		}
		after, retry := chat.Retryable(err)
		if _, unknown := errors.AsType[*chat.Unknown](err); !retry && !unknown {
			return err
		}
		if wait == 0 || !sleep(ctx, max(wait, after)) {
			return err
		}
	}
	return err
}
