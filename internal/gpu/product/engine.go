package product

import (
	"sync/atomic"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
)

// An engine is the data that a device keeps between products, chiefly the constants of bases. It
// must be used on the device's thread only.
type engine struct {
	dev       *cuda.Device
	kernels   *launch.Kernels
	told      *cuda.Mailbox // reports of kernels to the host; created at its first use
	aside     *cuda.Stream  // stream on which panels are copied; likewise
	control   *cuda.Memory  // struct control and the counters of the exact pass; likewise
	clean     bool          // control is zero
	taken     *cuda.Memory  // counter of the items that blocks of products have taken
	wide      bool          // products use the kernels for Hopper, with two tiles of rows
	bases     map[baseKey]*base
	constants map[constantsKey]*cuda.Memory
	tables    map[tableKey]*reconstruction
	forecasts map[shape]forecast
	keeping   int64        // bytes of constants and tables
	kept      atomic.Int64 // bytes of residues of prepared matrices and of copies
}

type constantsKey struct {
	base  baseKey
	kind  string
	steps int
	first int // first step
}

type tableKey struct {
	base     baseKey
	cutWords int
}

// reconstruction is weights in device memory.
type reconstruction struct {
	weights
	steps          int // of kernels/exact/finish.cu
	table, product *cuda.Memory
	powers         *cuda.Memory // if products are checked
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
			forecasts: map[shape]forecast{},
		}
	})
}

// mailbox returns the mailbox of the kernels.
func (e *engine) mailbox(s *cuda.Stream) (_ *cuda.Mailbox, err error) {
	if e.told == nil {
		e.told, err = s.NewMailbox(abi.ToldAt + int(unsafe.Sizeof(abi.Report{})))
	}
	return e.told, err
}

// sideStream returns the stream on which panels are copied.
func (e *engine) sideStream(s *cuda.Stream) (_ *cuda.Stream, err error) {
	if e.aside == nil {
		e.aside, err = s.NewStream()
	}
	return e.aside, err
}

// controlOf returns a product's control on the device, set to zero. Most products leave it zero for
// the next product: clearing it before the first kernel would take longer than clearing it in the
// kernel that reports the outcome.
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

// counter returns the counter of the items that blocks of products have taken; it is 0 between
// products.
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

// dropControl frees the control.
func (e *engine) dropControl() {
	e.control.Free()
	e.control, e.clean = nil, false
}

// told returns the report of a kernel to the host.
func told[T any](box *cuda.Mailbox) *T { return (*T)(unsafe.Pointer(&box.Bytes()[abi.ToldAt])) }

// base returns the base of a key, which is kept.
func (e *engine) base(key baseKey) *base {
	b := e.bases[key]
	if b == nil {
		b = newBase(key)
		e.bases[key] = b
	}
	return b
}

// Constants are kept between products: at most maxKept pieces, in at most 1/maxShare of the
// device's memory. A call of package linsolve has products with some twenty bases, each with half a
// dozen pieces.
const (
	maxKept  = 2048
	maxShare = 32
)

// trim frees the constants if there are many. It must be called between products.
func (e *engine) trim() {
	if len(e.constants)+len(e.tables) >= maxKept || e.keeping > int64(e.dev.Info().Memory)/maxShare {
		e.forget()
	}
}

// forget frees the constants, tables and control.
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

// constant returns the constants of a key in device memory; make computes them at the first call.
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

// reconstruction returns the weights of a base in device memory.
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
