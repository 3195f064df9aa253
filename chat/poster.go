package chat

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Poster puts the bot's posts where people see them. A post may need several messages on the platform; they are its
// parts, numbered from 0, and the same post always falls into the same parts. Keeping parts apart lets delivery go on
// after a crash without saying anything twice. Every Poster passes chattest.RunPoster.
type Poster interface {
	// Send posts one part and returns the platform's id of it, and whether it was the last; asked for a part past the
	// last one it sends nothing, returns no id and says that it was the last. The error tells what to do next: [Retry] try again later, [Unknown] look before trying again, anything else give up.
	Send(ctx context.Context, p Post, part int) (id string, last bool, err error)
	// Find looks on the platform for a part whose fate is unknown.
	Find(ctx context.Context, p Post, part int) (id string, found bool, err error)
}

// Retry is the error of a send that surely did not happen and may be tried again.
type Retry struct {
	After time.Duration // not before; zero if the platform did not say
	Err   error
}

func (e *Retry) Error() string { return fmt.Sprintf("try again: %v", e.Err) }
func (e *Retry) Unwrap() error { return e.Err }

// Unknown is the error of a send that may or may not have happened.
type Unknown struct{ Err error }

func (e *Unknown) Error() string { return fmt.Sprintf("the platform did not confirm: %v", e.Err) }
func (e *Unknown) Unwrap() error { return e.Err }

// Retryable says whether a send may be tried again as it is, and how soon.
func Retryable(err error) (time.Duration, bool) {
	if r, ok := errors.AsType[*Retry](err); ok {
		return r.After, true
	}
	return 0, false
}
