//go:build unix

package gridfiles

import (
	"io/fs"
	"syscall"
)

// identity returns the inode number of a file. Machines that share a file system see the same
// number.
func identity(i fs.FileInfo) uint64 {
	if s, ok := i.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
