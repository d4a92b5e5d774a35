package product

import (
	"cmp"
	"errors"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/plan"
	"github.com/halfulp/halfulp/internal/residue"
)

// A multiplication is a product C = alpha A B + beta Old in progress on the device. Its vectors are
// the rows of a and of b, which is the transposed right factor.
type multiplication struct {
	cfg    Config
	e      *engine
	s      *cuda.Stream
	a, b   mem.Matrix
	c      *mem.Matrix
	expr   expression
	format num.Format // of the result

	native  abi.ExpressionArgs
	within  bool // the base is chosen by cfg.Bound and also holds the old entries
	silent  bool // cfg.Bound replaces the scan, and no rounding is tested
	settles bool // kernels/exact/settle.cu rounds the results
	below   int  // words below the integers that settle needs

	left, right *operand
	control     *cuda.Memory // struct control
	made        bool         // control was allocated by this product
	list, rest  *cuda.Memory // entries for the exact pass, and for the host
	problem     plan.Problem
	plan        plan.Plan
	base        *base
	weights     *reconstruction
	widths      int64 // number of bits that hold every product of numbers exactly
	stats       residue.Stats
	marks       []mark
	owned       []*cuda.Memory
	pulled      []*mem.Pulled // of factors
	steps       steps
	foreseen    *arrangement // of residues that were computed before the plan
	report      abi.Telling  // what the next conversion tells of the scan
}

func (m *multiplication) alloc(size int64) (*cuda.Memory, error) {
	p, err := m.s.Alloc(size)
	if err == nil {
		m.owned = append(m.owned, p)
	}
	return p, err
}

// disown removes memory that another owner takes over.
func (m *multiplication) disown(p *cuda.Memory) {
	for i, q := range m.owned {
		if p == q {
			m.owned = append(m.owned[:i], m.owned[i+1:]...)
			return
		}
	}
}

// launch launches a kernel of a source in exact.
func (m *multiplication) launch(file, name string, grid, block cuda.Dim, shared int, args ...any) error {
	f, err := m.e.kernels.Function(m.s, "exact/"+file, name)
	if err != nil {
		return err
	}
	return f.Launch(m.s, grid, block, shared, args...)
}

// free frees all memory except the operands.
func (m *multiplication) free() {
	for _, p := range m.owned {
		p.Free()
	}
	m.owned = nil
	for _, p := range m.pulled {
		p.Free()
	}
	m.pulled = nil
	for _, k := range m.marks {
		k.e.Close()
	}
	m.marks = nil
	m.steps.free()
	if m.made && !m.e.clean { // the product may have been interrupted
		m.e.dropControl()
	}
}

// prepare scans the operands, unless enough is known of them, and plans the product.
func (m *multiplication) prepare() error {
	if err := m.mark(""); err != nil {
		return err
	}
	if ok, err := m.known(); ok || err != nil {
		return err
	}
	if m.cfg.Elsewhere != nil {
		return place.ErrApart
	}
	if p := m.cfg.Panels; p != nil && p.records == nil { // not enough is known
		if err := p.complete(m.s); err != nil {
			return err
		}
		m.cfg.Panels = nil
	}
	samples, err := m.scan()
	if err != nil {
		return err
	}
	if err := m.choose(samples); err != nil {
		if errors.Is(err, errRange) && m.foreseen != nil {
			err = cmp.Or(m.s.Synchronize(), err)
		}
		return err
	}
	if err := m.expression(); err != nil {
		return err
	}
	if m.settles && m.usual() { // the integers are long, and need memory of their own
		delete(m.e.forecasts, m.shape())
		if m.foreseen != nil {
			m.abandon()
		}
	}
	return m.mark("plan")
}

// choose plans the product and gets the constants that it needs.
func (m *multiplication) choose(samples []abi.Sample) error {
	m.problem = problemOf(m.a.Rows, m.b.Rows, m.a.Cols, m.a.Arr.Format, m.b.Arr.Format, m.format)
	know(&m.problem, m.left.totals, m.right.totals, samples)
	if err := m.bound(); err != nil {
		return err
	}
	var ok bool
	if m.plan, ok = machine(m.cfg.Check).Choose(&m.problem); !ok {
		return errRange
	}
	m.widths = m.left.totals.Width + m.right.totals.Width
	m.reuse()
	m.resume()
	m.base = m.e.base(baseKey{m.plan.Moduli, m.cfg.Check})
	var err error
	if m.weights, err = m.e.reconstruction(m.s, m.base, cutWords(&m.plan)); err != nil {
		return err
	}
	m.stats.Device, m.stats.Method, m.stats.Kernel = m.s.Device().String(), residue.Residue, "mma"
	if m.e.wide {
		m.stats.Kernel = "wgmma"
	}
	m.stats.Moduli = m.plan.Moduli
	_, m.stats.Check.Modulus = m.base.key.pool()
	m.stats.WidthL, m.stats.WidthR = m.plan.WidthL, m.plan.WidthR
	m.stats.Blocks = 1
	return nil
}

// run multiplies and rounds, block by block.
func (m *multiplication) run() error {
	for _, o := range []*operand{m.left, m.right} {
		if err := m.keep(o); err != nil {
			return err
		}
	}
	if err := m.pull(); err != nil {
		return err
	}
	w := m.foreseen
	if w == nil {
		var err error
		if w, err = m.arrange(); err != nil {
			return err
		}
	}
	for _, list := range []**cuda.Memory{&m.list, &m.rest} {
		if m.silent {
			break
		}
		var err error
		if *list, err = m.alloc(8 * m.capacity()); err != nil {
			return err
		}
	}
	if err := m.mark("plan"); err != nil {
		return err
	}
	m.stats.Blocks = len(w.blocks)
	m.steps.total = len(w.blocks) * len(w.chunks)
	chunks := w.chunks
	if m.foreseen != nil {
		chunks = nil // their residues are computed
	}
	for _, b := range w.blocks {
		if err := m.block(b, chunks, w.room); err != nil {
			return err
		}
	}
	return nil
}

// An arrangement is how a product is computed in parts, with the memory of a block.
type arrangement struct {
	blocks []region
	chunks []chunk
	room   room
}

// arrange chooses the parts of the product, and allocates the memory of a block. After an error the
// room has what is allocated.
func (m *multiplication) arrange() (*arrangement, error) {
	l, err := m.layout()
	if err != nil {
		return new(arrangement), err
	}
	w := &arrangement{blocks: m.blocks(l), chunks: m.base.chunks(l.planes)}
	w.room, err = m.room(l, w.chunks)
	return w, err
}

// block computes a block of C.
func (m *multiplication) block(b region, chunks []chunk, room room) error {
	l, r := m.left.sub(b.i0, b.i1), m.right.sub(b.j0, b.j1)
	for i, c := range chunks {
		if i > 0 {
			if err := m.step(); err != nil {
				return err
			}
		}
		if err := m.multiply(b, l, r, c, room); err != nil {
			return err
		}
	}
	if m.within && m.expr.adds() {
		if err := m.addBetaC(l, r, b, room); err != nil {
			return err
		}
	}
	if m.cfg.spoil != nil {
		if err := m.cfg.spoil(m, room, true); err != nil {
			return err
		}
	}
	if err := m.finish(l, r, b, room); err != nil {
		return err
	}
	if m.settles {
		if err := m.settle(l, r, b, room); err != nil {
			return err
		}
	}
	return m.step()
}

// multiply computes the residues of a block of C modulo the moduli of a chunk.
func (m *multiplication) multiply(b region, l, r *operand, c chunk, room room) error {
	rows, cols := roundUp(l.n, m.rowTile()), roundUp(r.n, abi.Tile)
	if err := m.residues(l, r, c, room.left, room.right, rows, cols); err != nil {
		return err
	}
	if err := m.mark("residues"); err != nil {
		return err
	}
	if m.cfg.spoil != nil {
		if err := m.cfg.spoil(m, room, false); err != nil {
			return err
		}
	}
	left, right := l.planes(m.base, c, room.left, rows), r.planes(m.base, c, room.right, cols)
	if err := m.products(b, c, left, right, room, rows, cols); err != nil {
		return err
	}
	return m.mark("products")
}

// unit returns the exponent of the unit of the reconstructed integers, without the exponents of the
// vectors and of alpha.
func (m *multiplication) unit() int64 {
	return int64(m.weights.cut - m.plan.WidthL - m.plan.WidthR)
}

// errors returns bounds of the errors of the integers. They are negative if the errors are
// tolerated: then the integers are rounded as they are.
func (m *multiplication) errors() (errL, errR, errAll float64) {
	errL, errR, errAll = m.plan.Errors(&m.problem, m.weights.cut, m.weights.err)
	if m.within && m.expr.adds() {
		errAll++ // addBetaC truncates
	}
	if m.problem.Tolerated(&m.plan, m.weights.cut, errL, errR, errAll) {
		return 0, 0, -1
	}
	return errL, errR, errAll
}
