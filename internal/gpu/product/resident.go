package product

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
)

// residents are the operands of a product that live on a device, for what is left to the host.
type residents struct {
	copies       *mem.HostCopies
	views        [4]mem.Matrix // a, b, old, c
	a, b, old, c func() (num.Mat, error)
}

func residentHost(s *cuda.Stream, a, b, old, c mem.Matrix) *residents {
	r := &residents{copies: mem.NewHostCopies(s), views: [4]mem.Matrix{a, b, old, c}}
	for i, f := range []*func() (num.Mat, error){&r.a, &r.b, &r.old, &r.c} {
		*f = func() (num.Mat, error) { return r.view(i) }
	}
	return r
}

func (r *residents) view(i int) (num.Mat, error) { return r.copies.Get(r.views[i]) }

// put copies the host's result to the device.
func (r *residents) put() error { return r.copies.Put(r.views[3]) }

// gemm is the product on the host.
func (r *residents) gemm(cfg Config, alpha, beta num.Real) (exact.Stats, error) {
	var v [4]num.Mat
	for i := range v {
		if i == 2 && beta.Class == num.Zero {
			continue
		}
		var err error
		if v[i], err = r.view(i); err != nil {
			return exact.Stats{}, err
		}
	}
	stats, err := hostGemm(cfg, alpha, v[0], v[1], beta, v[2], v[3])
	if err != nil {
		return stats, err
	}
	return stats, r.put()
}
