package expansion_test

import (
	"fmt"
	"math"

	"github.com/halfulp/halfulp/expansion"
)

// Ramanujan's constant is nearly an integer.
func ExampleQD_Exp() {
	pi := expansion.QDOf(-1).Acos()
	x := pi.Mul(expansion.QDOf(163).Sqrt()).Exp()
	fmt.Printf("%.40f\n", x)
	// Output: 262537412640768743.9999999999992500725971981856888793538563
}

func ExampleDD_Sin() {
	x := expansion.DDOf(1e22)
	fmt.Printf("%.30f\n", x.Sin())
	fmt.Println(expansion.DDOf(math.Inf(1)).Sin())
	// Output:
	// -0.852200849767188801772705893753
	// NaN
}

func ExampleFunction_Bound() {
	f, err := expansion.ParseFunction("log1p")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v: the error is at most %g 2^-106\n", f, f.Bound(2))
	// Output: log1p: the error is at most 3 2^-106
}
