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
	aside     *cuda.Stream  // on which panels come; likewise
	control   *cuda.Memory  // struct control and the counters of the exact pass; likewise
	clean     bool          // control is zeros
	taken     *cuda.Memory  // what blocks of products count items in
	wide      bool          // products are those of Hopper, with two tiles of rows
	bases     map[baseKey]*base
	constants map[constantsKey]*cuda.Memory
	tables    map[tableKey]*reconstruction
	keeping   int64        // bytes of constants and tables
	kept      atomic.Int64 // bytes of residues of prepared matrices and of copies
}

type constantsKey struct {
	base  baseKey
	kind  string
	steps int
	first int // step
}

type tableKey struct {
	base     baseKey
	cutWords int
}

// reconstruction is weights on the device.
type reconstruction struct {
	weights
	steps          int // of kernels/exact/finish.cu
	table, product *cuda.Memory
	powers         *cuda.Memory // where products are checked
}

func (r *reconstruction) free() {
	r.table.Free()
	r.product.Free()
	r.powers.Free()
}

var engines launch.PerDevice[engine]

// engineOf returns the engine of the device of s.
func engineOf(s *cuda.Stream) *engine {
	dev := s.Device()
	return engines.Of(dev, func() *engine {
		i := dev.Info()
		return &engine{
			dev: dev, kernels: launch.KernelsOf(s), wide: i.Major == 9 && i.Minor == 0,
			bases: map[baseKey]*base{}, constants: map[constantsKey]*cuda.Memory{}, tables: map[tableKey]*reconstruction{},
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

// sideStream returns the stream on which panels come.
func (e *engine) sideStream(s *cuda.Stream) (_ *cuda.Stream, err error) {
	if e.aside == nil {
		e.aside, err = s.NewStream()
	}
	return e.aside, err
}

// controlOf returns what a product keeps on the device, zeros. Most products leave it so for the
// next one: clearing it before the first kernel would take longer than the kernel that tells the
// outcome needs for that.
func (e *engine) controlOf(s *cuda.Stream, size int64) (*cuda.Memory, error) {
	if e.control == nil {
		c, err := s.Alloc(size)
		if err != nil {
			return nil, err
		}
		e.control = c
	}
	if !e.clean {
		if err := s.Zero(e.control.Pointer(), size); err != nil {
			return nil, err
		}
	}
	e.clean = false
	return e.control, nil
}

// counter returns where blocks of products count what they take, 0 between products.
func (e *engine) counter(s *cuda.Stream) (cuda.Pointer, error) {
	if e.taken == nil {
		m, err := cuda.NewCopy(s, []uint32{0})
		if err != nil {
			return 0, err
		}
		e.taken = m
	}
	return e.taken.Pointer(), nil
}

// dropControl frees that.
func (e *engine) dropControl() {
	e.control.Free()
	e.control, e.clean = nil, false
}

// told is what a kernel has told the host.
func told[T any](box *cuda.Mailbox) *T { return (*T)(unsafe.Pointer(&box.Bytes()[abi.ToldAt])) }

// base returns a base.
func (e *engine) base(key baseKey) *base {
	b := e.bases[key]
	if b == nil {
		b = newBase(key)
		e.bases[key] = b
	}
	return b
}

// Constants are kept from product to product, so many pieces in 1/maxShare of a device's memory at
// most: a call of package linsolve has products of some twenty bases, each with half a dozen of
// pieces.
const (
	maxKept  = 2048
	maxShare = 32
)

// trim forgets constants if there are many. It is called between products.
func (e *engine) trim() {
	if len(e.constants)+len(e.tables) >= maxKept || e.keeping > int64(e.dev.Info().Memory)/maxShare {
		e.forget()
	}
}

// forget frees constants, tables and control.
func (e *engine) forget() {
	e.dropControl()
	for _, m := range e.constants {
		m.Free()
	}
	for _, r := range e.tables {
		r.free()
	}
	clear(e.constants)
	clear(e.tables)
	clear(e.bases)
	e.keeping = 0
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
	e.keeping += m.Size()
	return m, nil
}

// reconstruction returns weights on the device.
func (e *engine) reconstruction(s *cuda.Stream, b *base, cutWords int) (*reconstruction, error) {
	key := tableKey{b.key, cutWords}
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
		r.free()
		return nil, err
	}
	if r.check != nil {
		if r.powers, err = cuda.NewCopy(s, r.check.powers); err != nil {
			r.free()
			return nil, err
		}
	}
	e.tables[key] = r
	e.keeping += r.table.Size() + r.product.Size()
	return r, nil
}
