package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// stdoutClosed reports whether the process was started with standard output closed. In that case
// Go's runtime has opened /dev/null in its place, for reading and writing; a shell's >/dev/null is
// for writing only. Python's subprocess.DEVNULL and Node's "ignore" look the same as a closed
// output. For programs that Python or Node started the result is false: their output is discarded
// on purpose.
func stdoutClosed() bool {
	var s unix.Stat_t
	flags, err := unix.FcntlInt(1, unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR || unix.Fstat(1, &s) != nil {
		return err != nil
	}
	if s.Mode&unix.S_IFMT != unix.S_IFCHR || s.Rdev != unix.Mkdev(1, 3) {
		return false
	}
	name := filepath.Base(launcher())
	return !strings.HasPrefix(name, "python") && !strings.HasPrefix(name, "node")
}

// launcher returns the program that started this one, or its supervisor; "." if it is unknown.
func launcher() string {
	self, _ := os.Readlink("/proc/self/exe")
	pid := os.Getppid()
	parent, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil || parent != self {
		return parent
	}
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(stat), ") ") // pid (name) state ppid
	if f := strings.Fields(rest); len(f) > 1 {
		parent, _ = os.Readlink("/proc/" + f[1] + "/exe")
	}
	return parent
}
