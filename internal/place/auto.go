package place

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
)

// openTime is what a process spends on a GPU before its first result: the context and the kernels
// of a routine. On an H100 machine "halfulp gemm A A --format mp:424" for n = 600 took 0.59 s with
// --device cuda:0 and 0.27 s with --device cpu; a driver that has to compile the kernels takes
// longer.
const openTime = 600 * time.Millisecond

// Unfit notes that a GPU does not work, so that auto leaves GPUs alone.
var Unfit atomic.Bool

// Faster returns a GPU if there is one of that number and a routine takes less time there, opening
// it included.
func Faster(gpus Backend, number int, onHost, there time.Duration) Place {
	if Unfit.Load() || there >= onHost || there+openTime >= onHost && !gpus.IsOpen(number) {
		return nil
	}
	p, err := gpus.Open(number)
	if err != nil || !gpus.Fit(p) {
		Unfit.Store(true)
		return nil
	}
	return p
}

// HostInstead reports whether the CPU is to compute what auto has chosen a GPU for: it has failed,
// has too little memory, or the method asked for does not apply.
func HostInstead(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil || errors.Is(err, residue.ErrHardware) {
		return false
	}
	if !errors.Is(err, ErrMemory) && !errors.Is(err, product.ErrMethod) {
		Unfit.Store(true)
	}
	return true
}

// A Product multiplies matrices of the host for package product: at the place asked for, or on a
// GPU if that should be faster.
type Product struct {
	At     Place  // nil: a GPU if that should be faster
	Team   Team   // of the processes that choose one of the machine's GPUs
	Config Config // Run is that of the product
}

// Count returns the number of devices.
func (d *Product) Count() int {
	if d.At == nil {
		return 1
	}
	return 1 + strings.Count(d.At.String(), ",")
}

// Estimate opens a GPU where it takes less time than the host.
func (d *Product) Estimate(p *product.Problem, host time.Duration) (time.Duration, bool) {
	gpus, err := Find(CUDA)
	if err != nil || host < gpus.EstimateTransfer(0) {
		return 0, false
	}
	t, ok := gpus.EstimateGemm(p.C.Rows, p.C.Cols, p.A.Cols, p.A.Arr.Format, p.B.Arr.Format, p.C.Arr.Format)
	if !ok {
		return 0, false
	}
	number := 0
	if d.Team.Size > 1 {
		list, err := gpus.Devices()
		if err != nil || len(list) == 0 {
			return 0, false
		}
		number = d.Team.Share(count(len(list)))[0]
		d.Config.Limit = d.Team.memory(list[number], len(list), d.Config.Limit)
	}
	d.At = Faster(gpus, number, host, t)
	return t, d.At != nil
}

// Gemm computes the product at the place.
func (d *Product) Gemm(cfg product.Config, p *product.Problem) (residue.Stats, error) {
	c := d.Config
	c.Run = cfg.Run
	st, err := d.At.Gemm(c, p.Alpha, p.A, p.B, p.Beta, p.Old, p.C)
	if left := (*Declined)(nil); errors.As(err, &left) {
		st, err = left.Finish(cfg, p, st)
	}
	return st, GemmError(p.C.Rows, p.A.Cols, p.C.Cols, err)
}

// Leaves reports whether the host is to compute what the place failed at.
func (d *Product) Leaves(err error) bool { return HostInstead(d.Config.Ctx, err) }

// GemmError is an error of a place in an m x k x n product.
func GemmError(m, k, n int, err error) error {
	if err == nil || errors.Is(err, product.ErrMethod) {
		return err
	}
	return fmt.Errorf("gemm %d x %d x %d: %w", m, k, n, err)
}
