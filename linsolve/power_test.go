package linsolve

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// matrixOf returns an n x n matrix by rows.
func matrixOf(n int, x ...float64) *halfulp.Matrix {
	return halfulp.NewMatrixFloat64RowMajor(n, n, n, x)
}

// powFamilies returns matrices whose powers have zeros, ties, small entries and numbers beyond
// formats.
var powFamilies = map[string]func(r *rand.Rand) *halfulp.Matrix{
	"permutation": func(r *rand.Rand) *halfulp.Matrix {
		n := 1 + r.IntN(7)
		a := halfulp.NewMatrix(halfulp.Float64, n, n)
		for i, j := range r.Perm(n) {
			a.SetFloat64(i, j, 1)
		}
		return a
	},
	"signed permutation by powers of two": func(r *rand.Rand) *halfulp.Matrix {
		n := 1 + r.IntN(6)
		a := halfulp.NewMatrix(halfulp.Float64, n, n)
		for i, j := range r.Perm(n) {
			a.SetFloat64(i, j, math.Ldexp(float64(1-2*r.IntN(2)), r.IntN(90)-45))
		}
		return a
	},
	"strictly triangular": func(r *rand.Rand) *halfulp.Matrix {
		n := 2 + r.IntN(6)
		a := halfulp.NewMatrix(halfulp.Float64, n, n)
		for i := range n {
			for j := i + 1; j < n; j++ {
				a.SetFloat64(i, j, float64(r.IntN(7)-3))
			}
		}
		return a
	},
	"triangular": func(r *rand.Rand) *halfulp.Matrix {
		n := 1 + r.IntN(5)
		a := halfulp.NewMatrix(halfulp.Float64, n, n)
		for i := range n {
			for j := i; j < n; j++ {
				a.SetFloat64(i, j, float64(r.IntN(9)-2)/4)
			}
		}
		return a
	},
	"nilpotent by cancellation": func(r *rand.Rand) *halfulp.Matrix {
		x := float64(1 + r.IntN(1<<30))
		return matrixOf(2, x, x, -x, -x)
	},
	"rotation by an eighth": func(*rand.Rand) *halfulp.Matrix { return matrixOf(2, 1, 1, -1, 1) },
	"rotation by a twelfth, with an invariant plane": func(*rand.Rand) *halfulp.Matrix {
		return matrixOf(3, 0, -1, 1, 1, 1, 3, 0, 0, 1)
	},
	"walks that cancel": func(r *rand.Rand) *halfulp.Matrix {
		x := float64(3 + r.IntN(9))
		y := float64(3 + r.IntN(9))
		return matrixOf(4, x, 0, 0, 0, 1, y, y, 0, 1, y, y, 0, 0, 7, -7, 5)
	},
	"idempotent": func(*rand.Rand) *halfulp.Matrix { return matrixOf(3, 2, -2, -4, -1, 3, 4, 1, -2, -3) },
	"idempotent with a tie": func(*rand.Rand) *halfulp.Matrix {
		x := halfulp.NewMatrix(halfulp.MP(130), 2, 2) // [p, 1; p (1 - p), 1 - p]
		tie := new(big.Float).SetPrec(130).Add(power2(1, 0), power2(1, -24))
		other := new(big.Float).SetPrec(130).Neg(power2(1, -24))
		x.SetBig(0, 0, tie)
		x.SetBig(0, 1, power2(1, 0))
		x.SetBig(1, 0, new(big.Float).SetPrec(130).Mul(tie, other))
		x.SetBig(1, 1, other)
		return x
	},
	"decay": func(r *rand.Rand) *halfulp.Matrix {
		n := 2 + r.IntN(3)
		a := halfulp.NewMatrix(halfulp.Float64, n, n)
		for i := range n {
			for j := range n {
				if i == j || r.IntN(2) == 0 {
					a.SetFloat64(i, j, math.Ldexp(1+r.Float64(), -r.IntN(80)))
				}
			}
		}
		return a
	},
	"near overflow": func(r *rand.Rand) *halfulp.Matrix {
		x := math.Ldexp(1+r.Float64(), 1020/(1+r.IntN(9)))
		return matrixOf(2, x, -1/x, 1, -x)
	},
	"near underflow": func(r *rand.Rand) *halfulp.Matrix {
		x := math.Ldexp(1+r.Float64(), -1070/(1+r.IntN(9)))
		return matrixOf(2, x, -x, 0, -x)
	},
	"integers": func(r *rand.Rand) *halfulp.Matrix { n := r.IntN(5); return lintest.Integers(r, n, n, 3) },
	"spread": func(r *rand.Rand) *halfulp.Matrix {
		return gallery.Random(halfulp.MP(70), 2, 2, 100, r.Uint64())
	},
}

// TestPowFamilies compares with powers in rationals.
func TestPowFamilies(t *testing.T) {
	for name, family := range powFamilies {
		t.Run(name, func(t *testing.T) {
			r := testseed.Rand(t, 31, 110)
			for _, f := range append([]halfulp.Format{halfulp.MP(2), halfulp.MP(3), halfulp.MP(5)}, lintest.Formats...) {
				for range testlength.Of(1, 1, 60) {
					a, e := family(r), r.IntN(30)
					n := a.Rows()
					var stats halfulp.Stats
					x, err := Pow(a, e, f, &halfulp.Options{Stats: &stats})
					if err != nil {
						t.Fatalf("%v, e = %d: %v: %v", f, e, lintest.Of(a), err)
					}
					want, inf := lintest.Of(a).Pow(e), int64(0)
					for i := range n {
						for j := range n {
							z := lintest.Nearest(f, want[i][j])
							if z.IsInf(0) {
								inf++
							}
							if !x.At(i, j).Same(z) {
								t.Fatalf("%v, e = %d, %v: entry %d, %d is %s, want %s (%+v)", f, e, lintest.Of(a), i, j, x.At(i, j).Hex(), z.Hex(), stats)
							}
						}
					}
					if stats.Overflow != inf {
						t.Fatalf("%v, e = %d, %v: %d entries overflowed, want %d", f, e, lintest.Of(a), stats.Overflow, inf)
					}
				}
			}
		})
	}
}

// Large powers, whose entries are known without matrices.
func TestPowLarge(t *testing.T) {
	power := func(x float64, e int) *big.Float { // to 300 bits and more, for x of a few bits
		z, base := big.NewFloat(1).SetPrec(400), big.NewFloat(x).SetPrec(400)
		for k := e; k > 0; k >>= 1 {
			if k&1 != 0 {
				z.Mul(z, base)
			}
			base.Mul(base, base)
		}
		return z
	}
	fraction := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(400).Quo(x, y) }
	times := func(x *big.Float, y float64) *big.Float {
		return new(big.Float).SetPrec(400).Mul(x, big.NewFloat(y))
	}
	zero, one := new(big.Float), big.NewFloat(1)
	const mean, tiny = 0.9, 0.1
	shift := halfulp.NewMatrix(halfulp.Float64, 7, 7)
	moved := make([]*big.Float, 49)
	for i := range 7 {
		shift.SetFloat64(i, (i+1)%7, 1)
		for j := range 7 {
			if moved[7*i+j] = zero; j == (i+349526)%7 {
				moved[7*i+j] = one
			}
		}
	}
	limit := fraction(big.NewFloat(tiny), new(big.Float).SetPrec(60).Sub(one, big.NewFloat(mean)))
	million := power(3, 1_000_000)
	for _, c := range []struct {
		name string
		a    *halfulp.Matrix
		e    int
		want []*big.Float
	}{
		{"a permutation", shift, 349526, moved},
		{"a chain that is absorbed", matrixOf(2, mean, tiny, 0, 1), 20_000, []*big.Float{power(mean, 20_000), limit, zero, one}},
		{"a chain that is absorbed, much later", matrixOf(2, mean, tiny, 0, 1), 1_000_000_007, []*big.Float{power(mean, 1_000_000_007), limit, zero, one}},
		{"a Jordan block", matrixOf(2, 3, 1, 0, 3), 1_000_000, []*big.Float{million, times(fraction(million, big.NewFloat(3)), 1e6), zero, million}},
		{"a rotation by an eighth", matrixOf(2, 1, 1, -1, 1), 4_000_002, []*big.Float{zero, power2(1, 2_000_001), power2(-1, 2_000_001), zero}},
		{"walks that cancel", matrixOf(4, 3, 0, 0, 0, 1, 2, 2, 0, 1, 2, 2, 0, 0, 7, -7, 5), 100_000, []*big.Float{
			power(3, 100_000), zero, zero, zero,
			new(big.Float).Sub(power(4, 100_000), power(3, 100_000)), power2(1, 199_999), power2(1, 199_999), zero,
			new(big.Float).Sub(power(4, 100_000), power(3, 100_000)), power2(1, 199_999), power2(1, 199_999), zero,
			zero, fraction(times(power(5, 100_000), 7), big.NewFloat(5)), fraction(times(power(5, 100_000), -7), big.NewFloat(5)), power(5, 100_000),
		}},
		{"nilpotent by cancellation", matrixOf(2, 1, 1, -1, -1), math.MaxInt32, []*big.Float{zero, zero, zero, zero}},
	} {
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.QD, halfulp.MP(11), halfulp.MP(200)} {
			n := c.a.Rows()
			var stats halfulp.Stats
			x, err := Pow(c.a, c.e, f, &halfulp.Options{Stats: &stats})
			if err != nil || stats.Precision > 4096 {
				t.Fatalf("%s, %v: %v (%+v)", c.name, f, err, stats)
			}
			for i, want := range c.want {
				if z := halfulp.NewScalar(f, want); !x.At(i/n, i%n).Same(z) {
					t.Errorf("%s, %v: entry %d, %d is %v, want %v", c.name, f, i/n, i%n, x.At(i/n, i%n), z)
				}
			}
		}
	}
}

// A bidiagonal matrix, whose powers are products of binomial coefficients and powers.
func TestPowBidiagonal(t *testing.T) {
	const n, e = 30, 1000
	a := halfulp.NewMatrix(halfulp.Float64, n, n)
	for i := range n {
		a.SetFloat64(i, i, 0.75)
		if i+1 < n {
			a.SetFloat64(i, i+1, 5)
		}
	}
	var stats halfulp.Stats
	x, err := Pow(a, e, halfulp.TD, &halfulp.Options{Stats: &stats})
	if err != nil || stats.Precision > 300 {
		t.Fatal(err, stats)
	}
	for i := range n {
		for j := range n {
			want := new(big.Rat)
			if d := int64(j - i); d >= 0 {
				v := new(big.Int).Binomial(e, d)
				v.Mul(v, new(big.Int).Exp(big.NewInt(5), big.NewInt(d), nil))
				v.Mul(v, new(big.Int).Exp(big.NewInt(3), big.NewInt(e-d), nil))
				want.SetFrac(v, new(big.Int).Lsh(big.NewInt(1), uint(2*(e-d))))
			}
			if z := lintest.Nearest(halfulp.TD, want); !x.At(i, j).Same(z) {
				t.Fatalf("entry %d, %d is %s, want %s", i, j, x.At(i, j).Hex(), z.Hex())
			}
		}
	}
}

// Entries that lie halfway between two numbers of a low format, and need many bits to be computed
// exactly.
func TestPowTies(t *testing.T) {
	// Entry (4, 0) is 5 plus the remainder after walks of weights 1 and -1, through numbers of many
	// bits, cancel.
	a := matrixOf(5,
		1, 0, 0, 0, 0,
		1, 3, 3, 0, 0,
		1, 3, 3, 0, 0,
		0, 7, -7, 1, 0,
		5, 1, -1, 0, 0)
	for _, e := range []int{3, 1000, 123_457} {
		var stats halfulp.Stats
		x, err := Pow(a, e, halfulp.MP(2), &halfulp.Options{Stats: &stats})
		if err != nil || x.Float64(4, 0) != 4 || stats.Ties == 0 && e > 1000 {
			t.Errorf("e = %d: %v, %v, want 4 (%+v)", e, x.At(4, 0), err, stats)
		}
	}
	// 5 (1 - 2^-e) lies below the middle between 4 and 6.
	for _, e := range []int{60, 5000} {
		x, err := Pow(matrixOf(2, 0.5, 2.5, 0, 1), e, halfulp.MP(2), nil)
		if err != nil || x.Float64(0, 1) != 4 {
			t.Errorf("e = %d: %v, %v, want 4 below 5", e, x.At(0, 1), err)
		}
		if err := lintest.Into(x)(Pow(matrixOf(2, 0.5, -2.5, 0, 1), e, x.NumberFormat(), nil)); err != nil || x.Float64(0, 1) != -4 {
			t.Errorf("e = %d: %v, %v, want -4 above -5", e, x.At(0, 1), err)
		}
		if err := lintest.Into(x)(Pow(matrixOf(2, 0.5, 3.5, 0, 1), e, x.NumberFormat(), nil)); err != nil || x.Float64(0, 1) != 6 {
			t.Errorf("e = %d: %v, %v, want 6 below 7", e, x.At(0, 1), err)
		}
	}
}

// If no proof is within reach, Pow must return an error and no number: 7 (1 - 2^-e) is not 7.
func TestPowUndecided(t *testing.T) {
	x := halfulp.NewMatrix(halfulp.MP(2), 2, 2)
	x.SetFloat64(0, 0, 9)
	var st halfulp.Stats
	err := lintest.Into(x)(Pow(matrixOf(2, 0.5, 3.5, 0, 1), 1<<24, x.NumberFormat(), &halfulp.Options{Stats: &st}))
	if !errors.Is(err, halfulp.ErrMemory) || x.Float64(0, 0) != 8 {
		t.Errorf("%v, %v, %v, %+v", err, x.At(0, 0), x.At(0, 1), st)
	}
}
