package model

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// FromStatus is the failure that an HTTP status stands for, with what the headers (which may be nil) say about when
// to try again. Status 0 means that there was no answer at all.
func FromStatus(status int, header http.Header, err error) *Error {
	return &Error{Kind: kindOf(status, err), Status: status, After: retryAfter(header, time.Now()), Err: err}
}

func kindOf(status int, err error) Kind {
	switch {
	case status == 0:
		return Broken
	case status == http.StatusRequestEntityTooLarge, tooLong(status, err):
		return TooLong
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden:
		return Denied
	// What redirects is not the interface that we were told it is.
	case status == http.StatusNotFound, status < http.StatusBadRequest:
		return Unavailable
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooManyRequests,
		status >= http.StatusInternalServerError:
		return Busy
	}
	return Rejected
}

// contextWords are how providers say that a conversation is too long: none of them has a status of its own for it.
var contextWords = []string{
	"context length", "context_length", "context window", "context size", "context limit", "maximum context",
	"prompt is too long", "input is too long", "reduce the length",
}

// tooLong looks at the statuses under which a provider may say so; local servers are known to use 500.
func tooLong(status int, err error) bool {
	if err == nil || status != http.StatusBadRequest && status != http.StatusUnprocessableEntity && status != http.StatusInternalServerError {
		return false
	}
	text := strings.ToLower(err.Error())
	for _, words := range contextWords {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// retryAfter reads Retry-After in its two forms, seconds and a date, and the finer form that some providers add.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		return span(ms, time.Millisecond)
	}
	value := header.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return span(s, time.Second)
	}
	if t, err := http.ParseTime(value); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// span is n units of time. An absurd number must not turn negative, so an hour is the most.
func span(n float64, unit time.Duration) time.Duration {
	if !(n > 0) {
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(time.Hour)))
}
