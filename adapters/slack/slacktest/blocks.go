package slacktest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"unicode/utf8"
)

// fields are what a block of each kind may hold; one field more and the whole message is refused.
var fields = map[string][]string{
	"section": {"text"}, "markdown": {"text"}, "divider": {}, "context": {"elements"}, "actions": {"elements"},
	"table": {"rows"}, "container": {"title", "is_collapsible", "default_collapsed", "child_blocks"},
}

// inContainer are the kinds that every description of the container allows in it.
var inContainer = []string{"section", "table", "context", "header", "divider", "image", "actions"}

func pointer(i int) string { return fmt.Sprintf("/blocks/%d", i) }

// check judges the text and the blocks of a message; an empty code means that they are fine. The caller holds mu.
func (s *Server) check(a url.Values, longest int) (code string, notes []string) {
	switch n := utf8.RuneCountInString(a.Get("text")); {
	case n == 0:
		return "no_text", nil
	case n > longest:
		return "msg_too_long", nil
	}
	raw := a.Get("blocks")
	if raw == "" {
		return "", nil
	}
	var blocks []map[string]any
	if json.Unmarshal([]byte(raw), &blocks) != nil {
		return "invalid_blocks_format", nil
	}
	if len(blocks) > 50 {
		return "invalid_blocks", []string{"more than 50 blocks"}
	}
	tables, all := 0, 0
	for i, b := range blocks {
		if note := s.block(b, pointer(i)); note != "" {
			return "invalid_blocks", []string{note}
		}
		tables += count(b, "table")
		all += length(b)
	}
	switch {
	case tables > 1:
		return "invalid_attachments", []string{"more than one table"}
	case all > 13_000:
		return "msg_blocks_too_long", nil
	}
	return "", nil
}

// block says what is wrong with a block, or nothing.
func (s *Server) block(b map[string]any, at string) string {
	kind, _ := b["type"].(string)
	known, ok := fields[kind]
	if !ok || slices.Contains(s.unknown, kind) {
		return at + ": unknown type " + kind
	}
	for k := range b {
		if k != "type" && !slices.Contains(known, k) {
			return at + ": unknown field " + k
		}
	}
	switch kind {
	case "section":
		return bounded(b["text"], 3000, at)
	case "markdown":
		return bounded(b["text"], 12_000, at)
	case "context":
		return elements(b["elements"], 10, at)
	case "actions":
		return elements(b["elements"], 25, at)
	case "table":
		return table(b["rows"], at)
	case "container":
		return s.container(b, at)
	}
	return ""
}

func (s *Server) container(b map[string]any, at string) string {
	if note := bounded(b["title"], 150, at+"/title"); note != "" {
		return note
	}
	children, _ := b["child_blocks"].([]any)
	if len(children) < 1 || len(children) > 10 {
		return fmt.Sprintf("%s: %d children", at, len(children))
	}
	for i, c := range children {
		child, _ := c.(map[string]any)
		kind, _ := child["type"].(string)
		here := fmt.Sprintf("%s/child_blocks/%d", at, i)
		if !slices.Contains(inContainer, kind) {
			return here + ": no child of a container"
		}
		if note := s.block(child, here); note != "" {
			return note
		}
	}
	return ""
}

func elements(v any, most int, at string) string {
	list, _ := v.([]any)
	if len(list) < 1 || len(list) > most {
		return fmt.Sprintf("%s: %d elements", at, len(list))
	}
	ids := map[any]bool{}
	for _, e := range list {
		el, _ := e.(map[string]any)
		if el["type"] != "button" {
			if note := bounded(el, 2000, at); note != "" {
				return note
			}
			continue
		}
		if id := el["action_id"]; id == "" || ids[id] {
			return at + ": action_id missing or twice"
		}
		ids[el["action_id"]] = true
		if note := bounded(el["text"], 75, at); note != "" {
			return note
		}
	}
	return ""
}

func table(v any, at string) string {
	rows, _ := v.([]any)
	if len(rows) < 1 || len(rows) > 100 {
		return fmt.Sprintf("%s: %d rows", at, len(rows))
	}
	for _, r := range rows {
		cells, _ := r.([]any)
		if len(cells) < 1 || len(cells) > 20 {
			return fmt.Sprintf("%s: %d cells", at, len(cells))
		}
		for _, c := range cells {
			if cell, _ := c.(map[string]any); cell["type"] != "raw_text" || text(cell) == "" {
				return at + ": an empty cell, or one that is no raw_text"
			}
		}
	}
	return ""
}

func bounded(v any, most int, at string) string {
	if n := utf8.RuneCountInString(text(v)); n < 1 || n > most {
		return fmt.Sprintf("%s: %d characters of 1 to %d", at, n, most)
	}
	return ""
}

// text is a text, or that of an object.
func text(v any) string {
	if o, ok := v.(map[string]any); ok {
		v = o["text"]
	}
	t, _ := v.(string)
	return t
}

// length counts the characters of all texts in a value.
func length(v any) (n int) {
	switch t := v.(type) {
	case []any:
		for _, x := range t {
			n += length(x)
		}
	case map[string]any:
		for k, x := range t {
			if s, ok := x.(string); ok && k == "text" {
				n += utf8.RuneCountInString(s)
			} else {
				n += length(x)
			}
		}
	}
	return n
}

// count counts the blocks of a kind in a block and in its children.
func count(b map[string]any, kind string) (n int) {
	if b["type"] == kind {
		n++
	}
	children, _ := b["child_blocks"].([]any)
	for _, c := range children {
		if child, ok := c.(map[string]any); ok {
			n += count(child, kind)
		}
	}
	return n
}
