package tables

import (
	"path"
	"strings"
)

// ignoreFile is the file at the top of a folder that lists what to leave out, in the manner of .gitignore.
const ignoreFile = ".plumbignore"

// An ignore is the rules of such a file; the last one that matches decides.
type ignore []rule

type rule struct {
	segments []string
	keep     bool // written with a !
	folder   bool // written with a trailing slash: folders only
	rooted   bool // holds a slash: matched from the top, else against any name
}

func parseIgnore(text string) ignore {
	var rules ignore
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var r rule
		line, r.keep = strings.CutPrefix(line, "!")
		line, r.folder = strings.CutSuffix(line, "/")
		r.rooted = strings.Contains(line, "/")
		if line = strings.Trim(line, "/"); line == "" {
			continue
		}
		r.segments = strings.Split(line, "/")
		rules = append(rules, r)
	}
	return rules
}

// match says whether a path is to be left out. A folder that is left out is not entered, so its files need no rule.
func (ig ignore) match(file string, folder bool) bool {
	out := false
	for _, r := range ig {
		if r.folder && !folder {
			continue
		}
		segments := strings.Split(file, "/")
		if !r.rooted {
			segments = segments[len(segments)-1:]
		}
		if globs(r.segments, segments) {
			out = !r.keep
		}
	}
	return out
}

// globs matches a path segment by segment; ** stands for any number of them. A pattern that is no glob matches itself.
//
// The table is filled from the end, so that many ** in a row cost no more than their number times the path's length.
func globs(pattern, segments []string) bool {
	next := make([]bool, len(segments)+1)
	next[len(segments)] = true
	for p := len(pattern) - 1; p >= 0; p-- {
		now := make([]bool, len(segments)+1)
		for s := len(segments); s >= 0; s-- {
			switch {
			case pattern[p] == "**":
				now[s] = next[s] || s < len(segments) && now[s+1]
			case s < len(segments):
				ok, err := path.Match(pattern[p], segments[s])
				now[s] = next[s+1] && (ok || err != nil && pattern[p] == segments[s])
			}
		}
		next = now
	}
	return next[0]
}
