package model

import (
	"errors"
	"net/http"
	"testing"
	"time"
)

func TestFromStatus(t *testing.T) {
	for _, c := range []struct {
		status int
		text   string
		want   Kind
	}{
		{0, "", Broken},
		{301, "", Unavailable},
		{400, "messages: invalid", Rejected},
		{400, "This model's maximum context length is 8192 tokens", TooLong},
		{400, "context_length_exceeded", TooLong},
		{400, "Prompt is too long: 210000 tokens > 200000 maximum", TooLong},
		{500, "the request exceeds the available context size", TooLong},
		{429, "context window of requests", Busy}, // the status says already what is the matter
		{401, "", Denied},
		{402, "", Denied},
		{403, "", Denied},
		{404, "", Unavailable},
		{408, "", Busy},
		{409, "", Busy},
		{413, "", TooLong},
		{418, "", Rejected},
		{422, "", Rejected},
		{429, "", Busy},
		{500, "", Busy},
		{529, "", Busy},
	} {
		if e := FromStatus(c.status, nil, errors.New(c.text)); e.Kind != c.want || e.Status != c.status {
			t.Errorf("%d %q is %s, want %s", c.status, c.text, e.Kind, c.want)
		}
	}
	if e := FromStatus(400, nil, nil); e.Kind != Rejected {
		t.Errorf("without an error: %s", e.Kind)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", "-1", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "1e300", time.Hour},
		{"Retry-After", "soon", 0},
		{"Retry-After", "Mon, 30 Nov 2026 20:00:12 GMT", 12 * time.Second},
		{"Retry-After", "Mon, 30 Nov 2026 19:00:00 GMT", 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
	} {
		h := http.Header{}
		h.Set(c.name, c.value)
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%s: %s is %v, want %v", c.name, c.value, got, c.want)
		}
	}
	both := http.Header{"Retry-After": {"1"}, "Retry-After-Ms": {"1500"}}
	if got := retryAfter(both, now); got != 1500*time.Millisecond {
		t.Errorf("of both the finer counts, not %v", got)
	}
}
