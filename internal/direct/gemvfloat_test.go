package direct

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
)

// TestSmallFloatProducts compares products of small matrices of binary64 and binary32 numbers with
// the exact sums of their entries: signs of zeros, ties, cancellation, numbers near the ends of the
// range, factors that are no powers of two, and results that are added to.
func TestSmallFloatProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 4))
	numbers := []func() float64{
		func() float64 { return r.NormFloat64() },
		func() float64 { return float64(r.IntN(5) - 2) },
		func() float64 { return math.Copysign(0, float64(r.IntN(2))-0.5) },
		func() float64 { return math.Ldexp(r.NormFloat64(), r.IntN(240)-120) },
		func() float64 { return math.Ldexp(r.NormFloat64(), r.IntN(1000)-500) },
		func() float64 { return math.Ldexp(float64(r.IntN(9)-4), -1074) },
		func() float64 { return math.Ldexp(1+float64(r.IntN(3))*0x1p-52, r.IntN(3)-1) },
		func() float64 {
			return [...]float64{0, math.Inf(1), math.NaN(), -1, 1e300, 1, 2, 3}[r.IntN(8)]
		},
	}
	factors := []float64{1, -1, 0.5, -3, 1.0 / 3, 0x1p-600, 1e200, 5e-324, math.Inf(1), 0}
	kinds := []num.Format{num.Float64, num.Float32}
	fill := func(m num.Mat, next func() float64) {
		for j := range m.Cols {
			for i := range m.Rows {
				var buf [1]uint64
				m.Arr.Set(m.At(i, j), floatReal(next(), buf[:]))
			}
		}
	}
	matrix := func(f num.Format, rows, cols int, byRows bool) num.Mat {
		m := num.Mat{Arr: num.New(f, rows*cols), RS: 1, CS: rows, Rows: rows, Cols: cols}
		if byRows {
			m.RS, m.CS = cols, 1
		}
		return m
	}
	real := func(x float64) num.Real { return floatReal(x, make([]uint64, 1)) }
	for round := range 4000 {
		m, n, k := 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(24)
		next := numbers[r.IntN(len(numbers))]
		p := Product{
			Alpha: real(factors[r.IntN(len(factors)-1)]), Beta: real(factors[r.IntN(len(factors))]),
			A: matrix(kinds[r.IntN(2)], m, k, r.IntN(2) == 0), B: matrix(kinds[r.IntN(2)], k, n, r.IntN(2) == 0),
			Old: matrix(kinds[r.IntN(2)], m, n, r.IntN(2) == 0), C: matrix(kinds[r.IntN(2)], m, n, r.IntN(2) == 0),
		}
		if m == n {
			p.Triangle = [...]byte{0, 'U', 'L'}[r.IntN(3)]
		}
		fill(p.A, next)
		fill(p.B, next)
		fill(p.Old, numbers[r.IntN(len(numbers))])
		q := p
		q.C = matrix(p.C.Arr.Format, m, n, false)
		fill(p.C, func() float64 { return 7 })
		fill(q.C, func() float64 { return 7 })
		var flags [2]num.Flags
		w := Work{Context: context.Background(), Threads: 2}
		if _, err := Gemm(w, p, 0, func(f num.Flags) { flags[0] |= f }); err != nil {
			t.Fatal(err)
		}
		if err := Entries(w, q, func(f num.Flags) { flags[1] |= f }); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("round %d: %d x %d x %d, alpha %v, beta %v, %v %v %v %v", round, m, k, n, p.Alpha, p.Beta, p.A.Arr.Format, p.B.Arr.Format, p.Old.Arr.Format, p.C.Arr.Format)
		if flags[0] != flags[1] {
			t.Errorf("%s: flags %v, not %v", what, flags[0], flags[1])
		}
		for j := range n {
			for i := range m {
				x, y := floatAt(p.C.Arr, p.C.At(i, j)), floatAt(q.C.Arr, q.C.At(i, j))
				if math.Float64bits(x) != math.Float64bits(y) && (x == x || y == y) {
					t.Fatalf("%s: entry (%d, %d) is %x, not %x", what, i, j, x, y)
				}
			}
		}
	}
}
