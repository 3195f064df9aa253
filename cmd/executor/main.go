// Command executor is the work side of Plumb as a program of its own: it takes messages and runs from NATS, runs the
// bounded loop and keeps the ledger. Run as many as you want; they share the work by themselves. The tour of the code is
// the documentation of the other program, cmd/bot.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"plumb/app/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command.Executor(ctx, os.Args[1:], command.Std())
	stop()
	os.Exit(code)
}
