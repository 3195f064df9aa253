// Package tools is the fixed set of tools that a model may call, all of them read-only: the port, the set, and one
// file a tool. The machinery under them lives in folders of its own: tables (catalog and SQL over files), documents
// (search and reading). There are no plug-ins.
package tools

import (
	"context"
	"encoding/json"

	"plumb/evidence"
	"plumb/model"
)

// A Tool does one thing for the model.
//
// What goes wrong in the world or in the arguments is a [Result] that has failed, for the model to read; an error is a
// failure of ours and ends the run. Every tool passes toolstest.Run.
type Tool interface {
	// Spec is what the model is told, and what the loop must know.
	Spec() Spec
	// Call runs the tool with arguments that fit its schema. It ends soon after ctx does.
	Call(ctx context.Context, in Input) (Result, error)
}

// A Spec describes a tool.
type Spec struct {
	model.Tool
	// Looks: the tool tells what the data is like. Computation asked for in the same reply waits until it was read.
	Looks bool
	// Computes: the tool's arguments should rest on a look at the data.
	Computes bool
	// Replay says what may be done after a crash between launch and record.
	Replay Replay
}

// Replay is a tool's replay policy.
type Replay string

// The policies: a ReadOnly or Idempotent call may be run again, a Once call may not.
const (
	ReadOnly   Replay = "read_only"
	Idempotent Replay = "idempotent"
	Once       Replay = "once"
)

// Input is what a tool gets.
type Input struct {
	Args json.RawMessage
	// Evidence is what the run has so far, for tools that compute on it.
	Evidence []evidence.Item
}

// Result is what a call gave: a text for the model, an item for the record.
type Result struct {
	Text   string
	Failed bool
	Item   evidence.Item // the loop fills in ID, Tool, Args and MS
}

// Fail is the result of a call that did not work, with a sentence that helps the model to do better.
func Fail(why string) Result {
	return Result{Text: why, Failed: true, Item: evidence.Item{Error: why, Summary: "failed"}}
}
