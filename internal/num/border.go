package num

import "math"

// Border returns the least magnitude that rounds to infinity in format f. Its last bit, 2^Exp, is
// half the distance between the numbers around it: the largest finite number is Border - 2^Exp.
//
// F32, F64 and MP have numbers of p bits below 2^e, e = 128, 1024 or 2^31 - 1. The border lies
// halfway between the largest of them, (1 - 2^-p) 2^e, and 2^e, which is the even one of the two:
//
//	F32, F64, MP: 2^e - 2^(e-p-1).
//
// An expansion of a number below MAX + 2^970, the border of F64, begins with MAX at most, the
// largest binary64. The rest rounds to 2^970 from the tie 2^970 - 2^916 on. The sum of these two
// terms is the border of F64, so DD overflows there:
//
//	DD: 2^1024 - 2^970 - 2^916.
//
// In TD and QD the third term is negative then. It keeps the sum below the border of F64, unless it
// rounds to 0, which it does from 2^-1075 down, half the smallest binary64:
//
//	TD, QD: 2^1024 - 2^970 - 2^-1075.
func (f Format) Border() Real {
	top, p := int64(1024), int64(53)
	switch f.Kind {
	case F32:
		top, p = 128, 24
	case MP:
		top, p = math.MaxInt32, int64(f.Prec)
	}
	below := []int64{top - p - 1} // the border is 2^top less these powers of two
	switch f.Kind {
	case DD:
		below = append(below, 916)
	case TD, QD:
		below = append(below, -1075)
	}
	low := below[len(below)-1]
	power := func(e int64) []uint64 {
		m := make([]uint64, (top-low)/64+1)
		m[(e-low)/64] = 1 << ((e - low) % 64)
		return m
	}
	r := Real{Class: Finite, Exp: low, Mag: power(top)}
	for _, e := range below {
		SubShifted(r.Mag, power(e))
	}
	return r
}
