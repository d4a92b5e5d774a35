package factors

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Factors by products are computed where A lives, on the host or at the run's place, like the
// Newton's method of package newton. The functions here are the operations beside products.

// choleskyThere returns the Cholesky factor of a matrix that does not live on the host, where it
// lives. It returns nil if only the host can decide: for entries that are or may be ties or zeros,
// matrices that are not positive definite or too ill-conditioned, and entries too small for
// products of some bits.
func choleskyThere(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
	if a.OnHost() || a.Rows < seed.Fewest {
		return num.Mat{}, nil
	}
	if alone, err := solve.Alone(s, a, f, solve.AloneSystem); alone || err != nil {
		return num.Mat{}, err
	}
	return factored(s, place.CholeskyFactors, a, func(a num.Mat) (num.Mat, error) { return CholeskyOnDevice(s, a, f) })
}

// CholeskyOnDevice returns the factor at the run's place; nil if the place does not decide it.
func CholeskyOnDevice(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
	n := a.Rows
	if err := s.NewTally(); err != nil {
		return num.Mat{}, err
	}
	d, err := choleskyNewtonThere(s, a, MostBits(f), num.Mat{}, nil)
	s.Stage("approximate inverse")
	if err != nil || d == nil {
		return num.Mat{}, err
	}
	terms := max(num.NewMat(f, 0, 0).Arr.Terms(), 1)
	bits := f.Bits() + 4*(terms-1) + call.DeviceGuard
	e, err := d.Enclosure(bits)
	s.Stage("products")
	if err != nil || e == nil {
		return num.Mat{}, err
	}
	z, err := place.NewMat(place.Of(a.Arr), f, n, n)
	if err != nil {
		return num.Mat{}, err
	}
	y := e.Root
	sum := place.Sum{X: y.X, D: y.D, Bits: bits, Errors: y.Err, Rows: y.Left, Cols: y.Right, Triangle: 'U', Tally: s.Tally}
	left := 0
	if _, err = s.SumThere(sum, z.T()); err == nil {
		left, err = s.Tallied()
	}
	s.Stage("rounding")
	if err != nil || left > 0 {
		z.Free()
		return num.Mat{}, err
	}
	return z, nil
}

// choleskyNewtonThere is NewCholeskyNewton for a square matrix at the run's place. It stores F in
// room unless that has no array; then A is in MP of at most the bits of room. If below is not nil,
// it returns the rows of F to come below the leading part for the exponents of columns; a result
// without an array ends the attempt.
func choleskyNewtonThere(s *call.Run, a num.Mat, most int, room num.Mat, below func(cols []int64) (num.Mat, error)) (*CholeskyNewton, error) {
	n := a.Rows
	x, err := s.Room(num.Float64, n, n)
	if err != nil {
		return nil, err
	}
	exps, begun, err := s.InverseRoot(a, x)
	if err != nil || begun == nil {
		return nil, err
	}
	defer begun.Drop()
	d := &CholeskyNewton{S: s, by: scale.Scaling{Rows: exps, Cols: exps}, X: x, N: n}
	if d.F = room; room.Arr != nil {
		odd, err := s.Shift(a, exps, exps, room, s.Tally)
		if err != nil || odd > 0 {
			return nil, err
		}
	} else if d.F, err = s.Scaled(a, d.by, most); err != nil || d.F.Arr == nil {
		return nil, err
	}
	if count, err := s.Triangle(place.CountAsymmetric, d.F, s.Tally); err != nil || count > 0 {
		return nil, err
	}
	if d.one, err = s.Identity(n); err != nil { // the copy overlaps with the wait for sizes
		return nil, err
	}
	if below != nil {
		if d.below.rows, err = below(exps); err != nil || d.below.rows.Arr == nil {
			return nil, err
		}
	}
	// Rows of the Cholesky factor of F have Euclidean norms of at most 1.
	_, norm, err := d.Sizes()
	if ok, failed := begun.Settle(s.Config()); failed != nil || !ok {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	d.Amp = norm + int(math.Ceil(seed.Log2(float64(n))/2)) + 1
	return d, nil
}
