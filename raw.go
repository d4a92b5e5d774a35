package halfulp

import (
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/raw"
)

func init() {
	raw.Vector = func(x any) num.Vec { return x.(*Vector).v }
	raw.Matrix = func(x any) num.Mat { return x.(*Matrix).m }
	raw.DeviceVector = func(x any) (*cuda.Device, gpu.Vector) {
		v := x.(*DeviceVector)
		return placeOf(v), v.v
	}
	raw.DeviceMatrix = func(x any) (*cuda.Device, gpu.Matrix) {
		m := x.(*DeviceMatrix)
		return placeOf(m), m.m
	}
	raw.Scalar = func(x any) num.Real { return x.(Scalar).value() }
	raw.Devices = func(name string) ([]int, error) {
		list, err := parseDevice(name)
		if err == nil && list[0] < 0 {
			list = nil
		}
		return list, err
	}
}
