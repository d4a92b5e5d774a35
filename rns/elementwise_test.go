package rns

import (
	"math/big"
	"testing"
)

// An operation of the tests has three operands, which it need not read.
type elementwiseOperation struct {
	vectors  func(x, y, c, z *Vector, o *Options) error
	matrices func(x, y, c, z *Matrix, o *Options) error
	number   func(z, x, y, c *Number) *Number
	// within reports whether z is the operation's result up to its error, u the unit roundoff.
	within func(z, x, y, c, u *big.Float) bool
}

func binaryOf[A Elements](f func(x, y, z A, o *Options) error) func(x, y, c, z A, o *Options) error {
	return func(x, y, _, z A, o *Options) error { return f(x, y, z, o) }
}

func unaryOf[A Elements](f func(x, z A, o *Options) error) func(x, y, c, z A, o *Options) error {
	return func(x, _, _, z A, o *Options) error { return f(x, z, o) }
}

// below reports whether |x| ≤ u |y|.
func below(x, u, y *big.Float) bool {
	return exactFloat().Abs(x).Cmp(exactFloat().Mul(u, exactFloat().Abs(y))) <= 0
}

func plus(x, y *big.Float) *big.Float  { return exactFloat().Add(x, y) }
func minus(x, y *big.Float) *big.Float { return exactFloat().Sub(x, y) }
func times(x, y *big.Float) *big.Float { return exactFloat().Mul(x, y) }
func size(x *big.Float) *big.Float     { return exactFloat().Abs(x) }

var elementwiseOperations = map[string]elementwiseOperation{
	"Add": {
		binaryOf(Add[*Vector]), binaryOf(Add[*Matrix]),
		func(z, x, y, _ *Number) *Number { return z.Add(x, y) },
		func(z, x, y, _, u *big.Float) bool { return below(minus(z, plus(x, y)), u, plus(x, y)) },
	},
	"Sub": {
		binaryOf(Sub[*Vector]), binaryOf(Sub[*Matrix]),
		func(z, x, y, _ *Number) *Number { return z.Sub(x, y) },
		func(z, x, y, _, u *big.Float) bool { return below(minus(z, minus(x, y)), u, minus(x, y)) },
	},
	"Mul": {
		binaryOf(Mul[*Vector]), binaryOf(Mul[*Matrix]),
		func(z, x, y, _ *Number) *Number { return z.Mul(x, y) },
		func(z, x, y, _, u *big.Float) bool { return below(minus(z, times(x, y)), u, times(x, y)) },
	},
	"Div": {
		binaryOf(Div[*Vector]), binaryOf(Div[*Matrix]),
		func(z, x, y, _ *Number) *Number { return z.Quo(x, y) },
		func(z, x, y, _, u *big.Float) bool { return below(minus(times(z, y), x), u, x) },
	},
	"Sqrt": {
		unaryOf(Sqrt[*Vector]), unaryOf(Sqrt[*Matrix]),
		func(z, x, _, _ *Number) *Number { return z.Sqrt(x) },
		func(z, x, _, _, u *big.Float) bool { // (√x (1 + δ))² - x = x (2 δ + δ²)
			return z.Sign() >= 0 && below(minus(times(z, z), x), times(u, plus(big.NewFloat(2), u)), x)
		},
	},
	"FMA": {
		func(x, y, c, z *Vector, o *Options) error { return FMA(x, y, c, z, o) },
		func(x, y, c, z *Matrix, o *Options) error { return FMA(x, y, c, z, o) },
		func(z, x, y, c *Number) *Number { return z.FMA(x, y, c) },
		func(z, x, y, c, u *big.Float) bool {
			exact := plus(times(x, y), c)
			extra := times(times(u, u), plus(size(times(x, y)), size(c)))
			return size(minus(z, exact)).Cmp(plus(times(u, size(exact)), extra)) <= 0
		},
	},
}

// exactly is a number, nil for NaN.
func exactly(x *Number) *big.Float {
	f, err := x.Big()
	if err != nil {
		return nil
	}
	return f
}

// TestElementwise compares operations entry by entry with the methods of Number, on views of all
// kinds, also in place, and with exact results.
func TestElementwise(t *testing.T) {
	for _, b := range blasBases(t) {
		r := newRand(t, 71)
		xs := significands(b, r, 30)
		u := b.u.Big()
		for name, op := range elementwiseOperations {
			judged, failed := 0, 0 // results compared with exact ones, and NaN
			check := func(what string, got, x, y, c *Number) {
				t.Helper()
				wantSame(t, name+what, got, op.number(b.NewNumber(), x, y, c))
				if got.IsNaN() {
					failed++
					if name != "Div" && name != "Sqrt" || name == "Div" && !y.IsZero() || name == "Sqrt" && x.Sign() >= 0 {
						t.Fatalf("%s%s of %s is NaN", name, what, describe(x, y, c))
					}
					return
				}
				if judged++; !op.within(exactly(got), exactly(x), exactly(y), exactly(c), u) {
					t.Fatalf("%s%s of %s is %s", name, what, describe(x, y, c), describe(got))
				}
			}
			for _, n := range []int{0, 1, 5, 150} {
				for _, o := range optionSets[:3] {
					x, y, c, z := randomVector(b, r, xs, n), randomVector(b, r, xs, n), randomVector(b, r, xs, n), randomVector(b, r, xs, n)
					for i := range n / 3 {
						c.Set(i, b.NewNumber().Neg(mul(x.At(i), y.At(i))))
					}
					done(op.vectors(x, y, c, z, o))
					for i := range n {
						check(" of vectors", z.At(i), x.At(i), y.At(i), c.At(i))
					}
					for k, v := range []*Vector{x, y, c} { // in place
						old := v.Clone()
						done(op.vectors(x, y, c, v, o))
						if !v.Same(z.Clone()) {
							t.Fatalf("%s into operand %d differs", name, k)
						}
						must(t, v.CopyFrom(old))
					}
					done(op.vectors(x, x, x, z, o))
					for i := range n {
						wantSame(t, name+" of one operand", z.At(i), op.number(b.NewNumber(), x.At(i), x.At(i), x.At(i)))
					}
				}
			}
			for _, shape := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {5, 9}, {40, 2}} {
				m := func() *Matrix { return randomMatrix(b, r, xs, shape[0], shape[1]) }
				x, y, c, z := m(), m(), m(), m()
				gaps := z.arr.Vector(0, z.arr.Len(), 1).Clone()
				done(op.matrices(x, y, c, z, nil))
				for k := range z.arr.Len() {
					i, j := (k-z.off)%z.ld, (k-z.off)/z.ld
					if k < z.off || i >= shape[0] || j >= shape[1] { // between the entries
						wantSame(t, name+" beside a matrix", z.arr.Vector(0, z.arr.Len(), 1).At(k), gaps.At(k))
						continue
					}
					check(" of matrices", z.At(i, j), x.At(i, j), y.At(i, j), c.At(i, j))
				}
			}
			if judged < 200 || name == "Sqrt" && failed < 100 || name == "Div" && failed < 1 {
				t.Errorf("%s: %d results and %d NaN", name, judged, failed)
			}
		}
	}
}

// TestElementwiseSpecial: NaN, zeros and the ends of the range.
func TestElementwiseSpecial(t *testing.T) {
	b := smallBase(t)
	nan, zero, one := b.NewNumber(), b.NewNumber(), b.NewNumber().SetInt64(1)
	nan.v.setNaN()
	large, tiny := b.NewNumber().MulPow2(one, maxExp), b.NewNumber().MulPow2(one, minExp)
	all := []*Number{nan, zero, one, b.NewNumber().SetInt64(-1), large, tiny, b.NewNumber().Neg(large)}
	n := len(all)
	x, y, c, z := b.NewVector(n*n*n), b.NewVector(n*n*n), b.NewVector(n*n*n), b.NewVector(n*n*n)
	for i := range n * n * n {
		x.Set(i, all[i%n])
		y.Set(i, all[i/n%n])
		c.Set(i, all[i/n/n])
	}
	for name, op := range elementwiseOperations {
		done(op.vectors(x, y, c, z, nil))
		for i := range z.n {
			wantSame(t, name, z.At(i), op.number(b.NewNumber(), x.At(i), y.At(i), c.At(i)))
		}
		must(t, z.arr.Check())
	}
	if got := panicOf(func() { done(Add(x, y.Slice(0, 3), z, nil)) }); got != errShape {
		t.Errorf("Add of other lengths: %v", got)
	}
	if got := panicOf(func() { done(Sqrt(b.NewMatrix(2, 3), b.NewMatrix(3, 2), nil)) }); got != errShape {
		t.Errorf("Sqrt of other shapes: %v", got)
	}
	other, err := SummationBase(60)
	must(t, err)
	if got := panicOf(func() { done(FMA(x, y, other.NewVector(x.n), z, nil)) }); got != errBase {
		t.Errorf("FMA of other bases: %v", got)
	}
}
