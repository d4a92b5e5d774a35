package rns_test

import (
	"context"
	"fmt"
	"math"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/rns"
)

// Sum a series that cancels, with 16 moduli of 15 bits and 120 bits of precision: exp(-4π)
// by its Taylor series, its terms rounded to doubles.
func ExampleReduce2() {
	b, err := rns.SummationBase(120)
	if err != nil {
		fmt.Println(err)
		return
	}
	terms := make([]float64, 64)
	power, factorial := 1.0, 1.0
	for i := range terms {
		terms[i] = power / factorial
		power *= -4 * math.Pi
		factorial *= float64(i + 1)
	}
	doubles := 0.0
	for _, t := range terms {
		doubles += t
	}
	fmt.Printf("%.17g in doubles\n", doubles)
	sum, err := rns.Reduce2(b.VectorFloat64(terms), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sum.Text(17))
	// Output:
	// 3.487338468082691e-06 in doubles
	// 0.0000034873389654626063
}

// Multiply a matrix by a vector with the bound on the error beside the result.
func ExampleGemv() {
	b, err := rns.GemvBase(106)
	if err != nil {
		fmt.Println(err)
		return
	}
	a, x, y := b.NewMatrix(2, 2), b.VectorFloat64([]float64{1, -1}), b.NewVector(2)
	for i := range 2 {
		for j := range 2 {
			a.Set(i, j, b.NewNumber().Quo(b.NewNumber().SetInt64(1), b.NewNumber().SetInt64(int64(i+j+1))))
		}
	}
	one, zero := b.NewNumber().SetInt64(1), b.NewNumber()
	var bound rns.Bound
	if err := rns.Gemv(halfulp.NoTrans, one, a, x, zero, y, &rns.Options{Bound: &bound}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(y.At(0).Text(30))
	fmt.Println(y.At(1).Text(30))
	fmt.Printf("relative error below %.1e\n", bound.Relative.Big())
	// Output:
	// 0.500000000000000000000000000000
	// 0.166666666666666666666666666667
	// relative error below 3.5e-31
}

// Compute with numbers of 1696 bits.
func ExampleNumber() {
	b, err := rns.GemvBase(1696)
	if err != nil {
		fmt.Println(err)
		return
	}
	two := b.NewNumber().SetInt64(2)
	root := b.NewNumber().Sqrt(two)
	fmt.Println(root.Text(40))
	square := b.NewNumber().Mul(root, root)
	c, _ := b.NewNumber().Abs(square.Sub(square, two)).Cmp(b.NewNumber().MulPow2(two, -b.Precision()))
	fmt.Println(b.Len(), "moduli,", b.Precision(), "bits, square near 2:", c < 0)
	// Output:
	// 1.414213562373095048801688724209698078570
	// 128 moduli, 1696 bits, square near 2: true
}

// Sum in three orders, with the bound that holds for each of them.
func ExampleSumBound() {
	b, err := rns.BaseFor(60, 30) // at least 60 bits, moduli of at most 30 bits
	if err != nil {
		fmt.Println(err)
		return
	}
	x := make([]float64, 1000)
	for i := range x {
		x[i] = 1 / float64(i+1)
	}
	v := b.VectorFloat64(x)
	for _, reduce := range []func(*rns.Vector, *rns.Options) (*rns.Number, error){rns.Reduce1, rns.Reduce2, rns.Reduce3} {
		sum, err := reduce(v, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		bound, err := rns.SumBound(context.Background(), v, sum)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s, relative error below %.1e\n", sum.Text(17), bound.Relative.Big())
	}
	// Output:
	// 7.4854708605503450, relative error below 1.7e-15
	// 7.4854708605503449, relative error below 1.7e-15
	// 7.4854708605503449, relative error below 1.7e-15
}

// Solve quadratic equations x² + 2 p x + q = 0 for many p and q, to 212 bits: √(p² - q) - p.
func ExampleSqrt() {
	b, err := rns.GemvBase(212)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, q := b.VectorFloat64([]float64{-1, 0, 1e8}), b.VectorFloat64([]float64{-1, -2, -1})
	x := b.NewVector(3)
	for _, run := range []func() error{
		func() error { return rns.Mul(p, p, x, nil) },
		func() error { return rns.Sub(x, q, x, nil) },
		func() error { return rns.Sqrt(x, x, nil) },
		func() error { return rns.Sub(x, p, x, nil) },
	} {
		if err := run(); err != nil {
			fmt.Println(err)
			return
		}
	}
	for i := range x.Len() {
		fmt.Println(x.At(i).Text(20))
	}
	// Output:
	// 2.4142135623730950488
	// 1.4142135623730950488
	// 4.9999999999999998750e-9
}

// Solve a system of order 8, whose matrix has binomial coefficients, by conjugate gradients in 212
// bits.
func ExampleCG() {
	b, err := rns.GemvBase(212)
	if err != nil {
		fmt.Println(err)
		return
	}
	const n = 8
	a := halfulp.NewVector(halfulp.Float64, n*n) // by rows
	var rows, cols []int32
	for k := range n * n {
		i, j := k/n, k%n
		rows, cols = append(rows, int32(i)), append(cols, int32(j))
		v := 1.0
		if i > 0 && j > 0 {
			v = a.Float64(k-1) + a.Float64(k-n)
		}
		a.SetFloat64(k, v)
	}
	m, err := b.SparseOf(n, n, rows, cols, a)
	if err != nil {
		fmt.Println(err)
		return
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	x := b.NewVector(n)
	result, err := rns.CG(m, b.VectorFloat64(ones), x, &rns.CGOptions{Preconditioner: rns.Jacobi})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("converged:", result.Converged, "in at most 2 n iterations:", result.Iterations <= 2*n)
	fmt.Printf("x_0 = %.4f, x_7 = %.4f\n", x.At(0).Float64(), x.At(7).Float64())
	fmt.Println("residual below 2^-100:", result.TrueResidual.Up.Cmp(rns.XFloat{F: 1, I: -100}) < 0)
	// Output:
	// converged: true in at most 2 n iterations: true
	// x_0 = 1.0000, x_7 = 0.0000
	// residual below 2^-100: true
}
