package refine

import (
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestRoundWords rounds numbers of one to five words that are known up to a radius. A number that
// is rounded must be what both ends of its interval round to, and of numbers with narrow intervals
// all are rounded except those next to ties and 0.
func TestRoundWords(t *testing.T) {
	r := testseed.Rand(t, 411, 3)
	for _, f := range []num.Format{num.Float64, num.Precision(106), num.Precision(24)} {
		z := num.NewMat(f, 1, 1)
		y, e := &fixedSystem{}, &ziv.Entries{Z: z}
		narrow, decided := 0, 0
		for trial := range testlength.Of(2000, 10000, 300000) {
			x := make([]uint64, 1+r.IntN(5))
			for i := range x {
				x[i] = r.Uint64()
			}
			if trial%3 == 1 { // long runs of equal bits, at the end as well: ties are near
				k := r.IntN(64*len(x) - 1)
				for i := range k {
					x[i/64] &^= 1 << (i % 64)
				}
				x[k/64] |= 1 << (k % 64)
				for i := k + f.Bits() + 1; i < 64*len(x); i++ {
					x[i/64] &^= 1 << (i % 64)
				}
				if trial%2 == 1 {
					num.Negate(x)
				}
			}
			u := &partial{x: [][]uint64{x}, bits: r.IntN(64*len(x) + 20)}
			shift, exp := int64(r.IntN(200)-100), -r.IntN(64*len(x)+40)
			radius := math.Ldexp(1+r.Float64(), r.IntN(60)-30)
			value := numtest.Scaled(numtest.Signed(x), int(shift)-u.bits)
			width := numtest.Scaled(big.NewInt(1), exp+int(shift))
			width.Mul(width, numtest.Exact(radius))
			random := trial%3 != 1 && new(big.Rat).Abs(value).Cmp(new(big.Rat).Mul(width, numtest.Exact(math.Ldexp(1, f.Bits()+64)))) > 0
			if random {
				narrow++
			}
			if !y.roundWords(e, u, 0, shift, radius, exp) {
				continue
			}
			if random {
				decided++
			}
			got, _ := z.Big(0, 0).Rat(nil)
			for _, end := range []*big.Rat{new(big.Rat).Sub(value, width), new(big.Rat).Add(value, width)} {
				if want := rounded(f, end); got.Cmp(want) != 0 {
					t.Fatalf("%v: %x 2^%d ± %g 2^%d, times 2^%d, is rounded to %v, an end to %v", f, x, -u.bits, radius, exp, shift, got, want)
				}
			}
		}
		if 100*decided < 99*narrow || narrow == 0 {
			t.Errorf("%v: %d of %d narrow intervals are rounded", f, decided, narrow)
		}
	}
}

// rounded returns x rounded to nearest, ties to even, where no exponent is out of range.
func rounded(f num.Format, x *big.Rat) *big.Rat {
	z, _ := new(big.Float).SetPrec(uint(f.Bits())).SetMode(big.ToNearestEven).SetRat(x).Rat(nil)
	return z
}
