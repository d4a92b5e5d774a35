package digits

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// FactorDigits is the largest order times digits, per lane, up to which an elimination in digits
// computes factors faster than products do. 36 digits of order 660 take 0.6 of the time of products
// with AVX-512, of order 300 0.7 with AVX2.
const FactorDigits = 3000

// LU holds approximate factors L and U of P F.
type LU struct {
	*Elimination
	l    digitLower
	tops []float64 // bounds of the entries of columns of U
}

// LUSpare is the number of bits that the proof for L and U takes, beyond log2 of the condition
// number.
func LUSpare(n int) int { return 3*bits.Len(uint(n)) + 8 }

// LUBits returns about how many bits an enclosure by the factors determines.
//
// With 2^-growth P F = L (I + E) U for E = L^-1 (2^-growth P F - G) U^-1, G = L U,
//
//	‖E‖∞ ≤ max |2^-growth P F - G| ‖L^-1‖∞ Σ |U^-1| ≤ ‖L^-1‖∞ rho,
//
// as |U^-1| e ≤ |U^-1| |L^-1| e for L with ones on its diagonal. If this bound is at most e ≤ 1/8,
// there are a strictly lower triangular X and an upper triangular Y with norms of at most 1.2 e for
// which I + E = (I + X) (I + Y): see LUNewton of package factors. So the exact factors are
// L (I + X) and (I + Y) U, and
//
//	|L X|_ij ≤ 1.2 e Σ_k |l_ik|,  |Y U|_ij ≤ 1.2 e max_k |u_kj|.
func (t *Elimination) LUBits() int {
	return -t.splitError().MantExp(nil) - bits.Len(uint(t.N))
}

// splitError returns the bound e of LUBits.
func (t *Elimination) splitError() *big.Float {
	return bound.Upper().Mul(t.defect, bound.Upper().SetFloat64(t.lowerNorm))
}

// Factors returns the factors with bounds of their errors.
func (t *Elimination) Factors() (*LU, error) {
	n, count, size := t.N, t.Count(), t.Size()
	z := &LU{
		Elimination: t, tops: make([]float64, n),
		l: digitLower{Numbers: t.Numbers, rows: t.lower, length: func(i int) int { return i }, exp: 2},
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

// off returns a bound of the error of column j of U, in units of 2^l.unit.
func (t *LU) off(j int) float64 {
	return float64(t.tops[j] * t.l.radius[0]) // the first row of L is 1
}

// enclosed returns entry (i, j) of U without its cut lowest bits, in the memory of mag.
func (t *LU) enclosed(mag []uint64, i, j, cut int) bound.EnclosedEntry {
	if i == j {
		v := t.EnclosedInteger(mag, t.pivots[j], cut)
		v.Neg = t.neg[j]
		return v
	}
	count, size := t.Count(), t.Size()
	return t.EnclosedVector(mag, t.upper[(j/count*t.N+i)*size:][:size], j%count, cut)
}

// RoundTo rounds the decided entries of L and U into l and u, and returns the undecided entries. It
// is not ok unless it is proved that the pivots are the largest ones of their columns.
func (t *LU) RoundTo(l, u num.Mat) (lower, upper [][2]int, ok bool, err error) {
	s := t.s
	if lower, ok, err = t.l.roundTo(s, l, seed.Slack); !ok || err != nil {
		return nil, nil, ok, err
	}
	rounders, mags := t.rounders(s, u.Arr.Format)
	left := make([][][2]int, t.N)
	err = par.For(s.Ctx, s.Threads, t.N, func(worker, j int) {
		ziv.SetOne(l, j, j)
		r := t.off(j)
		cut := t.cutOf(r, t.l.unit)
		e, short := headError(r, t.l.unit)
		short = short && u.Arr.Kind == num.F64
		count, size := t.Count(), t.Size()
		for i := range j + 1 {
			if short && i < j {
				high, low, neg := t.headOf(t.upper[(j/count*t.N+i)*size:][:size], j%count)
				if x, ok := roundHead(high, low, neg, seed.Growth-t.Cols[j]-headBits, e); ok {
					u.Arr.F64[0][u.At(i, j)] = x
					continue
				}
			}
			v := t.enclosed(mags[worker], i, j, cut)
			v.Within(r, t.l.unit)
			v.Exp += seed.Growth - t.Cols[j]
			if !v.RoundTo(rounders[worker], u.Arr, u.At(i, j)) {
				left[j] = append(left[j], [2]int{i, j})
			}
		}
	})
	return lower, slices.Concat(left...), true, err
}

// Enclosure returns enclosures of the open entries and of the pivots.
func (t *LU) Enclosure(u *ziv.Unknown) *ziv.Enclosure {
	e := &ziv.Enclosure{Bits: max(t.LUBits(), 1)}
	if len(u.Open) == 0 {
		return e
	}
	n := t.N
	e.L, e.U = t.l.enclosure(u), t.openEntries(n, n)
	e.U.Right = bound.Negated(t.Cols)
	mag := t.Room()
	for j := range n {
		e.U.Left[j] = seed.Growth
		e.U.Err[j] = exponentOf(float64(t.off(j)*(1+0x1p-40)), t.l.unit)
		e.U.Set(j, j, t.enclosed(mag, j, j, 0))
	}
	for _, w := range u.Open {
		if w.Part == ziv.OfU {
			e.U.Set(w.I, w.J, t.enclosed(mag, w.I, w.J, 0))
		}
	}
	return e
}
