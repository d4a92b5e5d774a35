package direct

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/internal/tiles"
)

// verticalNumbers returns numbers for sums: of similar size, spread widely, with zeros, special, or
// with a second half that cancels the first.
func verticalNumbers(r *rand.Rand, f num.Format, n, family int) *num.Array {
	a := num.New(f, n)
	buf := make([]uint64, 40)
	for i := range n {
		v := num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Exp: int64(-r.IntN(6)), Mag: buf[:1+r.IntN(30)]}
		for k := range v.Mag {
			v.Mag[k] = r.Uint64()
			if r.IntN(10) == 0 {
				v.Mag[k] = -(r.Uint64() & 1)
			}
		}
		v.Mag[0] |= 1
		v.Exp -= int64(num.BitLen(v.Mag))
		switch family {
		case 1:
			v.Exp += int64(r.IntN(2000) - 1000)
		case 2:
			v.Exp += int64(r.IntN(200))
		case 3:
			if r.IntN(5) == 0 {
				v = num.Real{Neg: v.Neg}
			}
		case 4:
			if r.IntN(3*n) == 0 {
				v = num.Real{Class: num.Inf + num.Class(r.IntN(2))}
			}
		case 5:
			if f.Kind == num.F64 || f.Terms() > 1 {
				v.Exp -= 1000
			} else if f.Kind == num.MP {
				v.Exp += int64(r.IntN(2)) * (math.MaxInt32 - 100)
			}
		}
		a.Set(i, v)
	}
	return a
}

// TestVerticalGemv compares matrix-vector products with exact sums, for rows and columns in line
// and all numbers of rows and columns.
func TestVerticalGemv(t *testing.T) {
	formats := []num.Format{num.Float64, num.DDouble, num.QDouble, num.Float32}
	for _, p := range []uint32{24, 64, 106, 128, 212, 424, 848, 1696} {
		formats = append(formats, num.Format{Kind: num.MP, Prec: p})
	}
	withUnits(t, func(t *testing.T) { compareGemv(t, 250, 2, 4, formats, formats[4:]) })
}

// compareGemv compares matrix-vector products of operands and results of such formats, from so many
// rows and columns on, with exact sums.
func compareGemv(t *testing.T, trials, rows, cols int, formats, results []num.Format) {
	t.Helper()
	r := testseed.Rand(t, 3, 3)
	work := Work{Run: par.Run{Ctx: t.Context(), Threads: 1 + r.IntN(3)}}
	var ordinary, slow int64 // rows
	for trial := range testlength.Trials(trials) {
		fm, fx, fz := formats[r.IntN(len(formats))], formats[r.IntN(len(formats))], results[r.IntN(len(results))]
		if r.IntN(2) == 0 {
			fm, fx = fz, fz
		}
		m, n := rows+r.IntN(30), cols+r.IntN(80)
		if r.IntN(5) == 0 {
			n += 200
		}
		family := r.IntN(7)
		a, x := verticalNumbers(r, fm, m*n, family), verticalNumbers(r, fx, n, r.IntN(4))
		if family == 6 { // exact and nearly exact cancellation
			for i := range m {
				for j := range n / 2 {
					a.CopyFrom(i*n+n-1-j, a, i*n+j)
					a.Negate(i*n + n - 1 - j)
				}
			}
			for j := range n / 2 {
				x.CopyFrom(n-1-j, x, j)
			}
			if r.IntN(2) == 0 {
				x.Set(n/2, num.Real{Class: num.Finite, Mag: []uint64{1}, Exp: int64(-r.IntN(3000))})
			}
		}
		mat := num.Mat{Arr: a, RS: n, CS: 1, Rows: m, Cols: n}
		if r.IntN(2) == 0 && family != 6 {
			mat = num.Mat{Arr: a, RS: 1, CS: m, Rows: m, Cols: n}
		}
		alpha := num.Real{Class: num.Finite, Mag: []uint64{1}, Neg: r.IntN(2) == 0}
		var beta num.Real
		y := num.Vec{Arr: verticalNumbers(r, fz, m, 0), Inc: 1, N: m}
		if r.IntN(3) == 0 {
			alpha.Mag = []uint64{r.Uint64()}
			beta = num.Real{Class: num.Finite, Mag: []uint64{1 + r.Uint64N(3)}}
		}
		z, want := num.New(fz, m), num.New(fz, m)
		xv := num.Vec{Arr: x, Inc: 1, N: n}
		exact, err := Gemv(work, alpha, mat, xv, beta, y, z, func(num.Flags) {})
		if err != nil {
			t.Fatal(err)
		}
		p := Product{Alpha: alpha, A: mat, B: xv.Mat(), Beta: beta, Old: y.Mat(), C: num.Vec{Arr: want, Inc: 1, N: m}.Mat()}
		if err := Entries(work, p, func(num.Flags) {}); err != nil {
			t.Fatal(err)
		}
		for i := range m {
			if !z.SameBits(i, want, i) {
				t.Fatalf("trial %d: %v matrix %d x %d, RS %d, %v vector, %v result, family %d: row %d differs", trial, fm, m, n, mat.RS, fx, fz, family, i)
			}
		}
		if family == 0 {
			ordinary, slow = ordinary+int64(m), slow+exact
		}
	}
	// Sums of few short numbers can be numbers of the format, or lie halfway between two, which
	// only the exact sum tells: in a few rows of hundreds.
	if slow > ordinary/4 {
		t.Errorf("%d of %d ordinary rows took the exact sum", slow, ordinary)
	}
}

// TestVerticalDot compares dot products and norms with exact sums.
func TestVerticalDot(t *testing.T) {
	withUnits(t, func(t *testing.T) {
		r := testseed.Rand(t, 4, 4)
		decided, trials := 0, testlength.Trials(150)
		for trial := range trials {
			f := num.Format{Kind: num.MP, Prec: []uint32{53, 106, 128, 212, 424, 848, 1696}[r.IntN(7)]}
			g := f
			if r.IntN(3) == 0 {
				g.Prec = 64 + uint32(r.IntN(500))
			}
			n := 16 + r.IntN(100)
			if r.IntN(10) == 0 {
				n += 3 * tiles.DotChunk
			}
			family := r.IntN(7)
			x, y := verticalNumbers(r, f, n, family), verticalNumbers(r, g, n, r.IntN(4))
			if family == 6 {
				for j := range n / 2 {
					x.CopyFrom(n-1-j, x, j)
					y.CopyFrom(n-1-j, y, j)
					y.Negate(n - 1 - j)
				}
			}
			work := Work{Run: par.Run{Ctx: t.Context(), Threads: 1 + r.IntN(3)}}
			xv, yv := num.Vec{Arr: x, Inc: 1, N: n}, num.Vec{Arr: y, Inc: 1, N: n}
			z, want := num.New(f, 1), num.New(f, 1)
			kind := Dot
			if r.IntN(4) == 0 {
				kind, yv = Squares, xv
			}
			_, exact, err := kind.Round(work, xv, yv, z)
			if err != nil {
				t.Fatal(err)
			}
			if !exact {
				decided++
			}
			a, err := kind.Exact(work, xv, yv)
			if err != nil {
				t.Fatal(err)
			}
			want.Set(0, a.Value(f))
			if !z.SameBits(0, want, 0) {
				t.Fatalf("trial %d: %v by %v, n = %d, family %d, kind %d differs", trial, f, g, n, family, kind)
			}
		}
		if decided < trials/2 {
			t.Errorf("digits decided %d of %d dot products", decided, trials)
		}
	})
}

// withUnits runs f under every unit.
func withUnits(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	lanes.EachUnit(func(name string) { t.Run(name, f) })
}
