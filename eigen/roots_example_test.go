package eigen_test

import (
	"fmt"
	"log"
	"math"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
)

// Wilkinson's polynomial (x - 1)(x - 2)...(x - 20): float64 arithmetic finds complex roots near 10
// to 19. Its coefficients need 62 bits.
func ExampleRealRoots() {
	p := halfulp.NewVector(halfulp.MP(64), 21)
	p.SetFloat64(0, 1)
	for root := 1; root <= 20; root++ { // times x - root
		for i := root; i >= 0; i-- {
			c := halfulp.MP(64).Mul(p.At(i), halfulp.Float(-float64(root)))
			if i > 0 {
				c = halfulp.MP(64).Add(c, p.At(i-1))
			}
			p.Set(i, c)
		}
	}
	x, err := eigen.RealRoots(p, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range x.Len() {
		fmt.Print(x.At(i), " ")
	}
	// Output: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
}

// The second difference matrix of order 3: its eigenvalues are 2 - √2, 2 and 2 + √2.
func ExampleTridiagonal() {
	d := halfulp.NewVectorFloat64(3, 1, []float64{2, 2, 2})
	e := halfulp.NewVectorFloat64(2, 1, []float64{-1, -1})
	w, err := eigen.Tridiagonal(d, e, halfulp.DD, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range w.Len() {
		fmt.Println(w.At(i).Text(30))
	}
	// Output:
	// 0.585786437626904951198311275790
	// 2.00000000000000000000000000000
	// 3.41421356237309504880168872421
}

// The integral of exp(x) from -1 to 1 is e - 1/e = 2.3504023872876029.
func ExampleGaussLegendre() {
	x, w, err := eigen.GaussLegendre(10, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	sum := 0.0
	for i := range x.Len() {
		sum += w.Float64(i) * math.Exp(x.Float64(i))
	}
	fmt.Printf("%.14f\n", sum)
	// Output: 2.35040238728760
}

// The second moment of exp(-x²) is √π/2.
func ExampleGaussHermite() {
	x, w, err := eigen.GaussHermite(2, halfulp.MP(100), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.At(1).Text(30), w.At(1).Text(30))
	// Output: 0.707106781186547524400844362105 0.886226925452758013649083741671
}

// The nodes of two points are 2 ± √2.
func ExampleGaussLaguerre() {
	x, w, err := eigen.GaussLaguerre(2, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.At(0), x.At(1), w.At(0), w.At(1))
	// Output: 0.585786437626905 3.414213562373095 0.8535533905932737 0.14644660940672624
}

// The nodes of three points are 0 and ±√3/2.
func ExampleGaussChebyshev1() {
	x, w, err := eigen.GaussChebyshev1(3, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.At(0), x.At(1), x.At(2), w.At(0))
	// Output: -0.8660254037844386 0 0.8660254037844386 1.0471975511965979
}

// The nodes of two points are ±1/2.
func ExampleGaussChebyshev2() {
	x, w, err := eigen.GaussChebyshev2(2, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.At(0), x.At(1), w.At(0))
	// Output: -0.5 0.5 0.7853981633974483
}
