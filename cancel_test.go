package halfulp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// A countdown is a context that counts how often it is asked whether it is cancelled, and that is
// cancelled at one of these looks.
type countdown struct {
	context.Context
	mu    sync.Mutex
	at    int // the look that cancels; 0 for none
	looks int
}

func (c *countdown) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	if c.at > 0 && c.looks >= c.at {
		return context.Canceled
	}
	return c.Context.Err()
}

// TestCancel cancels routines at some of the looks that they take at their context. They must end
// with its error after a few more looks, so that no loop continues. And they must look often: the
// products of words of 64 bits between two looks are bounded on average. No time is measured.
func TestCancel(t *testing.T) {
	const (
		mostAfter = 24      // looks after the cancellation: one for each function that returns
		mostWords = 1 << 24 // products of words between two looks
	)
	type call struct {
		name  string
		words int // products of words of the plain algorithm
		run   func(opt *Options) error
	}
	var calls []call
	words := func(f Format) int { return (f.Bits() + 63) / 64 * ((f.Bits() + 63) / 64) }
	for _, c := range []struct {
		f      Format
		n      int
		method Method
	}{{Float64, 300, Residue}, {MP(300), 120, Residue}, {Float64, 300, Direct}, {MP(848), 100, Direct}, {MP(20000), 6, Direct}} {
		a, b, z := randomMatrix(c.f, c.n, c.n, 0, 1), randomMatrix(c.f, c.n, c.n, 0, 2), NewMatrix(c.f, c.n, c.n)
		calls = append(calls, call{fmt.Sprintf("Gemm %d %v %s", c.n, c.f, c.method), c.n * c.n * c.n * words(c.f), func(opt *Options) error {
			opt.Method = c.method
			return Gemm(NoTrans, NoTrans, Float(1), a, b, Float(0), z, opt)
		}})
	}
	for _, c := range []struct {
		f    Format
		m, n int
	}{{Float64, 1000, 3000}, {Float64, 3000, 1000}, {DD, 300, 2000}, {MP(106), 1000, 1000}, {MP(848), 900, 400}, {MP(20000), 6, 40}, {MP(20000), 2, 300}} {
		a, x, y := randomMatrix(c.f, c.m, c.n, 0, 1), randomMatrix(c.f, max(c.m, c.n), 1, 0, 2).Col(0), NewMatrix(c.f, max(c.m, c.n), 1).Col(0)
		for _, trans := range []Transpose{NoTrans, Trans} {
			rows, cols := c.m, c.n
			if trans == Trans {
				rows, cols = cols, rows
			}
			calls = append(calls, call{fmt.Sprintf("Gemv %c %d x %d %v", trans, c.m, c.n, c.f), c.m * c.n * words(c.f), func(opt *Options) error {
				return Gemv(trans, Float(1), a, x.Slice(0, cols), Float(0), y.Slice(0, rows), opt)
			}})
		}
	}
	for _, c := range []struct {
		f Format
		n int
	}{{Float64, 300000}, {QD, 50000}, {MP(424), 50000}, {MP(20000), 200}} {
		x := randomMatrix(c.f, c.n, 1, 0, 1).Col(0)
		calls = append(calls,
			call{fmt.Sprintf("Dot %d %v", c.n, c.f), c.n * words(c.f), func(opt *Options) error { _, err := Dot(x, x, c.f, opt); return err }},
			call{fmt.Sprintf("Sum %d %v", c.n, c.f), 0, func(opt *Options) error { _, err := Sum(x, c.f, opt); return err }},
			call{fmt.Sprintf("Nrm2 %d %v", c.n, c.f), c.n * words(c.f), func(opt *Options) error { _, err := Nrm2(x, c.f, opt); return err }},
		)
	}
	for _, f := range []Format{Float64, MP(424)} {
		const n = 150
		a, b := randomMatrix(f, n, n, 0, 1), randomMatrix(f, n, n, 0, 2)
		for i := range n {
			a.SetFloat64(i, i, n)
		}
		calls = append(calls,
			call{fmt.Sprintf("Trsm %v", f), n * n * n / 2 * words(f), func(opt *Options) error {
				return TrsmTo(Left, Lower, NoTrans, NonUnit, Float(1), a, b, NewMatrix(f, n, n), opt)
			}},
			call{fmt.Sprintf("Syrk %v", f), n * n * n / 2 * words(f), func(opt *Options) error {
				return Syrk(Upper, NoTrans, Float(1), a, Float(0), NewMatrix(f, n, n), opt)
			}},
		)
	}
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			whole := &countdown{Context: t.Context()}
			if err := c.run(&Options{Device: CPU, Threads: 1, Context: whole}); err != nil {
				t.Fatal(err)
			}
			if most := max(c.words/mostWords, 2); whole.looks < most {
				t.Errorf("%d looks, want at least %d", whole.looks, most)
			}
			for _, at := range []int{1, 2, whole.looks / 4, whole.looks / 2} {
				if at < 1 {
					continue
				}
				ctx := &countdown{Context: t.Context(), at: at}
				if err := c.run(&Options{Device: CPU, Threads: 1, Context: ctx}); !errors.Is(err, context.Canceled) {
					t.Fatalf("cancelled at look %d of %d: %v", at, whole.looks, err)
				}
				if after := ctx.looks - at; after > mostAfter {
					t.Errorf("%d looks after the cancellation at look %d of %d", after, at, whole.looks)
				}
			}
		})
	}
}
