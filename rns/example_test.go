package rns_test

import (
	"fmt"
	"math"

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
	fmt.Println(rns.Reduce2(b.VectorFloat64(terms)).Text(17))
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
	rns.Gemv(rns.NoTrans, one, a, x, zero, y, &rns.Options{Bound: &bound})
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
	for _, sum := range []*rns.Number{rns.Reduce1(v), rns.Reduce2(v), rns.Reduce3(v, nil)} {
		fmt.Printf("%s, relative error below %.1e\n", sum.Text(17), rns.SumBound(v, sum).Relative.Big())
	}
	// Output:
	// 7.4854708605503450, relative error below 1.7e-15
	// 7.4854708605503449, relative error below 1.7e-15
	// 7.4854708605503449, relative error below 1.7e-15
}
