package direct

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Reduction is a sum over the entries of one or two vectors.
type Reduction int

// The reductions.
const (
	Sum     Reduction = iota // sum x_i
	Asum                     // sum |x_i|
	Dot                      // sum x_i y_i
	Squares                  // sum x_i^2
)

// chunk is the most entries that one call of a worker processes.
const chunk = 1 << 14

// addTo adds the reduction of the entries lo <= i < hi to a. Only Dot reads y.
func (r Reduction) addTo(a *superacc.Acc, x, y num.Vec, lo, hi int) {
	switch r {
	case Sum:
		a.AddVec(x.Slice(lo, hi))
	case Asum:
		a.AddAbs(x.Slice(lo, hi))
	case Dot:
		a.AddDot(x.Slice(lo, hi), y.Slice(lo, hi))
	case Squares:
		a.AddDot(x.Slice(lo, hi), x.Slice(lo, hi))
	}
}

// Work holds the options of a loop: the context, the number of threads, and a function that is
// called for every finished part, from any goroutine.
type Work struct {
	par.Run // Done replaces Progress
	Done    func(part, of int)
	// Together, if not nil, returns the sum of the sums of several processes. Each process has some
	// of the entries of the vectors of a reduction. All processes call the reduction and get its
	// result.
	Together func(part *superacc.Acc) (*superacc.Acc, error)
}

// together is Together for a sum that is known up to a bound if ok is set. The resulting sum is
// known only if it is known in all processes.
func (w Work) together(a *superacc.Acc, bound num.Real, ok bool) (*superacc.Acc, num.Real, bool, error) {
	if w.Together == nil {
		return a, bound, ok, nil
	}
	bounds := new(superacc.Acc)
	if ok {
		bounds.Add(bound)
	} else {
		a = new(superacc.Acc)
		bounds.AddSpecial(num.NaN, false)
	}
	bounds, err := w.Together(bounds)
	if err != nil || !bounds.Finite() {
		return nil, bound, false, err
	}
	if a, err = w.Together(a); err != nil {
		return nil, bound, false, err
	}
	return a, bounds.Exact(), true, nil
}

// stopped reports whether the context is cancelled.
func (w Work) stopped() bool { return w.Ctx.Err() != nil }

// loop calls f(worker, i) for all i < n.
func (w Work) loop(n int, f func(worker, i int)) error {
	return par.For(w.Ctx, w.Threads, n, func(worker, i int) {
		f(worker, i)
		if w.Done != nil {
			w.Done(1, n)
		}
	})
}

// Exact returns the exact reduction.
func (r Reduction) Exact(w Work, x, y num.Vec) (*superacc.Acc, error) {
	chunk := superacc.Part(x.Arr.Format, x.Arr.Format)
	if r == Dot {
		chunk = superacc.Part(x.Arr.Format, y.Arr.Format)
	}
	parts := (x.N + chunk - 1) / chunk
	accs := make([]superacc.Acc, max(1, min(w.Threads, parts)))
	err := w.loop(parts, func(worker, i int) {
		r.addTo(&accs[worker], x, y, i*chunk, min((i+1)*chunk, x.N))
	})
	if err != nil {
		return nil, err
	}
	for i := range accs[1:] {
		accs[0].Merge(&accs[1+i])
	}
	if w.Together != nil {
		return w.Together(&accs[0])
	}
	return &accs[0], nil
}

// Moment is an exact sum over the entries of a vector.
type Moment int

// The moments.
const (
	First      Moment = iota // sum x_i
	Second                   // sum x_i^2
	Neighbours               // sum x_i x_(i+1)
)

// Exact returns the exact sum.
func (m Moment) Exact(w Work, x num.Vec) (*superacc.Acc, error) {
	switch m {
	case First:
		return Sum.Exact(w, x, x)
	case Second:
		return Squares.Exact(w, x, x)
	}
	if x.N == 0 {
		return new(superacc.Acc), nil
	}
	return Dot.Exact(w, x.Slice(0, x.N-1), x.Slice(1, x.N))
}
