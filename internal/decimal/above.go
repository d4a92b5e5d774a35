package decimal

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Above returns x ≥ 0, finite, in scientific notation with 2 to 15 digits, as requested: the least
// such decimal number that is at least x. If x is far outside the range of float64 numbers,
// the result may be larger by some units of its last digit.
func Above(x *big.Float, digits int) string {
	m := new(big.Float)
	if e := x.MantExp(m); e > 1000 || e < -1000 { // the digits of x would take for ever
		f, _ := m.Float64()
		log := float64(math.Log10(f)) + float64(float64(e)*math.Log10(2)) // to 1e-6
		whole := math.Floor(log)
		unit := math.Pow10(digits - 1)
		d := math.Ceil(float64(unit*math.Pow(10, log-whole))*(1+1e-5)) / unit
		if d >= 10 {
			whole, d = whole+1, math.Ceil(unit*d/10)/unit
		}
		return fmt.Sprintf("%.*fe%+03.0f", digits-1, d, whole)
	}
	f, acc := x.Float64()
	if acc == big.Below {
		f = math.Nextafter(f, math.Inf(1))
	}
	return AboveFloat(f, digits)
}

// AboveFloat is Above for a float64 number.
func AboveFloat(x float64, digits int) string {
	s := strconv.FormatFloat(x, 'e', digits-1, 64)
	if v, _ := strconv.ParseFloat(s, 64); v > x || v == x && !below(s, x) { // v may be infinite
		return s
	}
	number, exponent, _ := strings.Cut(s, "e")
	d, _ := strconv.ParseInt(number[:1]+number[2:], 10, 64)
	e, _ := strconv.Atoi(exponent)
	number = strconv.FormatInt(d+1, 10)
	if len(number) > digits {
		e++
	}
	return fmt.Sprintf("%s.%se%+03d", number[:1], number[1:digits], e)
}

// below reports whether the decimal number s is below x.
func below(s string, x float64) bool {
	d, ok := new(big.Rat).SetString(s)
	return !ok || d.Cmp(new(big.Rat).SetFloat64(x)) < 0
}
