package linsolve

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/gpu/gputest"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/linsolve/internal/det"
)

// A leaving context is cancelled after it has been asked a given number of times.
type leaving struct {
	context.Context
	cancel func()
	left   int
}

func (c *leaving) Err() error {
	if c.left--; c.left == 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// TestOnDeviceFailures lets allocations and launches on a device fail, and contexts be cancelled,
// one after the other. Each time the result must be the result of the host or an error, and no
// memory may be kept.
func TestOnDeviceFailures(t *testing.T) {
	devs, drivers := gputest.References(t, 1)
	defer mem.Substitute(devs...)()
	dev, drv := devs[0], drivers[0]
	const n = seed.Fewest + 2
	a := gramIn(t, halfulp.Float64, n, 0, 1)
	determinant, err := Det(a, halfulp.MP(200), nil)
	if err != nil {
		t.Fatal(err)
	}
	root, err := Cholesky(a, halfulp.Float64, nil)
	if err != nil {
		t.Fatal(err)
	}
	on := put(t, a)
	b := gallery.Random(halfulp.Float64, n, 1, 0, 3)
	solution, right := halfulp.NewMatrix(halfulp.Float64, n, 1), put(t, b)
	if err := lintest.Into(solution)(Solve(a, b, solution.NumberFormat(), nil)); err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func(ctx context.Context) error{
		"determinant": func(ctx context.Context) error {
			s, err := start("Det", &halfulp.Options{Context: ctx}, on.View())
			if err != nil {
				return err
			}
			defer s.Release()
			var got halfulp.Scalar
			err = s.There(on.View(), 0, func(a num.Mat) (done bool, err error) {
				z, done, err := det.Det(s, a, num.Precision(200))
				got = halfulp.ScalarOf(z)
				return done, err
			})
			if err == nil && !got.Same(determinant) {
				t.Errorf("determinant %v, the host's is %v", got, determinant)
			}
			return err
		},
		"solution": func(ctx context.Context) error {
			x, err := halfulp.NewMatrixOn(where, halfulp.Float64, n, 1)
			if err != nil {
				return err
			}
			defer x.Free()
			if err := lintest.Into(x)(Solve(on, right, x.NumberFormat(), &halfulp.Options{Context: ctx})); err != nil {
				return err
			}
			if h, err := x.Host(); err == nil && !h.Same(solution) {
				t.Error("not the host's solution")
			}
			return nil
		},
		"factor": func(ctx context.Context) error {
			got, err := Cholesky(on, halfulp.Float64, &halfulp.Options{Context: ctx})
			if err != nil {
				return err
			}
			defer got.Free()
			if l, err := got.L.Host(); err == nil && !l.Same(root.L) {
				t.Error("not the host's factor")
			}
			return nil
		},
	} {
		if err := run(context.Background()); err != nil {
			t.Fatal(err)
		}
		kept := dev.Counters().InUse
		ends := func(what string, at int, err error, wanted ...error) (over bool) {
			t.Helper()
			if used := dev.Counters().InUse; used != kept {
				t.Fatalf("%s: %d bytes in use after %s %d, %d before; %v", name, used, what, at, kept, err)
			}
			for _, w := range wanted {
				if err == nil || errors.Is(err, w) {
					return err == nil
				}
			}
			t.Errorf("%s: %s %d: %v", name, what, at, err)
			return false
		}
		step := testlength.Of(13, 11, 1)
		trim := func() {
			if err := dev.Do(context.Background(), func(s *cuda.Stream) error { return s.Trim() }); err != nil {
				t.Fatal(err)
			}
		}
		trim()
		drv.ForgetCalls()
		if err := run(context.Background()); err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, call := range drv.Calls() {
			if call == "MemAlloc" {
				count++
			}
		}
		if count < 10 {
			t.Fatalf("%s: %d allocations", name, count)
		}
		for after := 0; after < count; after += step {
			fail := func() error {
				trim()
				drv.Fail("MemAlloc", after, cudadrv.OutOfMemory)
				// Once more after the pool is trimmed.
				drv.Fail("MemAlloc", after, cudadrv.OutOfMemory)
				return run(context.Background())
			}
			if err := fail(); err == nil && dev.Counters().InUse != kept {
				// Constants of products that run after the seeds of the host.
				kept = dev.Counters().InUse
			}
			ends("allocation", after, fail(), halfulp.ErrMemory)
		}
		for after := 1; after < 4000; after += 5 * step {
			ctx, cancel := context.WithCancel(context.Background())
			over := ends("question", after, run(&leaving{ctx, cancel, after}), context.Canceled)
			cancel()
			if over {
				t.Logf("%s: %d questions", name, after)
				break
			}
		}
	}
}

// TestIndicesFromZero checks that messages name entries as At does.
func TestIndicesFromZero(t *testing.T) {
	asymmetric := halfulp.FromRows(halfulp.Float64, [][]float64{{4, 1, 1}, {1, 4, 2}, {1, 3, 4}})
	bad := halfulp.FromRows(halfulp.Float64, [][]float64{{1, 0}, {math.NaN(), 1}})
	two := halfulp.Identity(halfulp.Float64, 2)
	_, err1 := Cholesky(asymmetric, halfulp.DD, nil)
	_, err2 := Solve(bad, two, halfulp.DD, nil)
	_, err3 := LeastSquares(two, two, halfulp.DD, &LeastSquaresOptions{Weights: halfulp.FromRows(halfulp.Float64, [][]float64{{1, -2}}).Row(0)})
	for _, c := range []struct {
		err  error
		is   error
		want string
	}{
		{err1, ErrNotSymmetric, "Cholesky: entries A[1,2] and A[2,1] differ: matrix is not symmetric"},
		{err2, ErrNotFinite, "Solve: A[1,0]: infinity or NaN"},
		{err3, ErrWeights, "LeastSquares: weight 1 is -2: "},
	} {
		if !errors.Is(c.err, c.is) || !strings.HasPrefix(c.err.Error(), c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}
