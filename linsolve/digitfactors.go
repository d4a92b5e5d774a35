package linsolve

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
)

// factorDigits bounds order times digits, a lane, of factors that are faster by elimination in
// digits than by products: 36 digits of order 660 take 0.6 of their time with AVX-512, of order 300
// 0.7 with AVX2.
const factorDigits = 3000

// luByDigits returns the order of rows that partial pivoting leads to and an enclosure of the
// factors of a square matrix, with errors of about 2^-bits of the largest entries of rows of L and
// columns of U, by elimination in digits; nil where that is not the way. It is known whether a is
// regular if known says so.
func (s *solver) luByDigits(a *halfulp.Matrix, bits int, known *bool) (order []int, e *enclosure, err error) {
	m, n := a.Dims()
	if m != n || n*3 > factorDigits*direct.LaneCount() {
		return nil, nil, nil
	}
	defer s.release()
	// Rows are not scaled: that might change pivots.
	by, tops := unscaled(n, n), topsOf(raw.Matrix(a))
	for j := range n {
		high := slices.Max(tops.top[j*n : (j+1)*n])
		if high == none {
			return nil, nil, nil
		}
		by.cols[j] = -high
	}
	f, err := s.factor(raw.Matrix(a), by)
	if err != nil {
		return nil, nil, err
	}
	cond, err := s.loss(f)
	if err != nil {
		return nil, nil, err
	}
	if cond > lossy {
		cond = f.conditionBits()
	}
	wanted := bits + luSpare(n)
	for {
		d, ok := s.digitsFor(n, cond+wanted, rootDigits)
		if !ok || n*d > factorDigits*direct.LaneCount() {
			return nil, nil, nil
		}
		s.plan(digitsCost(n, d) + s.wantedCost(n, n)) // may fuse: an estimate
		t, more, err := s.eliminateDigits(a, f, d, 0)
		switch {
		case err == nil:
			if more = t.luBits() - bits; more >= 0 {
				s.stats.Rho, s.stats.Precision = t.rho, d*t.Bits()
				e, err := t.factors(bits)
				return t.order, e, err
			}
			more = -more
		case errors.Is(err, ErrRange):
			return nil, nil, nil
		default:
			if err := s.askForMore(err, a, known); err != nil {
				return nil, nil, err
			}
		}
		cond += max(more, cond/4)
	}
}

// luSpare are bits beyond the condition number's, for what is proved of L and U.
func luSpare(n int) int { return 3*bits.Len(uint(n)) + 8 }

// luBits returns of how many bits an enclosure by factors tells, about.
//
// With 2^-growth P F = L (I + E) U for E = L^-1 (2^-growth P F - G) U^-1, G = L U,
//
//	‖E‖∞ ≤ max |2^-growth P F - G| ‖L^-1‖∞ Σ |U^-1| ≤ ‖L^-1‖∞ rho,
//
// as |U^-1| e ≤ |U^-1| |L^-1| e for L with ones on its diagonal. If that is at most e ≤ 1/8, there
// are strictly lower and upper triangular X and Y with norms of 1.2 e at most for which I + E =
// (I + X) (I + Y), see enclosure and splitting: so the factors are L (I + X) and (I + Y) U, and
//
//	|L X|_ij ≤ 1.2 e Σ_k |l_ik|,  |Y U|_ij ≤ 1.2 e max_k |u_kj|.
func (t *digits) luBits() int {
	return -t.splitError().MantExp(nil) - bits.Len(uint(t.n))
}

// splitError returns the bound e of luBits.
func (t *digits) splitError() *big.Float {
	return upper().Mul(t.defect, upper().SetFloat64(t.lowerNorm))
}

// factors returns the enclosure that luBits promises, where it tells of more than none.
func (t *digits) factors(wanted int) (*enclosure, error) {
	n, d, b, count, size := t.n, t.d, t.Bits(), t.Count(), t.Size()
	off := t.splitError()
	if off.Cmp(big.NewFloat(0.125)) > 0 {
		return nil, nil
	}
	off.Mul(off, big.NewFloat(1.25))
	exact, nothing := halfulp.MP(uint(b*d)), halfulp.MP(halfulp.MinPrec)
	l := &nearly{x: halfulp.NewMatrix(exact, n, n), d: halfulp.NewMatrix(nothing, n, n), words: words(wanted), err: make([]int64, n)}
	u := &nearly{x: halfulp.NewMatrix(exact, n, n), d: halfulp.NewMatrix(nothing, n, n), words: words(wanted), err: make([]int64, n)}
	l.left, l.right = make([]int64, n), make([]int64, n)
	u.left, u.right = make([]int64, n), negated(t.cols)
	for i := range u.left {
		u.left[i] = growth
	}
	err := t.s.each(n, func(i int) { // of L
		m, sum := raw.Matrix(l.x), 1.0
		mag := make([]uint64, (b*d+63)/64+1)
		for j := range i {
			x := t.lower[i][j*d:]
			clear(mag)
			for c := range d {
				setBits(mag, b*(d-1-c), t.FactorDigit(x, c))
			}
			half, top := uint64(1)<<uint((b*d-1)%64), mag[(b*d-1)/64:]
			neg := top[0]&half == 0
			if top[0] ^= half; neg { // 1/2 - x instead of x - 1/2
				num.Negate(mag)
				top[0] &= half<<1 - 1
				clear(top[1:])
			}
			m.Arr.Set(m.At(j, i), num.Real{Class: num.Finite, Neg: neg, Mag: mag, Exp: int64(2 - b*d)})
			sum += math.Abs(t.FactorFloat(x))
		}
		l.err[i] = int64(upper().Mul(off, upper().SetFloat64(float64(sum*(1+0x1p-30))+0x1p-60)).MantExp(nil))
	})
	if err != nil {
		return nil, err
	}
	err = t.s.each(n, func(j int) { // of U
		m := raw.Matrix(u.x)
		mag := make([]uint64, (b*d+63)/64+1)
		top := int64(math.MinInt32)
		for k := range j {
			clear(mag)
			neg := false
			x := t.upper[(j/count*n+k)*size:][:size]
			for c := range d {
				v, less := t.VectorDigit(x, c, j%count)
				neg = neg || less
				setBits(mag, b*(d-1-c), v)
			}
			at := m.At(k, j)
			m.Arr.Set(at, num.Real{Class: num.Finite, Neg: neg, Mag: mag, Exp: int64(-b * d)})
			if m.Arr.Class(at) == num.Finite {
				top = max(top, int64(m.Arr.Exp[at]))
			}
		}
		at := m.At(j, j)
		pivot := new(big.Float).SetMantExp(new(big.Float).SetInt(t.pivots[j]), -b*d)
		if t.neg[j] {
			pivot.Neg(pivot)
		}
		u.x.SetBig(j, j, pivot)
		top = max(top, int64(m.Arr.Exp[at]))
		u.err[j] = top + int64(off.MantExp(nil))
	})
	return &enclosure{l: l, u: u, bits: wanted}, err
}
