package linsolve

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// errNotPositiveDefinite is wrapped by errors about matrices that are proved not to be positive
// definite.
var errNotPositiveDefinite = errors.New("matrix is not positive definite")

// indefiniteError says that a symmetric matrix is not positive definite, which the sign of a
// leading minor proves. It wraps errNotPositiveDefinite.
type indefiniteError struct {
	Order int // of the minor
	Sign  int // of the minor: -1 or 0
}

func (e *indefiniteError) Error() string {
	sign := "0"
	if e.Sign < 0 {
		sign = "negative"
	}
	return fmt.Sprintf("matrix is not positive definite: its leading minor of order %d is %s (proved)", e.Order, sign)
}

func (e *indefiniteError) Unwrap() error { return errNotPositiveDefinite }

// CholeskyFactors are those of A = L L^T. Where A lives on a GPU they do, with a copy of A.
type CholeskyFactors struct {
	L *halfulp.Matrix // lower triangular with a positive diagonal, zeros above
	system
}

// Free gives back what the factors have on a GPU. They are not to be used any more then.
func (y *CholeskyFactors) Free() {
	y.L.Free()
	y.of.A.Free()
}

// Cholesky returns the Cholesky factor L of a symmetric positive definite n x n matrix A = L L^T in
// format f, every entry the exact one rounded once, ties to even, whatever the condition of A
// (potrf of LAPACK with uplo = L). L lives where A does.
//
// On AVX2 and AVX-512 A, scaled so that no number exceeds 1, is eliminated in fixed point, in
// digits that these multiply, and what L L^T is off A by encloses the entries. That takes up to 40
// digits of 51 or 52 bits, which hold the condition number's as well, and 256 MiB: up to an order
// of some 3000 for 53 bits, 1700 for 424 bits.
//
// Else a triangular S for which ‖S A S^T - I‖ is proved to be small gives enclosures of L. It
// comes from a float64 seed by products, each step of which has four times the bits of the one
// before; for matrices too ill-conditioned for float64 from an elimination by products, in blocks
// for which float64 does where it can. For small n, and where neither does, S and another factor T
// come from an elimination in enough bits, entry by entry. Enclosures are made again with more
// bits until all entries round to one number. Zeros, and entries halfway between two numbers of
// the format, never get there: those are proved modulo primes.
//
// Where A lives on a GPU or on a grid of processes all of it runs there, but for what only
// arithmetic on the host decides: zeros below the diagonal, ties, matrices that are not positive
// definite, small or ill-conditioned ones.
//
// The error is a *NotPositiveDefiniteError, which names a leading minor that is proved not to be
// positive, or wraps ErrNotSymmetric, or ErrNotFinite for infinities and NaN. It wraps
// halfulp.ErrMemory, and names the bytes, if an elimination in fixed point takes more than
// Options.MemoryLimit on the host. Options.Method is of the products, and so is Device. Cholesky
// panics if A is not square.
func Cholesky(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*CholeskyFactors, Stats, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	s, err := start("Cholesky", opt, a.View())
	if err != nil {
		return nil, Stats{}, err
	}
	l, err := choleskyOf(s, a.View(), f.View(), detSign)
	if err != nil {
		return nil, result(s), wrapped("Cholesky", err)
	}
	var kept num.Mat
	if err := keep(a.View(), &kept, &l); err != nil {
		return nil, result(s), wrapped("Cholesky", err)
	}
	s.Finished()
	return &CholeskyFactors{halfulp.MatrixOf(l), newSystem(kept)}, result(s), nil
}

// choleskyOf returns the factor where a lives; sign returns the sign of a determinant.
func choleskyOf(s *call.Run, a num.Mat, f num.Format, sign signOf) (num.Mat, error) {
	if l, err := choleskyThere(s, a, f); l.Arr != nil || err != nil {
		return l, err
	}
	here := a
	if !a.OnHost() {
		var err error
		if here, err = place.On(nil, a); err != nil {
			return num.Mat{}, err
		}
	}
	l, err := cholesky(s, here, f, sign)
	if err != nil {
		return num.Mat{}, err
	}
	countOverflow(s, l)
	if !a.OnHost() {
		return place.On(place.Of(a.Arr), l)
	}
	return l, nil
}

func cholesky(s *call.Run, a num.Mat, f num.Format, sign signOf) (num.Mat, error) {
	if err := call.Finite("A", a); err != nil {
		return num.Mat{}, err
	}
	if err := ziv.Symmetric(a); err != nil {
		return num.Mat{}, err
	}
	n := a.Rows
	l := num.NewMat(f, n, n)
	want := func(u *ziv.Unknown, i, j int) { u.Want(ziv.OfRoot, i, j, l, i, j) }
	var u *ziv.Unknown
	var d *doubling
	fixed, known := true, false
	proved := map[int]bool{} // the pivots of which it is known that they are positive
	return l, ziv.DecideAll(s, f, func(bits int) (*ziv.Unknown, *ziv.Enclosure, error) {
		if fixed {
			var e *ziv.Enclosure
			var err error
			if u, e, err = digits.RootAttempt(s, a, n, bits-ziv.SpareBits, &known, u, l, num.Mat{}, want); e != nil || err != nil {
				return u, e, err
			}
			if fixed = false; u == nil {
				u = ziv.NewUnknown(a, n, ziv.Ones(n), n*(n+1)/2)
				for j := range n {
					for i := j; i < n; i++ {
						want(u, i, j)
					}
				}
			}
			if d, err = newDoubling(s, a, n, mostBits(f)); err != nil {
				return nil, nil, err
			}
		}
		if e, err := d.enclosure(bits - ziv.SpareBits); e != nil || err != nil {
			return u, e, err
		}
		e, worst, err := positive(s, a, n, f, bits)
		if err == nil && e == nil && !proved[worst] {
			err = definite(s, a, worst, sign)
			proved[worst] = true
		}
		return u, e, err
	})
}

// positive encloses the factors of c, to format f, whose leading n x n part is symmetric, if all
// its pivots are proved to be positive. If not, it returns the pivot which is most likely not to
// be.
func positive(s *call.Run, c num.Mat, n int, f num.Format, bits int) (e *ziv.Enclosure, worst int, err error) {
	if is, err := byIntervals(s, c, f, bits); err != nil {
		return nil, 0, err
	} else if is {
		g, err := eliminateIntervals(s, c, ziv.Ones(n), bits, false)
		if err != nil {
			return nil, 0, err
		}
		if g.bad < 0 {
			e = g.enclosure(bits)
			for j := range n {
				if e.Upper(j, j).Hi.Sign() < 0 {
					return nil, j, nil
				}
			}
			return e, 0, nil
		}
	}
	g, err := seed.Eliminate(s, c, n, bits, false)
	if err != nil {
		return nil, 0, err
	}
	if g.Zero >= 0 {
		return nil, g.Zero, nil
	}
	least := big.NewFloat(2)
	for j := range n {
		d, diagonal := g.LU.Big(j, j), c.Big(j, j)
		if d.Sign() <= 0 || diagonal.Sign() <= 0 {
			return nil, j, nil
		}
		if d.Quo(d, diagonal).Cmp(least) < 0 {
			least, worst = d, j
		}
	}
	li, ui, err := seed.TriangleInverses(s, g.LU, n)
	if err != nil {
		return nil, 0, err
	}
	if e, err = ziv.Enclose(s, c, li, ui, bits); e == nil || err != nil {
		return nil, worst, err
	}
	for j := range n {
		if e.Upper(j, j).Lo.Sign() <= 0 {
			return nil, j, nil
		}
	}
	return e, 0, nil
}

// signOf returns the sign of the determinant of a matrix of the host.
type signOf func(s *call.Run, a num.Mat) (int, error)

// definite returns an error if the leading minor that ends with row k is proved not to be positive.
func definite(s *call.Run, a num.Mat, k int, sign signOf) error {
	d, err := sign(s, a.Slice(0, k+1, 0, k+1))
	if err != nil {
		return err
	}
	if d <= 0 {
		return &indefiniteError{Order: k + 1, Sign: d}
	}
	return nil
}

// countOverflow counts the entries of factors that became infinite.
func countOverflow(s *call.Run, factors ...num.Mat) {
	for _, z := range factors {
		m := z
		for j := range m.Cols {
			for i := range m.Rows {
				if m.Arr.Class(m.At(i, j)) == num.Inf {
					s.Stats.Overflow++
				}
			}
		}
	}
}
