package linsolve

import (
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/raw"
)

// splitting are about the inverses S and T of the factors L and U of the leading k x k part of
// F = D1 C D2, block lower triangular with unit matrices on its diagonal and block upper
// triangular, for which E = S F T - I is small. See enclosure for X and Y, strictly block lower and
// block upper triangular, with I + E = (I + X) (I + Y), whose norms are at most r ≤ 1.2 e, and what
// follows from them.
//
// With E = X1 + Y1 split like that, ‖E‖∞ ≤ e, and E' = (I - X1) (I + E) (I - Y1) - I,
//
//	E' = -(X1² + X1 Y1 + Y1²) + X1 E Y1,
//	(I + X)^-1 = (I + X')^-1 (I - X1),  (I + Y)^-1 = (I - Y1) (I + Y')^-1
//
// for the X' and Y' of E', which are its parts but for r'², r' ≤ 1.01 e' and e' = 3 e² + e³. As for
// doubling, an E that is known up to h leaves
//
//	(I + X)^-1 = (I - X') (I - X1),  (I + Y)^-1 = (I - Y1) (I - Y')
//
// with the parts X' and Y' of E' up to 2 h + 32 e⁴, and twice what they are in error by, if
// e ≤ 2^-8. X1² + X1 Y1 is X1 E.
//
// Products leave out the zeros of triangles. In multiplications for k³, m = n = k, the last step to
// b bits has
//
//	V = F T                              1/2  of b bits
//	E = S V - I                          1/2  of b - g bits, as its size is known
//	X1 E                                 1/2  of b - 2 g
//	Y1², upper triangle                  1/6  of b - 2 g
//	X1 E Y1                              1/2  of b - 3 g
//	X' X1, Y1 Y', a triangle             1/3  of b - 3 g
//	W = S F, upper triangle              1/6  of b
//	V (I + Y)^-1 - V, lower triangle     1/6  of b - g
//	(I + X)^-1 W - W, upper triangle     1/6  of b - g
//
// with g of about b/4: 3 altogether; the step before, to about b/4 bits, has (I + X)^-1 S - S and
// T (I + Y)^-1 - T, 1/6 each, instead of the last three.
type splitting struct {
	s           *solver
	by          scaling
	f           *halfulp.Matrix // m x n
	x, y        *halfulp.Matrix // S and T
	k           int
	blocks      []int
	cond        float64 // ≥ ‖|T^-1| |T|‖∞
	improvement         // amp: of ‖|S| |F T|‖∞ + cond
}

// pivoted is a splitting of the rows of A, and for LDLT of its columns, in an order that float64
// arithmetic found.
type pivoted struct {
	*splitting // nil if float64 does not suffice for more
	order      []int
	c          *halfulp.Matrix // A in that order
}

// newPivoted returns a seed for the factors of a with partial pivoting; nil if float64 does not
// suffice, or if numbers have more than most bits.
func (s *solver) newPivoted(a *halfulp.Matrix, most int) (*pivoted, error) {
	m, n := a.Dims()
	k := min(m, n)
	if k < fewest {
		return nil, nil
	}
	defer s.release()
	// Columns are scaled for pivots alone, rows are not.
	leading := raw.Matrix(a.Slice(0, m, 0, k))
	columns := unscaled(m, k)
	t := topsOf(leading)
	for j := range k {
		high := slices.Max(t.top[j*m : (j+1)*m])
		if high == none {
			return nil, nil
		}
		columns.cols[j] = -high
	}
	lu, pivots := columns.float64s(leading, s.floats(m*k)), make([]int, k)
	if err := dgemm.LUTall(s.ctx, s.threads, m, k, lu, 0x1p-900, pivots); err != nil {
		return nil, err
	}
	// may fuse: an estimate
	defer s.did(factorCost(k) + seedCost(k)/2)
	p := &pivoted{order: all(m)}
	for i, j := range pivots {
		p.order[i], p.order[j] = p.order[j], p.order[i]
	}
	p.c = chosen(a, p.order, all(n))
	d := &splitting{s: s, k: k, blocks: ones(k), by: equilibrate(raw.Matrix(p.c), unscaled(m, n))}
	if d.f = scaled(p.c, d.by, most); d.f == nil {
		return nil, nil
	}
	// The factors of F.
	square := s.floats(k * k)
	for j := range k {
		for i := range k {
			e := d.by.rows[i] - d.by.rows[j]
			if i <= j {
				e = d.by.rows[i] + d.by.cols[j] - columns.cols[j]
			}
			square[i+j*k] = math.Ldexp(lu[i+j*m], int(max(-4000, min(e, 4000))))
		}
	}
	p.splitting = d
	if ok, err := d.invert(square); !ok || err != nil {
		return nil, err
	}
	return p, nil
}

// invert makes S and T the inverses of triangles in float64, and reports whether they are of use.
//
// With G = U T - I for the triangle U, |G| ≤ γ |U| |T|, γ = (k + 16) 2^-53 (see triangles), so that
// |T^-1| = |(I + G)^-1 U| and cond ≤ ‖|U| |T|‖ / (1 - γ ‖|U| |T|‖).
func (t *splitting) invert(lu []float64) (ok bool, err error) {
	n := t.k
	for i := range n {
		if d := math.Abs(lu[i+i*n]); !(d > leastPivot) {
			return false, nil
		}
	}
	x, y := t.s.floats(n*n), t.s.floats(n*n)
	clear(x)
	clear(y)
	if err := dgemm.InvertLower(t.s.ctx, t.s.threads, n, lu, x); err != nil {
		return false, err
	}
	if err := dgemm.InvertUpper(t.s.ctx, t.s.threads, n, lu, y); err != nil {
		return false, err
	}
	if !(max(largestOf(lu), largestOf(x), largestOf(y)) < 0x1p100) {
		return false, nil
	}
	one := make([]float64, n)
	for i := range one {
		one[i] = 1
	}
	size := largestOf(absLower(n, x, absLower(n, lu, one)))
	t.cond = largestOf(absUpper(n, lu, absUpper(n, y, one)))
	near := float64(float64(n+16) * 0x1p-52 * t.cond) // and underflow
	if !(near <= 0.25) {
		return false, nil
	}
	t.cond = float64(2 * t.cond)
	t.amp = sizeOf(size+t.cond) + 1
	format := halfulp.MP(seedBits)
	t.x, t.y = halfulp.NewMatrix(format, n, n), halfulp.NewMatrix(format, n, n)
	unit := make([]int64, n)
	f := &factors{n: n}
	f.store(t.x, func(i, j int) float64 {
		switch {
		case i == j:
			return 1
		case i > j:
			return x[i+j*n]
		}
		return 0
	}, unit, unit)
	f.store(t.y, func(i, j int) float64 {
		if i > j {
			return 0
		}
		return y[i+j*n]
	}, unit, unit)
	return true, nil
}

// enclosure returns an enclosure whose errors are about 2^-bits of the largest entries of the rows
// of L and the columns of U; nil if the seed is not good enough.
func (t *splitting) enclosure(bits int) (*enclosure, error) {
	if t == nil {
		return nil, nil
	}
	return t.s.improved(t, bits)
}

// errorMatrix returns the first k rows of V = F T of so many bits and E of so many places, up to h,
// and finds out what it shows of the gain.
//
// V is rounded, so that E is S F T - I + S d for |d| ≤ 2^-width |V|.
func (t *splitting) errorMatrix(width, places int) (v, e *halfulp.Matrix, h *big.Float, err error) {
	n := t.k
	t.s.stats.Steps++
	v = halfulp.NewMatrix(halfulp.MP(uint(width)), n, n)
	if err := t.s.gemm(1, t.f.Slice(0, n, 0, n), t.y, 0, nil, v); err != nil {
		return nil, nil, nil, err
	}
	left, right, err := t.s.bothMagnitudes(t.x, v)
	if err != nil {
		return nil, nil, nil, err
	}
	t.amp = sizeOf(float64((largestOf(left.times(right.rows())) + t.cond) * (1 + 0x1p-50)))
	if t.amp > 1<<20 {
		t.gain = 0
		return nil, nil, nil, nil
	}
	lost := exp2(t.amp - width)
	e = halfulp.NewMatrix(halfulp.MP(uint(places)), n, n)
	if err := t.s.gemmTriangle(0, 1, t.x, v, -1, halfulp.Identity(halfulp.Float64, n), e, t.bound(t.s, n, places, width, lost)); err != nil {
		return nil, nil, nil, err
	}
	t.s.stats.Precision = width
	return v, e, t.learn(t.s, rowNorm64(raw.Matrix(e)), lost, places), nil
}

// split returns the strictly block lower and the block upper triangle.
func (t *splitting) split(a *halfulp.Matrix) (lower, upper *halfulp.Matrix) {
	lower, upper = halfulp.NewMatrix(a.Format(), t.k, t.k), halfulp.NewMatrix(a.Format(), t.k, t.k)
	t.copyParts(lower, upper, a, a)
	return lower, upper
}

// merged returns the strictly block lower triangle of one matrix and the block upper one of
// another.
func (t *splitting) merged(lower, upper *halfulp.Matrix) *halfulp.Matrix {
	z := halfulp.NewMatrix(lower.Format(), t.k, t.k)
	t.copyParts(z, z, lower, upper)
	return z
}

func (t *splitting) copyParts(toLower, toUpper, fromLower, fromUpper *halfulp.Matrix) {
	lower, upper, a, b := raw.Matrix(toLower), raw.Matrix(toUpper), raw.Matrix(fromLower), raw.Matrix(fromUpper)
	first := 0
	for _, size := range t.blocks {
		for j := first; j < first+size; j++ {
			for i := range first + size {
				upper.Arr.CopyFrom(upper.At(i, j), b.Arr, b.At(i, j))
			}
			for i := first + size; i < t.k; i++ {
				lower.Arr.CopyFrom(lower.At(i, j), a.Arr, a.At(i, j))
			}
		}
		first += size
	}
}

// upperProduct stores alpha A B + beta C in D for block upper triangular A and B and an upper
// triangular C. An entry of D below the diagonal is the sum of two products.
func (t *splitting) upperProduct(alpha float64, a, b *halfulp.Matrix, beta float64, c, d *halfulp.Matrix) error {
	if err := t.s.gemmTriangle('U', alpha, a, b, beta, c, d, nil); err != nil {
		return err
	}
	first := 0
	for _, size := range t.blocks {
		if size == 2 {
			i, j := first+1, first
			x := exactAdd(exactMul(a.Big(i, j), b.Big(j, j)), exactMul(a.Big(i, i), b.Big(i, j)))
			d.SetBig(i, j, x.Mul(x, big.NewFloat(alpha)))
		}
		first += size
	}
	return nil
}

// correction returns X and Y with (I + X)^-1 = I - X and (I + Y)^-1 = I - Y for those of E, up to
// lost, which is about 2^-bits or what four powers of 2^-gain leave. E is known up to h.
func (t *splitting) correction(e *halfulp.Matrix, h *big.Float, bits int) (x, y *halfulp.Matrix, lost *big.Float, err error) {
	n, g := t.k, t.gain
	terms := order(g, bits+3)
	x, y = t.split(e)
	lost = upper().Add(upper().SetMantExp(h, 1), exp2(5-4*g))
	if terms == 2 {
		return x, y, lost.Add(lost, exp2(2-2*g)), nil // without E'
	}
	gemm := func(triangle byte, a, b *halfulp.Matrix, format halfulp.Format) (*halfulp.Matrix, error) {
		d := halfulp.NewMatrix(format, n, n)
		return d, t.s.gemmTriangle(triangle, -1, a, b, 0, nil, d, nil)
	}
	sum := func(a, b *halfulp.Matrix, format halfulp.Format) (*halfulp.Matrix, error) {
		d := halfulp.NewMatrix(format, n, n)
		return d, t.s.sum(a, b, d)
	}
	format := func(power int) halfulp.Format { return halfulp.MP(uint(max(bits-power*g+4, 24))) }
	first, err := gemm(0, x, e, format(2)) // -(X1² + X1 Y1)
	if err != nil {
		return nil, nil, nil, err
	}
	right := halfulp.NewMatrix(format(2), n, n)
	if err := t.upperProduct(-1, y, y, 0, nil, right); err != nil {
		return nil, nil, nil, err
	}
	second, err := sum(first, right, format(2)) // E'
	if err != nil {
		return nil, nil, nil, err
	}
	// Two products of 4^-g and their sum were rounded.
	lost.Add(lost, exp2(4-2*g-format(2).Bits()))
	if terms > 3 {
		cube, err := gemm(0, first, y, format(3)) // X1 E Y1
		if err != nil {
			return nil, nil, nil, err
		}
		if second, err = sum(second, cube, format(2)); err != nil {
			return nil, nil, nil, err
		}
		x2, y2 := t.split(second)
		left, err := gemm('L', x2, x, format(3))
		if err != nil {
			return nil, nil, nil, err
		}
		right = halfulp.NewMatrix(format(3), n, n)
		if err := t.upperProduct(-1, y, y2, 0, nil, right); err != nil {
			return nil, nil, nil, err
		}
		if second, err = sum(second, t.merged(left, right), format(2)); err != nil {
			return nil, nil, nil, err
		}
		lost.Add(lost, exp2(4-2*g-format(2).Bits()))
		lost.Add(lost, exp2(5-3*g-format(3).Bits()))
	} else {
		lost.Add(lost, exp2(3-3*g))
	}
	lost.Add(lost, exp2(1-g-format(1).Bits()))
	z, err := sum(e, second, format(1))
	if err != nil {
		return nil, nil, nil, err
	}
	x, y = t.split(z)
	return x, y, lost, nil
}

// step makes S' = (I - X) S and T' = T (I - Y) for the next bits.
//
// If these are (I + X)^-1 S and T (I + Y)^-1 but for lost, S' F T' is I up to 3 lost. Both are
// known up to 3 2^-prec of (I + |X|) |S| and |T| (I + |Y|): that adds up to 2^(3-prec+amp), since
// S F d = (I + E) T^-1 d for an error d of T. T^-1 T' is I up to 2^-6, so that cond grows by a
// factor of less than 1.05.
func (t *splitting) step(_, e *halfulp.Matrix, h *big.Float, next int) error {
	x, y, lost, err := t.correction(e, h, next)
	if err != nil {
		return err
	}
	prec := max(next+t.amp+4, 64)
	format := halfulp.MP(uint(max(prec-t.gain+2, 24)))
	dx, dy := halfulp.NewMatrix(format, t.k, t.k), halfulp.NewMatrix(format, t.k, t.k)
	if err := t.s.gemmTriangle('L', -1, x, t.x, 0, nil, dx, nil); err != nil {
		return err
	}
	if err := t.upperProduct(-1, t.y, y, 0, nil, dy); err != nil {
		return err
	}
	x, y = halfulp.NewMatrix(halfulp.MP(uint(prec)), t.k, t.k), halfulp.NewMatrix(halfulp.MP(uint(prec)), t.k, t.k)
	if err := t.s.sum(t.x, dx, x); err != nil {
		return err
	}
	if err := t.s.sum(t.y, dy, y); err != nil {
		return err
	}
	t.x, t.y = x, y
	t.cond = float64(t.cond * 1.05)
	lost.Add(lost, upper().SetMantExp(lost, 1))
	t.gain = -lost.Add(lost, exp2(t.amp+3-prec)).MantExp(nil)
	return nil
}

// finish returns the enclosure by the first rows of V and an E that tell so many bits.
func (t *splitting) finish(bits, width int, leading, e *halfulp.Matrix, h *big.Float) (*enclosure, error) {
	m, n := t.f.Dims()
	k, g := t.k, t.gain
	x, y, lost, err := t.correction(e, h, bits)
	if err != nil {
		return nil, err
	}
	w := halfulp.NewMatrix(halfulp.MP(uint(width)), k, n)
	if err := t.s.gemmTriangle('U', 1, t.x, t.f.Slice(0, k, 0, k), 0, nil, w.Slice(0, k, 0, k), nil); err != nil {
		return nil, err
	}
	if n > k {
		if err := t.s.gemm(1, t.x, t.f.Slice(0, k, k, n), 0, nil, w.Slice(0, k, k, n)); err != nil {
			return nil, err
		}
	}
	// V, W and the corrections are rounded, these at most 2 2^-g of the others.
	places := max(bits-g+4, 24)
	lost.Add(lost, exp2(1-width))
	lost.Add(lost, exp2(1-g-places))
	format := halfulp.MP(uint(places))
	dv, dw := halfulp.NewMatrix(format, m, k), halfulp.NewMatrix(format, k, n)
	if err := t.s.gemmTriangle('L', -1, leading, y, 0, nil, dv.Slice(0, k, 0, k), nil); err != nil {
		return nil, err
	}
	v := leading
	if m > k {
		v = taller(leading, m)
		if err := t.s.gemm(1, t.f.Slice(k, m, 0, k), t.y, 0, nil, v.Slice(k, m, 0, k)); err != nil {
			return nil, err
		}
		if err := t.s.gemm(-1, v.Slice(k, m, 0, k), y, 0, nil, dv.Slice(k, m, 0, k)); err != nil {
			return nil, err
		}
	}
	if err := t.s.gemmTriangle('U', -1, x, w.Slice(0, k, 0, k), 0, nil, dw.Slice(0, k, 0, k), nil); err != nil {
		return nil, err
	}
	if n > k {
		if err := t.s.gemm(-1, x, w.Slice(0, k, k, n), 0, nil, dw.Slice(0, k, k, n)); err != nil {
			return nil, err
		}
	}
	top := t.by.rows[:k]
	l := &nearly{x: v.T(), d: dv.T(), words: words(bits), left: top, right: negated(t.by.rows)}
	sizes, err := t.s.magnitudes(v)
	if err != nil {
		return nil, err
	}
	for _, sum := range sizes.rows() {
		l.err = append(l.err, int64(sizeOf(sum)+lost.MantExp(nil)))
	}
	// (I + X)^-1 W is needed in the upper triangle alone, which is made of that of W alone, as X is
	// strictly block lower triangular, like the error of its inverse.
	u := &nearly{x: w, d: dw, words: words(bits), left: negated(top), right: negated(t.by.cols)}
	for _, e := range columnTops(raw.Matrix(w), none32) {
		u.err = append(u.err, e+int64(lost.MantExp(nil)))
	}
	return &enclosure{l: l, u: u, bits: bits}, nil // of U, the upper triangle
}

// none32 is the exponent that columns of zeros have, which MP has not.
const none32 = math.MinInt32

// distinct are bounds of multipliers that prove which pivot is the largest entry of its column: a
// little below 1.
var distinct = new(big.Float).SetPrec(64).Sub(big.NewFloat(1), new(big.Float).SetMantExp(big.NewFloat(1), -60))

// below reports whether it is proved that no entry of L, below its diagonal blocks, exceeds a bound
// of about 1 or more in magnitude.
func (s *solver) below(u *unknown, e *enclosure, bound *big.Float) (bool, error) {
	settlers, fails := make([]*settler, s.threads), make([]bool, s.threads)
	x, d := raw.Matrix(e.l.x), raw.Matrix(e.l.d)
	m := u.c.Rows()
	first := make([]int, 0, u.k) // rows below the blocks of columns
	for _, size := range u.blocks {
		end := len(first) + size
		for range size {
			first = append(first, end)
		}
	}
	err := par.For(s.ctx, s.threads, u.k, func(worker, j int) {
		if settlers[worker] == nil {
			settlers[worker] = &settler{adder: newAdder(e.l.words)}
		}
		for i := first[j]; i < m && !fails[worker]; i++ {
			if !u.has(i, j) {
				continue
			}
			v := settlers[worker].enclose(e.l, x, d, j, i)
			fails[worker] = !v.small() && !e.lower(i, j).below(bound)
		}
	})
	return !slices.Contains(fails, true), err
}

// small reports whether the enclosure tells at a glance that a number is below 1 - 2^-40.
func (v *near) small() bool {
	if !v.known || v.zero {
		return false
	}
	n := int64(num.BitLen(v.mag))
	if top := v.exp + n; top < -1 {
		return true // the error is less than the number
	} else if top > 0 || n < 64 {
		return false
	}
	// mag + err < 2^(n-64) (2^64 - 2^24)
	return num.WordAt(v.mag, n-64) < math.MaxUint64-1<<25 && v.err>>min(n-64, 63) < 1<<24
}
