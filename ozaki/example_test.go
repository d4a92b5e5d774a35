package ozaki_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/halfulp/halfulp"
	_ "github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/ozaki"
)

// Multiply with more and more slices, and see the largest bound on an error.
func ExampleGemm() {
	const n = 100
	a, b := gallery.Random(halfulp.Float64, n, n, 0, 1), gallery.Random(halfulp.Float64, n, n, 0, 2)
	exact, c := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.Float64, n, n)
	if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), exact, nil); err != nil {
		fmt.Println(err)
		return
	}
	bound := halfulp.NewMatrix(halfulp.Float64, n, n)
	for slices := 1; slices <= 4; slices++ {
		var s ozaki.Stats
		err := ozaki.Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, a, b, 0, c, &ozaki.Options{Slices: slices, Bound: bound, Stats: &s})
		if err != nil {
			fmt.Println(err)
			return
		}
		most, worst := 0.0, 0.0
		for i := range n {
			for j := range n {
				most = max(most, bound.Float64(i, j))
				worst = max(worst, abs(c.Float64(i, j)-exact.Float64(i, j)))
			}
		}
		fmt.Printf("%d slices of %d bits, %2d products: error %.0e, bound %.0e\n", s.Slices, s.Bits, s.Products, worst, most)
	}
	// Output:
	// 1 slices of 8 bits,  1 products: error 5e-06, bound 2e-04
	// 2 slices of 8 bits,  3 products: error 9e-09, bound 9e-07
	// 3 slices of 8 bits,  6 products: error 2e-11, bound 3e-09
	// 4 slices of 8 bits, 10 products: error 4e-14, bound 7e-12
}

// The paper's slices, and slices scaled to integers, which have one more bit each and any range.
func ExampleSplit() {
	const n = 100
	a, b := gallery.Random(halfulp.Float64, n, n, 0, 1), gallery.Random(halfulp.Float64, n, n, 0, 2)
	exact, c := halfulp.NewMatrix(halfulp.Float64, n, n), halfulp.NewMatrix(halfulp.Float64, n, n)
	if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), exact, nil); err != nil {
		fmt.Println(err)
		return
	}
	for _, split := range []ozaki.Split{ozaki.Literal, ozaki.Scaled} {
		var s ozaki.Stats
		err := ozaki.Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, a, b, 0, c, &ozaki.Options{Slices: 4, Split: split, Stats: &s})
		if err != nil {
			fmt.Println(err)
			return
		}
		worst := 0.0
		for i := range n {
			for j := range n {
				worst = max(worst, abs(c.Float64(i, j)-exact.Float64(i, j)))
			}
		}
		huge := a.Clone()
		huge.SetFloat64(0, 0, 1e200)
		err = ozaki.Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, huge, b, 0, c, &ozaki.Options{Slices: 4, Split: split})
		fmt.Printf("%s: error %.0e; of 1e200: %v\n", s.Method, worst, errors.Is(err, ozaki.ErrFloat32Range))
	}
	// Output:
	// ozaki-literal: error 3e-13; of 1e200: true
	// ozaki: error 4e-14; of 1e200: false
}

// Take as few slices as a bound needs: 1e-9 of the norms of row and column.
func ExampleGemm_tolerance() {
	a := gallery.Hilbert(halfulp.Float64, 50)
	c := halfulp.NewMatrix(halfulp.Float64, 50, 50)
	var s ozaki.Stats
	err := ozaki.Gemm(halfulp.NoTrans, halfulp.Trans, 1, a, a, 0, c, &ozaki.Options{Tolerance: 1e-9, Stats: &s})
	fmt.Println(s.Slices, err)
	// Output:
	// 3 <nil>
}

// Powers of a matrix where it lives: on a GPU nothing travels between the products.
func ExampleGemm_device() {
	for _, device := range []halfulp.Device{"cpu", "cuda:0"} {
		a, err := gallery.Hilbert(halfulp.Float64, 40).On(device)
		if errors.Is(err, halfulp.ErrDevice) {
			continue // there is no GPU
		}
		if err != nil {
			log.Fatal(err)
		}
		for range 3 {
			if err := ozaki.Gemm(halfulp.NoTrans, halfulp.NoTrans, 1, a, a, 0, a, &ozaki.Options{Slices: 3}); err != nil {
				log.Fatal(err)
			}
		}
		power, err := a.Host() // to the eighth
		if err != nil {
			log.Fatal(err)
		}
		if device == "cpu" {
			fmt.Printf("%.6g\n", power.Float64(0, 0))
		}
		a.Free()
	}
	// Output:
	// 103.966
}

func abs(x float64) float64 { return max(x, -x) }
