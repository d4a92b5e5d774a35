package eigen

import (
	"math/bits"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/modular"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve"
)

// deficient returns the solution of minimal norm for a matrix of any rank r: X = Fᵀ Z with K Z =
// Cᵀ W B and K = Cᵀ W A Fᵀ, where C are r independent columns of A and F r independent rows.
//
// Proof. X is a combination of the rows of A, so of all X with the same residual it has the least
// norm. The residuals B - A X satisfy Cᵀ W (B - A X) = 0; the columns of C span all columns of A,
// so these are the normal equations. With A = C G and F = H G for a regular H and G of full row
// rank, K = (CᵀWC)(GGᵀ)Hᵀ is regular.
//
// Some rows X_c of X at a time come from
//
//	(K   0) (Z  )   (CᵀWB)
//	(-F_cᵀ I) (X_c) = (0   ).
//
// If exponents are so far apart that K takes more memory, X comes from the augmented system, whose
// residuals are R:
//
//	(I    A  0) (R)   (B)
//	(CᵀW  0  0) (X) = (0)
//	(0    I -Fᵀ) (Z)   (0).
func (p *problem) deficient() (num.Mat, error) {
	m, n := p.a.Dims()
	k := m
	if p.b.Arr != nil {
		k = p.b.Cols
	}
	r, prime, err := p.provedRank()
	if err != nil {
		return num.Mat{}, err
	}
	z := num.NewMat(p.f.View(), n, k)
	if r == 0 {
		return z, nil
	}
	pivots := func(a num.Mat) ([]int, error) {
		rows, err := prime.Matrix(p.s.Ctx, p.s.Threads, a)
		if err != nil {
			return nil, err
		}
		list, _, err := prime.Eliminate(p.s.Ctx, p.s.Threads, rows, a.Cols, false)
		return list, err
	}
	// These r columns have rank r modulo the prime, and so have r of their rows.
	cols, err := pivots(p.a)
	if err != nil {
		return num.Mat{}, err
	}
	c := modular.Chosen(p.a, call.All(m), cols)
	rows, err := pivots(c.T())
	if err != nil {
		return num.Mat{}, err
	}
	across := modular.Chosen(p.a, rows, call.All(n)).T() // Fᵀ
	p.s.Stage("rank")
	if c, err = p.weighted(c); err != nil {
		return num.Mat{}, err
	}

	part := min(max(r, 64), n)
	first := productBits(p.a, c)
	width := max(first+ziv.ColumnBits(across)+int64(bits.Len(uint(n)))+1, bound.Longest(p.a))
	order := m + n + r
	augmented := max(bound.Longest(p.a), bound.Longest(c)) + 64
	if first > num.MaxPrec || width > num.MaxPrec || int64(r+part)*int64(r+part)*width > int64(order)*int64(order)*augmented {
		return p.augmented(c, across, k)
	}
	t, err := p.exactProduct(p.a, c) // AᵀWC
	if err != nil {
		return num.Mat{}, err
	}
	square, err := p.exactProduct(t, across)
	if err != nil {
		return num.Mat{}, err
	}
	right := c.T()
	if p.b.Arr != nil {
		if right, err = p.exactProduct(c, p.b); err != nil {
			return num.Mat{}, err
		}
	}
	p.s.Stage("equations")
	for at := 0; at < n; at += part {
		count := min(part, n-at)
		e, d, err := p.zeros(max(bound.Longest(square), bound.Longest(p.a)), right, r+count, k)
		if err != nil {
			return num.Mat{}, err
		}
		put(e, 0, 0, square, 1)
		put(e, r, 0, across.Slice(at, at+count, 0, r), -1)
		unit(e, r, r, count)
		put(d, 0, 0, right, 1)
		if err := p.solve(e, d, r, z.Slice(at, at+count, 0, k), at, n); err != nil {
			return num.Mat{}, err
		}
	}
	return z, nil
}

// augmented is deficient by the augmented system, for Cᵀ W as the transpose of c, and Fᵀ.
func (p *problem) augmented(c, across num.Mat, k int) (num.Mat, error) {
	m, n := p.a.Dims()
	r := c.Cols
	right := p.b
	if right.Arr == nil {
		right = num.Identity(num.Float64, m)
	}
	e, d, err := p.zeros(max(bound.Longest(p.a), bound.Longest(c)), right, m+n+r, k)
	if err != nil {
		return num.Mat{}, err
	}
	unit(e, 0, 0, m)
	put(e, 0, m, p.a, 1)
	put(e, m, 0, c.T(), 1)
	unit(e, m+r, m, n)
	put(e, m+r, m+n, across, -1)
	put(d, 0, 0, right, 1)
	p.s.Stage("equations")
	z := num.NewMat(p.f.View(), n, k)
	return z, p.solve(e, d, m, z, 0, n)
}

// zeros returns a square matrix of zeros, for numbers of the given bits, and a right-hand side of k
// columns that holds numbers of right.
func (p *problem) zeros(bits int64, right num.Mat, order, k int) (e, d num.Mat, err error) {
	f, err := ziv.FormatFor(bits)
	if err != nil {
		return e, d, err
	}
	g, err := ziv.FormatFor(bound.Longest(right))
	if err != nil {
		return e, d, err
	}
	if err := p.s.Budget.Check(float64(call.MatrixBytes(f, order, order) + call.MatrixBytes(g, order, k))); err != nil {
		return e, d, err
	}
	return num.NewMat(f, order, order), num.NewMat(g, order, k), nil
}

// solve stores the rows first, first + 1, ... of the solution of E Y = D in z: rows of X from at
// on, of n.
func (p *problem) solve(e, d num.Mat, first int, z num.Mat, at, n int) error {
	o := p.inner()
	if report := p.opt.Progress; report != nil {
		o.Progress = func(done float64) {
			report((float64(at) + done*float64(z.Rows)) / float64(n)) // may fuse: an estimate
		}
	}
	y, err := linsolve.Solve(halfulp.MatrixOf(e), halfulp.MatrixOf(d), p.f, o)
	if err != nil {
		return err
	}
	x := y.View().Slice(first, first+z.Rows, 0, z.Cols)
	z.CopyFrom(x)
	// Only the numbers of X count, not the others of the solution.
	over, small := int64(0), int64(0)
	for i := range x.Rows {
		for j := range x.Cols {
			switch v := x.Big(i, j); {
			case v.IsInf():
				over++
			case !x.Format().IsMP() && (v.Sign() == 0 || v.MantExp(nil) <= smallestNormal(x.Format())):
				small++
			}
		}
	}
	p.st.Overflow, p.st.Underflow = over, min(small, p.st.Underflow)
	p.absorb()
	return nil
}

// smallestNormal returns e where 2^(e-1) is the smallest normal number of an IEEE format, or of the
// terms of an expansion.
func smallestNormal(f num.Format) int {
	if f.Kind == num.F32 {
		return -125
	}
	return -1021
}

// weighted returns W M, exactly.
func (p *problem) weighted(m num.Mat) (num.Mat, error) {
	if p.w.Arr == nil {
		return m, nil
	}
	f, err := ziv.FormatFor(bound.Longest(m) + bound.Longest(p.w))
	if err != nil {
		return num.Mat{}, err
	}
	z := num.NewMat(f, m.Rows, m.Cols)
	for i := range m.Rows {
		for j := range m.Cols {
			z.SetBig(i, j, interval.ExactMul(m.Big(i, j), p.w.Big(i, 0)))
		}
	}
	return z, nil
}

// productBits returns a number of bits that holds every entry of XᵀY exactly.
func productBits(x, y num.Mat) int64 {
	return ziv.ColumnBits(x) + ziv.ColumnBits(y) + int64(bits.Len(uint(x.Rows))) + 1
}

// exactProduct returns XᵀY, exactly.
func (p *problem) exactProduct(x, y num.Mat) (num.Mat, error) {
	f, err := ziv.FormatFor(productBits(x, y))
	if err != nil {
		return num.Mat{}, err
	}
	if err := p.s.Budget.Check(float64(call.MatrixBytes(f, x.Cols, y.Cols))); err != nil {
		return num.Mat{}, err
	}
	z := halfulp.NewMatrix(halfulp.MP(uint(f.Bits())), x.Cols, y.Cols)
	err = halfulp.Gemm(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), halfulp.MatrixOf(x), halfulp.MatrixOf(y), halfulp.Float(0), z, p.quiet())
	return z.View(), p.checked(err)
}

// chosenRows returns rows of a matrix, or none if it has no array.
func chosenRows(m num.Mat, rows []int) num.Mat {
	if m.Arr == nil || len(rows) == m.Rows {
		return m
	}
	return modular.Chosen(m, rows, call.All(m.Cols))
}

// put stores a block, times sign, at entry (i, j) of a matrix whose format holds it.
func put(e num.Mat, i, j int, block num.Mat, sign int) {
	for h := range block.Rows {
		for l := range block.Cols {
			v := block.Big(h, l)
			if v.Sign() == 0 {
				continue
			}
			if sign < 0 {
				v.Neg(v)
			}
			e.SetBig(i+h, j+l, v)
		}
	}
}

// unit stores a unit matrix of order k at entry (i, j).
func unit(e num.Mat, i, j, k int) {
	for h := range k {
		e.SetEntry(i+h, j+h, num.Float(1))
	}
}
