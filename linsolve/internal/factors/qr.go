package factors

import (
	"fmt"
	"math/big"
	mathbits "math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// FactorQR returns the factors where a lives, with a copy of it.
func FactorQR(s *call.Run, a num.Mat, f num.Format, pivoting bool) (*QRFactors, error) {
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
	return z, Keep(a, &z.A, &z.Q, &z.R)
}

func qr(s *call.Run, a num.Mat, f num.Format, pivoting bool) (*QRFactors, error) {
	if err := call.Finite("A", a); err != nil {
		return nil, err
	}
	m, n := a.Dims()
	if err := reserveQR(s, a, f, pivoting); err != nil {
		return nil, err
	}
	normal, err := Normal(s, a)
	if err != nil {
		return nil, err
	}
	var z *QRFactors
	var u *ziv.Unknown
	var d *CholeskyNewton
	checked, begun, known, fixed := false, false, false, !pivoting
	fails := func() (*ziv.Unknown, *ziv.Enclosure, error) {
		if checked {
			return nil, nil, nil
		}
		checked = true
		if err := ziv.FullRank(s, a); err != nil {
			return nil, nil, err
		}
		return nil, nil, sameNormal(s, normal, a)
	}
	var c num.Mat // A^T A above A, in z's order of columns
	set := func(order []int) (changed bool) {
		if z != nil && slices.Equal(z.P, order) {
			return false
		}
		z = &QRFactors{P: order, Q: num.NewMat(f, m, n), R: num.NewMat(f, n, n)}
		c, u, d = Stacked(normal, a, order), nil, nil
		if !pivoting {
			normal = c.Slice(0, n, 0, n) // the same, in less memory
		}
		s.Did(call.StackCost(s, m, n))
		return true
	}
	begin := func(order []int) (err error) {
		if !set(order) && begun {
			return nil
		}
		begun = true
		if err := reserve(s, c, n, f.Bits(), n*(n+1)/2+m*n, stackedBytes(a, pivoting)); err != nil {
			return err
		}
		if u == nil {
			u = z.unknown(c)
		}
		d, err = NewCholeskyNewton(s, c, n, MostBits(normal.Format()))
		return err
	}

	// Whether the order of float64 numbers will do.
	quick, sure := pivoting && n >= seed.Fewest, false
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
		if quick = quick && d != nil && d.X.Arr != nil; quick {
			// Diagonals of the scaled matrix are less than 2.
			if quick, err = d.PivotsKept(1, f.Bits()+64); err != nil {
				return nil, err
			}
		}
	}
	limits := ziv.Theory{Need: func() ziv.Need {
		of := c
		if of.Arr == nil {
			of = Stacked(normal, a, call.All(n))
		}
		return ziv.NeedOf(of, n, f, true)
	}, Regular: func() error {
		_, _, err := fails()
		return err
	}}
	err = ziv.DecideAll(s, f, limits, func(bits int) (*ziv.Unknown, *ziv.Enclosure, error) {
		if quick {
			e, err := d.Enclosure(bits - ziv.SpareBits)
			if err == nil && e != nil && !sure && !d.Blocks { // by the seed that PivotsKept knows
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
		if e, err := d.Enclosure(bits - ziv.SpareBits); e != nil || err != nil {
			if pivoting && err == nil {
				var ok bool
				if ok, err = seed.Longest(s, e, n); !ok {
					return nil, nil, err
				}
			}
			return u, e, err
		}
		e, _, err := Positive(s, u.C, n, f, bits)
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

// squareBits returns how many bits hold every entry of A^T A.
func squareBits(a num.Mat) int {
	return max(ziv.PowerBits(a, 2)+mathbits.Len(uint(a.Rows)), num.MinPrec)
}

// Normal returns A^T A exactly.
func Normal(s *call.Run, a num.Mat) (num.Mat, error) {
	bits := squareBits(a)
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
	return c, Mirror(s, c)
}

// Stacked returns A^T A above A, exactly, with columns of A in another order. The lower triangular
// factor of the one is R^T, and below it is Q.
func Stacked(normal, a num.Mat, order []int) num.Mat {
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

// sameNormal returns an error if C is not A^T A: modulo a prime C v and A^T (A v) differ for a
// vector v. A wrong entry alone is seen unless its error is a multiple of the prime.
func sameNormal(s *call.Run, c, a num.Mat) error {
	f := modular.New(modular.Prime(0))
	left, err := f.Matrix(s.Ctx, s.Threads, c)
	if err != nil {
		return err
	}
	rows, err := f.Matrix(s.Ctx, s.Threads, a)
	if err != nil {
		return err
	}
	v, x := make([]uint64, a.Cols), f.One
	for j := range v {
		x = f.Mul(x, f.Element(0x9e3779b97f4a7c15)) // not 0
		v[j] = x
	}
	apply := func(row []uint64) (sum uint64) {
		for j, x := range row {
			sum = f.Add(sum, f.Mul(x, v[j]))
		}
		return sum
	}
	want := make([]uint64, a.Cols)
	for _, row := range rows {
		x := apply(row)
		for j, y := range row {
			want[j] = f.Add(want[j], f.Mul(x, y))
		}
	}
	for i, row := range left {
		if apply(row) != want[i] {
			return call.Contradiction("A^T A is another matrix modulo a prime")
		}
	}
	return nil
}
