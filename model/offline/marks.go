package offline

import "strings"

// A mark says what a word means whatever the data is. Words without one are open: names, values, or not understood.
type mark string

// The marks.
const (
	open     mark = ""
	fill     mark = "fill" // carries no meaning here
	period   mark = "period"
	compares mark = "compare"
	ranks    mark = "rank"
	counts   mark = "count"
	sums     mark = "sum"
	averages mark = "average"
	medians  mark = "median"
	highs    mark = "high"
	lows     mark = "low"
	most     mark = "most"
	least    mark = "least"
	common   mark = "common" // most common: counts what it names
	rare     mark = "rare"
	distinct mark = "distinct"
	share    mark = "share"
	rate     mark = "rate" // a share, unless the data has a column of that name
	lists    mark = "list"
	which    mark = "which"
	who      mark = "who"
	when     mark = "when"
	per      mark = "per"
	byGrain  mark = "grain"
	trend    mark = "trend"
	not      mark = "not"
	missing  mark = "missing"
	also     mark = "also"
	versus   mark = "versus"
	verb     mark = "verb" // was, were: what comes after it is said of what comes before
)

// A phrase is words that have a mark together. The longest that fits wins.
type phrase struct {
	words string
	mark  mark
}

var phrases = index([]phrase{
	{"how many", counts}, {"number of", counts}, {"total number of", counts}, {"count of", counts}, {"count", counts}, {"how often", counts},
	{"how much", sums}, {"total", sums}, {"in total", sums}, {"sum of", sums}, {"sum", sums}, {"sum up", sums}, {"overall", fill},
	{"average", averages}, {"avg", averages}, {"mean", averages}, {"on average", averages}, {"typical", medians}, {"median", medians},
	{"maximum", highs}, {"max", highs}, {"highest", highs}, {"largest", highs}, {"biggest", highs}, {"greatest", highs}, {"longest", highs},
	{"minimum", lows}, {"min", lows}, {"lowest", lows}, {"smallest", lows}, {"shortest", lows},
	{"most", most}, {"least", least}, {"fewest", least},
	{"most common", common}, {"most frequent", common}, {"most often", common}, {"most popular", common}, {"least common", rare}, {"least frequent", rare},
	{"different", distinct}, {"distinct", distinct}, {"unique", distinct},
	{"share", share}, {"share of", share}, {"percentage", share}, {"percentage of", share}, {"percent", share}, {"percent of", share},
	{"proportion of", share}, {"proportion", share}, {"fraction of", share}, {"fraction", share}, {"rate", rate},
	{"list", lists}, {"show", lists}, {"display", lists}, {"give me", lists}, {"show me", lists}, {"give us", lists}, {"show us", lists},
	{"which", which}, {"what", which}, {"who", who}, {"when", when},
	{"per", per}, {"by", per}, {"for each", per}, {"for every", per}, {"in each", per}, {"in every", per}, {"each", per}, {"every", per},
	{"of each", per}, {"grouped by", per}, {"group by", per}, {"split by", per}, {"broken down by", per}, {"across", per}, {"depending on", per},
	{"daily", byGrain}, {"weekly", byGrain}, {"monthly", byGrain}, {"yearly", byGrain}, {"annual", byGrain}, {"quarterly", byGrain}, {"hourly", byGrain},
	{"over time", trend}, {"trend", trend}, {"trend of", trend}, {"develop", trend}, {"development of", trend}, {"evolution of", trend},
	{"going up", trend}, {"going down", trend}, {"rising", trend}, {"falling", trend}, {"growing", trend}, {"increasing", trend}, {"decreasing", trend},
	{"compare", versus}, {"compared to", versus}, {"compared with", versus}, {"comparison of", versus}, {"vs", versus}, {"versus", versus},
	{"excluding", not}, {"except", not}, {"except for", not}, {"other than", not}, {"apart from", not}, {"not", not}, {"exclude", not}, {"ignoring", not},
	{"without the", not}, {"leave out", not}, {"aren't", not}, {"weren't", not}, {"isn't", not}, {"wasn't", not}, {"not in", not}, {"not the", not},
	{"missing", missing}, {"without", missing}, {"without a", missing}, {"without an", missing}, {"without any", missing}, {"no", missing}, {"lack", missing},
	{"have no", missing}, {"has no", missing}, {"empty", missing}, {"with no", missing}, {"lacks", missing},
	{"also", also}, {"plus", also}, {"as well", also}, {"too", also}, {"as well as", also}, {"add", also},
	{"was", verb}, {"were", verb}, {"is", verb}, {"are", verb}, {"got", verb}, {"has been", verb}, {"have been", verb}, {"have", verb}, {"has", verb},
	{"had", verb}, {"comes from", verb}, {"come from", verb}, {"came from", verb}, {"belongs to", verb}, {"belong to", verb}, {"went to", verb},
	{"what is", fill}, {"what was", fill}, {"what are", lists}, {"what were", fill}, {"what's", fill}, {"how are", fill}, {"how is", fill},
	{"how did", fill}, {"how do", fill}, {"how does", fill}, {"how has", fill}, {"how about", fill}, {"what about", fill}, {"tell me", fill},
	{"what share", share}, {"what percentage", share}, {"what share of", share}, {"what percentage of", share}, {"what percent of", share},
	{"what proportion of", share}, {"what fraction of", share}, {"is there", fill}, {"are there", fill}, {"were there", fill}, {"was there", fill},
	{"number", counts}, {"numbers", counts}, {"numbers of", counts},
})

// superlatives are ranks that name their measure too.
var superlatives = map[string]mark{"slowest": highs, "fastest": lows, "cheapest": lows, "priciest": highs, "hottest": highs, "coldest": lows, "warmest": highs}

// fillers are words that a question may hold without meaning anything to a planner as simple as this one.
var fillers = set(`a an the this that these those of in on at to for from with and or but do does did be been being there here we our us you your
 i me my it its they their them so then than as if please thanks thank just only exactly all any some one ones much many can could would will should may might
 tell know want need like see get give find out me now data row rows record records entry entries hi hey hello ok okay well actually sorry mean instead rather
 same again question about overall across during within per where whose how far ever still us hm hmm um placed made happened happen occurred
 occur there's let's let look calculate compute report figure figures between through into it's i'd number numbers respectively together
 work works worked working live lives living did's breakdown did everything everybody recorded look looks take took came come say says said`)

// set makes a list of words one to look up in.
func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// index sorts phrases under their first words.
func index(all []phrase) map[string][]phrase {
	out := map[string][]phrase{}
	for _, p := range all {
		first, _, _ := strings.Cut(p.words, " ")
		out[first] = append(out[first], p)
	}
	return out
}

// find gives the longest phrase that begins at a word, and its length.
func find(ws []word, at int) (mark, int) {
	best, n := open, 0
	for _, p := range phrases[ws[at].low] {
		fields := strings.Fields(p.words)
		if len(fields) > n && follows(ws, at, fields) {
			best, n = p.mark, len(fields)
		}
	}
	return best, n
}

// follows says whether these words stand here, none of them read otherwise already.
func follows(ws []word, at int, fields []string) bool {
	if at+len(fields) > len(ws) {
		return false
	}
	for i, f := range fields {
		if w := ws[at+i]; w.low != f || w.quoted || w.mark != open {
			return false
		}
	}
	return true
}
