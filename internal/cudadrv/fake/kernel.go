package fake

import (
	"bytes"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// Launch is the first argument of a kernel.
type Launch struct {
	Grid, Block cudadrv.Dim
	Shared      uint32
	Number      uint64 // of the launch, from 1 on
	driver      *Driver
	wandered    bool
}

// Slice returns n elements at p, of device memory or of page-locked host memory. If they are not
// allocated it returns nil, and the launch fails.
func Slice[T any](l *Launch, p cudadrv.Pointer, n int) []T {
	var one T
	b := l.driver.bytes(p, uint64(n)*uint64(unsafe.Sizeof(one)))
	if b == nil {
		l.wandered = true
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// Kernel registers a Go function for the kernel with the given name. Its first parameter is a
// *Launch, the others are the kernel's parameters. One call does the work of all threads. Modules
// that use it must still contain a kernel with that name.
func (d *Driver) Kernel(name string, f any) {
	t := reflect.TypeOf(f)
	if t.Kind() != reflect.Func || t.NumIn() < 1 || t.In(0) != reflect.TypeFor[*Launch]() {
		panic(fmt.Sprintf("fake: kernel %s is a %T", name, f))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kernels == nil {
		d.kernels = map[string]any{}
	}
	d.kernels[name] = f
}

// Emulate makes f run a kernel in place of the Go function of Kernel, which still defines the types
// of the parameters. f receives pointers to them and reports whether it succeeded. Device pointers
// are addresses of host memory.
func (d *Driver) Emulate(name string, f func(l *Launch, params []unsafe.Pointer) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.emulated == nil {
		d.emulated = map[string]func(*Launch, []unsafe.Pointer) bool{}
	}
	d.emulated[name] = f
}

// function is a kernel of a module.
type function struct {
	module cudadrv.Module
	f      reflect.Value
	run    func(*Launch, []unsafe.Pointer) bool // in place of f; nil if not emulated
	shared int                                  // most dynamic shared memory
}

// ModuleLoadData stores the PTX.
func (d *Driver) ModuleLoadData(ptx []byte) (cudadrv.Module, error) {
	defer d.mu.Unlock()
	if err := d.inContext("ModuleLoadData"); err != nil {
		return 0, err
	}
	if !bytes.Contains(ptx, []byte(".version")) {
		return 0, d.fail("ModuleLoadData", cudadrv.InvalidPTX)
	}
	m := cudadrv.Module(d.handle())
	d.modules[m] = bytes.Clone(ptx)
	return m, nil
}

// ModuleUnload removes a module.
func (d *Driver) ModuleUnload(m cudadrv.Module) error {
	defer d.mu.Unlock()
	if err := d.inContext("ModuleUnload"); err != nil {
		return err
	}
	if d.modules[m] == nil {
		return d.fail("ModuleUnload", cudadrv.InvalidValue)
	}
	delete(d.modules, m)
	return nil
}

// ModuleGetFunction returns a kernel that the PTX contains and that Kernel has registered.
func (d *Driver) ModuleGetFunction(m cudadrv.Module, name string) (cudadrv.Function, error) {
	defer d.mu.Unlock()
	if err := d.inContext("ModuleGetFunction"); err != nil {
		return 0, err
	}
	f := d.kernels[name]
	if f == nil || !bytes.Contains(d.modules[m], []byte(".entry "+name+"(")) {
		return 0, d.fail("ModuleGetFunction", cudadrv.NotFound)
	}
	h := cudadrv.Function(d.handle())
	d.entries[h] = &function{m, reflect.ValueOf(f), d.emulated[name], 48<<10 - DeclaredShared}
	return h, nil
}

// DeclaredShared is the shared memory in bytes that every kernel declares.
const DeclaredShared = 1 << 10

// sharedPerBlock returns the bytes of shared memory that a block may have.
func (d *Driver) sharedPerBlock() int {
	if d.Shared != 0 {
		return d.Shared
	}
	return 99 << 10
}

// FuncGetAttribute returns 32 registers, the declared shared memory, and 0 for the rest.
func (d *Driver) FuncGetAttribute(a cudadrv.FunctionAttribute, _ cudadrv.Function) (int, error) {
	defer d.mu.Unlock()
	if err := d.inContext("FuncGetAttribute"); err != nil {
		return 0, err
	}
	switch a {
	case cudadrv.FuncRegisters:
		return 32, nil
	case cudadrv.FuncSharedBytes:
		return DeclaredShared, nil
	}
	return 0, nil
}

// FuncSetAttribute raises the limit of dynamic shared memory, up to the shared memory that a block
// may have minus DeclaredShared.
func (d *Driver) FuncSetAttribute(f cudadrv.Function, a cudadrv.FunctionAttribute, value int) error {
	defer d.mu.Unlock()
	if err := d.inContext("FuncSetAttribute"); err != nil {
		return err
	}
	entry := d.entries[f]
	if entry == nil || a != cudadrv.FuncMaxDynamicShared || value > d.sharedPerBlock()-DeclaredShared {
		return d.fail("FuncSetAttribute", cudadrv.InvalidValue)
	}
	entry.shared = value
	return nil
}

// OccupancyMaxActiveBlocks returns 2.
func (d *Driver) OccupancyMaxActiveBlocks(cudadrv.Function, int, uint64) (int, error) {
	defer d.mu.Unlock()
	return 2, d.inContext("OccupancyMaxActiveBlocks")
}

// LaunchKernel copies the arguments. The kernel's Go function runs when the stream is waited for.
func (d *Driver) LaunchKernel(f cudadrv.Function, grid, block cudadrv.Dim, shared uint32, s cudadrv.Stream, params []unsafe.Pointer) error {
	defer d.mu.Unlock()
	if err := d.inContext("LaunchKernel"); err != nil {
		return err
	}
	entry := d.entries[f]
	if entry == nil || d.modules[entry.module] == nil || int(shared) > entry.shared ||
		uint64(block.X)*uint64(block.Y)*uint64(block.Z) > 1024 || grid.Y > 65535 || grid.Z > 65535 {
		return d.fail("LaunchKernel", cudadrv.InvalidValue)
	}
	d.launches++
	l := &Launch{Grid: grid, Block: block, Shared: shared, Number: d.launches, driver: d}
	args := []reflect.Value{reflect.ValueOf(l)}
	t := entry.f.Type()
	if len(params) != t.NumIn()-1 {
		return d.fail("LaunchKernel", cudadrv.InvalidValue)
	}
	var copies []unsafe.Pointer
	for i, p := range params {
		v := reflect.New(t.In(i + 1)).Elem()
		v.Set(reflect.NewAt(t.In(i+1), p).Elem())
		args = append(args, v)
		copies = append(copies, v.Addr().UnsafePointer())
	}
	return d.later("LaunchKernel", s, func() bool {
		if entry.run != nil {
			return entry.run(l, copies) && d.sound()
		}
		entry.f.Call(args)
		return !l.wandered
	})
}

// LaunchCooperativeKernel is LaunchKernel.
func (d *Driver) LaunchCooperativeKernel(f cudadrv.Function, grid, block cudadrv.Dim, shared uint32, s cudadrv.Stream, params []unsafe.Pointer) error {
	return d.LaunchKernel(f, grid, block, shared, s, params)
}

// TensorMapEncodeTiled checks the sizes and leaves the map unchanged.
func (d *Driver) TensorMapEncodeTiled(_ *cudadrv.TensorMap, spec *cudadrv.TensorMapSpec) error {
	defer d.mu.Unlock()
	if err := d.enter("TensorMapEncodeTiled"); err != nil {
		return err
	}
	n := len(spec.Dims)
	if n < 1 || n > 5 || len(spec.Strides) != n-1 || len(spec.Box) != n || len(spec.ElementStrides) != n {
		return d.fail("TensorMapEncodeTiled", cudadrv.InvalidValue)
	}
	return nil
}
