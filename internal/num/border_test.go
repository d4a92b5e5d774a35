package num

import (
	"fmt"
	"testing"
)

// TestBorder rounds Border and numbers next to it, at all distances down to 2^-1300, and the exact
// number with something below its last bit.
func TestBorder(t *testing.T) {
	formats := []Format{Float32, Float64, DDouble, TDouble, QDouble, {MP, 2}, {MP, 3}, {MP, 53}, {MP, 63}, {MP, 64}, {MP, 65}, {MP, 424}}
	for _, f := range formats {
		b := f.Border()
		if TrailingZeros(b.Mag) != 0 {
			t.Fatalf("%v: the last bit of the border is 0", f)
		}
		finest := b.Exp - 300
		if f.Kind != MP {
			finest = -1300
		}
		words := (b.Exp - finest + 63) / 64
		base := Real{Class: Finite, Exp: b.Exp - 64*words, Mag: append(make([]uint64, words), b.Mag...)}
		a := New(f, 1)
		check := func(name string, x Real, inf bool) {
			t.Helper()
			for _, x.Neg = range []bool{false, true} {
				flags := a.Set(0, x)
				var buf [MaxValueWords]uint64
				z := a.Value(0, buf[:])
				if (z.Class == Inf) != inf || (flags&Overflow != 0) != inf || z.Neg != x.Neg {
					t.Errorf("%v, %s: class %d, negative %v, flags %d; want infinity: %v, negative: %v", f, name, z.Class, z.Neg, flags, inf, x.Neg)
				}
			}
		}
		at := func(e int64, below bool) Real { // the border ± 2^e
			x := base
			x.Mag = append([]uint64(nil), base.Mag...)
			power := make([]uint64, len(x.Mag))
			power[(e-x.Exp)/64] = 1 << ((e - x.Exp) % 64)
			if below {
				SubShifted(x.Mag, power)
			} else {
				AddShifted(x.Mag, power)
			}
			return x
		}
		check("border", base, true)
		check("border, shortest", b, true)
		sticky := base
		sticky.Sticky = true
		check("border and more", sticky, true)
		sticky = at(base.Exp, true)
		sticky.Sticky = true // between one unit below and the border
		check("border less a part of a unit", sticky, false)
		for e := base.Exp; e <= b.Exp; e++ {
			check(fmt.Sprintf("border - 2^%d", e), at(e, true), false)
			check(fmt.Sprintf("border + 2^%d", e), at(e, false), true)
		}
		a.Set(0, at(b.Exp, true))
		var buf [MaxValueWords]uint64
		largest := Real{Class: Finite, Exp: b.Exp, Mag: append([]uint64(nil), b.Mag...)}
		largest.Mag[0]-- // the border is odd
		if z := a.Value(0, buf[:]); !sameMagnitude(z, largest) {
			t.Errorf("%v: the largest number is %x 2^%d, want %x 2^%d", f, z.Mag, z.Exp, largest.Mag, largest.Exp)
		}
	}
}

// sameMagnitude reports whether two finite numbers have one magnitude.
func sameMagnitude(x, y Real) bool {
	n := max(BitLen(x.Mag), BitLen(y.Mag)) + 64
	top := x.Exp + int64(BitLen(x.Mag))
	if top != y.Exp+int64(BitLen(y.Mag)) {
		return false
	}
	for k := 64; k <= n+64; k += 64 {
		if WordAt(x.Mag, top-int64(k)-x.Exp) != WordAt(y.Mag, top-int64(k)-y.Exp) {
			return false
		}
	}
	return true
}
