package app

import (
	"plumb/access"
	"plumb/chat"
	"plumb/dispatch"
	"plumb/evidence"
	"plumb/verify"
)

// Grant is what a place may use.
func (c Config) Grant(at chat.Place) (access.Grant, error) { return c.policy().At(at) }

// Exhibits are a run's evidence as it is shown.
func Exhibits(items []evidence.Item) []chat.Exhibit { return dispatch.Exhibits(items, dispatch.Shown) }

// VerdictLine is what was checked, in one line.
func VerdictLine(r evidence.Record) string {
	if len(r.Figures) == 0 && len(r.Evidence) == 0 {
		return ""
	}
	return verify.Of(r).Line()
}

// Footer is what a run took, in one line.
func Footer(r evidence.Record, c Config) string {
	line := dispatch.Footer(r.Usage, r.RunID) + " · " + string(r.Status)
	if l := c.label(); l != "" {
		line += " · " + l
	}
	return line
}
