package digits

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Root holds an approximate factor L of the leading n x n part of an m x n matrix F = D1 C D2, and
// the rows below. The leading part is symmetric and equals L L^T. L comes from an elimination in
// fixed point, with n³/6 products of numbers and (m - n) n²/2 products for the rows below.
//
// With D digits and ε = B^-D the numbers are stored as in lanes.Lanes. The diagonal of F is less
// than 1/4, so that no entry of L exceeds 1/2: all numbers are in range without pivoting. Rows of
// L^T are vectors, whose lanes are rows of L. With factors x = l + 1/2,
//
//	2 s_ij = 2 f_ij - 2 Σ x_jk l_ik + Σ l_ik,  k < j,
//	l_ij / 2 ≈ 2^e 2 s_ij · 1/(2^(e+2) l_jj),  l_jj ≈ s_jj^(1/2),  1/4 ≤ 2^e l_jj < 1/2.
//
// The proof is about G = L L1^T, where L1 is the leading part of L, for the l in vectors and the
// l_jj. In units ε, |F - G| ≤ (n + 1) (3 D + 4), which is the sum of
//
//   - 3 D + 1 for each product, see lanes.Lanes.Add;
//   - 1/2, since x - 1/2 may differ by a unit from the l in vectors, times |l| ≤ 1/2;
//   - 1/2 for truncating f, and 1/2 for the l in vectors, times l_jj ≤ 1/2;
//   - l_jj ≤ 1/2 times 2 (3 D + 1) + 3 for quotients: a unit of a vector times the factor
//     1/(2^(e+2) l_jj) ≤ 1, and a unit of this factor times 2^e 2 s_ij ≤ 1/2, both times 2;
//   - or the truncation of a square root: l_jj² ≤ s_jj < l_jj² + 2.
//
// Let S = L1^-1, v ≥ |S| e for e = (1, ..., 1), η ≥ |F - G|, and F1 the leading part of F. Then
// E = S F1 S^T - I has |E| ≤ η v v^T. Let η Σ v² ≤ 1/8. The map Z → Φ(E - Z Z^T) of CholeskyNewton
// (package factors) maps the set of lower triangular Z with |Z| ≤ 1.2 η v v^T into itself, as
//
//	|Z Z^T| ≤ 1.44 η² v v^T Σ v².
//
// By Brouwer's theorem some Z of the set has I + E = (I + Z) (I + Z)^T. The diagonal of I + Z is
// positive, so F1 is positive definite and L1 (I + Z) is its factor. The rows below are
//
//	F (L1 (I + Z))^-T = (L + (F - G) S^T) (I + Z)^-T,  |(I + Z)^-1 - I| ≤ 1.2 / (1 - 0.15) η v v^T.
//
// Hence with r = |L| v, entry (i, j) of the factor differs from the entry of L by at most
// 1.2 η r_i v_j, and in the rows below by at most η (1.42 r_i + 1.18) v_j.
type Root struct {
	s *call.Run
	Numbers
	scale.Scaling
	m, N    int
	c       num.Mat    // the leading part of C
	under   num.Mat    // the rows below
	lower   [][]uint64 // row i: factors l_ij + 1/2, j < i, D words apart
	Upper   [][]uint64 // of each panel of rows: vectors of rows of L^T
	prefix  [][]int64  // of each panel: Σ_k l_ik over the known rows k
	Roots   []*big.Int // l_jj B^D
	root    []float64  // l_jj, rounded
	inverse []uint64   // factors 1/(2^(e+2) l_jj)
	shift   []int      // e
	V       []float64
	Radius  []float64 // entry (i, j) is in error by at most Radius_i V_j units
	Gain    int       // about how many bits of the entries are right
	// short reports that memory is short: lower is given back before bound
	short bool
}

// rootCarry is the number of rows of L^T after which their sums are carried.
const rootCarry = 16

// digitRootCost returns the cost of eliminating in d digits, in the unit of Cost.
func digitRootCost(m, n, d int) float64 {
	return Cost(n, d) * (0.5 + 1.5*float64(m-n)/float64(n))
}

// rootWords returns how many words a factor in d digits takes.
func rootWords(m, n, d int) int { return n*(n/2)*(2*d+1) + (m-n)*n*(d+1) }

// LeastRootBytes returns about the bytes that the factor of a well-conditioned matrix takes if
// memory is short, where the factor is right to the given bits. It is infinite where an elimination
// in digits is not possible.
func LeastRootBytes(m, n, bits int) float64 {
	if lanes.Bits() == 0 {
		return math.Inf(1)
	}
	d := max((bits+ziv.Guard(n)+lanes.Bits()-1)/lanes.Bits(), 3)
	if d > RootDigits || rootWords(m, n, d) > digitBytes/8 || m > n && n*d > digitsBelow*lanes.Count() {
		return math.Inf(1)
	}
	of, ok := lanes.New(d)
	if !ok {
		return math.Inf(1)
	}
	return (&Root{Numbers: Numbers{of, d}, m: m, N: n}).leastBytes()
}

// room returns the words of the vectors and of the factors.
func (t *Root) room() (upper, lower int) {
	for p := range t.panels() {
		upper += t.rowsOf(p) * t.Size()
	}
	return upper, t.N * (t.N - 1) / 2 * t.D
}

// leastBytes returns the bytes of an elimination that gives lower back before bound.
func (t *Root) leastBytes() float64 {
	upper, lower := t.room()
	return 8 * float64(upper+max(lower, t.N*t.N+boundColumns*t.N))
}

const (
	// RootDigits bounds the digits of factors. Up to order 700, 36 digits take 0.6 of the time of
	// products with AVX-512, and 24 digits 0.6 with AVX2; larger orders have no room for so many
	// digits.
	RootDigits = 40
	// digitsBelow is the largest order times digits, per lane, of factors with rows below. 25
	// digits of order 700 take 1.3 of the time of products with AVX2, 36 digits 0.9 with AVX-512.
	digitsBelow = 3000
)

// errNegative reports that an elimination met a negative pivot that is not noise.
var errNegative = errors.New("a pivot is negative")

// NewRoot returns an enclosure of the factor of c, which is symmetric, and of the rows of under
// below c, with errors of about 2^-bits; nil where an elimination in digits is not possible. under
// may have another format than c, or no array. *known says that it is known whether c is regular;
// NewRoot sets it when it finds out.
func NewRoot(s *call.Run, c, under num.Mat, bits int, known *bool) (*Root, error) {
	n, m := c.Rows, c.Rows+under.Rows
	if n == 0 || s.Set.Check || lanes.Bits() == 0 || bound.Far(c, call.MostExponent) || under.Rows > 0 && bound.Far(under, call.MostExponent) {
		return nil, nil
	}
	by := scale.Unscaled(m, n)
	for i := range n {
		class, top, _ := c.Arr.Span(c.At(i, i))
		if class != num.Finite {
			return nil, nil
		}
		by.Cols[i] = -((top + 3) >> 1)
		by.Rows[i] = by.Cols[i]
	}
	for i := n; i < m; i++ { // entries of orthonormal columns do not exceed 1
		by.Rows[i] = -2
	}
	loss, err := rootLoss(s, c, by)
	if loss < 0 || err != nil {
		return nil, err
	}
	var z *Root
	err = ziv.Decide(s, ziv.Loop{What: "a root in digits", First: bits + loss, Most: RootDigits * lanes.Bits()}, func(all int) (more int, err error) {
		d := max((all+lanes.Bits()-1)/lanes.Bits(), 3)
		if rootWords(m, n, d) > digitBytes/8 || m > n && n*d > digitsBelow*lanes.Count() {
			return ziv.Done, nil
		}
		s.Plan(digitRootCost(m, n, d) + call.WantedCost(s, m, n)) // may fuse: an estimate
		release := s.Temporary()
		t, more, err := eliminateRoot(s, c, under, by, d)
		switch {
		case err == nil && t.Gain >= bits-RootSlack:
			z = t
			return ziv.Done, nil
		case err == nil:
			more = bits - t.Gain
			release()
		case errors.Is(err, errNegative) || errors.Is(err, call.ErrRange):
			return ziv.Done, nil
		default:
			err = seed.AskForMore(s, err, c, known)
			if errors.Is(err, call.ErrSingular) {
				return ziv.Done, nil
			}
		}
		return max(more, (all-bits)/4), err
	})
	return z, err
}

// RootAttempt is an attempt to decide the factor of c, with the rows of under below it, by digits.
// The first attempt, with u = nil, rounds the decided entries into z, the leading part of the
// factor, and into below, and calls want for the others. The enclosure is nil where an elimination
// in digits is not possible.
func RootAttempt(s *call.Run, c, under num.Mat, bits int, known *bool, u *ziv.Unknown, z, below num.Mat, want func(u *ziv.Unknown, i, j int)) (*ziv.Unknown, *ziv.Enclosure, error) {
	defer s.Temporary()()
	t, err := NewRoot(s, c, under, bits, known)
	if t == nil || err != nil {
		return u, nil, err
	}
	if u == nil {
		open, err := t.RoundTo(z, below)
		if err != nil {
			return nil, nil, err
		}
		s.Did(call.WantedCost(s, t.m, t.N))
		u = &ziv.Unknown{C: c, Below: under, K: t.N, Blocks: ziv.Ones(t.N)}
		if len(open) > 0 {
			u.Fill()
		}
		for _, at := range open {
			want(u, at[0], at[1])
		}
	}
	return u, t.Enclosure(u), nil
}

// RootSlack is how many bits fewer than requested an enclosure may have.
const RootSlack = 16

// rootLoss returns about how many bits more than the entries have an elimination needs. It
// estimates them from float64 factors. It is negative if a pivot is.
func rootLoss(s *call.Run, a num.Mat, by scale.Scaling) (int, error) {
	defer s.Temporary()()
	n := len(by.Cols)
	a.Rows = n
	leading := scale.Scaling{Rows: by.Rows[:n], Cols: by.Cols}
	f := &seed.Factors{Scaling: leading, N: n, LU: leading.Float64sOn(s.Threads, a, s.Floats(n*n))}
	if err := dgemm.LU(s.Ctx, s.Threads, n, f.LU, 0x1p-900, nil); err != nil {
		return 0, err
	}
	s.Did(call.FactorCost(n))
	size := bits.Len(uint(n))
	x := make([]float64, n)
	for i := range x {
		pivot := f.LU[i+i*n]
		if pivot < -0x1p-30 {
			return -1, nil
		}
		if !(pivot > 0x1p-46) {
			return f.ConditionBits() + 3*size + 8, nil
		}
		x[i] = float64(1 - 2*(i*40503>>9&1)) // signs without a pattern
	}
	if err := dgemm.SolveLower(s.Ctx, s.Threads, n, 1, f.LU, x); err != nil {
		return 0, err
	}
	sum := 0.0
	for i := range x { // S x
		x[i] /= math.Sqrt(f.LU[i+i*n])
		sum += x[i] * x[i] // may fuse: an estimate
	}
	_, e := math.Frexp(math.Sqrt(sum) * call.LargestOf(x))
	// n times this is about max r v, and η is about n 2^4.
	return max(e, 0) + 2*size + 6, nil
}

// pivotError is an error at a pivot, with a guess of how many more bits will do.
type pivotError struct {
	error
	more int
}

// moreOf returns the guess of a pivotError and its error, or no guess.
func moreOf(err error) (more int, inner error) {
	if p := (*pivotError)(nil); errors.As(err, &p) {
		return p.more, p.error
	}
	return 0, err
}

// rootLanes is the working memory of a worker.
type rootLanes struct {
	acc, shifted []int64
	vector       []uint64
	buf          [num.MaxValueWords]uint64
}

// eliminateRoot eliminates in d digits. If these do not suffice, it guesses how many more bits
// will.
func eliminateRoot(s *call.Run, c, under num.Mat, by scale.Scaling, d int) (t *Root, more int, err error) {
	lanes, _ := lanes.New(d)
	n := c.Rows
	t = &Root{
		s: s, Numbers: Numbers{lanes, d}, Scaling: by, m: n + under.Rows, N: n, c: c, under: under,
		lower: make([][]uint64, n), Roots: make([]*big.Int, n), root: make([]float64, n),
		inverse: make([]uint64, n*d), shift: make([]int, n),
	}
	count, size := t.Count(), t.Size()
	upper, lower := t.room()
	if s.Budget.Check(8*float64(upper+lower+2*n*n)) != nil { // including the memory of bound
		if s.Budget.Check(t.leastBytes()) != nil {
			return nil, 0, call.ErrRange // the caller takes another way
		}
		t.short = true
	}
	room := s.Words(lower)
	for i := range t.lower {
		t.lower[i], room = room[:i*d], room[i*d:]
	}
	for p := range t.panels() {
		t.Upper = append(t.Upper, s.Words(t.rowsOf(p)*size))
		t.prefix = append(t.prefix, make([]int64, size))
	}
	workers := make([]*rootLanes, s.Threads)
	for w := range workers {
		workers[w] = &rootLanes{acc: make([]int64, size), shifted: make([]int64, size), vector: make([]uint64, size)}
	}
	leading := (n + count - 1) / count
	known := d * t.Bits()
	err = par.Cascade{
		Panels: t.panels(), Steps: leading,
		Lead: func(worker, k int) error {
			for i := k * count; i < t.rowsOf(k); i++ {
				if err := t.row(k, i, workers[worker]); err != nil {
					return &pivotError{err, min(known, known*(n-i)/max(i, 1)+seed.LeastGood/2)}
				}
			}
			return nil
		},
		Follow: func(worker, p, k int) error {
			for i := k * count; i < t.rowsOf(k); i++ {
				if err := t.row(p, i, workers[worker]); err != nil {
					return err
				}
			}
			return nil
		},
		Led: func(int) { s.Did(digitRootCost(t.m, n, d) / float64(leading)) },
	}.Run(s.Ctx, s.Threads)
	if err != nil {
		more, err := moreOf(err)
		return nil, more, err
	}
	if t.short && n > 1 { // lower[1] begins the memory of all rows
		s.GiveBack(t.lower[1])
		t.lower = nil
	}
	more, err = t.bound()
	return t, more, err
}

// boundColumns is how many columns of an inverse bound computes at a time where memory is short.
const boundColumns = 32

// lowerSums returns bounds of the row sums of magnitudes of an approximate inverse of L', and its
// largest entry. L' has order n and ones on its diagonal. Where memory is short, lowerSums computes
// boundColumns columns of the inverse at a time.
func (t *Root) lowerSums(l []float64) (v []float64, most float64, err error) {
	s, n := t.s, t.N
	v = make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	if !t.short {
		li := s.Floats(n * n)
		call.Zero(s.Threads, li)
		if err := dgemm.InvertLower(s.Ctx, s.Threads, n, l, li); err != nil {
			return nil, 0, err
		}
		return seed.AbsLower(s.Threads, n, li, v), call.LargestOfAll(s.Threads, li), nil
	}
	room := s.Floats(n * boundColumns)
	for first := 0; first < n; first += boundColumns {
		end := min(first+boundColumns, n)
		x := room[:n*(end-first)]
		clear(x)
		for j := first; j < end; j++ {
			x[(j-first)*n+j] = 1
		}
		if err := dgemm.SolveLower(s.Ctx, s.Threads, n, end-first, l, x); err != nil {
			return nil, 0, err
		}
		most = max(most, call.LargestOf(x))
		for j := first; j < end; j++ {
			dgemm.AxpyAbs(1, x[(j-first)*n+j+1:(j-first+1)*n], v[j+1:])
		}
	}
	return seed.Raised(v), most, nil
}

// panels returns the number of panels; the panels of the rows below follow the leading ones.
func (t *Root) panels() int {
	count := t.Count()
	return (t.N+count-1)/count + (t.m-t.N+count-1)/count
}

// rowsOf returns how many rows of L^T a panel has.
func (t *Root) rowsOf(p int) int { return min((p+1)*t.Count(), t.N) }

// Place returns the first row of L of panel p and the end of its rows.
func (t *Root) Place(p int) (first, end int) {
	count := t.Count()
	if first = p * count; first < t.N {
		return first, min(first+count, t.N)
	}
	first = t.N + (p-(t.N+count-1)/count)*count
	return first, min(first+count, t.m)
}

// row computes row i of L^T in panel p, from all rows above.
func (t *Root) row(p, i int, w *rootLanes) error {
	count, size, d := t.Count(), t.Size(), t.D
	acc, u := w.acc, t.Upper[p]
	clear(acc)
	if i > 0 {
		t.Add(acc, u, size, t.lower[i], d, false, i)
	}
	for k, v := range t.prefix[p] {
		acc[k] = v - 2*acc[k]
	}
	if !t.addEntries(acc, p, i, w) {
		return call.ErrRange
	}
	t.Carry(acc)
	first, end := t.Place(p)
	if i >= first && i < end {
		if err := t.pivot(i, acc, i-first); err != nil {
			return err
		}
		for k := 0; k < size; k += count {
			clear(acc[k : k+i-first+1])
		}
	}
	e := t.shift[i]
	if !t.below(acc, e) {
		return call.ErrRange
	}
	t.shiftLanes(w.shifted, acc, e)
	if !t.Vector(w.vector, w.shifted) {
		return call.ErrRange
	}
	clear(acc)
	t.Add(acc, w.vector, size, t.inverse[i*d:], d, false, 1)
	for k, v := range acc {
		acc[k] = 2 * v
	}
	t.Carry(acc)
	if !t.small(acc) || !t.Vector(u[i*size:], acc) {
		return call.ErrRange
	}
	t.Sum(t.prefix[p], u[i*size:])
	if i%rootCarry == rootCarry-1 {
		t.Carry(t.prefix[p])
	}
	half := int64(1) << (t.Bits() - 1)
	for j := max(first, i+1); j < min(end, t.N); j++ {
		// Adding 1/2 to carried digits of l, -1/2 ≤ l < 1/2, changes only the first digit.
		acc[count+j-first] = (acc[count+j-first] + half) & (2*half - 1)
		t.Factor(t.lower[j][i*d:], 1, acc, j-first)
	}
	return nil
}

// addEntries adds twice the entries (j, i) of F, truncated, to the digits of row i of L^T in panel
// p; not ok if an entry is too large for F to be positive definite.
func (t *Root) addEntries(s []int64, p, i int, w *rootLanes) (ok bool) {
	first, end := t.Place(p)
	from, above := t.c, 0
	if first >= t.N {
		from, above = t.under, t.N
	}
	for j := max(first, i); j < end; j++ {
		if !t.addNumber(s, j-first, from.Arr, from.At(j-above, i), t.Rows[j]+t.Cols[i]+1, &w.buf) {
			return false
		}
	}
	return true
}

// pivot stores l_ii, its reciprocal and its float64 value; 2 s_ii is a lane of the sums s.
func (t *Root) pivot(i int, s []int64, lane int) error {
	b, d := t.Bits(), t.D
	x := t.integer(s, lane)
	switch {
	case x.Sign() < 0 && x.BitLen() > b*d/2:
		return errNegative
	case x.Sign() <= 0 || x.BitLen() < 30:
		return seed.ErrNoise
	}
	x.Lsh(x, uint(b*d-1))
	x.Sqrt(x)
	e, ok := t.Reciprocal(t.inverse[i*d:], x)
	if !ok {
		return call.ErrRange
	}
	t.shift[i], t.Roots[i] = e, x
	f := new(big.Float).SetInt(x)
	t.root[i], _ = f.SetMantExp(f, -b*d).Float64()
	return nil
}

// bound sets V and Radius, or returns a guess of how many more bits will do.
//
// With L1 = L' diag(root), it uses a rounded inverse of L', as for triangles. Where float64 numbers
// do not suffice, it uses the inverse of L1 by digits (see Triangle).
func (t *Root) bound() (more int, err error) {
	s, n, count, size := t.s, t.N, t.Count(), t.Size()
	defer s.Temporary()()
	l := s.Floats(n * n)
	call.Zero(s.Threads, l)
	leading := (n + count - 1) / count
	err = par.For(s.Ctx, s.Threads, leading, func(_, p int) {
		first, end := t.Place(p)
		for k := range end - 1 {
			x := t.Upper[p][k*size:][:size]
			for j := max(first, k+1); j < end; j++ {
				l[j+k*n] = t.VectorFloat(x, j-first) / t.root[k]
			}
		}
	})
	if err != nil {
		return 0, err
	}
	v, largest, err := t.lowerSums(l)
	if err != nil {
		return 0, err
	}
	least := slices.Min(t.root)
	// For a condition number of 1e100 the pivots of A^T A fall to 2^-664, and their roots to
	// 2^-332.
	if !(call.LargestOfAll(s.Threads, l) < 0x1p300 && least > 0x1p-440) {
		return 0, call.ErrRange
	}
	// Numbers of L' are right to 2^-47 of themselves, unless they come from numbers of L below
	// 2^-900.
	gamma := float64(float64(n+16)*0x1p-53) + 0x1p-47
	lost := float64(gamma*call.LargestOf(seed.AbsLower(s.Threads, n, l, v))*1.001) + float64(float64(n)*0x1p-890/least*call.LargestOf(v))
	part := make([]float64, n) // diag(root) v
	if lost < seed.MostRho && largest < 0x1p300 {
		for i, x := range v {
			part[i] = float64(x / (1 - lost) * (1 + 0x1p-40))
			v[i] = float64(part[i] / t.root[i] * (1 + 0x1p-40))
		}
	} else if t.short {
		return 0, call.ErrRange // the rows of L have been given back
	} else {
		_, top := math.Frexp(largest / least)
		long := Triangle{Numbers: t.Numbers, Rows: t.lower, Length: func(i int) int { return i }, Inverse: t.inverse, Shift: t.shift}
		if v, more, err = long.Sums(s, top, nil); err != nil {
			return more, err
		}
		for i, x := range v {
			part[i] = float64(x * t.root[i] * (1 + 0x1p-40))
		}
	}
	squares := 0.0
	for _, x := range v {
		squares += float64(x * x)
	}
	if !(squares < 0x1p900) {
		return 0, call.ErrRange
	}
	t.V = v
	units := float64((n + 1) * (3*t.D + 4))
	rho := bound.Upper().SetMantExp(bound.Upper().SetFloat64(float64(units*squares)*(1+0x1p-30)), -t.Bits()*t.D)
	if rho.Cmp(big.NewFloat(0.125)) > 0 {
		return rho.MantExp(nil) + RootSlack, seed.ErrProof
	}
	s.Stats.Rho = call.Measure(rho)
	t.Radius = make([]float64, t.m)
	for i, r := range seed.AbsLower(s.Threads, n, l, part) {
		t.Radius[i] = float64(1.2*units*r) * (1 + 0x1p-30)
	}
	err = par.For(s.Ctx, s.Threads, t.panels()-leading, func(_, k int) {
		p := leading + k
		first, end := t.Place(p)
		for k, v := range v {
			x := t.Upper[p][k*size:][:size]
			for j := first; j < end; j++ {
				t.Radius[j] += float64(math.Abs(t.VectorFloat(x, j-first)) * v)
			}
		}
		for j := first; j < end; j++ {
			t.Radius[j] = float64(units * (float64(1.42*t.Radius[j]) + 1.18) * (1 + 0x1p-30))
		}
	})
	most := float64(call.LargestOf(t.Radius) * call.LargestOf(v))
	if err == nil && !(most < 0x1p900) {
		return 0, call.ErrRange
	}
	_, e := math.Frexp(most)
	t.Gain = t.Bits()*t.D - e
	s.Stats.Precision = t.Bits() * t.D
	return 0, err
}

// RoundTo rounds the decided entries of the leading part into z and of the rows below into below.
// It returns the undecided entries.
func (t *Root) RoundTo(z, below num.Mat) (open [][2]int, err error) {
	s, n, size := t.s, t.N, t.Size()
	_, e := math.Frexp(float64(call.LargestOf(t.Radius) * call.LargestOf(t.V)))
	cut := max(e-40, 0) // number of low bits that do not matter
	left := make([][][2]int, t.panels())
	rounders := make([]*bound.Rounder, s.Threads)
	err = par.For(s.Ctx, s.Threads, t.panels(), func(worker, p int) {
		if rounders[worker] == nil {
			rounders[worker] = &bound.Rounder{Ends: num.New(z.Arr.Format, 2)}
		}
		first, end := t.Place(p)
		to, at := z, first
		if first >= n {
			to, at = below, first-n
		}
		mag := t.Room()
		for j := range t.rowsOf(p) {
			x := t.Upper[p][j*size:][:size]
			for i := max(first, j); i < end; i++ {
				if e, short := headError(float64(t.Radius[i]*t.V[j]), -t.Bits()*t.D); short && i > j && to.Arr.Kind == num.F64 {
					high, low, neg := t.headOf(x, i-first)
					if v, ok := roundHead(high, low, neg, -t.Rows[i]-headBits, e); ok {
						to.Arr.F64[0][to.At(at+i-first, j)] = v
						continue
					}
				}
				var v bound.EnclosedEntry
				if i == j {
					v = t.EnclosedInteger(mag, t.Roots[i], cut)
				} else {
					v = t.EnclosedVector(mag, x, i-first, cut)
				}
				v.Exp -= t.Rows[i]
				// The error bound, the truncation, and less than a unit.
				v.Err = uint64(math.Ldexp(float64(t.Radius[i]*t.V[j]), -cut)) + 4
				v.Known = len(v.Mag) > 0
				v.Zero = len(v.Mag) == 0 || len(v.Mag) == 1 && v.Mag[0] <= v.Err
				if !v.RoundTo(rounders[worker], to.Arr, to.At(at+i-first, j)) {
					left[p] = append(left[p], [2]int{i, j})
				}
			}
		}
	})
	return slices.Concat(left...), err
}

// trimmed returns x without leading zero words.
func trimmed(x []uint64) []uint64 {
	for len(x) > 0 && x[len(x)-1] == 0 {
		x = x[:len(x)-1]
	}
	return x
}

// Enclosure returns enclosures of the open entries and of the diagonal.
func (t *Root) Enclosure(u *ziv.Unknown) *ziv.Enclosure {
	e := &ziv.Enclosure{Bits: max(t.Gain, 1)}
	if len(u.Open) == 0 {
		return e
	}
	all, count, size := t.Bits()*t.D, t.Count(), t.Size()
	y := t.openEntries(t.N, t.m)
	y.Right = bound.Negated(t.Rows)
	off := bound.Upper().SetMantExp(bound.Upper().SetFloat64(call.LargestOf(t.V)), -all)
	for i, r := range t.Radius {
		y.Err[i] = int64(bound.Upper().Mul(off, bound.Upper().SetFloat64(float64(r*(1+0x1p-40)))).MantExp(nil))
	}
	mag := t.Room()
	for i := range t.N { // pivots also tell of denominators
		y.Set(i, i, t.EnclosedInteger(mag, t.Roots[i], 0))
	}
	for _, w := range u.Open {
		if w.I == w.J {
			continue
		}
		p := w.I / count
		if w.I >= t.N {
			p = (t.N+count-1)/count + (w.I-t.N)/count
		}
		first, _ := t.Place(p)
		y.Set(w.J, w.I, t.EnclosedVector(mag, t.Upper[p][w.J*size:][:size], w.I-first, 0))
	}
	e.Root = y
	return e
}
