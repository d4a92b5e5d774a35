//go:build (amd64 || arm64) && !nompi

package mpi

import (
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/ebitengine/purego"
)

// names are the file names of the library in the standard.
var names = []string{"libmpi_abi.so.1", "libmpi_abi.so"}

// open loads the library at its first call.
var open = sync.OnceValues(func() (*library, error) {
	// UCX, which the library may use, would handle the signals of faults, and SIGHUP to begin a
	// log. Go must handle all of them.
	for name, value := range map[string]string{"UCX_ERROR_SIGNALS": "", "UCX_HANDLE_ERRORS": "none", "UCX_DEBUG_SIGNO": "0"} {
		if _, set := os.LookupEnv(name); !set {
			if err := os.Setenv(name, value); err != nil {
				return nil, err
			}
		}
	}
	var first error
	for _, file := range candidates() {
		handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		invoke := func(addr uintptr, args ...uintptr) int32 {
			r, _, _ := purego.SyscallN(addr, args...)
			return int32(r)
		}
		return newLibrary(invoke, func(symbol string) (uintptr, error) { return purego.Dlsym(handle, symbol) })
	}
	return nil, fmt.Errorf("%w (%w); %s", ErrNoMPI, first, Install)
})

// candidates returns the files that may be the library. If an MPI is installed apart from the
// system, its lib folder is beside the bin folder of its mpiexec: the mpiexec that started this
// process, or the first one in the path. The last candidates are the names for the loader's own
// search.
func candidates() (files []string) {
	var programs []string
	for _, exe := range ancestors() {
		programs = append(programs, exe)
	}
	if exe, err := exec.LookPath("mpiexec"); err == nil {
		if exe, err = filepath.EvalSymlinks(exe); err == nil {
			programs = append(programs, exe)
		}
	}
	for _, exe := range programs {
		for _, name := range names {
			file := filepath.Join(filepath.Dir(exe), "..", "lib", name)
			if _, err := os.Stat(file); err == nil {
				files = append(files, file)
			}
		}
	}
	return append(files, names...)
}

// ancestors yields the process numbers and the programs of this process's parent, its parent and so
// on.
func ancestors() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for pid, depth := os.Getppid(), 0; pid > 1 && depth < 4; depth++ {
			if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && !yield(pid, exe) {
				return
			}
			pid = parent(pid)
		}
	}
}

// missing reports whether MPICH's mpiexec has fewer processes on this machine than it declares to
// have started there.
func missing() bool {
	started, err := strconv.Atoi(os.Getenv("MPI_LOCALNRANKS"))
	if err != nil {
		return false
	}
	for pid, exe := range ancestors() {
		if filepath.Base(exe) != "hydra_pmi_proxy" {
			continue
		}
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		there := 0
		for _, file := range threads {
			text, err := os.ReadFile(file)
			if err != nil {
				return false
			}
			there += len(strings.Fields(string(text)))
		}
		return err == nil && threads != nil && there < started
	}
	return false
}

// parent returns the parent of a process, 0 if it is unknown.
func parent(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // pid (name) state ppid
	if f := strings.Fields(rest); len(f) > 1 {
		n, _ := strconv.Atoi(f[1])
		return n
	}
	return 0
}
