// Package command is the programs' commands as values: arguments, environment and writers come in, an exit code goes
// out, so that tests call a whole program as a function.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"plumb/app"
)

// IO is the world outside a command.
type IO struct {
	Out, Err io.Writer
	Getenv   func(string) (string, bool)
}

// Std is the process's own.
func Std() IO { return IO{os.Stdout, os.Stderr, os.LookupEnv} }

// The exit codes.
const (
	done   = 0
	failed = 1
	misuse = 2
)

// usage is the error of a command that was used wrongly.
type usage struct{ error }

// session is what a command gets.
type session struct {
	IO
	ctx context.Context
}

type botCLI struct {
	Run     runCmd     `cmd:"" help:"Run the bot until it is told to end; it finishes what it does and leaves with code 0."`
	Ask     askCmd     `cmd:"" help:"Ask one question and print the answer with its evidence and checks."`
	SQL     sqlCmd     `cmd:"" name:"sql" help:"Run one read-only query on a source, by the guarded path that the model's queries take."`
	Sources sourcesCmd `cmd:"" help:"List the tables and documents of the sources, and what was skipped and why."`
	Runs    runsCmd    `cmd:"" help:"List the runs, newest first, or show one whole."`
	Doctor  doctorCmd  `cmd:"" help:"Check every part that the configuration names."`
}

type executorCLI struct {
	Run executeCmd `cmd:"" help:"Work on runs until told to end; what is unfinished is handed back."`
}

// Bot runs the bot's command line.
func Bot(ctx context.Context, args []string, world IO) int {
	return execute(ctx, "bot", "Plumb answers questions about your team's data in Slack and Discord, and shows its working.", &botCLI{}, args, world)
}

// Executor runs the executor's command line.
func Executor(ctx context.Context, args []string, world IO) int {
	return execute(ctx, "executor", "The work side of Plumb: takes runs from NATS and keeps the ledger.", &executorCLI{}, args, world)
}

func execute(ctx context.Context, name, about string, cli any, args []string, world IO) int {
	left := false
	parser, err := kong.New(cli, kong.Name(name), kong.Description(about), kong.Writers(world.Out, world.Err), kong.Exit(func(int) { left = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		fmt.Fprintln(world.Err, err)
		return failed
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	run, err := parser.Parse(doubled(args))
	switch {
	case left: // --help
		return done
	case err != nil:
		fmt.Fprintf(world.Err, "%s: %s; see %s --help\n", name, err, name)
		return misuse
	}
	err = run.Run(&session{world, ctx})
	if err == nil {
		return done
	}
	if !errors.Is(err, errSaid) {
		fmt.Fprintf(world.Err, "%s: %s\n", name, oneLine(err))
	}
	if _, ok := errors.AsType[usage](err); ok {
		return misuse
	}
	if _, ok := errors.AsType[*app.Wrong](err); ok {
		return misuse
	}
	return failed
}

// errSaid is the error of a command that has said what there is to say.
var errSaid = errors.New("said")

// doubled gives long flags their second dash: -config and --config are the same.
func doubled(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if a == "--" {
			copy(out[i:], args[i:])
			break
		}
		if len(a) > 2 && a[0] == '-' && a[1] != '-' && a[1] >= 'a' && a[1] <= 'z' {
			a = "-" + a
		}
		out[i] = a
	}
	return out
}

func oneLine(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}

// target is the data that a command works on: a configuration file or a folder.
type target struct {
	Config string `help:"The configuration file." placeholder:"FILE"`
	Dir    string `help:"A folder to ask about, as a whole configuration by itself." placeholder:"DIR"`
}

func (t target) load(s *session) (app.Config, error) {
	switch {
	case t.Config != "" && t.Dir != "":
		return app.Config{}, usage{errors.New("give -config FILE or -dir DIR, not both")}
	case t.Dir != "":
		return app.Folder(t.Dir)
	case t.Config != "":
		return app.Load(t.Config, s.Getenv)
	}
	return app.Config{}, usage{errors.New("say what to work on: -config FILE, or -dir DIR for a folder of files")}
}

// logger writes to standard error, in the form that the configuration asks for.
func (s *session) logger(c app.Config) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Log.Level))
	opts := &slog.HandlerOptions{Level: level}
	if c.Log.Format == "text" {
		return slog.New(slog.NewTextHandler(s.Err, opts))
	}
	return slog.New(slog.NewJSONHandler(s.Err, opts))
}

// quiet is the logger of commands whose errors are sentences: only what is wrong is logged.
func (s *session) quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{Level: slog.LevelError}))
}
