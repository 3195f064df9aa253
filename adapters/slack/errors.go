package slack

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"plumb/chat"
)

// breather is the pause after a "too fast" that does not say for how long.
const breather = time.Second

// Slack's codes, by what they mean for what to do next.
var (
	tooFast   = []string{"ratelimited", "rate_limited", "message_limit_exceeded"}
	uncertain = []string{"internal_error", "fatal_error", "service_unavailable", "request_timeout"}
	badBlocks = []string{"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "invalid_attachments", "block_mismatch"}
	noThread  = []string{"thread_not_found", "cannot_reply_to_message"}
	badToken  = []string{"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired",
		"not_allowed_token_type", "access_denied", "link_disabled", "org_login_required", "app_uninstalled"}
)

// advice says what to do about codes that people meet.
var advice = map[string]string{
	"not_in_channel":                  "invite the bot to the channel",
	"channel_not_found":               "invite the bot to the channel, or it has been deleted",
	"is_archived":                     "the channel is archived",
	"restricted_action":               "the workspace does not let the bot post there",
	"restricted_action_thread_locked": "the thread is locked",
	"msg_too_long":                    "the text is too long for Slack",
	"missing_scope":                   "add the scope to the app and install it again",
}

// code is Slack's own word for an error, or empty.
func code(err error) string {
	if e, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		return e.Err
	}
	return ""
}

// classify turns an error of a call that posts into one that says what to do next.
func (a *Adapter) classify(err error) error {
	if err == nil {
		return nil
	}
	clean := a.clean(err)
	if wait, limited := rateLimited(err); limited {
		return &chat.Retry{After: wait, Err: clean}
	}
	if e, ok := errors.AsType[slack.StatusCodeError](err); ok {
		if e.Code >= http.StatusInternalServerError {
			return &chat.Unknown{Err: clean} // Slack may have posted before it failed
		}
		return fmt.Errorf("slack refuses the request: %w", clean)
	}
	if c := code(err); c != "" {
		return refusal(c, clean)
	}
	if unsent(err) {
		return &chat.Retry{Err: clean}
	}
	return &chat.Unknown{Err: clean}
}

func refusal(c string, err error) error {
	switch {
	case slices.Contains(uncertain, c):
		return &chat.Unknown{Err: err}
	case slices.Contains(badToken, c):
		return fmt.Errorf("slack refuses the bot token (%w): check slack.bot_token", err)
	case advice[c] != "":
		return fmt.Errorf("slack refuses the post (%w): %s", err, advice[c])
	}
	return fmt.Errorf("slack refuses the post: %w", err)
}

// rateLimited recognises Slack's three ways to say "too fast", and how long to wait.
func rateLimited(err error) (time.Duration, bool) {
	if e, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		return max(e.RetryAfter, breather), true
	}
	if e, ok := errors.AsType[slack.StatusCodeError](err); ok && e.Code == http.StatusTooManyRequests {
		return breather, true
	}
	return breather, slices.Contains(tooFast, code(err))
}

// unsent says whether an error came before anything could be sent: the connection was never made.
func unsent(err error) bool {
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return true
	}
	_, lookup := errors.AsType[*net.DNSError](err)
	return lookup
}

// tokenProblem is the error that ends the adapter when Slack will not take a token again, however often it is shown.
func tokenProblem(which string, err error) error {
	c := code(err)
	gone := false
	if e, ok := errors.AsType[slack.StatusCodeError](err); ok && e.Code == http.StatusNotFound {
		c, gone = "404", true
	}
	if !gone && !slices.Contains(badToken, c) {
		return nil
	}
	switch {
	case c == "link_disabled":
		return fmt.Errorf("slack refuses the socket (%s): turn Socket Mode on in the app's settings", c)
	case gone:
		return fmt.Errorf("slack answers 404: check slack.api_url")
	case which == "app":
		return fmt.Errorf("slack refuses the app token (%s): slack.app_token must be a valid app-level token, which begins with xapp- and has the scope connections:write", c)
	}
	return fmt.Errorf("slack refuses the bot token (%s): slack.bot_token must be a valid bot token, which begins with xoxb-", c)
}

// cleaned is an error whose text holds no secret.
type cleaned struct {
	text string
	err  error
}

func (c *cleaned) Error() string { return c.text }
func (c *cleaned) Unwrap() error { return c.err }

// ticket finds the part of a socket's address that lets its bearer in.
var ticket = regexp.MustCompile(`(wss?://[^\s"?]+\?)[^\s"]+`)

// clean hides the tokens in an error's text, and the tickets in addresses of sockets.
func (a *Adapter) clean(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, s := range a.secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "…")
		}
	}
	return &cleaned{ticket.ReplaceAllString(text, "$1…"), err}
}
