package bound

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
)

// EnclosedEntry is an entry of a result that differs from (-1)^Neg Mag 2^Exp by at most Err 2^Exp.
// Err is valid, and below 2^61, only if Known is set. If Zero is set the entry may be 0.
type EnclosedEntry struct {
	Neg         bool
	Mag         []uint64
	Exp         int64
	Err         uint64
	Known, Zero bool
}

// Rounder holds the working memory of one worker that rounds entries.
type Rounder struct {
	*Adder
	Ends *num.Array // two numbers of the output's format
	Tmp  []uint64
}

// Enclose returns entry (i, j) of y, with x and d in place of y.X and y.D, scaled back. Its Mag is
// valid until the next call.
func (t *Rounder) Enclose(y *Nearly, x, d *num.Mat, i, j int) EnclosedEntry {
	neg, mag, exp := t.Add(x, d, i, j)
	e := y.Err[j] - exp
	if e >= 60 && len(mag) > 0 { // drop words that are smaller than the error
		k := min(int64(len(mag)-1), (e-60)/64+1)
		all := mag
		mag, exp, e = all[k:], exp+64*k, e-64*k
		if e < Slight && k > 0 { // drop half a word less, so that cutting off adds little
			mag, exp, e = halfWordDown(all[k-1:]), exp-32, e+32
		}
	}
	v := EnclosedEntry{Neg: neg, Mag: mag, Exp: exp + y.Left[i] + y.Right[j]}
	if v.Known = len(mag) > 0 && e < 60; !v.Known {
		v.Zero = len(mag) == 0 || int64(num.BitLen(mag)) <= e
		return v
	}
	v.Err = 4 // for bits cut off, and for an error below a unit
	if e >= 0 {
		v.Err += 1 << e
	}
	v.Zero = len(mag) == 1 && mag[0] <= v.Err
	return v
}

// halfWordDown replaces x by x 2^-32, cut off, and returns it without leading zero words.
func halfWordDown(x []uint64) []uint64 {
	last := len(x) - 1
	for i := range last {
		x[i] = x[i]>>32 | x[i+1]<<32
	}
	if x[last] >>= 32; x[last] == 0 {
		x = x[:last]
	}
	return x
}

// Rounded is the result of rounding a column.
type Rounded struct {
	Open    []int // undecided entries
	Exactly bool  // all entries look like numbers of one more bit than the format
}

// RoundTo rounds the entry to number at of a, and reports whether all numbers of the enclosure
// round to this number; if not, it stores nothing. The tests are the same as in the finisher of
// package residue.
func (v *EnclosedEntry) RoundTo(t *Rounder, a *num.Array, at int) bool {
	if !v.Known || v.Zero {
		return false
	}
	n := int64(num.BitLen(v.Mag))
	top := v.Exp + n
	var p int64
	switch {
	case a.Kind == num.MP:
		p = int64(a.Prec)
		if max(top, -top) > math.MaxInt32-4 {
			return false
		}
	case a.Kind == num.F64:
		p = 53
		if top < -1020 || top > 1023 {
			return false
		}
	case a.Kind == num.F32:
		p = 24
		if top < -124 || top > 127 {
			return false
		}
	default:
		return v.between(t, a, at)
	}
	tail, e, ok := v.tail(n - p)
	if !ok {
		return false
	}
	dist := tail - 1<<63
	if int64(dist) < 0 {
		dist = -dist
	}
	if dist <= e {
		return false
	}
	if a.Kind == num.F64 { // a normal number; takes a third of the time of Set
		q := num.WordAt(v.Mag, n-p) + tail>>63
		x := math.Float64frombits(uint64(top+1021)<<52 + q)
		if v.Neg {
			x = -x
		}
		a.F64[0][at] = x
		return true
	}
	if a.Kind == num.MP { // half of the time
		StoreLeading(a, at, v.Neg, v.Mag, v.Exp)
		return true
	}
	a.Set(at, num.Real{Class: num.Finite, Neg: v.Neg, Mag: v.Mag, Exp: v.Exp})
	return true
}

// StoreLeading rounds mag 2^exp, negative if neg, to nearest and stores it in number at of a, of
// MP. Ties are rounded away from zero. The exponent must be in the range of MP.
func StoreLeading(a *num.Array, at int, neg bool, mag []uint64, exp int64) {
	l, n := a.Limbs(), int64(num.BitLen(mag))
	z := a.Sig[at*l:][:l]
	if first := n - int64(64*l); first >= 0 { // the usual case
		x, s := mag[first>>6:], uint(first&63)
		low := x[0]
		for k := range z {
			var high uint64
			if k+1 < len(x) {
				high = x[k+1]
			}
			z[k] = low>>s | high<<1<<(63-s)
			low = high
		}
	} else {
		for k := range z {
			z[k] = num.WordAt(mag, first+int64(64*k))
		}
	}
	spare := uint(64*l) - uint(a.Prec) // bits below the last place
	// Half of the numbers are rounded up; few carry into a second word.
	var carry uint64
	z[0], carry = bits.Add64(z[0]&^(1<<spare-1), num.WordAt(mag, n-int64(a.Prec)-64)>>63<<spare, 0)
	for k := 1; carry != 0 && k < l; k++ {
		z[k], carry = bits.Add64(z[k], carry, 0)
	}
	top := exp + n
	if carry != 0 {
		z[l-1] = 1 << 63
		top++
	}
	a.Exp[at], a.Cls[at] = int32(top), num.MakeCls(neg, num.Finite)
}

// tail returns the 64 bits below the last place of a significand that drops drop bits, and the
// error in units of the last of these 64 bits. It is not ok if the error is a quarter of the last
// place or more, since numbers of the enclosure may then lie beyond a power of two.
func (v *EnclosedEntry) tail(drop int64) (tail, err uint64, ok bool) {
	if drop < 2 || drop < 64 && v.Err >= 1<<(drop-2) {
		return 0, 0, false
	}
	e := v.Err
	if drop < 64 {
		e <<= 64 - drop
	} else {
		e >>= min(drop-64, 63)
	}
	return num.WordAt(v.Mag, drop-64), e + 2, e+2 >= 2
}

// between is RoundTo for expansions: it rounds both ends and compares the bits.
func (v *EnclosedEntry) between(t *Rounder, a *num.Array, at int) bool {
	end := append(t.Tmp[:0], v.Mag...)
	num.SubShifted(end, []uint64{v.Err})
	flags := t.Ends.Set(0, num.Real{Class: num.Finite, Neg: v.Neg, Mag: end, Exp: v.Exp})
	end = append(append(end[:0], v.Mag...), 0)
	num.AddShifted(end, []uint64{v.Err})
	other := t.Ends.Set(1, num.Real{Class: num.Finite, Neg: v.Neg, Mag: end, Exp: v.Exp})
	t.Tmp = end
	if flags != other || flags&num.Underflow != 0 || !t.Ends.SameBits(0, t.Ends, 1) {
		return false
	}
	a.CopyFrom(at, t.Ends, 1)
	return true
}

// fewer is the number of bits by which a number must be shorter than its enclosure shows, before it
// is suspected to be a number of few bits. All entries of a column must be suspected, so that
// hardly any column is suspected by chance.
const fewer = 8

// Special reports whether the enclosure contains 0, or contains a number of one more bit than the
// format and is small relative to its last place.
func (v *EnclosedEntry) Special(f num.Format) bool {
	if !v.Known || v.Zero {
		return v.Zero
	}
	tail, e, ok := v.tail(int64(num.BitLen(v.Mag)) - int64(f.Bits()) - 1)
	return ok && e < 1<<(64-fewer) && min(tail, -tail) <= e
}

// Small reports whether the leading bits of the enclosure prove that the magnitude of the number is
// below 1 - 2^-40.
func (v *EnclosedEntry) Small() bool {
	if !v.Known || v.Zero {
		return false
	}
	n := int64(num.BitLen(v.Mag))
	if top := v.Exp + n; top < -1 {
		return true // the error is less than the number
	} else if top > 0 || n < 64 {
		return false
	}
	// mag + err < 2^(n-64) (2^64 - 2^24)
	return num.WordAt(v.Mag, n-64) < math.MaxUint64-1<<25 && v.Err>>min(n-64, 63) < 1<<24
}

// Within sets the error of v, which is cut off, to r 2^unit plus the error of cutting off.
func (v *EnclosedEntry) Within(r float64, unit int) {
	v.Err = uint64(math.Ldexp(r, unit-int(v.Exp))) + 4 // for bits cut off and errors below a unit
	v.Known = len(v.Mag) > 0
	v.Zero = len(v.Mag) == 0 || len(v.Mag) == 1 && v.Mag[0] <= v.Err
}

// Below reports whether the magnitude of the number is proved to be at most bound.
func (v *EnclosedEntry) Below(bound *big.Float) bool {
	x := Upper().SetInt(new(big.Int).Add(IntegerOf(v.Mag), new(big.Int).SetUint64(v.Err)))
	return x.SetMantExp(x, int(v.Exp)).Cmp(bound) <= 0
}

// IntegerOf returns the integer with these words.
func IntegerOf(mag []uint64) *big.Int {
	z, word := new(big.Int), new(big.Int)
	for k := len(mag) - 1; k >= 0; k-- {
		z.Lsh(z, 64).Or(z, word.SetUint64(mag[k]))
	}
	return z
}
