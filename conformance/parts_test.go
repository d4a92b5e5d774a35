package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testlength"
)

// TestWithoutParts runs the routines at a place that offers no optional part: calls that need one
// are computed on the host.
func TestWithoutParts(t *testing.T) {
	p := new(plain)
	defer place.Register(place.CUDA, plainBackend{p})()
	for _, resident := range []bool{false, true} {
		t.Run(fmt.Sprintf("resident=%v", resident), func(t *testing.T) {
			RunSome(t, Processes("cuda:0", resident), testlength.Of(90, 70, 10))
		})
	}
	if p.calls.Load() == 0 {
		t.Error("nothing ran there")
	}
}

// plain is a place whose numbers are in the memory of the host. It has only the methods of
// place.Place.
type plain struct{ calls atomic.Int64 }

// stored holds numbers that live at a plain place.
type stored struct {
	at    *plain
	local *num.Array
	freed atomic.Bool
}

func (s *stored) Len() int           { return s.local.Len() }
func (s *stored) Free()              { s.freed.Store(true) }
func (s *stored) Freed() bool        { return s.freed.Load() }
func (s *stored) Place() place.Place { return s.at }

// local returns a host view of a matrix that may live at a plain place.
func local(m num.Mat) num.Mat {
	if m.Arr != nil && m.Arr.Away != nil {
		m.Arr = m.Arr.Away.(*stored).local
	}
	return m
}

func localVector(x num.Vec) num.Vec {
	x.Arr = local(x.Mat()).Arr
	return x
}

func (p *plain) String() string     { return "cuda:0" }
func (p *plain) First() place.Place { return p }

func (p *plain) array(a *num.Array) *num.Array {
	return &num.Array{Format: a.Format, Away: &stored{at: p, local: a}}
}

func (p *plain) New(_ context.Context, f num.Format, rows, cols int) (*num.Array, error) {
	return p.array(num.New(f, rows*cols)), nil
}

func (p *plain) Set(_ context.Context, to, from num.Mat) error {
	local(to).CopyFrom(from)
	return nil
}

func (p *plain) Get(_ context.Context, from num.Mat) (num.Mat, error) { return local(from).Copy(), nil }

func (p *plain) Clone(_ context.Context, m num.Mat) (num.Mat, error) {
	a := local(m).Arr
	z := num.New(a.Format, a.Len())
	for i := range a.Len() {
		z.CopyFrom(i, a, i)
	}
	m.Arr = p.array(z)
	return m, nil
}

func (p *plain) Copy(_ place.Config, to, from num.Mat) error {
	local(to).CopyFrom(local(from).Copy())
	return nil
}

func (p *plain) Overlap(a, b num.Mat) bool { return a.Arr.Away == b.Arr.Away }

func (p *plain) work(c place.Config) direct.Work {
	p.calls.Add(1)
	return direct.Work{Run: c.Run}
}

func (p *plain) Gemm(c place.Config, alpha num.Real, a, b num.Mat, beta num.Real, old, z num.Mat) (residue.Stats, error) {
	p.calls.Add(1)
	st, err := product.Run(product.Config{Run: c.Run, Method: c.Method},
		product.Problem{Alpha: alpha, A: local(a), B: local(b), Beta: beta, Old: local(old), C: local(z), Triangle: c.Triangle})
	st.Device = p.String()
	return st, err
}

// store computes numbers by columns: in z for the host, else in the matrix to at its place.
func store(to num.Mat, z *num.Array, compute func(z *num.Array) error) error {
	if to.Arr.Away == nil {
		return compute(z)
	}
	z = num.New(to.Arr.Format, to.Rows*to.Cols)
	err := compute(z)
	if err == nil {
		local(to).CopyFrom(num.Mat{Arr: z, RS: 1, CS: max(to.Rows, 1), Rows: to.Rows, Cols: to.Cols})
	}
	return err
}

func (p *plain) Gemv(c place.Config, alpha num.Real, m num.Mat, x num.Vec, beta num.Real, y, z num.Vec, count func(num.Flags)) (exact int64, err error) {
	err = store(z.Mat(), z.Arr, func(z *num.Array) (err error) {
		exact, err = direct.Gemv(p.work(c), alpha, local(m), localVector(x), beta, localVector(y), z, count)
		return err
	})
	return exact, err
}

func (p *plain) Reduce(c place.Config, r direct.Reduction, x, y num.Vec, z *num.Array) (num.Flags, bool, error) {
	return r.Round(p.work(c), localVector(x), localVector(y), z)
}

func (p *plain) Norm(c place.Config, x num.Vec, z *num.Array) (num.Flags, bool, error) {
	return direct.Norm(p.work(c), localVector(x), z)
}

func (p *plain) Iamax(c place.Config, x num.Vec) (int, error) {
	return direct.LargestIndex(p.work(c), localVector(x))
}

func (p *plain) Moments(c place.Config, x num.Vec, list ...direct.Moment) (sums []*superacc.Acc, err error) {
	for _, m := range list {
		a, err := m.Exact(p.work(c), localVector(x))
		if err != nil {
			return nil, err
		}
		sums = append(sums, a)
	}
	return sums, nil
}

func (p *plain) Scal(c place.Config, alpha num.Real, x num.Vec, z *num.Array, count func(num.Flags)) error {
	return store(x.Mat(), z, func(z *num.Array) error { return direct.Scale(p.work(c), alpha, localVector(x), z, count) })
}

func (p *plain) Update(c place.Config, alpha num.Real, x, y num.Vec, a num.Mat, z *num.Array, count func(num.Flags)) error {
	if y.Arr == nil {
		y = num.Float64s(1, 1, []float64{1}).Col(0)
	}
	return store(a, z, func(z *num.Array) error {
		return direct.Update(p.work(c), alpha, localVector(x), localVector(y), local(a), z, count)
	})
}

// plainBackend is a backend with a single plain place.
type plainBackend struct{ *plain }

func (b plainBackend) Devices() ([]place.Device, error) {
	return []place.Device{{Name: b.String()}}, nil
}

func (b plainBackend) Open(numbers ...int) (place.Place, error) {
	if !slices.Equal(numbers, []int{0}) {
		return nil, fmt.Errorf("GPUs %v: %w", numbers, place.ErrDevice)
	}
	return b.plain, nil
}

func (plainBackend) IsOpen(int) bool                { return true }
func (plainBackend) Fit(place.Place) bool           { return true }
func (plainBackend) Prepare(num.Mat) place.Prepared { return unprepared{} }

func (plainBackend) EstimateGemm(_, _, _ int, _, _, _ num.Format) (time.Duration, bool) {
	return 0, false
}
func (plainBackend) EstimateTransfer(int64) time.Duration { return time.Hour }

type unprepared struct{}

func (unprepared) Free() {}
