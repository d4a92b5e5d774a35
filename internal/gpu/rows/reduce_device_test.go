package rows

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// TestRows compares level 1 and 2 on a GPU with the results on the host.
func TestRows(t *testing.T) {
	dev := gputest.Machine(t)
	list := append(rowProblems(40), rowProblems(160)...)
	for _, f := range []num.Format{num.Float64, gputest.MP(106), gputest.MP(424)} {
		for _, kind := range []gputest.Family{gputest.Uniform, gputest.Spread, gputest.Integers, gputest.Special} {
			list = append(list, rowProblem{in: f, inX: f, out: f, kind: kind, m: 1, k: 100003, alpha: 1, inc: 1},
				rowProblem{in: f, inX: f, out: f, kind: kind, m: 500, k: 301, alpha: -4, inc: 1, trans: true})
		}
	}
	for _, p := range list {
		checkGemv(t, dev, p)
		checkReductions(t, dev, p)
	}
}

// TestSanitizeRows runs small problems with every kernel of level 1 and 2.
func TestSanitizeRows(t *testing.T) {
	dev := gputest.Machine(t)
	for _, p := range []int{24, 53, 80, 106, 130, 180, 212, 240, 330, 424, 600, 848, 1300, 1696} {
		f := gputest.MP(p)
		if p == 53 {
			f = num.Float64
		}
		for _, m := range []int{3, 130} {
			q := rowProblem{in: f, inX: f, out: f, kind: gputest.Special, m: m, k: 11, alpha: 1, inc: 1, trans: p%3 == 0}
			checkGemv(t, dev, q)
			if m == 3 {
				checkReductions(t, dev, q)
			}
		}
	}
}

// TestColumns checks the columns of digits.
func TestColumns(t *testing.T) { checkColumns(t, gputest.Machine(t), 1) }

// TestOuter compares products of all MP numbers by the kernels of kernels/rows/outer.cuh with those
// of the host.
func TestOuter(t *testing.T) {
	dev := gputest.Machine(t)
	alwaysOuter(t)
	list := append(append(rowProblems(40), rowProblems(160)...), outerProblems()...)
	for _, p := range []int{53, 106, 212, 424, 848, 1696} {
		f := gputest.MP(p)
		for _, kind := range []gputest.Family{gputest.Uniform, gputest.Spread, gputest.Cancel, gputest.Special} {
			list = append(list, rowProblem{in: f, inX: f, out: f, kind: kind, m: 1, k: 100003, alpha: 1, inc: 1})
		}
	}
	for _, p := range list {
		checkGemv(t, dev, p)
		checkReductions(t, dev, p)
	}
	checkColumns(t, dev, 1)
}

// TestSanitizeOuter runs small problems with each of them.
func TestSanitizeOuter(t *testing.T) {
	dev := gputest.Machine(t)
	alwaysOuter(t)
	for _, p := range []int{106, 330, 424, 848, 1696} {
		f := gputest.MP(p)
		q := rowProblem{in: f, inX: f, out: f, kind: gputest.Special, m: 3, k: 333, alpha: 1, inc: 1, trans: p%4 == 0}
		checkGemv(t, dev, q)
		checkReductions(t, dev, q)
	}
}

// TestWords compares sums of all MP numbers by the kernels of kernels/rows/words.cuh with sums of
// the host.
func TestWords(t *testing.T) {
	dev := gputest.Machine(t)
	list := wordProblems()
	for _, p := range []int{53, 106, 212, 424, 848, 1696} {
		f := gputest.MP(p)
		for _, kind := range []gputest.Family{gputest.Uniform, gputest.Spread, gputest.Cancel, gputest.Special} {
			list = append(list, rowProblem{in: f, inX: f, out: f, kind: kind, m: 1, k: 100003, alpha: 1, inc: 1})
		}
	}
	checkWords(t, dev, list, 1)
}

// TestSanitizeWords runs small problems with each of them.
func TestSanitizeWords(t *testing.T) {
	alwaysWords(t)
	dev := gputest.Machine(t)
	for _, p := range []int{106, 330, 848, 1696} {
		f := gputest.MP(p)
		checkReductions(t, dev, rowProblem{in: f, inX: f, out: f, kind: gputest.Special, m: 3, k: 333, alpha: 1, inc: 1 + p%4/2})
	}
}

// rowBench is what the benchmarks run: level 1 and 2 on resident operands.
type rowBench struct {
	s    *cuda.Stream
	m    mem.Matrix
	x, y mem.Vector
	z    *mem.Array
	out  *num.Array
}

// side is the order of the matrix, and its square the length of vectors.
const side = 1000

func newRowBench(s *cuda.Stream, f num.Format) (*rowBench, error) {
	m, err := gputest.RandomOnDevice(s, f, side, 0, 1)
	if err != nil {
		return nil, err
	}
	y, err := gputest.RandomOnDevice(s, f, side, 0, 2)
	if err != nil {
		return nil, err
	}
	z, err := mem.NewArray(s, f, side)
	return &rowBench{s: s, m: m, x: mem.Vector{Arr: m.Arr, Off: 0, Inc: 1, N: side * side}, y: mem.Vector{Arr: y.Arr, Off: 0, Inc: 1, N: side * side}, z: z, out: num.New(f, 1)}, err
}

func (b *rowBench) free() {
	b.m.Arr.Free()
	b.y.Arr.Free()
	b.z.Free()
}

// rowRoutines are what is measured.
var rowRoutines = []string{"Gemv", "GemvTrans", "Sum", "Asum", "Dot", "Nrm2"}

func (b *rowBench) run(name string) (Counts, error) {
	m := b.m
	switch name {
	case "GemvTrans":
		m = m.T()
		fallthrough
	case "Gemv":
		x := b.y
		x.N = side
		return GemvOnDevice(b.s, par.Run{}, gputest.Scalar(1), m, x, num.Real{}, mem.Vector{}, mem.Vector{Arr: b.z, Off: 0, Inc: 1, N: side}, func(num.Flags) {})
	case "Sum":
		_, c, err := ReduceOnDevice(b.s, par.Run{}, direct.Sum, b.x, b.x, b.out)
		return c, err
	case "Asum":
		_, c, err := ReduceOnDevice(b.s, par.Run{}, direct.Asum, b.x, b.x, b.out)
		return c, err
	case "Nrm2":
		_, c, err := NormOnDevice(b.s, par.Run{}, b.x, b.out)
		return c, err
	}
	_, c, err := ReduceOnDevice(b.s, par.Run{}, direct.Dot, b.x, b.y, b.out)
	return c, err
}

// check compares results with the host's.
func (b *rowBench) check(name string) error {
	x, err := b.m.Arr.Host(b.s)
	if err != nil {
		return err
	}
	y, err := b.y.Arr.Host(b.s)
	if err != nil {
		return err
	}
	w := direct.Work{Run: par.Run{}.Filled()}
	got, want := b.out, num.New(b.out.Format, 1)
	m := b.m.On(x)
	switch name {
	case "GemvTrans":
		m = m.T()
		fallthrough
	case "Gemv":
		if got, err = b.z.Host(b.s); err != nil {
			return err
		}
		want = num.New(b.out.Format, side)
		_, err = direct.Gemv(w, gputest.Scalar(1), m, num.Vec{Arr: y, Inc: 1, N: side}, num.Real{}, num.Vec{}, want, func(num.Flags) {})
	case "Sum":
		_, _, err = direct.Sum.Round(w, b.x.On(x), b.x.On(x), want)
	case "Asum":
		_, _, err = direct.Asum.Round(w, b.x.On(x), b.x.On(x), want)
	case "Nrm2":
		_, _, err = direct.Norm(w, b.x.On(x), want)
	default:
		_, _, err = direct.Dot.Round(w, b.x.On(x), b.y.On(y), want)
	}
	if err != nil {
		return err
	}
	for i := range want.Len() {
		if !got.SameBits(i, want, i) {
			return fmt.Errorf("%v: %s: number %d: got %v, want %v", want.Format, name, i, gputest.Show(got, i), gputest.Show(want, i))
		}
	}
	return nil
}

var rowPrecisions = []int{53, 106, 212, 424, 848, 1696}

func benchFormat(p int) num.Format {
	if p == 53 {
		return num.Float64
	}
	return gputest.MP(p)
}

// BenchmarkRows measures level 1 and 2 of resident operands with the rounding.
func BenchmarkRows(b *testing.B) {
	dev := gputest.Machine(b)
	for _, p := range rowPrecisions {
		for _, name := range rowRoutines {
			b.Run(fmt.Sprintf("%s/%d", name, p), func(b *testing.B) {
				err := dev.Do(context.Background(), func(s *cuda.Stream) error {
					r, err := newRowBench(s, benchFormat(p))
					if err != nil {
						return err
					}
					defer r.free()
					if _, err := r.run(name); err != nil { // loads the kernels
						return err
					}
					for b.Loop() {
						if _, err := r.run(name); err != nil {
							return err
						}
					}
					return r.check(name)
				})
				if err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// BenchmarkRowKernels measures the kernels of BenchmarkRows alone, by the device's clock: many of
// them wait in the stream, each for the kernel before it. A call takes longer by the launch and the
// answer.
func BenchmarkRowKernels(b *testing.B) {
	dev := gputest.Machine(b)
	for _, p := range rowPrecisions {
		for _, name := range []string{"Gemv", "Sum", "Dot"} {
			b.Run(fmt.Sprintf("%s/%d", name, p), func(b *testing.B) {
				err := dev.Do(context.Background(), func(s *cuda.Stream) error { return benchmarkRowKernel(b, s, name, benchFormat(p)) })
				if err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

func benchmarkRowKernel(b *testing.B, s *cuda.Stream, name string, f num.Format) error {
	r, err := newRowBench(s, f)
	if err != nil {
		return err
	}
	defer r.free()
	q := &rowSums{s: s, a: r.x.Row()}
	y := r.y.Row()
	to := abi.TargetOf(mem.Vector{Arr: r.z, Off: 0, Inc: 1, N: side}.Col())
	switch name {
	case "Gemv":
		y.Cols = side
		q.a, q.x = r.m, &y
	case "Dot":
		q.x = &y
	}
	defer q.free()
	digits := q.digitsToRound(f)
	box, err := mailboxOf(s)
	if err != nil {
		return err
	}
	launch := func() error {
		return q.compute(digits, func() abi.RowEnding {
			end := abi.RowEnding{Does: abi.Tells, Answer: box.At(0), Ticket: box.Ticket()}
			if name == "Gemv" {
				errors, shift := q.error()
				end.Does = abi.Rounds
				end.To = abi.RowRounding{C: to, List: q.memory.At(q.listAt()), Unit: q.unit(), Error: float64(errors) * float64(int64(1)<<shift), Exact: q.exactSpread(digits)}
			}
			return end
		})
	}
	first, err := s.NewEvent()
	if err != nil {
		return err
	}
	defer first.Close()
	last, err := s.NewEvent()
	if err != nil {
		return err
	}
	defer last.Close()
	count := 0
	var total time.Duration
	for b.Loop() {
		for i := range 64 {
			if i == 4 { // the host is ahead
				if err := s.Record(first); err != nil {
					return err
				}
			}
			if err := launch(); err != nil {
				return err
			}
		}
		if err := s.Record(last); err != nil {
			return err
		}
		if err := s.Synchronize(); err != nil {
			return err
		}
		t, err := last.Since(first)
		if err != nil {
			return err
		}
		total += t
		count += 60
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(total.Nanoseconds())/1e3/float64(count), "µs/kernel")
	return nil
}

// BenchmarkOuter measures products with and without the kernels of kernels/rows/outer.cuh, of
// vectors of several lengths and of matrices: what outerRules are set by.
func BenchmarkOuter(b *testing.B) {
	dev := gputest.Machine(b)
	for _, p := range []int{106, 212, 424, 848, 1696} {
		for _, shape := range [][2]int{{1, 1 << 10}, {1, 1 << 12}, {1, 1 << 14}, {1, 1 << 17}, {1, 1_000_000}, {1000, 1000}, {-1000, 1000}, {8, 125_000}} {
			for _, way := range []string{"old", "new"} {
				b.Run(fmt.Sprintf("%d/%dx%d/%s", p, shape[0], shape[1], way), func(b *testing.B) {
					var rules outerRule
					if way == "new" {
						rules.rows = math.MaxInt
					}
					defer func(old outerRule) { outerRules = old }(outerRules)
					outerRules = rules
					if err := dev.Do(context.Background(), func(s *cuda.Stream) error { return benchOuter(b, s, benchFormat(p), shape[0], shape[1]) }); err != nil {
						b.Fatal(err)
					}
				})
			}
		}
	}
}

// benchOuter measures a dot product of k numbers for m = 1, else a matrix-vector product of abs(m)
// rows, of a transposed matrix if m is negative.
func benchOuter(b *testing.B, s *cuda.Stream, f num.Format, m, k int) error {
	r, err := newRowBench(s, f)
	if err != nil {
		return err
	}
	defer r.free()
	name := "Dot"
	if r.x.N, r.y.N = k, k; m != 1 {
		name = "Gemv"
		r.m = mem.Matrix{Arr: r.m.Arr, RS: 1, CS: m, Rows: m, Cols: k}
		if m < 0 {
			r.m.RS, r.m.CS, r.m.Rows = k, 1, -m
		}
	}
	run := func() (err error) {
		if name == "Dot" {
			_, err = r.run(name)
			return err
		}
		x := r.y
		_, err = GemvOnDevice(s, par.Run{}, gputest.Scalar(1), r.m, x, num.Real{}, mem.Vector{}, mem.Vector{Arr: r.z, Inc: 1, N: r.m.Rows}, func(num.Flags) {})
		return err
	}
	if err := run(); err != nil { // loads the kernels
		return err
	}
	for b.Loop() {
		if err := run(); err != nil {
			return err
		}
	}
	if name == "Dot" {
		return r.check(name)
	}
	return nil
}
