package product

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
)

// operand is a scanned factor.
type operand struct {
	vectors abi.Vectors
	n, k    int
	scanned abi.Scanned
	exp     *cuda.Memory // exponents, least exponents, norms, flags, one after the other
	totals  abi.Totals
	tops    []int64 // the exponents, if the host knows them

	side     int           // of the product
	first    int           // index of the first vector among all vectors
	kept     *keptVectors  // nil if the matrix is not prepared
	residues *keptResidues // kept residues that this product uses
}

// The sides of a product.
const (
	leftSide = iota
	rightSide
)

// Offsets of the parts of struct control on the device.
const (
	leftTotalsAt  = int64(unsafe.Offsetof(abi.Control{}.Left))
	rightTotalsAt = int64(unsafe.Offsetof(abi.Control{}.Right))
	listAt        = int64(unsafe.Offsetof(abi.Control{}.Outcome) + unsafe.Offsetof(abi.Outcome{}.List))
	restAt        = int64(unsafe.Offsetof(abi.Control{}.Outcome) + unsafe.Offsetof(abi.Outcome{}.Rest))
	countsAt      = int64(unsafe.Offsetof(abi.Control{}.Outcome) + unsafe.Offsetof(abi.Outcome{}.Overflow))
	arrivedAt     = int64(unsafe.Sizeof(abi.Control{})) // counters of the exact pass, one a block
)

// scan computes the totals of the operands, and returns the sizes of some entries.
func (m *multiplication) scan() ([]abi.Sample, error) {
	var err error
	m.made = m.e.control == nil
	if m.control, err = m.e.controlOf(m.s, arrivedAt+4*int64(m.exactBlocks())); err != nil {
		return nil, err
	}
	if m.left, err = m.operand(m.a, leftSide, leftTotalsAt); err != nil {
		return nil, err
	}
	if m.right, err = m.operand(m.b, rightSide, rightTotalsAt); err != nil {
		return nil, err
	}
	box, err := m.e.mailbox(m.s)
	if err != nil {
		return nil, err
	}
	kernel, left := "scan", any(m.left.vectors)
	if p := m.cfg.Panels; p != nil {
		kernel, left = "scanPanels", p.args
	}
	if err := m.launch("scan", kernel, cuda.Dim{X: (max(m.a.Rows, m.b.Rows) + 7) / 8, Y: 3}, cuda.Dim{X: 256}, 0,
		left, m.left.scanned, m.right.vectors, m.right.scanned, m.expr.oldSample(), m.control.Pointer(), box.At(0), box.Ticket()); err != nil {
		return nil, err
	}
	if err := m.mark("scan"); err != nil {
		return nil, err
	}
	if err := m.foresee(); err != nil {
		return nil, err
	}
	if err := box.Await(m.s); err != nil {
		return nil, err
	}
	got := *told[abi.Report](box)
	m.expr.foresee(got.Samples[:])
	m.scannedBy(m.left, got.Left)
	m.scannedBy(m.right, got.Right)
	return got.Samples[:], nil
}

// operand allocates the results of the scan of the rows of a, or takes a kept scan. Its totals are
// at offset of control.
func (m *multiplication) operand(a mem.Matrix, side int, offset int64) (*operand, error) {
	n := int64(a.Rows)
	o := &operand{vectors: abi.RowsOf(a), n: a.Rows, k: a.Cols, side: side}
	total := m.control.At(offset)
	if o.known(a) {
		total = 0
	} else {
		var err error
		if o.exp, err = m.alloc(scannedBytes * n); err != nil {
			return nil, err
		}
	}
	o.place(a.Rows, total)
	return o, nil
}

// scannedBy records the totals of the scan, and keeps the scan of a prepared matrix.
func (m *multiplication) scannedBy(o *operand, t abi.Totals) {
	if o.scanned.Total == 0 {
		return
	}
	o.totals = t
	if o.kept != nil && o.kept.scan == nil {
		o.kept.scan, o.kept.totals = o.exp, t
		m.disown(o.exp)
	}
}

// sub returns the vectors v0 <= v < v1.
func (o *operand) sub(v0, v1 int) *operand {
	p := *o
	p.n = v1 - v0
	p.first += v0
	p.vectors.Off += int64(v0) * p.vectors.RS
	p.vectors.N = int32(p.n)
	p.scanned.Exp += cuda.Pointer(8 * v0)
	p.scanned.Low += cuda.Pointer(8 * v0)
	p.scanned.Norm += cuda.Pointer(8 * v0)
	p.scanned.Flags += cuda.Pointer(v0)
	return &p
}

func (o *operand) norms() abi.VectorData {
	return abi.VectorData{Exp: o.scanned.Exp, Second: o.scanned.Norm, Flags: o.scanned.Flags}
}

func (o *operand) lows() abi.VectorData {
	return abi.VectorData{Exp: o.scanned.Exp, Second: o.scanned.Low, Flags: o.scanned.Flags}
}

// words32 returns the number of 32-bit words of the significands of a number.
func words32(f num.Format) int {
	if f.Kind == num.MP {
		return 2 * f.Limbs()
	}
	return 2 * max(f.Terms(), 1)
}
