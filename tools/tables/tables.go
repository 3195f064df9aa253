package tables

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options are the limits of a source's engine. The zero value is usable.
type Options struct {
	Temp     string // a folder for what does not fit into memory; the system's when empty
	MemoryMB int
	Threads  int
	Log      *slog.Logger
}

// Files is a folder as a source. It is safe for use by many goroutines.
type Files struct {
	name, dir string
	opt       Options

	refresh sync.Mutex // one load at a time
	mu      sync.Mutex
	now     *snapshot      // nil once closed
	open    sync.WaitGroup // of snapshots
}

// ErrClosed is the error of a source that was closed.
var ErrClosed = errors.New("the source is closed")

// Open loads a folder. An empty one is a valid source with nothing in it.
func Open(ctx context.Context, name, dir string, opt Options) (*Files, error) {
	if opt.Temp == "" {
		opt.Temp = os.TempDir()
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	f := &Files{name: name, dir: dir, opt: opt}
	if _, err := f.Refresh(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// Catalog is what the source holds now.
func (f *Files) Catalog() Catalog {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now == nil {
		return Catalog{Name: f.name, Kind: "files"}
	}
	return f.now.catalog
}

// Refresh looks at the folder again and loads it when anything in it changed. Looking costs a walk, no file is read.
// When loading fails, what was loaded before stays.
func (f *Files) Refresh(ctx context.Context) (changed bool, err error) {
	f.refresh.Lock()
	defer f.refresh.Unlock()
	root, err := f.root()
	if err != nil {
		return false, err
	}
	defer root.Close()
	found, err := scan(root)
	if err != nil {
		return false, f.unreadable(err)
	}
	f.mu.Lock()
	same := f.now != nil && f.now.catalog.Revision == found.revision
	f.mu.Unlock()
	if same {
		return false, nil
	}
	began := time.Now()
	s, err := load(ctx, f.name, root, found, f.opt)
	if err != nil {
		return false, fmt.Errorf("load the source %s: %w", f.name, err)
	}
	f.opt.Log.InfoContext(ctx, "source loaded", "source", f.name, "revision", found.revision, "tables", len(s.catalog.Tables),
		"documents", len(s.catalog.Documents), "skipped", len(s.catalog.Skipped), "ms", time.Since(began).Milliseconds())
	f.swap(s)
	return true, nil
}

func (f *Files) root() (*os.Root, error) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, f.unreadable(err)
	}
	return root, nil
}

// unreadable is the sentence about a folder that cannot be used.
func (f *Files) unreadable(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the folder %s of the source %s does not exist: %w", f.dir, f.name, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the folder %s of the source %s may not be read; give this program permission to: %w", f.dir, f.name, err)
	}
	return fmt.Errorf("the folder %s of the source %s cannot be read: %w", f.dir, f.name, err)
}

// swap puts a snapshot in the place of the one before, which ends with its last query.
func (f *Files) swap(s *snapshot) {
	f.open.Add(1)
	s.closed = f.open.Done
	f.mu.Lock()
	old := f.now
	f.now = s
	f.mu.Unlock()
	if old != nil {
		old.release()
	}
}

// acquire holds the present snapshot for a query.
func (f *Files) acquire() (*snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now == nil {
		return nil, ErrClosed
	}
	f.now.hold()
	return f.now, nil
}

// Close closes the source after the queries under way.
func (f *Files) Close() {
	f.refresh.Lock()
	defer f.refresh.Unlock()
	f.mu.Lock()
	old := f.now
	f.now = nil
	f.mu.Unlock()
	if old != nil {
		old.release()
	}
	f.open.Wait()
}

// Document opens the text of a document of the catalog, by its file.
func (f *Files) Document(file string) (io.ReadCloser, error) {
	cat := f.Catalog()
	if !slices.ContainsFunc(cat.Documents, func(d Document) bool { return d.File == file }) {
		return nil, fmt.Errorf("the source %s has no document %s", f.name, file)
	}
	root, err := f.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	in, err := open(root, file)
	if err != nil {
		return nil, fmt.Errorf("the document %s of %s: %s", file, f.name, reason(err))
	}
	r, err := unzip(in, strings.HasSuffix(strings.ToLower(file), ".gz"))
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("the document %s of %s: %w", file, f.name, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{r, in}, nil
}

// nonce is a name that nobody else has.
func nonce() string {
	b := make([]byte, 8)
	rand.Read(b)
	return hex.EncodeToString(b)
}
