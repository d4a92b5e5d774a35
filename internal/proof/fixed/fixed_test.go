package fixed_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestFixed multiplies matrices in fixed point by vectors of the largest integers. The products are
// exact except for the part that each entry loses, less than 2^(2-64w) in w planes.
func TestFixed(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(40, 60, 2000) {
		n, planes := 1+r.IntN(5), 1+r.IntN(5)
		f := lintest.Formats[r.IntN(len(lintest.Formats))]
		spread := []int{0, 3, 30, 100}[r.IntN(4)]
		if trial%8 == 0 { // rows with few words in their second plane, and with many
			n, planes, f = 60+r.IntN(20), 2, halfulp.Float64
			spread = []int{0, 0, 6}[r.IntN(3)]
		}
		a := gallery.Random(f, n, n, spread, r.Uint64())
		for range r.IntN(n) {
			a.SetFloat64(r.IntN(n), r.IntN(n), 0)
		}
		if trial%16 > 7 {
			a = a.T()
		}
		if r.IntN(3) == 0 { // as near to 1 as it gets
			a.SetBig(0, 0, new(big.Float).SetPrec(uint(f.Bits())).Sub(big.NewFloat(1), new(big.Float).SetMantExp(big.NewFloat(1), -f.Bits())))
		}
		by := scale.Unscaled(n, n)
		for i := range n {
			by.Rows[i], by.Cols[i] = -int64(spread)-int64(r.IntN(1+40*(trial%3))), -int64(r.IntN(3))
		}
		if far := r.Int64N(1500) - 750; r.IntN(4) == 0 { // beyond the exponents of scale.NearPower
			for i := range n {
				by.Rows[i] += far
				by.Cols[i] -= far
			}
		}
		s := prooftest.Run(t, 1+trial%2)
		m, err := fixed.New(&s.Call, a.View(), by, planes)
		if err != nil {
			t.Fatal(err)
		}
		c := make([]int64, n)
		for j := range c {
			c[j] = []int64{fixed.Shifted - 1, 1 - fixed.Shifted, 0, 1, -1, r.Int64N(fixed.Shifted), -r.Int64N(fixed.Shifted)}[r.IntN(7)]
		}
		v := fixed.NewVector(c)
		for i := range n {
			for w := 1; w <= planes; w++ {
				z := make([]uint64, w+2)
				m.Row(z, i, v, w)
				difference := numtest.Scaled(numtest.Signed(z), 1-64*w)
				most := new(big.Rat)
				for j, c := range c {
					x, _ := a.Big(i, j).Rat(nil)
					x.Mul(x, numtest.Scaled(big.NewInt(c), int(by.Rows[i]+by.Cols[j])))
					difference.Sub(difference, x)
					most.Add(most, numtest.Scaled(new(big.Int).Abs(big.NewInt(c)), 2-64*w))
				}
				if difference.Abs(difference).Cmp(most) > 0 {
					t.Fatalf("seed %d, trial %d, %v, n = %d: row %d by %v in %d of %d planes is off by %s, bound %s", seed, trial, f, n, i, c, w, planes, difference.FloatString(30), most.FloatString(30))
				}
			}
			if low := scale.LowestBit(a.View(), by); low <= int64(64*planes-1) {
				z := make([]uint64, planes+2)
				m.Row(z, i, v, planes)
				exact := numtest.Scaled(numtest.Signed(z), 1-64*planes)
				for j, c := range c {
					x, _ := a.Big(i, j).Rat(nil)
					exact.Sub(exact, x.Mul(x, numtest.Scaled(big.NewInt(c), int(by.Rows[i]+by.Cols[j]))))
				}
				if exact.Sign() != 0 {
					t.Fatalf("seed %d, trial %d, %v: row %d by %v is off by %s, and F is a multiple of 2^-%d", seed, trial, f, i, c, exact.FloatString(30), low)
				}
			}
		}
	}
}

// TestFixedWords compares operations on words with operations of package big.
func TestFixedWords(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	random := func(words int) []uint64 {
		x := make([]uint64, words)
		top := r.IntN(64*words + 1)
		for k := range x {
			switch x[k] = r.Uint64(); {
			case 64*k >= top:
				x[k] = 0
			case 64*k+64 > top:
				x[k] &= 1<<uint(top-64*k) - 1
			}
		}
		if r.IntN(2) == 0 { // -x, or -x - 1
			for k := range x {
				x[k] = ^x[k]
			}
		}
		return x
	}
	for trial := range testlength.Of(20000, 60000, 1000000) {
		x, y, shift := random(1+r.IntN(4)), random(1+r.IntN(4)), r.IntN(600)-300
		want := numtest.Signed(y)
		if shift >= 0 {
			want.Lsh(want, uint(shift))
		} else {
			want.Rsh(want, uint(-shift)) // downwards
		}
		want.Sub(numtest.Signed(x), want)
		ring := new(big.Int).Lsh(big.NewInt(1), uint(64*len(x)))
		z := append([]uint64(nil), x...)
		fixed.SubtractShifted(z, y, shift)
		if got := numtest.Signed(z); want.Sub(want, got).Mod(want, ring).Sign() != 0 {
			t.Fatalf("seed %d, trial %d: %x - %x 2^%d = %x", seed, trial, x, y, shift, z)
		}

		top := fixed.BitLen(x)
		v := numtest.Signed(x)
		if one := big.NewInt(1); int64(x[len(x)-1]) < 0 && new(big.Int).Neg(v).Cmp(one.Lsh(one, uint(top))) > 0 || v.Sign() > 0 && v.BitLen() != top {
			t.Fatalf("seed %d, trial %d: the length of %x is %d", seed, trial, x, top)
		}
		top += r.IntN(3) * r.IntN(64)
		if top <= 64*len(x) {
			lead := numtest.Exact(fixed.Leading(x, top))
			d, _ := lead.Sub(lead, numtest.Scaled(v, -top)).Float64()
			if math.Abs(d) > 0x1p-51 {
				t.Fatalf("seed %d, trial %d: %x is %g 2^%d", seed, trial, x, fixed.Leading(x, top), top)
			}
			// The remainder after the last piece is less than one unit of it.
			sum, pieces := new(big.Rat), 1+r.IntN(6)
			for m := range pieces {
				sum.Add(sum, numtest.Scaled(big.NewInt(fixed.Piece(x, top, m)), -fixed.PieceBits*(m+1)))
			}
			left := sum.Sub(numtest.Scaled(v, -top), sum)
			if left.Sign() < 0 || left.Cmp(numtest.Scaled(big.NewInt(1), -fixed.PieceBits*pieces)) >= 0 {
				t.Fatalf("seed %d, trial %d: %d pieces of %x, top %d, leave %s", seed, trial, pieces, x, top, left.FloatString(100))
			}
		}
	}
}
