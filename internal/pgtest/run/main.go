// Command run runs a command with a PostgreSQL server for its tests:
//
//	go run ./internal/pgtest/run [-fsync=off] -- go test ./...
//
// The command finds the server's URL in PLUMB_TEST_POSTGRES. If that is set already, no server is started.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"plumb/internal/pgtest"
)

func main() {
	fsync := flag.String("fsync", "on", "off: do not wait for the disk; a power cut loses the data")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/pgtest/run [-fsync=off] -- COMMAND ARGUMENTS")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	code, err := run(flag.Args(), *fsync)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// run returns the command's exit code.
func run(command []string, fsync string) (int, error) {
	if os.Getenv(pgtest.Variable) == "" {
		dir, err := os.MkdirTemp("", "plumb-postgres-")
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(dir)
		address, stop, err := pgtest.Start(dir, "fsync="+fsync)
		if err != nil {
			return 1, err
		}
		defer stop()
		if err := os.Setenv(pgtest.Variable, address); err != nil {
			return 1, err
		}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// An interrupt reaches the command by itself; only a request to end has to be passed on. Either way the server is
	// stopped after the command, not before.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				_ = cmd.Process.Signal(s) // it may have ended by now
			}
		case err := <-ended:
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				return max(exit.ExitCode(), 1), nil
			}
			return 0, err
		}
	}
}
