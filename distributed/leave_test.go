package distributed_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/distributed"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/mpitest"
	"github.com/halfulp/halfulp/linsolve"
	"github.com/halfulp/halfulp/mpi"
)

// TestContexts ends the context of one process before or during a routine: neither this process nor
// the other one waits.
func TestContexts(t *testing.T) {
	product := func(a, c *halfulp.Matrix, opt *halfulp.Options) error {
		return halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, a, halfulp.Float(0), c, opt)
	}
	inverse := func(a, c *halfulp.Matrix, opt *halfulp.Options) error {
		return lintest.Into(c)(linsolve.Inverse(a, c.NumberFormat(), opt))
	}
	for _, x := range []struct {
		name string
		when time.Duration
		run  func(a, c *halfulp.Matrix, opt *halfulp.Options) error
	}{
		{"sum", 0, func(a, _ *halfulp.Matrix, opt *halfulp.Options) error {
			_, err := halfulp.Sum(a.Vec(), halfulp.Float64, opt)
			return err
		}},
		{"product", 0, product},
		{"products", 100 * time.Millisecond, product},
		{"inverses", 100 * time.Millisecond, inverse},
	} {
		t.Run(x.name, func(t *testing.T) {
			if !mpitest.Run(t, 2) {
				return
			}
			comm, err := distributed.Init()
			if err != nil {
				t.Fatal(err)
			}
			a, err := gallery.Random(halfulp.MP(300), 150, 150, 1, 20).On(distributed.Device(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			c, err := halfulp.NewMatrix(halfulp.MP(300), 150, 150).On(distributed.Device(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			opt, want := new(halfulp.Options), mpi.ErrLeft
			if comm.Rank() == 1 {
				ctx, cancel := context.WithTimeout(t.Context(), x.when)
				defer cancel()
				opt.Context, want = ctx, context.DeadlineExceeded
			}
			all, err := comm.Split(0, comm.Rank())
			if err != nil {
				t.Fatal(err)
			}
			for err = x.run(a, c, opt); err == nil && x.when > 0; {
				err = x.run(a, c, opt)
			}
			if !errors.Is(err, want) {
				fmt.Fprintf(os.Stderr, "process %d: %v, want %v\n", comm.Rank(), err, want)
				comm.Abort(1)
			}
			if err := all.Barrier(t.Context()); err != nil {
				fmt.Fprintln(os.Stderr, err)
				comm.Abort(1)
			}
			if comm.Rank() == 0 { // an abandoned operation cannot be taken back
				comm.Abort(0)
			}
			select {}
		})
	}
}
