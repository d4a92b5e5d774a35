package mem_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// randomView returns a view of some numbers of a rows x cols array, as slices, transposes, rows,
// columns and strides make them.
func randomView(rng *rand.Rand, a *mem.Array, rows, cols int) mem.Matrix {
	m := mem.Matrix{Arr: a, RS: 1, CS: rows, Rows: rows, Cols: cols}
	if rng.IntN(4) == 0 { // a vector with a stride
		v := mem.Vector{Arr: a, Off: rng.IntN(rows * cols), Inc: []int{1, 2, 3, rows, -1, -3, -rows}[rng.IntN(7)], N: 1}
		for rng.IntN(8) > 0 && v.Off+v.N*v.Inc >= 0 && v.Off+v.N*v.Inc < rows*cols {
			v.N++
		}
		return v.Col()
	}
	part := func(n int) (from, to int) {
		from = rng.IntN(n + 1)
		return from, from + rng.IntN(n-from+1)
	}
	i0, i1 := part(rows)
	j0, j1 := part(cols)
	m.Off, m.Rows, m.Cols = i0+j0*rows, i1-i0, j1-j0
	if rng.IntN(2) == 0 {
		m = m.T()
	}
	return m
}

// TestOverlaps compares with the sets of numbers.
func TestOverlaps(t *testing.T) {
	rng := testseed.Rand(t, 5, 5)
	seen := map[bool]int{}
	for range 20000 {
		a, b := new(mem.Array), new(mem.Array)
		rows, cols := 1+rng.IntN(7), 1+rng.IntN(7)
		x, y := randomView(rng, a, rows, cols), randomView(rng, a, rows, cols)
		in := map[int]bool{}
		for i := range x.Rows {
			for j := range x.Cols {
				in[x.Off+i*x.RS+j*x.CS] = true
			}
		}
		want := false
		for i := range y.Rows {
			for j := range y.Cols {
				want = want || in[y.Off+i*y.RS+j*y.CS]
			}
		}
		if got := x.Overlaps(y); got != want {
			t.Fatalf("%+v and %+v: got %v, want %v", x, y, got, want)
		}
		seen[want]++
		y.Arr = b
		if x.Overlaps(y) {
			t.Fatalf("%+v and %+v overlap", x, y)
		}
	}
	if seen[true] < 1000 || seen[false] < 1000 {
		t.Errorf("one-sided: %v", seen)
	}
	// Rows and columns that are interleaved: i + 2 j, 2 <= 3.
	if x := (mem.Matrix{RS: 1, CS: 2, Rows: 4, Cols: 3}); !x.Overlaps(x) {
		t.Error("a view does not overlap itself")
	}
}

// TestViews copies views to the device and back.
func TestViews(t *testing.T) {
	dev, err := cuda.OpenDriver(new(fake.Driver), 0)
	if err != nil {
		t.Fatal(err)
	}
	rng := testseed.Rand(t, 6, 6)
	for _, f := range []num.Format{num.Float32, num.Float64, num.TDouble, gputest.MP(100)} {
		for range 300 {
			rows, cols := 1+rng.IntN(5), 1+rng.IntN(5)
			whole := gputest.RandomMat(rng, f, gputest.Uniform, rows, cols)
			err := dev.Do(context.Background(), func(s *cuda.Stream) error {
				a, err := mem.Upload(s, whole.Arr)
				if err != nil {
					return err
				}
				defer a.Free()
				v := randomView(rng, a, rows, cols)
				fresh := gputest.RandomMat(rng, f, gputest.Uniform, v.Cols, v.Rows).T()
				if rng.IntN(2) == 0 {
					fresh = gputest.RandomMat(rng, f, gputest.Uniform, v.Rows, v.Cols)
				}
				if err := v.Set(s, fresh); err != nil {
					return err
				}
				for i := range v.Rows {
					for j := range v.Cols {
						whole.Arr.CopyFrom(v.Off+i*v.RS+j*v.CS, fresh.Arr, fresh.At(i, j))
					}
				}
				got, err := v.Get(s)
				if err != nil {
					return err
				}
				for i := range v.Rows {
					for j := range v.Cols {
						if !got.Arr.SameBits(got.At(i, j), fresh.Arr, fresh.At(i, j)) {
							t.Errorf("%v, %+v: entry (%d, %d) changes on its way", f, v, i, j)
						}
					}
				}
				all, err := a.Host(s)
				if err != nil {
					return err
				}
				for i := range all.Len() {
					if !all.SameBits(i, whole.Arr, i) {
						t.Errorf("%v, %+v: number %d of the array is wrong", f, v, i)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := dev.Counters().InUse; n != 0 {
		t.Errorf("%d bytes are left in use", n)
	}
}
