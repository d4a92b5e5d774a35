package sym

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// ErrSeed says that the columns of approximate eigenvectors are far from orthonormal.
var ErrSeed = errors.New("approximate eigenvectors are not orthonormal")

// Wanted says what is computed.
type Wanted struct {
	Vectors bool
	// First and Last are the positions of the wanted eigenvalues, counted in ascending order from
	// 0, last included.
	First, Last int
	// Above and UpTo restrict them to the eigenvalues λ with Above < λ ≤ UpTo; nil does not.
	Above, UpTo *big.Float
}

// Result has the wanted eigenvalues of a symmetric matrix of order n and their eigenvectors.
type Result struct {
	First   int     // the position of the first one among all eigenvalues
	Values  num.Mat // k x 1, ascending
	Vectors num.Mat // n x k, or without an array
	// Clusters are runs of eigenvalues that are not separated, positions within Values, last
	// included. Their vectors are a basis of a subspace.
	Clusters [][2]int
}

// solver computes the decomposition of 2^shift times the problem p.
type solver struct {
	s     *call.Run
	p     *problem
	n     int
	shift int
	// turned is the exponent of the power of two by which computed eigenvectors are multiplied.
	turned int
	f      num.Format
	want   Wanted

	values  num.Mat
	decided []bool // eigenvalues, by their positions in ascending order
	outside []side // of the interval that is wanted
	below   int    // how many eigenvalues lie below the interval
	null    []nullity
	vectors num.Mat
	columns []column
	left    *left
	zeros   int // how many eigenvalues of CᵀC are proved to be 0
	runs    [][2]int

	round int
	// Eigenvalues, and entries of vectors, are enclosed to about so many bits.
	valueBits, vectorBits int
	last                  int // entries of vectors that are not decided by so many bits are settled
}

// side says whether an eigenvalue lies in the wanted interval.
type side int8

const (
	unknown side = iota
	inside
	outside
)

// nullity is the exact multiplicity of m as an eigenvalue.
type nullity struct {
	m     *big.Float
	count int
}

// Sym returns eigenvalues of a symmetric matrix of finite numbers on the host, and their
// eigenvectors, rounded to format f.
func Sym(s *call.Run, a num.Mat, f num.Format, want Wanted) (Result, error) {
	p := &problem{a: a, raw: true}
	top, err := topOf(s, a)
	if err != nil {
		return Result{}, err
	}
	p.top = int(top)
	if s.Set.Device.Kind != place.CUDA || a.Rows < SeedFrom {
		if _, err := p.normal(s); err != nil {
			return Result{}, err
		}
	}
	e := newSolver(s, p, f, want)
	if e.shift = p.top; e.n == 0 {
		return e.result(), s.Ctx.Err()
	}
	if err := e.checkSeed(); err != nil {
		return Result{}, err
	}
	defer p.release()
	if !want.Vectors {
		defer fewer(s, e.n, 5000)()
	}
	x, err := e.seed()
	if err != nil || x.Arr == nil {
		return e.result(), err
	}
	if err := e.run(x); err != nil {
		return Result{}, err
	}
	return e.result(), nil
}

// seed returns approximate eigenvectors; a matrix without an array if a quick solver has decided
// all wanted eigenvalues.
func (e *solver) seed() (x num.Mat, err error) {
	s := e.s
	done := func() {
		s.Did(e.work().seedTime())
		if e.p.gram {
			s.Stage("float64 singular vectors")
		} else {
			s.Stage("float64 eigenvectors")
		}
	}
	x, err = e.p.there.seed(s, e.p)
	if !declined(err) {
		if err == nil && x.Arr == nil {
			x = unitSeed(e.n)
		}
		done()
		return x, err
	}
	a, err := e.p.normal(s)
	if err != nil {
		return num.Mat{}, err
	}
	var v []float64
	var order []int
	if e.p.gram {
		v, err = singularSeed(s, a)
		order = call.All(e.n)
	} else {
		v, order, err = floatSeed(s, a)
	}
	if err != nil {
		return num.Mat{}, err
	}
	done()
	if done, err := e.quickly(v); done || err != nil {
		return num.Mat{}, err
	}
	return fromSeed(s, v, order, e.n)
}

// quickly rounds the eigenvalues that a quick solver decides, for float64 eigenvectors v that are
// stored by rows, in any order. It reports whether no wanted eigenvalue is left.
func (e *solver) quickly(v []float64) (bool, error) {
	// 50 values at a time are decided but for one time in 100.
	valueBits := e.f.Bits() + 14
	words, set := (valueBits/2+24+63)/64, e.s.Set
	if v == nil || e.n > quickWork || words > quickWords || e.want.Vectors || e.p.b.Arr != nil ||
		set.Device.Kind == place.CUDA || set.Method != product.Auto || set.Check {
		return false, nil
	}
	a := e.p.a
	if e.p.gram {
		if top, low := ziv.Span(a); 2*(top-low) > int64(64*quickWork/e.n) {
			return false, nil
		}
		var err error
		if a, err = e.p.square(e.s); err != nil {
			return false, err
		}
	}
	q := newQuick(e.s, a, v, words)
	if q == nil {
		return false, nil
	}
	defer q.release()
	// A step of about 40 bits takes two parts, and the beginning and the end one each.
	part := call.Cube(e.n) * float64(q.la)
	e.s.Plan(part * float64(4+max(0, valueBits-seedRight)/40))
	if ok, err := q.start(); !ok || err != nil {
		return false, err
	}
	e.s.Did(part)
	last := int64(math.MaxInt64)
	for round := 1; ; round++ {
		if err := q.residuals(); err != nil {
			return false, err
		}
		e.s.Did(part)
		now := slices.MaxFunc(q.norm, compareSizes).e
		stalled := now > last-8
		last = now
		radii, enough := q.radii(valueBits)
		if radii != nil && (enough || stalled) {
			e.round = round
			e.s.Stats.Steps, e.s.Stats.Precision = round, valueBits
			e.s.Stage("products")
			t, err := enclosed(e.s, q, radii)
			if err != nil {
				return false, err
			}
			e.s.Did(part)
			if _, err := e.roundValues(t); err != nil {
				return false, err
			}
			e.s.Did(part)
			e.s.Stage("rounding")
			if !e.valuesOpen() {
				return true, nil
			}
			valueBits += 64
		}
		if stalled {
			return false, nil
		}
		if ok, err := q.improve(); !ok || err != nil {
			return false, err
		}
		e.s.Did(part)
	}
}

// enclosed returns a state that has the enclosures of q.
func enclosed(s *call.Run, q *quick, radii []size) (*state, error) {
	t := &state{s: s, n: q.n, order: call.All(q.n)}
	centers, wide, err := q.enclosures(radii)
	for p, center := range centers {
		t.clusters = append(t.clusters, cluster{first: p, last: p, center: center, radius: wide[p], proved: true})
	}
	return t, err
}

// General is Sym for A x = λ B x, with approximate eigenvectors x. Xᵀ B X must be near the unit
// matrix, which proves that B is positive definite; if it is not, the error is ErrSeed.
func General(s *call.Run, a, b, x num.Mat, f num.Format, want Wanted) (Result, error) {
	a, shift, err := normalized(s, a, false)
	if err != nil {
		return Result{}, err
	}
	b, by, err := normalized(s, b, true)
	if err != nil {
		return Result{}, err
	}
	e := newSolver(s, &problem{a: a, b: b}, f, want)
	if e.shift, e.turned = shift-by, -by/2; e.n == 0 {
		return e.result(), s.Ctx.Err()
	}
	scaling := scale.Unscaled(x.Rows, x.Cols)
	for i := range scaling.Rows {
		scaling.Rows[i] = int64(by / 2)
	}
	if x = call.Scaled(x, scaling, bound.MaxBits); x.Arr == nil {
		return Result{}, fmt.Errorf("exponents of B: %w", call.ErrRange)
	}
	if err := e.run(x); err != nil {
		return Result{}, err
	}
	return e.result(), nil
}

// normalized returns 2^-shift A with entries below 1. If even is set, shift is even.
func normalized(s *call.Run, a num.Mat, even bool) (z num.Mat, shift int, err error) {
	top, err := topOf(s, a)
	if err != nil {
		return z, 0, err
	}
	if even {
		top += top & 1
	}
	by := scale.Unscaled(a.Rows, a.Cols)
	for i := range by.Rows {
		by.Rows[i] = -top
	}
	bits := max(a.Format().Bits(), num.MinPrec)
	if a.Arr.Terms() > 1 || bits > bound.MaxBits { // numbers may have fewer bits than their format
		if z = call.Scaled(a, by, bound.MaxBits); z.Arr == nil {
			return z, 0, errExponents
		}
		return z, int(top), nil
	}
	z = num.NewMat(num.Precision(uint(bits)), a.Rows, a.Cols)
	const some = 16 // columns a task
	var failed atomic.Bool
	err = par.For(s.Ctx, s.Threads, (a.Cols+some-1)/some, func(_, part int) {
		first, to := part*some, min((part+1)*some, a.Cols)
		room := func(num.Format, int, int) num.Mat { return z.Slice(0, a.Rows, first, to) }
		of := scale.Scaling{Rows: by.Rows, Cols: by.Cols[first:to]}
		if call.Arranged(a.Slice(0, a.Rows, first, to), of, nil, bound.MaxBits, room).Arr == nil {
			failed.Store(true)
		}
	})
	if err == nil && failed.Load() {
		err = errExponents
	}
	return z, int(top), err
}

var errExponents = fmt.Errorf("exponents of a matrix: %w", call.ErrRange)

// topOf returns the least e such that all entries of a are below 2^e; 0 for zeros.
func topOf(s *call.Run, a num.Mat) (int64, error) {
	const none = math.MinInt64
	tops := make([]int64, max(1, s.Threads))
	for w := range tops {
		tops[w] = none
	}
	err := par.For(s.Ctx, s.Threads, a.Cols, func(w, j int) {
		top := tops[w]
		for i := range a.Rows {
			if c, t, _ := a.Arr.Span(a.At(i, j)); c == num.Finite {
				top = max(top, t)
			}
		}
		tops[w] = top
	})
	if top := slices.Max(tops); top != none {
		return top, err
	}
	return 0, err
}

func newSolver(s *call.Run, p *problem, f num.Format, want Wanted) *solver {
	n := p.a.Cols
	e := &solver{s: s, p: p, n: n, f: f, want: want, values: num.NewMat(f, n, 1), decided: make([]bool, n), outside: make([]side, n)}
	e.valueBits = f.Bits() + ziv.Guard(n)
	e.vectorBits, e.last = e.valueBits, lastTimes*f.Bits()+lastBits
	for p := range n {
		switch {
		case p < want.First || p > want.Last:
			e.outside[p] = outside
		case want.Above == nil && want.UpTo == nil:
			e.outside[p] = inside
		}
	}
	if want.Vectors {
		e.vectors = num.NewMat(f, n, n)
		e.columns = make([]column, n)
	}
	return e
}

// result returns the wanted part of the spectrum.
func (e *solver) result() Result {
	first, last := 0, e.n-1
	for first < e.n && e.outside[first] == outside {
		first++
	}
	for last >= first && e.outside[last] == outside {
		last--
	}
	if last < first { // all lie outside
		first = max(e.below, e.want.First)
		last = first - 1
	}
	z := Result{First: first, Values: e.values.Slice(first, last+1, 0, 1)}
	if e.columns != nil {
		z.Vectors = e.vectors.Slice(0, e.n, first, last+1)
	}
	for _, c := range e.runs {
		if lo, hi := max(c[0], first), min(c[1], last); lo <= hi {
			z.Clusters = append(z.Clusters, [2]int{lo - first, hi - first})
		}
	}
	return z
}

// mostRounds bounds the rounds of a decomposition. Each of them doubles the bits that are right, or
// tells eigenvalues apart that are 2^-45 as far from each other as the ones before.
const mostRounds = 1 << 12

// run computes everything that is wanted, beginning with the approximate eigenvectors x.
func (e *solver) run(x num.Mat) error {
	s, n := e.s, e.n
	defer e.p.release()
	defer fewer(s, n, 2000)()
	guard := ziv.Guard(n)
	bits, settling := x.Format().Bits(), false
	places := max(128, 2*bits)
	// X should have expected right bits. As rounding to bits bits spoils some of them, X has loss
	// more bits. A round that separates eigenvalues begins anew with the bits of
	// float64.
	expected, loss, parts := int64(0), 0, 0
	e.plan(0, first(bits))
	var t *state
	var d num.Mat
	defer func() { // after errors
		if t != nil && t.away != nil {
			t.freeAway()
		}
		for _, m := range []num.Mat{x, d} {
			if m.Arr != nil && !m.OnHost() {
				m.Free()
			}
		}
	}()
	for e.round = 1; ; e.round++ {
		if e.round > mostRounds {
			return call.Contradiction("eigenvalues do not converge")
		}
		var err error
		if t, err = e.p.products(s, x, places); err != nil {
			return err
		}
		right, err := t.separate(e.p)
		if err != nil {
			return err
		}
		s.Did(e.work().entries(measureCost))
		s.Stats.Steps, s.Stats.Precision = e.round, int(min(2*right, int64(max(e.valueBits, e.vectorBits))))
		s.Stage("products")
		missing, err := e.roundValues(t)
		if err != nil {
			return err
		}
		d = num.Mat{}
		if right2 := 2*right + 8; e.vectorsOpen() && right2 >= int64(e.vectorBits) {
			wide := int(max(24, int64(e.vectorBits)-right+slack))
			if d, err = t.correction(e.p, wide); err != nil {
				return err
			}
			if d, err = e.decideVectors(t, d, wide, settling); err != nil {
				return err
			}
			switch {
			case e.vectorBits < e.last:
				e.vectorBits = min(2*e.vectorBits, e.last)
			case settling:
				e.vectorBits *= 2
			}
			// From now on eigenvalues are as well separated as they will be.
			settling = e.vectorBits >= e.last
		}
		s.Stage("rounding")
		need := 0
		if e.valuesOpen() {
			if 2*right+8 >= int64(e.valueBits) {
				e.valueBits += min(max(missing, 32), 4*e.valueBits)
			}
			need = e.valueBits / 2
		}
		if e.vectorsOpen() {
			need = max(need, e.vectorBits/2)
		}
		if need == 0 {
			t.release()
			drop(s, d)
			return nil
		}
		if need > bound.MaxBits/4 {
			return fmt.Errorf("eigenvalues in %d bits: %w", 2*need, call.ErrMemory)
		}
		if len(t.clusters) == parts && right < expected {
			loss += int(expected - right)
		}
		// The last of the rounds that double the bits is to end at need.
		for int64(need) > max(2*right, 53-slack) {
			need = (need+1)/2 + 4
		}
		need += slack
		if e.round == 1 {
			// Columns of random matrices of order 1000 with 53 bits, rounded, have 7 to 10 more
			// right bits than the columns of a seed.
			loss = max(0, 53-slack-8-int(max(0, right)))
		}
		bits = max(bits, need+loss)
		next := round{right: min(2*right, int64(need)) - 8, x: bits, places: max(places, 2*bits+guard)}
		e.plan(call.ProductOf(n, n, n, max(24, bits-int(right)+slack)), next)
		if err := e.checkMemory(next, float64(call.MatrixBytes(t.x.Format(), n, n)+2*call.MatrixBytes(t.sm.Format(), n, n))); err != nil {
			return err
		}
		expected, parts = min(2*right, int64(need))-8, len(t.clusters)
		if d.Arr == nil {
			if d, err = t.correction(e.p, int(max(24, int64(bits)-right+slack))); err != nil {
				return err
			}
		}
		if x, err = t.improve(e.p, d, bits); err != nil {
			return err
		}
		t.release()
		places = next.places
		s.Stage("improvement")
	}
}

// fewer limits the threads of s for a small order n, until the returned function is called. A
// thread is worth its start from some entries of a matrix on. About 2000 for vectors: with 16
// threads on two cores, singular vectors of order 50 took 13 ms, with one 8 ms. For values alone
// 5000: with 2 threads, eigenvalues of order 50 took 0.07 to 0.1 of processor time more than with
// one.
func fewer(s *call.Run, n, entries int) (end func()) {
	own, products := s.Threads, s.Set.Threads
	s.Threads, s.Set.Threads = min(own, 1+n*n/entries), min(products, 1+n*n/entries)
	return func() { s.Threads, s.Set.Threads = own, products }
}

// decideVectors rounds the entries of vectors that the enclosure X + D decides, for D of the given
// bits, and with settling also the others. It returns D, which is on the host if X is.
func (e *solver) decideVectors(t *state, d num.Mat, wide int, settling bool) (num.Mat, error) {
	links := e.links(t)
	if t.away != nil && !settling {
		far, pull, err := t.distances(wide)
		ok := err == nil && far != nil
		if ok {
			ok, err = e.decideThere(t, links, d, far)
		}
		if ok && e.left != nil {
			ok, err = e.decideLeftThere(t, links, d, pull)
		}
		if ok || err != nil && !declined(err) {
			return d, err
		}
	}
	if t.away != nil {
		var err error
		if d, err = t.brought(e.p, d); err != nil {
			return d, err
		}
		links = e.links(t) // the host may join clusters
	}
	far, pull, err := t.distances(wide)
	if err != nil {
		return d, err
	}
	return d, e.decideHere(t, links, d, far, pull, settling)
}

// decideHere is decideVectors on the host, with the errors far and pull of distances.
func (e *solver) decideHere(t *state, links []link, d num.Mat, far, pull []size, settling bool) error {
	y := e.enclosure(t, d, far)
	if err := e.findSigns(t, links, y); err != nil {
		return err
	}
	if err := e.roundColumns(t, links, y, far, e.vectors, e.columns); err != nil {
		return err
	}
	var l *leftSide
	if e.left != nil {
		var err error
		if l, err = e.leftEnclosure(t, y, pull); err != nil {
			return err
		}
		defer t.s.Drop(l.y.X, l.y.D)
		if err := e.roundColumns(t, links, l.y, l.far, e.left.vectors, e.left.columns); err != nil {
			return err
		}
	}
	if !settling || e.left != nil && e.valuesOpen() {
		return nil
	}
	if err := e.settle(t, links, y, far); err != nil || l == nil {
		return err
	}
	return e.settleLeft(t, links, l)
}

// work describes the rounds.
func (e *solver) work() work {
	w := work{
		m: e.p.a.Rows, n: e.n, a: e.p.a.Format(), gram: e.p.gram, hasB: e.p.b.Arr != nil,
		vectors: e.vectorsOpen(), left: e.left != nil, bits: e.valueBits, vectorBits: e.vectorBits,
	}
	if w.hasB {
		w.b = e.p.b.Format()
	}
	if w.vectors {
		w.bits = max(w.bits, w.vectorBits)
	}
	return w
}

// plan plans the rounds ahead for the report of progress, from one with the given bits on, and work
// before them.
func (e *solver) plan(before float64, r round) {
	if e.s.Work.Report == nil {
		return
	}
	w, total := e.work(), before
	for _, r := range w.rounds(r) {
		total += w.cost(r)
	}
	e.s.Plan(total)
}

// checkMemory returns an error that wraps halfulp.ErrMemory if the rounds ahead need more memory
// than is allowed, beside used bytes that are counted already.
func (e *solver) checkMemory(r round, used float64) error {
	return e.s.Budget.Check(e.work().most(r) - used)
}

// checkSeed is checkMemory before the seed, whose float64 matrices take memory as well.
func (e *solver) checkSeed() error {
	m, n := float64(e.p.a.Rows), float64(e.n)
	if err := e.s.Budget.Check(8 * n * (2*m + 4*n)); err != nil { // may fuse: an estimate
		return err
	}
	if err := e.checkMemory(first(53), 0); err != nil {
		return err
	}
	e.plan(e.work().seedTime(), first(53))
	return nil
}

// CheckGeneral returns an error that wraps halfulp.ErrMemory if General needs more memory than is
// allowed.
func CheckGeneral(s *call.Run, a, b num.Mat, f num.Format, want Wanted) error {
	return newSolver(s, &problem{a: a, b: b}, f, want).checkMemory(first(64), 0)
}

// valuesOpen reports whether a wanted eigenvalue is not decided.
func (e *solver) valuesOpen() bool {
	for p, d := range e.decided {
		if e.outside[p] == unknown || e.outside[p] == inside && !d {
			return true
		}
	}
	return false
}

// vectorsOpen reports whether an entry of a wanted eigenvector is not decided.
func (e *solver) vectorsOpen() bool {
	for p := range e.columns {
		if e.outside[p] != outside && !e.columns[p].done {
			return true
		}
	}
	return e.leftOpen()
}

// roundValues rounds the eigenvalues whose enclosures decide them, and proves ties and zeros. It
// returns how many bits are missing for the others.
func (e *solver) roundValues(t *state) (missing int, err error) {
	if err := e.findEnds(t); err != nil {
		return 0, err
	}
	ends := num.New(e.f, 2*len(t.clusters)) // rounded
	if err := par.For(t.s.Ctx, t.s.Threads, len(t.clusters), func(_, i int) {
		if c := &t.clusters[i]; e.wanted(c) && !(e.decided[c.first] && e.decided[c.last]) {
			ends.Set(2*i, num.RealOf(c.lo))
			ends.Set(2*i+1, num.RealOf(c.hi))
		}
	}); err != nil {
		return 0, err
	}
	for i := range t.clusters {
		c := &t.clusters[i]
		lo, hi := e.ends(c)
		open, err := e.compare(t, c, lo, hi)
		if err != nil {
			return 0, err
		}
		if open {
			missing = max(missing, 64)
		}
		if !e.wanted(c) || e.decided[c.first] && e.decided[c.last] {
			continue
		}
		lower := ends.Scalar(2 * i)
		if ends.SameBits(2*i, ends, 2*i+1) {
			e.set(c, lower, lo, hi)
			continue
		}
		m, spacing := ziv.Tie(lower, ends.Scalar(2*i+1))
		tie, expansion := m != nil, e.values.Arr.Terms() > 1
		if !tie && expansion {
			m, spacing = e.short(lo, hi)
		}
		if m != nil {
			equal, err := e.tied(t, c, m, spacing)
			if err != nil {
				return 0, err
			}
			if equal != nil {
				z := num.NewScalar(e.f, new(big.Float).Copy(m))
				for _, o := range equal {
					e.set(o, z, m, m)
				}
				if tie {
					e.s.Stats.Ties++
				}
				continue
			}
		}
		more := int(c.radius.e-sizeOfBig(c.center).e) + e.f.Bits() + 8
		if lo.Sign()*hi.Sign() <= 0 || expansion && more <= 8 {
			missing = max(missing, e.valueBits)
		} else {
			missing = max(missing, 8, more)
		}
	}
	return missing, nil
}

// short returns a number m of as many bits as the format has in the interval [lo, hi], and the
// distance of such numbers; nil if there is none. The next expansions beside m may be as near to it
// as the smallest float64 number, so narrow intervals around an eigenvalue m do not decide it.
func (e *solver) short(lo, hi *big.Float) (m, spacing *big.Float) {
	m = new(big.Float).SetPrec(uint(e.f.Bits())).Add(lo, hi)
	m.SetMantExp(m, -1)
	if m.Sign() == 0 || m.Cmp(lo) < 0 || m.Cmp(hi) > 0 {
		return nil, nil
	}
	return m, new(big.Float).SetMantExp(big.NewFloat(1), m.MantExp(nil)-e.f.Bits())
}

// ends returns the ends of the interval of a cluster, which must not be changed.
func (e *solver) ends(c *cluster) (lo, hi *big.Float) {
	if c.lo == nil {
		c.lo, c.hi = e.intervalOf(c)
	}
	return c.lo, c.hi
}

// intervalOf returns the ends of the interval of a cluster, of eigenvalues or singular values.
func (e *solver) intervalOf(c *cluster) (lo, hi *big.Float) {
	r := c.radius.big()
	p := c.center.Prec() + 64
	if !c.radius.zero() && c.center.Sign() != 0 {
		p = min(p, uint(max(int64(64), int64(c.center.MantExp(nil))-c.radius.e+128)))
	}
	lo = new(big.Float).SetPrec(p).SetMode(big.ToNegativeInf).Sub(c.center, r)
	hi = new(big.Float).SetPrec(p).SetMode(big.ToPositiveInf).Add(c.center, r)
	if e.p.gram {
		root := interval.Prec(p).Sqrt(interval.Interval{Lo: lo, Hi: hi})
		if lo.Sign() <= 0 { // it may be 0
			root.Lo = new(big.Float).Neg(root.Hi)
		}
		lo, hi = root.Lo, root.Hi
	}
	return lo.SetMantExp(lo, e.shift), hi.SetMantExp(hi, e.shift)
}

// set stores the eigenvalues of a cluster, which lie in [lo, hi] and round to z.
func (e *solver) set(c *cluster, z num.Scalar, lo, hi *big.Float) {
	for p := c.first; p <= c.last; p++ {
		if e.outside[p] != outside && !e.decided[p] {
			ziv.LeavesRange(e.s, z, lo, hi)
		}
		e.values.SetEntry(p, 0, z)
		e.decided[p] = true
	}
}

// wanted reports whether an eigenvalue of a cluster may be wanted.
func (e *solver) wanted(c *cluster) bool { return e.anyWanted(c.first, c.last) }

// anyWanted reports whether an eigenvalue at the positions first to last may be wanted.
func (e *solver) anyWanted(first, last int) bool {
	for p := first; p <= last; p++ {
		if e.outside[p] != outside {
			return true
		}
	}
	return false
}

// compare finds out on which side of the ends of the wanted interval the eigenvalues of a cluster
// lie. It reports whether that is still open.
func (e *solver) compare(t *state, c *cluster, lo, hi *big.Float) (open bool, err error) {
	for _, m := range []*big.Float{e.want.Above, e.want.UpTo} {
		if m == nil || !e.wanted(c) || lo.Cmp(m) > 0 && m == e.want.Above || hi.Cmp(m) <= 0 && m == e.want.UpTo {
			continue
		}
		beyond := lo.Cmp(m) > 0 || hi.Cmp(m) <= 0
		if !beyond {
			equal, err := e.tied(t, c, m, new(big.Float).SetMantExp(big.NewFloat(1), e.shift))
			if err != nil {
				return false, err
			}
			if equal == nil {
				return true, nil
			}
			beyond = m == e.want.Above
		}
		if beyond {
			for p := c.first; p <= c.last; p++ {
				if m == e.want.Above && e.outside[p] != outside {
					e.below++
				}
				e.outside[p] = outside
			}
		}
	}
	for p := c.first; p <= c.last; p++ {
		if e.outside[p] == unknown {
			e.outside[p] = inside
		}
	}
	return false, nil
}

// tied returns the clusters whose eigenvalues are all proved to be the number m, among them c, or
// nil. The multiplicity of m is n minus the rank of A - m I; the eigenvalues are m if exactly as
// many lie in the intervals that contain m. It takes time, so it is only tried if the interval of c
// is by far narrower than spacing.
func (e *solver) tied(t *state, c *cluster, m, spacing *big.Float) ([]*cluster, error) {
	lo, hi := e.ends(c)
	width := new(big.Float).SetMode(big.ToPositiveInf).SetPrec(64).Sub(hi, lo)
	if m.Sign() == 0 {
		if width.Sign() != 0 && width.MantExp(nil) > e.shift-60 && e.round < 3 {
			return nil, nil
		}
	} else if width.SetMantExp(width, ziv.Suspicion).Cmp(spacing) > 0 {
		return nil, nil
	}
	count, err := e.nullity(m)
	if err != nil || count == 0 {
		return nil, err
	}
	var equal []*cluster
	for i := range t.clusters {
		o := &t.clusters[i]
		if lo, hi := e.ends(o); lo.Cmp(m) <= 0 && m.Cmp(hi) <= 0 {
			equal = append(equal, o)
			count -= o.count()
		}
	}
	if count != 0 {
		return nil, nil
	}
	if m.Sign() == 0 {
		for _, k := range e.null {
			if k.m.Sign() == 0 {
				e.zeros = k.count
			}
		}
	}
	e.s.Stats.Exact += int64(len(equal))
	return equal, nil
}

// nullity returns the multiplicity of m as an eigenvalue of A.
func (e *solver) nullity(m *big.Float) (int, error) {
	for _, k := range e.null {
		if k.m.Cmp(m) == 0 {
			return k.count, nil
		}
	}
	v := new(big.Float).Copy(m)
	v.SetMantExp(v, -e.shift)
	if e.p.gram {
		v = new(big.Float).SetPrec(2*m.MinPrec()+2).Mul(v, v)
	}
	count, err := e.p.nullity(e.s, v)
	if err != nil {
		return 0, err
	}
	e.null = append(e.null, nullity{new(big.Float).Copy(m), count})
	return count, nil
}
