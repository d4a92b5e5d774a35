package npy

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/testseed"
)

// TestShifted combines checksums of pieces, in any order, also of very long ones.
func TestShifted(t *testing.T) {
	seed := testseed.Of(t)
	for trial := range 300 {
		r := rand.New(rand.NewPCG(seed, uint64(trial)))
		text := make([]byte, r.IntN(5000))
		for i := range text {
			text[i] = byte(r.Uint32())
		}
		sum := uint32(0)
		for at := 0; at < len(text); {
			n := min(1+r.IntN(1+len(text)/2), len(text)-at)
			sum ^= shifted(crc32.ChecksumIEEE(text[at:at+n]), int64(len(text)-at-n))
			at += n
		}
		if want := crc32.ChecksumIEEE(text); sum != want {
			t.Fatalf("seed %d, trial %d: %08x, want %08x", seed, trial, sum, want)
		}
	}
	zeros := make([]byte, 1<<20)
	head := []byte("head")
	whole := crc32.ChecksumIEEE(head)
	const times = 70
	for range times {
		whole = crc32.Update(whole, crc32.IEEETable, zeros)
	}
	rest := uint32(0)
	for range times {
		rest = crc32.Update(rest, crc32.IEEETable, zeros)
	}
	if got := shifted(crc32.ChecksumIEEE(head), times<<20) ^ rest; got != whole {
		t.Errorf("%08x, want %08x", got, whole)
	}
	// x has the order 2^32 - 1
	if got := shifted(1, 1<<32-1); got != 1 {
		t.Errorf("1 shifted once around is %08x", got)
	}
	if got := shifted(1, 1<<62); got != shifted(shifted(1, 1<<61), 1<<61) {
		t.Errorf("%08x", got)
	}
}
