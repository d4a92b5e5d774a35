package lintest

import "math/big"

// integers is a matrix A as integers x: a_ij = rows[i] x_ij 2^cols[j]. Elimination divides the
// integers exactly (Bareiss, Math. Comp. 22, 1968), so it takes no greatest common divisors; all of
// its numbers are minors.
type integers struct {
	x     [][]*big.Int
	rows  []*big.Rat
	cols  []int
	width int
}

// commonDenominator returns the least common multiple of the denominators.
func commonDenominator(x []*big.Rat) *big.Int {
	common := big.NewInt(1)
	for _, v := range x {
		d := v.Denom()
		if d.Cmp(common) <= 0 && new(big.Int).Rem(common, d).Sign() == 0 {
			continue
		}
		common = new(big.Int).Mul(common, new(big.Int).Quo(d, new(big.Int).GCD(nil, nil, common, d)))
	}
	return common
}

func integersOf(a Matrix) *integers {
	n := &integers{x: make([][]*big.Int, len(a)), rows: make([]*big.Rat, len(a))}
	if len(a) > 0 {
		n.width = len(a[0])
	}
	n.cols = make([]int, n.width)
	for i, row := range a {
		x, common := overCommon(row)
		n.x[i], n.rows[i] = x, new(big.Rat).SetFrac(big.NewInt(1), common)
	}
	// Take powers of two out of columns, and then out of rows.
	for j := range n.cols {
		n.cols[j] = n.shift(func(i int) *big.Int { return n.x[i][j] }, len(a))
	}
	for i := range a {
		n.rows[i].Mul(n.rows[i], power(n.shift(func(j int) *big.Int { return n.x[i][j] }, n.width)))
	}
	return n
}

// shift divides numbers by the largest power of two that divides all of them, and returns its
// exponent.
func (n *integers) shift(x func(k int) *big.Int, count int) (e int) {
	e = -1
	for k := range count {
		if v := x(k); v.Sign() != 0 && (e < 0 || int(v.TrailingZeroBits()) < e) {
			e = int(v.TrailingZeroBits())
		}
	}
	if e = max(e, 0); e > 0 {
		for k := range count {
			x(k).Rsh(x(k), uint(e))
		}
	}
	return e
}

// eliminate subtracts a multiple of row k, whose pivot is in column j, from row i, in the columns
// from from on. x_ic becomes (x_kj x_ic - x_ij x_kc) / last, where last is the previous pivot.
func (n *integers) eliminate(i, k, j, from int, last *big.Int) {
	pivot, factor := n.x[k][j], n.x[i][j]
	t := new(big.Int)
	for c := from; c < n.width; c++ {
		x, y := n.x[i][c], n.x[k][c]
		if x.Sign() == 0 && (factor.Sign() == 0 || y.Sign() == 0) {
			continue
		}
		z := new(big.Int).Mul(pivot, x)
		if z.Sub(z, t.Mul(factor, y)); last.IsInt64() && last.Int64() == 1 {
			n.x[i][c] = z
		} else {
			n.x[i][c] = z.Quo(z, last)
		}
	}
}

// fraction returns x / y 2^e.
func fraction(x, y *big.Int, e int) *big.Rat {
	if e > 0 {
		x = new(big.Int).Lsh(x, uint(e))
	} else if e < 0 {
		y = new(big.Int).Lsh(y, uint(-e))
	}
	return new(big.Rat).SetFrac(x, y)
}

// power returns 2^e.
func power(e int) *big.Rat { return fraction(big.NewInt(1), big.NewInt(1), e) }
