// Package gridtest runs goroutines that act as the processes of a grid.
package gridtest

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/halfulp/halfulp/mpi"
)

// A meeting exchanges messages between the goroutines that act as processes: each leaves one
// message, and all get all messages.
type meeting struct {
	mu    sync.Mutex
	ready *sync.Cond
	size  int
	round int
	left  []any // messages of this round
	all   []any // messages of the last round
	gave  []int // bytes that each process has sent to all

	failed bool // a process has failed or left: the others must stop waiting
}

func newMeeting(size int) *meeting {
	m := &meeting{size: size, gave: make([]int, size)}
	m.ready = sync.NewCond(&m.mu)
	return m
}

// A Process is one of the goroutines. It is a grid.Transport.
type Process struct {
	*meeting
	rank int
}

// Rank returns the number of the process.
func (t Process) Rank() int { return t.rank }

// Size returns the number of processes.
func (t Process) Size() int { return t.size }

// Given returns how many bytes each process has sent to all so far.
func (t Process) Given() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.gave)
}

// meet leaves a message and returns the messages of all processes.
func (t Process) meet(message any) []any {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left == nil {
		t.left = make([]any, t.size)
	}
	t.left[t.rank] = message
	round := t.round
	if slices.Contains(t.left, nil) {
		for t.round == round {
			if t.failed {
				runtime.Goexit()
			}
			t.ready.Wait()
		}
	} else {
		t.all, t.left = t.left, nil
		t.round++
		t.ready.Broadcast()
	}
	return t.all
}

// Allreduce adds integers, or finds the largest or the least.
func (t Process) Allreduce(_ context.Context, op mpi.Op, x []int64) error {
	all := t.meet(slices.Clone(x))
	clear(x)
	for p, m := range all {
		for i, v := range m.([]int64) {
			switch {
			case op == mpi.Sum:
				x[i] += v
			case p == 0 || op == mpi.Max && v > x[i] || op == mpi.Min && v < x[i]:
				x[i] = v
			}
		}
	}
	return nil
}

// Allgather sends the bytes of each process to all.
func (t Process) Allgather(_ context.Context, from, to []byte, _ []int) error {
	var b []byte
	for _, m := range t.meet(append([]byte{}, from...)) {
		b = append(b, m.([]byte)...)
	}
	copy(to, b)
	t.give(from)
	return nil
}

// AllgatherInPlace is Allgather for bytes that already lie at their place in all.
func (t Process) AllgatherInPlace(ctx context.Context, all []byte, counts []int) error {
	at := 0
	for _, n := range counts[:t.rank] {
		at += n
	}
	return t.Allgather(ctx, all[at:at+counts[t.rank]], all, counts)
}

// Alltoall sends to every process its part of the bytes of each process.
func (t Process) Alltoall(_ context.Context, from, to []byte, sent, _ []int) error {
	type letter struct {
		b    []byte
		sent []int
	}
	for _, m := range t.meet(letter{from, sent}) {
		l := m.(letter)
		at := 0
		for _, n := range l.sent[:t.rank] {
			at += n
		}
		to = to[copy(to, l.b[at:at+l.sent[t.rank]]):]
	}
	t.meet(0) // no process reads another's buffer any more
	return nil
}

// Bcast sends the bytes of process root to all.
func (t Process) Bcast(_ context.Context, b []byte, root int) error {
	copy(b, t.meet(append([]byte{}, b...))[root].([]byte))
	if t.rank == root {
		t.give(b)
	}
	return nil
}

// Leave ends the other goroutines when they wait.
func (t Process) Leave() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
	t.ready.Broadcast()
	return nil
}

func (t Process) give(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gave[t.rank] += len(b)
}

// Run runs f in n goroutines, each with a transport to the others. An error in one goroutine ends
// all and fails the test.
func Run(t *testing.T, n int, f func(to Process) error) {
	t.Helper()
	m := newMeeting(n)
	errs := make([]error, n)
	var all sync.WaitGroup
	for p := range n {
		all.Go(func() {
			if errs[p] = f(Process{m, p}); errs[p] != nil {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.failed = true
				m.ready.Broadcast()
			}
		})
	}
	all.Wait()
	for p, err := range errs {
		if err != nil {
			t.Errorf("process %d of %d: %v", p, n, err)
		}
	}
}
