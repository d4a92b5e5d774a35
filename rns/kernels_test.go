package rns

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testseed"
)

// randomResidues are residues of a base, often the largest or 0, between guards.
func randomResidues(b *Base, r *rand.Rand) []uint32 {
	x := make([]uint32, b.n)
	mode := r.IntN(4)
	for i, m := range b.m {
		switch mode {
		case 0:
			x[i] = m - 1
		case 1:
			x[i] = []uint32{0, 1, m - 1, m / 2}[r.IntN(4)]
		default:
			x[i] = r.Uint32N(m)
		}
	}
	return x
}

// kernelBases are the bases of the tests and random ones below 2^30, of lengths around
// multiples of a vector.
func kernelBases(t *testing.T) []*Base {
	bases := testBases(t)
	r := testseed.Rand(t, 40, 0)
	for n := 1; n <= 40; n++ {
		var moduli []uint32
	next:
		for len(moduli) < n {
			m := 3 + r.Uint32N(1<<(8+r.IntN(23))-3)
			for _, k := range moduli {
				if gcd(k, m) != 1 {
					continue next
				}
			}
			moduli = append(moduli, m)
		}
		if b, err := NewBase(moduli); err == nil {
			bases = append(bases, b)
		}
	}
	return bases
}

func TestKernels(t *testing.T) {
	fast := kernelBases(t)
	restore := isa.Force(isa.Portable)
	slow := kernelBases(t)
	restore()
	assembled := 0
	for k, b := range fast {
		s := slow[k]
		if s.kernels.n != 0 {
			t.Fatal("assembly at the portable level")
		}
		if b.kernels.n != 0 {
			assembled++
		}
		r := newRand(t, 41)
		n := b.n
		for range 200 {
			x, y := randomResidues(b, r), randomResidues(b, r)
			for _, op := range []struct {
				name       string
				fast, slow func(z, x, y []uint32)
			}{{"+", b.addMod, s.addMod}, {"-", b.subMod, s.subMod}, {"*", b.mulMod, s.mulMod}} {
				got, want := make([]uint32, n+1), make([]uint32, n)
				got[n] = 12345
				op.fast(got[:n:n], x, y)
				op.slow(want, x, y)
				if !slices.Equal(got[:n], want) || got[n] != 12345 {
					t.Fatalf("moduli %v: %v %s %v = %v, want %v", b.m, x, op.name, y, got, want)
				}
			}
			f, c := b.sumFractions(x)
			if g, d := s.sumFractions(x); f != g || c != d {
				t.Fatalf("moduli %v: fraction of %v is %d, %d, want %d, %d", b.m, x, f, c, g, d)
			}
			words := make([]uint32, 1+r.IntN(b.rows()))
			for i := range words {
				words[i] = []uint32{1<<b.wordBits - 1, 0, r.Uint32() & (1<<b.wordBits - 1)}[r.IntN(3)]
			}
			got, want := make([]uint32, n+1), make([]uint32, n)
			b.sumRows(got[:n:n], words)
			s.sumRows(want, words)
			if !slices.Equal(got[:n], want) || got[n] != 0 {
				t.Fatalf("moduli %v: words %v have residues %v, want %v", b.m, words, got, want)
			}
			sums, exact := make([]uint64, len(words)+1), make([]uint64, len(words))
			b.dotRows(sums[:len(words)], x, b.low)
			s.dotRows(exact, x, s.low)
			if !slices.Equal(sums[:len(words)], exact) || sums[len(words)] != 0 {
				t.Fatalf("moduli %v: rows of %v: %v, want %v", b.m, x, sums, exact)
			}
		}
	}
	t.Logf("%d of %d bases run in assembly", assembled, len(fast))
	if isa.Level() >= isa.AVX2 && assembly && assembled < 20 {
		t.Error("hardly any base runs in assembly")
	}
}
