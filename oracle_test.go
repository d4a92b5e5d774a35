package halfulp

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// The oracle adds and multiplies exact numbers as big integers. Its only tie to
// the library is the rounding of num.Array.Set.

// term is an exact addend: a special value of an IEEE class, or (-1)^neg n 2^exp.
type term struct {
	class num.Class
	neg   bool
	n     *big.Int
	exp   int64
}

func termOf(r num.Real) term {
	t := term{class: r.Class, neg: r.Neg, n: new(big.Int), exp: r.Exp}
	for i := len(r.Mag) - 1; i >= 0 && r.Class == num.Finite; i-- {
		t.n.Lsh(t.n, 64).Or(t.n, new(big.Int).SetUint64(r.Mag[i]))
	}
	return t
}

func termAt(v num.Vec, i int) term {
	return termOf(v.Arr.Value(v.At(i), make([]uint64, num.MaxValueWords)))
}

func (t term) times(u term) term {
	neg := t.neg != u.neg
	lo, hi := min(t.class, u.class), max(t.class, u.class)
	switch {
	case hi == num.NaN || hi == num.Inf && lo == num.Zero:
		return term{class: num.NaN}
	case hi == num.Inf:
		return term{class: num.Inf, neg: neg}
	case lo == num.Zero:
		return term{neg: neg}
	}
	return term{num.Finite, neg, new(big.Int).Mul(t.n, u.n), t.exp + u.exp}
}

// total adds the terms by the rules of the package.
func total(ts []term) num.Real {
	pos, neg, nan := false, false, false
	minus := len(ts) > 0
	sum, exp := new(big.Int), int64(math.MaxInt64)
	for _, t := range ts {
		switch t.class {
		case num.NaN:
			nan = true
		case num.Inf:
			pos, neg = pos || !t.neg, neg || t.neg
		case num.Finite:
			exp = min(exp, t.exp)
		}
		minus = minus && t.class == num.Zero && t.neg
	}
	switch {
	case nan, pos && neg:
		return num.Real{Class: num.NaN}
	case pos, neg:
		return num.Real{Class: num.Inf, Neg: neg}
	}
	for _, t := range ts {
		if t.class == num.Finite {
			n := new(big.Int).Lsh(t.n, uint(t.exp-exp))
			if t.neg {
				n.Neg(n)
			}
			sum.Add(sum, n)
		}
	}
	if sum.Sign() == 0 {
		return num.Real{Neg: minus}
	}
	return realOf(sum, exp)
}

func realOf(n *big.Int, exp int64) num.Real {
	return num.Real{Class: num.Finite, Neg: n.Sign() < 0, Exp: exp, Mag: num.FromInt(nil, n)}
}

// A family draws random entries of one kind.
type family struct {
	name string
	draw func(r *rand.Rand, a *num.Array, i int)
}

func sign(r *rand.Rand) bool { return r.IntN(2) == 0 }

// randomReal returns a random number of the given bits with its leading bit at
// 2^(exp-1).
func randomReal(r *rand.Rand, bits int, exp int64) num.Real {
	words := (bits + 63) / 64
	m := make([]uint64, words)
	for i := range m {
		switch r.IntN(6) {
		case 0:
			m[i] = 0
		case 1:
			m[i] = math.MaxUint64
		default:
			m[i] = r.Uint64()
		}
	}
	m[0] |= 1
	m[words-1] |= 1 << 63
	return num.Real{Class: num.Finite, Neg: sign(r), Exp: exp - int64(64*words), Mag: m}
}

func spread(bits int) func(*rand.Rand, *num.Array, int) {
	return func(r *rand.Rand, a *num.Array, i int) {
		a.Set(i, randomReal(r, a.Bits()+r.IntN(9)*r.IntN(20), int64(r.IntN(2*bits+1)-bits)))
	}
}

var families = []family{
	{"uniform", func(r *rand.Rand, a *num.Array, i int) {
		v := randomReal(r, a.Bits()+64, 0)
		v.Mag[len(v.Mag)-1] = r.Uint64()
		a.Set(i, v)
	}},
	{"spread20", spread(20)},
	{"spread300", spread(300)},
	{"spread1000", spread(1000)},
	{"integers", func(r *rand.Rand, a *num.Array, i int) {
		a.Set(i, num.Real{Class: num.Finite, Neg: sign(r), Mag: []uint64{uint64(r.IntN(4))}})
	}},
	{"ties", func(r *rand.Rand, a *num.Array, i int) { // powers of two about the precision apart
		e := []int64{0, 0, -1, -int64(a.Bits()), -int64(a.Bits()) - 1, -int64(a.Bits()) + 1, -24, -25, -53, -54, -300, -1000}[r.IntN(12)]
		a.Set(i, num.Real{Class: num.Finite, Neg: sign(r), Exp: e, Mag: []uint64{uint64(1 + r.IntN(2))}})
	}},
	{"patterns", func(r *rand.Rand, a *num.Array, i int) {
		switch a.Kind {
		case num.F32:
			a.F32[i] = math.Float32frombits(r.Uint32())
		case num.MP:
			a.Set(i, randomReal(r, int(a.Prec), int64(r.IntN(4000)-2000)))
		default:
			a.Set(i, termReal(math.Float64frombits(r.Uint64())))
		}
	}},
	{"subnormal", func(r *rand.Rand, a *num.Array, i int) {
		a.Set(i, termReal(math.Float64frombits(r.Uint64()&(1<<63|1<<uint(1+r.IntN(54))-1))))
	}},
	{"huge", func(r *rand.Rand, a *num.Array, i int) {
		a.Set(i, randomReal(r, 53, int64(1000+r.IntN(24))))
	}},
	{"special", func(r *rand.Rand, a *num.Array, i int) {
		v := num.Real{Neg: sign(r)}
		switch r.IntN(40) {
		case 0:
			v.Class = num.NaN
		case 1, 2:
			v.Class = num.Inf
		case 3, 4, 5, 6:
			v = randomReal(r, 60, 3)
		}
		a.Set(i, v)
	}},
	{"zeros", func(r *rand.Rand, a *num.Array, i int) { a.Set(i, num.Real{Neg: r.IntN(5) != 0}) }},
}

func termReal(x float64) num.Real {
	a := num.New(num.Float64, 1)
	a.F64[0][0] = x
	return a.Value(0, make([]uint64, 1))
}

var testFormats = []Format{Float32, Float64, DD, TD, QD, MP(2), MP(53), MP(64), MP(106), MP(113), MP(212), MP(424)}

func pickFormat(r *rand.Rand) Format { return testFormats[r.IntN(len(testFormats))] }

func drawVector(r *rand.Rand, f Format, n int, fam family) *Vector {
	inc := 1
	if r.IntN(3) == 0 {
		inc = 1 + r.IntN(3)
	}
	x := NewVector(f, n*inc)
	for i := range x.v.N {
		fam.draw(r, x.v.Arr, i)
	}
	x = x.Stride(inc)
	if r.IntN(4) == 0 {
		x = x.Stride(-1)
	}
	if n > 2 && r.IntN(3) == 0 { // cancellation: opposite pairs
		for i := 0; i < n/2; i++ {
			v := termRealAt(x.v, i)
			v.Neg = !v.Neg
			x.v.Arr.Set(x.v.At(n-1-i), v)
		}
	}
	return x
}

func termRealAt(v num.Vec, i int) num.Real {
	return v.Arr.Value(v.At(i), make([]uint64, num.MaxValueWords))
}

func drawMatrix(r *rand.Rand, f Format, m, n int, fam family) *Matrix {
	a := NewMatrixLD(f, m, n, max(1, m+r.IntN(3)))
	for j := range n {
		for i := range m {
			fam.draw(r, a.m.Arr, a.m.At(i, j))
		}
	}
	if r.IntN(3) == 0 {
		b := NewMatrixLD(f, n, m, max(1, n+r.IntN(3)))
		for j := range m {
			for i := range n {
				fam.draw(r, b.m.Arr, b.m.At(i, j))
			}
		}
		return b.T()
	}
	return a
}

func drawScalar(r *rand.Rand, f Format, fam family) Scalar {
	switch r.IntN(6) {
	case 0:
		return Float(1)
	case 1:
		return Float(float64(r.IntN(3) - 1))
	}
	return Scalar{num.ScalarOf(drawVector(r, f, 1, fam).Clone().v.Arr)}
}

func dump(v num.Vec) string {
	s := v.Arr.Format.String() + "["
	for i := range v.N {
		x := termRealAt(v, i)
		s += fmt.Sprintf(" %d:%v %v %#x 2^%d;", i, x.Class, x.Neg, x.Mag, x.Exp)
	}
	return s + "]"
}

// trials calls f with fresh seeds, at every level of instructions in turn, printing
// the seed of a failure.
func trials(t *testing.T, n int, f func(r *rand.Rand) error) {
	t.Helper()
	n = max(1, n/testlength.Of(10, 3, 1))
	for k := range n {
		seed := testseed.Vary(t, uint64(k)*0x9e3779b97f4a7c15+12345)
		level := isa.Levels()[k%len(isa.Levels())]
		restore := isa.Force(level)
		err := f(rand.New(rand.NewPCG(seed, 1)))
		restore()
		if err != nil {
			t.Fatalf("seed %d, level %v: %v", seed, level, err)
		}
	}
}

func roundTo(f Format, v num.Real) Scalar {
	a := num.New(f.View(), 1)
	a.Set(0, v)
	return Scalar{num.ScalarOf(a)}
}

// wantRoot returns RN(sqrt(p 2^exp / q)).
func wantRoot(f Format, p *big.Int, exp int64, q *big.Int) Scalar {
	if p.Sign() == 0 {
		return roundTo(f, num.Real{})
	}
	shift := int64(3000 + 4*f.Bits())
	if f.View().Terms() > 1 {
		shift = 8000
	}
	shift += int64(q.BitLen()) + max(exp, 0) + max(-exp, 0)
	if (exp-shift)%2 != 0 {
		shift++
	}
	n := new(big.Int).Lsh(p, uint(shift))
	n.Quo(n, q)
	s := new(big.Int).Sqrt(n)
	v := realOf(s, (exp-shift)/2)
	back := new(big.Int).Mul(s, s)
	back.Mul(back, q)
	v.Sticky = back.Cmp(new(big.Int).Lsh(p, uint(shift))) != 0
	return roundTo(f, v)
}
