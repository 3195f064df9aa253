package python

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// harness is the program that runs the program.
//
//go:embed guest.py
var harness string

// maxMessage is the most bytes of one message of a guest: its output with every character escaped, and some more.
const maxMessage = 1 << 20

// A guest is one interpreter.
type guest struct {
	end  context.CancelCauseFunc // closes it, from outside and whatever it does
	gone chan struct{}           // closed when nothing of it runs
	err  error                   // how it went; to be read when it is gone
	in   *io.PipeWriter
	out  *bufio.Reader
	// The clock: time passes by a millisecond a look. Once a program runs there is no date.
	looks int64
	busy  atomic.Bool
	asked atomic.Bool
}

// message is what a guest says: that it is ready, what it asks, or that it is done.
type message struct {
	Ready  bool
	SQL    string
	Source string
	Done   bool
	Output string
	Cut    bool
	Error  string
}

type guestKey struct{}

// start makes a guest and waits until it can take a program. It lives until it is done or ended, or ctx ends.
func (m *machine) start(ctx context.Context) (*guest, error) {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	g := &guest{gone: make(chan struct{}), in: inWrite, out: bufio.NewReaderSize(outRead, 32<<10)}
	ctx, g.end = context.WithCancelCause(context.WithValue(ctx, guestKey{}, g))
	config := wazero.NewModuleConfig().WithName("").WithStdin(inRead).WithStdout(outWrite).
		WithRandSource(rand.NewChaCha8([32]byte{})). // chance is the same each time (D4)
		WithArgs("python", "-I", "-S", "-B", "-c", harness)
	m.guests.Go(func() {
		defer close(g.gone)
		// A guest that waits for a message notices the end by its streams, one that computes by its context.
		stop := context.AfterFunc(ctx, func() {
			inRead.CloseWithError(context.Cause(ctx))
			outWrite.CloseWithError(context.Cause(ctx))
		})
		defer stop()
		mod, err := m.runtime.InstantiateModule(ctx, m.module, config)
		if mod != nil {
			mod.Close(ctx)
		}
		g.err = err
		inRead.Close()
		outWrite.Close()
		g.end(nil)
	})
	hello, err := g.receive()
	if err == nil && !hello.Ready {
		err = errors.New("it did not say that it is ready")
	}
	if err != nil {
		g.end(err)
		<-g.gone
		return nil, fmt.Errorf("the Python interpreter does not start: %w", errors.Join(err, g.err))
	}
	return g, nil
}

// send gives the guest a message.
func (g *guest) send(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = g.in.Write(append(line, '\n'))
	return err
}

// What a guest says that is no message. A program can cause both by writing to the stream itself.
var (
	errTooLong = errors.New("more was written to the interpreter's own stream than fits")
	errNoSense = errors.New("something was written to the interpreter's own stream")
)

// receive waits for the guest's next message.
func (g *guest) receive() (message, error) {
	var line []byte
	for {
		part, err := g.out.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxMessage {
			return message{}, errTooLong
		}
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return message{}, err
		}
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return message{}, errNoSense
	}
	return m, nil
}

// WASI's numbers for what the clock is asked and answers.
const (
	realtime     = 0
	success      = 0
	invalid      = 28
	notSupported = 58
)

// provideWASI gives guests the functions of WASI, which reach nothing unless told to, with a clock of our own: a program
// that asks for today's date gets an error instead of a wrong date.
func provideWASI(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(b)
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(clock),
		[]api.ValueType{api.ValueTypeI32, api.ValueTypeI64, api.ValueTypeI32}, []api.ValueType{api.ValueTypeI32}).Export("clock_time_get")
	_, err := b.Instantiate(ctx)
	return err
}

// clock is clock_time_get(id, precision, result pointer).
func clock(ctx context.Context, mod api.Module, stack []uint64) {
	g := ctx.Value(guestKey{}).(*guest)
	if id := uint32(stack[0]); id == realtime && g.busy.Load() {
		g.asked.Store(true)
		stack[0] = notSupported
		return
	}
	g.looks++
	result := uint64(success)
	if !mod.Memory().WriteUint64Le(uint32(stack[2]), uint64(g.looks)*1e6) {
		result = invalid
	}
	stack[0] = result
}
