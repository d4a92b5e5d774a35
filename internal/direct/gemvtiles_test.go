package direct

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestTileKernels compares the sums and the digits of the machine with those of the loops in Go.
func TestTileKernels(t *testing.T) {
	fast := machineTiles()
	if fast == nil {
		t.Skip("no unit")
	}
	r := testseed.Rand(t, 1, 3)
	for trial := range testlength.Trials(100) {
		blocks := tileBlocks[trial%len(tileBlocks)]
		limbs := 1 + r.IntN(2*blocks+2)
		rows, cols := tileRows+r.IntN(30), quad+r.IntN(40)
		f := num.Format{Kind: num.MP, Prec: uint32(64 * limbs)}
		a, x := randomNumbers(r, f, rows*cols, trial/3), randomNumbers(r, num.Format{Kind: num.MP, Prec: 300}, cols, 1)
		for i := range a.Exp {
			switch r.IntN(100) {
			case 0:
				a.Exp[i] -= int32(r.IntN(2000))
			case 1:
				a.Exp[i] = math.MinInt32
			}
		}
		for j := range cols {
			if r.IntN(20) == 0 {
				x.Cls[j] = 0
			}
		}
		m := num.Mat{Arr: a, RS: cols, CS: 1, Rows: rows, Cols: cols}
		if r.IntN(2) == 0 {
			m.RS, m.CS = 1, rows
		}
		z := num.Format{Kind: num.MP, Prec: 53}
		var sums [2][]uint64
		var vectors [2]*tileVector
		for k, u := range []*tileUnit{fast, &genericTiles} {
			g := &gemv{m: m, block: rows, byRows: m.CS == 1}
			g.sums.tiles = tilePlan{u, blocks}
			w := newGemvWorker(g, z)
			w.ref, w.special = make([]int64, rows+sumLanes), make([]bool, rows)
			var ok bool
			if w.xTiles, w.scale, ok = g.sums.tiles.vector(num.Vec{Arr: x, Inc: 1, N: cols}); !ok {
				t.Fatal("a vector that is not finite")
			}
			w.references(0, rows)
			w.tiles = w.newTileSums()
			clear(w.tiles.sums)
			w.addTiles(0, rows, 0, (cols+quad-1)/quad)
			sums[k], vectors[k] = w.tiles.sums, w.xTiles
		}
		name := fmt.Sprintf("trial %d: %d blocks, %d limbs, %d x %d, column step %d", trial, blocks, limbs, rows, cols, m.CS)
		if !slices.Equal(vectors[0].digits, vectors[1].digits) {
			t.Fatalf("%s: digits of x differ", name)
		}
		for i, v := range sums[0] {
			if v != sums[1][i] {
				t.Fatalf("%s: sum %d is %x, want %x", name, 2*i, v, sums[1][i])
			}
		}
	}
}

// TestTileBound compares errors of sums with their bound, for digits cut off and products shifted
// by any number of bits.
func TestTileBound(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	worst := 0.0
	for trial := range testlength.Trials(60) {
		u := machineTiles()
		if u == nil || trial%2 == 0 {
			u = &genericTiles
		}
		p := tilePlan{u, tileBlocks[r.IntN(len(tileBlocks))]}
		rows, cols := tileRows+r.IntN(4), quad+r.IntN(40)
		numbers := func(n, family int) *num.Array {
			a := randomNumbers(r, num.Format{Kind: num.MP, Prec: uint32(64 * (1 + r.IntN(2*p.blocks+4)))}, n, 1)
			for i := range n {
				a.Exp[i] -= int32(r.IntN([]int{1, 70, 2000}[family]))
			}
			if r.IntN(2) == 0 { // as much as there is to cut, all of one sign
				for i := range a.Sig {
					a.Sig[i] = 1<<64 - 1
				}
				for i := range a.Cls {
					a.Cls[i] = num.MakeCls(false, num.Finite)
				}
			}
			return a
		}
		a, x := numbers(rows*cols, r.IntN(3)), numbers(cols, r.IntN(3))
		m := num.Mat{Arr: a, RS: cols, CS: 1, Rows: rows, Cols: cols}
		if r.IntN(2) == 0 {
			m.RS, m.CS = 1, rows
		}
		g := &gemv{m: m, block: rows, byRows: m.CS == 1}
		g.sums.tiles = p
		w := newGemvWorker(g, num.Format{Kind: num.MP, Prec: 53})
		w.ref, w.special, w.mag = make([]int64, rows+sumLanes), make([]bool, rows), make([]uint64, p.magWords())
		var ok bool
		if w.xTiles, w.scale, ok = p.vector(num.Vec{Arr: x, Inc: 1, N: cols}); !ok {
			t.Fatal("a vector that is not finite")
		}
		w.references(0, rows)
		w.tiles = w.newTileSums()
		clear(w.tiles.sums)
		w.addTiles(0, rows, 0, (cols+quad-1)/quad)
		const prec = 20000
		var buf [2][num.MaxValueWords]uint64
		for i := range rows {
			copy(w.tiles.one, w.xTiles.bias)
			w.tiles.addRow(w.tiles.one, i, rows, p.blocks)
			mag, neg := valueOfBytes(w.mag, w.tiles.one)
			unit := int(w.ref[i]+2) - 8*(p.digits()+1)
			off := new(big.Float).SetPrec(prec).SetInt(integerOf(mag))
			if off.SetMantExp(off, unit); !neg {
				off.Neg(off)
			}
			for j := range cols {
				v, y := a.Value(m.At(i, j), buf[0][:]), x.Value(j, buf[1][:])
				z := new(big.Float).SetPrec(prec).SetInt(new(big.Int).Mul(integerOf(v.Mag), integerOf(y.Mag)))
				if z.SetMantExp(z, int(v.Exp+y.Exp)); v.Neg != y.Neg {
					z.Neg(z)
				}
				off.Add(off, z)
			}
			by, _ := off.SetMantExp(off.Abs(off), -unit).Float64()
			by /= float64(uint64(cols) * p.productBound())
			if worst = max(worst, by); by >= 1 {
				t.Fatalf("seed %d, trial %d: row %d is off by %g of its bound", seed, trial, i, by)
			}
		}
	}
	t.Logf("errors up to %g of their bound", worst)
}

// TestTileGemv compares matrix-vector products with exact sums.
func TestTileGemv(t *testing.T) {
	var formats []num.Format
	for _, p := range []uint32{64, 128, 150, 212, 424, 848, 950, 1200, 1400, 1696, 1900} {
		formats = append(formats, num.Format{Kind: num.MP, Prec: p})
	}
	withTiles(t, func(t *testing.T) { compareGemv(t, 60, tileRows, quad, formats, formats) })
}

// TestTileGemvLong has products whose sums do not fit int32.
func TestTileGemvLong(t *testing.T) {
	withTiles(t, func(t *testing.T) {
		r := testseed.Rand(t, 6, 6)
		f := num.Format{Kind: num.MP, Prec: 1696}
		const m, n = tileRows, 601
		plan, ok := planTiles(f, 1696, m, n)
		if !ok || plan.sumQuads()*quad >= n {
			t.Fatalf("%d quads of sums", plan.sumQuads())
		}
		a, x := num.New(f, m*n), num.New(f, n)
		for _, v := range []*num.Array{a, x} {
			for i := range v.Cls { // as large as they get, all of one sign
				v.Cls[i] = num.MakeCls(false, num.Finite)
				sig := v.Sig[i*v.Limbs():][:v.Limbs()]
				for k := range sig {
					sig[k] = 1<<64 - 1
				}
				sig[0] -= 1<<32 - 1 + r.Uint64N(2)<<32
			}
		}
		for _, byRows := range []bool{false, true} {
			mat := num.Mat{Arr: a, RS: 1, CS: m, Rows: m, Cols: n}
			if byRows {
				mat.RS, mat.CS = n, 1
			}
			work := Work{Context: t.Context(), Threads: 1}
			one := num.Real{Class: num.Finite, Mag: []uint64{1}}
			z, want := num.New(f, m), num.New(f, m)
			xv := num.Vec{Arr: x, Inc: 1, N: n}
			exact, err := Gemv(work, one, mat, xv, num.Real{}, num.Vec{}, z, func(num.Flags) {})
			if err != nil {
				t.Fatal(err)
			}
			if exact > 1 {
				t.Errorf("%d of %d rows took the exact sum", exact, m)
			}
			p := Product{Alpha: one, A: mat, B: xv.Mat(), C: num.Vec{Arr: want, Inc: 1, N: m}.Mat()}
			if err := Entries(work, p, func(num.Flags) {}); err != nil {
				t.Fatal(err)
			}
			for i := range m {
				if !z.SameBits(i, want, i) {
					t.Fatalf("rows in line %v: row %d differs", byRows, i)
				}
			}
		}
	})
}

// TestNear has one product of a row far below the others, or 0.
func TestNear(t *testing.T) {
	const n = 64
	f := num.Format{Kind: num.MP, Prec: 212}
	a := num.New(f, n*n)
	g := &gemv{m: num.Mat{Arr: a, RS: 1, CS: n, Rows: n, Cols: n}}
	g.sums.tiles.unit = &tileUnit{samples: 8}
	scale := make([]int64, n)
	for j := range n {
		scale[j] = int64(1000 * (j % 2))
		for i := range n {
			a.Cls[n*j+i], a.Exp[n*j+i] = num.MakeCls(i%2 == 0, num.Finite), int32(-1000*(j%2))
		}
	}
	check := func(want bool, what string) {
		t.Helper()
		if g.near(scale) != want {
			t.Errorf("%s: %v", what, !want)
		}
	}
	check(true, "products of like size")
	a.Cls[5*n] = num.MakeCls(false, num.Zero)
	check(false, "a zero in the first row")
	scale[5] = noScale
	check(true, "a zero times a zero")
	a.Exp[20*n] -= 60
	check(false, "a small number in the first row")
	g.sums.tiles.unit = &tileUnit{}
	check(true, "no samples")
}

// TestTileDot compares dot products and norms with exact sums, and chunks that go other ways.
func TestTileDot(t *testing.T) {
	withTiles(t, func(t *testing.T) {
		r := testseed.Rand(t, 8, 3)
		work := Work{Context: t.Context(), Threads: 2}
		for trial := range testlength.Trials(100) {
			n := fewProducts + r.IntN(300)
			if trial%25 == 0 {
				n = dotChunk + r.IntN(200)
			}
			p := []uint32{129, 150, 212, 300, 424, 500, 700, 848}[r.IntN(8)]
			vector := func() num.Vec {
				f := num.Format{Kind: num.MP, Prec: p + uint32(r.IntN(2)*r.IntN(100))}
				a := randomNumbers(r, f, n, 1+trial/10)
				for i := range a.Cls {
					a.Sig[i*a.Limbs()] &= math.MaxUint64 << (64*a.Limbs() - int(f.Prec))
					if a.Cls[i].Class() > num.Finite && trial%4 != 0 {
						a.Cls[i] = 0
					}
					switch trial % 5 {
					case 1: // shifts of all sizes
						a.Exp[i] = int32(r.IntN(20))
						if r.IntN(50) == 0 {
							a.Exp[i] -= int32(r.IntN(3000))
						}
					case 2: // too many far apart
						a.Exp[i] = int32(r.IntN(700))
					case 3: // as far apart as formats allow
						if r.IntN(10) == 0 {
							a.Exp[i] = []int32{math.MinInt32 + 5000, math.MaxInt32 - 5000}[r.IntN(2)]
						}
					}
				}
				v := num.Vec{Arr: a, Inc: 1, N: n}
				switch r.IntN(8) {
				case 0:
					v.Off, v.Inc = n-1, -1
				case 1:
					v.Off, v.N = 3, n-5
				}
				return v
			}
			x, y := vector(), vector()
			x.N = min(x.N, y.N)
			y.N = x.N
			if x.Inc < 0 {
				x.Off = x.N - 1
			}
			if y.Inc < 0 {
				y.Off = y.N - 1
			}
			if trial%10 == 5 { // sums of 0, and near it
				for i := 0; i+1 < x.N; i += 2 {
					x.Arr.CopyFrom(x.At(i+1), x.Arr, x.At(i))
					y.Arr.CopyFrom(y.At(i+1), y.Arr, y.At(i))
					y.Arr.Negate(y.At(i + 1))
				}
			}
			z := num.Format{Kind: num.MP, Prec: p}
			got, want := num.New(z, 1), num.New(z, 1)
			check := func(what string, flags num.Flags, err error, exact *Acc, wantErr error, norm bool) {
				t.Helper()
				if err != nil || wantErr != nil {
					t.Fatal(err, wantErr)
				}
				v := exact.Value(z)
				if norm {
					v = exact.norm(z)
				}
				if f := want.Set(0, v); f != flags || !got.SameBits(0, want, 0) {
					t.Fatalf("trial %d: %s of %d numbers of %d and %d bits, steps %d and %d, is wrong, or flags %v are not %v", trial, what, x.N, x.Arr.Prec, y.Arr.Prec, x.Inc, y.Inc, flags, f)
				}
			}
			flags, _, err := Dot.Round(work, x, y, got)
			exact, wantErr := Dot.Exact(work, x, y)
			check("the dot product", flags, err, exact, wantErr, false)
			flags, _, err = Squares.Round(work, x, x, got)
			exact, wantErr = Squares.Exact(work, x, x)
			check("the sum of squares", flags, err, exact, wantErr, false)
			flags, _, err = Norm(work, x, got)
			check("the norm", flags, err, exact, wantErr, true)
		}
	})
}
