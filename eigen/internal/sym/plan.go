package sym

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// may fuse throughout: estimates of time and of memory, none of them a result.

// A round is what a round of [solver.run] computes with, in bits.
type round struct {
	right  int64 // bits of X that are right
	x      int   // bits of X
	places int   // bits of S and R
	wide   int   // bits of the correction; 0 if only values are enclosed
	last   bool
}

// A work is what the rounds of a solver compute for an m x n matrix A or C, in formats a and b.
type work struct {
	m, n             int
	a, b             num.Format
	gram, hasB       bool
	vectors, left    bool
	bits, vectorBits int // of enclosures
}

// slack is how many more bits X and corrections have than they need in theory.
const slack = 10

// seedRight is how many bits of float64 eigenvectors are right, mostly.
const seedRight = 44

// rounds returns the rounds ahead, from one with the given bits on, if X gains as many bits as it
// does mostly and no entry takes more bits than the others.
func (w work) rounds(r round) (list []round) {
	for {
		r.last, r.wide = 2*r.right+8 >= int64(w.bits), 0
		need := w.bits/2 + slack
		switch {
		case !r.last:
			for int64(need) > max(2*r.right+4, 53) {
				need = need/2 + slack
			}
			r.wide = max(24, max(r.x, need)-int(r.right)+slack)
		case w.vectors:
			r.wide = max(24, w.bits-int(r.right)+slack)
		}
		if list = append(list, r); r.last {
			return list
		}
		r.x = max(r.x, need)
		r.places = max(r.places, 2*r.x+ziv.Guard(w.n))
		r.right = min(2*r.right, int64(need)) - 8
	}
}

// Times of work on entries, in ns.
const (
	measureCost = 1500 // the bounds of an entry of S and R, and of the enclosures
	roundCost   = 600  // rounding an entry of a vector
	seedCost    = 12   // float64 operations of a seed, in n³
)

// cost estimates the time of a round.
func (w work) cost(r round) float64 {
	n, m := w.n, w.m
	x, f := call.MP(r.x), call.MP(r.places)
	z := call.ProductCost(m, n, n, w.a, x, f) + call.ProductCost(n, n, n, x, x, f)/2 + w.entries(measureCost)
	if w.gram {
		z += call.ProductCost(n, m, n, f, f, f) / 2
	} else {
		z += call.ProductCost(n, n, n, x, f, f) / 2
	}
	if w.hasB {
		z += call.ProductCost(n, n, n, w.b, x, f)
	}
	if r.wide > 0 {
		z += call.ProductOf(n, n, n, r.wide) + w.entries(measureCost)
	}
	if r.last && w.vectors {
		z += w.entries(roundCost)
	}
	if r.last && w.left {
		z += call.ProductCost(m, n, n, w.a, call.MP(w.vectorBits+8), call.MP(w.vectorBits+8))
	}
	return z
}

// entries returns the cost of n x n entries, each with the given one.
func (w work) entries(cost float64) float64 { return float64(w.n) * float64(w.n) * cost }

// seedTime estimates the time of the float64 seed.
func (w work) seedTime() float64 {
	return float64(w.m) * float64(w.n) * float64(w.n) * seedCost * call.FloatCost
}

// bytes bounds the working memory of a round, and of the X of the next one.
func (w work) bytes(r, next round) float64 {
	n, m := w.n, w.m
	of := func(bits, rows int) float64 { return float64(call.MatrixBytes(call.MP(bits), rows, n)) }
	base := of(r.x, n) + 2*of(r.places, n) + 40*float64(n)*float64(n)
	beside := of(r.places, m)
	if w.hasB {
		beside += of(r.places, n)
	}
	if r.wide > 0 {
		beside = max(beside, 3*of(r.wide, n))
	}
	if !r.last {
		beside = max(beside, of(r.wide, n)+of(next.x, n))
	}
	if w.left {
		base += 8 * float64(m) * float64(n)
		if r.last {
			beside = max(beside, of(r.wide, n)+of(w.vectorBits+8, n)+of(w.vectorBits+8, m)+of(24, m))
		}
	}
	return base + beside
}

// most bounds the working memory of the rounds from r on.
func (w work) most(r round) (bytes float64) {
	list := w.rounds(r)
	for i, r := range list {
		bytes = max(bytes, w.bytes(r, list[min(i+1, len(list)-1)]))
	}
	return bytes
}

// first returns the first round, with an X of the given bits.
func first(bits int) round {
	return round{right: seedRight, x: bits, places: max(128, 2*bits)}
}

// Within makes the progress that is reported until the returned function is called a part of the
// whole, from lo to hi.
func Within(s *call.Run, lo, hi float64) (end func()) {
	whole := s.Work
	s.Work = call.Work{}
	if whole.Report != nil {
		s.Work.Report = func(done float64) { whole.Report(lo + (hi-lo)*done) }
	}
	return func() { s.Work = whole }
}

// Try returns the part of the progress of attempt k = 0, 1, ..., each of which is likely to be the
// last one.
func Try(k int) (lo, hi float64) {
	left := 1.0
	for range k {
		left /= 5
	}
	return 1 - left, 1 - left/5
}

// exactMatrix returns a matrix of zeros if the memory allows it.
func exactMatrix(s *call.Run, f num.Format, rows, cols int) (num.Mat, error) {
	if err := s.Budget.Check(float64(call.MatrixBytes(f, rows, cols))); err != nil {
		return num.Mat{}, err
	}
	return num.NewMat(f, rows, cols), nil
}
