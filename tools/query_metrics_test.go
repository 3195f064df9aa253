package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestMoment(t *testing.T) {
	for text, want := range map[string]time.Time{
		"now":                       noon,
		"-1h":                       noon.Add(-time.Hour),
		"- 1h30m":                   noon.Add(-90 * time.Minute),
		"now-7d":                    noon.AddDate(0, 0, -7),
		"now + 5m":                  noon.Add(5 * time.Minute),
		"-1.5h":                     noon.Add(-90 * time.Minute),
		"2026-02-28T23:00:00+02:00": noon.Add(-15 * time.Hour),
		"2026-02-28":                noon.Add(-36 * time.Hour),
		"2026-02-28 12:00":          noon.AddDate(0, 0, -1),
		"1772366400":                noon,
		"1772366400.25":             noon.Add(250 * time.Millisecond),
	} {
		got, err := moment(text, noon)
		if err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%q is %v (%v), not %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", " ", "yesterday", "1h", "-", "now-", "-1M", "-1hh", "1772366400000", "NaN", "0001-01-01T00:00:00Z", "-100y", "-9999999999999y", "03/01/2026"} {
		if got, err := moment(text, noon); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		start, end, step string
		want             time.Duration
		widened          bool
	}{
		{"-1h", "", "", 30 * time.Second, false}, // 15 s would be 241 points
		{"-10m", "", "", 15 * time.Second, false},
		{"-199m", "now", "1m", time.Minute, false}, // 200 points, just
		{"-200m", "now", "1m", 2 * time.Minute, true},
		{"-1d", "", "15", 10 * time.Minute, true},
		{"-1h", "", "1.5h", 90 * time.Minute, false},
		{"-2y", "", "", 4 * 24 * time.Hour, false},
		{"now", "now", "", 15 * time.Second, false},
		{"1970-01-01", "2199-01-01", "1ms", 421 * 24 * time.Hour, true},
	} {
		over, notes, err := span(c.start, c.end, c.step, noon)
		if err != nil {
			t.Fatal(err)
		}
		if over.Step != c.want {
			t.Errorf("%v: the step is %v", c, over.Step)
		}
		if n := over.End.Sub(over.Start)/over.Step + 1; n > mostPoints {
			t.Errorf("%v: %d points", c, n)
		}
		if got := strings.Contains(notes[0], "widened from "+c.step); got != c.widened {
			t.Errorf("%v: the note is %q", c, notes[0])
		}
	}
	for _, c := range [][3]string{{"", "now", ""}, {"", "", "1m"}, {"now", "-1h", ""}, {"x", "", ""}, {"-1h", "x", ""},
		{"-1h", "", "0"}, {"-1h", "", "-5m"}, {"-1h", "", "often"}, {"-1h", "", "inf"}} {
		if over, _, err := span(c[0], c[1], c[2], noon); err == nil {
			t.Errorf("%q was read as %v", c, over)
		}
	}
}

func FuzzSpan(f *testing.F) {
	f.Add("-1h", "now", "30s")
	f.Add("2026-01-01T00:00:00Z", "1772366400", "1.5d")
	f.Add("now-1y", "", "1")
	f.Fuzz(func(t *testing.T, start, end, step string) {
		over, notes, err := span(start, end, step, noon)
		if err != nil {
			return
		}
		if over.Step <= 0 || over.End.Before(over.Start) || over.End.Sub(over.Start)/over.Step >= mostPoints || len(notes) != 1 {
			t.Errorf("%q to %q by %q: %v %q", start, end, step, over, notes)
		}
	})
}

func TestBrief(t *testing.T) {
	for want, d := range map[string]time.Duration{"30s": 30 * time.Second, "10m": 10 * time.Minute, "2h": 2 * time.Hour, "1h30m": 90 * time.Minute,
		"1m10s": 70 * time.Second, "3d": 72 * time.Hour, "10s": 10 * time.Second} {
		if got := brief(d); got != want {
			t.Errorf("%v is written %q", d, got)
		}
	}
}

func TestFlat(t *testing.T) {
	at := func(v any) []Point { return []Point{{Time: noon, Value: v}} }
	got := flat([]Series{
		{Labels: map[string]string{"__name__": "up", "job": "a", "time": "t"}, Points: at(1.5)},
		{Labels: map[string]string{"__name__": "up", "job": "b", "value": "v"}, Points: at(math.Inf(-1))},
		{Labels: map[string]string{"__name__": "up"}, Points: at(math.Copysign(0, -1))},
	})
	if diff := cmp.Diff([]string{"time", "job", "label_time", "label_value", "value"}, got.Columns); diff != "" {
		t.Error(diff)
	}
	want := [][]any{
		{"2026-03-01T12:00:00Z", "a", "t", nil, 1.5},
		{"2026-03-01T12:00:00Z", "b", nil, "v", "-Inf"},
		{"2026-03-01T12:00:00Z", nil, nil, nil, 0.0},
	}
	if diff := cmp.Diff(want, got.Rows); diff != "" {
		t.Error(diff)
	}
	if zero := got.Rows[2][4].(float64); math.Signbit(zero) {
		t.Error("a negative zero does not survive being recorded")
	}
	two := flat([]Series{{Labels: map[string]string{"__name__": "a"}, Points: at(1.0)}, {Labels: map[string]string{"__name__": "b"}, Points: at(1.0)}})
	if diff := cmp.Diff([]string{"time", "__name__", "value"}, two.Columns); diff != "" {
		t.Error(diff)
	}
}

// asked is a source that keeps what it was asked, and has one series with a secret.
type asked struct {
	name string
	at   time.Time
	over Span
	err  error
}

func (a *asked) Name() string { return a.name }

func (a *asked) Query(_ context.Context, _ string, at time.Time) (Readings, error) {
	a.at = at
	return Readings{Series: []Series{{Labels: map[string]string{"url": "http://me:hunter22@db"}, Points: []Point{{at, 1.0}}}}}, a.err
}

func (a *asked) QueryRange(_ context.Context, _ string, over Span) (Readings, error) {
	a.over = over
	return Readings{}, a.err
}

func TestQueryMetricsAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &asked{name: "main"}, &asked{name: "edge"}
		tool := QueryMetrics([]Metrics{a, b})
		run := func(args string) Result {
			r, err := tool.Call(t.Context(), Input{Args: json.RawMessage(args)})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		now := time.Now().UTC()
		r := run(`{"source":"EDGE","promql":"up"}`)
		if !b.at.Equal(now) || !a.at.IsZero() {
			t.Errorf("asked at %v and %v", a.at, b.at)
		}
		if s := r.Item.Sources; len(s) != 1 || s[0].Source != "edge" || !s[0].AsOf.Equal(now) || s[0].Table != "" {
			t.Errorf("the source is %+v", s)
		}
		if all := fmt.Sprint(r); strings.Contains(all, "hunter22") || !strings.Contains(all, "secrets were redacted") {
			t.Errorf("the secret of a label was not redacted: %v", all)
		}
		run(`{"source":"main","promql":"up","start":1,"end":"now","step":"2000d"}`)
		if want := (Span{time.Unix(1, 0).UTC(), now, 2000 * 24 * time.Hour}); a.over != want {
			t.Errorf("asked over %v, not %v", a.over, want)
		}
		for args, why := range map[string]string{
			`{"promql":"up"}`:                                "main, edge",
			`{"source":"x","promql":"up"}`:                   "main, edge",
			`{"source":"main","promql":"up","step":"1m"}`:    "needs a start",
			`{"source":"main","promql":"up","start":"soon"}`: "the start",
		} {
			if r := run(args); !r.Failed || !strings.Contains(r.Text, why) {
				t.Errorf("%s gave %q", args, r.Text)
			}
		}
		a.err = errors.New("no")
		if r := run(`{"source":"main","promql":"up"}`); !r.Failed || r.Text != "no" {
			t.Errorf("a source's error became %+v", r)
		}
	})
}
