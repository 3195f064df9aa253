package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func doc(name, text string) Document {
	return Document{Source: "s", Name: name, File: "x/" + name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

func TestSearch(t *testing.T) {
	docs := []Document{doc("a.md", "Alpha\nbeta\n\nalpha beta\r\nlast Beta"), doc("b.md", "no\nBETA $5")}
	for pattern, want := range map[string][]string{
		"beta":        {"a.md:2: beta", "a.md:4: alpha beta", "a.md:5: last Beta", "b.md:2: BETA $5"},
		"Beta":        {"a.md:5: last Beta"},
		`\Sbeta|beta`: {"a.md:2: beta", "a.md:4: alpha beta", "a.md:5: last Beta", "b.md:2: BETA $5"},
		"^alpha$":     {"a.md:1: Alpha"},
		`beta$`:       {"a.md:2: beta", "a.md:4: alpha beta", "a.md:5: last Beta"},
		`\$\d`:        {"b.md:2: BETA $5"},
		"^$":          {"a.md:3: "},
		"gamma":       nil,
	} {
		found, err := Search(t.Context(), docs, pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range found.Hits {
			got = append(got, fmt.Sprintf("%s:%d: %s", h.Name, h.Line, h.Text))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", pattern, diff)
		}
	}
	for _, bad := range []string{"", "(", "a(?=b)"} {
		if _, err := Search(t.Context(), docs, bad, 0); err == nil {
			t.Errorf("%q is taken for a pattern", bad)
		}
	}
}

func TestSearchLimits(t *testing.T) {
	docs := []Document{doc("a", strings.Repeat("hit\n", 200))}
	for asked, want := range map[int]int{0: 30, 7: 7, 100: 100, 5000: 100} {
		found, err := Search(t.Context(), docs, "hit", asked)
		if err != nil || len(found.Hits) != want || !found.More {
			t.Errorf("%d asked: %d hits, more %v, %v", asked, len(found.Hits), found.More, err)
		}
	}
	found, err := Search(t.Context(), []Document{doc("a", strings.Repeat("hit\n", 30))}, "hit", 30)
	if err != nil || len(found.Hits) != 30 || found.More {
		t.Errorf("%d hits, more %v, %v", len(found.Hits), found.More, err)
	}
	long := strings.Repeat("ü", 4000) + "needle" + strings.Repeat("x", 3<<20)
	found, err = Search(t.Context(), []Document{doc("a", long)}, "needle", 0)
	if err != nil || len(found.Hits) != 1 || len(found.Hits[0].Text) > 400 || !strings.Contains(found.Hits[0].Text, "needle") || !utf8.ValidString(found.Hits[0].Text) {
		t.Errorf("%+v %v", found, err)
	}
}

// endless never ends, as a file that is written faster than it is read.
type endless struct{ reads int }

func (e *endless) Read(p []byte) (int, error) {
	e.reads++
	return copy(p, bytes.Repeat([]byte("line\n"), len(p)/5+1)), nil
}

func (*endless) Close() error { return nil }

func TestSearchStops(t *testing.T) {
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	e := &endless{}
	docs := []Document{{Name: "a", Open: func() (io.ReadCloser, error) { cancel(over); return e, nil }}}
	if _, err := Search(ctx, docs, "nothing", 0); !errors.Is(err, over) {
		t.Errorf("%v", err)
	}
	if e.reads > 10 {
		t.Errorf("it read on %d times", e.reads)
	}
}

func TestUnreadable(t *testing.T) {
	broken := Document{Name: "b", Open: func() (io.ReadCloser, error) { return nil, errors.New("gone") }}
	found, err := Search(t.Context(), []Document{broken, doc("a", "hit")}, "hit", 0)
	if err != nil || len(found.Hits) != 1 || len(found.Unread) != 1 {
		t.Errorf("%+v %v", found, err)
	}
	if _, err := Read(t.Context(), []Document{broken}); err == nil || !strings.Contains(err.Error(), "b cannot be read") {
		t.Errorf("%v", err)
	}
}

func TestRead(t *testing.T) {
	texts, err := Read(t.Context(), []Document{doc("a", strings.Repeat("ä", 13000)), doc("b", strings.Repeat("b", 5000)), doc("c", "c"), doc("d", "")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range texts {
		got = append(got, fmt.Sprint(utf8.RuneCountInString(x.Text), x.Cut))
	}
	if diff := cmp.Diff([]string{"12000 true", "4000 true", "0 true", "0 false"}, got); diff != "" {
		t.Error(diff)
	}
	texts, err = Read(t.Context(), []Document{doc("a", "\ufeffhi\xff")})
	if err != nil || texts[0].Text != "hi�" || texts[0].Cut {
		t.Errorf("%+v %v", texts, err)
	}
}

func TestPick(t *testing.T) {
	docs := []Document{doc("Goals.md", ""), doc("goals.txt", ""), doc("old_notes.md", "")}
	picked, missing := Pick(docs, []string{"goals.md", "x/goals.txt", "notes.md", "zzz"})
	if len(picked) != 2 || picked[0].Name != "Goals.md" || picked[1].Name != "goals.txt" {
		t.Errorf("%+v", picked)
	}
	if diff := cmp.Diff([]string{"notes.md", "zzz"}, missing); diff != "" {
		t.Error(diff)
	}
	if got := Suggest(docs, "notes.md"); len(got) == 0 || got[0] != "old_notes.md" {
		t.Errorf("%v", got)
	}
	if got := Suggest(docs, "gaols.md"); len(got) == 0 || got[0] != "Goals.md" {
		t.Errorf("%v", got)
	}
	if got := Suggest(docs, "zzz"); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("a", "a\nb")
	f.Add("\\", "x")
	f.Add("(?s).", "\xff\n\xfe")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		found, err := Search(t.Context(), []Document{doc("d", text)}, pattern, 5)
		if err != nil {
			return
		}
		for _, h := range found.Hits {
			if !utf8.ValidString(h.Text) || h.Line > strings.Count(text, "\n")+1 {
				t.Errorf("%+v", h)
			}
		}
	})
}
