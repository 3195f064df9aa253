// Package wire is what providers share: the HTTP client, failures in our words, and turns in the form that every
// provider accepts.
package wire
