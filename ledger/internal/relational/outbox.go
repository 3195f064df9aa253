package relational

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plumb/chat"
	"plumb/ledger"
)

// errNoPost is the error of news about a post that was never in the outbox.
var errNoPost = errors.New("there is no such post in the outbox")

// Due lists runs that wait for a worker, or whose worker has not been heard of, those that have waited longest first.
func (l *Ledger) Due(ctx context.Context, age time.Duration, limit int) ([]string, error) {
	var list []string
	var b Batch
	b.query(func(r Row) error {
		var id string
		err := r.Scan(&id)
		list = append(list, id)
		return err
	}, `
		SELECT id FROM runs
		WHERE status IN ('waiting', 'running')
			AND (status = 'waiting' AND due <= {now} - $1 OR status = 'running' AND lease <= {now})
		ORDER BY n LIMIT $2`, age.Milliseconds(), limit)
	if err := l.db.Read(ctx, b); err != nil {
		return nil, fmt.Errorf("look for runs that wait: %w", err)
	}
	return list, nil
}

// Outbox lists posts that are not yet delivered, oldest first.
func (l *Ledger) Outbox(ctx context.Context, age time.Duration, limit int) ([]chat.Post, error) {
	var list []chat.Post
	var b Batch
	b.query(func(r Row) error {
		list = append(list, chat.Post{})
		return into(&list[len(list)-1])(r)
	}, `
		SELECT post FROM outbox WHERE state = 'waiting' AND (handed = 0 OR handed <= {now} - $1)
		ORDER BY n LIMIT $2`, age.Milliseconds(), limit)
	if err := l.db.Read(ctx, b); err != nil {
		return nil, fmt.Errorf("look for posts to deliver: %w", err)
	}
	return list, nil
}

// HandedOn notes that posts are on their way to their platform.
func (l *Ledger) HandedOn(ctx context.Context, posts []string) error {
	if len(posts) == 0 {
		return nil
	}
	var b Batch
	for _, id := range posts {
		b.exec(`UPDATE outbox SET handed = {now} WHERE id = $1 AND state = 'waiting'`, id)
	}
	if err := l.db.Write(ctx, b); err != nil {
		return fmt.Errorf("note that posts were handed on: %w", err)
	}
	return nil
}

// Delivered notes what became of a post. That a post has arrived stays true whatever is said later.
func (l *Ledger) Delivered(ctx context.Context, d ledger.Delivery) error {
	state := "delivered"
	if d.Error != "" {
		state = "undeliverable"
	}
	var b Batch
	b.must(errNoPost, `
		UPDATE outbox SET error = CASE WHEN state = 'delivered' THEN error ELSE $3 END,
			state = CASE WHEN state = 'delivered' THEN state ELSE $2 END
		WHERE id = $1 RETURNING id`, d.Post, state, plain(d.Error))
	for part, id := range d.IDs {
		b.exec(`INSERT INTO deliveries (post, part, platform, at) VALUES ($1, $2, $3, {now}) ON CONFLICT DO NOTHING`,
			d.Post, part, id)
	}
	if d.Error == "" {
		b.exec(`UPDATE runs SET delivered = TRUE WHERE id = (SELECT run FROM outbox WHERE id = $1 AND final)`, d.Post)
	}
	if err := l.db.Write(ctx, b); err != nil {
		return fmt.Errorf("note the delivery of post %s: %w", d.Post, err)
	}
	return nil
}

// plain is a text as a column can hold it: PostgreSQL takes no zero byte and nothing but UTF-8. Whatever is kept as
// JSON needs no such care.
func plain(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "") }
