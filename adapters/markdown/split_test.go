package markdown

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	a, b := strings.Repeat("a", 30), strings.Repeat("b", 30)
	for _, tc := range []struct {
		name, text string
		limit      int
		want       []string
	}{
		{"short", "one\n\ntwo", 40, []string{"one\n\ntwo"}},
		{"empty", "", 40, []string{""}},
		{"paragraphs", a + "\n\n" + b, 50, []string{a, b}},
		{"lines", a + "\n" + b, 50, []string{a, b}},
		{"words", a + " " + b, 50, []string{a, b}},
		{"one word", a + a, 40, []string{a + a[:10], a[:20]}},
		{"entity", strings.Repeat("a", 38) + "&lt;b", 40, []string{strings.Repeat("a", 38), "&lt;b"}},
		{"listing", "```sql\n" + a + "\n" + b + "\n```\nend", 50, []string{"```sql\n" + a + "\n```", "```sql\n" + b + "\n```\nend"}},
		{"before a listing", a + "\n```\n" + b + "\n```", 50, []string{a, "```\n" + b + "\n```"}},
		{"unclosed", "```\nx", 40, []string{"```\nx\n```"}},
		{"tildes", "~~~go\n" + a + "\n" + b + "\n~~~", 50, []string{"~~~go\n" + a + "\n~~~", "~~~go\n" + b + "\n~~~"}},
		{"characters, not bytes", strings.Repeat("ä", 40), 40, []string{strings.Repeat("ä", 40)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Split(tc.text, tc.limit)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A long listing keeps every line, in order, between fences of its own in each part.
func TestSplitLongListing(t *testing.T) {
	var lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf("SELECT %d;", i))
	}
	parts := Split("Here it is:\n\n```sql\n"+strings.Join(lines, "\n")+"\n```\n\nThat is all.", 300)
	var got []string
	for i, p := range parts {
		if n := strings.Count(p, "```"); n%2 != 0 {
			t.Errorf("part %d has %d fences: %q", i, n, p)
		}
		for l := range strings.Lines(p) {
			if strings.HasPrefix(l, "SELECT") {
				got = append(got, strings.TrimSpace(l))
			}
		}
	}
	if diff := cmp.Diff(lines, got); diff != "" {
		t.Errorf("lines are lost or out of order (-want +got)\n%s", diff)
	}
}

func TestOutside(t *testing.T) {
	upper := func(s string) string { return strings.ToUpper(s) }
	for in, want := range map[string]string{
		"a `b` c":              "A `b` C",
		"a ``b ` c`` d":        "A ``b ` c`` D",
		"a ` b":                "A ` B",
		"a ` b\n\nc ` d":       "A ` B\n\nC ` D",
		"a\n```\nb\n```\nc":    "A\n```\nb\n```\nC",
		"```\na":               "```\na",
		"a\n~~~x\n```\n~~~\nb": "A\n~~~x\n```\n~~~\nB",
	} {
		if got := Outside(in, upper); got != want {
			t.Errorf("Outside(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"", "a b c", "```sql\nSELECT 1\n```", strings.Repeat("word ", 100), "~~~\n" + strings.Repeat("x\n", 80) + "~~~",
		strings.Repeat("&lt;", 60), "a ```b``` " + strings.Repeat("`", 90), "```\n" + strings.Repeat("x", 200), strings.Repeat("```\nx\n```\n", 20)} {
		f.Add(s, 50)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if len(text) > 5000 || !utf8.ValidString(text) {
			t.Skip()
		}
		limit = smallest + max(limit, -limit)%500
		parts := Split(text, limit)
		if diff := cmp.Diff(parts, Split(text, limit)); diff != "" {
			t.Fatalf("cut differently the second time: %s", diff)
		}
		for i, p := range parts {
			if n := utf8.RuneCountInString(p); n > limit {
				t.Errorf("part %d has %d characters, limit %d: %q", i, n, limit, p)
			}
			if (fence{}).after(p).marker != "" {
				t.Errorf("part %d leaves its listing open: %q", i, p)
			}
		}
		if rest := missing(text, strings.Join(parts, "\n")); rest != "" {
			t.Errorf("lost or out of order from %q on: %q", rest, parts)
		}
	})
}

// missing is what is left of text when its characters are looked for in got, one after the other. Blank space may be
// lost at a cut, and fences may be added and closed with another number of marks.
func missing(text, got string) string {
	for i, r := range text {
		if strings.ContainsRune(" \t\r\n`~", r) {
			continue
		}
		at := strings.IndexRune(got, r)
		if at < 0 {
			return text[i:]
		}
		got = got[at+utf8.RuneLen(r):]
	}
	return ""
}
