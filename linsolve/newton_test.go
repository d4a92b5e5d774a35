package linsolve

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// checkInverse inverts a and compares with the inverse in rationals.
func checkInverse(t *testing.T, name string, a *halfulp.Matrix, f halfulp.Format) halfulp.Stats {
	t.Helper()
	n := a.Rows()
	var stats halfulp.Stats
	x, err := Inverse(a, f, &halfulp.Options{Stats: &stats})
	want := lintest.Of(a).Solve(lintest.Identity(n))
	if want == nil {
		if err == nil {
			t.Fatalf("%s: no error for a singular matrix", name)
		}
		return stats
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i := range n {
		for j := range n {
			if z := lintest.Nearest(f, want[i][j]); !x.At(i, j).Same(z) {
				t.Fatalf("%s: entry %d, %d is %s, want %s (%+v)", name, i, j, x.At(i, j).Hex(), z.Hex(), stats)
			}
		}
	}
	return stats
}

// integerSteps bounds the steps of an inverse of integers. There are 3 steps of all columns
// together. Zeros may leave the last few columns to be solved one after the other, up to a guess
// that a residual of 0 then proves. A step gains the bits of float64 minus the bits of the
// condition number.
func integerSteps(t *testing.T, f halfulp.Format, stats halfulp.Stats) int {
	cond, err := strconv.ParseFloat(stats.Cond, 64)
	if err != nil {
		t.Fatal(err)
	}
	gain := scale.SeedBits - 5 - math.Log2(cond)
	return 3 + call.FewColumns*int(math.Ceil(float64(f.Bits()+ziv.Suspicion+4)/gain))
}

func TestNewton(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for i, f := range lintest.Formats {
		if testlength.Slow() && i%2 == 1 {
			continue
		}
		wide := halfulp.MP(uint(f.Bits()))
		for range testlength.Of(1, 1, 20) {
			n := 9 + r.IntN(testlength.Of(5, 5, 20))
			k := 9 + r.IntN(8)
			g := lintest.Formats[r.IntN(len(lintest.Formats))]
			name := fmt.Sprintf("seed %d, %v of %v, n = %d, ", seed, f, g, n)
			checkInverse(t, name+"random", gallery.Random(g, n, n, 0, r.Uint64()), f)
			checkInverse(t, name+"spread", gallery.Random(g, n, n, 40, r.Uint64()), f)
			checkInverse(t, name+"graded", lintest.ScaledRandom(r, halfulp.MP(60), n, 500), wide)
			checkInverse(t, name+"integers", lintest.Integers(r, n, n, 2), f)
			if stats := checkInverse(t, name+"unimodular", lintest.Unimodular(r, n), f); stats.Primes != 0 || stats.Steps > integerSteps(t, f, stats) {
				t.Errorf("%s: %+v for an inverse of integers", name, stats)
			}
			checkInverse(t, name+"triangular", lintest.Triangular(r, n), f)
			check(t, name+"columns", gallery.Random(g, n, n, 0, r.Uint64()), gallery.Random(g, n, k, 3, r.Uint64()), f)
			check(t, name+"graded columns", lintest.ScaledRandom(r, halfulp.MP(100), n, 500), gallery.Random(halfulp.MP(70), n, k, 300, r.Uint64()), wide)
			check(t, name+"integer columns", lintest.Unimodular(r, n), lintest.Integers(r, n, k, 9), f)
			check(t, name+"zero columns", lintest.Integers(r, n, n, 5), lintest.Integers(r, n, k, 0), f)
		}
		checkInverse(t, "Hilbert", gallery.Hilbert(halfulp.MP(200), 12), f)
	}
}

// TestNewtonExact inverts matrices whose seeds are already their inverses, or are singular.
func TestNewtonExact(t *testing.T) {
	n := 12
	powers, ones := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.Float64, n, n)
	for i := range n {
		powers.SetFloat64(i, (i+5)%n, math.Ldexp(1, 20*i))
		for j := range n {
			ones.SetFloat64(i, j, 1)
		}
	}
	for _, f := range lintest.Formats {
		checkInverse(t, "identity", halfulp.Identity(halfulp.Float64, n), f)
		if f.Bits() > 24 {
			checkInverse(t, "powers", powers, f)
		}
		checkInverse(t, "singular", ones, f)
		check(t, "powers", powers, gallery.Random(halfulp.Float64, n, 10, 0, 3), halfulp.MP(uint(f.Bits())))
	}
}

// TestDetTriangles computes determinants in so many bits that the triangles are improved; one
// column of a triangle is much larger than the others.
func TestDetTriangles(t *testing.T) {
	for _, bits := range []uint{300, 900} {
		a := gallery.Random(halfulp.MP(100), 12, 12, 0, 4)
		checkDet(t, fmt.Sprintf("%d bits", bits), a, halfulp.MP(bits))
		for i := range 12 {
			x := a.Big(i, 3)
			a.SetBig(i, 3, x.SetMantExp(x, 300))
		}
		checkDet(t, fmt.Sprintf("%d bits, scaled", bits), a, halfulp.MP(bits))
	}
}

// TestNewtonNearSingular inverts matrices one unit in the last place from singular ones, with
// condition numbers up to 2^400.
func TestNewtonNearSingular(t *testing.T) {
	r := testseed.Rand(t, 8, 8)
	for _, p := range []uint{53, 106, 400} {
		n := 10
		a := lintest.Integers(r, n, n, 9).Convert(halfulp.MP(p))
		for j := range n { // the last row is the sum of the others
			sum := new(big.Float)
			for i := range n - 1 {
				sum.Add(sum, a.Big(i, j))
			}
			a.SetBig(n-1, j, sum)
		}
		x := a.Big(n-1, 3)
		ulp := new(big.Float).SetMantExp(big.NewFloat(1), x.MantExp(nil)-int(p))
		a.SetBig(n-1, 3, x.SetPrec(1000).Add(x, ulp))
		for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(106), halfulp.MP(424)} {
			checkInverse(t, fmt.Sprintf("%d bits", p), a, f)
			check(t, fmt.Sprintf("%d bits", p), a, gallery.Random(halfulp.Float64, n, 12, 0, 1), f)
		}
	}
}

// TestNewtonExtremes inverts matrices whose inverses lie at the ends of the range of exponents.
func TestNewtonExtremes(t *testing.T) {
	a := halfulp.NewMatrix(halfulp.MP(300), 12, 12)
	for i, e := range []int{1074, 1075, 1076, 1073, 1022, -1023, -1024, -1022, 149, 150, -128, 0} {
		x := new(big.Float).SetMantExp(big.NewFloat(math.Pi), e)
		a.SetBig(i, i, x)
		a.SetBig(i, (i+1)%12, x.SetMantExp(x, -70))
	}
	for _, f := range lintest.Formats {
		checkInverse(t, "extremes", a, f)
	}
}

// nearTies returns an identity matrix with an entry that is nearly a tie of Float32. The error of
// its float64 inverse is some 2^-bits, far below the unit roundoff of float64.
func nearTies(n, bits int) *halfulp.Matrix {
	a := halfulp.NewMatrix(halfulp.MP(400), n, n)
	for i := range n {
		a.SetFloat64(i, i, 1)
	}
	v := new(big.Float).SetPrec(400).SetFloat64(1 + 0x1p-24)
	a.SetBig(0, n-1, v.Add(v, new(big.Float).SetMantExp(big.NewFloat(1), -bits)))
	return a
}

// TestInverseErrors requires error bounds that cover the truncation of sums, and numbers of one
// more bit than the format beside the exact ones, for a float64 inverse that is better than
// expected. The bound of the residuals of suspected ties depends on this.
func TestInverseErrors(t *testing.T) {
	const n = 12
	for bits := 60; bits < 300; bits += 7 {
		a := nearTies(n, bits)
		s, _, err := begin("Inverse", nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := solve.ApproximateInverse(s, a.View())
		if err != nil {
			t.Fatal(err)
		}
		want := 24 + ziv.Guard(n)
		y, err := newton.New(s, a.View(), p, math.MaxInt32).Inverse(want)
		if err != nil {
			t.Fatal(err)
		}
		for j, top := range call.ColumnTops(y.X, -1<<30) {
			if least := top - int64(want) - 10; y.Err[j] < least {
				t.Errorf("%d bits: column %d of %d words has errors below 2^%d, numbers 2^%d", bits, j, y.Words, y.Err[j], top)
			}
		}
		checkInverse(t, fmt.Sprintf("%d bits", bits), a, halfulp.Float32)
	}
}

// TestFarApart inverts a matrix whose inverse has columns with entries far apart: products must
// decide them, not steps that gain some bits each.
func TestFarApart(t *testing.T) {
	const n = 40
	f := halfulp.MP(500)
	r := testseed.Rand(t, 1, 0)
	p := halfulp.NewMatrix(f, 4*n, n)
	for i := range 4 * n {
		for j := range n {
			x := math.Pow(float64(i+1)/(4*n), float64(j)/8) + float64(r.Float64()*0x1p-20)
			p.SetFloat64(i, j, math.Ldexp(x, -60*i/(4*n)))
		}
	}
	a, x := halfulp.NewMatrix(f, n, n), halfulp.NewMatrix(f, n, n)
	if err := halfulp.Gemm(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), p, p, halfulp.Float(0), a, nil); err != nil {
		t.Fatal(err)
	}
	var st halfulp.Stats
	err := lintest.Into(x)(Inverse(a, x.NumberFormat(), &halfulp.Options{Stats: &st}))
	if err != nil {
		t.Fatal(err)
	}
	if st.Steps > 16 { // blocks take 10 steps, refinement 20 and more
		t.Errorf("%d steps", st.Steps)
	}
	for _, j := range []int{0, n / 2, n - 1} {
		one, column := halfulp.NewMatrix(f, n, 1), halfulp.NewMatrix(f, n, 1)
		one.SetFloat64(j, 0, 1)
		if err := lintest.Into(column)(Solve(a, one, column.NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
		if !column.Same(x.Slice(0, n, j, j+1)) {
			t.Errorf("column %d is not the solution", j)
		}
	}
}
