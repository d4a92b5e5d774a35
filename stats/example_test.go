package stats_test

import (
	"fmt"
	"log"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/stats"
)

// The mean of numbers whose partial sums overflow in float64.
func ExampleMean() {
	x := halfulp.NewVectorFloat64(3, 1, []float64{1.5e308, 1.5e308, -1.5e308})
	mean, err := stats.Mean(x, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(mean)
	// Output: 5e+307
}

// Data as in NumAcc4 of the NIST reference datasets: large numbers that differ little. The
// textbook formula Σ x² - n m² loses all digits of the variance 0.01 in float64.
func ExampleStdDev() {
	x := halfulp.NewVector(halfulp.DD, 1001)
	for i := range x.Len() {
		digit := "2"
		if i > 0 {
			digit = []string{"3", "1"}[i%2]
		}
		if err := x.SetString(i, "10000000."+digit); err != nil {
			log.Fatal(err)
		}
	}
	deviation, err := stats.StdDev(x, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(deviation)
	// Output: 0.1
}

// Numbers that alternate about a large mean.
func ExampleAutocorr1() {
	x := halfulp.NewVectorFloat64(4, 1, []float64{1e15 + 1, 1e15 - 1, 1e15 + 1, 1e15 - 1})
	r, err := stats.Autocorr1(x, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r)
	// Output: -0.75
}
