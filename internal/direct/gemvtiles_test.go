package direct

import (
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/internal/tiles"
)

// TestTileGemv compares matrix-vector products with exact sums.
func TestTileGemv(t *testing.T) {
	var formats []num.Format
	for _, p := range []uint32{64, 128, 150, 212, 424, 848, 950, 1200, 1400, 1696, 1900} {
		formats = append(formats, num.Format{Kind: num.MP, Prec: p})
	}
	withTiles(t, func(t *testing.T) { compareGemv(t, 60, tiles.Rows, tiles.Quad, formats, formats) })
}

// TestTileGemvLong has products whose sums do not fit int32.
func TestTileGemvLong(t *testing.T) {
	withTiles(t, func(t *testing.T) {
		r := testseed.Rand(t, 6, 6)
		f := num.Format{Kind: num.MP, Prec: 1696}
		const m, n = tiles.Rows, 601
		plan, ok := tiles.PlanRows(f, 1696, m, n)
		if !ok || plan.SumQuads()*tiles.Quad >= n {
			t.Fatalf("%d quads of sums", plan.SumQuads())
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
			work := Work{Run: par.Run{Ctx: t.Context(), Threads: 1}}
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

// TestTileDot compares dot products and norms with exact sums, and chunks that go other ways.
func TestTileDot(t *testing.T) {
	withTiles(t, func(t *testing.T) {
		r := testseed.Rand(t, 8, 3)
		work := Work{Run: par.Run{Ctx: t.Context(), Threads: 2}}
		for trial := range testlength.Trials(100) {
			n := fewProducts + r.IntN(300)
			if trial%25 == 0 {
				n = tiles.DotChunk + r.IntN(200)
			}
			p := []uint32{129, 150, 212, 300, 424, 500, 700, 848}[r.IntN(8)]
			vector := func() num.Vec {
				f := num.Format{Kind: num.MP, Prec: p + uint32(r.IntN(2)*r.IntN(100))}
				a := numtest.Numbers(r, f, n, 1+trial/10)
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
			check := func(what string, flags num.Flags, err error, exact *superacc.Acc, wantErr error, norm bool) {
				t.Helper()
				if err != nil || wantErr != nil {
					t.Fatal(err, wantErr)
				}
				v := exact.Value(z)
				if norm {
					v = exact.Norm(z)
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

// withTiles runs f under every unit of tiles, and on machines without lanes under one in plain Go.
func withTiles(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	tiles.EachUnit(fewProducts, func(name string) {
		t.Run(name, func(t *testing.T) {
			if lanes.Bits() != 0 {
				f(t)
				return
			}
			lanes.EachUnit(func(unit string) {
				if unit == "integers" {
					f(t)
				}
			})
		})
	})
}
