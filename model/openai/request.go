package openai

import (
	"encoding/json"
	"strings"

	"plumb/model"
	"plumb/model/wire"
)

// The request, as far as we use it. The SDK's own types for it cost five times as much to encode, at each call again.
type (
	request struct {
		Model               string        `json:"model"`
		Messages            []message     `json:"messages"`
		Tools               []tool        `json:"tools,omitempty"`
		ToolChoice          string        `json:"tool_choice,omitempty"`
		MaxTokens           int           `json:"max_tokens,omitempty"`
		MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
		Stream              bool          `json:"stream"`
		StreamOptions       streamOptions `json:"stream_options"`
	}
	streamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	message struct {
		Role       string `json:"role"`
		Content    string `json:"content,omitempty"`
		ToolCalls  []call `json:"tool_calls,omitempty"`
		ToolCallID string `json:"tool_call_id,omitempty"`
	}
	call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	tool struct {
		Type     string   `json:"type"`
		Function toolSpec `json:"function"`
	}
	toolSpec struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
)

func (m *provider) request(req model.Request) request {
	out := request{Model: m.name, Stream: true, StreamOptions: streamOptions{IncludeUsage: true}}
	if m.own {
		out.MaxCompletionTokens = m.maxTokens
	} else {
		out.MaxTokens = m.maxTokens // the newer name is not known everywhere
	}
	for _, t := range wire.Offered(req) {
		out.Tools = append(out.Tools, tool{"function", toolSpec{t.Name, t.Description, wire.Schema(t.Schema)}})
	}
	if req.NoCalls && out.Tools != nil {
		out.ToolChoice = "none"
	}
	if strings.TrimSpace(req.System) != "" {
		out.Messages = append(out.Messages, message{Role: "system", Content: req.System})
	}
	for _, t := range wire.Turns(req.Turns) {
		out.Messages = append(out.Messages, messages(t)...)
	}
	return out
}

// messages are a turn on the wire. Content is never empty, since what has none is sent without and then needs calls: an
// assistant that said nothing is left out.
func messages(t model.Turn) []message {
	switch t.Role {
	case model.Tools:
		var out []message
		for _, r := range t.Results {
			out = append(out, message{Role: "tool", ToolCallID: r.CallID, Content: orElse(r.Text, "(no output)")})
		}
		return out
	case model.Assistant:
		if strings.TrimSpace(t.Text) == "" && len(t.Calls) == 0 {
			return nil
		}
		m := message{Role: "assistant", Content: t.Text}
		for _, c := range t.Calls {
			m.ToolCalls = append(m.ToolCalls, call{c.ID, "function", function{c.Name, string(c.Arguments)}})
		}
		return []message{m}
	}
	return []message{{Role: "user", Content: orElse(t.Text, "(no text)")}}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
