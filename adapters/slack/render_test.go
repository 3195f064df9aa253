package slack

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"plumb/adapters/slack/slacktest"
	"plumb/chat"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a payload with its file in testdata, which can be pasted into Slack's Block Kit Builder.
func golden(t *testing.T, name string, payload any) {
	t.Helper()
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(payload); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name+".golden.json")
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got)\n%s", name, diff)
	}
}

type payload struct {
	Text   string        `json:"text"`
	Blocks []slack.Block `json:"blocks,omitempty"`
}

func blocksOf(raw json.RawMessage) (out []map[string]any) {
	_ = json.Unmarshal(raw, &out)
	return out
}

func TestGoldenPosts(t *testing.T) {
	started := time.Unix(1_700_000_000, 0)
	short, _, err := render(answer("1.0"), 0)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "answer", payload{short.summary, short.rungs[0]})
	golden(t, "answer_without_container", payload{short.summary, short.rungs[1]})
	golden(t, "answer_without_blocks", payload{short.text, nil})

	long := answer("1.0")
	long.Text = "Here it is:\n\n```sql\n" + strings.Repeat("SELECT 1;\n", 1_200) + "```\n\nThat is all."
	for part, name := range []string{"long_first", "long_last"} {
		m, last, err := render(long, part)
		if err != nil || last != (part == 1) {
			t.Fatal(part, last, err)
		}
		golden(t, name, payload{m.summary, m.rungs[0]})
	}

	stopped, _, err := render(chat.Post{ID: "p", Run: "run-1", Text: "Stopped. One query had run."}, 0)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "stopped", payload{stopped.summary, stopped.rungs[0]})
	refusal, _, err := render(chat.Post{ID: "p", Only: true, Text: "Only ann or an admin can stop this."}, 0)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "refusal", payload{refusal.summary, refusal.rungs[0]})

	run := chat.Progress{Run: "run-1", Started: started, Lines: []string{"looked at orders", "counting <orders>"}}
	text, blocks := standing(run)
	golden(t, "progress", payload{text, blocks})
	text, blocks = ended(run, started.Add(4*time.Second))
	golden(t, "progress_ended", payload{text, blocks})
	golden(t, "evidence", page(window{Place: reply("1.0").Conversation.Place, Run: "run-1"}, answer("1.0").Exhibits, 0))
}

// Whatever a model or a database writes, it calls nobody, hides no address and breaks no block, on every surface.
func TestHostileTexts(t *testing.T) {
	s := start(t)
	thread := s.asked()
	for _, hostile := range []string{
		"<!channel> <!here> <!everyone> <@UBOB> <!subteam^S1>",
		"`<!channel>` and\n```\n<@UBOB>\n```",
		"see <https://evil.example/|https://bank.example/>",
		"[bank.example](https://evil.example/) [a [b](https://evil.example/)](https://evil.example)",
		"[x][1]\n\n[1]: https://evil.example",
		"![bank](https://evil.example/a.png \"title\")",
		"&lt;!channel&gt; &amp;lt;!here>",
		"<<!channel>> <!channel", "```", "```\n<!here>", "~~~\n```\n<@U1>", strings.Repeat("<", 20_000), strings.Repeat("[](", 4_000), strings.Repeat("`", 10_001),
	} {
		p := answer(thread)
		p.Text, p.Verdict, p.Footer = "x "+hostile, hostile, hostile
		p.Exhibits = []chat.Exhibit{{ID: "e1", Title: hostile, SQL: hostile, Text: hostile, Columns: []string{hostile}, Rows: [][]string{{hostile}}, Notes: []string{hostile}}}
		before, calls := len(s.Messages()), len(s.Calls("chat.postMessage"))
		for part, last := 0, false; !last; part++ {
			var err error
			if _, last, err = s.bot.Send(t.Context(), p, part); err != nil {
				t.Fatalf("%.40q: %v", hostile, err)
			}
		}
		if tries, n := len(s.Calls("chat.postMessage"))-calls, len(s.Messages())-before; tries != n {
			t.Errorf("%.40q: %d calls for %d messages: a form was refused", hostile, tries, n)
		}
		for _, m := range s.Messages()[before:] {
			harmlessMessage(t, m)
		}
		text, _ := standing(chat.Progress{Run: "r", Lines: []string{hostile}})
		if strings.Contains(text, "<") || utf8.RuneCountInString(text) > sectionLimit {
			t.Errorf("progress says %.60q", text)
		}
		for _, blocks := range pages(p.Exhibits) {
			for _, b := range blocks {
				if sec, ok := b.(*slack.SectionBlock); ok && (strings.Contains(sec.Text.Text, "<") || utf8.RuneCountInString(sec.Text.Text) > sectionLimit) {
					t.Errorf("the window says %.60q", sec.Text.Text)
				}
			}
		}
	}
}

// harmlessMessage fails the test if anything in a message that Slack reads for markup is live.
func harmlessMessage(t *testing.T, m slacktest.Message) {
	t.Helper()
	live := []string{m.Text}
	var models string // the text that Slack reads as Markdown
	var walk func(v any)
	walk = func(v any) {
		switch x := v.(type) {
		case []any:
			for _, y := range x {
				walk(y)
			}
		case map[string]any:
			if text, ok := x["text"].(string); ok && (x["type"] == "markdown" || x["type"] == "mrkdwn") {
				live = append(live, text)
				if x["type"] == "markdown" {
					models = text
				}
			}
			for _, y := range x {
				walk(y)
			}
		}
	}
	var all any
	_ = json.Unmarshal(m.Blocks, &all)
	walk(all)
	for _, text := range live {
		if strings.Contains(text, "<") {
			t.Errorf("live markup: %.80q", text)
		}
	}
	if strings.Contains(models, "](") && !strings.Contains(models, "`") {
		t.Errorf("a link with a label: %.80q", models)
	}
}

func TestHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"a < b & c > d":                           "a &lt; b & c &gt; d",
		"> quoted\n> > twice":                     "> quoted\n> > twice",
		"`a <b>`":                                 "`a &lt;b&gt;`",
		"[Grafana](https://g.example/d/1)":        "Grafana (https://g.example/d/1)",
		"[https://g.example](https://g.example/)": "https://g.example/",
		"[g.example](https://g.example/d/1)":      "https://g.example/d/1",
		"[g.example](https://evil.example/)":      "g.example (https://evil.example/)",
		"[a](https://en.example/x_(y)) b":         "a (https://en.example/x_(y)) b",
		"`[a](https://x.example)`":                "`[a](https://x.example)`",
		"[a\nb](https://evil.example)":            "[a\nb] (https://evil.example)",
		"[one][1]\n[1]: https://evil.example":     "[one][1]\n1: https://evil.example",
		"<https://a.example>":                     "&lt;https://a.example&gt;",
		"x?a=1&b=2":                               "x?a=1&b=2",
	} {
		if got := harmless(in); got != want {
			t.Errorf("harmless(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"# Title\n**bold** ~~gone~~ a & b": "*Title*\n*bold* ~gone~ a &amp; b",
		"```sql\nSELECT **\n```":           "```\nSELECT **\n```",
	} {
		if got := mrkdwn(harmless(in)); got != want {
			t.Errorf("mrkdwn(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzHarmless(f *testing.F) {
	for _, s := range []string{"<!channel>", "[a](b)", "[a][b]\n[b]: c", "`](`", "```\n<\n```", "![](x)", "> <"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if got := harmless(in); strings.Contains(got, "<") {
			t.Errorf("harmless(%q) = %q", in, got)
		}
		if got := mrkdwn(harmless(in)); strings.ContainsRune(got, '<') {
			t.Errorf("mrkdwn of %q = %q", in, got)
		}
		if got := clip(in, 20); utf8.RuneCountInString(got) > 20 || strings.ContainsAny(got, "<>") {
			t.Errorf("clip(%q) = %q", in, got)
		}
	})
}
