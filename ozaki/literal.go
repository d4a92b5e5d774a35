package ozaki

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/sgemm"
)

// Split selects how operands are split into slices.
type Split int

const (
	// Scaled slices are the integers nearest to numbers scaled by powers of two, one for each row
	// or column, as in the package documentation. They support numbers of any size.
	Scaled Split = iota

	// Literal slices follow algorithm 2 of the paper exactly: L = k, β = 24 - α, and for each row
	// of op(A), or column of op(B), r_1 = x and
	//
	//	σ_t = 2^(⌈log2 max_h |r_t|⌉ + β),  q_t = fl32((fl32(r_t) + σ_t) - σ_t),  r_(t+1) = RN(r_t - q_t),
	//
	// with r_t in float64, the rest in float32; σ_t = 0 where all r_t are. The paper has K = 2 and
	// leaves other K to the reader; this is its equation (16). Negative numbers get α bits of a
	// slice and the others α - 1. So |r_(t+1)| is at most 2^-α of the largest |r_t|, which is one
	// bit less for each slice than by Scaled. Products are as for Scaled without its scaling, and
	//
	//	T = q_1 q_1 + q_1 q_2 + q_2 q_1 + … + q_1 r_K + q_2 r_(K-1) + … + r_K r_1,
	//
	// in groups s + t = 2, 3, …, K+1, and in each group s = 1, 2, …, is added in float64 from the
	// left.
	//
	// The paper assumes numbers with exponents of float32, and no overflow or underflow. Let μ and
	// ν be the largest numbers of any row and column that is not zero, l = ⌈log2 k⌉ and
	// h = min(α (K-1), 53). Gemm requires
	//
	//	h - 102 ≤ ⌈log2 μ⌉, ⌈log2 ν⌉ ≤ 127 - β,  h - 102 + l ≤ ⌈log2 μ⌉ + ⌈log2 ν⌉ ≤ 126 - l,
	//
	// and else returns ErrFloat32Range. Then nothing overflows, and the loss by underflow is less
	// than the roundings, whether or not a device flushes subnormal numbers to zero; Options.Bound
	// includes it. Small numbers beside large ones, rows and columns of zeros, infinities and NaN
	// are allowed. Products longer than MaxBlock, a Block, and a Tolerance are errors: the paper
	// has none.
	Literal
)

// ErrFloat32Range is wrapped by the error for numbers, or numbers of slices, that Literal does not
// support.
var ErrFloat32Range = errors.New("beyond the range of float32")

// inRange returns an error unless Literal supports rows and columns with these largest numbers. It
// also bounds the loss by underflow.
func (r *run) inRange(a, b []float64) error {
	if r.left.Cols > MaxBlock {
		return fmt.Errorf("%w: the literal split takes sums of up to %d products, not %d", ErrFloat32Range, MaxBlock, r.left.Cols)
	}
	beta, digits, sum := significand-r.width, min(r.width*(r.Slices-1), 53), bits.Len(uint(r.Block-1))
	least, most := digits-102, 127-beta
	var lo, hi [2]int
	both := true
	for i, list := range [][]float64{a, b} {
		var some bool
		lo[i], hi[i], some = exponentsOf(list)
		both = both && some
		if some && (lo[i] < least || hi[i] > most) {
			return fmt.Errorf("%w: the largest numbers of %s are from 2^%d to 2^%d, the literal split in %d slices takes 2^%d to 2^%d",
				ErrFloat32Range, [2]string{"rows of op(A)", "columns of op(B)"}[i], lo[i], hi[i], r.Slices, least, most)
		}
	}
	if both && (lo[0]+lo[1] < least+sum || hi[0]+hi[1] > 126-sum) {
		return fmt.Errorf("%w: the largest numbers of rows and columns have products from 2^%d to 2^%d, the literal split in %d slices takes 2^%d to 2^%d",
			ErrFloat32Range, lo[0]+lo[1], hi[0]+hi[1], r.Slices, least+sum, 126-sum)
	}
	products := r.Slices * (r.Slices + 1) / 2
	r.tau = math.Ldexp(float64(r.Block)*float64(products), max(hi[0], hi[1], 0)-123)
	return nil
}

// exponentsOf returns the least and the largest ⌈log2 x⌉ of the positive numbers of a list, and
// whether there are any.
func exponentsOf(list []float64) (lo, hi int, some bool) {
	for _, x := range list {
		if x == 0 {
			continue
		}
		e := exponent(x)
		if !some {
			lo, hi, some = e, e, true
		}
		lo, hi = min(lo, e), max(hi, e)
	}
	return lo, hi, some
}

// sigma returns σ for the largest number of a vector.
func sigma(mu float64, beta int) float32 {
	if mu == 0 {
		return 0
	}
	return float32(math.Ldexp(1, exponent(mu)+beta))
}

// newLiteralSplit splits x, whose largest numbers are mu, into literal slices, like newSplit.
func newLiteralSplit(ctx context.Context, threads int, x vectors, mu []float64, alpha, slices, width int, w want) (*split, error) {
	s := &split{alpha: alpha, exp: make([]int, x.n), q: make([]*sgemm.Panels, slices), r: make([]*sgemm.Panels, slices)}
	s.norms = newNorms(x.n, slices)
	for t := range slices {
		if w.q(t + 1) {
			s.q[t] = newPanels(width, x.n, x.len)
		}
		if w.r(t + 1) {
			s.r[t] = newPanels(width, x.n, x.len)
		}
	}
	rooms := make([][]float64, max(threads, 1))
	err := par.For(ctx, threads, (x.n+width-1)/width, func(worker, p int) {
		if rooms[worker] == nil {
			rooms[worker] = make([]float64, width*x.len)
		}
		v0, v1 := p*width, min((p+1)*width, x.n)
		x.part(v0, v1, 0, x.len).copyTo(rooms[worker], x.len)
		for v := v0; v < v1; v++ {
			s.literal(rooms[worker][(v-v0)*x.len:][:x.len], v, mu[v])
		}
	})
	s.dropZeros()
	return s, err
}

// literal splits the entries r of vector v, the largest of which is mu.
func (s *split) literal(r []float64, v int, mu float64) {
	var q, rest [chunk]float32
	for h, x := range r {
		if !finite(x) {
			r[h] = 0
		}
	}
	for t := range s.q {
		shift, next := sigma(mu, significand-s.alpha), 0.0
		squares, sum := 0.0, 0.0
		for lo := 0; lo < len(r); lo += chunk {
			part := r[lo:min(lo+chunk, len(r))]
			var lane [lanes]float64
			for h, x := range part {
				y := float32(x)
				z := float32(y+shift) - shift
				q[h], rest[h] = z, y
				squares += float64(float64(z) * float64(z)) // exact, and so is the sum
				size := math.Abs(float64(y))
				if size < smallest && x != 0 {
					size = smallest
				}
				lane[h%lanes] += float64(size * size)
				x -= float64(z)
				part[h] = x
				if size := math.Abs(x); size > next {
					next = size
				}
			}
			sum += fold(&lane)
			s.q[t].Put(q[:len(part)], v, lo)
			s.r[t].Put(rest[:len(part)], v, lo)
		}
		s.norms.q[t][v], s.norms.r[t][v] = normQ(squares), normR(sum, len(r))
		mu = next
	}
}

// literalBound is errorBound for Literal. With X_s = ‖q_s(A)‖ for s < K, X_K = ‖r_K(A)‖ and Y_t =
// ‖r_t(B)‖, sums have an error of at most
//
//	Σ_s γ X_s Y_(K+1-s) + γ' X Y + δ (X' Y + X Y') + τ,
//
// with γ as in errorBound, X = Σ X_s and Y = Σ max(‖q_t(B)‖, Y_t), and X' and Y' these sums without
// their first terms. γ' is for K (K+1)/2 additions in float64, all of which the first product goes
// through. δ is for subtractions r_t - q_t. They are inexact where the rounding to float32 before
// them passed a tie: by 2^-53 of r_(t+1), whose sum is less than K X'. τ is for underflow in K
// (K+1)/2 products: a step of a sum loses at most 2^-126 (1 + 2μ + 2ν) where a device flushes
// subnormal numbers to zero.
func literalBound(a, b norms, slices, n int, tau float64) *errorBound {
	rows, cols := len(a.r[0]), len(b.r[0])
	e := &errorBound{tau: tau, sumX: make([]float64, rows), sumY: make([]float64, cols)}
	e.x = append(append(e.x, a.q[:slices-1]...), a.r[slices-1])
	g32, allX, allY, restY := gamma(n+3, unit32), make([]float64, rows), make([]float64, cols), make([]float64, cols)
	g64 := gamma(slices*(slices+1)/2, unit64) * (1 + g32)
	delta := gamma(slices, unit64) * (1 + 0x1p-20)
	for s := range slices {
		y := make([]float64, cols)
		for v, r := range b.r[slices-1-s] {
			y[v] = g32 * r
			size := max(b.q[s][v], b.r[s][v])
			allY[v] += size
			if s > 0 {
				restY[v] += size
			}
		}
		e.y = append(e.y, y)
		for v, x := range e.x[s] {
			allX[v] += x
			if s > 0 {
				e.sumX[v] += x
			}
		}
	}
	y := make([]float64, cols)
	for v, size := range allY {
		y[v] = float64(g64*size) + float64(delta*restY[v])
		e.sumY[v] = delta * size
	}
	e.x, e.y = append(e.x, allX), append(e.y, y)
	return e
}
