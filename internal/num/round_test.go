package num

import (
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestGreedyNormal compares terms of numbers of few words with those found by subtraction: bits at
// random, runs of ones and zeros, ties, exponents around the ends.
func TestGreedyNormal(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	taken := 0
	for trial := range testlength.Trials(200000) {
		v := Real{Class: Finite, Neg: r.IntN(2) == 0, Mag: make([]uint64, 1+r.IntN(14))}
		bits := 64 * len(v.Mag)
		for k := range v.Mag {
			switch r.IntN(4) {
			case 0:
				v.Mag[k] = -uint64(r.IntN(2))
			case 1:
				v.Mag[k] = 1 << r.IntN(64)
			case 2:
				v.Mag[k] = -(1 << r.IntN(64))
			default:
				v.Mag[k] = r.Uint64()
			}
		}
		for range r.IntN(3) { // bits 53 or 54 apart
			at := r.IntN(bits)
			for d := at; d < bits && d < at+54*3; d += 53 + r.IntN(2) {
				v.Mag[d/64] |= 1 << (d % 64)
			}
		}
		if r.IntN(3) == 0 {
			clear(v.Mag[:r.IntN(len(v.Mag))])
		}
		if IsZero(v.Mag) {
			continue
		}
		switch r.IntN(4) {
		case 0:
			v.Exp = -int64(r.IntN(2200))
		case 1:
			v.Exp = int64(r.IntN(1200)) - int64(bits)
		default:
			v.Exp = -int64(r.IntN(bits))
		}
		n := 2 + r.IntN(3)
		var got, want [4]float64
		if !greedyNormal(got[:n], v) {
			continue
		}
		taken++
		flags := greedy(want[:n], v)
		for k := range n {
			if math.Float64bits(got[k]) != math.Float64bits(want[k]) || flags != 0 {
				t.Fatalf("trial %d: %x 2^%d: terms %x, want %x with flags %d", trial, v.Mag, v.Exp, got[:n], want[:n], flags)
			}
			if k > 0 && want[k-1]+want[k] != want[k-1] {
				t.Fatalf("trial %d: %x 2^%d: terms %x are not canonical", trial, v.Mag, v.Exp, want[:n])
			}
		}
	}
	if taken < 1000 {
		t.Fatalf("only %d numbers taken", taken)
	}
}
