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

// A Comm is a communicator: processes numbered 0 to Size()-1 that work together. Several goroutines
// may use it, but not at the same time.
type Comm struct {
	lib        *library
	handle     uintptr
	rank, size int
	left       atomic.Bool // a process is known to have left
}

// Launched reports whether an mpiexec, or a batch system in its place, started this process.
func Launched() bool {
	_, ok := launchedAs()
	return ok
}

// LaunchedFirst reports whether this process was launched, see [Launched], as process 0. It may be
// called before [Init].
func LaunchedFirst() bool {
	rank, ok := launchedAs()
	return ok && rank == "0"
}

// launchedAs returns the number that mpiexec gave to this process. ok is false if there is none.
func launchedAs() (rank string, ok bool) {
	for _, name := range []string{"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"} {
		if rank, ok = os.LookupEnv(name); ok {
			return rank, true
		}
	}
	return "", false
}

// world initialises MPI at the first call and returns the communicator of all processes.
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
	return c.Split(0, c.rank) // MPI_Finalize reports messages of Leave in world
})

// Init joins this process with all processes that mpiexec started together with it, and returns the
// communicator of all of them, the same one at every call. A process that was not started by
// mpiexec is alone. All processes must call Init. The error wraps [ErrNoMPI] if there is no
// library. On Linux, under MPICH's mpiexec, it is also an error if a process of this machine has
// ended without calling Init; mpiexec then ends the processes that still wait, as soon as one
// process exits with this error.
func Init() (*Comm, error) { return world() }

// Exit finalizes MPI and ends this process with an exit status; it does not return. All processes
// must call it at their end: mpiexec treats a process that just ends as failed. C programs finalize
// in handlers of C's exit, which Go does not run.
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

// Rank returns the number of this process.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of processes.
func (c *Comm) Size() int { return c.size }

// Version returns the name and version that the library reports.
func (c *Comm) Version() string { return c.lib.version() }

// Split returns the communicator of the processes that call it with the same color, ordered by
// their keys, then by their ranks. It returns nil if color is negative.
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

// Free frees a communicator that Split returned. All its processes must call it.
func (c *Comm) Free() error {
	if c.left.Load() {
		return ErrLeft
	}
	handle := new(uintptr)
	*handle = c.handle
	return c.lib.do(c.lib.commFree, uintptr(unsafe.Pointer(handle)))
}

// Abort ends all processes, including this one, with an exit status. It does not return.
func (c *Comm) Abort(code int) {
	// The world, not c: if MPI_Abort ends only some of the processes, MPICH kills the others, and
	// their status is the one reported.
	_ = c.lib.do(c.lib.abort, commWorld, uintptr(code))
	os.Exit(code)
}

// A request is an operation in progress. It holds everything that the library has pointers to, in
// itself or in its slices, and lives on the heap.
type request struct {
	handle  uintptr
	flag    int32
	st      status
	buffers [2][]byte
	ints    [2][]int64
	counts  [4][]int64
}

// pause bounds the time that a process sleeps between two tests of an operation. The time grows up
// to this bound.
const pause = 200 * time.Microsecond

// eager is the time for which a process tests an operation without sleeping. Large messages advance
// only while it tests; if there are more processes than processors, others need the processor.
const eager = 2 * time.Millisecond

// wait begins the operation f of request r and waits for its end.
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

// test lets the library advance, and sets r.flag to nonzero if the operation of r has ended.
func (c *Comm) test(r *request) error {
	r.flag = 0
	return c.lib.do(c.lib.test, uintptr(unsafe.Pointer(&r.handle)), uintptr(unsafe.Pointer(&r.flag)), uintptr(unsafe.Pointer(&r.st)))
}

// abandoned keeps the memory of abandoned operations alive: the library may still write to it.
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

// address returns the address of the first element of s, 0 if there is none.
func address[T any](s []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// Barrier returns when all processes have called it.
func (c *Comm) Barrier(ctx context.Context) error {
	return c.wait(ctx, c.lib.barrier, new(request), c.handle)
}

// Bcast copies the bytes b of process root to b of all other processes. All have the same length.
func (c *Comm) Bcast(ctx context.Context, b []byte, root int) error {
	r := &request{buffers: [2][]byte{b}}
	return c.wait(ctx, c.lib.bcast, r, address(b), uintptr(len(b)), typeByte, uintptr(root), c.handle)
}

// Allreduce replaces each integer of x by the sum, minimum or maximum, as op says, over all
// processes. All have the same length.
func (c *Comm) Allreduce(ctx context.Context, op Op, x []int64) error {
	r := &request{ints: [2][]int64{slices.Clone(x), x}}
	return c.wait(ctx, c.lib.allreduce, r, address(r.ints[0]), address(x), uintptr(len(x)), typeInt64, uintptr(op), c.handle)
}

// starts returns the lengths of consecutive parts, their positions and the sum of the lengths.
func starts(counts []int) (count, at []int64, sum int64) {
	count, at = make([]int64, len(counts)), make([]int64, len(counts))
	for i, n := range counts {
		count[i], at[i] = int64(n), sum
		sum += int64(n)
	}
	return count, at, sum
}

// parts returns the lengths and positions of parts. It panics unless there is one part for each
// process and the parts fill whole bytes.
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

// Allgather sets to, on every process, to the bytes of all processes in the order of their ranks.
// Process i contributes counts[i] bytes, its from. It panics if from or to has another length.
func (c *Comm) Allgather(ctx context.Context, from, to []byte, counts []int) error {
	count, at := c.parts("Allgather", counts, len(to))
	c.length("Allgather", len(from), counts)
	r := &request{buffers: [2][]byte{from, to}, counts: [4][]int64{count, at}}
	return c.wait(ctx, c.lib.allgatherv, r, address(from), uintptr(len(from)), typeByte,
		address(to), address(count), address(at), typeByte, c.handle)
}

// AllgatherInPlace is [Comm.Allgather] where each process already has its own part at its position
// in all. It fills in the other parts.
func (c *Comm) AllgatherInPlace(ctx context.Context, all []byte, counts []int) error {
	count, at := c.parts("AllgatherInPlace", counts, len(all))
	r := &request{buffers: [2][]byte{all}, counts: [4][]int64{count, at}}
	return c.wait(ctx, c.lib.allgatherv, r, inPlace, 0, typeByte,
		address(all), address(count), address(at), typeByte, c.handle)
}

// Gather is [Comm.Allgather] with the result on process root only. The other processes ignore to.
func (c *Comm) Gather(ctx context.Context, from, to []byte, counts []int, root int) error {
	r := &request{buffers: [2][]byte{from, to}}
	if c.rank == root {
		r.counts[0], r.counts[1] = c.parts("Gather", counts, len(to))
		c.length("Gather", len(from), counts)
	}
	return c.wait(ctx, c.lib.gatherv, r, address(from), uintptr(len(from)), typeByte,
		address(to), address(r.counts[0]), address(r.counts[1]), typeByte, uintptr(root), c.handle)
}

// Scatter is the reverse of [Comm.Gather]: every process receives into to its part of root's from.
func (c *Comm) Scatter(ctx context.Context, from, to []byte, counts []int, root int) error {
	r := &request{buffers: [2][]byte{from, to}}
	if c.rank == root {
		r.counts[0], r.counts[1] = c.parts("Scatter", counts, len(from))
		c.length("Scatter", len(to), counts)
	}
	return c.wait(ctx, c.lib.scatterv, r, address(from), address(r.counts[0]), address(r.counts[1]), typeByte,
		address(to), uintptr(len(to)), typeByte, uintptr(root), c.handle)
}

// Alltoall sends every process its part of from, and sets to to the parts received from all
// processes. Parts are in the order of ranks: sent[i] bytes go to process i and got[i] bytes come
// from it. It panics if from or to has another length.
func (c *Comm) Alltoall(ctx context.Context, from, to []byte, sent, got []int) error {
	var r request
	r.buffers = [2][]byte{from, to}
	r.counts[0], r.counts[1] = c.parts("Alltoall", sent, len(from))
	r.counts[2], r.counts[3] = c.parts("Alltoall", got, len(to))
	return c.wait(ctx, c.lib.alltoallv, &r, address(from), address(r.counts[0]), address(r.counts[1]), typeByte,
		address(to), address(r.counts[2]), address(r.counts[3]), typeByte, c.handle)
}

// length panics unless this process's part has the length n.
func (c *Comm) length(method string, n int, counts []int) {
	if n != counts[c.rank] {
		panic(fmt.Sprintf("mpi: %s of %d bytes of process %d for %d", method, n, c.rank, counts[c.rank]))
	}
}

// Send sends the bytes b to process to, which must call Receive with the same length and the same
// tag, 0 to 32766.
func (c *Comm) Send(ctx context.Context, b []byte, to, tag int) error {
	if err := checkTag(tag); err != nil {
		return err
	}
	r := &request{buffers: [2][]byte{b}}
	return c.wait(ctx, c.lib.send, r, address(b), uintptr(len(b)), typeByte, uintptr(to), uintptr(tag), c.handle)
}

// Receive receives into b the bytes that process from sends with this tag.
func (c *Comm) Receive(ctx context.Context, b []byte, from, tag int) error {
	if err := checkTag(tag); err != nil {
		return err
	}
	r := &request{buffers: [2][]byte{b}}
	return c.wait(ctx, c.lib.receive, r, address(b), uintptr(len(b)), typeByte, uintptr(from), uintptr(tag), c.handle)
}

// checkTag returns an error for a tag that messages of users cannot have.
func checkTag(tag int) error {
	if tag < 0 || tag >= leftTag {
		return fmt.Errorf("tag %d of a message: want 0 to %d", tag, leftTag-1)
	}
	return nil
}
