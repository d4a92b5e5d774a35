package linsolve

import (
	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Accuracy reports how near the entries of a matrix are to exact values. An ulp is 2^(e-p) for an
// exact value of magnitude from 2^(e-1) up to 2^e, where p is the number of bits of the format; it
// is at least the smallest positive number of the format.
type Accuracy struct {
	Entries  int `json:"entries"`
	Correct  int `json:"correctly_rounded"`
	Faithful int `json:"faithful"` // not correctly rounded, but in error by less than an ulp
	Wrong    int `json:"wrong"`
	// The largest error: 0 if all entries are correctly rounded; +Inf for NaN and wrong infinities;
	// math.MaxFloat64 for all larger finite errors.
	Largest halfulp.Measure `json:"largest_error_ulps"`
	Row     int             `json:"row"` // position of the largest error, from 0
	Col     int             `json:"col"`
}

// VerifySolution compares X with the exact solution of A X = B, in the format of X, and reports how
// accurate its entries are. X may come from any program. A NaN in X is wrong. An infinity in X is
// wrong unless the exact value lies beyond the largest number of the format and rounds to infinity.
// Errors are as for [Solve]; in particular the error wraps ErrNotFinite for infinities and NaN in A
// or B. VerifySolution panics if the shapes do not fit.
//
//	v, err := linsolve.VerifySolution(a, b, x, nil)
//	fmt.Println(v.Correct, "of", v.Entries, err)
func VerifySolution(a, b, x *halfulp.Matrix, opt *halfulp.Options) (Accuracy, error) {
	if a.Rows() != a.Cols() || b.Rows() != a.Rows() || x.Rows() != b.Rows() || x.Cols() != b.Cols() {
		panic(errShape)
	}
	var known solve.Known
	return compared("VerifySolution", x.View(), opt, solve.ExactValues{
		Rounded: func(s *call.Run, on []num.Mat, f num.Format) (num.Mat, error) {
			known.A = on[0]
			return known.Solve(s, on[1], f)
		},
		// A^-1 b - t is the solution of A y = b - A t.
		Less: func(s *call.Run, on []num.Mat, j int, t num.Mat) (num.Mat, error) {
			b := on[1].Slice(0, t.Rows, j, j+1)
			f, err := ziv.FormatFor(solve.ExactResidualBits(on[0], t, b))
			if err != nil {
				return num.Mat{}, err
			}
			r := num.NewMat(f, t.Rows, 1)
			if err := s.Gemm(-1, on[0], t, 1, b, r); err != nil {
				return num.Mat{}, err
			}
			return known.Solve(s, r, num.Precision(num.MinPrec))
		},
	}, a.View(), b.View())
}

// VerifyProduct compares C with the exact product A B, in the format of C, as [VerifySolution]
// compares X with a solution. The error wraps ErrNotFinite for infinities and NaN in A or B.
// VerifyProduct panics if the shapes do not fit.
func VerifyProduct(a, b, c *halfulp.Matrix, opt *halfulp.Options) (Accuracy, error) {
	if a.Cols() != b.Rows() || c.Rows() != a.Rows() || c.Cols() != b.Cols() {
		panic(errShape)
	}
	return compared("VerifyProduct", c.View(), opt, solve.ExactValues{
		Rounded: func(s *call.Run, on []num.Mat, f num.Format) (num.Mat, error) {
			s.Vanish = true
			z := num.NewMat(f, c.Rows(), c.Cols())
			return z, s.Gemm(1, on[0], on[1], 0, num.Mat{}, z)
		},
		Less: func(s *call.Run, on []num.Mat, j int, t num.Mat) (num.Mat, error) {
			z := num.NewMat(num.Precision(num.MinPrec), c.Rows(), 1)
			return z, s.Gemm(1, on[0], on[1].Slice(0, b.Rows(), j, j+1), -1, t, z)
		},
	}, a.View(), b.View())
}

// compared compares x with exact values.
func compared(name string, x num.Mat, opt *halfulp.Options, exact solve.ExactValues, operands ...num.Mat) (Accuracy, error) {
	s, on, err := begin(name, opt, append(operands, x)...)
	if err != nil {
		return Accuracy{}, err
	}
	for i, m := range on[:len(operands)] {
		if err := call.Finite([]string{"A", "B"}[i], m); err != nil {
			return Accuracy{}, ended(opt, s, name, err)
		}
	}
	v, err := solve.Verify(s, on[len(operands)], exact, on[:len(operands)])
	if err != nil {
		return Accuracy{}, ended(opt, s, name, err)
	}
	s.Finished()
	return Accuracy{v.Entries, v.Correct, v.Faithful, v.Wrong, halfulp.Measure(v.Largest), v.Row, v.Col}, ended(opt, s, "", nil)
}
