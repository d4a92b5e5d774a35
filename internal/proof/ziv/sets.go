package ziv

import (
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
)

// Set is a set of small integers.
type Set []uint64

// Has reports whether i is in the set.
func (s Set) Has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

// And returns the intersection.
func (s Set) And(t Set) Set {
	z := make(Set, len(s))
	for i := range z {
		z[i] = s[i] & t[i]
	}
	return z
}

// Key returns the set as a string.
func (s Set) Key() string { return fmt.Sprintf("%x", []uint64(s)) }

// Members returns the members below n, in ascending order.
func (s Set) Members(n int) (m []int) {
	for i := range n {
		if s.Has(i) {
			m = append(m, i)
		}
	}
	return m
}

// IsZero reports whether x is 0.
func IsZero(x num.Scalar) bool { return !x.IsInf(0) && x.Big().Sign() == 0 }

// Ends returns mid - radius and mid + radius, rounded outwards, each rounded to format f.
func Ends(f num.Format, mid, radius *big.Float) (lower, upper num.Scalar) {
	prec := mid.Prec() + 64
	lower = num.NewScalar(f, new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf).Sub(mid, radius))
	upper = num.NewScalar(f, new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf).Add(mid, radius))
	return lower, upper
}

// Add adds i to the set.
func (s Set) Add(i int) { s[i/64] |= 1 << (i % 64) }
