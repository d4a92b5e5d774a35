package halfulp_test

import (
	"fmt"
	"log"

	"github.com/halfulp/halfulp"
)

// The sum of magnitudes, in a format that holds all of its digits.
func ExampleAsum() {
	x := halfulp.NewVectorFloat64(3, 1, []float64{1e16, -1, -1e-8})
	sum, err := halfulp.Asum(x, halfulp.DD, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.12f\n", sum)
	// Output: 10000000000000001.000000010000
}

// The index of the largest magnitude, counted from 0.
func ExampleIamax() {
	x := halfulp.NewVectorFloat64(4, 1, []float64{1, -1e300, 2, 1e300})
	i, err := halfulp.Iamax(x, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(i, x.At(i))
	// Output: 1 -1e+300
}

// A product and a sum with one rounding: 134217729² = 18014398777917441 has 55 bits.
func ExampleAxpy() {
	x := halfulp.NewVectorFloat64(2, 1, []float64{134217729, 1})
	y := halfulp.NewVectorFloat64(2, 1, []float64{-18014398777917440, 1e16})
	if err := halfulp.Axpy(halfulp.Float(134217729), x, y, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output:
	// 1
	// 10000000134217728
}

// A vector divided by 10: α is 1/10 in a format that is wider than the vector's.
func ExampleScal() {
	tenth := halfulp.QD.Quo(halfulp.Float(1), halfulp.Float(10))
	x := halfulp.NewVectorFloat64(3, 1, []float64{1, 3, 7})
	if err := halfulp.Scal(tenth, x, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x)
	// Output:
	// 0.1
	// 0.3
	// 0.7
}

// A copy into another format rounds every entry.
func ExampleCopy() {
	x := halfulp.NewVectorFloat64(2, 1, []float64{1.0 / 3, 16777217})
	y := halfulp.NewVector(halfulp.Float32, 2)
	if err := halfulp.Copy(x, y, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output:
	// 0.33333334
	// 16777216
}

// Two rows of a matrix change places.
func ExampleSwap() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 2}, {3, 4}})
	if err := halfulp.Swap(a.Row(0), a.Row(1), nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a)
	// Output:
	// 3 4
	// 1 2
}

// The points (3, 4) and (10, 0), rotated so that the first one lies on the x axis, up to the
// rounding of c and s to quad-double.
func ExampleRot() {
	x := halfulp.NewVectorFloat64(2, 1, []float64{3, 10})
	y := halfulp.NewVectorFloat64(2, 1, []float64{4, 0})
	c := halfulp.QD.Quo(halfulp.Float(3), halfulp.Float(5))
	s := halfulp.QD.Quo(halfulp.Float(4), halfulp.Float(5))
	if err := halfulp.Rot(x, y, c, s, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x)
	fmt.Println(y)
	// Output:
	// 5
	// 6
	// 3.7982270983039195e-65
	// -8
}

// A modified rotation of two equal rows, which makes the second one zero.
func ExampleRotm() {
	x := halfulp.NewVectorFloat64(2, 1, []float64{3, 1})
	y := halfulp.NewVectorFloat64(2, 1, []float64{3, 1})
	one := halfulp.Float(1)
	g, err := halfulp.Rotmg(one, one, x.At(0), y.At(0), halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := halfulp.Rotm(x, y, g.RotmParams, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x)
	fmt.Println(y)
	// Output:
	// 6
	// 2
	// 0
	// 0
}

// The rotation that makes the second component of (4, 2) zero.
func ExampleRotmg() {
	one := halfulp.Float(1)
	g, err := halfulp.Rotmg(one, one, halfulp.Float(4), halfulp.Float(2), halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.Flag == halfulp.RotmOffDiagonal, g.H21, g.H12)
	fmt.Println(g.D1, g.D2, g.X1)
	// Output:
	// true -0.5 0.5
	// 0.8 0.8 5
}

// A residual b - A x, which float64 arithmetic rounds to 0.
func ExampleGemv() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16, 1}, {1, -1e16}})
	x := halfulp.NewVectorFloat64(2, 1, []float64{1, 1})
	r := halfulp.NewVectorFloat64(2, 1, []float64{1e16, -1e16}) // b
	if err := halfulp.Gemv(halfulp.NoTrans, halfulp.Float(-1), a, x, halfulp.Float(1), r, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(r)
	// Output:
	// -1
	// -1
}

// A product of float64 numbers whose digits double-double keeps; y is nil because β = 0.
func ExampleGemvTo() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16, 1}, {1e-8, 1}})
	x := halfulp.NewVectorFloat64(2, 1, []float64{1, 1})
	z := halfulp.NewVector(halfulp.DD, 2)
	if err := halfulp.GemvTo(halfulp.NoTrans, halfulp.Float(1), a, x, halfulp.Float(0), nil, z, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.20g\n", z)
	// Output:
	// 10000000000000001
	// 1.00000001
}

// Second differences: the matrix has one diagonal below and one above the main one. Column j of ab
// holds the entries of column j of the matrix, from the top of the band down.
func ExampleGbmv() {
	const n = 4
	ab := halfulp.NewMatrix(halfulp.Float64, 3, n)
	for j := range n {
		ab.SetFloat64(0, j, 1)
		ab.SetFloat64(1, j, -2)
		ab.SetFloat64(2, j, 1)
	}
	x := halfulp.NewVectorFloat64(n, 1, []float64{1e16, 1, -1e16, 1})
	y := halfulp.NewVector(halfulp.Float64, n)
	err := halfulp.Gbmv(halfulp.NoTrans, n, 1, 1, halfulp.Float(1), ab, x, halfulp.Float(0), y, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output:
	// -20000000000000000
	// -2
	// 20000000000000000
	// -10000000000000002
}

// A symmetric matrix times a vector; the lower triangle is not read.
func ExampleSymv() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16, 1}, {0, -1e16}})
	x := halfulp.NewVectorFloat64(2, 1, []float64{1, -1})
	y := halfulp.NewVector(halfulp.DD, 2)
	if err := halfulp.Symv(halfulp.Upper, halfulp.Float(1), a, x, halfulp.Float(0), y, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output:
	// 9999999999999999
	// 10000000000000001
}

// The tridiagonal matrix with 2 on the diagonal and -1 beside it, stored as a band: the diagonal in
// row 0 of ab, the entries below it in row 1.
func ExampleSbmv() {
	const n = 4
	ab := halfulp.NewMatrix(halfulp.Float64, 2, n)
	for j := range n {
		ab.SetFloat64(0, j, 2)
		ab.SetFloat64(1, j, -1)
	}
	x := halfulp.NewVectorFloat64(n, 1, []float64{1, 4, 9, 16})
	y := halfulp.NewVector(halfulp.Float64, n)
	err := halfulp.Sbmv(halfulp.Lower, 1, halfulp.Float(1), ab, x, halfulp.Float(0), y, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output:
	// -2
	// -2
	// -2
	// 23
}

// A symmetric matrix of order 2, whose upper triangle is packed: a_11, a_12, a_22.
func ExampleSpmv() {
	ap := halfulp.NewVectorFloat64(3, 1, []float64{1e16, 1, -1e16})
	x := halfulp.NewVectorFloat64(2, 1, []float64{1, 1})
	y := halfulp.NewVectorFloat64(2, 1, []float64{-1e16, 1e16})
	if err := halfulp.Spmv(halfulp.Upper, halfulp.Float(1), ap, x, halfulp.Float(1), y, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output:
	// 1
	// 1
}

// Prefix sums of x, in place: a triangle of ones times x.
func ExampleTrmv() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 0, 0}, {1, 1, 0}, {1, 1, 1}})
	x := halfulp.NewVectorFloat64(3, 1, []float64{1e16, 1, -1e16})
	if err := halfulp.Trmv(halfulp.Lower, halfulp.NoTrans, halfulp.NonUnit, a, x, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x)
	// Output:
	// 10000000000000000
	// 10000000000000000
	// 1
}

// A bidiagonal system: x_1 = 1/3 and x_i = (1 - x_(i-1))/3, each rounded once.
func ExampleTrsv() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{3, 0, 0}, {1, 3, 0}, {0, 1, 3}})
	x := halfulp.NewVectorFloat64(3, 1, []float64{1, 1, 1}) // the right-hand side
	if err := halfulp.Trsv(halfulp.Lower, halfulp.NoTrans, halfulp.NonUnit, a, x, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x)
	// Output:
	// 0.3333333333333333
	// 0.22222222222222224
	// 0.25925925925925924
}

// An update of rank 1 that cancels the leading digits of an entry of A.
func ExampleGer() {
	x := halfulp.NewVectorFloat64(2, 1, []float64{1e8 + 1, 1})
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{-1e16, 0}, {0, 0}})
	if err := halfulp.Ger(halfulp.Float(1), x, x, a, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a)
	// Output:
	// 200000001 100000001
	// 100000001         1
}

// A + x xᵀ in the upper triangle; the lower one is left alone.
func ExampleSyr() {
	x := halfulp.NewVectorFloat64(2, 1, []float64{1e8 + 1, 3})
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{-1e16, 1}, {7, 1}})
	if err := halfulp.Syr(halfulp.Upper, halfulp.Float(1), x, a, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a)
	// Output:
	// 200000001 300000004
	//         7        10
}

// A + x yᵀ + y xᵀ in the lower triangle; the upper one is left alone.
func ExampleSyr2() {
	x := halfulp.NewVectorFloat64(2, 1, []float64{1e8 + 1, 1})
	y := halfulp.NewVectorFloat64(2, 1, []float64{1, 1 - 1e8})
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{0, 7}, {1e16, 0}})
	if err := halfulp.Syr2(halfulp.Lower, halfulp.Float(1), x, y, a, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a)
	// Output:
	// 200000002          7
	//         2 -199999998
}

// Products of float64 numbers to twice the bits; C is nil because β = 0.
func ExampleGemmTo() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16, 1}, {1, 1e-16}})
	d := halfulp.NewMatrix(halfulp.DD, 2, 2)
	err := halfulp.GemmTo(halfulp.NoTrans, halfulp.Trans, halfulp.Float(1), a, a, halfulp.Float(0), nil, d, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.33g\n", d.At(0, 0))
	// Output: 100000000000000000000000000000001
}

// A symmetric matrix times another one; the lower triangle of A is not read.
func ExampleSymm() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16, 1}, {0, -1e16}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 1}, {1, -1}})
	c := halfulp.FromRows(halfulp.Float64, [][]float64{{-1e16, -1e16}, {1e16, -1e16}})
	err := halfulp.Symm(halfulp.Left, halfulp.Upper, halfulp.Float(1), a, b, halfulp.Float(1), c, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c)
	// Output:
	// 1 -1
	// 1  1
}

// The error A B - C of a product C that was computed in float64, itself in float32.
func ExampleSymmTo() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16, 1}, {0, 1}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {1}})
	c := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16}, {2}})
	d := halfulp.NewMatrix(halfulp.Float32, 2, 1)
	err := halfulp.SymmTo(halfulp.Left, halfulp.Upper, halfulp.Float(1), a, b, halfulp.Float(-1), c, d, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d)
	// Output:
	// 1
	// 0
}

// A Bᵀ + B Aᵀ in the upper triangle, for matrices of one row whose products cancel.
func ExampleSyr2k() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16, 1, 1e16}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 1, -1}})
	c := halfulp.NewMatrix(halfulp.Float64, 1, 1)
	err := halfulp.Syr2k(halfulp.Upper, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), c, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c)
	// Output: 2
}

// The expression A Bᵀ + B Aᵀ, added to a float64 matrix C and rounded once to double-double.
func ExampleSyr2kTo() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 1e-20}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 0.5}})
	c := halfulp.FromRows(halfulp.Float64, [][]float64{{-1}})
	d := halfulp.NewMatrix(halfulp.DD, 1, 1)
	err := halfulp.Syr2kTo(halfulp.Upper, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(1), c, d, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.25f\n", d)
	// Output: 1.0000000000000000000100000
}

// Prefix sums of the columns of B, in place: a triangle of ones times B.
func ExampleTrmm() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 0, 0}, {1, 1, 0}, {1, 1, 1}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16, 1}, {1, 2}, {-1e16, 3}})
	one := halfulp.Float(1)
	err := halfulp.Trmm(halfulp.Left, halfulp.Lower, halfulp.NoTrans, halfulp.NonUnit, one, a, b, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b)
	// Output:
	// 10000000000000000 1
	// 10000000000000000 3
	//                 1 6
}

// A triangle of ones times B in double-double, which holds the sum in the second row exactly.
func ExampleTrmmTo() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 0}, {1, 1}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16}, {1}})
	c := halfulp.NewMatrix(halfulp.DD, 2, 1)
	one := halfulp.Float(1)
	err := halfulp.TrmmTo(halfulp.Left, halfulp.Lower, halfulp.NoTrans, halfulp.NonUnit, one, a, b, c, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c)
	// Output:
	// 10000000000000000
	// 10000000000000001
}

// A triangular system in float64 and its solution in a format of 100 bits.
func ExampleTrsmTo() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{3, 0}, {1, 3}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {1}})
	x := halfulp.NewMatrix(halfulp.MP(100), 2, 1)
	one := halfulp.Float(1)
	err := halfulp.TrsmTo(halfulp.Left, halfulp.Lower, halfulp.NoTrans, halfulp.NonUnit, one, a, b, x, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.25f\n", x)
	// Output:
	// 0.3333333333333333333333333
	// 0.2222222222222222222222222
}

// Two products of different shapes in one call.
func ExampleGemmBatch() {
	a := []*halfulp.Matrix{
		halfulp.FromRows(halfulp.Float64, [][]float64{{1, 2}, {3, 4}}),
		halfulp.FromRows(halfulp.Float64, [][]float64{{1e16, 1, -1e16}}),
	}
	b := []*halfulp.Matrix{
		halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {10}}),
		halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {1}, {1}}),
	}
	c := []*halfulp.Matrix{halfulp.NewMatrix(halfulp.Float64, 2, 1), halfulp.NewMatrix(halfulp.Float64, 1, 1)}
	if err := halfulp.GemmBatch(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), c, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c[0].At(0, 0), c[0].At(1, 0), c[1].At(0, 0))
	// Output: 21 43 1
}
