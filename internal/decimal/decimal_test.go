package decimal

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
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
		a.Set(0, num.Real{Class: num.Finite, Neg: neg, Exp: int64(e) - int64(f.Prec), Mag: wordsOf(n.Abs(n))})
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
	if err := NewParser(f).Set(got, 0, []byte(tok)); err != nil {
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
	r := rand.New(rand.NewPCG(seed, 0))
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
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range formats {
		a := num.New(f, 1)
		for range 20 {
			randomNumber(r, a, 0, 200)
			v := a.Value(0, make([]uint64, num.MaxValueWords))
			if v.Class != num.Finite {
				continue
			}
			// Half an ulp of the last bit that is stored, on either side.
			x := new(big.Rat).SetInt(toBig(v.Mag))
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
	r := rand.New(rand.NewPCG(seed, 0))
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
				if err := pa.Set(b, 0, s); err != nil {
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
	r := rand.New(rand.NewPCG(seed, 0))
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
				if err := pa.Set(b, 0, []byte(z)); err != nil {
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
	x := new(big.Rat).SetInt(toBig(v.Mag))
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
	r := rand.New(rand.NewPCG(seed, 0))
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
			"1" + strings.Repeat("0", 200000) + "e-200000":  "1",
			".5": "0.5", "5.e-1": "0.5", "+3D0": "3",
		} {
			if err := p.Set(a, 0, []byte(in)); err != nil {
				t.Fatal(err)
			}
			if got := string(w.Append(nil, a, 0, Shortest)); got != want {
				t.Errorf("%v: %.40q read and written as %q, want %q", f, in, got, want)
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
		if err := p.Set(a, 0, []byte(s)); err == nil {
			t.Errorf("%q is read as a number", s)
		}
	}
}

// TestLong reads numbers of thousands of digits, ties among them.
func TestLong(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
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
			"0x1." + strings.Repeat("0", 3000) + "1p0",
		} {
			checkParse(t, f, s)
			checkParse(t, f, "-"+s)
		}
	}
}

// TestPaths compares the ways to read and to scale a number with each other: the
// enclosure by a few words, by as many words as it takes, and exact integers.
func TestPaths(t *testing.T) {
	const seed = 8
	r := rand.New(rand.NewPCG(seed, 0))
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
			if !ok || want.below > 1<<60 || want.above > 1<<60 || toBig(want.floor).BitLen() > 1000 {
				continue
			}
			scaled++
			if toBig(got.floor).Cmp(toBig(want.floor)) != 0 || got.fraction != want.fraction ||
				got.half != want.half || toBig(want.floor).BitLen() < 60 && (got.below != want.below || got.above != want.above) {
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
					if err := pa.Set(b, 0, s); err != nil {
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
		if err := p.Set(a, 0, []byte(in)); err != nil {
			t.Fatal(err)
		}
		if got := string(w.Append(nil, a, 0, Shortest)); got != want {
			t.Errorf("%s read and written as %s, want %s", in, got, want)
		}
	}
}

func TestSum(t *testing.T) {
	const seed = 6
	r := rand.New(rand.NewPCG(seed, 0))
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
	} {
		var toks [][]byte
		for _, s := range strings.Fields(c.in) {
			toks = append(toks, []byte(s))
		}
		if got, err := Sum(toks); err != nil || string(got) != c.want {
			t.Errorf("sum of %s is %s, %v", c.in, got, err)
		}
	}
	if _, err := Sum([][]byte{[]byte("1e999999999"), []byte("1")}); err == nil {
		t.Error("1e999999999 + 1 is no error")
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
		{"1.23456789012345678", num.Float64, "mp:61"},
		{"1.000000000000000000000000000", num.Float64, "f64"},
		{"000000000000000000000000000012", num.Float64, "f64"},
		{"123456789", num.Float32, "f32"},
		{"1234567891", num.Float32, "mp:35"},
		{"0x1.00000000000001", num.Float64, "mp:57"},
		{"0x1.0000000000001", num.Float64, "f64"},
		{"1e400", num.Float64, "mp:53"}, {"1e-330", num.DDouble, "mp:106"}, {"inf nan 0", num.Float64, "f64"},
		{"1e400", mp(20), "mp:20"},
		{"1.7976931348623157e308 4.9e-324", num.Float64, "f64"}, {"1.8e308", num.Float64, "mp:53"}, {"2e-324", num.Float64, "mp:53"},
		{"3.4028235e38 1.4e-45", num.Float32, "f32"}, {"3.5e38", num.Float32, "mp:24"}, {"1e-46", num.Float32, "mp:24"},
		{"0x1p-1074", num.Float64, "f64"}, {"0x1.8p-1074", num.Float64, "mp:53"}, {"0x1p1024", num.DDouble, "mp:106"},
		{"0x1p-149", num.Float32, "f32"}, {"0x1p-150", num.Float32, "mp:24"},
		{"1.2345678901234567890123456789e-300", num.DDouble, "mp:106"}, {"1.234e-320", num.DDouble, "dd"},
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
			t.Errorf("%s for %v: %v, want %s", c.in, c.f, got, c.want)
		}
	}
	if !IsZero([]byte("-0.0e5")) || IsZero([]byte("nan")) || IsZero([]byte("0x")) || IsZero([]byte("1")) {
		t.Error("IsZero")
	}
	if Prec([]byte("1x")) != 0 || Prec([]byte("-0x1.8p9")) != 2 || Prec([]byte("0.123")) != 11 {
		t.Error("Prec")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "-0.1e-5", "0x1.8p+3", "inf", "nan", "1e99999999999999999999", "0." + strings.Repeat("0", 50) + "7d4", "9007199254740993", "1e600000000"} {
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
			if err := p.Set(a, 0, tok); err != nil {
				var e Extent
				if e.Add(tok, false) == nil {
					t.Fatalf("%q is no number but has an extent", tok)
				}
				continue
			}
			for _, style := range []Style{Shortest, Hex} {
				s := NewPrinter(g).Append(nil, a, 0, style)
				if err := p.Set(b, 0, s); err != nil {
					t.Fatalf("%v: %q written as %q: %v", g, tok, s, err)
				}
				if string(s) != "nan" && !a.SameBits(0, b, 0) {
					t.Fatalf("%v: %q written as %q", g, tok, s)
				}
			}
			if x, err := strconv.ParseFloat(string(tok), 64); err == nil && g == num.Float64 && x == x && math.Float64bits(x) != math.Float64bits(a.F64[0][0]) {
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
				if p.Set(a, i%1000, toks[i%1000]) != nil {
					b.Fatal()
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
