package command

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The commands of the scripts are the programs themselves, run inside the test's binary.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bot":      func() { os.Exit(Bot(context.Background(), os.Args[1:], Std())) },
		"executor": func() { os.Exit(Executor(context.Background(), os.Args[1:], Std())) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code}})
}

// code checks the exit code of a command: code N PROGRAM ARGS…
func code(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if e, ok := err.(interface{ ExitCode() int }); ok {
		got = e.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if want := args[0]; want != string(rune('0'+got)) {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}
