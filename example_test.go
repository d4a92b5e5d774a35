package halfulp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/big"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/matfile"
	"gonum.org/v1/gonum/mat"
)

// The normal equations AᵀA of Läuchli's matrix, read from Matrix Market text. In
// float64 all entries round to 1, which makes a singular matrix; double-double
// keeps the 1e-18 that matters.
func Example() {
	const file = `%%MatrixMarket matrix array real general
3 2
1
1e-9
0
1
0
1e-9
`
	a, err := matfile.ReadFrom(strings.NewReader(file), &matfile.Options{In: halfulp.Exactly(halfulp.DD)})
	if err != nil {
		log.Fatal(err)
	}
	one, zero := halfulp.Float(1), halfulp.Float(0)
	for _, format := range []halfulp.Format{halfulp.Float64, halfulp.DD} {
		c := halfulp.NewMatrix(format, 2, 2)
		if err := halfulp.Gemm(halfulp.Trans, halfulp.NoTrans, one, a, a, zero, c, nil); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v:\n%v", format, c.Text(19))
	}
	// Output:
	// f64:
	// 1.000000000000000000 1.000000000000000000
	// 1.000000000000000000 1.000000000000000000
	// dd:
	// 1.000000000000000001 1.000000000000000000
	// 1.000000000000000000 1.000000000000000001
}

// The square of the Hilbert matrix of order 10 with 424-bit entries.
func ExampleGemm() {
	h := gallery.Hilbert(halfulp.MP(424), 10)
	c := halfulp.NewMatrix(halfulp.MP(424), 10, 10)

	one, zero := halfulp.Float(1), halfulp.Float(0)
	if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, h, h, zero, c, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.At(0, 0).Text(60)) // 1 + 1/4 + 1/9 + ... + 1/100
	fmt.Println(c.At(0, 0).Float64())
	// Output:
	// 1.54976773116654069035021415973796926177878558830939783320736
	// 1.5497677311665408
}

// The bits of a result depend on the inputs alone: here on neither the method nor
// the number of threads.
func ExampleGemm_reproducible() {
	const m, k, n = 40, 50, 30
	a := gallery.Random(halfulp.Float64, m, k, 20, 1) // exponents spread over 2^±20
	b := gallery.Random(halfulp.Float64, k, n, 20, 2)

	product := func(opt *halfulp.Options) *halfulp.Matrix {
		c := halfulp.NewMatrix(halfulp.Float64, m, n)
		var stats halfulp.Stats
		err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), c, opt.WithStats(&stats))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(stats.Method, stats.Threads)
		return c
	}
	c := product(&halfulp.Options{Method: "residue", Threads: 5})
	d := product(&halfulp.Options{Method: "direct", Threads: 1})
	fmt.Println(c.Same(d))
	// Output:
	// residue 5
	// direct 1
	// true
}

// A float64 loop loses all digits to cancellation. Dot returns the exact scalar product of the
// float64 numbers, rounded once. These numbers differ from the decimals in the text; this error of
// the data disappears with wider inputs.
func ExampleDot() {
	x := []string{"2.718281828", "-3.141592654", "1.414213562", "0.5772156649", "0.3010299957"}
	y := []string{"1486.2497", "878366.9879", "-22.37492", "4773714.647", "0.000185049"}

	for _, format := range []halfulp.Format{halfulp.Float64, halfulp.QD} {
		u, v := halfulp.NewVector(format, len(x)), halfulp.NewVector(format, len(y))
		var loop float64
		for i := range x {
			if err := errors.Join(u.SetString(i, x[i]), v.SetString(i, y[i])); err != nil {
				log.Fatal(err)
			}
			loop += float64(u.Float64(i) * v.Float64(i))
		}
		dot, err := halfulp.Dot(u, v, halfulp.Float64, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v: loop %v, Dot %v\n", format, loop, dot)
	}
	// Output:
	// f64: loop 1.0251881368296672e-10, Dot -9.554689334633011e-11
	// qd: loop 1.0251881368296672e-10, Dot -1.00657107e-11
}

// Numbers that a float64 loop cancels away: 2047 times 10, twice 1e-18, 2047
// times -10.
func ExampleSum() {
	x := halfulp.NewVector(halfulp.Float64, 4096)
	for i := range x.Len() {
		switch {
		case i < 2047:
			x.SetFloat64(i, 10)
		case i < 2049:
			x.SetFloat64(i, 1e-18)
		default:
			x.SetFloat64(i, -10)
		}
	}
	var loop float64
	for i := range x.Len() {
		loop += x.Float64(i)
	}
	sum, err := halfulp.Sum(x, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("loop:", loop)
	fmt.Println("Sum: ", sum)
	// Output:
	// loop: 0
	// Sum:  2e-18
}

// Each prefix sum is exact before its one rounding, so that no error is carried along.
func ExampleCumSum() {
	x := halfulp.NewVectorFloat64(4, 1, []float64{1e17, 1, 1, -1e17})
	y := halfulp.NewVector(halfulp.Float64, 4)
	if err := halfulp.CumSum(x, y, nil); err != nil {
		log.Fatal(err)
	}
	for i := range y.Len() {
		fmt.Println(y.At(i))
	}
	// Output:
	// 100000000000000000
	// 100000000000000000
	// 100000000000000000
	// 2
}

// The diagonal cancels; no other entry is read.
func ExampleTrace() {
	a := halfulp.NewMatrixFloat64RowMajor(3, 3, 3, []float64{
		1e17, 5, 5,
		5, 3, 5,
		5, 5, -1e17,
	})
	t, err := halfulp.Trace(a, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t)
	// Output: 3
}

// The squares overflow in float64; the norm does not.
func ExampleNrm2() {
	x := halfulp.NewVectorFloat64(2, 1, []float64{3e300, 4e300})
	norm, err := halfulp.Nrm2(x, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(norm)
	// Output: 5e+300
}

// A residual r = b - A x, rounded once. The matrix is in float32, x in
// double-double, b in float64, and r in a format of 113 bits: every mix is one
// exact expression and one rounding.
func ExampleGemv_mixedFormats() {
	a := gallery.Hilbert(halfulp.Float32, 3)
	x := halfulp.NewVector(halfulp.DD, 3)
	b := halfulp.NewVectorFloat64(3, 1, []float64{1, 0, 0})
	for i, s := range []string{"9", "-36", "30"} { // the first column of the inverse
		if err := x.SetString(i, s); err != nil {
			log.Fatal(err)
		}
	}
	r := b.Convert(halfulp.MP(113))
	if err := halfulp.Gemv(halfulp.NoTrans, halfulp.Float(-1), a, x, halfulp.Float(1), r, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(r)
	// Output:
	// -2.98023223876953125e-7
	// 3.5762786865234375e-7
	// -1.78813934326171875e-7
}

// Many matrices are multiplied by one prepared matrix, whose residues are computed once.
func ExamplePrepare() {
	const n = 60
	f := halfulp.MP(212)
	one, zero := halfulp.Float(1), halfulp.Float(0)
	a := gallery.Random(f, n, n, 0, 1)
	prepared := halfulp.Prepare(a)
	for seed := range uint64(3) {
		b := gallery.Random(f, n, n, 0, 100+seed)
		c, d := halfulp.NewMatrix(f, n, n), halfulp.NewMatrix(f, n, n)
		if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, prepared, b, zero, c, nil); err != nil {
			log.Fatal(err)
		}
		if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, d, nil); err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.Same(d))
	}
	// Output:
	// true
	// true
	// true
}

// The upper triangle of AᵀA; the lower triangle is not changed.
func ExampleSyrk() {
	a := halfulp.NewMatrixFloat64(3, 2, 3, []float64{1, 2, 3, 4, 5, 6}) // by columns
	c := halfulp.NewMatrix(halfulp.Float64, 2, 2)
	if err := halfulp.Syrk(halfulp.Upper, halfulp.Trans, halfulp.Float(1), a, halfulp.Float(0), c, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c)
	// Output:
	// 14 32
	//  0 77
}

// A decimal is parsed exactly and rounded once, to the requested format.
func ExampleParseScalar() {
	for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.MP(200)} {
		s, err := halfulp.ParseScalar(f, "0.1")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-6v %v\n", f, s.Text(40))
	}
	// Output:
	// f32    0.1000000014901161193847656250000000000000
	// f64    0.1000000000000000055511151231257827021182
	// dd     0.09999999999999999999999999999999969185121
	// mp:200 0.1000000000000000000000000000000000000000
}

// The shortest decimal reads back to the same number, and so does the exact
// hexadecimal text.
func ExampleScalar_Text() {
	s, err := halfulp.ParseScalar(halfulp.MP(80), "2.718281828459045235360287471352662498")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Text(0))
	fmt.Println(s.Text(10))
	fmt.Println(s.Text(halfulp.Hex))

	back, err := halfulp.ParseScalar(halfulp.MP(80), s.Text(0))
	fmt.Println(back.Same(s), err)
	// Output:
	// 2.718281828459045235360286
	// 2.718281828
	// 0x1.5bf0a8b1457695355fb8p+1
	// true <nil>
}

// A gonum matrix in, a gonum matrix out.
func ExampleFromGonum() {
	d := mat.NewDense(2, 2, []float64{1e20, 1, -1e20, 1}) // by rows
	a := halfulp.FromGonum(halfulp.Float64, d)
	c := halfulp.NewMatrix(halfulp.Float64, 2, 2)
	if err := halfulp.Gemm(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), a, a, halfulp.Float(0), c, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(mat.Formatted(c.Gonum()))
	// Output:
	// ⎡2e+40      0⎤
	// ⎣    0      2⎦
}

// The method of conjugate gradients for A x = b, where A is symmetric and positive definite. It
// runs where A lives: from a device only scalar products are transferred.
func ExampleMatrix_On() {
	conjugateGradients := func(a *halfulp.Matrix, b *halfulp.Vector, steps int) (*halfulp.Vector, error) {
		f := b.NumberFormat()
		// x, r, p and q are columns of one matrix.
		work, err := halfulp.NewMatrixOn(a.Device(), f, b.Len(), 4)
		if err != nil {
			return nil, err
		}
		defer work.Free()
		x, r, p, q := work.Col(0), work.Col(1), work.Col(2), work.Col(3)
		if err := errors.Join(r.CopyFrom(b), p.CopyFrom(b)); err != nil {
			return nil, err
		}
		var failed error
		dot := func(x, y *halfulp.Vector) *big.Float {
			s, err := halfulp.Dot(x, y, f, nil)
			failed = errors.Join(failed, err)
			return s.Big()
		}
		check := func(err error) { failed = errors.Join(failed, err) }
		ratio := func(x, y *big.Float) halfulp.Scalar { return halfulp.NewScalar(f, new(big.Float).Quo(x, y)) }
		rr := dot(r, r)
		for step := 0; step < steps && failed == nil && rr.Sign() > 0; step++ {
			check(halfulp.Gemv(halfulp.NoTrans, halfulp.Float(1), a, p, halfulp.Float(0), q, nil))
			alpha := ratio(rr, dot(p, q))
			check(halfulp.Axpy(alpha, p, x, nil))
			check(halfulp.Axpy(halfulp.NewScalar(f, new(big.Float).Neg(alpha.Big())), q, r, nil))
			last := rr
			rr = dot(r, r)
			check(halfulp.Scal(ratio(rr, last), p, nil))
			check(halfulp.Axpy(halfulp.Float(1), r, p, nil))
		}
		if failed != nil {
			return nil, failed
		}
		return x.Host()
	}

	f := halfulp.MP(212)
	b := halfulp.NewVector(f, 4)
	b.SetFloat64(0, 1)
	for _, device := range []halfulp.Device{"cpu", "cuda:0"} {
		a, err := gallery.Hilbert(f, 4).On(device)
		if errors.Is(err, halfulp.ErrDevice) {
			continue // there is no GPU
		}
		if err != nil {
			log.Fatal(err)
		}
		x, err := conjugateGradients(a, b, 6)
		if err != nil {
			log.Fatal(err)
		}
		if device == "cpu" { // the bits are the same on all devices
			fmt.Println(x.Matrix().Text(20))
		}
		a.Free()
	}
	// Output:
	// 16.000000000000000000
	// -120.00000000000000000
	//  240.00000000000000000
	// -140.00000000000000000
}

// A cancelled context ends a routine with the context's error.
func ExampleOptions() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x := halfulp.NewVector(halfulp.Float64, 1000)
	_, err := halfulp.Sum(x, halfulp.Float64, &halfulp.Options{Context: ctx})
	fmt.Println(errors.Is(err, context.Canceled))

	_, err = halfulp.Sum(x, halfulp.Float64, &halfulp.Options{Device: "abacus"})
	fmt.Println(errors.Is(err, halfulp.ErrDevice))
	// Output:
	// true
	// true
}

// The rotation that takes (3, -4) to (r, 0), for numbers whose squares overflow.
func ExampleRotg() {
	g, err := halfulp.Rotg(halfulp.Float(3e300), halfulp.Float(-4e300), halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.C, g.S, g.R)
	// Output: -0.6 0.8 -5e+300
}

// A triangular system whose solution grows: each entry is rounded once, whatever comes before.
func ExampleTrsm() {
	n := 60
	a, x := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.DD, n, 1)
	for j := range n {
		for i := j; i < n; i++ {
			a.SetFloat64(i, j, -1) // -x_1 - ... - x_i-1 + 3 x_i = 1
		}
		a.SetFloat64(j, j, 3)
		x.SetFloat64(j, 0, 1)
	}
	var stats halfulp.Stats
	err := halfulp.Trsm(halfulp.Left, halfulp.Lower, halfulp.NoTrans, halfulp.NonUnit, halfulp.Float(1), a, x, &halfulp.Options{Stats: &stats})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.At(n-1, 0).Text(30), stats.Device) // (4/3)^59 / 3
	// Output: 7839063.91018597698507427480224 cpu
}

// Arithmetic of single numbers: the result is rounded to the format whose method is called;
// operands may have any formats.
func ExampleFormat_Add() {
	x, y := halfulp.Float(1e16), halfulp.Float(1.25)
	fmt.Println(halfulp.Float64.Add(x, y))
	fmt.Println(halfulp.DD.Add(x, y))
	// Output:
	// 10000000000000002
	// 10000000000000001.25
}

// The golden ratio to 200 bits, (1 + √5)/2.
func ExampleFormat_Sqrt() {
	f := halfulp.MP(200)
	phi := f.Quo(f.Add(halfulp.Float(1), f.Sqrt(halfulp.Float(5))), halfulp.Float(2))
	fmt.Println(phi)
	fmt.Println(phi.Cmp(halfulp.Float(1.618033988749895))) // the nearest double is larger
	// Output:
	// 1.618033988749894848204586834365638117720309179805762862135448
	// -1
}

// The verbs of package fmt on numbers and matrices of any format.
func ExampleMatrix_Format() {
	third := halfulp.QD.Quo(halfulp.Float(1), halfulp.Float(3))
	fmt.Printf("%.50f\n%.3e\n", third, third)

	h := gallery.Hilbert(halfulp.DD, 3)
	fmt.Printf("%8.5f\n", h)
	// Output:
	// 0.33333333333333333333333333333333333333333333333333
	// 3.333e-01
	//  1.00000  0.50000  0.33333
	//  0.50000  0.33333  0.25000
	//  0.33333  0.25000  0.20000
}

// JSON keeps every bit of every format.
func ExampleMatrix_MarshalJSON() {
	text, err := json.Marshal(gallery.Hilbert(halfulp.DD, 2))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	var back halfulp.Matrix
	if err := json.Unmarshal(text, &back); err != nil {
		log.Fatal(err)
	}
	fmt.Println(back.Same(gallery.Hilbert(halfulp.DD, 2)))
	// Output:
	// {"format":"dd","rows":2,"columns":2,"entries":[["1","0.5"],["0.5","0.333333333333333333333333333333332"]]}
	// true
}

// A scalar in JSON is a string with its format.
func ExampleScalar_MarshalText() {
	text, err := json.Marshal(halfulp.MP(100).Sqrt(halfulp.Float(2)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output: "mp:100 1.414213562373095048801688724209"
}

// A matrix whose storage is row by row, as in C, NumPy and gonum.
func ExampleNewMatrixFloat64RowMajor() {
	dense := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	raw := dense.RawMatrix()
	a := halfulp.NewMatrixFloat64RowMajor(raw.Rows, raw.Cols, raw.Stride, raw.Data)

	c := halfulp.NewMatrix(halfulp.Float64, 2, 2)
	if err := halfulp.Gemm(halfulp.NoTrans, halfulp.Trans, halfulp.Float(1), a, a, halfulp.Float(0), c, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a)
	fmt.Println(c)
	fmt.Println(mat.Trace(c.GonumView()))
	// Output:
	// 1 2 3
	// 4 5 6
	// 14 32
	// 32 77
	// 91
}
