package lintest

import (
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
)

// Family generates systems A X = B, where A is n x n and B is n x k.
type Family struct {
	Name string
	make func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix)
	most int // the largest n that does not take long, 0 for any
}

// Make generates a system, of an order less than n where order n would take long.
func (f Family) Make(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
	if f.most > 0 {
		n = min(n, f.most)
	}
	return f.make(r, n, k)
}

// from returns a matrix of entries x(i, j), in MP(bits), or in float64 if bits is 0.
func from(bits, rows, cols int, x func(i, j int) *big.Float) *halfulp.Matrix {
	f := halfulp.Float64
	if bits > 0 {
		f = halfulp.MP(uint(bits))
	}
	m := halfulp.NewMatrix(f, rows, cols)
	for j := range cols {
		for i := range rows {
			m.SetBig(i, j, x(i, j))
		}
	}
	return m
}

// Integers returns a matrix of random integers from -most to most.
func Integers(r *rand.Rand, rows, cols, most int) *halfulp.Matrix {
	return from(0, rows, cols, func(_, _ int) *big.Float { return big.NewFloat(float64(r.IntN(2*most+1) - most)) })
}

func float(x float64, e int) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(x), e) }

// Formats are formats of results, some of few bits and some of many.
var Formats = []halfulp.Format{halfulp.Float64, halfulp.Float32, halfulp.DD, halfulp.TD, halfulp.QD, halfulp.MP(24), halfulp.MP(106), halfulp.MP(424)}

// anyFormat draws a format.
func anyFormat(r *rand.Rand) halfulp.Format {
	all := []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.TD, halfulp.QD, halfulp.MP(2), halfulp.MP(24), halfulp.MP(106), halfulp.MP(424)}
	return all[r.IntN(len(all))]
}

// random returns matrices of random numbers in random formats.
func random(spread int) func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
	return func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		return gallery.Random(anyFormat(r), n, n, spread, r.Uint64()), gallery.Random(anyFormat(r), n, k, spread, r.Uint64())
	}
}

// Product returns A B in MP(bits), which has to hold it exactly.
func Product(bits int, a, b *halfulp.Matrix) *halfulp.Matrix {
	z := Of(a).Times(Of(b), b.Cols())
	return from(bits, a.Rows(), b.Cols(), func(i, j int) *big.Float { return new(big.Float).SetPrec(uint(bits)).SetRat(z[i][j]) })
}

// dependent makes the last row the sum of the others, and applies change to its last entry.
func dependent(a *halfulp.Matrix, change func(x *big.Float) *big.Float) *halfulp.Matrix {
	n := a.Rows()
	if n == 0 {
		return a
	}
	for j := range n {
		sum := new(big.Float).SetPrec(200)
		for i := range n - 1 {
			sum.Add(sum, a.Big(i, j))
		}
		if j == n-1 {
			sum = change(sum)
		}
		a.SetBig(n-1, j, sum)
	}
	return a
}

// Families are systems, each of them hard for one reason.
var Families = []Family{
	{"random", random(0), 0},
	{"spread 50", random(50), 0},
	{"spread 500", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		return gallery.Random(halfulp.Float64, n, n, 500, r.Uint64()), gallery.Random(halfulp.Float64, n, k, 500, r.Uint64())
	}, 0},
	{"graded", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		x := gallery.Random(halfulp.Float64, n, n, 0, r.Uint64())
		return from(0, n, n, func(i, j int) *big.Float {
			v := x.Big(i, j)
			return v.SetMantExp(v, -17*i+11*j)
		}), Integers(r, n, k, 9)
	}, 0},
	{"Hilbert", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		return gallery.Hilbert(anyFormat(r), n), Integers(r, n, k, 9)
	}, 0},
	{"Vandermonde", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		x := halfulp.NewVector(halfulp.Float64, n)
		for i := range n {
			x.SetFloat64(i, float64(r.IntN(17)-8)/4)
		}
		return gallery.Vandermonde(halfulp.Float64, x, n), Integers(r, n, k, 9)
	}, 0},
	{"Toeplitz", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		x := Integers(r, 2*n, 1, 3)
		return from(0, n, n, func(i, j int) *big.Float { return x.Big(n+i-j, 0) }), Integers(r, n, k, 3)
	}, 0},
	{"singular", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		return dependent(Integers(r, n, n, 1<<20), func(x *big.Float) *big.Float { return x }), Integers(r, n, k, 9)
	}, 0},
	{"an ulp from singular", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		return dependent(Integers(r, n, n, 1<<20), func(x *big.Float) *big.Float {
			v, _ := x.Float64()
			return big.NewFloat(math.Nextafter(v, float64(r.IntN(3)-1)*math.MaxFloat64))
		}), Integers(r, n, k, 9)
	}, 0},
	{"rank", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		m := r.IntN(n + 1)
		return Product(64, Integers(r, n, m, 5), Integers(r, m, n, 5)), Integers(r, n, k, 5)
	}, 0},
	{"signs", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) { return Integers(r, n, n, 1), Integers(r, n, k, 1) }, 0},
	{"small integers", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) { return Integers(r, n, n, 4), Integers(r, n, k, 9) }, 0},
	{"powers of two", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		p := r.Perm(n)
		return from(0, n, n, func(i, j int) *big.Float {
			if p[i] == j || r.IntN(4) == 0 {
				return float(float64(1-2*r.IntN(2)), r.IntN(5)-2)
			}
			return new(big.Float)
		}), Integers(r, n, k, 1)
	}, 0},
	{"integer solutions", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		a = Integers(r, n, n, 1<<10)
		return a, Product(128, a, Integers(r, n, k, 1<<30))
	}, 0},
	// Some components of the solutions lie halfway between two numbers of many formats, or next to
	// such a midpoint; others are quotients.
	{"ties", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		a = Integers(r, n, n, 9)
		p := []int{3, 25, 54, 107, 107, 108, 425}[r.IntN(7)]
		x := from(1200, n, k, func(_, _ int) *big.Float {
			v := new(big.Float).SetPrec(1200).Add(big.NewFloat(float64(1+r.IntN(2))), float(1, 1-p))
			if r.IntN(3) == 0 {
				v.Add(v, float(float64(r.IntN(3)-1), -700))
			}
			return v
		})
		b = Product(1300, a, x)
		if n < 2 {
			return a, b
		}
		// The last component becomes an irrational-looking one: its column is the unit vector of
		// the last row, three times.
		for i := range n {
			a.SetFloat64(i, n-1, 0)
		}
		a.SetFloat64(n-1, n-1, 3)
		top := a.Slice(0, n-1, 0, n-1)
		b.Slice(0, n-1, 0, k).CopyFrom(Product(1300, top, x.Slice(0, n-1, 0, k))) //nolint:errcheck // both on the host
		return a, b
	}, 0},
	{"unimodular", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		triangle := func(lower bool) *halfulp.Matrix {
			return from(0, n, n, func(i, j int) *big.Float {
				switch {
				case i == j:
					return big.NewFloat(1)
				case i > j == lower:
					return big.NewFloat(float64(r.IntN(9) - 4))
				}
				return new(big.Float)
			})
		}
		return Product(64, triangle(true), triangle(false)), Integers(r, n, k, 1<<20)
	}, 0},
	{"huge", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		return from(0, n, n, func(_, _ int) *big.Float { return float(1+float64(r.Float64()), 1000+r.IntN(23)) }),
			from(0, n, k, func(_, _ int) *big.Float { return float(1+float64(r.Float64()), -1000-r.IntN(20)) })
	}, 0},
	{"subnormal", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		return from(0, n, n, func(_, _ int) *big.Float { return float(float64(r.IntN(1<<20)-1<<19), -1074) }),
			from(0, n, k, func(_, _ int) *big.Float { return float(float64(r.IntN(1<<20)-1<<19), -1074+r.IntN(2)*1040) })
	}, 0},
	{"adversarial", Adversarial, 2},
	{"scaled rows and columns", func(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
		left, right := make([]int, n), make([]int, n)
		for i := range n {
			left[i], right[i] = r.IntN(1000)-500, r.IntN(1000)-500
		}
		return from(60, n, n, func(i, j int) *big.Float { return float(float64(r.Float64())-0.5, left[i]+right[j]) }), Integers(r, n, k, 9)
	}, 0},
}

// Entries for adversarial systems.
var adversarial = []float64{
	0, 0, 1, 1, -1, 2, 3, -3, 0.5, 1 + 0x1p-52, 1 - 0x1p-53, 1 + 0x1p-23, 1 - 0x1p-24, 0x1p53 - 1, 0x1p53, 0x1p-53, 0x1p27 + 1, -0x1p26,
	0x1p500, 0x1p-500, 0x1p-1074, -0x1p-1074, 0x1p-1022, math.MaxFloat64, -math.MaxFloat64, 0x1.fffffep127, 0x1p-149, 1.0 / 3, 0.1, 10, 7, -7,
}

// Adversarial returns a system of numbers that arithmetic easily loses.
func Adversarial(r *rand.Rand, n, k int) (a, b *halfulp.Matrix) {
	few := 1 + r.IntN(len(adversarial))
	first := r.IntN(len(adversarial))
	entry := func(_, _ int) *big.Float { return big.NewFloat(adversarial[(first+r.IntN(few))%len(adversarial)]) }
	return from(0, n, n, entry), from(0, n, k, entry)
}
