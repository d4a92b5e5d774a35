package mpi_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/mpitest"
	"github.com/halfulp/halfulp/mpi"
)

func TestMain(m *testing.M) { mpitest.Main(m) }

// world joins the processes.
func world(t *testing.T) *mpi.Comm {
	t.Helper()
	c, err := mpi.Init()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// part returns the bytes that process i sends: i + 1 times a byte, more for process 2.
func part(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, (i*i+1)%7) }

func TestCollectives(t *testing.T) {
	if !mpitest.InProcess() {
		for _, n := range []int{1, 2, 3, 4, 6} {
			mpitest.Run(t, n)
		}
		return
	}
	c, ctx := world(t), t.Context()
	n, me := c.Size(), c.Rank()
	if !mpi.Launched() {
		t.Error("not launched")
	}
	if !strings.Contains(c.Version(), "MPI") {
		t.Errorf("version %q", c.Version())
	}
	check := func(what string, err error, got, want any) {
		t.Helper()
		if err != nil {
			t.Fatalf("process %d: %s: %v", me, what, err)
		}
		if g, ok := got.([]byte); ok && !bytes.Equal(g, want.([]byte)) {
			t.Errorf("process %d: %s: %q, want %q", me, what, g, want)
		}
		if g, ok := got.([]int64); ok && !slices.Equal(g, want.([]int64)) {
			t.Errorf("process %d: %s: %v, want %v", me, what, g, want)
		}
	}
	counts := make([]int, n)
	var all []byte
	for i := range counts {
		counts[i] = len(part(i))
		all = append(all, part(i)...)
	}
	for root := range n {
		b := make([]byte, 5)
		if me == root {
			copy(b, "hello")
		}
		check("Bcast", c.Bcast(ctx, b, root), b, []byte("hello"))
		var to []byte
		if me == root {
			to = make([]byte, len(all))
		}
		err := c.Gather(ctx, part(me), to, counts, root)
		if me == root {
			check("Gather", err, to, all)
		}
		to = make([]byte, counts[me])
		var from []byte
		if me == root {
			from = all
		}
		check("Scatter", c.Scatter(ctx, from, to, counts, root), to, part(me))
	}
	to := make([]byte, len(all))
	check("Allgather", c.Allgather(ctx, part(me), to, counts), to, all)
	start := 0
	for _, n := range counts[:me] {
		start += n
	}
	for _, long := range []int{1, 1 << 18} { // long messages take another way
		lengths, to := make([]int, n), make([]byte, long*len(all))
		for i, n := range counts {
			lengths[i] = long * n
		}
		copy(to[long*start:], bytes.Repeat(part(me), long))
		var want []byte
		for i := range n {
			want = append(want, bytes.Repeat(part(i), long)...)
		}
		check("AllgatherInPlace", c.AllgatherInPlace(ctx, to, lengths), to, want)
	}

	x := []int64{int64(me), -int64(me), 1 << 62}
	for _, r := range []struct {
		op   mpi.Op
		want []int64
	}{
		{mpi.Sum, []int64{int64(n * (n - 1) / 2), -int64(n * (n - 1) / 2), int64(n) << 62}},
		{mpi.Max, []int64{int64(n - 1), 0, 1 << 62}},
		{mpi.Min, []int64{0, -int64(n - 1), 1 << 62}},
	} {
		y := slices.Clone(x)
		check("Allreduce", c.Allreduce(ctx, r.op, y), y, r.want)
	}
	check("Allreduce of nothing", c.Allreduce(ctx, mpi.Sum, nil), nil, nil)

	// Process i gives process j the bytes of part((i + j) % 5).
	var sent, got []int
	var from, want []byte
	for j := range n {
		p := part((me + j) % 5)
		sent, got = append(sent, len(p)), append(got, len(p))
		from, want = append(from, p...), append(want, p...)
	}
	to = make([]byte, len(want))
	check("Alltoall", c.Alltoall(ctx, from, to, sent, got), to, want)

	// A ring, in even and odd steps, as a long message waits for its receiver.
	long := bytes.Repeat([]byte{byte(me)}, 1<<20)
	back := make([]byte, len(long))
	next, last := (me+1)%n, (me+n-1)%n
	if n > 1 {
		if me%2 == 0 {
			check("Send", c.Send(ctx, long, next, 3), nil, nil)
			check("Receive", c.Receive(ctx, back, last, 3), back, bytes.Repeat([]byte{byte(last)}, 1<<20))
		} else {
			check("Receive", c.Receive(ctx, back, last, 3), back, bytes.Repeat([]byte{byte(last)}, 1<<20))
			check("Send", c.Send(ctx, long, next, 3), nil, nil)
		}
	}

	// Even and odd processes, the last first.
	half, err := c.Split(me%2, -me)
	if err != nil {
		t.Fatal(err)
	}
	size := (n + 1 - me%2) / 2
	if half.Size() != size || half.Rank() != size-1-me/2 {
		t.Errorf("process %d is %d of %d", me, half.Rank(), half.Size())
	}
	sum := []int64{int64(me)}
	check("Allreduce of a part", half.Allreduce(ctx, mpi.Sum, sum), sum, []int64{int64(size*(size-1) + size*(me%2))})
	check("Free", half.Free(), nil, nil)
	none, err := c.Split(-1, 0)
	if err != nil || none != nil {
		t.Errorf("a communicator of nobody: %v, %v", none, err)
	}
	check("Barrier", c.Barrier(ctx), nil, nil)
}

// A wait for a message that is never sent ends with its context.
func TestCancelled(t *testing.T) {
	if !mpitest.Run(t, 2) {
		return
	}
	c := world(t)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Barrier(done); !errors.Is(err, context.Canceled) {
		t.Errorf("a barrier that is not begun: %v", err)
	}
	if c.Rank() == 0 {
		short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := c.Receive(short, make([]byte, 8), 1, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody sends: %v", err)
		}
		// The receiver is still there.
		if err := c.Receive(t.Context(), make([]byte, 8), 1, 2); err != nil {
			t.Error(err)
		}
	} else if err := c.Send(t.Context(), make([]byte, 8), 0, 2); err != nil {
		t.Error(err)
	}
	if err := c.Barrier(t.Context()); err != nil {
		t.Error(err)
	}
	if c.Rank() == 0 { // what was given up cannot be taken back
		if t.Failed() {
			c.Abort(1)
		}
		c.Abort(0)
	}
	select {}
}

// A process that leaves ends the waits and the later operations of the others.
func TestLeave(t *testing.T) {
	if !mpitest.Run(t, 3) {
		return
	}
	c := world(t)
	part, err := c.Split(0, c.Rank())
	if err != nil {
		t.Fatal(err)
	}
	if c.Rank() == 1 {
		time.Sleep(20 * time.Millisecond)
		if err := c.Leave(); err != nil {
			t.Error(err)
		}
	} else if err := c.Barrier(t.Context()); !errors.Is(err, mpi.ErrLeft) || !strings.HasPrefix(err.Error(), "process 1: ") {
		t.Errorf("a barrier for which one does not come: %v", err)
	}
	if err := c.Allreduce(t.Context(), mpi.Sum, []int64{1}); !errors.Is(err, mpi.ErrLeft) {
		t.Errorf("after one has left: %v", err)
	}
	if _, err := c.Split(0, 0); !errors.Is(err, mpi.ErrLeft) {
		t.Errorf("split after one has left: %v", err)
	}
	if err := c.Free(); !errors.Is(err, mpi.ErrLeft) {
		t.Errorf("given back after one has left: %v", err)
	}
	if err := part.Barrier(t.Context()); err != nil {
		t.Errorf("another communicator: %v", err)
	}
	if t.Failed() {
		c.Abort(1)
	}
	if c.Rank() == 0 { // what was given up cannot be taken back
		c.Abort(0)
	}
	select {}
}

// A process leaves with more messages in progress than the library sends at once. The receiver does
// not look for them for a while. The process does not call the library again.
func TestLeaveBusy(t *testing.T) {
	if !mpitest.Run(t, 2) {
		return
	}
	c := world(t)
	if c.Rank() == 1 {
		for range 1 << 14 {
			short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			err := c.Send(short, make([]byte, 1000), 0, 1)
			cancel()
			if err != nil {
				break
			}
		}
		if err := c.Leave(); err != nil {
			t.Error(err)
			c.Abort(1)
		}
		select {}
	}
	time.Sleep(400 * time.Millisecond)
	wait, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Barrier(wait); !errors.Is(err, mpi.ErrLeft) {
		t.Errorf("a barrier for which one does not come: %v", err)
		c.Abort(1)
	}
	c.Abort(0)
}

// Calls that the library refuses return errors.
func TestErrors(t *testing.T) {
	if !mpitest.Run(t, 2) {
		return
	}
	c := world(t)
	var e *mpi.Error
	err := c.Bcast(t.Context(), []byte{1}, 7)
	if !errors.As(err, &e) || e.Call != "MPI_Bcast" || e.Code == 0 || e.Text == "" {
		t.Errorf("a root that is not there: %v", err)
	}
	err = c.Send(t.Context(), []byte{1}, 2, 1)
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "MPI_Send") {
		t.Errorf("a process that is not there: %v", err)
	}
	for _, tag := range []int{-1, 32767} {
		for _, err := range []error{c.Send(t.Context(), []byte{1}, 0, tag), c.Receive(t.Context(), []byte{1}, 0, tag)} {
			if err == nil || !strings.Contains(err.Error(), "want 0 to 32766") {
				t.Errorf("tag %d: %v", tag, err)
			}
		}
	}
	for name, f := range map[string]func() error{
		"too few lengths":  func() error { return c.Allgather(t.Context(), nil, nil, []int{0}) },
		"another sum":      func() error { return c.Allgather(t.Context(), []byte{1}, make([]byte, 3), []int{1, 1}) },
		"another own part": func() error { return c.Allgather(t.Context(), []byte{1, 2}, make([]byte, 2), []int{1, 1}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			_ = f()
		}()
	}
}

// If one process ends, all end.
func TestAbort(t *testing.T) {
	if mpitest.InProcess() {
		c := world(t)
		if c.Rank() == 1 {
			c.Abort(3)
		}
		_ = c.Barrier(t.Context())
		select {}
	}
	out, err := mpitest.Output(t, 3, os.Args[0], "-test.run=^TestAbort$")
	if err == nil || errors.Is(err, mpitest.ErrLimit) {
		t.Errorf("%v\n%s", err, out)
	}
}

// Garbage collection neither moves nor frees memory that the library uses.
func TestMemory(t *testing.T) {
	if !mpitest.Run(t, 2) {
		return
	}
	c := world(t)
	stop := make(chan bool)
	go func() {
		var keep [][]byte
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			keep = append(keep, bytes.Repeat([]byte{255}, 1<<uint(i%16)))
			if len(keep) > 100 {
				keep = nil
			}
		}
	}()
	defer close(stop)
	for i := range 300 {
		b := make([]byte, 1000+i)
		if c.Rank() == i%2 {
			for j := range b {
				b[j] = byte(i + j)
			}
		}
		if err := c.Bcast(t.Context(), b, i%2); err != nil {
			t.Fatal(err)
		}
		for j := range b {
			if b[j] != byte(i+j) {
				t.Fatalf("byte %d of message %d", j, i)
			}
		}
	}
}
