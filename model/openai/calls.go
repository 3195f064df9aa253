package openai

import (
	"encoding/json"

	"plumb/model"
	"plumb/model/wire"
)

// A fragment is a piece of a tool call.
type fragment struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// Arguments are a piece of JSON within a string; some servers send the object itself.
type arguments string

// UnmarshalJSON takes both forms.
func (a *arguments) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(a))
	}
	if string(data) != "null" {
		*a = arguments(data)
	}
	return nil
}

// An assembly puts the calls of a reply together.
type assembly []*assembled

type assembled struct {
	index     *int
	id, name  string
	arguments []byte
}

// add appends a fragment to the call that it belongs to.
func (a *assembly) add(f fragment) {
	c := a.find(f)
	if c == nil {
		c = &assembled{index: f.Index}
		*a = append(*a, c)
	}
	if c.id == "" {
		c.id = f.ID
	}
	if c.name == "" {
		c.name = f.Function.Name
	}
	c.arguments = append(c.arguments, f.Function.Arguments...)
}

// find is the call that a fragment goes on with, nil if it begins one. The protocol says: the one with the same index.
// Servers leave the index out, give every call the same one, and repeat id and name with each fragment; so a fragment
// with a name begins a call wherever it cannot belong to the one before.
func (a assembly) find(f fragment) *assembled {
	c := a.last(f)
	if c == nil || f.Function.Name == "" || c.name == "" {
		return c
	}
	switch {
	case f.ID != "" && c.id != "" && f.ID != c.id:
		return nil
	case f.ID == "" && f.Index == nil:
		return nil
	case json.Valid(c.arguments): // it is whole
		return nil
	}
	return c
}

// last is the newest call with the fragment's index, or with its id where it has no index, or else the newest.
func (a assembly) last(f fragment) *assembled {
	for i := len(a) - 1; i >= 0; i-- {
		c := a[i]
		switch {
		case f.Index != nil && (c.index == nil || *c.index != *f.Index):
			continue
		case f.Index == nil && f.ID != "" && c.id != f.ID && f.Function.Name != "":
			continue
		}
		return c
	}
	return nil
}

// whole are the calls, with ids that are unique in the conversation.
func (a assembly) whole(ids *wire.IDs) []model.Call {
	var out []model.Call
	for _, c := range a {
		if len(c.arguments) == 0 {
			c.arguments = []byte("{}")
		}
		out = append(out, model.Call{ID: ids.Take(c.id), Name: c.name, Arguments: c.arguments})
	}
	return out
}
