package newton

import (
	"cmp"
	"errors"
	"math"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/direct"
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

// SlicedInverse is the inverse of F by float64 arithmetic alone, for numbers of up to 53 bits. The
// residual of an inverse Z of G = P F is exact where it cancels: both are cut into slices of so few
// bits that sums of products of slices are float64 numbers (Ozaki, Ogita, Oishi and Rump,
// Error-free transformations of matrix multiplication by using fast routines of matrix
// multiplication, 2012).
//
// Let Z be the sum of its m slices: in a column below 2^c, z_1 consists of multiples of 2^(c-γ),
// z_2 of multiples of 2^(c-2γ), and so on. Let G, with entries below 1, be the sum of slices g_1,
// g_2, ... of multiples of 2^-β, 2^-2β and so on. With r_k = G - g_1 - ... - g_{k-1}
//
//	E = I - G Z = (I - Σ g_i z_j for i + j ≤ m + 1) - Σ r_{m+2-j} z_j.
//
// The first part is exact. The other products are small, and their errors are the errors of
// dgemm.Subtract. With ε_j for the total error of column j of E, e_j for its largest entry, ‖E‖∞ ≤
// rho, η ≥ Σ ε_j and γ for the factor of dgemm.SubtractError
//
//	G^-1 = Z (I + E + E²) + Z E² (I - E)^-1 E,
//
// so that column j of the computed V ≈ Z (E + E²) is in error by |Z| 1 times the sum of
//
//	ε_j (1 + rho)                        E,
//	e_j u (1 + 2 rho)                    the sum E + E²,
//	e_j γ rho                            the square,
//	η (e_j + ε_j)                        the square of another E,
//	(e_j + ε_j) rho² / (1 - rho)         the omitted terms,
//	e_j γ (1 + 2 rho)                    the product with Z.
//
// Where one correctly rounded product of G and Z takes less time than the products of slices, it
// gives E, and ε_j is the error of its rounding.
type SlicedInverse struct {
	*seed.FloatInverse
	V    []float64 // F^-1 P^T is about -(Z + V)
	Sums []float64 // bounds of |Z| 1
	Off  []float64 // entry (i, j) is in error by at most Sums[i] Off[j]
}

// SlicesFor returns how many slices Z has, 0 if float64 does not suffice: as many as leave an
// undecided entry in at most a 25th of the columns. Entries are random beyond the slices: of random
// matrices of order 300 to 1000, some
//
//	n³ 2^53 γ ‖E‖,  ‖E‖ about ‖F‖ ‖Z‖ (2^(-γ m) + 2^-50) / 32,
//
// entries stay undecided. Refining n/25 of the columns takes as long as the four further products
// of a third slice.
func SlicesFor(n, gamma int, cond float64) int {
	if gamma < 1 {
		return 0
	}
	need := 16 * float64(n) * float64(n) * cond
	for m := 2; m <= 3; m++ {
		if need < math.Ldexp(1, min(gamma*m, 50)) {
			return m
		}
	}
	return 0
}

// InverseBySlices stores the inverse of A in z as far as an inverse in slices decides it. It sets
// the finished columns of todo to nil.
func InverseBySlices(s *call.Run, a, b num.Mat, f *seed.Factors, z num.Mat, todo []*ziv.Entries) error {
	cost := slicesCost(f.N)
	s.Plan(cost)
	t, err := InvertSlices(s, a, f)
	s.Did(cost)
	s.Stage("approximate inverse")
	if err != nil || t == nil {
		return err
	}
	s.Work.Guessed = false
	seed.Note(s, 1, t.Rho, bound.Upper().SetFloat64(t.Norm), bound.Upper().SetFloat64(f.Norm))
	s.Stats.Precision = 2 * scale.SeedBits
	err = par.For(s.Ctx, s.Threads, f.N, func(_, j int) {
		e := &todo[t.Perm[j]]
		if t.decide(j, *e, z); len((*e).Open) == 0 {
			*e = nil
		}
	})
	if err == nil && call.Few(ziv.OpenColumns(todo), f.N) {
		err = refine.SolveFew(s, a, b, z, t.FloatInverse, todo)
	}
	s.Stage("refinement")
	return err
}

// slicesCost returns the cost of an inverse in slices.
func slicesCost(n int) float64 { return 10 * call.Cube(n) * call.FloatCost }

// Short reports whether the solution for B is an inverse that slices decide.
func Short(s *call.Run, a, b, z num.Mat) bool {
	to := z.Arr
	return seed.Sliceable(s, a) && to.Terms() <= 1 && to.Bits() <= scale.SeedBits && ziv.IsIdentity(b)
}

// InvertSlices returns a sliced inverse by factors of a; nil if float64 does not suffice.
func InvertSlices(s *call.Run, a num.Mat, f *seed.Factors) (*SlicedInverse, error) {
	n := f.N
	triangles, err := seed.InvertTriangles(s, f)
	if err != nil || triangles == nil {
		return nil, err
	}
	t := &SlicedInverse{}
	if t.FloatInverse, err = seed.NewMultiplied(s, triangles); err != nil {
		return nil, err
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	t.Norm = call.LargestOf(seed.AbsAll(s.Threads, n, t.Z, ones))
	g := triangles.Float64sOn(s.Threads, a, triangles.Y)
	dgemm.ExchangeRows(s.Threads, n, g, f.Pivots)
	var more []float64
	if a.Arr.Kind == num.MP && a.Arr.Prec > scale.SeedBits {
		more = f.MoreFloat64s(a, s.Floats(n*n))
		dgemm.ExchangeRows(s.Threads, n, more, f.Pivots)
	}
	if call.LargestOfAll(s.Threads, g) > 1 {
		return nil, nil
	}
	top := make([]float64, n)
	least, most := math.Inf(1), 0.0
	for j, size := range call.LargestOfColumns(s.Threads, n, t.Z) {
		_, c := math.Frexp(size)
		top[j] = math.Ldexp(1, c)
		least, most = min(least, top[j]), max(most, top[j])
	}
	// Sums of |g_1| |z_1|, and 1, are at most 2^(k+c). Sums of other slices are smaller by as much
	// as their units are.
	_, k := math.Frexp(float64(1.01 * (f.Norm + float64(float64(n)/2) + 1/least)))
	both := scale.SeedBits - k
	m := SlicesFor(n, both/2, t.Norm*f.Norm)
	// The 1 of I must be a multiple of the units.
	if m == 0 || !(least > 0x1p-100 && most <= math.Ldexp(1, both)) {
		return nil, nil
	}
	r := &slicedResidual{s: s, n: n, m: m, beta: (both + 1) / 2, gamma: both / 2, top: top}
	var e []float64
	lost := 0x1p-800 // for underflow
	if more == nil && residue.Quick(n) {
		e, err = r.rounded(g, t.Z, triangles.X)
	}
	if e == nil && err == nil {
		if err = r.cut(g, more, t.Z, triangles.X); err == nil {
			e, lost, err = r.residual(ones)
		}
	}
	if err != nil || e == nil {
		return nil, err
	}
	t.Sums = seed.AbsAll(s.Threads, n, t.Z, ones)
	t.Norm = call.LargestOf(t.Sums)
	if ok, err := t.correctBy(s, e, r, lost, ones); !ok || err != nil {
		return nil, err
	}
	return t, nil
}

// slicedResidual holds the slices from which E is computed.
type slicedResidual struct {
	s           *call.Run
	n, m        int
	beta, gamma int
	top         []float64   // 2^c for each column of Z
	g, rest     [][]float64 // g_1, ..., g_m and r_1, ..., r_{m+1}
	more        bool        // r_2, ... are rounded, and G has up to 106 bits
	z           [][]float64 // slices of -Z
}

// cut cuts G = g + more and z into slices, and sets z to the sum of its slices. first is memory for
// z_1.
func (r *slicedResidual) cut(g, more, z, first []float64) error {
	n := r.n
	r.rest = append(r.rest, g)
	for k := range r.m {
		r.g, r.rest = append(r.g, r.s.Floats(n*n)), append(r.rest, r.s.Floats(n*n))
		if k > 0 {
			first = r.s.Floats(n * n)
		}
		r.z = append(r.z, first)
	}
	r.more = more != nil
	return par.Each(r.s.Ctx, r.s.Threads, n, func(j int) {
		column := func(x []float64) []float64 { return x[j*n:][:n] }
		for k, part := range r.g {
			cutFloats(column(part), column(r.rest[k+1]), column(r.rest[k]), math.Ldexp(1.5, 52-r.beta*(k+1)))
		}
		if r.more {
			for _, rest := range r.rest[1:] {
				addFloats(column(rest), column(more))
			}
		}
		rest := column(z)
		for k, part := range r.z {
			cutFloats(column(part), rest, rest, math.Ldexp(1.5*r.top[j], 52-r.gamma*(k+1)))
		}
		copy(rest, column(r.z[0]))
		for _, part := range r.z[1:] {
			addFloats(rest, column(part))
		}
	})
}

// cutFloats stores x rounded to multiples of a unit in high, for sigma = 1.5 2^52 units, and the
// remainder in low, which may be x. Numbers of x are below 2^51 units.
func cutFloats(high, low, x []float64, sigma float64) {
	high, low = high[:len(x)], low[:len(x)]
	for i, v := range x {
		h := (v + sigma) - sigma
		high[i], low[i] = h, v-h
	}
}

// addFloats adds y to x.
func addFloats(x, y []float64) {
	x = x[:len(y)]
	for i, v := range y {
		x[i] += v
	}
}

// rounded returns -E, each entry rounded to nearest, in place of the sums of slices: for G in
// float64, where such a product takes less time than the products of slices. room is memory for
// n x n numbers. It returns nil if the product exceeds the memory limit.
func (r *slicedResidual) rounded(g, z, room []float64) (e []float64, err error) {
	n := r.n
	of := func(x []float64) num.Mat { return num.Float64s(n, n, x) }
	release := r.s.Temporary()
	e, more := r.s.Floats(n*n), r.s.Floats(n*n)
	// -E = -I - G z, as z is -Z.
	if err := r.s.Gemm(-1, of(g), of(z), 0, num.Mat{}, of(e)); err != nil {
		release()
		if errors.Is(err, residue.ErrMemory) {
			err = nil
		}
		return nil, err
	}
	r.z = append(r.z, room, more)
	// On the diagonal the sum cancels.
	const some = 8 // rows a call, which share cache lines
	failed := make([]error, n)
	err = par.For(r.s.Ctx, r.s.Threads, (n+some-1)/some, func(_, part int) {
		first, y, d := part*some, num.New(num.Float64, n+1), num.New(num.Float64, 1)
		rows := make([]*num.Array, min(some, n-first))
		for k := range rows {
			rows[k] = num.New(num.Float64, n+1)
			rows[k].F64[0][n] = -1
		}
		for h := range n {
			for k, v := range g[first+h*n:][:len(rows)] {
				rows[k].F64[0][h] = -v
			}
		}
		one := direct.Work{Run: par.Run{Ctx: r.s.Ctx, Threads: 1}}
		y.F64[0][n] = 1
		for k, x := range rows {
			i := first + k
			copy(y.F64[0], z[i*n:(i+1)*n])
			_, _, failed[i] = direct.Dot.Round(one, num.Vec{Arr: x, Inc: 1, N: n + 1}, num.Vec{Arr: y, Inc: 1, N: n + 1}, d)
			e[i+i*n] = d.F64[0][0]
		}
	})
	return e, cmp.Or(err, errors.Join(failed...))
}

// zTop bounds slice k ≥ 1 of z, divided by the tops of columns.
func (r *slicedResidual) zTop(k int) float64 {
	if k == 1 {
		return 1
	}
	return math.Ldexp(0.5, -r.gamma*(k-1))
}

// largest returns the largest entry of a matrix, divided by the tops of columns.
func (r *slicedResidual) largest(e []float64) (most float64) {
	for j, size := range call.LargestOfColumns(r.s.Threads, r.n, e) {
		most = max(most, size/r.top[j])
	}
	return most
}

// residual returns -E and a bound of its error, divided by the tops of columns, without its last
// rounding; nil if sums that have to be exact are not proved to be exact.
func (r *slicedResidual) residual(ones []float64) (e []float64, lost float64, err error) {
	n, m := r.n, r.m
	norm := func(x []float64) float64 { return call.LargestOf(seed.AbsAll(r.s.Threads, n, x, ones)) }
	e, low := r.s.Floats(n*n), r.s.Floats(n*n)
	call.Zero(r.s.Threads, e)
	call.Zero(r.s.Threads, low)
	for i := range n {
		e[i+i*n] = -1
	}
	for w := 2; w <= m+1; w++ {
		most := r.largest(e)
		for i := 1; i < w; i++ {
			j := w - i
			// All partial sums are multiples of a unit, and at most 2^53 units.
			most += float64(1.001 * float64(norm(r.g[i-1])*r.zTop(j)))
			if !(most*(1+0x1p-40) <= math.Ldexp(1, scale.SeedBits-r.beta*i-r.gamma*j)) {
				return nil, 0, nil
			}
			if err := dgemm.Subtract(r.s.Ctx, r.s.Threads, n, e, r.g[i-1], r.z[j-1]); err != nil {
				return nil, 0, err
			}
		}
	}
	gamma, most := dgemm.SubtractError(n), 0.0
	for j := m; j > 0; j-- {
		rest := r.rest[m+1-j]
		size := float64(norm(rest) * r.zTop(j))
		last := call.LargestOfAll(r.s.Threads, rest)
		if last == 0 {
			continue
		}
		lost += float64(1.001 * gamma * (most + size))
		most += float64(1.001 * size)
		if r.more {
			lost += float64(1.001 * float64(n) * 0x1p-53 * last * r.zTop(j))
		}
		if err := dgemm.Subtract(r.s.Ctx, r.s.Threads, n, low, rest, r.z[j-1]); err != nil {
			return nil, 0, err
		}
	}
	if err := par.Each(r.s.Ctx, r.s.Threads, n, func(j int) { addFloats(e[j*n:][:n], low[j*n:][:n]) }); err != nil {
		return nil, 0, err
	}
	if r.more {
		lost += float64(float64(n) * 0x1p-104)
	}
	// Entries of F below 2^-1000 are 0 in G, and underflow takes less than 2^-900.
	return e, float64(lost*1.001) + 0x1p-800, nil
}

// correctBy computes V and its bounds from e = -E.
func (t *SlicedInverse) correctBy(s *call.Run, e []float64, r *slicedResidual, lost float64, ones []float64) (ok bool, err error) {
	n := t.N
	largest, off := call.LargestOfColumns(s.Threads, n, e), make([]float64, n)
	eta := 0.0
	for j, top := range r.top {
		off[j] = float64(1.001 * (float64(top*lost) + float64(0x1p-53*largest[j])))
		eta += off[j]
	}
	eta = float64(eta * 1.001)
	t.Rho = float64((call.LargestOf(seed.AbsAll(s.Threads, n, e, ones)) + float64(eta)) * 1.001)
	if !(t.Rho <= seed.GoodRho) {
		return false, nil
	}
	// The slices of Z are not needed any more.
	square, v := r.z[0], r.z[1]
	call.Zero(s.Threads, square)
	call.Zero(s.Threads, v)
	if err := dgemm.Subtract(s.Ctx, s.Threads, n, square, e, e); err != nil {
		return false, err
	}
	if err := par.Each(s.Ctx, s.Threads, n, func(j int) { addFloats(square[j*n:][:n], e[j*n:][:n]) }); err != nil {
		return false, err
	}
	if err := dgemm.Subtract(s.Ctx, s.Threads, n, v, t.Z, square); err != nil {
		return false, err
	}
	t.V = v
	gamma, rho := dgemm.SubtractError(n), t.Rho
	t.Off = make([]float64, n)
	for j, e := range largest {
		size := float64(e * (gamma + 0x1p-53) * (1 + float64(3*rho)))
		size += float64((e + off[j]) * (eta + float64(float64(rho*rho)*1.01))) // rho ≤ 2^-8
		t.Off[j] = float64(1.01*(size+float64(off[j]*(1+rho)))) + 0x1p-700
	}
	return true, nil
}

// decide stores the decided entries of column j of G^-1, scaled back, in column Perm[j].
func (t *SlicedInverse) decide(j int, e *ziv.Entries, to num.Mat) {
	n, k := t.N, t.Perm[j]
	z, v := t.Z[j*n:(j+1)*n], t.V[j*n:(j+1)*n]
	off := t.Off[j]
	open := e.Open[:0]
	for _, i := range e.Open {
		// z + v = sum + low exactly (Knuth).
		sum := z[i] + v[i]
		b := sum - z[i]
		low := (z[i] - (sum - b)) + (v[i] - b)
		// The rounding of low ± radius is below 2^-53 (2^-53 |sum| + radius).
		radius := float64(t.Sums[i]*off) + float64(math.Abs(sum)*0x1p-104)
		x := sum + (low + radius)
		if x != sum+(low-radius) || !StoreFloat(to.Arr, to.At(i, k), -x, t.Cols[i]+t.Rows[k]) {
			open = append(open, i)
		}
	}
	e.Open = open
}

// StoreFloat stores 2^shift times a number that float64 rounds to x, rounded to a format of up to
// 53 bits. It is not ok where such numbers may round to several numbers of the format, or near the
// ends of the exponents.
func StoreFloat(a *num.Array, at int, x float64, shift int64) (ok bool) {
	size := math.Abs(x)
	if !(size > 0x1p-400 && size < 0x1p400) {
		return false
	}
	if drop := uint(scale.SeedBits - a.Bits()); drop > 0 { // halfway, they may lie on both sides
		if tail := math.Float64bits(x) & (1<<drop - 1); tail == 1<<(drop-1) {
			return false
		}
	}
	switch a.Kind {
	case num.F64:
		if shift < -400 || shift > 400 {
			return false
		}
		a.F64[0][at] = x * scale.Power(shift)
		return true
	case num.F32:
		_, e := math.Frexp(x)
		if e := int64(e) + shift; e < -124 || e > 127 {
			return false
		}
	}
	mantissa, e := num.Decompose(x)
	if top := e + shift; max(top, -top) > math.MaxInt32-128 { // the range of MP
		return false
	}
	a.Set(at, num.Real{Class: num.Finite, Neg: x < 0, Mag: []uint64{mantissa}, Exp: e + shift})
	return true
}

// start returns the columns of F^-1 as sums.
func (t *SlicedInverse) start() *floatSums {
	n := t.N
	at, off := make([]int, n), make([]float64, n)
	for j, k := range t.Perm {
		at[k], off[k] = j, t.Off[j]
	}
	return &floatSums{norm: t.Norm, off: off, sign: -1, column: func(k int) [][]float64 {
		j := at[k]
		return [][]float64{t.Z[j*n : (j+1)*n], t.V[j*n : (j+1)*n]}
	}}
}
