package verify

import (
	"regexp"
	"strings"

	"plumb/evidence"
)

// tableRE matches a table named in an answer: the word beside a name in code font.
var tableRE = regexp.MustCompile("(?i)\\btables?\\s+`([\\w.\"-]+)`|`([\\w.\"-]+)`\\s+table\\b")

// unknownTables finds tables that the answer speaks of and no evidence knows. It only informs: the name may be the
// asker's, or that of a table which the answer says is missing.
func (r *Report) unknownTables(in Input) {
	said := map[string]bool{}
	for _, m := range tableRE.FindAllStringSubmatch(in.Answer, -1) {
		name := strings.Trim(m[1]+m[2], `"`)
		if said[name] || known(in, name) {
			continue
		}
		said[name] = true
		r.Findings = append(r.Findings, evidence.Finding{Check: "unknown_table", Effect: evidence.Info, Target: name,
			Detail: "The answer speaks of a table " + name + " that no evidence knows."})
	}
}

// known says whether a table's name occurs in the evidence or in what people said.
func known(in Input, name string) bool {
	name = strings.ToLower(name)
	for _, it := range in.Items {
		for _, s := range it.Sources {
			if t := strings.ToLower(s.Table); t != "" && (t == name || strings.ToLower(s.Source)+"."+t == name) {
				return true
			}
		}
		if it.Error == "" && (strings.Contains(strings.ToLower(it.SQL), name) || strings.Contains(strings.ToLower(it.Output), name)) {
			return true
		}
	}
	for _, said := range in.Asked {
		if strings.Contains(strings.ToLower(said), name) {
			return true
		}
	}
	return false
}
