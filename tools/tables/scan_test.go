//go:build unix

package tables

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/quick"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// Paths that lead out of a folder, or nowhere, are listed and not followed (D1).
func TestPaths(t *testing.T) {
	dir := folder(t, map[string]string{
		"ok.csv":                  "a,b\n1,2\n",
		"sub/ok.csv":              "a,b\n3,4\n",
		".hidden.csv":             "a\n1\n",
		".git/config.csv":         "a\n1\n",
		"1/2/3/4/5/6/7/deep.csv":  "a\n8\n",
		"1/2/3/4/5/6/7/8/too.csv": "a\n9\n",
		"private/pay.csv":         "a\n1\n",
		"draft-1.csv":             "a\n1\n",
		"draft-2.csv":             "a,b\n1,2\n",
		"logs/x/old.log":          "old",
		"logs/new.log":            "new",
		".plumbignore":            "# not these\nprivate/\ndraft-*.csv\n!draft-2.csv\nlogs/**/old.log\n",
		"it's [odd] * name?.csv":  "a,b\n5,6\n",
		"Sales 2024.csv":          "a\n1\n",
		"2024.csv":                "a\n1\n",
	})
	outside := filepath.Join(t.TempDir(), "secret.csv")
	for _, err := range []error{
		os.WriteFile(outside, []byte("secret\n1\n"), 0o600),
		os.Symlink(outside, filepath.Join(dir, "link.csv")),
		os.Symlink(filepath.Dir(outside), filepath.Join(dir, "linked")),
		os.Symlink(".", filepath.Join(dir, "loop")),
		syscall.Mkfifo(filepath.Join(dir, "pipe.csv"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, dir)
	f := source(t, "s", dir)
	got := map[string]string{}
	for _, table := range f.Catalog().Tables {
		got[table.Name] = table.File
	}
	want := map[string]string{"t_2024": "2024.csv", "sales_2024": "Sales 2024.csv", "draft_2": "draft-2.csv", "deep": "1/2/3/4/5/6/7/deep.csv",
		"ok": "ok.csv", "ok_2": "sub/ok.csv", "it_s_odd_name_": "it's [odd] * name?.csv"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	reasons := map[string]string{}
	for _, s := range f.Catalog().Skipped {
		reasons[s.File] = s.Reason
	}
	wantReasons := map[string]string{".git": "hidden", ".hidden.csv": "hidden", "1/2/3/4/5/6/7/8": "deeper than 8 folders",
		"draft-1.csv": "left out by .plumbignore", "private": "left out by .plumbignore", "logs/x/old.log": "left out by .plumbignore",
		"link.csv": "a symbolic link", "linked": "a symbolic link", "loop": "a symbolic link", "pipe.csv": "not a regular file"}
	if diff := cmp.Diff(wantReasons, reasons); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("something was written into the folder:\n%s", diff)
	}
}

// A file that becomes a link or a pipe after the walk is not read.
func TestSwapped(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "mine", "b.md": "mine"})
	outside := folder(t, map[string]string{"secret.md": "secret"})
	f := source(t, "s", dir)
	for _, err := range []error{
		os.Remove(filepath.Join(dir, "a.md")),
		os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, "a.md")),
		os.Remove(filepath.Join(dir, "b.md")),
		syscall.Mkfifo(filepath.Join(dir, "b.md"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.md", "b.md", "../" + filepath.Base(outside) + "/secret.md", "/etc/passwd"} {
		in, err := f.Document(name)
		if err == nil {
			b, _ := io.ReadAll(in)
			in.Close()
			t.Errorf("%s was read: %s", name, b)
		}
	}
}

func TestFolders(t *testing.T) {
	f := source(t, "s", t.TempDir())
	b, err := json.Marshal(f.Catalog())
	if err != nil || !strings.Contains(string(b), `"tables":[],"documents":[],"skipped":[]`) {
		t.Errorf("%s %v", b, err)
	}
	if _, err := Open(t.Context(), "s", filepath.Join(t.TempDir(), "none"), Options{}); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("%v", err)
	}
	file := filepath.Join(folder(t, map[string]string{"x": "y"}), "x")
	if _, err := Open(t.Context(), "s", file, Options{}); err == nil {
		t.Error("a file was opened as a folder")
	}
}

func TestDocuments(t *testing.T) {
	f := source(t, "s", folder(t, map[string]string{"a.md": "one", "x/b.txt": "two", "y/b.txt": "three", "c.log.gz": zip(t, "four")}))
	var names []string
	for _, d := range f.Catalog().Documents {
		names = append(names, d.Name)
		in, err := f.Document(d.File)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil || len(b) < 3 {
			t.Errorf("%s: %q %v", d.File, b, err)
		}
		in.Close()
	}
	if diff := cmp.Diff([]string{"a.md", "c.log.gz", "x/b.txt", "y/b.txt"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestName(t *testing.T) {
	for spelling, want := range map[string]string{"Order ID": "order_id", "2024": "t_2024", "a--b": "a_b", "Größe": "größe", "": "", "$": "_", "%x": "_x", " a ": "a", "A.B/c": "a_b_c"} {
		if got := Name(spelling); got != want {
			t.Errorf("%q gives %q, want %q", spelling, got, want)
		}
	}
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"Order ID", "2024", "", "\xff", "日本", "a\x00b", "ǅ", "_"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := Name(s)
		if Name(n) != n && !strings.HasPrefix(n, "_") {
			t.Errorf("%q: %q is not a name of itself", s, n)
		}
		for i, r := range n {
			if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) || i == 0 && unicode.IsDigit(r) {
				t.Errorf("%q gives %q", s, n)
			}
		}
		given := names{}
		if a, b := given.give(s, "x"), given.give(s, "x"); a == b {
			t.Errorf("%q was given twice", a)
		}
	})
}

func TestIgnore(t *testing.T) {
	for _, c := range []struct {
		rules, path string
		folder, out bool
	}{
		{"*.csv", "a.csv", false, true}, {"*.csv", "x/a.csv", false, true}, {"/a.csv", "x/a.csv", false, false}, {"/a.csv", "a.csv", false, true},
		{"x/*.csv", "x/a.csv", false, true}, {"x/*.csv", "x/y/a.csv", false, false}, {"x/**/a.csv", "x/a.csv", false, true}, {"x/**/a.csv", "x/y/z/a.csv", false, true},
		{"tmp/", "tmp", true, true}, {"tmp/", "tmp", false, false}, {"a?.csv", "ab.csv", false, true}, {"[", "[", false, true},
		{"*\n!keep.csv", "keep.csv", false, false}, {"!a.csv\n*.csv", "a.csv", false, true}, {"# a.csv", "a.csv", false, false}, {"", "a.csv", false, false}, {"/", "a", true, false},
	} {
		if got := parseIgnore(c.rules).match(c.path, c.folder); got != c.out {
			t.Errorf("%q on %s: %v", c.rules, c.path, got)
		}
	}
}

func FuzzIgnore(f *testing.F) {
	f.Add("*.csv\n!a.csv", "x/a.csv", false)
	f.Add("**/**/**/**/**/**/**/**/x", "a/a/a/a/a/a/a/a", true)
	f.Add("[a-", "[a-", false)
	f.Fuzz(func(t *testing.T, rules, path string, folder bool) {
		ig := parseIgnore(rules)
		got := ig.match(path, folder)
		if len(ig) == 0 && got {
			t.Error("no rule matched")
		}
		if all := parseIgnore(rules + "\n*"); !strings.HasSuffix(path, "\n") && !all.match(path, folder) {
			t.Errorf("* does not match %q", path)
		}
	})
}

// Whatever bytes a file holds, sniffing gives a shape or a reason, and headers where it gives a shape.
func FuzzSniff(f *testing.F) {
	f.Add([]byte("a,b\n1,2\n"), true)
	f.Add([]byte("\"a\n"), false)
	f.Fuzz(func(t *testing.T, sample []byte, tabs bool) {
		if s, err := sniff(sample, true, tabs); err == nil && (len(s.headers) == 0 || s.skip < 0) {
			t.Errorf("%q: %+v", sample, s)
		}
	})
}

func TestQuoting(t *testing.T) {
	f := source(t, "s", t.TempDir())
	c, err := f.now.engine.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = quick.Check(func(s string) bool {
		s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")
		rows, err := ask(t.Context(), c, "SELECT "+literal(s)+" AS "+quote("x"+s))
		return err == nil && rows[0][0] == s
	}, nil)
	if err != nil {
		t.Error(err)
	}
}
