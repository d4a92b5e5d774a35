package rows

import (
	"context"
	"fmt"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// TestElementwise compares the routines that work entry by entry, and exact sums, with the host's
// results.
func TestElementwise(t *testing.T) {
	dev := gputest.Machine(t)
	list := append(updateProblems(41, 3), updateProblems(300, 20)...)
	for _, p := range updateProblems(1100, 70) {
		if !testing.Short() && p.alpha.Class == num.Finite && p.out.Prec < 1000 {
			list = append(list, p)
		}
	}
	for _, p := range list {
		checkUpdate(t, dev, p)
	}
	checkUpdate(t, dev, updateProblem{in: num.Float64, inY: num.Float64, out: num.Float64, alpha: alphas[4], m: 1 << 20, n: 0, inc: 1})
	for _, n := range []int{1, 2, 50, 5000, 100003} {
		checkSearches(t, dev, n)
	}
	for _, p := range rowProblems(160) {
		if p.m > 0 && p.k > 0 {
			checkMoments(t, dev, p)
		}
	}
}

// TestSanitizeElementwise runs small problems with every kernel and path.
func TestSanitizeElementwise(t *testing.T) {
	dev := gputest.Machine(t)
	for i, p := range updateProblems(70, 2) {
		if i%5 == 0 {
			checkUpdate(t, dev, p)
		}
	}
	checkSearches(t, dev, 50)
}

// BenchmarkElementwise measures routines entry by entry on resident operands of 2^20 numbers, 2^24
// of binary64. alpha has 53 bits, as many as the numbers in those named Long; of Ger it is -1 or
// has 53 bits.
func BenchmarkElementwise(b *testing.B) {
	dev := gputest.Machine(b)
	for _, p := range rowPrecisions {
		for _, name := range []string{"Scal", "Axpy", "AxpyLong", "Ger", "GerLong", "Iamax", "Mean"} {
			b.Run(fmt.Sprintf("%s/%d", name, p), func(b *testing.B) {
				err := dev.Do(context.Background(), func(s *cuda.Stream) error {
					e, err := newElementBench(s, name, benchFormat(p))
					if err != nil {
						return err
					}
					defer e.free()
					if err := e.check(); err != nil { // loads the kernels
						return err
					}
					for b.Loop() {
						if err := e.run(); err != nil {
							return err
						}
					}
					vectors := map[string]int64{"Scal": 2, "Axpy": 3, "AxpyLong": 3, "Ger": 2, "GerLong": 2}[name]
					bytes := max(1, vectors) * int64(e.a.Rows*e.a.Cols) * num.SizeOf(e.a.Arr.Format)
					b.ReportMetric(float64(bytes)*float64(b.N)/b.Elapsed().Seconds()*1e-9, "GB/s")
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// elementBench is a routine with its resident operands.
type elementBench struct {
	s     *cuda.Stream
	name  string
	alpha num.Real
	a, b  mem.Matrix
}

func newElementBench(s *cuda.Stream, name string, f num.Format) (*elementBench, error) {
	side := 1 << 10
	if f == num.Float64 {
		side = 1 << 12
	}
	e := &elementBench{s: s, name: name, alpha: gputest.Scalar(-1 + 0x1p-53)}
	switch name {
	case "AxpyLong":
		e.alpha = num.Real{Class: num.Finite, Exp: int64(-f.Bits()), Mag: onesOf(f.Bits())}
	case "Ger":
		e.alpha = gputest.Scalar(-1)
	}
	var err error
	if e.a, err = gputest.RandomOnDevice(s, f, side, 0, 1); err != nil {
		return nil, err
	}
	if e.b, err = gputest.RandomOnDevice(s, f, side, 0, 2); err != nil {
		e.a.Arr.Free()
	}
	return e, err
}

func (e *elementBench) free() {
	e.a.Arr.Free()
	e.b.Arr.Free()
}

func (e *elementBench) run() (err error) {
	none := func(num.Flags) {}
	n := e.a.Rows * e.a.Cols
	x, y := mem.Vector{Arr: e.a.Arr, Off: 0, Inc: 1, N: n}, mem.Vector{Arr: e.b.Arr, Off: 0, Inc: 1, N: n}
	switch e.name {
	case "Scal":
		_, err = ScalOnDevice(e.s, par.Run{}, e.alpha, x, none)
	case "Axpy", "AxpyLong":
		_, err = AxpyOnDevice(e.s, par.Run{}, e.alpha, y, x, none)
	case "Ger", "GerLong":
		x.N, y.N = e.a.Rows, e.a.Cols
		y.Off = e.b.Rows
		x.Arr = e.b.Arr
		_, err = GerOnDevice(e.s, par.Run{}, e.alpha, x, y, e.a, none)
	case "Iamax":
		_, _, err = IamaxOnDevice(e.s, par.Run{}, x)
	case "Mean":
		_, _, err = MomentsOnDevice(e.s, par.Run{}, x, direct.First)
	}
	return err
}

// check compares results of updates with the host's. TestElementwise checks the others.
func (e *elementBench) check() error {
	a, err := e.a.Get(e.s)
	if err != nil {
		return err
	}
	b, err := e.b.Get(e.s)
	if err != nil {
		return err
	}
	if err := e.run(); err != nil {
		return err
	}
	got, err := e.a.Get(e.s)
	if err != nil {
		return err
	}
	f, side := a.Arr.Format, e.a.Rows
	want := num.New(f, side*side)
	w := direct.Work{Run: par.Run{}.Filled()}
	none := func(num.Flags) {}
	x, y := num.Vec{Arr: a.Arr, Inc: 1, N: side * side}, num.Vec{Arr: b.Arr, Inc: 1, N: side * side}
	switch e.name {
	case "Scal":
		err = direct.Scale(w, e.alpha, x, want, none)
	case "Axpy", "AxpyLong":
		err = direct.Update(w, e.alpha, y, ones, x.Mat(), want, none)
	case "Ger", "GerLong":
		err = direct.Update(w, e.alpha, b.Col(0), b.Col(1), a, want, none)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	for i := range want.Len() {
		if !got.Arr.SameBits(i, want, i) {
			return fmt.Errorf("%v: %s: number %d: got %v, want %v", f, e.name, i, gputest.Show(got.Arr, i), gputest.Show(want, i))
		}
	}
	return nil
}
