package ozaki

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/sgemm"
	"github.com/halfulp/halfulp/internal/testseed"
)

// at returns entry h of vector v, 0 of slices that are 0.
func at(p *sgemm.Panels, v, h int) float32 {
	if p == nil {
		return 0
	}
	return p.Data[(v/p.Width*p.Len+h)*p.Width+v%p.Width]
}

func everything() want {
	all := func(int) bool { return true }
	return want{all, all}
}

// adversaries returns n vectors of the given length, of a kind that asks much of slices.
func adversaries(rng *rand.Rand, kind string, n, length int) vectors {
	x := vectors{data: make([]float64, n*length), vs: length, hs: 1, n: n, len: length}
	for i := range x.data {
		switch kind {
		case "ones": // the largest slices: sums reach 2^24 where the length is a power of 4
			x.data[i] = 1
		case "nearly": // all bits set
			x.data[i] = math.Nextafter(1, 0)
		case "ties":
			x.data[i] = 1 - float64(1+2*rng.IntN(4))*0x1p-9
		case "signs":
			x.data[i] = float64(1-2*rng.IntN(2)) * (1 + rng.Float64())
		case "spread":
			x.data[i] = math.Ldexp(rng.Float64()-0.5, rng.IntN(60))
		case "bits":
			for {
				x.data[i] = math.Float64frombits(rng.Uint64())
				if finite(x.data[i]) {
					break
				}
			}
		case "subnormal":
			x.data[i] = math.Float64frombits(rng.Uint64() >> 12)
		case "zeros":
			if rng.IntN(3) == 0 && i >= length {
				x.data[i] = rng.Float64()
			}
		}
	}
	return x
}

var adversaryKinds = []string{"ones", "nearly", "ties", "signs", "spread", "bits", "subnormal", "zeros"}

// TestSlicesWithoutError compares the products of slices with exact integers, under every
// kernel, and checks that slices and remainder add up to the operand.
func TestSlicesWithoutError(t *testing.T) {
	const slices = 5
	rng := testseed.Rand(t, 11, 12)
	ctx := context.Background()
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		k := sgemm.Best()
		for _, length := range []int{1, 2, 3, 4, 5, 16, 17, 63, 256, 1024, 4096, 5000} {
			alpha := sliceWidth(length)
			for _, kind := range adversaryKinds {
				name := fmt.Sprintf("%s, %s, length %d", level, kind, length)
				x, y := adversaries(rng, kind, 3, length), adversaries(rng, kind, 4, length)
				a, b := splitAll(t, x, alpha, slices, k.MR), splitAll(t, y, alpha, slices, k.NR)
				if length < 300 && level == isa.Best() {
					checkSplit(t, name, x, a)
				}
				for s := range slices {
					for u := range slices {
						if a.q[s] == nil || b.q[u] == nil {
							continue
						}
						c := make([]float32, x.n*y.n)
						if err := k.Mul(ctx, 1, c, x.n, a.q[s], b.q[u]); err != nil {
							t.Fatal(err)
						}
						for i, got := range c {
							var want int64
							for h := range length {
								want += int64(at(a.q[s], i%x.n, h)) * int64(at(b.q[u], i/x.n, h))
							}
							if float64(got) != float64(want) {
								t.Fatalf("%s: slices %d and %d: entry %d is %g, want %d", name, s+1, u+1, i, got, want)
							}
						}
					}
				}
			}
		}
		restore()
	}
}

func splitAll(t *testing.T, x vectors, alpha, slices, width int) *split {
	t.Helper()
	ctx := context.Background()
	maxima, _, err := survey(ctx, 1, x)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSplit(ctx, 2, x, exponents(maxima), alpha, slices, width, everything())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkSplit compares q_1 + … + q_T + r_(T+1) with the vectors, for every T: exactly, but for
// the rounding of r to float32.
func checkSplit(t *testing.T, name string, x vectors, s *split) {
	t.Helper()
	for v := range x.n {
		normQ, normR := make([]float64, len(s.q)), make([]float64, len(s.q))
		for h := range x.len {
			sum := new(big.Float).SetPrec(3000)
			for p := range s.q {
				unit := s.exp[v] - s.alpha - p*(s.alpha+1)
				q, r := float64(at(s.q[p], v, h)), float64(at(s.r[p], v, h))
				limit := float64(int(1) << s.alpha)
				if q != math.RoundToEven(q) || math.Abs(q) > limit || math.Abs(r) > limit {
					t.Fatalf("%s: slice %d of %g: %g, remainder %g, of %d bits", name, p+1, x.at(v, h), q, r, s.alpha)
				}
				normQ[p], normR[p] = math.Hypot(normQ[p], q), math.Hypot(normR[p], r)
				rest := new(big.Float).SetMantExp(big.NewFloat(r), unit)
				d := new(big.Float).SetPrec(3000).Sub(big.NewFloat(x.at(v, h)), sum)
				d.Sub(d, rest).Abs(d)
				bound := new(big.Float).SetMantExp(big.NewFloat(max(math.Abs(r)*0x1p-24, 0x1p-150)), unit)
				if d.Cmp(bound) > 0 {
					t.Fatalf("%s: %g is off by %g from its %d slices and remainder, above %g", name, x.at(v, h), d, p, bound)
				}
				sum.Add(sum, new(big.Float).SetMantExp(big.NewFloat(q), unit))
			}
		}
		for p := range s.q {
			for _, n := range [][2]float64{{normQ[p], s.norms.q[p][v]}, {normR[p], s.norms.r[p][v]}} {
				if n[1] < n[0]*(1-1e-12) || n[1] > n[0]*(1+1e-12)+0x1p-126*math.Sqrt(float64(x.len)) {
					t.Fatalf("%s: norm of slice %d is %g, computed as %g", name, p+1, n[0], n[1])
				}
			}
		}
	}
}

func TestSliceWidth(t *testing.T) {
	for n := 1; n <= MaxBlock; n += 1 + n/7 {
		a := sliceWidth(n)
		if n<<(2*a) > 1<<24 || a < 1 {
			t.Errorf("length %d: %d bits are too many", n, a)
		}
		pow := 1
		for pow < n {
			pow *= 2
		}
		if pow<<(2*a+2) <= 1<<24 {
			t.Errorf("length %d: %d bits are too few", n, a)
		}
	}
}

// BenchmarkSplit measures the splitting of both operands of a product.
func BenchmarkSplit(b *testing.B) {
	const n = 1024
	rng := rand.New(rand.NewPCG(1, 1))
	x := vectors{data: make([]float64, n*n), vs: n, hs: 1, n: n, len: n}
	for i := range x.data {
		x.data[i] = rng.Float64() - 0.5
	}
	k := sgemm.Best()
	for _, slices := range []int{1, 2, 6} {
		b.Run(fmt.Sprint(slices), func(b *testing.B) {
			for b.Loop() {
				maxima, _, err := survey(b.Context(), 1, x)
				if err != nil {
					b.Fatal(err)
				}
				exp := exponents(maxima)
				left, err := newSplit(b.Context(), 1, x, exp, sliceWidth(n), slices, k.MR, leftWant(slices))
				if err != nil {
					b.Fatal(err)
				}
				right, err := newSplit(b.Context(), 1, x, exp, sliceWidth(n), slices, k.NR, rightWant(slices))
				if err != nil {
					b.Fatal(err)
				}
				left.free()
				right.free()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*n*n), "ns/entry")
		})
	}
}
