package function

import (
	"fmt"
	"math/big"
	mathbits "math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Power returns A^e in format f.
func Power(s *call.Run, a num.Mat, e int, f num.Format) (num.Mat, error) {
	n := a.Rows
	z := num.NewMat(f, n, n)
	var open []position
	for i, row := range Walks(a, e) {
		for _, j := range row.Members(n) {
			open = append(open, position{i, j})
		}
	}
	var primes *primePowers
	// In exact bits no product should be rounded. In enough bits radii are too small to leave any
	// entry open: with the low of PowerBits, entries are below 2^(e low + exact), and multiples of
	// 2^(e low); radii are 2^-bits times this bound, times about e; and ties of f near an entry are
	// multiples of 2^(e low - 1 - TieBits).
	exact := min(ziv.PowerBits(s.Threads, a, e), bound.MaxBits)
	enough := 4*exact + 2*ziv.TieBits(f) + 256
	// Without cancellation relative errors grow at most n-fold with each of the e factors.
	first := f.Bits() + 48 + mathbits.Len(uint(e)) + mathbits.Len(uint(n))
	loop := ziv.Loop{What: "a power", First: min(first, exact), Theory: ziv.Enough(enough)}
	return z, ziv.Decide(s, loop, func(bits int) (missing int, err error) {
		if len(open) == 0 {
			return ziv.Done, nil
		}
		s.Stats.Precision = bits
		p, err := enclosedPower(s, a, e, bits)
		if err != nil {
			return 0, err
		}
		var suspects []powerSuspect
		if open, suspects, err = p.round(s, open, z); err != nil {
			return 0, err
		}
		if len(suspects) > 0 {
			if primes == nil {
				primes = newPrimePowers(s, a, e)
			}
			proved, err := primes.prove(suspects)
			if err != nil {
				return 0, err
			}
			for _, p := range proved {
				z.SetBig(p.row, p.col, p.t)
				ziv.Lose(s, z, p.row, p.col, p.t, p.t)
			}
			open = slices.DeleteFunc(open, func(p position) bool {
				return slices.ContainsFunc(proved, func(s powerSuspect) bool { return s.position == p })
			})
			s.Stats.Ties += len(proved)
		}
		if len(open) == 0 {
			return ziv.Done, nil
		}
		limit := exact
		if bits >= exact {
			limit = min(enough, bound.MaxBits)
		}
		return min(bits, limit-bits), nil
	})
}

// enclosedPower returns an enclosure of A^e from products rounded to bits. It is exact if no
// product is rounded.
func enclosedPower(s *call.Run, a num.Mat, e, bits int) (*EnclosedMatrix, error) {
	if e == 0 {
		return EncloseMatrix(s, num.Identity(num.Float64, a.Rows), bits)
	}
	base, err := EncloseMatrix(s, a, bits)
	if err != nil {
		return nil, err
	}
	p := base
	for k := mathbits.Len(uint(e)) - 2; k >= 0; k-- {
		if p, err = EnclosedProduct(s, p, p, bits); err != nil {
			return nil, err
		}
		if e>>k&1 != 0 {
			if p, err = EnclosedProduct(s, p, base, bits); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// powerSuspect is an entry that seems to equal t, which is 0 or halfway between two numbers of the
// format.
type powerSuspect struct {
	position
	t *big.Float
	// The entry differs from t by at most 2^top. known is false if top does not fit.
	top   int64
	known bool
}

// round stores those open entries in z whose enclosures round to one number. It returns the other
// entries, and the suspects among them, which seem to be zeros or ties.
func (x *EnclosedMatrix) round(s *call.Run, open []position, z num.Mat) (left []position, suspects []powerSuspect, err error) {
	const look = 1 << 10 // entries between two looks at the context
	f := z.Format()
	for k, p := range open {
		if k%look == 0 && s.Ctx.Err() != nil {
			return nil, nil, s.Ctx.Err()
		}
		if x.isZero(p.row, p.col) {
			continue // z is +0
		}
		lo, hi := x.Ends(p.row, p.col)
		contains := lo.Sign() <= 0 && hi.Sign() >= 0
		lo, hi = ScaledBy(lo, x.Exp), ScaledBy(hi, x.Exp)
		lower, upper := num.NewScalar(f, lo), num.NewScalar(f, hi)
		if lower.Same(upper) && !contains {
			if f.IsMP() && (lower.IsInf(0) || lower.IsZero()) {
				return nil, nil, fmt.Errorf("a power beyond the exponents of formats: %w", call.ErrRange)
			}
			z.SetEntry(p.row, p.col, lower)
			ziv.Lose(s, z, p.row, p.col, lo, hi)
			continue
		}
		left = append(left, p)
		if contains {
			if x.flushed {
				return nil, nil, fmt.Errorf("exponents that differ by more than 2^29: %w", call.ErrRange)
			}
			// |mid| ≤ radius here.
			zero := powerSuspect{p, new(big.Float), 0, x.Exp.BitLen() < 60}
			if zero.known {
				zero.top = x.radius[p.row+p.col*x.n].e + 1 + x.Exp.Int64()
			}
			suspects = append(suspects, zero)
			continue
		}
		if t, _ := ziv.Tie(lower, upper); t != nil && !lo.IsInf() && !hi.IsInf() {
			b := interval.Prec(64) // lo ≤ t ≤ hi
			d := bound.Largest([]*big.Float{b.Difference(b.Up(), t, lo, 1), b.Difference(b.Up(), hi, t, 1)})
			suspects = append(suspects, powerSuspect{p, t, int64(d.MantExp(nil)), true})
		}
	}
	return left, suspects, nil
}
