package gallery_test

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
)

// Every entry is rounded once, in float32 and with 200 bits.
func ExampleHilbert() {
	fmt.Println(gallery.Hilbert(halfulp.Float32, 3))
	fmt.Printf("%.40f\n", gallery.Hilbert(halfulp.MP(200), 3).At(0, 2))
	// Output:
	//          1        0.5 0.33333334
	//        0.5 0.33333334       0.25
	// 0.33333334       0.25        0.2
	// 0.3333333333333333333333333333333333333333
}

// The powers x^0 to x^3 of three nodes.
// The matrix depends on the arguments alone, one of which is the seed.
func ExampleRandom() {
	a := gallery.Random(halfulp.MP(100), 2, 2, 0, 7)
	b := gallery.Random(halfulp.MP(100), 2, 2, 0, 7)
	c := gallery.Random(halfulp.MP(100), 2, 2, 0, 8)
	fmt.Println(a.Same(b), a.Same(c))
	// Output: true false
}

func ExampleVandermonde() {
	nodes := halfulp.NewVectorFloat64(3, 1, []float64{-2, 3, 10})
	fmt.Println(gallery.Vandermonde(halfulp.Float64, nodes, 4))
	// Output:
	// 1 -2   4   -8
	// 1  3   9   27
	// 1 10 100 1000
}

// The first rows of a problem of the NIST reference datasets.
func ExampleWampler() {
	x, y := gallery.Wampler(halfulp.Float64, 1)
	fmt.Println(x.Slice(0, 4, 0, 6))
	fmt.Println(y.Slice(0, 4))
	// Output:
	// 1 0 0  0  0   0
	// 1 1 1  1  1   1
	// 1 2 4  8 16  32
	// 1 3 9 27 81 243
	// 1
	// 6
	// 63
	// 364
}
