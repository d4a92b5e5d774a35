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

// openTime is the time that a process spends on a GPU before its first result: it creates the
// context and loads the kernels of a routine. On an H100 machine "halfulp gemm A A --format mp:424"
// for n = 600 took 0.59 s with --device cuda:0 and 0.27 s with --device cpu. A driver that has to
// compile the kernels takes longer.
const openTime = 600 * time.Millisecond

// Unfit is set once a GPU has failed; then auto no longer uses GPUs.
var Unfit atomic.Bool

// Faster opens and returns the GPU of this number if a routine takes less time there than on the
// host, including the time to open the GPU. Else, or if the GPU cannot be used, it returns nil.
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

// HostInstead reports whether the CPU must take over a computation for which auto has chosen a GPU:
// the GPU has failed or has too little memory, or the requested method does not apply there.
func HostInstead(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil || errors.Is(err, residue.ErrHardware) {
		return false
	}
	if !errors.Is(err, ErrMemory) && !errors.Is(err, product.ErrMethod) {
		Unfit.Store(true)
	}
	return true
}

// A Product multiplies matrices of the host for package product: at the requested place, or on a
// GPU if that is estimated to be faster.
type Product struct {
	At     Place  // nil: a GPU if that is estimated to be faster
	Team   Team   // the processes among which the machine's GPUs are divided
	Config Config // Config.Run is replaced by the product's Run
}

// Count returns the number of devices.
func (d *Product) Count() int {
	if d.At == nil {
		return 1
	}
	return 1 + strings.Count(d.At.String(), ",")
}

// Estimate opens a GPU if it is estimated to take less time than the host, and returns the
// estimate.
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

// Leaves reports whether the host must compute the product after this error of the place.
func (d *Product) Leaves(err error) bool { return HostInstead(d.Config.Ctx, err) }

// GemmError adds the shape of an m x k x n product to an error of a place.
func GemmError(m, k, n int, err error) error {
	if err == nil || errors.Is(err, product.ErrMethod) {
		return err
	}
	return fmt.Errorf("gemm %d x %d x %d: %w", m, k, n, err)
}
