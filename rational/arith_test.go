package rational_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"sync"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/rational"
)

// power returns (1 + n/d) 2^e.
func power(n, d, e int64) *big.Rat {
	x := new(big.Rat).Add(big.NewRat(1, 1), big.NewRat(n, d))
	two := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e))))
	if e < 0 {
		two.Inv(two)
	}
	return x.Mul(x, two)
}

// TestRound compares Round with the roundings of math/big, at and beside ties, and at the ends of
// the range.
func TestRound(t *testing.T) {
	r := testseed.Rand(t, 36, 3)
	var xs []*big.Rat
	for _, e := range []int64{0, -1, 100, -126, -127, -149, -150, -1022, -1023, -1074, -1075, -1076, 127, 128, 1023, 1024} {
		for _, bit := range []int64{24, 25, 53, 54} {
			for _, n := range []int64{0, 1, 3, 1<<bit - 1, 1<<bit - 2} {
				x := power(n, 1<<bit, e)
				tiny := new(big.Rat).Mul(x, power(0, 1, -300))
				xs = append(xs, x, new(big.Rat).Add(x, tiny), new(big.Rat).Sub(x, tiny), new(big.Rat).Neg(x))
			}
		}
	}
	for range 200 {
		x := new(big.Rat).SetFrac(randomInt(r, 300), new(big.Int).Add(new(big.Int).Abs(randomInt(r, 300)), big.NewInt(1)))
		xs = append(xs, x)
	}
	m := rational.FromRats([][]*big.Rat{xs}).T() // a row has one denominator
	for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.MP(2), halfulp.MP(53), halfulp.MP(200)} {
		z, err := m.Round(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range xs {
			switch f {
			case halfulp.Float32:
				if want, _ := x.Float32(); float32(z.Float64(i, 0)) != want {
					t.Fatalf("%v in %v: %v, want %v", x, f, z.Float64(i, 0), want)
				}
			case halfulp.Float64:
				if want, _ := x.Float64(); z.Float64(i, 0) != want {
					t.Fatalf("%v in %v: %v, want %v", x, f, z.Float64(i, 0), want)
				}
			default:
				want := new(big.Float).SetPrec(uint(f.Bits())).SetRat(x)
				if got := z.Big(i, 0); got.Cmp(want) != 0 {
					t.Fatalf("%v in %v: %v, want %v", x, f, got, want)
				}
			}
		}
	}
	// Sums of doubles: what they hold is exact.
	x := new(big.Rat).Add(power(0, 1, 60), power(1, 1<<52, -50))
	for _, f := range []halfulp.Format{halfulp.DD, halfulp.TD, halfulp.QD} {
		z, err := rational.FromRats([][]*big.Rat{{x}}).Round(f)
		if err != nil {
			t.Fatal(err)
		}
		back, err := rational.FromMatrix(z)
		if err != nil || back.At(0, 0).Cmp(x) != 0 {
			t.Fatalf("%v: %v, want %v", f, back, x)
		}
	}
}

func TestFromMatrix(t *testing.T) {
	for _, bad := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		a := halfulp.NewMatrix(halfulp.Float64, 2, 2)
		a.SetFloat64(1, 0, bad)
		if _, err := rational.FromMatrix(a); !errors.Is(err, rational.ErrNotFinite) {
			t.Fatalf("%v: %v", bad, err)
		}
	}
	a := halfulp.NewMatrix(halfulp.Float64, 1, 3)
	want := []float64{math.SmallestNonzeroFloat64, -math.MaxFloat64, math.Copysign(0, -1)}
	for j, x := range want {
		a.SetFloat64(0, j, x)
	}
	m, err := rational.FromMatrix(a)
	if err != nil {
		t.Fatal(err)
	}
	for j, x := range want {
		if m.At(0, j).Cmp(new(big.Rat).SetFloat64(x)) != 0 {
			t.Fatalf("%v: %v", x, m.At(0, j))
		}
	}
}

func TestScale(t *testing.T) {
	r := testseed.Rand(t, 36, 4)
	for range 50 {
		m, n := r.IntN(5), r.IntN(5)
		a, name := adversary(r, m, n)
		for _, alpha := range []*big.Rat{new(big.Rat), big.NewRat(-6, 35), big.NewRat(101, 1), new(big.Rat).SetInt(randomInt(r, 200))} {
			want := zeros(m, n)
			for i := range a {
				for j := range a[i] {
					want[i][j].Mul(alpha, a[i][j])
				}
			}
			same(t, "Scale of "+name, rational.Scale(alpha, of(a, m, n)), want, m, n)
		}
	}
}

// TestStorage changes results and arguments: no matrix shares what it shows with another one.
func TestStorage(t *testing.T) {
	a := rational.FromInt64([][]int64{{1, 2}, {3, 4}})
	x, alpha := big.NewRat(1, 3), big.NewRat(1, 1)
	copies := []*rational.Matrix{a.Clone(), a.T().T(), rational.Scale(alpha, a), rational.Add(a, rational.New(2, 2))}
	a.Set(0, 0, x)
	x.SetInt64(7)
	a.At(0, 0).SetInt64(9)
	a.At(1, 1).Num().SetInt64(9)
	if got := a.At(0, 0); got.Cmp(big.NewRat(1, 3)) != 0 || a.At(0, 1).Cmp(big.NewRat(2, 1)) != 0 || a.At(1, 1).Cmp(big.NewRat(4, 1)) != 0 {
		t.Fatalf("Set and At:\n%v", a)
	}
	for _, c := range copies {
		if !c.Equal(rational.FromInt64([][]int64{{1, 2}, {3, 4}})) {
			t.Fatalf("a copy changed:\n%v", c)
		}
	}
	a.Set(0, 0, big.NewRat(1, 1)) // the denominator of the row is 1 again
	if !a.IsInteger() || !a.Equal(copies[0]) {
		t.Fatalf("Set back:\n%v", a)
	}
	unit := rational.Identity(2)
	unit.At(0, 0).Num().SetInt64(5)
	c, err := rational.CharPoly(unit, nil)
	if err != nil {
		t.Fatal(err)
	}
	c[2].Num().SetInt64(5)
	if !rational.Identity(2).Equal(unit) || unit.At(0, 0).RatString() != "1" {
		t.Fatal("the unit matrix changed")
	}
}

// routines calls the routines that take options for a regular matrix of order n.
func routines(a *rational.Matrix) map[string]func(opt *halfulp.Options) error {
	return map[string]func(opt *halfulp.Options) error{
		"Mul":       func(opt *halfulp.Options) error { _, err := rational.Mul(a, a, opt); return err },
		"Solve":     func(opt *halfulp.Options) error { _, err := rational.Solve(a, a, opt); return err },
		"SolveAll":  func(opt *halfulp.Options) error { _, _, err := rational.SolveAll(a, a, opt); return err },
		"Inverse":   func(opt *halfulp.Options) error { _, err := rational.Inverse(a, opt); return err },
		"Det":       func(opt *halfulp.Options) error { _, err := rational.Det(a, opt); return err },
		"Rank":      func(opt *halfulp.Options) error { _, err := rational.Rank(a, opt); return err },
		"NullSpace": func(opt *halfulp.Options) error { _, err := rational.NullSpace(a, opt); return err },
		"RREF":      func(opt *halfulp.Options) error { _, _, err := rational.RREF(a, opt); return err },
		"CharPoly":  func(opt *halfulp.Options) error { _, err := rational.CharPoly(a, opt); return err },
		"MinPoly":   func(opt *halfulp.Options) error { _, err := rational.MinPoly(a, opt); return err },
	}
}

// countdown is a context that is cancelled at one of the looks at it.
type countdown struct {
	context.Context
	mu        sync.Mutex
	at, looks int
}

func (c *countdown) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.looks++; c.looks >= c.at {
		return context.Canceled
	}
	return nil
}

// TestCancel cancels each routine at the first looks at the context: each returns its error.
func TestCancel(t *testing.T) {
	r := testseed.Rand(t, 36, 5)
	for _, n := range []int{6, 17} {
		rows := make([][]int64, n)
		for i := range rows {
			for range n {
				rows[i] = append(rows[i], r.Int64N(199)-99)
			}
		}
		for name, run := range routines(rational.FromInt64(rows)) {
			for _, threads := range []int{1, 3} {
				all := &countdown{Context: context.Background(), at: math.MaxInt}
				if err := run(&halfulp.Options{Context: all, Threads: threads}); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for at := 1; at <= all.looks; at += 1 + all.looks/5 {
					c := &countdown{Context: context.Background(), at: at}
					if err := run(&halfulp.Options{Context: c, Threads: threads}); c.looks >= at && !errors.Is(err, context.Canceled) {
						t.Fatalf("%s of order %d, cancelled at look %d of %d: %v", name, n, at, all.looks, err)
					}
				}
			}
			var last float64
			err := run(&halfulp.Options{Progress: func(done float64) {
				if !(done >= 0 && done <= 1) || last == 1 {
					t.Errorf("%s: progress %v after %v", name, done, last)
				}
				last = done
			}})
			if err != nil || last != 1 {
				t.Fatalf("%s: progress ends at %v (%v)", name, last, err)
			}
		}
	}
}

// TestMinPoly knows the minimal polynomial: matrices of order up to 12 that are similar to blocks.
func TestMinPoly(t *testing.T) {
	r := testseed.Rand(t, 36, 6)
	for range 12 {
		n := 7 + r.IntN(6)
		h := 1 + r.IntN(n/2)
		a := zeros(n, n)
		for i := range h {
			for j := range h {
				x := big.NewRat(r.Int64N(15)-7, 1+r.Int64N(2))
				for k := 0; k+h <= n; k += h { // as often as it fits; the rest is 0
					a[k+i][k+j] = x
				}
			}
		}
		block := zeros(h, h)
		for i := range block {
			copy(block[i], a[i][:h])
		}
		want := oracleMinPoly(block)
		if n%h != 0 && want[0].Sign() != 0 { // the zeros add the factor x
			want = append([]*big.Rat{new(big.Rat)}, want...)
		}
		for range n { // similar: row p gains row q, column q loses column p
			p, q := r.IntN(n), r.IntN(n)
			if p == q {
				continue
			}
			for j := range n {
				a[p][j] = new(big.Rat).Add(a[p][j], a[q][j])
			}
			for i := range n {
				a[i][q] = new(big.Rat).Sub(a[i][q], a[i][p])
			}
		}
		got, err := rational.MinPoly(of(a, n, n), nil)
		if err != nil {
			t.Fatal(err)
		}
		sameNumbers(t, "MinPoly", got, want)
	}
}
