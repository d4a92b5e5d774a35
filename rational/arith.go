package rational

import (
	"fmt"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// run is a call of a routine.
type run struct{ *call.Run }

// begin starts a routine. The error names it.
func begin(name string, opt *halfulp.Options) (*run, error) {
	set, err := opt.Settings()
	if err == nil {
		err = set.Ctx.Err()
	}
	if err != nil {
		return nil, named(name, err)
	}
	return &run{call.New(set)}, nil
}

// end releases memory and reports that all work is done, unless there is an error. It returns the
// error with the name of the routine.
func (s *run) end(name string, err error) error {
	defer s.Release()
	if err != nil {
		return named(name, err)
	}
	s.Finished()
	return nil
}

func named(name string, err error) error { return fmt.Errorf("%s: %w", name, err) }

// Add returns A + B.
func Add(a, b *Matrix) *Matrix { return sum(a, b, (*big.Int).Add) }

// Sub returns A - B.
func Sub(a, b *Matrix) *Matrix { return sum(a, b, (*big.Int).Sub) }

// sum returns the matrix of op(a_ij, b_ij) for a linear op.
func sum(a, b *Matrix, op func(z, x, y *big.Int) *big.Int) *Matrix {
	if of(a).n.rows != of(b).n.rows || a.n.cols != b.n.cols {
		panic(errShape)
	}
	z := New(a.n.rows, a.n.cols)
	x, y := new(big.Int), new(big.Int)
	for i := range z.den {
		d := lcm(a.den[i], b.den[i])
		z.den[i] = d
		byA, byB := new(big.Int).Quo(d, a.den[i]), new(big.Int).Quo(d, b.den[i])
		for j := range z.n.cols {
			z.n.set(i, j, op(new(big.Int), x.Mul(a.n.at(i, j), byA), y.Mul(b.n.at(i, j), byB)))
		}
		z.reduce(i)
	}
	return z
}

// Scale returns alpha A.
func Scale(alpha *big.Rat, a *Matrix) *Matrix {
	if alpha == nil {
		panic(errNil)
	}
	z := New(of(a).n.rows, a.n.cols)
	for i, d := range a.den {
		z.den[i] = new(big.Int).Mul(d, alpha.Denom())
		for j := range z.n.cols {
			z.n.set(i, j, new(big.Int).Mul(a.n.at(i, j), alpha.Num()))
		}
		z.reduce(i)
	}
	return z
}

// Mul returns A B. Large products are computed by the engine of package halfulp, in as many bits as
// the integers of the product have.
func Mul(a, b *Matrix, opt *halfulp.Options) (*Matrix, error) {
	if of(a).n.cols != of(b).n.rows {
		panic(errShape)
	}
	s, err := begin("Mul", opt)
	if err != nil {
		return nil, err
	}
	right, den := b.common()
	n, err := s.product(a.n, right)
	var z *Matrix
	if err == nil {
		d := make([]*big.Int, n.rows)
		for i := range d {
			d[i] = new(big.Int).Mul(a.den[i], den)
		}
		z = over(n, d)
	}
	if err := s.end("Mul", err); err != nil {
		return nil, err
	}
	return z, nil
}

// byEngine is the least number of multiplications for which the engine multiplies integers.
const byEngine = 1 << 12

// product returns A B for integers.
func (s *run) product(a, b ints) (ints, error) {
	most := a.bits() + b.bits() + bits.Len(uint(a.cols))
	if a.rows*a.cols*b.cols < byEngine || most+64 > num.MaxPrec {
		return s.schoolbook(a, b)
	}
	c := num.NewMat(num.Precision(uint(max(most, num.MinPrec))), a.rows, b.cols)
	if err := s.Gemm(1, a.mat(), b.mat(), 0, num.Mat{}, c); err != nil {
		return ints{}, err
	}
	z := newInts(a.rows, b.cols)
	return z, par.Each(s.Ctx, s.Threads, z.rows, func(i int) {
		for j := range z.cols {
			x, _ := c.Big(i, j).Int(nil)
			z.set(i, j, x)
		}
	})
}

// schoolbook is product by sums of products.
func (s *run) schoolbook(a, b ints) (ints, error) {
	z := newInts(a.rows, b.cols)
	return z, par.Each(s.Ctx, s.Threads, z.rows, func(i int) {
		product := new(big.Int)
		for j := range z.cols {
			sum := new(big.Int)
			for k, x := range a.row(i) {
				if y := b.at(k, j); x != nil && y.Sign() != 0 {
					sum.Add(sum, product.Mul(x, y))
				}
			}
			z.set(i, j, sum)
		}
	})
}
