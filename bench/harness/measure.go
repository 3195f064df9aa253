package harness

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Figure is what a number of runs took.
type Figure struct {
	Peer    string  `json:"peer"`
	Runs    int     `json:"runs"`
	Seconds float64 `json:"seconds"`
	PerS    float64 `json:"runs_per_s"`
	CPU     float64 `json:"cpu_ms_per_run"` // of this process
	Machine float64 `json:"machine_cpu_ms_per_run,omitempty"`
	RSS     float64 `json:"rss_peak_mb"`
	KBRun   float64 `json:"kb_per_run"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
}

// Measure runs something n times, side at a time, after some warming up.
func Measure(peer string, n, side, warm int, run func(context.Context) error) (Figure, error) {
	if _, err := pool(warm, min(side, 8), run); err != nil {
		return Figure{}, err
	}
	debug.FreeOSMemory()
	idle := memory("VmRSS")
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the peak starts anew
	began, cpu, machine := time.Now(), CPU(), Machine()
	took, err := pool(n, side, run)
	if err != nil {
		return Figure{}, err
	}
	s := time.Since(began).Seconds()
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(n) }
	at := func(p float64) float64 { return float64(took[int(float64(len(took)-1)*p)].Microseconds()) / 1000 }
	peak := memory("VmHWM")
	return Figure{Peer: peer, Runs: n, Seconds: s, PerS: float64(n) / s, CPU: ms(CPU() - cpu), Machine: ms(Machine() - machine), RSS: peak,
		KBRun: (peak - idle) * 1024 / float64(side), P50: at(.5), P99: at(.99)}, nil
}

func pool(n, side int, run func(context.Context) error) ([]time.Duration, error) {
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	var took []time.Duration
	var failed error
	for range min(side, n) {
		wg.Go(func() {
			for next.Add(1) <= int64(n) {
				began := time.Now()
				err := run(context.Background())
				mu.Lock()
				took = append(took, time.Since(began))
				if err != nil && failed == nil {
					failed = err
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(took)
	return took, failed
}

// CPU is what this process has used.
func CPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Machine is what all processes have used, on machines that tell; else zero.
func Machine() time.Duration {
	b, _ := os.ReadFile("/proc/stat")
	line, _, _ := bytes.Cut(b, []byte("\n"))
	var busy int
	for i, f := range bytes.Fields(line) {
		if n, err := strconv.Atoi(string(f)); err == nil && i != 4 && i != 5 && i < 8 { // all but idle and waiting
			busy += n
		}
	}
	return time.Duration(busy) * 10 * time.Millisecond
}

func memory(key string) float64 {
	b, _ := os.ReadFile("/proc/self/status")
	for line := range bytes.Lines(b) {
		if f := bytes.Fields(line); len(f) > 1 && string(f[0]) == key+":" {
			kb, _ := strconv.ParseFloat(string(f[1]), 64)
			return kb / 1024
		}
	}
	return 0
}

// String is the figure for people.
func (f Figure) String() string {
	return fmt.Sprintf("%-22s %6d runs  %7.0f/s  %6.2f CPU-ms  p50 %6.1f ms  p99 %7.1f ms", f.Peer, f.Runs, f.PerS, f.CPU, f.P50, f.P99)
}
