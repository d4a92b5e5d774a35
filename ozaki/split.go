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
		s.panel(x, p*width, min((p+1)*width, x.n))
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

// panel splits the vectors v0 ≤ v < v1 of a panel, chunk by chunk, as those of its vectors lie
// together.
func (s *split) panel(x vectors, v0, v1 int) {
	n := v1 - v0
	lossy := make([]bool, n)
	next := float64(int(1) << (s.alpha + 1))
	var buffer [chunk]float64
	for lo := 0; lo < x.len; lo += chunk {
		r := buffer[:min(chunk, x.len-lo)]
		for v := v0; v < v1; v++ {
			lossy[v-v0] = x.scaled(r, v, lo, s.alpha-s.exp[v]) || lossy[v-v0]
			for t := range s.q {
				sum := foldSquares(r)
				if sum == 0 {
					zeros(s.q[t:], s.r[t:], v, lo, lo+len(r))
					break
				}
				s.norms.r[t][v] += sum
				store(s.r[t], r, v, lo)
				s.norms.q[t][v] += slice(s.q[t], r, v, lo, next)
			}
		}
	}
	for t := range s.q {
		for v := v0; v < v1; v++ {
			sum := s.norms.r[t][v]
			if lossy[v-v0] && sum == 0 {
				sum = smallest * smallest
			}
			s.norms.q[t][v] = math.Sqrt(s.norms.q[t][v]) * upward
			// Rounding takes at most the share n 2^-53 of a sum of n non-negative numbers.
			s.norms.r[t][v] = math.Sqrt(sum) * (1 + float64(x.len+8)*0x1p-53)
		}
	}
}

// scaled sets r to the entries of vector v from lo on times 2^shift, and reports whether one
// of them lost bits.
func (x vectors) scaled(r []float64, v, lo, shift int) (lossy bool) {
	half := shift / 2 // 2^shift may be out of range
	f, g := scale(1, half), scale(1, shift-half)
	at := v*x.vs + lo*x.hs
	for h := range r {
		y := x.data[at]
		at += x.hs
		z := y * f * g
		if a := math.Abs(z); !(a >= 0x1p-1022 && a <= math.MaxFloat64) {
			if !finite(y) {
				z = 0
			} else if y != 0 {
				lossy = true
			}
		}
		r[h] = z
	}
	return lossy
}

// foldSquares returns the sum of a chunk's squares, as norms have it.
func foldSquares(r []float64) float64 {
	var part [lanes]float64
	for ; len(r) >= lanes; r = r[lanes:] {
		for l, x := range r[:lanes] {
			part[l] += square(x)
		}
	}
	for l, x := range r {
		part[l] += square(x)
	}
	return fold(&part)
}

// square returns what a number adds to a norm.
func square(x float64) float64 {
	y := math.Abs(float64(float32(x)))
	if y < smallest && x != 0 {
		y = smallest
	}
	return float64(y * y)
}

// store stores r, rounded, as the entries of vector v from lo on, if p is there.
func store(p *sgemm.Panels, r []float64, v, lo int) {
	if p == nil {
		return
	}
	width := p.Width
	to := p.Data[(v/width*p.Len+lo)*width+v%width:]
	at := 0
	for _, x := range r {
		to[at] = float32(x)
		at += width
	}
}

// slice stores the slice of r, if p is there, sets r to what remains of it, and returns the
// sum of the slice's squares, an integer.
func slice(p *sgemm.Panels, r []float64, v, lo int, next float64) (sum float64) {
	if p == nil {
		for h, x := range r {
			q := math.RoundToEven(x)
			sum += float64(q * q)
			r[h] = (x - q) * next
		}
		return sum
	}
	width := p.Width
	to := p.Data[(v/width*p.Len+lo)*width+v%width:]
	at := 0
	for h, x := range r {
		q := math.RoundToEven(x)
		to[at] = float32(q)
		at += width
		sum += float64(q * q)
		r[h] = (x - q) * next
	}
	return sum
}

// zeros clears the entries lo ≤ h < hi of vector v in slices and remainders.
func zeros(q, r []*sgemm.Panels, v, lo, hi int) {
	for _, list := range [2][]*sgemm.Panels{q, r} {
		for _, p := range list {
			if p != nil {
				for h := lo; h < hi; h++ {
					p.Data[(v/p.Width*p.Len+h)*p.Width+v%p.Width] = 0
				}
			}
		}
	}
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
