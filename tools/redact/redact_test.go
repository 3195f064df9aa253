package redact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The secrets are put together here, so that no scanner takes this file for a leak.
var secrets = map[string]string{
	"AWS":              "AK" + "IAIOSFODNN7EXAMPLE",
	"GitHub":           "gh" + "p_0123456789abcdefghij0123456789abcdef",
	"GitHub, newer":    "github" + "_pat_11ABCDEFG0123456789_abcdefghijklmnopqrstuvwxyz0123456789ABCD",
	"GitLab":           "gl" + "pat-abcdefghij0123456789",
	"Slack bot":        "xo" + "xb-123456789012-abcdefABCDEF",
	"Slack app":        "xa" + "pp-1-A0123456789-abcdef",
	"OpenAI":           "s" + "k-proj-abcdefghijklmnopqrstuvwxyz012345",
	"Anthropic":        "s" + "k-ant-api03-abcdefghijklmnopqrstuvwxyz",
	"Stripe":           "s" + "k_live_abcdefghijklmnop0123",
	"Google":           "AI" + "zaSyA0123456789abcdefghijklmnopqrstu",
	"npm":              "np" + "m_0123456789abcdefghij0123456789abcdef",
	"JWT":              "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
	"a private key":    "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
	"half of a key":    "-----BEGIN " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA",
	"a Slack webhook":  "T00000000/B00000000/abcdefghijklmnop",
	"a password in it": "hunter2hunter2",
}

func TestSecretsGo(t *testing.T) {
	around := map[string]string{"a Slack webhook": "https://hooks.slack.com/services/%", "a password in it": "postgres://app:%@db.internal:5432/shop"}
	for name, secret := range secrets {
		frame := around[name]
		if frame == "" {
			frame = "key is %, use it"
		}
		in := strings.Replace(frame, "%", secret, 1)
		got := Text(in)
		if strings.Contains(got, secret) || !strings.Contains(got, mark) {
			t.Errorf("%s: %q", name, got)
		}
		if again := Text(got); again != got {
			t.Errorf("%s: twice gives %q", name, again)
		}
	}
	for _, in := range []string{`password=s3cr3tpass`, `"password": "s3cr3tpass"`, `DB_PASSWORD: s3cr3tpass`, `api_key => 's3cr3tpass'`, `Authorization: Bearer s3cr3tpasss3cr3tpass`, `client_secret=s3cr3tpass&x=1`} {
		if got := Text(in); strings.Contains(got, "s3cr3tpass") {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestHarmlessTextsStay(t *testing.T) {
	for _, in := range []string{"", "How many tokens did we use?", "The password policy changed in May.", "password: ", "token_count=12345", "https://example.com/a:b@c", "ask-2026-01", "key: EU, value: 12",
		"sk-1 is a product", "basic plan customers", "monkey=bananas", "0123456789abcdef0123456789abcdef", "primary_key: 12", "https://shop.example/?q=1"} {
		if got := Text(in); got != in {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

func TestRows(t *testing.T) {
	rows := [][]any{{"ann", "correct horse", int64(1)}, {"bob", nil, int64(2)}}
	got, found := Rows([]string{"name", "user_password", "n"}, rows)
	want := [][]any{{"ann", mark + "secret›", int64(1)}, {"bob", nil, int64(2)}}
	if d := cmp.Diff(want, got); d != "" || !found {
		t.Error(d)
	}
	if rows[0][1] != "correct horse" {
		t.Error("the rows that were given are changed")
	}
	if same, found := Rows([]string{"name", "note", "n"}, rows); found || &same[0] != &rows[0] {
		t.Error("rows without secrets are copied")
	}
}

func FuzzText(f *testing.F) {
	f.Add("password=abc123456 and postgres://u:p@h/d")
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if again := Text(once); again != once {
			t.Errorf("%q, then %q", once, again)
		}
	})
}
