package ozgpu

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/launch"
)

// literally is the argument of the kernel ozakiLiteral.
type literally struct {
	x                                   view
	first, later, out, nonzero, squares cuda.Pointer
	ld, stride                          int64
	beta, t, slices, q, r               int32
	_                                   int32
}

// significand is the number of significant bits of float32.
const significand = 24

// newLiteral splits all entries of the vectors v0 to v1 - 1 into count literal slices of width
// bits.
func newLiteral(s *cuda.Stream, v *Vectors, v0, v1, width, count int, to places, looks, norms bool) (*split, error) {
	kernel, err := launch.KernelsOf(s).Function(s, "ozaki/literal", [2]string{"ozakiLiteral", "ozakiLiteralAlong"}[v.along()])
	if err != nil {
		return nil, err
	}
	_, n := v.size()
	x, err := newRoom(s, v1-v0, n, count, to, looks, norms)
	if err != nil {
		return nil, err
	}
	maxima, err := zeros(s, 8*int64(max(count-1, 1))*int64(x.n))
	if err != nil {
		x.free()
		return nil, err
	}
	defer maxima.Free()
	a := literally{
		x: v.at(v0, v1, 0, n), first: v.bitsAt(v0), later: maxima.Pointer(),
		out: x.out.Pointer(), nonzero: address(x.nonzero), squares: address(x.squares),
		ld: int64(x.ld), stride: int64(x.stride), beta: int32(significand - width), slices: int32(count),
	}
	for t := range count {
		a.t, a.q, a.r = int32(t), int32(to.q(t)), int32(to.r(t))
		if err := kernel.Launch(s, grid(x.ld, n), cuda.Dim{X: threads}, 0, a); err != nil {
			x.free()
			return nil, err
		}
	}
	return x, nil
}

// maxima returns the largest finite |x| of each vector. It waits for the device.
func (v *Vectors) maxima(s *cuda.Stream) ([]float64, error) {
	n, _ := v.size()
	bits, list := make([]uint64, n), make([]float64, n)
	if n == 0 {
		return list, nil
	}
	if err := cuda.Download(s, bits, v.bits); err != nil {
		return nil, err
	}
	for i, b := range bits {
		list[i] = math.Float64frombits(b)
	}
	return list, nil
}
