package loop

import (
	"fmt"
	"time"

	"plumb/evidence"
)

// A Budget is what a run may spend.
type Budget struct {
	ModelCalls int // the last of them is for closing
	ToolCalls  int
	Tokens     int
	CostUSD    float64
	Wall       time.Duration
	SoftStop   int // rounds with tools after which the model is asked to come to an end
}

// The budgets that are built in.
func Work() Budget {
	return Budget{ModelCalls: 60, ToolCalls: 240, Tokens: 2_000_000, CostUSD: 5, Wall: 30 * time.Minute, SoftStop: 3}
}

// Conversation is the smaller one.
func Conversation() Budget {
	return Budget{ModelCalls: 20, ToolCalls: 80, Tokens: 400_000, CostUSD: 1, Wall: 5 * time.Minute, SoftStop: 3}
}

// cap names the limit that leaves room for no more than the closing call, or "" (B1, B2).
func (b Budget) cap(spent evidence.Usage, elapsed time.Duration) evidence.Status {
	switch {
	case spent.ModelCalls >= b.ModelCalls-1:
		return evidence.BudgetCalls
	case b.ToolCalls > 0 && spent.ToolCalls >= b.ToolCalls:
		return evidence.BudgetCalls
	case b.Tokens > 0 && spent.InputTokens+spent.OutputTokens >= b.Tokens:
		return evidence.BudgetTokens
	case b.CostUSD > 0 && spent.CostUSD >= b.CostUSD:
		return evidence.BudgetCost
	case b.Wall > 0 && elapsed >= b.Wall:
		return evidence.BudgetWall
	}
	return ""
}

// Limit is a cap in words, for people and for the model.
func (b Budget) Limit(status evidence.Status) string {
	switch status {
	case evidence.BudgetTokens:
		return fmt.Sprintf("the limit of %d tokens", b.Tokens)
	case evidence.BudgetCost:
		return fmt.Sprintf("the limit of $%.2f", b.CostUSD)
	case evidence.BudgetWall:
		return fmt.Sprintf("the time limit of %s", b.Wall)
	}
	return fmt.Sprintf("the limit of %d model calls and %d tool calls", b.ModelCalls, b.ToolCalls)
}

// A Price is in USD for a million tokens. Where it is not known, that is said and nothing is guessed.
type Price struct{ Input, Output float64 }

func (p Price) of(in, out int) float64 {
	return (float64(in)*p.Input + float64(out)*p.Output) / 1e6
}
