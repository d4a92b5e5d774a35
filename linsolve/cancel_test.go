package linsolve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
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

// TestCancelled cancels routines at some of the looks that they take at their context. They must
// end with its error after a few more looks, so that no loop continues and no other method is
// tried. No time is measured.
func TestCancelled(t *testing.T) {
	const mostAfter = 64 // looks after the cancellation: one for each function that returns
	for _, c := range []struct {
		f halfulp.Format
		n int
	}{{halfulp.Float64, 70}, {halfulp.MP(300), 24}} {
		f, n := c.f, c.n
		a, b := gallery.Random(f, n, n, 0, 1), gallery.Random(f, n, 1, 0, 2)
		s := gallery.Random(f, n, n, 0, 3)
		for i := range n {
			s.SetFloat64(i, i, float64(n))
			for j := range i {
				s.Set(i, j, s.At(j, i))
			}
		}
		tall := gallery.Random(f, n, n/4, 0, 4)
		routines := map[string]func(opt *halfulp.Options) error{
			"Solve":          func(opt *halfulp.Options) error { _, err := Solve(a, b, f, opt); return err },
			"Inverse":        func(opt *halfulp.Options) error { _, err := Inverse(a, f, opt); return err },
			"Det":            func(opt *halfulp.Options) error { _, err := Det(a, f, opt); return err },
			"LogDet":         func(opt *halfulp.Options) error { _, _, err := LogDet(a, f, opt); return err },
			"LU":             func(opt *halfulp.Options) error { _, err := LU(a, f, opt); return err },
			"QR":             func(opt *halfulp.Options) error { _, err := QR(a, f, opt); return err },
			"Cholesky":       func(opt *halfulp.Options) error { _, err := Cholesky(s, f, opt); return err },
			"LDLT":           func(opt *halfulp.Options) error { _, err := LDLT(s, f, opt); return err },
			"Pow":            func(opt *halfulp.Options) error { _, err := Pow(a, 3, f, opt); return err },
			"Rank":           func(opt *halfulp.Options) error { _, err := Rank(a, opt); return err },
			"VerifySolution": func(opt *halfulp.Options) error { _, err := VerifySolution(a, b, b, opt); return err },
			"VerifyProduct":  func(opt *halfulp.Options) error { _, err := VerifyProduct(a, s, a, opt); return err },
			"LeastSquares": func(opt *halfulp.Options) error {
				_, err := LeastSquares(tall, b, f, &LeastSquaresOptions{Options: *opt})
				return err
			},
		}
		for name, run := range routines {
			t.Run(fmt.Sprintf("%s %d %v", name, n, f), func(t *testing.T) {
				whole := &countdown{Context: t.Context()}
				if err := run(&halfulp.Options{Device: halfulp.CPU, Threads: 1, Context: whole}); err != nil {
					t.Fatal(err)
				}
				for _, at := range []int{1, whole.looks / 4, whole.looks * 3 / 4} {
					ctx := &countdown{Context: t.Context(), at: max(at, 1)}
					if err := run(&halfulp.Options{Device: halfulp.CPU, Threads: 1, Context: ctx}); !errors.Is(err, context.Canceled) {
						t.Fatalf("cancelled at look %d of %d: %v", ctx.at, whole.looks, err)
					}
					if after := ctx.looks - ctx.at; after > mostAfter {
						t.Errorf("%d looks after the cancellation at look %d of %d", after, ctx.at, whole.looks)
					}
				}
			})
		}
	}
}
