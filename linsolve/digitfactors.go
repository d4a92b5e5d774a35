package linsolve

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// factorDigits bounds order times digits, a lane, of factors that are faster by elimination in
// digits than by products: 36 digits of order 660 take 0.6 of their time with AVX-512, of order 300
// 0.7 with AVX2.
const factorDigits = 3000

// digitLU is about the factors L and U of P F.
type digitLU struct {
	*digits
	l    digitLower
	tops []float64 // of columns of U
}

// luByDigits returns factors of a square matrix by elimination in digits, with errors of about
// 2^-bits of the largest entries of rows of L and columns of U; nil where that is not the way. It
// is known whether a is regular if known says so.
func luByDigits(s *call.Run, a num.Mat, bits int, known *bool) (*digitLU, error) {
	m, n := a.Dims()
	if m != n || n*3 > factorDigits*lanes.Count() {
		return nil, nil
	}
	// Rows are not scaled: that might change pivots.
	by, tops := scale.Unscaled(n, n), scale.TopsOf(a)
	for j := range n {
		high := slices.Max(tops.Top[j*n : (j+1)*n])
		if high == scale.None {
			return nil, nil
		}
		by.Cols[j] = -high
	}
	f, err := seed.NewFactors(s, a, by)
	if err != nil {
		return nil, err
	}
	cond, err := seed.Loss(s, f)
	if err != nil {
		return nil, err
	}
	if cond > seed.LossyBits {
		cond = f.ConditionBits()
	}
	wanted := bits + luSpare(n)
	for {
		d, ok := digitsFor(s, n, cond+wanted, rootDigits)
		if !ok || n*d > factorDigits*lanes.Count() {
			return nil, nil
		}
		s.Plan(digitsCost(n, d) + call.WantedCost(s, n, n)) // may fuse: an estimate
		t, more, err := eliminateDigits(s, a, f, d, 0)
		switch {
		case err == nil:
			if more = t.luBits() - bits; more >= 0 {
				s.Stats.Rho, s.Stats.Precision = t.rho, d*t.Bits()
				return t.factors()
			}
			more = -more
		case errors.Is(err, call.ErrRange):
			return nil, nil
		default:
			if err := seed.AskForMore(s, err, a, known); err != nil {
				return nil, err
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
	return bound.Upper().Mul(t.defect, bound.Upper().SetFloat64(t.lowerNorm))
}

// factors returns the factors, with what they are off by.
func (t *digits) factors() (*digitLU, error) {
	n, count, size := t.n, t.Count(), t.Size()
	z := &digitLU{
		digits: t, tops: make([]float64, n),
		l: digitLower{numbers: t.numbers, rows: t.lower, length: func(i int) int { return i }, exp: 2},
	}
	err := par.Each(t.s.Ctx, t.s.Threads, n, func(j int) {
		most := t.pivot[j]
		for k := range j {
			most = max(most, math.Abs(t.VectorFloat(t.upper[(j/count*n+k)*size:][:size], j%count)))
		}
		z.tops[j] = float64(most * (1 + 0x1p-40))
	})
	if err != nil {
		return nil, err
	}
	off := t.splitError()
	return z, z.l.setRadius(t.s, off.Mul(off, big.NewFloat(1.25)))
}

// off returns what column j of U is off by, in units of 2^l.unit.
func (t *digitLU) off(j int) float64 {
	return float64(t.tops[j] * t.l.radius[0]) // the first row of L is 1
}

// near returns entry (i, j) of U, without bits that are cut off, in the memory of mag.
func (t *digitLU) near(mag []uint64, i, j, cut int) bound.Near {
	if i == j {
		v := t.nearInteger(mag, t.pivots[j], cut)
		v.Neg = t.neg[j]
		return v
	}
	count, size := t.Count(), t.Size()
	return t.nearVector(mag, t.upper[(j/count*t.n+i)*size:][:size], j%count, cut)
}

// roundTo stores the entries that are decided in L and U and returns the others; not ok
// unless it is proved that the pivots are the largest ones.
func (t *digitLU) roundTo(l, u num.Mat) (lower, upper [][2]int, ok bool, err error) {
	s := t.s
	if lower, ok, err = t.l.roundTo(s, l, seed.Slack); !ok || err != nil {
		return nil, nil, ok, err
	}
	settlers, mags := t.settlers(s, u.Arr.Format)
	left := make([][][2]int, t.n)
	err = par.For(s.Ctx, s.Threads, t.n, func(worker, j int) {
		ziv.SetOne(l, j, j)
		r := t.off(j)
		cut := t.cutOf(r, t.l.unit)
		for i := range j + 1 {
			v := t.near(mags[worker], i, j, cut)
			v.Within(r, t.l.unit)
			v.Exp += seed.Growth - t.Cols[j]
			if !v.RoundTo(settlers[worker], u.Arr, u.At(i, j)) {
				left[j] = append(left[j], [2]int{i, j})
			}
		}
	})
	return lower, slices.Concat(left...), true, err
}

// enclosure returns what encloses the entries that are open, and the pivots.
func (t *digitLU) enclosure(u *ziv.Unknown) *ziv.Enclosure {
	e := &ziv.Enclosure{Bits: max(t.luBits(), 1)}
	if len(u.Open) == 0 {
		return e
	}
	n := t.n
	e.L, e.U = t.l.enclosure(u), t.openEntries(n, n)
	e.U.Right = bound.Negated(t.Cols)
	mag := t.room()
	for j := range n {
		e.U.Left[j] = seed.Growth
		e.U.Err[j] = exponentOf(float64(t.off(j)*(1+0x1p-40)), t.l.unit)
		e.U.Set(j, j, t.near(mag, j, j, 0))
	}
	for _, w := range u.Open {
		if w.Part == ziv.OfU {
			e.U.Set(w.I, w.J, t.near(mag, w.I, w.J, 0))
		}
	}
	return e
}
