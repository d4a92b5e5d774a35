package conformance

import (
	"math"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testseed"
)

// The tests of this file are reduced cases of errors that the suite once found.

// An exact product of zero and an old entry with bits below the product's unit.
func TestZeroProductPlusOld(t *testing.T) {
	for _, f := range []halfulp.Format{halfulp.Float64, halfulp.MP(106), halfulp.QD} {
		a := halfulp.NewMatrixFloat64(1, 2, 1, []float64{3, 5})
		b := halfulp.NewMatrixFloat64(2, 2, 2, []float64{5, -3, 7, 3})
		c := halfulp.NewMatrix(f, 1, 2)
		c.SetFloat64(0, 0, 0x1.8p-100)
		err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(1), c, &halfulp.Options{Method: "residue"})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Float64(0, 0); got != 0x1.8p-100 {
			t.Errorf("%v: 15 - 15 + 1.5 2^-100 = %x", f, got)
		}
	}
}

// A number just below half of the smallest one, whose significand rounds up to
// that half, is nearer to 0.
func TestBelowHalfOfSmallest(t *testing.T) {
	for _, p := range []uint{2, 3, 53, 64, 65, 128} {
		f := halfulp.MP(p)
		for _, neg := range []bool{false, true} {
			x := sum([]real{pow2(1, math.MinInt32-2), pow2(-1, math.MinInt32-2-int64(p)-3)})
			if neg {
				x = x.negated()
			}
			// As a product of two numbers, since no big.Float is that small.
			a := halfulp.NewMatrix(halfulp.MP(p+3), 1, 1)
			b := halfulp.NewMatrixFloat64(1, 1, 1, []float64{0.25})
			a.SetBig(0, 0, bigOf(x.scaled(2)))
			c := halfulp.NewMatrix(f, 1, 1)
			if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), c, nil); err != nil {
				t.Fatal(err)
			}
			if err := round(x, f).stored(c.At(0, 0)); err != nil {
				t.Errorf("MP(%d): %v", p, err)
			}
		}
	}
}

// Operands of one bit: signs, permutations, the identity.
func TestOneBitOperand(t *testing.T) {
	n := 20
	a, b := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.MP(106), n, n)
	for i := range n {
		a.SetFloat64(i, (7*i+3)%n, -2)
		for j := range n {
			b.SetFloat64(i, j, float64(i*n+j)/7)
		}
	}
	c := halfulp.NewMatrix(halfulp.MP(106), n, n)
	var st halfulp.Stats
	err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), c, &halfulp.Options{Method: "residue", Stats: &st})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range n {
			if got, want := c.Float64(i, j), -2*b.Float64((7*i+3)%n, j); got != want {
				t.Fatalf("%s: entry (%d, %d) = %x, want %x", st.Kernel, i, j, got, want)
			}
		}
	}
}

// Results that are exact subnormal numbers lose no bits, whatever the method. The first column
// picks short numbers out of rows that the residue method truncates.
func TestExactSubnormalsAreNotCounted(t *testing.T) {
	r := testseed.Rand(t, 1, 1)
	n := 16
	a, b := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.Float64, n, n)
	for i := range n {
		for j := range n {
			a.SetFloat64(i, j, (1+r.Float64())*math.Exp2(float64(-530+r.IntN(60))))
			b.SetFloat64(i, j, (1+r.Float64())*math.Exp2(float64(-530+r.IntN(60))))
		}
		a.SetFloat64(i, 0, float64(2*i+1)*0x1p-537)
		b.SetFloat64(i, 0, 0)
	}
	b.SetFloat64(0, 0, 0x1p-535)
	var counts []int64
	for _, method := range []halfulp.Method{halfulp.Direct, halfulp.Residue} {
		c := halfulp.NewMatrix(halfulp.Float64, n, n)
		var st halfulp.Stats
		err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), c, &halfulp.Options{Method: method, Stats: &st})
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, st.Underflow)
		if c.Float64(3, 0) != 7*0x1p-1072 {
			t.Errorf("%s: entry (3, 0) = %x", method, c.Float64(3, 0))
		}
	}
	if counts[0] != counts[1] {
		t.Errorf("underflows counted: direct %d, residue %d", counts[0], counts[1])
	}
}

// Next to MAX + 2^970, MAX the largest binary64, where greedy terms of finite numbers sum up to a
// value outside the format: the result overflows, and is counted once, in every way.
func TestBorderOfExpansions(t *testing.T) {
	for _, f := range []halfulp.Format{halfulp.DD, halfulp.TD, halfulp.QD} {
		for _, sign := range []float64{1, -1} {
			for _, last := range []float64{0, 0x1p-500, -0x1p-500, -1, -0x1p400, -0x1p864, -0x1p870} {
				other := 1.0
				if math.Abs(last) == 0x1p-500 {
					other = 0x1p-600
				}
				a := []float64{sign * math.MaxFloat64, sign * 0x1p970, sign * last}
				b := []float64{1, 1, other}
				var terms []real
				for k := range a {
					terms = append(terms, ofFloat(a[k]).times(ofFloat(b[k])))
				}
				want := round(sum(terms), f)
				var st halfulp.Stats
				check := func(way string, got halfulp.Scalar, err error) {
					t.Helper()
					if err == nil {
						err = firstError(want.stored(got), want.counted(st))
					}
					if err != nil {
						t.Errorf("%v: %s of %x and %x: %v", f, way, a, b, err)
					}
				}
				row, column := halfulp.NewMatrixFloat64(1, 3, 1, a), halfulp.NewMatrixFloat64(3, 1, 3, b)
				x, y := halfulp.NewVectorFloat64(3, 1, a), halfulp.NewVectorFloat64(3, 1, b)
				for _, method := range []halfulp.Method{halfulp.Direct, halfulp.Residue} {
					c := halfulp.NewMatrix(f, 1, 1)
					err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), row, column, halfulp.Float(0), c, &halfulp.Options{Method: method, Stats: &st})
					check("Gemm, "+string(method), c.At(0, 0), err)
				}
				z := halfulp.NewVector(f, 1)
				err := halfulp.Gemv(halfulp.NoTrans, halfulp.Float(1), row, y, halfulp.Float(0), z, &halfulp.Options{Stats: &st})
				check("Gemv", z.At(0), err)
				got, err := halfulp.Dot(x, y, f, &halfulp.Options{Stats: &st})
				check("Dot", got, err)
				if other == 1 {
					got, err = halfulp.Sum(x, f, &halfulp.Options{Stats: &st})
					check("Sum", got, err)
				}
			}
		}
	}
}

// The same for expansions whose last terms are subnormal.
func TestExactSubnormalTermsAreNotCounted(t *testing.T) {
	r := testseed.Rand(t, 1, 1)
	n := 16
	for _, f := range []halfulp.Format{halfulp.DD, halfulp.TD, halfulp.QD} {
		low := (f.Bits() - 1074) / 2 // of factors of products whose expansions are normal
		a, b := halfulp.NewMatrix(halfulp.MP(600), n, n), halfulp.NewMatrix(halfulp.MP(600), n, n)
		for i := range n {
			for j := range n {
				a.SetBig(i, j, bigOf(number(r, 600, int64(low+r.IntN(30)))))
				b.SetBig(i, j, bigOf(number(r, 600, int64(low+r.IntN(30)))))
			}
			a.SetFloat64(i, 0, math.Ldexp(float64(2*i+1), low-20))
			b.SetFloat64(i, 0, 0)
		}
		b.SetFloat64(0, 0, math.Ldexp(1, -1074-low+20)) // column 0: odd multiples of 2^-1074
		var counts []int64
		for _, method := range []halfulp.Method{halfulp.Direct, halfulp.Residue} {
			c := halfulp.NewMatrix(f, n, n)
			var st halfulp.Stats
			err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), c, &halfulp.Options{Method: method, Stats: &st})
			if err != nil {
				t.Fatal(err)
			}
			counts = append(counts, st.Underflow)
			if got, want := c.Float64(3, 0), math.Ldexp(7, -1074); got != want {
				t.Errorf("%v, %s: entry (3, 0) = %x, want %x", f, method, got, want)
			}
		}
		if counts[0] != counts[1] {
			t.Errorf("%v: underflows counted: direct %d, residue %d", f, counts[0], counts[1])
		}
	}
}
