package direct

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

// Products of numbers of two words, 65 to 128 bits, are summed in four words from
// the three highest words of each: see dotTop2. In units of 2^(P-192), P the
// reference exponent, a product errs by less than 4: the word left out, the shift
// and the complement, less than 1 each, and the high parts of what the shift by
// whole words drops.

// twoWordBits is the largest precision to which two-word arithmetic rounds: 192
// bits less those that long sums lose.
const twoWordBits = 150

// twoWordError is the error of a product in units of 2^(P-192).
const twoWordError = 4

func twoWords(a *num.Array, p int) bool {
	return a.Kind == num.MP && a.Limbs() == 2 && p <= twoWordBits
}

// atMostTwoWords reports whether every number of a has at most 128 bits.
func atMostTwoWords(a *num.Array) bool {
	return a.Kind == num.F32 || a.Kind == num.F64 || a.Kind == num.MP && a.Limbs() <= 2
}

// twoWordVector returns x in MP(128) with its exponents, noScale for zeros, or nil
// if there is an infinity or NaN.
func twoWordVector(x num.Vec) (*num.Array, []int64) {
	z := num.New(num.Format{Kind: num.MP, Prec: 128}, x.N)
	scale := make([]int64, x.N)
	var buf [1]uint64
	for i := range x.N {
		r := x.Arr.Value(x.At(i), buf[:])
		z.Set(i, r)
		switch r.Class {
		case num.Finite:
			scale[i] = int64(z.Exp[i])
		case num.Zero:
			scale[i] = noScale
		default:
			return nil, nil
		}
	}
	return z, scale
}

func classBytes(c []num.Cls) []uint8 { return unsafe.Slice((*uint8)(unsafe.Pointer(&c[0])), len(c)) }

// rowsTwo computes rows lo <= i < hi in two-word arithmetic and returns how many took
// the exact sum.
func (w *gemvWorker) rowsTwo(lo, hi int) (exact int64) {
	a, x := w.m.Arr, w.x2
	sums := w.words[:4*(hi-lo)]
	clear(sums)
	if w.m.RS == 1 {
		for j, f := range w.scale {
			if f == noScale {
				continue
			}
			at, end := w.m.At(lo, j), w.m.At(lo, j)+hi-lo
			sig, cls := a.Sig[2*at:2*end], classBytes(a.Cls[at:end])
			var sign uint64
			if x.Cls[j].Neg() {
				sign = 1
			}
			if assembly() {
				axpyTop2Fast(sums, w.ref, sig, a.Exp[at:end], cls, x.Sig[2*j+1], x.Sig[2*j], f, sign)
			} else {
				axpyTop2(sums, w.ref, sig, a.Exp[at:end], cls, x.Sig[2*j+1], x.Sig[2*j], f, sign)
			}
		}
	} else {
		for r := range hi - lo {
			at := w.m.At(lo+r, 0)
			end := at + w.m.Cols
			addTwo(sums[4*r:4*r+4], w.ref[r], a, at, end, x, 0)
		}
	}
	bound := uint64(w.m.Cols) * twoWordError
	for r := range hi - lo {
		m := sums[4*r : 4*r+4]
		v := num.Real{Class: num.Finite, Neg: int64(m[3]) < 0, Exp: w.ref[r] - 192, Mag: m}
		if v.Neg {
			num.Negate(m)
		}
		v.Mag = trim(m)
		if w.special[r] || len(v.Mag) == 0 || !w.roundSum(lo+r, v, bound) {
			w.exactRow(lo + r)
			exact++
		}
	}
	return exact
}

// addTwo adds the products of numbers at <= i < end of a with those from xAt on of
// x to the four words of sum.
func addTwo(sum []uint64, ref int64, a *num.Array, at, end int, x *num.Array, xAt int) {
	xEnd := xAt + end - at
	sig, exp, cls := a.Sig[2*at:2*end], a.Exp[at:end], classBytes(a.Cls[at:end])
	xs, xe, xc := x.Sig[2*xAt:2*xEnd], x.Exp[xAt:xEnd], classBytes(x.Cls[xAt:xEnd])
	if assembly() {
		dotTop2Fast(sum, ref, sig, exp, cls, xs, xe, xc)
	} else {
		dotTop2(sum, ref, sig, exp, cls, xs, xe, xc)
	}
}
