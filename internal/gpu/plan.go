package gpu

import (
	"math"
	"sort"

	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/num"
)

// totals are the extremes of the vectors of an operand, as kernels/scan.cu makes them.
type totals struct {
	norm  float64 // of the largest sum of magnitudes in units of the vector's 2^exp
	width int64   // bits that hold every vector exactly
	flags uint32
	_     uint32
}

// A sample is what is known of one entry of the result, as kernels/scan.cu makes it: its
// exponent over alpha relative to those of its vectors, noSize or less for zero, and their norms.
// If cancelled is not 0 the old entry cancels the product, and size is that of either.
type sample struct{ size, normL, normR, cancelled float64 }

const noSize = -1e8

// maxSamples is the number of entries that the choice of widths looks at.
const maxSamples = 64

// A shape is what the cost of a product depends on, its operands' numbers aside.
type shape struct {
	m, n, k        int
	format         num.Format // of the result
	limbsL, limbsR int        // 32-bit words of the operands' numbers
	termsL, termsR int        // binary64 terms of the operands' numbers, 1 if not expansions
}

// shapeOf returns the shape of an m x k matrix by a k x n one, of formats a and b.
func shapeOf(m, n, k int, a, b, result num.Format) shape {
	return shape{
		m: m, n: n, k: k, format: result,
		limbsL: words32(a), limbsR: words32(b),
		termsL: termsOf(a), termsR: termsOf(b),
	}
}

// A plan says how a product of integers runs: the number of moduli, the widths of the
// operands' integers, and what reconstruction drops.
type plan struct {
	moduli         int
	widthL, widthR int
	exactL, exactR bool // the widths hold the operands exactly
	cutWords       int
	cost           float64 // ns
}

// What work costs, in ns on an H100. The figures steer choices between correctly rounded
// ways and cannot change a result. go test -bench Gemm measures the stages that they
// stand for.
const (
	productCost  = 1.3e-6 // a multiply-add of bytes
	residueCost  = 8e-4   // a plane's residue of a number
	finishCost   = 1e-4   // a word of a modulus of an entry
	exactCost    = 1.5e-4
	exactPerTerm = 200
	exactLeast   = 300 // entries that take as long as one
)

// exactEntry is the cost of an entry in the exact pass.
func (s *shape) exactEntry() float64 {
	a, b := float64(s.limbsL), float64(s.limbsR)
	return exactCost * float64(s.k) * (exactPerTerm + 4*a*b + 30*(a+b))
}

// bits returns log2 of a bound on the integer product: sum a' b' <= ||a'||_1 2^widthR and the
// same with a and b exchanged. Rounding adds at most half a unit, times the terms'
// roundings, to each of the k numbers of a norm.
func (q *plan) bits(s *shape, l, r totals) float64 {
	normL, normR := l.norm, r.norm
	if !q.exactL {
		normL += float64(s.k) * math.Exp2(roundings(s.termsL)-float64(q.widthL+1))
	}
	if !q.exactR {
		normR += float64(s.k) * math.Exp2(roundings(s.termsR)-float64(q.widthR+1))
	}
	return float64(q.widthL+q.widthR) + math.Log2(min(normL, normR)+1e-300)
}

// baseMargin is the room that a base leaves above the bound of the integers: sign, the
// rounding of log2, and the error of the quotient.
const baseMargin = 1.05

// logNorm is log2 of the smaller of the operands' norms.
func logNorm(l, r totals) float64 { return math.Log2(min(l.norm, r.norm) + 1e-300) }

// fill gives the operands the largest widths for which a base of log2M bits holds their
// product.
func (q *plan) fill(log2M float64, s *shape, l, r totals) {
	room := log2M - baseMargin
	for total := int(math.Floor(room - logNorm(l, r))); ; total-- {
		if q.split(total, l.width, r.width); total <= 0 || q.bits(s, l, r) <= room {
			return
		}
	}
}

// maxSteps is the number of steps of 32 digits that kernels/residues.cu takes in a pass. Only the
// digits of expansions have to fit one.
const maxSteps = 8

// stepsFor returns the steps of digits that hold integers |a| <= 2^width.
func stepsFor(width int) int { return (width + 2 + 8*stepBytes - 1) / (8 * stepBytes) }

// passes is the number of passes of kernels/residues.cu.
func (q *plan) passes() int { return (stepsFor(max(q.widthL, q.widthR)) + maxSteps - 1) / maxSteps }

// digitsFit reports whether the kernel takes the factors' digits.
func (q *plan) digitsFit(s *shape) bool { return q.passes() == 1 || max(s.termsL, s.termsR) == 1 }

// planFor chooses the cheapest base, or returns false if none suffices. More moduli make the
// products dearer and leave fewer entries to the exact pass: the cheapest base is the first
// that suffices, or one of those from the first on that leaves less than all of them.
func planFor(s shape, l, r totals, samples []sample) (plan, bool) {
	odds := s.odds(samples)
	best := plan{cost: math.Inf(1)}
	consider := func(count int) (more bool) {
		q := plan{moduli: count}
		q.fill(pool().bits[count], &s, l, r)
		if int64(q.widthL) < min(2, l.width) || int64(q.widthR) < min(2, r.width) {
			return true
		}
		if !q.digitsFit(&s) {
			return false
		}
		work := s.work(&q)
		if work >= best.cost {
			return false
		}
		q.cost = work + s.exactCost(odds.failure(&q))
		if q.cost < best.cost {
			best = q
		}
		return !q.exactL || !q.exactR
	}
	count, most := 1, len(pool().moduli)
	for ; best.moduli == 0 && count <= most && consider(count); count++ {
	}
	logNorm := logNorm(l, r)
	hopeless := sort.Search(most, func(count int) bool { // all entries fail with so many moduli
		var q plan
		q.split(int(pool().bits[count]-baseMargin-logNorm), l.width, r.width)
		return float64(max(q.widthL, q.widthR)) >= odds.least || q.exactL && q.exactR
	})
	for count = max(count, hopeless); count <= most && consider(count); count++ {
	}
	if best.moduli == 0 {
		return best, false
	}
	best.cutWords = best.cut(s, l, r, samples)
	return best, true
}

// work is the cost of a product but for the exact pass.
func (s *shape) work(q *plan) float64 {
	m, n, k := float64(s.m), float64(s.n), float64(s.k)
	planes := float64(pool().products(q.moduli))
	words := float64(q.widthL+q.widthR)/2/32 + 2
	return planes*(m*n*k*productCost+(m+n)*k*residueCost*float64(q.passes())) + float64(q.moduli)*words*m*n*finishCost
}

// exactCost is the cost of the exact pass for a share of the entries. A few take as long as
// many.
func (s *shape) exactCost(share float64) float64 {
	entries := share * float64(s.m) * float64(s.n)
	return s.exactEntry() * (entries + exactLeast*-math.Expm1(-entries))
}

// split divides total bits between the operands: equally, but never more than holds an
// operand exactly.
func (q *plan) split(total int, exactL, exactR int64) {
	w := total / 2
	q.widthL, q.widthR = w, total-w
	switch {
	case exactL <= int64(w) && exactL <= exactR:
		q.widthL = int(exactL)
		q.widthR = int(min(int64(total)-exactL, exactR))
	case exactR <= int64(w):
		q.widthR = int(exactR)
		q.widthL = int(min(int64(total)-exactR, exactL))
	}
	q.exactL, q.exactR = int64(q.widthL) >= exactL, int64(q.widthR) >= exactR
}

// roundings returns log2 of the factor by which the rounding of a number's terms, one by
// one, exceeds that of the number: half a unit a term, of a vector's exponent that leaves
// room for their sum.
func roundings(terms int) float64 { return math.Log2(float64(terms)) + float64(min(terms-1, 2)) }

// odds are what the probability depends on that an entry fails the rounding test: for each
// sample other than 0, its error over its last place, widths aside, in units of 2^unit.
type odds struct {
	left, right []float64 // from the rounding of the left factor and of the right one
	unit        int
	least       float64 // log2 of the least of them
	samples     int     // with those that are 0, which need the exact pass whatever the widths
}

func (s *shape) odds(samples []sample) odds {
	all := make([]float64, 0, 2*len(samples))
	o := odds{left: all[:0:len(samples)], right: all[len(samples):len(samples)], unit: math.MaxInt, least: math.Inf(1), samples: len(samples)}
	for _, p := range samples {
		if p.size > noSize {
			o.unit = min(o.unit, -int(p.size)) // sizes are integers
		}
	}
	l, r := math.Exp2(roundings(s.termsL)-1), math.Exp2(roundings(s.termsR)-1)
	for _, p := range samples {
		if p.size > noSize {
			shift := min(-int(p.size)-o.unit, 900)
			a, b := math.Ldexp(p.normR*l, shift), math.Ldexp(p.normL*r, shift)
			o.left, o.right, o.least = append(o.left, a), append(o.right, b), min(o.least, a, b)
		}
	}
	if len(o.left) > 0 {
		// Each term of an expansion but the last one leaves a rest that is a few bits shorter.
		o.unit += int(exact.ResultBits(s.format)) + 3*max(s.format.Terms()-1, 0)
		o.least = math.Log2(o.least) + float64(o.unit)
	}
	return o
}

// failure estimates the share of entries that fail the rounding test.
func (o *odds) failure(q *plan) float64 {
	if q.exactL && q.exactR || o.samples == 0 {
		return 0
	}
	if len(o.left) == 0 || o.least-float64(max(q.widthL, q.widthR)) > 0 {
		return 1
	}
	// Twice the error over the last place, and an eighth more for the reconstruction.
	l, r := math.Ldexp(2.25, o.unit-q.widthL), math.Ldexp(2.25, o.unit-q.widthR)
	if q.exactL {
		l = 0
	}
	if q.exactR {
		r = 0
	}
	fail := float64(o.samples - len(o.left))
	for i := range o.left {
		fail += min(1, l*o.left[i]+r*o.right[i])
	}
	return fail / float64(o.samples)
}

// cut chooses the words that reconstruction drops. Its error stays at an eighth of that of
// the integers; for exact integers it stays so far below the results that hardly any fails
// the rounding test.
func (q *plan) cut(s shape, l, r totals, samples []sample) int {
	slack := math.Log2(float64(q.moduli - min(q.moduli, pool().plain)))
	slack = max(slack, 0) + 18
	e := math.Inf(1)
	if q.exactL && q.exactR {
		for _, p := range samples {
			e = min(e, float64(q.widthL+q.widthR)+p.size-exact.ResultBits(s.format)-30)
		}
		if math.IsInf(e, 0) {
			return 0
		}
	}
	if !q.exactR {
		e = min(e, math.Log2(l.norm/2)+float64(q.widthL))
	}
	if !q.exactL {
		e = min(e, math.Log2(r.norm/2)+float64(q.widthR))
	}
	return max(0, int(math.Floor((e-3-slack)/32)))
}

// errors returns the bounds of the error of the integer product in units of 2^w.cut: for
// row i and column j, errL norm_i + errR norm_j + errAll.
func (q *plan) errors(s shape, w weights) (errL, errR, errAll float64) {
	if q.exactL && q.exactR {
		return 0, 0, w.err
	}
	a, b := float64(s.termsL)/2, float64(s.termsR)/2 // errors of the integers
	if !q.exactR {
		errL = b * math.Exp2(float64(q.widthL-w.cut)) * (1 + 1e-9)
	}
	if !q.exactL {
		errR = a * math.Exp2(float64(q.widthR-w.cut)) * (1 + 1e-9)
	}
	// Both factors' roundings multiply to at most a b a term; the norms of the integers
	// exceed those of the numbers by at most a or b a term.
	return errL, errR, w.err + 2 + 4*a*b*float64(s.k)*math.Exp2(-float64(w.cut))
}
