package gpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/num"
)

// randomCase draws what a plan depends on: formats, shapes, widths that hold the operands
// exactly or not, entries of many sizes and zeros.
func randomCase(rng *rand.Rand) (s shape, l, r totals, samples []sample) {
	formats := []num.Format{num.Float32, num.Float64, num.DDouble, mp(53), mp(106), mp(424), mp(1696)}
	draw := func() (f num.Format, t totals) {
		f = formats[rng.IntN(len(formats))]
		t.width = int64(exact.ResultBits(f)) + int64(rng.IntN(1<<rng.IntN(12)))
		t.norm = float64(s.k) * rng.Float64()
		return f, t
	}
	s.m, s.n, s.k = 1+rng.IntN(1<<rng.IntN(14)), 1+rng.IntN(1<<rng.IntN(14)), 1+rng.IntN(1<<rng.IntN(16))
	var f, g num.Format
	f, l = draw()
	g, r = draw()
	s.format = formats[rng.IntN(len(formats))]
	s.limbsL, s.limbsR = words32(f), words32(g)
	s.termsL, s.termsR = max(f.Terms(), 1), max(g.Terms(), 1)
	zeros := rng.IntN(3)
	for range maxSamples {
		p := sample{size: float64(-rng.IntN(1 + rng.IntN(50))), normL: l.norm * rng.Float64(), normR: r.norm * rng.Float64()}
		if rng.IntN(4) < zeros {
			p.size = -1e9
		}
		samples = append(samples, p)
	}
	return s, l, r, samples
}

// TestPlan compares plans with the best of all bases, tried one by one.
func TestPlan(t *testing.T) {
	for seed := range uint64(2000) {
		s, l, r, samples := randomCase(rand.New(rand.NewPCG(5, seed)))
		odds := s.odds(samples)
		best := math.Inf(1)
		for count := 1; count <= len(pool().moduli); count++ {
			q := plan{moduli: count}
			q.fill(pool().bits[count], &s, l, r)
			if q.digitsFit(&s) && int64(q.widthL) >= min(2, l.width) && int64(q.widthR) >= min(2, r.width) {
				best = min(best, s.work(&q)+s.exactCost(odds.failure(&q)))
			}
		}
		p, ok := planFor(s, l, r, samples)
		if ok != !math.IsInf(best, 1) || ok && p.cost > best {
			t.Errorf("seed %d: %+v: cost %g, best %g", seed, p, p.cost, best)
		}
		if !ok {
			continue
		}
		bound := float64(p.widthL+p.widthR) + math.Log2(min(l.norm, r.norm)+1e-300)
		if bound > pool().bits[p.moduli]-baseMargin || p.exactL != (int64(p.widthL) >= l.width) || p.exactR != (int64(p.widthR) >= r.width) {
			t.Errorf("seed %d: %+v: bound of 2^%g", seed, p, bound)
		}
	}
}

// TestOdds compares the estimate of failures with its definition, in logarithms.
func TestOdds(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(6, seed))
		s, _, _, samples := randomCase(rng)
		o := s.odds(samples)
		bits := exact.ResultBits(s.format) + 3*float64(max(s.format.Terms()-1, 0))
		for range 20 {
			q := plan{widthL: rng.IntN(2000), widthR: rng.IntN(2000), exactL: rng.IntN(3) == 0, exactR: rng.IntN(3) == 0}
			var want float64
			for _, p := range samples {
				e := 0.0
				if !q.exactL {
					e += math.Exp2(math.Log2(p.normR) + roundings(s.termsL) - float64(q.widthL+1) + bits - p.size)
				}
				if !q.exactR {
					e += math.Exp2(math.Log2(p.normL) + roundings(s.termsR) - float64(q.widthR+1) + bits - p.size)
				}
				if p.size <= noSize && !(q.exactL && q.exactR) {
					e = 1
				}
				want += min(1, 2.25*e) / maxSamples
			}
			if got := o.failure(&q); math.Abs(got-want) > 1e-9+1e-6*want {
				t.Errorf("seed %d, %+v: %g, want %g", seed, q, got, want)
			}
		}
	}
}

// BenchmarkPlan measures what a device waits for.
func BenchmarkPlan(b *testing.B) {
	for _, p := range []int{53, 1696} {
		s := shape{m: 1000, n: 1000, k: 1000, format: mp(p), limbsL: p/32 + 1, limbsR: p/32 + 1, termsL: 1, termsR: 1}
		all := totals{norm: 500, width: int64(p) + 30}
		var samples []sample
		for i := range maxSamples {
			samples = append(samples, sample{size: float64(i%7 - 6), normL: 250, normR: 250})
		}
		b.Run(s.format.String(), func(b *testing.B) {
			for b.Loop() {
				planFor(s, all, all, samples)
			}
		})
	}
}
