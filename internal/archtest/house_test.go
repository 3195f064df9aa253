package archtest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// Each direct dependency has its reason.
func TestDependenciesHaveReasons(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	reasons, err := os.ReadFile(filepath.Join(root, "RATIONALE.md"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllSubmatch(mod, -1) {
		n++
		if name := bytes.TrimPrefix(m[1], []byte("github.com/")); !bytes.Contains(reasons, name) {
			t.Errorf("RATIONALE.md has no reason for %s", name)
		}
	}
	if n < 10 {
		t.Errorf("only %d direct dependencies found", n)
	}
}

// eachGoFile calls f with the text of every Go file of the project.
func eachGoFile(t *testing.T, f func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
			return fs.SkipDir
		}
		if filepath.Ext(path) == ".go" {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			f(strings.TrimPrefix(path, root+"/"), string(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Time in tests passes in a bubble, or a signal is waited for.
func TestTestsDoNotSleep(t *testing.T) {
	sleep := "time." + "Sleep("
	eachGoFile(t, func(path, text string) {
		if strings.HasSuffix(path, "_test.go") && strings.Contains(text, sleep) && !strings.Contains(text, `"testing/synctest"`) {
			t.Errorf("%s sleeps: use testing/synctest, or wait for a signal", path)
		}
	})
}

// A file has one subject, and fits into a head.
func TestFilesAreShort(t *testing.T) {
	eachGoFile(t, func(path, text string) {
		if n := strings.Count(text, "\n"); n > 400 && !strings.HasSuffix(path, "_test.go") {
			t.Errorf("%s has %d lines; 400 are enough", path, n)
		}
	})
}

// A package's name says what it is about.
func TestNoDrawerForEverything(t *testing.T) {
	eachGoFile(t, func(path, text string) {
		if m := regexp.MustCompile(`(?m)^package (utils?|common|types|helpers?|misc)$`).FindString(text); m != "" {
			t.Errorf("%s: %s says nothing", path, m)
		}
	})
}
