package decimal

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestSetPlain compares setPlain with rational arithmetic, for random digits, and decimals at and
// near numbers of the format and ties.
func TestSetPlain(t *testing.T) {
	r := testseed.Rand(t, 11, 12)
	settled := map[bool]int{}
	for range 6000 {
		f := mp(uint32(2 + r.IntN(700)))
		if r.IntN(40) == 0 {
			f = mp(uint32(2800 + r.IntN(400))) // about where maxPlainWords ends
		}
		near := r.IntN(2) == 0
		tok := plainToken(r)
		if near {
			tok = nearTie(r, f)
		}
		a := num.New(f, 1)
		if !NewParser(f).setPlain(a, 0, []byte(tok)) {
			continue
		}
		settled[near]++
		if want := oracle(t, f, tok); !a.SameBits(0, want, 0) {
			t.Fatalf("%v: %s is %s, want %s", f, tok, show(a, 0), show(want, 0))
		}
	}
	if settled[false] < 1000 || settled[true] < 60 {
		t.Errorf("only %v settled", settled)
	}
}

// plainToken returns a number without an exponent.
func plainToken(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(2) == 0 {
		b.WriteByte('-')
	}
	digits := func(n int) {
		c := byte('0' + r.IntN(10)) // that repeats
		for range n {
			if r.IntN(20) > 0 {
				c = byte('0' + r.IntN(10))
			}
			b.WriteByte(c)
		}
	}
	digits(r.IntN(21))
	b.WriteByte('.')
	b.WriteString(strings.Repeat("0", r.IntN(25)*r.IntN(2)))
	digits(1 + r.IntN(260))
	return b.String()
}

// nearTie returns a number of format f, or the middle between two of them, with so many digits that
// it is closest to that number or middle, with or without an error of one unit of the last digit.
func nearTie(r *rand.Rand, f num.Format) string {
	m := num.New(mp(f.Prec+1), 1)
	randomNumber(r, m, 0, 20)
	x := ratOf(m.Value(0, nil))
	n := int(f.Prec)/3 + 1 + r.IntN(30)
	unit := new(big.Rat).SetFrac(big.NewInt(int64(r.IntN(3)-1)), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
	return x.Add(x, unit).FloatString(n)
}

// TestScalePlain compares scalePlain with rational arithmetic.
func TestScalePlain(t *testing.T) {
	r := testseed.Rand(t, 13, 14)
	settled := 0
	for range 8000 {
		f := mp(uint32(2 + r.IntN(500)))
		a := num.New(f, 1)
		randomNumber(r, a, 0, 66)
		if a.Class(0) != num.Finite {
			continue
		}
		p := NewPrinter(f)
		v := p.intervalMP(a.Value(0, nil))
		for k := max(int64(float64(-v.exp-v.high)*log10Two)-2, 1); k < 200; k++ {
			// As in shortest: the first k that makes the interval, 2^(high+1+exp) wide, wider than
			// 10.
			wide := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(k-1), nil))
			shift := v.exp + v.high + 1
			two := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(shift, -shift))))
			if shift < 0 {
				two.Inv(two)
			}
			if wide.Mul(wide, two).Cmp(big.NewRat(1, 1)) <= 0 {
				continue
			}
			s, ok := p.scalePlain(a.Value(0, nil), v, k)
			if !ok {
				break
			}
			settled++
			want, _ := scaleExactly(v, k)
			digits := appendInteger(nil, slices.Clone(want.floor))
			s.floor = want.floor
			if got, want := fmt.Sprint(s, string(p.digits)), fmt.Sprint(want, string(digits)); got != want {
				t.Fatalf("%s in %v, k = %d: %s, want %s", show(a, 0), f, k, got, want)
			}
			break
		}
	}
	if settled < 4000 {
		t.Errorf("only %d settled", settled)
	}
}

// TestDigitsOf checks all pairs of halves, each against itself, and thereby every quotient in them.
func TestDigitsOf(t *testing.T) {
	for x := range uint64(10000) {
		for _, y := range []uint64{x, x * 10000, x * 10001, x*10000 + 9999 - x} {
			c := y*1e11 + y*1000 + x%1000
			if got, want := chunkDigits(c), fmt.Sprintf("%019d", c); string(got[:]) != want {
				t.Fatalf("%d: %s, want %s", c, got, want)
			}
		}
	}
}
