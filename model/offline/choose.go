package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// choose drafts the question over every table and keeps the one that fits best. Two that fit equally well are a
// question back.
func choose(q question, c catalog, f []found) (best plan, ok bool) {
	var all []plan
	for _, t := range c.tables {
		if len(t.columns) > 0 {
			all = append(all, draft(q, t, c, f))
		}
	}
	if len(all) == 0 {
		return plan{}, false
	}
	slices.SortStableFunc(all, func(a, b plan) int { return cmp.Compare(a.cost, b.cost) })
	best = all[0]
	var equal []string
	for _, other := range all[1:] {
		if other.cost == best.cost {
			equal = append(equal, "`"+other.base.name+"`")
		}
	}
	if len(equal) > 0 {
		best.ask = fmt.Sprintf("`%s` and %s fit this question equally well: which one is meant?", best.base.name, strings.Join(equal, " and "))
	}
	return best, true
}
