package linsolve_test

import (
	"errors"
	"fmt"
	"log"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/linsolve"
)

// An ill-conditioned system of two equations. Cramer's rule in float64 returns
// (102558961, 41869520.5), half of the solution.
func ExampleSolve() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{
		{64919121, -159018721},
		{41869520.5, -102558961},
	})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {0}})
	x, err := linsolve.Solve(a, b, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x)
	// Output:
	// 205117922
	// 83739041
}

// The error for a singular matrix reports the rank of the matrix.
func ExampleSingularError() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{
		{1, 2, 3},
		{4, 5, 6},
		{7, 8, 9},
	})
	_, err := linsolve.Inverse(a, halfulp.Float64, nil)
	var singular *linsolve.SingularError
	if errors.As(err, &singular) {
		fmt.Println(singular.N, singular.Rank, errors.Is(err, linsolve.ErrSingular))
	}
	// Output: 3 2 true
}

// The inverse of the Hilbert matrix of order 4. The matrix has 200 bits, so that the roundings of
// its entries 1/3, 1/5, ... do not show in the inverse.
func ExampleInverse() {
	inverse, err := linsolve.Inverse(gallery.Hilbert(halfulp.MP(200), 4), halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(inverse)
	// Output:
	//   16  -120   240  -140
	// -120  1200 -2700  1680
	//  240 -2700  6480 -4200
	// -140  1680 -4200  2800
}

// The determinant (2^27 + 1)(2^27 - 1) - 2^54, whose terms float64 rounds to the same number.
func ExampleDet() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{
		{1<<27 + 1, 1 << 27},
		{1 << 27, 1<<27 - 1},
	})
	det, err := linsolve.Det(a, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(det)
	// Output: -1
}

// The determinant of the Hilbert matrix of order 30 is far below the range of float64.
func ExampleLogDet() {
	h := gallery.Hilbert(halfulp.MP(300), 30)
	det, err := linsolve.Det(h, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	logarithm, sign, err := linsolve.LogDet(h, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(det, logarithm, sign)
	// Output: 0 -1193.8174308833838 1
}

// The condition number of the Hilbert matrix of order 12 in the 1-norm.
func ExampleCond() {
	cond, err := linsolve.Cond(halfulp.OneNorm, gallery.Hilbert(halfulp.MP(200), 12), halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(cond)
	// Output: 4.115445402289639e+16
}

// The magic square in Dürer's Melencolia is a singular matrix.
func ExampleRank() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{
		{16, 3, 2, 13},
		{5, 10, 11, 8},
		{9, 6, 7, 12},
		{4, 15, 14, 1},
	})
	rank, err := linsolve.Rank(a, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rank)
	// Output: 3
}

// The coefficients with which the columns of a magic square add up to zero.
func ExampleNullSpace() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{
		{16, 3, 2, 13},
		{5, 10, 11, 8},
		{9, 6, 7, 12},
		{4, 15, 14, 1},
	})
	z, err := linsolve.NullSpace(a, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(z)
	// Output:
	// -1
	// 3
	// -3
	// 1
}

// The Fibonacci numbers F(99), F(100) and F(101) as entries of a power.
func ExamplePow() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 1}, {1, 0}})
	power, err := linsolve.Pow(a, 100, halfulp.MP(72), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f\n", power)
	// Output:
	// 573147844013817084101 354224848179261915075
	// 354224848179261915075 218922995834555169026
}

// The example of Moler and Van Loan, whose Taylor series cancels: its terms grow to 10^7, and a sum
// in float64 loses as many digits.
func ExampleExpm() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{
		{-49, 24},
		{-64, 31},
	})
	exp, err := linsolve.Expm(a, halfulp.DD, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.30f\n", exp)
	// Output:
	// -0.735758758144753079636047750792 0.551819099658097700615785760477
	// -1.471517599088260534975428694605 1.103638240715572589083238117464
}

// Bounds after three steps of refinement. Their last digits differ between processors, but every
// processor proves that they contain the solution (1/11, 7/11).
func ExampleEnclose() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{4, 1}, {1, 3}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {2}})
	lower, upper, err := linsolve.Enclose(a, b, 3, halfulp.MP(100), nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 2 {
		fmt.Printf("%.12f %.12f\n", lower.At(i, 0), upper.At(i, 0))
	}
	// Output:
	// 0.090909090909 0.090909090909
	// 0.636363636364 0.636363636364
}

// A system whose coefficients are known to one percent: bounds of its solutions.
func ExampleEncloseSet() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{3, -1}, {-1, 2}})
	da := halfulp.FromRows(halfulp.Float64, [][]float64{{0.03, 0.01}, {0.01, 0.02}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{5}, {0}})
	lower, upper, err := linsolve.EncloseSet(a, da, b, nil, 3, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 2 {
		fmt.Printf("%.2f %.2f\n", lower.At(i, 0), upper.At(i, 0))
	}
	// Output:
	// 1.96 2.04
	// 0.96 1.04
}

// Problem Wampler2 of the NIST reference datasets: a polynomial of degree 5, whose coefficients
// come out as they were chosen.
func ExampleLeastSquares() {
	x, y := gallery.Wampler(halfulp.MP(200), 2)
	c, err := linsolve.LeastSquares(x, y.Matrix(), halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.T())
	// Output: 1 0.1 0.01 0.001 0.0001 0.00001
}

// A mean with weights, as the least-squares fit of a constant.
func ExampleLeastSquaresOptions() {
	ones := halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {1}, {1}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16}, {1}, {-1e16}})
	opt := &linsolve.LeastSquaresOptions{Weights: halfulp.NewVectorFloat64(3, 1, []float64{1, 2, 1})}
	mean, err := linsolve.LeastSquares(ones, b, halfulp.Float64, opt)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(mean)
	// Output: 0.5
}

// The error for linearly dependent columns reports their rank.
func ExampleRankError() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 2}, {2, 4}, {3, 6}})
	b := halfulp.NewMatrix(halfulp.Float64, 3, 1)
	_, err := linsolve.LeastSquares(a, b, halfulp.Float64, nil)
	var dependent *linsolve.RankError
	if errors.As(err, &dependent) {
		fmt.Println(dependent.Rows, dependent.Cols, dependent.Rank)
	}
	// Output: 3 2 1
}

// A parabola through points far from the origin, y = (x - 10^6)². The fit has no residual.
func ExamplePolyFit() {
	x := halfulp.NewVectorFloat64(4, 1, []float64{1e6, 1e6 + 1, 1e6 + 2, 1e6 + 3})
	y := halfulp.NewVectorFloat64(4, 1, []float64{0, 1, 4, 9})
	fit, err := linsolve.PolyFit(x, y, 2, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fit.X.T())
	fmt.Println(fit.Responses[0].ResidualSS, fit.Responses[0].RSquared)
	// Output:
	// 1000000000000 -2000000 1
	// 0 1
}

// A line through four points. With the unit 1/10 the observations are the decimals 1.1, 1.9, 3.2
// and 3.9, which no float64 number equals.
func ExampleRegression() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 1}, {1, 2}, {1, 3}, {1, 4}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{11}, {19}, {32}, {39}})
	fit, err := linsolve.Regression(a, b, halfulp.Float64, &linsolve.RegressionOptions{Unit: big.NewRat(1, 10)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fit.X.T())
	fmt.Println(fit.StandardErrors.T())
	fmt.Println(fit.DegreesOfFreedom, fit.Responses[0].RSquared)
	// Output:
	// 0.1 0.97
	// 0.21737065119284157 0.07937253933193772
	// 2 0.9867855270057683
}

// The factor of a Pascal matrix holds the binomial coefficients.
func ExampleCholesky() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{
		{1, 1, 1, 1},
		{1, 2, 3, 4},
		{1, 3, 6, 10},
		{1, 4, 10, 20},
	})
	factors, err := linsolve.Cholesky(a, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer factors.Free()
	fmt.Println(factors.L)
	// Output:
	// 1 0 0 0
	// 1 1 0 0
	// 1 2 1 0
	// 1 3 3 1
}

// Factors solve one system after another, each as exactly as the function Solve.
func ExampleCholeskyFactors_Solve() {
	factors, err := linsolve.Cholesky(gallery.Hilbert(halfulp.MP(200), 4), halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer factors.Free()
	for j := range 2 {
		unit := halfulp.Identity(halfulp.Float64, 4).Slice(0, 4, j, j+1)
		x, err := factors.Solve(unit, halfulp.Float64, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(x.T())
	}
	// Output:
	//   16 -120 240 -140
	// -120 1200 -2700 1680
}

// The error for an indefinite matrix names the first leading minor that is not positive.
func ExampleNotPositiveDefiniteError() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 2}, {2, 1}})
	_, err := linsolve.Cholesky(a, halfulp.Float64, nil)
	var indefinite *linsolve.NotPositiveDefiniteError
	if errors.As(err, &indefinite) {
		fmt.Println(indefinite.Order, indefinite.Sign)
	}
	// Output: 2 -1
}

// A matrix with a zero diagonal, which has no Cholesky factor: D has a block of order 2.
func ExampleLDLT() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{
		{0, 4, 1},
		{4, 0, 2},
		{1, 2, 0},
	})
	factors, err := linsolve.LDLT(a, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer factors.Free()
	fmt.Println(factors.P, factors.Blocks)
	fmt.Println(factors.L)
	fmt.Println(factors.D)
	// Output:
	// [0 1 2] [2 1]
	//   1    0 0
	//   0    1 0
	// 0.5 0.25 1
	// 0 4  0
	// 4 0  0
	// 0 0 -1
}

// The equations of a saddle point: x² + y² is least on the line x + y = 2.
func ExampleLDLTFactors_Solve() {
	factors, err := linsolve.LDLT(halfulp.FromRows(halfulp.Float64, [][]float64{
		{2, 0, 1},
		{0, 2, 1},
		{1, 1, 0},
	}), halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer factors.Free()
	x, err := factors.Solve(halfulp.FromRows(halfulp.Float64, [][]float64{{0}, {0}, {2}}), halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.T()) // x, y and the Lagrange multiplier
	// Output:
	// 1 1 -2
}

// Rows are exchanged so that the pivot is the largest entry of its column.
func ExampleLU() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{
		{1, 2, 4},
		{4, 8, 6},
		{2, 6, 9},
	})
	factors, err := linsolve.LU(a, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer factors.Free()
	fmt.Println(factors.P)
	fmt.Println(factors.L)
	fmt.Println(factors.U)
	// Output:
	// [1 2 0]
	//    1 0 0
	//  0.5 1 0
	// 0.25 0 1
	// 4 8   6
	// 0 2   6
	// 0 0 2.5
}

// A solution in double-double, by factors in float64: it comes from the matrix itself.
func ExampleLUFactors_Solve() {
	factors, err := linsolve.LU(halfulp.FromRows(halfulp.Float64, [][]float64{{1e-20, 1}, {1, 1}}), halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer factors.Free()
	x, err := factors.Solve(halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {2}}), halfulp.DD, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.25f\n", x)
	// Output:
	// 1.0000000000000000000100000
	// 0.9999999999999999999900000
}

// The factors of a matrix of order 2; Q is a rotation.
func ExampleQR() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{3, 0}, {4, 5}})
	factors, err := linsolve.QR(a, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer factors.Free()
	fmt.Println(factors.Q)
	fmt.Println(factors.R)
	// Output:
	// 0.6 -0.8
	// 0.8  0.6
	// 5 4
	// 0 3
}

// The longest column comes first; Läuchli's columns are nearly dependent.
func ExampleQRPivoted() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{
		{1, 1, 1},
		{1e-9, 0, 0},
		{0, 2e-9, 0},
		{0, 0, 4e-9},
	})
	factors, err := linsolve.QRPivoted(a, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer factors.Free()
	fmt.Println(factors.P)
	fmt.Println(factors.R)
	// Output:
	// [2 1 0]
	// 1                     1                     1
	// 0 4.4721359549995795e-9  3.577708763999664e-9
	// 0                     0 2.0493901531919197e-9
}

// The factors solve a square system with the matrix.
func ExampleQRFactors_Solve() {
	factors, err := linsolve.QR(halfulp.FromRows(halfulp.Float64, [][]float64{{3, 0}, {4, 5}}), halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer factors.Free()
	x, err := factors.Solve(halfulp.FromRows(halfulp.Float64, [][]float64{{3}, {9}}), halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.T())
	// Output: 1 1
}

// A loop in float64 returns 0 for 10^16 + 1 - 10^16, which is wrong, and 6 for 1 + 2 + 3.
func ExampleVerifyProduct() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{{1e16, 1, -1e16}, {1, 2, 3}})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {1}, {1}})
	c := halfulp.FromRows(halfulp.Float64, [][]float64{{0}, {6}})
	accuracy, err := linsolve.VerifyProduct(a, b, c, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(accuracy.Entries, accuracy.Correct, accuracy.Wrong)
	fmt.Println(accuracy.Row, accuracy.Col) // where the largest error is
	// Output:
	// 2 1 1
	// 0 0
}

// The system in the example of Solve, and its solution by Cramer's rule in float64.
func ExampleVerifySolution() {
	a := halfulp.FromRows(halfulp.Float64, [][]float64{
		{64919121, -159018721},
		{41869520.5, -102558961},
	})
	b := halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {0}})
	x := halfulp.FromRows(halfulp.Float64, [][]float64{{102558961}, {41869520.5}})
	accuracy, err := linsolve.VerifySolution(a, b, x, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(accuracy.Entries, accuracy.Correct, accuracy.Wrong)
	// Output: 2 0 2
}

// Three systems, of which the second is singular.
func ExampleSolveBatch() {
	var a, b []*halfulp.Matrix
	for _, rows := range [][][]float64{{{2, 0}, {0, 4}}, {{1, 2}, {2, 4}}, {{0, 3}, {1, 0}}} {
		a = append(a, halfulp.FromRows(halfulp.Float64, rows))
		b = append(b, halfulp.FromRows(halfulp.Float64, [][]float64{{1}, {1}}))
	}
	x, err := linsolve.SolveBatch(a, b, halfulp.Float64, nil)
	if failed := (*halfulp.BatchError)(nil); errors.As(err, &failed) {
		fmt.Println("failed:", failed.Indices, errors.Is(err, linsolve.ErrSingular))
	}
	fmt.Println(x[0].At(0, 0), x[0].At(1, 0), x[1] == nil, x[2].At(0, 0), x[2].At(1, 0))
	// Output:
	// failed: [1] true
	// 0.5 0.25 true 1 0.3333333333333333
}
