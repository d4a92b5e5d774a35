package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

const samples = 64

func mp(p uint32) num.Format { return num.Format{Kind: num.MP, Prec: p} }

// testMachine returns a machine with moduli of up to 13 bits, work that grows with their number,
// and an exact pass that costs exact for each product of an entry.
func testMachine(exact float64) *Machine {
	m := &Machine{
		Bits: []float64{0},
		Work: func(p *Problem, q *Plan) float64 {
			k := float64(p.K)
			return float64(q.Moduli) * (float64(p.M)*float64(p.N)*(0.01*k+3) + float64(p.M+p.N)*k*2)
		},
		Exact: func(p *Problem, share float64) float64 {
			return share * float64(p.M) * float64(p.N) * float64(p.K) * exact
		},
		Slack: func(n int) float64 { return 11 + math.Log2(float64(n)) },
		Fits:  func(p *Problem, q *Plan) bool { return p.Left.Terms == 1 || max(q.WidthL, q.WidthR) < 2000 },
	}
	for n := range 600 {
		m.Bits = append(m.Bits, m.Bits[n]+13-0.003*float64(n))
	}
	return m
}

// randomProblem returns a random problem: formats, shapes, widths that do or do not hold the
// operands exactly, entries of many sizes, and zeros.
func randomProblem(rng *rand.Rand) (p Problem) {
	formats := []num.Format{num.Float32, num.Float64, num.DDouble, mp(53), mp(106), mp(424), mp(1696)}
	p.M, p.N, p.K = 1+rng.IntN(1<<rng.IntN(14)), 1+rng.IntN(1<<rng.IntN(14)), 1+rng.IntN(1<<rng.IntN(16))
	draw := func() (num.Format, Operand) {
		f := formats[rng.IntN(len(formats))]
		return f, Operand{
			Norm:  math.Log2(float64(p.K) * (0.001 + rng.Float64())),
			Width: int(ResultBits(f)) + rng.IntN(1<<rng.IntN(12)),
			Terms: max(1, f.Terms()),
		}
	}
	p.A, p.Left = draw()
	p.B, p.Right = draw()
	p.C = formats[rng.IntN(len(formats))]
	zeros := rng.IntN(3)
	for range samples {
		s := Sample{float64(-rng.IntN(1 + rng.IntN(50))), p.Left.Norm + math.Log2(rng.Float64()), p.Right.Norm + math.Log2(rng.Float64())}
		if rng.IntN(4) < zeros {
			s.Size = math.Inf(-1)
		}
		p.Samples = append(p.Samples, s)
	}
	return p
}

// TestChoose compares plans with the best plan over all bases, tried one by one.
func TestChoose(t *testing.T) {
	for seed := range uint64(1000) {
		rng := testseed.Rand(t, 5, seed)
		p := randomProblem(rng)
		m := testMachine(math.Exp2(float64(rng.IntN(12))))
		odds := newOdds(&p)
		best := math.Inf(1)
		for count := 1; count < len(m.Bits); count++ {
			q := Plan{Moduli: count}
			q.fill(m.Bits[count], &p)
			if m.Fits(&p, &q) && q.WidthL >= min(2, p.Left.Width) && q.WidthR >= min(2, p.Right.Width) {
				best = min(best, m.Work(&p, &q)+m.Exact(&p, odds.failure(&q)))
			}
		}
		q, ok := m.Choose(&p)
		if ok != !math.IsInf(best, 1) || ok && q.Cost > best {
			t.Errorf("seed %d: %+v: cost %g, best %g", seed, q, q.Cost, best)
		}
		if !ok {
			continue
		}
		bound := float64(q.WidthL+q.WidthR) + min(p.Left.Norm, p.Right.Norm)
		if bound > m.Bits[q.Moduli]-Margin || q.ExactL != (q.WidthL >= p.Left.Width) || q.ExactR != (q.WidthR >= p.Right.Width) {
			t.Errorf("seed %d: %+v: bound of 2^%g", seed, q, bound)
		}
		// The same moduli with the same kept left integers leave the same width to the right ones.
		if w, ok := m.With(&p, q.Moduli, q.WidthL, 0); !ok || w.WidthR < q.WidthR {
			t.Errorf("seed %d: %+v with what it has: %+v", seed, q, w)
		}
	}
}

// TestTolerance checks that plans keep a tolerance, if there is one, and that no smaller base would
// do.
func TestTolerance(t *testing.T) {
	found := 0
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(8, seed)) // fixed seed: one in 20000 plans has one modulus more
		p := randomProblem(rng)
		p.Tolerant, p.Tolerance = true, float64(-rng.IntN(1000))
		m := testMachine(math.Exp2(30))
		within := func(q *Plan, cut int) bool {
			errL, errR, all := q.Errors(&p, cut, 0)
			return p.Tolerated(q, cut, errL, errR, all)
		}
		q, ok := m.Choose(&p)
		if !ok {
			continue
		}
		found++
		if !within(&q, q.Cut) && !(q.ExactL && q.ExactR) {
			t.Errorf("seed %d: %+v beyond 2^%g", seed, q, p.Tolerance)
		}
		// Fewer moduli must not reach errors of a quarter of the tolerance.
		p.Tolerance -= 2
		for count := 1; count < q.Moduli; count++ {
			less := Plan{Moduli: count}
			less.fill(m.Bits[count], &p)
			if m.Fits(&p, &less) && min(less.WidthL, less.WidthR) >= 2 && within(&less, 0) {
				t.Errorf("seed %d: %+v, and %d moduli do", seed, q, count)
				break
			}
		}
	}
	if found < 300 {
		t.Errorf("%d plans", found)
	}
}

// TestZeros checks the plan for a factor of zeros.
func TestZeros(t *testing.T) {
	p := randomProblem(testseed.Rand(t, 7, 1))
	p.Right.Norm, p.Right.Width = math.Inf(-1), 0
	if q, ok := testMachine(1).Choose(&p); !ok || q.Moduli != 1 || !q.ExactL || !q.ExactR || q.Cut != 0 {
		t.Errorf("%+v, %v", q, ok)
	}
}

// TestOdds compares the estimate of failures with its definition.
func TestOdds(t *testing.T) {
	for seed := range uint64(200) {
		rng := testseed.Rand(t, 6, seed)
		p := randomProblem(rng)
		o := newOdds(&p)
		bits := ResultBits(p.C) + 3*float64(max(p.C.Terms()-1, 0))
		for range 20 {
			q := Plan{WidthL: rng.IntN(2000), WidthR: rng.IntN(2000), ExactL: rng.IntN(3) == 0, ExactR: rng.IntN(3) == 0}
			var want, most float64
			for _, s := range p.Samples {
				e := 0.0
				if !q.ExactL {
					e += math.Exp2(s.NormR + p.Left.roundings() - float64(q.WidthL+1) + bits - s.Size)
				}
				if !q.ExactR {
					e += math.Exp2(s.NormL + p.Right.roundings() - float64(q.WidthR+1) + bits - s.Size)
				}
				if math.IsInf(s.Size, -1) && !(q.ExactL && q.ExactR) {
					e = 1
				} else {
					most = max(most, min(1, 2.25*e))
				}
				want += min(1, 2.25*e) / samples
			}
			if most > 0 && !(q.ExactL && q.ExactR) {
				want -= most * math.Log(most) / samples
			}
			if got := o.failure(&q); math.Abs(got-want) > 1e-9+1e-6*want {
				t.Errorf("seed %d, %+v: %g, want %g", seed, q, got, want)
			}
		}
	}
}

// TestTail compares estimates by few samples, the median of many estimates, of entries evenly
// distributed in [0, 1) with the true share: the mean of min(1, p/x) is p (1 - log p).
func TestTail(t *testing.T) {
	rng := testseed.Rand(t, 8, 8)
	for _, log2p := range []int{-12, -16, -24} {
		got := make([]float64, 999)
		for k := range got {
			p := Problem{A: num.Float64, B: num.Float64, C: num.Float64}
			p.Left.Terms, p.Right.Terms = 1, 1
			p.Samples = make([]Sample, 64)
			for i := range p.Samples {
				p.Samples[i].Size = math.Log2(rng.Float64())
			}
			o := newOdds(&p)
			got[k] = o.failure(&Plan{WidthL: 53 - log2p, ExactR: true})
		}
		slices.Sort(got)
		med, x := got[len(got)/2], math.Ldexp(2.25/2, log2p)
		if want := x * (1 - math.Log(x)); med < 0.7*want || med > 1.4*want {
			t.Errorf("share %g by samples, %g of all", med, want)
		}
	}
}

// TestAssume checks plans for assumed numbers, at precisions for which norms in place of their
// logarithms would change the plan.
func TestAssume(t *testing.T) {
	for _, k := range []int{16, 1000, 100000} {
		p := Problem{M: 100, N: 100, K: k, A: mp(424), B: mp(424), C: num.Float64}
		p.Assume()
		q, ok := testMachine(100).Choose(&p)
		// Each side has 53 bits, a few bits for cancellation, and the margin of the rounding test.
		if w := q.WidthL; !ok || w < 53 || w > 84 {
			t.Errorf("k = %d: %+v", k, q)
		}
	}
}

// BenchmarkChoose measures Choose, for which a device has to wait.
func BenchmarkChoose(b *testing.B) {
	for _, prec := range []uint32{53, 1696} {
		p := Problem{M: 1000, N: 1000, K: 1000, A: mp(prec), B: mp(prec), C: mp(prec)}
		p.Assume()
		m := testMachine(100)
		b.Run(p.C.String(), func(b *testing.B) {
			for b.Loop() {
				m.Choose(&p)
			}
		})
	}
}

// TestVanishing checks plans for results known to be far below the last places of the operands, as
// for results that vanish: planning is fast, and the integers hold the operands.
func TestVanishing(t *testing.T) {
	rng := testseed.Rand(t, 6, 13)
	m := testMachine(1e6)
	m.Fits = nil
	for trial := range 100 {
		p := randomProblem(rng)
		p.Left.Terms, p.Right.Terms = 1, 1
		p.Bounded, p.Bound = true, -math.Exp2(31+20*rng.Float64())
		if q, ok := m.Choose(&p); !ok || !q.ExactL || !q.ExactR {
			t.Errorf("trial %d: %+v (%v) for %+v", trial, q, ok, p)
		}
	}
}
