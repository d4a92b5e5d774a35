package factors

import (
	"cmp"
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

// factored returns the factors that run computes beside A, or the zero value if the place does not
// decide them. See call.Run.Beside.
func factored[T comparable](s *call.Run, routine place.Routine, a num.Mat, run func(a num.Mat) (T, error)) (T, error) {
	var none, z T
	err := s.Beside(routine, []num.Mat{a}, func(list []num.Mat) (err error) {
		z, err = run(list[0])
		return err
	})
	if err = call.Resignable(err); z == none && err == nil {
		s.Resign()
		return none, nil
	}
	s.Release()
	s.At = call.Host
	return z, err
}

// taller returns a matrix of m rows that begins with the rows of first.
func taller(s *call.Run, first num.Mat, m int) (num.Mat, error) {
	z, err := s.Room(first.Format(), m, first.Cols)
	if err != nil {
		return num.Mat{}, err
	}
	return z, s.CopyNumbers(z.Slice(0, first.Rows, 0, first.Cols), first)
}

// inMP converts a matrix to MP, unless it is in MP.
func inMP(s *call.Run, m *num.Mat) (err error) {
	was := *m
	if was.Format().IsMP() {
		return nil
	}
	if *m, err = s.Scaled(was, scale.Scaling{}, was.Format().Bits()); err != nil || m.Arr == nil {
		return cmp.Or(err, call.ErrRange)
	}
	s.Drop(was)
	return nil
}

// spread returns e with ‖|A| |B|‖∞ + ‖|A| |B|‖1 ≤ 2^e for matrices in MP.
func spread(s *call.Run, a, b num.Mat) (int, error) {
	rows, cols, err := s.Spread(a, b)
	return call.SizeOf(float64((rows + cols) * (1 + 0x1p-50))), err
}

// uniform returns the bound 2^top of all entries of an n x n matrix. Their errors beside rounding
// may be 2^(top - within), within > 0.
func uniform(s *call.Run, n, top, within int) *residue.Bound {
	b := &residue.Bound{Rows: make([]int64, n), Cols: make([]int64, n), Within: int64(within)}
	for i := range b.Rows {
		b.Rows[i] = int64(top)
	}
	return b
}

// symmetricNorm returns an upper bound of ‖M‖∞ for a symmetric M in MP. m holds its lower triangle,
// with zeros above.
func symmetricNorm(s *call.Run, m num.Mat) (*big.Float, error) {
	norm, err := s.SymmetricNorm(m)
	if err != nil {
		return nil, err
	}
	least := bound.Exp2(-bound.MaxBits) // keeps gains finite
	return bound.Largest([]*big.Float{norm, least}), nil
}

// halveDiagonal halves the diagonal of a square matrix in MP.
func halveDiagonal(s *call.Run, a num.Mat) error {
	_, err := s.Triangle(place.HalveDiagonal, a, nil)
	return err
}

// mirrored returns the symmetric matrix in MP whose lower triangle a holds, with zeros above.
func mirrored(s *call.Run, a num.Mat) (num.Mat, error) {
	z, err := s.Room(a.Format(), a.Rows, a.Rows)
	if err != nil {
		return num.Mat{}, err
	}
	if err := place.Copy(z, a); err != nil {
		return num.Mat{}, err
	}
	return z, Mirror(s, z)
}

// Mirror copies the lower triangle of a square matrix in MP to the upper one.
func Mirror(s *call.Run, a num.Mat) error {
	_, err := s.Triangle(place.MirrorLower, a, nil)
	return err
}

// halfOfSquare turns minus, the lower triangle of -Z E, into the lower triangle of
// -Φ(Z² + (Z²)^T + Z Z^T), for a lower triangular Z and E = Z + Z^T. Below the diagonal, where
// (Z²)^T is 0, the two agree. On the diagonal Z² has z², z = Z[i,i]. Half of 2 z² + (Z Z^T)[i,i] is
// half of z² + (Z E)[i,i], a sum of two numbers of the same sign.
func halfOfSquare(s *call.Run, minus, z num.Mat) error {
	if done, err := s.HalfLessSquaresThere(diagonalOf(minus), diagonalOf(z)); done || err != nil {
		return err
	}
	list, err := diagonalsHere(s, minus, z)
	if err != nil {
		return err
	}
	d, x := list[0], list[1]
	// A row takes 0.2 µs. Waking many threads takes longer than all rows of order 8192.
	const some, threads = 64, 8
	if err := par.For(s.Ctx, min(s.Threads, threads), (d.Rows+some-1)/some, func(_, part int) {
		HalfLessSquares(d, x, part*some, min(d.Rows, (part+1)*some))
	}); err != nil {
		return err
	}
	if s.At.AtHand() { // the diagonal itself was changed
		return nil
	}
	there, err := s.Upload(list[0])
	if err != nil {
		return err
	}
	defer s.Drop(there)
	return s.CopyNumbers(diagonalOf(minus), there)
}

// HalfLessSquares replaces the entries d[i] of d, in MP, by (d[i] - x[i]²)/2 for from <= i < until.
// The errors are at most 2^-(prec+30) times the larger of the two terms, plus rounding.
func HalfLessSquares(d, x num.Mat, from, until int) {
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

// diagonalOf returns the diagonal of a square matrix as a column, a view of the matrix.
func diagonalOf(a num.Mat) num.Mat {
	m := a
	return num.Mat{Arr: m.Arr, Off: m.Off, RS: m.RS + m.CS, CS: 1, Rows: m.Rows, Cols: 1}
}

// diagonalsHere returns the diagonals of square matrices in MP as columns on the host: views of the
// matrices if these are at hand, else copies.
func diagonalsHere(s *call.Run, list ...num.Mat) (z []num.Mat, err error) {
	for _, a := range list {
		z = append(z, diagonalOf(a))
	}
	if s.At.AtHand() {
		return z, nil
	}
	for i, a := range list {
		there, err := s.Room(a.Format(), a.Rows, 1)
		if err != nil {
			return nil, err
		}
		defer s.Drop(there)
		if err := s.CopyNumbers(there, z[i]); err != nil {
			return nil, err
		}
		z[i] = there
	}
	for i, d := range z { // waits for the place, once
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

// positiveDiagonal reports whether all numbers on the diagonal of a square matrix in MP or Float64
// are positive, or leaves the count to the tally.
func positiveDiagonal(s *call.Run, a num.Mat) (bool, error) {
	count, err := s.Triangle(place.CountNotPositive, a, s.Tally)
	return count == 0, err
}

// belowDiagonal returns the entries (i + 1, i) of a square matrix as a column, a view of the
// matrix.
func belowDiagonal(a num.Mat) num.Mat {
	n := a.Rows
	return diagonalOf(a.Slice(1, n, 0, n-1))
}

// columnHere returns a column on the host: the column itself if it is at hand, else a copy.
func columnHere(s *call.Run, a num.Mat) (num.Mat, error) {
	if s.At.AtHand() {
		return a, nil
	}
	z, err := s.Room(a.Format(), a.Rows, 1)
	if err != nil {
		return num.Mat{}, err
	}
	defer s.Drop(z)
	if err := place.Copy(z, a); err != nil {
		return num.Mat{}, err
	}
	return place.On(nil, z)
}

// change calls f, for each block of two rows, to set number i of a column on the host, where i is
// the first row of the block. The column may live at a place.
func change(s *call.Run, column num.Mat, blocks []int, f func(h num.Mat, i int)) error {
	if len(blocks) == column.Rows+1 { // all blocks have one row
		return nil
	}
	h, err := columnHere(s, column)
	if err != nil {
		return err
	}
	i := 0
	for _, size := range blocks {
		if size == 2 {
			f(h, i)
		}
		i += size
	}
	if s.At.AtHand() { // the column itself was changed
		return nil
	}
	there, err := s.Upload(h)
	if err != nil {
		return err
	}
	defer s.Drop(there)
	return place.Copy(column, there)
}

// unitDiagonal sets the diagonal of a square matrix at the run's place to that of a unit matrix.
func unitDiagonal(s *call.Run, a, one num.Mat) error {
	x, err := s.Room(num.Precision(24), a.Rows, 1)
	if err != nil {
		return err
	}
	if err := s.CopyNumbers(x, diagonalOf(one)); err != nil {
		return err
	}
	d, err := s.Matrix(num.Precision(24), a.Rows, 1)
	if err != nil {
		return err
	}
	diagonal := place.Sum{X: x, D: d, Bits: 24, Tally: s.Tally}
	_, err = s.SumThere(diagonal, diagonalOf(a))
	return err
}
