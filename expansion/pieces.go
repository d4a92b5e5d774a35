package expansion

import (
	"sync"

	"github.com/halfulp/halfulp/internal/num"
)

// Pieces of arrays. Kernels work on a piece directly if its numbers are contiguous and have as many
// words as the result, else on blocks that it is copied to.

// location is the address of numbers for a kernel.
type location struct {
	first  *float64
	stride int
}

// locate returns the location of numbers i and on of v, or no address if they have to be copied.
func locate(v num.Vec, w, i int) (p location) {
	if v.Arr.Kind != num.F32 && v.Arr.Terms() == w && v.Inc == 1 {
		p.first, p.stride = v.Arr.Words(v.At(i))
	}
	return p
}

func (b *block) location() location { return location{&b[0][0], 8 * lanes} }

func (f kernel) run(z, x, y, c location, n int) (left int) {
	return f(z.first, z.stride, x.first, x.stride, y.first, y.stride, c.first, c.stride, n)
}

// A bench is the memory for pieces: blocks of the operands and the result.
type bench struct {
	in [3]block
	z  block
}

var benches = sync.Pool{New: func() any { return new(bench) }}

// operate applies op to a piece.
func (k *kernels) operate(op operation, p *piece) {
	w, z, in := p.words, p.z, p.in[:p.operands]
	t := benches.Get().(*bench)
	defer benches.Put(t)
	kernel := k.arrays[w][op]
	i := 0
	for kernel != nil && z.N-i >= k.step {
		to := locate(z, w, i)
		if to.first == nil {
			break
		}
		var from [3]location
		for j, x := range in {
			if from[j] = locate(x, w, i); from[j].first == nil {
				to.first = nil
			}
		}
		if to.first == nil {
			break
		}
		n := (z.N - i) / k.step * k.step
		left := kernel.run(to, from[0], from[1], from[2], n)
		if i += n; left > 0 {
			i -= left
			k.operateBlock(op, w, t, z, in, i, k.step)
			i += k.step
		}
	}
	for ; i < z.N; i += lanes {
		k.operateBlock(op, w, t, z, in, i, min(lanes, z.N-i))
	}
}

// operateBlock applies op to n <= lanes numbers from i on.
func (k *kernels) operateBlock(op operation, w int, t *bench, z num.Vec, in []num.Vec, i, n int) {
	for j, x := range in {
		t.in[j].load(x, w, i, n)
	}
	out := &t.z
	done := 0
	if kernel := k.arrays[w][op]; kernel != nil {
		whole := (n + k.step - 1) / k.step * k.step
		done = whole - max(0, kernel.run(out.location(), t.in[0].location(), t.in[1].location(), t.in[2].location(), whole))
	}
	switch w {
	case 2:
		operateLanes[DD](op, t, done, n)
	case 3:
		operateLanes[TD](op, t, done, n)
	default:
		operateLanes[QD](op, t, done, n)
	}
	out.store(z, w, i, n)
}

type arithmetical[E any] interface {
	DD | TD | QD
	Add(E) E
	Sub(E) E
	Mul(E) E
	Div(E) E
	Sqrt() E
	FMA(E, E) E
	Canonical() E
}

// operateLanes applies op to lanes from lo up to hi. It defines the results of kernels on arrays.
func operateLanes[E arithmetical[E]](op operation, t *bench, lo, hi int) {
	for i := lo; i < hi; i++ {
		x, y := lane[E](&t.in[0], i), lane[E](&t.in[1], i)
		switch op {
		case opAdd:
			x = x.Add(y)
		case opSub:
			x = x.Sub(y)
		case opMul:
			x = x.Mul(y)
		case opDiv:
			x = x.Div(y)
		case opSqrt:
			x = x.Sqrt()
		default:
			x = x.FMA(y, lane[E](&t.in[2], i))
		}
		setLane(&t.z, i, x.Canonical())
	}
}

func lane[E DD | TD | QD](b *block, i int) (x E) {
	for k := range len(x) {
		x[k] = b[k][i]
	}
	return x
}

func setLane[E DD | TD | QD](b *block, i int, x E) {
	for k := range len(x) {
		b[k][i] = x[k]
	}
}

// apply sets a piece to a function of pieces.
func (k *kernels) apply(f Function, p *piece) {
	w, z, in := p.words, p.z, p.in[:p.operands]
	e := evaluators.Get().(*evaluator)
	defer evaluators.Put(e)
	e.a, e.w = k.blocks, w
	t := e.take(3)
	defer e.give(3)
	for i := 0; i < z.N; i += lanes {
		e.n = min(lanes, z.N-i)
		for j, x := range in {
			t[1+j].load(x, w, i, e.n)
		}
		e.apply(f, &t[0], &t[1], &t[2])
		t[0].canonical(w, e.n)
		t[0].store(z, w, i, e.n)
	}
}

// sinCos sets a piece to the sines of in[0], and in[1] to the cosines.
func (k *kernels) sinCos(p *piece) {
	e := evaluators.Get().(*evaluator)
	defer evaluators.Put(e)
	e.a, e.w = k.blocks, p.words
	t := e.take(3)
	defer e.give(3)
	for i := 0; i < p.z.N; i += lanes {
		e.n = min(lanes, p.z.N-i)
		t[2].load(p.in[0], e.w, i, e.n)
		e.sinCos(&t[0], &t[1], &t[2])
		for j, to := range []num.Vec{p.z, p.in[1]} {
			t[j].canonical(e.w, e.n)
			t[j].store(to, e.w, i, e.n)
		}
	}
}

// canonical puts n lanes of w words into the form of arrays.
func (b *block) canonical(w, n int) {
	for i := range n {
		x := laneWords(b, i)
		if w == 2 && ordinary(x[0]) {
			b[1][i] += 0
			continue
		}
		canonical(x[:w])
		for k := range w {
			b[k][i] = x[k]
		}
	}
}

func laneWords(b *block, i int) QD { return QD{b[0][i], b[1][i], b[2][i], b[3][i]} }

// load copies numbers i to i+n-1 of v, exactly, to lanes of w words.
func (b *block) load(v num.Vec, w, i, n int) {
	terms := 1
	switch at := v.At(i); {
	case v.Arr.Kind == num.F32:
		for j := range n {
			b[0][j] = float64(v.Arr.F32[at+j*v.Inc])
		}
	default:
		terms = v.Arr.Terms()
		for t := range terms {
			from := v.Arr.F64[t]
			if v.Inc == 1 {
				copy(b[t][:n], from[at:])
				continue
			}
			for j := range n {
				b[t][j] = from[at+j*v.Inc]
			}
		}
	}
	for t := terms; t < w; t++ {
		clear(b[t][:n])
	}
}

// store copies lanes of w words to numbers i to i+n-1 of v.
func (b *block) store(v num.Vec, w, i, n int) {
	at := v.At(i)
	for t := range w {
		to := v.Arr.F64[t]
		if v.Inc == 1 {
			copy(to[at:at+n], b[t][:n])
			continue
		}
		for j := range n {
			to[at+j*v.Inc] = b[t][j]
		}
	}
}
