// Command bench prints how fast the parts are, each beside its floor and as a ratio measured in the same rounds: the loop
// beside one written by hand, the durable road beside bare commits, run_sql beside DuckDB asked directly, and a question
// at the terminal from start to answer. Figures of one machine are not worth comparing with those of another; ratios are.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"plumb/bench/harness"
)

func main() {
	serve := flag.Bool("serve", false, "be the model server, on an address that is printed")
	only := flag.String("only", "", "loop, durable, wait, sql or ask")
	flag.Parse()
	err := error(nil)
	if *serve {
		err = beServer()
	} else {
		err = all(context.Background(), *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// beServer answers as a model until its standard input ends, which it does with the process that started it.
func beServer() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		_ = l.Close()
	}()
	err = http.Serve(l, harness.ModelServer())
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// bench is a model server in a process of its own, so that its work can be told from ours.
type bench struct{ base string }

func all(ctx context.Context, only string) error {
	b, stop, err := start()
	if err != nil {
		return err
	}
	defer stop()
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"loop", b.loop}, {"durable", b.durable}, {"wait", b.wait}, {"sql", sqlOverhead}, {"ask", ask}} {
		if only != "" && only != part.name {
			continue
		}
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

func start() (bench, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return bench{}, nil, err
	}
	cmd := exec.Command(self, "-serve")
	in, err := cmd.StdinPipe()
	if err != nil {
		return bench{}, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return bench{}, nil, err
	}
	if err := cmd.Start(); err != nil {
		return bench{}, nil, err
	}
	line := make([]byte, 100)
	n, err := out.Read(line)
	if err != nil {
		return bench{}, nil, err
	}
	return bench{"http://" + strings.TrimSpace(string(line[:n])) + "/v1"}, func() { _ = in.Close(); _ = cmd.Wait() }, nil
}

func (b bench) floor(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		text, err := harness.Floor(ctx, b.base, name, strings.Repeat("You are a data analyst. ", 60), harness.Question, harness.ToolsJSON)
		if err == nil && text != harness.Answer {
			err = errors.New("another answer")
		}
		return err
	}
}

// serverCPU is what the model server has used.
func (b bench) serverCPU() time.Duration {
	res, err := http.Get(strings.TrimSuffix(b.base, "/v1") + "/cpu")
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	text := make([]byte, 30)
	n, _ := res.Body.Read(text)
	us, _ := strconv.Atoi(string(text[:n]))
	return time.Duration(us) * time.Microsecond
}

func (b bench) loop(context.Context) error {
	fmt.Println("The loop alone: five streamed calls, four tool rounds, eight runs side by side")
	for round := range 3 {
		floor, err := harness.Measure("by hand", 600, 8, 50, b.floor("fake-0ms"))
		if err != nil {
			return err
		}
		ours, err := harness.Measure("plumb", 600, 8, 50, harness.Loop(b.base, "fake-0ms"))
		if err != nil {
			return err
		}
		fmt.Printf("  round %d  %s\n           %s\n           %.2f x the floor's CPU\n", round+1, floor, ours, ours.CPU/floor.CPU)
	}
	return nil
}

func (b bench) durable(ctx context.Context) error {
	fmt.Println("The whole road: event, bus, ledger, loop, outbox, post; 64 runs side by side")
	for _, where := range []string{os.Getenv("PLUMB_TEST_POSTGRES"), ""} {
		name, commits := "SQLite", sqliteCommits
		if where != "" {
			name, commits = "PostgreSQL", postgresCommits
		} else if name == "" {
			continue
		}
		floor, err := commits(ctx, where)
		if err != nil {
			return err
		}
		run, stop, err := harness.Durable(ctx, b.base, "fake-0ms", where, 64)
		if err != nil {
			return err
		}
		const n = 1500
		before := b.serverCPU()
		f, err := harness.Measure("plumb, "+name, n, 64, 100, run)
		server := float64((b.serverCPU() - before).Microseconds()) / 1000 / n
		stop()
		if err != nil {
			return err
		}
		fmt.Printf("  %s\n  %s\n      machine: %.2f CPU-ms a run without the model server; six bare commits: %.2f; %.0f%% of the bare commits' runs a second\n",
			floor, f, f.Machine-server, floor.Machine, 100*f.PerS/floor.PerS)
	}
	return nil
}

func (b bench) wait(ctx context.Context) error {
	const n, ideal = 1000, 10.0
	fmt.Printf("%d runs that wait for a model which takes 2 s a call: ideal %.0f s\n", n, ideal)
	run, stop, err := harness.Durable(ctx, b.base, "fake-2000ms", os.Getenv("PLUMB_TEST_POSTGRES"), n)
	if err != nil {
		return err
	}
	defer stop()
	for _, p := range []struct {
		name string
		run  func(context.Context) error
	}{{"by hand", b.floor("fake-2000ms")}, {"plumb, loop alone", harness.Loop(b.base, "fake-2000ms")}, {"plumb, durable", run}} {
		f, err := harness.Measure(p.name, n, n, 1, p.run)
		if err != nil {
			return err
		}
		fmt.Printf("  %-20s %5.1f s = %.2f x ideal, %4.0f KB a run, peak %.0f MB\n", p.name, f.Seconds, f.Seconds/ideal, f.KBRun, f.RSS)
	}
	return nil
}
