package ozaki

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testseed"
)

// paperSlices is algorithm 2 of the paper for one row of A, or column of B: all slices, and all
// remainders in float32. Each step is one operation of math/big, rounded to the
// format that the paper names; exponents are not bounded.
func paperSlices(x []float64, slices int) (q, r [][]float32) {
	float := func(prec uint, v *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Set(v) }
	rest := make([]*big.Float, len(x))
	for h, v := range x {
		rest[h] = new(big.Float).SetPrec(53).SetFloat64(v)
	}
	beta := int(math.Ceil((24 + math.Log2(float64(len(x)))) / 2))
	for range slices {
		mu := new(big.Float)
		for _, v := range rest {
			if w := new(big.Float).Abs(v); w.Cmp(mu) > 0 {
				mu = w
			}
		}
		sigma := new(big.Float).SetPrec(24)
		if mu.Sign() > 0 {
			exp := mu.MantExp(nil) // mu < 2^exp
			if mu.Cmp(new(big.Float).SetMantExp(big.NewFloat(1), exp-1)) == 0 {
				exp--
			}
			sigma.SetMantExp(big.NewFloat(1), exp+beta)
		}
		one, all := make([]float32, len(x)), make([]float32, len(x))
		for h, v := range rest {
			single := float(24, v)
			up := new(big.Float).SetPrec(24).Add(single, sigma)
			down := new(big.Float).SetPrec(24).Sub(up, sigma)
			one[h], _ = down.Float32()
			all[h], _ = single.Float32()
			rest[h] = new(big.Float).SetPrec(53).Sub(v, float(53, down))
		}
		q, r = append(q, one), append(r, all)
	}
	return q, r
}

// paperProduct is C = A B by the paper's algorithm, float32 products by fused multiply-adds.
func paperProduct(a, b *halfulp.Matrix, slices int) *halfulp.Matrix {
	m, k, n := a.Rows(), a.Cols(), b.Cols()
	dot := func(x, y []float32) float64 {
		sum := float32(0)
		for h := range x {
			sum = fma32(x[h], y[h], sum)
		}
		return float64(sum)
	}
	split := func(vectors int, at func(v, h int) float64) (q, r [][][]float32) {
		for v := range vectors {
			x := make([]float64, k)
			for h := range x {
				x[h] = at(v, h)
			}
			s, t := paperSlices(x, slices)
			q, r = append(q, s), append(r, t)
		}
		return q, r
	}
	qa, ra := split(m, func(i, h int) float64 { return a.Float64(i, h) })
	qb, rb := split(n, func(j, h int) float64 { return b.Float64(h, j) })
	c := halfulp.NewMatrix(halfulp.Float64, m, n)
	for i := range m {
		for j := range n {
			sum := 0.0
			for g := 2; g <= slices+1; g++ {
				for s := 1; s < g; s++ {
					x, y := qa[i][s-1], qb[j][g-s-1]
					if s == slices {
						x = ra[i][s-1]
					}
					if g == slices+1 {
						y = rb[j][g-s-1]
					}
					sum += dot(x, y)
				}
			}
			c.SetFloat64(i, j, sum)
		}
	}
	return c
}

// literalFamilies are matrices that Literal takes.
var literalFamilies = []family{
	families[0],
	{"wide", with(3, func(_ *rand.Rand, _, _ int, x float64) float64 { return x })},
	{"zero rows and columns", families[1].draw},
	{"powers of two", with(0, func(rng *rand.Rand, _, _ int, _ float64) float64 {
		return math.Ldexp(float64(1-2*rng.IntN(2)), rng.IntN(20)-10)
	})},
	// Ties of single(A), and next to them.
	{"halves of float32", with(0, func(rng *rand.Rand, _, _ int, _ float64) float64 {
		x := math.Float64frombits(math.Float64bits(1+rng.Float64())&^(1<<29-1) | 1<<28)
		return math.Float64frombits(math.Float64bits(x) + uint64(rng.IntN(3)) - 1)
	})},
	// Ties of q_1 for 7 to 12 bits.
	{"halves of a slice", with(0, func(rng *rand.Rand, _, _ int, _ float64) float64 {
		x := math.Ldexp(float64(2*rng.IntN(1<<8)+1), -rng.IntN(4)-8)
		return math.Float64frombits(math.Float64bits(x)+uint64(rng.IntN(3))-1) * float64(1-2*rng.IntN(2))
	})},
	{"small beside large", with(1, func(rng *rand.Rand, i, j int, x float64) float64 {
		if i%3 == j%3 {
			return x
		}
		return x * []float64{1e-9, 1e-30, 1e-45, 1e-300}[rng.IntN(4)]
	})},
	{"integers", with(0, func(rng *rand.Rand, _, _ int, _ float64) float64 { return float64(rng.IntN(129) - 64) })},
}

// TestLiteral compares products with the paper's algorithm, bit for bit, and their errors with the
// bounds.
func TestLiteral(t *testing.T) {
	rng := testseed.Rand(t, 111, 112)
	for _, f := range literalFamilies {
		for n, shape := range [][3]int{{1, 1, 1}, {3, 5, 2}, {6, 33, 4}, {4, 530, 3}, {18, 64, 5}} {
			for slices := 1; slices <= 8; slices++ {
				if (n+slices)%2 == 1 && n > 2 {
					continue
				}
				a, b := f.draw(rng, shape[0], shape[1]), f.draw(rng, shape[1], shape[2])
				c := testMatrix(rng, shape[0], shape[2], 1)
				name := fmt.Sprintf("%s %v K=%d", f.name, shape, slices)
				want, got := paperProduct(a, b, slices), c.Clone()
				opt := Options{Slices: slices, Split: Literal}
				stats := mustGemm(t, 'N', 'N', 1, a, b, 0, got, &opt)
				wantBits(t, name, got, want)
				if all := slices * (slices + 1) / 2; int(stats.Products)+stats.Skipped != all || stats.Method != "ozaki-literal" || stats.Bits != sliceWidth(shape[1]) {
					t.Errorf("%s: %+v", name, stats)
				}
				checkBound(t, name, 1, a, b, 0, c, opt)
				opt.MemoryLimit = 1
				checkBound(t, name, -0.7, a, b, 1.3, c, opt)
			}
		}
	}
}

// TestLiteralExact checks that numbers of two slices are multiplied without error by three, though
// the paper's slices are signed.
func TestLiteralExact(t *testing.T) {
	rng := testseed.Rand(t, 113, 114)
	for _, k := range []int{3, 64, 500} {
		most := 1 << (2*sliceWidth(k) - 2)
		draw := with(0, func(rng *rand.Rand, _, _ int, _ float64) float64 { return float64(rng.IntN(2*most+1) - most) })
		a, b, c := draw(rng, 7, k), draw(rng, k, 5), halfulp.NewMatrix(halfulp.Float64, 7, 5)
		if worst := checkBound(t, fmt.Sprint(k), 1, a, b, 0, c, Options{Slices: 6, Split: Literal}); worst != 0 {
			t.Errorf("k = %d: an error of %g of its bound", k, worst)
		}
	}
}

// TestLiteralRange checks that numbers at the ends of the range of Literal keep their bounds, and
// that numbers beyond it are errors, on the CPU and on GPUs.
func TestLiteralRange(t *testing.T) {
	eachDevice(t, func(t *testing.T, _ bool) {
		rng := testseed.Rand(t, 115, 116)
		for _, k := range []int{1, 65} {
			for _, slices := range []int{1, 3, 40} {
				width, sum := sliceWidth(k), int(math.Ceil(math.Log2(float64(k))))
				least, most := min(width*(slices-1), 53)-102, 127-(significand-width)
				for _, test := range []struct {
					x, y int // exponents of the largest numbers
					ok   bool
				}{
					{0, 0, true},
					{least, max(sum, 0), true}, {least - 1, 40, false}, {sum, least, true}, {40, least - 1, false},
					{most, 126 - sum - most, true}, {most + 1, -20, false}, {126 - sum - most, most, true}, {-20, most + 1, false},
					{60, 66 - sum, true}, {60, 67 - sum, false},
					{-30, least + sum + 30, true}, {-30, least + sum + 29, false},
				} {
					of := func(rows, cols, exp int) *halfulp.Matrix {
						m := halfulp.NewMatrix(halfulp.Float64, rows, cols)
						for i := range rows {
							for j := range cols {
								m.SetFloat64(i, j, math.Ldexp((1-0.99*rng.Float64())*float64(1-2*rng.IntN(2)), exp))
							}
						}
						return m
					}
					a, b := of(3, k, test.x), of(k, 2, test.y)
					for h := range k { // one row and column at the end of the range
						a.SetFloat64(1, h, math.Copysign(math.Ldexp(1, test.x), a.Float64(1, h)))
						b.SetFloat64(h, 1, math.Copysign(math.Ldexp(1, test.y), b.Float64(h, 1)))
						a.SetFloat64(2, h, 0)
						// Other rows and columns may be smaller.
						if test.x <= least || test.x+test.y <= least+sum {
							a.SetFloat64(0, h, 0)
						}
						if test.y <= least || test.x+test.y <= least+sum {
							b.SetFloat64(h, 0, 0)
						}
					}
					name := fmt.Sprintf("k = %d, K = %d, 2^%d 2^%d", k, slices, test.x, test.y)
					for _, device := range []halfulp.Device{"cpu", "cuda:0"} {
						c := halfulp.NewMatrix(halfulp.Float64, 3, 2)
						opt := Options{Slices: slices, Split: Literal, SGEMM: "own", Options: halfulp.Options{Device: device}}
						if err := Gemm('N', 'N', 1, a, b, 0, c, &opt); test.ok != (err == nil) || err != nil && !errors.Is(err, ErrFloat32Range) {
							t.Errorf("%s on %s: error %v", name, device, err)
						} else if err == nil && device == "cpu" {
							checkBound(t, name, 1, a, b, 0, c, opt)
						}
					}
				}
			}
		}
	})
}

// TestLiteralFlushed checks that bounds hold where a device takes subnormal numbers for zeros: the
// product of 2^-45 and the second slice of 2^-45 + 2^-83 is one.
func TestLiteralFlushed(t *testing.T) {
	a, b := halfulp.NewMatrix(halfulp.Float64, 1, 1), halfulp.NewMatrix(halfulp.Float64, 1, 1)
	a.SetFloat64(0, 0, 0x1p-45)
	b.SetFloat64(0, 0, 0x1p-45+0x1p-83)
	c, bound := a.Clone(), a.Clone()
	mustGemm(t, 'N', 'N', 1, a, b, 0, c, &Options{Slices: 2, Split: Literal, Bound: bound})
	if got := c.Float64(0, 0); got != 0x1p-90+0x1p-128 {
		t.Errorf("got %g", got)
	}
	if e := bound.Float64(0, 0); e < 0x1p-128 || e > 0x1p-115 {
		t.Errorf("bound %g, and %g may be lost", e, 0x1p-128)
	}
}

// TestLiteralOptions checks the errors of Literal, and the products that do not use slices.
func TestLiteralOptions(t *testing.T) {
	a, c := halfulp.NewMatrix(halfulp.Float64, 2, 2), halfulp.NewMatrix(halfulp.Float64, 2, 2)
	for _, o := range []Options{
		{Split: Literal}, {Split: Literal, Tolerance: 1e-3}, {Split: Literal, Slices: 2, Block: 16}, {Split: Literal + 1, Slices: 2}, {Split: -1, Slices: 2},
	} {
		if err := Gemm('N', 'N', 1, a, a, 0, c, &o); !errors.Is(err, halfulp.ErrOptions) {
			t.Errorf("%+v: error %v", o, err)
		}
	}
	if err := (&Options{Split: Literal + 1}).Validate(); !errors.Is(err, halfulp.ErrOptions) {
		t.Errorf("Validate: error %v", err)
	}
	a.SetFloat64(0, 0, 1e300)
	a.SetFloat64(1, 1, math.Inf(1))
	o := Options{Split: Literal, Slices: 2}
	if err := Gemm('N', 'N', 1, a, c.Clone(), 0, c, &o); !errors.Is(err, ErrFloat32Range) {
		t.Errorf("1e300: error %v", err)
	}
	if err := Gemm('N', 'N', 0, a, a, 1, c, &o); err != nil {
		t.Errorf("alpha = 0: error %v", err)
	}
	a.SetFloat64(0, 0, 2)
	b := halfulp.NewMatrixFloat64(2, 2, 2, []float64{1, 3, 0, -1})
	mustGemm(t, 'N', 'N', 1, a, b, 0, c, &o)
	for at, want := range map[[2]int]float64{{0, 0}: 2, {1, 0}: math.Inf(1), {0, 1}: 0, {1, 1}: math.Inf(-1)} {
		if got := c.Float64(at[0], at[1]); got != want {
			t.Errorf("c%v = %g, want %g", at, got, want)
		}
	}
	long := halfulp.NewMatrix(halfulp.Float64, 1, MaxBlock+1)
	if err := Gemm('N', 'T', 1, long, long, 0, halfulp.NewMatrix(halfulp.Float64, 1, 1), &o); !errors.Is(err, ErrFloat32Range) {
		t.Errorf("long rows: error %v", err)
	}
}

// TestLiteralReproducible checks that levels, threads, parts and transposes change no bit.
func TestLiteralReproducible(t *testing.T) {
	rng := testseed.Rand(t, 117, 118)
	a, b, c := testMatrix(rng, 45, 700, 1), testMatrix(rng, 700, 30, 1), testMatrix(rng, 45, 30, 1)
	want := c.Clone()
	mustGemm(t, 'N', 'N', 1.5, a, b, -0.5, want, &Options{Slices: 4, Split: Literal})
	for _, level := range isa.Levels() {
		restore := isa.Force(level)
		for _, how := range []halfulp.Options{{Threads: 1}, {Threads: 5}, {MemoryLimit: 1}, {MemoryLimit: 100000}} {
			got := c.Clone()
			mustGemm(t, 'T', 'C', 1.5, a.T().Clone(), b.T(), -0.5, got, &Options{Slices: 4, Split: Literal, Options: how})
			wantBits(t, fmt.Sprint(level, how), got, want)
		}
		restore()
	}
}

// TestDeviceLiteral checks that literal products and their bounds have the CPU's bits on GPUs.
func TestDeviceLiteral(t *testing.T) {
	eachDevice(t, func(t *testing.T, real bool) {
		rng := testseed.Rand(t, 119, 120)
		shapes := [][3]int{{1, 1, 1}, {17, 33, 9}, {3, 530, 5}}
		if real {
			shapes = append(shapes, [3]int{130, 600, 67}, [3]int{64, 1030, 257}, [3]int{300, 3, 1}, [3]int{40, 9000, 50})
		}
		for _, f := range append(literalFamilies, families[7]) {
			for n, shape := range shapes {
				for _, slices := range []int{1, 3, 6, 9} {
					m, l, p := shape[0], shape[1], shape[2]
					a, b, c := f.draw(rng, m, l), f.draw(rng, l, p), f.draw(rng, m, p)
					if f.name == "specials" { // but for MaxFloat64
						for _, x := range []*halfulp.Matrix{a, b} {
							for i := range x.Rows() {
								for j := range x.Cols() {
									if math.Abs(x.Float64(i, j)) == math.MaxFloat64 {
										x.SetFloat64(i, j, math.Inf(1))
									}
								}
							}
						}
					}
					opt := Options{Slices: slices, Split: Literal}
					alpha, beta, tA := 1.0, 0.0, halfulp.NoTrans
					if n == 1 {
						alpha, beta, opt.MemoryLimit, a, tA = -0.7, 1.3, 1, a.T(), halfulp.Trans
					}
					compareDevice(t, fmt.Sprintf("%s %v K=%d", f.name, shape, slices), real, tA, halfulp.NoTrans, alpha, a, b, beta, c, opt)
				}
			}
		}
	})
}

// TestDeviceLiteralParts checks literal products in parts, and that nothing stays in a GPU's memory
// after an error.
func TestDeviceLiteralParts(t *testing.T) {
	eachDevice(t, func(t *testing.T, _ bool) {
		rng := testseed.Rand(t, 121, 122)
		a, b, c := testMatrix(rng, 300, 40, 1), testMatrix(rng, 40, 150, 1), testMatrix(rng, 300, 150, 1)
		compareDevice(t, "parts", false, halfulp.NoTrans, halfulp.NoTrans, 1, a, b, 1, c, Options{Slices: 4, Split: Literal, Options: halfulp.Options{MemoryLimit: 1}})
		dev, err := mem.Open(0)
		must(t, err)
		before := dev.Counters().InUse
		a.SetFloat64(3, 4, 1e200)
		if err := Gemm('N', 'N', 1, a, b, 0, c, gpu(Options{Slices: 4, Split: Literal})); !errors.Is(err, ErrFloat32Range) {
			t.Errorf("1e200: error %v", err)
		}
		if after := dev.Counters().InUse; after != before {
			t.Errorf("%d bytes in use before, %d after", before, after)
		}
	})
}
