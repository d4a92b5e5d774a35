package halfulp

import (
	"fmt"
	"math"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// Device names where routines run, and where matrices and vectors live. [Options] lists the names.
type Device string

// The devices of every program.
const (
	Auto Device = place.Auto // the CPU or GPU 0, whichever is estimated to take less time
	CPU  Device = place.Host // the host
)

// Validate returns an error that wraps [ErrDevice] unless d names devices that this machine has and
// this program is built for. It opens these devices.
func (d Device) Validate() error {
	n, err := place.ParseName(string(d))
	if err == nil && n.IsPlace() {
		_, err = n.Open()
	}
	return err
}

// DeviceInfo describes a device other than the CPU.
type DeviceInfo struct {
	Device       Device // "cuda:0"
	Model        string // as the maker calls it
	Memory       uint64 // bytes
	Architecture string // compute capability 9.0, say
	Driver       string // what the driver supports: CUDA 13.0, say
}

// GPUs lists the machine's NVIDIA GPUs. The error, which wraps [ErrDevice], says why there are
// none.
func GPUs() ([]DeviceInfo, error) {
	b, err := place.Find(place.CUDA)
	if err != nil {
		return nil, err
	}
	found, err := b.Devices()
	var list []DeviceInfo
	for _, d := range found {
		list = append(list, DeviceInfo{Device(d.Name), d.Model, d.Memory, d.Architecture, d.Driver})
	}
	return list, err
}

// ErrDevice is wrapped by errors about devices that do not exist.
var ErrDevice = place.ErrDevice

// ErrMixedDevices is wrapped by errors about operands that live on different devices.
var ErrMixedDevices = place.ErrPlace

// whereabouts returns the place where all operands live, nil for the host. The error wraps
// ErrMixedDevices if they live on different devices. It panics if an operand was freed.
func whereabouts(name string, operands ...*num.Array) (place.Place, error) {
	return place.Common(name, operands...)
}

func placeName(p place.Place) Device { return Device(place.Label(p)) }

// NewMatrixOn returns a rows x cols matrix of +0 that lives on a device: "cuda:N" or "cpu", or
// several GPUs, "cuda:N,M", "cuda:N-M" or "cuda:all". Several GPUs hold equally many columns each,
// the first GPU the first columns, and so on. Free returns the memory. It panics if rows or cols is
// negative. The error wraps [ErrDevice] if there is no such device, and [ErrMemory] if a GPU has
// too little memory or the number of entries does not fit an int.
func NewMatrixOn(d Device, f Format, rows, cols int) (*Matrix, error) {
	if rows < 0 || cols < 0 {
		panic(errNegativeDim)
	}
	p, err := place.Home(string(d))
	if err != nil {
		return nil, err
	}
	if cols > 0 && rows > math.MaxInt/cols {
		return nil, fmt.Errorf("%s: %w: %d x %d numbers", d, ErrMemory, rows, cols)
	}
	m, err := place.NewMat(p, f.View(), rows, cols)
	if err != nil {
		return nil, err
	}
	return &Matrix{m: m}, nil
}

// NewVectorOn returns a vector of n times +0 that lives on a device. Errors are as for
// [NewMatrixOn].
func NewVectorOn(d Device, f Format, n int) (*Vector, error) {
	if n < 0 {
		panic(errNegativeDim)
	}
	m, err := NewMatrixOn(d, f, n, 1)
	if err != nil {
		return nil, err
	}
	return m.Col(0), nil
}

// Device returns where m lives: "cpu", "cuda:N" or, on several GPUs, "cuda:N,M".
func (m *Matrix) Device() Device { return placeName(place.Of(m.mat().Arr)) }

// Device returns where x lives: "cpu", "cuda:N" or, on several GPUs, "cuda:N,M".
func (x *Vector) Device() Device { return placeName(place.Of(x.vec().Arr)) }

// On returns a copy of m that lives on device d. Names and errors are as for [NewMatrixOn]. Free
// returns the memory.
func (m *Matrix) On(d Device) (*Matrix, error) {
	z, err := NewMatrixOn(d, m.NumberFormat(), m.mat().Rows, m.mat().Cols)
	if err != nil {
		return nil, err
	}
	if err := z.CopyFrom(m); err != nil {
		z.Free()
		return nil, err
	}
	return z, nil
}

// On returns a copy of x that lives on a device, like [Matrix.On].
func (x *Vector) On(d Device) (*Vector, error) {
	m, err := x.Matrix().On(d)
	if err != nil {
		return nil, err
	}
	return m.Col(0), nil
}

// Host returns a copy of m that lives on the host. If m is a view on a device whose entries are not
// contiguous, the numbers between them are transferred as well.
func (m *Matrix) Host() (*Matrix, error) { return m.On(CPU) }

// Host returns a copy of x that lives on the host, like [Matrix.Host].
func (x *Vector) Host() (*Vector, error) { return x.On(CPU) }

// CopyFrom copies a to m, wherever they live. Copies within a device stay there. m and a may
// overlap. It panics if their shapes or formats differ.
func (m *Matrix) CopyFrom(a *Matrix) error {
	if m.mat().Rows != a.mat().Rows || m.mat().Cols != a.mat().Cols {
		panic(errShape)
	}
	if m.mat().Arr.Format != a.mat().Arr.Format {
		panic(errFormat)
	}
	return place.Copy(m.mat(), a.mat())
}

// CopyFrom copies y to x like [Matrix.CopyFrom]. It panics if their lengths or formats differ.
func (x *Vector) CopyFrom(y *Vector) error { return x.Matrix().CopyFrom(y.Matrix()) }

// Free returns the device memory of m, including the memory of all its views. Any later use panics,
// except Free, which does nothing then. No routine may be using m. On the host Free does nothing.
func (m *Matrix) Free() {
	if m.mat().Arr.Away != nil {
		m.mat().Arr.Away.Free()
	}
}

// Free returns the device memory of x, and of the vector or matrix that x is a view of, like
// [Matrix.Free].
func (x *Vector) Free() { x.Matrix().Free() }

// throughHost runs a routine that devices do not support for operands that live on a device.
// compute gets copies on the host, the same copy for equal views, and opt with that device as
// Device. Then the last outputs operands are copied back. done is false for operands of the host.
func throughHost(name string, opt *Options, operands []num.Mat, outputs int, compute func(h []*Matrix, opt *Options) error) (done bool, err error) {
	var arrays []*num.Array
	for _, m := range operands {
		arrays = append(arrays, m.Arr)
	}
	p, err := whereabouts(name, arrays...)
	if err != nil || p == nil {
		return err != nil, err
	}
	var o Options
	if opt != nil {
		o = *opt
	}
	o.Device = placeName(p)
	copies := map[num.Mat]*Matrix{}
	var h []*Matrix
	for _, m := range operands {
		if copies[m] == nil {
			z, err := place.OnHost(m)
			if err != nil {
				return true, fmt.Errorf("%s: %w", name, err)
			}
			copies[m] = &Matrix{m: z}
		}
		h = append(h, copies[m])
	}
	if err := compute(h, &o); err != nil {
		return true, err
	}
	for i := len(operands) - outputs; i < len(operands); i++ {
		if err := place.Copy(operands[i], h[i].m); err != nil {
			return true, fmt.Errorf("%s: %w", name, err)
		}
	}
	return true, nil
}
