package linsolve

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/raw"
)

// fewest is the least order of matrices whose factors come from a float64 seed by products: there
// they take 0.5 to 0.9 of the time of an elimination for Float64 and MP(424), at n = 64 a quarter
// to a half.
const fewest = 24

// likely are about the bits of ‖E‖ that a seed leaves for matrices that are not ill-conditioned.
const likely = 32

// leastGain is how many bits of ‖E‖ are needed to go on.
const leastGain = 8

// order returns how many powers of 2^-gain, up to four, a correction takes into account so that
// what is left is below 2^-bits; 5 if four are not enough.
func order(gain, bits int) int {
	for k := 2; k <= 4; k++ {
		if k*gain-2*k+1 >= bits {
			return k
		}
	}
	return 5
}

// spareBits are how many bits less than eliminations have these enclosures are asked for, whose
// bits are those of the results.
const spareBits = 16

// mostBits are those of numbers of a matrix whose factors have format f.
func mostBits(f halfulp.Format) int { return min(4*f.Bits()+2048, maxBits) }

// doubling is an inverse S of the Cholesky factor of the leading n x n part of F = D1 C D2,
// symmetric, about: S is lower triangular, its diagonal positive, and E = S F S^T - I is small.
//
// In the norms ‖·‖ = ‖·‖∞ of symmetric matrices and N(Z) = max(‖Z‖∞, ‖Z^T‖∞) of others let Φ(M) be
// the strictly lower triangle of M and half of its diagonal, so that N(Φ(M)) ≤ ‖M‖ for symmetric
// M = Φ(M) + Φ(M)^T. If ‖E‖ ≤ e ≤ 1/8, Z → Φ(E - Z Z^T) maps the lower triangular matrices with
// N(Z) ≤ r, r ≤ 1.2 e the smaller root of r = e + r², into themselves, as ‖Z Z^T‖ ≤ N(Z)². So there
// is such a Z with
//
//	Z + Z^T + Z Z^T = E,  I + E = (I + Z) (I + Z)^T
//
// by Brouwer's theorem. The diagonal of I + Z is positive. Hence F = L L^T for L = S^-1 (I + Z),
// which is the Cholesky factor, F is positive definite, and with the rows of F below
//
//	L = V (I + Z^T)^-1,  V = F S^T.
//
// With Z1 = Φ(E), which is at most e, and E' = (I - Z1) (I + E) (I - Z1)^T - I,
//
//	E' = -(Z1² + (Z1²)^T + Z1 Z1^T) + Z1 E Z1^T,  (I + Z)^-1 = (I + Z')^-1 (I - Z1)
//
// for the Z' of E', which is Φ(E') but for r'², r' ≤ 1.01 e' and e' = 3 e² + e³. An E that is known
// up to h adds 1.1 h to e' and to the error of Z', if e ≤ 2^-8: so
//
//	(I + Z)^-1 = (I - Φ(E')) (I - Z1)
//
// up to 2 h + 32 e⁴, and twice what Φ(E') is in error by.
type doubling struct {
	s           *solver
	by          scaling
	f           *halfulp.Matrix // m x n
	x           *halfulp.Matrix // S
	n           int
	improvement // amp: of ‖|S| |V|‖∞ + ‖|S| |V|‖1
}

// newDoubling returns a seed for c, whose leading n x n part is symmetric; nil if float64 does not
// suffice. Numbers of more than most bits do not suffice either.
func (s *solver) newDoubling(c *halfulp.Matrix, n, most int) (*doubling, error) {
	m := raw.Matrix(c)
	if n < fewest {
		return nil, nil
	}
	by := unscaled(m.Rows, n)
	for i := range n {
		class, top, _ := m.Arr.Span(m.At(i, i))
		if class != num.Finite {
			return nil, nil
		}
		by.cols[i] = -(top >> 1)
		by.rows[i] = by.cols[i]
	}
	t := topsOf(m)
	for i := n; i < m.Rows; i++ {
		high := int64(none)
		for j := range n {
			if e := t.top[i+j*m.Rows]; e != none {
				high = max(high, e+by.cols[j])
			}
		}
		if high != none {
			by.rows[i] = -high
		}
	}
	d := &doubling{s: s, by: by, n: n, f: scaled(c, by, most)}
	if d.f == nil {
		return nil, nil
	}
	leading := m
	leading.Rows = n
	x, amp, err := s.rootSeed(leading, scaling{by.rows[:n], by.cols})
	if x == nil || err != nil {
		return nil, err
	}
	d.x, d.amp = x, amp
	return d, nil
}

// rootSeed returns about the inverse of the Cholesky factor of the scaled a, in float64, and about
// the size of it beside that factor; nil if there is none.
func (s *solver) rootSeed(a num.Mat, by scaling) (*halfulp.Matrix, int, error) {
	n := a.Rows
	defer s.release()
	lu := by.float64s(a, s.floats(n*n))
	if err := dgemm.LU(s.ctx, s.threads, n, lu, leastPivot, nil); err != nil {
		return nil, 0, err
	}
	defer s.did(factorCost(n) + seedCost(n)/4)
	roots := make([]float64, n)
	for i := range roots {
		if d := lu[i+i*n]; d > 2*leastPivot && d < 0x1p100 {
			roots[i] = math.Sqrt(d)
		} else {
			return nil, 0, nil
		}
	}
	x := s.floats(n * n)
	clear(x)
	if err := dgemm.InvertLower(s.ctx, s.threads, n, lu, x); err != nil {
		return nil, 0, err
	}
	if !(max(largestOf(lu), largestOf(x)) < 0x1p100) {
		return nil, 0, nil
	}
	z := halfulp.NewMatrix(halfulp.MP(seedBits), n, n)
	(&factors{n: n}).store(z, func(i, j int) float64 {
		if i < j {
			return 0
		}
		return x[i+j*n] / roots[i]
	}, make([]int64, n), make([]int64, n))
	one := make([]float64, n)
	for i := range one {
		one[i] = 1
	}
	return z, sizeOf(largestOf(absLower(n, x, absLower(n, lu, one)))) + 2, nil
}

// sizeOf returns e with |x| ≤ 2^e.
func sizeOf(x float64) int {
	if !(math.Abs(x) <= math.MaxFloat64) {
		return math.MaxInt32
	}
	_, e := math.Frexp(x)
	return e
}

// enclosure returns an enclosure whose errors are about 2^-bits of the largest entry of each row of
// V; nil if the seed is not good enough.
func (t *doubling) enclosure(bits int) (*enclosure, error) {
	if t == nil {
		return nil, nil
	}
	return improved(t, bits)
}

// errorMatrix returns V of so many bits and the lower triangle of E of so many places, up to h, and
// finds out what it shows of the gain.
//
// V is rounded, so that the triangle is that of E + S d for |d| ≤ 2^-width |V|.
func (t *doubling) errorMatrix(width, places int) (v, e *halfulp.Matrix, h *big.Float, err error) {
	m, n := t.f.Rows(), t.n
	t.s.stats.Steps++
	v = halfulp.NewMatrix(halfulp.MP(uint(width)), m, n)
	if err := t.s.gemm(1, t.f, t.x.T(), 0, nil, v); err != nil {
		return nil, nil, nil, err
	}
	x, leading, err := t.s.bothMagnitudes(t.x, v.Slice(0, n, 0, n))
	if err != nil {
		return nil, nil, nil, err
	}
	if t.amp = x.spread(leading); t.amp > 1<<20 {
		t.gain = 0
		return nil, nil, nil, nil
	}
	lost := exp2(t.amp - width)
	e = halfulp.NewMatrix(halfulp.MP(uint(places)), n, n)
	if err := t.s.gemmTriangle('L', 1, t.x, v.Slice(0, n, 0, n), -1, halfulp.Identity(halfulp.Float64, n), e, t.bound(n, lost)); err != nil {
		return nil, nil, nil, err
	}
	t.s.stats.Precision = width
	return v, e, t.learn(t.s, symmetricNorm(raw.Matrix(e)), lost, places), nil
}

// correction returns N with (I + Z)^-1 = I - N up to lost, which is about 2^-bits or what four
// powers of 2^-gain leave, from E, which it changes and which is known up to h.
func (t *doubling) correction(e *halfulp.Matrix, h *big.Float, bits int) (z *halfulp.Matrix, lost *big.Float, err error) {
	n, g := t.n, t.gain
	terms := order(g, bits+3)
	halveDiagonal(e) // Z1
	lost = upper().Add(upper().SetMantExp(h, 1), exp2(5-4*g))
	if terms == 2 {
		return e, lost.Add(lost, exp2(2-2*g)), nil // without Φ(E')
	}
	gemm := func(alpha float64, a, b *halfulp.Matrix, format halfulp.Format) (*halfulp.Matrix, error) {
		d := halfulp.NewMatrix(format, n, n)
		return d, t.s.gemmTriangle('L', alpha, a, b, 0, nil, d, nil)
	}
	sum := func(a, b *halfulp.Matrix, format halfulp.Format) (*halfulp.Matrix, error) {
		d := halfulp.NewMatrix(format, n, n)
		return d, t.s.sum(a, b, d)
	}
	format := func(power int) halfulp.Format { return halfulp.MP(uint(max(bits-power*g+4, 24))) }
	square, err := gemm(-1, e, e, format(2))
	if err != nil {
		return nil, nil, err
	}
	outer, err := gemm(-1, e, e.T(), format(2))
	if err != nil {
		return nil, nil, err
	}
	var cube *halfulp.Matrix // Z1 E Z1^T = (Z1² + Z1 Z1^T) Z1^T
	if terms > 3 {
		mirror(outer)
		both, err := sum(square, outer, format(3))
		if err != nil {
			return nil, nil, err
		}
		if cube, err = gemm(-1, both, e.T(), format(3)); err != nil {
			return nil, nil, err
		}
		halveDiagonal(cube)
		outer = lowerTriangleOf(outer)
	}
	halveDiagonal(outer)
	second, err := sum(square, outer, format(2)) // Φ(E')
	if err != nil {
		return nil, nil, err
	}
	// Two products of 4^-g, their sum, and a third of it, were rounded.
	lost.Add(lost, exp2(4-2*g-format(2).Bits()))
	if terms > 3 {
		if second, err = sum(second, cube, format(2)); err != nil {
			return nil, nil, err
		}
		product, err := gemm(-1, second, e, format(3))
		if err != nil {
			return nil, nil, err
		}
		if second, err = sum(second, product, format(2)); err != nil {
			return nil, nil, err
		}
		lost.Add(lost, exp2(4-2*g-format(2).Bits()))
		lost.Add(lost, exp2(5-3*g-format(3).Bits()))
	} else {
		lost.Add(lost, exp2(3-3*g))
	}
	lost.Add(lost, exp2(1-g-format(1).Bits()))
	z, err = sum(e, second, format(1))
	return z, lost, err
}

// step makes S' = (I - N) S for the next bits.
//
// If I - N is (I + Z)^-1 + D with N(D) ≤ lost, (I - N) S F S^T (I - N)^T is the product of
// I + D (I + Z) and its transpose, I up to 3 lost. S' is known up to |d| ≤ 3 2^-prec (I + |N|) |S|:
// d F S'^T = d V (I - N)^T and its transpose are 3 2^-prec (1 + N(N))² 2^amp at most together, and
// d F d^T = d V (d S^-1)^T is less than that, since S^-1 = V (I + E)^-1.
func (t *doubling) step(e *halfulp.Matrix, h *big.Float, next int) error {
	z, lost, err := t.correction(e, h, next)
	if err != nil {
		return err
	}
	n := t.n
	prec := max(next+t.amp+4, 64)
	d := halfulp.NewMatrix(halfulp.MP(uint(max(prec-t.gain+2, 24))), n, n)
	if err := t.s.gemmTriangle('L', -1, z, t.x, 0, nil, d, nil); err != nil {
		return err
	}
	x := halfulp.NewMatrix(halfulp.MP(uint(prec)), n, n)
	if err := t.s.sum(t.x, d, x); err != nil {
		return err
	}
	t.x = x
	lost.Add(lost, upper().SetMantExp(lost, 1))
	t.gain = -lost.Add(lost, exp2(t.amp+3-prec)).MantExp(nil)
	return nil
}

// finish returns the enclosure by a V and an E that tell so many bits.
func (t *doubling) finish(bits, width int, v, e *halfulp.Matrix, h *big.Float) (*enclosure, error) {
	m, n, g := t.f.Rows(), t.n, t.gain
	if !positiveDiagonal(raw.Matrix(t.x)) {
		return nil, nil
	}
	z, lost, err := t.correction(e, h, bits)
	if err != nil {
		return nil, err
	}
	// V and D are rounded, |D| ≤ 2 2^-g of V's row.
	places := max(bits-g+4, 24)
	lost.Add(lost, exp2(1-width))
	lost.Add(lost, exp2(1-g-places))
	d := halfulp.NewMatrix(halfulp.MP(uint(places)), m, n)
	if err := t.s.gemmTriangle('L', -1, v.Slice(0, n, 0, n), z.T(), 0, nil, d.Slice(0, n, 0, n), nil); err != nil {
		return nil, err
	}
	if m > n {
		if err := t.s.gemm(-1, v.Slice(n, m, 0, n), z.T(), 0, nil, d.Slice(n, m, 0, n)); err != nil {
			return nil, err
		}
	}
	y := &nearly{x: v.T(), d: d.T(), words: words(bits), left: make([]int64, n), right: negated(t.by.rows)}
	sizes, err := t.s.magnitudes(v)
	if err != nil {
		return nil, err
	}
	for _, sum := range sizes.rows() {
		y.err = append(y.err, int64(sizeOf(sum)+lost.MantExp(nil)))
	}
	return &enclosure{root: y, bits: bits}, nil
}

// gemmTriangle is gemm for a triangle of d, of a square matrix, with a bound that is proved or nil.
func (s *solver) gemmTriangle(triangle byte, alpha float64, a, b *halfulp.Matrix, beta float64, c, d *halfulp.Matrix, bound *exact.Bound) error {
	defer s.multiplying(a, b, d, triangle)()
	st, err := raw.GemmTriangle(alpha, a, b, beta, c, d, triangle, bound, &s.opt)
	return s.within(st.(halfulp.Stats), d, err)
}

// magnitudes are upper bounds of those of a matrix, by columns.
type magnitudes struct {
	m, n int
	x    []float64
}

// magnitudes returns bounds of the entries of a matrix in MP; infinities for numbers beyond 2^1000.
func (s *solver) magnitudes(a *halfulp.Matrix) (magnitudes, error) {
	m := raw.Matrix(a)
	z := magnitudes{m.Rows, m.Cols, make([]float64, m.Rows*m.Cols)}
	l := m.Arr.Limbs()
	return z, par.For(s.ctx, s.threads, m.Cols, func(_, j int) {
		column := z.x[j*m.Rows : (j+1)*m.Rows]
		for i := range column {
			at := m.At(i, j)
			if m.Arr.Class(at) == num.Finite {
				column[i] = ldexp(float64(m.Arr.Sig[at*l+l-1]>>12+1)*0x1p-52, int64(m.Arr.Exp[at])) + 0x1p-1000
			}
		}
	})
}

// bothMagnitudes is magnitudes for two matrices.
func (s *solver) bothMagnitudes(a, b *halfulp.Matrix) (x, y magnitudes, err error) {
	if x, err = s.magnitudes(a); err == nil {
		y, err = s.magnitudes(b)
	}
	return x, y, err
}

// rows returns bounds of the sums of rows.
func (a magnitudes) rows() []float64 {
	ones := make([]float64, a.n)
	for i := range ones {
		ones[i] = 1
	}
	return a.times(ones)
}

// times returns bounds of the product with a vector x ≥ 0: each of n products and sums errs by
// 2^-53 relatively.
func (a magnitudes) times(x []float64) []float64 {
	z := make([]float64, a.m)
	for j, f := range x {
		dgemm.AxpyAbs(f, a.x[j*a.m:(j+1)*a.m], z)
	}
	slack := 1 + float64(float64(a.n+4)*0x1p-52)
	for i, v := range z {
		z[i] = float64(v*slack) + 0x1p-900
	}
	return z
}

// transposed returns bounds of the product of the transpose with a vector x ≥ 0.
func (a magnitudes) transposed(x []float64) []float64 {
	z := make([]float64, a.n)
	slack := 1 + float64(float64(a.m+4)*0x1p-52)
	for j := range z {
		sum := 0.0
		for i, v := range a.x[j*a.m : (j+1)*a.m] {
			sum += float64(v * x[i])
		}
		z[j] = float64(sum*slack) + 0x1p-900
	}
	return z
}

// spread returns e with ‖A B‖∞ + ‖A B‖1 ≤ 2^e.
func (a magnitudes) spread(b magnitudes) int {
	ones := make([]float64, a.m)
	for i := range ones {
		ones[i] = 1
	}
	return sizeOf(float64((largestOf(a.times(b.rows())) + largestOf(b.transposed(a.transposed(ones)))) * (1 + 0x1p-50)))
}

// symmetricNorm returns an upper bound of the largest sum of magnitudes of a row of a symmetric
// matrix in MP, of which there is the lower triangle.
func symmetricNorm(m num.Mat) *big.Float {
	high := int64(math.MinInt32)
	for _, e := range columnTops(m, high) {
		high = max(high, e)
	}
	sums := make([]float64, m.Rows)
	l := m.Arr.Limbs()
	for j := range m.Cols {
		for i := j; i < m.Rows; i++ {
			at := m.At(i, j)
			if m.Arr.Class(at) != num.Finite {
				continue
			}
			x := ldexp(float64(m.Arr.Sig[at*l+l-1]>>12+1), int64(m.Arr.Exp[at])-high-52) + 0x1p-1000
			if sums[i] += x; i != j {
				sums[j] += x
			}
		}
	}
	norm := upper().SetFloat64(largestOf(sums) * (1 + float64(float64(2*m.Cols+2)*0x1p-53)))
	norm.SetMantExp(norm, int(high))
	return largest([]*big.Float{norm, exp2(-maxBits)}) // so that a gain remains finite
}

// mirror copies the lower triangle of a square matrix to the upper one.
func mirror(a *halfulp.Matrix) {
	m := raw.Matrix(a)
	for j := range m.Cols {
		for i := j + 1; i < m.Rows; i++ {
			m.Arr.CopyFrom(m.At(j, i), m.Arr, m.At(i, j))
		}
	}
}

// lowerTriangleOf replaces what lies above the diagonal by zeros, and returns the matrix.
func lowerTriangleOf(a *halfulp.Matrix) *halfulp.Matrix {
	m := raw.Matrix(a)
	for j := range m.Cols {
		for i := range j {
			m.Arr.Set(m.At(i, j), num.Real{Class: num.Zero})
		}
	}
	return a
}

// halveDiagonal halves the diagonal of a matrix in MP.
func halveDiagonal(a *halfulp.Matrix) {
	m := raw.Matrix(a)
	for i := range m.Rows {
		if at := m.At(i, i); m.Arr.Class(at) == num.Finite {
			m.Arr.Exp[at]--
		}
	}
}

// positiveDiagonal reports whether all numbers of the diagonal of a matrix in MP are positive.
func positiveDiagonal(m num.Mat) bool {
	for i := range m.Rows {
		if c := m.Arr.Cls[m.At(i, i)]; c.Class() != num.Finite || c.Neg() {
			return false
		}
	}
	return true
}
