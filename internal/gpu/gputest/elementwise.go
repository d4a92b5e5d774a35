package gputest

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
)

// ElementReference returns a fake device with the kernels of kernels/rows/elementwise.cu and the
// kernels for sums, in Go.
func ElementReference(t testing.TB, drv *fake.Driver) *cuda.Device {
	t.Helper()
	drv.Kernel("update", refUpdate)
	drv.Kernel("largest", refLargest)
	return RowReference(t, drv)
}

// partsOf returns the parts of number i other than 0: its terms, or itself.
func partsOf(a *num.Array, i int) (list []num.Real) {
	for t := range max(1, a.Terms()) {
		one, words := a, num.ValueWords(a.Format)
		if a.Terms() > 1 {
			one, words = &num.Array{Format: num.Float64}, 1
			one.F64[0] = a.F64[t]
		}
		if r := one.Value(i, make([]uint64, words)); r.Class == num.Finite {
			list = append(list, r)
		}
	}
	return list
}

// partsClass returns the class of number i and its sign, NaN for an expansion with a special term
// or with terms that might cancel.
func partsClass(a *num.Array, i int) (num.Class, bool) {
	if a.Terms() < 2 {
		r := a.Value(i, make([]uint64, 1))
		return r.Class, r.Neg
	}
	for k := range a.Terms() - 1 {
		if t := a.F64[k][i]; t-t != 0 || t+a.F64[k+1][i] != t {
			return num.NaN, false
		}
	}
	x := a.F64[0][i]
	if x == 0 {
		return num.Zero, math.Signbit(x)
	}
	return num.Finite, x < 0
}

func timesReal(a, b num.Real) num.Real {
	return num.Real{Class: num.Finite, Neg: a.Neg != b.Neg, Exp: a.Exp + b.Exp, Mag: superacc.Multiply(nil, a.Mag, b.Mag)}
}

// A refSum is the parts of an addend and the range of their bits: top is a bound, from the
// factors' own.
type refSum struct {
	parts    []num.Real
	top, low int64
}

func (s *refSum) add(r num.Real, top int64) {
	if len(s.parts) == 0 {
		s.top, s.low = top, r.Exp
	}
	s.parts = append(s.parts, r)
	s.top, s.low = max(s.top, top), min(s.low, r.Exp)
}

func refUpdate(l *fake.Launch, k abi.Update) {

	alpha := num.Real{Class: num.Cls(k.Cls).Class(), Neg: num.Cls(k.Cls).Neg(), Exp: k.Exp}
	alpha.Mag = k.Alpha[:(k.Bits+63)/64]
	x := matOf(l, k.X)
	var y num.Mat
	if k.Y.A.Kind != abi.KindOnes {
		y = matOf(l, k.Y)
	}
	c := matOf(l, abi.Vectors{A: k.C.A, Off: k.C.Off, RS: k.C.RS, CS: k.C.CS, N: k.X.N, K: k.Y.N})
	if c.Arr.Kind == num.MP {
		c.Arr.Prec = uint32(k.C.Prec)
	}
	counts := fake.Slice[uint64](l, k.Counts, 2)
	for j := range int(k.Y.N) {
		for i := range int(k.X.N) {
			flags, ok := refEntry(k, alpha, x, y, c, i, j)
			if !ok {
				leave(l, k.Rest, i, j)
			}
			counts[0] += uint64(flags & num.Overflow)
			counts[1] += uint64(flags & num.Underflow / num.Underflow)
		}
	}
}

// refEntry computes an entry as the kernel does.
func refEntry(k abi.Update, alpha num.Real, x, y, c num.Mat, i, j int) (num.Flags, bool) {
	expansions := x.Arr.Terms() > 1 || c.Arr.Terms() > 1
	xi, to := x.At(i, 0), c.At(i, j)
	// The classes of the product and of the addend, as for numbers with small values.
	small := func(c num.Class, neg bool) num.Real { return num.Real{Class: c, Neg: neg, Mag: []uint64{1}} }
	var special superacc.Acc
	cx, negX := partsClass(x.Arr, xi)
	classY, negY, py := num.Finite, false, []num.Real{{Class: num.Finite, Mag: []uint64{1}}}
	if y.Arr != nil {
		expansions = expansions || y.Arr.Terms() > 1
		classY, negY = partsClass(y.Arr, y.At(j, 0))
		py = partsOf(y.Arr, y.At(j, 0))
	}
	special.AddProduct3(small(alpha.Class, alpha.Neg), small(classY, negY), small(cx, negX))
	product := special.Value(num.Float64)
	cc := num.Zero
	if k.Add != 0 {
		var neg bool
		cc, neg = partsClass(c.Arr, to)
		special.Add(small(cc, neg))
	}
	if expansions && max(alpha.Class, classY, cx, cc) > num.Finite {
		return 0, false
	}
	if v := special.Value(num.Float64); v.Class > num.Finite || product.Class == num.Zero && cc == num.Zero {
		return c.Arr.Set(to, v), true
	}
	if product.Class != num.Finite && c.Arr.Terms() < 2 {
		return 0, true
	}
	var p, a refSum
	if product.Class == num.Finite {
		for _, u := range partsOf(x.Arr, xi) {
			for _, v := range py {
				p.add(timesReal(timesReal(alpha, u), v), topOf(alpha)+topOf(u)+topOf(v))
			}
		}
	}
	if cc == num.Finite {
		for _, u := range partsOf(c.Arr, to) {
			a.add(u, topOf(u))
		}
	}
	parts := append(append([]num.Real{}, p.parts...), a.parts...)
	top, low := p.top, p.low
	if len(p.parts) == 0 {
		top, low = a.top, a.low
	} else if len(a.parts) > 0 {
		top, low = max(top, a.top), min(low, a.low)
	}
	room := int64(64 * k.Words)
	if top-low+6 > room {
		if expansions || len(p.parts) == 0 || len(a.parts) == 0 {
			return 0, false
		}
		larger, smaller := &p, &a
		if p.top <= a.top {
			larger, smaller = smaller, larger
		}
		low = min(larger.low-2, top-k.C.Prec-8)
		if smaller.top > low || top-low+6 > room {
			return 0, false
		}
		parts = []num.Real{larger.parts[0], {Class: num.Finite, Neg: smaller.parts[0].Neg, Exp: low, Mag: []uint64{1}}}
	}
	sum := new(big.Int)
	for _, r := range parts {
		n := num.ToInt(r.Mag)
		n.Lsh(n, uint(max(0, r.Exp-low)))
		if r.Neg {
			n.Neg(n)
		}
		sum.Add(sum, n)
	}
	if sum.BitLen() >= int(room) {
		panic("a sum leaves the window")
	}
	if sum.Sign() == 0 {
		return c.Arr.Set(to, num.Real{}), true
	}
	r := num.Real{Class: num.Finite, Neg: sum.Sign() < 0, Exp: low, Mag: num.FromInt(nil, sum)}
	if c.Arr.Terms() < 2 {
		return c.Arr.Set(to, r), true
	}
	return 0, refExpansion(c.Arr, to, r)
}

// refExpansion stores r greedily, unless a term leaves the normal range or the terms are not
// canonical.
func refExpansion(c *num.Array, to int, r num.Real) bool {
	if top := topOf(r); top > 1023 || top < -1021 {
		return false
	}
	var t [5]float64
	rest := new(big.Float).SetMode(big.ToNearestEven)
	rest.SetInt(num.ToInt(r.Mag))
	rest.SetMantExp(rest, int(r.Exp))
	if r.Neg {
		rest.Neg(rest)
	}
	for k := 0; k < c.Terms() && rest.Sign() != 0; k++ {
		if e := rest.MantExp(nil); e > 1023 || e < -1021 {
			return false
		}
		t[k], _ = rest.Float64()
		wide := new(big.Float).SetPrec(rest.Prec() + 64)
		rest = wide.Sub(rest, big.NewFloat(t[k]))
	}
	for k := range 4 {
		if t[k]+t[k+1] != t[k] {
			return false
		}
	}
	for k := range c.Terms() {
		c.F64[k][to] = t[k]
	}
	return true
}

func refLargest(l *fake.Launch, k abi.Searching) {
	x := matOf(l, k.X)
	to := fake.Slice[int32](l, k.To, int(l.Grid.X))
	v := num.Vec{Arr: x.Arr, Off: x.Off, Inc: x.RS, N: x.Rows}
	var from []int32
	if k.From != 0 {
		from = fake.Slice[int32](l, k.From, int(k.N))
	}
	for b := range to {
		to[b] = -1
		for i := b; i < int(k.N); i += len(to) {
			index := i
			if from != nil {
				index = int(from[i])
			}
			if refOdd(x.Arr, v.At(index)) {
				fake.Slice[uint32](l, k.Odd, 1)[0] = 1
			}
			if to[b] < 0 {
				to[b] = int32(index)
				continue
			}
			// The first of the two with the largest magnitude.
			first, second := min(index, int(to[b])), max(index, int(to[b]))
			pair := num.Vec{Arr: x.Arr, Off: v.At(first), Inc: v.At(second) - v.At(first), N: 2}
			if index == int(to[b]) {
				continue
			}
			w, err := direct.LargestIndex(direct.Work{Run: par.Run{Ctx: context.Background(), Threads: 1}}, pair)
			if err != nil {
				panic(err)
			}
			to[b] = int32([]int{first, second}[w])
		}
	}
}

// refOdd reports whether the kernel does not compare expansion i.
func refOdd(a *num.Array, i int) bool {
	for k := 0; k+1 < a.Terms(); k++ {
		t, next := a.F64[k][i], a.F64[k+1][i]
		if next-next != 0 || t-t != 0 && next != 0 {
			return true
		}
		if more := math.Float64frombits(math.Float64bits(next) + 1); t-t == 0 && next != 0 && t+more != t {
			return true
		}
	}
	return false
}
