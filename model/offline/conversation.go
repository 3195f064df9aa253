package offline

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"plumb/model"
)

// A conversation is what a request tells: what people said, and what came of the calls so far.
type conversation struct {
	texts []string // what people said, the senders taken off
	calls int      // since people last spoke
	all   int      // in the whole run, for the calls' ids
	came  map[string]outcome
	rows  string // the newest result of run_sql
	tools map[string]bool
}

// An outcome is what came of a call.
type outcome struct {
	text   string
	failed bool
}

// maxCalls bounds what one question may cost.
const maxCalls = 8

// How the loop writes what is not the planner's own: who speaks, its own guidance, a repeated call, and the questions
// before, in the system prompt.
var (
	sender  = regexp.MustCompile(`^(?:[^\n]{0,100}?\([^()\n]{1,80}\)|\S{1,80}): `)
	past    = regexp.MustCompile(`(?s)\n\n[^\n]{1,150}? asked: (.*?)\nYou answered`)
	ours    = "Plumb (the program you work in): "
	twice   = regexp.MustCompile(`^This is the same call as e[0-9]+, which was not run again\. Its result:\n`)
	opening = regexp.MustCompile(`(?i)^\s*(?:and|but|only|just|not|without|what about|how about|same|also|in|by|per)\b`)
)

// read takes a request apart. A failure counts only until somebody speaks again: what was cut off by a new message may
// be asked once more.
func read(req model.Request) conversation {
	c := conversation{came: map[string]outcome{}, tools: map[string]bool{}}
	for _, t := range req.Tools {
		c.tools[t.Name] = !req.NoCalls
	}
	asked := map[string]string{}
	for _, t := range req.Turns {
		switch t.Role {
		case model.User:
			if strings.HasPrefix(t.Text, ours) {
				continue
			}
			c.texts = append(c.texts, strings.TrimSpace(sender.ReplaceAllString(t.Text, "")))
			c.calls = 0
			// A new word is a new try: what failed before it may fit, or was only cut off by it.
			for key, o := range c.came {
				if o.failed {
					delete(c.came, key)
				}
			}
		case model.Assistant:
			for _, call := range t.Calls {
				asked[call.ID] = key(call.Name, call.Arguments)
				c.calls++
				c.all++
			}
		case model.Tools:
			for _, r := range t.Results {
				k, text := asked[r.CallID], twice.ReplaceAllString(r.Text, "")
				c.came[k] = outcome{text, r.Failed}
				if strings.HasPrefix(k, "run_sql") && !r.Failed {
					c.rows = text
				}
			}
		}
	}
	c.texts = withPast(c.texts, req.System)
	return c
}

// withPast puts the question before, which the system prompt tells of, in front of one that only goes on from it.
func withPast(texts []string, system string) []string {
	if len(texts) == 0 || !opening.MatchString(texts[0]) || parse(texts[0], 0).standsAlone() {
		return texts
	}
	if all := past.FindAllStringSubmatch(system, -1); len(all) > 0 {
		return slices.Insert(slices.Clone(texts), 0, all[len(all)-1][1])
	}
	return texts
}

// standsAlone says whether a text that begins like a continuation is a question all the same: "in which region …".
func (q question) standsAlone() bool {
	return q.agg != open || q.share || q.list || q.whichAt >= 0 || q.who || q.when
}

// key is what makes two calls the same.
func key(name string, args json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		return name + string(args)
	}
	return name + b.String()
}

// A call is a tool with its arguments.
type call struct {
	name string
	args any
}

// json writes the arguments.
func (c call) json() json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a comparison in SQL is to be read by people
	if err := e.Encode(c.args); err != nil {
		return json.RawMessage("{}")
	}
	return bytes.TrimSpace(b.Bytes())
}

// The arguments of the tools.
type (
	noArgs      struct{}
	inspectArgs struct {
		Source string `json:"source"`
		Table  string `json:"table"`
		Rows   int    `json:"rows"`
	}
	sqlArgs struct {
		Source string `json:"source"`
		SQL    string `json:"sql"`
	}
	searchArgs struct {
		Pattern string `json:"pattern"`
	}
	readArgs struct {
		Names []string `json:"names"`
	}
)

// of is what came of a call.
func (c conversation) of(k call) (outcome, bool) {
	o, ok := c.came[key(k.name, k.json())]
	return o, ok
}

// A result is rows as run_sql tells them.
type result struct {
	summary string
	columns []string
	rows    [][]string
	cut     bool // there are more rows than these
}

var cutLine = regexp.MustCompile(`^\(([0-9]+) of (?:more than )?[0-9]+ rows shown\)$`)

// readResult reads what run_sql says: a summary, CSV, and perhaps a line that says how many rows are shown.
func readResult(text string) (result, bool) {
	summary, rest, ok := strings.Cut(text, "\n")
	if !ok {
		return result{}, false
	}
	r := result{summary: summary}
	if i := strings.LastIndex(strings.TrimRight(rest, "\n"), "\n"); i >= 0 && cutLine.MatchString(strings.TrimSpace(rest[i+1:])) {
		rest, r.cut = rest[:i], true
	}
	in := csv.NewReader(strings.NewReader(rest))
	in.FieldsPerRecord = -1
	records, err := in.ReadAll()
	if err != nil || len(records) == 0 {
		return result{}, false
	}
	r.columns, r.rows = records[0], records[1:]
	for _, row := range r.rows {
		if len(row) != len(r.columns) {
			return result{}, false
		}
	}
	return r, true
}
