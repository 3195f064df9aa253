// Command loop measures a run of five streamed model calls and four tool rounds against a model server that it is given,
// and prints one JSON line. Settings come from the environment, so that it can run beside others in the same rounds:
// BENCH_URL, BENCH_RUNS, BENCH_CONC, BENCH_WARM, BENCH_LAT (ms). With -durable the run takes the whole road; -ledger is a
// PostgreSQL's URL, and SQLite without it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"

	"plumb/bench/harness"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	durable := flag.Bool("durable", false, "the whole road, with bus and ledger")
	ledger := flag.String("ledger", "", "a PostgreSQL's URL; SQLite if empty")
	flag.Parse()
	base := os.Getenv("BENCH_URL")
	if base == "" {
		base = "http://127.0.0.1:18080/v1"
	}
	n, side, warm := number("BENCH_RUNS", 100), number("BENCH_CONC", 1), number("BENCH_WARM", 20)
	name := fmt.Sprintf("fake-%dms", number("BENCH_LAT", 0))
	peer, work := "plumb", harness.Loop(base, name)
	if *durable {
		var stop func()
		var err error
		peer = "plumb-durable"
		if work, stop, err = harness.Durable(context.Background(), base, name, *ledger, max(side, 64)); err != nil {
			return err
		}
		defer stop()
	}
	f, err := harness.Measure(peer, n, side, warm, work)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

func number(key string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(key)); err == nil {
		return n
	}
	return otherwise
}
