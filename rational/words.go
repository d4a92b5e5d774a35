package rational

import (
	"math/big"
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
	w := &words{rows: n.rows, cols: n.cols, bits: n.bits(), negative: make([]uint64, len(n.a))}
	w.each = max(1, (w.bits+63)/64)
	if w.each <= 2 {
		w.magnitudes = make([]uint64, len(n.a)*w.each)
	} else {
		w.ends = make([]int, len(n.a))
	}
	for i, x := range n.a {
		if x == nil {
			x = zero
		}
		if x.Sign() < 0 {
			w.negative[i] = 1<<64 - 1
		}
		if w.ends != nil {
			w.magnitudes = num.FromInt(w.magnitudes, x)
			w.ends[i] = len(w.magnitudes)
		} else if to := w.magnitudes[i*w.each : (i+1)*w.each]; x.IsUint64() {
			to[0] = x.Uint64()
		} else {
			num.FromInt(to[:0], x)
		}
	}
	return w
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

// residues stores the integers modulo f's prime in z, row by row. They are no elements of f: each
// is the element of the integer divided by 2^64.
func (w *words) residues(f *modular.Field, z []uint64) {
	shifts := f.ValueShifts(w.each)
	for i, negative := range w.negative {
		var x uint64
		switch w.each {
		case 1:
			x = f.Residue(w.magnitudes[i])
		case 2:
			x = f.Add(f.Mul(w.magnitudes[2*i+1], shifts[1]), f.Residue(w.magnitudes[2*i]))
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
	elements, crout []uint64
	floats          residueFloats
}

// echelon returns the echelon form modulo f's prime, and the determinant with it.
func (w *words) echelon(f *modular.Field, limit int, space *workspace) *modular.Echelon {
	if len(space.elements) < len(w.negative) {
		space.elements = make([]uint64, len(w.negative))
	}
	small := min(w.rows, limit) <= modular.MostCross
	a := space.elements[:len(w.negative)]
	w.residues(f, a)
	var e *modular.Echelon
	if small {
		e = f.Cross(a, w.rows, w.cols, limit)
	} else {
		rows := make([][]uint64, w.rows)
		for i := range rows {
			rows[i] = a[i*w.cols : (i+1)*w.cols]
		}
		e = f.Crout(rows, w.cols, limit, &space.crout)
	}
	e.Det = f.Mul(e.Det, f.Power64(len(e.Pivots)))
	return e
}

// signed returns x, or -x if negative is set. It may change x.
func signed(x *big.Int, negative bool) *big.Int {
	if negative {
		return x.Neg(x)
	}
	return x
}
