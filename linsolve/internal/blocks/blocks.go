package blocks

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sync"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// Leaf returns the order up to which blocks are eliminated entry by entry, in numbers of the given
// bits. The cost of a product of two numbers grows faster with the bits than the cost of matrix
// products by moduli.
func Leaf(bits int) int {
	if bits < 192 {
		return 80
	}
	return 40
}

// Determinant returns the determinant of a regular matrix A with factors f, with a log of about
// 2^-places; nil if float64 factors do not suffice.
//
// For F = D1 A D2 with its rows in the order of the pivots, and blocks of about half its order,
//
//	det F = det F11 det S,  S = F22 - F21 F11^-1 F12.
//
// The computed S' has |S - S'| ≤ δ entry by entry. The bound δ is known: the error of F11^-1 F12
// times F21, and the last rounding. Then
//
//	det S = det S' det(I + K),  K = S'^-1 (S - S'),
//
// and |log det(I + K)| = |Σ tr((-K)^i) / i| ≤ m k / (1 - k) for the order m of S and any norm k < 1
// of K. Here the norm is ‖D2^-1 K D2‖, with the scaling D1 S' D2 of S' by its own factors. The
// inverse of D1 S' D2 has at most the norm ‖X‖ / (1 - rho).
//
// The columns of the first S' are computed in the given number of parts, see ReserveDet. With more
// than one part, F.LU is given back.
func Determinant(s *call.Run, a num.Mat, f *seed.Factors, places, leaf, parts int) (*seed.Determinant, error) {
	d := &seed.Determinant{Log: bound.Upper()}
	later := s.Work.Later
	o, err := orderOf(s, a, f, parts > 1 && a.Rows > leaf)
	if o == nil || err != nil {
		return nil, err
	}
	leaves, err := leaves(s, o, places, leaf, parts, d, nil)
	s.Work.Later = later
	if err != nil || leaves == nil {
		return nil, err
	}
	cost := 0.0
	for _, b := range leaves {
		// may fuse: an estimate
		cost += b.cost()
	}
	s.Plan(cost)
	made, failed := make([]*seed.Determinant, len(leaves)), make([]error, len(leaves))
	var order sync.Mutex // guards the progress reports
	err = par.For(s.Ctx, s.Threads, len(leaves), func(_, i int) {
		made[i], failed[i] = eliminated(s, leaves[i])
		order.Lock()
		defer order.Unlock()
		s.Did(leaves[i].cost())
	})
	if err != nil {
		return nil, err
	}
	for i, v := range made {
		if failed[i] != nil || v == nil {
			return nil, failed[i]
		}
		d.Log.Add(d.Log, v.Log)
		if i == 0 {
			d.Mid = v.Mid
		} else { // the product is rounded
			d.Log.Add(d.Log, bound.Exp2(1-int(d.Mid.Prec())))
			d.Mid.Mul(d.Mid, v.Mid)
		}
	}
	if d.Odd {
		d.Mid.Neg(d.Mid)
	}
	return d, nil
}

// A leafBlock is a block F whose determinant is wanted in numbers of some places: a matrix A with
// factors, scaled and with its rows ordered.
type leafBlock struct {
	f      num.Mat
	p      *seed.Approximate // of A
	places int
}

func (b leafBlock) cost() float64 { return leafCost(b.f.Rows, b.places) }

// ordered holds the factors of a matrix without LU, and the data derived from LU.
type ordered struct {
	*seed.Factors
	a     num.Mat // the matrix
	order []int   // row i of L U is row order[i] of the matrix
	odd   bool
	loss  int
}

// orderOf returns factors as ordered, and gives LU back if release is set; nil if float64 factors
// do not suffice.
func orderOf(s *call.Run, a num.Mat, f *seed.Factors, release bool) (*ordered, error) {
	o := &ordered{Factors: f, a: a}
	var err error
	if o.loss, err = seed.Loss(s, f); err != nil || o.loss > seed.LossyBits {
		return nil, err
	}
	if o.order, o.odd = f.Order(); release {
		s.GiveBackFloats(f.LU)
		f.LU = nil
	}
	return o, nil
}

// part returns rows i0 to i1 and columns j0 to j1 of F, scaled by further powers of two.
func (o *ordered) part(s *call.Run, i0, i1, j0, j1 int, rows, cols []int64) num.Mat {
	by := scale.Scaling{Rows: o.Rows, Cols: slices.Clone(o.Cols[j0:j1])}
	if rows != nil {
		by.Rows = make([]int64, len(o.Rows))
		for i, k := range o.order[i0:i1] {
			by.Rows[k] = o.Rows[k] + rows[i]
		}
	}
	for j, e := range cols {
		by.Cols[j] += e
	}
	return call.Arranged(o.a.Slice(0, o.N, j0, j1), by, o.order[i0:i1], math.MaxInt32, s.MatrixHere)
}

// leaves appends the blocks whose determinants multiply to the determinant of A, and adds the other
// factors to d: sign, scaling and log; nil if float64 factors do not suffice.
func leaves(s *call.Run, f *ordered, places, leaf, parts int, d *seed.Determinant, list []leafBlock) ([]leafBlock, error) {
	n := f.N
	size := bits.Len(uint(n))
	d.Odd = d.Odd != f.odd
	for i := range n {
		d.Shift -= f.Rows[i] + f.Cols[i]
	}
	if n > leaf {
		return split(s, f, places, places+f.loss+2*size, leaf, parts, d, list)
	}
	z := f.part(s, 0, n, 0, n, nil, nil)
	if z.Arr == nil {
		return nil, nil
	}
	p, err := seed.FirstInverse(s, f.a, f.Factors)
	if err != nil || p.Rho == nil {
		return nil, err
	}
	b := leafBlock{z, p, places + f.loss + 2*size + 8}
	// may fuse: an estimate, of what comes when all blocks are there
	s.Work.Later += b.cost()
	return append(list, b), nil
}

// split is leaves for F split into two blocks, with S' rounded to wide bits.
func split(s *call.Run, f *ordered, places, wide, leaf, parts int, d *seed.Determinant, list []leafBlock) ([]leafBlock, error) {
	n := f.N
	h := n / 2
	m := n - h
	end := s.Before(0)
	if s.Work.Report != nil {
		rest := DetCost(h, places, leaf) + DetCost(m, places, leaf)
		s.Plan(splitCost(n, places) + rest)
		end = s.Before(rest + float64(call.SeedCost(m)+call.FactorCost(m)+call.ProductOf(m, h, m, wide)))
	}
	first := f.part(s, 0, h, 0, h, nil, nil)
	if first.Arr == nil {
		return nil, nil
	}
	release := s.Temporary() // factors of smaller blocks
	lu, t, p, err := firstBlock(s, first, leaf)
	if t == nil || err != nil {
		return nil, err
	}
	c := &complement{s: s, f: f, t: t, p: p, wide: wide, h: h, parts: parts}
	schur, err := c.schur()
	end()
	if schur.Arr == nil || err != nil {
		return nil, err
	}
	s.Stats.Precision = max(s.Stats.Precision, wide)
	end = s.Before(0)
	if s.Work.Report != nil {
		end = s.Before(DetCost(m, places, leaf) + float64(call.SeedCost(m)+call.FactorCost(m)))
	}
	list, err = leaves(s, lu, places, leaf, 1, d, list)
	release()
	end()
	if err != nil || list == nil {
		return nil, err
	}
	slu, err := seed.NewFactors(s, schur, scale.Of(schur))
	if err != nil {
		return nil, err
	}
	log, err := c.error(schur, slu)
	if log == nil || err != nil {
		return nil, err
	}
	d.Log.Add(d.Log, log)
	o, err := orderOf(s, schur, slu, m > leaf)
	if o == nil || err != nil {
		return nil, err
	}
	return leaves(s, o, places, leaf, 1, d, list)
}

// firstBlock returns factors of F11, and Newton's method for F11 with its seed, which keeps only
// the scaling and rho; nil if float64 factors do not suffice.
func firstBlock(s *call.Run, first num.Mat, leaf int) (*ordered, *newton.Iteration, *seed.Approximate, error) {
	lu, err := seed.NewFactors(s, first, scale.Of(first))
	if err != nil {
		return nil, nil, nil, err
	}
	p, err := seed.FirstInverse(s, first, lu)
	if err != nil || p.Rho == nil {
		return nil, nil, nil, err
	}
	s.Stats.Rho = max(s.Stats.Rho, call.Measure(p.Rho))
	t := newton.New(s, first, p, math.MaxInt32)
	if t == nil {
		return nil, nil, nil, nil
	}
	o, err := orderOf(s, first, lu, first.Rows > leaf)
	if o == nil || err != nil {
		return nil, nil, nil, err
	}
	p.R, p.Abs = num.Mat{}, bound.Bounds{}
	return o, t, p, nil
}

// complement computes the Schur complement S' of F.
type complement struct {
	s           *call.Run
	f           *ordered
	t           *newton.Iteration // for F11
	p           *seed.Approximate // the seed of t
	wide, wider int               // bits of S' and of F11^-1 F12
	h, parts    int               // the order of F11, and parts of the columns of S'
	tops, errs  []int64           // exponents of the columns of F11^-1 F12 and of their errors
}

// left returns F21 D2, where F11^-1 F12 = D2 Y with D2 from the scaling of F11.
func (c *complement) left() num.Mat {
	return c.f.part(c.s, c.h, c.f.N, 0, c.h, nil, c.p.Weights)
}

// schur returns S'; nil if numbers are out of range.
func (c *complement) schur() (num.Mat, error) {
	s, n, h := c.s, c.f.N, c.h
	m := n - h
	c.wider = c.wide + bits.Len(uint(n)) + 6
	gain := c.t.CoarseGain(c.t.Gain(), m, c.wider)
	if err := c.t.Refine(gain); err != nil { // Refine takes memory that is free later
		return num.Mat{}, err
	}
	left := c.left()
	if left.Arr == nil {
		return num.Mat{}, nil
	}
	schur := s.MatrixHere(num.Precision(uint(c.wide)), m, m)
	for part := range c.parts {
		j0, j1 := part*m/c.parts, (part+1)*m/c.parts
		if j0 == j1 {
			continue
		}
		right := c.f.part(s, 0, h, h+j0, h+j1, c.p.Scale, nil)
		if right.Arr == nil {
			return num.Mat{}, nil
		}
		x, err := c.t.Solve(right, c.wider, gain)
		if err != nil {
			return num.Mat{}, err
		}
		y := s.MatrixHere(num.Precision(uint(c.wider)), h, j1-j0)
		if err := s.Sum(x.X, x.D, y); err != nil {
			return num.Mat{}, err
		}
		const low = -1 << 29 // far below everything, for columns of zeros
		large, small := call.ColumnTops(x.X, low), call.ColumnTops(x.D, low)
		for j, e := range x.Err {
			c.tops, c.errs = append(c.tops, max(large[j], small[j])), append(c.errs, max(e, low))
		}
		// S' by a product alone and a sum: together they are faster than a product that adds a
		// matrix.
		update := s.MatrixHere(num.Precision(uint(c.wide+2)), m, j1-j0)
		if err := s.Gemm(-1, left, y, 0, num.Mat{}, update); err != nil {
			return num.Mat{}, err
		}
		old := c.f.part(s, h, n, h+j0, h+j1, nil, nil)
		if old.Arr == nil {
			return num.Mat{}, nil
		}
		if err := s.Sum(old, update, schur.Slice(0, m, j0, j1)); err != nil {
			return num.Mat{}, err
		}
	}
	c.t = nil // its memory is needed
	return schur, nil
}

// error returns a bound of |log det(I + K)| for S' with its factors; nil if there is none.
func (c *complement) error(schur num.Mat, lu *seed.Factors) (*big.Float, error) {
	q, err := seed.FirstInverse(c.s, schur, lu)
	if err != nil || q.Rho == nil {
		return nil, err
	}
	n, m, h := c.f.N, schur.Rows, c.h
	// Column j of Y is in error by 2^(err[j]+1). Its entries are sums of two numbers below 2^top,
	// whose rounding adds less than 2^(top+2-wider).
	lost := bound.Upper()
	for j, e := range c.errs {
		v := bound.Upper().Add(bound.Exp2(int(e+1)), bound.Exp2(int(c.tops[j])+2-c.wider))
		lost = bound.Upper().Add(lost, bound.ScaledUp(v, q.Weights[j]))
	}
	// Row sums of F21 D2, scaled, are at most its norm. The product is rounded by 2^-(wide+2) of
	// itself, hence of |F22| + |S'| and slightly more. The sum is rounded by 2^-wide |S'| and
	// truncated. All this is less than 2^-wide (|F22| + 2 |S'|).
	norm := func(m num.Mat, cols []int64) *big.Float {
		return bound.BoundsOf(m, bound.Negated(q.Scale), cols).Norm()
	}
	left, old := c.left(), c.f.part(c.s, h, n, h, n, nil, nil)
	lost = bound.Upper().Mul(lost, norm(left, make([]int64, h)))
	size := norm(schur, bound.Negated(q.Weights))
	size = bound.Upper().Add(bound.Upper().Add(size, size), norm(old, bound.Negated(q.Weights)))
	lost = bound.Upper().Add(lost, size.SetMantExp(size, -c.wide))
	return regular(q, lost, m), nil
}

// regular returns a bound of |log det(I + F^-1 Δ)| for ‖Δ‖ ≤ delta and a matrix F of order m, which
// is scaled by powers of two and has the approximate inverse p; nil if the bound is not small.
func regular(p *seed.Approximate, delta *big.Float, m int) *big.Float {
	// 1/(1 - rho) ≤ 1 + 2^-7, and 1/(1 - k) likewise.
	k := bound.Upper().Mul(bound.Upper().Mul(p.Abs.Norm(), delta), big.NewFloat(1+0x1p-7))
	if k.Cmp(bound.Exp2(-8)) > 0 {
		return nil
	}
	k.Mul(k, big.NewFloat(1+0x1p-7))
	return k.Mul(k, new(big.Float).SetInt64(int64(m)))
}

// eliminated returns the determinant of a block by an elimination with integers times one unit.
// Reading an entry and each product are in error by less than e units each (see FixedLU.Lost), and
// each entry of L by less than one unit, so that
//
//	L U = F + Δ,  |Δ| ≤ (e n + 1 + max |u_ii|) units.
func eliminated(s *call.Run, b leafBlock) (*seed.Determinant, error) {
	for _, headroom := range []uint{16, 62} { // 62 for pivots and entries that grow
		d, far, err := eliminatedIn(s, NewFixedLU(b.f, headroom, b.places), b.p, b.places)
		if err != nil || !far {
			return d, err
		}
	}
	return nil, nil
}

// eliminatedIn is eliminated for an elimination e and an approximate inverse p of its matrix; far
// if entries become too large.
func eliminatedIn(s *call.Run, e *FixedLU, p *seed.Approximate, places int) (d *seed.Determinant, far bool, err error) {
	n := e.n
	mid := new(big.Float).SetPrec(uint(places)).SetInt64(1)
	most := bound.Upper()
	for k := range n {
		if e.Far {
			return nil, true, nil
		}
		pivot := e.pivot(k)
		if pivot.Sign() == 0 {
			return nil, false, nil
		}
		mid.Mul(mid, pivot)
		if v := bound.UpperOf(pivot); v.Cmp(most) > 0 {
			most = v
		}
		e.Step(k)
		if err := s.Ctx.Err(); err != nil {
			return nil, false, err
		}
	}
	delta := most.Add(most, bound.Upper().SetInt64(int64(e.Lost()*n+1)))
	delta.Mul(delta, bound.Upper().SetInt64(int64(n)))
	log := regular(p, delta.SetMantExp(delta, -e.fraction), n)
	if log == nil {
		return nil, false, nil
	}
	// The product of the pivots is rounded n times.
	return &seed.Determinant{Mid: mid, Log: log.Add(log, bound.Exp2(1+bits.Len(uint(n))-places))}, false, nil
}

// FixedLU is an elimination without row exchanges. Entries are stored by rows as two's-complement
// integers of Words words, in units of 2^-fraction: the Headroom highest bits are above the binary
// point. Entries of U and L are less than 2^most, so that their products leave room for a sign.
type FixedLU struct {
	n, Words, fraction int
	Headroom, most     uint
	x                  []uint64
	row                []uint64 // magnitudes of the pivot row
	neg                []bool   // their signs
	Far                bool     // an entry is not below 2^most
}

// NewFixedLU reads a matrix, truncated to at least places bits.
func NewFixedLU(f num.Mat, headroom uint, places int) *FixedLU {
	n := f.Rows
	w := max((places+int(headroom)+63)/64, 2)
	e := &FixedLU{n: n, Words: w, fraction: 64*w - int(headroom), Headroom: headroom, most: headroom/2 - 1, x: make([]uint64, n*n*w), row: make([]uint64, n*w), neg: make([]bool, n)}
	var buf [num.MaxValueWords]uint64
	for i := range n {
		for j := range n {
			v := f.Arr.Value(f.At(i, j), buf[:])
			if v.Class != num.Finite {
				continue
			}
			if v.Exp+int64(num.BitLen(v.Mag)) > int64(e.most) {
				e.Far = true
				return e
			}
			to := e.entry(i, j)
			for k := range to {
				to[k] = num.WordAt(v.Mag, -int64(e.fraction)-v.Exp+int64(64*k))
			}
			if v.Neg {
				num.Negate(to)
			}
		}
	}
	return e
}

// Lost returns a bound, in units, of the error of MultiplyFixed: less than words / 2^(64 -
// headroom) for the words it leaves out, and the truncation.
func (e *FixedLU) Lost() int { return 2 + e.Words>>(64-e.Headroom) }

func (e *FixedLU) entry(i, j int) []uint64 {
	at := (i*e.n + j) * e.Words
	return e.x[at : at+e.Words]
}

// pivot returns entry (k, k).
func (e *FixedLU) pivot(k int) *big.Float {
	z := append([]uint64(nil), e.entry(k, k)...)
	neg := absolute(z)
	v := new(big.Float).SetInt(Natural(new(big.Int), z))
	if neg {
		v.Neg(v)
	}
	return v.SetMantExp(v, -e.fraction)
}

// absolute replaces an integer by its magnitude and reports whether it was negative.
func absolute(z []uint64) (neg bool) {
	if neg = int64(z[len(z)-1]) < 0; neg {
		num.Negate(z)
	}
	return neg
}

// Natural sets z to a magnitude given in words.
func Natural(z *big.Int, x []uint64) *big.Int {
	w := z.Bits()[:0]
	for _, v := range x {
		if bits.UintSize == 32 {
			w = append(w, big.Word(uint32(v)), big.Word(v>>32))
		} else {
			w = append(w, big.Word(v))
		}
	}
	return z.SetBits(w)
}

// Step eliminates column k below its nonzero pivot; entries of L are not kept.
func (e *FixedLU) Step(k int) {
	n, w := e.n, e.Words
	limit := uint64(1) << (e.most + 64 - e.Headroom)
	row := e.row[:(n-k)*w]
	copy(row, e.x[(k*n+k)*w:(k+1)*n*w])
	for j := range n - k {
		e.neg[j] = absolute(row[j*w : (j+1)*w])
	}
	pivot, quotient, rest := Natural(new(big.Int), row[:w]), new(big.Int), new(big.Int)
	numerator := new(big.Int)
	l, product := make([]uint64, w), make([]uint64, w)
	shifted := make([]uint64, 2*w)
	for i := k + 1; i < n; i++ {
		copy(l, e.entry(i, k))
		neg := absolute(l) != e.neg[0]
		clear(shifted)
		for c, v := range l { // times 2^fraction
			shifted[c+w-1] |= v << (64 - e.Headroom)
			shifted[c+w] = v >> e.Headroom
		}
		quotient.QuoRem(Natural(numerator, shifted), pivot, rest)
		if quotient.BitLen() > e.fraction+int(e.most) {
			e.Far = true
			return
		}
		if quotient.Sign() == 0 {
			continue
		}
		clear(l)
		for c, v := range quotient.Bits() {
			l[c*bits.UintSize/64] |= uint64(v) << (c * bits.UintSize % 64)
		}
		at := (i*n + k + 1) * w
		for j := 1; j < n-k; j++ {
			MultiplyFixed(product, l, row[j*w:(j+1)*w], e.Headroom)
			to := e.x[at : at+w]
			var c uint64
			if e.neg[j] == neg {
				for q, v := range product[:len(to)] {
					to[q], c = bits.Sub64(to[q], v, c)
				}
			} else {
				for q, v := range product[:len(to)] {
					to[q], c = bits.Add64(to[q], v, c)
				}
			}
			if to[w-1]+limit >= 2*limit {
				e.Far = true
			}
			at += w
		}
		if e.Far {
			return
		}
	}
}

// MultiplyFixed sets z to about x y 2^(headroom - 64 len(z)); all three have as many words. It sums
// the words of the product from len(z)-2 on. The words x_i y_k left out, i + k ≤ len(z) - 3, would
// add less than len(z) 2^(64 (len(z) - 1)), where a unit of z is 2^(64 len(z) - headroom). The
// truncation is less than a unit.
func MultiplyFixed(z, x, y []uint64, headroom uint) {
	var a, b, c, last uint64 // three words of the product, from the current one on
	s := headroom & 63
	switch len(z) {
	case 2:
		x, y = x[:2], y[:2]
		_, b, c = accumulate(0, 0, 0, x[0], y[0])
		a, b, c = accumulate(b, c, 0, x[0], y[1])
		a, b, c = accumulate(a, b, c, x[1], y[0])
		last, a, b, c = a, b, c, 0
		a, b, _ = accumulate(a, b, c, x[1], y[1])
		z[0], z[1] = last>>(64-s)|a<<s, a>>(64-s)|b<<s
	case 3:
		x, y, z = x[:3], y[:3], z[:3]
		a, b, c = accumulate(0, 0, 0, x[0], y[1])
		_, b, c = accumulate(a, b, c, x[1], y[0])
		a, b, c = accumulate(b, c, 0, x[0], y[2])
		a, b, c = accumulate(a, b, c, x[1], y[1])
		a, b, c = accumulate(a, b, c, x[2], y[0])
		last, a, b, c = a, b, c, 0
		a, b, c = accumulate(a, b, c, x[1], y[2])
		a, b, c = accumulate(a, b, c, x[2], y[1])
		z[0] = last>>(64-s) | a<<s
		last, a, b, c = a, b, c, 0
		a, b, _ = accumulate(a, b, c, x[2], y[2])
		z[1], z[2] = last>>(64-s)|a<<s, a>>(64-s)|b<<s
	default:
		w := len(z)
		x, y = x[:w], y[:w]
		for k := w - 2; k < 2*w; k++ {
			for i := max(0, k-w+1); i <= min(k, w-1); i++ {
				a, b, c = accumulate(a, b, c, x[i], y[k-i])
			}
			if k >= w {
				z[k-w] = last>>(64-s) | a<<s
			}
			last, a, b, c = a, b, c, 0
		}
	}
}

// accumulate returns a sum of three words and x y.
func accumulate(a, b, c, x, y uint64) (uint64, uint64, uint64) {
	hi, lo := bits.Mul64(x, y)
	var carry uint64
	a, carry = bits.Add64(a, lo, 0)
	b, carry = bits.Add64(b, hi, carry)
	return a, b, c + carry
}
