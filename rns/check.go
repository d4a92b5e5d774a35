package rns

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// ErrMalformed is wrapped by the errors of Check.
var ErrMalformed = errors.New("rns: malformed number")

// Check returns an error that wraps ErrMalformed unless all numbers of the array satisfy the
// conditions of the package documentation. Code that writes to the fields of an Array must preserve
// these conditions: routines rely on them. The array lives on the host.
func (a *Array) Check() error {
	a.needHost()
	n := a.Len()
	if len(a.Digits) != n*a.b.n || len(a.Sign) != n || len(a.Eval) != 2*n {
		return fmt.Errorf("%w: %d exponents, %d digits, %d signs, %d bounds", ErrMalformed, n, len(a.Digits), len(a.Sign), len(a.Eval))
	}
	for i := range n {
		v := a.val(i)
		if what := a.b.malformed(&v); what != "" {
			return fmt.Errorf("%w %d: %s", ErrMalformed, i, what)
		}
		if s := a.Sign[i]; s != 0 && s != 1 {
			return fmt.Errorf("%w %d: sign %d", ErrMalformed, i, s)
		}
	}
	return nil
}

// malformed says how v violates the conditions, or returns "" if it satisfies them.
func (b *Base) malformed(v *val) string {
	for i, m := range b.m {
		if v.x[i] >= m {
			return fmt.Sprintf("residue %d modulo %d", v.x[i], m)
		}
	}
	if isZero(v.x) {
		if v.ev != (Interval{}) || v.neg || v.exp != 0 && v.exp != nanExp {
			return fmt.Sprintf("zero with exponent %d and evaluation %v", v.exp, v.ev)
		}
		return ""
	}
	if v.exp < minExp || v.exp > maxExp {
		return fmt.Sprintf("exponent %d", v.exp)
	}
	x := b.CRT(v.x)
	if x.Cmp(b.limInt) > 0 {
		return fmt.Sprintf("significand %v is above %v", x, b.limInt)
	}
	for _, u := range []XFloat{v.ev.Lo, v.ev.Up} {
		// An exponent beyond this range bounds no X/M with 1 ≤ X < M.
		if math.IsNaN(u.F) || u.F < 1 || u.F >= 2 || u.I > 1 || int(u.I) < -b.bigM.BitLen()-1 {
			return fmt.Sprintf("evaluation %v", v.ev)
		}
	}
	times := func(u XFloat) *big.Float { // exactly u M
		z := new(big.Float).SetPrec(uint(b.bigM.BitLen() + 64)).SetInt(b.bigM)
		return z.Mul(z, u.Big())
	}
	f := new(big.Float).SetInt(x)
	if times(v.ev.Lo).Cmp(f) > 0 || f.Cmp(times(v.ev.Up)) > 0 {
		return fmt.Sprintf("evaluation %v of %v", v.ev, x)
	}
	if v.ev.tooWide() {
		return fmt.Sprintf("evaluation %v is too wide", v.ev)
	}
	return ""
}
