// Package toolstest holds what every tool must pass.
package toolstest

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"plumb/evidence"
	"plumb/tools"
)

// most is the most characters that any result may have for the model.
const most = 17_000

// A Case is a tool with arguments that it can work on.
type Case struct {
	Tool tools.Tool
	Good []string // JSON objects that fit its schema and give a result
	Bad  []string // JSON objects that fit its schema and cannot give one
}

// Run holds a tool to the contract of [tools.Tool].
func Run(t *testing.T, c Case) {
	t.Run("spec", func(t *testing.T) { spec(t, c.Tool.Spec()) })
	for _, args := range c.Good {
		t.Run("good "+args, func(t *testing.T) { good(t, c.Tool, args) })
	}
	for _, args := range c.Bad {
		t.Run("bad "+args, func(t *testing.T) { bad(t, c.Tool, args) })
	}
	t.Run("cancelled", func(t *testing.T) {
		for _, args := range c.Good {
			cancelled(t, c.Tool, args)
		}
	})
}

func spec(t *testing.T, s tools.Spec) {
	if !regexp.MustCompile(`^[a-z][a-z_]{2,40}$`).MatchString(s.Name) {
		t.Errorf("the name %q is not lower case with underscores", s.Name)
	}
	if len(s.Description) < 40 {
		t.Errorf("the description %q tells a model too little", s.Description)
	}
	switch s.Replay {
	case tools.ReadOnly, tools.Idempotent, tools.Once:
	default:
		t.Errorf("the replay policy is %q", s.Replay)
	}
	var doc any
	if err := json.Unmarshal(s.Schema, &doc); err != nil {
		t.Fatalf("the schema is no JSON: %v", err)
	}
	if object, _ := doc.(map[string]any); object["type"] != "object" || object["additionalProperties"] != false {
		t.Errorf("the schema is not that of an object without further properties: %s", s.Schema)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	if _, err := compiler.Compile("s.json"); err != nil {
		t.Errorf("the schema does not compile: %v", err)
	}
}

func good(t *testing.T, tool tools.Tool, args string) {
	r := call(t, tool, args)
	if r.Failed || r.Item.Error != "" {
		t.Fatalf("failed: %s", r.Text)
	}
	if r.Text == "" || r.Item.Summary == "" {
		t.Errorf("a result needs a text and a summary: %+v", r)
	}
	if n := len([]rune(r.Text)); n > most {
		t.Errorf("the text has %d characters", n)
	}
	if len(r.Item.Rows) > 1000 || len(r.Item.Rows) > r.Item.RowCount {
		t.Errorf("%d rows are kept of %d", len(r.Item.Rows), r.Item.RowCount)
	}
	for _, row := range r.Item.Rows {
		if len(row) != len(r.Item.Columns) {
			t.Fatalf("a row has %d cells under %d columns", len(row), len(r.Item.Columns))
		}
	}
	written, err := json.Marshal(r.Item)
	if err != nil {
		t.Fatal(err)
	}
	var back evidence.Item
	if err := json.Unmarshal(written, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(written), string(again)); diff != "" {
		t.Errorf("the item does not survive being recorded:\n%s", diff)
	}
	if tool.Spec().Replay == tools.ReadOnly {
		if diff := cmp.Diff(r, call(t, tool, args)); diff != "" {
			t.Errorf("asked again, a tool that only reads says something else:\n%s", diff)
		}
	}
}

func bad(t *testing.T, tool tools.Tool, args string) {
	r := call(t, tool, args)
	if !r.Failed || r.Text == "" || r.Item.Error == "" {
		t.Errorf("what cannot work must fail with a sentence and leave it in the record: %+v", r)
	}
}

func call(t *testing.T, tool tools.Tool, args string) tools.Result {
	t.Helper()
	r, err := tool.Call(t.Context(), tools.Input{Args: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("what goes wrong in the world is a result, not an error: %v", err)
	}
	return r
}

// cancelled: a tool that is called when all is over gives nothing, or what it has at hand, and at once.
func cancelled(t *testing.T, tool tools.Tool, args string) {
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	began := time.Now()
	_, err := tool.Call(ctx, tools.Input{Args: json.RawMessage(args)})
	if err != nil && !errors.Is(err, over) {
		t.Errorf("the error is %v, not the cause of the end", err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v to notice that all is over", took)
	}
}
