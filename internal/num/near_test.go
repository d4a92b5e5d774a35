package num

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSetNear checks that both ends of an enclosure round to the number that SetNear stores, for
// words with runs of ones and zeros, and bounds up to the largest.
func TestSetNear(t *testing.T) {
	r := testseed.Rand(t, 9, 10)
	word := func() uint64 {
		switch r.IntN(5) {
		case 0:
			return 0
		case 1:
			return ^uint64(0) << r.IntN(64)
		case 2:
			return 1 << r.IntN(64)
		case 3:
			return r.Uint64() >> r.IntN(64)
		}
		return r.Uint64()
	}
	stored := 0
	for trial := range testlength.Of(10000, 50000, 3000000) {
		f := Format{Kind: MP, Prec: uint32(64 * (1 + r.IntN(3)))}
		if r.IntN(4) > 0 {
			f.Prec = uint32(2 + r.IntN(200))
		}
		a, mag := New(f, 3), make([]uint64, 1+r.IntN(6))
		for k := range mag {
			mag[k] = word()
		}
		bound, unit, sign := word(), 64*r.IntN(3), uint64(r.IntN(2))
		if !a.SetNear(2, mag, -7, sign, bound, unit) {
			continue
		}
		stored++
		m, err := ToInt(mag), new(big.Int).Lsh(ToInt([]uint64{bound}), uint(unit))
		for k, end := range []*big.Int{new(big.Int).Sub(m, err), new(big.Int).Add(m, err)} {
			if end.Sign() <= 0 {
				t.Fatalf("trial %d: %x ± %x is stored", trial, m, err)
			}
			a.Set(k, Real{Class: Finite, Neg: sign == 1, Mag: FromInt(nil, end), Exp: -7})
			if !a.SameBits(k, a, 2) {
				t.Fatalf("trial %d: %d bits of %x ± %x are %v, those of an end %v", trial, f.Prec, m, err, a.Big(2), a.Big(k))
			}
		}
	}
	if stored < 1000 {
		t.Errorf("only %d numbers were stored", stored)
	}
}
