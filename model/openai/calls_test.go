package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plumb/model"
	"plumb/model/wire"
)

// How servers send calls, and what is meant.
func TestAssembly(t *testing.T) {
	for name, c := range map[string]struct{ fragments, want string }{
		"by the book": {
			`[{"index":0,"id":"x","function":{"name":"a","arguments":""}},{"index":0,"function":{"arguments":"{\"n\""}},{"index":0,"function":{"arguments":":1}"}},{"index":1,"id":"y","function":{"name":"b","arguments":"{}"}}]`,
			`x a {"n":1}; y b {}`},
		"interleaved": {
			`[{"index":0,"id":"x","function":{"name":"a"}},{"index":1,"id":"y","function":{"name":"b"}},{"index":0,"function":{"arguments":"{\"n\":1}"}},{"index":1,"function":{"arguments":"{\"n\":2}"}}]`,
			`x a {"n":1}; y b {"n":2}`},
		"no index, whole calls": {
			`[{"id":"x","function":{"name":"a","arguments":"{\"n\":1}"}},{"id":"y","function":{"name":"a","arguments":"{\"n\":2}"}}]`,
			`x a {"n":1}; y a {"n":2}`},
		"no index, fragments": {
			`[{"id":"x","function":{"name":"a","arguments":"{\"n\""}},{"function":{"arguments":":1}"}},{"id":"y","function":{"name":"b"}},{"function":{"arguments":"{}"}}]`,
			`x a {"n":1}; y b {}`},
		"no index, no id": {
			`[{"function":{"name":"a"}},{"function":{"name":"b","arguments":"{\"n\":1}"}}]`,
			`call_1 a {}; call_2 b {"n":1}`},
		"no index, id and name again with each fragment": {
			`[{"id":"x","function":{"name":"a","arguments":"{\"n\""}},{"id":"x","function":{"name":"a","arguments":":1}"}}]`,
			`x a {"n":1}`},
		"no index, one id for two": {
			`[{"id":"x","function":{"name":"a","arguments":"{\"n\":1}"}},{"id":"x","function":{"name":"a","arguments":"{\"n\":2}"}}]`,
			`x a {"n":1}; call_1 a {"n":2}`},
		"one index for all": {
			`[{"index":0,"id":"x","function":{"name":"a","arguments":"{\"n\":1}"}},{"index":0,"id":"y","function":{"name":"a","arguments":"{\"n\":2}"}}]`,
			`x a {"n":1}; y a {"n":2}`},
		"one index for all, no id": {
			`[{"index":0,"function":{"name":"a","arguments":"{\"n\":1}"}},{"index":0,"function":{"name":"a","arguments":"{\"n\":2}"}}]`,
			`call_1 a {"n":1}; call_2 a {"n":2}`},
		"id and name again with each fragment": {
			`[{"index":0,"id":"x","function":{"name":"a","arguments":"{\"n\""}},{"index":0,"id":"x","function":{"name":"a","arguments":":1}"}}]`,
			`x a {"n":1}`},
		"another id with each fragment": {
			`[{"index":0,"id":"x1","function":{"name":"a","arguments":"{\"n\""}},{"index":0,"id":"x2","function":{"arguments":":1}"}}]`,
			`x1 a {"n":1}`},
		"double ids":         {`[{"index":0,"id":"x","function":{"name":"a"}},{"index":1,"id":"x","function":{"name":"b"}}]`, `x a {}; call_1 b {}`},
		"id of another turn": {`[{"index":0,"id":"old","function":{"name":"a"}}]`, `call_1 a {}`},
		"an object":          {`[{"index":0,"id":"x","function":{"name":"a","arguments":{"n":1}}}]`, `x a {"n":1}`},
		"null":               {`[{"index":0,"id":"x","function":{"name":"a","arguments":null}}]`, `x a {}`},
		"cut short":          {`[{"index":0,"id":"x","function":{"name":"a","arguments":"{\"n\":"}}]`, `x a {"n":`},
	} {
		var fragments []fragment
		if err := json.Unmarshal([]byte(c.fragments), &fragments); err != nil {
			t.Fatal(name, err)
		}
		var a assembly
		for _, f := range fragments {
			a.add(f)
		}
		var got []string
		for _, call := range a.whole(wire.NewIDs([]model.Turn{{Calls: []model.Call{{ID: "old"}}}})) {
			got = append(got, fmt.Sprintf("%s %s %s", call.ID, call.Name, call.Arguments))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Whatever a server sends, ids are unique, and no byte of the arguments is lost or invented.
func FuzzAssembly(f *testing.F) {
	f.Add([]byte(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"a","arguments":"{}"}},{"id":"x","function":{"name":"a"}}]}}]}`))
	f.Add([]byte(`{"choices":[{"message":{"content":"hi","tool_calls":[{"function":{"arguments":[1]}}]},"finish_reason":"stop"}],"usage":{}}`))
	f.Add([]byte(`{"error":{"code":429}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &reply{yield: func(model.Part, error) bool { return true }}
		err := r.take(data)
		calls := r.calls.whole(wire.NewIDs(nil))
		seen := map[string]bool{}
		got := 0
		for _, c := range calls {
			if c.ID == "" || seen[c.ID] || len(c.Arguments) == 0 {
				t.Fatalf("call %+v among %+v", c, calls)
			}
			seen[c.ID] = true
			if string(c.Arguments) != "{}" {
				got += len(c.Arguments)
			}
		}
		var in chunk
		if err != nil || json.Unmarshal(data, &in) != nil {
			return
		}
		want := 0
		for _, c := range in.Choices {
			for _, f := range append(c.Delta.ToolCalls, c.Message.ToolCalls...) {
				if c.Index == 0 {
					want += len(f.Function.Arguments)
				}
			}
		}
		if got > want || got < want-2*len(calls) {
			t.Fatalf("%d bytes of arguments in, %d out", want, got)
		}
	})
}
