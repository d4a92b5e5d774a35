package cuda

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// Dim is the size of a grid in blocks, or of a block in threads; 0 stands for 1.
type Dim struct{ X, Y, Z int }

func (d Dim) native() cudadrv.Dim {
	return cudadrv.Dim{X: uint32(max(d.X, 1)), Y: uint32(max(d.Y, 1)), Z: uint32(max(d.Z, 1))}
}

// Launch starts f on a grid of blocks of threads, with shared bytes of dynamic shared memory a
// block. An argument is a *Memory, a Pointer, a number of a type whose size is the same in C (not
// int or uint), a structure or array of such numbers with C's layout, or a pointer to one, which
// stands for its value. Launch panics if the number of arguments, or the size of one, differs from
// the kernel's parameters.
func (f *Function) Launch(s *Stream, grid, block Dim, shared int, args ...any) error {
	return f.launch(f.dev.drv.LaunchKernel, s, grid, block, shared, args)
}

// LaunchTogether is Launch for blocks that wait for each other: all of them run at the same time.
// It returns an error if the device has no room for that; one block on each multiprocessor always
// has room.
func (f *Function) LaunchTogether(s *Stream, grid, block Dim, shared int, args ...any) error {
	return f.launch(f.dev.drv.LaunchCooperativeKernel, s, grid, block, shared, args)
}

// starter is a call of the driver that starts a kernel.
type starter func(f cudadrv.Function, grid, block cudadrv.Dim, shared uint32, s cudadrv.Stream, params []unsafe.Pointer) error

func (f *Function) launch(start starter, s *Stream, grid, block Dim, shared int, args []any) error {
	d := f.dev
	if err := d.check(); err != nil {
		return err
	}
	if err := f.grant(shared); err != nil {
		return err
	}
	if len(args) != len(f.parameters) {
		panic(fmt.Sprintf("cuda: kernel %s has %d parameters, launched with %d", f.name, len(f.parameters), len(args)))
	}
	f.values = f.values[:0]
	for i := range args {
		p, size := argument(&args[i])
		if size != f.parameters[i] {
			panic(fmt.Sprintf("cuda: parameter %d of kernel %s has %d bytes, the argument (%T) %d", i, f.name, f.parameters[i], args[i], size))
		}
		f.values = append(f.values, p)
	}
	err := start(f.h, grid.native(), block.native(), uint32(shared), s.h, f.values)
	clear(f.values)
	if err != nil {
		return d.failed(fmt.Errorf("kernel %s: %w", f.name, err))
	}
	return nil
}

// grant allows f to use shared bytes of dynamic shared memory.
func (f *Function) grant(shared int) error {
	if shared <= f.shared {
		return nil
	}
	if err := f.dev.drv.FuncSetAttribute(f.h, cudadrv.FuncMaxDynamicShared, shared); err != nil {
		return f.dev.failed(fmt.Errorf("kernel %s: %s of shared memory a block: %w", f.name, formatBytes(uint64(shared)), err))
	}
	f.shared = shared
	return nil
}

// argument returns the address and the size of the value in *a.
func argument(a *any) (p unsafe.Pointer, size int) {
	switch v := (*a).(type) {
	case *Memory:
		if v.freed.Load() {
			panic("cuda: freed memory as an argument")
		}
		return unsafe.Pointer(&v.block.p), 8
	case Pointer, int64, uint64, float64:
		size = 8
	case int32, uint32, float32:
		size = 4
	default:
		t := reflect.TypeOf(v)
		known, ok := plainSizes.Load(t)
		if !ok {
			of := t
			if t != nil && t.Kind() == reflect.Pointer {
				of = t.Elem()
			}
			if t == nil || !plain(of) {
				panic(fmt.Sprintf("cuda: argument of type %T", v))
			}
			known = int(of.Size())
			plainSizes.Store(t, known)
		}
		size = known.(int)
	}
	// An interface is a pair of a type and the address of a value, or of a type of pointers and the
	// pointer.
	return (*[2]unsafe.Pointer)(unsafe.Pointer(a))[1], size
}

// plainSizes caches the sizes of the types that plain has accepted.
var plainSizes sync.Map // from reflect.Type to int

// plain reports whether values of type t have the same layout in C.
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
