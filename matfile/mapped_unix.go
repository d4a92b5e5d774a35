//go:build unix

package matfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapsFiles says whether mapped works here.
const mapsFiles = true

// mapped returns the content of a file as memory that the system fills page by page, and a function
// that unmaps it. ok is false if the system cannot map the file.
func mapped(f *os.File, size int64) (text []byte, unmap func(), ok bool) {
	if int64(int(size)) != size {
		return nil, nil, false
	}
	text, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, false
	}
	return text, func() { _ = unix.Munmap(text) }, true
}
