package rational_test

import (
	"errors"
	"fmt"
	"log"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/rational"
)

// matrix returns a matrix of texts.
func matrix(rows ...[]string) *rational.Matrix {
	z, err := rational.Parse(rows)
	if err != nil {
		log.Fatal(err)
	}
	return z
}

func Example() {
	// As doubles these decimals are a regular matrix.
	a := matrix([]string{".1", ".2", ".3"}, []string{".4", ".5", ".6"}, []string{".7", ".8", ".9"})
	d, _ := rational.Det(a, nil)
	r, _ := rational.Rank(a, nil)
	z, _ := rational.NullSpace(a, nil)
	fmt.Println(d.RatString(), r)
	fmt.Println(z.T())
	// Output:
	// 0 2
	// 1 -2 1
}

func ExampleNew() {
	a := rational.New(1, 2)
	a.Set(0, 1, big.NewRat(7, 15))
	fmt.Println(a)
	// Output: 0 7/15
}

func ExampleIdentity() {
	fmt.Println(rational.Identity(2))
	// Output:
	// 1 0
	// 0 1
}

func ExampleFromRats() {
	fmt.Println(rational.FromRats([][]*big.Rat{{big.NewRat(2, 4), big.NewRat(-3, 1)}}))
	// Output: 1/2 -3
}

func ExampleFromInt64() {
	fmt.Println(rational.FromInt64([][]int64{{1, 2}, {3, 4}}))
	// Output:
	// 1 2
	// 3 4
}

func ExampleFromInts() {
	fmt.Println(rational.FromInts([][]*big.Int{{big.NewInt(5), big.NewInt(7)}}))
	// Output: 5 7
}

func ExampleFromMatrix() {
	a, _ := rational.FromMatrix(halfulp.FromRows(halfulp.Float64, [][]float64{{0.5, 0.1}}))
	fmt.Println(a)
	// Output: 1/2 3602879701896397/36028797018963968
}

func ExampleParse() {
	a, _ := rational.Parse([][]string{{"7/15", ".1", "0x1.8p3", "-2e3"}})
	fmt.Println(a)
	fmt.Printf("%.4f\n", a)
	// Output:
	// 7/15 1/10 12 -2000
	// 0.4667 0.1000 12.0000 -2000.0000
}

func ExampleParseRat() {
	x, _ := rational.ParseRat("1.25")
	_, err := rational.ParseRat("one")
	fmt.Println(x, err)
	// Output: 5/4 "one": not a rational number
}

func ExampleMatrix_Round() {
	z, _ := matrix([]string{"1/3"}).Round(halfulp.MP(100))
	fmt.Printf("%.30f\n", z)
	// Output: 0.333333333333333333333333333333
}

func ExampleAdd() {
	fmt.Println(rational.Add(matrix([]string{"1/3"}), matrix([]string{"1/6"})))
	// Output: 1/2
}

func ExampleSub() {
	fmt.Println(rational.Sub(matrix([]string{"1/3"}), matrix([]string{"1/6"})))
	// Output: 1/6
}

func ExampleScale() {
	fmt.Println(rational.Scale(big.NewRat(3, 2), matrix([]string{"1/3", "2"})))
	// Output: 1/2 3
}

func ExampleMul() {
	z, _ := rational.Mul(matrix([]string{"1/2", "1/3"}), matrix([]string{"2/5"}, []string{"3/7"}), nil)
	fmt.Println(z)
	// Output: 12/35
}

func ExampleSolve() {
	a := matrix([]string{"1", "1/2"}, []string{"1/2", "1/3"})
	x, _ := rational.Solve(a, matrix([]string{"1"}, []string{"0"}), nil)
	fmt.Println(x)
	// Output:
	//  4
	// -6
}

func ExampleSolveAll() {
	a := rational.FromInt64([][]int64{{1, 2, 3}, {2, 4, 6}})
	x, n, _ := rational.SolveAll(a, rational.FromInt64([][]int64{{1}, {2}}), nil)
	fmt.Println(x.T())
	fmt.Println(n.T())
	_, _, err := rational.SolveAll(a, rational.FromInt64([][]int64{{1}, {3}}), nil)
	fmt.Println(errors.Is(err, rational.ErrInconsistent))
	// Output:
	// 1 0 0
	// 2 -1  0
	// 3  0 -1
	// true
}

func ExampleInverse() {
	z, _ := rational.Inverse(matrix([]string{"1", "1/2"}, []string{"1/2", "1/3"}), nil)
	fmt.Println(z)
	_, err := rational.Inverse(rational.New(2, 2), nil)
	fmt.Println(err)
	// Output:
	//  4 -6
	// -6 12
	// Inverse: singular matrix: 2 x 2 of rank 0
}

func ExampleDet() {
	d, _ := rational.Det(matrix([]string{"1", "1/2"}, []string{"1/2", "1/3"}), nil)
	fmt.Println(d)
	// Output: 1/12
}

func ExampleRank() {
	r, _ := rational.Rank(rational.FromInt64([][]int64{{1, 2, 3}, {2, 4, 6}}), nil)
	fmt.Println(r)
	// Output: 1
}

func ExampleNullSpace() {
	z, _ := rational.NullSpace(matrix([]string{"1/2", "1/3"}), nil)
	fmt.Println(z)
	// Output:
	//  2
	// -3
}

func ExampleRREF() {
	z, pivots, _ := rational.RREF(rational.FromInt64([][]int64{{0, 2, 1}, {0, 4, 3}}), nil)
	fmt.Println(z)
	fmt.Println(pivots)
	// Output:
	// 0 1 0
	// 0 0 1
	// [1 2]
}

func ExampleCharPoly() {
	c, _ := rational.CharPoly(rational.FromInt64([][]int64{{2, 0}, {0, 2}}), nil)
	fmt.Println(c)
	// Output: [4/1 -4/1 1/1]
}

func ExampleMinPoly() {
	m, _ := rational.MinPoly(rational.FromInt64([][]int64{{2, 0}, {0, 2}}), nil)
	fmt.Println(m)
	// Output: [-2/1 1/1]
}

func ExamplePow() {
	a := matrix([]string{"1/2", "1"}, []string{"0", "1"})
	p, _ := rational.Pow(a, 3, nil)
	q, _ := rational.Pow(a, -3, nil)
	fmt.Println(p)
	fmt.Println(q)
	// Output:
	// 1/8 7/4
	//   0   1
	// 8 -14
	// 0   1
}

func ExampleLU() {
	a := matrix([]string{"0", "1/3"}, []string{"2", ".5"}, []string{"1", "1"})
	z, _ := rational.LU(a, nil)
	fmt.Println(z.P)
	fmt.Println(z.L)
	fmt.Println(z.U)
	// Output:
	// [1 0 2]
	//   1   0
	//   0   1
	// 1/2 9/4
	// 2 1/2
	// 0 1/3
}

func ExampleLDLT() {
	a := matrix([]string{"0", "1", "2"}, []string{"1", "0", "3"}, []string{"2", "3", "0"})
	z, _ := rational.LDLT(a, nil)
	fmt.Println(z.P, z.Blocks)
	fmt.Println(z.L)
	fmt.Println(z.D)
	// Output:
	// [0 1 2] [2 1]
	// 1 0 0
	// 0 1 0
	// 3 2 1
	// 0 1   0
	// 1 0   0
	// 0 0 -12
}
