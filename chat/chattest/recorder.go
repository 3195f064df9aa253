// Package chattest has what tests of the two directions of chat need: a suite that every chat.Poster passes, and a
// Recorder that keeps what was posted.
package chattest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"plumb/chat"
)

// A Sent is one part of a post as it was shown.
type Sent struct {
	ID   string
	Post chat.Post
	Part int
	Text string
}

// A Recorder is a chat.Poster that shows posts to nobody and remembers them. Its zero value takes texts of any length.
type Recorder struct {
	// PartLimit is the number of characters in a part; zero for no limit.
	PartLimit int

	mu     sync.Mutex
	sent   []Sent
	faults []fault
}

type fault struct {
	err    error
	posted bool
}

var _ chat.Poster = (*Recorder)(nil)

// Fail makes the next sends fail with these errors, one each, without posting.
func (r *Recorder) Fail(errs ...error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, err := range errs {
		r.faults = append(r.faults, fault{err: err})
	}
}

// Lose makes the next send post, and fail all the same.
func (r *Recorder) Lose() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, fault{err: &chat.Unknown{Err: errors.New("the answer was lost")}, posted: true})
}

// Sent is everything that was posted, oldest first.
func (r *Recorder) Sent() []Sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sent)
}

// Send remembers a part.
func (r *Recorder) Send(ctx context.Context, p chat.Post, part int) (id string, last bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return "", false, &chat.Retry{Err: err}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	parts := r.parts(p.Text)
	if part < 0 {
		return "", false, fmt.Errorf("post %s has no part %d", p.ID, part)
	}
	if part >= len(parts) {
		return "", true, nil
	}
	var f fault
	if len(r.faults) > 0 {
		f, r.faults = r.faults[0], r.faults[1:]
	}
	last = part == len(parts)-1
	if f.err != nil && !f.posted {
		return "", last, f.err
	}
	id = fmt.Sprintf("%s/%d/%d", p.ID, part, len(r.sent))
	r.sent = append(r.sent, Sent{id, p, part, parts[part]})
	if f.err != nil {
		return "", last, f.err
	}
	return id, last, nil
}

// Find looks for a part among what was posted.
func (r *Recorder) Find(_ context.Context, p chat.Post, part int) (id string, found bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sent {
		if s.Post.ID == p.ID && s.Part == part {
			return s.ID, true, nil
		}
	}
	return "", false, nil
}

func (r *Recorder) parts(text string) (parts []string) {
	runes := []rune(text)
	for r.PartLimit > 0 && len(runes) > r.PartLimit {
		parts = append(parts, string(runes[:r.PartLimit]))
		runes = runes[r.PartLimit:]
	}
	return append(parts, string(runes))
}
