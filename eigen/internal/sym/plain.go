package sym

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// Bounds whose magnitudes are all between 2^-plainExp and 2^plainExp, or 0, are kept as float64
// numbers, and the loops over the entries of S and R run in float64 arithmetic. All terms of a sum
// are positive, so a sum of n terms of at most 32 operations each is in error by a factor of 1 ± (n
// + 64) 2^-53 at most, which raised covers. Products of three such numbers do not underflow; what
// terms with more factors lose is added in the end.
const plainExp = 250

const (
	plainLeast = 1.0 / (1 << 50) / (1 << 50) / (1 << 50) / (1 << 50) / (1 << 50)
	plainMost  = 1.0 / plainLeast
)

// plain has the numbers of a state as float64 bounds.
type plain struct {
	hi, lo                     []float64 // d, in error by less than 2^-96 |d|
	size, lost                 []float64 // dSize and dLost
	rowS, rowR                 []float64
	longS, lostS, longR, lostR []float64 // nil for zeros
	image                      []float64
	alpha                      float64
	raised                     float64
}

// plainly returns the bound as a float64 number; ok is false if it is out of range.
func (x size) plainly() (z float64, ok bool) {
	if x.m == 0 {
		return 0, true
	}
	if x.e <= -plainExp || x.e > plainExp {
		return 0, false
	}
	return float64(x.m * math.Float64frombits(uint64(1023+x.e)<<52)), true
}

// sized returns a float64 bound as a size.
func sized(x float64) size { return normal(x, 0) }

// plainlyAll is plainly for several numbers.
func plainlyAll(x []size, ok *bool) []float64 {
	if x == nil {
		return nil
	}
	z := make([]float64, len(x))
	for i, v := range x {
		f, in := v.plainly()
		z[i], *ok = f, *ok && in
	}
	return z
}

// boundS bounds entry (i, j) of S, and boundR entry (i, j) of R.
func (t *state) boundS(i, j int) size {
	if t.fs != nil {
		return sized(t.fs[i+j*t.n])
	}
	return t.sb[i+j*t.n]
}

func (t *state) boundR(i, j int) size {
	if t.fr != nil {
		return sized(t.fr[i+j*t.n])
	}
	return t.rb[i+j*t.n]
}

// plainBounds computes fs and fr, in memory of p, rowS, rowR and the squares of the norms of the
// columns of R. ok is false if a number is out of range.
func (t *state) plainBounds(p *problem, squares []size) (ok bool, err error) {
	n := t.n
	fs, fr := p.floats()
	ok = true
	longS, lostS := plainlyAll(t.longS, &ok), plainlyAll(t.lostS, &ok)
	longR, lostR := plainlyAll(t.longR, &ok), plainlyAll(t.lostR, &ok)
	if !ok {
		return false, nil
	}
	failed := make([]bool, max(1, t.s.Threads))
	rooms := make([][2][tall * stripe]float64, len(failed))
	if err := t.tiles(func(w int, z tile) {
		room := &rooms[w]
		z.each(func(i, j int) {
			v, in := plainOf(t.sm.Arr, t.sm.At(i, j))
			x, in2 := plainOf(t.r.Arr, t.r.At(i, j))
			if lostS != nil {
				v = (v + float64(longS[i]*lostS[j])) * (1 + 0x1p-50)
			}
			if lostR != nil {
				x = (x + float64(longR[i]*lostR[j])) * (1 + 0x1p-50)
			}
			if !in || !in2 || v != 0 && v < plainLeast || x != 0 && x < plainLeast {
				failed[w] = true
			}
			fs[i+j*n], fr[i+j*n] = v, x
			room[0][z.at(i, j)], room[1][z.at(i, j)] = v, x
		})
		z.mirrored(func(i, j int) {
			fs[j+i*n], fr[j+i*n] = room[0][z.at(i, j)], room[1][z.at(i, j)]
		})
	}); err != nil {
		return false, err
	}
	for _, f := range failed {
		if f {
			return false, nil
		}
	}
	t.fs, t.fr = fs, fr
	raised := 1 + float64(float64(n+64)*0x1p-52)
	return true, par.For(t.s.Ctx, t.s.Threads, n, func(_, j int) {
		a, b := 0.0, 0.0
		for i, v := range fs[j*n : (j+1)*n] {
			if i != j {
				w := fr[i+j*n]
				a += float64(v * v)
				b += float64(w * w)
			}
		}
		t.rowS[j], t.rowR[j] = sized(a*raised).sqrt(), sized(b*raised).sqrt()
		w := fr[j+j*n]
		squares[j] = sized((b + float64(w*w)) * raised)
	})
}

// plainOf returns a bound of the magnitude of number at of a, in MP; ok is false if it is out of
// range.
func plainOf(a *num.Array, at int) (z float64, ok bool) {
	if a.Cls[at].Class() != num.Finite {
		return 0, true
	}
	e, l := a.Exp[at], a.Limbs()
	if e <= -plainExp || e >= plainExp {
		return 0, false
	}
	// The top 53 bits, rounded up.
	x := float64(a.Sig[at*l+l-1]>>11+1) * 0x1p-53
	return float64(x * math.Float64frombits(uint64(1023+int64(e))<<52)), true
}

// plainly prepares the loops in float64 arithmetic. t.plain stays nil if a number is out of range.
func (t *state) plainly() {
	if t.fs == nil {
		return
	}
	ok := true
	all := func(x []size) []float64 { return plainlyAll(x, &ok) }
	p := &plain{
		hi: make([]float64, t.n), lo: make([]float64, t.n), size: all(t.dSize), lost: all(t.dLost), rowS: all(t.rowS), rowR: all(t.rowR),
		longS: all(t.longS), lostS: all(t.lostS), longR: all(t.longR), lostR: all(t.lostR), image: all(t.image),
		raised: 1 + float64(float64(t.n+64)*0x1p-52),
	}
	alpha, in := t.alpha.plainly()
	if p.alpha = alpha; !ok || !in {
		return
	}
	for i, x := range t.near {
		if x.hi != 0 {
			f := math.Float64frombits(uint64(1023+x.e) << 52)
			p.hi[i], p.lo[i] = float64(x.hi*f), float64(x.lo*f)
		}
	}
	t.plain = p
}

// apart returns a lower bound of |d_i - d_j|, which may be 0 or less. The difference of the high
// parts is exact if they are within a factor of 2; otherwise it is at least half of the larger one.
// So the sum is in error by 2^-51 of itself, and by 2^-95 of the larger number: low parts are below
// 2^-51 of that.
func (p *plain) apart(i, j int) float64 {
	d := math.Abs((p.hi[i] - p.hi[j]) + (p.lo[i] - p.lo[j]))
	return float64(d*(1-0x1p-49)) - float64(max(p.size[i], p.size[j])*0x1p-93)
}

// unlike reports whether columns i and k are proved to belong to different clusters; see couple.
func (t *state) unlike(i, k int) bool {
	if p := t.plain; p != nil {
		v := t.fs[k+i*t.n] + float64(max(p.size[i], p.size[k])*t.fr[k+i*t.n])
		if v*((1<<unresolved)*(1+0x1p-40)) < p.apart(i, k) {
			return true
		}
	}
	v := t.boundS(k, i).add(t.dSize[i].max(t.dSize[k]).mul(t.boundR(k, i)))
	return v.shifted(unresolved).less(t.apart(i, k))
}

// quotient bounds the magnitude of a first-order correction.
func (t *state) quotient(i, j int) size {
	if p := t.plain; p != nil {
		if g := p.apart(i, j); g > plainLeast {
			v := t.fs[i+j*t.n] + float64(max(p.size[i], p.size[j])*t.fr[i+j*t.n])
			return sized(v / g)
		}
	}
	v := t.boundS(i, j).add(t.dSize[i].max(t.dSize[j]).mul(t.boundR(i, j)))
	return v.over(t.apart(i, j))
}

// couplings are sums over the columns k of the other clusters, in the notation of enclose: of
// x_k²/gap_k, (x_k/gap_k)², x_k ρ_k/gap_k and (ρ_k/gap_k)². nearest is the least distance of
// another d from the center.
type couplings struct {
	sum, gap, row, theta, nearest size
}

// plainCouplings returns the couplings of column i, a cluster of its own. ok is false if numbers
// are out of range.
func (t *state) plainCouplings(i int, inner size, room *gapRoom) (z couplings, ok bool) {
	p, n := t.plain, t.n
	if p == nil {
		return z, false
	}
	in, ok := inner.plainly()
	if !ok {
		return z, false
	}
	in = float64(in * (1.5 * (1 + 0x1p-50)))
	if room.floats == nil {
		room.floats = make([]float64, n)
	}
	gaps := room.floats
	nearest := math.Inf(1)
	for k := range n {
		if k == i {
			continue
		}
		// Rounding errors are less than 2^-48 of the first term.
		a := p.apart(k, i)
		g := float64(a*(1-0x1p-48)) - in
		gaps[k] = g
		nearest = min(nearest, g)
	}
	if !(nearest >= plainLeast) {
		return z, false
	}
	near := nearest
	if n == 1 {
		near = 0
	}
	m := (p.size[i] + in + float64(near/128)) * (1 + 0x1p-48)
	sum, sumGap, sumRow, theta, any := 0.0, 0.0, 0.0, 0.0, false
	fs, fr := t.fs[i*n:(i+1)*n], t.fr[i*n:(i+1)*n]
	for k := range n {
		if k == i {
			continue
		}
		// |D_kk| ≥ (1 - ‖R‖) |d_k - m| - error; rounding errors are less than 2^-48 of gaps.
		g := gaps[k]
		g = float64(g*((1-0x1p-6-0x1p-45)*(1-p.alpha))) - float64(p.lost[k]*1.25)
		if !(g >= plainLeast) {
			return z, false
		}
		inverse := 1 / g
		v := fs[k] + float64(m*fr[k])
		row := (p.rowS[k] + float64(m*p.rowR[k])) * inverse
		x := v * inverse
		sum += float64(x * v)
		sumGap += float64(x * x)
		sumRow += float64(row * v)
		theta += float64(row * row)
		any = any || row > 0 || v > 0
	}
	if any { // terms below 2^-1022 may be 0
		sum, sumGap, sumRow, theta = sum+0x1p-980, sumGap+0x1p-980, sumRow+0x1p-980, theta+0x1p-980
	}
	if math.IsInf(sum+sumGap+sumRow+theta, 0) {
		return z, false
	}
	return couplings{sized(sum * p.raised), sized(sumGap * p.raised), sized(sumRow * p.raised), sized(theta * p.raised), sized(near)}, true
}

// plainDistance returns the sums of distances for column j of cluster c, the squares of z and the
// terms of pull, with rad and cut. ok is false if numbers are out of range.
func (t *state) plainDistance(j int, c *cluster, rad, cut size) (squares, pull size, ok bool) {
	p, n := t.plain, t.n
	if p == nil {
		return squares, pull, false
	}
	r, ok1 := rad.plainly()
	base, ok2 := cut.plainly()
	tilt, ok3 := c.tilt.plainly()
	if !ok1 || !ok2 || !ok3 {
		return squares, pull, false
	}
	most := (p.size[j] + r) * (1 + 0x1p-50)
	sum, image, any := 0.0, 0.0, false
	fs, fr := t.fs[j*n:(j+1)*n], t.fr[j*n:(j+1)*n]
	for k := range n {
		if t.of[k] == t.of[j] {
			continue
		}
		// Rounding errors are less than 2^-48 of the first term.
		a := p.apart(j, k)
		g := float64((float64(a*(1-0x1p-47))-float64(2*r)-float64(2*p.lost[k]))*(1-0x1p-47)) * (1 - p.alpha)
		if !(g >= plainLeast) {
			return squares, pull, false
		}
		inverse := 1 / g
		x := fs[k] + float64(most*fr[k])
		row := p.rowS[k] + float64(most*p.rowR[k])
		relative := base + float64(2*t.fr[k+k*n]) + float64(float64(2*(r+p.lost[k]))*inverse)
		v := float64(row*tilt) + float64(r*fr[k]) + float64(x*relative)
		lo, hi := min(j, k), max(j, k)
		if p.lostS != nil {
			v += float64(p.longS[lo] * p.lostS[hi])
		}
		if p.lostR != nil {
			v += float64(most * float64(p.longR[lo]*p.lostR[hi]))
		}
		v *= inverse
		any = any || v > 0
		sum += float64(v * v)
		if p.image != nil {
			image += float64(p.image[k] * v)
		}
	}
	if any { // terms below 2^-1022 may be 0
		sum += 0x1p-980
		if p.image != nil {
			image += 0x1p-980
		}
	}
	if math.IsInf(sum+image, 0) {
		return squares, pull, false
	}
	return sized(sum * p.raised), sized(image * p.raised), true
}

// A double is the unevaluated sum hi + lo.
type double struct{ hi, lo float64 }

// doubleOf returns number at of a, in MP, cut to 106 bits or more precise than that.
func doubleOf(a *num.Array, at int) (z double) {
	if a.Cls[at].Class() != num.Finite {
		return z
	}
	l := a.Limbs()
	w := a.Sig[at*l : at*l+l]
	top := w[l-1]
	rest := top << 53
	if l > 1 {
		rest |= w[l-2] >> 11
	}
	f := math.Float64frombits(uint64(1023+int64(a.Exp[at])) << 52)
	z = double{float64(float64(top>>11) * float64(f*0x1p-53)), float64(float64(rest>>11) * float64(f*0x1p-106))}
	if a.Cls[at].Neg() {
		z.hi, z.lo = -z.hi, -z.lo
	}
	return z
}

// store rounds z to number at of a, in MP of at most 64 bits.
func (z double) store(a *num.Array, at int) {
	hi, lo := quickTwoSum(z.hi, z.lo)
	if hi == 0 {
		a.SetFloat64(at, 0)
		return
	}
	neg := hi < 0
	if neg {
		hi, lo = -hi, -lo
	}
	b := math.Float64bits(hi)
	e := int64(b>>52) - 1022 // 1/2 ≤ hi 2^-e < 1
	// |lo| is at most 2^-53 of hi, half of a unit of its last place.
	mag := (b&(1<<52-1) | 1<<52) << 11
	unit := math.Float64frombits(uint64(1023+64-e) << 52)
	if below := int64(math.RoundToEven(float64(lo * unit))); below < 0 && mag == 1<<63 {
		mag, e = uint64(below<<1), e-1 // 2^64 + 2 below
	} else {
		mag += uint64(below)
	}
	if drop := 64 - a.Bits(); drop > 0 {
		half := uint64(1) << (drop - 1)
		if mag+half < mag {
			mag, e = 1<<63, e+1
		} else {
			mag = (mag + half) >> drop << drop
		}
	}
	a.Sig[at], a.Exp[at], a.Cls[at] = mag, int32(e), num.MakeCls(neg, num.Finite)
}

// plainCorrection is the step of correction for the entries k < j of different clusters, of which
// small has the smaller |d|, in arithmetic with errors below 2^-95 of the terms. of is entry
// (large, small) of E, and other entry (small, large). ok reports whether they are precise enough:
// the difference of d must not lose more than 28 bits.
func (t *state) plainCorrection(bits, k, j, small, large int) (of, other double, ok bool) {
	p := t.plain
	if p == nil || bits > 64 {
		return of, other, false
	}
	gap, low := twoSum(p.hi[small], -p.hi[large])
	gap, low = twoSum(gap, low+(p.lo[small]-p.lo[large]))
	if !(math.Abs(gap) >= float64(0x1p-28*p.size[large])) || math.Abs(gap) < plainLeast {
		return of, other, false
	}
	r, m := doubleOf(t.r.Arr, t.r.At(k, j)), doubleOf(t.sm.Arr, t.sm.At(k, j))
	hi := p.hi[small]
	product := float64(hi * r.hi)
	rest := math.FMA(hi, r.hi, -product) + float64(hi*r.lo) + float64(p.lo[small]*r.hi)
	v, w := twoSum(m.hi, product)
	v, w = twoSum(v, w+(m.lo+rest))
	q := v / gap
	q, c := quickTwoSum(q, (math.FMA(-q, gap, v)+(w-float64(q*low)))/gap)
	a, b := twoSum(r.hi, -q)
	return double{q, c}, double{a, b + (r.lo - c)}, true
}
