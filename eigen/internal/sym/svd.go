package sym

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/symeig"
)

// left has the left singular vectors of an m x n matrix C, for its eigenproblem CᵀC v = σ² v: u = C
// v / σ for σ > 0. The vectors beside σ = 0, and more vectors that complete them, are a basis of
// the null space of Cᵀ.
type left struct {
	vectors num.Mat // m x (n + more): column p beside eigenvalue p, then the others
	columns []column
	more    int
	settled bool // the basis of the null space is stored
}

// SVDResult has singular values in ascending order, as eigenvalues are, and their vectors.
type SVDResult struct {
	Result
	Left num.Mat // m x k
	More num.Mat // m x (m - n): they complete the vectors, if this was requested
}

// SVD returns singular values of an m x n matrix C of finite numbers on the host, m ≥ n, and their
// vectors, rounded to format f. With complete, all of them are wanted, and More has columns.
func SVD(s *call.Run, c num.Mat, f num.Format, want Wanted, complete bool) (SVDResult, error) {
	m, n := c.Dims()
	c, shift, err := normalized(s, c, false)
	if err != nil {
		return SVDResult{}, err
	}
	e := newSolver(s, &problem{a: c, gram: true}, f, want)
	e.shift = shift
	if want.Vectors {
		e.left = &left{columns: make([]column, n)}
		if complete {
			e.left.more = m - n
		}
		e.left.vectors = num.NewMat(f, m, n+e.left.more)
	}
	if n > 0 {
		if err := e.checkSeed(); err != nil {
			return SVDResult{}, err
		}
		defer e.p.release()
		x, err := e.seed()
		if err != nil {
			return SVDResult{}, err
		}
		if x.Arr != nil {
			if err := e.run(x); err != nil {
				return SVDResult{}, err
			}
		}
	} else if e.left != nil {
		for i := range e.left.more {
			e.left.vectors.SetFloat64(i, i, 1)
		}
	}
	z := SVDResult{Result: e.result()}
	if e.left != nil {
		z.Left = e.left.vectors.Slice(0, m, z.First, z.First+z.Values.Rows)
		z.More = e.left.vectors.Slice(0, m, n, n+e.left.more)
	}
	return z, s.Ctx.Err()
}

// singularSeed returns float64 right singular vectors as columns of a matrix that is stored by
// rows, by decreasing singular values; nil if they cannot be computed.
func singularSeed(s *call.Run, c num.Mat) ([]float64, error) {
	m, n := c.Dims()
	x, err := floats(s, c)
	if err != nil {
		return nil, err
	}
	_, _, v, ok := symeig.SVD(s.Ctx, x, m, n, true, s.Threads)
	if !ok {
		v = nil
	}
	return v, s.Ctx.Err()
}

// leftSide is an enclosure of left vectors: the entries of column j of y have errors of at most
// far[j].
type leftSide struct {
	y   *bound.Nearly
	far []size
}

// leftEnclosure encloses the left vectors to the columns of t, with the pull of distances. Let x be
// column j of X + D, v the right singular vector, w = C x rounded, and σ'² the computed d_j. Then
//
//	‖w/σ' - C v/σ‖ ≤ (‖C (x - v)‖ + rounding)/σ' + |σ/σ' - 1|.
//
// The columns of a cluster are near an orthonormal basis. Nothing is known about σ = 0.
func (e *solver) leftEnclosure(t *state, y *bound.Nearly, pull []size) (*leftSide, error) {
	s, n, m := e.s, e.n, e.p.a.Rows
	bits := e.vectorBits + 8
	f := call.MP(bits)
	x := s.MatrixHere(f, n, n)
	if err := s.Sum(y.X, y.D, x); err != nil {
		return nil, err
	}
	w := s.MatrixHere(f, m, n)
	if err := s.Gemm(1, e.p.a, x, 0, num.Mat{}, w); err != nil {
		return nil, err
	}
	s.Drop(x)
	frobenius, err := e.frobenius()
	if err != nil {
		return nil, err
	}
	l := &leftSide{far: make([]size, n)}
	l.y = &bound.Nearly{X: w, D: s.MatrixHere(call.MP(24), m, n), Words: call.WordsFor(bits), Left: make([]int64, m), Right: make([]int64, n), Err: make([]int64, n)}
	rooms := make([]scratch, s.Threads)
	return l, par.For(s.Ctx, s.Threads, n, func(worker, j int) {
		inverse, far := t.leftError(j, pull[j], frobenius, bits)
		if l.far[j] = far; inverse == nil {
			l.y.Err[j] = far.e - 1
			return
		}
		b := &rooms[worker]
		for i := range m {
			b.write(w, i, j, cleared(&b.y, inverse.Prec()).Mul(b.read(&b.x, w, i, j), inverse))
		}
		l.y.Err[j] = max(l.far[j].e, -int64(bits))
	})
}

// frobenius bounds the Frobenius norm of C.
func (e *solver) frobenius() (z size, err error) {
	norms, err := columnNorms(e.s, e.p.a)
	for _, v := range norms {
		z = z.add(v.mul(v))
	}
	return z.sqrt(), err
}

// leftError returns 1/σ' for column j, with 16 bits more than the given ones, and a bound of the
// error of w/σ', where x, w and w/σ' are rounded to the given bits and 1/2 ≤ ‖x‖ ≤ 3/2. It returns
// nil, and a large error, if σ may be 0.
func (t *state) leftError(j int, pull, frobenius size, bits int) (inverse *big.Float, far size) {
	c := &t.clusters[t.of[j]]
	rad := c.radius.add(c.spread.times(3)).add(t.dLost[j])
	low := lowerOfBig(t.d[j]).lower(rad)
	if t.d[j].Sign() <= 0 || low.zero() {
		return nil, power(8)
	}
	p := uint(bits + 16)
	inverse = new(big.Float).SetPrec(p).Sqrt(new(big.Float).SetPrec(p).Set(t.d[j]))
	inverse.Quo(big.NewFloat(1), inverse)
	sigma := lowerOfRoot(low)
	rounding := frobenius.shifted(int64(3 - bits)).over(sigma)
	return inverse, pull.over(sigma).add(rounding).add(rad.over(low)).add(power(int64(3 - bits)))
}

// lowerOfRoot returns a lower bound of the root of a lower bound x > 0.
func lowerOfRoot(x size) size {
	z := x.sqrt()
	return normal(float64(z.m*(1-0x1p-48)), z.e)
}

// settleLeft settles what the last rounds have left open of the left vectors.
func (e *solver) settleLeft(t *state, links []link, l *leftSide) error {
	for p := e.zeros; p < e.n; p++ {
		if single(links, p) && e.outside[p] != outside {
			e.settleColumn(t, l.y, l.far, e.left.vectors, e.left.columns, p)
		}
	}
	return e.complement(t, l)
}

// leftBasis stores the left vectors C v / ‖C v‖ of a cluster at the positions from first on, for
// enclosures of the right ones v. It is not ok, and stores nothing, if the results are not narrow
// enough.
func (e *solver) leftBasis(first int, right [][]interval.Interval) (ok bool, err error) {
	p := interval.Prec(e.vectorBits + 64)
	m := e.p.a.Rows
	z := make([][]interval.Interval, len(right))
	if err := par.For(e.s.Ctx, e.s.Threads, len(right), func(_, l int) {
		v := right[l]
		z[l] = make([]interval.Interval, m)
		squares := interval.Of(new(big.Float))
		for i := range z[l] {
			sum := interval.Of(new(big.Float))
			for k := range e.n {
				if x := e.p.a.Big(i, k); x.Sign() != 0 {
					sum = sumOf(p, sum, times(p, interval.Of(x), v[k]))
				}
			}
			z[l][i] = sum
			squares = sumOf(p, squares, square(p, sum))
		}
		if squares.Lo.Sign() <= 0 {
			z[l] = nil
			return
		}
		norm := p.Sqrt(squares)
		for i, x := range z[l] {
			z[l][i] = p.Quo(x, norm)
		}
	}); err != nil {
		return false, err
	}
	for _, column := range z {
		if column == nil {
			return false, nil
		}
	}
	if !e.narrow(z) {
		return false, nil
	}
	for l, column := range z {
		for i, x := range column {
			e.store(e.left.vectors, i, first+l, x)
		}
		e.left.columns[first+l].open, e.left.columns[first+l].done = nil, true
	}
	return true, nil
}

// square encloses x².
func square(p interval.Prec, x interval.Interval) interval.Interval {
	z := times(p, x, x)
	if z.Lo.Sign() < 0 { // x contains 0
		z.Lo = new(big.Float)
	}
	return z
}

// complement stores a basis of the null space of Cᵀ, the columns of the Cholesky factor of the
// projector I - U Uᵀ as in basis, for the vectors U to σ > 0.
func (e *solver) complement(t *state, l *leftSide) error {
	any := e.left.more > 0
	for p := range e.zeros {
		any = any || e.outside[p] != outside
	}
	if !any || e.left.settled || e.valuesOpen() {
		return nil
	}
	m, p := e.p.a.Rows, uint(e.vectorBits+64)
	var sum size
	for q := e.zeros; q < e.n; q++ {
		far := l.far[t.order[q]]
		sum = sum.add(far.mul(far))
	}
	distance := sum.sqrt()
	if distance.above(settled - int64(e.last)) {
		return nil
	}
	u := make([][]*big.Float, m)
	if err := par.For(t.s.Ctx, t.s.Threads, m, func(_, i int) {
		for q := e.zeros; q < e.n; q++ {
			u[i] = append(u[i], l.y.X.Big(i, t.order[q]))
		}
	}); err != nil {
		return err
	}
	err := distance.times(2.5).add(power(int64(16 - e.vectorBits))).big()
	factor, errPar := e.complementOf(u, l, t, interval.Prec(p), err)
	if errPar != nil || !e.narrow(factor) {
		return errPar
	}
	for k, column := range factor {
		at := e.zeros - 1 - k
		if at < 0 {
			at = e.n + k - e.zeros
		}
		for i, x := range column {
			e.store(e.left.vectors, i, at, x)
		}
	}
	for q := range e.zeros {
		e.left.columns[q].open, e.left.columns[q].done = nil, true
	}
	e.left.settled = true
	return nil
}

// complementOf returns the basis of the space that is orthogonal to the vectors with rows u, each
// in error by the far of its column, so that entries of the projector are in error by at most err.
func (e *solver) complementOf(u [][]*big.Float, l *leftSide, t *state, p interval.Prec, err *big.Float) ([][]interval.Interval, error) {
	k, r := e.zeros+e.left.more, e.n-e.zeros
	if 0 < r && 2*r < k {
		rows := make([][]interval.Interval, len(u))
		for i, x := range u {
			rows[i] = make([]interval.Interval, r)
			for c, v := range x {
				far := l.far[t.order[e.zeros+c]].big()
				rows[i][c] = interval.Interval{Lo: p.Down().Sub(v, far), Hi: p.Up().Add(v, far)}
			}
		}
		return complementBasis(e.s, p, rows, k)
	}
	return ProjectorBasis(e.s, p, len(u), k, func(i, q int) interval.Interval {
		z, w := new(big.Float).SetPrec(uint(p)), new(big.Float).SetPrec(uint(p))
		if i == q {
			z.SetInt64(1)
		}
		for k, x := range u[i] {
			z.Sub(z, w.Mul(x, u[q][k]))
		}
		return interval.Interval{Lo: p.Down().Sub(z, err), Hi: p.Up().Add(z, err)}
	})
}

// leftOpen reports whether an entry of a wanted left vector is not decided.
func (e *solver) leftOpen() bool {
	if e.left == nil {
		return false
	}
	for p := range e.left.columns {
		if e.outside[p] != outside && !e.left.columns[p].done {
			return true
		}
	}
	return e.left.more > 0 && !e.left.settled
}
