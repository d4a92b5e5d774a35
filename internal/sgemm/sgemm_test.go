package sgemm

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestFMA compares fma with exact arithmetic on random bits, near ties and below the normal
// numbers.
func TestFMA(t *testing.T) {
	rng := testseed.Rand(t, 3, 4)
	for range testlength.Trials(200000) {
		x, y := randomBits(rng), randomBits(rng)
		z := randomBits(rng)
		if rng.IntN(2) == 0 { // near the product, or half an ulp off
			z = float32(float64(x) * float64(y) * math.Ldexp(rng.Float64()-0.5, rng.IntN(60)-30))
		}
		want, _ := new(big.Float).SetPrec(1000).Add(new(big.Float).SetPrec(1000).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y))), big.NewFloat(float64(z))).Float32()
		if math.IsInf(float64(z), 0) {
			continue
		}
		if got := fma(x, y, z); got != want {
			t.Fatalf("fma(%g, %g, %g) = %g, want %g", x, y, z, got, want)
		}
	}
}

func randomBits(rng *rand.Rand) float32 {
	for {
		if x := math.Float32frombits(rng.Uint32()); x == x && !math.IsInf(float64(x), 0) {
			return x
		}
	}
}

// TestMul compares the kernels of all levels with the chain of fused multiply-adds, bit for
// bit, for any number of threads.
func TestMul(t *testing.T) {
	rng := testseed.Rand(t, 5, 6)
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		k := Best()
		for _, shape := range [][3]int{{0, 3, 0}, {3, 3, 0}, {1, 1, 1}, {k.MR, k.NR, 3}, {k.MR + 1, k.NR - 1, 4}, {37, 41, 259}, {k.mc + 5, k.nc + 3, k.kc*2 + 1}} {
			m, n, length := shape[0], shape[1], shape[2]
			a, b := randomVectors(rng, m*length), randomVectors(rng, n*length)
			if length > k.kc { // zero parts of panels, which are left out
				clear(a[:k.MR*length])
				for row := k.MR; row < m; row += 2 {
					clear(a[row*length+k.kc : (row+1)*length])
				}
				clear(b[:k.kc*n])
			}
			x, y := pack(t, k.MR, m, length, a, length, 1), pack(t, k.NR, n, length, b, 1, n)
			ldc := m + 3
			for _, threads := range []int{1, 3, 50} {
				c := make([]float32, ldc*n+1)
				for i := range c {
					c[i] = float32(math.NaN()) // C is not read
				}
				if err := k.Mul(context.Background(), threads, c, ldc, x, y); err != nil {
					t.Fatal(err)
				}
				for i := range c {
					row, col := i%ldc, i/ldc
					if row >= m || col >= n {
						if c[i] == c[i] {
							t.Fatalf("%s %v: wrote %g outside of C", k.Name, shape, c[i])
						}
						continue
					}
					var want float32
					for h := range length {
						want = fma(a[row*length+h], b[h*n+col], want)
					}
					if math.Float32bits(c[i]) != math.Float32bits(want) {
						t.Fatalf("%s %v: c[%d,%d] = %g, want %g", k.Name, shape, row, col, c[i], want)
					}
				}
			}
		}
		restore()
	}
}

func pack(t testing.TB, width, n, length int, x []float32, vs, hs int) *Panels {
	p, err := Pack(context.Background(), 2, width, n, length, x, vs, hs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func randomVectors(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// BenchmarkMul measures products of packed factors.
func BenchmarkMul(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	k := Best()
	for _, n := range []int{128, 512, 1024, 2048} {
		x := pack(b, k.MR, n, n, randomVectors(rng, n*n), n, 1)
		y := pack(b, k.NR, n, n, randomVectors(rng, n*n), n, 1)
		c := make([]float32, n*n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if err := k.Mul(b.Context(), 1, c, n, x, y); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
		})
	}
}

// TestPairs compares the kernels of all levels with the chain of pairs, bit for bit.
func TestPairs(t *testing.T) {
	rng := testseed.Rand(t, 9, 10)
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		k := BestPairs()
		for _, shape := range [][3]int{{0, 3, 0}, {3, 3, 0}, {1, 1, 1}, {k.MR, k.NR, 3}, {2*k.MR + 1, 2*k.NR - 1, 2*pairBlock + 7}} {
			m, n, length := shape[0], shape[1], shape[2]
			var a, b [2][]float32
			for w := range 2 {
				a[w], b[w] = randomVectors(rng, m*length), randomVectors(rng, n*length)
			}
			for _, x := range [][2][]float32{a, b} {
				for i := range x[0] {
					x[1][i] *= x[0][i] * 0x1p-25
				}
			}
			x := Pairs{pack(t, k.MR, m, length, a[0], length, 1), pack(t, k.MR, m, length, a[1], length, 1)}
			y := Pairs{pack(t, k.NR, n, length, b[0], 1, n), pack(t, k.NR, n, length, b[1], 1, n)}
			ldc := m + 1
			hi, lo := randomVectors(rng, ldc*n), randomVectors(rng, ldc*n)
			if err := k.Mul(context.Background(), 2, hi, lo, ldc, x, y); err != nil {
				t.Fatal(err)
			}
			for i := range m {
				for j := range n {
					var h, l float32
					exact := new(big.Float).SetPrec(300)
					for e := range length {
						p, q := i*length+e, e*n+j
						v := float32(a[0][p] * b[0][q])
						w := fma(a[1][p], b[0][q], fma(a[0][p], b[1][q], fma(a[0][p], b[0][q], -v)))
						v, w = fast2Sum(v, w)
						h, l = addPairs(h, l, v, w)
						exact.Add(exact, new(big.Float).SetPrec(300).Mul(
							big.NewFloat(float64(a[0][p])+float64(a[1][p])), big.NewFloat(float64(b[0][q])+float64(b[1][q]))))
					}
					if hi[i+j*ldc] != h || lo[i+j*ldc] != l {
						t.Fatalf("%v %v: c[%d,%d] = %g + %g, want %g + %g", level, shape, i, j, hi[i+j*ldc], lo[i+j*ldc], h, l)
					}
					want, _ := exact.Float64()
					if d := float64(h) + float64(l) - want; math.Abs(d) > 1e-12*math.Sqrt(float64(length+1)) {
						t.Fatalf("%v: c[%d,%d] = %g + %g, exactly %g", shape, i, j, h, l, want)
					}
				}
			}
		}
		restore()
	}
}

// BenchmarkPairs measures products of matrices of pairs.
func BenchmarkPairs(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	k := BestPairs()
	const n = 512
	x := pack(b, k.MR, n, n, randomVectors(rng, n*n), n, 1)
	y := pack(b, k.NR, n, n, randomVectors(rng, n*n), n, 1)
	hi, lo := make([]float32, n*n), make([]float32, n*n)
	for b.Loop() {
		if err := k.Mul(b.Context(), 1, hi, lo, n, Pairs{x, x}, Pairs{y, y}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*n*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gmul-add/s")
}
