package exact

import (
	"math"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
)

// A plan says how a product of integers runs: the widths of the operands' integers
// and the base.
type plan struct {
	kernel         *modgemm.Kernel
	base           *base
	widthL, widthR int
	exactL, exactR bool    // the widths hold the operands exactly
	least          float64 // size of the smallest sample; -Inf if zeros were met
	cost           float64
}

// ResultBits returns the bits to the last place of a result of format f, of
// typical numbers.
func ResultBits(f num.Format) float64 {
	if n := f.Terms(); n > 1 {
		return float64(53*n + n - 1)
	}
	return float64(f.Prec)
}

// A sample is what is known of one entry of the result: log2 of its magnitude, -Inf
// for zero, and of the norms of its vectors, all relative to 2^(exponents of the
// vectors).
type sample struct {
	size         float64
	normL, normR float64
}

// bits returns log2 of a bound on the integer product: sum a' b' <= ||a'||_1 2^widthR
// and the same with a and b exchanged. Rounding to integers adds at most 1/2 to each
// of the k numbers of a norm.
func (q *plan) bits(l, r *operand) float64 {
	normL, normR := l.maxNorm, r.maxNorm
	if !q.exactL {
		normL += float64(l.k) * math.Exp2(-float64(q.widthL+1))
	}
	if !q.exactR {
		normR += float64(r.k) * math.Exp2(-float64(q.widthR+1))
	}
	return float64(q.widthL+q.widthR) + math.Log2(min(normL, normR)+1e-300)
}

// baseMargin is the room that a base leaves above the bound of the integers: sign,
// the rounding of log2, and the error of the quotient.
const baseMargin = 1.05

// fill gives the operands the largest widths for which a base of log2M bits holds
// their product.
func (q *plan) fill(log2M float64, l, r *operand) {
	room := log2M - baseMargin
	for total := int(math.Floor(room - math.Log2(min(l.maxNorm, r.maxNorm)+1e-300))); ; total-- {
		if q.split(total, l.width, r.width); total <= 0 || q.bits(l, r) <= room {
			return
		}
	}
}

// planFor chooses the cheapest base for a product with results of bits p, or
// returns false if no base suffices.
func planFor(kern *modgemm.Kernel, l, r *operand, p float64, samples []sample) (plan, bool) {
	m, n, k := float64(l.n), float64(r.n), float64(l.k)
	c := costOf(kern)
	best := plan{cost: math.Inf(1)}
	limit := min(len(pool().moduli), maxModuli)
	for count := 1; count <= limit; count++ {
		q := plan{kernel: kern}
		q.fill(pool().bits[count], l, r)
		if q.widthL < min(2, l.width) || q.widthR < min(2, r.width) {
			continue
		}
		words := float64(q.widthL+q.widthR)/2/wordBits + 1
		work := float64(count) * (m*n*k*c.product +
			(m*float64(digitPairs(q.widthL))+n*float64(digitPairs(q.widthR)))*k*2*c.product +
			m*n*words*3*c.product)
		if work >= best.cost {
			break
		}
		var fail float64
		for _, s := range samples {
			fail += q.failure(s, p)
		}
		if len(samples) > 0 {
			fail /= float64(len(samples))
		}
		q.cost = work + fail*m*n*k*exactCost(p)
		if q.cost < best.cost {
			best = q
			best.base = baseOf(count)
		}
		if q.exactL && q.exactR {
			break
		}
	}
	if best.base == nil {
		return best, false
	}
	// The bits of the base beyond what its choice needed go to the widths.
	best.fill(best.base.log2M, l, r)
	best.least = math.Inf(1)
	for _, s := range samples {
		best.least = min(best.least, s.size)
	}
	return best, true
}

// split divides total bits between the operands: equally, but never more than
// holds an operand exactly.
func (q *plan) split(total, exactL, exactR int) {
	w := total / 2
	q.widthL, q.widthR = w, total-w
	switch {
	case exactL <= w && exactL <= exactR:
		q.widthL = exactL
		q.widthR = min(total-exactL, exactR)
	case exactR <= w:
		q.widthR = exactR
		q.widthL = min(total-exactR, exactL)
	}
	q.exactL, q.exactR = q.widthL >= exactL, q.widthR >= exactR
}

// failure estimates the probability that an entry like s fails the rounding
// test.
func (q *plan) failure(s sample, p float64) float64 {
	if q.exactL && q.exactR {
		return 0
	}
	if math.IsInf(s.size, -1) { // needs the exact pass whatever the widths
		return 1
	}
	// log2 of the error; the widths are equal up to one where both err.
	e := math.Inf(-1)
	if !q.exactR {
		e = s.normL - 1 - float64(q.widthR)
	}
	if !q.exactL {
		e = max(e, s.normR-1-float64(q.widthL)) + 1
	}
	// Twice the error over the last place, 2^(size - p), and an eighth more for
	// the reconstruction.
	return min(1, 2.25*math.Exp2(min(e-s.size+p, 0)))
}
