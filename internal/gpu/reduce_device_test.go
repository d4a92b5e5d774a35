package gpu

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
)

// TestRows compares level 1 and 2 of a GPU with those of the host.
func TestRows(t *testing.T) {
	dev := machine(t)
	list := append(rowProblems(40), rowProblems(160)...)
	for _, f := range []num.Format{num.Float64, mp(106), mp(424)} {
		for _, kind := range []family{uniform, spread, integers, special} {
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
	dev := machine(t)
	for _, p := range []int{24, 53, 80, 106, 130, 180, 212, 240, 330, 424, 600, 848, 1300, 1696} {
		f := mp(p)
		if p == 53 {
			f = num.Float64
		}
		for _, m := range []int{3, 130} {
			q := rowProblem{in: f, inX: f, out: f, kind: special, m: m, k: 11, alpha: 1, inc: 1, trans: p%3 == 0}
			checkGemv(t, dev, q)
			if m == 3 {
				checkReductions(t, dev, q)
			}
		}
	}
}

// TestColumns compares the columns of digits with those of the reference.
func TestColumns(t *testing.T) {
	dev, ref := machine(t), rowReference(t, &fake.Driver{})
	for _, digits := range reduceDigits() {
		for _, products := range []bool{false, true} {
			for _, p := range []rowProblem{
				{in: mp(28*digits + 5), inX: mp(28 * digits), kind: spread, m: 3, k: 300, inc: 1},
				{in: mp(28*digits - 30), inX: num.Float64, kind: scaled, m: 60, k: 20, inc: 2},
				{in: num.Float64, inX: mp(28 * digits), kind: uniform, m: 70, k: 21, inc: 1, trans: true},
			} {
				p.out = num.Float64
				a, x, _ := p.data()
				var sums [2][]string
				for i, d := range []*cuda.Device{ref, dev} {
					sums[i] = columnSums(t, d, a, x, digits, products)
				}
				if !slices.Equal(sums[0], sums[1]) {
					t.Errorf("%v, %d digits, products %v: sums differ", p, digits, products)
				}
			}
		}
	}
}

// columnSums returns the sums of rows, as they are kept.
func columnSums(t *testing.T, dev *cuda.Device, a num.Mat, x num.Vec, digits int, products bool) (list []string) {
	err := dev.Do(context.Background(), func(s *cuda.Stream) error {
		m, err := uploadView(s, a)
		if err != nil {
			return err
		}
		defer m.Arr.Free()
		v, err := uploadVector(s, x)
		if err != nil {
			return err
		}
		defer v.Arr.Free()
		q := &rowSums{s: s, a: m}
		if products {
			row := v.row()
			q.x = &row
		}
		defer q.free()
		if err := q.run(digits); err != nil {
			return err
		}
		h, err := q.download()
		if err != nil {
			return err
		}
		for i := range a.Rows {
			r := h.sum(i)
			list = append(list, fmt.Sprint(r.Neg, r.Exp, r.Mag, h.spread(i), h.flags[i]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// rowBench is what the benchmarks run: level 1 and 2 on resident operands.
type rowBench struct {
	s    *cuda.Stream
	m    Matrix
	x, y Vector
	z    *Array
	out  *num.Array
}

// side is the order of the matrix, and its square the length of vectors.
const side = 1000

func newRowBench(s *cuda.Stream, f num.Format) (*rowBench, error) {
	m, err := residentRandom(s, f, side, 0, 1)
	if err != nil {
		return nil, err
	}
	y, err := residentRandom(s, f, side, 0, 2)
	if err != nil {
		return nil, err
	}
	z, err := NewArray(s, f, side)
	return &rowBench{s: s, m: m, x: Vector{m.Arr, 0, 1, side * side}, y: Vector{y.Arr, 0, 1, side * side}, z: z, out: num.New(f, 1)}, err
}

func (b *rowBench) free() {
	b.m.Arr.Free()
	b.y.Arr.Free()
	b.z.Free()
}

// rowRoutines are what is measured.
var rowRoutines = []string{"Gemv", "GemvTrans", "Sum", "Dot"}

func (b *rowBench) run(name string) (Counts, error) {
	m := b.m
	switch name {
	case "GemvTrans":
		m = m.T()
		fallthrough
	case "Gemv":
		x := b.y
		x.N = side
		return GemvResident(b.s, Config{}, scalar(1), m, x, num.Real{}, Vector{}, Vector{b.z, 0, 1, side}, func(num.Flags) {})
	case "Sum":
		_, c, err := ReduceResident(b.s, Config{}, direct.Sum, b.x, b.x, b.out)
		return c, err
	}
	_, c, err := ReduceResident(b.s, Config{}, direct.Dot, b.x, b.y, b.out)
	return c, err
}

// check compares results with the host's.
func (b *rowBench) check(name string) error {
	x, err := b.m.Arr.host(b.s)
	if err != nil {
		return err
	}
	y, err := b.y.Arr.host(b.s)
	if err != nil {
		return err
	}
	w := direct.Work{Context: context.Background(), Threads: Config{}.defaults().Threads}
	got, want := b.out, num.New(b.out.Format, 1)
	m := b.m.on(x)
	switch name {
	case "GemvTrans":
		m = m.T()
		fallthrough
	case "Gemv":
		if got, err = b.z.host(b.s); err != nil {
			return err
		}
		want = num.New(b.out.Format, side)
		_, err = direct.Gemv(w, scalar(1), m, num.Vec{Arr: y, Inc: 1, N: side}, num.Real{}, num.Vec{}, want, func(num.Flags) {})
	case "Sum":
		_, _, err = direct.Sum.Round(w, b.x.on(x), b.x.on(x), want)
	default:
		_, _, err = direct.Dot.Round(w, b.x.on(x), b.y.on(y), want)
	}
	if err != nil {
		return err
	}
	for i := range want.Len() {
		if !got.SameBits(i, want, i) {
			return fmt.Errorf("%v: %s: number %d: got %v, want %v", want.Format, name, i, show(got, i), show(want, i))
		}
	}
	return nil
}

var rowPrecisions = []int{53, 106, 212, 424, 848, 1696}

func benchFormat(p int) num.Format {
	if p == 53 {
		return num.Float64
	}
	return mp(p)
}

// BenchmarkRows measures level 1 and 2 of resident operands with the rounding.
func BenchmarkRows(b *testing.B) {
	dev := machine(b)
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
