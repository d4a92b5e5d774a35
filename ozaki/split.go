package ozaki

import (
	"context"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/sgemm"
)

// significand is the number of significant bits of float32.
const significand = 24

// sliceWidth returns α, the bits of a slice for sums of n products: the largest with
// 2α + ⌈log2 n⌉ ≤ 24.
func sliceWidth(n int) int {
	return (significand - bits.Len(uint(max(n, 1)-1))) / 2
}

// vectors is a view of the rows of the left factor, or of the columns of the right factor: entry h
// of vector v is data[off + v vs + h hs].
type vectors struct {
	data   []float64
	off    int
	vs, hs int
	n, len int
	// norms returns the norms of slices of entries h0 ≤ h < h1 that a GPU computes; else nil.
	norms func(h0, h1, slices int) (norms, error)
}

func (x vectors) at(v, h int) float64 { return x.data[x.off+v*x.vs+h*x.hs] }

// part is the view of the entries h0 ≤ h < h1 of the vectors v0 ≤ v < v1.
func (x vectors) part(v0, v1, h0, h1 int) vectors {
	x.off += v0*x.vs + h0*x.hs
	x.n, x.len = v1-v0, h1-h0
	return x
}

// exponent returns ⌈log2 x⌉ for x > 0, and 0 for 0.
func exponent(x float64) int {
	f, e := math.Frexp(x)
	if f == 0.5 {
		e--
	}
	return e
}

// exponents returns the exponents of a list.
func exponents(list []float64) []int {
	exp := make([]int, len(list))
	for i, x := range list {
		exp[i] = exponent(x)
	}
	return exp
}

// survey returns max_h |x_vh| of the finite entries of each vector, and for each vector a list of
// its infinite and NaN entries; nil if there are none at all.
func survey(ctx context.Context, threads int, x vectors) (maxima []float64, special [][]int, err error) {
	maxima, special = make([]float64, x.n), make([][]int, x.n)
	const together = 64 // vectors, which may be neighbours in memory
	var some atomic.Bool
	err = par.For(ctx, threads, (x.n+together-1)/together, func(_, p int) {
		y := x.part(p*together, min((p+1)*together, x.n), 0, x.len)
		var most [together]float64
		look := func(v, h int) {
			switch a := math.Abs(y.at(v, h)); {
			case a <= most[v]:
			case a <= math.MaxFloat64:
				most[v] = a
			default:
				special[p*together+v] = append(special[p*together+v], h)
				some.Store(true)
			}
		}
		if y.hs <= y.vs {
			for v := range y.n {
				for h := range y.len {
					look(v, h)
				}
			}
		} else {
			for h := range y.len {
				for v := range y.n {
					look(v, h)
				}
			}
		}
		copy(maxima[p*together:], most[:y.n])
	})
	if !some.Load() {
		special = nil
	}
	return maxima, special, err
}

// scale returns x 2^e, rounded once.
func scale(x float64, e int) float64 {
	if e >= -1022 && e <= 1023 {
		return float64(x * math.Float64frombits(uint64(e+1023)<<52))
	}
	return math.Ldexp(x, e)
}

// split holds the slices of one operand. With the exponent e_v of a vector, α bits a slice and
//
//	r_1 = x 2^(α - e_v),  q_t = ⌊r_t⌉,  r_(t+1) = (r_t - q_t) 2^(α+1),
//
// where ⌊·⌉ is the nearest integer, ties to even, |r_t| ≤ 2^α and
//
//	x = 2^(e_v - α) (Σ_(t<T) q_t 2^(-(t-1)(α+1)) + r_T 2^(-(T-1)(α+1)))  for every T.
//
// All steps are exact, except for r_1 below 2^-1022. split stores the integers q_t and the
// remainders r_t, rounded to float32.
type split struct {
	alpha int
	exp   []int
	q, r  []*sgemm.Panels // q[t-1], r[t-1]; nil where not wanted or 0
	norms norms
}

// want selects the slices and remainders, numbered from 1, that a split keeps.
type want struct{ q, r func(t int) bool }

// The left factor of a product in K slices needs q_1 … q_(K-1) and r_K, the right one
// q_1 … q_(K-1) and r_1 … r_K.
func leftWant(slices int) want {
	return want{func(t int) bool { return t < slices }, func(t int) bool { return t == slices }}
}

func rightWant(slices int) want {
	return want{func(t int) bool { return t < slices }, func(int) bool { return true }}
}

// The squares of a vector's entries are summed in chunks, whose sums are added in order. In a
// chunk, lane h mod 32 adds the squares of its entries h in order, and then lane l adds lane
// l + 16, 8, 4, 2, 1.
const (
	lanes = 32
	chunk = 512
)

// newSplit splits x, whose exponents are exp, into the given number of slices of alpha bits,
// as panels of the given width. Infinite and NaN entries count as 0.
func newSplit(ctx context.Context, threads int, x vectors, exp []int, alpha, slices, width int, w want) (*split, error) {
	s := &split{alpha: alpha, exp: exp, q: make([]*sgemm.Panels, slices), r: make([]*sgemm.Panels, slices)}
	s.norms = newNorms(x.n, slices)
	for t := range slices {
		if w.q(t + 1) {
			s.q[t] = newPanels(width, x.n, x.len)
		}
		if w.r(t + 1) {
			s.r[t] = newPanels(width, x.n, x.len)
		}
	}
	work := make([]*scratch, max(threads, 1))
	err := par.For(ctx, threads, (x.n+width-1)/width, func(worker, p int) {
		if work[worker] == nil {
			work[worker] = &scratch{r: make([]float64, width*chunk), lossy: make([]bool, width)}
		}
		s.panel(x, p*width, min((p+1)*width, x.n), work[worker])
	})
	s.dropZeros()
	return s, err
}

// dropZeros releases slices and remainders of zeros.
func (s *split) dropZeros() {
	for t := range s.q {
		if allZero(s.norms.q[t]) {
			free(&s.q[t])
		}
		if allZero(s.norms.r[t]) {
			free(&s.r[t])
		}
	}
}

func allZero(x []float64) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// storage keeps the memory of panels from product to product: allocating memory costs more than
// writing to it.
var storage sync.Pool

func newPanels(width, n, length int) *sgemm.Panels {
	old, _ := storage.Get().(*sgemm.Panels)
	if old == nil {
		return sgemm.NewPanels(width, n, length, nil)
	}
	return sgemm.NewPanels(width, n, length, old.Data)
}

// free releases panels.
func free(p **sgemm.Panels) {
	if *p != nil {
		storage.Put(*p)
		*p = nil
	}
}

// free releases the slices.
func (s *split) free() {
	if s != nil {
		for t := range s.q {
			free(&s.q[t])
			free(&s.r[t])
		}
	}
}

func newNorms(n, slices int) norms {
	x := norms{make([][]float64, slices), make([][]float64, slices)}
	for t := range slices {
		x.q[t], x.r[t] = make([]float64, n), make([]float64, n)
	}
	return x
}

// scratch is the memory of a goroutine that splits.
type scratch struct {
	r       []float64 // a chunk of the vectors of a panel, one after the other
	q, rest [chunk]float32
	lossy   []bool // of those vectors
}

// panel splits the vectors v0 ≤ v < v1 of a panel, chunk by chunk, since the chunks of all its
// vectors are contiguous.
func (s *split) panel(x vectors, v0, v1 int, w *scratch) {
	n := v1 - v0
	clear(w.lossy[:n])
	next := float64(int(1) << (s.alpha + 1))
	for lo := 0; lo < x.len; lo += chunk {
		size := min(chunk, x.len-lo)
		x.part(v0, v1, lo, lo+size).copyTo(w.r, chunk)
		for v := v0; v < v1; v++ {
			r := w.r[(v-v0)*chunk:][:size]
			w.lossy[v-v0] = scaleAll(r, s.alpha-s.exp[v]) || w.lossy[v-v0]
			for t := range s.q {
				var part [lanes]float64
				squares := slice(r, w.q[:], w.rest[:], next, &part)
				sum := fold(&part)
				s.r[t].Put(w.rest[:size], v, lo)
				s.q[t].Put(w.q[:size], v, lo)
				s.norms.r[t][v] += sum
				s.norms.q[t][v] += squares
			}
		}
	}
	for t := range s.q {
		for v := v0; v < v1; v++ {
			sum := s.norms.r[t][v]
			if w.lossy[v-v0] && sum == 0 {
				sum = smallest * smallest
			}
			s.norms.q[t][v], s.norms.r[t][v] = normQ(s.norms.q[t][v]), normR(sum, x.len)
		}
	}
}

// normQ and normR return upper bounds of norms from sums of n squares. Squares of slices are exact.
// Squares of remainders are rounded: the sum loses at most the share n 2^-53.
func normQ(squares float64) float64 { return math.Sqrt(squares) * upward }
func normR(squares float64, n int) float64 {
	return math.Sqrt(squares) * (1 + float64(float64(n+8)*0x1p-53))
}

// copyTo copies the vectors, one after the other with a distance, in the order in which they lie.
func (x vectors) copyTo(r []float64, distance int) {
	if x.hs <= x.vs {
		for v := range x.n {
			to, at := r[v*distance:][:x.len], x.off+v*x.vs
			for h := range to {
				to[h] = x.data[at]
				at += x.hs
			}
		}
		return
	}
	for h := range x.len {
		at := x.off + h*x.hs
		for v := range x.n {
			r[v*distance+h] = x.data[at]
			at += x.vs
		}
	}
}

// scaleAll multiplies r by 2^shift, replaces infinities and NaN by 0, and reports whether a number
// lost bits.
func scaleAll(r []float64, shift int) (lossy bool) {
	half := shift / 2 // 2^shift may be out of range
	f, g := scale(1, half), scale(1, shift-half)
	for h, x := range r {
		y := x * f * g
		if size := math.Abs(y); !(size >= 0x1p-1022 && size <= math.MaxFloat64) {
			if !finite(x) {
				y = 0
			} else if x != 0 {
				lossy = true
			}
		}
		r[h] = y
	}
	return lossy
}

// fold adds the lanes.
func fold(part *[lanes]float64) float64 {
	for step := lanes / 2; step > 0; step /= 2 {
		for l := range step {
			part[l] += part[l+step]
		}
	}
	return part[0]
}
