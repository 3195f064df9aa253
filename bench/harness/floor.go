package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Client keeps the connections that many runs side by side need.
var Client = &http.Client{Transport: &http.Transport{MaxIdleConns: 4096, MaxIdleConnsPerHost: 4096}}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	ToolCalls  []call `json:"tool_calls,omitempty"`
}

// Floor is the same work by hand: net/http, encoding/json and nothing else.
func Floor(ctx context.Context, base, model, system, question string, tools json.RawMessage) (string, error) {
	ms := []message{{Role: "system", Content: system}, {Role: "user", Content: question}}
	for range Rounds + 1 {
		m, err := floorCall(ctx, base, map[string]any{"model": model, "messages": ms, "tools": tools, "stream": true, "stream_options": map[string]bool{"include_usage": true}})
		if err != nil || len(m.ToolCalls) == 0 {
			return m.Content, err
		}
		ms = append(ms, m)
		for _, c := range m.ToolCalls {
			var args struct{ SQL string }
			if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil {
				return "", err
			}
			ms = append(ms, message{Role: "tool", ToolCallID: c.ID, Content: Table})
		}
	}
	return "", errors.New("no answer")
}

func floorCall(ctx context.Context, base string, body any) (message, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return message{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", bytes.NewReader(b))
	if err != nil {
		return message{}, err
	}
	res, err := Client.Do(req)
	if err != nil {
		return message{}, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return message{}, fmt.Errorf("status %d", res.StatusCode)
	}
	m := message{Role: "assistant"}
	for s := bufio.NewScanner(res.Body); s.Scan(); {
		line, ok := bytes.CutPrefix(s.Bytes(), []byte("data: "))
		if !ok || line[0] != '{' {
			continue
		}
		var chunk struct {
			Choices []struct{ Delta message }
		}
		if err := json.Unmarshal(line, &chunk); err != nil {
			return m, err
		}
		if len(chunk.Choices) == 0 {
			continue
		}
		m.Content += chunk.Choices[0].Delta.Content
		for _, c := range chunk.Choices[0].Delta.ToolCalls {
			if c.ID != "" {
				m.ToolCalls = append(m.ToolCalls, c)
			} else {
				m.ToolCalls[len(m.ToolCalls)-1].Function.Arguments += c.Function.Arguments
			}
		}
	}
	return m, nil
}
