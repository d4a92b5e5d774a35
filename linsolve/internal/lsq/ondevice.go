package lsq

import (
	"errors"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/linsolve/internal/factors"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// leastSquaresThere returns the least-squares solution in format f, where A lives, for a tall
// matrix that does not live on the host. The normal equations are formed exactly where A lives.
// They are solved there, or on the host if only the host can decide. It returns no matrix if the
// exponents of A or B are too far apart, or numbers are not finite.
func leastSquaresThere(s *call.Run, a, b num.Mat, f num.Format) (z num.Mat, err error) {
	defer s.Release()
	if b.Format().Bits() <= solve.AloneBits {
		if alone, err := solve.Alone(s, a, f, solve.AloneSystem); alone || err != nil {
			return num.Mat{}, err
		}
	}
	s.At = call.At(place.Of(a.Arr))
	square, d, err := normalThere(s, a, b, 4*f.Bits()+2048)
	s.Stage("equations")
	if err = call.Resignable(err); err != nil {
		return num.Mat{}, err
	}
	if square.Arr == nil {
		s.Resign()
		return num.Mat{}, nil
	}
	z, err = newton.SolveThere(s, square, d, f)
	if err != nil {
		return num.Mat{}, err
	}
	if z.Arr != nil {
		s.Keep(z)
		s.Finished()
		return z, nil
	}
	here, err := solve.OnHost(square, d)
	if err != nil {
		return num.Mat{}, err
	}
	s.Resign()
	if z, err = solve.Solve(s, here[0], here[1], f); err != nil {
		return num.Mat{}, ranked(err, a.Rows, a.Cols)
	}
	return solve.Finish(s, z, a)
}

// normalThere returns A^T A and A^T B exactly at the run's place; nil if their numbers have more
// than most bits.
func normalThere(s *call.Run, a, b num.Mat, most int) (square, d num.Mat, err error) {
	if err := s.NewTally(); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	m, n := a.Dims()
	p, err := s.Scaled(a, scale.Unscaled(m, n), most)
	if err != nil || p.Arr == nil {
		return num.Mat{}, num.Mat{}, err
	}
	q, err := s.Scaled(b, scale.Unscaled(m, b.Cols), most)
	if err != nil || q.Arr == nil {
		return num.Mat{}, num.Mat{}, err
	}
	x, err := s.Extents(p.T(), q.T())
	if err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	// Each column consists of multiples of a unit. A product of columns of widths v and w is a
	// multiple of the product of their units, and below m 2^(v + w) times it.
	carry := int64(bits.Len(uint(m)))
	format := func(v, w int64) num.Format { return num.Precision(uint(max(v+w+carry, 64))) }
	if 2*max(x[0].Width, x[1].Width)+carry > int64(most) {
		return num.Mat{}, num.Mat{}, nil
	}
	if square, err = s.Matrix(format(x[0].Width, x[0].Width), n, n); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	if err := s.GemmTriangle('L', 1, p.T(), p, 0, num.Mat{}, square, nil); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	if err := factors.Mirror(s, square); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	if d, err = s.Matrix(format(x[0].Width, x[1].Width), n, b.Cols); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	if err := s.Gemm(1, p.T(), q, 0, num.Mat{}, d); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	s.Drop(p, q)
	return square, d, nil
}

// leastSquaresMethod is the value of Stats.Method.
const leastSquaresMethod = "least squares"

// ranked turns an error about a singular least-squares system into an error about its rows x cols
// matrix A: rank(A) is the rank of the system minus (order of the system - min(rows, cols)).
func ranked(err error, rows, cols int) error {
	var singular *call.SingularError
	if errors.As(err, &singular) {
		return &RankError{Rows: rows, Cols: cols, Rank: singular.Rank - (singular.N - min(rows, cols))}
	}
	return err
}
