package slack

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
)

// connect keeps the socket open until ctx ends or Slack refuses the app token.
func (a *Adapter) connect(ctx context.Context) error {
	for {
		err := a.link.RunContext(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if problem := tokenProblem("app", err); problem != nil {
			return problem
		}
		// The library reconnects by itself. When it gives up all the same, it is asked again after a pause.
		a.log.Warn("the connection to Slack ended, opening another", "error", a.clean(err))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// listen takes what comes over the socket, one after the other, so that a conversation keeps its order.
func (a *Adapter) listen(ctx context.Context, end context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-a.link.Events:
			if err := a.take(ctx, e); err != nil {
				end(err)
			}
		}
	}
}

// take handles one envelope or one report about the connection. Its error is final.
func (a *Adapter) take(ctx context.Context, e socketmode.Event) error {
	switch data := e.Data.(type) {
	case slackevents.EventsAPIEvent:
		if a.hear(ctx, data) {
			a.ack(ctx, e.Request.EnvelopeID, nil)
		}
	case slack.InteractionCallback:
		a.pressed(ctx, data, func() { a.ack(ctx, e.Request.EnvelopeID, nil) })
	case slack.SlashCommand:
		a.ack(ctx, e.Request.EnvelopeID, map[string]string{"response_type": "ephemeral",
			"text": "Mention me in a channel or write to me directly: I answer in the thread. Reply \"stop\" there to stop me."})
	case *socketmode.ErrorBadMessage:
		a.unreadable(ctx, data)
	case *slack.ConnectionErrorEvent:
		return a.connectionFailed(data.ErrorObj)
	default:
		switch e.Type {
		case socketmode.EventTypeHello:
			a.heard.beat()
			a.heard.connected.Store(true)
		case socketmode.EventTypeConnecting:
			a.heard.connected.Store(false)
		}
	}
	return nil
}

// connectionFailed tells a token that will never do from a network that will come back. The library would go on with
// some of the former for ever.
func (a *Adapter) connectionFailed(err error) error {
	if problem := tokenProblem("app", err); problem != nil {
		return problem
	}
	a.log.Warn("no connection to Slack, trying again", "error", a.clean(err))
	return nil
}

// unreadable acknowledges an envelope that the library could not read: nobody will understand it better the next
// time that Slack sends it.
func (a *Adapter) unreadable(ctx context.Context, bad *socketmode.ErrorBadMessage) {
	var envelope struct {
		ID string `json:"envelope_id"`
	}
	a.log.Debug("an event from Slack is of no known kind", "error", a.clean(bad.Cause))
	if err := json.Unmarshal(bad.Message, &envelope); err == nil && envelope.ID != "" {
		a.ack(ctx, envelope.ID, nil)
	}
}

// ack acknowledges an envelope. The queue for it only moves while the socket is open, so waiting is limited: what is
// not acknowledged comes again, and the ledger knows it then.
func (a *Adapter) ack(ctx context.Context, envelope string, payload any) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Second, errors.New("the socket takes no acknowledgements"))
	defer cancel()
	if err := a.link.AckCtx(ctx, envelope, payload); err != nil {
		a.log.Warn("an envelope was not acknowledged, Slack will send it again", "envelope", envelope, "error", context.Cause(ctx))
	}
}
