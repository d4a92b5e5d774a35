package gpu

import (
	"math"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/num"
)

// An expression is alpha A B + beta Old, for numbers alpha and beta of which alpha is not zero.
// Old is not read if beta is zero.
type expression struct {
	alpha, beta num.Real
	old         *Matrix
}

// adds reports whether the old entries take part.
func (x expression) adds() bool { return x.beta.Class != num.Zero }

// oldSample is what the scan samples the results with.
func (x expression) oldSample() oldSample {
	if !x.adds() {
		return oldSample{}
	}
	a, b := coefficientOf(x.alpha), coefficientOf(x.beta)
	p, e := a.leading()
	q, f := b.leading()
	o := x.old
	return oldSample{o.Arr.native(), int64(o.Off), int64(o.RS), int64(o.CS), q / p, f - e}
}

// foresee sets the sizes of samples that the old entries cancel to those of residuals: the old
// entries are taken for the product rounded to their format.
func (x expression) foresee(samples []sample) {
	for i := range samples {
		if s := &samples[i]; s.cancelled != 0 {
			s.size -= exact.ResultBits(x.old.Arr.Format) + 2
		}
	}
}

// A coefficient is (-1)^neg words 2^exp, with 32-bit words. words is 1 if plain is set, else
// the top bit of the last word is set.
type coefficient struct {
	words []uint32
	exp   int64
	neg   bool
	plain bool
}

func coefficientOf(r num.Real) coefficient {
	if r.Class != num.Finite {
		return coefficient{words: []uint32{0}, plain: true}
	}
	n, tz := num.BitLen(r.Mag), num.TrailingZeros(r.Mag)
	c := coefficient{neg: r.Neg, plain: n == tz+1}
	if c.plain {
		c.words, c.exp = []uint32{1}, r.Exp+int64(tz)
		return c
	}
	count := (n - tz + 31) / 32
	for i := range count {
		c.words = append(c.words, uint32(num.WordAt(r.Mag, int64(n-32*(count-i)))))
	}
	c.exp = r.Exp + int64(n-32*count)
	return c
}

// leading returns x and e with x 2^e close to the coefficient.
func (c coefficient) leading() (x float64, e int64) {
	n := len(c.words) - 1
	x, e = float64(c.words[n]), c.exp+int64(32*n)
	if c.neg {
		x = -x
	}
	return x, e
}

// native returns the coefficient with its words at the given place of the device.
func (c coefficient) native(at cuda.Pointer) scaling {
	s := scaling{words: at, exp: c.exp, count: int32(len(c.words)), length: int32(32 * len(c.words)), neg: flag(c.neg), plain: flag(c.plain)}
	if c.plain {
		s.length = 1
	}
	return s
}

// expression puts the coefficients into the device's memory, and sets what the rounding of its
// results takes.
func (m *multiplication) expression() error {
	alpha, beta := coefficientOf(m.expr.alpha), coefficientOf(m.expr.beta)
	words := append(append([]uint32{}, alpha.words...), beta.words...)
	var at cuda.Pointer
	if !alpha.plain || m.expr.adds() {
		p, err := m.alloc(4 * int64(len(words)))
		if err != nil {
			return err
		}
		if err := cuda.Upload(m.s, p.Pointer(), words); err != nil {
			return err
		}
		at = p.Pointer()
	}
	m.native = expressionArgs{alpha: alpha.native(at), beta: beta.native(at + cuda.Pointer(4*len(alpha.words)))}
	if m.expr.adds() {
		o := m.expr.old
		m.native.old, m.native.off, m.native.rs, m.native.cs = o.Arr.native(), int64(o.Off), int64(o.RS), int64(o.CS)
		m.native.adds = 1
	}
	m.settles = !alpha.plain || m.expr.adds() || m.format.Terms() > 1 || m.weights.words > maxFused
	m.below = 0
	if !alpha.plain {
		m.below = len(alpha.words)
	}
	if m.expr.adds() {
		// A window as long as the results, for sums that the old entries rule.
		m.below += max(2, int(math.Ceil(exact.ResultBits(m.format)/32))+2-m.weights.words)
	}
	if m.below > maxBelow {
		return errRange
	}
	return nil
}

// maxFused bounds the words of integers that kernels/finish.cu keeps in shared memory and rounds.
const maxFused = 96

// maxBelow bounds the room for alpha, in words.
const maxBelow = 1024

// settle rounds the integers of a block of C.
func (m *multiplication) settle(l, r *operand, i0, j0 int, raw *cuda.Memory) error {
	p := settling{
		c: m.c.target(), failed: m.failed(), counts: m.control.At(countsAt),
		l: l.norms(), r: r.norms(), e: m.native, raw: raw.Pointer(), unit: m.unit(),
		words: int32(m.weights.words), below: int32(m.below),
		m: int32(l.n), n: int32(r.n), i0: int32(i0), j0: int32(j0), triangle: int32(m.cfg.Triangle),
	}
	p.errorL, p.errorR, p.error = m.errors()
	const warps = 8
	strips := (l.n + 31) / 32 * r.n
	if err := m.launch("settle", "settle", cuda.Dim{X: (strips + warps - 1) / warps}, cuda.Dim{X: 32 * warps}, 0, p); err != nil {
		return err
	}
	return m.mark("settle")
}

// rawBytes returns the memory of the integers of a block of C.
func (m *multiplication) rawBytes(rows, cols int) int64 {
	if !m.settles {
		return 0
	}
	return int64(roundUp(rows, 32)) * int64(cols) * 4 * int64(m.below+m.weights.words)
}
