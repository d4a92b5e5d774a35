package factors

import (
	"math"
	"math/big"
	mathbits "math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/residue"
)

// LUNewton holds approximate inverses S and T of the factors L and U of the leading k x k part of
// F = D1 C D2. S is block lower triangular with identity matrices on its diagonal, T is block upper
// triangular, and E = S F T - I is small. ziv.Enclosure describes the strictly block lower X and
// the block upper triangular Y with I + E = (I + X) (I + Y), whose norms are at most r ≤ 1.2 e, and
// their consequences.
//
// Split E = X1 + Y1 in the same way, with ‖E‖∞ ≤ e. With E' = (I - X1) (I + E) (I - Y1) - I,
//
//	E' = -(X1² + X1 Y1 + Y1²) + X1 E Y1,
//	(I + X)^-1 = (I + X')^-1 (I - X1),  (I + Y)^-1 = (I - Y1) (I + Y')^-1
//
// for the X' and Y' of E', which are the two parts of E' up to r'², where e' = 3 e² + e³ and
// r' ≤ 1.01 e'. If E is known up to h, then as for CholeskyNewton
//
//	(I + X)^-1 = (I - X') (I - X1),  (I + Y)^-1 = (I - Y1) (I - Y')
//
// with the parts X' and Y' of E', up to 2 h + 32 e⁴ plus twice their errors, if e ≤ 2^-8. X1² + X1
// Y1 is X1 E.
//
// Products leave out the zeros of triangles. In units of k³ multiplications, for m = n = k, the
// last step to b bits takes
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
// with g of about b/4: 3 altogether. The step before, to about b/4 bits, has (I + X)^-1 S - S and T
// (I + Y)^-1 - T, 1/6 each, instead of the last three products.
type LUNewton struct {
	S           *call.Run
	By          scale.Scaling
	F           num.Mat // m x n
	x, y        num.Mat // S and T: in MP, or in Float64 if they are the seed of a place
	K           int
	Blocks      []int
	one         num.Mat // the unit matrix; nil until it is needed
	cond        float64 // ≥ ‖|T^-1| |T|‖∞; 0 until it is needed at a place
	Improvement         // amp bounds ‖|S| |F T|‖∞ + cond
	luSizes
	luAhead
}

// Pivoted is an LUNewton of A with its rows, for LDLT also its columns, in an order that float64
// arithmetic or an elimination found.
type Pivoted struct {
	*LUNewton // nil if float64 does not suffice for more
	Order     []int
	C         num.Mat // A in that order
}

// NewPivoted returns a float64 seed for the factors of a with partial pivoting. It is nil if
// float64 does not suffice, or if numbers have more than most bits.
func NewPivoted(s *call.Run, a num.Mat, most int) (*Pivoted, error) {
	m, n := a.Dims()
	k := min(m, n)
	defer s.Temporary()()
	// To find pivots, columns are scaled and rows are not.
	leading := a.Slice(0, m, 0, k)
	columns := scale.Unscaled(m, k)
	t := scale.TopsOf(leading)
	for j := range k {
		high := slices.Max(t.Top[j*m : (j+1)*m])
		if high == scale.None {
			return nil, nil
		}
		columns.Cols[j] = -high
	}
	lu, pivots := columns.Float64s(leading, s.Floats(m*k)), make([]int, k)
	if err := dgemm.LUTall(s.Ctx, s.Threads, m, k, lu, 0x1p-900, pivots); err != nil {
		return nil, err
	}
	// may fuse: an estimate
	defer s.Did(call.FactorCost(k) + call.SeedCost(k)/2)
	p := &Pivoted{Order: call.All(m)}
	for i, j := range pivots {
		p.Order[i], p.Order[j] = p.Order[j], p.Order[i]
	}
	p.C = modular.Chosen(a, p.Order, call.All(n))
	d := &LUNewton{S: s, K: k, Blocks: ziv.Ones(k), By: scale.Equilibrate(p.C, scale.Unscaled(m, n))}
	if d.F = call.Scaled(p.C, d.By, most); d.F.Arr == nil {
		return nil, nil
	}
	// The factors of F.
	square := s.Floats(k * k)
	for j := range k {
		for i := range k {
			e := d.By.Rows[i] - d.By.Rows[j]
			if i <= j {
				e = d.By.Rows[i] + d.By.Cols[j] - columns.Cols[j]
			}
			square[i+j*k] = math.Ldexp(lu[i+j*m], int(max(-4000, min(e, 4000))))
		}
	}
	p.LUNewton = d
	if ok, err := d.invert(square); !ok || err != nil {
		return nil, err
	}
	return p, nil
}

// invert sets S and T to the float64 inverses of the triangles in lu. It reports whether they are
// good enough.
//
// Let G = U T - I for the triangle U. |G| ≤ γ |U| |T| with γ = (k + 16) 2^-53 (see triangles.go in
// package seed), so that |T^-1| = |(I + G)^-1 U| and cond ≤ ‖|U| |T|‖ / (1 - γ ‖|U| |T|‖).
func (t *LUNewton) invert(lu []float64) (ok bool, err error) {
	n := t.K
	for i := range n {
		if d := math.Abs(lu[i+i*n]); !(d > seed.LeastPivot) {
			return false, nil
		}
	}
	x, y := t.S.Floats(n*n), t.S.Floats(n*n)
	clear(x)
	clear(y)
	if err := dgemm.InvertLower(t.S.Ctx, t.S.Threads, n, lu, x); err != nil {
		return false, err
	}
	if err := dgemm.InvertUpper(t.S.Ctx, t.S.Threads, n, lu, n, y); err != nil {
		return false, err
	}
	if !(max(call.LargestOfAll(t.S.Threads, lu), call.LargestOfAll(t.S.Threads, x), call.LargestOfAll(t.S.Threads, y)) < 0x1p100) {
		return false, nil
	}
	one := make([]float64, n)
	for i := range one {
		one[i] = 1
	}
	size := call.LargestOf(seed.AbsLower(t.S.Threads, n, x, seed.AbsLower(t.S.Threads, n, lu, one)))
	t.cond = call.LargestOf(seed.AbsUpper(t.S.Threads, n, lu, seed.AbsUpper(t.S.Threads, n, y, one)))
	near := float64(float64(n+16) * 0x1p-52 * t.cond) // and underflow
	if !(near <= 0.25) {
		return false, nil
	}
	t.cond = float64(2 * t.cond)
	t.Amp = call.SizeOf(size+t.cond) + 1
	unit := make([]int64, n)
	if t.x, err = seed.Stored(t.S, n, func(i, j int) float64 {
		switch {
		case i == j:
			return 1
		case i > j:
			return x[i+j*n]
		}
		return 0
	}, unit, unit); err != nil {
		return false, err
	}
	t.y, err = seed.Stored(t.S, n, func(i, j int) float64 {
		if i > j {
			return 0
		}
		return y[i+j*n]
	}, unit, unit)
	return err == nil, err
}

// Enclosure returns an enclosure whose errors are about 2^-bits times the largest entries of the
// rows of L and the columns of U; nil if the seed is not good enough.
func (t *LUNewton) Enclosure(bits int) (*ziv.Enclosure, error) {
	if t == nil {
		return nil, nil
	}
	return Improved(t.S, t, bits)
}

// errorMatrix returns the first k rows of V = F T in width bits, and E in places, known up to h. It
// updates the gain accordingly.
//
// V is rounded, so the computed E is S F T - I + S d with |d| ≤ 2^-width |V|.
func (t *LUNewton) errorMatrix(width, places int) (v, e num.Mat, h *big.Float, err error) {
	n := t.K
	t.S.Stats.Steps++
	if v, err = t.S.Room(num.Precision(uint(width)), n, n); err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	tolerance, err := t.tolerance(width)
	if err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	f := t.F.Slice(0, n, 0, n)
	if err := t.S.GemmOfTriangles(0, 1, f, t.y, 0, num.Mat{}, v, [2]byte{0, t.upperFactors()[1]}, tolerance); err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	lost := bound.Upper()
	if tolerance != nil {
		lost = bound.Exp2(t.Amp - width)
	}
	if err := t.goAhead(width); err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	if t.Amp, err = t.spread(v); err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	if t.Amp > 1<<20 {
		t.Gain = 0
		return num.Mat{}, num.Mat{}, nil, nil
	}
	lost.Add(lost, bound.Exp2(t.Amp-width))
	if e, err = t.S.Room(num.Precision(uint(places)), n, n); err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	if t.one.Arr == nil {
		if t.one, err = t.S.Identity(n); err != nil {
			return num.Mat{}, num.Mat{}, nil, err
		}
	}
	limit := t.S.Known(t.bound(t.S, n, places, width, lost), t.sRows, t.vCols)
	if err := t.S.GemmOfTriangles(0, 1, t.x, v, -1, t.one, e, [2]byte{'L', 0}, limit); err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	lost.Add(lost, newton.LostBy(limit))
	if err := t.lookInto(e); err != nil { // while the place computes E
		return num.Mat{}, num.Mat{}, nil, err
	}
	norm, err := t.S.RowNorm(e)
	if err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	t.S.Stats.Precision = width
	return v, e, t.learn(t.S, norm, lost, places), nil
}

// split returns the strictly block lower and the block upper triangle of a.
func (t *LUNewton) split(a num.Mat) (lower, upper num.Mat, err error) {
	if lower, err = t.S.Room(a.Format(), t.K, t.K); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	if upper, err = t.S.Room(a.Format(), t.K, t.K); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	if err := t.S.PartTriangles(a, lower, upper); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	if len(t.Blocks) == t.K {
		return lower, upper, nil
	}
	var moved num.Mat // from lower to upper, which has zeros there
	if err := change(t.S, belowDiagonal(lower), t.Blocks, func(h num.Mat, i int) {
		if moved.Arr == nil {
			moved = num.NewMat(h.Format(), h.Rows, 1)
		}
		moved.SetBig(i, 0, h.Big(i, 0))
		h.SetFloat64(i, 0, 0)
	}); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	return lower, upper, change(t.S, belowDiagonal(upper), t.Blocks, func(h num.Mat, i int) { h.SetBig(i, 0, moved.Big(i, 0)) })
}

// products returns the strictly block lower triangle of -A B and the block upper triangle of -C D
// in one matrix. A and B are block lower, C and D block upper triangular. The bounds of the
// products are proved, or nil.
func (t *LUNewton) products(a, b, c, d num.Mat, format num.Format, ofLower, ofUpper *residue.Bound) (num.Mat, error) {
	z, err := t.S.Room(format, t.K, t.K)
	if err != nil {
		return num.Mat{}, err
	}
	if err := t.S.GemmOfTriangles('L', -1, a, b, 0, num.Mat{}, z, [2]byte{'L', 'L'}, ofLower); err != nil {
		return num.Mat{}, err
	}
	return z, t.upperProduct(-1, c, d, 0, num.Mat{}, z, ofUpper) // with the diagonal
}

// upperProduct stores alpha A B + beta C in D, for block upper triangular A and B and an upper
// triangular C. The bound limit is proved, or nil. An entry of D below the diagonal is the sum of
// two products.
func (t *LUNewton) upperProduct(alpha float64, a, b num.Mat, beta float64, c, d num.Mat, limit *residue.Bound) error {
	if err := t.S.GemmOfTriangles('U', alpha, a, b, beta, c, d, t.upperFactors(), limit); err != nil {
		return err
	}
	if len(t.Blocks) == t.K {
		return nil
	}
	var here [4]num.Mat
	for i, m := range []num.Mat{diagonalOf(a), belowDiagonal(a), diagonalOf(b), belowDiagonal(b)} {
		var err error
		if here[i], err = columnHere(t.S, m); err != nil {
			return err
		}
	}
	return change(t.S, belowDiagonal(d), t.Blocks, func(h num.Mat, i int) {
		x := belowProduct(here[1].Big(i, 0), here[0].Big(i+1, 0), here[2].Big(i, 0), here[3].Big(i, 0))
		h.SetBig(i, 0, x.Mul(x, big.NewFloat(alpha)))
	})
}

// belowProduct returns the entry (i + 1, i) of a product A B from a = A[i+1,i], nextA = A[i+1,i+1],
// aboveB = B[i,i] and b = B[i+1,i].
func belowProduct(a, nextA, aboveB, b *big.Float) *big.Float {
	return interval.ExactAdd(interval.ExactMul(a, aboveB), interval.ExactMul(nextA, b))
}

// upperFactors returns the triangles of block upper triangular factors for GemmOfTriangles: 'U' if
// all blocks have one row, so that there are zeros below the diagonal.
func (t *LUNewton) upperFactors() [2]byte {
	if len(t.Blocks) < t.K {
		return [2]byte{}
	}
	return [2]byte{'U', 'U'}
}

// correction returns x and y with (I + X)^-1 = I - x and (I + Y)^-1 = I - y up to lost, for the X
// and Y of E. lost is about 2^-bits, or the error that remains after four powers of 2^-gain. E is
// known up to h.
func (t *LUNewton) correction(e num.Mat, h *big.Float, bits int) (x, y num.Mat, lost *big.Float, err error) {
	n, g := t.K, t.Gain
	terms := order(g, bits+3)
	lost = bound.Upper().Add(bound.Upper().SetMantExp(h, 1), bound.Exp2(5-4*g))
	x, y, more, err := t.bySquare(e, bits)
	if err != nil || x.Arr != nil {
		return x, y, lost.Add(lost, more), err
	}
	if x, y = t.lower, t.upper; x.Arr != nil {
		t.lower, t.upper = num.Mat{}, num.Mat{}
	} else if x, y, err = t.split(e); err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	if terms == 2 {
		t.S.Drop(e)
		return x, y, lost.Add(lost, bound.Exp2(2-2*g)), nil // without E'
	}
	format := func(power int) num.Format { return num.Precision(uint(max(bits-power*g+4, 24))) }
	// limit returns the bound 2^top of the entries of a product. It adds 4 times the error that the
	// bound allows to lost: twice the error of E', and its effect in further products, are less.
	limit := func(top int, format num.Format) *residue.Bound {
		b := uniform(t.S, n, top, format.Bits()+mathbits.Len(uint(n)))
		lost.Add(lost, bound.Upper().SetMantExp(newton.LostBy(b), 2))
		return b
	}
	// After an error nothing more is computed.
	product := func(a, b num.Mat, format num.Format, factors [2]byte, ofA, ofB, top int) num.Mat {
		within := t.S.Known(limit(top, format), t.small(false, ofA), t.small(true, ofB))
		var d num.Mat
		if err == nil {
			d, err = t.S.Room(format, n, n)
		}
		if err == nil {
			err = t.S.GemmOfTriangles(0, -1, a, b, 0, num.Mat{}, d, factors, within)
		}
		return d
	}
	sum := func(a, b num.Mat, format num.Format) num.Mat {
		var d num.Mat
		if err == nil {
			d, err = t.S.Room(format, n, n)
		}
		if err == nil {
			err = t.S.Sum(a, b, d)
		}
		t.S.Drop(a, b)
		return d
	}
	first := product(x, e, format(2), [2]byte{'L', 0}, -g, -g, -2*g) // -(X1² + X1 Y1)
	within := t.S.Known(limit(-2*g, format(2)), t.small(false, -g), t.small(true, -g))
	var right num.Mat
	if err == nil {
		right, err = t.S.Matrix(format(2), n, n)
	}
	if err == nil {
		err = t.upperProduct(-1, y, y, 0, num.Mat{}, right, within)
	}
	var cube num.Mat
	if terms > 3 {
		// X1 E Y1
		cube = product(first, y, format(3), [2]byte{0, t.upperFactors()[1]}, 1-2*g, -g, 1-3*g)
	}
	second := sum(first, right, format(2)) // E'
	// Two products of 4^-g and their sum were rounded.
	lost.Add(lost, bound.Exp2(4-2*g-format(2).Bits()))
	if terms > 3 {
		second = sum(second, cube, format(2))
		var x2, y2, last num.Mat
		if err == nil {
			x2, y2, err = t.split(second)
		}
		left := t.S.Known(limit(2-3*g, format(3)), t.small(false, 2-2*g), t.small(true, -g))
		right := t.S.Known(limit(2-3*g, format(3)), t.small(false, -g), t.small(true, 2-2*g))
		if err == nil {
			last, err = t.products(x2, x, y, y2, format(3), left, right)
		}
		t.S.Drop(x2, y2)
		second = sum(second, last, format(2))
		lost.Add(lost, bound.Exp2(4-2*g-format(2).Bits()))
		lost.Add(lost, bound.Exp2(5-3*g-format(3).Bits()))
	} else {
		lost.Add(lost, bound.Exp2(3-3*g))
	}
	lost.Add(lost, bound.Exp2(1-g-format(1).Bits()))
	t.S.Drop(x, y)
	z := sum(e, second, format(1))
	if err != nil {
		return num.Mat{}, num.Mat{}, nil, err
	}
	x, y, err = t.split(z)
	t.S.Drop(z)
	return x, y, lost, err
}

// step replaces S and T by S' = (I - X) S and T' = T (I - Y), accurate to the next bits.
//
// If the factors I - X and I - Y are (I + X)^-1 and (I + Y)^-1 up to lost, S' F T' is I up to 3
// lost. S' and T' have rounding errors of at most 3 2^-prec times (I + |X|) |S| and |T| (I + |Y|).
// They add at most 2^(3-prec+amp), since S F d = (I + E) T^-1 d for an error d of T. T^-1 T' is I
// up to 2^-6, so cond grows by a factor of less than 1.05. stepTolerances bounds the further errors
// that the products may have.
func (t *LUNewton) step(_, e num.Mat, h *big.Float, next int) error {
	x, y, lost, err := t.correction(e, h, next)
	if err != nil {
		return err
	}
	if err := t.convert(); err != nil {
		return err
	}
	if err := t.findCond(); err != nil {
		return err
	}
	if t.Amp > 1<<20 {
		t.Gain = 1
		return nil
	}
	n, prec := t.K, max(next+t.Amp+4, 64)
	format := num.Precision(uint(max(prec-t.Gain+2, 24)))
	left, right, err := t.stepTolerances(prec)
	if err != nil {
		return err
	}
	improve := func(of num.Mat, product func(d num.Mat) error) (num.Mat, error) {
		d, err := t.S.Matrix(format, n, n)
		if err != nil {
			return num.Mat{}, err
		}
		if err := product(d); err != nil {
			return num.Mat{}, err
		}
		z, err := t.S.Room(num.Precision(uint(prec)), n, n)
		if err != nil {
			return num.Mat{}, err
		}
		err = t.S.Sum(of, d, z)
		t.S.Drop(of, d)
		return z, err
	}
	if t.x, err = improve(t.x, func(d num.Mat) error {
		return t.S.GemmOfTriangles('L', -1, x, t.x, 0, num.Mat{}, d, [2]byte{'L', 'L'}, left)
	}); err != nil {
		return err
	}
	if t.y, err = improve(t.y, func(d num.Mat) error { return t.upperProduct(-1, t.y, y, 0, num.Mat{}, d, right) }); err != nil {
		return err
	}
	t.S.Drop(x, y)
	t.sized, t.across = false, false
	t.cond = float64(t.cond * 1.05)
	lost.Add(lost, bound.Upper().SetMantExp(lost, 1))
	if left != nil {
		lost.Add(lost, bound.Exp2(t.Amp-prec))
	}
	t.Gain = -lost.Add(lost, bound.Exp2(t.Amp+3-prec)).MantExp(nil)
	return nil
}

// finish returns the enclosure, accurate to bits, from the first rows of V and E.
func (t *LUNewton) finish(bits, width int, leading, e num.Mat, h *big.Float) (*ziv.Enclosure, error) {
	m, n := t.F.Dims()
	k, g := t.K, t.Gain
	x, y, lost, err := t.correction(e, h, bits)
	if err != nil {
		return nil, err
	}
	w, err := t.upperPart(bits, width)
	if err != nil {
		return nil, err
	}
	within, err := t.finishTolerances(bits)
	if err != nil {
		return nil, err
	}
	if n > k {
		if err := t.S.GemmOfTriangles(0, 1, t.x, t.F.Slice(0, k, k, n), 0, num.Mat{}, w.Slice(0, k, k, n), [2]byte{'L', 0}, within.right); err != nil {
			return nil, err
		}
	}
	// V, W and their corrections are rounded. The corrections are at most 2 2^-g times V and W.
	places := max(bits-g+4, 24)
	lost.Add(lost, bound.Exp2(1-width))
	lost.Add(lost, bound.Exp2(1-g-places))
	format := num.Precision(uint(places))
	dv, err := t.S.Room(format, m, k)
	if err != nil {
		return nil, err
	}
	dw, err := t.S.Room(format, k, n)
	if err != nil {
		return nil, err
	}
	v := leading
	if m > k {
		if v, err = taller(t.S, leading, m); err != nil {
			return nil, err
		}
		if err := t.S.GemmOfTriangles(0, 1, t.F.Slice(k, m, 0, k), t.y, 0, num.Mat{}, v.Slice(k, m, 0, k), [2]byte{0, t.upperFactors()[1]}, within.below); err != nil {
			return nil, err
		}
	}
	rows := t.vSums
	if rows == nil || m > k {
		if rows, err = t.S.RowSums(v); err != nil {
			return nil, err
		}
	}
	if t.wCols == nil {
		x, err := t.S.Measure(w.Slice(0, k, 0, k).T())
		if err != nil {
			return nil, err
		}
		t.wCols = x[0]
	}
	sizes := []call.Extent{t.wCols}
	if n > k {
		x, err := t.S.Measure(w.Slice(0, k, k, n).T())
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, x...)
	}
	var cols []int64
	for _, x := range sizes {
		cols = append(cols, x.Tops(call.None32)...)
	}
	// The error of a correction may be half of the error of its rounding.
	small := make([]int64, k)
	for i := range small {
		small[i] = int64(1 - g)
	}
	ofV := func(first, end int) *residue.Bound {
		return &residue.Bound{Rows: rows[first:end], Cols: small, Within: int64(places + 2)}
	}
	ofW := func(first, end int) *residue.Bound {
		return &residue.Bound{Rows: small, Cols: cols[first:end], Within: int64(places + 2)}
	}
	lost.Add(lost, bound.Exp2(-g-places))
	ofLeading := t.S.Known(ofV(0, k), t.vRows, t.small(true, 1-g))
	if err := t.S.GemmOfTriangles('L', -1, leading, y, 0, num.Mat{}, dv.Slice(0, k, 0, k), [2]byte{0, t.upperFactors()[1]}, ofLeading); err != nil {
		return nil, err
	}
	if m > k {
		if err := t.S.GemmOfTriangles(0, -1, v.Slice(k, m, 0, k), y, 0, num.Mat{}, dv.Slice(k, m, 0, k), [2]byte{0, t.upperFactors()[1]}, ofV(k, m)); err != nil {
			return nil, err
		}
	}
	if err := t.S.GemmOfTriangles('U', -1, x, w.Slice(0, k, 0, k), 0, num.Mat{}, dw.Slice(0, k, 0, k), [2]byte{'L', 0}, t.S.Known(ofW(0, k), t.small(false, 1-g), sizes[0].Vectors())); err != nil {
		return nil, err
	}
	if n > k {
		if err := t.S.GemmOfTriangles(0, -1, x, w.Slice(0, k, k, n), 0, num.Mat{}, dw.Slice(0, k, k, n), [2]byte{'L', 0}, t.S.Known(ofW(k, n), t.small(false, 1-g), sizes[1].Vectors())); err != nil {
			return nil, err
		}
	}
	t.S.Drop(x, y)
	top := t.By.Rows[:k]
	l := &bound.Nearly{X: v.T(), D: dv.T(), Words: call.WordsFor(bits), Left: top, Right: bound.Negated(t.By.Rows), Err: errorsOf(rows, lost, within.rows)}
	// Only the upper triangle of (I + X)^-1 W is needed. It depends only on the upper triangle of
	// W, as X and the error of its inverse are strictly block lower triangular.
	u := &bound.Nearly{X: w, D: dw, Words: call.WordsFor(bits), Left: bound.Negated(top), Right: bound.Negated(t.By.Cols), Err: errorsOf(cols, lost, within.cols)}
	return &ziv.Enclosure{L: l, U: u, Bits: bits}, nil // of U, the upper triangle
}

// distinct is a bound of multipliers, a little below 1. It proves that an entry is not accepted as
// equal to the pivot in magnitude.
var distinct = new(big.Float).SetPrec(64).Sub(big.NewFloat(1), new(big.Float).SetMantExp(big.NewFloat(1), -60))

// BelowLimit reports whether every entry of L below its diagonal blocks is proved to be below limit
// in magnitude, for a limit of about 1 or more.
func BelowLimit(s *call.Run, u *ziv.Unknown, e *ziv.Enclosure, limit *big.Float) (bool, error) {
	return belowEach(s, u, e, func(i, j int) *big.Float { return limit })
}

// belowEach is BelowLimit with a bound for each entry, each at least 1 - 2^-40.
func belowEach(s *call.Run, u *ziv.Unknown, e *ziv.Enclosure, limit func(i, j int) *big.Float) (bool, error) {
	if e.Each != nil {
		return belowBy(s, u, e, limit)
	}
	rounders, fails := make([]*bound.Rounder, s.Threads), make([]bool, s.Threads)
	x, d := e.L.X, e.L.D
	m := u.C.Rows
	first := make([]int, 0, u.K) // for each column, the first row below its block
	for _, size := range u.Blocks {
		end := len(first) + size
		for range size {
			first = append(first, end)
		}
	}
	err := par.For(s.Ctx, s.Threads, u.K, func(worker, j int) {
		if rounders[worker] == nil {
			rounders[worker] = &bound.Rounder{Adder: bound.NewAdder(e.L.Words)}
		}
		for i := first[j]; i < m && !fails[worker]; i++ {
			if !u.Has(i, j) {
				continue
			}
			v := rounders[worker].Enclose(e.L, &x, &d, j, i)
			fails[worker] = !v.Small() && !e.Lower(i, j).Below(limit(i, j))
		}
	})
	return !slices.Contains(fails, true), err
}

// planned announces the cost of the steps from a gain to bits.
func (t *LUNewton) planned(gain, bits int) {
	if m, n := t.F.Dims(); t.S.Work.Report != nil {
		// may fuse: an estimate
		t.S.Plan(improvedCost(m, n, gain, t.Amp, bits, true) + call.WantedCost(t.S, m, n))
	}
}
