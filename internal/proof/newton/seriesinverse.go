package newton

import (
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/refine"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/internal/residue"
)

// SeriesInverse is an inverse of F, accurate enough for results of 54 to 110 bits. R is a float64
// inverse, E = I - F R comes from one product of many bits, and
//
//	F^-1 = R (I + E + E² + E³) + R E³ (I - E)^-1 E,
//
// where E and S = E + E² + E³ are sums of two float64 matrices. Products of leading slices are
// exact, as in SlicedInverse. The other products, smaller by 20 or 40 bits, are products of float64
// matrices.
//
// With one thread the series takes a half to two thirds of the time of the next way: at n = 300 and
// 106 bits 34 ms, where digits take 87 (bench/records/h200-linsolve-before-after-series.json.gz).
//
// Let γ be the relative error of dgemm.SubtractError, u = 2^-53, ρ ≥ ‖E‖∞, and e_j the largest
// entry of column j of E. E is e + e' up to errors ε e_j + τ. With the slices l of rows and c of
// columns of e, and the rounded rests l' = e - l + e' of norm λ and c' = e - c + e' with entries up
// to c'_j,
//
//	E² = l c + (l c' + l' e),  E³ = e E²,
//
// where l c is exact, so that the computed S has errors of at most
//
//	(ε e_j + τ) (1 + 3 ρ)                             E,
//	ρ c'_j (2 γ + u) + λ e_j (2 γ + 3 u)              the rests of E²,
//	ρ² e_j (γ + 4 u) + γ (ρ c'_j + λ e_j) + ...       E³, and its sum with those,
//	2^-103 e_j + 2 u (ρ c'_j + λ e_j + ρ² e_j)        the sum of S,
//
// in total (ε + 2^-102) e_j + 4 τ + (4 γ + 2^-49) (ρ c'_j + λ e_j + ρ² e_j), and ρ³ e_j / (1 - ρ)
// for the terms beyond E³. With slices r_1 and r_2 of rows of R, r_3 the rest, slices s_1 and s_2
// of columns of S, and s'_2 = S - s_1 and s'_3 = s'_2 - s_2, rounded,
//
//	R S = r_1 s_1 + (r_1 s_2 + r_2 s_1) + (r_1 s'_3 + r_2 s'_2 + r_3 s)
//
// where only the last bracket is not exact: its error is at most (3 γ + 4 u) times the sum of the
// magnitudes of its terms.
type SeriesInverse struct {
	R, D1, D2, D3 []float64 // F^-1 is about their sum
	float         *seed.FloatInverse
	Sums          []float64 // bounds of |R| 1
	Off           []float64 // error bound of entry (i, j), divided by Sums[i]: Off[j]
	S1, S2        []float64 // S is their sum
	SOff          []float64 // error bounds of S, by column
	Rho           float64
}

// MostSeries is the largest number of bits of results.
const MostSeries = 110

// mostAgain is the largest average number of entries of a column that single inner products
// decide: at order 1000 they then take a tenth of the whole time.
const mostAgain = 4

// inversePlaces is the number of bits of R below the tops of its columns.
const inversePlaces = 50

// residualBits is the precision of E.
const residualBits = 106

// Longer reports whether the solution for B is an inverse that a series decides.
func Longer(s *call.Run, a, b, z num.Mat) bool {
	to := z.Arr
	return seed.Sliceable(s, a) && to.Bits() > scale.SeedBits && to.Bits() <= MostSeries && (to.Kind == num.MP || to.Kind == num.DD) && ziv.IsIdentity(b)
}

// SeriesSuffices reports whether a series is likely to decide most entries of an inverse in format
// z: whether R E⁴ is below them, by an estimate of ‖F^-1‖ from the float64 factors f.
func SeriesSuffices(s *call.Run, f *seed.Factors, z num.Format) bool {
	loss, err := seed.Loss(s, f)
	return err == nil && leftOut(math.Ldexp(1, loss-4), f.Norm) < -float64(z.Bits())-20
}

// leftOut estimates log2 of ‖E⁴‖ from the norms of R and F: ‖E‖ is about 2^-50 ‖F‖ ‖R‖ for random
// matrices.
func leftOut(norm, factor float64) float64 { return 4 * math.Log2(norm*factor*0x1p-50) }

// InverseBySeries stores the inverse of A in z as far as a series decides it. It sets the finished
// columns of todo to nil.
func InverseBySeries(s *call.Run, a, b num.Mat, f *seed.Factors, z num.Mat, todo []*ziv.Entries) error {
	n, to := f.N, z
	// may fuse: an estimate
	cost := 14*call.Cube(n)*call.FloatCost + call.ProductOf(n, n, n, residualBits)
	s.Plan(cost)
	t, err := InvertSeries(s, a, f, to.Arr.Bits())
	s.Did(cost)
	s.Stage("approximate inverse")
	if err != nil || t == nil {
		return err
	}
	s.Work.Guessed = false
	seed.Note(s, 1, t.Rho, bound.Upper().SetFloat64(t.Norm()), bound.Upper().SetFloat64(f.Norm))
	s.Stats.Precision = 3 * scale.SeedBits
	for _, decide := range []func(j int, e *ziv.Entries, by scale.Scaling, to num.Mat){t.Decide, t.DecideAgain} {
		err = par.For(s.Ctx, s.Threads, n, func(_, j int) {
			if e := todo[j]; e != nil {
				if decide(j, e, f.Scaling, to); len(e.Open) == 0 {
					todo[j] = nil
				}
			}
		})
		if err != nil || ziv.CountOpen(todo) > mostAgain*n {
			break
		}
	}
	if err == nil && call.Few(ziv.OpenColumns(todo), n) {
		err = refine.SolveFew(s, a, b, z, t.float, todo)
	}
	s.Stage("refinement")
	return err
}

// InvertSeries returns an inverse by a series. It returns nil if the series is not accurate enough
// for most results of the wanted bits.
func InvertSeries(s *call.Run, a num.Mat, f *seed.Factors, wanted int) (*SeriesInverse, error) {
	n := f.N
	triangles, err := seed.InvertTriangles(s, f)
	// R is off Y X P by γ |Y| |X| at most, γ that of triangles: F times that is about a half, at
	// most, of rho of these.
	if err != nil || triangles == nil || !(triangles.Rho < seed.GoodRho) {
		return nil, err
	}
	t := &SeriesInverse{}
	if t.float, err = seed.NewMultiplied(s, triangles); err != nil {
		return nil, err
	}
	// R = -z P, rounded: a product of fewer bits makes E, which hardly grows. That moves F R by
	// ‖F‖ Σ_j 2^(c_j - inversePlaces - 1) at most, for columns below 2^c_j.
	near := num.Float64s(n, n, s.Floats(n*n))
	m := near
	t.R = m.Arr.F64[0][m.At(0, 0):][:n*n]
	moved := 0.0
	for j, k := range t.float.Perm {
		z, to := t.float.Z[j*n:(j+1)*n], t.R[k*n:(k+1)*n]
		_, c := math.Frexp(call.LargestOf(z))
		sigma := math.Ldexp(1.5, 52+c-inversePlaces)
		for i, v := range z {
			v = (v + sigma) - sigma
			z[i], to[i] = v, -v
		}
		moved += math.Ldexp(1, c-inversePlaces)
	}
	t.Rho = float64(1.6*triangles.Rho) + float64(1.01*f.Norm*moved)
	p := &seriesProducts{s: s, n: n, ones: make([]float64, n), free: [][]float64{triangles.X, triangles.Y}}
	for i := range p.ones {
		p.ones[i] = 1
	}
	t.Sums = seed.AbsAll(s.Threads, n, t.R, p.ones)
	if !(leftOut(t.Norm(), f.Norm) < -float64(wanted)-20) { // or NaN
		return nil, nil
	}
	e, err := residualOf(s, a, f, near, t.Rho)
	if err != nil || e.Arr == nil {
		return nil, seed.UnlessShort(err)
	}
	if ok, err := p.sum(e); !ok || err != nil {
		return nil, err
	}
	s.Drop(e)
	t.Rho, t.float.Rho, t.float.Norm = p.rho, p.rho, t.Norm()
	ok, err := p.multiply(t)
	if !ok || err != nil {
		return nil, err
	}
	return t, nil
}

// start returns the columns of the inverse of F.
func (t *SeriesInverse) start() *floatSums {
	n := len(t.Sums)
	return &floatSums{norm: t.Norm(), off: t.Off, sign: 1, column: func(j int) [][]float64 {
		return [][]float64{t.R[j*n:][:n], t.D1[j*n:][:n], t.D2[j*n:][:n], t.D3[j*n:][:n]}
	}}
}

// Norm bounds ‖R‖∞.
func (t *SeriesInverse) Norm() float64 { return call.LargestOf(t.Sums) }

// residualOf returns I - F R up to errors of 2^residualOff; ‖I - F R‖ ≤ rho is proved already. It
// returns nil if numbers of F are too long.
func residualOf(s *call.Run, a num.Mat, f *seed.Factors, near num.Mat, rho float64) (num.Mat, error) {
	n := f.N
	scaledA := scaledMatrix(s, a, f, 4*MostSeries)
	if scaledA.Arr == nil {
		return num.Mat{}, nil
	}
	_, top := math.Frexp(rho)
	b := &residue.Bound{Rows: make([]int64, n), Cols: make([]int64, n), Within: int64(top - residualOff)}
	for i := range b.Rows {
		b.Rows[i] = int64(top)
	}
	e := s.MatrixHere(num.Precision(residualBits), n, n)
	s.Stats.Steps++
	return e, s.GemmWithin(-1, scaledA, near, 1, s.IdentityHere(n), e, b)
}

// residualOff is log2 of the error of entries of E besides their rounding.
const residualOff = -148

// seriesProducts makes S and R S.
type seriesProducts struct {
	s       *call.Run
	n       int
	ones    []float64
	rho     float64
	largest []float64   // e_j
	s1, s2  []float64   // S is their sum
	off     []float64   // error bounds of S, by column
	free    [][]float64 // matrices for reuse
}

// room returns memory for a matrix, used before if possible: new pages cost as much as the work
// on them.
func (p *seriesProducts) room() []float64 {
	last := len(p.free) - 1
	if last < 0 {
		return p.s.Floats(p.n * p.n)
	}
	x := p.free[last]
	p.free = p.free[:last]
	return x
}

// norm bounds the largest sum of magnitudes of a row.
func (p *seriesProducts) norm(x []float64) float64 {
	return call.LargestOf(seed.AbsAll(p.s.Threads, p.n, x, p.ones))
}

// rowTops returns powers of two above the largest magnitudes of rows.
func (p *seriesProducts) rowTops(x []float64) []float64 {
	rows := make([]uint64, p.n) // magnitudes are in the order of their bits
	for j := range p.n {
		column := x[j*p.n:][:p.n]
		for i, most := range rows {
			rows[i] = max(most, math.Float64bits(column[i])&^(1<<63))
		}
	}
	tops := make([]float64, p.n)
	for i, v := range rows {
		tops[i] = math.Float64frombits(v)
	}
	return powersAbove(tops)
}

// powersAbove replaces numbers by powers of two above them, from 2^-200 on.
func powersAbove(x []float64) []float64 {
	for i, v := range x {
		_, e := math.Frexp(max(v, 0x1p-200))
		x[i] = math.Ldexp(1, e)
	}
	return x
}

// cutRows stores sign x rounded to multiples of 2^-bits of the tops of rows in high, and the rest
// in low, which may be x.
func (p *seriesProducts) cutRows(high, low, x, tops []float64, sign float64, bits int) error {
	sigma := make([]float64, p.n)
	for i, top := range tops {
		sigma[i] = math.Ldexp(1.5*top, 52-bits)
	}
	return par.Each(p.s.Ctx, p.s.Threads, p.n, func(j int) {
		from, h, l := x[j*p.n:][:p.n], high[j*p.n:][:p.n], low[j*p.n:][:p.n]
		for i, s := range sigma {
			v := float64(sign * from[i])
			a := (v + s) - s
			h[i], l[i] = a, v-a
		}
	})
}

// cutCols is cutRows for tops of columns, without a sign.
func (p *seriesProducts) cutCols(high, low, x, tops []float64, bits int) error {
	return par.Each(p.s.Ctx, p.s.Threads, p.n, func(j int) {
		cutFloats(high[j*p.n:][:p.n], low[j*p.n:][:p.n], x[j*p.n:][:p.n], math.Ldexp(1.5*tops[j], 52-bits))
	})
}

// slices returns the bits of slices of rows of x with these tops, and of columns of another matrix,
// so that all partial sums of their products are numbers of float64.
func (p *seriesProducts) slices(x, tops []float64) (rows, cols int) {
	most := 0.0
	for i, v := range seed.AbsAll(p.s.Threads, p.n, x, p.ones) {
		most = max(most, v/tops[i])
	}
	_, k := math.Frexp(1.01 * (most + float64(float64(p.n)/2)))
	both := scale.SeedBits - k
	return (both + 1) / 2, both / 2
}

// exactly reports whether sums of products of rows of x, of so many bits of their tops, with
// columns of entries up to most, of so many bits of a top of 1, are exact beside numbers up to
// most.
func (p *seriesProducts) exactly(x, tops []float64, most float64, unit int) bool {
	for i, v := range seed.AbsAll(p.s.Threads, p.n, x, p.ones) {
		if !(float64(v*most)*1.001 <= float64(tops[i]*math.Ldexp(1, scale.SeedBits-unit))) {
			return false
		}
	}
	return true
}

func (p *seriesProducts) subtract(c, a, b []float64) error {
	return dgemm.Subtract(p.s.Ctx, p.s.Threads, p.n, c, a, b)
}

// columnMost returns the largest entries of columns.
func (p *seriesProducts) columnMost(x []float64) []float64 {
	z := make([]float64, p.n)
	for j := range z {
		z[j] = call.LargestOf(x[j*p.n : (j+1)*p.n])
	}
	return z
}

// sum makes S of E.
func (p *seriesProducts) sum(m num.Mat) (ok bool, err error) {
	n, s := p.n, p.s
	e, more := scale.Unscaled(n, n).Float64s(m, p.room()), scale.Unscaled(n, n).MoreFloat64s(m, p.room())
	p.largest = p.columnMost(e)
	p.rho = float64(p.norm(e)*1.001) + float64(float64(n)*0x1p-140)
	if !(p.rho < seed.GoodRho) {
		return false, nil
	}
	rows, cols := p.rowTops(e), powersAbove(slices.Clone(p.largest))
	beta, gamma := p.slices(e, rows)
	l, lRest, c, cRest := p.room(), p.room(), p.room(), p.room()
	if err := errors.Join(p.cutRows(l, lRest, e, rows, -1, beta), p.cutCols(c, cRest, e, cols, gamma)); err != nil {
		return false, err
	}
	if !p.exactly(l, rows, 1, beta+gamma) {
		return false, nil
	}
	err = par.Each(s.Ctx, s.Threads, n, func(j int) {
		l, c := lRest[j*n:][:n], cRest[j*n:][:n]
		for i, v := range more[j*n:][:n] {
			l[i] -= v
			c[i] += v
		}
	})
	if err != nil {
		return false, err
	}
	lambda, rest := p.norm(lRest), p.columnMost(cRest)
	first, second := p.room(), p.room()
	clear(first)
	clear(second)
	if err := p.subtract(first, l, c); err != nil {
		return false, err
	}
	if err := p.subtract(second, l, cRest); err != nil {
		return false, err
	}
	if err := p.subtract(second, lRest, e); err != nil {
		return false, err
	}
	square, neg := c, l
	err = par.Each(s.Ctx, s.Threads, n, func(j int) {
		for i := j * n; i < (j+1)*n; i++ {
			square[i], neg[i] = first[i]+second[i], -e[i]
		}
	})
	if err != nil {
		return false, err
	}
	if err := p.subtract(second, neg, square); err != nil {
		return false, err
	}
	err = par.Each(s.Ctx, s.Threads, n, func(j int) {
		for i := j * n; i < (j+1)*n; i++ {
			// e + first = h + t, and h + low, are sums of two numbers exactly (Knuth).
			h := e[i] + first[i]
			b := h - e[i]
			low := ((e[i] - (h - b)) + (first[i] - b)) + (more[i] + second[i])
			sum := h + low
			b = sum - h
			e[i], more[i] = sum, (h-(sum-b))+(low-b)
		}
	})
	if err != nil {
		return false, err
	}
	p.s1, p.s2 = e, more
	p.free = append(p.free, l, lRest, c, cRest, first, second)
	p.off = make([]float64, n)
	g, rho := dgemm.SubtractError(n), p.rho
	for j, most := range p.largest {
		most = float64(most*(1+0x1p-50)) + 0x1p-147
		size := float64((float64(4*g) + 0x1p-49) * (float64(rho*rest[j]) + float64(lambda*most) + float64(float64(rho*rho)*most)))
		size += float64(0x1p-101*most) + 0x1p-146 + float64(1.01*rho*rho*rho*most)
		p.off[j] = float64(1.001*size) + 0x1p-700
	}
	return true, nil
}

// multiply computes R S and the error bounds of the inverse.
func (p *seriesProducts) multiply(t *SeriesInverse) (ok bool, err error) {
	n, s := p.n, p.s
	rows, cols := p.rowTops(t.R), powersAbove(p.columnMost(p.s1))
	beta, gamma := p.slices(t.R, rows)
	r1, r2, r3 := p.room(), p.room(), p.room()
	if err := errors.Join(p.cutRows(r1, r3, t.R, rows, -1, beta), p.cutRows(r2, r3, r3, rows, 1, 2*beta)); err != nil {
		return false, err
	}
	s1, s2, rest2, rest3 := p.room(), p.room(), p.room(), p.room()
	if err := errors.Join(p.cutCols(s1, rest2, p.s1, cols, gamma), p.cutCols(s2, rest3, rest2, cols, 2*gamma)); err != nil {
		return false, err
	}
	half := math.Ldexp(0.5, -gamma)
	if !p.exactly(r1, rows, 1, beta+gamma) || !p.exactly(r1, rows, 2*half, 2*beta+gamma) || !p.exactly(r2, rows, 2, 2*beta+gamma) {
		return false, nil
	}
	err = par.Each(s.Ctx, s.Threads, n, func(j int) {
		addFloats(rest2[j*n:][:n], p.s2[j*n:][:n])
		addFloats(rest3[j*n:][:n], p.s2[j*n:][:n])
	})
	if err != nil {
		return false, err
	}
	t.D1, t.D2, t.D3 = p.room(), p.room(), p.room()
	for _, d := range [][]float64{t.D1, t.D2, t.D3} {
		clear(d)
	}
	for _, x := range [][3][]float64{{t.D1, r1, s1}, {t.D2, r1, s2}, {t.D2, r2, s1}, {t.D3, r3, p.s1}, {t.D3, r2, rest2}, {t.D3, r1, rest3}} {
		if err := p.subtract(x[0], x[1], x[2]); err != nil {
			return false, err
		}
	}
	// Sums of rows of slices over those of R.
	share := func(x []float64) (most float64) {
		for i, v := range seed.AbsAll(s.Threads, n, x, p.ones) {
			most = max(most, v/t.Sums[i])
		}
		return most * 1.001
	}
	k1, k2, k3 := share(r1), share(r2), share(r3)
	m2, m3, m1 := p.columnMost(rest2), p.columnMost(rest3), p.columnMost(p.s1)
	t.S1, t.S2, t.SOff = p.s1, p.s2, p.off
	g, more := dgemm.SubtractError(n)+0x1p-51, dgemm.AdditionError(n)
	t.Off = make([]float64, n)
	for j, off := range p.off {
		tail := float64(float64(k1*m3[j])*g) + float64(float64(k2*m2[j])*(g+more)) + float64(float64(k3*m1[j])*(g+2*more))
		t.Off[j] = float64(1.01*(off+tail)) + 0x1p-700
	}
	return !math.IsNaN(call.LargestOf(t.Off)), nil
}

// DecideAgain decides open entries of column j by inner products of rows of R with a column of S,
// in three words, whose unit is far below the error bounds.
func (t *SeriesInverse) DecideAgain(j int, e *ziv.Entries, by scale.Scaling, to num.Mat) {
	n := len(t.Sums)
	set := &bound.Rounder{Ends: num.New(to.Arr.Format, 2)}
	open := e.Open[:0]
	for _, i := range e.Open {
		// Sums of |R| |S|, and R, are below 2^top.
		_, top := math.Frexp(t.Sums[i])
		unit := int64(top - 180)
		var sum [3]uint64
		AddProduct(&sum, t.R[i+j*n], 1, unit)
		for k, s := range t.S1[j*n : (j+1)*n] {
			AddProduct(&sum, t.R[i+k*n], s, unit)
			AddProduct(&sum, t.R[i+k*n], t.S2[k+j*n], unit)
		}
		v := bound.EnclosedEntry{Neg: int64(sum[2]) < 0, Mag: sum[:], Exp: unit + by.Cols[i] + by.Rows[j]}
		if v.Neg {
			num.Negate(v.Mag)
		}
		for len(v.Mag) > 0 && v.Mag[len(v.Mag)-1] == 0 {
			v.Mag = v.Mag[:len(v.Mag)-1]
		}
		radius := float64(float64(t.Sums[i]*t.SOff[j]) * scale.Power(-unit))
		if radius >= 0x1p60 && len(v.Mag) > 1 {
			v.Mag, v.Exp, radius = v.Mag[1:], v.Exp+64, radius*0x1p-64
		}
		if v.Known = len(v.Mag) > 0 && radius < 0x1p60; v.Known {
			v.Err = uint64(radius) + uint64(2*n+3) // with what is cut off
			v.Zero = len(v.Mag) == 1 && v.Mag[0] <= v.Err
		}
		if !v.RoundTo(set, to.Arr, to.At(i, j)) {
			open = append(open, i)
		}
	}
	e.Open = open
}

// AddProduct adds x y, truncated, to a two's-complement number in units of 2^unit; |x y| is below
// 2^190 units. Factors below 2^-1022 count as 0.
func AddProduct(sum *[3]uint64, x, y float64, unit int64) {
	a, b := math.Float64bits(x), math.Float64bits(y)
	ea, eb := int64(a>>52&0x7ff), int64(b>>52&0x7ff)
	if ea == 0 || eb == 0 {
		return
	}
	hi, lo := bits.Mul64(a&(1<<52-1)|1<<52, b&(1<<52-1)|1<<52)
	var w0, w1, w2 uint64
	switch e := ea + eb - 2150 - unit; {
	case e >= 64:
		s := uint64(e - 64)
		w1, w2 = lo<<s, hi<<s|lo>>(64-s)
	case e >= 0:
		s := uint64(e)
		w0, w1, w2 = lo<<s, hi<<s|lo>>(64-s), hi>>(64-s)
	case e > -64:
		s := uint64(-e)
		w0, w1 = lo>>s|hi<<(64-s), hi>>s
	default:
		w0 = hi >> uint64(-e-64)
	}
	sign := uint64(int64(a^b) >> 63)
	var carry uint64
	sum[0], carry = bits.Add64(sum[0], w0^sign, sign&1)
	sum[1], carry = bits.Add64(sum[1], w1^sign, carry)
	sum[2], _ = bits.Add64(sum[2], w2^sign, carry)
}

// Decide stores the entries of column j that the error bounds decide, scaled back.
func (t *SeriesInverse) Decide(j int, e *ziv.Entries, by scale.Scaling, to num.Mat) {
	n := len(t.Sums)
	r, d1, d2, d3 := t.R[j*n:][:n], t.D1[j*n:][:n], t.D2[j*n:][:n], t.D3[j*n:][:n]
	v := bound.EnclosedEntry{Mag: make([]uint64, 2), Known: true}
	var set *bound.Rounder
	if to.Arr.Kind != num.MP {
		set = &bound.Rounder{Ends: num.New(to.Arr.Format, 2)}
	}
	off := t.Off[j]
	twoWords := to.Arr.Kind == num.MP && to.Arr.Limbs() == 2
	open := e.Open[:0]
	for _, i := range e.Open {
		// In units of 2^(top-124) all is below 2^126; each term is cut off.
		// Magnitudes are in the order of their bits.
		most := max(math.Float64bits(r[i])<<1, math.Float64bits(d1[i])<<1, math.Float64bits(d2[i])<<1, math.Float64bits(d3[i])<<1)
		top := int64(most>>53) - 1022
		unit := top - 124
		hi, lo := AddFloat(0, 0, r[i], unit)
		hi, lo = AddFloat(hi, lo, d1[i], unit)
		hi, lo = AddFloat(hi, lo, d2[i], unit)
		hi, lo = AddFloat(hi, lo, d3[i], unit)
		neg := uint64(int64(hi) >> 63)
		lo, borrow := bits.Sub64(lo^neg, neg, 0)
		hi, _ = bits.Sub64(hi^neg, neg, borrow)
		radius := float64(float64(t.Sums[i]*off) * scale.Power(-unit))
		if top < -800 || top > 800 || hi == 0 || !(radius < 0x1p50) {
			open = append(open, i)
			continue
		}
		v.Exp, v.Err = unit+by.Cols[i]+by.Rows[j], uint64(radius)+5
		if twoWords && StoreTwoWords(to.Arr, to.At(i, j), neg&1, hi, lo, v.Exp, v.Err) {
			continue
		}
		v.Neg, v.Mag[0], v.Mag[1] = neg != 0, lo, hi
		if !v.RoundTo(set, to.Arr, to.At(i, j)) {
			open = append(open, i)
		}
	}
	e.Open = open
}

// StoreTwoWords is [bound.EnclosedEntry.RoundTo] for the usual numbers of two words, hi 2^64 + lo
// in units of 2^exp, in half of the time. It returns false for all other numbers and for undecided
// ones. Signs (1: negative) and directions of rounding are random, so they are computed without
// branches.
func StoreTwoWords(a *num.Array, at int, sign, hi, lo uint64, exp int64, err uint64) (ok bool) {
	zeros, spare := bits.LeadingZeros64(hi), 128-uint(a.Prec)
	top := exp + 128 - int64(zeros)
	if zeros > 8 || max(top, -top) > math.MaxInt32-4 {
		return false
	}
	hi, lo, err = hi<<zeros|lo>>(64-zeros), lo<<zeros, err<<zeros
	// Beside a power of two the last place is half as large below it: a quarter of it does no harm.
	if spare < 2 || err >= 1<<(spare-2) {
		return false
	}
	tail := int64(lo&(1<<spare-1)) - 1<<(spare-1)
	if uint64(max(tail, -tail)) <= err {
		return false
	}
	up := lo >> (spare - 1) & 1 << spare // the tail is above a half
	lo, carry := bits.Add64(lo&^(1<<spare-1), up, 0)
	if hi, carry = bits.Add64(hi, 0, carry); carry != 0 {
		hi = 1 << 63
		top++
	}
	a.Sig[2*at], a.Sig[2*at+1] = lo, hi
	a.Exp[at], a.Cls[at] = int32(top), num.FiniteCls(sign)
	return true
}

// AddFloat adds x, truncated, to a two's-complement number in units of 2^unit; |x| is below 2^126
// units. Numbers x below 2^-1022 count as 0.
func AddFloat(hi, lo uint64, x float64, unit int64) (uint64, uint64) {
	b := math.Float64bits(x)
	exp := int64(b >> 52 & 0x7ff)
	if exp == 0 {
		return hi, lo
	}
	m, e := b&(1<<52-1)|1<<52, exp-1075-unit
	// Shifts by 64 or more, as which negative ones count, leave 0.
	h, l := m<<uint64(e-64)|m>>uint64(64-e), m<<uint64(e)|m>>uint64(-e)
	sign := uint64(int64(b) >> 63)
	lo, carry := bits.Add64(lo, l^sign, sign&1)
	hi, _ = bits.Add64(hi, h^sign, carry)
	return hi, lo
}
