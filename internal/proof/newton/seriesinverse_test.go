package newton_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/linsolve"
)

// TestSeriesInverse compares inverses by a series, what they are off by, and the entries that they
// decide in both ways, with exact ones: for matrices of 30 to 300 bits, graded ones, and integers.
func TestSeriesInverse(t *testing.T) {
	draw := testseed.Of(t)
	r := rand.New(rand.NewPCG(draw, 0))
	found := map[string]int{}
	tried := 0
	enough := func() bool {
		all := found["entries"]
		return found["none"] <= tried/2 && found["known to 112 bits"] >= all/2 && min(found["decided"], found["decided again"]) >= all/2
	}
	for trial := range testlength.Until(testlength.Of(40, 60, 2000), enough) {
		tried++
		n := 2 + r.IntN(12)
		f := halfulp.MP(uint([]int{30, 53, 54, 106, 117, 300}[trial%6]))
		a := lintest.Ill(r, f, n, r.IntN(24))
		switch trial % 5 {
		case 1:
			lintest.Spread(r, a, 500)
		case 2:
			a = gallery.Random(halfulp.Float64, n, n, r.IntN(60), r.Uint64())
		case 3:
			a = lintest.Unimodular(r, n).Convert(halfulp.MP(60))
		}
		restore := isa.Force(isa.Levels()[trial%len(isa.Levels())])
		s := prooftest.Run(t, 1+trial%2)
		lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
		if err != nil {
			t.Fatal(err)
		}
		z, err := newton.InvertSeries(s, a.View(), lu, 60)
		restore()
		if err != nil {
			t.Fatal(err)
		}
		if z == nil {
			found["none"]++
			continue
		}
		name := fmt.Sprintf("seed %d, trial %d, n = %d, %v", draw, trial, n, f)
		exact := lintest.Of(a).Scaled(lu.Scaling.Rows, lu.Scaling.Cols)
		near := make([][]*big.Rat, n)
		sum := func(x ...float64) *big.Rat {
			z := new(big.Rat)
			for _, v := range x {
				z.Add(z, numtest.Exact(v))
			}
			return z
		}
		for i := range n {
			near[i] = make([]*big.Rat, n)
			for j := range n {
				near[i][j] = numtest.Exact(z.R[i+j*n])
			}
		}
		prooftest.CheckInverse(t, name, exact, near, z.Rho, z.Norm())
		want := exact.Solve(lintest.Identity(n))
		within := func(what string, i, j int, x, y *big.Rat, bound float64) {
			t.Helper()
			if x.Sub(x, y); x.Abs(x).Cmp(numtest.Exact(bound)) > 0 {
				t.Fatalf("%s: %s of entry %d, %d is off by %s, bound %g", name, what, i, j, x.FloatString(60), bound)
			}
		}
		// R (I + S) is off by what S is off by: |R| times that.
		s12 := make(lintest.Matrix, n)
		for i := range n {
			s12[i] = make([]*big.Rat, n)
			for j := range n {
				s12[i][j] = sum(z.S1[i+j*n], z.S2[i+j*n])
			}
		}
		series := lintest.Matrix(near).Times(s12, n)
		for i := range n {
			for j := range n {
				k := i + j*n
				within("the sum", i, j, sum(z.R[k], z.D1[k], z.D2[k], z.D3[k]), want[i][j], z.Sums[i]*z.Off[j]*(1+0x1p-50))
				within("the series", i, j, series[i][j].Add(series[i][j], near[i][j]), want[i][j], z.Sums[i]*z.SOff[j]*(1+0x1p-50))
				if z.Sums[i]*z.SOff[j] < math.Abs(z.R[k])*0x1p-112 {
					found["known to 112 bits"]++
				}
				found["entries"]++
			}
		}
		format := []halfulp.Format{halfulp.MP(54), halfulp.MP(64), halfulp.MP(65), halfulp.MP(106), halfulp.MP(110), halfulp.DD}[trial%6]
		var to *halfulp.Matrix
		inverse := lintest.Of(a).Solve(lintest.Identity(n))
		for k, decide := range []func(j int, e *ziv.Entries){
			func(j int, e *ziv.Entries) { z.Decide(j, e, lu.Scaling, to.View()) },
			func(j int, e *ziv.Entries) { z.DecideAgain(j, e, lu.Scaling, to.View()) },
		} {
			to = halfulp.NewMatrix(format, n, n)
			for j, e := range ziv.NewEntries(s, a.View(), a.View(), to.View()) {
				decide(j, e)
				for i := range n {
					if slices.Contains(e.Open, i) {
						continue
					}
					found[[]string{"decided", "decided again"}[k]]++
					if x := lintest.Nearest(to.NumberFormat(), inverse[i][j]); !to.At(i, j).Same(x) {
						t.Fatalf("%s: entry %d, %d is %s, want %s", name, i, j, to.At(i, j).Hex(), x.Hex())
					}
				}
			}
		}
	}
	if !enough() {
		t.Errorf("%v", found)
	}
}

// TestSeriesOfLargeOrder compares an inverse by a series of an order beyond those of blocks of
// products with one in 300 bits, and with what Inverse decides.
func TestSeriesOfLargeOrder(t *testing.T) {
	const n = 270
	f := halfulp.MP(106)
	a := gallery.Random(f, n, n, 0, 3)
	want, x := halfulp.NewMatrix(halfulp.MP(300), n, n), halfulp.NewMatrix(f, n, n)
	for _, x := range []*halfulp.Matrix{want, x} {
		if err := lintest.Into(x)(linsolve.Inverse(a, x.NumberFormat(), nil)); err != nil {
			t.Fatal(err)
		}
	}
	s := prooftest.Run(t, 2)
	lu, err := seed.NewFactors(s, a.View(), scale.Of(a.View()))
	if err != nil {
		t.Fatal(err)
	}
	z, err := newton.InvertSeries(s, a.View(), lu, 106)
	if err != nil || z == nil {
		t.Fatal(z != nil, err)
	}
	for i := range n {
		for j := range n {
			if v := want.At(i, j); !halfulp.NewScalar(f, v.Big()).Same(x.At(i, j)) {
				t.Fatalf("entry %d, %d is %s, want %s", i, j, x.At(i, j).Hex(), v.Hex())
			}
			v, k := want.Big(i, j), i+j*n
			v.SetMantExp(v, -int(lu.Cols[i]+lu.Rows[j]))
			for _, d := range []float64{z.R[k], z.D1[k], z.D2[k], z.D3[k]} {
				v.Sub(v, big.NewFloat(d))
			}
			if bound := z.Sums[i] * z.Off[j] * 1.001; v.Abs(v).Cmp(big.NewFloat(bound)) > 0 {
				t.Fatalf("entry %d, %d is off by %g, bound %g", i, j, v, bound)
			}
		}
	}
}

// TestAddProduct adds numbers, and products, in words, with others far below and near to the
// largest.
func TestAddProduct(t *testing.T) {
	r := testseed.Rand(t, 5, 6)
	for range 5000 {
		var hi, lo uint64
		var sum [3]uint64
		unit := int64(r.IntN(200) - 100)
		one, all := new(big.Rat), new(big.Rat)
		count := 1 + r.IntN(6)
		for range count {
			number := func(most int) float64 {
				return math.Ldexp(2*r.Float64()-1, int(unit)+most-r.IntN(150))
			}
			x := number(122)
			hi, lo = newton.AddFloat(hi, lo, x, unit)
			one.Add(one, numtest.Exact(x))
			x, y := number(100), math.Ldexp(2*r.Float64()-1, r.IntN(86))
			newton.AddProduct(&sum, x, y, unit)
			all.Add(all, new(big.Rat).Mul(numtest.Exact(x), numtest.Exact(y)))
		}
		for _, c := range []struct {
			words []uint64
			want  *big.Rat
		}{{[]uint64{lo, hi}, one}, {sum[:], all}} {
			d := rat(signed(c.words), int(unit))
			if d.Sub(d, c.want); d.Abs(d).Cmp(rat(big.NewInt(int64(count)), int(unit))) >= 0 {
				t.Fatalf("%d of unit 2^%d: off by %s", count, unit, d.FloatString(10))
			}
		}
	}
}

// rat returns x 2^exp.
func rat(x *big.Int, exp int) *big.Rat {
	z, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(x), exp).Rat(nil)
	return z
}

// signed returns the value of words in two's complement.
func signed(words []uint64) *big.Int {
	x := new(big.Int)
	for _, w := range slices.Backward(words) {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(w))
	}
	if x.Bit(64*len(words)-1) == 1 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(64*len(words))))
	}
	return x
}

// TestStoreTwoWords stores numbers near ties, powers of two and ends of exponents: what both ends
// of their enclosures round to, which is what roundTo stores, or leaves them to that.
func TestStoreTwoWords(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	stored := 0
	for range 200000 {
		f := halfulp.MP(uint(65 + r.IntN(newton.MostSeries-64)))
		hi, lo := r.Uint64()>>r.IntN(10)|1, r.Uint64()
		switch r.IntN(4) {
		case 0: // near a power of two
			hi, lo = 1<<(54+r.IntN(9)), uint64(r.IntN(1<<20))
		case 1:
			hi, lo = 1<<(54+r.IntN(9))-1, -uint64(r.IntN(1<<20))
		case 2: // near multiples of powers
			lo = lo>>(10+r.IntN(50))<<(r.IntN(60)) + uint64(r.IntN(64)) - 32
		}
		err, exp, sign := r.Uint64()>>(14+r.IntN(50))+5, int64(r.IntN(300)-150), uint64(r.IntN(2))
		neg := sign == 1
		if r.IntN(10) == 0 {
			exp += math.MaxInt32 - 200
		}
		got, want := halfulp.NewMatrix(f, 1, 1), halfulp.NewMatrix(f, 1, 1)
		if !newton.StoreTwoWords(got.View().Arr, 0, sign, hi, lo, exp, err) {
			continue
		}
		stored++
		x := got.Big(0, 0)
		for _, off := range []*big.Int{new(big.Int).SetUint64(err), new(big.Int).Neg(new(big.Int).SetUint64(err))} {
			mag := new(big.Int).SetUint64(hi)
			mag.Lsh(mag, 64).Or(mag, new(big.Int).SetUint64(lo)).Add(mag, off)
			if neg {
				mag.Neg(mag)
			}
			end := new(big.Float).SetPrec(uint(f.Bits())).SetInt(mag)
			if end.SetMantExp(end, int(exp)); end.Cmp(x) != 0 {
				t.Fatalf("seed %d, %v: %x %x 2^%d ± %x is %.40g, an end is %.40g", seed, f, hi, lo, exp, err, x, end)
			}
		}
		v := bound.EnclosedEntry{Neg: neg, Mag: []uint64{lo, hi}, Exp: exp, Known: true, Err: err}
		if v.RoundTo(nil, want.View().Arr, 0) && !got.Same(want) { // which leaves some more
			t.Fatalf("seed %d, %v: %x %x 2^%d ± %x", seed, f, hi, lo, exp, err)
		}
	}
	if stored < 20000 {
		t.Errorf("%d are stored", stored)
	}
}
