package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// stdoutClosed reports whether the process was started with standard output closed. Go's runtime
// has opened /dev/null in its place then, for reading and writing; a shell's >/dev/null is for
// writing alone. Python's subprocess.DEVNULL and Node's "ignore" cannot be told from it: children of
// these discard their output on purpose.
func stdoutClosed() bool {
	var s unix.Stat_t
	flags, err := unix.FcntlInt(1, unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR || unix.Fstat(1, &s) != nil {
		return err != nil
	}
	if s.Mode&unix.S_IFMT != unix.S_IFCHR || s.Rdev != unix.Mkdev(1, 3) {
		return false
	}
	parent, err := os.Readlink("/proc/" + strconv.Itoa(os.Getppid()) + "/exe")
	name := filepath.Base(parent)
	return err != nil || !strings.HasPrefix(name, "python") && !strings.HasPrefix(name, "node")
}
