package det

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	mathbits "math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// beyond is how many bits beyond its format a determinant is computed in at first: all but one of
// some 2^12 are decided.
const beyond = 12

// Det returns the determinant. It is not done where the run's place does not decide it.
func Det(s *call.Run, a num.Mat, f num.Format) (d num.Scalar, done bool, err error) {
	if a.Rows == 0 {
		return num.NewScalar(f, big.NewFloat(1)), true, s.Ctx.Err()
	}
	if s.At == nil {
		if err := call.Finite("A", a); err != nil {
			return d, false, err
		}
	}
	for bits := f.Bits() + beyond; bits <= f.Bits()+beyond+2*ziv.Suspicion; bits += ziv.Suspicion {
		lo, hi, shift, err := encloseDet(s, a, bits)
		if errors.Is(err, call.ErrSingular) {
			s.Stats.Exact++
			return num.NewScalar(f, new(big.Float)), true, nil
		}
		if err != nil && !errors.Is(err, call.ErrRange) {
			return d, false, err
		}
		if lo == nil {
			break
		}
		ziv.ScaleExactly(lo, shift)
		ziv.ScaleExactly(hi, shift)
		if l, u := num.NewScalar(f, lo), num.NewScalar(f, hi); l.Same(u) {
			ziv.LeavesRange(s, l, lo, hi)
			return l, true, nil
		}
	}
	if s.At != nil {
		return d, false, nil
	}
	s.Stats.Exact++
	x, shift, err := Exact(s, a)
	if err != nil {
		return d, false, err
	}
	ziv.ScaleExactly(x, shift)
	d = num.NewScalar(f, x)
	ziv.LeavesRange(s, d, x, x)
	return d, true, nil
}

// Sign returns the sign of the determinant of a matrix of the host.
func Sign(s *call.Run, a num.Mat) (int, error) {
	d, _, err := Det(s, a, num.Precision(64))
	if err != nil {
		return 0, err
	}
	return d.Big().Sign(), nil
}

// encloseDet returns lo <= det(a) 2^-shift <= hi, about 2^-bits apart relative to them, or nil if
// float64 factors do not suffice, or formats, or if Exact takes less. At the run's place traces
// tell it, on the host blocks. The error wraps ErrSingular if a is proved to be singular.
func encloseDet(s *call.Run, a num.Mat, bits int) (lo, hi *big.Float, shift int64, err error) {
	if bits+256 > bound.MaxBits || s.At == nil && bound.Far(a, call.MostExponent) {
		return nil, nil, 0, nil
	}
	var d *seed.Determinant
	var f *seed.Factors
	if s.At != nil {
		d, err = Traced(s, a, bits)
	} else {
		if f, err = seed.NewFactors(s, a, scale.Of(a)); err != nil {
			return nil, nil, 0, err
		}
		s.Stats.Rounds = 1
		s.Did(call.FactorCost(a.Rows))
		d, err = shortDeterminant(s, a, f, bits)
	}
	if s.At == nil && (err == nil || errors.Is(err, call.ErrRange)) && (d == nil || d.Log.MantExp(nil) > -10) {
		exactly := exactCost(s, a)
		if d, err = Long(s, a, f, bits, exactly); err == nil && d == nil {
			if exactly < call.InvertInCost(a.Rows, seed.MostBlockBits) {
				return nil, nil, 0, nil
			}
			return Factored(s, a, bits)
		}
	}
	if err != nil || d == nil || d.Log.MantExp(nil) > -10 {
		return nil, nil, 0, err
	}
	// exp(±log) lies within 1 ± 2 log.
	radius := bound.Upper().Mul(bound.UpperOf(d.Mid), bound.Upper().Add(d.Log, d.Log))
	wide := uint(bits + 256)
	lo = new(big.Float).SetPrec(wide).SetMode(big.ToNegativeInf).Sub(d.Mid, radius)
	hi = new(big.Float).SetPrec(wide).SetMode(big.ToPositiveInf).Add(d.Mid, radius)
	return lo, hi, d.Shift, nil
}

// shortDeterminant returns the determinant, with a log of about 2^-places, of an A that float64
// factors suffice for, else nil.
func shortDeterminant(s *call.Run, a num.Mat, f *seed.Factors, places int) (*seed.Determinant, error) {
	loss, err := seed.Loss(s, f)
	if err != nil || loss > seed.LossyBits {
		return nil, err
	}
	if d, err := digits.QuickDeterminant(s, a, f, loss, places); d != nil || err != nil {
		return d, err
	}
	if s.Work.Report != nil {
		s.Plan(blocks.DetCost(f.N, places, blocks.Leaf(places)))
	}
	if err := blocks.ReserveDet(s, a, places); err != nil {
		return nil, err
	}
	return blocks.Determinant(s, a, f, places, blocks.Leaf(places))
}

// Factored is encloseDet by the pivots of factors from an elimination in enough bits; nil if
// there are none.
func Factored(s *call.Run, a num.Mat, bits int) (lo, hi *big.Float, shift int64, err error) {
	want := bits + 2*mathbits.Len(uint(a.Rows)) + 8
	p, e, err := factors.LUByElimination(s, a, bound.MaxBits, want, func() error { return modular.ProvedRegular(s, a) })
	// A pivot is a quotient of minors: enclosures of so many bits tell its sign, and as many of its
	// bits as are wanted.
	enough := 0
	for ; e != nil && err == nil; e, err = p.Enclosure(want) {
		if enough == 0 && want > bits+ziv.TheoryBits {
			enough = ziv.NeedOf(a, a.Rows, num.Float64, false).Decided + 2*bits
		}
		want = e.Bits
		x, shift := e.Pivots(a.Rows)
		if x.Lo.Sign() == x.Hi.Sign() && x.Lo.Sign() != 0 {
			width := new(big.Float).SetPrec(64).Sub(x.Hi, x.Lo)
			missing := width.Quo(width, x.Hi).MantExp(nil) + bits
			if width.Sign() == 0 || missing <= 0 {
				if seed.Odd(p.Order) {
					x.Lo, x.Hi = x.Hi.Neg(x.Hi), x.Lo.Neg(x.Lo)
				}
				return x.Lo, x.Hi, shift, nil
			}
			want += missing
		} else {
			want *= 2 // a pivot's enclosure has 0 in it
		}
		if enough > 0 && e.Bits >= enough {
			return nil, nil, 0, call.Contradiction(fmt.Sprintf("pivots are not told from 0 by %d bits", e.Bits))
		}
	}
	return nil, nil, 0, err
}

// exactCost is the cost of Exact, about, infinite where there is none, and with Options.Check,
// which knows nothing of primes.
func exactCost(s *call.Run, a num.Mat) float64 {
	if s.Set.Check {
		return math.Inf(1)
	}
	z := modular.ToIntegers(a)
	bits := z.DeterminantBits(a)
	if bits < 0 || bits > ziv.MaxDeterminant {
		return math.Inf(1)
	}
	step := call.PrimeStep(a)
	if z.MostBits() <= 63 {
		step = float64(call.Cube(a.Rows) * call.FieldCost / 3) // may fuse: an estimate, see Words64
	}
	return (float64(bits)/60 + 1) * step
}

// Exact returns d for which the determinant is d 2^shift exactly, from that of integers modulo
// primes.
func Exact(s *call.Run, a num.Mat) (d *big.Float, shift int64, err error) {
	m := a
	z := modular.ToIntegers(m)
	bits := z.DeterminantBits(m) + 1 // and a sign
	if bits > ziv.MaxDeterminant {
		return nil, 0, fmt.Errorf("the determinant may have %d bits: %w", bits, call.ErrRange)
	}
	det, product := new(big.Int), big.NewInt(1)
	for i := range z.Rows {
		shift += z.Rows[i] + z.Cols[i]
	}
	step := call.PrimeStep(m)
	small := z.Words64(m)
	for next := modular.Primes(); product.BitLen() <= bits+1; {
		f := modular.New(next())
		rows, err := f.Words64(s.Ctx, s.Threads, small)
		if small == nil {
			rows, err = f.Matrix(s.Ctx, s.Threads, m)
		}
		if err != nil {
			return nil, 0, err
		}
		pivots, d, err := f.Eliminate(s.Ctx, s.Threads, rows, m.Cols, false)
		if err != nil {
			return nil, 0, err
		}
		if len(pivots) < m.Rows {
			d = 0
		}
		s.Stats.Primes++
		// det + product k with the residue d
		if small == nil {
			d = f.Mul(d, f.Power2(-shift))
		}
		k := f.Mul(f.Sub(d, f.Integer(det)), f.Invert(f.Integer(product)))
		v := new(big.Int).SetUint64(f.Value(k))
		det.Add(det, v.Mul(v, product))
		product.Mul(product, new(big.Int).SetUint64(f.P))
		s.Did(step)
		s.Plan(float64((bits-product.BitLen())/60) * step)
	}
	if half := new(big.Int).Rsh(product, 1); det.Cmp(half) > 0 {
		det.Sub(det, product)
	}
	return new(big.Float).SetPrec(uint(max(det.BitLen(), 64))).SetInt(det), shift, nil
}
