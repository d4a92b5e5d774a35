package files

import (
	"io/fs"
	"syscall"
)

// inode is the system's record of a file besides its size and modification time, which programs may
// set.
type inode struct{ *syscall.Stat_t }

func inodeOf(i fs.FileInfo) inode {
	s, _ := i.Sys().(*syscall.Stat_t)
	return inode{s}
}

// same compares the times at which inodes changed. A file that another one replaces under its name
// loses a link and keeps its content.
func (a inode) same(b inode) bool {
	return a.Stat_t == nil || b.Stat_t == nil || a.Nlink != b.Nlink || a.Ctim == b.Ctim
}
