package tables

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Limits of a folder. Its lists of what was skipped end at maxSkipped, because an ignored cache may hold a million files.
const (
	maxDepth   = 8
	maxFiles   = 2000
	maxSkipped = 500
)

// A found file is one that may be loaded.
type found struct {
	file string // slashes, from the folder
	kind string // csv, tsv, json, ndjson, parquet, text
	gzip bool
	size int64
}

// kinds says what an extension holds.
var kinds = map[string]string{
	".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".json": "json", ".ndjson": "ndjson", ".jsonl": "ndjson",
	".parquet": "parquet", ".md": "text", ".markdown": "text", ".txt": "text", ".log": "text",
}

// A listing is a folder at one moment: what may be loaded, what may not, and a digest that changes with any of it.
type listing struct {
	files    []found
	skipped  []Skip
	revision string
}

// scan walks a folder. It opens no file but the list of what to leave out: a pipe in the folder would never end.
func scan(root *os.Root) (listing, error) {
	w := walk{root: root, ignore: readIgnore(root)}
	if err := w.folder(".", 1); err != nil {
		return listing{}, err
	}
	slices.SortFunc(w.files, func(a, b found) int { return cmp.Compare(a.file, b.file) })
	slices.SortFunc(w.skipped, func(a, b Skip) int { return cmp.Compare(a.File, b.File) })
	slices.Sort(w.marks)
	sum := sha256.Sum256([]byte(strings.Join(w.marks, "\n")))
	w.revision = hex.EncodeToString(sum[:8])
	return w.listing, nil
}

type walk struct {
	listing
	root   *os.Root
	ignore ignore
	marks  []string // a line a file: name, size, time of change
}

func (w *walk) folder(dir string, depth int) error {
	entries, err := fs.ReadDir(w.root.FS(), dir)
	if err != nil && dir == "." {
		return err
	}
	if err != nil {
		w.skip(dir, reason(err))
	}
	for _, e := range entries {
		file := path.Join(dir, e.Name())
		if file == ignoreFile {
			w.mark(file, e)
			continue
		}
		if why := w.refuse(file, e); why != "" {
			w.skip(file, why)
			continue
		}
		if !e.IsDir() {
			w.add(file, e)
			continue
		}
		if depth >= maxDepth {
			w.skip(file, fmt.Sprintf("deeper than %d folders", maxDepth))
			continue
		}
		if err := w.folder(file, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// refuse says why an entry is not looked at, if it is not.
func (w *walk) refuse(file string, e fs.DirEntry) string {
	switch {
	case strings.HasPrefix(e.Name(), "."):
		return "hidden"
	case e.Type()&fs.ModeSymlink != 0:
		return "a symbolic link"
	case w.ignore.match(file, e.IsDir()):
		return "left out by " + ignoreFile
	case !e.IsDir() && !e.Type().IsRegular():
		return "not a regular file"
	}
	return ""
}

func (w *walk) add(file string, e fs.DirEntry) {
	info := w.mark(file, e)
	if info == nil {
		w.skip(file, "it cannot be read")
		return
	}
	name, zipped := strings.CutSuffix(strings.ToLower(e.Name()), ".gz")
	kind := kinds[path.Ext(name)]
	switch {
	case kind == "" || zipped && kind == "parquet":
		w.skip(file, "this kind of file is not read")
	case info.Size() == 0:
		w.skip(file, "empty")
	case len(w.files) >= maxFiles:
		w.skip(file, fmt.Sprintf("over the limit of %d files", maxFiles))
	default:
		w.files = append(w.files, found{file: file, kind: kind, gzip: zipped, size: info.Size()})
	}
}

// mark takes a file into the revision.
func (w *walk) mark(file string, e fs.DirEntry) fs.FileInfo {
	info, err := e.Info()
	if err != nil {
		return nil
	}
	w.marks = append(w.marks, fmt.Sprintf("%s\x00%d\x00%d", file, info.Size(), info.ModTime().UnixNano()))
	return info
}

func (w *walk) skip(file, why string) {
	switch n := len(w.skipped); {
	case n < maxSkipped:
		w.skipped = append(w.skipped, Skip{File: file, Reason: why})
	case n == maxSkipped:
		w.skipped = append(w.skipped, Skip{File: "…", Reason: "and others: the list ends here"})
	}
}

func readIgnore(root *os.Root) ignore {
	info, err := root.Lstat(ignoreFile)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := root.Open(ignoreFile)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 64<<10))
	return parseIgnore(string(b))
}

// open opens a file that is one. Between the walk and now it may have become a pipe, which an ordinary open would wait
// on for ever.
func open(root *os.Root, file string) (*os.File, error) {
	f, err := root.OpenFile(file, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// reason is why a file could not be read, without its path: the list that shows it names the file.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read it"
	case errors.Is(err, fs.ErrNotExist):
		return "it is gone"
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return "it cannot be read: " + pe.Err.Error()
	}
	return err.Error()
}
