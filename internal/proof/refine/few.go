package refine

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
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// A fixedSystem is a system F y = g whose columns are solved one by one.
type fixedSystem struct {
	s    *call.Run
	a, b num.Mat
	r    seed.Inverse
	f    *fixed.Matrix // nil at first
	// again says that rows of F are computed again for each product, some at a time, because all of
	// F takes too much memory
	again   bool
	low     int64 // F is a multiple of 2^-low
	left    int   // waiting columns
	n       int
	word    []uint64       // memory of roundWords
	rounder *bound.Rounder // memory of roundWords
	// how many bits are missing to decide most entries of a column; 0 if unknown
	missing float64
	likely  float64 // about how often a column is solved
	brief   bool    // F gets no more planes, and entries are decided only by words: see together
}

// SolveFew solves for the columns of todo with R, and sets the finished columns to nil. The others
// need more bits than are worthwhile here.
func SolveFew(s *call.Run, a, b, z num.Mat, r seed.Inverse, todo []*ziv.Entries) error {
	y := &fixedSystem{s: s, a: a, b: b, r: r, n: a.Rows}
	y.low, y.f = scale.LowestBitOn(s.Threads, y.a, r.Scales()), r.Matrix()
	bits := z.Format().Bits()
	loop := ziv.Loop{What: "a solution", First: bits + ziv.Suspicion + 4, Most: 4*bits + 1024}
	first := true
	for j, e := range todo {
		y.left = len(todo) - j - 1
		if e == nil {
			continue
		}
		s.Budget.Reclaim(0)
		err := ziv.Decide(s, loop, func(want int) (missing int, err error) {
			y.missing = 0
			y.likely = 1
			if want == loop.First && r.MoreBits() > 2*scale.SeedBits {
				y.likely = 1.6 // entries differ widely: more bits may be needed
			}
			more, err := y.column(e, j, bits, want)
			if err != nil {
				return 0, err
			}
			if len(e.Open) == 0 {
				todo[j] = nil
			}
			switch {
			case !more || todo[j] == nil:
				return ziv.Done, nil
			case y.missing > 0:
				return min(want, int(y.missing)+ziv.Suspicion), nil
			}
			return ziv.Double, nil
		})
		if err == nil && first { // it has provided F
			first = false
			err = y.together(j+1, todo[j+1:], bits, loop.First)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// column solves for column j to about want bits and decides what these bits decide. It reports
// whether more bits would help.
//
// With y a sum of vectors c of integers times powers of two, r = g - F y is held in fixed point.
// Each step r <- r - F c costs a product of F with a vector of one word. It is exact up to the
// truncation below r's last bit and F's last plane, which is counted. c is any vector; the proof of
// y bounds F^-1 r alone.
func (y *fixedSystem) column(e *ziv.Entries, j, bits, want int) (more bool, err error) {
	n, by := y.n, y.r.Scales()
	g, shift := y.right(j)
	if shift == math.MinInt64 {
		for _, i := range e.Open {
			e.Z.SetBig(i, e.J, new(big.Float))
		}
		e.Open = nil
		return false, nil
	}
	r := &seed.Residual{Lead: make([]float64, n)}
	for i := range n {
		x, exp := y.b.Arr.Leading(y.b.At(i, j))
		r.Lead[i] = scale.Ldexp(x, exp+by.Rows[i]-shift)
	}
	v, err := y.r.Correct(r)
	if err != nil {
		return false, err
	}
	most := call.LargestOf(v[0])
	if !(most > 0x1p-900 && most < 0x1p900) {
		return false, nil
	}
	_, k := math.Frexp(most)
	shift += int64(k) // y is about 1 from now on
	words := (max(want+y.r.MoreBits()+atFloor+6, 64) + 63) / 64
	cost := ColumnCost(n, words, y.r.Words())
	y.s.Plan(cost * (y.likely + float64(y.left)))
	working := y.s.Doing(cost)
	defer y.s.Did(cost)
	y.s.Stats.Precision = 64 * words
	r.Unit, r.X = -64*words, make([][]uint64, n)
	u := &partial{x: make([][]uint64, n), bits: 64 * (words + 1), lost: 1}
	room := make([]uint64, n*(2*words+3))
	for i := range n {
		r.X[i], u.x[i], room = room[:words+1], room[words+1:2*words+3], room[2*words+3:]
		if g[i].Class == num.Finite {
			fixed.Magnitude(r.X[i], g[i].Mag, g[i].Exp+by.Rows[i]-shift+int64(64*words))
			if g[i].Neg {
				num.Negate(r.X[i])
			}
		}
	}
	began, last, lastExp := false, math.Inf(1), math.MaxInt32
	for ; ; y.s.Stats.Steps++ {
		top := r.Look(u.lost)
		working(1 - float64(max(top, 0))/float64(64*words+1))
		floor := top <= int(seed.Log2(u.lost))+atFloor
		proved := func(c []float64) (bool, error) {
			radius := y.r.Radius(r, c)
			if floor || seed.Log2(call.LargestOf(radius))+float64(r.Exp) <= -float64(bits+4)-seed.Log2(float64(n)) {
				return y.decide(e, u, shift, radius, r.Exp)
			}
			return false, nil
		}
		tried := false // Radius needs no c in this case
		switch leading := y.r.Leading(); {
		case leading && !began:
			for i, x := range v[0] { // v[0] relative to this residual
				v[0][i] = math.Ldexp(x, -k-r.Exp)
			}
		case leading && !floor && last+float64(r.Exp-lastExp) <= -float64(bits+10): // about est
			if done, err := proved(nil); done || err != nil {
				return false, err
			}
			tried = true
			fallthrough
		default:
			if v, err = y.r.Correct(r); err != nil {
				return false, err
			}
		}
		if most = call.LargestOf(v[0]); !(most < 0x1p900) || most == 0 && !floor {
			return false, nil // the second case makes no progress
		}
		est := seed.Log2(most) + float64(r.Exp) // of |y - F^-1 g|
		if began && !tried && (floor || est <= -float64(bits+8)) {
			if done, err := proved(v[0]); done || err != nil {
				return false, err
			}
		}
		if floor {
			return true, nil
		}
		if est > last-2 && r.Exp > lastExp-2 {
			// R is not as good as claimed, or R magnifies the truncation of the residual.
			// Corrections of so few bits then keep the residual from reaching its floor.
			return est <= seed.Log2(u.lost)+float64(r.Unit+y.r.MoreBits()+atFloor), nil
		}
		last, lastExp = min(last, est), min(lastExp, r.Exp)

		for _, v := range v {
			if ok, err := y.add(v, r, u); !ok || err != nil {
				return false, err
			}
		}
		began = true
	}
}

// partial is the solution y so far.
type partial struct {
	x    [][]uint64 // y, of unit 2^-bits
	bits int
	sum  float64 // a bound of |y|
	lost float64 // a bound of the error of the entries of r, in its unit
}

// add adds v 2^r.Exp, rounded to integers up to 2^61 of some unit, to y, and updates r; not ok if
// that does not fit.
func (y *fixedSystem) add(v []float64, r *seed.Residual, u *partial) (ok bool, err error) {
	most := call.LargestOf(v)
	_, k := math.Frexp(most)
	q := min(61-k-r.Exp, u.bits)
	if q < 0 || !(most < 0x1p900) {
		return false, nil
	}
	c, total := make([]int64, y.n), 0.0
	for i, v := range v {
		c[i] = int64(math.RoundToEven(math.Ldexp(v, r.Exp+q)))
		total += math.Abs(float64(c[i]))
	}
	if total == 0 {
		return true, nil
	}
	// |y|, |F y| and therefore r are far from the ends of their range.
	if u.sum += math.Ldexp(total*1.01, -q); !(u.sum < 0x1p58) {
		return false, nil
	}
	for i, c := range c {
		addInteger(u.x[i], c, u.bits-q)
	}
	// The planes of F whose truncation loses less than r's last bit, as far as they exist: total
	// 2^(2-64w-q) ≤ n 2^(63-64w-q).
	planes := max(1, (-r.Unit-q+63+mathbits.Len(uint(y.n))+63)/64)
	if y.brief && min(planes, y.mostPlanes()) > y.f.Planes {
		return false, nil
	}
	if err := y.provide(planes); err != nil {
		return false, err
	}
	if planes = min(planes, y.mostPlanes()); y.f != nil {
		planes = min(planes, y.f.Planes)
	}
	if err := y.subtract(r, fixed.NewVector(c), q, planes); err != nil {
		return false, err
	}
	u.lost += 1.01
	if int64(64*planes)-1 < y.low {
		u.lost += float64(1.01 * math.Ldexp(total, 2-64*planes-q-r.Unit))
	}
	return true, nil
}

// atFloor is how many bits above its error bound a residual counts as pure error.
const atFloor = 6

// right returns column j of B, and a shift such that diag(2^rows) times this column lies below
// 2^shift.
func (y *fixedSystem) right(j int) (g []num.Real, shift int64) {
	g, shift = make([]num.Real, y.n), math.MinInt64
	words := num.ValueWords(y.b.Arr.Format)
	buf := make([]uint64, y.n*words)
	for i := range g {
		g[i] = y.b.Arr.Value(y.b.At(i, j), buf[i*words:(i+1)*words])
		if g[i].Class == num.Finite {
			shift = max(shift, g[i].Exp+int64(num.BitLen(g[i].Mag))+y.r.Scales().Rows[i])
		}
	}
	return g, shift
}

// provide ensures that F is available in the given number of planes, or in all nonzero planes.
func (y *fixedSystem) provide(planes int) (err error) {
	planes = min(planes, y.mostPlanes())
	if !y.again && (y.f == nil || planes > y.f.Planes) {
		if y.s.Budget.Check(call.PlaneBytes(y.a, planes)) != nil {
			y.again, y.f = true, nil
			return y.s.Budget.Check(SomeBytes(y.n, planes))
		}
		y.f, err = fixed.New(&y.s.Call, y.a, y.r.Scales(), planes)
	}
	return err
}

// someRows returns how many rows of F are computed at a time: about 2^19 bytes, in whole tiles.
func someRows(n, planes int) int {
	return max(1<<16/(max(n, 1)*planes*rowsTogether), 1) * rowsTogether
}

// rowsTogether is the number of rows of a tile of fixed.New.
const rowsTogether = 64

// SomeBytes returns the bytes of the rows of F, of order n and in the given planes, that are held
// at a time where all of F takes too much memory.
func SomeBytes(n, planes int) float64 {
	return 8 * float64(min(n, someRows(n, planes))) * float64(n) * float64(planes)
}

// mostPlanes returns how many planes hold all of F: 2^-low is a multiple of the unit 2^(1-64w) of w
// planes.
func (y *fixedSystem) mostPlanes() int { return int(min(y.low/64, math.MaxInt32)) + 1 }

// subtract subtracts F c 2^-q from r.
func (y *fixedSystem) subtract(r *seed.Residual, c *fixed.Vector, q, planes int) error {
	if !y.again {
		return y.subtractRows(r.X, y.f, c, planes, 1-64*planes-q-r.Unit)
	}
	by, rows := y.r.Scales(), someRows(y.n, planes)
	for first := 0; first < y.n; first += rows {
		last := min(first+rows, y.n)
		release := y.s.Temporary()
		f, err := fixed.New(&y.s.Call, y.a.Slice(first, last, 0, y.n), scale.Scaling{Rows: by.Rows[first:last], Cols: by.Cols}, planes)
		if err == nil {
			err = y.subtractRows(r.X[first:last], f, c, planes, 1-64*planes-q-r.Unit)
		}
		release()
		if err != nil {
			return err
		}
	}
	return nil
}

// subtractRows subtracts F c 2^shift from rows of r.
func (y *fixedSystem) subtractRows(x [][]uint64, f *fixed.Matrix, c *fixed.Vector, planes, shift int) error {
	const some = 16 // rows a call
	return par.For(y.s.Ctx, y.s.Threads, (len(x)+some-1)/some, func(_, part int) {
		z := make([]uint64, planes+2)
		for i := part * some; i < min(len(x), (part+1)*some); i++ {
			f.Row(z, i, c, planes)
			fixed.SubtractShifted(x[i], z, shift)
		}
	})
}

// addInteger adds c 2^shift to z in two's complement.
func addInteger(z []uint64, c int64, shift int) {
	x := [2]uint64{uint64(c), uint64(c >> 63)}
	num.Negate(x[:])
	fixed.SubtractShifted(z, x[:], shift)
}

// decide decides entries by the enclosures y 2^shift ± radius 2^exp, scaled back by columns.
//
// Most entries are rounded from the words of y (roundWords). Package ziv decides the others.
func (y *fixedSystem) decide(e *ziv.Entries, u *partial, shift int64, radius []float64, exp int) (bool, error) {
	cols := y.r.Scales().Cols
	open := e.Open[:0]
	for _, i := range e.Open {
		if !y.roundWords(e, u, i, shift+cols[i], radius[i], exp) {
			open = append(open, i)
		}
	}
	if e.Open = open; len(open) == 0 {
		y.missing = 0
		return true, nil
	}
	if y.brief {
		return false, nil
	}
	r := make([]*big.Float, y.n)
	for _, i := range e.Open {
		if at := shift + cols[i]; radius[i]-radius[i] != 0 || max(at, -at) > 1<<30 {
			return false, nil // numbers must stay in the exponents of big.Float
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
	ties, err := e.Decide(mid, r, cols)
	y.missing = min(e.Missing(mid, r), 1<<20)
	if ties != nil && err == nil {
		err = ziv.Lift(y.s, []ziv.Suspects{{Entries: e, Ties: ties}})
	}
	return len(e.Open) == 0, err
}

// roundWords rounds entry i, which lies within radius 2^exp of y_i, both times 2^shift, and stores
// it; not ok if the words of y_i do not show that all numbers within the radius round to it, or if
// the result is not a normal number.
func (y *fixedSystem) roundWords(e *ziv.Entries, u *partial, i int, shift int64, radius float64, exp int) (ok bool) {
	if !(radius > 0 && radius < 0x1p900) {
		return false
	}
	_, top := math.Frexp(radius)
	// Words that are smaller than the error are dropped. The error is below 2^60 units of the last
	// one.
	top += exp + u.bits
	drop := max(0, (top+3)/64)
	x := u.x[i]
	if drop >= len(x) {
		return false
	}
	y.word = append(y.word[:0], x...)
	neg := int64(x[len(x)-1]) < 0
	if neg {
		num.Negate(y.word)
	}
	v := bound.EnclosedEntry{Neg: neg, Mag: y.word[drop:], Exp: shift - int64(u.bits) + int64(64*drop)}
	for len(v.Mag) > 0 && v.Mag[len(v.Mag)-1] == 0 {
		v.Mag = v.Mag[:len(v.Mag)-1]
	}
	v.Within(radius, exp+int(shift)) // in units of 2^v.Exp
	if y.rounder == nil {
		y.rounder = &bound.Rounder{Ends: num.New(e.Z.Format(), 2)}
	}
	return v.RoundTo(y.rounder, e.Z.Arr, e.Z.At(i, e.J))
}

// bigFloat returns the integer given by words.
func bigFloat(x []uint64) *big.Float {
	b := make([]byte, 8*len(x))
	for i, w := range x {
		binary.BigEndian.PutUint64(b[8*(len(x)-1-i):], w)
	}
	return new(big.Float).SetPrec(uint(64 * len(x))).SetInt(new(big.Int).SetBytes(b))
}
