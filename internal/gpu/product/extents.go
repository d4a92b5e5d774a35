package product

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/place"
)

// Extents returns what the scan of a product finds of the rows of a matrix.
func Extents(s *cuda.Stream, a mem.Matrix) (x place.Extents, err error) {
	e := engineOf(s)
	m := &multiplication{e: e, s: s, a: a, b: a}
	defer m.free()
	if m.control, err = m.alloc(arrivedAt); err != nil {
		return x, err
	}
	if err := s.Zero(m.control.Pointer(), m.control.Size()); err != nil {
		return x, err
	}
	n := a.Rows
	o := &operand{vectors: abi.RowsOf(a)}
	if o.exp, err = m.alloc(scannedBytes * int64(n)); err != nil {
		return x, err
	}
	o.place(n, m.control.At(leftTotalsAt))
	box, err := e.mailbox(s)
	if err != nil {
		return x, err
	}
	// The rows are those of both factors, of which the second needs no scan. Samples of a product,
	// which nobody wants here, take a block each, beside those of the rows.
	again := o.scanned
	again.Total = 0
	if err := m.launch("scan", "scan", cuda.Dim{X: max((n+7)/8, abi.MaxSamples), Y: 3}, cuda.Dim{X: 256}, 0,
		o.vectors, o.scanned, o.vectors, again, abi.OldSample{}, m.control.Pointer(), box.At(0), box.Ticket()); err != nil {
		return x, err
	}
	all := make([]int64, 3*n) // with the least exponents
	if err := cuda.Download(s, all, o.exp.Pointer()); err != nil {
		return x, err
	}
	if err := box.Await(s); err != nil { // there by now
		return x, err
	}
	x.Special = told[abi.Report](box).Left.Flags&special != 0
	x.Top, x.Norm = all[:n:n], make([]float64, n)
	for i, bits := range all[2*n:] {
		x.Norm[i] = math.Float64frombits(uint64(bits))
	}
	return x, nil
}

// special marks vectors with infinities or NaN, as kernels/common/common.cuh numbers it.
const special = 1

// place says where the scan of n vectors puts what it finds: exponents, least exponents, norms and
// flags, one after the other.
func (o *operand) place(n int, total cuda.Pointer) {
	at := func(i int) cuda.Pointer { return o.exp.At(8 * int64(i) * int64(n)) }
	o.scanned = abi.Scanned{Exp: at(0), Low: at(1), Norm: at(2), Flags: at(3), Total: total}
}

// scannedBytes is what the scan of a vector takes.
const scannedBytes = 25
