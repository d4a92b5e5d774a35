package linsolve

import (
	"encoding/binary"
	"math"
	"math/big"
	mathbits "math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/fixed"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// fewColumns columns are always solved one after the other, by products of F with vectors of 62
// bits.
const fewColumns = 8

// few reports whether that many columns of n numbers are solved one after the other. At n = 300 all
// of solveMany takes as long as some 65 columns of float64, 25 of 424 bits.
func few(columns, n int) bool { return columns <= max(fewColumns, n/20) }

// inverse is an approximate inverse R of F = diag(2^rows) A diag(2^cols), proved to be one.
type inverse interface {
	scales() scale.Scaling
	// size returns how many bits residuals have beyond those wanted of y: log2 of a bound of ‖R‖∞
	// or more.
	size() int
	// correct returns R r, without any claim: the sum of vectors, each small beside the one before,
	// and just one where r has no x.
	correct(r *residual) ([][]float64, error)
	// radius returns upper bounds of |F^-1 r|, in units of 2^r.exp, c = correct(r)[0] being known.
	radius(r *residual, c []float64) []float64
	// leading reports whether correct takes nothing of r but r.lead, and radius nothing of c.
	leading() bool
}

// residual is r = 2^exp (lead + d) with |lead_i| ≤ 1 and |d_i| ≤ slop, held as fixed-point numbers
// that are in error by less than 2^exp err.
type residual struct {
	lead []float64
	slop float64
	exp  int
	x    [][]uint64 // of unit 2^unit; nil for one that lead is all of
	err  float64
	unit int
}

// A fixedSystem is F y = g, of which columns are solved.
type fixedSystem struct {
	s    *call.Run
	a, b num.Mat
	r    inverse
	f    *fixed.Matrix // nil at first
	low  int64         // F is a multiple of 2^-low
	left int           // columns that wait
	n    int
	// bits that are missing for most entries of a column to be decided, 0: nothing is known of them
	missing float64
	likely  float64 // how often a column is to be solved, about
}

// solveFew solves for the columns of todo with R, and puts nil for those that are done. What is
// left needs more bits than are worth their while here.
func solveFew(s *call.Run, a, b, z num.Mat, r inverse, todo []*entries) error {
	y := &fixedSystem{s: s, a: a, b: b, r: r, n: a.Rows}
	y.low = scale.LowestBit(y.a, r.scales())
	if t, ok := r.(*digits); ok {
		y.f = t.f
	}
	bits := z.Format().Bits()
	for j, e := range todo {
		y.left = len(todo) - j - 1
		for want := bits + suspicion + 4; want <= 4*bits+1024 && todo[j] != nil; {
			y.missing = 0
			y.likely = 1
			if want == bits+suspicion+4 && r.size() > 2*scale.SeedBits {
				y.likely = 1.6 // entries are far apart: more bits may be needed
			}
			more, err := y.column(e, j, bits, want)
			if err != nil {
				return err
			}
			if len(e.open) == 0 {
				todo[j] = nil
			}
			if !more {
				break
			}
			next := 2 * want
			if y.missing > 0 {
				next = min(next, want+int(y.missing)+suspicion)
			}
			want = next
		}
	}
	return nil
}

// column solves for column j to about want bits and decides what that decides. It reports whether
// more bits would help.
//
// With y a sum of vectors c of integers times powers of two, r = g - F y is held in fixed point:
// r <- r - F c costs a product of F with a vector of one word, and is exact but for what is cut off
// below r's last bit and F's last plane, which is counted. c is any vector; what is proved of y is
// F^-1 r alone.
func (y *fixedSystem) column(e *entries, j, bits, want int) (more bool, err error) {
	n, by := y.n, y.r.scales()
	g, shift := y.right(j)
	if shift == math.MinInt64 {
		for _, i := range e.open {
			e.z.SetBig(i, e.j, new(big.Float))
		}
		e.open = nil
		return false, nil
	}
	r := &residual{lead: make([]float64, n)}
	for i := range n {
		x, exp := y.b.Arr.Leading(y.b.At(i, j))
		r.lead[i] = scale.Ldexp(x, exp+by.Rows[i]-shift)
	}
	v, err := y.r.correct(r)
	if err != nil {
		return false, err
	}
	most := call.LargestOf(v[0])
	if !(most > 0x1p-900 && most < 0x1p900) {
		return false, nil
	}
	_, k := math.Frexp(most)
	shift += int64(k) // y is about 1 from now on
	words := (max(want+y.r.size()+atFloor+6, 64) + 63) / 64
	cost := columnCost(n, words, inverseWords(y.r))
	y.s.Plan(cost * (y.likely + float64(y.left)))
	working := y.s.Doing(cost)
	defer y.s.Did(cost)
	y.s.Stats.Precision = 64 * words
	r.unit, r.x = -64*words, make([][]uint64, n)
	u := &partial{x: make([][]uint64, n), bits: 64 * (words + 1), lost: 1}
	room := make([]uint64, n*(2*words+3))
	for i := range n {
		r.x[i], u.x[i], room = room[:words+1], room[words+1:2*words+3], room[2*words+3:]
		if g[i].Class == num.Finite {
			fixed.Magnitude(r.x[i], g[i].Mag, g[i].Exp+by.Rows[i]-shift+int64(64*words))
			if g[i].Neg {
				num.Negate(r.x[i])
			}
		}
	}
	began, last, lastExp := false, math.Inf(1), math.MaxInt32
	for ; ; y.s.Stats.Steps++ {
		top := r.look(u.lost)
		working(1 - float64(max(top, 0))/float64(64*words+1))
		floor := top <= int(log2(u.lost))+atFloor
		proved := func(c []float64) (bool, error) {
			radius := y.r.radius(r, c)
			if floor || log2(call.LargestOf(radius))+float64(r.exp) <= -float64(bits+4)-log2(float64(n)) {
				return y.decide(e, u, shift, radius, r.exp)
			}
			return false, nil
		}
		tried := false // radius takes no c then
		switch leading := y.r.leading(); {
		case leading && !began:
			for i, x := range v[0] { // of this residual
				v[0][i] = math.Ldexp(x, -k-r.exp)
			}
		case leading && !floor && last+float64(r.exp-lastExp) <= -float64(bits+10): // est, about
			if done, err := proved(nil); done || err != nil {
				return false, err
			}
			tried = true
			fallthrough
		default:
			if v, err = y.r.correct(r); err != nil {
				return false, err
			}
		}
		if most = call.LargestOf(v[0]); !(most < 0x1p900) || most == 0 && !floor {
			return false, nil // the latter would be no progress
		}
		est := log2(most) + float64(r.exp) // of |y - F^-1 g|
		if began && !tried && (floor || est <= -float64(bits+8)) {
			if done, err := proved(v[0]); done || err != nil {
				return false, err
			}
		}
		if floor {
			return true, nil
		}
		if est > last-2 && r.exp > lastExp-2 {
			// R is not what it should be, or it makes as much of what is lost of the residual,
			// which corrections of so few bits keep from getting to its floor.
			return est <= log2(u.lost)+float64(r.unit+y.r.size()+atFloor), nil
		}
		last, lastExp = min(last, est), min(lastExp, r.exp)

		for _, v := range v {
			if ok, err := y.add(v, r, u); !ok || err != nil {
				return false, err
			}
		}
		began = true
	}
}

// partial is what is known of y.
type partial struct {
	x    [][]uint64 // y, of unit 2^-bits
	bits int
	sum  float64 // a bound of |y|
	lost float64 // a bound of the error of the entries of r, in its unit
}

// add adds v 2^r.exp, rounded to integers up to 2^61 of some unit, to what is known of y; not ok if
// that does not fit.
func (y *fixedSystem) add(v []float64, r *residual, u *partial) (ok bool, err error) {
	most := call.LargestOf(v)
	_, k := math.Frexp(most)
	q := min(61-k-r.exp, u.bits)
	if q < 0 || !(most < 0x1p900) {
		return false, nil
	}
	c, total := make([]int64, y.n), 0.0
	for i, v := range v {
		c[i] = int64(math.RoundToEven(math.Ldexp(v, r.exp+q)))
		total += math.Abs(float64(c[i]))
	}
	if total == 0 {
		return true, nil
	}
	// |y| and |F y|, and r with them, are far from the ends of their room.
	if u.sum += math.Ldexp(total*1.01, -q); !(u.sum < 0x1p58) {
		return false, nil
	}
	for i, c := range c {
		addInteger(u.x[i], c, u.bits-q)
	}
	// Planes of F whose cutting loses less than r's last bit, as far as there are any:
	// total 2^(2-64w-q) ≤ n 2^(63-64w-q).
	planes := max(1, (-r.unit-q+63+mathbits.Len(uint(y.n))+63)/64)
	if err := y.provide(planes); err != nil {
		return false, err
	}
	planes = min(planes, y.f.Planes)
	if err := y.subtract(r, fixed.NewVector(c), q, planes); err != nil {
		return false, err
	}
	u.lost += 1.01
	if int64(64*planes)-1 < y.low {
		u.lost += float64(1.01 * math.Ldexp(total, 2-64*planes-q-r.unit))
	}
	return true, nil
}

// atFloor is how many bits above the bound of its error a residual counts as nothing but error.
const atFloor = 6

// right returns column j of B, diag(2^rows) applied to which lies below 2^shift.
func (y *fixedSystem) right(j int) (g []num.Real, shift int64) {
	g, shift = make([]num.Real, y.n), math.MinInt64
	words := num.ValueWords(y.b.Arr.Format)
	buf := make([]uint64, y.n*words)
	for i := range g {
		g[i] = y.b.Arr.Value(y.b.At(i, j), buf[i*words:(i+1)*words])
		if g[i].Class == num.Finite {
			shift = max(shift, g[i].Exp+int64(num.BitLen(g[i].Mag))+y.r.scales().Rows[i])
		}
	}
	return g, shift
}

// look fills in r's leading bits from its fixed-point numbers, which are in error by less than lost
// units, and returns the length of the longest.
func (r *residual) look(lost float64) (top int) {
	for _, x := range r.x {
		top = max(top, fixed.BitLen(x))
	}
	for i, x := range r.x {
		r.lead[i] = fixed.Leading(x, top)
	}
	r.exp = top + r.unit
	r.err = float64(1.001*math.Ldexp(lost, -top)) + 0x1p-1000
	r.slop = 0x1p-51 + r.err
	return top
}

// provide sees to F in so many planes, or in all that are not 0.
func (y *fixedSystem) provide(planes int) (err error) {
	// 2^-low is a multiple of the unit 2^(1-64w) of w planes.
	planes = min(planes, int(min(y.low/64, math.MaxInt32))+1)
	if y.f == nil || planes > y.f.Planes {
		if err := y.s.Budget.Check(planeBytes(y.a, planes)); err != nil {
			return err
		}
		y.f, err = fixed.New(&y.s.Call, y.a, y.r.scales(), planes)
	}
	return err
}

// subtract subtracts F c 2^-q from r.
func (y *fixedSystem) subtract(r *residual, c *fixed.Vector, q, planes int) error {
	const some = 16 // rows a call
	return par.For(y.s.Ctx, y.s.Threads, (y.n+some-1)/some, func(_, part int) {
		z := make([]uint64, planes+2)
		for i := part * some; i < min(y.n, (part+1)*some); i++ {
			y.f.Row(z, i, c, planes)
			fixed.SubtractShifted(r.x[i], z, 1-64*planes-q-r.unit)
		}
	})
}

// addInteger adds c 2^shift to z in two's complement.
func addInteger(z []uint64, c int64, shift int) {
	x := [2]uint64{uint64(c), uint64(c >> 63)}
	num.Negate(x[:])
	fixed.SubtractShifted(z, x[:], shift)
}

// decide decides entries by radius 2^exp around y 2^shift.
func (y *fixedSystem) decide(e *entries, u *partial, shift int64, radius []float64, exp int) (bool, error) {
	cols := y.r.scales().Cols
	r := make([]*big.Float, y.n)
	for _, i := range e.open {
		if at := shift + cols[i]; radius[i]-radius[i] != 0 || max(at, -at) > 1<<30 {
			return false, nil // the latter lest numbers leave the exponents of big.Float
		}
		r[i] = bound.Upper().SetFloat64(radius[i])
		r[i].SetMantExp(r[i], exp+int(shift+cols[i]))
	}
	mid := func(i int) *big.Float {
		x := make([]uint64, len(u.x[i]))
		copy(x, u.x[i])
		neg := int64(x[len(x)-1]) < 0
		if neg {
			num.Negate(x)
		}
		z := bigFloat(x)
		if neg {
			z.Neg(z)
		}
		return z.SetMantExp(z, int(shift+cols[i])-u.bits)
	}
	ties, err := e.decide(mid, r, cols)
	y.missing = min(e.missing(mid, r), 1<<20)
	if ties != nil && err == nil {
		err = lift(y.s, []suspects{{e, ties}})
	}
	return len(e.open) == 0, err
}

// bigFloat returns an integer.
func bigFloat(x []uint64) *big.Float {
	b := make([]byte, 8*len(x))
	for i, w := range x {
		binary.BigEndian.PutUint64(b[8*(len(x)-1-i):], w)
	}
	return new(big.Float).SetPrec(uint(64 * len(x))).SetInt(new(big.Int).SetBytes(b))
}

func log2(x float64) float64 { return math.Log2(x) }
