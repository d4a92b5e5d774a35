package expansion

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/testseed"
)

// anyWord is a word with any bits, often a special one.
func anyWord(r *rand.Rand) float64 {
	switch r.IntN(6) {
	case 0:
		return math.Float64frombits(r.Uint64())
	case 1:
		special := []float64{0, 1, 0.5, math.Inf(1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, 0x1p-1000, 0x1p1000, 0x1p512}
		return math.Copysign(special[r.IntN(len(special))], r.Float64()-0.5)
	}
	return math.Ldexp(r.Float64()-0.5, r.IntN(200)-100)
}

// anyQD is four words, mostly of an expansion, sometimes with ties, short or special.
func anyQD(r *rand.Rand) (x QD) {
	if r.IntN(4) == 0 {
		for k := range x {
			x[k] = anyWord(r)
		}
		return x
	}
	e := r.IntN(60) - 30
	if r.IntN(8) == 0 {
		e = r.IntN(2000) - 1000
	}
	for k := range x {
		if r.IntN(6) == 0 {
			// a power of two, half an ulp if the gap is 53 bits
			x[k] = math.Copysign(math.Ldexp(1, e), r.Float64()-0.5)
		} else {
			x[k] = math.Ldexp(1+r.Float64(), e)
		}
		e -= 53 + r.IntN(2)
		if r.IntN(10) == 0 {
			return x
		}
	}
	return x
}

func anyBlock(r *rand.Rand) *block {
	b := new(block)
	for i := range lanes {
		x := anyQD(r)
		for k := range x {
			b[k][i] = x[k]
		}
	}
	return b
}

// like is x with some lanes changed, so that sums cancel.
func like(r *rand.Rand, x *block) *block {
	y := anyBlock(r)
	for i := range lanes {
		if r.IntN(3) == 0 {
			for k := range r.IntN(5) {
				y[k][i] = -x[k][i]
			}
		}
	}
	return y
}

// sameNumber reports whether words have the same bits or are both NaN.
func sameNumber(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
}

// primitives are the operations of ops. Those that work in place do it with z = x.
var primitives = []struct {
	name    string
	inPlace bool
	run     func(o *ops, z, x, y *block, c []QD, n int)
}{
	{"add", true, func(o *ops, z, x, y *block, _ []QD, n int) { o.add(z, x, y, n) }},
	{"sub", true, func(o *ops, z, x, y *block, _ []QD, n int) { o.sub(z, x, y, n) }},
	{"mul", true, func(o *ops, z, x, y *block, _ []QD, n int) { o.mul(z, x, y, n) }},
	{"div", true, func(o *ops, z, x, y *block, _ []QD, n int) { o.div(z, x, y, n) }},
	{"sqrt", true, func(o *ops, z, x, _ *block, _ []QD, n int) { o.sqrt(z, x, n) }},
	{"addFloat", true, func(o *ops, z, x, y *block, _ []QD, n int) { o.addFloat(z, x, &y[0], n) }},
	{"mulFloat", true, func(o *ops, z, x, y *block, _ []QD, n int) { o.mulFloat(z, x, &y[0], n) }},
	{"horner", false, func(o *ops, z, x, y *block, c []QD, n int) { *z = *y; o.horner(z, x, c, n) }},
}

// TestBlockKernels compares the primitives of blocks with the portable ones, bit for bit.
func TestBlockKernels(t *testing.T) {
	for _, level := range isa.Levels() {
		if level == isa.Portable {
			continue
		}
		t.Log(level)
		for w := 1; w <= 4; w++ {
			fast, slow := &kernelsOf(level).blocks[w], &portable[w]
			r := testseed.Rand(t, 50, uint64(w))
			for rep := range 400 {
				x := anyBlock(r)
				y := like(r, x)
				c := make([]QD, r.IntN(5))
				for j := range c {
					c[j] = anyQD(r)
				}
				n := 1 + r.IntN(lanes)
				for _, p := range primitives {
					if w == 1 && p.name != "horner" {
						continue
					}
					want, got := anyBlock(r), new(block)
					*got = *want
					if p.inPlace && rep%2 == 0 {
						*got, *want = *x, *x
						p.run(fast, got, got, y, c, n)
					} else {
						p.run(fast, got, x, y, c, n)
					}
					if p.name == "horner" {
						*want = *y
					}
					before := *want
					p.run(slow, want, x, y, c, n)
					for j := range 4 {
						for i := range lanes {
							switch {
							case j < w && i < n:
								if !sameNumber(got[j][i], want[j][i]) {
									t.Fatalf("%v: word %d of %s in lane %d of %d is %v, want %v; w = %d, x = %v, y = %v", level, j, p.name, i, n, got[j][i], want[j][i], w, laneWords(x, i), laneWords(y, i))
								}
							case j >= w || i >= (n+15)&^15:
								if !sameNumber(got[j][i], before[j][i]) {
									t.Fatalf("%v: %s of %d words and %d lanes changes word %d of lane %d", level, p.name, w, n, j, i)
								}
							}
						}
					}
				}
			}
		}
	}
}
