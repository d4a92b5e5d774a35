package linsolve

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/residue"
)

// Factors by products live where A does, on the host or at the run's place, as Newton's method
// does (resident.go). The functions here are what they do beside products.

// choleskyThere returns the Cholesky factor, where A lives, of a matrix that does not live on the
// host; nil where only the host can decide: entries that are or may be ties or zeros, matrices that
// are not positive definite or too ill-conditioned, numbers that products of some bits do not
// reach.
func choleskyThere(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
	if a.OnHost() || a.Rows < fewest {
		return num.Mat{}, nil
	}
	if alone, err := alone(s, a, f, aloneSystem); alone || err != nil {
		return num.Mat{}, err
	}
	return factored(s, a, func() (num.Mat, error) { return choleskyResident(s, a, f) })
}

func choleskyResident(s *call.Run, a num.Mat, f num.Format) (num.Mat, error) {
	n := a.Rows
	if err := s.NewTally(); err != nil {
		return num.Mat{}, err
	}
	d, err := doublingThere(s, a, mostBits(f))
	s.Stage("approximate inverse")
	if err != nil || d == nil {
		return num.Mat{}, err
	}
	terms := max(num.NewMat(f, 0, 0).Arr.Terms(), 1)
	bits := f.Bits() + 4*(terms-1) + residentGuard
	e, err := d.enclosure(bits)
	s.Stage("products")
	if err != nil || e == nil {
		return num.Mat{}, err
	}
	z, err := place.NewMat(place.Of(a.Arr), f, n, n)
	if err != nil {
		return num.Mat{}, err
	}
	y := e.root
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

// doublingThere is newDoubling for a square matrix at the run's place.
func doublingThere(s *call.Run, a num.Mat, most int) (*doubling, error) {
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
	d := &doubling{s: s, by: scale.Scaling{Rows: exps, Cols: exps}, n: n}
	if d.f, err = s.Scaled(a, d.by, most); err != nil || d.f.Arr == nil {
		return nil, err
	}
	if count, err := s.Triangle(place.CountAsymmetric, d.f, s.Tally); err != nil || count > 0 {
		return nil, err
	}
	if d.x, err = s.Scaled(x, scale.Scaling{}, most); err != nil || d.x.Arr == nil {
		return nil, err
	}
	s.Drop(x)
	if d.one, err = s.Identity(n); err != nil { // which goes there while sizes are to come
		return nil, err
	}
	// Rows of a Cholesky factor of F have Euclidean norms of 1 at most.
	_, norm, err := d.sizes()
	if ok, failed := begun.Settle(s.Config()); failed != nil || !ok {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	d.amp = norm + int(math.Ceil(log2(float64(n))/2)) + 1
	return d, nil
}

// unknownOf returns a bound of ‖S δ S^T‖∞ for what is not known of F.
func (t *doubling) unknownOf() (*big.Float, error) {
	if t.rounded == 0 {
		return bound.Upper(), nil
	}
	rows, err := t.s.RowNorm(t.x)
	if err != nil {
		return nil, err
	}
	cols, err := t.s.RowNorm(t.x.T())
	if err != nil {
		return nil, err
	}
	return bound.Exp2(rows.MantExp(nil) + cols.MantExp(nil) + bits.Len(uint(t.n)) - t.rounded), nil
}

// belowTolerance returns what V is known to be bounded by below its first n rows where it need not
// be rounded correctly; else nil. Columns of L^T have Euclidean norms of 1 at most, so that those
// of rows of L = F L^-T are no less than those of F but for a factor of n: errors of 2^-places of
// these are asked for.
func (t *doubling) belowTolerance(places int) (*residue.Bound, error) {
	if t.s.At == nil {
		return nil, nil
	}
	below := t.f.Slice(t.n, t.f.Rows, 0, t.n)
	rows, _, err := t.s.RowSums(below)
	if err != nil {
		return nil, err
	}
	norm, err := t.s.RowNorm(t.x)
	if err != nil {
		return nil, err
	}
	b := &residue.Bound{Rows: rows, Cols: make([]int64, t.n), Within: int64(max(norm.MantExp(nil), 0) + 2*bits.Len(uint(t.n)) + places + 4)}
	for i, row := range rows {
		if row <= call.NoNumber {
			b.Rows[i] = -bound.MaxBits
		}
	}
	for j := range b.Cols {
		b.Cols[j] = int64(norm.MantExp(nil))
	}
	return b, nil
}

// taller returns a matrix of m rows that begins with those of another one.
func tallerThere(s *call.Run, first num.Mat, m int) (num.Mat, error) {
	if s.At == nil {
		return taller(first, m), nil
	}
	z, err := s.Matrix(first.Format(), m, first.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	return z, shiftThere(s, first, z.Slice(0, first.Rows, 0, first.Cols))
}

// spread returns e with ‖|A| |B|‖∞ + ‖|A| |B|‖1 ≤ 2^e for matrices in MP.
func spreadThere(s *call.Run, a, b num.Mat) (int, error) {
	if s.At == nil {
		x, y, err := bothMagnitudes(s, a, b)
		if err != nil {
			return 0, err
		}
		return x.spread(y), nil
	}
	rows, cols, err := s.Spread(a, b)
	return sizeOf(float64((rows + cols) * (1 + 0x1p-50))), err
}

// uniform returns the bound 2^top of the entries of an n x n matrix that may be in error by
// 2^(top - within) beside their rounding, within > 0.
func uniform(s *call.Run, n, top, within int) *residue.Bound {
	b := &residue.Bound{Rows: make([]int64, n), Cols: make([]int64, n), Within: int64(within)}
	for i := range b.Rows {
		b.Rows[i] = int64(top)
	}
	return b
}

// rowTops returns exponents of bounds of the sums of magnitudes of the rows of a matrix in MP.
func rowTops(s *call.Run, m num.Mat) ([]int64, error) {
	if s.At != nil {
		tops, _, err := s.RowSums(m)
		return tops, err
	}
	sizes, err := magnitudesOf(s, m)
	if err != nil {
		return nil, err
	}
	var tops []int64
	for _, sum := range sizes.rows() {
		tops = append(tops, int64(sizeOf(sum)))
	}
	return tops, nil
}

// symmetricNorm returns an upper bound of the largest sum of magnitudes of a row of a symmetric
// matrix in MP, of which there is the lower triangle, above zeros.
func symmetricNorm(s *call.Run, m num.Mat) (*big.Float, error) {
	least := bound.Exp2(-bound.MaxBits) // so that a gain remains finite
	if s.At == nil {
		return bound.Largest([]*big.Float{symmetricNorm64(m), least}), nil
	}
	// Rows and columns of the triangle both have the diagonal.
	x, err := s.Extents(m, m.T())
	if err != nil {
		return nil, err
	}
	_, rows := call.Sums(x[0])
	_, cols := call.Sums(x[1])
	return bound.Largest([]*big.Float{bound.Upper().Add(rows, cols), least}), nil
}

// halveDiagonal halves the diagonal of a square matrix in MP.
func halveDiagonal(s *call.Run, a num.Mat) error {
	m := a
	if s.At != nil {
		_, err := s.Triangle(place.HalveDiagonal, m, nil)
		return err
	}
	for i := range m.Rows {
		if at := m.At(i, i); m.Arr.Class(at) == num.Finite {
			m.Arr.Exp[at]--
		}
	}
	return nil
}

// mirrored returns the symmetric matrix in MP of which there is the lower triangle, above zeros.
func mirroredThere(s *call.Run, a num.Mat) (num.Mat, error) {
	z, err := s.Room(a.Format(), a.Rows, a.Rows)
	if err != nil {
		return num.Mat{}, err
	}
	if err := place.Copy(z, a); err != nil {
		return num.Mat{}, err
	}
	return z, mirror(s, z)
}

// mirror copies the lower triangle of a square matrix in MP to the upper one.
func mirror(s *call.Run, a num.Mat) error {
	m := a
	if s.At != nil {
		_, err := s.Triangle(place.MirrorLower, m, nil)
		return err
	}
	for j := range m.Cols {
		for i := j + 1; i < m.Rows; i++ {
			m.Arr.CopyFrom(m.At(j, i), m.Arr, m.At(i, j))
		}
	}
	return nil
}

// halfOfSquare makes -Z E the lower triangle of -Φ(Z² + (Z²)^T + Z Z^T) for a lower triangular Z
// and E = Z + Z^T: below the diagonal, where (Z²)^T is 0, they agree. On it Z² has z², z = Z[i,i],
// and half of 2 z² + (Z Z^T)[i,i] is that of z² + (Z E)[i,i], of two numbers of one sign.
func halfOfSquare(s *call.Run, minus, z num.Mat) error {
	list, err := diagonalsHere(s, minus, z)
	if err != nil {
		return err
	}
	d, x := list[0], list[1]
	// A row takes 0.2 µs, and to wake all of many threads takes longer than all rows of order 8192.
	const some, threads = 64, 8
	if err := par.For(s.Ctx, min(s.Threads, threads), (d.Rows+some-1)/some, func(_, part int) {
		halfLessSquares(d, x, part*some, min(d.Rows, (part+1)*some))
	}); err != nil {
		return err
	}
	if s.At == nil {
		return nil
	}
	there, err := s.Upload(list[0])
	if err != nil {
		return err
	}
	defer s.Drop(there)
	return shiftThere(s, there, diagonalOf(minus))
}

// halfLessSquares makes entries from <= i < until of d, of MP, half of what they are less the
// squares of x, but for errors of 2^-(prec+30) of the larger of both, and rounding.
func halfLessSquares(d, x num.Mat, from, until int) {
	count := call.WordsFor(int(d.Arr.Prec)) + 1
	l, sum := min(x.Arr.Limbs(), count), bound.NewAdder(count)
	product := make([]uint64, 2*l)
	square := num.NewMat(num.Precision(uint(128*l)), 1, 1)
	for i := from; i < until; i++ {
		p, q := d.At(i, 0), x.At(i, 0)
		square.Arr.Set(0, num.Real{})
		if x.Arr.Class(q) == num.Finite {
			end := (q + 1) * x.Arr.Limbs()
			clear(product)
			for k, v := range x.Arr.Sig[end-l : end] {
				var carry uint64
				for h, w := range x.Arr.Sig[end-l : end] {
					hi, lo := bits.Mul64(v, w)
					var c, more uint64
					lo, c = bits.Add64(lo, product[k+h], 0)
					product[k+h], more = bits.Add64(lo, carry, 0)
					carry = hi + c + more
				}
				product[k+l] = carry
			}
			square.Arr.Set(0, num.Real{Class: num.Finite, Neg: true, Mag: product, Exp: 2*int64(x.Arr.Exp[q]) - int64(128*l)})
		}
		one := d
		one.Off = p
		neg, mag, exp := sum.Add(&one, &square, 0, 0)
		y := num.Real{Class: num.Finite, Neg: neg, Mag: mag, Exp: exp - 1}
		if len(mag) == 0 {
			y = num.Real{}
		}
		d.Arr.Set(p, y)
	}
}

// diagonalOf returns the diagonal of a square matrix as a column of it.
func diagonalOf(a num.Mat) num.Mat {
	m := a
	return num.Mat{Arr: m.Arr, Off: m.Off, RS: m.RS + m.CS, CS: 1, Rows: m.Rows, Cols: 1}
}

// diagonalsHere returns the diagonals of square matrices in MP as columns on the host: copies, or
// of the matrices if these are there.
func diagonalsHere(s *call.Run, list ...num.Mat) (z []num.Mat, err error) {
	for _, a := range list {
		d := diagonalOf(a)
		if s.At != nil {
			there, err := s.Room(a.Format(), a.Rows, 1)
			if err != nil {
				return nil, err
			}
			defer s.Drop(there)
			if err := shiftThere(s, d, there); err != nil {
				return nil, err
			}
			d = there
		}
		z = append(z, d)
	}
	if s.At == nil {
		return z, nil
	}
	for i, d := range z { // which waits, once
		if z[i], err = place.On(nil, d); err != nil {
			return nil, err
		}
	}
	return z, nil
}

// diagonalHere is diagonalsHere for one matrix.
func diagonalHere(s *call.Run, a num.Mat) (num.Mat, error) {
	z, err := diagonalsHere(s, a)
	if err != nil {
		return num.Mat{}, err
	}
	return z[0], nil
}

// shift copies finite numbers from one view of matrices in MP at the run's place to another.
func shiftThere(s *call.Run, from, to num.Mat) error {
	odd, err := s.Shift(from, nil, nil, to, s.Tally)
	if err == nil && odd > 0 {
		err = fmt.Errorf("numbers with exponents beyond 2^29: %w", call.ErrRange)
	}
	return err
}

// positiveDiagonal reports whether all numbers of the diagonal of a square matrix in MP are
// positive, or lets the tally tell.
func positiveDiagonal(s *call.Run, a num.Mat) (bool, error) {
	m := a
	if s.At != nil {
		count, err := s.Triangle(place.CountNotPositive, m, s.Tally)
		return count == 0, err
	}
	for i := range m.Rows {
		if c := m.Arr.Cls[m.At(i, i)]; c.Class() != num.Finite || c.Neg() {
			return false, nil
		}
	}
	return true, nil
}
