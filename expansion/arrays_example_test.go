package expansion_test

import (
	"fmt"
	"log"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
)

func ExampleMap() {
	x := halfulp.NewVectorFloat64(3, 1, []float64{1, 2, 1e22})
	z := halfulp.NewVector(halfulp.DD, 3)
	if err := expansion.Map(expansion.Sin, x, z, nil); err != nil {
		log.Fatal(err)
	}
	for i := range 3 {
		fmt.Printf("%.30f\n", z.Big(i))
	}
	// Output:
	// 0.841470984807896506652502321630
	// 0.909297426825681695396019865912
	// -0.852200849767188801772705893753
}

func ExampleGemm() {
	// The sums cancel but for the last product: 1e20 · 1e20 - 1e20 · 1e20 + 3 · 5.
	a := halfulp.NewMatrixFloat64(1, 3, 1, []float64{1e20, -1e20, 3})
	b := halfulp.NewMatrixFloat64(3, 1, 3, []float64{1e20, 1e20, 5})
	c := halfulp.NewMatrix(halfulp.QD, 1, 1)
	var st halfulp.Stats
	err := expansion.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), c, &halfulp.Options{Stats: &st})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(st.Method, c.At(0, 0))
	// Output: expansion 15
}

func ExampleSolve() {
	// The inverse of the Hilbert matrix of order 3 has integer entries; this is its first column.
	a, b := halfulp.NewMatrix(halfulp.QD, 3, 3), halfulp.NewMatrix(halfulp.QD, 3, 1)
	for i := range 3 {
		for j := range 3 {
			a.Set(i, j, expansion.QDOf(1).Div(expansion.QDOf(float64(i+j+1))).Scalar())
		}
	}
	b.SetFloat64(0, 0, 1)
	x := halfulp.NewMatrix(halfulp.QD, 3, 1)
	var st halfulp.Stats
	err := expansion.Solve(a, b, x, &expansion.SolveOptions{Options: halfulp.Options{Threads: 1, Stats: &st}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(st.Device, st.Method)
	for i := range 3 {
		fmt.Printf("%.50f\n", x.Big(i, 0))
	}
	// Output:
	// cpu expansion
	// 9.00000000000000000000000000000000000000000000000000
	// -36.00000000000000000000000000000000000000000000000000
	// 30.00000000000000000000000000000000000000000000000000
}
