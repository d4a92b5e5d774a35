package factors

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/residue"
)

// CholeskyNewton is an approximate inverse S of the Cholesky factor of the symmetric leading n x n
// part of F = D1 C D2. S is lower triangular with a positive diagonal, and E = S F S^T - I is
// small.
//
// Let ‖·‖ = ‖·‖∞ for symmetric matrices, and N(Z) = max(‖Z‖∞, ‖Z^T‖∞) for others. Let Φ(M) be the
// strictly lower triangle of M plus half of its diagonal, so that N(Φ(M)) ≤ ‖M‖ for a symmetric
// M = Φ(M) + Φ(M)^T. Suppose ‖E‖ ≤ e ≤ 1/8, and let r ≤ 1.2 e be the smaller root of r = e + r².
// The map Z → Φ(E - Z Z^T) takes the lower triangular matrices with N(Z) ≤ r into themselves,
// because ‖Z Z^T‖ ≤ N(Z)². By Brouwer's theorem there is such a Z with
//
//	Z + Z^T + Z Z^T = E,  I + E = (I + Z) (I + Z)^T
//
// The diagonal of I + Z is positive. Hence F = L L^T for L = S^-1 (I + Z): L is the Cholesky factor
// and F is positive definite. With the rows of F below its leading part,
//
//	L = V (I + Z^T)^-1,  V = F S^T.
//
// With Z1 = Φ(E), N(Z1) ≤ e, and E' = (I - Z1) (I + E) (I - Z1)^T - I,
//
//	E' = -(Z1² + (Z1²)^T + Z1 Z1^T) + Z1 E Z1^T,  (I + Z)^-1 = (I + Z')^-1 (I - Z1)
//
// for the Z' of E', which is Φ(E') up to r'², r' ≤ 1.01 e' and e' = 3 e² + e³. If E is known up to
// h and e ≤ 2^-8, that adds 1.1 h to e' and to the error of Z'. So
//
//	(I + Z)^-1 = (I - Φ(E')) (I - Z1)
//
// up to 2 h + 32 e⁴ plus twice the error of Φ(E'). As E = Z1 + Z1^T, Z1 E = Z1² + Z1 Z1^T. The
// lower triangle of Z1 E therefore gives all of Φ(E') except its diagonal, and the lower triangle
// of Z1 E Z1^T is computed from the lower triangle of Z1 E.
//
// Products leave out the zeros of triangles. In units of n³ multiplications, the last step to b
// bits takes
//
//	V = F S^T                     1/2  of b bits
//	E = S V - I, lower triangle   1/3  of b - g bits, as its size is known
//	Z1 E, lower triangle          1/3  of b - 2 g
//	Z1 E Z1^T, lower triangle     1/6  of b - 3 g
//	Φ(E') Z1                      1/6  of b - 3 g
//	V (I + Z^T)^-1 - V, lower     1/6  of b - g
//
// with g of about b/4: 5/3 altogether, in fewer than b bits on average. The step before, to about
// b/4 bits, has the same products except the last: it has (I + Z)^-1 S - S, 1/6, instead. k rows
// below add k/(2n) to the first and the last product. Computing residues of n² numbers an operand
// comes on top; for small n it takes longer than the multiplications.
type CholeskyNewton struct {
	S      *call.Run
	by     scale.Scaling
	F      num.Mat    // m x n
	X      num.Mat    // S: in MP, or in Float64 if it is the seed of a place
	one    num.Mat    // the unit matrix; nil until it is needed
	size   *big.Float // ≥ ‖F‖∞; nil until it is needed
	top    int        // at a place: entries of F are less than 2^top, once size is known
	N      int
	Blocks bool // a seed S by blocks has been tried
	off    int  // at a place: entries of V are in error by at most 2^off beside their rounding
	// entries of the leading part of F are known up to 2^-rounded; 0 if they are exact
	rounded int
	// Sizes of rows and columns of the leading F, of S and of the last V, which products at a place
	// use, a bound of ‖S‖∞, and the extent of S^T; nil until they are needed.
	fRows, sRows, sCols, vRows, vCols *residue.Vectors
	sizeS                             *big.Float
	across                            call.Extent
	vSums                             []int64 // exponents of bounds of the row sums of V
	below                             belowLeading
	Improvement                       // amp bounds ‖|S| |V|‖∞ + ‖|S| |V|‖1
}

// belowLeading holds what a place computes of the rows of F and V below their leading part, while
// the host would wait.
type belowLeading struct {
	rows   num.Mat     // of F; without an array if they are not known before F
	of     call.Extent // of these rows; nil until they are measured
	v      num.Mat     // V with the rows below; without an array if they are not computed
	within *residue.Bound
	ofV    call.Extent // of the rows below
}

// Begin sets S to x, from which steps continue, and resets everything known about the previous S.
func (t *CholeskyNewton) Begin(x num.Mat, amp int) {
	t.X, t.sizeS, t.Improvement = x, nil, Improvement{Amp: amp}
}

// NewCholeskyNewton returns a CholeskyNewton of c, whose leading n x n part is symmetric. It has a
// seed if float64 suffices. The result is nil if numbers have more than most bits, or if a diagonal
// entry is zero or not finite.
func NewCholeskyNewton(s *call.Run, c num.Mat, n, most int) (*CholeskyNewton, error) {
	m := c
	by := scale.Unscaled(m.Rows, n)
	for i := range n {
		class, top, _ := m.Arr.Span(m.At(i, i))
		if class != num.Finite {
			return nil, nil
		}
		by.Cols[i] = -(top >> 1)
		by.Rows[i] = by.Cols[i]
	}
	t := scale.TopsOf(m)
	for i := n; i < m.Rows; i++ {
		high := int64(scale.None)
		for j := range n {
			if e := t.Top[i+j*m.Rows]; e != scale.None {
				high = max(high, e+by.Cols[j])
			}
		}
		if high != scale.None {
			by.Rows[i] = -high
		}
	}
	d := &CholeskyNewton{S: s, by: by, N: n, F: call.Scaled(c, by, most)}
	if d.F.Arr == nil {
		return nil, nil
	}
	leading := m
	leading.Rows = n
	x, amp, err := rootSeed(s, leading, scale.Scaling{Rows: by.Rows[:n], Cols: by.Cols})
	d.Begin(x, amp)
	return d, err
}

// rootSeed returns an approximate inverse of the Cholesky factor of the scaled a in float64, and a
// guess of amp. The inverse is nil if float64 does not suffice.
func rootSeed(s *call.Run, a num.Mat, by scale.Scaling) (num.Mat, int, error) {
	n := a.Rows
	defer s.Temporary()()
	lu := by.Float64sOn(s.Threads, a, s.Floats(n*n))
	if err := dgemm.LU(s.Ctx, s.Threads, n, lu, seed.LeastPivot, nil); err != nil {
		return num.Mat{}, 0, err
	}
	// may fuse: an estimate
	defer s.Did(call.FactorCost(n) + call.SeedCost(n)/4)
	roots := make([]float64, n)
	for i := range roots {
		if d := lu[i+i*n]; d > 2*seed.LeastPivot && d < 0x1p100 {
			roots[i] = math.Sqrt(d)
		} else {
			return num.Mat{}, 0, nil
		}
	}
	x := s.Floats(n * n)
	clear(x)
	if err := dgemm.InvertLower(s.Ctx, s.Threads, n, lu, x); err != nil {
		return num.Mat{}, 0, err
	}
	if !(max(call.LargestOf(lu), call.LargestOf(x)) < 0x1p100) {
		return num.Mat{}, 0, nil
	}
	z, err := seed.Stored(s, n, func(i, j int) float64 {
		if i < j {
			return 0
		}
		return x[i+j*n] / roots[i]
	}, make([]int64, n), make([]int64, n))
	if err != nil {
		return num.Mat{}, 0, err
	}
	one := make([]float64, n)
	for i := range one {
		one[i] = 1
	}
	return z, call.SizeOf(call.LargestOf(seed.AbsLower(s.Threads, n, x, seed.AbsLower(s.Threads, n, lu, one)))) + 2, nil
}

// Enclosure returns an enclosure whose errors are about 2^-bits times the largest entry of each row
// of V; nil if no seed is good enough.
func (t *CholeskyNewton) Enclosure(bits int) (*ziv.Enclosure, error) {
	if t == nil {
		return nil, nil
	}
	if t.X.Arr != nil {
		if e, err := Improved(t.S, t, bits); e != nil || err != nil || t.Gain >= LeastGain {
			return e, err
		}
	}
	if !t.S.At.Decides() || t.Blocks {
		return nil, nil
	}
	t.Blocks = true
	return t.byBlocks(bits)
}

// errorMatrix returns the first n rows of V in width bits and the lower triangle of E in places,
// known up to h. It updates the gain accordingly.
//
// V is rounded, so the computed triangle belongs to E + S d with |d| ≤ 2^-width |V|.
func (t *CholeskyNewton) errorMatrix(width, places int) (v, e num.Mat, h *big.Float, err error) {
	n := t.N
	t.S.Stats.Steps++
	rows := n
	ahead := t.last && t.below.of != nil && t.F.Rows > n
	if ahead {
		rows = t.F.Rows
	}
	all, err := t.S.Room(num.Precision(uint(width)), rows, n)
	if err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	v = all.Slice(0, n, 0, n)
	tolerance, err := t.tolerance(width)
	if err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	if err := t.S.GemmOfTriangles(0, 1, t.F.Slice(0, n, 0, n), t.X.T(), 0, num.Mat{}, v, [2]byte{0, 'U'}, tolerance); err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	lost := bound.Upper()
	if tolerance != nil {
		lost = bound.Exp2(t.Amp - width)
	}
	t.below.v = num.Mat{}
	if ahead {
		t.below.v = all
		if err := t.multiplyBelow(all, width-t.Amp-4); err != nil {
			return num.Mat{}, num.Mat{}, nil, err
		}
	}
	if err := t.lookAtV(v); err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	if t.Amp > 1<<20 {
		t.Gain = 0
		return num.Mat{}, num.Mat{}, nil, nil
	}
	lost.Add(lost, bound.Exp2(t.Amp-width))
	of, err := t.unknownOf()
	if err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	lost.Add(lost, of)
	if e, err = t.S.Matrix(num.Precision(uint(places)), n, n); err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	if t.one.Arr == nil {
		if t.one, err = t.S.Identity(n); err != nil {
			return num.Mat{}, num.Mat{}, nil, err
		}
	}
	limit := t.S.Known(t.bound(t.S, n, places, width, lost), t.sRows, t.vCols)
	if err := t.S.GemmOfTriangles('L', 1, t.X, v, -1, t.one, e, [2]byte{'L', 0}, limit); err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	lost.Add(lost, newton.LostBy(limit))
	norm, err := symmetricNorm(t.S, e)
	if err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	t.S.Stats.Precision = width
	return v, e, t.learn(t.S, norm, lost, places), nil
}

// correction returns N with (I + Z)^-1 = I - N up to lost. lost is about 2^-places, or the error
// that remains after four powers of 2^-gain. E is known up to h; correction overwrites it.
func (t *CholeskyNewton) correction(e num.Mat, h *big.Float, places int) (z num.Mat, lost *big.Float, err error) {
	s, n, g := t.S, t.N, t.Gain
	terms := order(g, places+3)
	lost = bound.Upper().Add(bound.Upper().SetMantExp(h, 1), bound.Exp2(5-4*g))
	if terms == 2 {
		return e, lost.Add(lost, bound.Exp2(2-2*g)), halveDiagonal(s, e) // without Φ(E')
	}
	whole, err := mirrored(s, e)
	if err != nil {
		return num.Mat{}, nil, err
	}
	if err := halveDiagonal(s, e); err != nil { // Z1
		return num.Mat{}, nil, err
	}
	// After an error nothing more is computed. The norms N of A and B are at most 2^sizeA and 2^-g.
	product := func(a, b num.Mat, format num.Format, factors [2]byte, top, sizeA int) num.Mat {
		limit := uniform(s, n, top, format.Bits()+bits.Len(uint(n)))
		limit = s.Known(limit, call.UniformVectors(n, n, int64(sizeA), int64(sizeA)), call.UniformVectors(n, n, int64(-g), int64(-g)))
		// The product of the error and Z1, and twice the error of Φ(E'), are less than this.
		lost.Add(lost, bound.Upper().SetMantExp(newton.LostBy(limit), 2))
		var d num.Mat
		if err == nil {
			d, err = s.Matrix(format, n, n)
		}
		if err == nil {
			err = s.GemmOfTriangles('L', -1, a, b, 0, num.Mat{}, d, factors, limit)
		}
		return d
	}
	sum := func(a, b num.Mat, format num.Format) num.Mat {
		var d num.Mat
		if err == nil {
			d, err = s.Matrix(format, n, n)
		}
		if err == nil {
			err = s.SumOfTriangles(a, b, d)
		}
		return d
	}
	format := func(power int) num.Format { return num.Precision(uint(max(places-power*g+4, 24))) }
	second := product(e, whole, format(2), [2]byte{'L', 0}, -2*g, -g) // -Z1 E
	s.Drop(whole)
	var cube num.Mat
	if terms > 3 {
		cube = product(second, e.T(), format(3), [2]byte{'L', 'U'}, -3*g, 1-2*g)
		if err == nil {
			err = halveDiagonal(s, cube)
		}
	}
	if err == nil {
		err = halfOfSquare(s, second, e)
	}
	// The product, of size 4^-g, half of its diagonal, and a sum with it were rounded.
	lost.Add(lost, bound.Exp2(4-2*g-format(2).Bits()))
	if terms > 3 {
		more := sum(second, cube, format(2))
		last := product(more, e, format(3), [2]byte{'L', 'L'}, 2-3*g, 2-2*g)
		s.Drop(second, cube)
		second = sum(more, last, format(2))
		s.Drop(more, last)
		lost.Add(lost, bound.Exp2(4-2*g-format(2).Bits()))
		lost.Add(lost, bound.Exp2(5-3*g-format(3).Bits()))
	} else {
		lost.Add(lost, bound.Exp2(3-3*g))
	}
	lost.Add(lost, bound.Exp2(1-g-format(1).Bits()))
	z = sum(e, second, format(1))
	s.Drop(e, second)
	return z, lost, err
}

// step replaces S by S' = (I - N) S, accurate to the next bits.
//
// If I - N = (I + Z)^-1 + D with N(D) ≤ lost, then (I - N) S F S^T (I - N)^T is the product of
// I + D (I + Z) and its transpose, which is I up to 3 lost. S' has a rounding error |d| ≤ 3 2^-prec
// (I + |N|) |S|. d F S'^T = d V (I - N)^T and its transpose are at most 3 2^-prec (1 + N(N))² 2^amp
// together. d F d^T = d V (d S^-1)^T is less than that, since S^-1 = V (I + E)^-1. stepTolerance
// bounds the further errors that d may have.
func (t *CholeskyNewton) step(v, e num.Mat, h *big.Float, next int) error {
	z, lost, err := t.correction(e, h, next)
	if err != nil {
		return err
	}
	n := t.N
	prec := max(next+t.Amp+4, 64)
	d, err := t.S.Matrix(num.Precision(uint(max(prec-t.Gain+2, 24))), n, n)
	if err != nil {
		return err
	}
	limit, err := t.stepTolerance(prec)
	if err != nil {
		return err
	}
	if err := t.S.GemmOfTriangles('L', -1, z, t.X, 0, num.Mat{}, d, [2]byte{'L', 'L'}, limit); err != nil {
		return err
	}
	x, err := t.S.Room(num.Precision(uint(prec)), n, n)
	if err != nil {
		return err
	}
	if err := inMP(t.S, &t.X); err != nil {
		return err
	}
	if err := t.S.Sum(t.X, d, x); err != nil {
		return err
	}
	t.S.Drop(z, d, t.X)
	t.X, t.sizeS = x, nil
	lost.Add(lost, bound.Upper().SetMantExp(lost, 1))
	if limit != nil {
		lost.Add(lost, bound.Exp2(t.Amp-prec))
	}
	t.Gain = -lost.Add(lost, bound.Exp2(t.Amp+3-prec)).MantExp(nil)
	return nil
}

// tolerance returns the known bound of the entries of the leading rows of V, with the error that V
// may have where it need not be correctly rounded; else nil. Errors δ of V beside its rounding add
// S δ to E. If all |δ| ≤ 2^off, either norm of S δ is at most n ‖S‖ 2^off, and both together at
// most 2^(amp - width).
func (t *CholeskyNewton) tolerance(width int) (*residue.Bound, error) {
	f, s, err := t.Sizes()
	if err != nil {
		return nil, err
	}
	t.off = t.Amp - width - 1 - bits.Len(uint(t.N)) - s
	return t.S.Known(uniform(t.S, t.N, f+s, f+s-t.off), t.fRows, t.sRows), nil
}

// stepTolerance returns the known bound of the entries of the product N S of a step, with the error
// that the product may have where it need not be correctly rounded; else nil. Errors δ of the
// product beside its rounding add δ V (I - N)^T and its transpose to the remaining E. If all
// |δ| ≤ 2^off, the norms of δ V (I - N)^T are at most n 2^off times the norms of V, up to a factor
// of 1.1, and ‖V‖1 ≤ n ‖V‖∞. Terms of second order are less than a tenth of that if n ‖F‖ 2^off and
// 2^-prec ‖S‖ ‖F‖ are below 2^-6. The sum is at most 2^(amp - prec).
func (t *CholeskyNewton) stepTolerance(prec int) (*residue.Bound, error) {
	if !t.S.At.UsesBounds() {
		return nil, nil
	}
	f, s, err := t.Sizes()
	if err != nil {
		return nil, err
	}
	length := bits.Len(uint(t.N))
	off := t.Amp - prec - int(slices.Max(t.vSums)) - 2*length - 1
	if s+f > prec-6 || length+f+off > -6 {
		return nil, nil
	}
	size := int64(1 - t.Gain) // of N
	return t.S.Known(uniform(t.S, t.N, int(size)+s, int(size)+s-off), call.UniformVectors(t.N, t.N, size, size), t.sCols), nil
}

// lookAtV measures the first n rows of V for amp and the bounds of later products. Where products
// use bounds, the norms of V are known with these, so that ‖S‖ ‖V‖ bounds ‖|S| |V|‖ in both norms.
func (t *CholeskyNewton) lookAtV(v num.Mat) (err error) {
	if !t.S.At.UsesBounds() {
		t.Amp, err = spread(t.S, t.X, v)
		return err
	}
	if _, _, err := t.Sizes(); err != nil {
		return err
	}
	list := []num.Mat{v.T(), v}
	if all := t.below.v; all.Arr != nil {
		list = append(list, all.Slice(t.N, all.Rows, 0, t.N))
	}
	x, err := t.S.Measure(list...)
	if err != nil {
		return err
	}
	if len(list) > 2 {
		t.below.ofV = x[2]
	}
	t.vCols, t.vRows, t.vSums = x[0].Vectors(), x[1].Vectors(), x[1].Sums()
	rows, cols := bound.Upper().Mul(t.sizeS, x[1].Norm()), bound.Upper().Mul(t.across.Norm(), x[0].Norm())
	t.Amp = rows.Add(rows, cols).MantExp(nil)
	return nil
}

// Sizes returns exponents of bounds of ‖F‖∞ and ‖S‖∞.
func (t *CholeskyNewton) Sizes() (f, s int, err error) {
	var list []num.Mat
	if t.sizeS == nil {
		list = append(list, t.X, t.X.T())
	}
	if t.size == nil {
		list = append(list, t.F.Slice(0, t.N, 0, t.N))
	}
	if t.below.of == nil && t.below.rows.Arr != nil {
		list = append(list, t.below.rows)
	}
	if len(list) > 0 {
		x, err := t.S.Measure(list...)
		if err != nil {
			return 0, 0, err
		}
		if t.sizeS == nil {
			t.sizeS, t.across, t.sRows, t.sCols = x[0].Norm(), x[1], x[0].Vectors(), x[1].Vectors()
			x = x[2:]
		}
		if t.size == nil {
			t.size, t.fRows = x[0].Norm(), x[0].Vectors()
			if t.S.At.UsesBounds() {
				_, t.top = x[0].Size()
			}
			x = x[1:]
		}
		if len(x) > 0 {
			t.below.of = x[0]
		}
	}
	return t.size.MantExp(nil), t.sizeS.MantExp(nil), nil
}

// finish returns the enclosure, accurate to bits, from the first rows of V and E.
func (t *CholeskyNewton) finish(bits, width int, leading, e num.Mat, h *big.Float) (*ziv.Enclosure, error) {
	m, n, g := t.F.Rows, t.N, t.Gain
	if ok, err := positiveDiagonal(t.S, t.X); err != nil || !ok {
		return nil, err
	}
	z, lost, err := t.correction(e, h, bits)
	if err != nil {
		return nil, err
	}
	// V and D are rounded, and |D| ≤ 2 2^-g times the row of V.
	places := max(bits-g+4, 24)
	lost.Add(lost, bound.Exp2(1-width))
	lost.Add(lost, bound.Exp2(1-g-places))
	d, err := t.S.Matrix(num.Precision(uint(places)), m, n)
	if err != nil {
		return nil, err
	}
	v := leading
	tops := t.vSums
	var offs []int64 // rows of V below the leading part are in error by 2^offs
	var ofBelow *residue.Vectors
	if m > n {
		if v = t.below.v; v.Arr == nil {
			if v, err = taller(t.S, leading, m); err != nil {
				return nil, err
			}
			if err := t.multiplyBelow(v, bits); err != nil {
				return nil, err
			}
			if tops, err = t.S.RowSums(v); err != nil {
				return nil, err
			}
		} else {
			tops = append(slices.Clip(tops), t.below.ofV.Sums()...)
			ofBelow = t.below.ofV.Vectors()
		}
		if within := t.below.within; within != nil {
			for _, row := range within.Rows {
				offs = append(offs, row+within.Cols[0]-within.Within)
			}
		}
	} else if tops == nil {
		if tops, err = t.S.RowSums(v); err != nil {
			return nil, err
		}
	}
	// D is at most 2 2^-g times the row of V. Its error may be half of the error of its rounding.
	small := make([]int64, n)
	for j := range n {
		small[j] = int64(1 - g)
	}
	limit := func(first, end int) *residue.Bound {
		return &residue.Bound{Rows: tops[first:end], Cols: small, Within: int64(places + 2)}
	}
	lost.Add(lost, bound.Exp2(-g-places))
	// The sums of squares of the rows of V are the diagonal of F up to E, so 1/2 or more.
	lost.Add(lost, bound.Exp2(t.off+2))
	if t.rounded > 0 {
		_, size, err := t.Sizes()
		if err != nil {
			return nil, err
		}
		lost.Add(lost, bound.Exp2(size-t.rounded+2)) // the unknown part of F, times S^T
	}
	if err := t.S.GemmOfTriangles('L', -1, leading, z.T(), 0, num.Mat{}, d.Slice(0, n, 0, n), [2]byte{0, 'U'}, t.S.Known(limit(0, n), t.vRows, call.UniformVectors(n, n, int64(1-g), int64(1-g)))); err != nil {
		return nil, err
	}
	if m > n {
		if err := t.S.GemmOfTriangles(0, -1, v.Slice(n, m, 0, n), z.T(), 0, num.Mat{}, d.Slice(n, m, 0, n), [2]byte{0, 'U'}, t.S.Known(limit(n, m), ofBelow, call.UniformVectors(n, n, int64(1-g), int64(1-g)))); err != nil {
			return nil, err
		}
	}
	t.S.Drop(z)
	y := &bound.Nearly{X: v.T(), D: d.T(), Words: call.WordsFor(bits), Left: make([]int64, n), Right: bound.Negated(t.by.Rows)}
	for _, top := range tops {
		y.Err = append(y.Err, top+int64(lost.MantExp(nil)))
	}
	for i, off := range offs {
		y.Err[n+i] = max(y.Err[n+i], off+1) + 1
	}
	return &ziv.Enclosure{Root: y, Bits: bits}, nil
}

func (t *CholeskyNewton) planned(gain, bits int) {
	if m := t.F.Rows; t.S.Work.Report != nil {
		// may fuse: an estimate
		t.S.Plan(improvedCost(m, t.N, gain, t.Amp, bits, false) + call.WantedCost(t.S, m, t.N)/2)
	}
}

// planRoot announces the cost of a seed from blocks in seed bits, and of the steps from it to bits.
func (t *CholeskyNewton) planRoot(seed, bits int) {
	if m := t.F.Rows; t.S.Work.Report != nil {
		// may fuse: an estimate
		t.S.Plan(rootCost(t.N, seed) + improvedCost(m, t.N, likely, t.Amp, bits, false) + call.WantedCost(t.S, m, t.N)/2)
	}
}

// unknownOf returns a bound of ‖S δ S^T‖∞ for the unknown part δ of F.
func (t *CholeskyNewton) unknownOf() (*big.Float, error) {
	if t.rounded == 0 {
		return bound.Upper(), nil
	}
	_, rows, err := t.Sizes()
	if err != nil {
		return nil, err
	}
	return bound.Exp2(rows + t.across.Norm().MantExp(nil) + bits.Len(uint(t.N)) - t.rounded), nil
}

// multiplyBelow computes the rows of V below its leading part, with errors of about 2^-places.
func (t *CholeskyNewton) multiplyBelow(v num.Mat, places int) (err error) {
	m, n := t.F.Rows, t.N
	if t.below.within, err = t.belowTolerance(places); err != nil {
		return err
	}
	within := t.below.within
	if t.below.of != nil {
		within = t.S.Known(within, t.below.of.Vectors(), t.sRows)
	}
	return t.S.GemmOfTriangles(0, 1, t.F.Slice(n, m, 0, n), t.X.T(), 0, num.Mat{}, v.Slice(n, m, 0, n), [2]byte{0, 'U'}, within)
}

// belowTolerance returns the known bound of the entries of V below its first n rows, with the error
// that they may have where they need not be correctly rounded; else nil. Columns of L^T have
// Euclidean norms of at most 1, so the norm of a row of L = F L^-T is at least the norm of the row
// of F divided by n. Errors of 2^-places, relative to these norms, are requested.
func (t *CholeskyNewton) belowTolerance(places int) (*residue.Bound, error) {
	if !t.S.At.UsesBounds() {
		return nil, nil
	}
	var rows []int64
	if t.below.of != nil {
		rows = t.below.of.Sums()
	} else {
		var err error
		if rows, err = t.S.RowSums(t.F.Slice(t.N, t.F.Rows, 0, t.N)); err != nil {
			return nil, err
		}
	}
	_, norm, err := t.Sizes()
	if err != nil {
		return nil, err
	}
	b := &residue.Bound{Rows: rows, Cols: make([]int64, t.N), Within: int64(max(norm, 0) + 2*bits.Len(uint(t.N)) + places + 4)}
	for i, row := range rows {
		if row <= call.NoNumber {
			b.Rows[i] = -bound.MaxBits
		}
	}
	for j := range b.Cols {
		b.Cols[j] = int64(norm)
	}
	return b, nil
}
