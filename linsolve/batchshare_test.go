package linsolve

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
)

// TestSolveBatchShares solves systems side by side on threads that share a limit of memory, which
// may be the default limit and not one of the options. A stand-in for Solve needs 100 bytes for
// some systems and 10 for the others, and reports statistics also where it fails. Systems for which
// a share does not suffice are returned, and count once: when they are solved afterwards.
func TestSolveBatchShares(t *testing.T) {
	const systems, threads = 7, 2
	big := []int{1, 2, 5}
	solved := halfulp.NewMatrix(halfulp.Float64, 1, 1)
	for _, c := range []struct {
		limit, memory int64 // the options' limit, and the limit in force
		threads       int
		again         []int
	}{
		{limit: 0, memory: 30, threads: threads, again: big},
		{limit: 0, memory: 250, threads: threads},
		{limit: 30, memory: 30, threads: threads, again: big},
		{limit: 0, memory: 1, threads: 1}, // one thread: the options alone bound Solve
	} {
		needs := make(map[*halfulp.Matrix]int64)
		var shares []float64
		s := &solveBatch{x: make([]*halfulp.Matrix, systems), errs: make([]error, systems)}
		s.progress = func(done float64) { shares = append(shares, done) } // called under s.mu
		for i := range systems {
			m := halfulp.NewMatrix(halfulp.Float64, 1, 1)
			if needs[m] = 10; slices.Contains(big, i) {
				needs[m] = 100
			}
			s.a, s.b = append(s.a, m), append(s.b, m)
		}
		s.one = func(a, _ *halfulp.Matrix, _ halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
			opt.Stats.Device, opt.Stats.Exact, opt.Stats.Proof.Steps = "cpu", 1, 2
			if opt.MemoryLimit > 0 && needs[a] > opt.MemoryLimit {
				return nil, fmt.Errorf("stand-in: %w", halfulp.ErrMemory)
			}
			return solved, nil
		}
		all := []int{0, 1, 2, 3, 4, 5, 6}
		again := s.sideBySide(t.Context(), all, &halfulp.Options{MemoryLimit: c.limit}, c.threads, c.memory)
		if !slices.Equal(again, c.again) {
			t.Fatalf("%+v: %v need more memory", c, again)
		}
		for _, i := range again {
			if !errors.Is(s.errs[i], halfulp.ErrMemory) {
				t.Errorf("%+v, system %d: %v", c, i, s.errs[i])
			}
			st := s.solve(i, &halfulp.Options{MemoryLimit: 100})
			s.over(&st, 1)
		}
		if err := s.failed("SolveBatch"); err != nil || slices.Contains(s.x, nil) {
			t.Errorf("%+v: %v, %v", c, err, s.x)
		}
		if len(shares) != systems || shares[systems-1] != 1 {
			t.Errorf("%+v: progress %v", c, shares)
		}
		if s.stats.Exact != systems || s.stats.Proof.Steps != 2*systems {
			t.Errorf("%+v: statistics of %d systems: %+v", c, systems, s.stats)
		}
	}
}

// TestSolveBatchDefaultLimit checks that threads share the default limit of memory.
func TestSolveBatchDefaultLimit(t *testing.T) {
	set, err := (&halfulp.Options{Threads: 4}).Settings()
	if err != nil || set.Memory <= 4 {
		t.Fatalf("no default limit: %d bytes, %v", set.Memory, err)
	}
	limits := make(chan int64, 8)
	a := halfulp.NewMatrix(halfulp.Float64, 1, 1)
	s := &solveBatch{a: slices.Repeat([]*halfulp.Matrix{a}, 8), x: make([]*halfulp.Matrix, 8), errs: make([]error, 8)}
	s.b = s.a
	s.one = func(_, _ *halfulp.Matrix, _ halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
		limits <- opt.MemoryLimit
		return a, nil
	}
	if again := s.sideBySide(t.Context(), []int{0, 1, 2, 3, 4, 5, 6, 7}, &halfulp.Options{}, 4, set.Memory); len(again) > 0 {
		t.Errorf("%v need more memory", again)
	}
	for range 8 {
		if got := <-limits; got != set.Memory/4 {
			t.Errorf("a limit of %d bytes of %d", got, set.Memory)
		}
	}
}
