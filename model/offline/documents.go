package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Words that make a question one about documents.
var (
	documentWords = regexp.MustCompile(`(?i)\b(runbooks?|documents?|docs?|documentation|guides?|polic(y|ies)|manuals?|readme|handbooks?|playbooks?|notes? say|procedures?|instructions?|(say|says|said) about)\b`)
	askingHow     = regexp.MustCompile(`(?i)^\s*(how (do|should|can) (we|i|you)|what (should|must) (we|i))\b`)
	documentFill  = set(`runbook document doc documentation guide policy manual readme handbook playbook procedure instruction explain describe tell file text`)
	hitLine       = regexp.MustCompile(`^(.+?):([0-9]+): (.*)$`)
)

// most lines that an answer quotes.
const quotes = 8

// aboutDocuments says whether the question is one about documents, and which words to look for.
func aboutDocuments(texts []string, c catalog) (words []string, yes bool) {
	if len(texts) == 0 || len(c.documents) == 0 {
		return nil, false
	}
	text := texts[len(texts)-1]
	named := slices.ContainsFunc(c.documents, func(d string) bool {
		return strings.Contains(strings.ToLower(text), strings.ToLower(d))
	})
	q := parse(text, 0)
	how := askingHow.MatchString(text) && q.agg == open && !q.share && len(q.groupsAt) == 0
	if !named && !how && !documentWords.MatchString(text) {
		return nil, false
	}
	for _, w := range split(text, 0) {
		if _, isPhrase := phrases[w.low]; !fillers[w.low] && !documentFill[w.stem] && !isPhrase && w.low != "should" && w.low != "must" && len(w.low) > 1 {
			for _, p := range parts(w.low) {
				if p != "md" && p != "txt" && p != "log" && !slices.Contains(words, root(p)) {
					words = append(words, root(p))
				}
			}
		}
	}
	return words, true
}

// pattern finds any of the words, by their roots.
func pattern(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = regexp.QuoteMeta(w)
	}
	return strings.Join(quoted, "|")
}

// A hit is a line that a search found.
type hit struct {
	file string
	line int
	text string
}

// readHits reads what search_files says. Lines that are no hits, like its summary, are passed over.
func readHits(text string) []hit {
	var out []hit
	for _, l := range strings.Split(text, "\n") {
		if m := hitLine.FindStringSubmatch(l); m != nil {
			n, _ := strconv.Atoi(m[2])
			out = append(out, hit{m[1], n, m[3]})
		}
	}
	return out
}

// score counts the words that a text holds.
func score(text string, words []string) (n int) {
	low := strings.ToLower(text)
	for _, w := range words {
		if strings.Contains(low, w) {
			n++
		}
	}
	return n
}

// likeliest is the document that speaks most of the words: a name that holds them counts more than lines do.
func likeliest(hits []hit, words []string) string {
	points := map[string]int{}
	var names []string
	for _, h := range hits {
		if points[h.file] == 0 {
			names = append(names, h.file)
			points[h.file] += 10 * score(h.file, words)
		}
		points[h.file] += score(h.text, words) * score(h.text, words)
	}
	slices.SortStableFunc(names, func(a, b string) int { return points[b] - points[a] })
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// weight says how much a passage speaks of the words: of how many of them first, then how often.
func weight(lines []hit, words []string) int {
	var all strings.Builder
	often := 0
	for _, h := range lines {
		all.WriteString(h.text + "\n")
		if !strings.HasPrefix(h.text, "# ") { // the title is about all of the document
			often += score(h.text, words)
		}
	}
	if often == 0 {
		return 0
	}
	return 100*score(all.String(), words) + often
}

// section is the part of a document that speaks most of the words: from a heading to the next one.
func section(text string, words []string) []hit {
	name, body, _ := strings.Cut(text, "\n")
	name = strings.TrimPrefix(name, "== ")
	if i := strings.LastIndex(name, " ("); i > 0 {
		name = name[:i]
	}
	var best, now []hit
	top := 0
	flush := func() {
		if p := weight(now, words); p > top {
			best, top = now, p
		}
		now = nil
	}
	for i, l := range strings.Split(body, "\n") {
		if strings.HasPrefix(l, "== ") || strings.HasPrefix(l, "(cut here") {
			break
		}
		if strings.HasPrefix(l, "#") {
			flush()
		}
		if strings.TrimSpace(l) != "" {
			now = append(now, hit{name, i + 1, l})
		}
	}
	flush()
	return best
}

// quote writes lines with where they stand.
func quote(lines []hit) string {
	var b strings.Builder
	for _, h := range lines[:min(len(lines), quotes)] {
		fmt.Fprintf(&b, "> %s — `%s`, line %d\n", strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(h.text), "#")), h.file, h.line)
	}
	if len(lines) > quotes {
		b.WriteString("\nThe passage goes on.")
	}
	return strings.TrimRight(b.String(), "\n")
}

// documentsStep answers from documents: search, read the likeliest one, quote the passage.
func (s session) documentsStep(words []string) step {
	if !s.can("search_files") || len(words) == 0 {
		return s.say("I would look in the documents for that, but I do not see which words to look for.", s.offers())
	}
	search := call{"search_files", searchArgs{pattern(words)}}
	found, ok := s.of(search)
	switch {
	case !ok:
		return s.ask(search)
	case found.failed:
		return s.say("The documents could not be searched: " + found.text)
	}
	hits := readHits(found.text)
	best := likeliest(hits, words)
	if best == "" {
		return s.say(fmt.Sprintf("None of the documents speaks of %s.", strings.Join(words, " or ")), s.offers())
	}
	reading := fmt.Sprintf("Read as: a question about documents; searched for %s, and quoting `%s` word by word.", strings.Join(words, ", "), best)
	read := call{"read_file", readArgs{[]string{best}}}
	text, ok := s.of(read)
	if !ok && s.can("read_file") {
		return s.ask(read)
	}
	if ok && !text.failed {
		if lines := section(text.text, words); len(lines) > 0 {
			return s.say(quote(lines), reading)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return score(b.text, words) - score(a.text, words) })
	return s.say(quote(hits), reading)
}
