package gpu_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	. "github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/testlength"
)

// structuredCalls are routines with band, symmetric and triangular matrices, and rotations, of A n
// x n, X n x 4, whose columns are vectors as well, and C n x n. All but A may change.
func structuredCalls(n int) map[string]func(a, x, c *Matrix, alpha, beta Scalar, opt *Options) error {
	return map[string]func(a, x, c *Matrix, alpha, beta Scalar, opt *Options) error{
		"Gbmv": func(a, x, _ *Matrix, alpha, beta Scalar, opt *Options) error {
			return Gbmv(NoTrans, n, n/2, n-1-n/2, alpha, a, x.Col(0), beta, x.Col(1), opt)
		},
		"Gbmv of a narrow band": func(a, x, _ *Matrix, alpha, beta Scalar, opt *Options) error {
			return Gbmv(Trans, n, 1, 2, alpha, a.Slice(3, 7, 0, n), x.Col(0), beta, x.Col(1).Stride(-1), opt)
		},
		"Symv": func(a, x, _ *Matrix, alpha, beta Scalar, opt *Options) error {
			return Symv(Lower, alpha, a, x.Col(0), beta, x.Col(1), opt)
		},
		"Sbmv": func(a, x, _ *Matrix, alpha, beta Scalar, opt *Options) error {
			return Sbmv(Upper, 3, alpha, a.Slice(1, 5, 0, n), x.Col(0), beta, x.Col(1), opt)
		},
		"Spmv": func(a, x, _ *Matrix, alpha, beta Scalar, opt *Options) error {
			return Spmv(Lower, alpha, a.Vec().Slice(0, n*(n+1)/2), x.Col(0), beta, x.Col(1), opt)
		},
		"Spmv of a column's entries": func(a, x, _ *Matrix, alpha, beta Scalar, opt *Options) error {
			return Spmv(Upper, alpha, a.Vec().Stride(-1).Slice(0, n*(n+1)/2), x.Col(0), beta, x.Col(1), opt)
		},
		"Trmv": func(a, x, _ *Matrix, _, _ Scalar, opt *Options) error {
			return Trmv(Upper, Trans, Unit, a, x.Col(0), opt)
		},
		"Trmv within a matrix": func(_, _, c *Matrix, _, _ Scalar, opt *Options) error {
			return Trmv(Lower, NoTrans, NonUnit, c, c.Row(2), opt)
		},
		"Syr2": func(_, x, c *Matrix, alpha, _ Scalar, opt *Options) error {
			return Syr2(Lower, alpha, x.Col(0), x.Col(1), c, opt)
		},
		"Syr2k": func(a, x, c *Matrix, alpha, beta Scalar, opt *Options) error {
			return Syr2k(Upper, NoTrans, alpha, x, a.Slice(0, n, 0, 4), beta, c, opt)
		},
		"Symm": func(a, x, c *Matrix, alpha, beta Scalar, opt *Options) error {
			return Symm(Right, Upper, alpha, a, x.T(), beta, c.Slice(0, 4, 0, n), opt)
		},
		"Symm within a matrix": func(_, x, c *Matrix, alpha, beta Scalar, opt *Options) error {
			return Symm(Left, Lower, alpha, c.Slice(0, 5, 0, 5), c.Slice(2, 7, 3, 6), beta, c.Slice(4, 9, 1, 4), opt)
		},
		"Trmm": func(a, x, _ *Matrix, alpha, _ Scalar, opt *Options) error {
			return Trmm(Left, Lower, Trans, NonUnit, alpha, a, x, opt)
		},
		"Trmm from the right": func(a, x, _ *Matrix, alpha, _ Scalar, opt *Options) error {
			return Trmm(Right, Upper, NoTrans, Unit, alpha, a, x.T(), opt)
		},
		"Rot": func(_, x, _ *Matrix, alpha, beta Scalar, opt *Options) error {
			return Rot(x.Col(0), x.Col(2), alpha, beta, opt)
		},
		"Rotm": func(_, _, c *Matrix, alpha, beta Scalar, opt *Options) error {
			return Rotm(c.Row(1), c.Row(3).Stride(-1), RotmParams{Flag: RotmDiagonal, H11: alpha, H22: beta}, opt)
		},
		"Trsv": func(_, x, c *Matrix, _, _ Scalar, opt *Options) error {
			return Trsv(Upper, Trans, NonUnit, c, x.Col(1), opt)
		},
		"Trsv within a matrix": func(_, _, c *Matrix, _, _ Scalar, opt *Options) error {
			return Trsv(Upper, NoTrans, Unit, c, c.Row(2), opt)
		},
		"Trsm": func(_, x, c *Matrix, alpha, _ Scalar, opt *Options) error {
			return Trsm(Left, Lower, NoTrans, NonUnit, alpha, c, x, opt)
		},
		"Trsm from the right": func(_, x, c *Matrix, alpha, _ Scalar, opt *Options) error {
			return Trsm(Right, Lower, Trans, Unit, alpha, c, x.Slice(0, n, 1, 4).T(), opt)
		},
		"Copy": func(_, x, c *Matrix, _, _ Scalar, opt *Options) error { return Copy(x.Col(1), c.Row(4), opt) },
		"Swap": func(_, x, c *Matrix, _, _ Scalar, opt *Options) error {
			return Swap(x.Col(0), c.Row(4).Stride(-1), opt)
		},
	}
}

// TestStructuredOnDevice compares routines with operands that live on a GPU with the CPU's, bit for
// bit, and sees to it that ordinary numbers stay there, as do matrices that are copied.
func TestStructuredOnDevice(t *testing.T) {
	usual := []Format{MP(106), DD, Float64, Float32, MP(424)}[:testlength.Of(2, 3, 5)]
	run := func(t *testing.T, n int, formats []Format, fetched func() uint64) {
		third := must(ParseScalar(MP(80), "0.33333"))
		for _, f := range formats {
			a, x, c := gallery.Random(f, n, n, 5, 1), gallery.Random(f, n, 4, 5, 2), gallery.Random(f, n, n, 5, 3)
			da := must(a.On("cuda:0"))
			defer da.Free()
			for _, kind := range []string{"random", "zeros", "Inf"} {
				switch kind {
				case "zeros": // of both signs
					for i := range n {
						x.SetFloat64(i, 0, math.Copysign(0, -1))
						if i%3 > 0 {
							x.SetFloat64(i, 1, math.Copysign(0, float64(i%2)-0.5))
						}
					}
				case "Inf":
					x.SetFloat64(n-2, 0, math.Inf(-1))
					x.SetFloat64(n/2, 2, math.NaN())
				}
				there := kind == "random" && f != DD && f != Float32 // which systems leave
				for name, call := range structuredCalls(n) {
					for i, s := range [][2]Scalar{{Float(1), Float(0)}, {Float(-2), third}, {Float(0), Float(2)}} {
						if !testlength.Long() && i > 0 && kind == "Inf" {
							break
						}
						p, q := x.Clone(), c.Clone()
						ok(call(a, p, q, s[0], s[1], onCPU))
						u, v := must(x.On("cuda:0")), must(c.On("cuda:0"))
						before := fetched()
						var st Stats
						ok(call(da, u, v, s[0], s[1], &Options{Stats: &st}))
						moved := fetched() - before
						if !must(u.Host()).Same(p) || !must(v.Host()).Same(q) || there && s[0].Float64() != 0 && st.Device != "cuda:0" {
							t.Errorf("%s of %v, %s, alpha %v, beta %v: other bits than on the CPU, or elsewhere: %+v", name, f, kind, s[0], s[1], st)
						}
						if there && s[0].Float64() == 1 && moved > 2048 {
							t.Errorf("%s of %v: %d bytes came to the host", name, f, moved)
						}
						u.Free()
						v.Free()
					}
				}
			}
		}
	}
	t.Run("reference", func(t *testing.T) {
		devs, drivers := gputest.References(t, 1)
		defer mem.Substitute(devs...)()
		run(t, 36, usual, drivers[0].Fetched)
		before := devs[0].Counters().InUse // but constants of bases
		run(t, 36, testlength.Of(usual[:1], usual[:1], usual), drivers[0].Fetched)
		if n := devs[0].Counters().InUse; n > before+64<<10 {
			t.Errorf("%d bytes are left in use, %d before", n, before)
		}
	})
	t.Run("device", func(t *testing.T) {
		gputest.Machine(t)
		run(t, 150, usual, func() uint64 { return 0 })
	})
}

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
			a, b, c := gallery.Random(f, n, n, 5, 1), gallery.Random(f, n, 4, 5, 2), gallery.Random(f, n, n, 5, 3)
			third := must(ParseScalar(MP(80), "0.33333"))
			for _, kind := range []string{"random", "Inf", "zeros"} {
				switch kind {
				case "Inf":
					b.SetFloat64(3, 1, math.Inf(1))
				case "zeros":
					b = gallery.Random(f, n, 4, 5, 2)
					for i := range n {
						b.SetFloat64(i, 0, math.Copysign(0, -1))
						c.SetFloat64(i, 1, 1)
					}
				}
				for name, call := range map[string]func(x, y *Vector, p, q *Matrix, opt *Options) error{
					"Gbmv": func(x, y *Vector, _, _ *Matrix, opt *Options) error {
						return Gbmv(NoTrans, n, n/2, n-1-n/2, third, a, x, Float(1), y, opt)
					},
					"Symv": func(x, y *Vector, _, _ *Matrix, opt *Options) error {
						return Symv(Lower, Float(1), a, x, Float(0), y, opt)
					},
					"Spmv": func(x, y *Vector, _, _ *Matrix, opt *Options) error {
						return Spmv(Upper, Float(1), a.Vec().Slice(0, n*(n+1)/2), x, Float(0), y, opt)
					},
					"Trmv": func(x, y *Vector, _, _ *Matrix, opt *Options) error {
						return Trmv(Upper, NoTrans, Unit, a, x, opt)
					},
					"Syr": func(x, y *Vector, _, q *Matrix, opt *Options) error { return Syr(Upper, third, x, q, opt) },
					"Syr2": func(x, y *Vector, _, q *Matrix, opt *Options) error {
						return Syr2(Lower, Float(1), x, y, q, opt)
					},
					"Syr2k": func(_, _ *Vector, p, q *Matrix, opt *Options) error {
						return Syr2k(Upper, NoTrans, Float(-1), p, a.Slice(0, n, 0, 4), Float(1), q, opt)
					},
					"Symm": func(_, _ *Vector, p, q *Matrix, opt *Options) error {
						return Symm(Right, Upper, Float(1), a, p.T(), Float(0), q.Slice(0, 4, 0, n), opt)
					},
					"Trmm": func(_, _ *Vector, p, _ *Matrix, opt *Options) error {
						return Trmm(Left, Lower, Trans, NonUnit, third, a, p, opt)
					},
					"Rot": func(x, y *Vector, _, _ *Matrix, opt *Options) error { return Rot(x, y, third, Float(2), opt) },
				} {
					run := func(opt *Options) (*Matrix, *Matrix) {
						p, q := b.Clone(), c.Clone()
						ok(call(p.Col(0), p.Col(1), p, q, opt))
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
		if err := Copy(x, x, &Options{Device: "cuda:7"}); !errors.Is(err, ErrDevice) {
			t.Errorf("Copy on cuda:7: error %v", err)
		}
	})
}

// BenchmarkStructured measures routines with n x n matrices, of operands that live on the GPU and
// of the host's.
func BenchmarkStructured(b *testing.B) {
	gputest.Machine(b)
	const n = 1000
	third := must(ParseScalar(MP(80), "0.33333"))
	for _, f := range []Format{Float64, MP(424)} {
		a, x, c := gallery.Random(f, n, n, 0, 1), gallery.Random(f, n, n, 0, 2), gallery.Random(f, n, n, 0, 3)
		da, dx, dc := must(a.On("cuda:0")), must(x.On("cuda:0")), must(c.On("cuda:0"))
		for _, r := range []struct {
			name string
			call func(a, x, c *Matrix, opt *Options) error
		}{
			{"Gemv", func(a, x, c *Matrix, opt *Options) error {
				return Gemv(NoTrans, Float(1), a, x.Col(0), Float(0), c.Col(0), opt)
			}},
			{"Gemv with alpha and beta", func(a, x, c *Matrix, opt *Options) error {
				return Gemv(NoTrans, third, a, x.Col(0), third, c.Col(0), opt)
			}},
			{"Symv", func(a, x, c *Matrix, opt *Options) error {
				return Symv(Upper, Float(1), a, x.Col(0), Float(0), c.Col(0), opt)
			}},
			{"Trmv", func(a, x, c *Matrix, opt *Options) error {
				ok(Copy(x.Col(0), c.Col(1), opt))
				return Trmv(Upper, NoTrans, NonUnit, a, c.Col(1), opt)
			}},
			{"Gbmv", func(a, x, c *Matrix, opt *Options) error {
				return Gbmv(NoTrans, n, 50, 49, Float(1), a.Slice(0, 100, 0, n), x.Col(0), Float(0), c.Col(0), opt)
			}},
			{"Rot", func(_, _, c *Matrix, opt *Options) error {
				return Rot(c.Slice(0, n, 0, n/2).Vec(), c.Slice(0, n, n/2, n).Vec(), third, Float(1), opt)
			}},
			{"Trsv", func(a, x, c *Matrix, opt *Options) error {
				ok(Copy(x.Col(0), c.Col(1), opt))
				return Trsv(Lower, NoTrans, Unit, a, c.Col(1), opt)
			}},
			{"Symm", func(a, x, c *Matrix, opt *Options) error {
				return Symm(Left, Upper, Float(1), a, x, Float(0), c, opt)
			}},
			{"Trmm", func(a, x, c *Matrix, opt *Options) error {
				return TrmmTo(Left, Upper, NoTrans, NonUnit, Float(1), a, x, c, opt)
			}},
			{"Syr2k", func(a, x, c *Matrix, opt *Options) error {
				return Syr2k(Lower, NoTrans, Float(1), a, x, Float(0), c, opt)
			}},
			{"Trsm", func(a, x, c *Matrix, opt *Options) error {
				return TrsmTo(Left, Lower, NoTrans, Unit, Float(1), a, x, c, opt)
			}},
		} {
			for _, where := range []string{"resident", "host"} {
				b.Run(fmt.Sprintf("%s/%v/%s", r.name, f, where), func(b *testing.B) {
					call := func() {
						if where == "host" {
							ok(r.call(a, x, c, &Options{Device: "cuda:0"}))
						} else {
							ok(r.call(da, dx, dc, nil))
						}
					}
					call() // loads the kernels
					for b.Loop() {
						call()
					}
				})
			}
		}
		da.Free()
		dx.Free()
		dc.Free()
	}
}
