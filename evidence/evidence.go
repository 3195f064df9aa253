// Package evidence holds the words for what a run leaves behind: items of evidence with their sources, the figures of
// an answer with a status each, the findings of the checks, and the record that holds it all. The JSON of these types
// is a public interface (docs/json.md): commands print it and the ledger keeps it.
package evidence

import (
	"encoding/json"
	"time"
)

// An Item is what one tool call left behind.
type Item struct {
	ID          string          `json:"id"` // e1, e2 … in call order
	Tool        string          `json:"tool"`
	Args        json.RawMessage `json:"args"`
	Summary     string          `json:"summary"`
	SQL         string          `json:"sql"`
	Columns     []string        `json:"columns"`
	Rows        [][]any         `json:"rows"` // cells are nil, bool, int64, float64 or string; see [Cell]
	RowCount    int             `json:"row_count"`
	Truncated   bool            `json:"truncated"` // Rows holds fewer than RowCount
	Output      string          `json:"output"`    // text that the tool gave
	Sources     []Source        `json:"sources"`
	DuplicateOf string          `json:"duplicate_of"`
	Excluded    bool            `json:"excluded"`
	Error       string          `json:"error"`
	MS          int64           `json:"ms"`
}

// A Source is where an item's data came from, and as of when.
type Source struct {
	Source   string    `json:"source"`
	Table    string    `json:"table"`
	Revision string    `json:"revision"`
	AsOf     time.Time `json:"as_of"`
	Notes    []string  `json:"notes"`
}

// A Figure is a number in an answer that a reader would act on.
type Figure struct {
	Text       string       `json:"text"` // as written
	Value      float64      `json:"value"`
	Unit       string       `json:"unit"`
	Status     FigureStatus `json:"status"`
	Evidence   string       `json:"evidence"`
	Row        int          `json:"row"`
	Column     string       `json:"column"`
	Expression string       `json:"expression"` // over cells, for a derived figure
}

// A FigureStatus is where a figure comes from and whether it still holds.
type FigureStatus string

// The statuses.
const (
	Verified    FigureStatus = "verified"    // equals a cell of evidence at the precision shown
	Derived     FigureStatus = "derived"     // equals an expression over cells
	Changed     FigureStatus = "changed"     // it did, and the query gives another value now
	Unsupported FigureStatus = "unsupported" // no evidence gives it
	Given       FigureStatus = "given"       // the asker said it
)

// A Finding is what a check has to say.
type Finding struct {
	Check    string   `json:"check"`
	Effect   Effect   `json:"effect"`
	Target   string   `json:"target"` // what it is about: answer, a figure's text, an item's id
	Evidence []string `json:"evidence"`
	Detail   string   `json:"detail"` // a sentence for people
}

// An Effect is what a finding does to the answer.
type Effect string

// The effects, from the mildest.
const (
	Info     Effect = "info"
	Repair   Effect = "repair"
	Exclude  Effect = "exclude"
	Withhold Effect = "withhold"
	Block    Effect = "block"
)

// A Verdict sums an answer's checks up.
type Verdict string

// The verdicts.
const (
	AllVerified Verdict = "verified"  // every figure traced, every replayable query gave the same result
	Review      Verdict = "review"    // something is unsupported, changed or could not be checked
	Unchecked   Verdict = "unchecked" // no figure and no evidence
)

// A Status is how a run ended, or that it has not.
type Status string

// The statuses. Waiting and Running are those of a run under way; the others are final.
const (
	Waiting       Status = "waiting"
	Running       Status = "running"
	Answered      Status = "answered"
	Clarification Status = "clarification"
	Stopped       Status = "stopped"
	BudgetCalls   Status = "budget_calls"
	BudgetTokens  Status = "budget_tokens"
	BudgetCost    Status = "budget_cost"
	BudgetWall    Status = "budget_wall"
	Partial       Status = "partial"
	Blocked       Status = "blocked"
	Refused       Status = "refused"
	Failed        Status = "failed"
)

// Final says whether a run with this status is over.
func (s Status) Final() bool { return s != "" && s != Waiting && s != Running }

// A Steer is something that was said into a run, and what became of it.
type Steer struct {
	ID      string  `json:"id"`
	Who     string  `json:"who"`
	Text    string  `json:"text"`
	Outcome Outcome `json:"outcome"`
	Step    int     `json:"step"`
}

// An Outcome is what became of a steer.
type Outcome string

// The outcomes.
const (
	Applied    Outcome = "applied"
	Queued     Outcome = "queued"
	TooLate    Outcome = "too_late"
	NotAllowed Outcome = "not_allowed"
	NotForMe   Outcome = "not_for_me"
	WasStopped Outcome = "stopped"
	Withdrawn  Outcome = "withdrawn"
)

// Usage is what a run has spent.
type Usage struct {
	ModelCalls   int     `json:"model_calls"`
	ToolCalls    int     `json:"tool_calls"`
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	CostUSD      float64 `json:"cost_usd"`
	WallMS       int64   `json:"wall_ms"`
}

// Plus adds two spends up.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.ModelCalls + v.ModelCalls, u.ToolCalls + v.ToolCalls, u.InputTokens + v.InputTokens,
		u.OutputTokens + v.OutputTokens, u.CostUSD + v.CostUSD, u.WallMS + v.WallMS}
}

// A Record is one run whole, as it is printed and kept.
type Record struct {
	RunID      string    `json:"run_id"`
	Status     Status    `json:"status"`
	Verdict    Verdict   `json:"verdict"`
	Answer     string    `json:"answer"`
	Figures    []Figure  `json:"figures"`
	Findings   []Finding `json:"findings"`
	NotChecked []string  `json:"not_checked"`
	Evidence   []Item    `json:"evidence"`
	Steering   []Steer   `json:"steering"`
	Usage      Usage     `json:"usage"`
}
