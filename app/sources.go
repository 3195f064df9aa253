package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"plumb/access"
	"plumb/loop"
	"plumb/tools"
	"plumb/tools/ops"
	"plumb/tools/python"
	"plumb/tools/tables"
)

// workshop holds the sources, open.
type workshop struct {
	log     *slog.Logger
	temp    string
	files   []*tables.Files
	metrics []*ops.Prometheus
	python  *python.Pool // nil where there is no interpreter

	mu     sync.Mutex
	looked time.Time // when the folders were last looked through for changes
}

// openWorkshop opens what the configuration names. A source of a kind that this version cannot read is said and left out.
func openWorkshop(ctx context.Context, c Config, log *slog.Logger) (*workshop, error) {
	w := &workshop{log: log, temp: filepath.Join(c.DataDir, "tmp"), looked: time.Now()}
	if err := os.RemoveAll(w.temp); err != nil { // what a process that was killed has left
		return nil, err
	}
	if err := os.MkdirAll(w.temp, 0o755); err != nil {
		return nil, fmt.Errorf("data_dir cannot be written: %w", err)
	}
	for _, s := range c.Sources {
		if err := w.open(ctx, s); err != nil {
			return nil, errors.Join(fmt.Errorf("the source %s: %w", s.Name, err), w.close())
		}
	}
	return w, w.openPython(ctx, c)
}

// open opens one source.
func (w *workshop) open(ctx context.Context, s Source) error {
	switch s.Kind {
	case "files":
		f, err := tables.Open(ctx, s.Name, s.Path, tables.Options{Temp: w.temp, Log: w.log})
		if err != nil {
			return err
		}
		w.files = append(w.files, f)
	case "prometheus":
		p, err := ops.OpenPrometheus(s.Name, s.URL, nil)
		if err != nil {
			return err
		}
		w.metrics = append(w.metrics, p)
	default:
		w.log.Warn("a source is left out: this version cannot read its kind", "source", s.Name, "kind", s.Kind)
	}
	return nil
}

// openPython makes run_python possible, if the interpreter's file is there. A question at the terminal loads it only when
// it is needed; the bot compiles it in the background. The pool outlives ctx: runs may still use it while they drain.
func (w *workshop) openPython(ctx context.Context, c Config) error {
	pool, err := python.Open(context.WithoutCancel(ctx), python.Options{File: python.File(os.Getenv), Cache: c.pythonCache(), OnDemand: c.oneQuestion, Log: w.log})
	if errors.Is(err, python.ErrNoInterpreter) {
		w.log.Info("run_python is not offered", "why", err)
		return nil
	}
	if err != nil {
		return errors.Join(err, w.close())
	}
	w.python = pool
	return nil
}

// pythonCache is where the compiled interpreter is kept for the next start.
func (c Config) pythonCache() string {
	if dir, err := os.UserCacheDir(); err == nil && c.oneQuestion {
		return filepath.Join(dir, "plumb", "python")
	}
	return filepath.Join(c.DataDir, "python")
}

func (w *workshop) close() error {
	if w.python != nil {
		w.python.Close()
	}
	for _, f := range w.files {
		f.Close()
	}
	return os.RemoveAll(w.temp)
}

// toolset is what a grant allows to use, as the sources are now.
func (w *workshop) toolset(g access.Grant) loop.Toolset { return w.set(g.May) }

func (w *workshop) set(may func(source string) bool) *tools.Set {
	w.refresh()
	var sources []tools.Source
	for _, f := range w.files {
		if may(f.Catalog().Name) {
			sources = append(sources, f)
		}
	}
	var more []tools.Tool
	var metrics []tools.Metrics
	for _, p := range w.metrics {
		if may(p.Name()) {
			metrics = append(metrics, p)
		}
	}
	if len(metrics) > 0 {
		more = append(more, tools.QueryMetrics(metrics))
	}
	if w.python != nil && len(sources) > 0 {
		more = append(more, tools.RunPython(w.python, sources))
	}
	return tools.New(sources, more...)
}

// freshness is how long the sources may have changed without a look.
const freshness = 2 * time.Second

// refresh takes in what has changed in the folders. One that cannot be read keeps what it had, which its as-of tells.
func (w *workshop) refresh() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.looked) < freshness {
		return
	}
	for _, f := range w.files {
		if _, err := f.Refresh(context.Background()); err != nil {
			w.log.Warn("a source cannot be looked through again", "source", f.Catalog().Name, "error", err)
		}
	}
	w.looked = time.Now()
}

// Catalogs lists what the sources that may be seen hold.
func Catalogs(ctx context.Context, c Config, may func(source string) bool, log *slog.Logger) ([]tables.Catalog, error) {
	out := []tables.Catalog{}
	err := withWorkshop(ctx, c, log, func(w *workshop) error {
		for _, f := range w.files {
			if may(f.Catalog().Name) {
				out = append(out, f.Catalog())
			}
		}
		return nil
	})
	return out, err
}

// SQL runs a query on a source, by the guarded path of run_sql.
func SQL(ctx context.Context, c Config, source, sql string, log *slog.Logger) (rows tables.Rows, took time.Duration, err error) {
	err = withWorkshop(ctx, c, log, func(w *workshop) error {
		f, err := w.pick(source)
		if err != nil {
			return err
		}
		began := time.Now()
		rows, err = f.Query(ctx, sql)
		took = time.Since(began)
		return err
	})
	return rows, took, err
}

// pick finds a source by its name, or the only one.
func (w *workshop) pick(name string) (*tables.Files, error) {
	var names []string
	for _, f := range w.files {
		if f.Catalog().Name == name || name == "" && len(w.files) == 1 {
			return f, nil
		}
		names = append(names, f.Catalog().Name)
	}
	if name == "" {
		return nil, fmt.Errorf("say which source with -source: there are %v", names)
	}
	return nil, fmt.Errorf("there is no source %s: there are %v", name, names)
}

// withWorkshop opens the sources for one command, with a temporary folder for what the database spills.
func withWorkshop(ctx context.Context, c Config, log *slog.Logger, f func(*workshop) error) error {
	temp, err := os.MkdirTemp("", "plumb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	c.DataDir, c.oneQuestion = temp, true
	w, err := openWorkshop(ctx, c, log)
	if err != nil {
		return err
	}
	return errors.Join(f(w), w.close())
}
