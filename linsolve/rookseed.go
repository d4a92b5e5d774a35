package linsolve

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// doubt is a factor within which float64 numbers may decide nothing about pivots: 1 ± 2^-30.
const doubt = 0x1p-30

// rookSeed is rook in float64: the same numbers on every machine, since all sums have their terms
// in one order and are rounded alike. Where magnitudes that decide about pivots differ by less than
// doubt, there is none.
//
// Columns are taken in panels (Bunch and Kaufman in blocks: Anderson and Dongarra, Evaluating block
// algorithm variants in LAPACK, 1989): what is left of the matrix is that before the panel, from
// which a column subtracts what the panel has eliminated when it is looked at, and the others when
// the panel ends.
type rookSeed struct {
	x      [][]float64 // L below the diagonal blocks, and the lower triangle of D
	order  []int
	blocks []int
	doubts bool

	flat  []float64    // row i of x from i n on
	l, u  []float64    // L and D L^T of the panel, column p of either from p n on
	width int          // columns of the panel
	v     [2][]float64 // columns of what is left that pivots are chosen from
}

// rookPanel is how many columns of a rookSeed are eliminated before the others are brought up to
// date, or one less than that.
const rookPanel = 32

// at returns entry (i, j) of a block of D.
func (r *rookSeed) at(i, j int) float64 { return r.x[max(i, j)][min(i, j)] }

// rookSeed eliminates, nil if there are doubts or what is left vanishes.
func newRookSeed(s *call.Run, a num.Mat, by scale.Scaling) (*rookSeed, error) {
	n := a.Rows
	r := &rookSeed{x: make([][]float64, n), order: call.All(n)}
	r.flat = by.Float64s(a, s.Floats(n*n)) // symmetric
	for i := range r.x {
		r.x[i] = r.flat[i*n : i*n+i+1]
	}
	r.l, r.u = s.Floats((rookPanel+1)*n), s.Floats((rookPanel+1)*n)
	r.v = [2][]float64{s.Floats(n), s.Floats(n)}
	for k := 0; k < n; {
		size := r.pivot(k)
		if size == 0 || r.doubts || !r.eliminate(k, size) {
			return nil, nil
		}
		r.blocks = append(r.blocks, size)
		if k += size; r.width >= rookPanel {
			if err := updateRook(s, r, k); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// eliminate makes the columns of a block of D a part of the panel; false if it has no inverse.
func (r *rookSeed) eliminate(k, size int) bool {
	n, first := len(r.x), k+size
	for c := range size {
		for i := k + c; i < first; i++ {
			r.x[i][k+c] = r.v[c][i]
		}
	}
	inverse, ok := r.inverse(k, size)
	if !ok {
		return false
	}
	for c := range size {
		l, u := r.l[r.width*n:][:n], r.u[r.width*n:][:n]
		r.width++
		copy(u[first:], r.v[c][first:])
		for i := first; i < n; i++ {
			m := 0.0
			for d := range size {
				m += float64(r.v[d][i] * inverse[d][c])
			}
			l[i], r.x[i][k+c] = m, m
		}
	}
	return true
}

// updateRook subtracts from what is left, of rows and columns from k on, what the panel eliminates.
func updateRook(s *call.Run, r *rookSeed, k int) error {
	const rows = 128 // at a time: what is above the diagonal is of no use
	n := len(r.x)
	for i := k; i < n; i += rows {
		to := min(i+rows, n)
		// By columns, as dgemm has them: rows of the lower triangle are columns of the upper one.
		err := dgemm.SubtractSame(s.Ctx, s.Threads, to-k, to-i, r.width, r.flat[i*n+k:], n, r.u[k:], n, r.flat[i*n+k-r.width:], n)
		if err != nil {
			return err
		}
	}
	r.width = 0
	return nil
}

// column sets v to column j of what is left at step k, from row k on.
func (r *rookSeed) column(v []float64, k, j int) {
	n := len(r.x)
	v = v[:n]
	copy(v[k:j], r.x[j][k:j])
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

// exchange exchanges rows and columns.
func (r *rookSeed) exchange(i, j int) {
	i, j = min(i, j), max(i, j)
	exchangeSymmetric(r.x, i, j)
	r.order[i], r.order[j] = r.order[j], r.order[i]
	n := len(r.x)
	for p := range r.width {
		for _, x := range [][]float64{r.l[p*n:][:n], r.u[p*n:][:n]} {
			x[i], x[j] = x[j], x[i]
		}
	}
	for _, v := range r.v {
		v[i], v[j] = v[j], v[i]
	}
}

// largest is that of rook, of column j.
func (r *rookSeed) largest(v []float64, k, j int) (int, float64) {
	at, most, next := j, 0.0, 0.0
	for i := k; i < len(r.x); i++ {
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

// pivot is that of rook; the columns of the pivot are left in v.
func (r *rookSeed) pivot(k int) int {
	alpha, _ := rookAlpha.Float64()
	enough := func(pivot, most float64) bool {
		x, bound := math.Abs(pivot), float64(most*alpha)
		r.doubts = r.doubts || math.Abs(x-bound) <= float64(bound*doubt)
		return x >= bound
	}
	v := &r.v
	r.column(v[0], k, k)
	i, most := r.largest(v[0], k, k)
	if k == len(r.x)-1 || enough(v[0][k], most) {
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

// inverse returns that of the block of D in row k; not ok if there is none.
func (r *rookSeed) inverse(k, size int) (z [2][2]float64, ok bool) {
	p := r.x[k][k]
	if size == 1 {
		z[0][0] = 1 / p
		return z, math.Abs(p) > leastPivot
	}
	off, q := r.x[k+1][k], r.x[k+1][k+1]
	det := float64(p*q) - float64(off*off)
	z = [2][2]float64{{q / det, -off / det}, {-off / det, p / det}}
	return z, math.Abs(det) > leastPivot*leastPivot
}

// rookOrder is an order of rows and columns, which makes diagonal blocks of these orders.
type rookOrder struct {
	order, blocks []int
	high          int64 // no entry exceeds 2^high
	loss          int   // see rookForDigits
}

// rookPivots returns pivots and blocks for the factors of the symmetric a, P A P^T = L D L^T, that
// float64 arithmetic found, and these factors, divided by 2^high; nil if there are doubts.
func rookPivots(s *call.Run, a num.Mat) (*rookOrder, *rookSeed, error) {
	n := a.Rows
	if n < fewest {
		return nil, nil, nil
	}
	even := scale.Unscaled(n, n) // powers of two that leave pivots as they are
	high := int64(scale.None)
	for _, e := range scale.TopsOf(a).Top {
		high = max(high, e)
	}
	if high == scale.None {
		return nil, nil, nil
	}
	for j := range n {
		even.Cols[j] = -high
	}
	r, err := newRookSeed(s, a, even)
	if r == nil || err != nil {
		return nil, nil, err
	}
	return &rookOrder{order: r.order, blocks: r.blocks, high: high}, r, nil
}

// newRook returns what rookPivots does, with a seed if float64 suffices for one; nil too where
// numbers have more than most bits, with which pivots are never taken.
func newRook(s *call.Run, a num.Mat, most int) (*rooked, error) {
	defer s.Release()
	found, r, err := rookPivots(s, a)
	if found == nil || err != nil {
		return nil, err
	}
	n := a.Rows
	p := &rooked{pivoted: pivoted{order: found.order, c: modular.Chosen(a, r.order, r.order)}, blocks: found.blocks}
	t := &splitting{s: s, k: n, blocks: r.blocks, by: scale.Equilibrate(p.c, scale.Unscaled(n, n))}
	if t.f = call.Scaled(p.c, t.by, most); t.f.Arr == nil {
		return nil, nil
	}
	ok, err := t.invertBlocks(r, found.high)
	if ok {
		p.splitting = t
	}
	return p, err
}

// rookForDigits returns the pivots for an elimination in digits, of which it tells the loss; nil
// where newRook returns that as numbers have more than most bits, or where digits are not the way
// as exponents are too large: pivots are the same whatever eliminates.
func rookForDigits(s *call.Run, a num.Mat, most int) (*rookOrder, error) {
	m := a
	if (m.Arr.Terms() > 1 || a.Format().Bits() > most) && bound.Longest(a) > int64(most) || bound.Far(a, call.MostExponent) {
		return nil, nil
	}
	defer s.Release()
	p, r, err := rookPivots(s, a)
	if p != nil {
		p.loss = r.loss()
	}
	return p, err
}

// loss returns how many bits more than those of the entries an elimination in digits needs, about:
// see digitLDLT.
func (r *rookSeed) loss() int {
	v := make([]float64, len(r.x)) // L^-1 times signs without a pattern
	sum, first := 0.0, 0
	for _, size := range r.blocks {
		for i := first; i < first+size; i++ {
			v[i] = float64(1 - 2*(i*40503>>9&1))
			for k, l := range r.x[i][:first] {
				v[i] -= l * v[k] // may fuse: an estimate
			}
		}
		inverse, _ := r.inverse(first, size)
		for c := range size {
			for d := range size {
				sum += math.Abs(v[first+c] * inverse[c][d])
			}
		}
		first += size
	}
	_, e := math.Frexp(sum)
	_, f := math.Frexp(call.LargestOf(v))
	// n 408 d, sums of rows of L, and as much again for other signs.
	return max(e, 0) + f + growth + 2*bits.Len(uint(len(v))) + 12
}

// rooked is a pivoted one with the orders of the diagonal blocks.
type rooked struct {
	pivoted
	blocks []int
}

// rookAgain is rook with these pivots; nil if one of them vanishes.
func rookAgain(s *call.Run, p *rooked, bits int) (*rook, error) {
	if err := call.Workable(bits, p.c); err != nil {
		return nil, err
	}
	r := &rook{x: lowerTriangle(p.c, uint(bits)), order: p.order, blocks: p.blocks}
	k := 0
	for _, size := range p.blocks {
		if ok, err := eliminateRook(s, r, k, size, uint(bits)); !ok || err != nil {
			return nil, err
		}
		k += size
	}
	return r, nil
}

// rookByElimination returns a seed from an elimination in as few bits as do, and what it encloses
// in so many bits; see byElimination.
func rookByElimination(s *call.Run, a num.Mat, most, bits int, regular func() error, eliminate func(some int) (*rook, error)) (p *rooked, e *ziv.Enclosure, err error) {
	n := a.Rows
	least, err := eliminationBits(s, a)
	if err != nil {
		return nil, nil, err
	}
	e, err = byElimination(s, n, n, least, bits, regular, func(some int) (*splitting, error) {
		r, err := eliminate(some)
		if r == nil || err != nil {
			return nil, err
		}
		li, ui, err := blockInverses(s, r, some)
		if err != nil {
			return nil, err
		}
		p = &rooked{pivoted: pivoted{order: r.order, c: modular.Chosen(a, r.order, r.order)}, blocks: r.blocks}
		p.splitting, err = newSplitting(s, p.c, r.blocks, li, ui, most)
		return p.splitting, err
	})
	return p, e, err
}

// invertBlocks makes S and T the inverses of L and U = D L^T in float64, for the matrix that was
// divided by 2^high, and reports whether they are of use.
//
// With G = U T - I and ‖G‖∞ ≤ 1/4, |T^-1| = |(I + G)^-1 U|, so that cond ≤ 4/3 ‖|U| |T|‖∞.
func (t *splitting) invertBlocks(r *rookSeed, high int64) (ok bool, err error) {
	n := t.k
	l, x := t.s.Floats(n*n), t.s.Floats(n*n)
	clear(l)
	clear(x)
	u, y := t.s.Floats(n*n), t.s.Floats(n*n) // transposes of U and T
	starts := make([]int, len(r.blocks))
	first := 0
	for k, size := range r.blocks {
		starts[k] = first
		for j := first; j < first+size; j++ {
			l[j+j*n] = 1
			for i := first + size; i < n; i++ {
				l[i+j*n] = r.x[i][j]
			}
		}
		first += size
	}
	if err := dgemm.InvertLower(t.s.Ctx, t.s.Threads, n, l, x); err != nil {
		return false, err
	}
	err = par.Each(t.s.Ctx, t.s.Threads, len(starts), func(k int) {
		first, size := starts[k], r.blocks[k]
		inverse, _ := r.inverse(first, size)
		for c := range size {
			for i := range n {
				sum, other := 0.0, 0.0
				for d := range size {
					sum += float64(l[i+(first+d)*n] * r.at(first+d, first+c))
					other += float64(x[first+d+i*n] * inverse[d][c])
				}
				u[i+(first+c)*n] = sum   // U[first+c,i]
				y[i+(first+c)*n] = other // T[i,first+c]
			}
		}
	})
	if err != nil {
		return false, err
	}
	if !(max(call.LargestOf(l), call.LargestOf(x), call.LargestOf(u), call.LargestOf(y)) < 0x1p200) {
		return false, nil
	}
	rows, up := t.by.Rows, bound.Negated(t.by.Rows)
	if t.x, err = stored(t.s, n, func(i, j int) float64 { return x[i+j*n] }, rows, up); err != nil {
		return false, err
	}
	left, right := make([]int64, n), make([]int64, n)
	for i := range n {
		left[i], right[i] = -t.by.Cols[i]-high, high+t.by.Cols[i]
	}
	if t.y, err = stored(t.s, n, func(i, j int) float64 { return y[i+j*n] }, left, up); err != nil {
		return false, err
	}
	upper, err := stored(t.s, n, func(i, j int) float64 { return u[j+i*n] }, rows, right)
	if err != nil {
		return false, err
	}
	g := num.NewMat(num.Precision(24), n, n)
	if err := t.upperProduct(1, upper, t.y, -1, num.Identity(num.Float64, n), g, nil); err != nil {
		return false, err
	}
	near, err := magnitudesOf(t.s, g)
	if err != nil || !(call.LargestOf(near.rows()) <= 0.25) {
		return false, err
	}
	a, b, err := bothMagnitudes(t.s, upper, t.y)
	if err != nil {
		return false, err
	}
	t.cond = float64(1.5 * call.LargestOf(a.times(b.rows())))
	t.amp = 2*sizeOf(t.cond) + 1
	return t.amp < 1<<20, nil
}
