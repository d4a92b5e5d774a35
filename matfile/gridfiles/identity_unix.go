//go:build unix

package gridfiles

import (
	"io/fs"
	"syscall"
)

// identity returns the number of a file in its file system, which is the same on all machines that
// share it.
func identity(i fs.FileInfo) uint64 {
	if s, ok := i.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
