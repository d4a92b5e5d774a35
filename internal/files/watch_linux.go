package files

import (
	"io/fs"
	"syscall"
)

// inode is what the system notes of a file besides its size and time of change, which programs may
// set.
type inode struct {
	changed syscall.Timespec
	links   uint64
}

func inodeOf(i fs.FileInfo) inode {
	s, ok := i.Sys().(*syscall.Stat_t)
	if !ok {
		return inode{}
	}
	return inode{s.Ctim, uint64(s.Nlink)}
}

// same compares the times at which inodes changed. A file that another one replaces under its name
// loses a link and keeps its content.
func (a inode) same(b inode) bool { return a.links != b.links || a.changed == b.changed }
