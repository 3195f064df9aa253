package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

type anthropic struct{}

func (anthropic) path() string { return "/v1/messages" }

func (anthropic) key(h http.Header) string {
	if k := h.Get("X-Api-Key"); k != "" {
		return k
	}
	return strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
}

func (anthropic) refusal(_ int, message string) any {
	return map[string]any{"type": "error", "error": map[string]any{"type": "some_error", "message": message}}
}

type anthropicBlock struct {
	Type      string
	Text      string
	ID        string
	Name      string
	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	Content   []anthropicBlock
}

func (anthropic) problem(body []byte) error {
	var in struct {
		Model     string
		MaxTokens int `json:"max_tokens"`
		Stream    bool
		System    []anthropicBlock
		Messages  []struct {
			Role    string
			Content []anthropicBlock
		}
		Tools []struct {
			Name        string
			InputSchema map[string]any `json:"input_schema"`
		}
		ToolChoice *struct{ Type string } `json:"tool_choice"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	if in.Model == "" || in.MaxTokens < 1 || !in.Stream || len(in.Messages) == 0 {
		return errors.New("there must be a model, max_tokens, a stream and messages")
	}
	for _, t := range in.Tools {
		if !goodName.MatchString(t.Name) || t.InputSchema["type"] != "object" {
			return fmt.Errorf("the tool %q is not allowed", t.Name)
		}
	}
	if in.ToolChoice != nil && len(in.Tools) == 0 {
		return errors.New("tool_choice is only allowed with tools")
	}
	var pairs pairing
	role := "assistant"
	for i, m := range in.Messages {
		if m.Role == role || m.Role != "user" && m.Role != "assistant" || len(m.Content) == 0 {
			return fmt.Errorf("message %d is of %q after %q, with %d blocks", i, m.Role, role, len(m.Content))
		}
		role = m.Role
		if err := anthropicMessage(&pairs, role, m.Content); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	if role != "user" {
		return errors.New("the conversation must end with a user message")
	}
	if len(pairs.used) > 0 && len(in.Tools) == 0 {
		return errors.New("the messages speak of tools, and there are none")
	}
	return pairs.answered()
}

func anthropicMessage(pairs *pairing, role string, blocks []anthropicBlock) error {
	spoken := false
	for _, b := range blocks {
		var err error
		switch {
		case b.Type == "text":
			if strings.TrimSpace(b.Text) == "" {
				err = errors.New("a text block is blank")
			}
			spoken = true
		case b.Type == "tool_result" && role == "user":
			if spoken {
				return errors.New("results must come before text")
			}
			for _, inner := range b.Content {
				if inner.Type != "text" || strings.TrimSpace(inner.Text) == "" {
					return errors.New("a text block is blank")
				}
			}
			err = pairs.result(b.ToolUseID)
		case b.Type == "tool_use" && role == "assistant":
			err = pairs.call(b.ID, b.Name, b.Input)
		default:
			err = fmt.Errorf("a block of type %q cannot be here", b.Type)
		}
		if err != nil {
			return err
		}
	}
	if role == "user" {
		return pairs.answered()
	}
	return nil
}

func event(kind string, data map[string]any) string {
	data["type"] = kind
	return "event: " + kind + "\ndata: " + encode(data) + "\n\n"
}

func (anthropic) begin(l Line) []string {
	return []string{
		event("message_start", map[string]any{"message": map[string]any{"type": "message", "role": "assistant", "content": []any{}, "stop_reason": nil,
			"usage": map[string]any{"input_tokens": l.Usage.InputTokens, "output_tokens": min(1, l.Usage.OutputTokens)}}}),
		event("ping", map[string]any{}),
		event("content_block_start", map[string]any{"index": 0, "content_block": map[string]any{"type": "text", "text": ""}}),
	}
}

func (anthropic) text(piece string) string {
	return event("content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": "text_delta", "text": piece}})
}

func (anthropic) end(l Line) []string {
	out := []string{event("content_block_stop", map[string]any{"index": 0})}
	stop := "end_turn"
	for i, c := range l.Calls {
		stop = "tool_use"
		out = append(out, event("content_block_start", map[string]any{"index": i + 1,
			"content_block": map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}}}))
		for _, crumb := range crumbs(c) {
			out = append(out, event("content_block_delta", map[string]any{"index": i + 1,
				"delta": map[string]any{"type": "input_json_delta", "partial_json": crumb}}))
		}
		out = append(out, event("content_block_stop", map[string]any{"index": i + 1}))
	}
	return append(out,
		event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": l.Usage.OutputTokens}}),
		event("message_stop", map[string]any{}))
}
