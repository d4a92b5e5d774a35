package factors

import (
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
)

// ldltFactors are L, D, pivots and blocks, and a copy of A where that lives.
type ldltFactors struct {
	P, Blocks []int
	L, D, A   num.Mat
}

// FactorLDLT returns the factors where a lives, of which there is a copy on the host, with a copy of a.
func FactorLDLT(s *call.Run, a, here num.Mat, f num.Format) (*ldltFactors, error) {
	if err := call.Finite("A", here); err != nil {
		return nil, err
	}
	if err := ziv.Symmetric(here); err != nil {
		return nil, err
	}
	var seed *Rooked
	var z *ldltFactors
	if !a.OnHost() {
		var err error
		if seed, err = newRook(s, here, MostBits(f)); err != nil {
			return nil, err
		}
		if z, err = LDLTThere(s, a, f, seed); err != nil {
			return nil, err
		}
	}
	if z == nil {
		var err error
		if z, err = ldlt(s, here, f, seed); err != nil {
			return nil, err
		}
		countOverflow(s, z.L, z.D)
	}
	return z, Keep(a, &z.A, &z.L, &z.D)
}

// ldlt returns the factors, on the host, by a seed of newRook, nil if that has not been made.
func ldlt(s *call.Run, a num.Mat, f num.Format, origin *Rooked) (*ldltFactors, error) {
	n := a.Rows
	z := &ldltFactors{}
	var u *ziv.Unknown
	checked := false
	full := func() error {
		if checked {
			return nil
		}
		checked = true
		return ziv.FullRank(s, a)
	}
	set := func(order, blocks []int) {
		if u == nil || !slices.Equal(z.P, order) || !slices.Equal(z.Blocks, blocks) {
			z = &ldltFactors{P: order, Blocks: blocks, L: num.NewMat(f, n, n), D: num.NewMat(f, n, n)}
			u = z.unknown(modular.Chosen(a, order, order))
		}
	}
	// What makes pivots, where float64 does not suffice: that with the pivots of the seed, and that
	// which chooses its own ones.
	ways := []func(some int) (*Rook, error){func(some int) (*Rook, error) { return RookOf(s, a, some) }}
	seeded := func() {
		if origin != nil {
			pivots := origin
			ways = append([]func(some int) (*Rook, error){func(some int) (*Rook, error) { return rookAgain(s, pivots, some) }}, ways...)
		}
	}
	var pivots *seed.RookOrder // for digits
	fixed := origin == nil && !s.Set.Check && lanes.Bits() > 0
	if fixed {
		var err error
		if pivots, err = seed.RookForDigits(s, a, MostBits(f)); err != nil {
			return nil, err
		}
		fixed = pivots != nil
	}
	if origin == nil && !fixed { // so that pivots are those of the levels that have no digits
		var err error
		if origin, err = newRook(s, a, MostBits(f)); err != nil {
			return nil, err
		}
	}
	seeded()
	err := ziv.DecideAll(s, f, func(bits int) (*ziv.Unknown, *ziv.Enclosure, error) {
		if fixed {
			var t *digits.LDLT
			var err error
			if t, z, u, err = ldltAttempt(s, a, f, pivots, bits-ziv.SpareBits, full, z, u); err != nil {
				return nil, nil, err
			}
			if t != nil {
				return u, t.Enclosure(u), nil
			}
			fixed = false
			if origin, err = newRook(s, a, MostBits(f)); err != nil {
				return nil, nil, err
			}
			seeded()
		}
		var e *ziv.Enclosure
		var err error
		if origin != nil {
			e, err = origin.LUNewton.Enclosure(bits - ziv.SpareBits)
		}
		for {
			if err != nil {
				return nil, nil, err
			}
			if e != nil {
				set(origin.Order, origin.Blocks)
				if ok, err := BelowLimit(s, u, e, seed.RookGrowth); ok || err != nil {
					return u, e, err
				}
				ways = ways[max(len(ways)-1, 0):] // other pivots
			}
			if len(ways) == 0 {
				break
			}
			origin, e, err = rookByElimination(s, a, MostBits(f), bits-ziv.SpareBits, full, ways[0])
			ways = ways[1:]
		}
		origin = nil
		r, err := RookOf(s, a, bits)
		if err != nil {
			return nil, nil, err
		}
		if r == nil {
			return nil, nil, full()
		}
		set(r.Order, r.Blocks)
		if is, err := byIntervals(s, a, f, bits); err != nil {
			return nil, nil, err
		} else if is {
			g, err := EliminateIntervals(s, u.C, r.Blocks, bits, false)
			if err != nil {
				return nil, nil, err
			}
			if g.Bad < 0 {
				e := g.enclosure(bits)
				if ok, err := BelowLimit(s, u, e, seed.RookGrowth); ok || err != nil {
					return u, e, err
				}
			}
		}
		li, ui, err := blockInverses(s, r, bits)
		if err != nil {
			return nil, nil, err
		}
		if e, err = ziv.Enclose(s, u.C, li, ui, bits); err != nil {
			return nil, nil, err
		}
		if e == nil {
			return nil, nil, full()
		}
		if ok, err := BelowLimit(s, u, e, seed.RookGrowth); !ok || err != nil {
			return nil, nil, err
		}
		return u, e, nil
	})
	if err != nil {
		return nil, err
	}
	b := 0
	for _, size := range z.Blocks {
		if size == 2 {
			z.D.SetEntry(b+1, b, z.D.Entry(b, b+1))
		}
		b += size
	}
	return z, nil
}

// ldltAttempt is an attempt by digits: the first time, u being nil, it makes factors z, with all
// that is decided. There is no elimination where digits are not the way.
func ldltAttempt(s *call.Run, a num.Mat, f num.Format, pivots *seed.RookOrder, bits int, regular func() error, z *ldltFactors, u *ziv.Unknown) (*digits.LDLT, *ldltFactors, *ziv.Unknown, error) {
	defer s.Release()
	t, err := digits.NewLDLT(s, a, pivots, bits, regular)
	if t == nil || err != nil || u != nil {
		return t, z, u, err
	}
	n := a.Rows
	made := &ldltFactors{P: pivots.Order, Blocks: pivots.Blocks, L: num.NewMat(f, n, n), D: num.NewMat(f, n, n)}
	lower, middle, ok, err := t.RoundTo(made.L, made.D)
	if !ok || err != nil {
		return nil, z, nil, err
	}
	s.Did(call.WantedCost(s, n, n) / 2)
	u = &ziv.Unknown{K: n, Blocks: made.Blocks}
	if len(lower)+len(middle) > 0 {
		u.C = modular.Chosen(a, made.P, made.P)
		u.Fill()
	}
	for _, at := range lower {
		u.Want(ziv.OfL, at[0], at[1], made.L, at[0], at[1])
	}
	for _, at := range middle {
		u.Want(ziv.OfU, at[0], at[1], made.D, at[0], at[1])
	}
	return t, made, u, nil
}

// unknown returns the entries of the factors, of c = P A P^T.
func (z *ldltFactors) unknown(c num.Mat) *ziv.Unknown {
	n := c.Rows
	u := ziv.NewUnknown(c, n, z.Blocks, n*(n+1)/2)
	for _, w := range u.Lower() {
		u.Want(ziv.OfL, w[0], w[1], z.L, w[0], w[1])
	}
	b := 0
	for _, size := range z.Blocks {
		for i := b; i < b+size; i++ {
			ziv.SetOne(z.L, i, i)
			for j := i; j < b+size; j++ {
				u.Want(ziv.OfU, i, j, z.D, i, j) // and D[j,i]
			}
		}
		b += size
	}
	return u
}

// Rook is an elimination of a symmetric matrix in some bits. Nothing is known of its error.
type Rook struct {
	X      [][]*big.Float // L below the diagonal blocks, and the lower triangle of D
	Order  []int
	Blocks []int
}

// at returns entry (i, j) of what is left of the matrix.
func (r *Rook) at(i, j int) *big.Float { return r.X[max(i, j)][min(i, j)] }

// rook eliminates, nil if what is left vanishes.
func RookOf(s *call.Run, a num.Mat, bits int) (*Rook, error) {
	if err := call.Workable(bits, a); err != nil {
		return nil, err
	}
	n := a.Rows
	r := &Rook{X: seed.LowerTriangle(a, uint(bits)), Order: call.All(n)}
	for k := 0; k < n; {
		size := r.Pivot(k)
		if size == 0 {
			return nil, nil
		}
		if ok, err := EliminateRook(s, r, k, size, uint(bits)); !ok || err != nil {
			return nil, err
		}
		r.Blocks = append(r.Blocks, size)
		k += size
	}
	return r, nil
}

// exchange exchanges rows and columns.
func (r *Rook) exchange(i, j int) {
	i, j = min(i, j), max(i, j)
	seed.ExchangeSymmetric(r.X, i, j)
	r.Order[i], r.Order[j] = r.Order[j], r.Order[i]
}

// largest returns the row of the entry of the largest magnitude in column j, off the diagonal, and
// that.
func (r *Rook) largest(k, j int) (int, *big.Float) {
	rows := slices.DeleteFunc(call.All(len(r.X)), func(i int) bool { return i < k || i == j })
	if len(rows) == 0 {
		return j, new(big.Float)
	}
	i := rows[seed.LargestPivot(len(rows), func(i int) *big.Float { return r.at(rows[i], j) })]
	return i, new(big.Float).Abs(r.at(i, j))
}

// Pivot brings a pivot to row k, and returns its size, 0 if there is none.
func (r *Rook) Pivot(k int) int {
	enough := func(i int, most *big.Float) bool {
		return new(big.Float).Abs(r.at(i, i)).Cmp(new(big.Float).SetPrec(most.Prec()+64).Mul(most, seed.RookAlpha)) >= 0
	}
	i, most := r.largest(k, k)
	if enough(k, most) {
		if r.at(k, k).Sign() == 0 {
			return 0
		}
		return 1
	}
	for p := k; ; {
		j, row := r.largest(k, i)
		if enough(i, row) {
			r.exchange(k, i)
			return 1
		}
		if j == p || row.Cmp(most) <= 0 {
			r.exchange(k, p)
			if i == k {
				i = p
			}
			r.exchange(k+1, i)
			return 2
		}
		p, most, i = i, row, j
	}
}

// EliminateRook eliminates with the pivot in row k, and reports whether it is regular.
func EliminateRook(s *call.Run, r *Rook, k, size int, prec uint) (bool, error) {
	inverse := r.inverse(k, size, prec)
	if inverse == nil {
		return false, nil
	}
	first := k + size
	l := make([][]*big.Float, len(r.X)-first)
	err := par.Each(s.Ctx, s.Threads, len(l), func(row int) {
		t := new(big.Float).SetPrec(prec)
		x := r.X[first+row]
		l[row] = make([]*big.Float, size)
		for c := range size {
			m := new(big.Float).SetPrec(prec)
			for d := range size {
				if t.Mul(x[k+d], inverse[d][c]); t.Sign() != 0 {
					seed.Subtract(m, t.Neg(t))
				}
			}
			if l[row][c] = m; m.Sign() == 0 {
				continue
			}
			for j := first; j <= first+row; j++ {
				if r.X[j][k+c].Sign() != 0 {
					seed.Subtract(x[j], t.Mul(m, r.X[j][k+c]))
				}
			}
		}
	})
	for row := range l {
		copy(r.X[first+row][k:], l[row])
	}
	return true, err
}

// inverse returns about the inverse of the block of D in row k, nil if it is singular.
func (r *Rook) inverse(k, size int, prec uint) [][]*big.Float {
	number := func() *big.Float { return new(big.Float).SetPrec(prec) }
	p := r.X[k][k]
	if size == 1 {
		if p.Sign() == 0 {
			return nil
		}
		return [][]*big.Float{{number().Quo(big.NewFloat(1), p)}}
	}
	off, q := r.X[k+1][k], r.X[k+1][k+1]
	det := number().Mul(p, q)
	if seed.Subtract(det, number().Mul(off, off)); det.Sign() == 0 {
		return nil
	}
	minus := number().Quo(off, det)
	minus.Neg(minus)
	return [][]*big.Float{{number().Quo(q, det), minus}, {minus, number().Quo(p, det)}}
}

// blockInverses returns about the inverses S of L and T of D L^T.
func blockInverses(s *call.Run, r *Rook, bits int) (li, ui num.Mat, err error) {
	n, f := len(r.X), num.Precision(uint(bits))
	l, inverse := num.NewMat(f, n, n), num.NewMat(f, n, n)
	b := 0
	for _, size := range r.Blocks {
		for i := b + size; i < n; i++ {
			for j := b; j < b+size; j++ {
				l.SetBig(i, j, r.X[i][j])
			}
		}
		for i, row := range r.inverse(b, size, uint(bits)) {
			for j, x := range row {
				inverse.SetBig(b+i, b+j, x)
			}
		}
		b += size
	}
	li, ui = num.NewMat(f, n, n), num.NewMat(f, n, n)
	if err := seed.InvertLower(s, l, li, true); err != nil {
		return num.Mat{}, num.Mat{}, err
	}
	return li, ui, s.Gemm(1, li.T(), inverse, 0, num.Mat{}, ui)
}
