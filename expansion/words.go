package expansion

import (
	"math"
	"math/big"
)

// Code shared by the three formats outside their arithmetic, on slices of words.

// exactBig returns the exact sum of finite words, or an infinity. It panics with
// big.ErrNaN for NaN.
func exactBig(x []float64) *big.Float {
	prec := uint(53 * len(x))
	z := new(big.Float).SetPrec(prec)
	if !ordinary(x[0]) {
		return z.SetFloat64(x[0])
	}
	_, top := math.Frexp(x[0])
	low := top
	for _, w := range x {
		if w != 0 {
			_, e := math.Frexp(w)
			low = max(e-53, -1074)
		}
	}
	z.SetPrec(max(prec, uint(top-low+2)))
	for _, w := range x {
		z.Add(z, new(big.Float).SetFloat64(w))
	}
	return z.SetPrec(max(prec, z.MinPrec()))
}

// setBig rounds x to the words z: z[0] = RN(x), z[1] = RN(x - z[0]), and so on. Where a tie left
// z[i] ≠ RN(z[i] + z[i+1]), it does the same once more for the sum of z, as the formats of package
// halfulp are defined.
func setBig(z []float64, x *big.Float) {
	greedy(z, x)
	if !normalised(z) {
		greedy(z, exactBig(z))
	}
}

func greedy(z []float64, x *big.Float) {
	clear(z)
	z[0], _ = x.Float64()
	if !ordinary(z[0]) {
		return
	}
	rest := new(big.Float).SetPrec(x.MinPrec() + 64).Set(x)
	for i := range z {
		if i > 0 {
			if z[i], _ = rest.Float64(); z[i] == 0 {
				z[i] = 0
				return
			}
		}
		if rest.Sub(rest, new(big.Float).SetFloat64(z[i])).Sign() == 0 {
			return
		}
	}
}

// normalised reports whether x[i] = RN(x[i] + x[i+1]) for all i.
func normalised(x []float64) bool {
	for i := 1; i < len(x); i++ {
		if x[i-1]+x[i] != x[i-1] || x[i-1] == 0 && x[i] != 0 {
			return false
		}
	}
	return true
}

// narrow rounds x to the smaller number of words z.
func narrow(z, x []float64) {
	canonical(x)
	copy(z, x)
	if ordinary(z[0]) && !normalised(z) {
		greedy(z, exactBig(z))
	}
}

// canonical puts words into the form in which package halfulp stores their sum. Apart from the sign
// of zeros, normalised words have it already, unless one of them, about half an ulp of the word
// before, is followed by another.
func canonical(x []float64) {
	if !ordinary(x[0]) {
		x[0] = special(x[0], x[0])
		clear(x[1:])
		return
	}
	for i := 1; i < len(x); i++ {
		x[i] += 0
		more := 1.0
		if i+1 < len(x) && x[i+1] != 0 {
			more += 0x1p-50
		}
		if x[i-1]+float64(x[i]*more) != x[i-1] {
			setBig(x, exactBig(x))
			return
		}
	}
}
