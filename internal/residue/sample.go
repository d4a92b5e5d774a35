package residue

import (
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/plan"
	"github.com/halfulp/halfulp/internal/superacc"
)

// The choice of widths samples one of samplePart entries, but at least minSamples and at most
// maxSamples.
const (
	samplePart = 1000
	minSamples = 16
	maxSamples = 64
	// sampleProducts is the number of multiplications for which a thread is worthwhile.
	sampleProducts = 1 << 13
)

var one = num.Real{Class: num.Finite, Mag: []uint64{1}}

// samples measures entries spread over the product A B. How far an entry lies below 2^(exponents of
// its vectors) determines the number of bits that its rounding needs.
func (p *product) samples(l, r *operand) ([]plan.Sample, error) {
	entries := l.n * r.n
	count := min(entries, max(minSamples, min(maxSamples, entries/samplePart)))
	if p.within != nil {
		count = min(count, samplesBounded)
	}
	all, taken := make([]plan.Sample, count), make([]bool, count)
	threads := max(1, min(p.cfg.Threads, count*l.k/sampleProducts))
	accs := make([]superacc.Acc, threads)
	err := par.For(p.cfg.Ctx, threads, count, func(id, s int) {
		// A Weyl sequence over the rows and columns.
		i := int(math.Mod((float64(s)+0.5)*0.7548776662466927, 1) * float64(l.n))
		j := int(math.Mod((float64(s)+0.5)*0.5698402909980532, 1) * float64(r.n))
		if l.special[i] || r.special[j] || p.skip(i, j) {
			return
		}
		size := p.size(&accs[id], i, j, l.exp[i], r.exp[j])
		all[s], taken[s] = plan.Sample{Size: size, NormL: math.Log2(l.norm[i]), NormR: math.Log2(r.norm[j])}, true
	})
	var out []plan.Sample
	for s, x := range all {
		if taken[s] {
			out = append(out, x)
		}
	}
	return out, err
}

// size returns the exponent of entry (i, j) relative to 2^(expL + expR), the exponents of its
// vectors; -Inf for 0.
func (p *product) size(acc *superacc.Acc, i, j int, expL, expR int64) float64 {
	exp := expL + expR
	if p.within != nil {
		return p.sizeBounded(acc, i, j, exp)
	}
	if size, ok := approximate(p.a.Row(i), p.b.Row(j), expL, expR); ok {
		return size
	}
	zero := num.Real{Class: num.Zero}
	v := acc.Entry(num.Float64, one, p.a.Row(i), p.b.Row(j), zero, zero)
	if v.Class != num.Finite {
		return math.Inf(-1)
	}
	return float64(v.Exp + int64(num.BitLen(v.Mag)) - exp)
}

// sizeBounded returns the exponent of entry (i, j) of a bounded product, divided by alpha, relative
// to 2^exp; -Inf for 0.
func (p *product) sizeBounded(acc *superacc.Acc, i, j int, exp int64) float64 {
	var old num.Real
	var buf [num.MaxValueWords]uint64
	if !p.beta.zero {
		old = p.old.Arr.Value(p.old.At(i, j), buf[:])
	}
	v := acc.Entry(num.Format{Kind: num.MP, Prec: 64}, one, p.a.Row(i), p.b.Row(j), p.factor(), old)
	if v.Class != num.Finite {
		return math.Inf(-1)
	}
	return float64(v.Exp + int64(num.BitLen(v.Mag)) - exp)
}

// far bounds the exponents of vectors for which all products are within the range of float64.
const far = 400

// approximate returns the exponent of the dot product of x and y relative to 2^(expX + expY), the
// exponents of the vectors, rounded up. It computes in binary64, and returns false if cancellation
// or underflow spoils the result.
func approximate(x, y num.Vec, expX, expY int64) (size float64, ok bool) {
	var sum, abs float64
	if x.Arr.Kind == num.F64 && y.Arr.Kind == num.F64 && max(expX, -expX, expY, -expY) < far {
		xs, ys := x.Arr.F64[0], y.Arr.F64[0]
		for h := range x.N { // neighbours may be far apart: fetching them dominates the time
			t := float64(xs[x.At(h)] * ys[y.At(h)])
			sum += t
			abs += math.Abs(t)
		}
		scale := math.Ldexp(1, int(-expX-expY))
		sum, abs = float64(sum*scale), float64(abs*scale)
	} else {
		for h := range x.N {
			a, ea := x.Arr.Leading(x.At(h))
			b, eb := y.Arr.Leading(y.At(h))
			t := float64(a * b * pow2(ea+eb-expX-expY))
			sum += t
			abs += math.Abs(t)
		}
	}
	if math.Abs(sum) < 0x1p-30*abs || abs < 0x1p-900 {
		return 0, false
	}
	_, e := math.Frexp(sum)
	return float64(e), true
}
