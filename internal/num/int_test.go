package num

import (
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// TestInts takes words to integers and back, and compares with the integers of their bytes.
func TestInts(t *testing.T) {
	r := testseed.Rand(t, 5, 1)
	for n := range 20 {
		x := make([]uint64, n)
		for i := range x {
			// words that are zeros, and halves that are
			x[i] = r.Uint64() >> (64 * r.IntN(2)) >> (r.IntN(2) * r.IntN(64))
		}
		var bytes []byte
		for _, v := range slices.Backward(x) {
			bytes = binary.BigEndian.AppendUint64(bytes, v)
		}
		z, want := ToInt(x), new(big.Int).SetBytes(bytes)
		if z.Cmp(want) != 0 {
			t.Errorf("%x: %x", x, z)
		}
		words := x
		for len(words) > 0 && words[len(words)-1] == 0 {
			words = words[:len(words)-1]
		}
		kept := []uint64{7}
		for _, y := range []*big.Int{z, new(big.Int).Neg(z)} {
			if got := FromInt(kept, y); got[0] != 7 || !slices.Equal(got[1:], words) {
				t.Errorf("%x: %x", x, got)
			}
		}
	}
}
