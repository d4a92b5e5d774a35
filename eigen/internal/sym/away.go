package sym

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// away is the part of a state whose matrices S, R and X are on a GPU. While every column is a
// cluster of its own, and all numbers are in the range of plain, the GPU does all work on entries,
// with the formulas of plain. Otherwise [state.bring] copies the matrices to the host, which goes
// on with them.
type away struct {
	there  *there
	here   num.Mat // X on the host, if it came from there
	bounds place.Residuals
	own    []size // bounds of the diagonal of R
}

// diagonalOf returns the diagonal of a square matrix as a column.
func diagonalOf(m num.Mat) num.Mat {
	m.RS, m.Cols = m.RS+m.CS, 1
	return m
}

// freeAway frees what is on the GPU. X of the host remains.
func (t *state) freeAway() {
	for _, m := range []num.Mat{t.sm, t.r, t.x} {
		free(m)
	}
	t.sm, t.r, t.x = num.Mat{}, num.Mat{}, t.away.here
	t.freeBounds()
	t.away = nil
}

func (t *state) freeBounds() {
	if b := t.away.bounds; b != nil {
		b.Free()
		t.away.bounds = nil
	}
}

// bring copies S, R and X to the host and bounds them there.
func (t *state) bring(p *problem) error {
	h := t.away.there
	sm, err := h.fetched(t.s, t.sm)
	if err != nil {
		return err
	}
	r, err := h.fetched(t.s, t.r)
	if err != nil {
		return err
	}
	x := t.away.here
	if x.Arr == nil {
		if x, err = h.fetched(t.s, t.x); err != nil {
			return err
		}
	}
	t.freeAway()
	t.sm, t.r, t.x = sm, r, x
	return t.measure(p)
}

// brought is bring for a state whose columns were divided into clusters, and for a correction D.
func (t *state) brought(p *problem, d num.Mat) (num.Mat, error) {
	if t.away == nil {
		return d, nil
	}
	h := t.away.there
	if err := t.bring(p); err != nil {
		return d, err
	}
	if err := t.couple(); err != nil { // which keeps clusters that are proved
		return d, err
	}
	if d.Arr == nil || d.OnHost() {
		return d, nil
	}
	defer d.Free()
	return h.fetched(t.s, d)
}

// measureThere is measure on the GPU. It is not ok if that is not possible.
func (t *state) measureThere() (ok bool, err error) {
	h := t.away.there
	gpu, there := place.Part[place.Spectra](h.at)
	if ok = there && t.lostR == nil && t.n > 1 && t.n >= SeedFrom; !ok {
		return false, nil
	}
	longS, lostS := plainlyAll(t.longS, &ok), plainlyAll(t.lostS, &ok)
	if !ok {
		return false, nil
	}
	b, sums, ok, err := gpu.Residuals(t.s.Config(), t.sm, t.r, longS, lostS)
	if err != nil {
		return false, err
	}
	t.away.bounds = b
	if !ok {
		return false, nil
	}
	n := t.n
	raised := t.raised()
	t.rowS, t.rowR, t.away.own = make([]size, n), make([]size, n), make([]size, n)
	squares := make([]size, n)
	for j := range n {
		t.rowS[j], t.rowR[j], t.away.own[j] = sized(sums[j]*raised).sqrt(), sized(sums[j+n]*raised).sqrt(), sized(sums[j+2*n])
		squares[j] = sized((sums[j+n] + float64(sums[j+2*n]*sums[j+2*n])) * raised)
	}
	sd, err := h.diagonal(t.s, t.sm)
	if err != nil {
		return false, err
	}
	rd, err := h.diagonal(t.s, t.r)
	if err != nil {
		return false, err
	}
	return true, t.rayleigh(squares, sd, rd)
}

// raised is the factor by which sums of n positive numbers in float64 arithmetic are enlarged.
func (t *state) raised() float64 { return 1 + float64(float64(t.n+64)*0x1p-52) }

// diagonal copies the diagonal of a matrix in MP to the host.
func (h *there) diagonal(s *call.Run, m num.Mat) (num.Mat, error) {
	gpu, ok := place.Part[place.Newton](h.at)
	if !ok {
		return num.Mat{}, place.ErrUnsupported
	}
	z, err := h.room(s, m.Format(), m.Rows, 1)
	if err != nil {
		return z, err
	}
	defer z.Free()
	odd, err := gpu.Shift(s.Config(), diagonalOf(m), nil, nil, z, nil)
	if err == nil && odd > 0 { // exponents beyond 2^29
		err = place.ErrUnsupported
	}
	if err != nil {
		return num.Mat{}, err
	}
	return h.at.Get(s.Ctx, z)
}

// separateThere finds out whether every column is a cluster of its own, encloses the eigenvalues,
// and returns the result of precise. It is not ok if the host has to do so.
func (t *state) separateThere() (right int64, ok bool, err error) {
	n := t.n
	ok = true
	all := func(x []size) []float64 { return plainlyAll(x, &ok) }
	q := place.Quotients{
		Hi: make([]float64, n), Lo: make([]float64, n), Last: make([]float64, n),
		Size: all(t.dSize), Lost: all(t.dLost), RowS: all(t.rowS), RowR: all(t.rowR),
	}
	alpha, in := t.alpha.plainly()
	q.Alpha = alpha
	if !ok || !in {
		return 0, false, nil
	}
	if err := par.For(t.s.Ctx, t.s.Threads, n, func(_, i int) {
		x := t.near[i]
		if x.hi == 0 {
			return
		}
		f := math.Float64frombits(uint64(1023+x.e) << 52)
		q.Hi[i], q.Lo[i] = float64(x.hi*f), float64(x.lo*f)
		rest := new(big.Float).SetPrec(t.d[i].Prec())
		rest.Sub(t.d[i], big.NewFloat(q.Hi[i]))
		q.Last[i], _ = rest.Sub(rest, big.NewFloat(q.Lo[i])).Float64()
	}); err != nil {
		return 0, false, err
	}
	lists, ok, err := t.away.bounds.Couplings(t.s.Config(), q)
	if err != nil || !ok {
		return 0, false, err
	}
	t.of, t.clusters = make([]int, n), make([]cluster, n)
	largest, raised := 0.0, t.raised()
	for p, i := range t.order {
		largest = max(largest, lists[0][i])
		var sums [4]float64
		for k := range sums { // terms below 2^-1022 may be 0
			sums[k] = lists[2+k][i] + 0x1p-980
			if !(sums[k] < math.Inf(1)) {
				return 0, false, nil
			}
		}
		t.of[i] = p
		c := &t.clusters[p]
		*c = cluster{first: p, last: p, center: t.d[i], spread: t.dLost[i]}
		z := couplings{sized(sums[0] * raised), sized(sums[1] * raised), sized(sums[2] * raised), sized(sums[3] * raised), sized(lists[1][i])}
		if t.conclude(c, z, t.dLost[i]); !c.proved {
			return 0, false, nil
		}
	}
	if largest == 0 {
		return math.MaxInt32, true, nil
	}
	return -sized(largest).e, true, nil
}

// correctionThere is correction on the GPU, where the result is.
func (t *state) correctionThere(bits int) (d num.Mat, ok bool, err error) {
	h, f := t.away.there, call.MP(bits)
	e, err := h.room(t.s, f, t.n, t.n)
	if err != nil {
		return d, false, err
	}
	defer e.Free()
	if ok, err := t.away.bounds.Correction(t.s.Config(), e); err != nil || !ok {
		return d, false, err
	}
	if d, err = h.room(t.s, f, t.n, t.n); err != nil {
		return d, false, err
	}
	if err := t.s.Gemm(1, t.x, e, 0, num.Mat{}, d); err != nil {
		d.Free()
		return num.Mat{}, false, err
	}
	return d, true, nil
}

// improvedThere is improved on the GPU, where the result is.
func (t *state) improvedThere(d num.Mat, bits int) (x num.Mat, ok bool, err error) {
	h := t.away.there
	gpu, ok := place.Part[place.Newton](h.at)
	if !ok || d.OnHost() {
		return x, false, nil
	}
	if x, err = h.room(t.s, call.MP(bits), t.n, t.n); err != nil {
		return x, false, err
	}
	left, err := gpu.Sum(t.s.Config(), place.Sum{X: t.x, D: d, Bits: bits}, x)
	if err != nil || left > 0 {
		x.Free()
		return num.Mat{}, false, err
	}
	return x, true, nil
}

// distancesThere is the sums of distances on the GPU: of the squares, and the terms of pull.
func (t *state) distancesThere(cut size) (sums, pull []size, ok bool, err error) {
	n := t.n
	radius, tilt := make([]float64, n), make([]float64, n)
	base, ok := cut.plainly()
	for j := range n {
		c := &t.clusters[t.of[j]]
		r, in := c.radius.plainly()
		z, in2 := c.tilt.plainly()
		radius[j], tilt[j], ok = r, z, ok && in && in2
	}
	image := plainlyAll(t.image, &ok)
	if !ok {
		return nil, nil, false, nil
	}
	list, ok, err := t.away.bounds.Distances(t.s.Config(), radius, tilt, image, base)
	if err != nil || !ok {
		return nil, nil, false, err
	}
	sums, pull = make([]size, n), make([]size, n)
	for j := range n {
		x, y := list[0][j], list[2][j]
		if list[1][j] > 0 { // terms below 2^-1022 may be 0
			x += 0x1p-980
			if image != nil {
				y += 0x1p-980
			}
		}
		if !(x < math.Inf(1) && y < math.Inf(1)) {
			return nil, nil, false, nil
		}
		sums[j], pull[j] = sized(x*t.raised()), sized(y*t.raised())
	}
	return sums, pull, true, nil
}

// decideThere rounds all wanted vectors on the GPU, for X + D with errors far. It is not ok, and
// stores nothing, unless that decides all entries.
func (e *solver) decideThere(t *state, links []link, d num.Mat, far []size) (ok bool, err error) {
	h := t.away.there
	gpu, ok := place.Part[place.Spectra](h.at)
	if !ok || d.OnHost() {
		return false, nil
	}
	y := e.enclosure(t, d, far)
	signs, err := gpu.Signs(t.s.Config(), t.x, d, y.Err)
	if err != nil {
		return false, err
	}
	if ok, err = e.roundThere(t, links, y, signs, e.vectorBits, e.vectors, e.columns); err != nil || !ok {
		return false, err
	}
	for p, j := range t.order {
		e.columns[p].negated = int(signs[j])
	}
	return true, nil
}

// roundThere rounds the wanted columns of X + D, which are on the GPU, into z of the host, with the
// given signs. It is not ok, and stores nothing, unless the errors decide all entries.
//
// A decided entry exceeds its error, 2^Err, and is not replaced by 0 if that exceeds least.
func (e *solver) roundThere(t *state, links []link, y *bound.Nearly, signs []int32, bits int, z num.Mat, columns []column) (ok bool, err error) {
	h := t.away.there
	gpu, ok1 := place.Part[place.Spectra](h.at)
	newton, ok2 := place.Part[place.Newton](h.at)
	fetcher, ok3 := place.Part[place.Fetcher](h.at)
	if !ok1 || !ok2 || !ok3 {
		return false, nil
	}
	order, negated := make([]int32, t.n), make([]int32, t.n)
	for p, j := range t.order {
		order[p], negated[p] = int32(j), signs[j]
		if v := &columns[p]; e.outside[p] != outside &&
			(v.done || v.open != nil || !single(links, p) || y.Err[j]+y.Right[j] < e.least()+8 || signs[j] == 0) {
			return false, nil
		}
	}
	rounded, err := h.room(t.s, e.f, z.Rows, t.n)
	if err != nil {
		return false, err
	}
	defer rounded.Free()
	left, err := newton.Sum(t.s.Config(), place.Sum{X: y.X, D: y.D, Bits: bits, Errors: y.Err, Cols: y.Right}, rounded)
	if err != nil || left > 0 {
		return false, err
	}
	sorted, err := h.room(t.s, e.f, z.Rows, t.n)
	if err != nil {
		return false, err
	}
	defer sorted.Free()
	if err := gpu.Columns(t.s.Config(), rounded, order, negated, sorted); err != nil {
		return false, err
	}
	if err := fetcher.Fetch(t.s.Config(), z, sorted); err != nil {
		return false, err
	}
	for p := range columns {
		columns[p].done = columns[p].done || e.outside[p] != outside
	}
	return true, nil
}

// decideLeftThere rounds all wanted left vectors on the GPU, as leftEnclosure does it on the host.
// It is not ok, and stores nothing, unless that decides all entries, and there are no vectors
// beside σ = 0.
func (e *solver) decideLeftThere(t *state, links []link, d num.Mat, pull []size) (ok bool, err error) {
	s, h, n, m := e.s, t.away.there, e.n, e.p.a.Rows
	newton, ok := place.Part[place.Newton](h.at)
	if !ok || e.zeros > 0 || e.left.more > 0 {
		return false, nil
	}
	bits := e.vectorBits + 8
	frobenius, err := e.frobenius()
	if err != nil {
		return false, err
	}
	y := &bound.Nearly{Right: make([]int64, n), Err: make([]int64, n)}
	inverse, signs := num.NewMat(call.MP(bits+16), n, 1), make([]int32, n)
	for p, j := range t.order {
		v, far := t.leftError(j, pull[j], frobenius, bits)
		if v == nil {
			return false, nil
		}
		inverse.SetBig(j, 0, v)
		y.Err[j], signs[j] = max(far.e, -int64(bits)), int32(e.columns[p].negated)
	}
	var all []num.Mat
	defer func() {
		for _, z := range all {
			z.Free()
		}
	}()
	kept := func(z num.Mat, err error) (num.Mat, error) {
		if err == nil {
			all = append(all, z)
		}
		return z, err
	}
	x, err := kept(h.room(s, call.MP(bits), n, n))
	if err != nil {
		return false, err
	}
	if left, err := newton.Sum(s.Config(), place.Sum{X: t.x, D: d, Bits: bits}, x); err != nil || left > 0 {
		return false, err
	}
	w, err := kept(h.room(s, call.MP(bits), m, n))
	if err != nil {
		return false, err
	}
	if err := s.Gemm(1, h.a, x, 0, num.Mat{}, w); err != nil {
		return false, err
	}
	// The columns of w are scaled by a product with a diagonal matrix.
	list, err := kept(place.On(h.at, inverse))
	if err != nil {
		return false, err
	}
	diagonal, err := kept(place.NewMat(h.at, inverse.Format(), n, n))
	if err != nil {
		return false, err
	}
	if odd, err := newton.Shift(s.Config(), list, nil, nil, diagonalOf(diagonal), nil); err != nil || odd > 0 {
		return false, err
	}
	if y.X, err = kept(h.room(s, call.MP(bits), m, n)); err != nil {
		return false, err
	}
	if err := s.Gemm(1, w, diagonal, 0, num.Mat{}, y.X); err != nil {
		return false, err
	}
	if y.D, err = kept(place.NewMat(h.at, call.MP(24), m, n)); err != nil {
		return false, err
	}
	return e.roundThere(t, links, y, signs, bits, e.left.vectors, e.left.columns)
}
