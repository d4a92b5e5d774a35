package product

import (
	"sync/atomic"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
)

// An engine is what a device keeps between products: the constants of bases.
// It is used on the device's thread alone.
type engine struct {
	dev       *cuda.Device
	kernels   *launch.Kernels
	told      *cuda.Mailbox // what kernels tell the host; made when it is first needed
	wide      bool          // products are those of Hopper, with two tiles of rows
	bases     map[int]*base
	constants map[constantsKey]*cuda.Memory
	tables    map[tableKey]*reconstruction
	kept      atomic.Int64 // bytes of residues of prepared matrices and of copies
}

type constantsKey struct {
	moduli int
	kind   string
	steps  int
	first  int // step
}

type tableKey struct{ moduli, cutWords int }

// reconstruction is weights on the device.
type reconstruction struct {
	weights
	steps          int // of kernels/exact/finish.cu
	table, product *cuda.Memory
}

var engines launch.PerDevice[engine]

// engineOf returns the engine of the device of s.
func engineOf(s *cuda.Stream) *engine {
	dev := s.Device()
	return engines.Of(dev, func() *engine {
		i := dev.Info()
		return &engine{
			dev: dev, kernels: launch.KernelsOf(s), wide: i.Major == 9 && i.Minor == 0,
			bases: map[int]*base{}, constants: map[constantsKey]*cuda.Memory{}, tables: map[tableKey]*reconstruction{},
		}
	})
}

// mailbox returns where kernels answer.
func (e *engine) mailbox(s *cuda.Stream) (_ *cuda.Mailbox, err error) {
	if e.told == nil {
		e.told, err = s.NewMailbox(abi.ToldAt + int(unsafe.Sizeof(abi.Report{})))
	}
	return e.told, err
}

// told is what a kernel has told the host.
func told[T any](box *cuda.Mailbox) *T { return (*T)(unsafe.Pointer(&box.Bytes()[abi.ToldAt])) }

// base returns the base of the first n moduli.
func (e *engine) base(n int) *base {
	b := e.bases[n]
	if b == nil {
		b = newBase(n)
		e.bases[n] = b
	}
	return b
}

// maxKept is the number of pieces of constants that are kept from product to product.
const maxKept = 64

// trim forgets constants if there are many. It is called between products.
func (e *engine) trim() {
	if len(e.constants)+len(e.tables) >= maxKept {
		e.forget()
	}
}

// forget frees all constants.
func (e *engine) forget() {
	for _, m := range e.constants {
		m.Free()
	}
	for _, r := range e.tables {
		r.table.Free()
		r.product.Free()
	}
	clear(e.constants)
	clear(e.tables)
	clear(e.bases)
}

// constant returns the constants of the key on the device, which make computes.
func (e *engine) constant(s *cuda.Stream, key constantsKey, make func() []uint32) (*cuda.Memory, error) {
	if m := e.constants[key]; m != nil {
		return m, nil
	}
	m, err := cuda.NewCopy(s, make())
	if err != nil {
		return nil, err
	}
	e.constants[key] = m
	return m, nil
}

// reconstruction returns weights on the device.
func (e *engine) reconstruction(s *cuda.Stream, b *base, cutWords int) (*reconstruction, error) {
	key := tableKey{len(b.moduli), cutWords}
	if r := e.tables[key]; r != nil {
		return r, nil
	}
	r := &reconstruction{weights: b.reconstruction(cutWords)}
	var err error
	r.steps = finishStepsFor(len(b.moduli))
	if r.table, err = cuda.NewCopy(s, b.table(r.weights, r.steps)); err != nil {
		return nil, err
	}
	if r.product, err = cuda.NewCopy(s, b.productWords(r.weights)); err != nil {
		r.table.Free()
		return nil, err
	}
	e.tables[key] = r
	return r, nil
}
