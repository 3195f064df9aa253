package ledgertest

import (
	"context"
	"fmt"
	"time"

	"plumb/chat"
	"plumb/ledger"
)

var deliveries = []test{
	{"(S14) a post waits in the outbox until it has arrived", delivered},
	{"a run is delivered when its last post is", finalPost},
	{"a post that cannot be delivered is not tried for ever", undeliverable},
	{"posts come out oldest first, and no more than asked for", oldest},
	{"a call that is cut short leaves the ledger as it was, and usable", cutShort},
	{"a closed ledger says so", closed},
}

func (b bench) news(d ledger.Delivery) {
	b.Helper()
	if err := b.ledger.Delivered(b.Context(), d); err != nil {
		b.Fatalf("Delivered: %v", err)
	}
}

// post ends a run with posts that have ids of their own.
func (b bench) post(run string, posts ...chat.Post) {
	b.Helper()
	b.ask(run)
	e := answered("42")
	e.Posts = posts
	b.finish(b.claim(run, long).Lease, e)
}

func (b bench) handOn(posts ...string) {
	b.Helper()
	if err := b.ledger.HandedOn(b.Context(), posts); err != nil {
		b.Fatalf("HandedOn: %v", err)
	}
}

func (b bench) listed(age time.Duration) int {
	b.Helper()
	posts, err := b.ledger.Outbox(b.Context(), age, 100)
	if err != nil {
		b.Fatalf("Outbox: %v", err)
	}
	return len(posts)
}

func delivered(b bench) {
	b.post("r", chat.Post{ID: "p1", Text: "42", Final: true})
	b.is("never handed on", b.listed(time.Hour), 1)
	b.handOn()
	b.handOn("p1")
	b.is("handed on just now", b.listed(time.Hour), 0)
	b.is("handed on, and long ago by this measure", b.listed(0), 1)
	b.news(ledger.Delivery{Post: "p1", IDs: []string{"m1", "m2"}})
	b.is("arrived", b.listed(0), 0)
	b.news(ledger.Delivery{Post: "p1", IDs: []string{"m1", "m2"}})
	b.news(ledger.Delivery{Post: "p1", Error: "it did not"})
	b.handOn("p1")
	b.is("arrived still", b.listed(0), 0)
	b.is("delivered", b.run("r").Delivered, true)
	if err := b.ledger.Delivered(b.Context(), ledger.Delivery{Post: "nothing"}); err == nil {
		b.Error("an unknown post was delivered")
	}
}

func finalPost(b bench) {
	b.post("r", chat.Post{ID: "p1", Text: "a word"}, chat.Post{ID: "p2", Text: "42", Final: true})
	b.news(ledger.Delivery{Post: "p1", IDs: []string{"m1"}})
	b.is("delivered after the first", b.run("r").Delivered, false)
	b.news(ledger.Delivery{Post: "p2", IDs: []string{"m2"}})
	b.is("delivered after the last", b.run("r").Delivered, true)
}

func undeliverable(b bench) {
	b.post("r", chat.Post{ID: "p1", Text: "42", Final: true})
	b.news(ledger.Delivery{Post: "p1", Error: "the channel \x00 is archived"})
	b.is("tried again", b.listed(0), 0)
	b.is("delivered", b.run("r").Delivered, false)
	b.news(ledger.Delivery{Post: "p1", IDs: []string{"m1"}})
	b.is("that it arrived outweighs the error", b.run("r").Delivered, true)
}

func oldest(b bench) {
	b.post("a", chat.Post{ID: "z", Text: "1"}, chat.Post{ID: "y", Text: "2"})
	b.post("b", chat.Post{ID: "x", Text: "3"})
	b.is("posts", b.outbox(), []string{"1", "2", "3"})
	posts, err := b.ledger.Outbox(b.Context(), 0, 2)
	if err != nil || len(posts) != 2 || posts[0].ID != "z" {
		b.Errorf("two of them: %+v, %v", posts, err)
	}
}

// cutShort ends calls somewhere in the middle of what they do. Each message is then there whole or not at all.
func cutShort(b bench) {
	b.ask("r")
	const n = 40
	decided := 0
	for i := range n {
		ctx, cancel := context.WithTimeout(b.Context(), time.Duration(i)*50*time.Microsecond)
		decide := says(ledger.Decision{Kind: ledger.Steer, Run: "r", Posts: []chat.Post{{Text: "taken"}}})
		if _, err := b.ledger.Receive(ctx, message("r", fmt.Sprint(i), bob, "x"), decide); err == nil {
			decided++
		}
		cancel()
	}
	again := 0
	for i := range n {
		if !b.receive(message("r", fmt.Sprint(i), bob, "x"), says(ledger.Decision{Kind: ledger.Ignore})).Duplicate {
			again++
		}
	}
	if kept := n - again; kept < decided {
		b.Errorf("%d messages were taken, %d are known", decided, kept)
	}
	b.is("heard", len(b.claim("r", long).Steps[0].Heard), 1+n-again)
	b.is("posts", b.listed(0), n-again)
}

func closed(b bench) {
	if err := b.ledger.Ping(b.Context()); err != nil {
		b.Errorf("Ping: %v", err)
	}
	if err := b.ledger.Close(); err != nil {
		b.Errorf("Close: %v", err)
	}
	if err := b.ledger.Ping(b.Context()); err == nil {
		b.Error("a closed ledger answers")
	}
	if _, err := b.ledger.Receive(b.Context(), message("t", "1", ann, "x"), starts("r")); err == nil {
		b.Error("a closed ledger takes a message")
	}
}
