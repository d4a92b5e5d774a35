package residue

import (
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestNear computes products and residuals that may be in error by what a bound says, relative to
// the result or to the vectors, with and without a bound of the result, and compares their errors
// with those.
func TestNear(t *testing.T) { eachUnit(t, testNear) }

func testNear(t *testing.T) {
	rng := testseed.Rand(t, 8, 9)
	formats := []num.Format{num.Float32, num.Float64, num.DDouble, num.QDouble, mp(24), mp(106), mp(500)}
	fewer, used := 0, 0
	for trial := range 36 {
		f, g, h := formats[rng.IntN(7)], formats[rng.IntN(7)], formats[trial%7]
		spread := []int{0, 3, 30, 200}[rng.IntN(4)]
		if f == num.Float32 || g == num.Float32 || h == num.Float32 {
			spread = min(spread, 20)
		}
		m, k, n := 1+rng.IntN(20), 1+rng.IntN(60), 1+rng.IntN(20)
		r, err := newResidual(rng, f, g, h, m, k, n, spread, []int{0, 12, -5}[rng.IntN(3)])
		if err != nil {
			continue
		}
		if rng.IntN(4) == 0 {
			r.beta = num.Real{}
		}
		if rng.IntN(4) == 0 {
			row := rng.IntN(m)
			for h := range k {
				r.a.Arr.Set(r.a.At(row, h), num.Real{})
			}
		}
		z := mp(uint32(24 + rng.IntN(400)))
		want := r.exactly(mp(2000))
		cfg := Config{Run: par.Run{Threads: 1 + trial%3, Check: trial%2 == 0}}
		if trial%5 == 3 {
			cfg.Memory = 2000000
		}
		_, without := r.run(t, z, cfg)
		b := &Bound{Within: int64(1 + rng.IntN(300))}
		rows, cols := topsOf(r.a), topsOf(r.b.T())
		for i := range cols {
			cols[i] += newScaling(r.alpha).exp
		}
		switch trial % 3 {
		case 1: // of the result
			b = boundOf(r.exactly(mp(64)))
			b.Within = int64(1 + rng.IntN(300))
			rows, cols = b.Rows, b.Cols
		case 2: // that is far too large
			b.Rows, b.Cols = make([]int64, m), make([]int64, n)
			for i := range b.Rows {
				b.Rows[i] = 5000
			}
			b.Within += 5000
			rows, cols = b.Rows, b.Cols
		}
		cfg.Bound = b
		got, st := r.run(t, z, cfg)
		if st.Exact == 0 {
			used++
		}
		if st.Moduli < without.Moduli {
			fewer++
		}
		for i := range m {
			for j := range n {
				x, y := bigOf(want, i, j), bigOf(got, i, j)
				d := new(big.Float).SetPrec(2200).Sub(x, y)
				// 2^(rows + cols - within), and half a unit of the last place.
				off, unit := rows[i]+cols[j]-b.Within, int64(-1<<30)
				if y.Sign() != 0 {
					unit = int64(y.MantExp(nil)) - int64(z.Prec) - 1
				}
				most := new(big.Float).SetMantExp(big.NewFloat(1.001), int(max(off, unit)))
				if off-unit < 64 && unit-off < 64 {
					most.Add(most, new(big.Float).SetMantExp(big.NewFloat(1), int(min(off, unit))))
				}
				if d.Abs(d).Cmp(most) > 0 {
					t.Fatalf("trial %d: %v %v %v -> %v, %d x %d x %d: entry (%d, %d) is in error by %.3g, and may be by %.3g (%+v)",
						trial, f, g, h, z, m, k, n, i, j, d, most, st)
				}
			}
		}
	}
	if fewer < 10 || used < 15 {
		t.Errorf("%d of 36 products had a smaller base, %d no exact pass", fewer, used)
	}
}

// topsOf returns for each row of a matrix the exponent of a power of two above its entries. A row
// of zeros has the exponent of zero.
func topsOf(m num.Mat) []int64 {
	z := make([]int64, m.Rows)
	for i := range z {
		z[i] = -1 << 30
		for j := range m.Cols {
			if c, top, _ := m.Arr.Span(m.At(i, j)); c == num.Finite {
				z[i] = max(z[i], top)
			}
		}
	}
	return z
}

// bigOf returns a finite entry.
func bigOf(m num.Mat, i, j int) *big.Float {
	var buf [num.MaxValueWords]uint64
	v := m.Arr.Value(m.At(i, j), buf[:])
	z := new(big.Float).SetPrec(2100)
	if v.Class != num.Finite {
		return z
	}
	x := new(big.Int)
	for k := len(v.Mag) - 1; k >= 0; k-- {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(v.Mag[k]))
	}
	z.SetInt(x)
	if v.Neg {
		z.Neg(z)
	}
	return z.SetMantExp(z, int(v.Exp))
}

// TestNearSpecials has infinities, NaN and old entries far from the product where results may be in
// error.
func TestNearSpecials(t *testing.T) {
	rng := testseed.Rand(t, 2, 9)
	r, err := newResidual(rng, mp(100), mp(100), mp(100), 20, 30, 20, 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.old.Arr.Set(r.old.At(3, 4), num.Real{Class: num.Inf})
	r.old.Arr.Set(r.old.At(5, 4), num.Real{Class: num.Finite, Mag: []uint64{3}, Exp: 100000})
	r.old.Arr.Set(r.old.At(6, 4), num.Real{Class: num.Finite, Neg: true, Mag: []uint64{3}, Exp: -100000})
	r.old.Arr.Set(r.old.At(7, 4), num.Real{Class: num.NaN})
	got, _ := r.run(t, mp(100), Config{Run: par.Run{Threads: 1}, Bound: &Bound{Within: 120}})
	want := r.exactly(mp(100))
	for _, i := range []int{3, 5, 7} {
		if !got.Arr.SameBits(got.At(i, 4), want.Arr, want.At(i, 4)) {
			t.Errorf("entry (%d, 4) has other bits", i)
		}
	}
	r.a.Arr.Set(r.a.At(2, 1), num.Real{Class: num.NaN})
	if got, _ = r.run(t, mp(100), Config{Run: par.Run{Threads: 1}, Bound: &Bound{Within: 120}}); !same(got, r.exactly(mp(100))) {
		t.Error("a factor with a NaN: results are in error")
	}
}
