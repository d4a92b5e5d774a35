package decimal

import (
	"bytes"
	"errors"
	"math/big"
	"strconv"

	"github.com/halfulp/halfulp/internal/num"
)

// maxSpread bounds the digits that an exact sum may span.
const maxSpread = 1 << 17

// ErrSpread is the error for numbers to be added exactly whose exponents are too far apart.
var ErrSpread = errors.New("exponents too far apart to add exactly")

// Sum returns the exact sum of numbers, given as texts that a Parser reads. Infinities and NaN add
// as in IEEE 754; the sum is -0 only if every number is -0. The sum of integers written in full is
// written in full.
func Sum(toks [][]byte) ([]byte, error) {
	terms := make([]text, len(toks))
	var low2, low10, high2, high10 int64 // least and greatest exponents of 2 and 10
	some, allNegative, class := false, true, num.Zero
	clamped := false // some exponent is not the one written
	integers := true
	neg := [2]bool{}
	for i, tok := range toks {
		t, err := scan(tok)
		if err != nil {
			return nil, err
		}
		terms[i] = t
		class = max(class, t.class)
		allNegative = allNegative && t.neg
		if t.class == num.Inf {
			neg[b2i(t.neg)] = true
		}
		if t.class != num.Finite {
			continue
		}
		integers = integers && t.integral()
		clamped = clamped || t.field == maxExponent || t.field == -maxExponent
		e2, e10 := t.exp, t.exp
		if t.hex {
			e10 = 0
		}
		if !some {
			some, low2, high2, low10, high10 = true, e2, e2, e10, e10
		}
		low2, high2 = min(low2, e2), max(high2, e2)
		low10, high10 = min(low10, e10), max(high10, e10)
	}
	switch {
	case class == num.NaN || neg[0] && neg[1]:
		return []byte("nan"), nil
	case neg[0]:
		return []byte("inf"), nil
	case neg[1]:
		return []byte("-inf"), nil
	case !some && allNegative:
		return []byte("-0"), nil
	case !some:
		return []byte("0"), nil
	case clamped || high2-low2 > maxSpread || high10-low10 > maxSpread:
		return nil, ErrSpread
	}
	// Every term is an integer times 2^low2 5^low10.
	sum := new(big.Int)
	five := big.NewInt(5)
	for i := range terms {
		t := &terms[i]
		if t.class != num.Finite {
			continue
		}
		x, e10 := new(big.Int), t.exp
		if t.hex {
			x.SetString(string(withoutPoint(t)), 16)
			e10 = 0
		} else {
			x = integer(t)
		}
		x.Lsh(x, uint(t.exp-low2))
		x.Mul(x, new(big.Int).Exp(five, big.NewInt(e10-low10), nil))
		if t.neg {
			x.Neg(x)
		}
		sum.Add(sum, x)
	}
	// 2^a 5^b = 10^b 2^(a-b); the remaining power of 2 goes into the integer.
	exp := low10
	switch d := low2 - low10; {
	case d > maxSpread || d < -maxSpread:
		return nil, ErrSpread
	case d >= 0:
		sum.Lsh(sum, uint(d))
	default:
		sum.Mul(sum, new(big.Int).Exp(five, big.NewInt(-d), nil))
		exp = low2
	}
	z := sum.Append(nil, 10)
	if integers { // exp >= 0
		return append(z, bytes.Repeat([]byte{'0'}, int(exp))...), nil
	}
	z = append(z, 'e')
	return strconv.AppendInt(z, exp, 10), nil
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func withoutPoint(t *text) []byte {
	s := make([]byte, 0, t.n)
	for _, c := range t.sig {
		if c != '.' {
			s = append(s, c)
		}
	}
	return s
}
