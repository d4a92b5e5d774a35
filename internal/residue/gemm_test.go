package residue

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// randomMat returns numbers with full significands, signs and exponents from
// -spread to spread, a few zeros among them.
func randomMat(rng *rand.Rand, f num.Format, rows, cols, spread int) num.Mat {
	m := num.Mat{Arr: num.New(f, rows*cols), RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}
	words := (f.Bits() + 63) / 64
	for i := range rows * cols {
		mag := make([]uint64, words)
		for k := range mag {
			mag[k] = rng.Uint64()
		}
		if rng.IntN(50) == 0 {
			clear(mag)
		}
		e := int64(rng.IntN(2*spread+1)-spread) - int64(64*words)
		m.Arr.Set(i, num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: mag, Exp: e})
	}
	return m
}

func scalar(f num.Format, x float64) num.Real {
	buf := make([]uint64, 1)
	a := num.New(num.Float64, 1)
	a.F64[0][0] = x
	return a.Value(0, buf)
}

// eachUnit runs f with the kernels of the level in force, and with products of bytes on emulated
// tiles.
func eachUnit(t *testing.T, f func(t *testing.T)) {
	t.Run("level "+isa.Level().String(), f)
	if testlength.Slow() && !testlength.Race {
		return // the tests of internal/modgemm cover the rest in an emulator
	}
	t.Run("bytes", func(t *testing.T) {
		testlength.SkipLevel(t, "products in bytes take no other instructions there")
		defer modgemm.ForceBytes()()
		f(t)
	})
}

// TestResidueMatchesDirect pits the residue engine against exact accumulators.
func TestResidueMatchesDirect(t *testing.T) { eachUnit(t, testResidueMatchesDirect) }

func testResidueMatchesDirect(t *testing.T) {
	rng := testseed.Rand(t, 7, 11)
	formats := []num.Format{num.Float32, num.Float64, num.DDouble, num.TDouble, num.QDouble}
	for _, p := range []uint32{2, 11, 53, 63, 64, 65, 106, 128, 190, 424, 1000} {
		formats = append(formats, num.Format{Kind: num.MP, Prec: p})
	}
	for trial := range testlength.Trials(120) {
		f := formats[trial%len(formats)]
		g := formats[rng.IntN(len(formats))]
		spread := []int{0, 3, 30, 300, 700}[rng.IntN(5)]
		if f.Kind == num.F32 || g.Kind == num.F32 {
			spread = min(spread, 30)
		}
		m, k, n := 1+rng.IntN(40), 1+rng.IntN(60), 1+rng.IntN(40)
		a, b := randomMat(rng, f, m, k, spread), randomMat(rng, g, n, k, spread).T()
		alpha := scalar(f, []float64{1, -1, 0.5, 3, -1e-5}[rng.IntN(5)])
		beta := scalar(f, []float64{0, 0, 1, -1, 2, 1.7}[rng.IntN(6)])
		h := formats[rng.IntN(len(formats))]
		c := randomMat(rng, h, m, n, spread)
		d := num.Mat{Arr: num.New(h, m*n), RS: 1, CS: m, Rows: m, Cols: n}
		for i := range m * n {
			d.Arr.CopyFrom(i, c.Arr, i)
		}
		cfg := Config{Run: par.Run{Ctx: context.Background(), Threads: 1 + trial%3, Memory: 1 << 30, Check: trial%5 < 2}}
		if trial%4 == 3 {
			cfg.Memory = 100000
		}
		q, err := Plan(cfg, alpha, a, b, beta, c, c, nil, nil)
		if err == ErrRange {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		st, err := q.Run()
		if err == ErrMemory {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		work := direct.Work{Run: cfg.Run}
		if err := direct.Entries(work, direct.Product{Alpha: alpha, A: a, B: b, Beta: beta, Old: d, C: d}, func(num.Flags) {}); err != nil {
			t.Fatal(err)
		}
		for i := range m * n {
			if !c.Arr.SameBits(i, d.Arr, i) {
				var b1, b2 [num.MaxValueWords]uint64
				sum := new(big.Float).SetPrec(20000)
				for h := range k {
					x, y := a.Arr.Value(a.At(i%m, h), b1[:]), b.Arr.Value(b.At(h, i/m), b2[:])
					sum.Add(sum, new(big.Float).SetPrec(10000).Mul(bf(x), bf(y)))
				}
				t.Logf("sum of products %.20g", sum)
				t.Fatalf("trial %d: %v x %v -> %v, %d x %d x %d, spread %d, alpha %v beta %v: entry %d is %v, want %v (%+v)",
					trial, f, g, h, m, k, n, spread, alpha, beta, i, c.Arr.Value(i, b1[:]), d.Arr.Value(i, b2[:]), st)
			}
		}
	}
}

// TestLongNumbers multiplies numbers of up to about as many bits as residues hold.
func TestLongNumbers(t *testing.T) { eachUnit(t, testLongNumbers) }

func testLongNumbers(t *testing.T) {
	m, n := testlength.Of(17, 17, 31), testlength.Of(16, 16, 30)
	rng := testseed.Rand(t, 2, 9)
	for i, prec := range [][3]uint32{{2100, 2050, 2100}, {9500, 400, 9000}} {
		const k = 64
		a, b := randomMat(rng, mp(prec[0]), m, k, 0), randomMat(rng, mp(prec[1]), n, k, 0).T()
		c, d := num.Mat{Arr: num.New(mp(prec[2]), m*n), RS: 1, CS: m, Rows: m, Cols: n}, num.Mat{Arr: num.New(mp(prec[2]), m*n), RS: 1, CS: m, Rows: m, Cols: n}
		q, err := Plan(Config{Run: par.Run{Ctx: context.Background(), Threads: 1, Memory: 1 << 30, Check: i%2 == 1}}, one, a, b, num.Real{}, c, c, nil, nil)
		if err != nil {
			t.Fatalf("%v: %v", prec, err)
		}
		st, err := q.Run()
		if err != nil {
			t.Fatalf("%v: %v", prec, err)
		}
		if st.Exact == int64(m*n) && st.Moduli > 1 { // products without assembly may not pay
			t.Errorf("%v: all entries are left to the exact pass (%+v)", prec, st)
		}
		if err := direct.Entries(direct.Work{Run: par.Run{Ctx: context.Background(), Threads: 1}}, direct.Product{Alpha: one, A: a, B: b, Old: d, C: d}, func(num.Flags) {}); err != nil {
			t.Fatal(err)
		}
		for e := range m * n {
			if !c.Arr.SameBits(e, d.Arr, e) {
				t.Fatalf("%v: entry %d differs (%+v)", prec, e, st)
			}
		}
	}
}

func bf(r num.Real) *big.Float {
	z := new(big.Int)
	for i := len(r.Mag) - 1; i >= 0; i-- {
		z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(r.Mag[i]))
	}
	x := new(big.Float).SetPrec(5000).SetInt(z)
	if r.Neg {
		x.Neg(x)
	}
	return x.SetMantExp(x, int(r.Exp))
}

// TestTiling checks that the blocks of a tiling have every panel of the result once, and when
// results are shared.
func TestTiling(t *testing.T) {
	defer modgemm.ForceBytes()()
	rng := testseed.Rand(t, 3, 5)
	a := randomMat(rng, num.Float64, 150, 4, 1)
	c := num.Mat{Arr: num.New(num.Float64, 150*150), RS: 1, CS: 150, Rows: 150, Cols: 150}
	for _, threads := range []int{1, 2, 16} {
		for _, triangle := range []byte{0, 'L'} {
			cfg := Config{Run: par.Run{Ctx: context.Background(), Threads: threads, Memory: 1 << 30}, Triangle: triangle}
			q, err := Plan(cfg, one, a, a.T(), num.Real{}, c, c, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range [][2]int{{1, 1}, {40, 150}, {1000, 1000}, {1000, 77}, {9000, 9000}} {
				tiles := q.p.tiling(size[0], size[1])
				if want := threads == 16 && triangle == 0 && size[0] > 1 && size[0] < 9000; threads != 2 && tiles.shared != want {
					t.Errorf("%d threads, triangle %q, %v: shared %v", threads, triangle, size, tiles.shared)
				}
				seen := map[[2]int]int{}
				for b := range tiles.blocks() {
					pi, pj, mp, np := tiles.block(b)
					if mp < 1 || np < 1 || mp*np*modgemm.PanelVectors*modgemm.PanelVectors > tiles.size {
						t.Fatalf("%v: block %d has %d x %d panels (%+v)", size, b, mp, np, tiles)
					}
					for i := range mp {
						for j := range np {
							seen[[2]int{pi + i, pj + j}]++
						}
					}
				}
				for panel, n := range seen {
					if n != 1 {
						t.Errorf("%v: panel %v is in %d blocks", size, panel, n)
					}
				}
				if all := modgemm.BytePanels(size[0]) * modgemm.BytePanels(size[1]); len(seen) != all {
					t.Errorf("%v: %d of %d panels", size, len(seen), all)
				}
			}
		}
	}
}
