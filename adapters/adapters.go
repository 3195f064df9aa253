// Package adapters joins the platforms to the bus. What an adapter must be is said here, and what all of them would
// otherwise do for themselves is done here: events go in, posts go out part by part and never twice, progress and marks
// are passed on. The platforms are folders of their own (slack, discord), and shared text work is in markdown.
package adapters

import (
	"context"
	"fmt"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"plumb/bus"
	"plumb/chat"
	"plumb/ledger"
)

// An Adapter speaks one platform in the words of chat.
type Adapter interface {
	chat.Poster
	// Platform is the platform's name in places.
	Platform() string
	// Run stays connected until ctx ends; an error means that it cannot be helped from here.
	Run(ctx context.Context) error
	// Ready says why the platform is not being heard, or nil.
	Ready() error
	// Progress and Mark show something that may be lost. They neither block nor fail.
	Progress(chat.Progress)
	Mark(chat.Mark)
}

// Serve runs an adapter between its platform and the bus until ctx ends.
func Serve(ctx context.Context, a Adapter, b *bus.Bus, log *slog.Logger) error {
	for _, listen := range []func() (func(), error){
		func() (func(), error) { return b.OnProgress(a.Platform(), a.Progress) },
		func() (func(), error) { return b.OnMark(a.Platform(), a.Mark) },
	} {
		cancel, err := listen()
		if err != nil {
			return err
		}
		defer cancel()
	}
	d := Delivery{Poster: a, Book: b.Book(), Log: log, Report: func(ctx context.Context, d ledger.Delivery) error {
		var ok bool
		return b.Ask(ctx, "delivered", d, &ok)
	}}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := a.Run(ctx); err != nil {
			return fmt.Errorf("%s: %w", a.Platform(), err)
		}
		return nil
	})
	g.Go(func() error { return b.Posts(ctx, a.Platform(), d.Deliver) })
	return g.Wait()
}
