package linsolve

import (
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/raw"
)

// enclosure encloses the factors of an m x n matrix C whose leading minors of order up to k are not
// 0, for k = m or k = n: the first k columns are L U with L unit lower triangular (m x k), and the
// first k rows are L U with U upper triangular (k x n). With diagonal blocks larger than 1 x 1, L
// is block lower triangular with unit matrices on its diagonal, and U block upper triangular.
//
// For S about the inverse of the leading rows of L, block lower triangular with the same diagonal,
// and T about that of the leading columns of U, block upper triangular, let I + E = S C T, with the
// leading k x k part of C. If X is strictly block lower, Y block upper triangular, and
//
//	X + Y = E - X Y,
//
// then I + E = (I + X)(I + Y), so that U = (I + X)^-1 S C and L = C T (I + Y)^-1, with all columns
// and all rows of C. Where ‖E‖ ≤ e ≤ 1/8, Brouwer's theorem has such an X + Y with a norm of at
// most the smaller root r ≤ 2 e of r = e + r², in a weighted maximum norm, and (I + X)^-1 - I and
// (I + Y)^-1 - I have norms of at most r/(1 - r) ≤ 4 e.
type enclosure struct {
	v, w       *halfulp.Matrix // C T and S C, rounded to bits
	bits       int
	rows, cols []int64      // F = diag(2^rows) C diag(2^cols) has entries about 1
	left       []*big.Float // of each row of |L - C T|, for the factors of F
	right      *big.Float   // of |U - S C|, for those of F
}

// enclose returns enclosures by these S and T, nil if they are not good enough.
func (s *solver) enclose(c, li, ui *halfulp.Matrix, bits int) (*enclosure, error) {
	k := li.Rows()
	z := equilibrate(raw.Matrix(c), unscaled(c.Rows(), c.Cols()))
	e := &enclosure{bits: bits, rows: z.rows, cols: z.cols}
	e.v, e.w = halfulp.NewMatrix(halfulp.MP(uint(bits)), c.Rows(), k), halfulp.NewMatrix(halfulp.MP(uint(bits)), k, c.Cols())
	if err := s.gemm(1, c.Slice(0, c.Rows(), 0, k), ui, 0, nil, e.v); err != nil {
		return nil, err
	}
	if err := s.gemm(1, li, c.Slice(0, k, 0, c.Cols()), 0, nil, e.w); err != nil {
		return nil, err
	}
	near := halfulp.NewMatrix(halfulp.MP(64), k, k)
	if err := s.gemm(1, li, e.v.Slice(0, k, 0, k), -1, halfulp.Identity(halfulp.Float64, k), near); err != nil {
		return nil, err
	}
	top := z.rows[:k]
	up := negated(top)
	// V is rounded, by less than 2^-bits of each entry, and so is E, which bounds cover.
	lost := boundsOf(raw.Matrix(li), up, top).times(boundsOf(raw.Matrix(e.v.Slice(0, k, 0, k)), up, top).sums())
	lost.SetMantExp(lost, 1-bits)
	norm := upper().Add(boundsOf(raw.Matrix(near), up, top).norm(), lost)
	s.stats.Rho, _ = norm.Float64()
	if norm.Cmp(big.NewFloat(0.125)) > 0 {
		return nil, nil
	}
	four := upper().SetMantExp(norm, 2)
	for _, sum := range boundsOf(raw.Matrix(e.v), negated(z.rows), top).sums() {
		e.left = append(e.left, upper().Mul(sum, four))
	}
	e.right = upper().Mul(boundsOf(raw.Matrix(e.w), up, negated(z.cols)).norm(), four)
	return e, nil
}

// around returns mid ± (2^(1-bits) |mid| + radius 2^shift).
func (e *enclosure) around(mid, radius *big.Float, shift int64) interval {
	rad := upper().SetMantExp(radius, int(shift))
	rounding := upper().Abs(mid)
	rad = upper().Add(rad, upper().SetMantExp(rounding, 1-e.bits))
	p := e.arithmetic()
	return interval{p.down().Sub(mid, rad), p.up().Add(mid, rad)}
}

// arithmetic is that of intervals of entries.
func (e *enclosure) arithmetic() intervals { return intervals(e.bits + 64) }

// lower encloses entry (i, j) of L.
func (e *enclosure) lower(i, j int) interval {
	return e.around(e.v.Big(i, j), e.left[i], e.rows[j]-e.rows[i])
}

// upper encloses entry (i, j) of U.
func (e *enclosure) upper(i, j int) interval {
	return e.around(e.w.Big(i, j), e.right, -e.rows[i]-e.cols[j])
}

// below reports whether |x| ≤ bound for all of x.
func (x interval) below(bound *big.Float) bool {
	return new(big.Float).Abs(x.lo).Cmp(bound) <= 0 && new(big.Float).Abs(x.hi).Cmp(bound) <= 0
}

// special says how many bits less than its enclosure tells a number has that an entry is suspected
// to be.
const special = 24

// simplest returns the number of x with the fewest significant bits, nil if these are so many that
// it is nothing special.
func (x interval) simplest() *big.Float {
	if x.lo.Sign() != x.hi.Sign() || x.lo.Sign() == 0 {
		return new(big.Float)
	}
	prec := x.lo.Prec()
	a, b := new(big.Float).Abs(x.lo), new(big.Float).Abs(x.hi)
	if a.Cmp(b) > 0 {
		a, b = b, a
	}
	low := a.MantExp(nil) - int(prec)
	integer := func(y *big.Float) *big.Int {
		v, _ := y.SetMantExp(y, -low).Int(nil)
		return v
	}
	p, q := integer(a), integer(b)
	width := new(big.Int).Sub(q, p).BitLen()
	// Of the integers above p - 1, up to q, the one with the most zeros at its end.
	p.Sub(p, big.NewInt(1))
	end := p.Xor(p, q).BitLen() - 1
	if end < width+special {
		return nil
	}
	t := new(big.Float).SetInt(q.Rsh(q, uint(end)))
	t.SetMantExp(t, end+low)
	if x.lo.Sign() < 0 {
		t.Neg(t)
	}
	return t
}
