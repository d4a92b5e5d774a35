package gpu

import (
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/num"
)

// residents are the operands of a product that live on a device, for what is left to the host.
type residents struct {
	copies       *hostCopies
	views        [4]Matrix // a, b, old, c
	a, b, old, c func() (num.Mat, error)
}

func residentHost(s *cuda.Stream, a, b, old, c Matrix) *residents {
	r := &residents{copies: newHostCopies(s), views: [4]Matrix{a, b, old, c}}
	for i, f := range []*func() (num.Mat, error){&r.a, &r.b, &r.old, &r.c} {
		*f = func() (num.Mat, error) { return r.view(i) }
	}
	return r
}

func (r *residents) view(i int) (num.Mat, error) { return r.copies.get(r.views[i]) }

// put copies the host's result to the device.
func (r *residents) put() error { return r.copies.put(r.views[3]) }

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
	stats, err := exact.Gemm(cfg.host(), alpha, v[0], v[1], beta, v[2], v[3], nil, nil)
	if err != nil {
		return stats, err
	}
	return stats, r.put()
}
