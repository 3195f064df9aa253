package chattest

import (
	"errors"
	"testing"
	"time"

	"plumb/chat"
)

func TestRecorder(t *testing.T) {
	RunPoster(t, func(*testing.T) Harness {
		r := &Recorder{PartLimit: 1_000}
		return Harness{
			Poster: r,
			Shown: func() (out []string) {
				for _, s := range r.Sent() {
					out = append(out, s.Text)
				}
				return out
			},
			Limit:  func(d time.Duration) { r.Fail(&chat.Retry{After: d, Err: errors.New("too fast")}) },
			Lose:   r.Lose,
			Refuse: func() { r.Fail(errors.New("no such channel")) },
		}
	})
}
