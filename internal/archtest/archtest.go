// Package archtest keeps the shape of the tree: which package may import which, and that each says what it is for. The
// rules are tests, since a picture of the imports is out of date within a month.
package archtest
