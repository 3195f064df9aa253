package discord

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"plumb/chat"
)

var update = flag.Bool("update", false, "write the golden payloads anew")

// The payloads that go to Discord, whole, so that a person can send one by hand and look at it.
func TestGoldenPayloads(t *testing.T) {
	t.Parallel()
	reply := chat.Reply{Conversation: chat.Conversation{Place: chat.Place{Platform: "discord", Team: "1", Channel: "2"}, Thread: "3"}, To: "3"}
	followUp := reply
	followUp.To = "4"
	for name, p := range map[string]chat.Post{
		"answer": {ID: "post", Run: "r1", Reply: reply, Asker: chat.Person{ID: ann}, Text: "Revenue was **1,234.50** in March.", Verdict: "1 figure checked", Footer: "3 model calls, 12 s",
			Exhibits: exhibits(1), Buttons: []chat.Button{{Action: chat.Evidence, Run: "r1"}, {Action: chat.Continue, Run: "r1"}}},
		"follow_up": {ID: "post", Reply: followUp, Asker: chat.Person{ID: ann}, Text: "<@" + ann + ">, see <@" + ben + ">"},
		"table":     {ID: "post", Reply: reply, Text: "By region:\n\n| region | n |\n|---|--:|\n| **EU** | 7 |\n| a\\|b | 1,200 |\n\nThat is all."},
		"hostile":   {ID: "post", Reply: reply, Text: hostile},
		"empty":     {ID: "post", Reply: reply},
	} {
		got, err := json.MarshalIndent(render(p), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name+".json")
		if *update {
			if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

const hostile = "Hear ye @everyone @here <@55> <@&66> <#77>: [your bank](https://evil.example/a_(b)), [https://bank.example](<https://evil.example> \"title\"), " +
	"![pixel](https://evil.example/p.png), [a [b] c](https://evil.example), [two\nlines](https://evil.example) and `[code](stays)`. \u202eDesrever\u202c"

// disguise is a link that Discord would draw as its label.
var disguise = regexp.MustCompile(`\]\(`)

// Nothing that the model writes calls people or hides where a link leads, on any surface.
func TestHostileWordsEverywhere(t *testing.T) {
	t.Parallel()
	p := chat.Post{ID: "p", Run: "r", Asker: chat.Person{ID: ann, Name: hostile}, Text: hostile, Verdict: hostile, Footer: hostile,
		Exhibits: []chat.Exhibit{{ID: "e1", Title: hostile, SQL: "SELECT '```' || 'x'\n```\n" + hostile, Text: "```\n" + hostile, Columns: []string{hostile}, Rows: [][]string{{"```" + hostile}}, Notes: []string{hostile}}}}
	surfaces := render(p)
	surfaces = append(surfaces, leaf(p.Exhibits, "r", 0), sheets(p.Exhibits), progressMessage(chat.Progress{Run: "r", Lines: []string{hostile}}))
	for i, m := range surfaces {
		b, err := json.Marshal(m.Mentions)
		if err != nil || string(b) != `{"parse":[],"replied_user":false}` {
			t.Errorf("surface %d may call people: %s", i, b)
		}
		outside := regexp.MustCompile("(?s)```.*?```|`[^`]*`").ReplaceAllString(m.Content, "")
		if disguise.MatchString(outside) || strings.Contains(outside, "\u202e") {
			t.Errorf("surface %d hides something: %s", i, outside)
		}
		if strings.Count(m.Content, "```")%2 != 0 {
			t.Errorf("surface %d leaves a listing open: %s", i, m.Content)
		}
		if m.Flags&flagNoEmbeds == 0 {
			t.Errorf("surface %d unfolds links", i)
		}
	}
}

func TestUndisguised(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"[docs](https://a.example/x)":            "docs (<https://a.example/x>)",
		"[https://a.example](https://a.example)": "<https://a.example>",
		"[](https://a.example)":                  "<https://a.example>",
		"a [1] (not a link)":                     "a [1] (not a link)",
		"`[x](https://y.example)`":               "`x (<https://y.example>)`", `\` + "` [x](https://y.example) `": `\` + "` x (<https://y.example>) `",
		"`[x](y)` and ```\n[x](y)\n```": "`[x](y)` and ```\n[x](y)\n```",
		"f[i](x)":                       "f[i](x)",
		"[a](https://e.example/(x) \"y\") [b](http:q)": "a (<https://e.example/(x)>) b (<http:q>)",
		"[![i](https://e.example)](https://f.example)": "[i (<https://e.example>)] (https://f.example)",
	} {
		if got := undisguised(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// A long answer falls into parts that Discord takes, and the last one has the small print and the buttons.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	var words []string
	for i := range 2000 {
		words = append(words, fmt.Sprintf("w%d", i))
	}
	p := chat.Post{ID: "p", Run: "r", Text: "Here:\n\n```sql\n" + strings.Join(words, "\n") + "\n```\n\nThat is all.", Verdict: strings.Repeat("v", 500), Footer: strings.Repeat("ü", 500), Exhibits: exhibits(1)}
	parts := render(p)
	if len(parts) < 4 {
		t.Fatalf("%d parts", len(parts))
	}
	nonces := map[string]bool{}
	for i, m := range parts {
		last := i == len(parts)-1
		if n := utf8.RuneCountInString(m.Content); n > contentLimit || n == 0 {
			t.Errorf("part %d has %d characters", i, n)
		}
		if strings.Count(m.Content, "```")%2 != 0 {
			t.Errorf("part %d leaves a listing open", i)
		}
		if (len(m.Components) > 0) != last || (len(m.files) > 0) != last || strings.Contains(m.Content, "-# vvv") != last {
			t.Errorf("part %d: buttons %v, files %d", i, m.Components, len(m.files))
		}
		if nonces[m.Nonce] || len(m.Nonce) > 25 || !m.EnforceNonce {
			t.Errorf("part %d has the nonce %q", i, m.Nonce)
		}
		nonces[m.Nonce] = true
	}
	if diff := cmp.Diff(parts, render(p), cmp.AllowUnexported(message{}, file{})); diff != "" {
		t.Errorf("the second time it falls into other parts\n%s", diff)
	}
}

func TestLaid(t *testing.T) {
	t.Parallel()
	const zw = "`\u200b`\u200b`"
	link := "[x](https://evil.example)"
	for in, want := range map[string]string{
		"a | b\nno table":                        "a | b\nno table",
		"| a | b |\n|---|\n| 1 | 2 |":            "| a | b |\n|---|\n| 1 | 2 |",
		"```\n| a |\n|---|\n```":                 "```\n| a |\n|---|\n```",
		"x\n| a | n |\n|:--|--:|\n| ü | 10 |\ny": "x\n```\na   n\n─  ──\nü  10\n```\ny",
		"| a | n |\n|---|---|\n| only |":         "```\na     n\n────  ─\nonly\n```",
		// Where Discord sees a listing end, or none at all, a link must not come alive.
		"~~~go\n" + link + "\n~~~\nx":          "```go\n" + link + "\n```\nx",
		"```\na ``` " + link + "\n```":         "```\na " + zw + " " + link + "\n```",
		"a ``` b\n```sql\n" + link + "\n```":   "a " + zw + " b\n```sql\n" + link + "\n```",
		"````\n```\n" + link + "\n```\n````":   "```\n" + zw + "\n" + link + "\n" + zw + "\n```",
		"```\nopen " + link:                    "```\nopen " + link + "\n```",
		"```[x](https://evil.example)\na\n```": "```\na\n```",
	} {
		if got := laid(in); got != want {
			t.Errorf("%q became\n%q\nwant\n%q", in, got, want)
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	x := exhibits(1)[0]
	x.SQL = "SELECT '```'"
	got := string(report([]chat.Exhibit{x}))
	for _, want := range []string{"## e1 · 30 rows", "````sql\nSELECT '```'\n````", "region 29  2900", "and 2 more rows", "- cut"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	x.Text = strings.Repeat("ü", reportLimit)
	if got := report([]chat.Exhibit{x}); len(got) > reportLimit || !utf8.Valid(got) || !strings.Contains(string(got), "cut here") {
		t.Errorf("%d bytes, valid %v", len(got), utf8.Valid(got))
	}
}

func TestSheet(t *testing.T) {
	t.Parallel()
	x := chat.Exhibit{ID: "../e1", Columns: []string{"a", "b"}, Rows: [][]string{{"=1+1", "-5"}, {"@x", "a,\"b\""}}}
	m := sheets([]chat.Exhibit{x})
	if want := "a,b\n'=1+1,-5\n'@x,\"a,\"\"b\"\"\"\n"; string(m.files[0].content) != want || m.files[0].name != "___e1.csv" {
		t.Errorf("%s: %q, want %q", m.files[0].name, m.files[0].content, want)
	}
	if m := sheets([]chat.Exhibit{{ID: "e1", Text: "x"}}); len(m.files) != 0 || m.Content == "" {
		t.Errorf("got %+v", m)
	}
}

// Whatever comes, a message is one that Discord takes, and the same post gives the same parts.
func FuzzRender(f *testing.F) {
	for _, s := range []string{hostile, "", "```sql\nSELECT 1", "| a |\n|---|\n| b |", strings.Repeat("[x](https://y) ", 600), strings.Repeat("ä\n", 3000)} {
		f.Add(s, "verdict")
	}
	f.Fuzz(func(t *testing.T, words, verdict string) {
		for i, m := range render(chat.Post{ID: "p", Text: words, Verdict: verdict}) {
			if n := utf8.RuneCountInString(m.Content); n > contentLimit {
				t.Errorf("part %d has %d characters", i, n)
			}
		}
	})
}
