package linsolve

import (
	"fmt"
	"math/big"
	mathbits "math/bits"
	"slices"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// QRFactors are those of A = Q R, or of A P = Q R with columns in another order. They live where A
// does, with a copy of A.
type QRFactors struct {
	P []int           // column j of A P is column P[j] of A, from 0
	Q *halfulp.Matrix // m x n, with orthonormal columns before they were rounded
	R *halfulp.Matrix // n x n, upper triangular with a positive diagonal, zeros below
	system
}

// Free gives back what the factors have on a GPU. They are not to be used any more then.
func (z *QRFactors) Free() {
	z.Q.Free()
	z.R.Free()
	z.of.A.Free()
}

// qrFactors are Q, R and the order of columns, and a copy of A where that lives.
type qrFactors struct {
	P       []int
	Q, R, A num.Mat
}

// public returns the factors with this package's types.
func publicQR(z *qrFactors) *QRFactors {
	return &QRFactors{P: z.P, Q: halfulp.MatrixOf(z.Q), R: halfulp.MatrixOf(z.R), system: newSystem(z.A)}
}

// QR returns the factors A = Q R of an m x n matrix A of rank n ≤ m in format f, every entry of Q,
// m x n, and of R, upper triangular with a positive diagonal, the exact one rounded once, ties to
// even, whatever the condition of A. They are those of LAPACK's geqrf and orgqr but for signs of
// rows of R and columns of Q. Factors live where A does.
//
// R is the Cholesky factor of A^T A, which is computed exactly, and Q = A R^-1; see Cholesky for
// the method, but that n times the number of digits is at most 24000 (AVX-512) or 12000 (AVX2). It
// needs twice the bits of the condition number of A. Where A lives on a GPU or on a grid of
// processes all of it runs there, with A^T A in as many bits as are needed, but for what only
// arithmetic on the host decides: zeros, ties, columns that are linearly dependent or nearly so,
// and a few of them.
//
// The error wraps ErrSingular, it is a *SingularError for square matrices, if the columns of A are
// linearly dependent, which is proved. It wraps ErrNotFinite for infinities and NaN,
// halfulp.ErrMemory if A^T A has more bits than there are formats for. Options.Method and
// MemoryLimit are of the products, and so is Device. QR panics if m < n.
func QR(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*QRFactors, Stats, error) {
	if a.Rows() < a.Cols() {
		panic(errShape)
	}
	s, err := start("QR", opt, a.View())
	if err != nil {
		return nil, Stats{}, err
	}
	z, err := qrOf(s, a.View(), f.View(), false)
	if err != nil {
		return nil, result(s), wrapped("QR", err)
	}
	s.Finished()
	return publicQR(z), result(s), nil
}

// qrOf returns the factors where a lives, with a copy of it.
func qrOf(s *call.Run, a num.Mat, f num.Format, pivoting bool) (*qrFactors, error) {
	z, err := qrThere(s, a, f, pivoting)
	if err != nil {
		return nil, err
	}
	if z == nil {
		here := a
		if !a.OnHost() {
			if here, err = place.On(nil, a); err != nil {
				return nil, err
			}
		}
		if z, err = qr(s, here, f, pivoting); err != nil {
			return nil, err
		}
		countOverflow(s, z.Q, z.R)
	}
	return z, keep(a, &z.A, &z.Q, &z.R)
}

// QRPivoted returns the factors A P = Q R with column pivoting (geqp3 of LAPACK), see QR. The next
// column is that whose part orthogonal to the columns before is longest, the first one of those
// whose squares differ by less than 2^-64 of them, by numbers computed in more bits than f has;
// proved is that no sum of squares of R[i,j], k ≤ i ≤ j, exceeds (1 + 2^-60) R[k,k]^2 before the
// entries are rounded. Where A lives on a GPU the host chooses the columns, by float64 numbers of
// A^T A that come to it once, and all else is as in QR; it does it all where lengths to choose from
// differ by less than 2^-29 of their squares.
func QRPivoted(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*QRFactors, Stats, error) {
	if a.Rows() < a.Cols() {
		panic(errShape)
	}
	s, err := start("QRPivoted", opt, a.View())
	if err != nil {
		return nil, Stats{}, err
	}
	z, err := qrOf(s, a.View(), f.View(), true)
	if err != nil {
		return nil, result(s), wrapped("QRPivoted", err)
	}
	s.Finished()
	return publicQR(z), result(s), nil
}

func qr(s *call.Run, a num.Mat, f num.Format, pivoting bool) (*qrFactors, error) {
	if err := call.Finite("A", a); err != nil {
		return nil, err
	}
	m, n := a.Dims()
	normal, err := normal(s, a)
	if err != nil {
		return nil, err
	}
	var z *qrFactors
	var u *ziv.Unknown
	var d *doubling
	checked, begun, known, fixed := false, false, false, !pivoting
	fails := func() (*ziv.Unknown, *ziv.Enclosure, error) {
		if checked {
			return nil, nil, nil
		}
		checked = true
		return nil, nil, ziv.FullRank(s, a)
	}
	var c num.Mat // A^T A above A, in z's order of columns
	set := func(order []int) (changed bool) {
		if z != nil && slices.Equal(z.P, order) {
			return false
		}
		z = &qrFactors{P: order, Q: num.NewMat(f, m, n), R: num.NewMat(f, n, n)}
		c, u, d = stacked(normal, a, order), nil, nil
		s.Did(call.StackCost(s, m, n))
		return true
	}
	begin := func(order []int) (err error) {
		if !set(order) && begun {
			return nil
		}
		begun = true
		if u == nil {
			u = z.unknown(c)
		}
		d, err = newDoubling(s, c, n, mostBits(normal.Format()))
		return err
	}
	quick, sure := pivoting && n >= seed.Fewest, false // whether the order of float64 numbers will do
	if quick {
		order, err := seed.Pivots64(s, normal)
		if err != nil {
			return nil, err
		}
		if quick = order != nil; quick {
			if err := begin(order); err != nil {
				return nil, err
			}
		}
		if quick = quick && d != nil && d.x.Arr != nil; quick {
			// Diagonals of the scaled matrix are less than 2.
			if quick, err = d.pivotsKept(1, f.Bits()+64); err != nil {
				return nil, err
			}
		}
	}
	err = ziv.DecideAll(s, f, func(bits int) (*ziv.Unknown, *ziv.Enclosure, error) {
		if quick {
			e, err := d.enclosure(bits - ziv.SpareBits)
			if err == nil && e != nil && !sure && !d.blocks { // by the seed that pivotsKept knows
				sure, err = seed.LongestBy(s, big.NewFloat(seed.Clearly), e, n)
			}
			if e != nil && sure || err != nil {
				return u, e, err
			}
			quick = false
		}
		order := call.All(n)
		if fixed {
			set(order)
			var e *ziv.Enclosure
			if u, e, err = digits.RootAttempt(s, c, n, bits-ziv.SpareBits, &known, u, z.R.T(), z.Q, z.want); e != nil || err != nil {
				return u, e, err
			}
			fixed = false
		}
		if pivoting {
			var err error
			if order, err = seed.LongestColumns(s, normal, bits); err != nil {
				return nil, nil, err
			}
			if order == nil {
				return fails()
			}
		}
		if err := begin(order); err != nil {
			return nil, nil, err
		}
		if e, err := d.enclosure(bits - ziv.SpareBits); e != nil || err != nil {
			if pivoting && err == nil {
				var ok bool
				if ok, err = seed.Longest(s, e, n); !ok {
					return nil, nil, err
				}
			}
			return u, e, err
		}
		e, _, err := positive(s, u.C, n, f, bits)
		if err != nil {
			return nil, nil, err
		}
		if e == nil {
			return fails()
		}
		if pivoting {
			if ok, err := seed.Longest(s, e, n); !ok {
				return nil, nil, err
			}
		}
		return u, e, nil
	})
	return z, err
}

// normal returns A^T A exactly.
func normal(s *call.Run, a num.Mat) (num.Mat, error) {
	bits := max(ziv.PowerBits(a, 2)+mathbits.Len(uint(a.Rows)), num.MinPrec)
	if bits > bound.MaxBits {
		return num.Mat{}, fmt.Errorf("A^T A has %d bits: %w", bits, call.ErrMemory)
	}
	c := num.NewMat(num.Precision(uint(bits)), a.Cols, a.Cols)
	if m, n := a.Dims(); s.Work.Report != nil {
		of := a.Arr.Format
		// may fuse: an estimate
		s.Plan(call.ProductCost(n, m, n, of, of, call.MP(bits)) + improvedCost(m+n, n, likely, 10, of.Bits()+64, false) + call.StackCost(s, m, n))
	}
	if err := s.GemmTriangle('L', 1, a.T(), a, 0, num.Mat{}, c, nil); err != nil {
		return num.Mat{}, err
	}
	s.Stage("A^T A")
	return c, mirror(s, c)
}

// stacked returns A^T A above A, exactly, with columns of A in another order. The lower triangular
// factor of the one is R^T, and below it is Q.
func stacked(normal, a num.Mat, order []int) num.Mat {
	m, n := a.Dims()
	c := num.NewMat(normal.Format(), n+m, n)
	z, x, y := c, normal, a
	for j, p := range order {
		for i, q := range order {
			z.Arr.CopyFrom(z.At(i, j), x.Arr, x.At(q, p))
		}
		for i := range m {
			z.Arr.Convert(z.At(n+i, j), y.Arr, y.At(i, p)) // no more bits than its square
		}
	}
	return c
}

// unknown returns the entries of the factors, which are those of L diag(U)^(1/2).
func (z *qrFactors) unknown(c num.Mat) *ziv.Unknown {
	m, n := c.Dims()
	u := ziv.NewUnknown(c, n, ziv.Ones(n), n*(n+1)/2+z.Q.Rows*n)
	for j := range n {
		for i := j; i < m; i++ {
			z.want(u, i, j)
		}
	}
	return u
}

// want asks for entry (i, j) of R^T above Q.
func (z *qrFactors) want(u *ziv.Unknown, i, j int) {
	if n := z.R.Rows; i < n {
		u.Want(ziv.OfRoot, i, j, z.R, j, i)
	} else {
		u.Want(ziv.OfRoot, i, j, z.Q, i-n, j)
	}
}
