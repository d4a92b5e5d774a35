package superacc

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestTryQuotient divides sums whose quotients lie a few units of the reciprocals' words beside the
// midpoint of two numbers: what TryQuotient decides is what SetQuotient finds.
func TestTryQuotient(t *testing.T) {
	r := testseed.Rand(t, 11, 12)
	decided := 0
	for _, f := range []num.Format{num.Float64, num.DDouble, num.QDouble, {Kind: num.MP, Prec: 24}, {Kind: num.MP, Prec: 300}} {
		p := f.Bits()
		q := NewQuotients(f)
		for range testlength.Trials(4000) {
			d := num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Exp: int64(r.IntN(40) - 20), Mag: []uint64{r.Uint64() | 1, r.Uint64() >> r.IntN(64)}}
			if r.IntN(8) == 0 {
				d.Mag = []uint64{0, 1 << r.IntN(64)}
			}
			div := NewDivisor(d, p+8+r.IntN(70))
			// A midpoint, and a distance in quarters of the unit of its leading words.
			tie := new(big.Int)
			for range (p + 1 + 63) / 64 {
				tie.Lsh(tie, 64).Add(tie, new(big.Int).SetUint64(r.Uint64()))
			}
			tie.Rsh(tie, uint(tie.BitLen()-min(tie.BitLen(), p+1)))
			tie.SetBit(tie.SetBit(tie, 0, 1), p, 1)
			shift := 64*div.words + 2 - p - 1
			tie.Lsh(tie, uint(shift)).Add(tie, big.NewInt(int64(r.IntN(41)-20)))
			n := tie.Mul(tie, num.ToInt(d.Mag))
			sum := num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Exp: d.Exp - int64(shift) - int64(p), Mag: num.FromInt(nil, n)}
			var a Acc
			a.Add(sum)
			got, want := num.New(f, 1), num.New(f, 1)
			bound := sum.Exp - 400
			fg, ok := a.TryQuotient(got, 0, &div, bound, q)
			if !ok {
				continue
			}
			decided++
			if fw := a.SetQuotient(want, 0, d); fg != fw || !got.SameBits(0, want, 0) {
				t.Fatalf("%v: %+v / %+v: got %+v want %+v", f, sum, d, got, want)
			}
		}
	}
	if decided < 5*testlength.Trials(4000)/4 {
		t.Errorf("%d quotients decided", decided)
	}
}
