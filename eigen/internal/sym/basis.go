package sym

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
)

// settle stores what the last rounds have left open of the vectors, and the vectors of clusters,
// which are a basis that depends only on their subspace. It leaves vectors open whose sign or
// pivots the enclosures do not decide.
func (e *solver) settle(t *state, links []link, y *bound.Nearly, far []size) error {
	for p := 0; p < t.n; p++ {
		first := p
		for links[p] == together {
			p++
		}
		clear := links[p] == apart && (first == 0 || links[first-1] == apart)
		switch {
		case !clear || e.columns[first].done || !e.anyWanted(first, p):
		case first == p:
			e.settleColumn(t, y, far, e.vectors, e.columns, p)
		default:
			if err := e.basis(t, first, p, y, far); err != nil {
				return err
			}
		}
	}
	return nil
}

// basis stores a basis of the subspace of the vectors at the positions first to last. With the
// projector P = V Vᵀ on it, for an orthonormal basis V, the columns of the Cholesky factor of P
// with pivots, P = L Lᵀ, are orthonormal: Lᵀ L = I follows from P² = P. They depend on the pivots
// and on the subspace alone. A pivot is the first diagonal entry that exceeds π/4 of the largest
// one left.
func (e *solver) basis(t *state, first, last int, y *bound.Nearly, far []size) error {
	n, k := t.n, last-first+1
	j := t.order[first : last+1]
	p := interval.Prec(e.vectorBits + 64)
	v := make([][]*big.Float, n) // rows of V
	var sum size
	for _, q := range j {
		sum = sum.add(far[q].mul(far[q]))
	}
	if err := par.For(t.s.Ctx, t.s.Threads, n, func(_, i int) {
		v[i] = make([]*big.Float, k)
		for l, q := range j {
			v[i][l] = exactly(y, i, q)
			v[i][l].SetPrec(uint(p))
		}
	}); err != nil {
		return err
	}
	// Rows of V have norms of at most wide + far, and differ from the exact ones by at most far, so
	// entries of P differ by (2 wide + far) far, and by the roundings of k products and sums.
	total, wide := sum.sqrt(), t.wide.max(power(0))
	err := total.mul(wide.shifted(1).add(total)).add(wide.mul(wide).shifted(int64(16 - e.vectorBits))).big()
	product := func(i, q int) interval.Interval {
		z := new(big.Float).SetPrec(uint(p))
		w := new(big.Float).SetPrec(uint(p))
		for l := range k {
			z.Add(z, w.Mul(v[i][l], v[q][l]))
		}
		return interval.Interval{Lo: p.Down().Sub(z, err), Hi: p.Up().Add(z, err)}
	}
	factor, errPar := ProjectorBasis(e.s, p, n, k, product)
	if errPar != nil || !e.narrow(factor) {
		return errPar
	}
	if e.left != nil && first >= e.zeros {
		if ok, err := e.leftBasis(first, factor); !ok || err != nil {
			return err
		}
	}
	for l := range k {
		for i := range n {
			x := factor[l][i]
			e.store(e.vectors, i, first+l, interval.Interval{Lo: x.Lo.SetMantExp(x.Lo, e.turned), Hi: x.Hi.SetMantExp(x.Hi, e.turned)})
		}
		e.columns[first+l].open, e.columns[first+l].done = nil, true
	}
	e.runs = append(e.runs, [2]int{first, last})
	return nil
}

// narrow reports whether there are enclosures, and all are as narrow as settled ones.
func (e *solver) narrow(x [][]interval.Interval) bool {
	width := new(big.Float)
	for _, column := range x {
		for _, v := range column {
			if width.SetPrec(64).Sub(v.Hi, v.Lo); width.Sign() != 0 && width.MantExp(nil) > settled-e.last {
				return false
			}
		}
	}
	return x != nil
}

// ProjectorBasis returns enclosures, with numbers of p bits, of the first k columns of the Cholesky
// factor with pivots of a projector of order n, whose entries product encloses; nil if they do not
// decide a pivot. Entries that are exactly 0, above pivots or between blocks of the projector, stay
// 0.
func ProjectorBasis(s *call.Run, p interval.Prec, n, k int, product func(i, q int) interval.Interval) ([][]interval.Interval, error) {
	var factor [][]interval.Interval
	diagonal := func(i int) interval.Interval { return product(i, i) }
	entry := func(i, q int) interval.Interval {
		x := product(i, q)
		for _, column := range factor {
			x = p.Sub(x, times(p, column[i], column[q]))
		}
		return x
	}
	return choleskyBasis(s, p, n, k, diagonal, func(int) {}, entry, func(_ int, _ interval.Interval, column []interval.Interval) { factor = append(factor, column) })
}

// complementBasis is ProjectorBasis for the projector I - U Uᵀ, where the rows u of U, of
// orthonormal columns, are enclosed. What is left of the projector after some pivots, in the other
// rows and columns, is I - U M Uᵀ: M = I at first, and for the pivot q with the diagonal entry d =
// 1 - u_qᵀ M u_q
//
//	M <- M + (M u_q) (M u_q)ᵀ / d.
//
// With r columns in U this takes about n k r products, and ProjectorBasis n k²/2.
func complementBasis(s *call.Run, p interval.Prec, u [][]interval.Interval, k int) ([][]interval.Interval, error) {
	r := len(u[0])
	dot := func(x, y []interval.Interval) interval.Interval {
		sum := interval.OfInt(0)
		for i := range x {
			sum = sumOf(p, sum, times(p, x[i], y[i]))
		}
		return sum
	}
	m := make([][]interval.Interval, r)
	for i := range m {
		m[i] = make([]interval.Interval, r)
		for j := range m {
			m[i][j] = interval.OfInt(0)
		}
		m[i][i] = interval.OfInt(1)
	}
	image := func(q int) []interval.Interval { // M u_q
		z := make([]interval.Interval, r)
		for i := range z {
			z[i] = dot(m[i], u[q])
		}
		return z
	}
	images := make([][]interval.Interval, len(u)) // of the pivots
	one := interval.OfInt(1)
	diagonal := func(i int) interval.Interval {
		sum := interval.OfInt(0)
		for _, x := range u[i] {
			sum = sumOf(p, sum, square(p, x))
		}
		return p.Sub(one, sum)
	}
	begin := func(q int) { images[q] = image(q) }
	entry := func(i, q int) interval.Interval { return p.Sub(interval.OfInt(0), dot(u[i], images[q])) }
	update := func(q int, d interval.Interval, _ []interval.Interval) {
		v := images[q]
		for i := range r {
			for j := range i + 1 {
				x := times(p, v[i], v[j])
				if i == j {
					x = square(p, v[i])
				}
				m[i][j] = sumOf(p, m[i][j], p.Quo(x, d))
				m[j][i] = m[i][j]
			}
		}
	}
	return choleskyBasis(s, p, len(u), k, diagonal, begin, entry, update)
}

// choleskyBasis computes the first k columns of the Cholesky factor with pivots of a projector of
// order n: diagonal encloses its diagonal, and entry encloses entry (i, q) of what is left of it,
// for i ≠ q. begin is called before the column of pivot q, and update after it, with the pivot d
// and the column of the factor.
func choleskyBasis(s *call.Run, p interval.Prec, n, k int, diagonal func(i int) interval.Interval, begin func(q int), entry func(i, q int) interval.Interval,
	update func(q int, d interval.Interval, column []interval.Interval)) ([][]interval.Interval, error) {
	size := float64(p)/8 + 64 // may fuse: an estimate
	if err := s.Budget.Check(2 * size * float64(n) * float64(k)); err != nil {
		return nil, err
	}
	left := make([]interval.Interval, n) // the diagonal of P - L Lᵀ
	pivots := make([]bool, n)            // rows of P - L Lᵀ that are 0
	factor := make([][]interval.Interval, k)
	if err := par.For(s.Ctx, s.Threads, n, func(_, i int) { left[i] = diagonal(i) }); err != nil {
		return nil, err
	}
	quarter := quarterPi(p)
	for l := range k {
		q, ok := pivot(p, quarter, left)
		if !ok {
			return nil, nil
		}
		begin(q)
		d := left[q]
		root := p.Sqrt(d)
		column := make([]interval.Interval, n)
		factor[l] = column
		if err := par.For(s.Ctx, s.Threads, n, func(_, i int) {
			switch {
			case pivots[i]:
				column[i] = interval.OfInt(0)
			case i == q:
				column[i] = root
			default:
				column[i] = p.Quo(entry(i, q), root)
			}
		}); err != nil {
			return nil, err
		}
		pivots[q] = true
		for i := range n {
			if pivots[i] {
				left[i] = interval.OfInt(0)
				continue
			}
			left[i] = p.Sub(left[i], square(p, column[i]))
		}
		update(q, d, column)
	}
	return factor, nil
}

// sumOf encloses x + y.
func sumOf(p interval.Prec, x, y interval.Interval) interval.Interval {
	return interval.Interval{Lo: p.Down().Add(x.Lo, y.Lo), Hi: p.Up().Add(x.Hi, y.Hi)}
}

// times encloses x y.
func times(p interval.Prec, x, y interval.Interval) interval.Interval {
	if y.Lo.Sign() < 0 && x.Lo.Sign() >= 0 {
		x, y = y, x
	}
	return p.Mul(x, y)
}

// pivot returns the first index whose number exceeds π/4 of the largest one, for an enclosure of
// π/4; not ok if the enclosures do not decide.
func pivot(p interval.Prec, quarterPi interval.Interval, x []interval.Interval) (int, bool) {
	most := interval.Of(new(big.Float))
	for _, v := range x {
		if v.Lo.Cmp(most.Lo) > 0 {
			most.Lo = v.Lo
		}
		if v.Hi.Cmp(most.Hi) > 0 {
			most.Hi = v.Hi
		}
	}
	if most.Lo.Sign() <= 0 {
		return 0, false
	}
	quarter := p.Mul(most, quarterPi)
	for i, v := range x {
		switch {
		case v.Lo.Cmp(quarter.Hi) > 0:
			return i, true
		case v.Hi.Cmp(quarter.Lo) >= 0:
			return 0, false
		}
	}
	return 0, false
}
