// Package redact takes secrets out of what tools read, before a model, the evidence, a log or a chat can have them (D10).
// It knows secrets by their form: keys and tokens of well-known makers, private keys, passwords in URLs, and values that
// are named as secrets. A plain word is never touched, and what is replaced says what it was.
package redact

import (
	"regexp"
	"strings"
)

// A form is one way in which secrets look. What the group named s matches is replaced; without one, all is.
type form struct {
	what  string
	hints []string // one of these must occur before the expression is tried; most texts hold none
	re    *regexp.Regexp
}

var forms = []form{
	{"private key", []string{"PRIVATE KEY"}, regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)},
	{"AWS key", []string{"AKIA", "ASIA"}, regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"GitHub token", []string{"gh", "github_pat_"}, regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})`)},
	{"GitLab token", []string{"glpat-"}, regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},
	{"Slack token", []string{"xox", "xapp-"}, regexp.MustCompile(`\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}`)},
	{"webhook", []string{"hooks.slack.com", "/api/webhooks/"}, regexp.MustCompile(`https://(?:hooks\.slack\.com/services|(?:\w+\.)?discord(?:app)?\.com/api/webhooks)/(?P<s>[\w/-]{20,})`)},
	{"API key", []string{"sk-", "sk_", "rk_", "pk_"}, regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{20,}|[srp]k_(?:live|test)_[A-Za-z0-9]{16,})`)},
	{"Google key", []string{"AIza"}, regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{33,}`)},
	{"npm token", []string{"npm_"}, regexp.MustCompile(`\bnpm_[A-Za-z0-9]{36}\b`)},
	{"token", []string{"eyJ"}, regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)},
	{"token", []string{"earer ", "asic "}, regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+(?P<s>[A-Za-z0-9._~+/=-]{16,})`)},
	{"password", []string{"://"}, regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^\s:/@]*:(?P<s>[^\s/@]{1,200})@`)},
	{"secret", []string{"assw", "ecret", "oken", "ey", "ASSW", "ECRET", "OKEN", "EY", "redential", "pwd", "PWD"},
		regexp.MustCompile(`(?i)\b[\w.-]*(?:passw(?:or)?d|passwd|pwd|secret(?:[_-]?key)?|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|client[_-]?secret|private[_-]?key|credentials?)["']?\s*(?:=|:=|:|=>)\s*["']?(?P<s>[^\s"',;&}{<>]{6,})`)},
}

// Text is a text without its secrets.
func Text(s string) string {
	for _, f := range forms {
		if !f.maybe(s) {
			continue
		}
		group := f.re.SubexpIndex("s")
		var b strings.Builder
		at := 0
		for _, m := range f.re.FindAllStringSubmatchIndex(s, -1) {
			from, to := m[0], m[1]
			if group > 0 {
				from, to = m[2*group], m[2*group+1]
			}
			if strings.HasPrefix(s[from:], mark) {
				continue // found by its form before
			}
			b.WriteString(s[at:from] + mark + f.what + "›")
			at = to
		}
		s = b.String() + s[at:]
	}
	return s
}

const mark = "‹redacted: "

func (f form) maybe(s string) bool {
	for _, h := range f.hints {
		if strings.Contains(s, h) {
			return true
		}
	}
	return false
}

// Rows are rows without their secrets. A cell in a column that is named as a secret is one, whatever its form.
func Rows(columns []string, rows [][]any) (out [][]any, found bool) {
	secret := make([]bool, len(columns))
	for i, c := range columns {
		secret[i] = Named(c)
	}
	out = rows
	for r, row := range rows {
		for c, v := range row {
			text, ok := v.(string)
			if !ok || text == "" {
				continue
			}
			clean := Text(text)
			if c < len(secret) && secret[c] && clean == text {
				clean = mark + "secret›"
			}
			if clean == text {
				continue
			}
			if !found {
				out, found = copied(rows), true
			}
			out[r][c] = clean
		}
	}
	return out, found
}

// Named says whether a column is named as a secret.
func Named(column string) bool { return named.MatchString(column) }

var named = regexp.MustCompile(`(?i)^(?:.*_)?(?:password|passwd|secret|secret_key|api_?key|private_key|access_token|refresh_token|auth_token|client_secret)$`)

func copied(rows [][]any) [][]any {
	out := make([][]any, len(rows))
	for i, r := range rows {
		out[i] = append([]any(nil), r...)
	}
	return out
}
