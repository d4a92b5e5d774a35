package cuda

import "github.com/halfulp/halfulp/internal/cudadrv"

// TensorMap describes tiles of a tensor in device memory to the bulk tensor copy engine
// of compute capability 9.0 and later. It is an argument of kernels that declare a
// __grid_constant__ CUtensorMap.
type TensorMap = cudadrv.TensorMap

// TensorMapSpec holds the parameters of a TensorMap.
type TensorMapSpec = cudadrv.TensorMapSpec

// EncodeTiled returns the TensorMap of a TensorMapSpec (cuTensorMapEncodeTiled).
func (s *Stream) EncodeTiled(spec *TensorMapSpec) (TensorMap, error) {
	var m TensorMap
	if err := s.dev.check(); err != nil {
		return m, err
	}
	err := s.dev.drv.TensorMapEncodeTiled(&m, spec)
	return m, s.dev.failed(err)
}
