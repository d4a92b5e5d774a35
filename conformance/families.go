package conformance

import (
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/halfulp/halfulp"
)

// problem holds the operands of one product A B and an old result C, before they are rounded to
// their formats.
type problem struct {
	r          *rand.Rand
	m, n, k    int
	fa, fb, fc halfulp.Format
	a, b, c    []real // a[i k + h], b[h n + j], c[i n + j]
	ones       bool   // B is known to be 1
	square     bool   // B is the transpose of A
	residual   bool   // C is to be the rounded product, and beta = -alpha
}

// family is one kind of adversarial input.
type family struct {
	name string
	fill func(p *problem)
}

func sign(r *rand.Rand) int64 { return int64(r.IntN(2))*2 - 1 }

// bitsOf returns a random odd number of the given bits, with runs of zeros and ones.
func bitsOf(r *rand.Rand, bits int) *big.Int {
	n := new(big.Int)
	for n.BitLen() < bits {
		w := r.Uint64()
		switch r.IntN(6) {
		case 0:
			w = 0
		case 1:
			w = math.MaxUint64
		}
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(w|1))
	}
	n.Rsh(n, uint(n.BitLen()-bits))
	n.SetBit(n, 0, 1)
	return n
}

// number returns a random number of the given bits in [2^(top-1), 2^top), or its
// opposite.
func number(r *rand.Rand, bits int, top int64) real {
	n := bitsOf(r, bits)
	if r.IntN(2) == 0 {
		n.Neg(n)
	}
	return fin(n, top-int64(n.BitLen()))
}

// each fills A, B and C entry by entry.
func each(draw func(r *rand.Rand, f halfulp.Format) real) func(p *problem) {
	return func(p *problem) {
		for i := range p.a {
			p.a[i] = draw(p.r, p.fa)
		}
		for i := range p.b {
			p.b[i] = draw(p.r, p.fb)
		}
		for i := range p.c {
			p.c[i] = draw(p.r, p.fc)
		}
	}
}

// spread draws exponents within 2^±e, or the format's own limits.
func spread(e int64) func(r *rand.Rand, f halfulp.Format) real {
	return func(r *rand.Rand, f halfulp.Format) real {
		l := e
		switch {
		case f == halfulp.Float32:
			l = min(l, 125)
		case !f.IsMP():
			l = min(l, 1000)
		}
		return number(r, f.Bits(), r.Int64N(2*l+1)-l)
	}
}

func uniform(r *rand.Rand, f halfulp.Format) real { return number(r, f.Bits(), -r.Int64N(2)) }

// patterns draws random bits of the whole range of the format.
func patterns(r *rand.Rand, f halfulp.Format) real {
	switch {
	case f == halfulp.Float32:
		return ofFloat(float64(math.Float32frombits(r.Uint32())))
	case f.IsMP():
		return number(r, 1+r.IntN(f.Bits()), r.Int64N(4001)-2000)
	}
	x := ofFloat(math.Float64frombits(r.Uint64()))
	for k := 1; k < terms(f) && x.class == finite; k++ {
		y := ofFloat(math.Float64frombits(r.Uint64()))
		if y.class == finite && y.top() > x.top()-53 {
			y.e -= y.top() - x.top() + 53 + r.Int64N(60)*r.Int64N(2)
		}
		if y.class == finite {
			x = sum([]real{x, y})
		}
	}
	return x
}

// range of a format: its numbers are less than 2^high, its smallest is 2^low.
func limits(f halfulp.Format) (low, high int64) {
	switch {
	case f.IsMP():
		return math.MinInt32 - 1, math.MaxInt32
	case f == halfulp.Float32:
		return -149, 128
	}
	return -1074, 1024
}

// near fills A and B so that products lie near 2^e(fc), and fills C with numbers near 2^e(fc).
func near(p *problem, e int64, jitter int64) {
	r := p.r
	half := func(f halfulp.Format, e int64) int64 {
		low, high := limits(f)
		return max(min(e, high-1), low+2)
	}
	ea := half(p.fa, e/2)
	eb := half(p.fb, e-ea)
	if p.ones {
		ea, eb = half(p.fa, e), 0
	}
	j := func() int64 { return r.Int64N(jitter) - jitter/2 }
	for i := range p.a {
		p.a[i] = number(r, 1+r.IntN(p.fa.Bits()), half(p.fa, ea+j()))
	}
	for i := range p.b {
		p.b[i] = number(r, 1+r.IntN(p.fb.Bits()), half(p.fb, eb+j()))
	}
	for i := range p.c {
		p.c[i] = number(r, 1+r.IntN(p.fc.Bits()), half(p.fc, e+j()))
	}
}

// pairUp makes the addends of every result cancel in pairs.
func pairUp(p *problem) {
	for h := 1; h < p.k; h += 2 {
		for i := range p.m {
			p.a[i*p.k+h] = p.a[i*p.k+h-1]
			if p.ones {
				p.a[i*p.k+h] = p.a[i*p.k+h].negated()
			}
		}
		for j := range p.n {
			if !p.ones {
				p.b[h*p.n+j] = p.b[(h-1)*p.n+j].negated()
			}
		}
	}
	if p.k%2 == 1 {
		for i := range p.m {
			p.a[i*p.k+p.k-1] = real{neg: p.r.IntN(2) == 0}
		}
	}
	for i := range p.c {
		p.c[i] = real{neg: p.r.IntN(2) == 0}
	}
	// Put the addends in random order.
	p.r.Shuffle(p.k, func(g, h int) {
		for i := range p.m {
			p.a[i*p.k+g], p.a[i*p.k+h] = p.a[i*p.k+h], p.a[i*p.k+g]
		}
		for j := range p.n {
			p.b[g*p.n+j], p.b[h*p.n+j] = p.b[h*p.n+j], p.b[g*p.n+j]
		}
	})
}

// ties makes every result a number of p bits plus half a unit, plus tiny unless tiny is 0.
func ties(tiny func(r *rand.Rand) real) func(p *problem) {
	return func(p *problem) {
		r, bits := p.r, int64(p.fc.Bits())
		for i := range p.a {
			p.a[i] = real{}
		}
		inC := p.k < 3 || r.IntN(2) == 0
		for j := range p.n {
			for h := range p.k {
				s := int64(1)
				if !p.ones && h == 0 {
					s = sign(r)
				}
				p.b[h*p.n+j] = pow2(s, 0)
			}
		}
		for i := range p.m {
			row := p.a[i*p.k : (i+1)*p.k]
			// 1, an odd or even last place, half a unit and the tiny number.
			parts := []real{pow2(1, -1), tiny(r).scaled(-bits)}
			if !inC {
				parts = append(parts, pow2(1, bits-1), pow2(r.Int64N(4), 0))
			}
			if len(row) == 1 {
				parts = parts[:1]
			}
			e := -bits/2 - r.Int64N(3)
			if p.ones {
				e = -r.Int64N(5)
			}
			for h := range row {
				if h < len(parts) && parts[h].class == finite {
					row[h] = parts[h].scaled(e)
				}
			}
			for j := range p.n {
				c := bitsOf(r, int(bits))
				c.SetBit(c, 0, uint(r.IntN(2)))
				p.c[i*p.n+j] = real{neg: r.IntN(2) == 0}
				if inC {
					p.c[i*p.n+j] = fin(c.Mul(c, big.NewInt(sign(r))), e)
				}
			}
		}
	}
}

// border makes every result the largest number of its format plus half the distance to the next
// one, where it becomes infinite, plus tiny numbers of either sign.
func border(p *problem) {
	r, f := p.r, p.fc
	_, high := limits(f)
	last := high - int64(f.Bits()) - 1 // of the bits of the border
	below := []real{pow2(1, high), pow2(-1, last)}
	if n := terms(f); n > 1 {
		last = []int64{916, -1075, -1075}[n-2]
		below = []real{pow2(1, high), pow2(-1, high-54), pow2(-1, last)}
	}
	most := sum(append(below, pow2(-1, last)))
	inC := p.k < 3 || r.IntN(2) == 0
	ea, eb := last, int64(0)
	if inC && !p.ones {
		ea, eb = last/2, last-last/2
	}
	for i := range p.b {
		p.b[i] = pow2(1, eb)
	}
	for i := range p.m {
		row := p.a[i*p.k : (i+1)*p.k]
		parts := []real{pow2(1, ea)}
		if !inC {
			parts = []real{most, pow2(1, ea)}
		}
		s := sign(r)
		for h := range row {
			row[h] = real{}
			if h < len(parts) {
				row[h] = parts[h]
			} else if r.IntN(2) == 0 {
				row[h] = pow2(sign(r), ea-[]int64{1, 2, 60, 300}[r.IntN(4)])
			}
			if s < 0 && row[h].class == finite {
				row[h] = row[h].negated()
			}
		}
		for j := range p.n {
			p.c[i*p.n+j] = real{}
			if inC {
				p.c[i*p.n+j] = most
				if s < 0 {
					p.c[i*p.n+j] = most.negated()
				}
			}
		}
	}
}

// hilbert multiplies a Hilbert matrix by its approximate inverse.
func hilbert(p *problem) {
	round := func(x real, f halfulp.Format) real { return round(x, f).real }
	for i := range p.m {
		for h := range p.k {
			p.a[i*p.k+h] = round(one.ratio(big.NewInt(int64(i+h+1)), -int64(p.fa.Bits())-200), p.fa)
		}
	}
	n := int64(p.k)
	choose := func(n, k int64) *big.Int { return new(big.Int).Binomial(n, k) }
	for h := range int64(p.k) {
		for j := range int64(p.n) {
			x := big.NewInt(h + j + 1)
			c := choose(h+j, h)
			x.Mul(x, choose(n+h, max(n-j-1, 0))).Mul(x, choose(n+j, n-h-1)).Mul(x, c).Mul(x, c)
			if (h+j)%2 != 0 {
				x.Neg(x)
			}
			p.b[int(h)*p.n+int(j)] = fin(x, 0)
		}
	}
	for i := range p.c {
		p.c[i] = real{}
		if i%(p.n+1) == 0 {
			p.c[i] = pow2(-1, 0)
		}
	}
}

var families = []family{
	{"uniform", each(uniform)},
	{"patterns", each(patterns)},
	{"spread50", each(spread(50))},
	{"spread1000", each(spread(1000))},
	{"spread100000", each(spread(100000))},
	{"cancel to zero", func(p *problem) {
		each([]func(*rand.Rand, halfulp.Format) real{uniform, patterns, spread(1000)}[p.r.IntN(3)])(p)
		pairUp(p)
	}},
	{"cancel to one ulp", func(p *problem) {
		each(uniform)(p)
		pairUp(p)
		for i := range p.m {
			for range 1 + p.r.IntN(2) {
				if h := i*p.k + p.r.IntN(max(p.k, 1)); p.k > 0 && p.a[h].class == finite {
					x := round(p.a[h], p.fa)
					if x.class == finite {
						p.a[h] = sum([]real{x.real, pow2(sign(p.r), x.top()-int64(p.fa.Bits()))})
					}
				}
			}
		}
	}},
	{"ties", ties(func(*rand.Rand) real { return real{} })},
	{"ties and a tiny term", ties(func(r *rand.Rand) real { return pow2(sign(r), []int64{-2, -20, -70, -300, -900}[r.IntN(5)]) })},
	{"residual", func(p *problem) {
		each([]func(*rand.Rand, halfulp.Format) real{uniform, spread(50)}[p.r.IntN(2)])(p)
		p.residual = true
	}},
	{"subnormal", func(p *problem) {
		low, _ := limits(p.fc)
		near(p, low+p.r.Int64N(int64(min(p.fc.Bits(), 64))+4), []int64{2, 12, 60}[p.r.IntN(3)])
	}},
	{"overflow", func(p *problem) {
		_, high := limits(p.fc)
		near(p, high-p.r.Int64N(4), []int64{2, 4, 60}[p.r.IntN(3)])
		if p.r.IntN(2) == 0 {
			for i := range p.c { // the largest number, and products of half an ulp of it
				p.c[i] = sum([]real{pow2(1, high), pow2(-1, high-int64(p.fc.Bits()))})
			}
		}
	}},
	{"border of overflow", border},
	{"zeros", each(func(r *rand.Rand, f halfulp.Format) real { return real{neg: r.IntN(8) != 0} })},
	{"minus zeros", func(p *problem) {
		each(func(r *rand.Rand, f halfulp.Format) real { return minus })(p)
		for i := range p.b {
			p.b[i] = one
		}
		if p.r.IntN(3) == 0 && p.k > 0 && p.n > 0 {
			p.b[p.r.IntN(len(p.b))] = minus
		}
	}},
	{"Inf and NaN", func(p *problem) {
		rate := 3 + p.r.IntN(60)
		each(func(r *rand.Rand, f halfulp.Format) real {
			if r.IntN(rate) != 0 {
				if r.IntN(4) == 0 {
					return real{neg: r.IntN(2) == 0}
				}
				return number(r, 3, 3)
			}
			if r.IntN(4) == 0 {
				return nan
			}
			return inf(r.IntN(2) == 0)
		})(p)
	}},
	{"small integers", each(func(r *rand.Rand, f halfulp.Format) real { return pow2(r.Int64N(9)-4, 0) })},
	{"Hilbert", hilbert},
	{"sparse", func(p *problem) {
		each(func(r *rand.Rand, f halfulp.Format) real {
			if r.IntN(6) != 0 {
				return real{neg: r.IntN(6) == 0}
			}
			return spread([]int64{1, 50, 300, 1000}[r.IntN(4)])(r, f)
		})(p)
		for i := range p.m { // whole rows and columns of zeros
			if p.r.IntN(4) == 0 {
				clear(p.a[i*p.k : (i+1)*p.k])
			}
		}
		for j := range p.n {
			if p.r.IntN(4) == 0 {
				for h := range p.k {
					p.b[h*p.n+j] = real{}
				}
			}
		}
	}},
	{"all ones", func(p *problem) { // the largest integers of their width, all of one sign
		each(func(r *rand.Rand, f halfulp.Format) real {
			return sum([]real{one, pow2(-1, -int64(f.Bits()))})
		})(p)
		if p.r.IntN(2) == 0 {
			for i := range p.a {
				p.a[i] = p.a[i].negated()
			}
		}
	}},
	{"one large entry", func(p *problem) {
		each(func(r *rand.Rand, f halfulp.Format) real { return number(r, f.Bits(), -r.Int64N(int64(f.Bits()))) })(p)
		at := func(n int) int { return p.r.IntN(max(n, 1)) }
		for i := range p.m {
			if p.k > 0 {
				p.a[i*p.k+at(p.k)] = number(p.r, p.fa.Bits(), 20)
			}
		}
		for j := range p.n {
			if p.k > 0 {
				p.b[at(p.k)*p.n+j] = number(p.r, p.fb.Bits(), 20)
			}
		}
	}},
	{"scaled rows and columns", func(p *problem) {
		each(uniform)(p)
		_, high := limits(p.fa)
		s := min(high-4, 400) / 4
		for i := range p.m {
			e := p.r.Int64N(2*s) - s
			for h := range p.k {
				p.a[i*p.k+h] = p.a[i*p.k+h].scaled(e)
			}
		}
		for h := range p.k {
			for j := range p.n {
				p.b[h*p.n+j] = p.b[h*p.n+j].scaled(int64(j%7)*s/7 - s/4)
			}
		}
	}},
}

// scalars draws alpha or beta.
func drawScalar(r *rand.Rand) (halfulp.Format, real) {
	f := formats[r.IntN(len(formats)-1)]
	low, high := limits(f)
	switch r.IntN(24) {
	case 0, 1:
		return f, real{neg: r.IntN(2) == 0}
	case 2, 3, 4:
		return f, one
	case 5, 6, 7:
		return f, pow2(-1, 0)
	case 8, 9, 10:
		return f, pow2(sign(r), r.Int64N(120)-60)
	case 11, 12:
		return f, pow2(3*sign(r), 0)
	case 13, 14:
		f = halfulp.MP([]uint{2, 53, 64, 65, 424, 1000}[r.IntN(6)])
		return f, round(one.ratio(big.NewInt(3), -2000), f).real
	case 15:
		return f, pow2(sign(r), high-1-r.Int64N(3))
	case 16:
		return f, pow2(sign(r), low+r.Int64N(3))
	case 17:
		return f, number(r, min(f.Bits(), 40), 900+r.Int64N(200))
	case 18:
		if r.IntN(3) == 0 {
			return f, nan
		}
		return f, inf(r.IntN(2) == 0)
	}
	return f, uniform(r, f)
}
