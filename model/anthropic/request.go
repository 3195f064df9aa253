package anthropic

import (
	"encoding/json"
	"strings"

	"plumb/model"
	"plumb/model/wire"
)

// The request, as far as we use it. The SDK's own types for it cost several times as much to encode, at each call again.
type (
	request struct {
		Model      string    `json:"model"`
		MaxTokens  int       `json:"max_tokens"`
		System     []*block  `json:"system,omitempty"`
		Messages   []message `json:"messages"`
		Tools      []tool    `json:"tools,omitempty"`
		ToolChoice *choice   `json:"tool_choice,omitempty"`
		Stream     bool      `json:"stream"`
	}
	choice struct {
		Type string `json:"type"`
	}
	message struct {
		Role    string   `json:"role"`
		Content []*block `json:"content"`
	}
	// A block is text, a tool's use or its result.
	block struct {
		Type         string          `json:"type"`
		Text         string          `json:"text,omitempty"`
		ID           string          `json:"id,omitempty"`
		Name         string          `json:"name,omitempty"`
		Input        json.RawMessage `json:"input,omitempty"`
		ToolUseID    string          `json:"tool_use_id,omitempty"`
		Content      []*block        `json:"content,omitempty"`
		IsError      bool            `json:"is_error,omitempty"`
		CacheControl *choice         `json:"cache_control,omitempty"`
	}
	tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
)

const (
	user      = "user"
	assistant = "assistant"
)

// kept marks the end of what the provider may keep for the next request.
var kept = &choice{"ephemeral"}

func (m *provider) request(req model.Request) request {
	out := request{Model: m.name, MaxTokens: m.maxTokens, Stream: true, Messages: messages(wire.Turns(req.Turns))}
	for _, t := range wire.Offered(req) {
		out.Tools = append(out.Tools, tool{t.Name, t.Description, wire.Schema(t.Schema)})
	}
	if req.NoCalls && out.Tools != nil {
		out.ToolChoice = &choice{"none"}
	}
	// Two marks: what stays for the whole run (the tools stand before the system prompt), and the conversation so far,
	// which the next step of the run only adds to.
	if !blank(req.System) {
		out.System = []*block{{Type: "text", Text: req.System, CacheControl: kept}}
	}
	if n := len(out.Messages); n > 0 {
		last := out.Messages[n-1].Content
		last[len(last)-1].CacheControl = kept
	}
	return out
}

// messages are the turns in the provider's order: beginning with the user, user and assistant by turns, so that what
// was said after tools ran stands in one message with their results, behind them; and no block is blank.
func messages(turns []model.Turn) []message {
	var out []message
	for _, t := range turns {
		role, blocks := blocks(t)
		switch n := len(out); {
		case len(blocks) == 0:
		case n > 0 && out[n-1].Role == role:
			out[n-1].Content = append(out[n-1].Content, blocks...)
		case n == 0 && role == assistant:
			out = append(out, message{user, []*block{{Type: "text", Text: "(what was said before is left out)"}}}, message{role, blocks})
		default:
			out = append(out, message{role, blocks})
		}
	}
	return out
}

func blocks(t model.Turn) (role string, out []*block) {
	for _, r := range t.Results {
		text := r.Text
		if blank(text) {
			text = "(no output)"
		}
		out = append(out, &block{Type: "tool_result", ToolUseID: r.CallID, IsError: r.Failed, Content: []*block{{Type: "text", Text: text}}})
	}
	if !blank(t.Text) {
		out = append(out, &block{Type: "text", Text: t.Text})
	}
	if t.Role != model.Assistant {
		return user, out
	}
	for _, c := range t.Calls {
		out = append(out, &block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: c.Arguments})
	}
	return assistant, out
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
