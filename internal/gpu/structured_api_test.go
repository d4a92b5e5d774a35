package gpu_test

import (
	"errors"
	"math"
	"testing"

	. "github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
)

// TestStructured runs routines with band, symmetric and triangular matrices on a GPU for operands
// of the host, and compares with the CPU, bit for bit: ordinary numbers, infinities and zeros.
func TestStructured(t *testing.T) {
	onGPU := &Options{Device: "cuda:0"}
	gputest.OnDevices(t, 12, 50, func(t *testing.T, size int) {
		formats := []Format{DD, Float64, MP(106)}
		if testing.Short() {
			formats = formats[:1]
		}
		for _, f := range formats {
			n := size + 30 // rows from which blocks are gathered
			a, b, c := Random(f, n, n, 5, 1), Random(f, n, 4, 5, 2), Random(f, n, n, 5, 3)
			third := must(ParseScalar(MP(80), "0.33333"))
			for _, kind := range []string{"random", "Inf", "zeros"} {
				switch kind {
				case "Inf":
					b.SetFloat64(3, 1, math.Inf(1))
				case "zeros":
					b = Random(f, n, 4, 5, 2)
					for i := range n {
						b.SetFloat64(i, 0, math.Copysign(0, -1))
						c.SetFloat64(i, 1, 1)
					}
				}
				for name, call := range map[string]func(x, y *Vector, p, q *Matrix, opt *Options) (Stats, error){
					"Gbmv": func(x, y *Vector, _, _ *Matrix, opt *Options) (Stats, error) {
						return Gbmv(NoTrans, n, n/2, n-1-n/2, third, a, x, Float(1), y, opt)
					},
					"Symv": func(x, y *Vector, _, _ *Matrix, opt *Options) (Stats, error) {
						return Symv(Lower, Float(1), a, x, Float(0), y, opt)
					},
					"Spmv": func(x, y *Vector, _, _ *Matrix, opt *Options) (Stats, error) {
						return Spmv(Upper, Float(1), a.Vec().Slice(0, n*(n+1)/2), x, Float(0), y, opt)
					},
					"Trmv": func(x, y *Vector, _, _ *Matrix, opt *Options) (Stats, error) {
						return Trmv(Upper, NoTrans, Unit, a, x, opt)
					},
					"Syr": func(x, y *Vector, _, q *Matrix, opt *Options) (Stats, error) { return Syr(Upper, third, x, q, opt) },
					"Syr2": func(x, y *Vector, _, q *Matrix, opt *Options) (Stats, error) {
						return Syr2(Lower, Float(1), x, y, q, opt)
					},
					"Syr2k": func(_, _ *Vector, p, q *Matrix, opt *Options) (Stats, error) {
						return Syr2k(Upper, NoTrans, Float(-1), p, a.Slice(0, n, 0, 4), Float(1), q, opt)
					},
					"Symm": func(_, _ *Vector, p, q *Matrix, opt *Options) (Stats, error) {
						return Symm(Right, Upper, Float(1), a, p.T(), Float(0), q.Slice(0, 4, 0, n), opt)
					},
					"Trmm": func(_, _ *Vector, p, _ *Matrix, opt *Options) (Stats, error) {
						return Trmm(Left, Lower, Trans, NonUnit, third, a, p, opt)
					},
					"Rot": func(x, y *Vector, _, _ *Matrix, opt *Options) (Stats, error) { return Rot(x, y, third, Float(2), opt) },
				} {
					run := func(opt *Options) (*Matrix, *Matrix) {
						p, q := b.Clone(), c.Clone()
						must(call(p.Col(0), p.Col(1), p, q, opt))
						return p, q
					}
					p, q := run(onCPU)
					u, v := run(onGPU)
					if !p.Same(u) || !q.Same(v) {
						t.Errorf("%s of %v, %s: other bits than on the CPU", name, f, kind)
					}
				}
			}
		}
		x := NewVector(Float64, 1)
		if _, err := Copy(x, x, &Options{Device: "cuda:7"}); !errors.Is(err, ErrDevice) {
			t.Errorf("Copy on cuda:7: error %v", err)
		}
	})
}
