//go:build unix

package tables

import (
	"fmt"
	"os"
	"syscall"
)

// nonblock keeps an open from waiting for the other end of a pipe.
const nonblock = syscall.O_NONBLOCK

// device names an open file by its descriptor. DuckDB reads by name, and a name in the folder could have become a link
// to somewhere else since it was looked at; the descriptor cannot.
func device(f *os.File) string { return fmt.Sprintf("/dev/fd/%d", f.Fd()) }
