package direct

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/internal/tiles"
)

// integerSum is a sum as an integer times 2^-unit, and what it has met besides.
type integerSum struct {
	unit                       int64
	sum                        big.Int
	finite, nan                bool
	inf, negInf, zero, negZero bool
}

// add adds a product of numbers.
func (s *integerSum) add(factors ...num.Real) {
	product, exp, neg := big.NewInt(1), s.unit, false
	least, most := num.NaN, num.Zero
	for _, x := range factors {
		neg = neg != x.Neg
		exp += x.Exp
		least, most = min(least, x.Class), max(most, x.Class)
		if x.Class == num.Finite {
			product.Mul(product, numtest.Integer(x.Mag))
		}
	}
	switch {
	case most == num.NaN, most == num.Inf && least == num.Zero:
		s.nan = true
	case most == num.Inf && neg:
		s.negInf = true
	case most == num.Inf:
		s.inf = true
	case least == num.Zero && neg:
		s.negZero = true
	case least == num.Zero:
		s.zero = true
	default:
		s.finite = true
		if product.Lsh(product, uint(exp)); neg {
			product.Neg(product)
		}
		s.sum.Add(&s.sum, product)
	}
}

func (s *integerSum) value() num.Real {
	switch {
	case s.nan, s.inf && s.negInf:
		return num.Real{Class: num.NaN}
	case s.inf, s.negInf:
		return num.Real{Class: num.Inf, Neg: s.negInf}
	case !s.finite:
		return num.Real{Neg: s.negZero && !s.zero}
	case s.sum.Sign() == 0:
		return num.Real{}
	}
	r := num.Real{Class: num.Finite, Neg: s.sum.Sign() < 0, Exp: -s.unit}
	word, low := new(big.Int), new(big.Int).SetUint64(math.MaxUint64)
	for rest := new(big.Int).Abs(&s.sum); rest.Sign() != 0; rest.Rsh(rest, 64) {
		r.Mag = append(r.Mag, word.And(rest, low).Uint64())
	}
	return r
}

// Where internal/superacc sums in another way: from so many entries on by rows, after so many of
// expansions with the next copies, from so many on in columns, and up to this spread of exponents.
const accRows, accPart, accDigits, accSpan = 512, 1 << 11, 64, 40

// fillHard stores a number of a kind: exponents that fit columns of sums or just do not, all there
// are, the ends of their range, the same ones; words of ones and zeros, zeros with any exponent
// beside them, terms that overlap or cancel or leave gaps, and, of the last kind, infinities.
func fillHard(r *rand.Rand, a *num.Array, i, kind int) {
	const kinds = 6 // the last one
	value := func(e int) float64 {
		m := math.Ldexp(float64(1+r.Uint64N(1<<53-1)), -53)
		if r.IntN(3) == 0 {
			m = 1 - 0x1p-53
		}
		return math.Ldexp(math.Copysign(m, float64(r.IntN(2))-0.5), e)
	}
	zero := func() float64 { return math.Copysign(0, value(0)) }
	e := []int{r.IntN(accSpan + 1), r.IntN(3000) - 1500, -1000 - r.IntN(80), 1024 - r.IntN(3), []int{0, 40, 41, 62, 63, 64}[r.IntN(6)], 0, 0}[kind]
	switch a.Kind {
	case num.MP:
		l := a.Limbs()
		sig := a.Sig[i*l : (i+1)*l]
		mode := r.IntN(4)
		for k := range sig {
			sig[k] = []uint64{math.MaxUint64, 0, r.Uint64(), r.Uint64()}[mode]
		}
		sig[0] &= math.MaxUint64 << (64*l - int(a.Prec))
		sig[l-1] |= 1 << 63
		a.Exp[i], a.Cls[i] = int32(e), num.MakeCls(r.IntN(2) == 0, num.Finite)
		if r.IntN(30) == 0 {
			a.Exp[i], a.Cls[i] = int32(r.Uint32()), num.MakeCls(r.IntN(2) == 0, num.Zero)
		}
		if kind == kinds && r.IntN(100) == 0 {
			a.Cls[i] = num.MakeCls(r.IntN(2) == 0, num.Inf)
		}
	case num.F32:
		a.F32[i] = float32(value(e / 8))
		if r.IntN(30) == 0 {
			a.F32[i] = float32(zero())
		}
	default:
		for t := range a.Terms() {
			x := &a.F64[t][i]
			*x = value(min(e, 1024))
			e -= []int{53, 54, 55, 54, 53, 1, -30, r.IntN(200)}[r.IntN(8)]
			switch {
			case t > 0 && r.IntN(12) == 0:
				*x = zero()
			case t > 0 && r.IntN(40) == 0:
				*x = -a.F64[0][i]
			}
		}
		special, put := 0.0, kind%2 == 0 && r.IntN(40) == 0 // no sum by terms then
		if kind == kinds && r.IntN(100) == 0 {
			special, put = math.Inf(1), true
		}
		if put {
			for t := range a.Terms() {
				a.F64[t][i] = 0
			}
			a.F64[0][i] = math.Copysign(special, value(0))
		}
	}
}

// TestReductions compares sums, sums of magnitudes and scalar products of numbers of all formats
// with integers of math/big, on all levels, for lengths near the length of a vector and of a part,
// and for any strides, threads and formats of results.
func TestReductions(t *testing.T) {
	for _, level := range isa.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			defer isa.Force(level)()
			r := testseed.Rand(t, 71, 72)
			format := func() num.Format {
				if r.IntN(2) == 0 {
					return num.Format{Kind: []num.Kind{num.F32, num.F64, num.DD, num.TD, num.QD}[r.IntN(5)]}
				}
				return num.Format{Kind: num.MP, Prec: []uint32{2, 53, 64, 65, 128, 192, 256, 424, 513, 848, 2048, 2049, 30 + r.Uint32N(900)}[r.IntN(13)]}
			}
			for trial := range testlength.Trials(300) {
				kind, n := r.IntN(7), r.IntN(71)
				switch r.IntN(8) {
				case 0:
					n = accRows + r.IntN(100)
				case 1:
					n = tiles.DotChunk - 6 + r.IntN(12)
				case 2:
					n = accPart - 8 + r.IntN(16)
				case 3, 4:
					n = accDigits - 4 + r.IntN(80)
				}
				vector := func() num.Vec {
					v := num.Vec{Arr: num.New(format(), 2*n+1), Inc: []int{-2, -1, 0, 1, 1, 1, 2}[r.IntN(7)], N: n}
					v.Off = max(0, -v.Inc*(n-1))
					for i := range v.Arr.Len() {
						fillHard(r, v.Arr, i, kind)
					}
					return v
				}
				x, y := vector(), vector()
				if r.IntN(4) == 0 && x.Inc != 0 { // all cancel, but for the last of an odd number
					for i := 0; i+1 < n; i += 2 {
						x.Arr.CopyFrom(x.At(i+1), x.Arr, x.At(i))
						x.Arr.Negate(x.At(i + 1))
						y.Arr.CopyFrom(y.At(i+1), y.Arr, y.At(i))
					}
				}
				how := []Reduction{Sum, Asum, Dot, Squares}[r.IntN(4)]
				if how != Dot {
					y = x
				}
				sum := integerSum{unit: 16000}
				var bufs [2][num.MaxValueWords]uint64
				for i := range n {
					u, v := x.Arr.Value(x.At(i), bufs[0][:]), y.Arr.Value(y.At(i), bufs[1][:])
					switch how {
					case Sum:
						sum.add(u)
					case Asum:
						u.Neg = false
						sum.add(u)
					default:
						sum.add(u, v)
					}
				}
				f := format()
				got, want := num.New(f, 1), num.New(f, 1)
				flags, _, err := how.Round(Work{Run: par.Run{Ctx: context.Background(), Threads: []int{1, 2, 5}[r.IntN(3)]}}, x, y, got)
				if err != nil {
					t.Fatal(err)
				}
				if wanted := want.Set(0, sum.value()); flags != wanted || !got.SameBits(0, want, 0) {
					t.Fatalf("trial %d, reduction %d of %d, kind %d, %v and %v to %v, strides %d and %d: %v, want %v", trial, how, n, kind,
						x.Arr.Format, y.Arr.Format, f, x.Inc, y.Inc, got.Value(0, bufs[0][:]), want.Value(0, bufs[1][:]))
				}
			}
		})
	}
}

// TestDotsNearTies has scalar products and products of matrices with vectors that are a tie and
// what many small products, of words of ones, add to it: about where leading digits of products are
// cut off, so that no part of a bound may be missing.
func TestDotsNearTies(t *testing.T) {
	for _, level := range isa.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			defer isa.Force(level)()
			r := testseed.Rand(t, 73, 74)
			for trial := range testlength.Trials(1500) {
				p := []uint32{53, 64, 106, 120, 150, 212, 300, 424, 500}[r.IntN(9)]
				f := num.Format{Kind: num.MP, Prec: p + 2}
				fy := []num.Format{f, f, {Kind: num.F64}, {Kind: num.QD}}[r.IntN(4)]
				n, rows := fewProducts+r.IntN(60), 1+r.IntN(5)
				x, y := num.New(f, rows*n), num.New(fy, n)
				m := num.Mat{Arr: x, Rows: rows, Cols: n, RS: 1, CS: rows}
				if r.IntN(2) == 0 {
					m.RS, m.CS = n, 1
				}
				v := num.Vec{Arr: y, Inc: 1, N: n}
				ones := make([]uint64, f.Limbs())
				for k := range ones {
					ones[k] = math.MaxUint64
				}
				small := -int64(p) - r.Int64N(150)
				sign := r.IntN(3)
				for i := range n {
					term := num.Real{Class: num.Finite, Exp: -int64(64 * len(ones)), Mag: ones}
					y.Set(i, term)
					if i == 0 {
						y.Set(i, realOne)
					}
					term.Exp += small + r.Int64N(2)
					for j := range rows {
						u := term
						u.Neg = sign == 0 || sign == 1 && r.IntN(2) == 0
						if i == 0 { // p bits and half of one
							u.Mag = make([]uint64, len(ones))
							for k := range u.Mag {
								u.Mag[k] = r.Uint64() * uint64(r.IntN(2))
							}
							last := 64*len(ones) - int(p) - 1
							u.Mag[len(ones)-1] |= 1 << 63
							for k := range last {
								u.Mag[k/64] &^= 1 << (k % 64)
							}
							u.Mag[last/64] |= 1 << (last % 64)
							u.Exp = -int64(64 * len(ones))
						}
						x.Set(m.At(j, i), u)
					}
				}
				out := num.Format{Kind: num.MP, Prec: p}
				z, want, dot := num.New(out, rows), num.New(out, 1), num.New(out, 1)
				w := Work{Run: par.Run{Ctx: context.Background(), Threads: 2}}
				if _, err := Gemv(w, realOne, m, v, num.Real{}, num.Vec{}, z, func(num.Flags) {}); err != nil {
					t.Fatal(err)
				}
				var bufs [2][num.MaxValueWords]uint64
				for j := range rows {
					sum := integerSum{unit: 16000}
					for i := range n {
						sum.add(x.Value(m.At(j, i), bufs[0][:]), y.Value(i, bufs[1][:]))
					}
					want.Set(0, sum.value())
					if _, _, err := Dot.Round(w, m.Row(j), v, dot); err != nil {
						t.Fatal(err)
					}
					if !dot.SameBits(0, want, 0) || !z.SameBits(j, want, 0) {
						t.Fatalf("trial %d, %d products of %v and %v, small ones 2^%d: %v and %v, want %v", trial, n, f, fy, small,
							dot.Value(0, nil), z.Value(j, nil), want.Value(0, nil))
					}
				}
			}
		})
	}
}
