package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

type openAI struct{}

func (openAI) path() string             { return "/v1/chat/completions" }
func (openAI) key(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") }

func (openAI) refusal(status int, message string) any {
	return map[string]any{"error": map[string]any{"message": message, "type": "error", "code": nil}}
}

type openAIRequest struct {
	Model    string
	Stream   bool
	Messages []openAIMessage
	Tools    []struct {
		Type     string
		Function struct {
			Name       string
			Parameters map[string]any
		}
	}
	ToolChoice    *string `json:"tool_choice"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type openAIMessage struct {
	Role       string
	Content    *string
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string
		Type     string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

func (openAI) problem(body []byte) error {
	var in openAIRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	if in.Model == "" || !in.Stream || !in.StreamOptions.IncludeUsage || len(in.Messages) == 0 {
		return errors.New("there must be a model, a stream with usage, and messages")
	}
	for _, t := range in.Tools {
		if t.Type != "function" || !goodName.MatchString(t.Function.Name) || t.Function.Parameters["type"] != "object" {
			return fmt.Errorf("the tool %q is not allowed", t.Function.Name)
		}
	}
	if in.ToolChoice != nil && len(in.Tools) == 0 {
		return errors.New("tool_choice is only allowed with tools")
	}
	var pairs pairing
	for i, m := range in.Messages {
		if err := m.problem(i, &pairs); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return pairs.answered()
}

func (m *openAIMessage) problem(i int, pairs *pairing) error {
	if m.Role == "tool" {
		return pairs.result(m.ToolCallID)
	}
	if err := pairs.answered(); err != nil {
		return err
	}
	switch {
	case m.Role == "system" && i > 0:
		return errors.New("a system message stands in the middle")
	case m.Role != "system" && m.Role != "user" && m.Role != "assistant":
		return fmt.Errorf("there is no role %q", m.Role)
	case m.Content == nil && len(m.ToolCalls) == 0:
		return errors.New("there is no content")
	}
	for _, c := range m.ToolCalls {
		if c.Type != "function" {
			return errors.New("a call needs a type")
		}
		if err := pairs.call(c.ID, c.Function.Name, []byte(c.Function.Arguments)); err != nil {
			return err
		}
	}
	return nil
}

func chunk(delta map[string]any, finish any) string {
	return "data: " + encode(map[string]any{"id": "x", "object": "chat.completion.chunk", "choices": []any{
		map[string]any{"index": 0, "delta": delta, "finish_reason": finish},
	}}) + "\n\n"
}

func (openAI) begin(Line) []string {
	return []string{": ping\n\n", chunk(map[string]any{"role": "assistant", "content": nil}, nil)}
}

func (openAI) text(piece string) string { return chunk(map[string]any{"content": piece}, nil) }

func (openAI) end(l Line) []string {
	var out []string
	finish := "stop"
	for i, c := range l.Calls {
		finish = "tool_calls"
		out = append(out, callChunk(map[string]any{"index": i, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}}))
		for _, crumb := range crumbs(c) {
			out = append(out, callChunk(map[string]any{"index": i, "function": map[string]any{"arguments": crumb}}))
		}
	}
	out = append(out, chunk(map[string]any{}, finish))
	out = append(out, "data: "+encode(map[string]any{"choices": []any{}, "usage": map[string]any{
		"prompt_tokens": l.Usage.InputTokens, "completion_tokens": l.Usage.OutputTokens,
	}})+"\n\n")
	return append(out, "data: [DONE]\n\n")
}

func callChunk(call map[string]any) string {
	return chunk(map[string]any{"tool_calls": []any{call}}, nil)
}
