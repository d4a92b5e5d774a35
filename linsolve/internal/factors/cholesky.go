package factors

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// ErrNotPositiveDefinite is wrapped by errors about matrices that are proved not to be positive
// definite.
var ErrNotPositiveDefinite = errors.New("matrix is not positive definite")

// NotPositiveDefiniteError says that a symmetric matrix is not positive definite, which the sign of
// a leading minor proves. It wraps ErrNotPositiveDefinite.
type NotPositiveDefiniteError struct {
	Order int // of the minor
	Sign  int // of the minor: -1 or 0
}

func (e *NotPositiveDefiniteError) Error() string {
	sign := "0"
	if e.Sign < 0 {
		sign = "negative"
	}
	return fmt.Sprintf("matrix is not positive definite: its leading minor of order %d is %s (proved)", e.Order, sign)
}

func (e *NotPositiveDefiniteError) Unwrap() error { return ErrNotPositiveDefinite }

// FactorCholesky returns the factor where a lives; sign returns the sign of a determinant.
func FactorCholesky(s *call.Run, a num.Mat, f num.Format, sign signOf) (num.Mat, error) {
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
	l, err := Cholesky(s, here, f, sign)
	if err != nil {
		return num.Mat{}, err
	}
	countOverflow(s, l)
	if !a.OnHost() {
		return place.On(place.Of(a.Arr), l)
	}
	return l, nil
}

// Cholesky returns the Cholesky factor of a matrix of the host; sign returns the sign of a
// determinant.
func Cholesky(s *call.Run, a num.Mat, f num.Format, sign signOf) (num.Mat, error) {
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
	var d *CholeskyNewton
	fixed, known := true, false
	proved := map[int]bool{} // the pivots of which it is known that they are positive
	limits := ziv.Theory{Need: func() ziv.Need { return ziv.NeedOf(a, n, f, true) }, Regular: func() error {
		for k := range n {
			if !proved[k] {
				if err := definite(s, a, k, sign); err != nil {
					return err
				}
			}
		}
		return nil
	}}
	return l, ziv.DecideAll(s, f, limits, func(bits int) (*ziv.Unknown, *ziv.Enclosure, error) {
		if fixed {
			var e *ziv.Enclosure
			var err error
			if u, e, err = digits.RootAttempt(s, a, n, bits-ziv.SpareBits, &known, u, l, num.Mat{}, want); e != nil || err != nil {
				return u, e, err
			}
			if err = reserve(s, a, n, f.Bits(), n*(n+1)/2, 0); err != nil {
				return nil, nil, err
			}
			if fixed = false; u == nil {
				u = ziv.NewUnknown(a, n, ziv.Ones(n), n*(n+1)/2)
				for j := range n {
					for i := j; i < n; i++ {
						want(u, i, j)
					}
				}
			}
			if d, err = NewCholeskyNewton(s, a, n, MostBits(f)); err != nil {
				return nil, nil, err
			}
		}
		if e, err := d.Enclosure(bits - ziv.SpareBits); e != nil || err != nil {
			return u, e, err
		}
		e, worst, err := Positive(s, a, n, f, bits)
		if err == nil && e == nil && !proved[worst] {
			err = definite(s, a, worst, sign)
			proved[worst] = true
		}
		return u, e, err
	})
}

// Positive encloses the factors of c, to format f, whose leading n x n part is symmetric, if all
// its pivots are proved to be positive. If not, it returns the pivot which is most likely not to
// be.
func Positive(s *call.Run, c num.Mat, n int, f num.Format, bits int) (e *ziv.Enclosure, worst int, err error) {
	if is, err := byIntervals(s, c, f, bits); err != nil {
		return nil, 0, err
	} else if is {
		g, err := EliminateIntervals(s, c, ziv.Ones(n), bits, false)
		if err != nil {
			return nil, 0, err
		}
		if g.Bad < 0 {
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
		return &NotPositiveDefiniteError{Order: k + 1, Sign: d}
	}
	return nil
}
