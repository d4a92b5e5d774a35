package main

import (
	"math"
	"math/big"

	"github.com/halfulp/halfulp"
)

// decimals reads a matrix of decimals that need not be numbers of any format. Column j is a matrix
// of integers times units[j]; unless byColumn, the whole matrix is integers times units[0]. If the
// file or --in names a format, the numbers are rounded to it, and units is nil.
func (j *job) decimals(name string, byColumn bool) (m *halfulp.Matrix, units []*big.Rat, err error) {
	const bits = 256 // for decimals of up to 76 digits; longer ones take more
	m, stats, err := j.read(name, halfulp.AtLeast(halfulp.MP(uint(max(bits, j.format.Bits())))))
	if err != nil || stats.Digits == 0 || float64(stats.Digits) > math.Floor(float64(m.NumberFormat().Bits()-1)*math.Log10(2)) {
		return m, nil, err
	}
	rows, cols := m.Dims()
	values := make([][]*big.Rat, cols)
	places := make([]int, 1)
	if byColumn {
		places = make([]int, cols)
	}
	for c := range cols {
		p := &places[0]
		if byColumn {
			p = &places[c]
		}
		values[c] = make([]*big.Rat, rows)
		for r := range rows {
			v, ok := readAs(m.At(r, c), stats.Digits)
			if !ok {
				return m, nil, nil
			}
			values[c][r] = v
			*p = max(*p, decimalPlaces(v))
		}
	}
	powers := make([]*big.Int, len(places))
	for k, p := range places {
		powers[k] = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(p)), nil)
		units = append(units, new(big.Rat).SetFrac(big.NewInt(1), powers[k]))
	}
	integers := make([]*big.Float, 0, rows*cols)
	longest := 53
	for c := range cols {
		power := new(big.Rat).SetInt(powers[min(c, len(powers)-1)])
		for _, v := range values[c] {
			n := v.Mul(v, power).Num()
			longest = max(longest, n.BitLen())
			integers = append(integers, new(big.Float).SetPrec(uint(max(n.BitLen(), 1))).SetInt(n))
		}
	}
	if longest > halfulp.MaxPrec {
		return m, nil, nil
	}
	return halfulp.NewMatrixBig(halfulp.MP(uint(longest)), rows, cols, integers), units, nil
}

// readAs returns the decimal of at most digits digits from which x was read, or x itself if no such
// decimal rounds to x. It is not ok for numbers that are not finite, or very large or small.
func readAs(x halfulp.Scalar, digits int) (v *big.Rat, ok bool) {
	if x.IsNaN() || x.IsInf(0) {
		return nil, false
	}
	b := x.Big()
	if e := b.MantExp(nil); max(e, -e) > 20000 {
		return nil, false
	}
	text := x.Text(digits)
	if y, err := halfulp.ParseScalar(x.NumberFormat(), text); err == nil && y.Same(x) {
		if v, ok = new(big.Rat).SetString(text); ok {
			return v, true
		}
	}
	v, _ = b.Rat(nil)
	return v, true
}

// decimalPlaces returns the number of digits after the point of a number that has finitely many.
func decimalPlaces(v *big.Rat) int {
	twos := int(v.Denom().TrailingZeroBits())
	rest := new(big.Int).Rsh(v.Denom(), uint(twos))
	fives := 0
	for five := big.NewInt(5); rest.BitLen() > 1; fives++ {
		rest.Quo(rest, five)
	}
	return max(twos, fives)
}
