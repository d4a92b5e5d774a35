package eigen_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/gallery"
)

// routines are the routines on matrices, for the tests of options that all have.
func routines(f halfulp.Format, n int) map[string]func(o halfulp.Options) error {
	a := gallery.Random(halfulp.Float64, n, n, 6, 7)
	h := gallery.Hilbert(halfulp.MP(200), n)
	s := halfulp.NewMatrix(f, n, n)
	for i := range n {
		for j := range n {
			s.SetFloat64(i, j, a.Float64(i, j)+a.Float64(j, i))
		}
	}
	blocks := halfulp.NewMatrix(halfulp.Float64, n, n) // of the even and of the odd indices
	for i := range n {
		for j := range n {
			if (i+j)%2 == 0 {
				blocks.SetFloat64(i, j, s.Float64(i, j))
			}
		}
	}
	low := a.Slice(0, n, 0, n/2)
	singular, err := halfulp.Mul(low, low.T(), halfulp.MP(120), nil)
	if err != nil {
		panic(err)
	}
	c := halfulp.Float(0.1)
	tolerance := func(o halfulp.Options) *eigen.Options { return &eigen.Options{Options: o, RCond: &c} }
	return map[string]func(o halfulp.Options) error{
		"Sym": func(o halfulp.Options) error { _, err := eigen.Sym(s, f, &eigen.SymOptions{Options: o}); return err },
		"Sym with blocks": func(o halfulp.Options) error {
			_, err := eigen.Sym(blocks, f, &eigen.SymOptions{Options: o})
			return err
		},
		"Sym, values": func(o halfulp.Options) error {
			_, err := eigen.Sym(s, f, &eigen.SymOptions{Options: o, ValuesOnly: true})
			return err
		},
		"SymGeneral": func(o halfulp.Options) error {
			_, err := eigen.SymGeneral(s, h, f, &eigen.SymOptions{Options: o})
			return err
		},
		"SVD":     func(o halfulp.Options) error { _, err := eigen.SVD(low, f, &eigen.SVDOptions{Options: o}); return err },
		"Norm2":   func(o halfulp.Options) error { _, err := eigen.Norm2(a, f, &o); return err },
		"Cond2":   func(o halfulp.Options) error { _, err := eigen.Cond2(a, f, &o); return err },
		"Polar":   func(o halfulp.Options) error { _, _, err := eigen.Polar(low, f, &o); return err },
		"SymFunc": func(o halfulp.Options) error { _, err := eigen.SymFunc(eigen.Exp, s, f, &o); return err },
		"Pinv": func(o halfulp.Options) error {
			_, err := eigen.Pinv(singular, f, &eigen.Options{Options: o})
			return err
		},
		"Pinv with a tolerance": func(o halfulp.Options) error { _, err := eigen.Pinv(a, f, tolerance(o)); return err },
		"LeastSquares": func(o halfulp.Options) error {
			_, err := eigen.LeastSquares(singular, a, f, &eigen.LeastSquaresOptions{Options: eigen.Options{Options: o}})
			return err
		},
		"NullSpace with a tolerance": func(o halfulp.Options) error { _, err := eigen.NullSpace(a, f, tolerance(o)); return err },
		"Rank with a tolerance":      func(o halfulp.Options) error { _, err := eigen.Rank(a, tolerance(o)); return err },
	}
}

// TestProgress requires shares that grow to 1, in several steps, the last of which is no large
// part.
func TestProgress(t *testing.T) {
	for name, run := range routines(halfulp.Float64, 24) {
		var shares []float64
		if err := run(halfulp.Options{Progress: func(done float64) { shares = append(shares, done) }}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(shares) < 5 || !slices.IsSorted(shares) || shares[len(shares)-1] != 1 || slices.Index(shares, 1) != len(shares)-1 || shares[0] >= 0.9 {
			t.Errorf("%s: %v", name, shares)
		}
	}
}

// TestMemoryLimit requires an error before any work begins if the matrices of the last steps exceed
// the limit, and success for a limit that holds them.
func TestMemoryLimit(t *testing.T) {
	for name, run := range routines(halfulp.MP(60000), 24) {
		if name == "Pinv" || name == "LeastSquares" || name == "Rank with a tolerance" {
			continue // as in linsolve; the format of A
		}
		var st halfulp.Stats
		began := false
		err := run(halfulp.Options{MemoryLimit: 1 << 20, Stats: &st, Progress: func(float64) { began = true }})
		if !errors.Is(err, halfulp.ErrMemory) || began || st.Steps > 0 {
			t.Errorf("%s: %v, %v, %d steps", name, err, began, st.Steps)
		}
	}
	for name, run := range routines(halfulp.Float64, 24) {
		if err := run(halfulp.Options{MemoryLimit: 8 << 20}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// expiring is a context that is cancelled when it has been asked a number of times.
type expiring struct {
	context.Context
	asked, after atomic.Int64
	done         chan struct{}
}

func (e *expiring) Done() <-chan struct{} {
	if e.asked.Add(1) == e.after.Load() {
		close(e.done)
	}
	return e.done
}

func (e *expiring) Err() error {
	e.Done()
	select {
	case <-e.done:
		return context.Canceled
	default:
		return nil
	}
}

func (e *expiring) Deadline() (time.Time, bool) { return time.Time{}, false }

// TestCancelled cancels routines earlier and later, and counts how often they ask their context
// afterwards.
func TestCancelled(t *testing.T) {
	for name, run := range routines(halfulp.Float64, 16) {
		for k := int64(1); ; k = 2*k + 1 {
			ctx := &expiring{Context: context.Background(), done: make(chan struct{})}
			ctx.after.Store(k)
			err := run(halfulp.Options{Context: ctx})
			asked := ctx.asked.Load()
			if err == nil && asked < k {
				if k < 30 {
					t.Errorf("%s asks its context %d times only", name, asked)
				}
				break
			}
			if err != nil && !errors.Is(err, context.Canceled) || err == nil && k == 1 {
				t.Fatalf("%s, cancelled at question %d: %v", name, k, err)
			}
			if more := asked - k; more > int64(80+10*runtime.GOMAXPROCS(0)) {
				t.Errorf("%s, cancelled at question %d, asks %d times more", name, k, more)
			}
		}
	}
}
