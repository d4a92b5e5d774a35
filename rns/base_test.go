package rns

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// testBases are bases of 2 to 128 moduli, narrow, wide and uneven ones.
func testBases(t testing.TB) []*Base {
	var bases []*Base
	add := func(b *Base, err error) {
		if err != nil {
			t.Fatal(err)
		}
		bases = append(bases, b)
	}
	add(NewBase([]uint32{257, 263}))
	add(NewBase([]uint32{1 << 16, 3, 5, 7}))           // even, a power of two
	add(NewBase([]uint32{3 << 20, 1<<31 - 1, 65537}))  // even
	add(NewBase([]uint32{1<<31 - 1, 1<<31 - 19}))      // as wide as can be
	add(NewBase([]uint32{131071}))                     // one
	add(NewBase([]uint32{3, 5, 7, 11, 13, 17, 19, 2})) // as narrow as can be
	for _, p := range SummationPrecisions[:4] {
		add(SummationBase(p))
	}
	for _, p := range GemvPrecisions {
		add(GemvBase(p))
	}
	add(BaseFor(500, 31))
	return bases
}

func (b *Base) testName() string { return fmt.Sprintf("%d_moduli_p%d", b.n, b.prec) }

// adversaries are integers of [0, M): ends, powers of two and their neighbours,
// neighbours of √M and of fractions of M, and random ones of random lengths.
func adversaries(b *Base, r *rand.Rand, random int) []*big.Int {
	var xs []*big.Int
	add := func(x *big.Int) {
		for d := int64(-2); d <= 2; d++ {
			if y := new(big.Int).Add(x, big.NewInt(d)); y.Sign() >= 0 && y.Cmp(b.bigM) < 0 {
				xs = append(xs, y)
			}
		}
	}
	add(new(big.Int))
	add(b.bigM)
	add(new(big.Int).Sqrt(b.bigM))
	for _, d := range []int64{2, 3, 4, 16} {
		add(new(big.Int).Quo(b.bigM, big.NewInt(d)))
	}
	for k := 1; k < b.bigM.BitLen(); k += 1 + b.bigM.BitLen()/20 {
		add(new(big.Int).Lsh(big.NewInt(1), uint(k)))
		add(new(big.Int).Rsh(b.bigM, uint(k)))
		x := new(big.Int).Rsh(b.bigM, uint(k))
		add(x.Sub(b.bigM, x)) // close to M
	}
	for i := range b.n {
		if i%(1+b.n/8) == 0 {
			add(b.cofactor[i])
		}
	}
	for range random {
		xs = append(xs, randomInt(r, 1+r.IntN(b.bigM.BitLen()-1)))
	}
	return xs
}

// randomInt returns an integer of at most bits bits, often with long runs of equal bits.
func randomInt(r *rand.Rand, bits int) *big.Int {
	x := new(big.Int)
	for n := 0; n < bits; {
		run := min(bits-n, 1+r.IntN(64))
		x.Lsh(x, uint(run))
		v := r.Uint64()
		switch r.IntN(6) {
		case 0:
			v = 0
		case 1:
			v = 1<<64 - 1
		}
		x.Or(x, new(big.Int).SetUint64(v>>(64-run)))
		n += run
	}
	return x
}

func newRand(t testing.TB, seed uint64) *rand.Rand {
	t.Helper()
	return testseed.Rand(t, seed, 0)
}

func TestNewBaseErrors(t *testing.T) {
	for _, m := range [][]uint32{nil, {0, 70001}, {1, 70001}, {1 << 31, 3}, {65537, 65537}, {6, 9, 70001}, {255, 256}, make([]uint32, MaxModuli+1)} {
		if b, err := NewBase(m); !errors.Is(err, ErrModuli) || b != nil {
			t.Errorf("NewBase(%v): %v, %v", m, b, err)
		}
	}
	if _, err := NewBase([]uint32{257, 256}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ p, n int }{{0, 1}, {30, 0}, {30, 2}, {30, MaxModuli + 1}, {100, 2}} {
		if _, err := NewBasePrecision(c.p, c.n); c != struct{ p, n int }{30, 2} && !errors.Is(err, ErrNoBase) {
			t.Errorf("NewBasePrecision(%d, %d): %v", c.p, c.n, err)
		}
	}
	for _, c := range []struct{ p, width int }{{0, 16}, {30, 7}, {30, 32}, {1 << 14, 31}} {
		if _, err := BaseFor(c.p, c.width); !errors.Is(err, ErrNoBase) {
			t.Errorf("BaseFor(%d, %d): %v", c.p, c.width, err)
		}
	}
	if _, err := GemvBase(107); !errors.Is(err, ErrNoBase) {
		t.Error(err)
	}
}

func TestGeneration(t *testing.T) {
	for _, c := range []struct {
		f          func(int) (*Base, error)
		precisions []int
		n, lo, hi  int
	}{{SummationBase, SummationPrecisions, 4, 15, 16}, {GemvBase, GemvPrecisions, 8, 26, 28}} {
		for i, p := range c.precisions {
			b, err := c.f(p)
			if err != nil {
				t.Fatal(err)
			}
			if b.Len() != c.n<<i || b.Precision() != p || b.width() < c.lo || b.width() > c.hi {
				t.Errorf("precision %d: %d moduli of %d bits, precision %d", p, b.Len(), b.width(), b.Precision())
			}
		}
	}
	for p := 8; p < 1000; p += 83 {
		for _, width := range []int{12, 16, 24, 31} {
			b, err := BaseFor(p, width)
			if err != nil {
				if p < 600 || width > 16 {
					t.Errorf("BaseFor(%d, %d): %v", p, width, err)
				}
				continue
			}
			if b.width() > width || b.Precision() < p {
				t.Errorf("BaseFor(%d, %d): %d moduli of %d bits, precision %d", p, width, b.Len(), b.width(), b.Precision())
			}
			if b.Range().BitLen() > (2*p+2)*21/20+3*width {
				t.Errorf("BaseFor(%d, %d): %d bits", p, width, b.Range().BitLen())
			}
		}
	}
}

func TestModulus(t *testing.T) {
	r := newRand(t, 1)
	for range testlength.Trials(20000) {
		m := 1 + r.Uint64()>>(33+r.IntN(31))
		p := newModulus(m)
		z := r.Uint64() >> r.IntN(64)
		for _, z := range []uint64{z, ^z, z / m * m, z/m*m - 1} {
			if got := p.reduce(z); got != z%m {
				t.Fatalf("%d mod %d = %d", z, m, got)
			}
		}
		a := r.Uint64() >> r.IntN(64)
		inv := p.inverse(a)
		if gcd(uint32(a%m), uint32(m)) != 1 {
			if inv != 0 {
				t.Fatalf("inverse of %d mod %d = %d", a, m, inv)
			}
		} else if p.mul(inv, a%m) != 1%m {
			t.Fatalf("inverse of %d mod %d = %d", a, m, inv)
		}
	}
}

func TestConversions(t *testing.T) {
	for _, b := range testBases(t) {
		t.Run(b.testName(), func(t *testing.T) {
			r := newRand(t, 2)
			var last []uint32
			lastX := new(big.Int)
			for _, x := range adversaries(b, r, 50) {
				res := b.Residues(x)
				for i, m := range b.Moduli() {
					if want := new(big.Int).Mod(x, big.NewInt(int64(m))); want.Uint64() != uint64(res[i]) {
						t.Fatalf("%v mod %d = %d", x, m, res[i])
					}
				}
				if got := b.CRT(res); got.Cmp(x) != 0 {
					t.Fatalf("CRT: %v, want %v", got, x)
				}
				d := b.MixedRadix(res)
				radix, sum := big.NewInt(1), new(big.Int)
				for i, m := range b.m {
					if d[i] >= m {
						t.Fatalf("digit %d of %v: %d", i, x, d[i])
					}
					sum.Add(sum, new(big.Int).Mul(radix, big.NewInt(int64(d[i]))))
					radix.Mul(radix, big.NewInt(int64(m)))
				}
				if sum.Cmp(x) != 0 {
					t.Fatalf("mixed radix digits %v of %v", d, x)
				}
				for i, v := range b.FromMixedRadix(d) {
					if v != res[i] {
						t.Fatalf("FromMixedRadix(%v) = %v", d, v)
					}
				}
				if last != nil {
					if got := b.Compare(res, last); got != x.Cmp(lastX) {
						t.Fatalf("compare %v with %v: %d", x, lastX, got)
					}
					if b.Compare(res, res) != 0 {
						t.Fatalf("%v is not itself", x)
					}
				}
				last, lastX = res, x
			}
		})
	}
}

// rankOf is the definition of the rank.
func rankOf(b *Base, x *big.Int) int {
	sum := new(big.Int)
	for i, m := range b.m {
		bm := big.NewInt(int64(m))
		w := new(big.Int).ModInverse(new(big.Int).Mod(b.cofactor[i], bm), bm)
		y := w.Mul(w, x)
		sum.Add(sum, y.Mod(y, bm).Mul(y, b.cofactor[i]))
	}
	return int(sum.Sub(sum, x).Quo(sum, b.bigM).Int64())
}

func TestEvaluate(t *testing.T) {
	for _, b := range testBases(t) {
		t.Run(b.testName(), func(t *testing.T) {
			r := newRand(t, 3)
			for _, x := range adversaries(b, r, 100) {
				res := b.Residues(x)
				if got, want := b.Rank(res), rankOf(b, x); got != want {
					t.Fatalf("rank of %v: %d, want %d", x, got, want)
				}
				v := b.Evaluate(res)
				ratio := new(big.Rat).SetFrac(x, b.bigM)
				lo, _ := v.Lo.Big().Rat(nil)
				up, _ := v.Up.Big().Rat(nil)
				if ratio.Cmp(lo) < 0 || ratio.Cmp(up) > 0 || v.Up.Cmp(XFloat{1, 0}) > 0 {
					t.Fatalf("evaluation %v of %v / %v", v, x, b.bigM)
				}
				width := new(big.Rat).Sub(up, lo)
				if width.Cmp(lo.Mul(lo, big.NewRat(1, 1<<39))) > 0 {
					t.Fatalf("evaluation %v of %v / %v is too wide", v, x, b.bigM)
				}
				if f, err := v.Lo.Big(), v.Lo.F; x.Sign() > 0 && (err < 1 || f.Sign() <= 0) {
					t.Fatalf("lower bound %v of %v", v.Lo, x)
				}
				if !v.Contains(new(big.Float).SetPrec(8000).Quo(new(big.Float).SetInt(x), new(big.Float).SetInt(b.bigM))) {
					t.Fatalf("%v does not contain %v / %v", v, x, b.bigM)
				}
			}
		})
	}
}

func TestScaleDown(t *testing.T) {
	for _, b := range testBases(t) {
		t.Run(b.testName(), func(t *testing.T) {
			r := newRand(t, 4)
			one := big.NewInt(1)
			for _, x := range adversaries(b, r, 50) {
				res := b.Residues(x)
				for _, k := range []int{0, 1, r.IntN(b.bigM.BitLen() + 3), b.wordBits * r.IntN(b.rows()), max(x.BitLen(), 1), x.BitLen() + 1} {
					want := new(big.Int).Lsh(x, 1)
					want.Rsh(want, uint(k)).Add(want, one).Rsh(want, 1)
					if got := b.CRT(b.ScaleDown(res, k)); got.Cmp(want) != 0 {
						t.Fatalf("%v / 2^%d = %v, want %v", x, k, got, want)
					}
				}
			}
		})
	}
}

func TestSign(t *testing.T) {
	for _, b := range testBases(t) {
		t.Run(b.testName(), func(t *testing.T) {
			r, w := newRand(t, 5), b.newScratch()
			for _, x := range adversaries(b, r, 50) {
				if x.Sign() == 0 || x.BitLen() > b.bigM.BitLen()-4 {
					continue
				}
				res := b.Residues(x)
				up := roundBig(new(big.Float).Quo(new(big.Float).SetInt(x), new(big.Float).SetInt(b.bigM)), true)
				for _, u := range []XFloat{up.AddUp(b.iUp), {1, -4}} {
					neg := make([]uint32, b.n)
					b.negMod(neg, res)
					if b.sign(res, u, w) != 1 || b.sign(neg, u, w) != -1 {
						t.Fatalf("sign of ±%v with the bound %v: %d, %d", x, u, b.sign(res, u, w), b.sign(neg, u, w))
					}
					b.negMod(neg, neg)
					for i := range neg {
						if neg[i] != res[i] {
							t.Fatalf("-(-%v)", x)
						}
					}
				}
			}
		})
	}
}

// The longest bases, whose sums come closest to 64 bits.
func TestLongBases(t *testing.T) {
	if testing.Short() {
		t.Skip("3 s")
	}
	for _, p := range []int{15000, 15700} {
		b, err := NewBasePrecision(p, MaxModuli)
		if err != nil {
			t.Fatal(err)
		}
		if rows, top := b.rows(), b.width()+b.wordBits; bits.Len(uint(b.n-1))+top > 63 || new(big.Int).Lsh(big.NewInt(int64(rows)), uint(top)).BitLen() > 64 {
			t.Fatalf("precision %d: %d rows, words of %d bits", p, rows, b.wordBits)
		}
		// All residues and all words as large as can be.
		x, y := make([]uint32, b.n), make([]uint32, b.n)
		for i, m := range b.m {
			y[i] = m - 1 // numerators
			x[i] = uint32(b.modulus(i).mul(uint64(m-1), uint64(b.cofactorModulo(i))))
		}
		v := b.CRT(x)
		for _, k := range []int{1, 31, b.prec, b.bigM.BitLen() - 1} {
			want := new(big.Int).Rsh(new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), uint(k-1))), uint(k))
			if got := b.CRT(b.ScaleDown(x, k)); got.Cmp(want) != 0 {
				t.Errorf("precision %d: scaling by 2^-%d", p, k)
			}
		}
		words := make([]uint32, b.rows())
		sum := new(big.Int)
		for i := len(words) - 1; i >= 0; i-- {
			words[i] = 1<<b.wordBits - 1
			sum.Lsh(sum, uint(b.wordBits)).Add(sum, big.NewInt(int64(words[i])))
		}
		b.setWords(y, words)
		for i, m := range b.m {
			if want := new(big.Int).Mod(sum, big.NewInt(int64(m))); want.Uint64() != uint64(y[i]) {
				t.Fatalf("precision %d: residue %d of the largest words", p, i)
			}
		}
		if e := b.Evaluate(x); !e.Contains(new(big.Float).SetPrec(40000).Quo(new(big.Float).SetInt(v), new(big.Float).SetInt(b.bigM))) {
			t.Errorf("precision %d: evaluation %v", p, e)
		}
		z := b.NewNumber().SetInt64(3)
		if z.Quo(b.NewNumber().SetInt64(1), z); z.Mul(z, b.NewNumber().SetInt64(3)).Float64() != 1 {
			t.Errorf("precision %d: 3 (1/3) = %v", p, z)
		}
	}
}

// cofactorModulo returns M/m_i mod m_i.
func (b *Base) cofactorModulo(i int) uint32 {
	return uint32(new(big.Int).Mod(b.cofactor[i], big.NewInt(int64(b.m[i]))).Uint64())
}
