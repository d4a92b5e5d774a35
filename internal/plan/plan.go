// Package plan chooses how a product of matrices is computed modulo small moduli: the number of
// moduli, the widths of the integers to which its factors are rounded, and the bits that
// reconstruction drops. All sizes are binary logarithms.
package plan

import (
	"math"
	"slices"
	"sort"

	"github.com/halfulp/halfulp/internal/num"
)

// A Machine describes the hardware and kernels that multiply: their moduli, and the cost of their
// work in ns. The costs only choose between correctly rounded ways and cannot change a result.
type Machine struct {
	// Bits[n] is log2 of the product of the first n moduli, rounded down.
	Bits []float64
	// Work is the cost of a product without the exact pass.
	Work func(p *Problem, q *Plan) float64
	// Exact is the cost of the exact pass for a share of the entries.
	Exact func(p *Problem, share float64) float64
	// Slack is log2 of a bound of the error of reconstruction with n moduli, in units of 2^Cut, the
	// weight of the last bit that is not dropped.
	Slack func(n int) float64
	// Fits, if not nil, reports whether the machine supports integers of the plan's widths.
	Fits func(p *Problem, q *Plan) bool
}

// An Operand describes a factor. Its vectors are the rows of the left factor or the columns of the
// right factor. The numbers of a vector are aligned to one exponent, the exponent of its largest
// number.
type Operand struct {
	// Norm is log2 of the largest sum of magnitudes of a vector, in units of 2^exponent of the
	// vector; -Inf if all numbers are 0.
	Norm  float64
	Width int // bits of integers that hold every vector exactly
	Terms int // roundings of a number to its integer: 1, or one for each term of an expansion
}

// A Sample describes one entry of the result: log2 of its magnitude divided by alpha, -Inf for
// zero, and log2 of the norms of its vectors, all relative to 2^(exponents of the vectors).
type Sample struct{ Size, NormL, NormR float64 }

// A Problem is the product of an M x K and a K x N matrix, of formats A and B, with results of
// format C.
type Problem struct {
	M, N, K     int
	A, B, C     num.Format
	Kept        [2]bool // residues of the left and of the right factor are already computed
	Left, Right Operand
	Samples     []Sample

	// Bounded means that the entries of the result divided by alpha are known to be at most
	// 2^Bound, relative to 2^(exponents of the vectors). The result includes the old entries, which
	// are added to the integers.
	Bounded bool
	Bound   float64

	// Tolerant means that results need not be rounded correctly: integers may be in error by at
	// most 2^Tolerance, relative to 2^(exponents of the vectors).
	Tolerant  bool
	Tolerance float64
}

// widest bounds the bits that Hold adds. It is far beyond the bits of any base.
const widest = 1 << 24

// Hold increases the larger of the operands' exact widths until products of the integers represent
// multiples of 2^-places, relative to 2^(exponents of the vectors), or, for a tolerant problem,
// until an error of two units is within the tolerance. It is for old entries, which may have more
// places than products of the factors.
func (p *Problem) Hold(places int64) {
	if p.Tolerant {
		places = min(places, 2-int64(math.Floor(p.Tolerance)))
	}
	more := int(min(max(0, places-int64(p.Left.Width)-int64(p.Right.Width)), widest))
	if p.Left.Width > p.Right.Width {
		p.Left.Width += more
	} else {
		p.Right.Width += more
	}
}

// limit returns log2 of a bound of the results divided by alpha, relative to 2^(exponents of the
// vectors).
func (p *Problem) limit() float64 {
	if p.Bounded {
		return p.Bound
	}
	return min(p.Left.Norm, p.Right.Norm)
}

// A Plan describes how a product of integers is computed.
type Plan struct {
	Moduli         int
	WidthL, WidthR int
	ExactL, ExactR bool    // the widths hold the operands exactly
	Cut            int     // reconstruction may drop the bits below 2^Cut
	Cost           float64 // ns
}

// assumed is the number of samples that Assume makes.
const assumed = 16

// Assume sets the operands and samples as for numbers evenly distributed in (-1, 1): the
// smallest of n numbers is about 1/(2n), and sums of k products are nearly normally distributed,
// with standard deviation sqrt(k)/3.
func (p *Problem) Assume() {
	norm := math.Log2(float64(p.K) / 2)
	width := func(vectors int, f num.Format) int {
		return f.Bits() + int(math.Log2(2*float64(vectors)*float64(p.K)))
	}
	p.Left = Operand{norm, width(p.M, p.A), max(1, p.Left.Terms)}
	p.Right = Operand{norm, width(p.N, p.B), max(1, p.Right.Terms)}
	p.Samples = make([]Sample, assumed)
	for i := range p.Samples {
		z := math.Sqrt2 * math.Erfinv((float64(i)+0.5)/assumed)
		_, size := math.Frexp(z * math.Sqrt(float64(p.K)) / 3)
		p.Samples[i] = Sample{float64(size), norm, norm}
	}
}

// ResultBits returns the number of bits down to the last place of a typical result of format f.
func ResultBits(f num.Format) float64 {
	if n := f.Terms(); n > 1 {
		return float64(53*n + n - 1)
	}
	return float64(f.Prec)
}

// Margin is the number of bits that a base must have beyond the bound of the integers: for the
// sign, the rounding of log2, and the error of the quotient.
const Margin = 1.05

// roundings returns log2 of the factor by which the error of rounding a number's terms one by one
// exceeds the error of rounding the number once. Each term errs by half a unit, and the exponent of
// the vector leaves room for the sum of the terms.
func (o *Operand) roundings() float64 {
	return math.Log2(float64(o.Terms)) + float64(min(o.Terms-1, 2))
}

// bits returns log2 of a bound of the integer product: Σ a' b' ≤ ‖a'‖1 2^widthR, and the same with
// a and b exchanged. Rounding adds at most half a unit, times the terms' roundings, to each of the
// k numbers of a norm.
//
// For a bounded result, bits returns log2 of the bound plus the error of the integers. Half a unit
// of this error comes from rounding the old entry.
func (q *Plan) bits(p *Problem) float64 {
	if p.Bounded {
		a, b := math.Log2(float64(p.Left.Terms)/2), math.Log2(float64(p.Right.Terms)/2)
		logs := []float64{float64(q.WidthL+q.WidthR) + p.Bound, 3 + max(0, a+b+math.Log2(float64(p.K)))}
		if !q.ExactL {
			logs = append(logs, a+float64(q.WidthR)+p.Right.Norm)
		}
		if !q.ExactR {
			logs = append(logs, b+float64(q.WidthL)+p.Left.Norm)
		}
		return sumLogs(logs)
	}
	normL, normR := math.Exp2(p.Left.Norm), math.Exp2(p.Right.Norm)
	if !q.ExactL {
		normL += float64(float64(p.K) * math.Exp2(p.Left.roundings()-float64(q.WidthL+1)))
	}
	if !q.ExactR {
		normR += float64(float64(p.K) * math.Exp2(p.Right.roundings()-float64(q.WidthR+1)))
	}
	return float64(q.WidthL+q.WidthR) + math.Log2(min(normL, normR))
}

// sumLogs returns an upper bound of log2 Σ 2^x, slightly larger than it.
func sumLogs(logs []float64) float64 {
	most, sum := slices.Max(logs), 0.0
	for _, x := range logs {
		sum += math.Exp2(x - most)
	}
	return most + math.Log2(sum) + 1e-9
}

// fill sets the widths to the largest for which a base of log2M bits holds the product of the
// operands.
func (q *Plan) fill(log2M float64, p *Problem) {
	room := log2M - Margin
	// The bound of results that vanish may be below everything else.
	total := int(math.Floor(min(room-p.limit(), float64(p.Left.Width+p.Right.Width))))
	for {
		q.split(total, p.Left.Width, p.Right.Width)
		over := q.bits(p) - room
		if total <= 0 || over <= 0 {
			return
		}
		total -= max(1, int(over)) // a bit less in total is at most one bit less of the product
	}
}

// split divides total bits equally between the operands, but gives no operand more bits than its
// exact width.
func (q *Plan) split(total, exactL, exactR int) {
	w := total / 2
	q.WidthL, q.WidthR = w, total-w
	switch {
	case exactL <= w && exactL <= exactR:
		q.WidthL = exactL
		q.WidthR = min(total-exactL, exactR)
	case exactR <= w:
		q.WidthR = exactR
		q.WidthL = min(total-exactR, exactL)
	}
	q.ExactL, q.ExactR = q.WidthL >= exactL, q.WidthR >= exactR
}

// Choose returns the cheapest plan, or false if no base suffices. With more moduli the products
// cost more, and fewer entries need the exact pass. The cheapest base is either the first that
// suffices, or one of the larger bases for which not all entries need the exact pass.
func (m *Machine) Choose(p *Problem) (Plan, bool) {
	if math.IsInf(min(p.Left.Norm, p.Right.Norm), -1) {
		// All products are 0, whatever the integers of the other factor are.
		q := Plan{Moduli: 1, WidthL: 2, WidthR: 2, ExactL: true, ExactR: true}
		q.Cost = m.Work(p, &q)
		return q, true
	}
	odds := newOdds(p)
	best := Plan{Cost: math.Inf(1)}
	consider := func(count int) (more bool) {
		q := Plan{Moduli: count}
		q.fill(m.Bits[count], p)
		if q.WidthL < min(2, p.Left.Width) || q.WidthR < min(2, p.Right.Width) {
			return true
		}
		if m.Fits != nil && !m.Fits(p, &q) {
			return false
		}
		work := m.Work(p, &q)
		if work >= best.Cost {
			return false
		}
		q.Cost = work + m.Exact(p, odds.failure(&q))
		if q.Cost < best.Cost {
			best = q
		}
		return !q.ExactL || !q.ExactR
	}
	count, most := 1, len(m.Bits)-1
	more := true
	for ; best.Moduli == 0 && count <= most && more; count++ {
		more = consider(count)
	}
	hopeless := sort.Search(most, func(count int) bool { // with fewer moduli all entries fail
		var q Plan
		q.split(int(m.Bits[count]-Margin-p.limit()), p.Left.Width, p.Right.Width)
		return float64(max(q.WidthL, q.WidthR)) >= odds.least || q.ExactL && q.ExactR
	})
	for count = max(count, hopeless); count <= most && more; count++ {
		more = consider(count)
	}
	if best.Moduli == 0 {
		return best, false
	}
	best.Cut = best.cut(p, m.Slack(best.Moduli))
	return best, true
}

// With returns the plan with the given number of moduli and kept integers of one or both factors,
// of widths left and right. A width of 0 stands for a factor without kept integers, which gets the
// largest width that fits. With returns false if there is no such plan.
func (m *Machine) With(p *Problem, moduli, left, right int) (Plan, bool) {
	q := Plan{Moduli: moduli}
	room := m.Bits[moduli] - Margin
	for total := int(math.Floor(room - min(p.Left.Norm, p.Right.Norm))); total > 0; total-- {
		switch {
		case right == 0:
			q.WidthL, q.WidthR = left, min(total-left, p.Right.Width)
		case left == 0:
			q.WidthL, q.WidthR = min(total-right, p.Left.Width), right
		default:
			q.WidthL, q.WidthR = left, right
		}
		q.ExactL, q.ExactR = q.WidthL >= p.Left.Width, q.WidthR >= p.Right.Width
		if q.bits(p) <= room {
			if min(q.WidthL, q.WidthR) < 2 && !(q.ExactL && q.ExactR) || m.Fits != nil && !m.Fits(p, &q) {
				return q, false
			}
			odds := newOdds(p)
			q.Cost = m.Work(p, &q) + m.Exact(p, odds.failure(&q))
			q.Cut = q.cut(p, m.Slack(moduli))
			return q, true
		}
		if left != 0 && right != 0 {
			break
		}
	}
	return q, false
}

// odds holds the data on which the probability depends that an entry fails the rounding test: for
// each nonzero sample, the quotient of its error, without the widths, and its last place, in units
// of 2^unit.
type odds struct {
	left, right []float64 // errors from the rounding of the left and of the right factor
	unit        int
	least       float64 // log2 of the smallest quotient
	samples     int     // including zeros, which need the exact pass for all widths
	tolerant    bool    // there is one sample, and its last place is the tolerance
}

// maxShift bounds the quotients in odds to 2^900, since float64 numbers are below 2^1024.
const maxShift = 900

func newOdds(p *Problem) odds {
	samples := p.Samples
	if p.Tolerant {
		samples = []Sample{{p.Tolerance, p.Left.Norm, p.Right.Norm}}
	}
	o := odds{least: math.Inf(1), samples: len(samples), tolerant: p.Tolerant}
	o.left, o.right = make([]float64, 0, len(samples)), make([]float64, 0, len(samples))
	l, r := p.Left.roundings()-1, p.Right.roundings()-1
	for _, s := range samples {
		if !math.IsInf(s.Size, -1) {
			o.left, o.right = append(o.left, s.NormR+l-s.Size), append(o.right, s.NormL+r-s.Size)
		}
	}
	for i := range o.left {
		o.least = min(o.least, o.left[i], o.right[i])
	}
	if math.IsInf(o.least, 0) { // all samples are zeros, or norms are 0 beside an old entry
		return o
	}
	o.unit = int(math.Floor(o.least))
	for i := range o.left {
		o.left[i] = math.Exp2(min(o.left[i]-float64(o.unit), maxShift))
		o.right[i] = math.Exp2(min(o.right[i]-float64(o.unit), maxShift))
	}
	if p.Tolerant {
		return o
	}
	// Each term of an expansion except the last leaves a remainder that is a few bits shorter.
	places := int(ResultBits(p.C)) + 3*max(p.C.Terms()-1, 0)
	o.unit += places
	o.least += float64(places)
	return o
}

// failure estimates the share of entries that fail the rounding test.
func (o *odds) failure(q *Plan) float64 {
	if q.ExactL && q.ExactR || o.samples == 0 {
		return 0
	}
	if len(o.left) == 0 || o.least-float64(max(q.WidthL, q.WidthR)) > 0 {
		return 1
	}
	// Twice the error divided by the last place, and an eighth more for the reconstruction.
	l, r := math.Ldexp(2.25, o.unit-q.WidthL), math.Ldexp(2.25, o.unit-q.WidthR)
	if q.ExactL {
		l = 0
	}
	if q.ExactR {
		r = 0
	}
	fail, most := float64(o.samples-len(o.left)), 0.0
	for i := range o.left {
		x := min(1, l*o.left[i]+r*o.right[i]) // may fuse: an estimate
		fail += x
		most = max(most, x)
	}
	if o.tolerant { // all entries fail, or none if the error is below about half the tolerance
		return math.Floor(fail)
	}
	if most > 0 {
		// This adds the failures that no sample shows: small entries are rare, but fail in
		// proportion more often. Without this term a few samples give too low an estimate if
		// entries differ much in size.
		fail -= float64(most * math.Log(most))
	}
	return fail / float64(o.samples)
}

// cut returns the number of bits that reconstruction drops. The error of reconstruction stays below
// an eighth of the error of the integers. For exact integers it stays so far below the results that
// hardly any entry fails the rounding test.
func (q *Plan) cut(p *Problem, slack float64) int {
	e := math.Inf(1)
	if q.ExactL && q.ExactR {
		if p.Tolerant {
			e = float64(q.WidthL+q.WidthR) + p.Tolerance
		} else {
			for _, s := range p.Samples {
				e = min(e, float64(q.WidthL+q.WidthR)+s.Size-ResultBits(p.C)-30)
			}
		}
		if math.IsInf(e, 0) {
			return 0
		}
	}
	if !q.ExactR {
		e = min(e, p.Left.Norm-1+float64(q.WidthL))
	}
	if !q.ExactL {
		e = min(e, p.Right.Norm-1+float64(q.WidthR))
	}
	return int(max(0, math.Floor(e-3-slack)))
}

// Tolerated reports whether the errors of the integers, as returned by Errors, are within the
// tolerance.
func (p *Problem) Tolerated(q *Plan, cut int, errL, errR, errAll float64) bool {
	if !p.Tolerant {
		return false
	}
	// 2^-30 covers the rounding errors of this computation.
	l, r := float64(errL*math.Exp2(p.Left.Norm)), float64(errR*math.Exp2(p.Right.Norm))
	units := math.Log2(l+r+errAll) + 0x1p-30
	return units+float64(cut-q.WidthL-q.WidthR) <= p.Tolerance
}

// Errors returns bounds of the error of the integer product in units of 2^cut, if reconstruction
// errs by at most err: the error in row i and column j is at most errL norm_i + errR norm_j +
// errAll.
func (q *Plan) Errors(p *Problem, cut int, err float64) (errL, errR, errAll float64) {
	if q.ExactL && q.ExactR {
		return 0, 0, math.Ceil(err)
	}
	a, b := float64(p.Left.Terms)/2, float64(p.Right.Terms)/2 // errors of the integers
	if !q.ExactR {
		errL = float64(b*math.Exp2(float64(q.WidthL-cut))) * (1 + 1e-9)
	}
	if !q.ExactL {
		errR = float64(a*math.Exp2(float64(q.WidthR-cut))) * (1 + 1e-9)
	}
	// The products of both factors' roundings are at most a b for each of the K addends. The norms
	// of the integers exceed the norms of the numbers by at most a or b for each addend. The 2
	// permits callers to round the bound down to an integer.
	return errL, errR, err + 2 + float64(4*a*b*float64(p.K)*math.Exp2(-float64(cut)))
}
