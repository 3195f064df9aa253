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
	code := command.Bot(ctx, os.Args[1:], command.Std())
	stop()
	os.Exit(code)
}
