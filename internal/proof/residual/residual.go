// Package residual solves small systems of linear equations by a float64 inverse and residuals in
// integers, as in Wan, An algorithm to solve integer linear systems exactly using numerical methods
// (J. Symbolic Comput. 41, 2006). Its memory is reused, and nothing is computed that proofs for
// ill-conditioned or large matrices would need: such systems are left to others.
//
// # Method
//
// Row i of A, times 2^-ρ_i, is a row of F with entries |F_ij| < 1 that are integers in units of
// 2^-(64 w - 1) for a number of words w. A column of B becomes a vector h of such numbers, |h_i| <
// 1, times 2^σ: A x = b is equivalent to F y = h, x = 2^σ y. Let R be a float64 inverse of F. Begin
// with r = h, and in each step compute
//
//	d = ⌊2^Δ R r⌉,   r ← 2^Δ r - F d,
//
// where d is a vector of integers. After T steps y = Σ_t 2^(-Δ t) d_t + 2^(-Δ T) e with F e = r:
// the numbers 2^(64 w - 1) r are integers and exactly known.
//
// # Proof
//
// All norms are row-sum norms, and u = 2^-53. Let ‖I - R F‖ ≤ rho < 1. Then F is regular, and ‖e‖ ≤
// ‖R‖ ‖r‖ / (1 - rho), because R F e = R r. At first ‖r‖ < 1, so ‖e‖ ≤ E_0 = ‖R‖ / (1 - rho).
//
// A step computes R r~ from float64 numbers r~ with |r~_i - r_i| ≤ 2^-52 |r_i| + 2^-62 in n
// products and sums, with an error of at most n u ‖R‖ ‖r~‖ / (1 - n u), and rounds it to integers,
// with an error of at most 1/2. So it computes d = 2^Δ R r + η with
//
//	‖η‖ ≤ 2^Δ ‖R‖ ((n + 3) 2^-52 ‖r‖ + 2^-61) + 1/2,   ‖r‖ ≤ ‖F‖ ‖e‖.
//
// The new e is 2^Δ e - d = 2^Δ (I - R F) e - η, whose norm is at most q ‖e‖ + 1/2 + 2^(Δ-61) ‖R‖
// with q = 2^Δ (rho + (n + 3) 2^-52 ‖R‖ ‖F‖). Δ is chosen so that q ≤ 1/8. Then, since ‖F‖ ≥ 1/2,
// 2^Δ ‖R‖ < 2^50, and E_(t+1) = q E_t + 0.51 bounds the norms of all e. They never exceed E_0 + 1,
// so that ‖r‖ ≤ n (E_0 + 1), and |d_i| ≤ 2^Δ (E_0 + 1) + E_0 + 1. These are less than 2^62 by the
// choice of Δ: r fits w + 1 words, and d an int64.
//
// rho is the norm of the float64 matrix I - R F~, where F~ has the float64 numbers nearest to F's
// highest 64 bits, |F~_ij - F_ij| ≤ u |F_ij| + 2^-62, plus the bound (n + 2) u (1 + ‖R‖ ‖F~‖) of
// its rounding errors, plus ‖R‖ ‖F~ - F‖ ≤ ‖R‖ (u ‖F‖ + n 2^-62).
package residual

import (
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// MaxOrder is the largest number of unknowns.
const MaxOrder = 64

// maxBits is the largest precision of results: the number of steps grows with it.
const maxBits = 4096

// Bytes bounds the memory of a Room for n unknowns and results of the given number of bits.
func Bytes(n, columns, bits int) int64 {
	steps := bits/leastShift + 8
	return int64(8*n*(n*(superacc.MaxOffsetWords+3)+2*(superacc.MaxOffsetWords+2)+2*steps+16)) + int64(n*columns)
}

// A Room is the memory of one thread.
type Room struct {
	n, words int
	a        superacc.OffsetVectors // the rows of A
	f, inv   []float64              // F~ and R, row by row
	rho      float64                // an upper bound of ‖I - R F‖
	norms    [2]float64             // upper bounds of ‖R‖ and ‖F‖
	delta    uint                   // Δ
	q        float64
	r        []uint64  // 2^(64 words - 1) r_i in two's complement, words + 1 words
	short    []float64 // r~
	digits   []int64   // d_t, step by step
	flipped  []uint64  // 2^63 - d
	// constants are from r.a.Constants.
	constants []uint64
	mag       []uint64
	pivot     []int
	ends      *num.Array // the ends of an enclosure, rounded
	done      []bool     // entries of the solution that are decided, column by column
}

// leastShift is the least Δ with which systems are solved.
const leastShift = 12

// Solve stores the entries of the solution X of A X = B that it decides, rounded to the format of
// z. It returns false if it has not decided all of them; Done reports which. A and B are on the
// host.
func (r *Room) Solve(a, b, z num.Mat) bool {
	n := a.Rows
	r.done = grown(r.done, z.Rows*z.Cols)
	clear(r.done)
	r.n = n
	if !Applies(a, b, z) || !r.prepare(a, b) || !r.invert() || !r.plan() {
		return false
	}
	all := true
	for j := range b.Cols {
		all = r.column(b, z, j) && all
	}
	return all
}

// Done reports whether the last Solve decided entry (i, j).
func (r *Room) Done(i, j int) bool { return r.done[j*r.n+i] }

// fasterOrder is the order up to which Solve is faster than other ways, and fasterShort this order
// for results of at most 53 bits: "ways" of bench/records/xeon-amx-batch.json.gz.
const fasterOrder, fasterShort = 64, 24

// Faster reports whether Solve applies to A X = B, for X in format f, and is likely to be faster
// than other ways.
func Faster(a, b num.Mat, f num.Format) bool {
	most := fasterOrder
	if f.Bits() <= 53 {
		most = fasterShort
	}
	return a.Rows > 0 && a.Rows <= most && b.Cols > 0 && b.Cols <= 4 && f.Bits() <= maxBits && single(a.Arr.Format) && single(b.Arr.Format) && single(f)
}

// Applies reports whether Solve may decide a system of this shape and these formats.
func Applies(a, b, z num.Mat) bool {
	return a.Rows > 0 && a.Rows <= MaxOrder && z.Arr.Format.Bits() <= maxBits && single(a.Arr.Format) && single(b.Arr.Format) && single(z.Arr.Format)
}

// single reports whether the numbers of format f are significands with one exponent.
func single(f num.Format) bool {
	return f.Kind == num.MP || f.Kind == num.F64 || f.Kind == num.F32
}

func grown[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

// exponent returns the class of entry (i, j), and e with |m_ij| < 2^e if it is finite.
func exponent(m num.Mat, at int) (num.Class, int64) {
	if m.Arr.Kind == num.MP {
		return m.Arr.Cls[at].Class(), int64(m.Arr.Exp[at])
	}
	var w uint64
	c, e := superacc.FloatWord(&w, superacc.FloatAt(m.Arr, at))
	return c.Class(), int64(e)
}

// prepare makes integers of A, in as many words as A and B need. It returns false if there are
// infinities, NaN or a row of zeros, or if words do not suffice.
func (r *Room) prepare(a, b num.Mat) bool {
	n := r.n
	// Most matrices need some bits more than the precision.
	words := min(superacc.MaxOffsetWords, (max(a.Arr.Format.Bits(), b.Arr.Format.Bits())+12+63)/64)
	r.words = superacc.OffsetWords(words)
	r.a.Set(a, r.words)
	width := int64(0)
	for i := range n {
		if r.a.Class[i] != num.Finite {
			return false
		}
		width = max(width, r.a.Exp[i]-r.a.Low[i])
	}
	width += int64(a.Arr.Format.Bits())
	for j := range b.Cols {
		top, low := int64(math.MinInt64), int64(math.MaxInt64)
		for i := range n {
			c, e := exponent(b, b.At(i, j))
			switch {
			case c > num.Finite:
				return false
			case c == num.Finite:
				top, low = max(top, e-r.a.Exp[i]), min(low, e-r.a.Exp[i])
			}
		}
		if top != math.MinInt64 {
			width = max(width, top-low+int64(b.Arr.Format.Bits()))
		}
	}
	if width > 64*superacc.MaxOffsetWords-1 {
		return false
	}
	if need := superacc.OffsetWords(int(width+1+63) / 64); need > r.words {
		r.words = need
		r.a.Set(a, need)
	}
	r.constants = r.a.Constants(r.constants)
	return true
}

// invert computes F~, R and bounds. It returns false if R is not near an inverse.
func (r *Room) invert() bool {
	n, w := r.n, r.words
	r.f, r.inv, r.pivot = grown(r.f, n*n), grown(r.inv, n*n), grown(r.pivot, n)
	normF := 0.0
	for i := range n {
		sum := 0.0
		for j := range n {
			x := float64(int64(r.a.U[(i*n+j)*w+w-1]^1<<63)) * 0x1p-63
			r.f[i*n+j] = x
			sum += math.Abs(x)
		}
		normF = max(normF, sum)
	}
	copy(r.inv, r.f)
	if !invert(r.inv, n, r.pivot) {
		return false
	}
	normR, rest := 0.0, 0.0 // rest is the norm of R F~ - I
	row := grown(r.short, n)
	r.short = row
	for i := range n {
		sum := 0.0
		clear(row)
		row[i] = -1
		x := r.inv[i*n : (i+1)*n]
		for _, v := range x {
			sum += math.Abs(v)
		}
		dgemm.Combine(r.f, n, x, row)
		normR = max(normR, sum)
		sum = 0.0
		for _, x := range row {
			sum += math.Abs(x)
		}
		rest = max(rest, sum)
	}
	// The factor covers the errors of the sums of magnitudes, and of these bounds.
	const up = 1 + 0x1p-40
	r.norms = [2]float64{up * normR, up * (normF + float64(float64(n)*0x1p-52))}
	product := float64(r.norms[0] * r.norms[1])
	r.rho = float64(up*rest) + float64(float64(2*n+8)*0x1p-53*(1+product))
	return r.rho < 0x1p-16
}

// invert replaces the n x n matrix a, stored row by row, by an approximate inverse, by elimination
// with exchanges of rows in place. It returns false if a pivot is 0.
func invert(a []float64, n int, pivot []int) bool {
	for k := range n {
		p, most := k, uint64(0) // magnitudes are compared as integers, without branches
		for i := k; i < n; i++ {
			x := math.Float64bits(a[i*n+k]) &^ (1 << 63)
			if x > most {
				p = i
			}
			most = max(most, x)
		}
		if most == 0 {
			return false
		}
		pivot[k] = p
		row := a[k*n : (k+1)*n]
		if p != k {
			other := a[p*n : (p+1)*n]
			for j, x := range row {
				row[j], other[j] = other[j], x
			}
		}
		scale := 1 / row[k]
		row[k] = 1
		for j := range row {
			row[j] *= scale
		}
		dgemm.Eliminate(a, n, k)
	}
	for k := n - 1; k >= 0; k-- {
		if p := pivot[k]; p != k {
			for i := 0; i < n*n; i += n {
				a[i+k], a[i+p] = a[i+p], a[i+k]
			}
		}
	}
	return true
}

// plan chooses Δ. It returns false if a step would decide too few bits.
func (r *Room) plan() bool {
	errors := float64(r.n+4) * 0x1p-52 // n + 4 is one more than needed
	bound := r.rho + float64(errors*r.norms[0]*r.norms[1])
	r.delta = uint(max(0, min(48, -math.Ilogb(bound)-4))) // 2^Δ bound ≤ 1/8
	for r.delta > 0 && math.Ldexp(1, int(r.delta))*(r.start()+2)*1.01 >= 0x1p60 {
		r.delta--
	}
	r.q = math.Ldexp(bound, int(r.delta))
	return r.delta >= leastShift
}

// start returns E_0.
func (r *Room) start() float64 { return 1.0001 * r.norms[0] / (1 - r.rho) }

// extraSteps bounds the steps for entries that are left open although the others are decided.
const extraSteps = 2

// column solves for column j of B, and reports whether it has decided all entries.
func (r *Room) column(b, z num.Mat, j int) bool {
	n := r.n
	sigma, ok := r.side(b, j)
	if !ok { // the column is 0
		for i := range n {
			r.done[j*n+i] = z.Arr.Set(z.At(i, j), num.Real{}) == 0
		}
		return true
	}
	bound, steps, most, last := r.start(), 0, 1, 0
	for {
		exact := r.shorten()
		if exact {
			bound = 0
		}
		if exact || steps == most {
			if r.round(z, j, steps, sigma, bound) {
				return true
			}
			if most++; exact || most > last {
				return false
			}
		}
		if !r.step(steps) {
			return false
		}
		bound = 1.0001*r.q*bound + 0.51 // may fuse: the factor covers the rounding errors
		if steps++; steps == 1 {
			most = r.steps(z.Arr.Format.Bits())
			last = most + extraSteps
		}
	}
}

// side stores h for column j of B as the first residual. It returns σ, not ok for a column of
// zeros.
func (r *Room) side(b num.Mat, j int) (sigma int64, ok bool) {
	n, w := r.n, r.words
	sigma = math.MinInt64
	for i := range n {
		if c, e := exponent(b, b.At(i, j)); c == num.Finite {
			sigma = max(sigma, e-r.a.Exp[i])
		}
	}
	if sigma == math.MinInt64 {
		return 0, false
	}
	r.r = grown(r.r, n*(w+1))
	for i := range n {
		x := r.r[i*(w+1) : (i+1)*(w+1)]
		clear(x)
		at := b.At(i, j)
		c, e := exponent(b, at)
		if c != num.Finite {
			continue
		}
		var word [1]uint64
		var neg bool
		mag := word[:]
		if b.Arr.Kind == num.MP {
			l := b.Arr.Limbs()
			mag, neg = b.Arr.Sig[at*l:(at+1)*l], b.Arr.Cls[at].Neg()
		} else {
			cls, _ := superacc.FloatWord(&word[0], superacc.FloatAt(b.Arr, at))
			neg = cls.Neg()
		}
		// h_i = 0.mag 2^-d, d ≥ 0, in units of 2^-(64 w - 1).
		up := int64(64*(w-len(mag))-1) - (sigma - (e - r.a.Exp[i]))
		for k := range w {
			x[k] = num.WordAt(mag, int64(64*k)-up)
		}
		if neg {
			num.Negate(x)
		}
	}
	return sigma, true
}

// shorten stores r~, and reports whether r is 0.
func (r *Room) shorten() bool {
	size := r.words + 1
	r.short = grown(r.short, r.n)
	zero := true
	for i := range r.short {
		x := r.r[i*size : (i+1)*size]
		high, low := x[size-1], x[size-2]
		if zero && high|low != 0 {
			zero = false
		}
		sign := uint64(int64(high) >> 63)
		var c uint64
		low, c = bits.Add64(low^sign, sign&1, 0)
		high = high ^ sign + c
		// Integers less than 2^63 are converted faster: the lowest bit of low is cut off, in all
		// less than 2 units of low or 2^-62.
		v := float64(int64(high))*2 + float64(int64(low>>1))*0x1p-62 // may fuse: exact products
		r.short[i] = math.Float64frombits(math.Float64bits(v) ^ sign<<63)
	}
	return zero && num.IsZero(r.r[:r.n*size])
}

// step computes digits t and the next residual.
func (r *Room) step(t int) bool {
	n, w := r.n, r.words
	for len(r.digits) < (t+1)*n {
		r.digits = append(r.digits, 0)
	}
	d := r.digits[t*n : (t+1)*n]
	r.flipped = grown(r.flipped, n)
	scale := math.Float64frombits(uint64(1023+r.delta) << 52)
	var sum [2]uint64 // Σ (2^63 - d_j)
	store := func(i int, v float64) bool {
		v = math.RoundToEven(v * scale)
		if !(math.Abs(v) < 0x1p62) {
			return false
		}
		d[i] = int64(v)
		f := 1<<63 - uint64(d[i])
		r.flipped[i] = f
		var c uint64
		sum[0], c = bits.Add64(sum[0], f, 0)
		sum[1] += c
		return true
	}
	x := r.short
	for i := 0; i < n; i += 4 {
		// The last rows again where fewer than four are left.
		rows := min(4, n-i)
		row := func(k int) []float64 {
			at := (i + min(k, rows-1)) * n
			return r.inv[at:][:len(x)]
		}
		a0, a1, a2, a3 := row(0), row(1), row(2), row(3)
		var s [4]float64
		for k, v := range x {
			s[0] += a0[k] * v // may fuse: the bound of η holds for both
			s[1] += a1[k] * v // may fuse: the bound of η holds for both
			s[2] += a2[k] * v // may fuse: the bound of η holds for both
			s[3] += a3[k] * v // may fuse: the bound of η holds for both
		}
		for k := range rows {
			if !store(i+k, s[k]) {
				return false
			}
		}
	}
	for i := range n {
		r.a.StepRow(r.r[i*(w+1):(i+1)*(w+1)], i, r.delta, r.constants, r.flipped, &sum)
	}
	return true
}

// steps returns how many steps are likely to decide all entries of the given number of bits, from
// the first digits.
func (r *Room) steps(wanted int) int {
	least, most := 64, 0
	for _, d := range r.digits[:r.n] {
		l := bits.Len64(uint64(max(d, -d)))
		most = max(most, l)
		if l > 0 {
			least = min(least, l)
		}
	}
	least = max(least, most-40)
	return 1 + max(0, wanted+guardBits-least+int(r.delta)-1)/int(r.delta)
}

// guardBits are the bits that entries are computed beyond those of the format: some 2^-guardBits of
// all entries take another step.
const guardBits = 10

// round decides entries of column j from the digits of some steps, with bound above ‖e‖, or 0 if e
// is 0.
func (r *Room) round(z num.Mat, j, steps int, sigma int64, bound float64) bool {
	n := r.n
	e := sigma - int64(int(r.delta)*steps)
	need := (int(r.delta)*steps)/64 + 4
	r.mag = grown(r.mag, need)
	all := true
	limit := uint64(bound) + 1
	for i := range n {
		if r.done[j*n+i] {
			continue
		}
		mag, sign := r.join(i, steps)
		at := z.At(i, j)
		var done bool
		switch {
		case bound == 0:
			done = z.Arr.Set(at, num.Real{Class: num.Finite, Neg: sign != 0 && !num.IsZero(mag), Mag: mag[1:], Exp: e}) == 0
		case z.Arr.Kind == num.MP:
			done = z.Arr.SetNear(at, mag, e-64, sign, limit, 64)
		default:
			done = r.float(z, at, mag[1:], sign, e, limit)
		}
		r.done[j*n+i] = done
		all = all && done
	}
	return all
}

// join returns the magnitude of Σ_t 2^(Δ (steps - 1 - t)) d_t,i behind a word 0, and its sign, 0 or
// 1.
func (r *Room) join(i, steps int) (mag []uint64, sign uint64) {
	var low uint64
	var high int64
	k, pos := 0, uint(0)
	r.mag[0] = 0
	for t := steps - 1; t >= 0; t-- {
		if pos >= 64 {
			k++
			r.mag[k] = low
			low, high = uint64(high), high>>63
			pos -= 64
		}
		d := r.digits[t*r.n+i]
		var c uint64
		low, c = bits.Add64(low, uint64(d)<<(pos&63), 0)
		high += d>>1>>((63-pos)&63) + int64(c)
		pos += r.delta
	}
	r.mag[k+1], r.mag[k+2] = low, uint64(high)
	mag = r.mag[:k+3]
	if high < 0 {
		num.Negate(mag)
		return mag, 1
	}
	return mag, 0
}

// float stores ±mag 2^e, known to within limit 2^e, in a number of kind F64 or F32 if the rounding
// is decided.
func (r *Room) float(z num.Mat, at int, mag []uint64, sign uint64, e int64, limit uint64) bool {
	v := num.Real{Class: num.Finite, Neg: sign != 0, Mag: mag, Exp: e}
	add := func(x uint64) {
		for k := 0; k < len(mag) && x != 0; k++ {
			mag[k], x = bits.Add64(mag[k], x, 0)
		}
	}
	if num.BitLen(mag) < bits.Len64(limit)+2 {
		return false // its sign is unknown
	}
	if r.ends == nil || r.ends.Format != z.Arr.Format {
		r.ends = num.New(z.Arr.Format, 2)
	}
	add(limit)
	flags := r.ends.Set(0, v)
	num.SubShifted(mag, []uint64{2 * limit})
	if flags|r.ends.Set(1, v) != 0 || !r.ends.SameBits(0, r.ends, 1) {
		return false
	}
	z.Arr.CopyFrom(at, r.ends, 0)
	return true
}
