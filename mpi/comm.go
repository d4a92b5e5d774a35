package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// A Comm is a communicator: processes numbered 0 to Size()-1 that work together. It may be used by
// several goroutines, not by two at a time.
type Comm struct {
	lib        *library
	handle     uintptr
	rank, size int
	left       atomic.Bool // a process has, as far as is known here
}

// Launched reports whether an mpiexec, or a batch system in its place, started this process.
func Launched() bool {
	_, ok := launchedAs()
	return ok
}

// LaunchedFirst reports whether Launched does, as process 0: before Init.
func LaunchedFirst() bool {
	rank, ok := launchedAs()
	return ok && rank == "0"
}

// launchedAs returns the number that this process was given.
func launchedAs() (rank string, ok bool) {
	for _, name := range []string{"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"} {
		if rank, ok = os.LookupEnv(name); ok {
			return rank, true
		}
	}
	return "", false
}

// world is the communicator of all processes, once initialised.
var world = sync.OnceValues(func() (*Comm, error) {
	l, err := open()
	if err != nil {
		return nil, err
	}
	provided := new(int32)
	if err := l.join(provided); err != nil {
		return nil, err
	}
	if *provided < threadSerialized {
		return nil, fmt.Errorf("%w: %s lets but the thread that loaded it call it", ErrNoMPI, l.version())
	}
	for _, comm := range []uintptr{commWorld, commSelf} {
		if err := l.do(l.errorHandler, comm, errorsReturn); err != nil {
			return nil, err
		}
	}
	c, err := newComm(l, commWorld)
	if err != nil {
		return nil, err
	}
	return c.Split(0, c.rank) // MPI_Finalize complains of messages that world has when it is left
})

// Init joins the processes that mpiexec started together with this one, and returns the
// communicator of all of them; it is the same at every call. A process that was not started so is
// alone. All processes call it. The error wraps [ErrNoMPI] where there is no library. On Linux, by
// MPICH's mpiexec, it is an error as well if a process of this machine has ended without calling
// Init, and that of a process that does not wait for others makes mpiexec end them.
func Init() (*Comm, error) { return world() }

// Exit ends what Init began and then this process, with an exit status, and does not return. All
// processes call it at their ends: to mpiexec a process that just ends has failed, for C programs
// take their leave of it in handlers of C's exit, which Go does not run.
func Exit(code int) {
	if c, err := world(); err == nil {
		if err := c.lib.do(c.lib.finalize); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		_ = c.lib.do(c.lib.exit, uintptr(code))
	}
	os.Exit(code)
}

func newComm(l *library, handle uintptr) (*Comm, error) {
	rank, size := new(int32), new(int32)
	if err := errors.Join(
		l.do(l.commRank, handle, uintptr(unsafe.Pointer(rank))),
		l.do(l.commSize, handle, uintptr(unsafe.Pointer(size)))); err != nil {
		return nil, err
	}
	return &Comm{lib: l, handle: handle, rank: int(*rank), size: int(*size)}, nil
}

// Rank is the number of this process.
func (c *Comm) Rank() int { return c.rank }

// Size is the number of processes.
func (c *Comm) Size() int { return c.size }

// Version is what the library calls itself.
func (c *Comm) Version() string { return c.lib.version() }

// Split returns the communicator of the processes that call it with the same color, in the order
// of their keys, then of their ranks; nil where color is negative.
func (c *Comm) Split(color, key int) (*Comm, error) {
	if color < 0 {
		color = undefined
	}
	if c.left.Load() {
		return nil, ErrLeft
	}
	handle := new(uintptr)
	if err := c.lib.do(c.lib.commSplit, c.handle, uintptr(color), uintptr(key), uintptr(unsafe.Pointer(handle))); err != nil {
		return nil, err
	}
	if *handle == commNull {
		return nil, nil
	}
	return newComm(c.lib, *handle)
}

// Free gives a communicator back that Split made. All its processes call it.
func (c *Comm) Free() error {
	if c.left.Load() {
		return ErrLeft
	}
	handle := new(uintptr)
	*handle = c.handle
	return c.lib.do(c.lib.commFree, uintptr(unsafe.Pointer(handle)))
}

// Abort ends all processes, this one too, with an exit status. It does not return.
func (c *Comm) Abort(code int) {
	// Of part of the processes MPICH kills the others, and the status is theirs.
	_ = c.lib.do(c.lib.abort, commWorld, uintptr(code))
	os.Exit(code)
}

// A request is an operation that goes on. What the library has pointers to is in it, or in the
// slices: it lives on the heap.
type request struct {
	handle  uintptr
	flag    int32
	st      status
	buffers [2][]byte
	ints    [2][]int64
	counts  [4][]int64
}

// pause is how long a process sleeps between two looks at an operation, which grows up to this.
const pause = 200 * time.Microsecond

// eager is how long a process looks before it sleeps: large messages go on only while it looks.
// Others need the processor where there are more processes than processors.
const eager = 2 * time.Millisecond

// wait begins an operation and waits for it.
func (c *Comm) wait(ctx context.Context, f call, r *request, args ...uintptr) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.left.Load() {
		return ErrLeft
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(r)
	err := c.lib.do(f, append(args, uintptr(unsafe.Pointer(&r.handle)))...)
	sleep, begun := time.Microsecond, time.Now()
	for err == nil {
		if err = c.test(r); err != nil || r.flag != 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			abandoned.keep(r)
			return err
		}
		if time.Since(begun) < eager {
			runtime.Gosched()
			continue
		}
		if err := c.stays(ctx); err != nil {
			abandoned.keep(r)
			return err
		}
		time.Sleep(sleep)
		sleep = min(2*sleep, pause)
	}
	runtime.KeepAlive(r)
	return err
}

// test lets the library go on, and sets r's flag if its operation has ended.
func (c *Comm) test(r *request) error {
	r.flag = 0
	return c.lib.do(c.lib.test, uintptr(unsafe.Pointer(&r.handle)), uintptr(unsafe.Pointer(&r.flag)), uintptr(unsafe.Pointer(&r.st)))
}

// abandoned keeps the memory of operations that were given up: the library may still write to it.
var abandoned requests

type requests struct {
	mu   sync.Mutex
	list []*request
}

func (q *requests) keep(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, r)
}

// address is that of the first element, 0 if there is none.
func address[T any](s []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// Barrier returns when all processes have called it.
func (c *Comm) Barrier(ctx context.Context) error {
	return c.wait(ctx, c.lib.barrier, new(request), c.handle)
}

// Bcast copies the bytes of process root to all others, which have as many.
func (c *Comm) Bcast(ctx context.Context, b []byte, root int) error {
	r := &request{buffers: [2][]byte{b}}
	return c.wait(ctx, c.lib.bcast, r, address(b), uintptr(len(b)), typeByte, uintptr(root), c.handle)
}

// Allreduce replaces each of the integers, of which all processes have as many, by the sum, least
// or largest of those of all processes.
func (c *Comm) Allreduce(ctx context.Context, op Op, x []int64) error {
	r := &request{ints: [2][]int64{slices.Clone(x), x}}
	return c.wait(ctx, c.lib.allreduce, r, address(r.ints[0]), address(x), uintptr(len(x)), typeInt64, uintptr(op), c.handle)
}

// starts are where parts of such lengths begin, and their sum.
func starts(counts []int) (count, at []int64, sum int64) {
	count, at = make([]int64, len(counts)), make([]int64, len(counts))
	for i, n := range counts {
		count[i], at[i] = int64(n), sum
		sum += int64(n)
	}
	return count, at, sum
}

// parts checks the lengths of parts, of which the whole consists.
func (c *Comm) parts(method string, counts []int, whole int) (count, at []int64) {
	if len(counts) != c.size {
		panic(fmt.Sprintf("mpi: %s with %d lengths for %d processes", method, len(counts), c.size))
	}
	count, at, sum := starts(counts)
	if sum != int64(whole) {
		panic(fmt.Sprintf("mpi: %s with a buffer of %d bytes for %d", method, whole, sum))
	}
	return count, at
}

// Allgather sets to, on every process, to the bytes of all processes in the order of their ranks;
// those of process i are counts[i]. It panics if from or to has another length.
func (c *Comm) Allgather(ctx context.Context, from, to []byte, counts []int) error {
	count, at := c.parts("Allgather", counts, len(to))
	c.length("Allgather", len(from), counts)
	r := &request{buffers: [2][]byte{from, to}, counts: [4][]int64{count, at}}
	return c.wait(ctx, c.lib.allgatherv, r, address(from), uintptr(len(from)), typeByte,
		address(to), address(count), address(at), typeByte, c.handle)
}

// AllgatherInPlace is Allgather of parts that lie in all already, each where it belongs: the other
// ones come there.
func (c *Comm) AllgatherInPlace(ctx context.Context, all []byte, counts []int) error {
	count, at := c.parts("AllgatherInPlace", counts, len(all))
	r := &request{buffers: [2][]byte{all}, counts: [4][]int64{count, at}}
	return c.wait(ctx, c.lib.allgatherv, r, inPlace, 0, typeByte,
		address(all), address(count), address(at), typeByte, c.handle)
}

// Gather is Allgather on process root alone; to does not count on the others.
func (c *Comm) Gather(ctx context.Context, from, to []byte, counts []int, root int) error {
	r := &request{buffers: [2][]byte{from, to}}
	if c.rank == root {
		r.counts[0], r.counts[1] = c.parts("Gather", counts, len(to))
		c.length("Gather", len(from), counts)
	}
	return c.wait(ctx, c.lib.gatherv, r, address(from), uintptr(len(from)), typeByte,
		address(to), address(r.counts[0]), address(r.counts[1]), typeByte, uintptr(root), c.handle)
}

// Scatter is the reverse of Gather: process root gives every process, into to, its part of from.
func (c *Comm) Scatter(ctx context.Context, from, to []byte, counts []int, root int) error {
	r := &request{buffers: [2][]byte{from, to}}
	if c.rank == root {
		r.counts[0], r.counts[1] = c.parts("Scatter", counts, len(from))
		c.length("Scatter", len(to), counts)
	}
	return c.wait(ctx, c.lib.scatterv, r, address(from), address(r.counts[0]), address(r.counts[1]), typeByte,
		address(to), uintptr(len(to)), typeByte, uintptr(root), c.handle)
}

// Alltoall gives every process its part of from, and sets to to what the processes gave: parts are
// in the order of ranks, sent[i] bytes go to process i and got[i] come from it.
func (c *Comm) Alltoall(ctx context.Context, from, to []byte, sent, got []int) error {
	var r request
	r.buffers = [2][]byte{from, to}
	r.counts[0], r.counts[1] = c.parts("Alltoall", sent, len(from))
	r.counts[2], r.counts[3] = c.parts("Alltoall", got, len(to))
	return c.wait(ctx, c.lib.alltoallv, &r, address(from), address(r.counts[0]), address(r.counts[1]), typeByte,
		address(to), address(r.counts[2]), address(r.counts[3]), typeByte, c.handle)
}

// length checks the length of this process's part.
func (c *Comm) length(method string, n int, counts []int) {
	if n != counts[c.rank] {
		panic(fmt.Sprintf("mpi: %s of %d bytes of process %d for %d", method, n, c.rank, counts[c.rank]))
	}
}

// Send gives bytes to a process that calls Receive with as many and the same tag, 0 to 32766.
func (c *Comm) Send(ctx context.Context, b []byte, to, tag int) error {
	if err := checkTag(tag); err != nil {
		return err
	}
	r := &request{buffers: [2][]byte{b}}
	return c.wait(ctx, c.lib.send, r, address(b), uintptr(len(b)), typeByte, uintptr(to), uintptr(tag), c.handle)
}

// Receive takes bytes from a process that calls Send.
func (c *Comm) Receive(ctx context.Context, b []byte, from, tag int) error {
	if err := checkTag(tag); err != nil {
		return err
	}
	r := &request{buffers: [2][]byte{b}}
	return c.wait(ctx, c.lib.receive, r, address(b), uintptr(len(b)), typeByte, uintptr(from), uintptr(tag), c.handle)
}

// checkTag returns an error for a tag that messages of users do not have.
func checkTag(tag int) error {
	if tag < 0 || tag >= leftTag {
		return fmt.Errorf("tag %d of a message: want 0 to %d", tag, leftTag-1)
	}
	return nil
}
