package residue

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestAcross pits results that are rounded many at a time against exact accumulators, where rows
// mix what vectors of numbers find hard: ties and numbers next to them, sums that cancel to zero or
// nearly, results beyond the range or below it, infinities and NaNs, triangles, and numbers of
// columns that fill no vector.
func TestAcross(t *testing.T) { eachUnit(t, testAcross) }

func testAcross(t *testing.T) {
	rng := testseed.Rand(t, 9, 4)
	formats := []num.Format{num.Float64, num.Float32, num.DDouble, num.TDouble, num.QDouble}
	for _, p := range []uint32{2, 24, 53, 64, 65, 106, 128, 129, 424} {
		formats = append(formats, num.Format{Kind: num.MP, Prec: p})
	}
	families := []string{"ties", "cancel", "range", "integers", "special"}
	for trial := range testlength.Trials(140) {
		f := formats[trial%len(formats)]
		family := families[trial/len(formats)%len(families)]
		m, k, n := 1+rng.IntN(20), 3+rng.IntN(20), 1+rng.IntN(70)
		triangle := "\x00\x00UL"[rng.IntN(4)]
		if triangle != 0 {
			m = n
		}
		operand := num.Format{Kind: num.MP, Prec: 2*f.Prec + 8}
		if f.Kind != num.MP {
			operand.Prec = uint32(2*f.Bits() + 14)
		}
		a, b := randomMat(rng, operand, m, k, 3), randomMat(rng, operand, n, k, 3).T()
		adversary(rng, family, f, a, b)
		alpha := scalar(num.Float64, []float64{1, -1, 0.25}[rng.IntN(3)])
		zero := num.Real{}
		c := num.Mat{Arr: num.New(f, m*n), RS: 1, CS: m, Rows: m, Cols: n}
		if rng.IntN(2) == 0 {
			c.RS, c.CS = n, 1
		}
		want := c
		want.Arr = num.New(f, m*n)
		cfg := Config{Run: par.Run{Ctx: context.Background(), Threads: 1 + trial%2, Memory: 1 << 30, Check: trial%3 == 0}, Triangle: triangle}
		what := fmt.Sprintf("trial %d: %s, %v, %d x %d x %d, triangle %q", trial, family, f, m, k, n, triangle)
		q, err := Plan(cfg, alpha, a, b, zero, c, c, nil, nil)
		if err == ErrRange {
			continue
		}
		if err != nil {
			t.Fatal(what, err)
		}
		got, err := q.Run()
		if err != nil {
			t.Fatal(what, err)
		}
		if entries := int64(m * n); cfg.Check && family != "special" {
			if triangle != 0 {
				entries = int64(n * (n + 1) / 2)
			}
			if got.Check.Compared != entries || got.Check.Unchecked != got.Exact {
				t.Fatalf("%s: compared %+v", what, got.Check)
			}
		}
		work := direct.Work{Run: par.Run{Ctx: cfg.Ctx, Threads: 1}}
		if err := direct.Entries(work, direct.Product{Alpha: alpha, A: a, B: b, Old: want, C: want}, func(num.Flags) {}); err != nil {
			t.Fatal(what, err)
		}
		for i := range m {
			for j := range n {
				at := c.At(i, j)
				if triangle == 'U' && i > j || triangle == 'L' && i < j {
					if c.Arr.Class(at) != num.Zero {
						t.Fatalf("%s: wrote entry %d, %d", what, i, j)
					}
				} else if !c.Arr.SameBits(at, want.Arr, at) {
					var b1, b2 [num.MaxValueWords]uint64
					t.Fatalf("%s: entry %d, %d is %v, want %v (%+v)", what, i, j, c.Arr.Value(at, b1[:]), want.Arr.Value(at, b2[:]), got)
				}
			}
		}
	}
}

// adversary makes the first products of vectors hard to round to format f.
func adversary(rng *rand.Rand, family string, f num.Format, a, b num.Mat) {
	set := func(m num.Mat, i, j int, neg bool, exp int64, mag ...uint64) {
		m.Arr.Set(m.At(i, j), num.Real{Class: num.Finite, Neg: neg, Mag: mag, Exp: exp})
	}
	prec := int64(f.Prec)
	switch f.Kind {
	case num.F64, num.DD, num.TD, num.QD:
		prec = 53 * int64(1+rng.IntN(max(f.Terms(), 1)))
	case num.F32:
		prec = 24
	}
	switch family {
	case "ties": // 1 + 2^-prec and its like, or next to it
		for i := range a.Rows {
			for h := range a.Cols {
				set(a, i, h, false, 0, 0)
			}
			set(a, i, 0, false, int64(i%3), 1)
			set(a, i, 1, false, int64(i%3), 1)
			set(a, i, 2, false, int64(i%3), 1)
		}
		for j := range b.Cols {
			for h := range b.Rows {
				set(b, h, j, false, 0, 0)
			}
			neg := rng.IntN(2) == 0
			set(b, 0, j, neg, 0, uint64(rng.IntN(4)))
			set(b, 1, j, neg, -prec-int64(rng.IntN(3)), 1+2*uint64(rng.IntN(2)))
			if rng.IntN(2) == 0 {
				set(b, 2, j, rng.IntN(2) == 0, -prec-int64(rng.IntN(130)), 1)
			}
			if j%4 == 3 { // below a tie: terms that are odd, and half a unit of that
				set(b, 0, j, neg, -52, 1<<52+1)
				set(b, 1, j, neg, -53, 1)
				set(b, 2, j, !neg, -53-54-int64(rng.IntN(40)), 1)
			}
		}
	case "cancel": // the second half is the first one with the other sign, but for some entries
		for i := range a.Rows {
			for h := range a.Cols / 2 {
				a.Arr.CopyFrom(a.At(i, a.Cols/2+h), a.Arr, a.At(i, h))
			}
		}
		for j := range b.Cols {
			for h := range b.Rows / 2 {
				var buf [num.MaxValueWords]uint64
				r := b.Arr.Value(b.At(h, j), buf[:])
				r.Neg = !r.Neg
				b.Arr.Set(b.At(b.Rows/2+h, j), r)
			}
			if rng.IntN(3) == 0 {
				set(b, 0, j, false, -int64(rng.IntN(400)), 1)
			}
		}
	case "range": // rows and columns that take the results to the ends of float64 and MP
		for i := range a.Rows {
			e := []int64{0, 60, -60, -80, 520, -520, -560, math.MaxInt32 / 2, math.MinInt32 / 2}[rng.IntN(9)]
			for h := range a.Cols {
				set(a, i, h, rng.IntN(2) == 0, e-60, rng.Uint64())
			}
		}
		for j := range b.Cols {
			e := []int64{0, 60, -60, -70, 500, -500, -540, 510}[rng.IntN(8)]
			for h := range b.Rows {
				set(b, h, j, rng.IntN(2) == 0, e-int64(rng.IntN(4))-60, rng.Uint64())
			}
		}
	case "integers": // exact results, shorter than the format or a little longer
		limit := int64(1) << min(prec/2+1, 20)
		for i := range a.Rows {
			for h := range a.Cols {
				set(a, i, h, rng.IntN(2) == 0, 0, uint64(rng.Int64N(limit)))
			}
		}
		for j := range b.Cols {
			for h := range b.Rows {
				set(b, h, j, rng.IntN(2) == 0, 0, uint64(rng.Int64N(limit)))
			}
		}
	case "special":
		for range 3 {
			c := []num.Class{num.Inf, num.NaN}[rng.IntN(2)]
			if rng.IntN(2) == 0 {
				a.Arr.Set(a.At(rng.IntN(a.Rows), rng.IntN(a.Cols)), num.Real{Class: c})
			} else {
				b.Arr.Set(b.At(rng.IntN(b.Rows), rng.IntN(b.Cols)), num.Real{Class: c, Neg: true})
			}
		}
	}
}
