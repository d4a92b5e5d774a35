package det

import (
	"errors"
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/bigfun"
	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/memlimit"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/budget"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// blockTraces encloses a determinant by two traces, for matrices whose blocks do not fit in memory.
// Z, lower triangular with ones on its diagonal, and U, upper triangular, are float64 inverses of
// the factors and take their place. With Z F U = I + E as for nearUnit, and φ ≥ ‖E‖ (Frobenius),
//
//	log det(I + E) = tr E - tr E² / 2 + r,    |r| ≤ Σ φ^k / k ≤ φ³,  k ≥ 3,  φ ≤ 1/2.
//
// E is computed some rows at a time: W = Z F for these rows, then W U for some columns at a time,
// both correctly rounded to p bits. So the computed E' has
//
//	Σ |E' - E|_ij ≤ h = 2^(2-p) Σ_i (|W| |U| 1)_i,
//
// which bounds the error of tr E' and of ‖E'‖. tr E² pairs entries with entries of the transpose.
// The blocks above the diagonal are kept for this in float32. For the kept E″, with
// ‖E″ - E‖ ≤ η = 2^-23 ‖E″‖ + n 2^-149 + h,
//
//	|tr E″² - tr E²| / 2 ≤ η φ,    φ = ‖E″‖ + η.
//
// Sums of at most n² float64 numbers are in error by n² 2^-52 of the sum of magnitudes, and
// Σ |e_ij e_ji| ≤ ‖E″‖².
type blockTraces struct {
	s      *call.Run
	a      num.Mat
	f      *seed.Factors // LU holds Z and U
	order  []int         // row i of F is row order[i] of A, scaled
	format num.Format    // of p bits
	rows   int           // rows and columns of a block
	sums   []*big.Float  // bounds of the row sums of |U|, scaled

	// room for rows of Z or columns of U, for rows of W, and for blocks of E
	narrow, wide, block num.Mat

	trace  *big.Float
	second float64     // tr E″²
	size   float64     // ‖E″‖², both sums of rounded numbers
	lost   *big.Float  // h
	upper  [][]float32 // rows of blocks of E″ on and above the diagonal, by columns
}

const (
	// tracesBeyond is how many bits more than the result the products of blockTraces have.
	tracesBeyond = 63
	// leastTraceRows and mostTraceRows bound the rows of a block. More rows take less time.
	leastTraceRows, mostTraceRows = 32, 256
	// traceColumns is how many columns of inverses of triangles are computed at a time.
	traceColumns = 64
)

// traceBytes returns the bytes that blockTraces takes with the factors of order n.
func traceBytes(n, places, rows int) float64 {
	rows = min(rows, n)
	wide := call.MP(places + tracesBeyond)
	some := call.MatrixBytes(wide, rows, n) + call.MatrixBytes(call.MP(53), rows, n) + call.MatrixBytes(wide, rows, rows)
	square := float64(n) * float64(n)
	// may fuse: an estimate
	return math.Ceil(10*square+float64(2*n*rows)+float64(some)) + budget.ForProducts(0, square)
}

// reserveTraces reserves the memory of blockTraces beside the factors. It returns the rows of a
// block, as many as fit.
func reserveTraces(s *call.Run, n, places int) (rows int, err error) {
	for rows = mostTraceRows; ; rows /= 2 {
		// may fuse: an estimate
		err := s.Budget.Reserve(traceBytes(n, places, rows) - 8*float64(n)*float64(n))
		if err == nil || rows <= leastTraceRows {
			return rows, err
		}
	}
}

// TracedInBlocks returns the determinant of a regular matrix A with factors f, whose memory it
// overwrites and gives back. The determinant is nil if numbers are out of range or ‖E‖ is too
// large; its log may exceed 2^-places.
func TracedInBlocks(s *call.Run, a num.Mat, f *seed.Factors, places int) (*seed.Determinant, error) {
	defer func() {
		s.GiveBackFloats(f.LU)
		f.LU = nil
	}()
	rows, err := reserveTraces(s, f.N, places)
	if err != nil {
		return nil, err
	}
	n := f.N
	t := &blockTraces{
		s: s, a: a, f: f, format: num.Precision(uint(places + tracesBeyond)), rows: rows,
		trace: new(big.Float).SetPrec(uint(places + tracesBeyond + 128)), lost: bound.Upper(),
	}
	var odd bool
	t.order, odd = f.Order()
	if s.Work.Report != nil {
		s.Plan(1.5 * float64(call.ProductOf(n, n, n, t.format.Bits())))
	}
	if ok, err := t.invert(); !ok || err != nil {
		return nil, err
	}
	rows = min(rows, n)
	t.narrow, t.wide, t.block = s.MatrixHere(num.Precision(53), rows, n), s.MatrixHere(t.format, rows, n), s.MatrixHere(t.format, rows, rows)
	for first := 0; first < n; first += rows {
		if ok, err := t.addRows(first, min(first+rows, n)); !ok || err != nil {
			return nil, err
		}
	}
	log := t.log()
	if log == nil {
		return nil, nil
	}
	prec := t.trace.Prec()
	product := new(big.Float).SetPrec(prec).SetInt64(1)
	for i := range n {
		product.Mul(product, big.NewFloat(f.LU[i+i*n]))
	}
	d := &seed.Determinant{Mid: bigfun.Exp(log, prec).SetPrec(prec), Log: t.lost}
	d.Mid.Quo(d.Mid, product)
	if odd {
		d.Mid.Neg(d.Mid)
	}
	for i := range n {
		d.Shift -= f.Rows[i] + f.Cols[i]
	}
	s.Stats.Precision = max(s.Stats.Precision, t.format.Bits())
	return d, nil
}

// invert replaces the factors by inverses, some columns at a time. A column of the inverse of L is
// 0 above its diagonal entry, and takes no earlier columns of L; for U these are the entries below
// and the later columns. Columns that are replaced already are multiplied by 0. invert reports
// whether all numbers are finite and the diagonal of U is not 0.
func (t *blockTraces) invert() (ok bool, err error) {
	s, n, lu := t.s, t.f.N, t.f.LU
	room := make([]float64, n*min(traceColumns, n)) // as much is reserved for later
	units := func(first, end int) []float64 {
		x := room[:n*(end-first)]
		clear(x)
		for j := first; j < end; j++ {
			x[(j-first)*n+j] = 1
		}
		return x
	}
	for first := 0; first < n; first += traceColumns {
		end := min(first+traceColumns, n)
		x := units(first, end)
		if err := dgemm.SolveLower(s.Ctx, s.Threads, n, end-first, lu, x); err != nil {
			return false, err
		}
		for j := first; j < end; j++ {
			copy(lu[j*n+j+1:(j+1)*n], x[(j-first)*n+j+1:])
		}
	}
	for first := (n - 1) / traceColumns * traceColumns; first >= 0; first -= traceColumns {
		end := min(first+traceColumns, n)
		x := units(first, end)
		if err := dgemm.SolveUpper(s.Ctx, s.Threads, n, end-first, lu, x); err != nil {
			return false, err
		}
		for j := first; j < end; j++ {
			copy(lu[j*n:j*n+j+1], x[(j-first)*n:])
		}
	}
	sums := make([]float64, n)
	for j := range n {
		if lu[j+j*n] == 0 {
			return false, nil
		}
		for _, v := range lu[j*n : (j+1)*n] {
			if v-v != 0 {
				return false, nil
			}
		}
		dgemm.AxpyAbs(1, lu[j*n:j*n+j+1], sums[:j+1])
	}
	for i, sum := range seed.Raised(sums) {
		if !(sum < 0x1p900) {
			return false, nil
		}
		t.sums = append(t.sums, bound.ScaledUp(bound.Upper().SetFloat64(sum), t.f.Cols[i]))
	}
	return true, nil
}

// factor returns a matrix of zeros for a part of Z or U, which the next call overwrites.
func (t *blockTraces) factor(rows, cols int) num.Mat {
	a := t.narrow.Arr
	clear(a.Sig)
	clear(a.Exp)
	clear(a.Cls)
	return num.Mat{Arr: a, RS: 1, CS: rows, Rows: rows, Cols: cols}
}

// left returns rows first to end of W = Z F without the scaling of the columns of F, which is part
// of U here.
func (t *blockTraces) left(first, end int) (w num.Mat, ok bool, err error) {
	n := t.f.N
	z := t.factor(end-first, n)
	for i := first; i < end; i++ {
		for c := range i + 1 {
			x := 1.0
			if c < i {
				x = t.f.LU[i+c*n]
			}
			if k := t.order[c]; !call.SetFloat(z.Arr, z.At(i-first, k), x, t.f.Rows[k]) {
				return num.Mat{}, false, nil
			}
		}
	}
	w = t.wide.Slice(0, end-first, 0, n)
	return w, true, t.s.Gemm(1, z, t.a, 0, num.Mat{}, w)
}

// product returns columns first to end of W U.
func (t *blockTraces) product(w num.Mat, first, end int) (e num.Mat, ok bool, err error) {
	n := t.f.N
	u := t.factor(end, end-first)
	for j := first; j < end; j++ {
		for i := range j + 1 {
			if !call.SetFloat(u.Arr, u.At(i, j-first), t.f.LU[i+j*n], t.f.Cols[i]) {
				return num.Mat{}, false, nil
			}
		}
	}
	e = t.block.Slice(0, w.Rows, 0, end-first)
	return e, true, t.s.Gemm(1, w.Slice(0, w.Rows, 0, end), u, 0, num.Mat{}, e)
}

// addRows adds the entries in rows first to end of E to the sums.
func (t *blockTraces) addRows(first, end int) (ok bool, err error) {
	n := t.f.N
	w, ok, err := t.left(first, end)
	if !ok || err != nil {
		return false, err
	}
	for _, sum := range bound.RawBounds(w).Apply(t.sums) {
		t.lost.Add(t.lost, sum.SetMantExp(sum, 2-t.format.Bits()))
	}
	bytes := 4 * int64(end-first) * int64(n-first)
	t.s.Budget.Reclaim(bytes)
	t.upper = append(t.upper, make([]float32, (end-first)*(n-first)))
	for j0 := 0; j0 < n; j0 += t.rows {
		e, ok, err := t.product(w, j0, min(j0+t.rows, n))
		if !ok || err != nil {
			return false, err
		}
		if j0 == first {
			for i := range e.Rows {
				d := e.Big(i, i)
				d.SetPrec(2*d.Prec()+64).Sub(d, big.NewFloat(1)) // exact for d near 1
				t.trace.Add(t.trace, d)
				e.SetBig(i, i, d)
			}
		}
		t.pair(e.Convert(num.Float64), first, j0)
	}
	return true, nil
}

// pair adds the products of the entries of the block of E at (i0, j0) with the entries of its
// transpose. It keeps a block on or above the diagonal.
func (t *blockTraces) pair(e num.Mat, i0, j0 int) {
	k := e.Rows
	if j0 < i0 {
		other := t.upper[j0/t.rows]
		for c := range e.Cols {
			for r := range k {
				x := float64(float32(e.Arr.F64[0][c*k+r]))
				t.size += float64(x * x)
				t.second += float64(2 * x * float64(other[(i0-j0+r)*t.rows+c]))
			}
		}
		return
	}
	kept := t.upper[i0/t.rows][(j0-i0)*k:][:k*e.Cols]
	for i, x := range e.Arr.F64[0][:len(kept)] {
		kept[i] = float32(x)
		x = float64(kept[i])
		t.size += float64(x * x)
	}
	if i0 == j0 {
		for c := range k {
			for r := range k {
				t.second += float64(float64(kept[c*k+r]) * float64(kept[r*k+c]))
			}
		}
	}
}

// log returns log det(I + E), approximately, and adds its error to lost; nil if ‖E‖ is too large.
func (t *blockTraces) log() *big.Float {
	n := float64(t.f.N)
	slack := float64(float64(n*n) * 0x1p-52)
	if !(t.size < 0x1p-16 && slack < 0x1p-8) {
		return nil
	}
	up := bound.Upper
	kept := up().SetFloat64(math.Sqrt(t.size*(1+float64(2*slack))) * (1 + 0x1p-50))
	near := up().Mul(kept, bound.Exp2(-23)) // η
	near.Add(near, up().Mul(up().SetFloat64(n), bound.Exp2(-149)))
	near.Add(near, t.lost)
	norm := up().Add(kept, near) // φ
	if norm.Cmp(bound.Exp2(-7)) > 0 {
		return nil
	}
	t.s.Stats.Rho = max(t.s.Stats.Rho, call.Measure(norm))
	t.lost.Add(t.lost, up().Mul(near, norm))
	t.lost.Add(t.lost, up().Mul(up().SetFloat64(slack), up().Mul(kept, kept)))
	t.lost.Add(t.lost, up().Mul(norm, up().Mul(norm, norm)))
	// Sums and products of numbers near 1 are rounded a few n times.
	t.lost.Add(t.lost, bound.Exp2(2*bits.Len(uint(t.f.N))+8-int(t.trace.Prec())))
	half := new(big.Float).SetPrec(t.trace.Prec()).SetFloat64(t.second)
	return new(big.Float).SetPrec(t.trace.Prec()).Sub(t.trace, half.SetMantExp(half, -1))
}

// checkMemory checks that the memory of blocks fits, or else the memory of traces, for which it
// sets tight.
func (x *enclosed) checkMemory(blocks error) error {
	if !errors.Is(blocks, memlimit.ErrExceeded) || !tracesSuffice(x.bits) {
		return blocks
	}
	x.tight = blocks
	return x.s.Budget.Check(traceBytes(x.a.Rows, x.bits, leastTraceRows))
}

// tracesSuffice reports whether two traces may give so many bits: ‖E‖ is some 2^-25.
func tracesSuffice(places int) bool { return places <= 70 }

// traceable reports whether the way by traces applies.
func (x *enclosed) traceable() bool { return tracesSuffice(x.bits) && x.short() }

// byBlockTraces is for matrices whose blocks do not fit in memory; see TracedInBlocks.
func (x *enclosed) byBlockTraces() error {
	d, err := TracedInBlocks(x.s, x.a, x.lu, x.bits)
	if err == nil && (d == nil || d.Log.MantExp(nil) > -x.bits) || errors.Is(err, call.ErrRange) {
		return x.tight
	}
	return x.take(d, err)
}
