package ozaki

import (
	"context"
	"math"
	"math/bits"

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

// vectors is a view of the rows of the left, or the columns of the right factor: entry h of
// vector v is data[v vs + h hs].
type vectors struct {
	data   []float64
	vs, hs int
	n, len int
	norms  func(h0, h1, slices int) (norms, error) // of slices of entries h0 ≤ h < h1, on a GPU; else nil
}

func (x vectors) at(v, h int) float64 { return x.data[v*x.vs+h*x.hs] }

// part is the view of the entries h0 ≤ h < h1 of the vectors v0 ≤ v < v1.
func (x vectors) part(v0, v1, h0, h1 int) vectors {
	x.n, x.len = v1-v0, h1-h0
	if x.n > 0 && x.len > 0 {
		x.data = x.data[v0*x.vs+h0*x.hs:]
	}
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

// exponents returns ⌈log2 max_h |x_vh|⌉ of the finite entries of each vector, 0 for vectors of
// zeros.
func exponents(ctx context.Context, threads int, x vectors) ([]int, error) {
	e := make([]int, x.n)
	err := par.For(ctx, threads, x.n, func(_, v int) {
		m := 0.0
		for h := range x.len {
			if a := math.Abs(x.at(v, h)); a > m && a <= math.MaxFloat64 {
				m = a
			}
		}
		e[v] = exponent(m)
	})
	return e, err
}

// scale returns x 2^e, rounded once.
func scale(x float64, e int) float64 {
	if e >= -1022 && e <= 1023 {
		return x * math.Float64frombits(uint64(e+1023)<<52)
	}
	return math.Ldexp(x, e)
}

// split are the slices of one operand. With the exponent e_v of a vector, α bits a slice and
//
//	r_1 = x 2^(α - e_v),  q_t = ⌊r_t⌉,  r_(t+1) = (r_t - q_t) 2^(α+1),
//
// ⌊·⌉ the nearest integer, ties to even, |r_t| ≤ 2^α and
//
//	x = 2^(e_v - α) (Σ_(t<T) q_t 2^(-(t-1)(α+1)) + r_T 2^(-(T-1)(α+1)))  for every T.
//
// All steps are exact but r_1 below 2^-1022. Stored are the integers q_t and the remainders
// r_t, rounded to float32.
type split struct {
	alpha int
	exp   []int
	q, r  []*sgemm.Panels // q[t-1], r[t-1]; nil where not wanted or 0
	norms norms
}

// want says which slices and remainders, numbered from 1, a split keeps.
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
			s.q[t] = sgemm.NewPanels(width, x.n, x.len, nil)
		}
		if w.r(t + 1) {
			s.r[t] = sgemm.NewPanels(width, x.n, x.len, nil)
		}
	}
	err := par.For(ctx, threads, (x.n+width-1)/width, func(_, p int) {
		for v := p * width; v < min((p+1)*width, x.n); v++ {
			s.vector(x, v, width)
		}
	})
	for t := range slices {
		if allZero(s.norms.q[t]) {
			s.q[t] = nil
		}
		if allZero(s.norms.r[t]) {
			s.r[t] = nil
		}
	}
	return s, err
}

func allZero(x []float64) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

func newNorms(n, slices int) norms {
	x := norms{make([][]float64, slices), make([][]float64, slices)}
	for t := range slices {
		x.q[t], x.r[t] = make([]float64, n), make([]float64, n)
	}
	return x
}

// vector splits vector v.
func (s *split) vector(x vectors, v, width int) {
	sumQ, sumR := make([]float64, len(s.q)), make([]float64, len(s.q))
	part := make([][lanes]float64, len(s.q))
	shift := s.alpha - s.exp[v]
	half := shift / 2
	next := float64(int(1) << (s.alpha + 1))
	lossy := false
	for h := range x.len {
		r := x.at(v, h)
		if !finite(r) {
			r = 0
		}
		zero := r == 0
		r = scale(scale(r, half), shift-half) // 2^shift may be out of range
		lossy = lossy || !zero && math.Abs(r) < 0x1p-1022
		for t := range s.q {
			q := math.RoundToEven(r)
			rest := float32(r)
			at := (v/width*x.len+h)*width + v%width
			if s.q[t] != nil {
				s.q[t].Data[at] = float32(q)
			}
			if s.r[t] != nil {
				s.r[t].Data[at] = rest
			}
			sumQ[t] += q * q
			if r != 0 {
				size := max(math.Abs(float64(rest)), smallest)
				part[t][h%lanes] += float64(size * size)
			}
			r = (r - q) * next
		}
		if h%chunk == chunk-1 || h == x.len-1 {
			for t := range part {
				sumR[t] += fold(&part[t])
			}
		}
	}
	for t := range s.q {
		if lossy && sumR[t] == 0 {
			sumR[t] = smallest * smallest
		}
		s.norms.q[t][v] = math.Sqrt(sumQ[t]) * upward
		// Rounding takes at most the share n 2^-53 of a sum of n non-negative numbers.
		s.norms.r[t][v] = math.Sqrt(sumR[t]) * (1 + float64(x.len+8)*0x1p-53)
	}
}

// fold adds the lanes, and clears them.
func fold(part *[lanes]float64) float64 {
	for step := lanes / 2; step > 0; step /= 2 {
		for l := range step {
			part[l] += part[l+step]
		}
	}
	sum := part[0]
	clear(part[:])
	return sum
}
