package digits

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
)

// TestRoundHead compares roundings from the first 128 bits with EnclosedEntry.RoundTo: random bits,
// numbers with leading zeros, numbers near ties and powers of two, exponents near their ends.
func TestRoundHead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounder := &bound.Rounder{Ends: num.New(num.Float64, 2)}
	to := num.New(num.Float64, 1)
	decided, left := 0, 0
	for trial := range 200000 {
		high, low := r.Uint64(), r.Uint64()
		zeros := r.IntN(64)
		high, low = high>>zeros, high<<(63-zeros)<<1|low>>zeros
		if trial%4 > 0 { // close to a number of 54 or 53 bits
			some := uint(max(128-bits.LeadingZeros64(high)-53-trial%3, 0)) // bits to clear
			if some >= 64 {
				high, low = high>>(some-64)<<(some-64), 0
			} else {
				low = low >> some << some
			}
			var c uint64
			if d := r.Uint64() >> r.IntN(64); trial%8 < 4 {
				low, c = bits.Add64(low, d, 0)
				high += c
			} else if high > 0 {
				low, c = bits.Sub64(low, d, 0)
				high -= c
			}
		}
		e := r.Uint64() >> (4 + r.IntN(60))
		exp := int64(r.IntN(300) - 150 - 128)
		if trial%5 == 0 {
			exp = int64(-1150 + r.IntN(100))
		} else if trial%5 == 1 {
			exp = int64(880 + r.IntN(100))
		}
		neg := trial%2 == 1
		x, ok := roundHead(high, low, neg, exp, e)
		v := bound.EnclosedEntry{Neg: neg, Mag: trimmed([]uint64{low, high}), Exp: exp, Err: e, Known: true, Zero: high == 0 && low <= e}
		want := v.RoundTo(rounder, to, 0)
		if ok && (!want || x != to.F64[0][0]) {
			t.Fatalf("%x:%x ± %x, 2^%d: got %v, want %v (%v)", high, low, e, exp, x, to.F64[0][0], want)
		}
		if want && !ok && high>>60 > 0 {
			t.Fatalf("%x:%x ± %x, 2^%d: undecided, want %v", high, low, e, exp, to.F64[0][0])
		}
		if ok {
			decided++
		} else {
			left++
		}
	}
	if decided < 20000 || left < 20000 {
		t.Errorf("%d numbers decided, %d left", decided, left)
	}
}
