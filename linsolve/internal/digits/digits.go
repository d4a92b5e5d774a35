package digits

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// Elimination is an approximate inverse of an ill-conditioned F. It comes from an elimination in
// fixed point with partial pivoting, on machines whose SIMD units multiply digits of some 50 bits.
// The elimination needs no products of matrices but n³/3 products of numbers, in cache.
//
// With D digits and ε = B^-D the numbers are stored as in lanes.Lanes. Entries of U are less than
// 1/2 in magnitude, as F is multiplied by 2^-growth. Entries of L are at most slightly larger than
// 1:
//
//	l = 4 (x - 1/2) for factors 0 ≤ x < 1,  Σ l u = 4 Σ x u - 2 Σ u,
//	l / 4 ≈ 2^e s · 1/(2^(e+2) p) for the pivot p, 1/4 ≤ 2^e |p| < 1/2.
//
// Lanes are columns while the eliminations of earlier panels of columns are subtracted, and rows
// within a panel.
//
// The proof is about G = P^T L U for the computed L and U; the pivots are the diagonal of U. Then
//
//	|G - 2^-growth F| ≤ (n + 1) (12 D + 8) ε,
//
// which is the sum of
//
//   - products: each is in error by less than 3 D + 1 units (see lanes.Lanes.Add), times 4;
//   - factors in a panel: u + 1/2 may differ by a unit from the u in vectors, times |l| ≤ 2, and
//     the vector l / 4 may differ by a unit from the factor l / 4, times 4 |u| ≤ 2;
//   - a unit for truncating each entry of F, and a unit for each entry of U in a vector;
//   - l: less than 3 D + 1 units of the product, and a unit of 1/p times 2^e |s| < 1, all of it
//     times 4 |p| < 2.
//
// As for blocks, with e = (1, ..., 1) and h ≥ |G^-1| e,
//
//	‖(F - G) G^-1‖∞ ≤ max |F - G| h = rho,  |F^-1 r| ≤ h ‖r‖∞ / (1 - rho).
//
// Nothing is claimed of the computed G^-1 r.
type Elimination struct {
	s *call.Run
	scale.Scaling
	Numbers
	N         int
	f         *fixed.Matrix
	Order     []int      // row order[i] of F is row i of L U
	lower     [][]uint64 // row i: factors of l_ij, j < i, D words apart
	upper     []uint64   // vector of row k of panel p at (p n + k) Size(): u_kj, j > k
	inverse   []uint64   // factors 1/(2^(e+2) |p|)
	shift     []int      // e
	neg       []bool     // signs of p
	sums      []int64    // Σ_j u_kj, D + 1 digits each; nil until needed
	scale     int        // scale of the next residual, see Correct
	began     bool       // a residual of this column has been seen
	off, tail float64    // errors of the last x and of its first piece
	last      *float64   // address of the first number of that piece
	unit      float64    // 2^growth ε
	Top       int        // 2^top ≥ 2 max h
	pivot     []float64  // |p|, rounded
	pivots    []*big.Int // |p| B^D
	H         []float64  // bounds of |F^-1| e
	tops      []int      // column Order[i] of F^-1 is below 2^tops[i], approximately
	lowerNorm float64    // bound of ‖L^-1‖∞
	defect    *big.Float // bound of ‖(F - G) G^-1‖∞
	Rho       float64    // the same bound, raised by 2^-1000 to cover underflow
}

const (
	// Spare is the number of bits beyond log2 of the condition number: for the proof and G^-1 r.
	Spare = 90
	// MostDigits bounds the digits of eliminations that solve systems, so that products of these
	// digits are within the range of float64.
	MostDigits = 17
	// leastDigitPivot bounds pivots from below, so that float64 numbers tell them apart. With
	// MostDigits, pivots from 2^-854 on are above the noise.
	leastDigitPivot = 0x1p-860
	// detDigits is the largest order times digits, per lane, up to which determinants are faster by
	// an elimination in digits than by blocks.
	detDigits = 1250
	// digitBytes bounds the memory of L and U.
	digitBytes = 1 << 28
)

// Available reports whether this machine has kernels for digits and no products have to be checked
// (Options.Check) in their place.
func Available(s *call.Run) bool { return lanes.Bits() != 0 && !s.Set.Check }

// CountFor returns the number d of digits, at least 3, for bits and seed.Growth further bits. It is
// ok if d ≤ most and an elimination of order n has the memory for d digits. For orders from 150 to
// 1000 it takes a seventh to a half of the time of blocks, refinement included. With Options.Check,
// blocks are used, because their products are compared.
func CountFor(s *call.Run, n, bits, most int) (d int, ok bool) {
	if !Available(s) {
		return 0, false
	}
	b := lanes.Bits()
	d = max((bits+seed.Growth+b-1)/b, 3)
	return d, d <= most && n <= digitBytes/(8*(2*d+1))/max(n, 1)
}

// Eliminate returns an inverse with d digits. If d digits do not suffice, it returns a guess of how
// many more bits will. With wanted = 0 the result serves for factors alone and keeps no planes of
// F.
func Eliminate(s *call.Run, a num.Mat, f *seed.Factors, d, wanted int) (t *Elimination, more int, err error) {
	lanes, _ := lanes.New(d)
	n := f.N
	end := s.Temporary()
	defer func() {
		if err != nil {
			end()
		}
	}()
	size, count := lanes.Size(), lanes.Count()
	panels := (n + count - 1) / count
	t = &Elimination{s: s, Scaling: f.Scaling, Numbers: Numbers{lanes, d}, N: n, Order: call.All(n), lower: make([][]uint64, n), inverse: make([]uint64, n*d), shift: make([]int, n), neg: make([]bool, n), pivot: make([]float64, n), pivots: make([]*big.Int, n)}
	// Count the planes of refinement as well: more than the digits hold, and more than the two
	// planes that are stored as lists of float64 numbers.
	m := a
	planes := 1 + min((wanted+d*lanes.Bits())/64, int(min(scale.LowestBitOn(s.Threads, m, f.Scaling)/64, math.MaxInt32)))
	// The planes, L, U, and the memory that bound needs.
	bytes, square := call.PlaneBytes(m, max(planes, 3)), 8*float64(n)*float64(n)
	if wanted > 0 {
		// may fuse: an estimate
		bytes += 3 * square
	} else {
		bytes = max(bytes, 3*square)
	}
	// may fuse: an estimate
	if s.Budget.Check(bytes+8*float64(n)*(float64(n*d)+float64(panels*size)+float64(min(n, rowsAhead)*(d+1)))) != nil {
		return nil, 0, call.ErrRange // the caller takes another way
	}
	t.upper, t.unit = s.Words(panels*n*size), math.Ldexp(1, seed.Growth-d*lanes.Bits())
	room := s.Words(n * n * d)
	for i := range t.lower {
		t.lower[i] = room[i*n*d : (i+1)*n*d]
	}
	release := s.Temporary()
	if t.f, err = fixed.New(&s.Call, m, f.Scaling, max(planes, 3)); err != nil {
		return nil, 0, err
	}
	p := t.newPanel()
	for k := range panels {
		if done, err := p.eliminate(k); err != nil {
			known := d * lanes.Bits()
			return nil, min(known, known*(n-done)/max(done, 1)+seed.LeastGood/2), err
		}
		s.Did(Cost(n, d) / float64(panels))
	}
	if wanted == 0 {
		t.f = nil
		release()
	}
	if more, err := t.bound(); err != nil {
		return nil, more, err
	}
	t.defect = bound.Upper().SetMantExp(big.NewFloat(float64((n+1)*(12*d+8))), seed.Growth-d*lanes.Bits())
	sum := bound.Upper()
	for _, v := range t.H {
		sum.Add(sum, bound.Upper().SetFloat64(v))
	}
	t.defect.Mul(t.defect, sum)
	if t.Rho, _ = t.defect.Float64(); !(t.Rho <= seed.MostRho) {
		return nil, t.defect.MantExp(nil) + 16, seed.ErrProof
	}
	t.Rho = float64(t.Rho*(1+0x1p-50)) + 0x1p-1000
	for i, v := range t.H {
		t.H[i] = float64(v*(1+0x1p-50)/(1-t.Rho)*(1+0x1p-50)) + 0x1p-1000
	}
	_, t.Top = math.Frexp(2 * call.LargestOf(t.H))
	return t, 0, nil
}

// digitPanel is the working memory for eliminating a panel of columns.
type digitPanel struct {
	*Elimination
	first   int       // first row and column
	blocks  int       // number of blocks of rows from there on
	prefix  [][]int64 // Σ_k u_kj of each panel over the known rows k; lanes are columns
	workers []*panelLanes
	known   int       // number of rows of U in the sums of begun, a multiple of rowsAhead
	begun   []int64   // sums of rows of F for the panels of the next rowsAhead columns
	left    [][]int64 // the remaining column c, by blocks of rows
	rows    [][]int64 // rows of U; lanes are columns
	l       []uint64  // vectors l / 4 of columns, by blocks of rows
	lSum    []int64   // sums of these l / 4
	x       []uint64  // factors u + 1/2 of a column
	block0  []int64   // products of L and U of the first block
	firsts  []largest // the largest entries of parts of a column
}

// panelLanes is the working memory of a worker.
type panelLanes struct {
	acc, shifted []int64
	vector       []uint64
	ahead        []int64 // sums of rows of U in panelsAhead panels
}

func (t *Elimination) newPanel() *digitPanel {
	count, size := t.Count(), t.Size()
	panels := (t.N + count - 1) / count
	sums := func(n, length int) [][]int64 {
		z, room := make([][]int64, n), make([]int64, n*length)
		for i := range z {
			z[i] = room[i*length : (i+1)*length]
		}
		return z
	}
	workers := make([]*panelLanes, t.s.Threads)
	for w := range workers {
		workers[w] = &panelLanes{acc: make([]int64, size), shifted: make([]int64, size), vector: make([]uint64, size)}
	}
	return &digitPanel{
		Elimination: t,
		prefix:      sums(panels, size), left: sums(count, panels*size), rows: sums(count, size),
		l: make([]uint64, panels*count*size), lSum: make([]int64, panels*size), x: make([]uint64, count*t.D),
		block0: make([]int64, size), workers: workers,
	}
}

const (
	// rowsAhead is how many rows of U all later panels process together, as soon as their pivots
	// are known: a multiple of the lanes. Sums over these rows begin for as many columns.
	rowsAhead = 64
	// panelsAhead is the largest number of panels, and rowsBegun of rows, that a thread processes
	// at a time, so that they share rows of L and of U in its cache.
	panelsAhead = 4
	rowsBegun   = 16
	// chunkWords is about the number of words of U, some rows of a panel, that stay in the
	// first-level cache while they are multiplied by several rows of L.
	chunkWords = 1 << 12
)

// above computes rows i0 to i1 of U in panel p, above its pivots; not ok if their entries are too
// large. sums returns the sums of a row over the rows above i0.
func (t *digitPanel) above(p, i0, i1 int, sums func(i int) []int64) (ok bool) {
	size, prefix := t.Size(), t.prefix[p]
	u := t.upper[p*t.N*size : (p+1)*t.N*size]
	for i := i0; i < i1; i++ {
		acc := sums(i)
		t.products(acc, p, i, i0, i)
		t.entry(acc, p, i)
		if !t.small(acc) {
			return false
		}
		t.Vector(u[i*size:], acc)
		t.Sum(prefix, u[i*size:])
	}
	t.Carry(prefix)
	return true
}

// aboveAll computes rows i0 to i1 of U in panels p0 ≤ p < p1, above their pivots; not ok if their
// entries are too large.
func (t *digitPanel) aboveAll(p0, p1, i0, i1 int, w *panelLanes) (ok bool) {
	size := t.Size()
	if w.ahead == nil {
		w.ahead = make([]int64, panelsAhead*rowsAhead*size)
	}
	sums := func(p, i int) []int64 { return w.ahead[((p-p0)*rowsAhead+i-i0)*size:][:size] }
	clear(w.ahead)
	t.chunks(i0, func(k0, k1 int) {
		for p := p0; p < p1; p++ {
			for i := i0; i < i1; i++ {
				t.products(sums(p, i), p, i, k0, k1)
			}
		}
	})
	for p := p0; p < p1; p++ {
		if !t.above(p, i0, i1, func(i int) []int64 { return sums(p, i) }) {
			return false
		}
	}
	return true
}

// chunks calls f for rows k0 ≤ k < k1 of the first rows of U, some rows at a time.
func (t *digitPanel) chunks(rows int, f func(k0, k1 int)) {
	some := max(chunkWords/t.Size(), 16)
	for k := 0; k < rows; k += some {
		f(k, min(k+some, rows))
	}
}

// begunSums returns the sums over the known rows of U for row i of P F in panel p.
func (t *digitPanel) begunSums(p, i int) []int64 {
	size := t.Size()
	return t.begun[((p-t.known/t.Count())*t.N+t.Order[i])*size:][:size]
}

// begin computes the sums over the first known rows of U, for all rows below and the panels of the
// next rowsAhead columns. So rows of L are loaded once for all these panels. Sums belong to rows of
// F, which exchanges do not move.
func (t *digitPanel) begin(known int) error {
	n, count := t.N, t.Count()
	t.known = known
	first, last := known/count, (min(known+rowsAhead, n)+count-1)/count
	if size := (last - first) * n * t.Size(); len(t.begun) < size {
		t.begun = make([]int64, size)
	}
	groups := (last - first + panelsAhead - 1) / panelsAhead
	some := min(max((n-known)*groups/(4*t.s.Threads), count), rowsBegun) // four tasks a thread
	rows := (n - known + some - 1) / some
	return par.For(t.s.Ctx, t.s.Threads, groups*rows, func(_, task int) {
		p0, i0 := first+task%groups*panelsAhead, known+task/groups*some
		p1, i1 := min(p0+panelsAhead, last), min(i0+some, n)
		for p := p0; p < p1; p++ {
			for i := i0; i < i1; i++ {
				clear(t.begunSums(p, i))
			}
		}
		t.chunks(known, func(k0, k1 int) {
			for p := p0; p < p1; p++ {
				for i := i0; i < i1; i++ {
					t.products(t.begunSums(p, i), p, i, k0, k1)
				}
			}
		})
	})
}

// sums stores the sums of row i in panel p over the rows above row end of U in acc.
func (t *digitPanel) sums(acc []int64, p, i, end int) {
	if t.known == 0 {
		clear(acc)
	} else {
		copy(acc, t.begunSums(p, i))
	}
	t.products(acc, p, i, t.known, end)
}

// eliminate eliminates panel p; with an error, it returns how many pivots are known.
func (t *digitPanel) eliminate(p int) (done int, err error) {
	s, count, size, n := t.s, t.Count(), t.Size(), t.N
	t.first = p * count
	t.blocks = (n - t.first + count - 1) / count
	u := t.upper[p*n*size : (p+1)*n*size]
	first := func(i int) []int64 {
		acc := t.workers[0].acc
		t.sums(acc, p, i, t.known)
		return acc
	}
	if !t.above(p, t.known, t.first, first) {
		return t.first, call.ErrRange
	}
	for c := range count { // clear lanes that belong to no row or column
		clear(t.left[c][(t.blocks-1)*size : t.blocks*size])
		clear(t.rows[c])
	}
	if c, err := t.columns(); err != nil {
		return t.first + c, err
	}
	for r := range min(count, n-t.first) {
		t.Vector(u[(t.first+r)*size:], t.rows[r])
	}
	next := t.first + count
	if next%rowsAhead != 0 || next >= n {
		return n, nil
	}
	large := make([]bool, s.Threads)
	later := len(t.prefix) - p - 1
	some := min(max(later/(4*s.Threads), 1), panelsAhead) // four tasks a thread
	err = par.For(s.Ctx, s.Threads, (later+some-1)/some, func(worker, k int) {
		from := p + 1 + k*some
		if !t.aboveAll(from, min(from+some, len(t.prefix)), next-rowsAhead, next, t.workers[worker]) {
			large[worker] = true
		}
	})
	if err == nil && slices.Contains(large, true) {
		err = call.ErrRange
	}
	if err == nil {
		err = t.begin(next)
	}
	return next, err
}

// products adds the products of row i of L and panel p of U over the rows k0 ≤ m < k1 of U, factors
// of L as they are stored, to the sums s.
func (t *digitPanel) products(s []int64, p, i, k0, k1 int) {
	if k0 < k1 {
		size := t.Size()
		t.Add(s, t.upper[(p*t.N+k0)*size:], size, t.lower[i][k0*t.D:], t.D, false, k1-k0)
	}
}

// entry sets the sums s, which hold the products over all known rows m of U, to the entries of row
// i in panel p minus Σ l_im u_mj.
func (t *digitPanel) entry(s []int64, p, i int) {
	count, b := t.Count(), t.Bits()
	drop := uint(64-b) & 63
	for c, v := range t.prefix[p][:len(s)] {
		s[c] = 2*v - 4*s[c]
	}
	// The words of all planes, with the binary point before the first word, are (f + 1)/2.
	row := t.Order[i]
	first := p * count
	some := min(count, t.N-first)
	for c := range t.D {
		to := s[(c+1)*count:][:some]
		at := b*c - seed.Growth + 1
		if at < 0 {
			drop, less := uint(64-b-at)&63, int64(1)<<uint(b-seed.Growth)
			for j, w := range t.f.Words[row*t.f.Planes][first:][:len(to)] {
				to[j] += int64(w>>drop) - less
			}
			continue
		}
		l, off := at/64, uint(at%64)
		if l >= t.f.Planes {
			break
		}
		words := t.f.Words[row*t.f.Planes+l][first:][:len(to)]
		if off+uint(b) <= 64 || l+1 == t.f.Planes {
			for j, w := range words {
				to[j] += int64(w << (off & 63) >> drop)
			}
			continue
		}
		next := t.f.Words[row*t.f.Planes+l+1][first:][:len(to)]
		for j, w := range words {
			to[j] += int64((w<<(off&63) | next[j]>>((64-off)&63)) >> drop)
		}
	}
	t.Carry(s)
}

// remainders computes the remaining entries of block b of rows of the panel.
func (t *digitPanel) remainders(b int, w *panelLanes) {
	p, count, size := t.first/t.Count(), t.Count(), t.Size()
	for i := b * count; i < min(t.N-t.first, (b+1)*count); i++ {
		t.sums(w.acc, p, t.first+i, t.first)
		t.entry(w.acc, p, t.first+i)
		at := b*size + i%count
		for c, left := range t.left {
			for k := 0; k < size; k += count {
				left[at+k] = w.acc[k+c]
			}
		}
	}
}

// leastBlocks is the number of blocks of rows below which one thread computes the columns of a
// panel. A block takes some 0.4 µs.
const leastBlocks = 12

// columns computes the remaining entries of the panel, its pivots and the columns of L below them.
// With an error it returns the column.
//
// For each column, one loop over the blocks of rows below the first block computes the column of L
// and then the remaining entries of the next column. They need the first block of both columns.
func (t *digitPanel) columns() (c int, err error) {
	s, count := t.s, t.Count()
	clear(t.lSum)
	end := min(count, t.N-t.first)
	threads := s.Threads
	if t.blocks < leastBlocks {
		threads = 1
	}
	some := min(max((t.blocks-1+threads-1)/max(threads, 1), 2), 8) // blocks a call
	parts := (t.blocks - 1 + some - 1) / some
	t.firsts = slices.Grow(t.firsts[:0], parts+1)[:parts+1]
	var large atomic.Bool
	var failed error
	c = -2
	err = par.Rounds(s.Ctx, threads, func(round int) int {
		if c, failed = round-2, nil; large.Load() {
			c, failed = c-1, call.ErrRange
		} else if c >= -1 && c < end {
			c, failed = t.begins(c, end)
		}
		switch {
		case failed != nil || c == end:
			return -1
		case c == -2: // the remaining entries
			return parts + 1
		}
		return parts
	}, func(worker, part int) {
		w := t.workers[worker]
		if c == -2 {
			if part--; part < 0 {
				t.remainders(0, w)
				return
			}
		}
		first, last := 1+part*some, min(1+(part+1)*some, t.blocks)
		for b := first; b < last; b++ {
			if c == -2 {
				t.remainders(b, w)
				continue
			}
			if c >= 0 && !t.multipliers(c, b, w) {
				large.Store(true)
				return
			}
			if c >= 0 && c+1 < end {
				t.remaining(c+1, b, w)
			}
		}
		if c > -2 && c+1 < end {
			t.firsts[part+1] = t.largestOf(t.left[c+1], t.first+first*count, min(t.first+last*count, t.N))
		}
	})
	if err == nil {
		err = failed
	}
	return max(c, 0), err
}

// begins finds the pivot of column c of the panel, if c ≥ 0, and computes the first block of column
// c of L and of the remaining entries of column c + 1. It returns c, or an error and its column.
func (t *digitPanel) begins(c, end int) (int, error) {
	if c >= 0 {
		if err := t.pivotOf(c); err != nil {
			return c, err
		}
		if !t.multipliers(c, 0, t.workers[0]) {
			return c, call.ErrRange
		}
	}
	if c+1 < end {
		if err := t.firstBlock(c + 1); err != nil {
			return c + 1, err
		}
		t.firsts[0] = t.largestOf(t.left[c+1], t.first+c+1, min(t.first+t.Count(), t.N))
	}
	return c, nil
}

// firstBlock computes column c of U in the panel, and the remaining entries of the first block.
func (t *digitPanel) firstBlock(c int) error {
	count, size, d := t.Count(), t.Size(), t.D
	if c == 0 {
		return nil
	}
	left, acc, half := t.left[c], t.workers[0].acc, int64(1)<<(t.Bits()-1)
	// Row r of U is known when the rows above are.
	clear(t.block0)
	take := func(r int) {
		for k := r; k < size; k += count {
			left[k] += 2*t.lSum[k] - 4*t.block0[k]
		}
		t.carryLane(left[:size], r)
	}
	for r := range c {
		if r > 0 {
			t.Add(t.block0, t.l[(r-1)*size:], size, t.x[(r-1)*d:], d, false, 1)
			take(r)
		}
		for k := 0; k < size; k += count {
			t.rows[r][k+c] = left[k+r]
			acc[k] = left[k+r]
		}
		acc[count] += half
		t.carryLane(acc, 0)
		if acc[0] != 0 {
			return call.ErrRange
		}
		t.Factor(t.x[r*d:], 1, acc, 0)
	}
	t.Add(t.block0, t.l[(c-1)*size:], size, t.x[(c-1)*d:], d, false, 1)
	for r := c; r < count; r++ {
		take(r)
	}
	return nil
}

// remaining subtracts the columns of L left of column c from its entries in block b > 0.
func (t *digitPanel) remaining(c, b int, w *panelLanes) {
	size := t.Size()
	clear(w.acc)
	t.Add(w.acc, t.l[b*t.Count()*size:], size, t.x, t.D, false, c)
	l, sum := t.left[c][b*size:(b+1)*size], t.lSum[b*size:]
	for k, v := range w.acc {
		l[k] += 2*sum[k] - 4*v
	}
	t.Carry(l)
}

// pivotOf finds the pivot of column c, whose largest entries are known, and its reciprocal.
func (t *digitPanel) pivotOf(c int) error {
	left, j := t.left[c], t.first+c
	best, most := t.pivotRow(left, j)
	if best < 0 || most < math.Ldexp(1, 30-t.D*t.Bits()) {
		return seed.ErrNoise
	}
	if most > 0.499 || most < leastDigitPivot {
		return call.ErrRange
	}
	t.exchange(c, best)
	return t.invert(j, left, c)
}

// multipliers computes block b of column c of L; not ok if a number is too large.
func (t *digitPanel) multipliers(c, b int, w *panelLanes) (ok bool) {
	count, size, d, half := t.Count(), t.Size(), t.D, int64(1)<<(t.Bits()-1)
	j := t.first + c
	e, y := t.shift[j], t.inverse[j*d:(j+1)*d]
	shifted := w.shifted
	t.shiftLanes(shifted, t.left[c][b*size:(b+1)*size], e)
	if b == 0 {
		for k := 0; k < size; k += count {
			clear(shifted[k : k+c+1])
		}
	}
	if !t.Vector(w.vector, shifted) {
		return false
	}
	clear(shifted)
	t.Add(shifted, w.vector, size, y, d, false, 1)
	if t.neg[j] {
		for k, v := range shifted {
			shifted[k] = -v
		}
	}
	t.Carry(shifted)
	l := t.l[(b*count+c)*size:][:size]
	if !t.Vector(l, shifted) {
		return false
	}
	t.Sum(t.lSum[b*size:(b+1)*size], l)
	for k := range count {
		shifted[count+k] += half
	}
	t.Carry(shifted)
	for k := range count {
		i := t.first + b*count + k
		if i <= j || i >= t.N {
			continue
		}
		if shifted[k] != 0 {
			return false
		}
		t.Factor(t.lower[i][j*d:], 1, shifted, k)
	}
	return true
}

// largest is the first entry of largest magnitude among some rows of a column, -1 if all are 0, its
// magnitude approximately, and the second largest magnitude.
type largest struct {
	best         int
	most, second float64
}

// at returns the remaining entry of row i of a column.
func (t *digitPanel) at(left []int64, i int) (s []int64, lane int) {
	count := t.Count()
	return left[(i-t.first)/count*t.Size():], (i - t.first) % count
}

func (t *digitPanel) largestOf(left []int64, from, to int) largest {
	z := largest{best: -1}
	for i := from; i < to; i++ {
		s, lane := t.at(left, i)
		z = z.or(largest{i, math.Abs(t.float(s, lane)), 0})
	}
	return z
}

// or returns the largest entry of two parts, of which z has the first rows.
func (z largest) or(y largest) largest {
	if y.most > z.most {
		return largest{y.best, y.most, max(z.most, y.second)}
	}
	z.second = max(z.second, y.most)
	return z
}

// pivotRow returns the row of the pivot of column j, which has the largest magnitude, and that
// magnitude approximately; best is -1 if all entries are 0.
func (t *digitPanel) pivotRow(left []int64, j int) (best int, most float64) {
	z := largest{best: -1}
	for _, y := range t.firsts {
		z = z.or(y)
	}
	if least := float64(z.most * (1 - 0x1p-40)); z.best >= 0 && z.second >= least {
		var rows []int
		var x []*big.Float
		for i := j; i < t.N; i++ {
			if s, lane := t.at(left, i); math.Abs(t.float(s, lane)) >= least {
				rows, x = append(rows, i), append(x, new(big.Float).SetInt(t.integer(s, lane)))
			}
		}
		z.best = rows[seed.LargestPivot(len(rows), func(i int) *big.Float { return x[i] })]
	}
	return z.best, z.most
}

// exchange swaps row i with row c of the panel.
func (t *digitPanel) exchange(c, i int) {
	count, size := t.Count(), t.Size()
	j := t.first + c
	if i == j {
		return
	}
	at := (i-t.first)/count*size + (i-t.first)%count
	for k := 0; k < size; k += count {
		for _, left := range t.left[c:] {
			left[c+k], left[at+k] = left[at+k], left[c+k]
		}
		for m := range c {
			x, y := m*size+c+k, ((i-t.first)/count*count+m)*size+(i-t.first)%count+k
			t.l[x], t.l[y] = t.l[y], t.l[x]
		}
		t.lSum[c+k], t.lSum[at+k] = t.lSum[at+k], t.lSum[c+k]
	}
	t.Order[i], t.Order[j] = t.Order[j], t.Order[i]
	t.lower[i], t.lower[j] = t.lower[j], t.lower[i]
}

// invert stores pivot j, read from a lane of sums: its sign, its magnitude and its reciprocal.
func (t *Elimination) invert(j int, s []int64, lane int) error {
	p := t.integer(s, lane)
	t.neg[j] = p.Sign() < 0
	p.Abs(p)
	e, ok := t.Reciprocal(t.inverse[j*t.D:], p)
	if !ok {
		return call.ErrRange
	}
	t.shift[j], t.pivots[j] = e, p
	f := new(big.Float).SetInt(p)
	t.pivot[j], _ = f.SetMantExp(f, -t.Bits()*t.D).Float64()
	return nil
}

// bound sets H to bounds of 2^-growth |G^-1| e, where 2^growth G ≈ F, or returns a guess of how
// many more bits will do.
//
// With U = diag(p) U', it uses rounded inverses Z of L and Y of U', as for triangles and blocks.
// Where float64 numbers do not suffice, it uses inverses by digits (see Triangle).
func (t *Elimination) bound() (more int, err error) {
	s, n, count, size := t.s, t.N, t.Count(), t.Size()
	defer s.Temporary()()
	l, li, ui := s.Floats(n*n), s.Floats(n*n), s.Floats(n*n)
	for _, x := range [][]float64{l, li, ui} {
		call.Zero(s.Threads, x)
	}
	err = par.Each(s.Ctx, s.Threads, n, func(i int) {
		for j := range i {
			l[i+j*n] = t.FactorFloat(t.lower[i][j*t.D:])
		}
	})
	if err != nil {
		return 0, err
	}
	if err := dgemm.InvertLower(s.Ctx, s.Threads, n, l, li); err != nil {
		return 0, err
	}
	if !(max(call.LargestOfAll(s.Threads, l), call.LargestOfAll(s.Threads, li)) < 0x1p900) {
		return 0, call.ErrRange
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	// Numbers are right to 2^-48 of themselves, numbers of L to 2^-90 of 1.
	gamma := float64(float64(n+16)*0x1p-53) + 0x1p-47
	v := seed.AbsLower(s.Threads, n, li, ones)
	off := 0.0 // error of L L^-1
	for _, x := range seed.AbsLower(s.Threads, n, l, v) {
		off = max(off, x)
	}
	off = float64(gamma*off*1.001) + float64(float64(n)*0x1p-90*call.LargestOf(v))
	u := l // l is not needed any more
	call.Zero(s.Threads, u)
	err = par.For(s.Ctx, s.Threads, (n+count-1)/count, func(_, p int) {
		first, end := p*count, min((p+1)*count, n)
		for k := range end {
			pivot := t.pivot[k]
			if t.neg[k] {
				pivot = -pivot
			}
			v := t.upper[(p*n+k)*size:][:size]
			for j := max(first, k+1); j < end; j++ {
				u[k+j*n] = t.VectorFloat(v, j-first) / pivot
			}
			if k >= first {
				u[k+k*n] = 1
			}
		}
	})
	if err != nil {
		return 0, err
	}
	if err := dgemm.InvertUpper(s.Ctx, s.Threads, n, u, n, ui); err != nil {
		return 0, err
	}
	largest := call.LargestOfAll(s.Threads, ui)
	if !(max(call.LargestOfAll(s.Threads, u), largest) < 0x1p900) {
		return 0, call.ErrRange
	}
	if err := t.setTops(li, ui); err != nil {
		return 0, err
	}
	if off < seed.MostRho {
		for i, x := range v {
			v[i] = float64(x / (1 - off) * (1 + 0x1p-40))
		}
	} else if v, more, err = t.longLower(li); err != nil {
		return more, err
	}
	t.lowerNorm = call.LargestOf(v)
	lost := float64(gamma*call.LargestOf(seed.AbsUpper(s.Threads, n, u, seed.AbsUpper(s.Threads, n, ui, ones)))*1.001) + float64(float64(n)*0x1p-700)
	if t.D > MostDigits && n > 0 {
		// Numbers of U below 2^-900 are right to 2^-940.
		lost += float64(float64(n*n) * 0x1p-940 * largest / slices.Min(t.pivot))
	}
	if lost < seed.MostRho && largest < 0x1p100 {
		middle := make([]float64, n)
		for i, x := range v {
			middle[i] = float64(x / t.pivot[i] * (1 + 0x1p-40))
		}
		most := call.LargestOf(middle)
		if !(most < 0x1p900) {
			return 0, call.ErrRange
		}
		for i, x := range middle {
			middle[i] = float64((x + float64(lost/(1-lost)*most)) * (1 + 0x1p-40))
		}
		t.H = seed.AbsUpper(s.Threads, n, ui, middle)
	} else if t.H, more, err = t.longUpper(ui, v); err != nil {
		return more, err
	}
	for i, x := range t.H {
		t.H[i] = math.Ldexp(x, -seed.Growth) + 0x1p-1000
	}
	if !(call.LargestOf(t.H) < 0x1p900) {
		return 0, call.ErrRange
	}
	return 0, nil
}

// longLower returns bounds of |L^-1| e where the float64 inverse of L is not proved to be close.
func (t *Elimination) longLower(li []float64) (v []float64, more int, err error) {
	_, top := math.Frexp(call.LargestOf(li))
	l := Triangle{Numbers: t.Numbers, Rows: t.lower, Length: func(i int) int { return i }, Exp: 2}
	return l.Sums(t.s, top, nil)
}

// longUpper returns bounds of |U^-1| v in the same way.
func (t *Elimination) longUpper(ui, v []float64) (h []float64, more int, err error) {
	s, n, d, count, size := t.s, t.N, t.D, t.Count(), t.Size()
	u := Triangle{Numbers: t.Numbers, Rows: make([][]uint64, n), Length: func(j int) int { return j }, Inverse: t.inverse, Shift: t.shift, Neg: t.neg}
	room := s.Words(n * (n - 1) / 2 * d)
	for j := range u.Rows {
		u.Rows[j], room = room[:j*d], room[j*d:]
	}
	half := int64(1) << (t.Bits() - 1)
	err = par.For(s.Ctx, s.Threads, (n+count-1)/count, func(_, p int) {
		sums := make([]int64, size)
		for k := range min((p+1)*count, n) {
			clear(sums)
			t.Sum(sums, t.upper[(p*n+k)*size:][:size])
			for c := range count {
				sums[count+c] += half
			}
			t.Carry(sums)
			for j := max(p*count, k+1); j < min((p+1)*count, n); j++ {
				t.Factor(u.Rows[j][k*d:], 1, sums, j-p*count)
			}
		}
	})
	if err != nil {
		return nil, 0, err
	}
	top := -1000
	for k := range n {
		_, e := math.Frexp(call.LargestOf(ui[k*n:k*n+k+1]) / t.pivot[k])
		top = max(top, e)
	}
	return u.Sums(s, top, v)
}

// setTops sets tops from float64 inverses of L and U'.
func (t *Elimination) setTops(li, ui []float64) error {
	n := t.N
	t.tops = make([]int, n)
	sums := make([]float64, n)
	for k, most := range call.LargestOfColumns(t.s.Threads, n, ui) { // 0 below the diagonal
		sums[k] = most / t.pivot[k] // of column k of U^-1
	}
	return par.Each(t.s.Ctx, t.s.Threads, n, func(i int) {
		sum := 0.0
		for k := i; k < n; k++ {
			sum += float64(sums[k] * math.Abs(li[k+i*n]))
		}
		_, t.tops[i] = math.Frexp(sum * (1 + 0x1p-10))
		t.tops[i] -= seed.Growth
	})
}

// Scales implements seed.Inverse: the powers of two that A's rows and columns are multiplied by.
func (t *Elimination) Scales() scale.Scaling { return t.Scaling }

// MoreBits implements seed.Inverse.
func (t *Elimination) MoreBits() int { return max(t.Top, 0) }

// Leading implements seed.Inverse.
func (t *Elimination) Leading() bool { return false }

// Words implements seed.Inverse.
func (t *Elimination) Words() float64 { return float64(t.D*t.D) / 2 }

// Matrix implements seed.Inverse.
func (t *Elimination) Matrix() *fixed.Matrix { return t.f }

// Radius bounds |F^-1 r| ≤ |x| + |F^-1| |r - F x| for the x of Correct, or by h ‖r‖∞ where that is
// less. For the x' of Substitute, P^T L U x' = 2^(-growth-scale) r up to 2^(-growth-scale) times
// the error of r, and up to
//
//	a unit for truncating r,
//	n 4 (3 D + 1) + 2 units of L y,
//	‖L‖∞ ≤ 2 n times n (3 D + 1) + 3 D + 3 units of U x',
//
// where the last 3 D + 3 units come from quotients by pivots below 1/2.
func (t *Elimination) Radius(r *seed.Residual, c []float64) []float64 {
	z := seed.RadiusBy(t.H, r)
	if len(c) == 0 || &c[0] != t.last || !(t.off < 0x1p900) { // x belongs to another residual
		return z
	}
	lost := float64(t.Lost(float64(call.LargestOf(c)+t.tail)*(1+0x1p-50), t.off)) + r.Err
	for i, h := range t.H {
		z[i] = min(z[i], float64((math.Abs(c[i])+t.tail+float64(h*lost))*(1+0x1p-40))+0x1p-1000)
	}
	return z
}

// Lost bounds ‖r - F x‖∞ for |x| ≤ most, where off bounds ‖2^growth P^T L U x - r‖∞.
func (t *Elimination) Lost(most, off float64) float64 {
	n := float64(t.N)
	units := float64((n+1)*float64(12*t.D+8)) * n * most
	return float64((float64(units*t.unit) + off) * (1 + 0x1p-40))
}

// SubstitutionError bounds ‖2^growth P^T L U x - r‖∞ for the x of Substitute(r, scale).
func (t *Elimination) SubstitutionError(scale int) float64 {
	n := float64(t.N)
	units := float64(n*float64(12*t.D+4)) + 3 + float64(2*n*(float64(n*float64(3*t.D+1))+float64(3*t.D+3)))
	return math.Ldexp(units*t.unit, scale) * (1 + 0x1p-40)
}

// Correct returns x ≈ F^-1 r by substitution of 2^-scale r, scaled so that no number exceeds 1.
// Truncating 2^-scale r causes an error of x that may be h times as large. While r stems from
// rounding errors of the known solution, x is about as large as r; before that, x is far larger.
// Hence Correct uses the first scale that suffices.
func (t *Elimination) Correct(r *seed.Residual) ([][]float64, error) {
	if t.sums == nil {
		t.sumRows()
	}
	if r.X == nil {
		t.scale = t.Top
	}
	x, unit, ok := t.Substitute(r, t.scale)
	shift := t.scale
	for !ok && shift < t.Top {
		shift = min(max(2*shift, shift)+4, t.Top)
		x, unit, ok = t.Substitute(r, shift)
	}
	top := fixed.TopOf(x)
	least := min(4, t.Top) // least shift
	for tight := max(top-unit+4, least); ok && tight < shift-12; tight = max(top-unit+4, least) {
		y, at, ok := t.Substitute(r, tight)
		if !ok {
			break
		}
		x, unit, shift, top = y, at, tight, fixed.TopOf(y)
	}
	t.off = math.Inf(1)
	if ok {
		t.off = t.SubstitutionError(shift)
	}
	// Actual rounding errors are about 2^-(growth-2) of their proved bounds. Bits of x beyond the
	// correct ones would make the next residual small compared with its error.
	right := max(int(-seed.Log2(t.Rho))+seed.Growth-2-(shift-(top-unit)), 8)
	switch {
	case r.X == nil: // the next residual may be far larger
		right, t.began = scale.SeedBits, false
	case !t.began:
		t.scale, t.began = least, true
	default:
		t.scale = min(max(top-unit+4, least), t.Top)
	}
	z, tail := piecesOf(x, unit, top, right, t.N)
	t.tail, t.last = tail, &z[0][0]
	return z, nil
}

// Substitute solves P^T L U x' = 2^(-growth-scale) r and returns 2^scale x' as words 2^-unit; not
// ok if numbers are too large.
func (t *Elimination) Substitute(r *seed.Residual, scale int) (words [][]uint64, unit int, ok bool) {
	n, d, size, count, b := t.N, t.D, t.Size(), t.Count(), t.Bits()
	// L y = P r, with y in lane 0 of vectors.
	y, left := make([]uint64, n*size), make([]int64, n*(d+1))
	prefix, acc := make([]int64, size), make([]int64, size)
	single := make([]uint64, 1)
	for i := range n {
		clear(acc)
		if i > 0 {
			t.Add(acc, y, size, t.lower[i], d, false, i)
		}
		x, top := single, 61
		if k := t.Order[i]; r.X == nil {
			single[0] = uint64(int64(r.Lead[k] * 0x1p61))
		} else {
			x, top = r.X[k], r.Exp-r.Unit
		}
		for c := range d + 1 {
			acc[c*count] = 2*prefix[c*count] - 4*acc[c*count]
		}
		acc[0] += int64(x[len(x)-1]) >> 63
		for c := 1; c <= d; c++ {
			acc[c*count] += int64(fixed.BitsAt(x, top+seed.Growth+scale-b*c, b))
		}
		t.carryLane(acc, 0)
		if !t.Vector(y[i*size:], acc) {
			return nil, 0, false
		}
		t.Sum(prefix, y[i*size:])
		t.carryLane(prefix, 0)
		for c := range d + 1 {
			left[i*(d+1)+c] = acc[c*count]
		}
	}
	// U x' = y with factors x' + 1/2, one per lane.
	panels := (n + count - 1) / count
	factors := make([]uint64, panels*d*count)
	words = make([][]uint64, n)
	width := (b*d+63)/64 + 1
	room := make([]uint64, n*width)
	half := int64(1) << (b - 1)
	shifted, vector := make([]int64, size), make([]uint64, size)
	for i := n - 1; i >= 0; i-- {
		clear(acc)
		p := i / count
		t.Add(acc, t.upper[(p*n+i)*size:], n*size, factors[p*d*count:], d*count, true, panels-p)
		for c := range d + 1 { // twice the remaining right-hand side
			all := int64(0)
			for _, v := range acc[c*count:][:count] {
				all += v
			}
			clear(acc[c*count:][:count])
			acc[c*count] = 2*(left[i*(d+1)+c]-all) + t.sums[i*(d+1)+c]
		}
		t.carryLane(acc, 0)
		if !t.small(acc) || t.lengthOf(acc) >= b*d-t.shift[i] {
			return nil, 0, false
		}
		t.shiftLanes(shifted, acc, t.shift[i])
		t.Vector(vector, shifted)
		clear(shifted)
		t.Add(shifted, vector, size, t.inverse[i*d:], d, false, 1)
		if t.neg[i] {
			for k, v := range shifted {
				shifted[k] = -v
			}
		}
		t.Carry(shifted) // x'/2
		words[i] = room[i*width : (i+1)*width]
		words[i][width-1] = uint64(shifted[0])
		for c := 1; c <= d; c++ {
			setBits(words[i], 64*(width-1)-b*c, uint64(shifted[c*count]))
		}
		for k, v := range shifted {
			shifted[k] = 2 * v
		}
		shifted[count] += half
		t.Carry(shifted)
		if shifted[0] != 0 {
			return nil, 0, false
		}
		t.Factor(factors[p*d*count+i%count:], count, shifted, 0)
	}
	return words, 64*(width-1) - scale - 1, true
}

// piecesOf returns n numbers 2^-unit x, |x| ≤ 2^top, truncated after right bits, as sums of pieces
// of 53 bits, or as one piece if right is less. tail bounds the difference between 2^-unit x and
// its first piece.
func piecesOf(x [][]uint64, unit, top, right, n int) (z [][]float64, tail float64) {
	z = make([][]float64, max(1, right/scale.SeedBits))
	bits := min(right, scale.SeedBits)
	for p := range z {
		z[p] = make([]float64, n)
		low := top - bits*(p+1)
		for i, x := range x {
			v := int64(fixed.BitsAt(x, low, bits))
			if p == 0 {
				v = int64(fixed.BitsAt(x, low, 64))
			}
			z[p][i] = math.Ldexp(float64(v), low-unit)
		}
	}
	return z, math.Ldexp(1, top-bits-unit)
}

// sumRows sums up the rows of U.
func (t *Elimination) sumRows() {
	n, d, size, count := t.N, t.D, t.Size(), t.Count()
	t.sums = make([]int64, n*(d+1))
	sums := make([]int64, size) // at most 2^61: digitBytes holds some 2200 rows
	for i := range n {
		clear(sums)
		for p := i / count; p*count < n; p++ {
			t.Sum(sums, t.upper[(p*n+i)*size:])
		}
		t.Total(t.sums[i*(d+1):][:d+1], sums)
	}
}

// setBits adds v 2^low to x where the addition carries nothing.
func setBits(x []uint64, low int, v uint64) {
	x[low/64] |= v << uint(low%64)
	if low%64 > 0 && low/64+1 < len(x) {
		x[low/64+1] |= v >> uint(64-low%64)
	}
}

// Determinant is det.Long by an elimination in digits. It uses some plus DetSpare(n) bits; if these
// do not suffice, it returns a guess of how many more will. The error is ErrRange where an
// elimination in digits is not possible.
func Determinant(s *call.Run, a num.Mat, f *seed.Factors, some, places int) (*seed.Determinant, int, error) {
	some += DetSpare(f.N)
	d, ok := CountFor(s, f.N, some, MostDigits)
	if !ok {
		return nil, 0, call.ErrRange
	}
	s.Plan(Cost(f.N, d))
	t, more, err := Eliminate(s, a, f, d, 0)
	if err != nil {
		return nil, more, err
	}
	// 1/(1 - rho) ≤ 2
	log := bound.Upper().Mul(bound.Upper().SetFloat64(t.Rho), bound.Upper().SetInt64(int64(2*f.N)))
	if more := seed.MissingBits(log, places); more > 0 {
		return nil, d*t.Bits() - seed.Growth - some + more, nil
	}
	s.Stats.Precision = d * t.Bits()
	return t.determinant(log, places), 0, nil
}

// DetSpare is the number of bits that the proof of a determinant takes, beyond the bits of the
// condition number and of the determinant.
func DetSpare(n int) int { return 3*bits.Len(uint(n)) + 8 }

// DetDigits returns how many digits a determinant takes where float64 factors of order n lose so
// many bits; not ok where an elimination in digits is not possible.
func DetDigits(s *call.Run, n, loss, places int) (d int, ok bool) {
	return CountFor(s, n, loss+places+DetSpare(n), MostDigits)
}

// IsQuickDet reports whether a determinant in d digits is likely to be faster than by blocks. Up to
// the size detDigits it takes a fifth to a half of their time, on 16 processors as on one.
func IsQuickDet(n, d int) bool { return n*d <= detDigits*lanes.Count() }

// determinant returns det F = 2^(growth n) det G, up to a factor in exp(±log).
func (t *Elimination) determinant(log *big.Float, places int) *seed.Determinant {
	z := &seed.Determinant{Mid: new(big.Float).SetPrec(uint(places + 64)).SetInt64(1), Log: log, Shift: int64(t.N * (seed.Growth - t.D*t.Bits()))}
	neg := seed.Odd(t.Order)
	for i, p := range t.pivots {
		z.Mid.Mul(z.Mid, new(big.Float).SetInt(p)) // rounded
		log.Add(log, bound.Exp2(1-int(z.Mid.Prec())))
		neg = neg != t.neg[i]
		z.Shift -= t.Rows[i] + t.Cols[i]
	}
	if neg {
		z.Mid.Neg(z.Mid)
	}
	return z
}

// Cost returns the cost of an elimination of order n in d digits.
func Cost(n, d int) float64 {
	return call.Cube(n)/3*(0.2+float64(d*d)*0.017) + float64(n*n*(40+10*d)) // may fuse: an estimate
}
