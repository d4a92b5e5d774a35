package gputest

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

func refShortPivots(l *fake.Launch, g abi.Elimination, p abi.Pivoting) {
	chosen := make([]int32, abi.SeedBlock)
	panelPivots(l, g, p, chosen)
	all := candidatesOf(l, g, 0, 0, int(g.N-g.First))
	var given panelRows
	for _, place := range chosen {
		given.places = append(given.places, place)
		given.rows = append(given.rows, all.rows[place-g.First])
	}
	takePivots(l, g, given, true)
}

func refPivotPanel(l *fake.Launch, g abi.Elimination, p abi.Pivoting) {
	panelPivots(l, g, p, fake.Slice[int32](l, p.Chosen, abi.SeedBlock))
}

// panelPivots is pivotPanel of kernels/seed/partial.cu, but that it compares all bits of numbers.
func panelPivots(l *fake.Launch, g abi.Elimination, p abi.Pivoting, chosen []int32) {
	const k = abi.SeedBlock
	n := int(g.N)
	order := fake.Slice[int32](l, g.Order, n)
	tops := fake.Slice[int64](l, p.Tops, int(p.N))
	panel := candidatesOf(l, g, 0, 0, n-int(g.First))
	taken := make([]bool, len(panel.rows))
	for c := range k {
		pivot, most, exp := -1, 0.0, int64(math.MinInt64)
		for r, row := range panel.rows {
			if taken[r] {
				continue
			}
			frac, e := math.Frexp(math.Abs(row[c]))
			top := int64(e)
			if i := order[panel.places[r]]; i < p.N {
				top += tops[i]
			}
			if pivot < 0 || frac != 0 && (most == 0 || top > exp || top == exp && frac > most) {
				pivot, most, exp = r, frac, top
			}
		}
		chosen[c], taken[pivot] = panel.places[pivot], true
		inverse := 0.0
		if v := panel.rows[pivot][c]; v != 0 {
			inverse = 1 / v
		}
		for r, row := range panel.rows {
			if taken[r] {
				continue
			}
			m := row[c] * inverse
			for j := c + 1; j < k; j++ {
				row[j] -= float64(m * panel.rows[pivot][j])
			}
		}
	}
}

func refParted(l *fake.Launch, k abi.Parting) {
	a := matOf(l, k.A)
	lower, upper := resultsOf(l, k.Lower, k.A), resultsOf(l, k.Upper, k.A)
	for j := range a.Cols {
		for i := range a.Rows {
			to, other := lower, upper
			if i <= j {
				to, other = upper, lower
			}
			to.Arr.CopyFrom(to.At(i, j), a.Arr, a.At(i, j))
			other.Arr.Set(other.At(i, j), num.Real{})
		}
	}
}

func refNotSmall(l *fake.Launch, v abi.Vectors, count cuda.Pointer, bound float64) {
	a := matOf(l, v)
	for j := range a.Cols {
		for i := j + 1; i < a.Rows; i++ {
			if x, e := a.Arr.Leading(a.At(i, j)); math.Ldexp(math.Abs(x), int(max(-2, min(e, 3)))) > bound {
				fake.Slice[uint32](l, count, 1)[0]++
			}
		}
	}
}

func refSquaredFactors(l *fake.Launch, q abi.SquareOf) {
	e, size := matOf(l, q.E), int(q.Size)
	columns, rows := fake.Slice[float64](l, q.Columns, size*size), fake.Slice[float64](l, q.Rows, size*size)
	clear(columns)
	clear(rows)
	for j := range e.Cols {
		for i := range e.Rows {
			f, exp := e.Arr.Leading(e.At(i, j))
			x := math.Ldexp(f, int(max(-2000, min(exp, 2000))))
			columns[i+j*size], rows[i*size+j] = x, x
		}
	}
}

func refSquare(l *fake.Launch, q abi.SquareOf) {
	size := int(q.Size)
	columns, rows, z := fake.Slice[float64](l, q.Columns, size*size), fake.Slice[float64](l, q.Rows, size*size), fake.Slice[float64](l, q.Z, size*size)
	for j := range size {
		for i := range size {
			sum := 0.0
			for k := range max(i, j+1) {
				sum -= float64(columns[i+k*size] * rows[k*size+j])
			}
			z[i+j*size] = sum
		}
	}
}
