package factors_test

import (
	"fmt"
	"math/big"
	mathbits "math/bits"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
)

// TestNewtonFactors compares enclosures with factors in many more bits: all enclosures must hold
// and be as narrow as requested, with corrections of all orders.
func TestNewtonFactors(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	const more = 1500
	wide := func(x *big.Rat) *big.Float { return new(big.Float).SetPrec(more).SetRat(x) }
	s := prooftest.Run(t, 2)
	for trial := range testlength.Of(1, 2, 60) {
		n := seed.Fewest + r.IntN(8)
		extra := r.IntN(4)
		a := gallery.Random(halfulp.Float64, n+extra, n, r.IntN(12), r.Uint64())
		c := lintest.Gram(a.Slice(0, n, 0, n))
		d, err := factors.NewCholeskyNewton(s, factors.Stacked(c.View(), a.View(), call.All(n)), n, bound.MaxBits)
		if err != nil {
			t.Fatal(err)
		}
		p, err := factors.NewPivoted(s, a.View(), bound.MaxBits)
		if err != nil {
			t.Fatal(err)
		}
		root, ok := lintest.Of(halfulp.MatrixOf(factors.Stacked(c.View(), a.View(), call.All(n)))).LU(n)
		lu, regular := lintest.Of(a).Rows(p.Order).LU(n)
		if !ok || !regular {
			continue
		}
		for bits := 20; bits < 900; bits += 1 + r.IntN(bits) {
			name := fmt.Sprintf("seed %d, trial %d, n = %d, %d bits", draw, trial, n, bits)
			e, err := d.Enclosure(bits)
			if err != nil {
				t.Fatal(err)
			}
			if e == nil || d.Blocks {
				t.Logf("%s: no factors", name) // ill-conditioned
				break
			}
			for j := range n {
				diagonal := wide(root[j][j])
				diagonal.Sqrt(diagonal)
				for i := j; i < len(root); i++ {
					x := diagonal
					if i > j {
						x = wide(root[i][j])
						x.Mul(x, diagonal)
					}
					if by := prooftest.Outside(e.Root, j, i, x); by > 0 {
						t.Fatalf("%s: L[%d,%d] lies outside by %g", name, i, j, by)
					}
				}
			}
			prooftest.CheckWidth(t, name, e.Root, bits, wider(n, bits, d.Amp, e.Root))
			if e, err = p.Enclosure(bits); err != nil || e == nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i := range n + extra {
				for j := range n {
					y, k, l := e.U, i, j
					if i > j {
						y, k, l = e.L, j, i
					}
					if by := prooftest.Outside(y, k, l, wide(lu[i][j])); by > 0 {
						t.Fatalf("%s: entry (%d, %d) of L and U lies outside by %g", name, i, j, by)
					}
				}
			}
			prooftest.CheckWidth(t, name, e.U, bits, wider(n, bits, p.Amp, e.U))
			prooftest.CheckWidth(t, name, e.L, bits, wider(n, bits, p.Amp, e.L))
		}
	}
}

// wider returns w such that CholeskyNewton and LUNewton enclose factors of order n with errors of
// at most 2^(w-bits) times the largest entry of a column. The sum of the following bounds proves
// it.
//
// Let u = 2^-bits, g the gain by the last E, and G the gain for which its places were chosen. Let a
// be the amp for which the width bits + a + 4 of V was chosen, and A = a + δ the amp computed from
// V. Then E is known up to h, the sum of
//
//	2^(a-width) = 2^-4 u         errors of V beside its rounding
//	2^(A-width) = 2^(δ-4) u      the rounding of V
//	2^(A-width-2) = 2^(δ-6) u    errors of E beside its rounding
//	2^(-g-places) ≤ 2^(G-g-4) u  the rounding of E, of bits - G + 4 places or more
//
// In the last bound G - g ≤ 2: the previous E proves that the last one is at most 2^-G up to h, and
// so 2^-g ≤ 2^(2-G). Before the first E, G = 32, and the 24 places of 20 bits are more than enough.
// So 2 h ≤ (0.13 + 0.16 2^δ + 0.5) u. The errors that correction adds are largest with four powers
// of 2^-g, where 4 g ≥ bits + 10. Its products of k powers have bits - k g + 4 bits. It adds
//
//	2^(5-4g)                         2^-5 u
//	errors of products, four times   2^-2 + 2^-2 + 1 (Cholesky), 2^-2 + 2^-2 + 2^-1 + 1 + 1 (LU)
//	roundings                        1 + 1 + 2 + 2^-3
//
// and finish adds 2^(1-width), 2^(1-g-places), 2^(-g-places) and less: 0.4 u. All are at most
// (8.3 + 0.16 2^δ) u, below 16 u up to δ = 5 and below 2^(δ-1) u beyond. This is relative to sums
// of at most n entries, so that 2^(bit length of n) is a further factor; LUNewton doubles all.
func wider(n, bits, amp int, y *bound.Nearly) int {
	delta := amp - (y.X.Format().Bits() - bits - 4)
	return max(4, delta-1) + mathbits.Len(uint(n)) + 1
}

// TestMostBits requests enclosures in more bits than formats have.
func TestMostBits(t *testing.T) {
	const n = 24
	a := gallery.Random(halfulp.Float64, n, n, 0, 1)
	s := prooftest.Run(t, 1)
	d, err := factors.NewCholeskyNewton(s, lintest.Gram(a).View(), n, bound.MaxBits)
	if err != nil || d == nil {
		t.Fatalf("no seed: %v", err)
	}
	p, err := factors.NewPivoted(s, a.View(), bound.MaxBits)
	if err != nil || p.LUNewton == nil {
		t.Fatalf("no seed: %v", err)
	}
	if e, err := d.Enclosure(bound.MaxBits - 4); e != nil || err != nil {
		t.Errorf("an enclosure of Cholesky's factor, %v", err)
	}
	if e, err := p.Enclosure(bound.MaxBits - 4); e != nil || err != nil {
		t.Errorf("an enclosure of L and U, %v", err)
	}
}

// TestPoorSeed requests further enclosures from seeds that are already known to be far off: no
// number of steps improves them.
func TestPoorSeed(t *testing.T) {
	s := prooftest.Run(t, 1)
	for _, gain := range []int{-1000, -9, -5, -1, 1, factors.LeastGain - 1} {
		poor := factors.Improvement{Gain: gain, Amp: 10}
		for _, seed := range []factors.Improving{&factors.CholeskyNewton{Improvement: poor}, &factors.LUNewton{Improvement: poor}} {
			if e, err := factors.Improved(s, seed, 200); e != nil || err != nil {
				t.Errorf("%T of gain %d: %v, %v", seed, gain, e, err)
			}
		}
	}
}
