package main

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
)

// outward returns numbers that print with digits decimal digits. Each is the nearest such decimal,
// or its neighbour, that is at most the entry of m, or with up at least the entry.
func outward(m *halfulp.Matrix, digits int, up bool) (*halfulp.Matrix, error) {
	step := int64(-1)
	if up {
		step = 1
	}
	z := halfulp.NewMatrix(halfulp.MP(uint(float64(digits)*math.Log2(10))+64), m.Rows(), m.Cols())
	for k := range m.Cols() {
		for i := range m.Rows() {
			x := m.At(i, k)
			if x.IsNaN() || x.IsInf(0) {
				z.Set(i, k, x)
				continue
			}
			n, exponent, err := parseDecimal(x.Text(digits))
			if err != nil {
				return nil, err
			}
			if beyond(n, exponent, x, step) {
				n.Add(n, big.NewInt(step))
			}
			if err := z.SetString(i, k, fmt.Sprintf("%de%d", n, exponent)); err != nil {
				return nil, err
			}
		}
	}
	return z, nil
}

// parseDecimal returns n and e of a decimal n 10^e.
func parseDecimal(text string) (n *big.Int, e int, err error) {
	text, exponent, ok := strings.Cut(text, "e")
	if ok {
		if e, err = strconv.Atoi(exponent); err != nil {
			return nil, 0, err
		}
	}
	whole, fraction, _ := strings.Cut(text, ".")
	n, ok = new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return nil, 0, fmt.Errorf("%s is no decimal", text)
	}
	return n, e - len(fraction), nil
}

// beyond reports whether n 10^e lies, or may lie, on the other side of x than the direction of
// step.
func beyond(n *big.Int, e int, x halfulp.Scalar, step int64) bool {
	b := x.Big()
	if n.Sign() == 0 && b.Sign() == 0 {
		return false
	}
	if far := b.MantExp(nil); max(far, -far) > 20000 {
		return true
	}
	v := new(big.Rat).SetInt(n)
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(e, -e))), nil))
	if e >= 0 {
		v.Mul(v, power)
	} else {
		v.Quo(v, power)
	}
	exact, _ := b.Rat(nil)
	return int64(v.Cmp(exact)) == -step
}
