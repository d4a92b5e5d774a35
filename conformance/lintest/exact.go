// Package lintest provides systems of linear equations for tests, and their exact results by
// elimination in rational numbers, with math/big alone. It shares no code with package linsolve.
package lintest

import (
	"math"
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

// T returns the transpose of a matrix with cols columns.
func (a Matrix) T(cols int) Matrix {
	z := New(cols, len(a))
	for i := range a {
		for j := range cols {
			z[j][i] = a[i][j]
		}
	}
	return z
}

// Times returns A B, where B has cols columns.
func (a Matrix) Times(b Matrix, cols int) Matrix { return a.Weighted(nil, b, cols) }

// Scaled returns the matrix with row i multiplied by 2^rows[i] and column j by 2^cols[j].
func (a Matrix) Scaled(rows, cols []int64) Matrix {
	z := New(len(rows), len(cols))
	for i := range z {
		for j := range z[i] {
			z[i][j].Mul(a[i][j], power(int(rows[i]+cols[j])))
		}
	}
	return z
}

// Weighted returns A diag(w) B, where B has cols columns; a nil w stands for ones.
func (a Matrix) Weighted(w []*big.Rat, b Matrix, cols int) Matrix {
	z := New(len(a), cols)
	t := new(big.Int)
	// Sums of integers: numbers over a common denominator of a column of B, and of a row of A.
	right, below := make([][]*big.Int, cols), make([]*big.Int, cols)
	for j := range cols {
		column := make([]*big.Rat, len(b))
		for k := range b {
			column[k] = b[k][j]
		}
		right[j], below[j] = overCommon(column)
	}
	for i := range z {
		row := a[i]
		if w != nil {
			row = make([]*big.Rat, len(b))
			for k := range row {
				row[k] = new(big.Rat).Mul(a[i][k], w[k])
			}
		}
		left, under := overCommon(row[:len(b)])
		for j := range cols {
			sum := new(big.Int)
			for k, x := range left {
				if x.Sign() != 0 {
					sum.Add(sum, t.Mul(x, right[j][k]))
				}
			}
			if sum.Sign() != 0 {
				z[i][j].SetFrac(sum, t.Mul(under, below[j]))
			}
		}
	}
	return z
}

// overCommon returns integers n_k and a denominator d with x_k = n_k / d.
func overCommon(x []*big.Rat) (n []*big.Int, d *big.Int) {
	d = commonDenominator(x)
	n = make([]*big.Int, len(x))
	for k, v := range x {
		n[k] = new(big.Int).Mul(v.Num(), d)
		n[k].Quo(n[k], v.Denom())
	}
	return n, d
}

// Pow returns A^e.
func (a Matrix) Pow(e int) Matrix {
	z := Identity(len(a))
	for range e {
		z = z.Times(a, len(a))
	}
	return z
}

// Rows returns the rows order[0], order[1], ...
func (a Matrix) Rows(order []int) Matrix {
	z := make(Matrix, len(order))
	for i, k := range order {
		z[i] = a[k]
	}
	return z
}

// Reduce returns the reduced row echelon form with respect to the first cols columns, the columns
// of the pivots, and the product of the pivots with the sign of the row exchanges.
func (a Matrix) Reduce(cols int) (z Matrix, pivots []int, det *big.Rat) {
	n := integersOf(a)
	last, det := big.NewInt(1), big.NewRat(1, 1) // the last pivot
	for j := 0; j < cols && len(pivots) < len(a); j++ {
		k := len(pivots)
		i := k
		for i < len(a) && n.x[i][j].Sign() == 0 {
			i++
		}
		if i == len(a) {
			continue
		}
		if i != k {
			n.x[i], n.x[k] = n.x[k], n.x[i]
			n.rows[i], n.rows[k] = n.rows[k], n.rows[i]
			det.Neg(det)
		}
		for i := range a {
			if i != k {
				n.eliminate(i, k, j, 0, last)
			}
		}
		pivots = append(pivots, j)
		det.Mul(det, n.rows[k]).Mul(det, power(n.cols[j]))
		last = n.x[k][j]
	}
	// All pivots now equal the last one: the determinant of their rows and columns.
	z = New(len(a), n.width)
	for i := range z {
		for j := range z[i] {
			if i < len(pivots) && n.x[i][j].Sign() != 0 {
				z[i][j] = fraction(n.x[i][j], last, n.cols[j]-n.cols[pivots[i]])
			}
		}
	}
	return z, pivots, det.Mul(det, new(big.Rat).SetInt(last))
}

// Solve returns X with A X = B; nil if A is singular.
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

// Rank returns the rank of a matrix with cols columns.
func (a Matrix) Rank(cols int) int {
	_, pivots, _ := a.Reduce(cols)
	return len(pivots)
}

// LU returns L below the diagonal and U, by an elimination of the first k columns without
// exchanges, and whether no pivot vanishes.
func (a Matrix) LU(k int) (Matrix, bool) {
	n := integersOf(a)
	pivots := []*big.Int{big.NewInt(1)} // pivots[b] divides what b steps have made
	for b := 0; b < k && n.x[b][b].Sign() != 0; b++ {
		for i := b + 1; i < len(a); i++ {
			n.eliminate(i, b, b, b+1, pivots[b])
		}
		pivots = append(pivots, n.x[b][b])
	}
	steps := len(pivots) - 1
	z := New(len(a), n.width)
	for i := range z {
		for j := range z[i] {
			if n.x[i][j].Sign() == 0 {
				continue
			}
			if j < min(i, steps) {
				z[i][j] = fraction(n.x[i][j], pivots[j+1], 0)
				z[i][j].Mul(z[i][j], n.rows[i]).Quo(z[i][j], n.rows[j])
			} else {
				z[i][j] = fraction(n.x[i][j], pivots[min(i, steps)], n.cols[j])
				z[i][j].Mul(z[i][j], n.rows[i])
			}
		}
	}
	return z, steps == k
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

// ConditionBits returns log2 of max_j Σ_i |a_ij (A^-1)_ji| of a square matrix, rounded up. No
// scaling of rows and columns by powers of two changes this number. It is MaxInt for a singular
// matrix.
func (a Matrix) ConditionBits() int {
	inverse := a.Solve(Identity(len(a)))
	if inverse == nil {
		return math.MaxInt
	}
	most, t := new(big.Rat), new(big.Rat)
	for j := range a {
		sum := new(big.Rat)
		for i := range a {
			sum.Add(sum, t.Abs(t.Mul(a[i][j], inverse[j][i])))
		}
		if sum.Cmp(most) > 0 {
			most = sum
		}
	}
	return log2(most) + 1
}

// log2 returns log2 of a positive number, rounded down, or 1 less.
func log2(x *big.Rat) int { return x.Num().BitLen() - x.Denom().BitLen() - 1 }

// SpreadBits returns about the largest |log2| of a_ij a_kl / (a_il a_kj): the spread of exponents
// that no scaling of rows and columns by powers of two removes.
func (a Matrix) SpreadBits() (most int) {
	for i := range a {
		for k := range i {
			for j := range a[i] {
				for l := range j {
					if a[i][j].Sign() != 0 && a[k][l].Sign() != 0 && a[i][l].Sign() != 0 && a[k][j].Sign() != 0 {
						e := log2(a[i][j]) + log2(a[k][l]) - log2(a[i][l]) - log2(a[k][j])
						most = max(most, e, -e)
					}
				}
			}
		}
	}
	return most
}

// HasDyadic reports whether an entry is an integer multiple of a power of two.
func (a Matrix) HasDyadic() bool {
	for _, row := range a {
		for _, x := range row {
			if d := x.Denom(); int(d.TrailingZeroBits()) == d.BitLen()-1 {
				return true
			}
		}
	}
	return false
}

// HasEqual reports whether two nonzero entries on or above the diagonal have the same magnitude.
func (a Matrix) HasEqual() bool {
	seen := map[string]bool{}
	for i, row := range a {
		for _, x := range row[min(i, len(row)):] {
			of := new(big.Rat).Abs(x).String()
			if x.Sign() != 0 && seen[of] {
				return true
			}
			seen[of] = true
		}
	}
	return false
}

// NearPivots reports whether an elimination of the first k columns with partial pivoting has two
// candidates for a pivot that differ by less than 2^-40 of themselves.
func (a Matrix) NearPivots(k int) bool {
	z := make(Matrix, len(a))
	copy(z, a)
	for b := range k {
		p, near := b, false
		for i := b + 1; i < len(z) && z[p][b].Sign() != 0; i++ {
			ratio, _ := new(big.Rat).Quo(z[i][b], z[p][b]).Float64()
			switch ratio = math.Abs(ratio); {
			case ratio > 1:
				p, near = i, ratio < 1+0x1p-40
			case ratio > 1-0x1p-40:
				near = true
			}
		}
		if near || z[p][b].Sign() == 0 {
			return true
		}
		z[b], z[p] = z[p], z[b]
		for i := b + 1; i < len(z); i++ {
			row, factor := make([]*big.Rat, len(z[i])), new(big.Rat).Quo(z[i][b], z[b][b])
			for j := range row {
				row[j] = new(big.Rat).Mul(factor, z[b][j])
				row[j].Sub(z[i][j], row[j])
			}
			z[i] = row
		}
	}
	return false
}

// Nearest returns x rounded to nearest in f. It uses numbers so close to x that they round alike.
func Nearest(f halfulp.Format, x *big.Rat) halfulp.Scalar {
	if x.Sign() == 0 {
		return halfulp.NewScalar(f, new(big.Float))
	}
	for prec := uint(f.Bits() + 128); ; prec *= 2 {
		down := new(big.Float).SetPrec(prec).SetMode(big.ToZero).SetRat(x)
		up := new(big.Float).SetPrec(prec).SetMode(big.AwayFromZero).SetRat(x)
		if z := halfulp.NewScalar(f, down); z.Same(halfulp.NewScalar(f, up)) {
			return z
		}
	}
}

// NearestRoot returns x √y, rounded to nearest in f, for y ≥ 0.
func NearestRoot(f halfulp.Format, x, y *big.Rat) halfulp.Scalar {
	// num / den = x² y, perhaps not in lowest terms.
	num, den := new(big.Int).Mul(x.Num(), x.Num()), new(big.Int).Mul(x.Denom(), x.Denom())
	num.Mul(num, y.Num())
	den.Mul(den, y.Denom())
	// The integer below √(num / den) 2^bits, and the next one: the root is not below the first one,
	// and below the second one. If they round alike so does the root.
	for bits := f.Bits() + 128 + max(0, (den.BitLen()-num.BitLen())/2+1); ; bits *= 2 {
		n := new(big.Int).Lsh(num, uint(2*bits))
		n.Quo(n, den).Sqrt(n)
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
		// The root is rational if num den is a square.
		both := new(big.Int).Mul(num, den)
		if root := new(big.Int).Sqrt(both); new(big.Int).Mul(root, root).Cmp(both) == 0 {
			z := new(big.Rat).SetFrac(root, den)
			if x.Sign() < 0 {
				z.Neg(z)
			}
			return Nearest(f, z)
		}
	}
}
