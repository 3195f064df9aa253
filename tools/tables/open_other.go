//go:build !unix

package tables

import "os"

// nonblock has no meaning where there are no named pipes in folders.
const nonblock = 0

// device names an open file.
func device(f *os.File) string { return f.Name() }
