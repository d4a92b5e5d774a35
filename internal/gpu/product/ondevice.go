package product

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/residue"
)

// deviceOperands are the operands of a product in device memory, for entries left to the host.
type deviceOperands struct {
	copies *mem.HostCopies
	views  [4]mem.Matrix // a, b, old, c
}

func newDeviceOperands(s *cuda.Stream, a, b, old, c mem.Matrix) *deviceOperands {
	return &deviceOperands{mem.NewHostCopies(s), [4]mem.Matrix{a, b, old, c}}
}

// put copies the result of the host to the device.
func (r *deviceOperands) put() error { return r.copies.Put(r.views[3]) }

// get returns host copies of the operands, without Old if it is not read.
func (r *deviceOperands) get(beta num.Real) (v [4]num.Mat, err error) {
	for i := range v {
		if i == 2 && beta.Class == num.Zero {
			continue
		}
		if v[i], err = r.copies.Get(r.views[i]); err != nil {
			return v, err
		}
	}
	return v, nil
}

// finisher returns the Finisher that computes entries on the host.
func (r *deviceOperands) finisher(cfg Config, alpha, beta num.Real) (*residue.Finisher, error) {
	v, err := r.get(beta)
	if err != nil {
		return nil, err
	}
	return residue.NewFinisher(cfg.finish(), alpha, v[0], v[1], beta, v[2], v[3]), nil
}
