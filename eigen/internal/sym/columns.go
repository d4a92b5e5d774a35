package sym

import (
	"math"
	"math/big"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/interval"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// Which entries of vectors are rounded, which become 0 and which vectors form a cluster must not
// depend on how narrow enclosures happen to be. Three limits fix it, for a format of p bits.
// Numbers of the problem are meant, scaled by a power of two such that the largest entry of A, or
// C, lies between 1/2 and 1.
//
//   - Neighbouring eigenvalues, or singular values, whose difference is less than 2^-(4p + 64) are
//     not separated. Vectors are rounded once it is proved which ones are.
//   - An entry of a vector whose magnitude is less than 2^-(4p + 64) becomes 0.
//   - Any other entry is rounded once an enclosure decides it. If an enclosure as narrow as
//     2^-(5p + 96) does not, it is settled: it becomes the number halfway between two numbers of
//     the format that is in the enclosure, rounded.
//
// So only a number that happens to be within 2^-(5p + 96) of a limit, or of a number halfway
// between two numbers of the format without being it, could be treated differently on another
// machine.
const (
	limitBits  = 64
	limitTimes = 4
	lastBits   = 128
	lastTimes  = 5
	// settled is how many bits less than the last ones an enclosure may have that settles entries.
	settled = 32
)

// least is the exponent of the second limit, scaled back.
func (e *solver) least() int64 {
	return int64(e.turned) - int64(limitTimes*e.f.Bits()+limitBits)
}

// link says whether an eigenvalue and the next one are separated.
type link int8

const (
	unclear link = iota
	apart
	together
)

// findEnds computes the ends of the intervals of all clusters.
func (e *solver) findEnds(t *state) error {
	return par.For(t.s.Ctx, t.s.Threads, len(t.clusters), func(_, i int) {
		c := &t.clusters[i]
		c.lo, c.hi = e.intervalOf(c)
	})
}

// links compares neighbouring eigenvalues, or singular values: link p is about p and p + 1.
func (e *solver) links(t *state) []link {
	limit := new(big.Float).SetMantExp(big.NewFloat(1), e.shift-limitTimes*e.f.Bits()-limitBits)
	z := make([]link, t.n)
	for i := range t.clusters {
		c := &t.clusters[i]
		lo, hi := e.ends(c)
		width := new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf).Sub(hi, lo)
		if width.Cmp(limit) < 0 {
			for p := c.first; p < c.last; p++ {
				z[p] = together
			}
		}
		if i+1 == len(t.clusters) {
			z[c.last] = apart
			continue
		}
		nextLo, nextHi := e.ends(&t.clusters[i+1])
		least := new(big.Float).SetPrec(64).SetMode(big.ToNegativeInf).Sub(nextLo, hi)
		most := new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf).Sub(nextHi, lo)
		switch {
		case least.Cmp(limit) >= 0:
			z[c.last] = apart
		case most.Cmp(limit) < 0:
			z[c.last] = together
		}
	}
	if e.left != nil && e.zeros > 0 {
		z[e.zeros-1] = apart // from σ > 0, however small
	}
	return z
}

// single reports whether eigenvalue p is proved to be separated from the others.
func single(links []link, p int) bool {
	return links[p] == apart && (p == 0 || links[p-1] == apart)
}

// column is a vector of the result.
type column struct {
	open    []int // entries that are not decided; nil if none has been rounded
	negated int   // -1: the sign of the computed column is to be changed, 1: not, 0: not known
	done    bool
}

// enclosure returns X + D with errors far.
func (e *solver) enclosure(t *state, d num.Mat, far []size) *bound.Nearly {
	n := t.n
	y := &bound.Nearly{X: t.x, D: d, Words: call.WordsFor(e.vectorBits), Left: make([]int64, n), Right: make([]int64, n), Err: make([]int64, n)}
	for j := range n {
		y.Right[j] = int64(e.turned)
		y.Err[j] = -int64(e.vectorBits) - 40
		if !far[j].zero() {
			y.Err[j] = max(far[j].e, y.Err[j])
		}
	}
	return y
}

// roundColumns rounds the entries of the vectors of separated eigenvalues that the enclosures y,
// with errors far, decide into z, whose column p is the vector of the p-th eigenvalue.
func (e *solver) roundColumns(t *state, links []link, y *bound.Nearly, far []size, z num.Mat, columns []column) error {
	rounders := make([]*bound.Rounder, t.s.Threads)
	least := e.least()
	var zeros atomic.Int64
	err := par.For(t.s.Ctx, t.s.Threads, t.n, func(w, p int) {
		j := t.order[p]
		v, sign := &columns[p], e.columns[p].negated
		if v.done || e.outside[p] == outside || sign == 0 || !single(links, p) {
			return
		}
		if rounders[w] == nil {
			rounders[w] = &bound.Rounder{Adder: bound.NewAdder(y.Words), Ends: num.New(z.Arr.Format, 2)}
		}
		if v.open == nil {
			v.open = call.All(z.Rows)
		}
		open := v.open[:0]
		for _, i := range v.open {
			x := rounders[w].Enclose(y, &y.X, &y.D, i, j)
			x.Neg = x.Neg != (sign < 0)
			at := z.At(i, p)
			switch size, exact := magnitude(&x, y, j), far[j].zero(); {
			case exact && !x.Known && exactly(y, i, j).Sign() == 0:
				z.SetBig(i, p, new(big.Float))
			case size < least:
				z.SetBig(i, p, new(big.Float))
				zeros.Add(1)
			case size > least+2 && x.RoundTo(rounders[w], z.Arr, at):
			default:
				open = append(open, i)
			}
		}
		v.open, v.done = open, len(open) == 0
	})
	e.s.Stats.Undecided += int(zeros.Load())
	return err
}

// magnitude returns an e such that the magnitude of an enclosed number of column j is less than 2^e
// and, if the enclosure decides its rounding, at least 2^(e - 2).
func magnitude(x *bound.EnclosedEntry, y *bound.Nearly, j int) int64 {
	if !x.Known { // at most 64 bits, and an error of 2^59 of their units or more
		return y.Err[j] + y.Right[j] + 6
	}
	return x.Exp + int64(num.BitLen(x.Mag)) + 1
}

// exactly returns entry (i, j) of X + D.
func exactly(y *bound.Nearly, i, j int) *big.Float {
	a, b := y.X.Big(i, j), y.D.Big(i, j)
	z := new(big.Float).SetPrec(a.Prec() + b.Prec() + 64)
	return z.Add(a, b)
}

// findSigns finds the signs of the vectors of separated eigenvalues, as far as enclosures decide.
func (e *solver) findSigns(t *state, links []link, y *bound.Nearly) error {
	rooms := make([][]float64, max(1, t.s.Threads))
	return par.For(t.s.Ctx, t.s.Threads, t.n, func(w, p int) {
		if v := &e.columns[p]; v.negated == 0 && e.outside[p] != outside && single(links, p) {
			if rooms[w] == nil {
				rooms[w] = make([]float64, t.n)
			}
			v.negated = direction(y, t.order[p], rooms[w])
		}
	})
}

// settleColumn settles the open entries of column p of z, if the error far of its enclosure is
// small enough.
func (e *solver) settleColumn(t *state, y *bound.Nearly, far []size, z num.Mat, columns []column, p int) {
	j, v, sign := t.order[p], &columns[p], e.columns[p].negated
	if v.open == nil && !v.done {
		v.open = call.All(z.Rows)
	}
	if v.done || sign == 0 || far[j].above(settled-int64(e.last)) {
		return
	}
	for _, i := range v.open {
		x := y.Interval(i, j, e.vectorBits)
		if sign < 0 {
			x.Lo, x.Hi = x.Hi.Neg(x.Hi), x.Lo.Neg(x.Lo)
		}
		e.store(z, i, p, x)
	}
	v.open, v.done = nil, true
}

// store is Settle with the limit of the problem.
func (e *solver) store(z num.Mat, i, p int, x interval.Interval) {
	Settle(e.s, z, i, p, x, e.least())
}

// Settle stores entry (i, p) of z for a narrow enclosure x: 0 if it is below 2^least, the number to
// which both ends of x round, or the number halfway between them, rounded. It counts entries that x
// does not decide.
func Settle(s *call.Run, z num.Mat, i, p int, x interval.Interval, least int64) {
	limit := new(big.Float).SetMantExp(big.NewFloat(1), int(least))
	lower, upper := num.NewScalar(z.Format(), x.Lo), num.NewScalar(z.Format(), x.Hi)
	switch {
	case x.Lo.Sign() == 0 && x.Hi.Sign() == 0:
		z.SetBig(i, p, new(big.Float))
		return
	case x.Below(limit) || x.Lo.Sign() <= 0 && x.Hi.Sign() >= 0:
		z.SetBig(i, p, new(big.Float))
	case lower.Same(upper):
		z.SetEntry(i, p, lower)
		return
	default:
		m, _ := ziv.Tie(lower, upper)
		if m == nil {
			m = interval.ExactAdd(x.Lo, x.Hi)
			m.SetMantExp(m, -1)
		}
		z.SetBig(i, p, m)
	}
	s.Stats.Undecided++
}

// direction returns the sign of the first entry of column j whose magnitude exceeds π/4 of the
// largest one; 0 if the enclosures do not decide which entry that is. The quotient of two entries
// is an algebraic number and never π/4, so enclosures that are narrow enough decide.
func direction(y *bound.Nearly, j int, room []float64) int {
	if sign := plainDirection(y, j, room); sign != 0 {
		return sign
	}
	n := y.X.Rows
	x := make([]pair, n)
	var most pair
	for i := range n {
		x[i] = pairOf(y.X.Arr, y.X.At(i, j)).add(pairOf(y.D.Arr, y.D.At(i, j)))
		if x[i].magnitude().exceeds(most) {
			most = x[i].magnitude()
		}
	}
	// Pairs are in error by 2^-98 of the largest entry, the product with π/4 by 2^-97.
	slack := scaledPair(1, 0, y.Err[j]+1).add(scaledPair(most.hi, 0, most.e-90))
	quarter := most.mul(scaledPair(math.Pi/4, piQuarterLow, 0))
	for i := range n {
		a := x[i].magnitude()
		switch {
		case a.exceeds(quarter.add(slack)):
			return int(math.Copysign(1, x[i].hi))
		case !quarter.exceeds(a.add(slack)):
			return exactDirection(y, j)
		}
	}
	return 0
}

// plainDirection is direction in float64 arithmetic, with memory for the entries; 0 if that does
// not decide.
//
// Entries are divided by 2^top, which exceeds the magnitudes of X and D in column j. The numbers of
// Leading have relative errors below 2^-48, and the ones below 2^-1000 are replaced by others below
// that. So a_i, their sum, is in error by less than 2^-46, and π/4 of the largest |a_i| by less
// than 2^-45. The enclosed numbers differ from X + D by at most 2^(Err - top). margin exceeds the
// sum of these errors.
func plainDirection(y *bound.Nearly, j int, a []float64) int {
	top := int64(math.MinInt64)
	for _, m := range []num.Mat{y.X, y.D} {
		for i := range m.Rows {
			if v, e := m.Arr.Leading(m.At(i, j)); v != 0 {
				top = max(top, e+1)
			}
		}
	}
	if top == math.MinInt64 || y.Err[j] > top-20 {
		return 0
	}
	scaled := func(m num.Mat, i int) float64 {
		v, e := m.Arr.Leading(m.At(i, j))
		return float64(v * math.Float64frombits(uint64(1023+max(e-top, -1000))<<52))
	}
	most := 0.0
	for i := range a {
		a[i] = scaled(y.X, i) + scaled(y.D, i)
		most = max(most, math.Abs(a[i]))
	}
	quarter := float64(most * (math.Pi / 4))
	margin := 0x1p-40 + math.Ldexp(1, int(max(y.Err[j]+2-top, -1000)))
	for _, v := range a {
		switch m := math.Abs(v); {
		case m > quarter+margin:
			return int(math.Copysign(1, v))
		case !(m < quarter-margin):
			return 0
		}
	}
	return 0
}

// exactDirection is direction with as many bits as the enclosures have.
func exactDirection(y *bound.Nearly, j int) int {
	if y.Err[j] > -80 { // pairs would decide
		return 0
	}
	bits := int(max(64, -y.Err[j]))
	p := interval.Prec(bits + 64)
	x := make([]interval.Interval, y.X.Rows)
	signs := make([]int, len(x))
	for i := range x {
		x[i] = y.Interval(i, j, bits)
		if signs[i] = 1; x[i].Hi.Sign() <= 0 {
			signs[i] = -1
			x[i].Lo, x[i].Hi = x[i].Hi.Neg(x[i].Hi), x[i].Lo.Neg(x[i].Lo)
		} else if x[i].Lo.Sign() < 0 { // far below the largest one
			x[i].Lo = new(big.Float)
		}
	}
	if i, ok := pivot(p, quarterPi(p), x); ok {
		return signs[i]
	}
	return 0
}

// piQuarterLow is π/4 - math.Pi/4 rounded to float64.
const piQuarterLow = math.Pi/4 - 0.78539816339744827899949086713604629039764404296875

// magnitude returns |x|.
func (x pair) magnitude() pair {
	if x.hi < 0 {
		return x.negated()
	}
	return x
}

// exceeds reports whether x > y, for numbers that are not negative.
func (x pair) exceeds(y pair) bool {
	if x.hi == 0 || y.hi == 0 {
		return x.hi > y.hi
	}
	if x.e != y.e {
		return x.e > y.e
	}
	return x.hi > y.hi || x.hi == y.hi && x.lo > y.lo
}
