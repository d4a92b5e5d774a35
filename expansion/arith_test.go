package expansion

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

var sweep = flag.Int("expansion.sweep", 0, "random operands an operation and format in TestBounds and TestSmallPrecision, 0: by the length of tests")

// sweeps returns the number of random operands.
func sweeps() int { return cmp.Or(*sweep, testlength.Of(500, 1000, 2000)) }

// sliced is the arithmetic of DD, TD or QD on slices of words.
type sliced struct {
	name  string
	w     int
	add   func(a, b []float64) []float64
	sub   func(a, b []float64) []float64
	mul   func(a, b []float64) []float64
	div   func(a, b []float64) []float64
	fma   func(a, b, c []float64) []float64
	sqr   func(a []float64) []float64
	recip func(a []float64) []float64
	sqrt  func(a []float64) []float64
	rsqrt func(a []float64) []float64
	addF  func(a []float64, b float64) []float64
	mulF  func(a []float64, b float64) []float64
}

func dd(a []float64) DD { return DD(a) }
func td(a []float64) TD { return TD(a) }
func qd(a []float64) QD { return QD(a) }

var formats = []sliced{
	{
		"DD", 2,
		func(a, b []float64) []float64 { z := dd(a).Add(dd(b)); return z[:] },
		func(a, b []float64) []float64 { z := dd(a).Sub(dd(b)); return z[:] },
		func(a, b []float64) []float64 { z := dd(a).Mul(dd(b)); return z[:] },
		func(a, b []float64) []float64 { z := dd(a).Div(dd(b)); return z[:] },
		func(a, b, c []float64) []float64 { z := dd(a).FMA(dd(b), dd(c)); return z[:] },
		func(a []float64) []float64 { z := dd(a).Sqr(); return z[:] },
		func(a []float64) []float64 { z := dd(a).Recip(); return z[:] },
		func(a []float64) []float64 { z := dd(a).Sqrt(); return z[:] },
		func(a []float64) []float64 { z := dd(a).Rsqrt(); return z[:] },
		func(a []float64, b float64) []float64 { z := dd(a).AddFloat(b); return z[:] },
		func(a []float64, b float64) []float64 { z := dd(a).MulFloat(b); return z[:] },
	},
	{
		"TD", 3,
		func(a, b []float64) []float64 { z := td(a).Add(td(b)); return z[:] },
		func(a, b []float64) []float64 { z := td(a).Sub(td(b)); return z[:] },
		func(a, b []float64) []float64 { z := td(a).Mul(td(b)); return z[:] },
		func(a, b []float64) []float64 { z := td(a).Div(td(b)); return z[:] },
		func(a, b, c []float64) []float64 { z := td(a).FMA(td(b), td(c)); return z[:] },
		func(a []float64) []float64 { z := td(a).Sqr(); return z[:] },
		func(a []float64) []float64 { z := td(a).Recip(); return z[:] },
		func(a []float64) []float64 { z := td(a).Sqrt(); return z[:] },
		func(a []float64) []float64 { z := td(a).Rsqrt(); return z[:] },
		func(a []float64, b float64) []float64 { z := td(a).AddFloat(b); return z[:] },
		func(a []float64, b float64) []float64 { z := td(a).MulFloat(b); return z[:] },
	},
	{
		"QD", 4,
		func(a, b []float64) []float64 { z := qd(a).Add(qd(b)); return z[:] },
		func(a, b []float64) []float64 { z := qd(a).Sub(qd(b)); return z[:] },
		func(a, b []float64) []float64 { z := qd(a).Mul(qd(b)); return z[:] },
		func(a, b []float64) []float64 { z := qd(a).Div(qd(b)); return z[:] },
		func(a, b, c []float64) []float64 { z := qd(a).FMA(qd(b), qd(c)); return z[:] },
		func(a []float64) []float64 { z := qd(a).Sqr(); return z[:] },
		func(a []float64) []float64 { z := qd(a).Recip(); return z[:] },
		func(a []float64) []float64 { z := qd(a).Sqrt(); return z[:] },
		func(a []float64) []float64 { z := qd(a).Rsqrt(); return z[:] },
		func(a []float64, b float64) []float64 { z := qd(a).AddFloat(b); return z[:] },
		func(a []float64, b float64) []float64 { z := qd(a).MulFloat(b); return z[:] },
	},
}

// A precision is a number of significant bits, 53 or fewer.
type precision int

// round returns s + e rounded to nearest even, where s = RN(s + e) in 53 bits.
func (p precision) round(s, e float64) float64 {
	if p == 53 || !ordinary(s) {
		return s
	}
	b := math.Float64bits(s)
	if e != 0 && b&1 == 0 { // to odd, so that nothing is rounded twice
		if (e > 0) == (s > 0) {
			b++
		} else {
			b--
		}
	}
	drop := 53 - uint(p)
	b += 1<<(drop-1) - 1 + b>>drop&1
	return math.Float64frombits(b &^ (1<<drop - 1))
}

func (p precision) add(a, b float64) float64 {
	s, e := twoSum(a, b)
	return p.round(s, e)
}

// word returns a random word with an exponent in [lo, hi]: random, sparse,
// almost all ones, or a power of two.
func (p precision) word(r *rand.Rand, lo, hi int) float64 {
	n := int(p) - 1
	mask := uint64(1)<<n - 1
	m := r.Uint64() & mask
	switch r.IntN(6) {
	case 0:
		m = 0
	case 1:
		m = mask
	case 2:
		m &= mask << r.IntN(n)
	case 3:
		m |= 1<<r.IntN(n) - 1
	case 4:
		i, j := r.IntN(n), r.IntN(n)
		m = 1<<i | 1<<j
	}
	x := math.Ldexp(float64(1<<n|m), lo+r.IntN(hi-lo+1)-n)
	if r.IntN(2) == 0 {
		return -x
	}
	return x
}

// operand returns a number of w words with a leading exponent in [lo, hi]: tails
// close up, leave gaps, are ties, or vanish. A tie that does not round to the word
// before is followed by a word that decides it.
func (p precision) operand(r *rand.Rand, w, lo, hi int) []float64 {
	x := make([]float64, w)
	x[0] = p.word(r, lo, hi)
	for i := 1; i < w; i++ {
		_, e := math.Frexp(x[i-1])
		e -= int(p) + 1 // half an ulp is 2^e
		gap := 1
		switch r.IntN(6) {
		case 0:
			gap = 2
		case 1:
			gap += r.IntN(4)
		case 2:
			gap += r.IntN(40)
		}
		switch r.IntN(16) {
		case 0:
			return x
		case 1, 2:
			x[i] = math.Ldexp(math.Copysign(1, p.word(r, 0, 0)), e)
			if s := p.add(x[i-1], x[i]); s != x[i-1] && i+1 < w && math.Abs(s-x[i-1]) == math.Ldexp(2, e) {
				x[i+1] = -math.Copysign(p.word(r, e-int(p)-gap-1, e-int(p)-gap-1), x[i])
				return x
			}
		default:
			x[i] = p.word(r, e-gap, e-gap)
		}
		if p.add(x[i-1], x[i]) != x[i-1] {
			x[i] = 0
			return x
		}
	}
	return x
}

// near returns an operand that cancels most of -x in its leading words.
func (p precision) near(r *rand.Rand, x []float64) []float64 {
	y := make([]float64, len(x))
	k := r.IntN(len(x) + 1)
	for i := range x {
		switch {
		case i < k:
			y[i] = -x[i]
		case x[i] == 0 || i > 0 && y[i-1] == 0:
			return y
		case i == k:
			_, e := math.Frexp(x[i])
			y[i] = p.add(-x[i], math.Ldexp(float64(r.IntN(5)-2), e-int(p)))
			if r.IntN(3) == 0 {
				y[i] = -math.Copysign(p.word(r, e-2, e-1), x[i])
			}
		default:
			_, e := math.Frexp(y[i-1])
			e -= int(p) + 2
			y[i] = p.word(r, e-r.IntN(3), e)
		}
		if i > 0 && p.add(y[i-1], y[i]) != y[i-1] {
			y[i] = 0
		}
	}
	return y
}

func word(r *rand.Rand, lo, hi int) float64         { return precision(53).word(r, lo, hi) }
func operand(r *rand.Rand, w, lo, hi int) []float64 { return precision(53).operand(r, w, lo, hi) }
func near(r *rand.Rand, x []float64) []float64      { return precision(53).near(r, x) }

// nonoverlapping reports whether |x[i+1]| ≤ ulp(x[i])/2 for all i.
func nonoverlapping(x []float64) bool {
	for i := 1; i < len(x); i++ {
		_, e := math.Frexp(x[i-1])
		if x[i] != 0 && (x[i-1] == 0 || math.Abs(x[i]) > math.Ldexp(1, e-54)) {
			return false
		}
	}
	return true
}

const prec = 1600

func exact(x []float64) *big.Float {
	z := new(big.Float).SetPrec(4 * prec)
	for _, v := range x {
		z.Add(z, new(big.Float).SetFloat64(v))
	}
	return z
}

// scratch is the memory of repeated measurements of errors.
type scratch struct{ d, w, m big.Float }

// relative returns |z - want| / scale in units of 2^(-p w).
func (b *scratch) relative(p precision, z []float64, want, scale *big.Float) float64 {
	d := b.d.SetPrec(4 * prec).Neg(want)
	for _, w := range z {
		d.Add(d, b.w.SetFloat64(w))
	}
	if d.Sign() == 0 {
		return 0
	}
	if scale.Sign() == 0 {
		return math.Inf(1)
	}
	e := d.MantExp(&b.m)
	x, _ := b.m.Float64()
	e -= scale.MantExp(&b.m)
	y, _ := b.m.Float64()
	return math.Abs(math.Ldexp(x/y, e+int(p)*len(z)))
}

func relative(z []float64, want, scale *big.Float) float64 {
	return new(scratch).relative(53, z, want, scale)
}

func TestBounds(t *testing.T) {
	for k, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			workers := runtime.GOMAXPROCS(0)
			largest := make([]map[string]float64, workers)
			var group sync.WaitGroup
			for i := range largest {
				group.Go(func() { largest[i] = testBounds(t, f, k, (sweeps()+workers-1)/workers) })
			}
			group.Wait()
			for op := range largest[0] {
				e := 0.0
				for i := range largest {
					e = max(e, largest[i][op])
				}
				t.Logf("%s %s: largest error %.3f u^%d of %g", f.name, op, e, f.w, bounds[op][k])
			}
		})
	}
}

// testBounds compares all operations for n random operands and returns the largest
// errors.
func testBounds(t *testing.T, f sliced, k, n int) map[string]float64 {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	largest := map[string]float64{}
	memory := new(scratch)
	one := big.NewFloat(1)
	near := func() *big.Float { return new(big.Float).SetPrec(uint(53*f.w) + 100) }
	wide := func() *big.Float { return new(big.Float).SetPrec(4 * prec) }
	for range n {
		a, b := operand(r, f.w, -300, 300), operand(r, f.w, -300, 300)
		if r.IntN(2) == 0 {
			_, e := math.Frexp(a[0])
			b = operand(r, f.w, e-120, e+120)
		}
		if r.IntN(4) == 0 {
			b = precision(53).near(r, a)
		}
		c := operand(r, f.w, -300, 300)
		if r.IntN(2) == 0 {
			c = f.mul(a, b)
			for i := range c {
				c[i] = -c[i]
			}
			if r.IntN(2) == 0 {
				c = f.mulF(c, 1+word(r, -120, -1))
			}
		}
		A, B, C := exact(a), exact(b), exact(c)
		check := func(op string, z []float64, want, scale *big.Float) {
			e := memory.relative(53, z, want, scale)
			if e > largest[op] {
				largest[op] = e
			}
			if !(e <= bounds[op][k]) || !normalised(z) {
				t.Errorf("seed %d: %s(%x, %x, %x) = %x: error %g u^%d, normalised %v", seed, op, a, b, c, z, e, f.w, normalised(z))
				runtime.Goexit()
			}
		}
		z := wide().Add(A, B)
		check("add", f.add(a, b), z, z)
		z.Sub(A, B)
		check("sub", f.sub(a, b), z, z)
		z.Mul(A, A)
		check("sqr", f.sqr(a), z, z)
		z.Mul(A, B)
		check("mul", f.mul(a, b), z, z)
		z.Add(z, C)
		p := wide().Mul(A, B)
		check("fma", f.fma(a, b, c), z, p.Add(p.Abs(p), wide().Abs(z)))
		q := near()
		if B.Sign() != 0 {
			q.Quo(A, B)
			check("div", f.div(a, b), q, q)
		}
		q.Quo(one, A)
		check("recip", f.recip(a), q, q)
		if a[0] > 0 {
			q.Sqrt(A)
			check("sqrt", f.sqrt(a), q, q)
			q.Quo(one, q)
			check("rsqrt", f.rsqrt(a), q, q)
		}
		y := b[0]
		Y := big.NewFloat(y)
		z.Add(A, Y)
		check("addF", f.addF(a, y), z, z)
		z.Mul(A, Y)
		check("mulF", f.mulF(a, y), z, z)
	}
	return largest
}

func TestSpecial(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	values := []float64{0, math.Copysign(0, -1), 1, -1, 3, inf, -inf, nan, math.MaxFloat64, -math.MaxFloat64,
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022, 0x1p1000, -0x1p1000}
	for _, f := range formats {
		pad := func(x float64) []float64 { return append([]float64{x}, make([]float64, f.w-1)...) }
		check := func(op string, z []float64, want float64, args ...float64) {
			t.Helper()
			same := math.Float64bits(z[0]) == math.Float64bits(want) || want != want && z[0] != z[0]
			if ordinary(want) {
				same = math.Abs(z[0]-want) <= 0x1p-52*math.Abs(want)
			} else {
				for _, x := range z[1:] {
					same = same && math.Float64bits(x) == 0
				}
			}
			if !same {
				t.Errorf("%s %s%v = %v, want %v", f.name, op, fmt.Sprint(args), z, want)
			}
		}
		for _, x := range values {
			check("sqr", f.sqr(pad(x)), x*x, x)
			check("recip", f.recip(pad(x)), 1/x, x)
			check("sqrt", f.sqrt(pad(x)), math.Sqrt(x), x)
			check("rsqrt", f.rsqrt(pad(x)), 1/math.Sqrt(x), x)
			for _, y := range values {
				check("add", f.add(pad(x), pad(y)), x+y, x, y)
				check("sub", f.sub(pad(x), pad(y)), x-y, x, y)
				check("mul", f.mul(pad(x), pad(y)), x*y, x, y)
				check("div", f.div(pad(x), pad(y)), x/y, x, y)
				check("addF", f.addF(pad(x), y), x+y, x, y)
				check("mulF", f.mulF(pad(x), y), x*y, x, y)
				for _, z := range values {
					if p := x * y; p-p != 0 && x-x == 0 && y-y == 0 && z-z == 0 {
						continue // the product overflows
					}
					check("fma", f.fma(pad(x), pad(y), pad(z)), math.FMA(x, y, z), x, y, z)
				}
			}
		}
	}
}
