// Package raw gives the method packages of this module the storage of the root package's vectors
// and matrices, which the root package keeps to itself otherwise. Package halfulp fills the
// functions in; each panics if its argument is not what its name says.
package raw

import (
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/num"
)

var (
	// Vector returns the storage of a *halfulp.Vector.
	Vector func(x any) num.Vec
	// Matrix returns the storage of a *halfulp.Matrix.
	Matrix func(x any) num.Mat
	// DeviceVector returns the GPU and the storage of a *halfulp.DeviceVector. It panics if that
	// was freed.
	DeviceVector func(x any) (*cuda.Device, gpu.Vector)
	// DeviceMatrix returns the GPU and the storage of a *halfulp.DeviceMatrix. It panics if that
	// was freed.
	DeviceMatrix func(x any) (*cuda.Device, gpu.Matrix)
	// Scalar returns the value of a halfulp.Scalar.
	Scalar func(x any) num.Real
	// Devices returns the numbers of the GPUs that Options.Device names, none for "auto" and "cpu".
	Devices func(name string) ([]int, error)
)
