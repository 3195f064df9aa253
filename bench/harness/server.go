// Package harness is what the benchmarks share: a model server that answers at once, a loop written by hand as the floor,
// a pool of runs, and the reading of clocks.
package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Rounds is how many tool rounds a run has before its answer.
const Rounds = 4

// Answer is how every run ends.
var Answer = strings.Repeat("Orders fell in one region only, and the other three are within their usual range. ", 7) + "Next: the status page."

// Table is the fixed result of run_sql: twenty rows.
var Table = func() string {
	var b strings.Builder
	b.WriteString("20 rows\nweek,region,orders,revenue\n")
	for i := range 20 {
		fmt.Fprintf(&b, "2026-W%02d,%s,%d,%.2f\n", 30+i, []string{"EMEA", "AMER", "APAC", "LATAM"}[i%4], 18204-61*i, float64(18204-61*i)*84.2)
	}
	return b.String()
}()

// ModelServer is a chat-completions server without a state: which answer comes next follows from how many tool messages
// the request holds. A model named …-NNNms waits that long first.
func ModelServer() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /cpu", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, CPU().Microseconds()) })
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		round := bytes.Count(body, []byte(`"role":"tool"`))
		wait(body)
		w.Header().Set("Content-Type", "text/event-stream")
		flush := w.(http.Flusher)
		for _, c := range stream(round) {
			_, _ = w.Write(c)
			flush.Flush()
		}
	})
	return mux
}

func wait(body []byte) {
	var head struct{ Model string }
	_ = json.Unmarshal(body, &head)
	name := strings.TrimSuffix(head.Model, "ms")
	if i := strings.LastIndexByte(name, '-'); i >= 0 && name != head.Model {
		if ms, _ := strconv.Atoi(name[i+1:]); ms > 0 {
			time.Sleep(time.Duration(ms) * time.Millisecond)
		}
	}
}

var streams = func() [][][]byte {
	var out [][][]byte
	for round := range Rounds + 1 {
		var deltas []any
		finish := "stop"
		if round < Rounds {
			finish = "tool_calls"
			args := fmt.Sprintf(`{"sql":"SELECT region, count(*) AS orders, sum(amount) AS revenue FROM orders WHERE week > %d GROUP BY region"}`, round)
			deltas = append(deltas, map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"index": 0, "id": fmt.Sprintf("call_r%d", round), "type": "function", "function": map[string]any{"name": "run_sql", "arguments": ""}}}})
			for i := range 6 {
				deltas = append(deltas, map[string]any{"tool_calls": []any{map[string]any{"index": 0, "function": map[string]any{"arguments": args[i*len(args)/6 : (i+1)*len(args)/6]}}}})
			}
		} else {
			for i := range 40 {
				deltas = append(deltas, map[string]any{"content": Answer[i*len(Answer)/40 : (i+1)*len(Answer)/40]})
			}
		}
		out = append(out, chunks(deltas, finish, round))
	}
	return out
}()

func chunks(deltas []any, finish string, round int) [][]byte {
	var out [][]byte
	add := func(choices []any, usage any) {
		b, _ := json.Marshal(map[string]any{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": choices, "usage": usage})
		out = append(out, []byte("data: "+string(b)+"\n\n"))
	}
	for _, d := range deltas {
		add([]any{map[string]any{"index": 0, "delta": d, "finish_reason": nil}}, nil)
	}
	add([]any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish}}, nil)
	add([]any{}, map[string]any{"prompt_tokens": 900 + 700*round, "completion_tokens": 60, "total_tokens": 960 + 700*round})
	return append(out, []byte("data: [DONE]\n\n"))
}

func stream(round int) [][]byte { return streams[min(round, Rounds)] }
