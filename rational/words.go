package rational

import (
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// words are the integers of a matrix side by side, for residues modulo many primes.
type words struct {
	rows, cols int
	bits       int      // of the longest integer
	each       int      // words of the longest integer; 1 or 2: of every integer
	magnitudes []uint64 // row by row, the least significant word first
	ends       []int    // of the integers in magnitudes; nil if all have the same length
	negative   []uint64 // 2^64 - 1 for negative integers, 0 for others
}

func (n ints) words() *words {
	w := new(words)
	w.load(n)
	return w
}

// load sets w to the integers of n, and keeps memory.
func (w *words) load(n ints) {
	*w = words{rows: n.rows, cols: n.cols, each: 1, magnitudes: w.magnitudes, negative: w.negative}
	if cap(w.negative) < len(n.a) {
		w.negative = make([]uint64, len(n.a))
	}
	w.negative = w.negative[:len(n.a)]
	if w.loadWords(n) {
		return
	}
	w.bits = n.bits()
	if w.each = (w.bits + 63) / 64; w.each > 2 {
		w.ends = make([]int, len(n.a))
		w.magnitudes = w.magnitudes[:0]
	} else {
		w.resize(len(n.a))
		clear(w.magnitudes)
	}
	for i, x := range n.a {
		if x == nil {
			x = zero
		}
		w.negative[i] = uint64(int64(x.Sign()) >> 63)
		if w.ends != nil {
			w.magnitudes = num.FromInt(w.magnitudes, x)
			w.ends[i] = len(w.magnitudes)
		} else {
			num.FromInt(w.magnitudes[i*w.each:i*w.each], x)
		}
	}
}

// resize makes room for the magnitudes of integers of at most two words.
func (w *words) resize(count int) {
	if count *= w.each; cap(w.magnitudes) < count {
		w.magnitudes = make([]uint64, count)
	}
	w.magnitudes = w.magnitudes[:count]
}

// loadWords is load for integers of one word; it returns false if there are others.
func (w *words) loadWords(n ints) bool {
	w.resize(len(n.a))
	all := uint64(0)
	for i, x := range n.a {
		var v, sign uint64
		if x != nil {
			switch b := x.Bits(); {
			case len(b) == 1:
				v = uint64(b[0])
			case len(b) == 2 && bits.UintSize == 32:
				v = uint64(b[0]) | uint64(b[1])<<32
			case len(b) > 0:
				return false
			}
			sign = uint64(int64(x.Sign()) >> 63)
		}
		w.magnitudes[i], w.negative[i] = v, sign
		all |= v
	}
	w.bits = bits.Len64(all)
	return true
}

// of returns the words of |x|, x integer i of the matrix.
func (w *words) of(i int) []uint64 {
	switch {
	case w.ends == nil:
		return w.magnitudes[i*w.each : (i+1)*w.each]
	case i == 0:
		return w.magnitudes[:w.ends[0]]
	}
	return w.magnitudes[w.ends[i-1]:w.ends[i]]
}

// leading returns the leading 64 bits of |x|, or all of them, and the number of its bits.
func (w *words) leading(i int) (uint64, int) {
	x := w.of(i)
	for len(x) > 0 && x[len(x)-1] == 0 {
		x = x[:len(x)-1]
	}
	k := len(x) - 1
	if k < 0 {
		return 0, 0
	}
	zeros := bits.LeadingZeros64(x[k])
	if k == 0 {
		return x[0], 64 - zeros
	}
	return x[k]<<zeros | x[k-1]>>(64-zeros), 64*(k+1) - zeros
}

// normsOf returns bothNorms of g, whose integers these are.
func (w *words) normsOf(g ints) (rows, cols []float64) {
	if w.each > 2 {
		return g.bothNormsOf(w.bits, w.leading)
	}
	return w.norms()
}

// norms returns ints.bothNorms for integers of one or two words.
func (w *words) norms() (rows, cols []float64) {
	// Sums of squares below 2^256: relative errors as in norms.
	list := make([]float64, w.rows+w.cols)
	rows, cols = list[:w.rows:w.rows], list[w.rows:]
	for i := range rows {
		sum := 0.0
		for j := range cols {
			at := (i*w.cols + j) * w.each
			y := float64(w.magnitudes[at])
			if w.each == 2 {
				y += float64(float64(w.magnitudes[at+1]) * 0x1p64)
			}
			y = float64(y * y)
			sum += y
			cols[j] += y
		}
		rows[i] = sum
	}
	for i, sum := range list {
		list[i] = max(0, float64(log2Above(sum)/2)) + 0x1p-20
	}
	return rows, cols
}

// residues stores the integers modulo f's prime in z, row by row. They are no elements of f: each
// is the element of the integer divided by 2^64.
func (w *words) residues(f *modular.Field, z []uint64) {
	var shifts []uint64
	if w.each > 2 {
		shifts = f.ValueShifts(w.each)
	}
	high := f.Power64(1) // of the second word
	for i, negative := range w.negative {
		var x uint64
		switch w.each {
		case 1:
			x = f.Residue(w.magnitudes[i])
		case 2:
			x = f.Add(f.Mul(w.magnitudes[2*i+1], high), f.Residue(w.magnitudes[2*i]))
		default:
			x = f.FromWords(w.of(i), shifts)
		}
		x += (f.P - x - x) & negative
		if x == f.P {
			x = 0
		}
		z[i] = x
	}
}

// permuted returns the rows in the given order.
func (w *words) permuted(order []int) *words {
	z := *w
	z.magnitudes, z.negative = make([]uint64, 0, len(w.magnitudes)), make([]uint64, 0, len(w.negative))
	if w.ends != nil {
		z.ends = make([]int, 0, len(w.ends))
	}
	for _, i := range order {
		z.negative = append(z.negative, w.negative[i*w.cols:(i+1)*w.cols]...)
		for j := range w.cols {
			z.magnitudes = append(z.magnitudes, w.of(i*w.cols+j)...)
			if w.ends != nil {
				z.ends = append(z.ends, len(z.magnitudes))
			}
		}
	}
	return &z
}

// workspace is memory that eliminations share one after the other.
type workspace struct {
	elements []uint64
	rows     [][]uint64
	echelon  modular.Echelon
	floats   residueFloats
}

// echelon returns the echelon form modulo f's prime, and the determinant with it, in e.
func (w *words) echelon(f *modular.Field, limit int, space *workspace, e *modular.Echelon) *modular.Echelon {
	if len(space.elements) < len(w.negative) {
		space.elements = make([]uint64, len(w.negative))
	}
	a := space.elements[:len(w.negative)]
	w.residues(f, a)
	if min(w.rows, limit) <= modular.MostCross {
		f.Cross(a, w.rows, w.cols, limit, e)
	} else {
		space.rows = space.rows[:0]
		for i := range w.rows {
			space.rows = append(space.rows, a[i*w.cols:(i+1)*w.cols])
		}
		f.Crout(space.rows, w.cols, limit, e)
	}
	e.Det = f.Mul(e.Det, f.Power64(len(e.Pivots)))
	return e
}
