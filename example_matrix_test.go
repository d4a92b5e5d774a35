package halfulp_test

import (
	"errors"
	"fmt"
	"log"
	"math/big"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/matfile"
)

// A + B in a wider format than both, which loses nothing.
func ExampleAdd() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16, 1}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 1e-16}})
	sum, err := halfulp.Add(a, b, halfulp.DD, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum)
	// Output: 10000000000000001 1.0000000000000001
}

// The rounding errors of the Hilbert matrix in float64.
func ExampleSub() {
	exact, rounded := gallery.Hilbert(halfulp.MP(200), 3), gallery.Hilbert(halfulp.Float64, 3)
	difference, err := halfulp.Sub(exact, rounded, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3g\n", difference)
	// Output:
	//        0        0  1.85e-17
	//        0 1.85e-17         0
	// 1.85e-17        0 -1.11e-17
}

// A product whose terms cancel: 10^16 + 1 - 10^16 is 1, which a loop in float64 rounds to 0.
func ExampleMul() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16, 1, -1e16}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {1}, {1}})
	c, err := halfulp.Mul(a, b, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c)
	// Output: 1
}

// A matrix in float32: numbers are rounded, and 10^39 is beyond the format.
func ExampleFromRows() {
	fmt.Println(halfulp.FromRows(halfulp.Float32, [][]float64{
		{1, 0.1},
		{16777217, 1e39},
	}))
	// Output:
	//        1 0.1
	// 16777216 inf
}

// An elimination matrix: the identity with one more entry.
func ExampleIdentity() {
	a := halfulp.Identity(halfulp.DD, 3)
	a.SetFloat64(0, 2, -4)
	fmt.Println(a)
	// Output:
	// 1 0 -4
	// 0 1  0
	// 0 0  1
}

// A matrix of zeros, whose entries are set from decimals.
func ExampleNewMatrix() {
	a := halfulp.NewMatrix(halfulp.MP(100), 2, 2)
	if err := errors.Join(a.SetString(0, 0, "0.1"), a.SetString(1, 1, "1e-400")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a)
	// Output:
	// 0.1      0
	//   0 1e-400
}

// Numbers of math/big, column by column.
func ExampleNewMatrixBig() {
	root := new(big.Float).SetPrec(300).Sqrt(big.NewFloat(2).SetPrec(300))
	zero := new(big.Float)
	a := halfulp.NewMatrixBig(halfulp.MP(150), 2, 2, []*big.Float{root, zero, zero, root})
	fmt.Printf("%.40f\n", a.At(1, 1))
	// Output: 1.4142135623730950488016887242096980785697
}

// A matrix that uses a slice as its storage, column by column: what routines write appears in it.
func ExampleNewMatrixFloat64() {
	data := []float64{1, 2, 3, 4, 5, 6}
	a := halfulp.NewMatrixFloat64(3, 2, 3, data)
	if err := halfulp.Scal(halfulp.Float(10), a.Col(1), nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a)
	fmt.Println(data)
	// Output:
	// 1 40
	// 2 50
	// 3 60
	// [1 2 3 40 50 60]
}

// Columns of 3 numbers that begin 4 numbers apart: the leading dimension is 4.
func ExampleNewMatrixLD() {
	a := halfulp.NewMatrixLD(halfulp.Float64, 3, 2, 4)
	data, ld, ok := a.RawFloat64()
	data[1+ld] = 7
	fmt.Println(a.Float64(1, 1), ld, ok)
	// Output: 7 4 true
}

// A matrix in the memory of a device: routines run where their operands live.
func ExampleNewMatrixOn() {
	c, err := halfulp.NewMatrixOn("cpu", halfulp.DD, 2, 2) // or "cuda:0", "cuda:all"
	if err != nil {
		log.Fatal(err)
	}
	defer c.Free()
	h, err := gallery.Hilbert(halfulp.DD, 2).On(c.Device())
	if err != nil {
		log.Fatal(err)
	}
	defer h.Free()
	one, zero := halfulp.Float(1), halfulp.Float(0)
	if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, h, h, zero, c, nil); err != nil {
		log.Fatal(err)
	}
	result, err := c.Host()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.20f\n", result)
	// Output:
	// 1.25000000000000000000 0.66666666666666666667
	// 0.66666666666666666667 0.36111111111111111111
}

// A vector of zeros, whose entries are set one by one.
func ExampleNewVector() {
	x := halfulp.NewVector(halfulp.QD, 2)
	x.SetFloat64(0, 0.1) // the float64 number nearest to 0.1
	if err := x.SetString(1, "0.1"); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.40f\n", x)
	// Output:
	// 0.1000000000000000055511151231257827021182
	// 0.1000000000000000000000000000000000000000
}

// Numbers of math/big, rounded to a format.
func ExampleNewVectorBig() {
	var numbers []*big.Float
	for _, s := range []string{"1e-1000", "0.1"} {
		number, _, err := big.ParseFloat(s, 10, 300, big.ToNearestEven)
		if err != nil {
			log.Fatal(err)
		}
		numbers = append(numbers, number)
	}
	fmt.Println(halfulp.NewVectorBig(halfulp.MP(100), numbers))
	fmt.Println(halfulp.NewVectorBig(halfulp.Float64, numbers))
	// Output:
	// 1e-1000
	// 0.1
	// 0
	// 0.1
}

// Views of a slice: every second number, and all numbers in reverse order.
func ExampleNewVectorFloat64() {
	data := []float64{1, 2, 3, 4}
	fmt.Println(halfulp.NewVectorFloat64(2, 2, data).Matrix().T())
	fmt.Println(halfulp.NewVectorFloat64(4, -1, data).Matrix().T())
	// Output:
	// 1 3
	// 4 3 2 1
}

// A vector in the memory of a device, and its norm.
func ExampleNewVectorOn() {
	x, err := halfulp.NewVectorOn("cpu", halfulp.Float64, 2) // or "cuda:0", "cuda:all"
	if err != nil {
		log.Fatal(err)
	}
	defer x.Free()
	if err := x.CopyFrom(halfulp.NewVectorFloat64(2, 1, []float64{3e-300, 4e-300})); err != nil {
		log.Fatal(err)
	}
	norm, err := halfulp.Nrm2(x, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Device(), norm)
	// Output: cpu 5e-300
}

// A float64 number has more digits than the shortest decimal that stands for it.
func ExampleFloat() {
	x := halfulp.Float(0.1)
	fmt.Println(x)
	fmt.Println(x.Convert(halfulp.MP(100)).Text(40))
	// Output:
	// 0.1
	// 0.1000000000000000055511151231257827021182
}

// A number of math/big, rounded to two formats.
func ExampleNewScalar() {
	x, _, err := big.ParseFloat("3.14159265358979323846264338327950288", 10, 200, big.ToNearestEven)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(halfulp.NewScalar(halfulp.Float32, x))
	fmt.Println(halfulp.NewScalar(halfulp.DD, x))
	// Output:
	// 3.1415927
	// 3.1415926535897932384626433832795
}

// NaN compares as in package cmp: it equals itself and is less than every number.
func ExampleNaN() {
	nan := halfulp.NaN(halfulp.DD)
	fmt.Println(nan, nan.Cmp(nan), nan.Cmp(halfulp.Float(-1)))
	fmt.Println(halfulp.DD.Add(nan, halfulp.Float(1)).IsNaN())
	// Output:
	// nan 0 -1
	// true
}

// A format with the 82 bits that 30! takes, and the same product in float64.
func ExampleMP() {
	f := halfulp.MP(82)
	exact, rounded := halfulp.Float(1), halfulp.Float(1)
	for i := range 30 {
		exact = f.Mul(exact, halfulp.Float(float64(i+1)))
		rounded = halfulp.Float64.Mul(rounded, halfulp.Float(float64(i+1)))
	}
	fmt.Printf("%v %.0f\n%v %.0f\n", f, exact, halfulp.Float64, rounded)
	// Output:
	// mp:82 265252859812191058636308480000000
	// f64 265252859812191032188804700045312
}

// The names of formats, as in options of the program and in files.
func ExampleParseFormat() {
	for _, name := range []string{"f32", "dd", "mp:200"} {
		f, err := halfulp.ParseFormat(name)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(f, f.Bits(), f.IsMP())
	}
	_, err := halfulp.ParseFormat("f80")
	fmt.Println(err)
	// Output:
	// f32 24 false
	// dd 106 false
	// mp:200 200 true
	// unknown format "f80" (want f32, f64, dd, td, qd or mp:P with P in bits)
}

// The matrix of a file has a wider format than float64 if a number of the file has more digits.
func ExampleAtLeast() {
	const file = "%%MatrixMarket matrix array real general\n2 1\n0.1\n0.3333333333333333333333333\n"
	a, err := matfile.ReadFrom(strings.NewReader(file), &matfile.Options{In: halfulp.AtLeast(halfulp.Float64)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.NumberFormat())
	fmt.Printf("%.25f\n", a)
	// Output:
	// mp:149
	// 0.1000000000000000000000000
	// 0.3333333333333333333333333
}

// The numbers of a file, rounded once to the format asked for.
func ExampleExactly() {
	const file = "%%MatrixMarket matrix array real general\n2 1\n0.1\n0.3333333333333333333333333\n"
	a, err := matfile.ReadFrom(strings.NewReader(file), &matfile.Options{In: halfulp.Exactly(halfulp.Float32)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a)
	// Output:
	// 0.1
	// 0.33333334
}

// A file that names its format keeps it; others are read in float64.
func ExampleOwnOr() {
	var file strings.Builder
	if err := matfile.WriteTo(&file, gallery.Hilbert(halfulp.DD, 2), nil); err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{file.String(), "%%MatrixMarket matrix array real general\n1 1\n0.1\n"} {
		a, err := matfile.ReadFrom(strings.NewReader(text), &matfile.Options{In: halfulp.OwnOr(halfulp.Float64)})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(a.NumberFormat())
	}
	// Output:
	// dd
	// f64
}

// A routine that may take half of the memory that routines take by default.
func ExampleDefaultMemoryLimit() {
	opt := &halfulp.Options{MemoryLimit: halfulp.DefaultMemoryLimit() / 2}
	h := gallery.Hilbert(halfulp.Float64, 2)
	c, err := halfulp.Mul(h, h, halfulp.Float64, opt)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c)
	// Output:
	//               1.25 0.6666666666666666
	// 0.6666666666666666 0.3611111111111111
}

// The GPUs of a machine. A program that imports github.com/halfulp/halfulp/cuda finds them.
func ExampleGPUs() {
	gpus, err := halfulp.GPUs()
	if errors.Is(err, halfulp.ErrDevice) {
		fmt.Println("no GPU:", err)
	}
	for _, gpu := range gpus {
		fmt.Println(gpu.Device, gpu.Model, gpu.Memory>>30, "GiB")
	}
}
