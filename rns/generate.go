package rns

import (
	"errors"
	"fmt"
	"math/big"
)

// ErrNoBase is wrapped by errors about bases that do not exist.
var ErrNoBase = errors.New("rns: no such base")

// NewBasePrecision returns a base of n odd moduli for a precision of at least p bits: M ≥ 2^(2p +
// 2). The moduli are close to each other and as small as possible, about (2p + 2)/n bits each.
// Errors wrap ErrNoBase.
func NewBasePrecision(p, n int) (*Base, error) {
	if p < 1 || n < 1 || n > MaxModuli {
		return nil, fmt.Errorf("%w: %d bits of precision by %d moduli", ErrNoBase, p, n)
	}
	// The n-th root of 2^(2p+2), rounded up; too large a root is caught below.
	root := nthRoot(new(big.Int).Lsh(big.NewInt(1), uint(2*p+2)), n)
	if root.BitLen() > 31 {
		return nil, fmt.Errorf("%w: %d bits of precision by %d moduli below 2^31", ErrNoBase, p, n)
	}
	var moduli []uint32
next:
	for m := root.Uint64() | 1; len(moduli) < n; m += 2 {
		if m >= 1<<31 {
			return nil, fmt.Errorf("%w: %d bits of precision by %d moduli below 2^31", ErrNoBase, p, n)
		}
		for _, k := range moduli {
			if gcd(uint32(m), k) != 1 {
				continue next
			}
		}
		moduli = append(moduli, uint32(m))
	}
	return NewBase(moduli)
}

// BaseFor returns a base for a precision of at least p bits with the least number of odd moduli of
// at most width bits, 8 ≤ width ≤ 31. Errors wrap ErrNoBase.
func BaseFor(p, width int) (*Base, error) {
	if width < 8 || width > 31 || p < 1 {
		return nil, fmt.Errorf("%w: %d bits of precision by moduli of %d bits", ErrNoBase, p, width)
	}
	for n := max((2*p+1+width)/width, 1); n <= MaxModuli; n++ {
		b, err := NewBasePrecision(p, n)
		if err != nil && !errors.Is(err, ErrNoBase) && !errors.Is(err, ErrModuli) {
			return nil, err
		}
		if err == nil && b.width() <= width {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%w: %d bits of precision by %d moduli of %d bits", ErrNoBase, p, MaxModuli, width)
}

// SummationPrecisions are the precisions of the papers' summations (003, table 2 and figures 6 and
// 7), GemvPrecisions the precisions of their matrix-vector products (001, table 5).
var (
	SummationPrecisions = []int{30, 60, 120, 240, 480}
	GemvPrecisions      = []int{106, 212, 424, 848, 1696}
)

// SummationBase returns the base for one of SummationPrecisions with the number of
// moduli that the paper gives: 4, 8, 16, 32 or 64 of somewhat over 15 bits.
func SummationBase(p int) (*Base, error) { return paperBase(SummationPrecisions, p, 4) }

// GemvBase returns the base for one of GemvPrecisions with the number of moduli
// that the paper gives: 8, 16, 32, 64 or 128 of somewhat over 26 bits.
func GemvBase(p int) (*Base, error) { return paperBase(GemvPrecisions, p, 8) }

func paperBase(precisions []int, p, n int) (*Base, error) {
	for _, q := range precisions {
		if p == q {
			return NewBasePrecision(p, n)
		}
		n *= 2
	}
	return nil, fmt.Errorf("%w: precision %d, want one of %v", ErrNoBase, p, precisions)
}

// nthRoot returns the n-th root of x, rounded up.
func nthRoot(x *big.Int, n int) *big.Int {
	// lo^n < x ≤ hi^n
	lo, hi := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), uint(x.BitLen()/n+1))
	exp := big.NewInt(int64(n))
	for new(big.Int).Sub(hi, lo).Cmp(big.NewInt(1)) > 0 {
		mid := new(big.Int).Rsh(new(big.Int).Add(lo, hi), 1)
		if new(big.Int).Exp(mid, exp, nil).Cmp(x) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
