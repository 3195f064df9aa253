package python

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/sys"
)

// The bounds of a program, besides its time.
const (
	MaxCode    = 64 << 10 // bytes
	MaxOutput  = 64 << 10 // bytes
	MaxQueries = 100
)

// A Job is a program with what it is given.
type Job struct {
	Code string
	// Inputs are the values of names that the program finds, and of the dict `inputs`: each a [Table], which the program
	// gets as a list of dicts, or a string.
	Inputs map[string]any
	// SQL answers the program's calls of sql(query, source). What is wrong with the query is the program's to read, an
	// error ends the run. Without it there is no data to ask.
	SQL func(ctx context.Context, query, source string) (t Table, wrong string, err error)
}

// A Table is rows with names for their columns. Cells are nil, bool, numbers or text.
type Table struct {
	Columns   []string `json:"columns"`
	Rows      [][]any  `json:"rows"`
	Truncated bool     `json:"-"` // there are more rows
}

// A Result is what became of a program.
type Result struct {
	Output  string
	Cut     bool   // Output is only the beginning
	Error   string // what went wrong, for who wrote the program; Output is what came before
	Queries []Query
}

// A Query is one call of sql() and what it gave.
type Query struct {
	SQL       string
	Source    string
	Rows      int
	Truncated bool
	Error     string
}

// errLimit ends a program that takes too long.
var errLimit = errors.New("the time is over")

// Run runs a program in an interpreter of its own. What is wrong with the program, or was too much of it, is in the
// result; an error is the end of ctx or of the pool, or what [Job.SQL] gave.
func (p *Pool) Run(ctx context.Context, job Job) (Result, error) {
	if len(job.Code) > MaxCode {
		return Result{Error: fmt.Sprintf("the program has %d bytes, %d are allowed", len(job.Code), MaxCode)}, nil
	}
	select {
	case p.wanted <- struct{}{}:
	default:
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	case <-p.ctx.Done():
		return Result{}, context.Cause(p.ctx)
	}
	g, err := p.take(ctx)
	if err != nil {
		return Result{}, err
	}
	limited, stop := context.WithTimeoutCause(ctx, p.opts.Limit, errLimit)
	defer stop()
	release := context.AfterFunc(limited, func() { g.end(context.Cause(limited)) })
	defer release()
	defer g.end(nil)
	t := talk{guest: g, job: job}
	if err = t.run(limited); err == nil {
		return t.result, nil
	}
	g.end(err)
	<-g.gone
	switch {
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	case p.ctx.Err() != nil:
		return Result{}, context.Cause(p.ctx)
	case limited.Err() != nil:
		t.result.Error = fmt.Sprintf("the program was ended after %v; do less, or let sql() do it", p.opts.Limit)
		return t.result, nil
	case t.broken:
		return Result{}, err
	}
	t.result.Error = ending(err, g.err)
	return t.result, nil
}

// take waits for a guest that is ready.
func (p *Pool) take(ctx context.Context) (*guest, error) {
	select {
	case s := <-p.warm:
		return s.guest, s.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-p.ctx.Done():
		return nil, context.Cause(p.ctx)
	}
}

// talk is the exchange with one guest about one program.
type talk struct {
	guest  *guest
	job    Job
	result Result
	broken bool // the error is ours, not the program's
}

// run hands the program over and answers until it is done.
func (t *talk) run(ctx context.Context) error {
	inputs := t.job.Inputs
	if inputs == nil {
		inputs = map[string]any{}
	}
	t.guest.busy.Store(true)
	if err := t.guest.send(map[string]any{"code": t.job.Code, "inputs": inputs}); err != nil {
		t.broken = true
		return fmt.Errorf("the program could not be handed over: %w", err)
	}
	for {
		m, err := t.guest.receive()
		switch {
		case err != nil:
			return err
		case m.Done:
			t.finish(m)
			return nil
		}
		if err := t.answer(ctx, m); err != nil {
			return err
		}
	}
}

// answer answers one query, and writes it down.
func (t *talk) answer(ctx context.Context, m message) error {
	if len(t.result.Queries) >= MaxQueries {
		return t.guest.send(map[string]string{"error": fmt.Sprintf("a program may ask %d queries; ask for more rows at once", MaxQueries)})
	}
	var table Table
	wrong := "there are no tables to ask here"
	if t.job.SQL != nil {
		var err error
		if table, wrong, err = t.job.SQL(ctx, m.SQL, m.Source); err != nil {
			t.broken = true
			return err
		}
	}
	t.result.Queries = append(t.result.Queries, Query{m.SQL, m.Source, len(table.Rows), table.Truncated, wrong})
	if wrong != "" {
		return t.guest.send(map[string]string{"error": wrong})
	}
	return t.guest.send(map[string]any{"table": table})
}

// finish takes the guest's last word, within bounds.
func (t *talk) finish(m message) {
	t.result.Output, t.result.Cut, t.result.Error = m.Output, m.Cut, m.Error
	if len(m.Output) > MaxOutput {
		t.result.Output, t.result.Cut = strings.ToValidUTF8(m.Output[:MaxOutput], ""), true
	}
	if len(m.Error) > MaxOutput {
		t.result.Error = strings.ToValidUTF8(m.Error[:MaxOutput], "")
	}
	// Some of Python's functions take the missing clock for the year 1970, so asking is an error whatever came of it.
	if t.guest.asked.Load() {
		t.result.Error = strings.TrimSpace(t.result.Error + "\nThere is no clock here: write the date or time that you mean.")
	}
}

// ending says in a sentence why a guest stopped before it was done.
func ending(err, died error) string {
	if errors.Is(err, errTooLong) || errors.Is(err, errNoSense) {
		return err.Error() + "; print() is the way to say something"
	}
	if exit, ok := errors.AsType[*sys.ExitError](died); ok {
		return fmt.Sprintf("the program ended the interpreter (exit code %d) before it was done", exit.ExitCode())
	}
	if died != nil {
		first, _, _ := strings.Cut(died.Error(), "\n")
		return "the interpreter broke down under the program, by too deep a recursion or too much data: " + first
	}
	return "the program closed the interpreter's stream before it was done"
}
