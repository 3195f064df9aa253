package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"plumb/model"
	"plumb/model/wire"
)

// The server runs in a process of its own, so that what this process takes is the client's.
const serverMode = "BENCH_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverMode) == "" {
		os.Exit(m.Run())
	}
	s := httptest.NewServer(http.HandlerFunc(benchReply))
	fmt.Println(s.URL)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the benchmark is over
}

// benchReply streams a reply of 40 chunks, five of them a tool call.
func benchReply(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta string, finish string) {
		fmt.Fprintf(w, `data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1790000000,"model":"scripted","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
		w.(http.Flusher).Flush()
	}
	for range 33 {
		send(`{"content":"some words of it"}`, "null")
	}
	send(`{"tool_calls":[{"index":0,"id":"call_abc","type":"function","function":{"name":"run_sql","arguments":""}}]}`, "null")
	for range 4 {
		send(`{"tool_calls":[{"index":0,"function":{"arguments":"  "}}]}`, "null")
	}
	send(`{}`, `"tool_calls"`)
	fmt.Fprint(w, `data: {"choices":[],"usage":{"prompt_tokens":1200,"completion_tokens":80}}`+"\n\ndata: [DONE]\n\n")
}

func benchServer(b *testing.B) string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverMode+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// benchRequests are the five of a run whose transcript grows.
func benchRequests() []model.Request {
	req := model.Request{System: strings.Repeat("Rules and schema. ", 200), Turns: []model.Turn{{Role: model.User, Text: "how many?"}}}
	for i := range 12 {
		req.Tools = append(req.Tools, model.Tool{Name: fmt.Sprint("tool_", i), Description: strings.Repeat("what it does ", 10),
			Schema: json.RawMessage(`{"type":"object","properties":{"sql":{"type":"string","description":"one statement"},"source":{"type":"string"}},"required":["sql"]}`)})
	}
	var out []model.Request
	for i := range 5 {
		out = append(out, req)
		id := fmt.Sprint("c", i)
		req.Turns = append(req.Turns[:len(req.Turns):len(req.Turns)],
			model.Turn{Role: model.Assistant, Text: "Let me see.", Calls: []model.Call{{ID: id, Name: "tool_1", Arguments: json.RawMessage(`{"sql":"SELECT region, sum(amount) FROM orders GROUP BY 1"}`)}}},
			model.Turn{Role: model.Tools, Results: []model.Result{{CallID: id, Text: strings.Repeat("| EU | 1234.5 |\n", 60)}}})
	}
	return out
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkStream is a run of five streamed calls: with the provider, and with the least that can do it by hand.
func BenchmarkStream(b *testing.B) {
	url, requests := benchServer(b), benchRequests()
	m := New(Options{BaseURL: url + "/v1", APIKey: "k", Name: "scripted"})
	run := func(name string, one func(model.Request) int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			before := cpu()
			for b.Loop() {
				for _, req := range requests {
					if n := one(req); n != 33*16 {
						b.Fatalf("%d bytes of text", n)
					}
				}
			}
			b.ReportMetric(float64(cpu()-before)/float64(time.Millisecond)/float64(b.N), "cpu-ms/run")
		})
	}
	run("provider", func(req model.Request) int {
		r, err := model.Collect(b.Context(), m, req, func(string) {})
		if err != nil || len(r.Calls) != 1 {
			b.Fatal(r, err)
		}
		return len(r.Text)
	})
	p, client := m.(*provider), wire.Client()
	run("floor", func(req model.Request) int {
		body, _ := json.Marshal(p.request(req))
		res, err := client.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		defer res.Body.Close()
		text := 0
		for in := bufio.NewScanner(res.Body); in.Scan(); {
			data, ok := bytes.CutPrefix(in.Bytes(), []byte("data: "))
			if !ok || string(data) == "[DONE]" {
				continue
			}
			var c struct {
				Choices []struct {
					Delta struct {
						Content   string
						ToolCalls []struct {
							Index    int
							ID       string
							Function struct{ Name, Arguments string }
						} `json:"tool_calls"`
					}
				}
			}
			if err := json.Unmarshal(data, &c); err != nil {
				b.Fatal(err)
			}
			if len(c.Choices) > 0 {
				text += len(c.Choices[0].Delta.Content)
			}
		}
		return text
	})
}
