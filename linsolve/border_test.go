package linsolve

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// borderBits is more than the bits of any number in these tests.
const borderBits = 8000

// borderCase is a problem whose result is v, rounded once.
type borderCase struct {
	name string
	of   func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error)
}

// rowsOf returns a matrix of exact numbers.
func rowsOf(rows ...[]*big.Float) *halfulp.Matrix {
	a := halfulp.NewMatrix(halfulp.MP(borderBits), len(rows), len(rows[0]))
	for i, row := range rows {
		for j, x := range row {
			a.SetBig(i, j, x)
		}
	}
	return a
}

// withSign returns x ≥ 0 with the sign of v.
func withSign(x halfulp.Scalar, v *big.Float) halfulp.Scalar {
	if v.Sign() > 0 {
		return x
	}
	z := x.Big()
	return halfulp.NewScalar(x.NumberFormat(), z.Neg(z))
}

var borderCases = []borderCase{
	{"Solve of one column", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		x, err := Solve(rowsOf([]*big.Float{big.NewFloat(0.75), big.NewFloat(0.25)}, []*big.Float{big.NewFloat(0.25), big.NewFloat(0.25)}),
			rowsOf([]*big.Float{interval.ExactMul(v, big.NewFloat(0.875))}, []*big.Float{interval.ExactMul(v, big.NewFloat(0.375))}), f, nil)
		return x.At(0, 0), err
	}},
	{"Solve of an entry alone", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		x, err := Solve(rowsOf([]*big.Float{big.NewFloat(0.75)}), rowsOf([]*big.Float{interval.ExactMul(v, big.NewFloat(0.75))}), f, nil)
		return x.At(0, 0), err
	}},
	{"Solve of many columns", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		const k = 12
		x := halfulp.NewMatrix(f, 2, k)
		var b [2][]*big.Float
		for j := range k { // x = (v, j)
			y := big.NewFloat(float64(j))
			b[0] = append(b[0], interval.ExactAdd(interval.ExactMul(v, big.NewFloat(3)), y))
			b[1] = append(b[1], interval.ExactAdd(v, interval.ExactMul(y, big.NewFloat(5))))
		}
		err := lintest.Into(x)(Solve(rowsOf([]*big.Float{big.NewFloat(3), big.NewFloat(1)}, []*big.Float{big.NewFloat(1), big.NewFloat(5)}), rowsOf(b[:]...), x.NumberFormat(), nil))
		for j := range k {
			if !x.At(0, j).Same(x.At(0, 0)) {
				return halfulp.Scalar{}, fmt.Errorf("column %d differs from the first one", j)
			}
		}
		return x.At(0, 0), err
	}},
	{"Inverse", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		x := halfulp.NewMatrix(f, 2, 2)
		one, minus := big.NewFloat(1), new(big.Float).Neg(v)
		err := lintest.Into(x)(Inverse(rowsOf([]*big.Float{one, minus}, []*big.Float{one, interval.ExactAdd(one, minus)}), x.NumberFormat(), nil))
		return x.At(0, 1), err
	}},
	{"Det", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		one := big.NewFloat(1)
		z, err := Det(rowsOf([]*big.Float{interval.ExactAdd(v, one), one}, []*big.Float{one, one}), f, nil)
		return z, err
	}},
	{"LU", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		one := big.NewFloat(1)
		z, err := LU(rowsOf([]*big.Float{one, one}, []*big.Float{one, interval.ExactAdd(v, one)}), f, nil)
		if err != nil {
			return halfulp.Scalar{}, err
		}
		return z.U.At(1, 1), nil
	}},
	{"Cholesky", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		nine, thrice := big.NewFloat(9), interval.ExactMul(v, big.NewFloat(3))
		z, err := Cholesky(rowsOf([]*big.Float{nine, thrice}, []*big.Float{thrice, interval.ExactAdd(interval.ExactMul(v, v), nine)}), f, nil)
		if err != nil {
			return halfulp.Scalar{}, err
		}
		return z.L.At(1, 0), nil
	}},
	{"LDLT", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		twice := interval.ExactMul(v, big.NewFloat(2))
		z, err := LDLT(rowsOf([]*big.Float{interval.ExactMul(v, big.NewFloat(4)), twice}, []*big.Float{twice, twice}), f, nil)
		if err != nil {
			return halfulp.Scalar{}, err
		}
		return z.D.At(1, 1), nil
	}},
	{"QR", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		one := big.NewFloat(1)
		first := interval.ExactSub(interval.ExactMul(v, big.NewFloat(2)), big.NewFloat(3))
		z, err := QR(rowsOf([]*big.Float{one, first}, []*big.Float{one, one}, []*big.Float{one, one}, []*big.Float{one, one}), f, nil)
		if err != nil {
			return halfulp.Scalar{}, err
		}
		return z.R.At(0, 1), nil
	}},
	{"LeastSquares", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		x := halfulp.NewMatrix(f, 1, 1)
		one := big.NewFloat(1)
		first := interval.ExactSub(interval.ExactMul(v, big.NewFloat(3)), big.NewFloat(2))
		err := lintest.Into(x)(LeastSquares(rowsOf([]*big.Float{one}, []*big.Float{one}, []*big.Float{one}),
			rowsOf([]*big.Float{first}, []*big.Float{one}, []*big.Float{one}), x.NumberFormat(), nil))
		return x.At(0, 0), err
	}},
	{"LeastSquares of a wide matrix", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		x := halfulp.NewMatrix(f, 3, 1)
		one := big.NewFloat(1)
		err := lintest.Into(x)(LeastSquares(rowsOf([]*big.Float{one, one, one}), rowsOf([]*big.Float{interval.ExactMul(v, big.NewFloat(3))}), x.NumberFormat(), nil))
		return x.At(0, 0), err
	}},
	{"Regression", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		one := big.NewFloat(1)
		first := interval.ExactSub(interval.ExactMul(v, big.NewFloat(3)), big.NewFloat(2))
		z, err := Regression(rowsOf([]*big.Float{one}, []*big.Float{one}, []*big.Float{one}),
			rowsOf([]*big.Float{first}, []*big.Float{one}, []*big.Float{one}), f, nil)
		if err != nil {
			return halfulp.Scalar{}, err
		}
		return z.X.At(0, 0), nil
	}},
	{"Regression, a sum of squares", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		zero, one := new(big.Float), big.NewFloat(1)
		w := halfulp.NewVector(halfulp.MP(borderBits), 2)
		w.SetBig(0, one)
		w.SetBig(1, new(big.Float).Abs(v))
		z, err := Regression(rowsOf([]*big.Float{one}, []*big.Float{zero}), rowsOf([]*big.Float{one}, []*big.Float{one}), f,
			&RegressionOptions{LeastSquaresOptions: LeastSquaresOptions{Weights: w}})
		if err != nil {
			return halfulp.Scalar{}, err
		}
		return withSign(z.Responses[0].ResidualSS, v), nil
	}},
	{"Cond", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		zero, one := new(big.Float), big.NewFloat(1)
		z, err := Cond(halfulp.OneNorm, rowsOf([]*big.Float{one, zero}, []*big.Float{zero, v}), f, nil)
		return withSign(z, v), err
	}},
	{"Pow", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		x := halfulp.NewMatrix(f, 2, 2)
		one := big.NewFloat(1)
		err := lintest.Into(x)(Pow(rowsOf([]*big.Float{one, interval.ExactMul(v, big.NewFloat(0.5))}, []*big.Float{new(big.Float), one}), 2, x.NumberFormat(), nil))
		return x.At(0, 1), err
	}},
	{"VerifySolution", func(v *big.Float, f halfulp.Format) (halfulp.Scalar, error) {
		x := halfulp.NewMatrix(f, 1, 1)
		x.SetBig(0, 0, v)
		three := big.NewFloat(3)
		acc, err := VerifySolution(rowsOf([]*big.Float{three}), rowsOf([]*big.Float{interval.ExactMul(v, three)}), x, nil)
		if err == nil && acc.Correct != 1 {
			err = fmt.Errorf("not correctly rounded: %+v", acc)
		}
		return x.At(0, 0), err
	}},
}

// TestBorders checks results at, and next to, the border from which numbers round to infinity, in
// the formats of fixed width. The other formats reach up to 2^(2^31), and exact products do not.
func TestBorders(t *testing.T) {
	for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.TD, halfulp.QD} {
		least, spacing := ziv.Border(f.View())
		for _, c := range borderCases {
			for _, d := range []int{0, -1, -50, -300} { // the border ± 2^d half units, 0 the border
				for _, side := range []float64{1, -1} {
					v := new(big.Float).SetMantExp(spacing, d-1)
					v = interval.ExactAdd(least, v.Mul(v, big.NewFloat(side)))
					if d == 0 {
						v = new(big.Float).Copy(least)
					}
					if d%50 == 0 && side < 0 {
						v.Neg(v)
					}
					want := halfulp.NewScalar(f, v)
					if inf := v.Sign() > 0 && v.Cmp(least) >= 0 || v.Sign() < 0 && new(big.Float).Neg(v).Cmp(least) >= 0; want.IsInf(0) != inf {
						t.Fatalf("%v: %.30g rounds to %v", f, v, want)
					}
					got, err := c.of(v, f)
					if err != nil {
						t.Errorf("%v, %s, border %+g half units 2^%d: %v", f, c.name, side, d, err)
					} else if !got.Same(want) {
						t.Errorf("%v, %s, border %+g half units 2^%d: %s, want %s", f, c.name, side, d, got.Hex(), want.Hex())
					}
				}
			}
		}
	}
}
