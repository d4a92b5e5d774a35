package det

import (
	"fmt"
	"math"
	"math/big"
	mathbits "math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// beyond is the number of bits beyond its format in which a determinant is computed at first. All
// but one of some 2^12 determinants are decided by them.
const beyond = 12

// Det returns the determinant of a, rounded to format f. done is false if the run's place does not
// decide it.
func Det(s *call.Run, a num.Mat, f num.Format) (d num.Scalar, done bool, err error) {
	if a.Rows == 0 {
		return num.NewScalar(f, big.NewFloat(1)), true, s.Ctx.Err()
	}
	if s.At.AtHand() {
		if err := call.FiniteOn(s.Threads, "A", a); err != nil {
			return d, false, err
		}
	}
	round := func(x *enclosed) bool {
		lo, hi := x.ends()
		l, u := num.NewScalar(f, lo), num.NewScalar(f, hi)
		if done = l.Same(u); done {
			ziv.LeavesRange(s, l, lo, hi)
			d = l
		}
		return done
	}
	err = ziv.Decide(s, attempts(f.Bits()+beyond), func(bits int) (missing int, err error) {
		x, err := enclose(s, a, bits)
		if err != nil || x.Open() || round(x) {
			return ziv.Done, err
		}
		return ziv.Suspicion, nil
	})
	if done || err != nil || !s.At.Decides() {
		return d, done, err
	}
	x := &enclosed{s: s, a: a}
	if err := x.byPrimes(); err != nil {
		return d, false, err
	}
	round(x)
	return d, true, nil
}

// attempts returns the loop of attempts to enclose a determinant. If the last attempt does not
// decide the result, it is probably a tie, and exact arithmetic decides it.
func attempts(first int) ziv.Loop {
	return ziv.Loop{What: "a determinant", First: first, Most: first + 2*ziv.Suspicion}
}

// Sign returns the sign of the determinant of a matrix on the host.
func Sign(s *call.Run, a num.Mat) (int, error) {
	d, _, err := Det(s, a, num.Precision(64))
	if err != nil {
		return 0, err
	}
	return d.Big().Sign(), nil
}

// Factored returns lo <= det(a) 2^-shift <= hi with a relative distance of about 2^-bits. It
// multiplies the pivots of factors from an elimination in enough bits. lo and hi are nil if no
// elimination gives factors.
func Factored(s *call.Run, a num.Mat, bits int) (lo, hi *big.Float, shift int64, err error) {
	want := bits + 2*mathbits.Len(uint(a.Rows)) + 8
	// A pivot is a quotient of minors: enclosures with this many bits tell its sign and the
	// requested number of its bits.
	need := func() ziv.Need {
		enough := ziv.NeedOf(a, a.Rows, num.Float64, false).Decided + 2*bits
		return ziv.Need{Enclosed: enough, Decided: enough}
	}
	var p *factors.Pivoted
	loop := ziv.Loop{What: "pivots", First: want, Most: bound.MaxBits, Theory: ziv.Theory{Need: need}}
	err = ziv.Decide(s, loop, func(want int) (missing int, err error) {
		var e *ziv.Enclosure
		if p == nil {
			p, e, err = factors.LUByElimination(s, a, bound.MaxBits, want, func() error { return modular.ProvedRegular(s, a) })
		} else {
			e, err = p.Enclosure(want)
		}
		if e == nil || err != nil {
			return ziv.Done, err
		}
		x, exp := e.Pivots(a.Rows)
		if x.Lo.Sign() != x.Hi.Sign() || x.Lo.Sign() == 0 {
			return 2*e.Bits - want, nil // a pivot's enclosure has 0 in it
		}
		width := new(big.Float).SetPrec(64).Sub(x.Hi, x.Lo)
		missing = width.Quo(width, x.Hi).MantExp(nil) + bits
		if width.Sign() != 0 && missing > 0 {
			return e.Bits - want + missing, nil
		}
		if lo, hi, shift = x.Lo, x.Hi, exp; seed.Odd(p.Order) {
			lo, hi = hi.Neg(hi), lo.Neg(lo)
		}
		return ziv.Done, nil
	})
	return lo, hi, shift, err
}

// exactCost estimates the cost of Exact. It is infinite if Exact fails, and with Options.Check,
// which does not check arithmetic modulo primes.
func exactCost(s *call.Run, a num.Mat) float64 {
	if s.Set.Check {
		return math.Inf(1)
	}
	z := modular.ToIntegers(a)
	bits := z.DeterminantBits(a)
	if bits > ziv.MaxDeterminant {
		return math.Inf(1)
	}
	step := call.PrimeStep(a)
	if z.MostBits() <= 63 {
		step = float64(call.Cube(a.Rows) * call.FieldCost / 3) // may fuse: an estimate, see Words64
	}
	return (float64(bits)/60 + 1) * step
}

// Exact returns d and shift for which the determinant is exactly d 2^shift. It computes the
// determinant of the matrix of integers modulo primes.
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
		var rows [][]uint64
		var err error
		if small != nil {
			rows, err = f.Words64(s.Ctx, s.Threads, small)
		} else {
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
