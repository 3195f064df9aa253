// Package offline is a small planner that stands in for a language model where there is no key: demonstrations, tests,
// a first look. It drives the same loop as any other model, sees nothing but the request, and answers with the same
// calls and texts; but what it understands are a few kinds of question, by rules. It says how it read a question, and
// asks back rather than guess.
//
// A reply is a pure function of the request: the question is parsed (question.go), matched with what the tools have told
// of the data (match.go), planned over each table (plan.go), written as SQL (sql.go); what is not known yet is asked for.
package offline

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"plumb/model"
)

// New is the offline planner.
func New() model.Model { return planning{} }

// planning has no state: all it knows is in the request.
type planning struct{}

// Name is what the planner is called in records.
func (planning) Name() string { return "offline" }

// Generate replies to a request. It takes no tokens.
func (planning) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Part, error] {
	return func(yield func(model.Part, error) bool) {
		if ctx.Err() != nil {
			yield(model.Part{}, context.Cause(ctx))
			return
		}
		s := session{conversation: read(req)}
		next := s.next()
		if next.text != "" && !yield(model.Part{Text: next.text}, nil) {
			return
		}
		for i, c := range next.calls {
			made := model.Call{ID: fmt.Sprintf("o%d", s.all+i+1), Name: c.name, Arguments: c.json()}
			if !yield(model.Part{Call: &made}, nil) {
				return
			}
		}
		yield(model.Part{Usage: &model.Usage{}}, nil)
	}
}

// A step is what the planner replies: a text, or calls.
type step struct {
	text  string
	calls []call
}

// A session is a conversation and what is known of the data.
type session struct {
	conversation
	catalog catalog
}

// can says whether a tool may be called now.
func (s session) can(tool string) bool { return s.tools[tool] }

// say is a step that ends the work with words.
func (s session) say(paragraphs ...string) step { return step{text: sign(paragraphs...)} }

// ask asks for calls, if there may still be any.
func (s session) ask(calls ...call) step {
	for _, c := range calls {
		if !s.can(c.name) {
			return s.say("I could not look any further here, so I cannot answer this.", s.sofar())
		}
	}
	if s.calls+len(calls) > maxCalls {
		return s.say("I have looked as often as I may for one question and have no answer.", s.offers())
	}
	return step{calls: calls}
}

// sofar is the newest result that there is, for when nothing more may be asked.
func (s session) sofar() string {
	if r, ok := readResult(s.rows); ok {
		return "What was found before:\n\n" + markdown(r.columns, r.rows)
	}
	return ""
}

var (
	greeting = regexp.MustCompile(`(?i)^[\s\p{P}\p{S}]*$|^\W*(?:(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|thanks?|thank you|thx|cheers|bye|ok|okay|great|nice|cool|lol|well done|who are you|what are you|how are you|how's it going|what's up|are you (?:there|a bot|real|alive)|good bot|tell me a joke|there|bot|plumb|you|very much|a lot|so much|all|everyone|team)[\s\p{P}\p{S}]*)+$`)
	help     = regexp.MustCompile(`(?i)^\W*(?:help|help me|what can you (?:do|answer)|what can i ask|how do you work|how does this work)\b.{0,40}$`)
	schema   = regexp.MustCompile(`(?i)\b(?:which|what|list|show)\b.{0,20}\b(?:tables|data sources|sources|datasets?|data (?:is|do|are))\b|\bwhat data\b|\b(?:which|what) (?:columns|fields)\b|^\W*(?:describe|inspect)\b|\bwhat (?:does|do) .{1,40} look like\b|\bschema\b`)
)

const abilities = "I can count, add up, average, and find the median, the lowest and the highest; per group or per day, week, month or year; " +
	"filtered by values, numbers and dates; as a share; as a ranking; and I can list rows and quote documents."

// next is the reply.
func (s session) next() step {
	last := ""
	if n := len(s.texts); n > 0 {
		last = s.texts[n-1]
	}
	if greeting.MatchString(last) && len(s.texts) <= 1 {
		return s.say("I answer questions about the data here. " + abilities + " For example: “how many orders per region in March?”")
	}
	list := call{"list_sources", noArgs{}}
	told, ok := s.of(list)
	switch {
	case !ok && !s.can("list_sources"):
		return s.say("I have no tools here, so I can see no data and cannot answer. Whoever runs the bot can allow a source in this channel.")
	case !ok:
		return s.ask(list)
	case told.failed:
		return s.say("The sources could not be listed: " + told.text)
	}
	var err error
	if s.catalog, err = readSources(told.text); err != nil {
		return s.say("The list of sources came in a form that I cannot read, so I cannot answer.")
	}
	if help.MatchString(last) {
		return s.say(abilities, s.tables())
	}
	if words, yes := aboutDocuments(s.texts, s.catalog); yes {
		return s.documentsStep(words)
	}
	if len(s.catalog.tables) == 0 {
		return s.say("There is no table in the sources that I may see here, so there is nothing to compute on.", s.documentNames())
	}
	return s.tablesStep(last)
}

// inspected is how many tables are looked at closely.
const inspected = 4

// tablesStep answers from tables: look at those that fit, plan, look for words that are still open, compute.
func (s session) tablesStep(last string) step {
	q := together(s.texts)
	ranked := s.catalog.rank(q)
	ranked = ranked[:min(len(ranked), inspected)]
	var looks []call
	for _, t := range ranked {
		look := call{"inspect_table", inspectArgs{t.source, t.name, 3}}
		told, ok := s.of(look)
		switch {
		case !ok && s.can("inspect_table"):
			looks = append(looks, look)
		case ok && !told.failed && t.inspect(told.text) != nil:
			t.inspected = false // its columns are known all the same
		}
	}
	if schema.MatchString(last) {
		return s.say("What I can see:", s.tables())
	}
	if len(looks) > 0 {
		return s.ask(looks...)
	}
	// What is still open is looked for in the data, once: not all values are told by inspect_table.
	p, _ := choose(q, s.catalog, nil)
	if len(p.left) > 0 {
		look := call{"run_sql", sqlArgs{p.base.source, probe(p, openWords(q, p.left))}}
		told, ok := s.of(look)
		switch {
		case !ok && s.can("run_sql") && look.args.(sqlArgs).SQL != "":
			return s.ask(look)
		case ok && !told.failed:
			p, _ = choose(q, s.catalog, discover(q, p, told.text))
		}
	}
	return s.compute(q, p)
}

// compute runs the plan and answers, or says what is not clear.
func (s session) compute(q question, p plan) step {
	if why := doubt(q, p); why != "" {
		return s.say(why, s.offers())
	}
	var failure string
	for _, quoted := range []bool{false, true} {
		run := call{"run_sql", sqlArgs{p.base.source, p.sql(quoted)}}
		told, ok := s.of(run)
		switch {
		case !ok:
			return s.ask(run)
		case told.failed:
			failure = told.text
			continue // once more, with every name in quotes
		}
		if r, ok := readResult(told.text); ok {
			return step{text: p.answer(r)}
		}
		return s.say("The result came in a form that I cannot read, so I have no answer.", p.reading())
	}
	return s.say("The query failed, so I have no answer. It said: "+failure, p.reading())
}

// doubt says what keeps a plan from being run.
func doubt(q question, p plan) string {
	switch {
	case len(p.left) > 0:
		var words []string
		for _, l := range p.left {
			words = append(words, "“"+join(q.words[l[0]:l[1]])+"”")
		}
		return fmt.Sprintf("I do not understand this question: I find nothing in `%s` that %s could mean.", p.base.name, strings.Join(words, " or "))
	case p.ask != "":
		return upper(p.ask) + closing(p.ask)
	case len(p.unclear) > 0:
		return fmt.Sprintf("I do not see what part “%s” has in this question about `%s`.", strings.Join(p.unclear, "” and “"), p.base.name)
	}
	return ""
}

// closing is the full stop that a sentence still needs.
func closing(s string) string {
	if strings.ContainsAny(s[len(s)-1:], ".?”") {
		return ""
	}
	return "."
}

// offers says what can be asked, for an answer that is none.
func (s session) offers() string { return abilities + "\n\n" + s.tables() }

// tables lists the tables with their columns.
func (s session) tables() string {
	var lines []string
	for i, t := range s.catalog.tables {
		if i == 10 {
			lines = append(lines, "- and further tables")
			break
		}
		lines = append(lines, fmt.Sprintf("- `%s` of %s: %s", t.name, t.source, t.list(12)))
	}
	return strings.TrimSpace(strings.Join(lines, "\n") + "\n\n" + s.documentNames())
}

// documentNames lists the documents, for a sentence.
func (s session) documentNames() string {
	if len(s.catalog.documents) == 0 {
		return ""
	}
	names := s.catalog.documents
	if len(names) > 10 {
		names = append(slices.Clone(names[:10]), "…")
	}
	return "Documents: " + strings.Join(names, ", ") + "."
}
