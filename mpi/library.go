package mpi

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// ErrNoMPI is wrapped by errors about machines without an MPI that the package can use.
var ErrNoMPI = errors.New("no MPI with the standard binary interface")

// Install tells a user how to install a suitable MPI.
const Install = `install MPICH 5.0 or later ("pip install mpich" has it), and start the program by its mpiexec`

// Handles and constants of the standard binary interface, mpi_abi.h.
const (
	commWorld    = 0x101
	commSelf     = 0x102
	commNull     = 0x100
	errorsReturn = 0x143

	typeByte  = 0x247
	typeInt64 = 0x258

	inPlace          = 1
	undefined        = -32766
	anySource        = -1
	threadSerialized = 2048

	maxErrorString   = 512
	maxLibraryString = 8192
)

// An Op is an operation that combines integers.
type Op uintptr

// The operations: sums wrap modulo 2^64.
const (
	Sum Op = 0x21
	Min Op = 0x22
	Max Op = 0x23
)

// status is MPI_Status.
type status struct {
	source, tag, error int32
	internal           [5]int32
}

// An Error is a failure of the MPI library.
type Error struct {
	Call string // as MPI_Bcast
	Code int
	Text string // of the library
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (MPI error %d)", e.Call, e.Text, e.Code) }

// call is a function of the library.
type call struct {
	name string
	addr uintptr
}

// library is the MPI library. The standard lets one thread at a time call it
// (MPI_THREAD_SERIALIZED).
type library struct {
	mu     sync.Mutex
	invoke func(addr uintptr, args ...uintptr) int32

	initThread, finalize, abort, exit                     call
	commRank, commSize, commSplit, commFree, errorHandler call
	errorString, libraryVersion, test                     call
	bcast, allreduce, allgatherv, gatherv, scatterv       call
	alltoallv, send, receive, barrier, probe              call
}

// newLibrary looks up all functions of the library.
func newLibrary(invoke func(addr uintptr, args ...uintptr) int32, lookup func(symbol string) (uintptr, error)) (*library, error) {
	l := &library{invoke: invoke}
	for _, f := range []struct {
		to     *call
		symbol string
	}{
		{&l.initThread, "MPI_Init_thread"},
		{&l.finalize, "MPI_Finalize"},
		{&l.abort, "MPI_Abort"},
		{&l.exit, "exit"},
		{&l.commRank, "MPI_Comm_rank"},
		{&l.commSize, "MPI_Comm_size"},
		{&l.commSplit, "MPI_Comm_split"},
		{&l.commFree, "MPI_Comm_free"},
		{&l.errorHandler, "MPI_Comm_set_errhandler"},
		{&l.errorString, "MPI_Error_string"},
		{&l.libraryVersion, "MPI_Get_library_version"},
		{&l.test, "MPI_Test"},
		{&l.bcast, "MPI_Ibcast_c"},
		{&l.allreduce, "MPI_Iallreduce_c"},
		{&l.allgatherv, "MPI_Iallgatherv_c"},
		{&l.gatherv, "MPI_Igatherv_c"},
		{&l.scatterv, "MPI_Iscatterv_c"},
		{&l.alltoallv, "MPI_Ialltoallv_c"},
		{&l.send, "MPI_Isend_c"},
		{&l.receive, "MPI_Irecv_c"},
		{&l.barrier, "MPI_Ibarrier"},
		{&l.probe, "MPI_Iprobe"},
	} {
		addr, err := lookup(f.symbol)
		if err != nil || addr == 0 {
			return nil, fmt.Errorf("%w: the library has no %s; %s", ErrNoMPI, f.symbol, Install)
		}
		*f.to = call{f.symbol, addr}
	}
	return l, nil
}

// absence is the time for which processes must be missing before the others stop waiting for them.
const absence = 2 * time.Second

// join calls MPI_Init_thread, which waits for all processes, even for processes that ended before
// they called it. (MPICH's mpiexec ends the others only if the ended process had called it.) join
// returns an error if a process has ended; the call of MPI_Init_thread goes on then.
func (l *library) join(provided *int32) error {
	done := make(chan error, 1)
	go func() { done <- l.do(l.initThread, 0, 0, threadSerialized, uintptr(unsafe.Pointer(provided))) }()
	const looks = 8
	look := time.NewTicker(absence / looks)
	defer look.Stop()
	for absent := 0; ; {
		select {
		case err := <-done:
			return err
		case <-look.C:
		}
		// Looks are counted instead of time, as this process may be stopped for long between two
		// looks.
		if absent++; !missing() {
			absent = 0
		} else if absent > looks {
			return errors.New("another process that mpiexec started has ended before it joined the others")
		}
	}
}

// do makes a call. Pointers converted to uintptr in its argument list stay valid until it returns.
//
//go:uintptrescapes
func (l *library) do(c call, args ...uintptr) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure(c, l.invoke(c.addr, args...))
}

// failure returns the error for code, the result of a call, or nil for success. The caller holds
// the lock.
func (l *library) failure(c call, code int32) error {
	if code == 0 {
		return nil
	}
	text, n := make([]byte, maxErrorString), new(int32)
	if l.invoke(l.errorString.addr, uintptr(code), uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(n))) != 0 {
		text, *n = []byte("unknown error"), 13
	}
	runtime.KeepAlive(text)
	return &Error{Call: c.said(), Code: int(code), Text: lastWords(string(text[:*n]))}
}

// said returns the name of a call for messages: the standard's name of the blocking operation.
func (c call) said() string {
	name := strings.TrimSuffix(c.name, "_c")
	if rest, ok := strings.CutPrefix(name, "MPI_I"); ok && rest != "nit_thread" {
		name = "MPI_" + strings.ToUpper(rest[:1]) + rest[1:]
	}
	return name
}

// lastWords returns the last line of an error's text, which is the most specific. The lines before
// it list the calls inside the library.
func lastWords(text string) string {
	lines := strings.Split(strings.TrimSpace(strings.TrimRight(text, "\x00")), "\n")
	last := lines[len(lines)-1]
	if _, words, ok := strings.Cut(last, "): "); ok && len(lines) > 1 {
		last = words
	}
	return last
}

// version returns the name and version that the library reports, in one line.
func (l *library) version() string {
	text, n := make([]byte, maxLibraryString), new(int32)
	if err := l.do(l.libraryVersion, uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(n))); err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(text[:*n]), "\n")
	return strings.Join(strings.Fields(strings.Trim(line, "\x00")), " ")
}
