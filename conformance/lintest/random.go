package lintest

import (
	"math/big"
	"math/rand/v2"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
)

// Ill returns a random matrix; a larger k makes it worse conditioned.
func Ill(r *rand.Rand, f halfulp.Format, n, k int) *halfulp.Matrix {
	a := gallery.Random(f, n, n, 0, r.Uint64())
	if k = min(k, f.Bits()-2); n > 1 && k > 0 { // two rows agree to k bits
		for j := range n {
			x := a.Big(0, j)
			d := new(big.Float).SetMantExp(a.Big(1, j), -k)
			a.SetBig(1, j, x.SetPrec(4000).Add(x, d))
		}
	}
	return a
}

// Spread multiplies rows and columns of a matrix in MP by powers of two up to 2^±most.
func Spread(r *rand.Rand, a *halfulp.Matrix, most int) {
	for range 1 + r.IntN(2*a.Rows()) {
		k, e, column := r.IntN(a.Rows()), r.IntN(2*most+1)-most, r.IntN(2) == 0
		for h := range a.Rows() {
			i, j := k, h
			if column {
				i, j = h, k
			}
			x := a.Big(i, j)
			a.SetBig(i, j, x.SetMantExp(x, e))
		}
	}
}

// NearSingular returns a matrix of numbers of the given bits. Its last row is a combination of the
// others up to one unit in the last place.
func NearSingular(r *rand.Rand, bits uint, n int) *halfulp.Matrix {
	a := gallery.Random(halfulp.MP(bits), n, n, r.IntN(20), r.Uint64())
	for j := range n {
		x := a.Big(0, j)
		if n > 2 {
			x.Add(x, a.Big(1, j))
		}
		a.SetBig(n-1, j, x)
	}
	x := a.Big(n-1, 0)
	ulp := new(big.Float).SetMantExp(big.NewFloat(1), x.MantExp(nil)-int(bits))
	a.SetBig(n-1, 0, x.Add(x, ulp))
	return a
}

// Graded scales the rows and columns of a matrix by random powers of two.
func Graded(r *rand.Rand, a *halfulp.Matrix, spread int) *halfulp.Matrix {
	n := a.Rows()
	rows, cols := make([]int, n), make([]int, n)
	for i := range n {
		rows[i], cols[i] = r.IntN(2*spread+1)-spread, r.IntN(2*spread+1)-spread
	}
	z := a.Clone()
	for i := range n {
		for j := range n {
			x := a.Big(i, j)
			z.SetBig(i, j, x.SetMantExp(x, rows[i]+cols[j]))
		}
	}
	return z
}

// Hard returns a matrix of a random kind, each kind hard in its own way.
func Hard(r *rand.Rand, n int) *halfulp.Matrix {
	switch r.IntN(5) {
	case 0:
		return NearSingular(r, uint(24+r.IntN(500)), n)
	case 1:
		return Graded(r, Ill(r, halfulp.MP(uint(60+r.IntN(300))), n, r.IntN(200)), 1+r.IntN(200))
	case 2: // a triangle whose inverse grows
		a := halfulp.Identity(halfulp.MP(64), n)
		for j := range n {
			for i := range j {
				a.SetFloat64(i, j, -float64(1+r.IntN(3)))
			}
			a.SetFloat64(j, j, float64(r.IntN(2))+0x1p-20)
		}
		return a
	case 3:
		a, _ := Adversarial(r, n, 1)
		return a
	}
	return Ill(r, halfulp.MP(uint(60+r.IntN(500))), n, r.IntN(500))
}

// ScaledRandom returns a random matrix whose rows and columns are multiplied by powers of two up to
// 2^±spread.
func ScaledRandom(r *rand.Rand, f halfulp.Format, n, spread int) *halfulp.Matrix {
	return Graded(r, gallery.Random(f, n, n, 0, r.Uint64()), spread)
}

// Unimodular returns an integer matrix of determinant ±1: its inverse has integer entries.
func Unimodular(r *rand.Rand, n int) *halfulp.Matrix {
	a := halfulp.NewMatrix(halfulp.MP(200), n, n)
	for i := range n {
		a.SetFloat64(i, i, 1)
	}
	for range 3 * n {
		i, j := r.IntN(n), r.IntN(n)
		if i == j {
			continue
		}
		sign := float64(2*r.IntN(2) - 1)
		for c := range n { // row i ± row j
			x, y := a.Big(i, c), a.Big(j, c)
			a.SetBig(i, c, x.Add(x, y.Mul(y, big.NewFloat(sign))))
		}
	}
	return a
}

// Triangular returns an upper triangular matrix.
func Triangular(r *rand.Rand, n int) *halfulp.Matrix {
	a := gallery.Random(halfulp.Float64, n, n, 0, r.Uint64())
	for j := range n {
		for i := j + 1; i < n; i++ {
			a.SetFloat64(i, j, 0)
		}
	}
	return a
}

// Gram returns A^T A in a format that holds it.
func Gram(a *halfulp.Matrix) *halfulp.Matrix {
	z := halfulp.NewMatrix(halfulp.MP(2000), a.Cols(), a.Cols())
	if err := halfulp.GemmTo(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), a, a, halfulp.Float(0), nil, z, nil); err != nil {
		panic(err)
	}
	return z
}

// IllConditioned returns matrices of order n for which float64 factors do not suffice.
func IllConditioned(r *rand.Rand, n int) map[string]*halfulp.Matrix {
	f := halfulp.MP(200)
	graded := halfulp.NewMatrix(f, n, n) // a product whose middle factor falls to 2^-120
	left, right := Integers(r, n, n, 1<<20), Integers(r, n, n, 1<<20)
	for j := range n {
		for i := range n {
			x := left.Big(i, j)
			left.SetBig(i, j, x.SetMantExp(x, -120*j/n))
		}
	}
	weights := left.Clone()
	if err := halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), left, right, halfulp.Float(0), graded, nil); err != nil {
		panic(err)
	}
	for i := range n { // rows of weights down to 2^-60
		for j := range n {
			x := right.Big(i, j)
			weights.SetBig(i, j, x.SetMantExp(x, -60*i/n))
		}
	}
	normal := halfulp.NewMatrix(halfulp.MP(500), n, n)
	if err := halfulp.Gemm(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), weights, weights, halfulp.Float(0), normal, nil); err != nil {
		panic(err)
	}
	return map[string]*halfulp.Matrix{"graded": graded, "normal": normal, "Hilbert": gallery.Hilbert(f, n), "rows far apart": spreadOut(graded)}
}

// spreadOut returns a matrix with rows and columns multiplied by powers of two.
func spreadOut(a *halfulp.Matrix) *halfulp.Matrix {
	z := a.Clone()
	for i := range z.Rows() {
		for j := range z.Cols() {
			x := z.Big(i, j)
			z.SetBig(i, j, x.SetMantExp(x, 37*i%400-91*j%300))
		}
	}
	return z
}

// Growing returns a matrix of Wilkinson: elimination with partial pivoting doubles its last column
// at every step. Random multiples of ε are added to it.
func Growing(r *rand.Rand, n int) *halfulp.Matrix {
	a := halfulp.NewMatrix(halfulp.Float64, n, n)
	for i := range n {
		for j := range n {
			switch x := float64(r.Float64() * 0x1p-20); {
			case i == j || j == n-1:
				a.SetFloat64(i, j, 1-x)
			case i > j:
				a.SetFloat64(i, j, x-1)
			default:
				a.SetFloat64(i, j, x)
			}
		}
	}
	return a
}

// Sparse returns a random matrix with a share of zeros: at random places or above a diagonal, in
// random order.
func Sparse(r *rand.Rand, f halfulp.Format, n int, share float64) *halfulp.Matrix {
	a := gallery.Random(f, n, n, 0, r.Uint64())
	z := halfulp.NewMatrix(f, n, n)
	rows, cols, block := r.Perm(n), r.Perm(n), 1+r.IntN(n)
	for i := range n {
		for j := range n {
			if i/block < j/block || i != j && r.Float64() < share {
				continue
			}
			z.Set(rows[i], cols[j], a.At(i, j))
		}
	}
	return z
}

// ByPivots returns the order of the pivots and, row by row, L below the diagonal and U. It uses
// many more bits than enclosures have.
func ByPivots(a *halfulp.Matrix) (order []int, lu [][]*big.Float) {
	m, n := a.Dims()
	order, lu = make([]int, m), make([][]*big.Float, m)
	for i := range lu {
		order[i] = i
		for j := range n {
			lu[i] = append(lu[i], new(big.Float).SetPrec(4000).Set(a.Big(i, j)))
		}
	}
	for k := range min(m, n) {
		p := k
		for i := k + 1; i < m; i++ {
			if new(big.Float).Abs(lu[i][k]).Cmp(new(big.Float).Abs(lu[p][k])) > 0 {
				p = i
			}
		}
		order[k], order[p], lu[k], lu[p] = order[p], order[k], lu[p], lu[k]
		for i := k + 1; i < m; i++ {
			l := lu[i][k].Quo(lu[i][k], lu[k][k])
			for j := k + 1; j < n; j++ {
				lu[i][j].Sub(lu[i][j], new(big.Float).Mul(l, lu[k][j]))
			}
		}
	}
	return order, lu
}

// FarApart returns a matrix of numbers of 40 bits with exponents of at most far in magnitude. Some
// numbers are 0. The matrix is symmetric if symmetric is set.
func FarApart(r *rand.Rand, f halfulp.Format, n, far int, symmetric bool) *halfulp.Matrix {
	a := halfulp.NewMatrix(f, n, n)
	for i := range n {
		for j := range n {
			x := new(big.Float)
			if r.IntN(6) > 0 {
				x.SetInt64(r.Int64N(1<<40) - 1<<39)
			}
			a.SetBig(i, j, x.SetMantExp(x, r.IntN(2*far+1)-far))
			if symmetric && j <= i {
				a.Set(j, i, a.At(i, j))
			}
		}
	}
	return a
}

// LDLT returns L and D of an elimination in rational numbers with these pivots and blocks; not ok
// if one of the blocks is singular.
func (a Matrix) LDLT(order, blocks []int) (l, d Matrix, ok bool) {
	n := len(a)
	x := a.Rows(order).T(n).Rows(order).T(n)
	l, d = Identity(n), New(n, n)
	b := 0
	for _, size := range blocks {
		inverse := [][]*big.Rat{{new(big.Rat)}}
		p := x[b][b]
		if size == 1 {
			if p.Sign() == 0 {
				return nil, nil, false
			}
			inverse[0][0].Inv(p)
		} else {
			o, q := x[b][b+1], x[b+1][b+1]
			det := new(big.Rat).Mul(p, q)
			if det.Sub(det, new(big.Rat).Mul(o, o)).Sign() == 0 {
				return nil, nil, false
			}
			det.Inv(det)
			minus := new(big.Rat).Mul(o, det)
			minus.Neg(minus)
			inverse = [][]*big.Rat{{new(big.Rat).Mul(q, det), minus}, {minus, new(big.Rat).Mul(p, det)}}
		}
		for i := range size {
			for j := range size {
				d[b+i][b+j] = x[b+i][b+j]
			}
		}
		for i := b + size; i < n; i++ {
			for c := range size {
				l[i][b+c] = new(big.Rat)
				for k := range size {
					l[i][b+c].Add(l[i][b+c], new(big.Rat).Mul(x[i][b+k], inverse[k][c]))
				}
			}
			for c := range size {
				for j := b + size; j < n; j++ {
					x[i][j] = new(big.Rat).Sub(x[i][j], new(big.Rat).Mul(l[i][b+c], x[b+c][j]))
				}
			}
		}
		b += size
	}
	return l, d, true
}

// Mirrored copies the upper triangle of a to the lower one and returns a.
func Mirrored(a *halfulp.Matrix) *halfulp.Matrix {
	for i := range a.Rows() {
		for j := range i {
			a.Set(i, j, a.At(j, i))
		}
	}
	return a
}
