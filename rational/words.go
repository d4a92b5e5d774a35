package rational

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/modular"
)

// words are the integers of a matrix side by side, for residues modulo many primes.
type words struct {
	rows, cols int
	each       int      // words of an integer
	magnitudes []uint64 // row by row, the least significant word first
	negative   []uint64 // 2^64 - 1 for negative integers, 0 for others
}

func (n ints) words() *words {
	w := &words{rows: n.rows, cols: n.cols, each: max(1, (n.bits()+63)/64)}
	w.magnitudes, w.negative = make([]uint64, len(n.a)*w.each), make([]uint64, len(n.a))
	for i, x := range n.a {
		if x == nil {
			continue
		}
		if x.Sign() < 0 {
			w.negative[i] = 1<<64 - 1
		}
		if to := w.magnitudes[i*w.each : (i+1)*w.each]; x.IsUint64() {
			to[0] = x.Uint64()
		} else {
			num.FromInt(to[:0], x)
		}
	}
	return w
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
			x = f.FromWords(w.magnitudes[i*w.each:(i+1)*w.each], shifts)
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
	for _, i := range order {
		z.magnitudes = append(z.magnitudes, w.magnitudes[i*w.cols*w.each:(i+1)*w.cols*w.each]...)
		z.negative = append(z.negative, w.negative[i*w.cols:(i+1)*w.cols]...)
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
