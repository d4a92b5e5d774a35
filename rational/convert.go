package rational

import (
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// FromMatrix returns the matrix of the exact values of a, which must live on the host. The error
// wraps [ErrNotFinite] if a has an infinity or a NaN.
func FromMatrix(a *halfulp.Matrix) (*Matrix, error) {
	rows, cols := a.Dims()
	z := New(rows, cols)
	exact := make([]*big.Rat, cols)
	for i := range rows {
		for j := range exact {
			x := a.At(i, j)
			if x.IsNaN() || x.IsInf(0) {
				return nil, fmt.Errorf("entry (%d, %d): %w", i, j, ErrNotFinite)
			}
			exact[j], _ = x.Big().Rat(nil)
		}
		z.setRow(i, exact)
	}
	return z, nil
}

// Round returns m in format f, every entry rounded once to nearest, ties to even. Entries too large
// for f become infinities, and entries too small for f subnormal numbers or zeros, as in IEEE 754.
// The error wraps [halfulp.ErrMemory] if an integer of m is too long for its exponents.
func (m *Matrix) Round(f halfulp.Format) (*halfulp.Matrix, error) {
	z := halfulp.NewMatrix(f, of(m).n.rows, m.n.cols)
	to := z.View()
	for i, d := range m.den {
		for j := range m.n.cols {
			x := m.n.at(i, j)
			if x.Sign() == 0 {
				continue
			}
			if x.BitLen() > longest || d.BitLen() > longest {
				return nil, fmt.Errorf("entry (%d, %d): %w: its integers have more than %d bits", i, j, halfulp.ErrMemory, longest)
			}
			to.Arr.Set(to.At(i, j), superacc.Quotient(f.View(), real(x), d))
		}
	}
	return z, nil
}

// longest bounds the bits of integers, so that their exponents fit in 32 bits.
const longest = 1 << 30

// real returns an integer.
func real(x *big.Int) num.Real {
	if x.Sign() == 0 {
		return num.Real{}
	}
	return num.Real{Class: num.Finite, Neg: x.Sign() < 0, Mag: num.FromInt(nil, x)}
}

// mat returns n as a matrix in MP, exactly.
func (n ints) mat() num.Mat {
	z := num.NewMat(num.Precision(uint(max(n.bits(), num.MinPrec))), n.rows, n.cols)
	for i := range n.rows {
		for j := range n.cols {
			if x := n.at(i, j); x.Sign() != 0 {
				z.Arr.Set(z.At(i, j), real(x))
			}
		}
	}
	return z
}
