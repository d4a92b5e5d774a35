// Package lintest has systems of linear equations for tests, and what results should be: by
// elimination in rational numbers, with math/big alone. It shares no code with package linsolve.
package lintest

import (
	"math/big"

	"github.com/halfulp/halfulp"
)

// Matrix is a matrix, row by row. Entries are never changed.
type Matrix [][]*big.Rat

// New returns a matrix of zeros.
func New(rows, cols int) Matrix {
	z := make(Matrix, rows)
	for i := range z {
		z[i] = make([]*big.Rat, cols)
		for j := range z[i] {
			z[i][j] = new(big.Rat)
		}
	}
	return z
}

// Of returns the entries of a finite matrix.
func Of(a *halfulp.Matrix) Matrix {
	z := New(a.Dims())
	for i := range z {
		for j := range z[i] {
			z[i][j], _ = a.Big(i, j).Rat(nil)
		}
	}
	return z
}

// Identity returns the unit matrix.
func Identity(n int) Matrix {
	z := New(n, n)
	for i := range z {
		z[i][i] = big.NewRat(1, 1)
	}
	return z
}

// T returns the transpose of a matrix of so many columns.
func (a Matrix) T(cols int) Matrix {
	z := New(cols, len(a))
	for i := range a {
		for j := range cols {
			z[j][i] = a[i][j]
		}
	}
	return z
}

// Times returns A B, with so many columns.
func (a Matrix) Times(b Matrix, cols int) Matrix { return a.Weighted(nil, b, cols) }

// Weighted returns A diag(w) B, with so many columns; w is I if nil.
func (a Matrix) Weighted(w []*big.Rat, b Matrix, cols int) Matrix {
	z := New(len(a), cols)
	t := new(big.Rat)
	for i := range z {
		for k := range b {
			if a[i][k].Sign() == 0 {
				continue
			}
			x := a[i][k]
			if w != nil {
				x = new(big.Rat).Mul(x, w[k])
			}
			for j := range cols {
				z[i][j].Add(z[i][j], t.Mul(x, b[k][j]))
			}
		}
	}
	return z
}

// Pow returns A^e.
func (a Matrix) Pow(e int) Matrix {
	z := Identity(len(a))
	for range e {
		z = z.Times(a, len(a))
	}
	return z
}

// Rows returns some rows.
func (a Matrix) Rows(order []int) Matrix {
	z := make(Matrix, len(order))
	for i, k := range order {
		z[i] = a[k]
	}
	return z
}

// clone returns a copy whose entries may be replaced.
func (a Matrix) clone() Matrix {
	z := make(Matrix, len(a))
	for i := range a {
		z[i] = append([]*big.Rat(nil), a[i]...)
	}
	return z
}

// subtract makes row x, from column j on, x - factor y.
func subtract(x, y []*big.Rat, factor *big.Rat, j int) {
	if factor.Sign() == 0 {
		return
	}
	t := new(big.Rat)
	for c := j; c < len(x); c++ {
		if y[c].Sign() != 0 {
			x[c] = new(big.Rat).Sub(x[c], t.Mul(factor, y[c]))
		}
	}
}

// Reduce returns the reduced row echelon form with respect to the first cols columns, the columns
// of pivots, and the product of the pivots with the sign of the exchanges of rows.
func (a Matrix) Reduce(cols int) (z Matrix, pivots []int, det *big.Rat) {
	z, det = a.clone(), big.NewRat(1, 1)
	for j := 0; j < cols && len(pivots) < len(z); j++ {
		k := len(pivots)
		i := k
		for i < len(z) && z[i][j].Sign() == 0 {
			i++
		}
		if i == len(z) {
			continue
		}
		if i != k {
			z[i], z[k] = z[k], z[i]
			det.Neg(det)
		}
		pivots = append(pivots, j)
		det.Mul(det, z[k][j])
		inverse := new(big.Rat).Inv(z[k][j])
		for c := j; c < len(z[k]); c++ {
			z[k][c] = new(big.Rat).Mul(z[k][c], inverse)
		}
		for i := range z {
			if i != k {
				subtract(z[i], z[k], z[i][j], j)
			}
		}
	}
	return z, pivots, det
}

// Solve returns X with A X = B, nil for a singular A.
func (a Matrix) Solve(b Matrix) Matrix {
	n := len(a)
	both := make(Matrix, n)
	for i := range both {
		both[i] = append(append([]*big.Rat(nil), a[i]...), b[i]...)
	}
	z, pivots, _ := both.Reduce(n)
	if len(pivots) < n {
		return nil
	}
	for i := range z {
		z[i] = z[i][n:]
	}
	return z
}

// Det returns the determinant.
func (a Matrix) Det() *big.Rat {
	_, pivots, det := a.Reduce(len(a))
	if len(pivots) < len(a) {
		return new(big.Rat)
	}
	return det
}

// Rank returns the rank of a matrix of so many columns.
func (a Matrix) Rank(cols int) int {
	_, pivots, _ := a.Reduce(cols)
	return len(pivots)
}

// LU returns L, below the diagonal, and U of an elimination of the first k columns without
// exchanges, and whether no pivot vanishes.
func (a Matrix) LU(k int) (Matrix, bool) {
	z := a.clone()
	for b := range k {
		if z[b][b].Sign() == 0 {
			return z, false
		}
		for i := b + 1; i < len(z); i++ {
			l := new(big.Rat).Quo(z[i][b], z[b][b])
			subtract(z[i], z[b], l, b+1)
			z[i][b] = l
		}
	}
	return z, true
}

// Norm returns the largest sum of magnitudes of a row.
func (a Matrix) Norm() *big.Rat {
	most := new(big.Rat)
	for i := range a {
		sum := new(big.Rat)
		for _, x := range a[i] {
			sum.Add(sum, new(big.Rat).Abs(x))
		}
		if sum.Cmp(most) > 0 {
			most = sum
		}
	}
	return most
}

// Nearest rounds a number, by way of numbers so near to it that both round alike.
func Nearest(f halfulp.Format, x *big.Rat) halfulp.Scalar {
	if x.Sign() == 0 {
		return halfulp.NewScalar(f, new(big.Float))
	}
	for prec := uint(6000); ; prec *= 2 {
		down := new(big.Float).SetPrec(prec).SetMode(big.ToZero).SetRat(x)
		up := new(big.Float).SetPrec(prec).SetMode(big.AwayFromZero).SetRat(x)
		if z := halfulp.NewScalar(f, down); z.Same(halfulp.NewScalar(f, up)) {
			return z
		}
	}
}

// NearestRoot rounds x √y for y ≥ 0.
func NearestRoot(f halfulp.Format, x, y *big.Rat) halfulp.Scalar {
	square := new(big.Rat).Mul(x, x)
	square.Mul(square, y)
	num, den := new(big.Int).Sqrt(square.Num()), new(big.Int).Sqrt(square.Denom())
	if new(big.Int).Mul(num, num).Cmp(square.Num()) == 0 && new(big.Int).Mul(den, den).Cmp(square.Denom()) == 0 {
		root := new(big.Rat).SetFrac(num, den)
		if x.Sign() < 0 {
			root.Neg(root)
		}
		return Nearest(f, root)
	}
	// The integer below √square 2^bits, and the next one: the irrational root is between them.
	for bits := 5000; ; bits *= 2 {
		n := new(big.Int).Lsh(square.Num(), uint(2*bits))
		n.Quo(n, square.Denom()).Sqrt(n)
		scaled := func() halfulp.Scalar {
			v := new(big.Float).SetPrec(uint(n.BitLen() + 1)).SetInt(n)
			if v.SetMantExp(v, -bits); x.Sign() < 0 {
				v.Neg(v)
			}
			return halfulp.NewScalar(f, v)
		}
		lower := scaled()
		n.Add(n, big.NewInt(1))
		if lower.Same(scaled()) {
			return lower
		}
	}
}
