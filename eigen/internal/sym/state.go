package sym

import (
	"math"
	"math/big"
	"slices"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// state is what one round knows: approximate eigenvectors X, S = Xᵀ A X and R = I - Xᵀ B X, where B
// is the unit matrix unless the problem has another one.
//
// S and R are upper triangles, of numbers rounded to places bits. Beside that rounding, entry (i,
// j) of S, i ≤ j, differs from the exact one by at most longS[i] lostS[j], and entry (i, j) of R by
// at most longR[i] lostR[j]. Nil stands for zeros.
type state struct {
	s      *call.Run
	n      int
	x      num.Mat
	places int
	sm, r  num.Mat
	wide   size // ≥ the 2-norm of each row of X
	// image are the 2-norms of the columns of C X for A = CᵀC, and total is ‖C X‖ in Frobenius'
	// norm.
	image []size
	total size

	longS, lostS, longR, lostR []size
	// d are the Rayleigh quotients s_ii / (1 - r_ii), each in error by at most dLost.
	d     []*big.Float
	dLost []size
	dSize []size
	near  []pair // d, rounded
	order []int  // the columns in ascending order of d
	// sb and rb bound the entries of S and of R, errors included, column by column. The diagonal of
	// sb is not used. If fs and fr are not nil, they have the bounds instead.
	sb, rb []size
	fs, fr []float64
	plain  *plain // for loops in float64 arithmetic, or nil
	away   *away  // nil if S, R and X are on the host
	// rowS and rowR are the 2-norms of the rows of S and of R without the diagonal.
	rowS, rowR []size
	alpha      size // ≥ ‖R‖
	clusters   []cluster
	of         []int // of[k] is the cluster of column k
}

// release drops the matrices of the state.
func (t *state) release() {
	if t.away != nil {
		t.freeAway()
	}
	t.s.Drop(t.sm, t.r, t.x)
}

// A tile has rows i0 ≤ i < i1 and columns j0 ≤ j < j1, at most tall x stripe entries, i ≤ j.
type tile struct{ i0, i1, j0, j1 int }

// tall is the number of rows of a tile.
const tall = 64

// each calls f for all entries, in the order of memory.
func (z tile) each(f func(i, j int)) {
	for j := z.j0; j < z.j1; j++ {
		for i := z.i0; i < min(z.i1, j+1); i++ {
			f(i, j)
		}
	}
}

// mirrored calls f for all entries above the diagonal, in the order of the transpose in memory.
func (z tile) mirrored(f func(i, j int)) {
	for i := z.i0; i < z.i1; i++ {
		for j := max(z.j0, i+1); j < z.j1; j++ {
			f(i, j)
		}
	}
}

// at returns the place of entry (i, j) in a list of tall x stripe numbers.
func (z tile) at(i, j int) int { return (i-z.i0)*stripe + j - z.j0 }

// tiles calls f for tiles of the upper triangle of an n x n matrix. Numbers for entries (j, i)
// should be stored tile by tile: columns of large matrices share the places of few cache lines, so
// that numbers in many columns displace each other.
func (t *state) tiles(f func(worker int, z tile)) error {
	strips := (t.n + stripe - 1) / stripe
	return par.For(t.s.Ctx, t.s.Threads, strips, func(w, part int) {
		part = strips - 1 - part // the longest first
		end := min(t.n, (part+1)*stripe)
		for top := 0; top < end; top += tall {
			f(w, tile{top, min(end, top+tall), part * stripe, end})
		}
	})
}

// measure computes the bounds of S and R, in memory of p, and d.
func (t *state) measure(p *problem) error {
	n := t.n
	t.rowS, t.rowR = make([]size, n), make([]size, n)
	squares := make([]size, n) // of the columns of R
	plain := false
	if t.places < plainExp { // smaller numbers are likely otherwise
		var err error
		if plain, err = t.plainBounds(p, squares); err != nil {
			return err
		}
	}
	if !plain {
		if err := t.bounds(p, squares); err != nil {
			return err
		}
	}
	if err := t.rayleigh(squares, diagonalOf(t.sm), diagonalOf(t.r)); err != nil {
		return err
	}
	t.plainly()
	return nil
}

// rayleigh computes d from the diagonals of S and R, and bounds ‖R‖ by the squares of the norms of
// its columns.
func (t *state) rayleigh(squares []size, sd, rd num.Mat) error {
	n := t.n
	var sum size
	for _, v := range squares {
		sum = sum.add(v)
	}
	t.alpha = sum.sqrt()
	if !t.alpha.less(power(-2)) {
		return ErrSeed
	}
	t.d, t.dLost, t.dSize, t.near = make([]*big.Float, n), make([]size, n), make([]size, n), make([]pair, n)
	prec := uint(t.places + 32)
	one := big.NewFloat(1)
	rooms := make([]scratch, max(1, t.s.Threads))
	if err := par.For(t.s.Ctx, t.s.Threads, n, func(w, i int) {
		b := &rooms[w]
		g := cleared(&b.gap, prec).Sub(one, b.read(&b.x, rd, i, 0))
		t.d[i] = new(big.Float).SetPrec(prec).Quo(b.read(&b.y, sd, i, 0), g)
		t.near[i] = pairOfBig(t.d[i])
		// S, R and d are rounded; 1/(1 - r_ii) ≤ 4/3.
		v := sizeOfBig(t.d[i])
		t.dSize[i] = v
		lost := t.lostIn(t.longS, t.lostS, i, i).add(v.mul(t.lostIn(t.longR, t.lostR, i, i)))
		t.dLost[i] = v.shifted(2 - int64(t.places)).add(lost.times(1.5))
	}); err != nil {
		return err
	}
	t.order = call.All(n)
	slices.SortStableFunc(t.order, func(i, j int) int { return t.d[i].Cmp(t.d[j]) })
	return nil
}

// bounds computes sb and rb, in memory of p, rowS, rowR and the squares of the norms of the columns
// of R.
func (t *state) bounds(p *problem, squares []size) error {
	n := t.n
	t.sb, t.rb = p.sizes()
	if err := t.tiles(func(_ int, z tile) {
		z.each(func(i, j int) {
			v := sizeOf(t.sm.Arr, t.sm.At(i, j)).add(t.lostIn(t.longS, t.lostS, i, j))
			w := sizeOf(t.r.Arr, t.r.At(i, j)).add(t.lostIn(t.longR, t.lostR, i, j))
			t.sb[i+j*n], t.rb[i+j*n] = v, w
		})
		z.mirrored(func(i, j int) {
			t.sb[j+i*n], t.rb[j+i*n] = t.sb[i+j*n], t.rb[i+j*n]
		})
	}); err != nil {
		return err
	}
	return par.For(t.s.Ctx, t.s.Threads, n, func(_, j int) {
		var a, b size
		for i := range n {
			if i != j {
				v, w := t.sb[i+j*n], t.rb[i+j*n]
				a, b = a.add(v.mul(v)), b.add(w.mul(w))
			}
		}
		t.rowS[j], t.rowR[j] = a.sqrt(), b.sqrt()
		w := t.rb[j+j*n]
		squares[j] = b.add(w.mul(w))
	})
}

// lostIn returns the bound long[i] lost[j] for the upper triangle, in either order of i and j.
func (t *state) lostIn(long, lost []size, i, j int) size {
	if lost == nil {
		return size{}
	}
	return long[min(i, j)].mul(lost[max(i, j)])
}

// apart returns a lower bound of |d_i - d_j|.
func (t *state) apart(i, j int) size {
	return differ(t.d[i], t.d[j], t.near[i], t.near[j], t.dSize[i], t.dSize[j])
}

// differ returns a lower bound of |x - y|, given bounds of |x| and |y| that are at most 2^-40 too
// large, relatively, and the pairs of x and y. Pairs and their difference are in error by less than
// 2^-97 of the larger number.
func differ(x, y *big.Float, xNear, yNear pair, xSize, ySize size) size {
	if xSize.less(ySize) {
		x, y, xNear, yNear, xSize, ySize = y, x, yNear, xNear, ySize, xSize
	}
	if xSize.zero() {
		return size{}
	}
	if ySize.e < xSize.e-1 || x.Sign() != y.Sign() {
		low := xSize.times(1 - 0x1p-38)
		if x.Sign()*y.Sign() <= 0 {
			return low
		}
		return low.lower(ySize)
	}
	if z := xNear.add(yNear.negated()); z.hi != 0 && z.e > xNear.e-40 {
		// The difference is at least 2^-41 of x, so its relative error is below 2^-55; the low part
		// adds at most 2^-52.
		return normal(float64(math.Abs(z.hi)*(1-0x1p-50)), z.e)
	}
	return lowerOfBig(new(big.Float).SetPrec(64).Sub(x, y)) // relative error 2^-64
}

// entry returns entry (i, j) of S + m R, for i ≠ j, rounded to places bits.
func (t *state) entry(i, j int, m *big.Float) *big.Float {
	if i > j {
		i, j = j, i
	}
	p := uint(t.places)
	z := new(big.Float).SetPrec(p).Mul(m, t.r.Big(i, j))
	return z.Add(z, t.sm.Big(i, j))
}

// entryIn is entry for i < j, in the memory of b.
func (t *state) entryIn(b *scratch, i, j int, m *big.Float) *big.Float {
	p := uint(t.places)
	cleared(&b.y, p).Mul(m, b.read(&b.x, t.r, i, j))
	return cleared(&b.z, p).Add(&b.y, b.read(&b.x, t.sm, i, j))
}

// A cluster is a set of columns whose eigenvalues are not told apart, or a single column. Exactly
// as many eigenvalues as it has columns differ by at most radius from center; counted in ascending
// order with multiplicities, they are the ones at the positions of the columns in order.
type cluster struct {
	first, last int // positions in order, last included
	center      *big.Float
	radius      size
	proved      bool // radius is valid
	// tilt bounds the coupling to the other columns: ‖z‖ for the components z of an eigenvector
	// with a part of norm 1 in the cluster.
	tilt size
	gap  size // a lower bound of the distance of the cluster from the other d
	// spread bounds |d_i - center| and the couplings within the cluster.
	spread size
	lo, hi *big.Float // the ends of the interval, from findEnds
}

func (c *cluster) count() int { return c.last - c.first + 1 }

// unresolved says when a pair of columns belongs to one cluster: if its coupling exceeds 2^-12
// times its gap.
const unresolved = 12

// couple divides the columns into clusters and encloses the eigenvalues of each.
func (t *state) couple() error {
	n := t.n
	joined := make([]bool, n) // joined[p]: positions p and p + 1 are in one cluster
	far := make([]int, n)     // the last position to which position p is coupled
	if err := par.For(t.s.Ctx, t.s.Threads, n, func(_, p int) {
		i := t.order[p]
		far[p] = p
		for q := n - 1; q > p; q-- {
			if !t.unlike(i, t.order[q]) {
				far[p] = q
				break
			}
		}
	}); err != nil {
		return err
	}
	for p, end := 0, 0; p < n; p++ {
		end = max(end, far[p])
		joined[p] = p < end
	}
	t.of = make([]int, n)
	t.divide(joined)
	rooms := make([]gapRoom, max(1, t.s.Threads))
	for {
		if err := par.For(t.s.Ctx, t.s.Threads, len(t.clusters), func(w, i int) {
			if c := &t.clusters[i]; !c.proved {
				t.enclose(c, &rooms[w])
			}
		}); err != nil {
			return err
		}
		if !t.join(joined) {
			return nil
		}
		t.divide(joined)
	}
}

// divide makes the clusters of columns whose positions are joined. Clusters that are proved and
// have not grown stay as they are.
func (t *state) divide(joined []bool) {
	old := map[[2]int]cluster{}
	for _, c := range t.clusters {
		old[[2]int{c.first, c.last}] = c
	}
	t.clusters = nil
	for p := 0; p < t.n; p++ {
		first := p
		for joined[p] {
			p++
		}
		for q := first; q <= p; q++ {
			t.of[t.order[q]] = len(t.clusters)
		}
		c, ok := old[[2]int{first, p}]
		if !ok {
			c = cluster{first: first, last: p}
		}
		t.clusters = append(t.clusters, c)
	}
}

// join joins each cluster that is not proved with its nearest neighbour. It reports whether there
// was one.
func (t *state) join(joined []bool) (any bool) {
	for i := range t.clusters {
		c := &t.clusters[i]
		if c.proved {
			continue
		}
		any = true
		switch {
		case c.first == 0:
			joined[c.last] = true
		case c.last == t.n-1 || t.apart(t.order[c.first-1], t.order[c.first]).less(t.apart(t.order[c.last], t.order[c.last+1])):
			joined[c.first-1] = true
		default:
			joined[c.last] = true
		}
	}
	return any
}

// enclose computes the interval of a cluster J. Let K be the other columns.
//
// For a number m, A - m B and M = S - m (I - R) = Xᵀ (A - m B) X have the same inertia (Sylvester),
// so the number of eigenvalues below m is the number of negative eigenvalues of M. Write M_KK =
// D + O, with the diagonal D, and let gap_k ≤ |D_kk| and ρ_k ≥ the 2-norm of row k of O for all m
// in an interval around the center c. If θ = (Σ (ρ_k / gap_k)²)^(1/2) < 1, then D + τ O is regular
// for 0 ≤ τ ≤ 1, so M_KK has the inertia of D. The inertia of M is the sum of the inertias of M_KK
// and of
//
//	C = M_JJ - M_JK M_KK^-1 M_KJ.
//
// With x_k ≥ ‖M_kJ‖ the second term is at most
//
//	ε = Σ x_k²/gap_k + (Σ x_k ρ_k/gap_k) (Σ x_k²/gap_k²)^(1/2) / (1 - θ),
//
// because (D + O)^-1 = D^-1 - D^-1 O (D + O)^-1 and ‖(D + O)^-1 M_KJ‖ ≤ ‖D^-1 M_KJ‖/(1 - θ). And
// M_JJ = N - (m - c) (I - R_JJ), where Gershgorin's theorem bounds N = S_JJ - c (I - R_JJ). So C is
// positive definite for c - m > (‖N‖ + ε)/(1 - ‖R‖), and negative definite for m - c beyond it.
//
// room is memory that the next call may use.
func (t *state) enclose(c *cluster, room *gapRoom) {
	j := t.order[c.first : c.last+1]
	c.proved = false
	var inner size // ≥ ‖N‖
	c.center = t.d[j[0]]
	if len(j) > 1 {
		c.center = new(big.Float).SetPrec(uint(t.places+33)).Add(t.d[j[0]], t.d[j[len(j)-1]])
		c.center.SetMantExp(c.center, -1)
	}
	center, near := sizeOfBig(c.center), t.near[j[0]]
	if len(j) > 1 {
		near = pairOfBig(c.center)
	}
	for _, i := range j {
		v := t.dLost[i]
		if len(j) > 1 {
			v = v.add(sizeOfBig(new(big.Float).SetPrec(64).Sub(t.d[i], c.center))).times(1.5)
			for _, k := range j {
				if k != i {
					v = v.add(t.boundS(i, k)).add(center.mul(t.boundR(i, k)))
				}
			}
		}
		inner = inner.max(v)
	}
	c.spread = inner
	z, ok := couplings{}, false
	if len(j) == 1 {
		z, ok = t.plainCouplings(j[0], inner, room)
	}
	if !ok {
		if z, ok = t.couplings(j, inner, center, c.center, near, room); !ok {
			return
		}
	}
	lost := inner
	if len(j) == 1 {
		lost = t.dLost[j[0]]
	}
	t.conclude(c, z, lost)
}

// conclude ends enclose, for the couplings of a cluster with the bound spread of N, and a bound
// lost of N beside the couplings.
func (t *state) conclude(c *cluster, z couplings, lost size) {
	inner := c.spread
	c.gap = z.nearest
	theta := z.theta.sqrt()
	if !theta.less(power(-1)) {
		return
	}
	inverse := power(0).add(theta.shifted(1)) // 1/(1 - θ) ≤ 1 + 2 θ
	c.tilt = z.gap.sqrt().mul(inverse)
	eps := z.sum.add(z.row.mul(c.tilt)).add(lost)
	eps = eps.mul(power(0).add(t.alpha.times(1.5))) // 1/(1 - α) ≤ 1 + 4/3 α
	if !z.nearest.zero() && !eps.less(inner.times(1.25).add(z.nearest.shifted(-7))) {
		return
	}
	c.radius, c.proved = eps, true
}

// A gapRoom is memory for the distances from one cluster.
type gapRoom struct {
	sizes  []size
	floats []float64
}

// couplings computes the couplings of the columns j of a cluster, whose center has the bound long
// and the pair near. ok is false if a column is too near.
func (t *state) couplings(j []int, inner, long size, center *big.Float, near pair, room *gapRoom) (z couplings, ok bool) {
	n := t.n
	if room.sizes == nil {
		room.sizes = make([]size, n)
	}
	gaps := room.sizes
	// The interval of m is the center plus or minus inner + 2^-7 gap; 1 - 2^-6 is for gap_k.
	for k := range n {
		if t.of[k] == t.of[j[0]] {
			continue
		}
		g := differ(t.d[k], center, t.near[k], near, t.dSize[k], long).lower(inner.times(1.5))
		if gaps[k] = g; g.zero() {
			return z, false
		}
		if z.nearest.zero() || g.less(z.nearest) {
			z.nearest = g
		}
	}
	most := long.add(inner.times(1.5)).add(z.nearest.shifted(-7)) // ≥ |m|
	for k := range n {
		if t.of[k] == t.of[j[0]] {
			continue
		}
		// |D_kk| ≥ (1 - ‖R‖) |d_k - m| - error ≥ 1/2 of the gap; nearer 1 for small R.
		g := gaps[k].times(1 - 0x1p-6)
		g = g.lower(g.mul(t.alpha)).lower(t.dLost[k].times(1.25))
		if g.zero() {
			return z, false
		}
		var x2 size
		for _, i := range j {
			v := t.boundS(k, i).add(most.mul(t.boundR(k, i)))
			x2 = x2.add(v.mul(v))
		}
		row := t.rowS[k].add(most.mul(t.rowR[k])).over(g)
		x := x2.sqrt().over(g)
		z.sum = z.sum.add(x2.over(g))
		z.gap = z.gap.add(x.mul(x))
		z.row = z.row.add(x2.sqrt().mul(row))
		z.theta = z.theta.add(row.mul(row))
	}
	return z, true
}

// separate divides the columns into clusters, encloses the eigenvalues, and returns the result of
// precise.
func (t *state) separate(p *problem) (right int64, err error) {
	if t.away != nil {
		right, ok, err := t.separateThere()
		if ok || err != nil && !declined(err) {
			return right, err
		}
		t.clusters = nil
		if err := t.bring(p); err != nil {
			return 0, err
		}
	}
	if err := t.couple(); err != nil {
		return 0, err
	}
	return t.precise()
}

// precise returns about how many bits of the eigenvectors and of their norms are right: -log2 of
// the largest entry of the first-order correction E of a pair of columns in different clusters, and
// of the largest entry of R.
func (t *state) precise() (int64, error) {
	n := t.n
	most := make([]size, t.s.Threads)
	if err := par.For(t.s.Ctx, t.s.Threads, n, func(w, j int) {
		z := t.boundR(j, j)
		for i := range j {
			if z = z.max(t.boundR(i, j)); t.of[i] != t.of[j] {
				z = z.max(t.quotient(i, j))
			}
		}
		most[w] = most[w].max(z)
	}); err != nil {
		return 0, err
	}
	z := slices.MaxFunc(most, func(x, y size) int {
		if x.less(y) {
			return -1
		}
		return 1
	})
	if z.zero() {
		return math.MaxInt32, nil
	}
	return -z.e, nil
}
