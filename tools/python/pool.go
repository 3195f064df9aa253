// Package python runs programs of a model in a Python interpreter that can reach nothing: CPython compiled to
// WebAssembly (WASI), with no file, network, environment, process or clock, run in this process by wazero.
//
// Starting an interpreter takes a few hundred milliseconds, so a [Pool] keeps some that have started, imported the usual
// modules and wait for a program. Each runs one program and is thrown away: no program sees what another left behind.
// Chance is seeded, so that the same program on the same data prints the same again.
//
// A program is not trusted, nor is anything in the interpreter once a program runs there. Messages travel as lines of
// JSON over the interpreter's standard streams. A program that finds the stream can write messages of its own, and gains
// nothing: a message asks a query, which [Job.SQL] guards and the pool counts and records, or it ends the program with an
// output, which the program could have printed. The pool alone keeps time, bounds sizes and writes the list of queries.
package python

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
)

// Options of a pool. Only File is needed.
type Options struct {
	File     string        // the interpreter; see [File]
	Cache    string        // folder that keeps the compiled interpreter for the next start
	Warm     int           // interpreters kept ready, 2
	Parallel int           // programs at a time, 4
	Limit    time.Duration // for each program, 60 s
	OnDemand bool          // nothing is loaded before the first program: for a process that may never run one
	Log      *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Warm = max(1, cmp.Or(o.Warm, 2))
	o.Parallel = max(1, cmp.Or(o.Parallel, 4))
	o.Limit = cmp.Or(o.Limit, time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// A Pool runs programs. It is safe for use by many at once.
type Pool struct {
	opts   Options
	ctx    context.Context // ends, with a cause, when the pool can serve no more
	cancel context.CancelCauseFunc
	warm   chan started
	slots  chan struct{}
	wanted chan struct{} // holds something once a program came
	done   sync.WaitGroup
}

// started is an interpreter that waits for its program, or why there is none.
type started struct {
	guest *guest
	err   error
}

// ErrClosed is the error of a pool that was closed.
var ErrClosed = errors.New("the Python interpreters are shut down")

// Open makes a pool. The interpreter is compiled in the background, and programs wait for it. Without an interpreter the
// error is [ErrNoInterpreter]. Close the pool in the end.
func Open(ctx context.Context, opts Options) (*Pool, error) {
	if err := find(opts.File); err != nil {
		return nil, err
	}
	p := &Pool{opts: opts.withDefaults()}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	p.warm = make(chan started)
	p.slots = make(chan struct{}, p.opts.Parallel)
	p.wanted = make(chan struct{}, 1)
	p.done.Go(p.serve)
	return p, nil
}

// Close ends all programs and waits until nothing of the pool runs, but for a compilation, which cannot be interrupted.
func (p *Pool) Close() {
	p.cancel(ErrClosed)
	p.done.Wait()
}

// serve compiles the interpreter, keeps guests ready until the pool ends, and tidies up.
func (p *Pool) serve() {
	if p.opts.OnDemand {
		select {
		case <-p.wanted:
		case <-p.ctx.Done():
			return
		}
	}
	began := time.Now()
	m, err := p.load()
	if err != nil {
		if p.ctx.Err() == nil {
			p.opts.Log.Error("python: the interpreter cannot be loaded", "error", err)
		}
		p.cancel(fmt.Errorf("the Python interpreter cannot be loaded: %w", err))
		return
	}
	defer m.close()
	p.opts.Log.Info("python: compiled", "took", time.Since(began))
	var ready sync.WaitGroup
	// Each of these holds one guest in its hand, so there are as many ready as there are of them.
	for range p.opts.Warm {
		ready.Go(func() { p.refill(m) })
	}
	ready.Wait()
	m.guests.Wait()
}

// load compiles the interpreter, or gives up when the pool ends. The compiler takes seconds and does not listen; nobody
// who closes a program should wait for it, so it is left to finish by itself and its work is dropped.
func (p *Pool) load() (*machine, error) {
	type loaded struct {
		machine *machine
		err     error
	}
	done := make(chan loaded)
	go func() {
		m, err := load(p.ctx, p.opts)
		select {
		case done <- loaded{m, err}:
		case <-p.ctx.Done():
			if m != nil {
				m.close()
			}
		}
	}()
	select {
	case l := <-done:
		return l.machine, l.err
	case <-p.ctx.Done():
		return nil, context.Cause(p.ctx)
	}
}

// refill starts a guest, hands it to whoever needs one, and starts the next. An error is handed over as well, so that
// what is wrong reaches somebody and is not tried again until somebody asks.
func (p *Pool) refill(m *machine) {
	for p.ctx.Err() == nil {
		g, err := m.start(p.ctx)
		select {
		case p.warm <- started{g, err}:
		case <-p.ctx.Done():
		}
	}
}

// machine is the compiled interpreter.
type machine struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	cache   wazero.CompilationCache
	guests  sync.WaitGroup
}

// pages is the most memory of one interpreter, 256 MiB in pages of 64 KiB.
const pages = 256 << 20 >> 16

// load compiles the interpreter, or takes what an earlier process compiled. Debug information is off because reading it
// back from the cache takes ten times as long as reading the code.
func load(ctx context.Context, opts Options) (*machine, error) {
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithDebugInfoEnabled(false).WithMemoryLimitPages(pages)
	m := &machine{}
	if opts.Cache != "" {
		cache, err := wazero.NewCompilationCacheWithDir(opts.Cache)
		if err != nil {
			opts.Log.Warn("python: no cache, every start compiles anew", "error", err)
		} else {
			m.cache, config = cache, config.WithCompilationCache(cache)
		}
	}
	m.runtime = wazero.NewRuntimeWithConfig(context.WithoutCancel(ctx), config)
	err := provideWASI(ctx, m.runtime)
	if err == nil {
		err = m.compile(ctx, opts.File)
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *machine) compile(ctx context.Context, file string) error {
	code, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	m.module, err = m.runtime.CompileModule(ctx, strip(code))
	return err
}

func (m *machine) close() {
	// Closing frees memory of this process only; there is nothing to do about an error.
	m.runtime.Close(context.Background())
	if m.cache != nil {
		m.cache.Close(context.Background())
	}
}
