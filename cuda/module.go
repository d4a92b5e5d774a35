package cuda

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// Dim is the size of a grid in blocks or of a block in threads; 0 stands for 1.
type Dim struct{ X, Y, Z int }

func (d Dim) native() cudadrv.Dim {
	return cudadrv.Dim{X: uint32(max(d.X, 1)), Y: uint32(max(d.Y, 1)), Z: uint32(max(d.Z, 1))}
}

// Module is a set of kernels on a device.
type Module struct {
	dev       *Device
	h         cudadrv.Module
	functions map[string]*Function
}

// Load compiles PTX for the device. A module stays for as long as the process lives, or
// until Unload. The error wraps ErrDriver if the driver is too old for the PTX.
func (s *Stream) Load(ptx []byte) (*Module, error) {
	d := s.dev
	if err := d.check(); err != nil {
		return nil, err
	}
	h, err := d.drv.ModuleLoadData(ptx)
	if err != nil {
		return nil, d.failed(err)
	}
	d.counts.modules.Add(1)
	return &Module{dev: d, h: h, functions: map[string]*Function{}}, nil
}

// Unload frees the module. Its functions are no longer used.
func (m *Module) Unload() error {
	m.dev.counts.modules.Add(-1)
	return m.dev.failed(m.dev.drv.ModuleUnload(m.h))
}

// Function is a kernel.
type Function struct {
	dev    *Device
	h      cudadrv.Function
	name   string
	params []unsafe.Pointer // of the launch in hand
	shared int              // bytes of dynamic shared memory that it may use
}

// Function returns the kernel of that name.
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
	f := &Function{dev: m.dev, h: h, name: name, shared: 48 << 10}
	m.functions[name] = f
	return f, nil
}

// Launch starts f on grid blocks of block threads each, with shared bytes of dynamic
// shared memory. An argument is a Pointer or a Memory, an integer or floating-point
// number of the size of the parameter, or a structure or array of such, laid out as in
// C; the types int and uint, whose size C does not know, are not among them.
func (f *Function) Launch(s *Stream, grid, block Dim, shared int, args ...any) error {
	d := f.dev
	if err := d.check(); err != nil {
		return err
	}
	if shared > f.shared {
		if err := d.drv.FuncSetAttribute(f.h, cudadrv.FuncMaxDynamicShared, shared); err != nil {
			return d.failed(fmt.Errorf("kernel %s: %s of shared memory: %w", f.name, formatBytes(uint64(shared)), err))
		}
		f.shared = shared
	}
	f.params = f.params[:0]
	for i := range args {
		f.params = append(f.params, argument(&args[i]))
	}
	err := d.drv.LaunchKernel(f.h, grid.native(), block.native(), uint32(shared), s.h, f.params)
	clear(f.params)
	if err != nil {
		return d.failed(fmt.Errorf("kernel %s: %w", f.name, err))
	}
	return nil
}

// argument is the address of the value in *a.
func argument(a *any) unsafe.Pointer {
	switch v := (*a).(type) {
	case *Memory:
		return unsafe.Pointer(&v.block.p)
	case Pointer, int32, uint32, int64, uint64, float32, float64, int8, uint8, int16, uint16:
	default:
		if !plain(reflect.TypeOf(v)) {
			panic(fmt.Sprintf("cuda: argument of type %T", v))
		}
	}
	// An interface is a pair of its type and the address of its value, for all types
	// that are not pointers themselves.
	return (*[2]unsafe.Pointer)(unsafe.Pointer(a))[1]
}

// plain reports whether values of t have the same layout in C.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return true
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return false
}

// Registers, local memory and occupancy of a kernel, as the driver compiled it.
type Resources struct {
	Registers      int // a thread
	LocalBytes     int // a thread; more than 0 if registers were spilled
	SharedBytes    int // static, a block
	BlocksPerMulti int // that run at a time on a multiprocessor
}

// Resources tells what f takes when launched with threads a block and shared bytes of
// dynamic shared memory.
func (f *Function) Resources(threads, shared int) (Resources, error) {
	var r Resources
	d := f.dev
	if err := d.check(); err != nil {
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
	r.BlocksPerMulti, err = d.drv.OccupancyMaxActiveBlocks(f.h, threads, uint64(shared))
	return r, d.failed(err)
}
