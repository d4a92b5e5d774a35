package call

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/residue"
)

// A Home is the host or a place where the matrices of a run live; see [At]. The methods of Run
// compute the same results at every home by different means. Where a routine itself has to proceed
// differently, it asks for the property that is the reason.
type Home interface {
	// String returns the name of the place.
	String() string
	// AtHand reports whether numbers can be read and changed directly. At other homes they are
	// copied to the host and back.
	AtHand() bool
	// UsesBounds reports whether products use given bounds of their factors, do not search for
	// zeros, and take less time for results that need not be rounded correctly. Products on the
	// host examine their factors and always round correctly.
	UsesBounds() bool
	// Decides reports whether entries that enclosures leave open are decided at this home, by
	// eliminations and exact arithmetic. Other homes leave them to the host.
	Decides() bool

	place() place.Place // implements parts; nil for the host, which has none
	matrix(s *Run, f num.Format, rows, cols int) (num.Mat, error)
	room(s *Run, f num.Format, rows, cols int) (num.Mat, error)
	identity(s *Run, n int) (num.Mat, error)
	drop(s *Run, m num.Mat)
	scaled(s *Run, a num.Mat, by scale.Scaling, most int) (num.Mat, error)
	sum(s *Run, x, y, z num.Mat, unit *int64, triangle byte) error
	copyNumbers(s *Run, to, from num.Mat) error
	triangle(s *Run, op place.TriangleOperation, a num.Mat, tally *num.Array) (int, error)
	partTriangles(s *Run, a, lower, upper num.Mat) error
	measure(s *Run, list []num.Mat) ([]Extent, error)
	rowSums(s *Run, m num.Mat) ([]int64, error)
	spread(s *Run, a, b num.Mat, columns bool) (byRows, byColumns float64, err error)
	symmetricNorm(s *Run, m num.Mat) (*big.Float, error)
}

// At returns the home at a place; nil stands for the host.
func At(p place.Place) Home {
	if p == nil {
		return Host
	}
	return away{p}
}

// An Extent bounds the rows of a matrix in MP.
type Extent interface {
	// Norm returns an upper bound of the largest sum of magnitudes of a row.
	Norm() *big.Float
	// Size returns exponents of bounds of Norm and of the largest magnitude.
	Size() (norm, top int)
	// Tops returns the exponent of the largest number of each row, or low for a row of zeros.
	Tops(low int64) []int64
	// Sums returns exponents of bounds of the sums of magnitudes of rows. Vectors returns the
	// bounds of rows that products use. Both return nil on the host, where products examine their
	// factors themselves. Vectors also returns nil if there is a row of zeros.
	Sums() []int64
	Vectors() *residue.Vectors
}

// Measure returns bounds of the rows of matrices in MP. At a place it waits for all earlier
// operations. On the host a matrix is examined when a method of its extent is called.
func (s *Run) Measure(list ...num.Mat) ([]Extent, error) { return s.At.measure(s, list) }

// RowNorm returns an upper bound of the largest sum of magnitudes of a row of a matrix in MP.
func (s *Run) RowNorm(m num.Mat) (*big.Float, error) {
	x, err := s.Measure(m)
	if err != nil {
		return nil, err
	}
	return x[0].Norm(), nil
}

// Size returns exponents of bounds of the norm ‖M‖∞ and of the largest magnitude of a matrix in MP.
func (s *Run) Size(m num.Mat) (norm, top int, err error) {
	x, err := s.Measure(m)
	if err != nil {
		return 0, 0, err
	}
	norm, top = x[0].Size()
	return norm, top, nil
}

// ColumnTops is the function ColumnTops for a matrix at the run's home.
func (s *Run) ColumnTops(m num.Mat, low int64) ([]int64, error) {
	x, err := s.Measure(m.T())
	if err != nil {
		return nil, err
	}
	return x[0].Tops(low), nil
}

// RowSums returns exponents of bounds of the sums of magnitudes of the rows of a matrix in MP.
func (s *Run) RowSums(m num.Mat) ([]int64, error) { return s.At.rowSums(s, m) }

// Spread returns bounds of ‖|A| |B|‖∞ and ‖|A| |B|‖1 for matrices in MP.
func (s *Run) Spread(a, b num.Mat) (byRows, byColumns float64, err error) {
	return s.At.spread(s, a, b, true)
}

// RowSpread returns a bound of ‖|A| |B|‖∞ for matrices in MP.
func (s *Run) RowSpread(a, b num.Mat) (float64, error) {
	rows, _, err := s.At.spread(s, a, b, false)
	return rows, err
}

// SymmetricNorm returns an upper bound of the largest sum of magnitudes of a row of a symmetric
// matrix in MP. m holds its lower triangle; the other entries of m are 0.
func (s *Run) SymmetricNorm(m num.Mat) (*big.Float, error) { return s.At.symmetricNorm(s, m) }

// CopyNumbers copies finite numbers from one view of matrices in MP to another of its shape.
func (s *Run) CopyNumbers(to, from num.Mat) error { return s.At.copyNumbers(s, to, from) }

// Triangle is place.Factors.Triangle at the run's home.
func (s *Run) Triangle(op place.TriangleOperation, a num.Mat, tally *num.Array) (count int, err error) {
	return s.At.triangle(s, op, a, tally)
}

// PartTriangles is place.Splitting.Part at the run's home.
func (s *Run) PartTriangles(a, lower, upper num.Mat) error {
	return s.At.partTriangles(s, a, lower, upper)
}

// Matrix returns a rows x cols matrix of zeros.
func (s *Run) Matrix(f num.Format, rows, cols int) (num.Mat, error) {
	return s.At.matrix(s, f, rows, cols)
}

// Room returns a rows x cols matrix for numbers that are all stored before they are read. Its
// entries are zeros on the host and unspecified at a place.
func (s *Run) Room(f num.Format, rows, cols int) (num.Mat, error) {
	return s.At.room(s, f, rows, cols)
}

// Identity returns the n x n unit matrix, which may only be read. Its entries share storage where
// that is possible: entry (i, j) is number n - 1 + i - j of 2 n - 1 numbers.
func (s *Run) Identity(n int) (num.Mat, error) { return s.At.identity(s, n) }

// Scaled returns diag(2^rows) A diag(2^cols) exactly in MP. It returns a matrix without an array in
// the cases of the function Scaled. At a place nil exponents of a Float64 matrix stand for zeros.
func (s *Run) Scaled(a num.Mat, by scale.Scaling, most int) (num.Mat, error) {
	return s.At.scaled(s, a, by, most)
}

// Sum stores the rounded sum X + Y in Z. All three have one shape, are in MP and share no entry.
// Before rounding a sum is cut off, by less than 2^-(prec+30) (|x| + |y|).
func (s *Run) Sum(x, y, z num.Mat) error { return s.SumTo(x, y, z, nil, 0) }

// SumOfTriangles is Sum for lower triangular matrices.
func (s *Run) SumOfTriangles(x, y, z num.Mat) error { return s.SumTo(x, y, z, nil, 'L') }

// SumTo is Sum with two options. If unit is not nil, sums are cut off to multiples of 2^unit before
// they are rounded. If triangle is not 0, X and Y are 0 outside of this triangle, and Z is already
// 0 there.
func (s *Run) SumTo(x, y, z num.Mat, unit *int64, triangle byte) error {
	defer s.Did(float64(z.Rows) * float64(z.Cols) * SumCost)
	return s.At.sum(s, x, y, z, unit, triangle)
}

// Drop releases matrices that are no longer needed.
func (s *Run) Drop(list ...num.Mat) {
	for _, m := range list {
		if m.Arr != nil {
			s.At.drop(s, m)
		}
	}
}
