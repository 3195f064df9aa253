package wire

import (
	"encoding/json"
	"fmt"

	"plumb/model"
)

// longest is the most that every provider allows for a call's id.
const longest = 40

// IDs gives out ids for calls that are unique in a conversation.
type IDs struct {
	used map[string]bool
	n    int
}

// NewIDs knows the ids that the turns use already.
func NewIDs(turns []model.Turn) *IDs {
	ids := &IDs{used: map[string]bool{}}
	for _, t := range turns {
		for _, c := range t.Calls {
			ids.used[c.ID] = true
		}
	}
	return ids
}

// Take is id itself where it is fit and free, else a new one. A tail that a provider needs again with the same
// messages is the same again: ids are counted, not drawn.
func (ids *IDs) Take(id string) string {
	for !fit(id) || ids.used[id] {
		ids.n++
		id = fmt.Sprintf("call_%d", ids.n)
	}
	ids.used[id] = true
	return id
}

func fit(id string) bool { return word(id, longest) }

// word: letters, digits, _ and - only, which is all that the strictest provider takes.
func word(s string, most int) bool {
	for _, c := range []byte(s) {
		if !wordByte(c) {
			return false
		}
	}
	return s != "" && len(s) <= most
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// Turns is the conversation with ids, names and arguments that any provider accepts. It may have come from another
// provider, whose ids are of another form or begin anew with each reply; call and result stay paired.
func Turns(turns []model.Turn) []model.Turn {
	ids := &IDs{used: map[string]bool{}}
	out := make([]model.Turn, 0, len(turns))
	var open []renamed
	for _, t := range turns {
		switch {
		case len(t.Calls) > 0:
			calls := make([]model.Call, len(t.Calls))
			open = open[:0]
			for i, c := range t.Calls {
				calls[i] = model.Call{ID: ids.Take(c.ID), Name: name(c.Name), Arguments: Object(c.Arguments)}
				open = append(open, renamed{c.ID, calls[i].ID})
			}
			t.Calls = calls
		case len(t.Results) > 0:
			results := make([]model.Result, len(t.Results))
			for i, r := range t.Results {
				r.CallID, open = answered(r.CallID, open)
				results[i] = r
			}
			t.Results = results
		}
		out = append(out, t)
	}
	return out
}

// A renamed id of a call that waits for its result.
type renamed struct{ was, is string }

// answered finds the call that a result belongs to; of several with one id the first that still waits.
func answered(id string, open []renamed) (string, []renamed) {
	for i, o := range open {
		if o.was == id {
			return o.is, append(open[:i:i], open[i+1:]...)
		}
	}
	return id, open // the provider will say what is wrong with it
}

// name is a tool's name as providers allow it. A model that called a tool by an impossible name has read in the result
// that there is none; the call must not make the provider refuse the conversation for good.
func name(s string) string {
	if word(s, 64) {
		return s
	}
	b := []byte(s[:min(len(s), 64)])
	for i, c := range b {
		if !wordByte(c) {
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return "unknown"
	}
	return string(b)
}

// Object is a call's arguments as a JSON object, whatever the model wrote.
func Object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil && fields != nil {
		return raw
	}
	wrapped, _ := json.Marshal(map[string]string{"_raw": string(raw)})
	return wrapped
}

// Schema is a tool's schema; a tool without one takes no arguments.
func Schema(s json.RawMessage) json.RawMessage {
	if len(s) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return s
}

// Offered are the tools that go with a request. Where the reply must be text they are left out, unless the turns speak
// of tools: then providers want to see them all the same.
func Offered(req model.Request) []model.Tool {
	if !req.NoCalls {
		return req.Tools
	}
	for _, t := range req.Turns {
		if len(t.Calls) > 0 || len(t.Results) > 0 {
			return req.Tools
		}
	}
	return nil
}
