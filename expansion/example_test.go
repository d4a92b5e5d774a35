package expansion_test

import (
	"fmt"
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/expansion"
)

func Example() {
	// 333.75 b⁶ + a²(11 a²b² - b⁶ - 121 b⁴ - 2) + 5.5 b⁸ + a/(2b) for a = 77617,
	// b = 33096 (Rump 1988): a float64 gets 1.17 or -1.18e21, the value is -0.827….
	a, b := expansion.QDOf(77617), expansion.QDOf(33096)
	a2, b2 := a.Sqr(), b.Sqr()
	b4 := b2.Sqr()
	b6, b8 := b4.Mul(b2), b4.Sqr()
	t := a2.Mul(b2).MulFloat(11).Sub(b6).Sub(b4.MulFloat(121)).AddFloat(-2)
	x := b6.MulFloat(333.75).Add(a2.Mul(t)).Add(b8.MulFloat(5.5)).Add(a.Div(b.MulFloat(2)))
	fmt.Printf("%.40f\n", x)
	// Output: -0.8273960599468213681411650954798162919990
}

func ExampleDD_Div() {
	x := expansion.DDOf(1).Div(expansion.DDOf(3))
	fmt.Println(x)
	fmt.Printf("%.20g\n", x)
	fmt.Println(x[0], x[1])
	fmt.Println(expansion.DDOf(1).Div(expansion.DDOf(math.Copysign(0, -1))))
	// Output:
	// 0.333333333333333333333333333333332
	// 0.33333333333333333333
	// 0.3333333333333333 1.850371707708594e-17
	// -Inf
}

func ExampleQD_Sqrt() {
	x := expansion.QDOf(2).Sqrt()
	fmt.Printf("%.62f\n", x)
	fmt.Printf("%.1e\n", x.Sqr().AddFloat(-2))
	// Output:
	// 1.41421356237309504880168872420969807856967187537694807317667974
	// 1.5e-64
}

func ExampleQD_Add() {
	// A sum is relative to its result, whatever cancels.
	x := expansion.QD{1, 0x1p-100, 0x1p-200}
	fmt.Println(x.Add(expansion.QD{-1, -0x1p-100}).Equal(expansion.QDOf(0x1p-200)))
	// Output: true
}

func ExampleParseQD() {
	x, err := expansion.ParseQD("0.1")
	fmt.Println(x, err)
	fmt.Printf("%.70f\n", x)
	_, err = expansion.ParseQD("0.1.2")
	fmt.Println(err)
	// Output:
	// 0.1 <nil>
	// 0.0999999999999999999999999999999999999999999999999999999999999999990504
	// "0.1.2" is not a number
}

func ExampleTDFromBig() {
	third := new(big.Float).SetPrec(500).Quo(big.NewFloat(1), big.NewFloat(3))
	x := expansion.TDFromBig(third)
	fmt.Println(x)
	fmt.Println(x.Float64(), x.DD())
	// Output:
	// 0.3333333333333333333333333333333333333333333333333
	// 0.3333333333333333 0.333333333333333333333333333333332
}

func ExampleDD_Scalar() {
	v := halfulp.NewVector(halfulp.DD, 2)
	v.Set(0, expansion.DDOf(2).Sqrt().Scalar())
	v.Set(1, expansion.DDOf(2).Rsqrt().Scalar())
	product, err := halfulp.Dot(v, v.Clone(), halfulp.DD, nil)
	fmt.Printf("%.30g %v\n", expansion.DDFromScalar(product), err)
	// Output: 2.5 <nil>
}

func ExampleQD_Floor() {
	x, _ := expansion.ParseQD("-123456789012345678901234567890.5")
	fmt.Println(x.Floor(), x.Ceil(), x.Trunc())
	fmt.Println(x.Round(), x.RoundToEven())
	// Output:
	// -1.23456789012345678901234567891e+29 -1.2345678901234567890123456789e+29 -1.2345678901234567890123456789e+29
	// -1.23456789012345678901234567891e+29 -1.2345678901234567890123456789e+29
}
