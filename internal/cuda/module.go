package cuda

import (
	"fmt"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// Module is a set of kernels on a device.
type Module struct {
	dev       *Device
	h         cudadrv.Module
	header    header
	functions map[string]*Function
}

// Load compiles PTX for the device. The module stays loaded until Unload or the end of the process.
// The error wraps ErrDriver if the driver is too old for the PTX.
func (s *Stream) Load(ptx []byte) (*Module, error) {
	d := s.dev
	if err := d.check(); err != nil {
		return nil, err
	}
	header := parsePTX(ptx)
	if err := header.driverFor(d); err != nil {
		return nil, err
	}
	h, err := d.drv.ModuleLoadData(ptx)
	switch cudadrv.CodeOf(err) {
	case cudadrv.Success:
	case cudadrv.UnsupportedPTX:
		return nil, fmt.Errorf("%w: %w", tooOld(d, need(header.version)), err)
	case cudadrv.NoBinaryForGPU:
		return nil, fmt.Errorf("%v: kernels for %s do not run on compute capability %d.%d: %w", d, header.target, d.info.Major, d.info.Minor, err)
	default:
		return nil, d.failed(err)
	}
	d.counts.modules.Add(1)
	return &Module{dev: d, h: h, header: header, functions: map[string]*Function{}}, nil
}

// Unload frees the module. Its functions must not be used any more.
func (m *Module) Unload() error {
	m.dev.counts.modules.Add(-1)
	return m.dev.failed(m.dev.drv.ModuleUnload(m.h))
}

// Function is a kernel.
type Function struct {
	dev        *Device
	h          cudadrv.Function
	name       string
	parameters []int            // sizes in bytes
	values     []unsafe.Pointer // of the arguments of the current launch
	shared     int              // bytes of dynamic shared memory granted to it
}

// sharedBytes is the shared memory that a block may have without a grant, including the memory that
// the kernel declares.
const sharedBytes = 48 << 10

// Function returns the kernel with the given name.
func (m *Module) Function(name string) (*Function, error) {
	if f := m.functions[name]; f != nil {
		return f, nil
	}
	if err := m.dev.check(); err != nil {
		return nil, err
	}
	h, err := m.dev.drv.ModuleGetFunction(m.h, name)
	if err != nil {
		return nil, m.dev.failed(fmt.Errorf("kernel %s: %w", name, err))
	}
	declared, err := m.dev.drv.FuncGetAttribute(cudadrv.FuncSharedBytes, h)
	if err != nil {
		return nil, m.dev.failed(fmt.Errorf("kernel %s: %w", name, err))
	}
	f := &Function{dev: m.dev, h: h, name: name, parameters: m.header.parameters[name], shared: sharedBytes - declared}
	m.functions[name] = f
	return f, nil
}

// Resources are the resources of a kernel as the driver compiled it.
type Resources struct {
	Registers               int     // of a thread
	LocalBytes              int     // of a thread: arrays and spilled registers
	SharedBytes             int     // of a block, without dynamic shared memory
	BlocksPerMultiprocessor int     // that run at a time
	Occupancy               float64 // warps of these blocks / warps that a multiprocessor holds
}

// Resources returns the resources that f takes when launched with threads threads a block and
// shared bytes of dynamic shared memory.
func (f *Function) Resources(threads, shared int) (Resources, error) {
	var r Resources
	d := f.dev
	if err := d.check(); err != nil {
		return r, err
	}
	if err := f.grant(shared); err != nil {
		return r, err
	}
	var err error
	for _, a := range []struct {
		to   *int
		name cudadrv.FunctionAttribute
	}{
		{&r.Registers, cudadrv.FuncRegisters},
		{&r.LocalBytes, cudadrv.FuncLocalBytes},
		{&r.SharedBytes, cudadrv.FuncSharedBytes},
	} {
		if *a.to, err = d.drv.FuncGetAttribute(a.name, f.h); err != nil {
			return r, d.failed(err)
		}
	}
	const warp = 32
	r.BlocksPerMultiprocessor, err = d.drv.OccupancyMaxActiveBlocks(f.h, threads, uint64(shared))
	r.Occupancy = float64(r.BlocksPerMultiprocessor*((threads+warp-1)/warp)) / float64(d.info.Threads/warp)
	return r, d.failed(err)
}
