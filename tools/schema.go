package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// compiled keeps each schema's validator by the schema's text. Schemas are constants, so that a process makes each once,
// however many runs it has.
var compiled sync.Map

func validator(schema json.RawMessage) (*jsonschema.Schema, error) {
	if v, ok := compiled.Load(string(schema)); ok {
		return v.(*jsonschema.Schema), nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("arguments.json", doc); err != nil {
		return nil, err
	}
	v, err := c.Compile("arguments.json")
	if err != nil {
		return nil, err
	}
	compiled.Store(string(schema), v)
	return v, nil
}

// validate says why arguments do not fit, in a sentence for the model. No arguments at all are an empty object.
func validate(spec Spec, args json.RawMessage) (_ json.RawMessage, why string) {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		return nil, fmt.Sprintf("the arguments of %s are no valid JSON (%v); send one JSON object", spec.Name, err)
	}
	v, err := validator(spec.Schema)
	if err != nil {
		return nil, fmt.Sprintf("the tool %s has a broken schema: %v", spec.Name, err)
	}
	err = v.Validate(doc)
	if err == nil {
		return args, ""
	}
	bad, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return nil, err.Error()
	}
	return nil, fmt.Sprintf("the arguments of %s do not fit: %s. Its schema: %s", spec.Name, strings.Join(misses(bad), "; "), spec.Schema)
}

// misses are the reasons at the leaves of a validation error, each with its place.
func misses(e *jsonschema.ValidationError) []string {
	if len(e.Causes) == 0 {
		text := e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		if len(e.InstanceLocation) > 0 {
			text = strings.Join(e.InstanceLocation, ".") + ": " + text
		}
		return []string{text}
	}
	var all []string
	for _, c := range e.Causes {
		all = append(all, misses(c)...)
	}
	return all
}
