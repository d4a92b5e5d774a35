package grid

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/halfulp/halfulp/mpi"
)

// A meeting is where the goroutines that stand for processes exchange messages: each leaves one,
// and all get all of them.
type meeting struct {
	mu    sync.Mutex
	ready *sync.Cond
	size  int
	round int
	left  []any // of this round
	all   []any // of the last one
	gave  []int // bytes that each has given to all

	failed bool // one of them: the others wait in vain
}

func newMeeting(size int) *meeting {
	m := &meeting{size: size, gave: make([]int, size)}
	m.ready = sync.NewCond(&m.mu)
	return m
}

// talker is one of the goroutines, a Transport.
type talker struct {
	*meeting
	rank int
}

func (t talker) Rank() int { return t.rank }
func (t talker) Size() int { return t.size }

// meet leaves a message and returns those of all.
func (t talker) meet(message any) []any {
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

func (t talker) Allreduce(_ context.Context, op mpi.Op, x []int64) error {
	all := t.meet(slices.Clone(x))
	clear(x)
	for p, m := range all {
		for i, v := range m.([]int64) {
			switch {
			case op == mpi.Sum:
				x[i] += v
			case p == 0 || v > x[i]:
				x[i] = v
			}
		}
	}
	return nil
}

func (t talker) Allgather(_ context.Context, from, to []byte, _ []int) error {
	var b []byte
	for _, m := range t.meet(append([]byte{}, from...)) {
		b = append(b, m.([]byte)...)
	}
	copy(to, b)
	t.give(from)
	return nil
}

func (t talker) Alltoall(_ context.Context, from, to []byte, sent, _ []int) error {
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
	t.meet(0) // nobody reads what others send any more
	return nil
}

func (t talker) Bcast(_ context.Context, b []byte, root int) error {
	copy(b, t.meet(append([]byte{}, b...))[root].([]byte))
	if t.rank == root {
		t.give(b)
	}
	return nil
}

func (t talker) give(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gave[t.rank] += len(b)
}

// processes runs f in n goroutines, each with a transport to the others.
func processes(t *testing.T, n int, f func(to Transport) error) {
	t.Helper()
	m := newMeeting(n)
	errs := make([]error, n)
	var all sync.WaitGroup
	for p := range n {
		all.Go(func() {
			if errs[p] = f(talker{m, p}); errs[p] != nil {
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
