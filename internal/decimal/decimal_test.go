package decimal

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

func mp(p uint32) num.Format { return num.Format{Kind: num.MP, Prec: p} }

var formats = []num.Format{
	num.Float32, num.Float64, num.DDouble, num.TDouble, num.QDouble,
	mp(2), mp(3), mp(11), mp(24), mp(53), mp(63), mp(64), mp(65), mp(106), mp(128), mp(424), mp(448), mp(1696), mp(8192),
}

// show returns number i of a in words for messages.
func show(a *num.Array, i int) string {
	return string(NewPrinter(a.Format).Append(nil, a, i, Hex))
}

// oracle rounds the number tok with big.Rat alone.
func oracle(t *testing.T, f num.Format, tok string) *num.Array {
	t.Helper()
	a := num.New(f, 1)
	s := strings.Map(func(r rune) rune {
		if strings.ContainsRune("dDqQ", r) && !strings.ContainsAny(tok, "xX") {
			return 'e'
		}
		return r
	}, tok)
	x, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("oracle cannot read %q", tok)
	}
	neg := strings.HasPrefix(s, "-")
	if x.Sign() == 0 {
		a.Set(0, num.Real{Neg: neg})
		return a
	}
	switch f.Kind {
	case num.F32:
		a.F32[0], _ = x.Float32()
		if a.F32[0] == 0 && neg {
			a.F32[0] = float32(math.Copysign(0, -1))
		}
	case num.MP:
		z := new(big.Float).SetPrec(uint(f.Prec)).SetRat(x)
		if z.IsInf() {
			a.Set(0, num.Real{Class: num.Inf, Neg: neg})
			return a
		}
		mant := new(big.Float)
		e := z.MantExp(mant)
		n, _ := mant.SetMantExp(mant, int(f.Prec)).Int(nil)
		a.Set(0, num.Real{Class: num.Finite, Neg: neg, Exp: int64(e) - int64(f.Prec), Mag: num.FromInt(nil, n.Abs(n))})
	default:
		// Greedy terms; the value of them rounded again is canonical.
		for range 2 {
			sum, rest := new(big.Rat), x
			for k := range f.Terms() {
				h, _ := rest.Float64()
				if h == 0 && k == 0 && neg {
					h = math.Copysign(0, -1)
				}
				if h == 0 && k > 0 {
					h = 0
				}
				a.F64[k][0] = h
				if math.IsInf(h, 0) {
					for m := k + 1; m < f.Terms(); m++ {
						a.F64[m][0] = 0
					}
					return a
				}
				if h == 0 {
					for m := k + 1; m < f.Terms(); m++ {
						a.F64[m][0] = 0
					}
					break
				}
				hr := new(big.Rat).SetFloat64(h)
				sum.Add(sum, hr)
				rest = new(big.Rat).Sub(rest, hr)
			}
			if sum.Sign() == 0 {
				return a
			}
			x = sum
		}
	}
	return a
}

func checkParse(t *testing.T, f num.Format, tok string) {
	t.Helper()
	got := num.New(f, 1)
	if _, err := NewParser(f).Set(got, 0, []byte(tok)); err != nil {
		t.Fatalf("%v: %v", f, err)
	}
	if want := oracle(t, f, tok); !got.SameBits(0, want, 0) {
		t.Fatalf("%v: %q read as %s, want %s", f, tok, show(got, 0), show(want, 0))
	}
}

// randomToken returns a decimal or hexadecimal number of any shape.
func randomToken(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString([]string{"", "-", "+"}[r.IntN(3)])
	hex := r.IntN(5) == 0
	alphabet := "0123456789"
	if hex {
		b.WriteString("0x")
		alphabet = "0123456789abcdefABCDEF"
	}
	n := 1 + r.IntN([]int{3, 20, 60, 200, 900}[r.IntN(5)])
	point := r.IntN(2*n + 2)
	for i := range n {
		if i == point {
			b.WriteByte('.')
		}
		switch r.IntN(12) {
		case 0:
			b.WriteString(strings.Repeat("0", r.IntN(30)))
		case 1:
			b.WriteString(strings.Repeat("9", r.IntN(30)))
		}
		b.WriteByte(alphabet[r.IntN(len(alphabet))])
	}
	if r.IntN(3) > 0 {
		letter := []string{"e", "E", "d", "D", "q", "Q"}[r.IntN(6)]
		if hex {
			letter = "p"
		}
		b.WriteString(letter + strconv.Itoa(r.IntN(2*400)-400))
	} else if hex {
		b.WriteString("p0")
	}
	return b.String()
}

func TestParseRandom(t *testing.T) {
	const seed = 1
	r := testseed.Rand(t, seed, 0)
	for range 300 {
		tok := randomToken(r)
		for _, f := range formats {
			checkParse(t, f, tok)
		}
	}
}

// TestParseTies reads ties between neighbours of each format, and decimals just
// beside them, in all digits.
func TestParseTies(t *testing.T) {
	const seed = 2
	r := testseed.Rand(t, seed, 0)
	for _, f := range formats {
		a := num.New(f, 1)
		for range 20 {
			randomNumber(r, a, 0, 200)
			v := a.Value(0, make([]uint64, num.MaxValueWords))
			if v.Class != num.Finite {
				continue
			}
			// Half an ulp of the last bit that is stored, on either side.
			x := new(big.Rat).SetInt(num.ToInt(v.Mag))
			scale := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(v.Exp, -v.Exp))))
			if v.Exp < 0 {
				scale.Inv(scale)
			}
			x.Mul(x, scale)
			spare := int64(0)
			if f.Kind == num.MP {
				spare = int64(64*f.Limbs()) - int64(f.Prec)
			}
			half := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(spare)))
			half.Mul(half, scale)
			half.Mul(half, big.NewRat(1, 2))
			for _, side := range []int64{-1, 1} {
				y := new(big.Rat).Mul(half, big.NewRat(side, 1))
				y.Add(y, x)
				s := exactDecimal(y)
				checkParse(t, f, s)
				checkParse(t, f, "-"+s)
				if !strings.Contains(s, ".") {
					s += "."
				}
				checkParse(t, f, s+strings.Repeat("0", 100)+"1")
				checkParse(t, f, s[:len(s)-1])
				checkParse(t, f, s+"e-37")
			}
		}
	}
}

// exactDecimal returns all digits of a dyadic number.
func exactDecimal(x *big.Rat) string {
	n := x.Denom().BitLen() - 1
	return x.FloatString(n)
}

// randomNumber sets number i of a to random bits with exponents up to ±spread.
func randomNumber(r *rand.Rand, a *num.Array, i, spread int) {
	switch a.Kind {
	case num.F32:
		a.F32[i] = math.Float32frombits(r.Uint32())
	case num.F64:
		a.F64[0][i] = math.Float64frombits(r.Uint64())
	default:
		n := a.Limbs()
		if n == 0 {
			n = 1 + r.IntN(12)
		}
		mag := make([]uint64, n)
		for k := range mag {
			mag[k] = r.Uint64()
			switch r.IntN(8) {
			case 0:
				mag[k] = 0
			case 1:
				mag[k] = math.MaxUint64
			}
		}
		if r.IntN(8) == 0 {
			clear(mag)
			mag[n-1] = 1 << 63
		}
		a.Set(i, num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Mag: mag, Exp: int64(r.IntN(2*spread+1)-spread) - int64(64*n)})
	}
}

func TestRoundTrip(t *testing.T) {
	const seed = 3
	r := testseed.Rand(t, seed, 0)
	for _, f := range formats {
		a, b := num.New(f, 1), num.New(f, 1)
		pr, pa := NewPrinter(f), NewParser(f)
		n := 2000
		if f.Bits() > 1000 {
			n = 40
		}
		for k := range n {
			spread := []int{3, 30, 300, 1074}[r.IntN(4)]
			if f.Kind == num.MP && k < n/10 {
				spread = 1 << 20
			}
			randomNumber(r, a, 0, spread)
			for _, style := range []Style{Shortest, Hex, Style(HeldDigits(f))} {
				if style > 0 && f.Terms() > 1 {
					continue // an expansion may need more digits
				}
				s := pr.Append(nil, a, 0, style)
				if _, err := pa.Set(b, 0, s); err != nil {
					t.Fatalf("%v: %v", f, err)
				}
				if !a.SameBits(0, b, 0) && !(string(s) == "nan" && b.Value(0, make([]uint64, num.MaxValueWords)).Class == num.NaN) {
					t.Fatalf("%v: %s written as %s, read back as %s", f, show(a, 0), s, show(b, 0))
				}
			}
		}
	}
}

// TestShortestMinimal checks that no decimal with one digit less reads back:
// neither the one below nor the one above.
func TestShortestMinimal(t *testing.T) {
	const seed = 4
	r := testseed.Rand(t, seed, 0)
	for _, f := range formats {
		if f.Bits() > 500 {
			continue
		}
		a, b := num.New(f, 1), num.New(f, 1)
		pr, pa := NewPrinter(f), NewParser(f)
		for range 300 {
			randomNumber(r, a, 0, []int{3, 30, 300}[r.IntN(3)])
			v := a.Value(0, make([]uint64, num.MaxValueWords))
			if v.Class != num.Finite {
				continue
			}
			s := pr.Append(nil, a, 0, Shortest)
			n := significantDigits(string(s))
			if n == 1 {
				continue
			}
			for _, z := range neighbours(v, n-1) {
				if _, err := pa.Set(b, 0, []byte(z)); err != nil {
					t.Fatal(err)
				}
				if a.SameBits(0, b, 0) {
					t.Fatalf("%v: %s written as %s, but %s reads back", f, show(a, 0), s, z)
				}
			}
		}
	}
}

func significantDigits(s string) int {
	t, _ := scan([]byte(s))
	return t.n
}

// neighbours returns the n-digit decimals on either side of v.
func neighbours(v num.Real, n int) []string {
	x := ratOf(v)
	z := new(big.Float).SetPrec(9000).SetRat(x)
	down := z.Text('e', n+400)
	mant, exp, _ := strings.Cut(down, "e")
	digits := strings.Replace(strings.TrimPrefix(mant, "-"), ".", "", 1)[:n]
	d, _ := new(big.Int).SetString(digits, 10)
	e, _ := strconv.Atoi(exp)
	sign := ""
	if v.Neg {
		sign = "-"
	}
	var all []string
	for range 2 {
		all = append(all, fmt.Sprintf("%s%de%d", sign, d, e-n+1))
		d.Add(d, big.NewInt(1))
	}
	return all
}

func ratOf(v num.Real) *big.Rat {
	x := new(big.Rat).SetInt(num.ToInt(v.Mag))
	if v.Neg {
		x.Neg(x)
	}
	s := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(v.Exp, -v.Exp))))
	if v.Exp < 0 {
		return x.Quo(x, s)
	}
	return x.Mul(x, s)
}

func TestDigits(t *testing.T) {
	const seed = 5
	r := testseed.Rand(t, seed, 0)
	for _, f := range formats {
		a := num.New(f, 1)
		pr := NewPrinter(f)
		for range 150 {
			randomNumber(r, a, 0, []int{3, 30, 300, 1000}[r.IntN(4)])
			v := a.Value(0, make([]uint64, num.MaxValueWords))
			if v.Class != num.Finite {
				continue
			}
			n := 1 + r.IntN([]int{5, 20, 200}[r.IntN(3)])
			got := string(pr.Append(nil, a, 0, Style(n)))
			z := new(big.Float).SetPrec(40000).SetRat(ratOf(v))
			want := z.Text('e', n-1) // exact operand, rounded to even
			g, _ := new(big.Rat).SetString(got)
			w, _ := new(big.Rat).SetString(want)
			if g == nil || g.Cmp(w) != 0 {
				t.Fatalf("%v: %s with %d digits written as %s, want %s", f, show(a, 0), n, got, want)
			}
			mant, _, _ := strings.Cut(strings.TrimLeft(strings.Replace(strings.TrimPrefix(got, "-"), ".", "", 1), "0"), "e")
			if len(mant) != n {
				t.Fatalf("%v: %s has not %d digits", f, got, n)
			}
		}
	}
}

func TestSpecials(t *testing.T) {
	for _, f := range formats {
		a := num.New(f, 1)
		p, w := NewParser(f), NewPrinter(f)
		for in, want := range map[string]string{
			"inf": "inf", "+Infinity": "inf", "-INF": "-inf", "NaN": "nan", "-nan": "nan",
			"0": "0", "-0": "-0", "-0.000e99": "-0", "0x0p5": "0", "-0x0.0": "-0",
			"1e999999999999": "inf", "-1e999999999999999999999999": "-inf", "1e-999999999999": "0",
			"-0x1p-9999999999999": "-0", "0x1p9999999999999": "inf", "1": "1", "-2": "-2", "1.5": "1.5",
			"0." + strings.Repeat("0", 200000) + "1e200001": "1",
			// Exponents beyond int64, and those whose tenfold is.
			"1e9223372036854775808": "inf", "-1e18446744073709551617": "-inf", "1e-99999999999999999999999": "0",
			"1e1152921504606846976": "inf", "-1e-1152921504606846977": "-0", "1e922337203685477581": "inf",
			"0x1p9223372036854775808": "inf", "-0x1p18446744073709551616": "-inf", "0x1p-99999999999999999999999": "0",
			"0x.0001p9223372036854775807": "inf", "0e99999999999999999999999": "0", "10e-00000000000000000000000001": "1",
			"0." + strings.Repeat("0", 5000) + "1e9223372036854775808": "inf",
			strings.Repeat("9", 5000) + "e-9223372036854775809":        "0",
			"1" + strings.Repeat("0", 200000) + "e-200000":             "1",
			".5": "0.5", "5.e-1": "0.5", "+3D0": "3",
		} {
			if _, err := p.Set(a, 0, []byte(in)); err != nil {
				t.Fatal(err)
			}
			if got := string(w.Append(nil, a, 0, Shortest)); got != want {
				t.Errorf("%v: %.40q read and written as %q, want %q", f, in, got, want)
			}
		}
	}
}

// TestLoss checks the losses that Set reports for numbers beyond the range of a format.
func TestLoss(t *testing.T) {
	for _, c := range []struct {
		f    num.Format
		toks string
		want Loss
	}{
		{num.Float32, "0 -0e-99 inf -inf nan 1 3.4028235e38 1e-45 8e-46 0x1p-149 0e9999999999999999999", Kept},
		{num.Float32, "3.5e38 -1e39 1e9999999999999999999 0x1p128", ToInf},
		{num.Float32, "7e-46 -1e-50 1e-9999999999999999999 0x1p-151", ToZero},
		{num.Float64, "inf 1.7976931348623158e308 3e-324 0x1p-1074 0", Kept},
		{num.Float64, "1.7976931348623159e308 -1e309 1e99999 0x1p1024", ToInf},
		{num.Float64, "2e-324 -1e-400 1e-99999 0x1p-1075", ToZero},
		{num.QDouble, "1e308 3e-324 -inf", Kept},
		{num.QDouble, "1e309 0x1p1024 -1e99999", ToInf},
		{num.QDouble, "2e-324 0x1p-1075 -1e-99999", ToZero},
		{mp(64), "1e400 1e-400 8e646456992 3e-646456994 0 -inf", Kept},
		{mp(64), "9e646456992 0x1p2147483647 -1e9999999999", ToInf},
		{mp(64), "1e-646456995 0x1p-2147483650 -1e-9999999999", ToZero},
	} {
		p, a := NewParser(c.f), num.New(c.f, 1)
		for _, tok := range strings.Fields(c.toks) {
			if got, err := p.Set(a, 0, []byte(tok)); err != nil || got != c.want {
				t.Errorf("%v: %s is read as %s with loss %d, %v, want %d", c.f, tok, show(a, 0), got, err, c.want)
			}
		}
	}
}

func TestSyntax(t *testing.T) {
	p, a := NewParser(num.Float64), num.New(num.Float64, 1)
	for _, s := range []string{
		"", "+", "-", ".", "e5", "1e", "1e+", "1.2.3", "--1", "1_000", "0x", "0x.p1", "0x1p", "1p3", "in", "infinit", "nanx",
		"1e5.", "0x1e+3", "1,5", "1+2i", "0b1", "1 2", "½", "\x00", "1e1e1", strings.Repeat("1", 100) + "x",
	} {
		if _, err := p.Set(a, 0, []byte(s)); err == nil {
			t.Errorf("%q is read as a number", s)
		}
	}
}

// TestLong reads numbers of thousands of digits, ties among them.
func TestLong(t *testing.T) {
	const seed = 7
	r := testseed.Rand(t, seed, 0)
	digits := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(byte('0' + r.IntN(10)))
		}
		return b.String()
	}
	for _, f := range formats {
		for _, s := range []string{
			digits(3000) + "." + digits(2000) + "e-3000",
			"0." + strings.Repeat("0", 3000) + digits(3000) + "e3000",
			"9007199254740993." + strings.Repeat("0", 5000) + "1",
			"9007199254740993." + strings.Repeat("0", 5000),
			"9007199254740992." + strings.Repeat("9", 5000),
			"16777217" + strings.Repeat("0", 5000) + "1e-5001",
			"1." + strings.Repeat("0", 3000) + "1",
			// The tie between 1 and its neighbour, times 10^853, and a little more: with
			// more than 800 digits before the point.
			"100000000000000011102230246251565404236316680908203125" + strings.Repeat("0", 800) + "1e-854",
			"000100000000000000011102230246251565404236316680908203125" + strings.Repeat("0", 800) + "1.e-854",
			"100000000000000011102230246251565404236316680908203125" + strings.Repeat("0", 748) + ".0001e-801",
			"100000000000000011102230246251565404236316680908203125" + strings.Repeat("0", 746) + "1.01e-800",
			"100000000000000011102230246251565404236316680908203125" + strings.Repeat("0", 745) + "1.01e-799",
			"100000005960464477539062500" + strings.Repeat("0", 800) + "1e-827",
			"0x1." + strings.Repeat("0", 3000) + "1p0",
		} {
			checkParse(t, f, s)
			checkParse(t, f, "-"+s)
		}
	}
}

// TestPaths compares the ways to read and to scale a number with each other: the enclosure by a few
// words, by as many words as needed, and exact integers.
func TestPaths(t *testing.T) {
	const seed = 8
	r := testseed.Rand(t, seed, 0)
	enclosed := 0
	for range 2000 {
		tok := randomToken(r)
		x, err := scan([]byte(tok))
		if err != nil {
			t.Fatal(err)
		}
		if x.class != num.Finite || x.hex {
			continue
		}
		for _, f := range []num.Format{num.Float32, num.Float64, num.TDouble, mp(2), mp(64), mp(200)} {
			p, a, want := NewParser(f), num.New(f, 1), num.New(f, 1)
			if p.setFar(a, 0, &x) {
				continue
			}
			want.Set(0, p.exact(&x))
			if p.setEnclosed(a, 0, &x) {
				enclosed++
				if !a.SameBits(0, want, 0) {
					t.Fatalf("%v: %q is %s by enclosure, %s exactly", f, tok, show(a, 0), show(want, 0))
				}
			}
			// A factor 5^500 that no other cancels, so that it is no tie.
			x := x
			x.exp = 500 + x.exp%100
			if f.Kind == num.MP && f.Prec < 900 {
				want.Set(0, p.exact(&x))
				a.Set(0, p.far(&x, integer(&x)))
				if !a.SameBits(0, want, 0) {
					t.Fatalf("%v: %q with exponent %d is %s by widening, %s exactly", f, tok, x.exp, show(a, 0), show(want, 0))
				}
			}
		}
	}
	if enclosed < 1000 {
		t.Errorf("only %d of the numbers are settled by enclosure", enclosed)
	}
	scaled := 0
	for range 2000 {
		f := mp([]uint32{2, 53, 64, 100, 192}[r.IntN(5)])
		a, p := num.New(f, 1), NewPrinter(f)
		randomNumber(r, a, 0, 200)
		if a.Cls[0].Class() != num.Finite {
			continue
		}
		v := p.intervalMP(a.Value(0, nil))
		for k := int64(-80); k <= 80; k += 13 {
			got, ok := p.scale(v, p.power(k, 1+r.IntN(5)))
			want, _ := scaleExactly(v, k)
			if !ok || want.below > 1<<60 || want.above > 1<<60 || num.ToInt(want.floor).BitLen() > 1000 {
				continue
			}
			scaled++
			if num.ToInt(got.floor).Cmp(num.ToInt(want.floor)) != 0 || got.fraction != want.fraction ||
				got.half != want.half || num.ToInt(want.floor).BitLen() < 60 && (got.below != want.below || got.above != want.above) {
				t.Fatalf("%s times 10^%d: %+v, want %+v", show(a, 0), k, got, want)
			}
		}
	}
	if scaled < 1000 {
		t.Errorf("only %d numbers are scaled by enclosure", scaled)
	}
}

// TestExtremes reads and writes MP numbers at the ends of the exponent range.
func TestExtremes(t *testing.T) {
	for _, p := range []uint32{2, 53, 64, 424, 4000} {
		f := mp(p)
		a, b := num.New(f, 1), num.New(f, 1)
		pa, pr := NewParser(f), NewPrinter(f)
		top := make([]uint64, f.Limbs())
		for k := range top {
			top[k] = math.MaxUint64
		}
		spare := uint(64*f.Limbs()) - uint(p)
		top[0] &^= 1<<spare - 1
		one := make([]uint64, f.Limbs())
		one[len(one)-1] = 1 << 63
		for _, mag := range [][]uint64{top, one} {
			for _, e := range []int64{math.MaxInt32, math.MinInt32, math.MaxInt32 - 1, math.MinInt32 + 1, 1 << 30, -1 << 30} {
				a.Set(0, num.Real{Class: num.Finite, Exp: e - int64(64*f.Limbs()), Mag: mag})
				for _, style := range []Style{Shortest, Hex, Style(HeldDigits(f))} {
					s := pr.Append(nil, a, 0, style)
					if _, err := pa.Set(b, 0, s); err != nil {
						t.Fatal(err)
					}
					if !a.SameBits(0, b, 0) && !(style > 0 && (e == math.MaxInt32 || e == math.MinInt32)) {
						t.Errorf("%v: %s written as %s, read back as %s", f, show(a, 0), s, show(b, 0))
					}
				}
			}
		}
	}
	// 2^(2^31-1) = 8.8...e646456992 is the first overflow, numbers up to
	// 2^-(2^31+2) = 1.4...e-646456994 become zero.
	a, p, w := num.New(mp(53), 1), NewParser(mp(53)), NewPrinter(mp(53))
	for in, want := range map[string]string{
		"8.7e646456992": "8.7e+646456992", "9e646456992": "inf", "1e646456994": "inf", "1e-646456996": "0",
		"1e600000000": "1e+600000000", "1e-600000000": "1e-600000000",
	} {
		if _, err := p.Set(a, 0, []byte(in)); err != nil {
			t.Fatal(err)
		}
		if got := string(w.Append(nil, a, 0, Shortest)); got != want {
			t.Errorf("%s read and written as %s, want %s", in, got, want)
		}
	}
}

func TestSum(t *testing.T) {
	const seed = 6
	r := testseed.Rand(t, seed, 0)
	for range 300 {
		var toks [][]byte
		want := new(big.Rat)
		for range 1 + r.IntN(5) {
			s := randomToken(r)
			toks = append(toks, []byte(s))
			x, _ := new(big.Rat).SetString(strings.Map(func(c rune) rune {
				if strings.ContainsRune("dDqQ", c) && !strings.Contains(s, "x") {
					return 'e'
				}
				return c
			}, s))
			want.Add(want, x)
		}
		got, err := Sum(toks)
		if err != nil {
			t.Fatal(err)
		}
		g, ok := new(big.Rat).SetString(string(got))
		if !ok || g.Cmp(want) != 0 {
			t.Fatalf("sum of %q is %s, want %v", toks, got, want)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"-0 -0.0", "-0"}, {"-0 0", "0"}, {"inf 1", "inf"}, {"inf -inf", "nan"}, {"-inf -inf", "-inf"}, {"nan inf", "nan"},
		{"9007199254740992 1", "9007199254740993"}, {"10 2000 -30.00", "1980"}, {"10 1e1", "2e1"}, {"5 -5", "0"},
	} {
		var toks [][]byte
		for _, s := range strings.Fields(c.in) {
			toks = append(toks, []byte(s))
		}
		if got, err := Sum(toks); err != nil || string(got) != c.want {
			t.Errorf("sum of %s is %s, %v", c.in, got, err)
		}
	}
	for _, c := range [][2]string{
		{"1e999999999", "1"},
		// Not zero: exponents as large are not kept.
		{"1e9223372036854775808", "-1e9223372036854775809"}, {"0x1p9223372036854775808", "-0x1p9223372036854775809"},
	} {
		if z, err := Sum([][]byte{[]byte(c[0]), []byte(c[1])}); !errors.Is(err, ErrSpread) {
			t.Errorf("%s + %s is %s, %v", c[0], c[1], z, err)
		}
	}
}

func TestExtent(t *testing.T) {
	for _, c := range []struct {
		in   string
		f    num.Format
		want string
	}{
		{"0.1 -2.5e10 3", num.Float64, "f64"},
		{"1.2345678901234567", num.Float64, "f64"},
		{"1.23456789012345678", num.Float64, "mp:125"},
		{"1.000000000000000000000000000", num.Float64, "f64"},
		{"000000000000000000000000000012", num.Float64, "f64"},
		{"1.23456789", num.Float32, "f32"},
		{"1.234567891", num.Float32, "mp:99"},
		// Integers are kept, whatever their digits.
		{"9007199254740992 -9007199254740994", num.Float64, "f64"}, {"9007199254740993", num.Float64, "mp:54"},
		{"-9007199254740993.", num.Float64, "mp:54"}, {"9007199254740993.00", num.Float64, "mp:54"}, {"0x20000000000001", num.Float64, "mp:54"},
		{"9.007199254740993e15", num.Float64, "mp:54"}, {"18014398509481990", num.Float64, "mp:54"}, {"1.801439850948199e16", num.Float64, "f64"},
		{"1152921504606846976 100000000000000000000000000000000000000000000", num.Float64, "mp:103"}, {"1152921504606846976", num.Float64, "f64"},
		{"1" + strings.Repeat("0", 22), num.Float64, "f64"}, {"1" + strings.Repeat("0", 23), num.Float64, "mp:54"}, {"1" + strings.Repeat("0", 309), num.Float64, "mp:718"},
		{"16777217", num.Float32, "mp:25"}, {"1" + strings.Repeat("0", 39), num.Float32, "mp:91"}, {"1025", mp(10), "mp:11"}, {"1025", num.DDouble, "dd"},
		{"9007199254740993 0.1", num.Float64, "mp:118"}, {"9007199254740993 0.1", num.DDouble, "dd"}, {"9007199254740993 0x1p-3", num.Float64, "mp:54"},
		{"1.5D+02 5.6-304 -1.25+300", num.Float64, "f64"}, {"5.6-324", num.Float64, "mp:117"},
		{"0x1.00000000000001", num.Float64, "mp:57"},
		{"0x1.0000000000001", num.Float64, "f64"},
		{"1e400", num.Float64, "mp:117"}, {"1e-330", num.DDouble, "mp:170"}, {"inf nan 0", num.Float64, "f64"},
		{"1e400", mp(20), "mp:20"},
		{"1.7976931348623157e308 4.9e-324", num.Float64, "f64"}, {"1.8e308", num.Float64, "mp:117"}, {"2e-324", num.Float64, "mp:117"},
		{"3.4028235e38 1.4e-45", num.Float32, "f32"}, {"3.5e38", num.Float32, "mp:88"}, {"1e-46", num.Float32, "mp:88"},
		{"0x1p-1074", num.Float64, "f64"}, {"0x1.8p-1074", num.Float64, "mp:53"}, {"0x1p1024", num.DDouble, "mp:106"},
		{"0x1p-149", num.Float32, "f32"}, {"0x1p-150", num.Float32, "mp:24"},
		{"1.2345678901234567890123456789e-300", num.DDouble, "mp:170"}, {"1.234e-320", num.DDouble, "dd"},
		// Decimals that stand for subnormal numbers, and those that do not.
		{"5e-324 1e-323 4.9406564584124654e-324 2.2250738585072009e-308", num.Float64, "f64"},
		{"3e-324", num.Float64, "mp:117"}, {"3e-324", num.QDouble, "mp:276"}, {"3e-324", num.Float32, "mp:88"},
		{"1.2345678901234567e-310", num.Float64, "mp:122"}, {"1.23456789012346e-310", num.Float64, "f64"},
		{"2.2250738585072014e-308 9.8765432109876543e-308", num.Float64, "f64"},
		{"1e-45 1.4e-45 1.40129846e-45 1.17549421e-38 1.17549435e-38", num.Float32, "f32"},
		{"9e-46", num.Float32, "mp:88"}, {"2e-45", num.Float32, "mp:88"}, {"1.2345e-41", num.Float32, "f32"}, {"1.23456789e-41", num.Float32, "mp:95"},
		{"1.5e-325", num.DDouble, "mp:170"}, {"1.2345678901234567890123456789e-297", num.DDouble, "mp:170"},
		{"1.2345678901234567890123456789e-295", num.DDouble, "dd"}, {"1.23456789012345678901234567890123e-292", num.DDouble, "mp:175"},
		{"1.23456789012345678901234567890123e-291", num.DDouble, "dd"}, {"1.23456789012345678901234567890123e-291", num.TDouble, "td"},
		{"1.234567890123456789012345678901234567890123456789e-277", num.TDouble, "mp:228"},
		{"0x1p-1075", num.QDouble, "mp:212"},
		// Hexadecimal numbers are exact and need no guard; MaxPrec may leave none.
		{"0x1.00000000000001 0x1p2000", num.Float64, "mp:57"},
		{"1." + strings.Repeat("3", 315640), num.Float64, "mp:1048576"},
	} {
		var e Extent
		for _, s := range strings.Fields(c.in) {
			var one Extent
			if err := one.Add([]byte(s), false); err != nil {
				t.Fatal(err)
			}
			e.Merge(one)
		}
		if got, ok := e.Choose(c.f); !ok || got.String() != c.want {
			t.Errorf("%.60s for %v: %v, want %s", c.in, c.f, got, c.want)
		}
	}
	if !IsZero([]byte("-0.0e5")) || IsZero([]byte("nan")) || IsZero([]byte("0x")) || IsZero([]byte("1")) {
		t.Error("IsZero")
	}
	for _, c := range []struct {
		tok     string
		p, want int
	}{
		{"1x", 53, 53}, {"-0x1.8p9", 53, 53}, {"0x1.000000000000001p9", 53, 61}, {"0.123", 53, 53}, {"0.12345678901234567", 53, 58},
		{"0.123456789012345678", 53, 125}, {"0.123", 5, 11}, {"0.1234", 5, 79}, {"9007199254740993", 53, 54},
	} {
		if got := Prec([]byte(c.tok), c.p); got != c.want {
			t.Errorf("%s for %d bits: %d, want %d", c.tok, c.p, got, c.want)
		}
	}
}

// TestIntegers reads integers into the format that is chosen for them, which holds them. It reads
// integers in the notations of other programs as their numbers of Float64.
func TestIntegers(t *testing.T) {
	const seed = 12
	r := rand.New(rand.NewPCG(seed, 0))
	for k := range 4000 {
		n := new(big.Int).Lsh(big.NewInt(r.Int64N(1<<uint(1+r.IntN(62)))), uint(r.IntN(90)*(k&1)))
		n.Add(n, big.NewInt(int64(r.IntN(3)-1)))
		tok := n.String() + []string{"", ".", ".000", "0", "e0"}[r.IntN(5)]
		want, _ := new(big.Rat).SetString(strings.TrimSuffix(tok, "."))
		f := []num.Format{num.Float32, num.Float64, num.DDouble, mp(10)}[r.IntN(4)]
		var e Extent
		if err := e.Add([]byte(tok), false); err != nil {
			t.Fatal(err)
		}
		g, _ := e.Choose(f)
		a := num.New(g, 1)
		if _, err := NewParser(g).Set(a, 0, []byte(tok)); err != nil {
			t.Fatal(err)
		}
		if got := ratOf(a.Value(0, make([]uint64, num.MaxValueWords))); got.Cmp(want) != 0 {
			t.Fatalf("%s for %v in %v is %v", tok, f, g, got)
		}
		x := math.Trunc(math.Ldexp(1+r.Float64(), r.IntN(70)))
		array := num.New(num.Float64, 1)
		array.F64[0][0] = x
		for _, tok := range []string{
			string(NewPrinter(num.Float64).Append(nil, array, 0, Shortest)), strconv.FormatFloat(x, 'e', -1, 64),
			strconv.FormatFloat(x, 'e', 16, 64), strconv.FormatFloat(x, 'f', 2, 64),
		} {
			var e Extent
			if err := e.Add([]byte(tok), false); err != nil {
				t.Fatal(err)
			}
			if g, _ := e.Choose(num.Float64); g != num.Float64 {
				t.Fatalf("%v written as %s is read as %v", x, tok, g)
			}
		}
	}
	for x, want := range map[float64]string{
		1 << 53: "9007199254740992", 1 << 60: "1.152921504606847e+18", 1e20: "100000000000000000000", -(1<<54 + 8): "-1.801439850948199e+16", 1e15: "1000000000000000",
	} {
		array := num.New(num.Float64, 1)
		array.F64[0][0] = x
		if got := string(NewPrinter(num.Float64).Append(nil, array, 0, Shortest)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestBareExponents reads exponents of three digits as Fortran writes them.
func TestBareExponents(t *testing.T) {
	for _, f := range formats {
		for tok, same := range map[string]string{
			"5.6-304": "5.6e-304", "-.25+300": "-.25e300", "1.-100": "1e-100", "1.5-002": "0.015", "1.5D+02": "150", "1.5Q-2": "0.015",
			"1.23456789012345678901234567890-101": "1.23456789012345678901234567890e-101",
		} {
			a, b := num.New(f, 1), num.New(f, 1)
			p := NewParser(f)
			if _, err := p.Set(a, 0, []byte(tok)); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Set(b, 0, []byte(same)); err != nil {
				t.Fatal(err)
			}
			if !a.SameBits(0, b, 0) {
				t.Errorf("%v: %s is %s, want %s", f, tok, show(a, 0), show(b, 0))
			}
		}
	}
	if z, err := Sum([][]byte{[]byte("2.5-100"), []byte("1.5-100")}); err != nil || string(z) != "40e-101" {
		t.Errorf("%s, %v", z, err)
	}
	// Dates, differences and the like are no numbers.
	for _, tok := range []string{"2026-11", "2026-304", "1.5-30", "1.5-3040", "1.5-", "1.5+30a", "1.5--30", "1.5-3.4", "-304", ".-304", "0x1.8-304"} {
		var e Extent
		if err := e.Add([]byte(tok), false); (err == nil) != (tok == "-304") {
			t.Errorf("%s: %v", tok, err)
		}
	}
}

func TestExactBits(t *testing.T) {
	for tok, want := range map[string]int{
		"-1": 1, "0.375": 2, "1e30": 70, "0": 0, "-0.0": 0, "9007199254740993": 54, "1.5D+1": 4, "2.5q-1": 1, "0x1.8p900": 2, "1.25+001": 5,
		"0.1": -1, "1e99999": -1, "inf": -1, "nan": -1, "x": -1, "1e-5": -1,
	} {
		n, ok := ExactBits([]byte(tok), 10000)
		if ok != (want >= 0) || ok && n != want {
			t.Errorf("%s: %d, %v, want %d", tok, n, ok, want)
		}
	}
}

// TestLostIn compares the decision whether a format lacks bits for a small decimal with
// its definition.
func TestLostIn(t *testing.T) {
	const seed = 10
	r := testseed.Rand(t, seed, 0)
	counts := map[bool]int{}
	for range 3000 {
		f := fixed[r.IntN(len(fixed))]
		_, _, lowest := rangeOf(f)
		digits := 1 + r.IntN(HeldDigits(f))
		least := int(float64(lowest) * log10Two)
		var b strings.Builder
		for range digits {
			b.WriteByte(byte('0' + r.IntN(10)))
		}
		tok := fmt.Sprintf("%se%d", &b, least-digits+r.IntN(f.Bits()/3+5)-3)
		if r.IntN(2) == 0 { // one that stands for a number of f
			a := num.New(f, 1)
			if _, err := NewParser(f).Set(a, 0, []byte(tok)); err != nil {
				t.Fatal(err)
			}
			tok = string(NewPrinter(f).Append(nil, a, 0, Style(1+r.IntN(HeldDigits(f)))))
		}
		x, err := scan([]byte(tok))
		if err != nil || x.class != num.Finite || x.n > HeldDigits(f) {
			continue
		}
		exact, _ := new(big.Rat).SetString(tok)
		a := oracle(t, f, tok)
		near := new(big.Rat)
		if v := a.Value(0, make([]uint64, num.MaxValueWords)); v.Class == num.Finite {
			near = ratOf(v)
		}
		unit, _ := new(big.Rat).SetString(fmt.Sprintf("1e%d", x.exp))
		normal := ratOf(num.Real{Exp: lowest + int64(f.Bits()) - 1, Mag: []uint64{1}})
		diff := near.Sub(near, exact)
		want := exact.Cmp(normal) < 0 && diff.Abs(diff).Cmp(unit.Quo(unit, big.NewRat(2, 1))) > 0
		if got := lostIn(f, []byte(tok), &x); got != want {
			t.Errorf("%s in %v: lost is %v, want %v", tok, f, got, want)
		}
		counts[want]++
	}
	if counts[false] < 500 || counts[true] < 500 {
		t.Errorf("%v are too few", counts)
	}
}

// TestChooseRounds reads decimals beside ties of Float64 into the format that is chosen for them
// and rounds them again: the result must equal one rounding.
func TestChooseRounds(t *testing.T) {
	const seed = 11
	r := testseed.Rand(t, seed, 0)
	check := func(tok string) {
		t.Helper()
		var e Extent
		if err := e.Add([]byte(tok), false); err != nil {
			t.Fatal(err)
		}
		if e.Digits < 18 { // zeros at the end
			return
		}
		g, ok := e.Choose(num.Float64)
		if !ok || g.Kind != num.MP {
			t.Fatalf("%s is read as %v", tok, g)
		}
		a, z := num.New(g, 1), num.New(num.Float64, 1)
		if _, err := NewParser(g).Set(a, 0, []byte(tok)); err != nil {
			t.Fatal(err)
		}
		z.Convert(0, a, 0)
		if want := oracle(t, num.Float64, tok); !z.SameBits(0, want, 0) {
			t.Errorf("%s by way of %v is %s, want %s", tok, g, show(z, 0), show(want, 0))
		}
	}
	check("3.290859134364244761e+6")
	for range 2000 {
		x := math.Ldexp(1+r.Float64(), r.IntN(80)-40)
		tie := new(big.Float).SetPrec(60).SetFloat64(x)
		tie.Add(tie, new(big.Float).SetFloat64((math.Nextafter(x, 1e300)-x)/2))
		check(tie.Text('e', 17+r.IntN(9)))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "-0.1e-5", "0x1.8p+3", "inf", "nan", "1e99999999999999999999", "0." + strings.Repeat("0", 50) + "7d4", "9007199254740993", "1e600000000", "0x1p18446744073709551616", "3e-324",
		"5.6-304", "-1.5D+02", "2026-11", "18014398509481990", "1152921504606847000.0",
		"100000000000000011102230246251565404236316680908203125" + strings.Repeat("0", 800) + "1e-854"} {
		f.Add([]byte(s))
	}
	fs := []num.Format{num.Float32, num.Float64, num.DDouble, num.QDouble, mp(2), mp(64), mp(424)}
	f.Fuzz(func(t *testing.T, tok []byte) {
		if len(tok) > 2000 {
			return
		}
		for _, g := range fs {
			a, b := num.New(g, 1), num.New(g, 1)
			p := NewParser(g)
			if _, err := p.Set(a, 0, tok); err != nil {
				var e Extent
				if e.Add(tok, false) == nil {
					t.Fatalf("%q is no number but has an extent", tok)
				}
				continue
			}
			for _, style := range []Style{Shortest, Hex} {
				s := NewPrinter(g).Append(nil, a, 0, style)
				if _, err := p.Set(b, 0, s); err != nil {
					t.Fatalf("%v: %q written as %q: %v", g, tok, s, err)
				}
				if string(s) != "nan" && !a.SameBits(0, b, 0) {
					t.Fatalf("%v: %q written as %q", g, tok, s)
				}
			}
			x, err := strconv.ParseFloat(string(tok), 64)
			if err != nil || g != num.Float64 || x != x || math.Float64bits(x) == math.Float64bits(a.F64[0][0]) {
				continue
			}
			// strconv is wrong where many digits stand before the point.
			if s, err := scan(tok); err == nil && (s.hex || int64(s.n)+s.exp-s.field <= maxFloatInteger) {
				t.Fatalf("%q read as %v, want %v", tok, a.F64[0][0], x)
			}
		}
	})
}

func benchArray(f num.Format, n int) *num.Array {
	r := rand.New(rand.NewPCG(9, 0))
	a := num.New(f, n)
	mag := make([]uint64, 32)
	for i := range n {
		for k := range mag {
			mag[k] = r.Uint64()
		}
		a.Set(i, num.Real{Class: num.Finite, Mag: mag, Exp: -2048})
	}
	return a
}

func BenchmarkParse(b *testing.B) {
	for _, f := range []num.Format{num.Float64, num.DDouble, num.QDouble, mp(53), mp(106), mp(424), mp(1696)} {
		b.Run(f.String(), func(b *testing.B) {
			a := benchArray(f, 1000)
			w, p := NewPrinter(f), NewParser(f)
			var toks [][]byte
			for i := range 1000 {
				toks = append(toks, w.Append(nil, a, i, Shortest))
			}
			b.ReportAllocs()
			for i := range b.N {
				if _, err := p.Set(a, i%1000, toks[i%1000]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkShortest(b *testing.B) {
	for _, f := range []num.Format{num.Float64, num.DDouble, num.QDouble, mp(53), mp(106), mp(424), mp(1696)} {
		b.Run(f.String(), func(b *testing.B) {
			a := benchArray(f, 1000)
			w := NewPrinter(f)
			var dst []byte
			b.ReportAllocs()
			for i := range b.N {
				dst = w.Append(dst[:0], a, i%1000, Shortest)
			}
		})
	}
}
