package refine

import (
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// A shared inverse serves several threads at the same time.
type shared interface {
	// Alone returns the inverse for a single thread. Several of them share its memory.
	Alone() seed.Inverse
}

// together solves the columns of todo, which begin with column first, each on one thread. It
// decides entries only by the words of y, with F in the planes that exist already. It sets the
// finished columns to nil and leaves the other columns to the caller.
func (y *fixedSystem) together(first int, todo []*ziv.Entries, bits, want int) error {
	of, ok := y.r.(shared)
	var columns []int
	for j, e := range todo {
		if e != nil {
			columns = append(columns, j)
		}
	}
	if !ok || y.f == nil || y.s.Threads < 2 || len(columns) < 2 {
		return nil
	}
	r := of.Alone()
	workers := make([]*fixedSystem, y.s.Threads)
	err := par.For(y.s.Ctx, y.s.Threads, len(columns), func(worker, k int) {
		w := workers[worker]
		if w == nil {
			s := new(call.Run)
			s.Run = par.Run{Ctx: y.s.Ctx, Threads: 1}
			w = &fixedSystem{s: s, a: y.a, b: y.b, r: r, f: y.f, low: y.low, n: y.n, brief: true}
			workers[worker] = w
		}
		j := columns[k]
		if _, err := w.column(todo[j], first+j, bits, want); err == nil && len(todo[j].Open) == 0 {
			todo[j] = nil
		}
	})
	for _, w := range workers {
		if w != nil {
			y.s.Stats.Steps += w.s.Stats.Steps
			y.s.Stats.Precision = max(y.s.Stats.Precision, w.s.Stats.Precision)
			y.s.Did(w.s.Work.Done)
		}
	}
	return err
}
