package seed

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// Slack bounds the growth of nearly tied pivots that are accepted as equal, relative to the growth
// of the true pivot.
var Slack = new(big.Float).SetPrec(64).Add(big.NewFloat(1), new(big.Float).SetMantExp(big.NewFloat(1), -60))

// RookAlpha is the constant of rook pivoting. RookGrowth bounds the multipliers, slightly above
// 1/(1 - alpha).
var (
	RookAlpha  = big.NewFloat(0.6403882032022076) // (1 + √17)/8
	RookGrowth = big.NewFloat(2.79)
)

// doubt is the relative difference, 2^-30, within which float64 numbers may not decide about
// pivots.
const doubt = 0x1p-30

// RookSeed is an elimination L D L^T with rook pivoting in float64. It gives the same numbers on
// every machine, since all sums have their terms in one order and are rounded alike. It gives up
// where magnitudes that decide about pivots differ by less than doubt.
//
// Columns are taken in panels (Bunch and Kaufman in blocks: Anderson and Dongarra, Evaluating block
// algorithm variants in LAPACK, 1989). The stored remaining matrix is the one before the panel. A
// column that is examined subtracts the eliminations of the panel at once; the others subtract them
// when the panel ends.
type RookSeed struct {
	X      [][]float64 // L below the diagonal blocks, and the lower triangle of D
	Order  []int
	Blocks []int
	doubts bool

	flat  []float64    // row i of x from i n on
	l, u  []float64    // L and D L^T of the panel, column p of either from p n on
	width int          // columns of the panel
	below []int        // for each column of the panel, the first row below its diagonal block
	v     [2][]float64 // columns of the remaining matrix that pivots are chosen from
}

// RookPanel is the number of columns of a panel of RookSeed; a panel that ends with a block of
// order 2 may have one more.
const RookPanel = 32

// At returns entry (i, j) of a block of D.
func (r *RookSeed) At(i, j int) float64 { return r.X[max(i, j)][min(i, j)] }

// NewRookSeed eliminates a, scaled as by; nil if there are doubts or the remaining matrix vanishes.
func NewRookSeed(s *call.Run, a num.Mat, by scale.Scaling) (*RookSeed, error) {
	n := a.Rows
	r := &RookSeed{X: make([][]float64, n), Order: call.All(n)}
	r.flat = by.Float64sOn(s.Threads, a, s.Floats(n*n)) // symmetric
	for i := range r.X {
		r.X[i] = r.flat[i*n : i*n+i+1]
	}
	r.l, r.u, r.below = s.Floats((RookPanel+1)*n), s.Floats((RookPanel+1)*n), make([]int, RookPanel+1)
	r.v = [2][]float64{s.Floats(n), s.Floats(n)}
	for k := 0; k < n; {
		size := r.pivot(k)
		if size == 0 || r.doubts || !r.eliminate(k, size) {
			return nil, nil
		}
		r.Blocks = append(r.Blocks, size)
		if k += size; r.width >= RookPanel {
			r.store(k)
			if err := updateRook(s, r, k); err != nil {
				return nil, err
			}
		}
	}
	r.store(n)
	return r, nil
}

// store stores the columns of L in the panel, which ends at column k.
func (r *RookSeed) store(k int) {
	const rows = 16 // rows at a time
	n, first := len(r.X), k-r.width
	for from := first; from < n; from += rows {
		for p := range r.width {
			l := r.l[p*n:][:n]
			for i := max(from, r.below[p]); i < min(from+rows, n); i++ {
				r.X[i][first+p] = l[i]
			}
		}
	}
}

// eliminate appends the columns of a block of D to the panel; false if the block has no inverse.
func (r *RookSeed) eliminate(k, size int) bool {
	n, first := len(r.X), k+size
	for c := range size {
		for i := k + c; i < first; i++ {
			r.X[i][k+c] = r.v[c][i]
		}
	}
	inverse, ok := r.Inverse(k, size)
	if !ok {
		return false
	}
	for c := range size {
		l, u := r.l[r.width*n:][:n], r.u[r.width*n:][:n]
		r.below[r.width] = first
		r.width++
		copy(u[first:], r.v[c][first:])
		for i := first; i < n; i++ {
			m := 0.0
			for d := range size {
				m += float64(r.v[d][i] * inverse[d][c])
			}
			l[i] = m
		}
	}
	return true
}

// updateRook subtracts the eliminations of the panel from the remaining matrix, rows and columns
// from k.
func updateRook(s *call.Run, r *RookSeed, k int) error {
	n, rows := len(r.X), 128 // rows at a time: entries above the diagonal are not needed
	if s.Threads > 4 {
		rows = 48 // enough parts, which pack U again
	}
	parts := (n - k + rows - 1) / rows
	err := par.For(s.Ctx, s.Threads, parts, func(_, part int) {
		i := k + (parts-1-part)*rows // longer rows first
		to := min(i+rows, n)
		// By columns, as dgemm stores them: rows of the lower triangle are columns of the upper
		// one. The error is the error of the context.
		_ = dgemm.SubtractSame(s.Ctx, 1, to-k, to-i, r.width, r.flat[i*n+k:], n, r.u[k:], n, r.flat[i*n+k-r.width:], n)
	})
	r.width = 0
	return err
}

// column sets v to column j of the remaining matrix at step k, from row k on.
func (r *RookSeed) column(v []float64, k, j int) {
	n := len(r.X)
	v = v[:n]
	copy(v[k:j], r.X[j][k:j])
	for i := j; i < n; i++ {
		v[i] = r.flat[i*n+j]
	}
	p := 0
	for ; p+4 <= r.width; p += 4 {
		l0, l1, l2, l3 := r.l[p*n:][:n], r.l[(p+1)*n:][:n], r.l[(p+2)*n:][:n], r.l[(p+3)*n:][:n]
		u0, u1, u2, u3 := r.u[p*n+j], r.u[(p+1)*n+j], r.u[(p+2)*n+j], r.u[(p+3)*n+j]
		for i := k; i < n; i++ {
			x := v[i] - float64(l0[i]*u0)
			x -= float64(l1[i] * u1)
			x -= float64(l2[i] * u2)
			v[i] = x - float64(l3[i]*u3)
		}
	}
	for ; p < r.width; p++ {
		l, u := r.l[p*n:][:n], r.u[p*n+j]
		for i := k; i < n; i++ {
			v[i] -= float64(l[i] * u)
		}
	}
}

// exchange exchanges rows and columns i and j.
func (r *RookSeed) exchange(i, j int) {
	i, j = min(i, j), max(i, j)
	ExchangeSymmetric(r.X, i, j)
	r.Order[i], r.Order[j] = r.Order[j], r.Order[i]
	n := len(r.X)
	for p := range r.width {
		for _, x := range [][]float64{r.l[p*n:][:n], r.u[p*n:][:n]} {
			x[i], x[j] = x[j], x[i]
		}
	}
	for _, v := range r.v {
		v[i], v[j] = v[j], v[i]
	}
}

// largest returns the row and the magnitude of the largest entry of column j off the diagonal, from
// row k on. It sets doubts if another entry is nearly as large.
func (r *RookSeed) largest(v []float64, k, j int) (int, float64) {
	at, most, next := j, 0.0, 0.0
	for i := k; i < len(r.X); i++ {
		if i == j {
			continue
		}
		if v := math.Abs(v[i]); v > most {
			at, most, next = i, v, most
		} else {
			next = max(next, v)
		}
	}
	r.doubts = r.doubts || most > 0 && next >= float64(most*(1-doubt))
	return at, most
}

// pivot chooses the pivot of step k by rook pivoting and returns its order, 0 if there is none or
// in doubt. It leaves the columns of the pivot in v.
func (r *RookSeed) pivot(k int) int {
	alpha, _ := RookAlpha.Float64()
	enough := func(pivot, most float64) bool {
		x, bound := math.Abs(pivot), float64(most*alpha)
		r.doubts = r.doubts || math.Abs(x-bound) <= float64(bound*doubt)
		return x >= bound
	}
	v := &r.v
	r.column(v[0], k, k)
	i, most := r.largest(v[0], k, k)
	if k == len(r.X)-1 || enough(v[0][k], most) {
		if v[0][k] == 0 {
			return 0
		}
		return 1
	}
	for p := k; !r.doubts; { // v[0] is column p
		r.column(v[1], k, i)
		j, row := r.largest(v[1], k, i)
		if enough(v[1][i], row) {
			v[0], v[1] = v[1], v[0]
			r.exchange(k, i)
			return 1
		}
		if j == p || row <= most {
			r.exchange(k, p)
			if i == k {
				i = p
			}
			r.exchange(k+1, i)
			return 2
		}
		p, most, i = i, row, j
		v[0], v[1] = v[1], v[0]
	}
	return 0
}

// Inverse returns the inverse of the block of D in row k; not ok if there is none.
func (r *RookSeed) Inverse(k, size int) (z [2][2]float64, ok bool) {
	p := r.X[k][k]
	if size == 1 {
		z[0][0] = 1 / p
		return z, math.Abs(p) > LeastPivot
	}
	off, q := r.X[k+1][k], r.X[k+1][k+1]
	det := float64(p*q) - float64(off*off)
	z = [2][2]float64{{q / det, -off / det}, {-off / det, p / det}}
	return z, math.Abs(det) > LeastPivot*LeastPivot
}

// RookOrder is an order of rows and columns, with the orders of the diagonal blocks.
type RookOrder struct {
	Order, Blocks []int
	High          int64 // no entry exceeds 2^high
	Loss          int   // see RookForDigits
}

// RookPivots returns the pivots and blocks of the factors P A P^T = L D L^T of the symmetric a,
// found in float64 arithmetic, and these factors, divided by 2^High; nil if there are doubts.
func RookPivots(s *call.Run, a num.Mat) (*RookOrder, *RookSeed, error) {
	n := a.Rows
	if n < Fewest {
		return nil, nil, nil
	}
	even := scale.Unscaled(n, n) // equal powers of two, which do not change the pivots
	tops, highs := scale.TopsOn(s.Threads, a).Top, make([]int64, n)
	err := par.Each(s.Ctx, s.Threads, n, func(j int) { highs[j] = slices.Max(tops[j*n : (j+1)*n]) })
	if err != nil {
		return nil, nil, err
	}
	high := slices.Max(highs)
	if high == scale.None {
		return nil, nil, nil
	}
	for j := range n {
		even.Cols[j] = -high
	}
	r, err := NewRookSeed(s, a, even)
	if r == nil || err != nil {
		return nil, nil, err
	}
	return &RookOrder{Order: r.Order, Blocks: r.Blocks, High: high}, r, nil
}

// RookForDigits returns the pivots for an elimination in digits, with its loss. It returns nil
// where numbers have more than most bits, as the other eliminations do, so that pivots do not
// depend on the elimination. It also returns nil where exponents are too large for digits.
func RookForDigits(s *call.Run, a num.Mat, most int) (*RookOrder, error) {
	m := a
	if (m.Arr.Terms() > 1 || a.Format().Bits() > most) && bound.Longest(a) > int64(most) || bound.Far(a, call.MostExponent) {
		return nil, nil
	}
	defer s.Temporary()()
	p, r, err := RookPivots(s, a)
	if p != nil {
		p.Loss = r.loss()
	}
	return p, err
}

// loss returns about how many bits more than the entries have an elimination in digits needs: see
// digits.LDLT.
func (r *RookSeed) loss() int {
	v := make([]float64, len(r.X)) // L^-1 times signs without a pattern
	sum, first := 0.0, 0
	for _, size := range r.Blocks {
		for i := first; i < first+size; i++ {
			v[i] = float64(1-2*(i*40503>>9&1)) - Dot(r.X[i][:first], v[:first])
		}
		inverse, _ := r.Inverse(first, size)
		for c := range size {
			for d := range size {
				sum += math.Abs(v[first+c] * inverse[c][d])
			}
		}
		first += size
	}
	_, e := math.Frexp(sum)
	_, f := math.Frexp(call.LargestOf(v))
	// n 408 d, the row sums of L, and as much again for other signs.
	return max(e, 0) + f + Growth + 2*bits.Len(uint(len(v))) + 12
}
