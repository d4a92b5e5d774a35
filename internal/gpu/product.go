package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/exact"
	"github.com/halfulp/halfulp/internal/num"
)

func sizeOf[T any](x T) uintptr { return unsafe.Sizeof(x) }

// Config says how a product may run.
type Config struct {
	Ctx     context.Context
	Threads int    // of the host
	Method  string // of the host, in products of matrices; "" stands for exact.Auto
	Memory  int64  // bytes that the product may take on the device, beside its operands; 0: most of what is there
	// Triangle restricts the output to one triangle of a square C: 'U', 'L', or 0 for all of it.
	Triangle byte
	// Timing measures the stages. The host then waits for the device at the end.
	Timing bool
	More   []*cuda.Device // that share the work on matrices of the host
	Copies [2]*Copies     // of the factors, if they are matrices of the host that are prepared
	// Progress is called now and then with the share of the work done, from one goroutine at a
	// time.
	Progress func(done float64)
}

// errRange says that residues do not apply: the precision is beyond the pool of moduli, or
// numbers spread too widely.
var errRange = errors.New("beyond the range of the residue method on the GPU")

// Tiles of the products, in vectors and in numbers.
const (
	tile      = 128
	tileBytes = tile * tile
	strip     = 64 // numbers that a block of residues converts
)

// A multiplication is C = alpha A B + beta Old under way, on the device. Vectors are rows of
// a, and of b, which is the transposed right factor.
type multiplication struct {
	cfg    Config
	e      *engine
	s      *cuda.Stream
	a, b   Matrix
	c      *Matrix
	expr   expression
	format num.Format // of the result

	native  expressionArgs
	settles bool // kernels/settle.cu rounds the results
	below   int  // words below the integers that it wants

	left, right *operand
	control     *cuda.Memory // struct control
	list, rest  *cuda.Memory // entries for the exact pass, and for the host
	plan        plan
	base        *base
	weights     *reconstruction
	widths      int64 // bits that hold every product of numbers exactly
	stats       exact.Stats
	marks       []mark
	owned       []*cuda.Memory
	steps       steps
}

// operand is a scanned factor.
type operand struct {
	vectors vectors
	n, k    int
	scanned scanned
	exp     *cuda.Memory // exponents, least exponents, norms, flags, one after the other
	totals  totals

	side     int           // of the product
	first    int           // of all vectors
	kept     *keptVectors  // nil if the matrix is not prepared
	residues *keptResidues // that this product takes
}

// report is what the scan tells the host.
type report struct {
	left, right totals
	samples     [maxSamples]sample
}

// outcome is what became of the entries: the lengths of the lists of those for the exact pass and
// for the host, and how many results left the range.
type outcome struct {
	list, rest          uint32
	overflow, underflow uint64
}

// control is what a product keeps on the device, as kernels/report.cuh has it.
type control struct {
	report
	outcome
	_, _ uint32 // a counter of blocks
}

const (
	leftTotalsAt  = int64(unsafe.Offsetof(control{}.left))
	rightTotalsAt = int64(unsafe.Offsetof(control{}.right))
	listAt        = int64(unsafe.Offsetof(control{}.outcome) + unsafe.Offsetof(outcome{}.list))
	restAt        = int64(unsafe.Offsetof(control{}.outcome) + unsafe.Offsetof(outcome{}.rest))
	countsAt      = int64(unsafe.Offsetof(control{}.outcome) + unsafe.Offsetof(outcome{}.overflow))
	arrivedAt     = int64(unsafe.Sizeof(control{})) // counters of the exact pass, one a block
)

// maxList bounds the entries that the exact pass can take if the host can start anew.
const maxList = 1 << 24

type mark struct {
	name string
	e    *cuda.Event
}

func (m *multiplication) alloc(size int64) (*cuda.Memory, error) {
	p, err := m.s.Alloc(size)
	if err == nil {
		m.owned = append(m.owned, p)
	}
	return p, err
}

// launch starts a kernel of a source.
func (m *multiplication) launch(file, name string, grid, block cuda.Dim, shared int, args ...any) error {
	f, err := m.e.kernel(m.s, file, name)
	if err != nil {
		return err
	}
	return f.Launch(m.s, grid, block, shared, args...)
}

// free gives back all memory but the operands'.
func (m *multiplication) free() {
	for _, p := range m.owned {
		p.Free()
	}
	m.owned = nil
	for _, k := range m.marks {
		k.e.Close()
	}
	m.marks = nil
	m.steps.free()
}

// mark ends a stage.
func (m *multiplication) mark(name string) error {
	if !m.cfg.Timing {
		return nil
	}
	e, err := m.s.NewEvent()
	if err != nil {
		return err
	}
	m.marks = append(m.marks, mark{name, e})
	return m.s.Record(e)
}

// times adds up the stages.
func (m *multiplication) times() error {
	if !m.cfg.Timing {
		return nil
	}
	if err := m.s.Synchronize(); err != nil {
		return err
	}
	at := map[string]int{}
	for i, k := range m.marks[1:] {
		d, err := k.e.Since(m.marks[i].e)
		if err != nil {
			return err
		}
		j, ok := at[k.name]
		if !ok {
			j = len(m.stats.Stages)
			at[k.name] = j
			m.stats.Stages = append(m.stats.Stages, exact.Stage{Name: k.name})
		}
		m.stats.Stages[j].Time += d
	}
	return nil
}

// prepare scans the operands and plans.
func (m *multiplication) prepare() error {
	if err := m.mark(""); err != nil {
		return err
	}
	var err error
	if m.control, err = m.alloc(arrivedAt + 4*int64(m.exactBlocks())); err != nil {
		return err
	}
	if err := m.s.Zero(m.control.Pointer(), m.control.Size()); err != nil {
		return err
	}
	if m.left, err = m.operand(m.a, leftSide, leftTotalsAt); err != nil {
		return err
	}
	if m.right, err = m.operand(m.b, rightSide, rightTotalsAt); err != nil {
		return err
	}
	box, err := m.e.mailbox(m.s)
	if err != nil {
		return err
	}
	if err := m.launch("scan", "scan", cuda.Dim{X: (max(m.a.Rows, m.b.Rows) + 7) / 8, Y: 3}, cuda.Dim{X: 256}, 0,
		m.left.vectors, m.left.scanned, m.right.vectors, m.right.scanned, m.expr.oldSample(), m.control.Pointer(), box.At(0), box.Ticket()); err != nil {
		return err
	}
	if err := m.mark("scan"); err != nil {
		return err
	}
	if err := box.Await(m.s); err != nil {
		return err
	}
	got := *told[report](box)
	m.expr.foresee(got.samples[:])
	s := shapeOf(m.a.Rows, m.b.Rows, m.a.Cols, m.a.Arr.Format, m.b.Arr.Format, m.format)
	m.scannedBy(m.left, got.left)
	m.scannedBy(m.right, got.right)
	var ok bool
	if m.plan, ok = planFor(s, m.left.totals, m.right.totals, got.samples[:]); !ok {
		return errRange
	}
	m.widths = m.left.totals.width + m.right.totals.width
	m.reuse(s, got.samples[:])
	m.base = m.e.base(m.plan.moduli)
	if m.weights, err = m.e.reconstruction(m.s, m.base, m.plan.cutWords); err != nil {
		return err
	}
	m.stats.Device, m.stats.Method, m.stats.Kernel = m.s.Device().String(), exact.Residue, "mma"
	if m.e.wide {
		m.stats.Kernel = "wgmma"
	}
	m.stats.Moduli = m.plan.moduli
	m.stats.WidthL, m.stats.WidthR = m.plan.widthL, m.plan.widthR
	m.stats.Blocks = 1
	if err := m.expression(); err != nil {
		return err
	}
	return m.mark("plan")
}

func words32(f num.Format) int {
	if f.Kind == num.MP {
		return 2 * f.Limbs()
	}
	return 2 * max(f.Terms(), 1)
}

// operand makes room for the scan of the rows of a, or takes the one that is kept; its totals
// are at offset of control.
func (m *multiplication) operand(a Matrix, side int, offset int64) (*operand, error) {
	n := int64(a.Rows)
	o := &operand{vectors: a.rows(), n: a.Rows, k: a.Cols, side: side}
	total := m.control.At(offset)
	if o.known(a) {
		total = 0
	} else {
		var err error
		if o.exp, err = m.alloc(25 * n); err != nil {
			return nil, err
		}
	}
	o.scanned = scanned{o.exp.Pointer(), o.exp.At(8 * n), o.exp.At(16 * n), o.exp.At(24 * n), total}
	return o, nil
}

// sub returns the vectors v0 <= v < v1.
func (o *operand) sub(v0, v1 int) *operand {
	p := *o
	p.n = v1 - v0
	p.first += v0
	p.vectors.off += int64(v0) * p.vectors.rs
	p.vectors.n = int32(p.n)
	p.scanned.exp += cuda.Pointer(8 * v0)
	p.scanned.low += cuda.Pointer(8 * v0)
	p.scanned.norm += cuda.Pointer(8 * v0)
	p.scanned.flags += cuda.Pointer(v0)
	return &p
}

func (o *operand) norms() vectorData {
	return vectorData{o.scanned.exp, o.scanned.norm, o.scanned.flags}
}

func (o *operand) lows() vectorData {
	return vectorData{o.scanned.exp, o.scanned.low, o.scanned.flags}
}

func roundUp(x, to int) int { return (x + to - 1) / to * to }

// rowTile is the number of rows of the left operand in a tile of products.
func (m *multiplication) rowTile() int {
	if m.e.wide {
		return 2 * tile
	}
	return tile
}

// A chunk is a range of moduli: plain ones, Karatsuba ones, or the last plain and the
// first Karatsuba ones. Its ends lie between tiles of constants.
type chunk struct{ plain0, plain1, kar0, kar1 int }

func (c chunk) planes() int { return c.plain1 - c.plain0 + 3*(c.kar1-c.kar0) }

// chunks divides the moduli into chunks of at most planes planes, or of single tiles.
func (b *base) chunks(planes int) []chunk {
	kar := len(b.moduli) - b.plain
	var out []chunk
	var c chunk
	for c.plain1 < b.plain || c.kar1 < kar {
		next := c
		if c.plain1 < b.plain {
			next.plain1 = min(c.plain1+tileRows, b.plain)
		} else {
			next.kar1 = min(c.kar1+tileRows, kar)
		}
		if next.planes() > planes && c.planes() > 0 {
			out = append(out, c)
			c = chunk{c.plain1, c.plain1, c.kar1, c.kar1}
			continue
		}
		c = next
	}
	return append(out, c)
}

// A layout is how much of a product is on the device at a time.
type layout struct {
	rows, cols int // of the blocks of C
	planes     int // of residues of a chunk
}

// planeBytes returns the bytes of a plane of residues of n vectors of k numbers.
func residueBytes(n, k int) int64 { return int64(n/tile) * int64(roundUp(k, tile)/tile) * tileBytes }

// bytes returns the memory that a block with its residues takes.
func (m *multiplication) bytes(l layout) int64 {
	r, c := roundUp(l.rows, m.rowTile()), roundUp(l.cols, tile)
	b := m.base
	y := int64(r) * int64(c) * int64(b.plain+2*(len(b.moduli)-b.plain))
	return y + m.rawBytes(l.rows, l.cols) + int64(l.planes)*(m.left.roomBytes(r)+m.right.roomBytes(c))
}

// roomBytes is what a plane of residues of n vectors takes, if they are not kept.
func (o *operand) roomBytes(n int) int64 {
	if o.residues != nil {
		return 0
	}
	return residueBytes(n, o.k)
}

// maxVectors is the most vectors that kernels/residues.cu converts at a time, a multiple of tiles:
// 65535 blocks of 4 vectors.
const maxVectors = 4 * 65535 / 256 * 256

// layout chooses blocks that fit the memory.
func (m *multiplication) layout() (layout, error) {
	budget := m.cfg.Memory - m.left.keptBytes() - m.right.keptBytes()
	if m.cfg.Memory <= 0 {
		budget = int64(float64(m.e.dev.Info().Memory)*0.85) - m.e.dev.Counters().InUse
	}
	budget -= 16 * m.capacity()
	l := layout{min(m.a.Rows, maxVectors), min(m.b.Rows, maxVectors), pool().products(m.plan.moduli)}
	least := 3 * tileRows
	for m.bytes(l) > budget {
		switch {
		case l.planes > 2*least:
			l.planes = l.planes / 2
		case l.rows >= l.cols && l.rows > m.rowTile():
			l.rows = roundUp((l.rows+1)/2, m.rowTile())
		case l.cols > tile:
			l.cols = roundUp((l.cols+1)/2, tile)
		case l.rows > m.rowTile():
			l.rows = roundUp((l.rows+1)/2, m.rowTile())
		default:
			return l, fmt.Errorf("%v: %w: a product needs %d bytes at least", m.e.dev, cuda.ErrMemory, m.bytes(l))
		}
	}
	return l, nil
}

// capacity is the room of the lists. Results may take the place of old entries, which are gone
// if the host has to start anew: then there is room for all.
func (m *multiplication) capacity() int64 {
	n := int64(m.a.Rows) * int64(m.b.Rows)
	if m.expr.adds() {
		return n
	}
	return min(n, maxList)
}

// failed and forHost are the lists of entries for the exact pass and for the host.
func (m *multiplication) failed() leftovers {
	return leftovers{m.control.At(listAt), m.list.Pointer(), m.capacity()}
}

func (m *multiplication) forHost() leftovers {
	return leftovers{m.control.At(restAt), m.rest.Pointer(), m.capacity()}
}

// run multiplies and rounds, block after block.
func (m *multiplication) run() error {
	for _, o := range []*operand{m.left, m.right} {
		if err := m.keep(o); err != nil {
			return err
		}
	}
	l, err := m.layout()
	if err != nil {
		return err
	}
	if m.list, err = m.alloc(8 * m.capacity()); err != nil {
		return err
	}
	if m.rest, err = m.alloc(8 * m.capacity()); err != nil {
		return err
	}
	chunks := m.base.chunks(l.planes)
	planes := 0
	for _, c := range chunks {
		planes = max(planes, c.planes())
	}
	rows, cols := roundUp(l.rows, m.rowTile()), roundUp(l.cols, tile)
	left, err := m.alloc(int64(planes) * m.left.roomBytes(rows))
	if err != nil {
		return err
	}
	right, err := m.alloc(int64(planes) * m.right.roomBytes(cols))
	if err != nil {
		return err
	}
	n := int64(rows) * int64(cols)
	y, err := m.alloc(n * int64(m.base.plain))
	if err != nil {
		return err
	}
	wide, err := m.alloc(2 * n * int64(len(m.base.moduli)-m.base.plain))
	if err != nil {
		return err
	}
	var raw *cuda.Memory
	if m.settles {
		if raw, err = m.alloc(m.rawBytes(l.rows, l.cols)); err != nil {
			return err
		}
	}
	if err := m.mark("plan"); err != nil {
		return err
	}
	blocks := m.blocks(l)
	m.stats.Blocks = len(blocks)
	m.steps.total = len(blocks) * len(chunks)
	for _, b := range blocks {
		lo, ro := m.left.sub(b.i0, b.i1), m.right.sub(b.j0, b.j1)
		for i, c := range chunks {
			if i > 0 {
				if err := m.step(); err != nil {
					return err
				}
			}
			if err := m.multiply(lo, ro, c, left, right, y, wide, rows, n); err != nil {
				return err
			}
		}
		if err := m.finish(lo, ro, b.i0, b.j0, y, wide, raw, rows, n); err != nil {
			return err
		}
		if m.settles {
			if err := m.settle(lo, ro, b.i0, b.j0, raw); err != nil {
				return err
			}
		}
		if err := m.step(); err != nil {
			return err
		}
	}
	return nil
}

// A region is rows i0 <= i < i1 and columns j0 <= j < j1 of C.
type region struct{ i0, i1, j0, j1 int }

// blocks lists the blocks of C.
func (m *multiplication) blocks(l layout) (list []region) {
	for j0 := 0; j0 < m.b.Rows; j0 += l.cols {
		for i0 := 0; i0 < m.a.Rows; i0 += l.rows {
			b := region{i0, min(i0+l.rows, m.a.Rows), j0, min(j0+l.cols, m.b.Rows)}
			if m.cfg.Triangle == 'U' && b.i0 >= b.j1 || m.cfg.Triangle == 'L' && b.j0 >= b.i1 {
				continue
			}
			list = append(list, b)
		}
	}
	return list
}

// multiply computes the residues of a block of C modulo the moduli of a chunk.
func (m *multiplication) multiply(l, r *operand, c chunk, left, right, y, wide *cuda.Memory, ld int, n int64) error {
	rows, cols := roundUp(l.n, m.rowTile()), roundUp(r.n, tile)
	if err := m.residues(l, r, c, left, right, rows, cols); err != nil {
		return err
	}
	if err := m.mark("residues"); err != nil {
		return err
	}
	if err := m.products(c, l.planes(m.base, c, left, rows), r.planes(m.base, c, right, cols), y, wide, rows, cols, ld, n); err != nil {
		return err
	}
	return m.mark("products")
}

// products multiplies the planes of a chunk. Columns of the results lie ld entries apart, moduli
// n entries.
func (m *multiplication) products(c chunk, left, right planes, y, wide *cuda.Memory, rows, cols, ld int, n int64) error {
	k := m.a.Cols
	key := constantsKey{m.plan.moduli, "reductions", 0, 0}
	reductions, err := m.e.constant(m.s, key, func() []uint32 { return wordsOfSlice(m.base.reductions()) })
	if err != nil {
		return err
	}
	first := c.plain0
	if c.plain0 == c.plain1 {
		first = m.base.plain + c.kar0
	}
	p := productArgs{
		left: left.at, right: right.at, leftStride: left.stride, rightStride: right.stride,
		moduli: reductions.At(int64(first) * int64(unsafe.Sizeof(reduction{}))),
		out:    y.At(int64(c.plain0) * n), wide: wide.At(2 * int64(c.kar0) * n), stride: n, ld: int64(ld),
		plain: int32(c.plain1 - c.plain0), karatsuba: int32(c.kar1 - c.kar0),
		blocks: int32(roundUp(k, tile) / tile), rows: int32(rows / m.rowTile()), cols: int32(cols / tile),
	}
	m.stats.Products += int64(c.planes())
	items := int(p.rows) * int(p.cols) * int(p.plain+p.karatsuba)
	if m.e.wide {
		grid := min(items, m.e.dev.Info().Multiprocessors)
		return m.launch("product_sm90a", "products", cuda.Dim{X: grid}, cuda.Dim{X: 384}, 4*3*tileBytes+1024, p)
	}
	return m.launch("product", "products", cuda.Dim{X: items}, cuda.Dim{X: 256}, 3*2*tileBytes, p)
}

// wordsOfSlice returns the words of structures.
func wordsOfSlice[T any](x []T) []uint32 {
	var one T
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(one)/4))
}

// groupVectors returns the vectors that a block of kernels/residues.cu converts, and the
// bytes of dynamic shared memory that it takes: digits, and constants from three steps on.
func groupVectors(steps int) (group, shared int) {
	if steps == 0 {
		return 16, 0
	}
	pad := 8 + 8*(steps%2)
	words := strip*8*steps + strip/16*pad + 8
	if steps < 3 {
		return 16, 4 * 16 * words
	}
	return 4, 4*4*words + 2*2*512*steps
}

// residues converts the operands, but for those whose residues are kept, to residues modulo the
// moduli of a chunk; rows and cols are their vectors with padding.
func (m *multiplication) residues(l, r *operand, c chunk, left, right *cuda.Memory, rows, cols int) error {
	steps := m.digitSteps(max(m.plan.widthL, m.plan.widthR), l, r)
	var list []converted
	if l.residues == nil {
		list = append(list, converted{l, m.plan.widthL, left.Pointer(), rows})
	}
	if r.residues == nil {
		list = append(list, converted{r, m.plan.widthR, right.Pointer(), cols})
	}
	return m.convert(c, steps, list...)
}

// shortBits is the most bits of integers that kernel residues0 takes, of numbers of one word and for
// plain moduli.
const shortBits = 126

// digitSteps returns the steps of digits for integers of factors, 0 for kernel residues0.
func (m *multiplication) digitSteps(width int, factors ...*operand) int {
	short := width <= shortBits && len(m.base.moduli) == m.base.plain
	for _, o := range factors {
		kind := num.Kind(o.vectors.a.kind)
		short = short && (kind == num.F32 || kind == num.F64 || kind == num.MP && o.vectors.a.limbs == 1)
	}
	if short {
		return 0
	}
	return stepsFor(width)
}

// converted is a factor that is converted to residues: integers of width bits, in planes of so
// many vectors.
type converted struct {
	o       *operand
	width   int
	to      cuda.Pointer
	vectors int
}

// convert converts up to two factors to residues modulo the moduli of a chunk. steps are as
// digitSteps returns them.
func (m *multiplication) convert(c chunk, steps int, list ...converted) error {
	if len(list) == 0 {
		return nil
	}
	x, y := list[0], list[len(list)-1]
	group, shared := groupVectors(min(steps, maxSteps))
	grid := cuda.Dim{X: roundUp(m.a.Cols, tile) / strip, Y: max(x.vectors, y.vectors) / group, Z: len(list)}
	kernel := fmt.Sprintf("residues%d", min(steps, maxSteps))
	steps = max(steps, 1) // constants of 16 digits are the first half of those of 32
	for first := 0; first < steps; first += maxSteps {
		var both sides
		for i, f := range []converted{x, y} {
			to, err := m.conversion(c, first, min(steps, maxSteps), f)
			if err != nil {
				return err
			}
			both[i] = factorArgs{f.o.vectors, f.o.scanned.exp, to}
		}
		if err := m.launch("residues", kernel, grid, cuda.Dim{X: 256}, shared, both); err != nil {
			return err
		}
		kernel = "residuesMore"
	}
	return nil
}

// conversion is what a pass over the given steps of digits takes.
func (m *multiplication) conversion(c chunk, first, steps int, f converted) (conversion, error) {
	left, side := f.o.side == leftSide, "right"
	if left {
		side = "left"
	}
	constants, err := m.e.constant(m.s, constantsKey{m.plan.moduli, side, steps, first}, func() []uint32 { return m.base.constants(first, steps, left) })
	if err != nil {
		return conversion{}, err
	}
	moduli, err := m.e.constant(m.s, constantsKey{m.plan.moduli, "moduli", 0, 0}, func() []uint32 { return wordsOfSlice(m.base.rowModuli()) })
	if err != nil {
		return conversion{}, err
	}
	tiles, row := c.plain0/tileRows, c.plain0
	if c.plain0 == c.plain1 {
		plain, _ := m.base.tiles()
		tiles, row = plain+2*(c.kar0/tileRows), tileRows*plain+c.kar0
	}
	return conversion{
		constants: constants.At(int64(tiles) * int64(steps) * 512), moduli: moduli.At(8 * int64(row)),
		planes: f.to, stride: residueBytes(f.vectors, m.a.Cols),
		plain: int32(c.plain1 - c.plain0), karatsuba: int32(c.kar1 - c.kar0),
		blocks: int32(roundUp(m.a.Cols, tile) / tile), vectors: int32(f.vectors), width: int32(f.width),
		permute: flag(left), first: int32(first * stepBytes / 4),
	}, nil
}

// unit is the exponent of one unit of the integers that reconstruction makes, vectors'
// exponents and alpha aside.
func (m *multiplication) unit() int64 {
	return int64(m.weights.cut - m.plan.widthL - m.plan.widthR)
}

// errors returns the bounds of the integers' errors.
func (m *multiplication) errors() (errL, errR, errAll float64) {
	s := shape{k: m.a.Cols, termsL: max(m.a.Arr.Terms(), 1), termsR: max(m.b.Arr.Terms(), 1)}
	return m.plan.errors(s, m.weights.weights)
}

// shortWords is the most words of integers that kernel finish0 takes.
const shortWords = 4

// finish makes results of the residues of a block of C.
func (m *multiplication) finish(l, r *operand, i0, j0 int, y, wide, raw *cuda.Memory, ld int, n int64) error {
	f := finishing{
		failed: m.failed(),
		l:      l.norms(), r: r.norms(),
		y: y.Pointer(), wide: wide.Pointer(), stride: n, ld: int64(ld),
		unit: m.unit() + m.native.alpha.exp, weights: m.weights.table.Pointer(), product: m.weights.product.Pointer(),
		plain: int32(m.base.plain), karatsuba: int32(len(m.base.moduli) - m.base.plain),
		words: int32(m.weights.words), m: int32(l.n), n: int32(r.n), i0: int32(i0), j0: int32(j0),
		neg: m.native.alpha.neg, triangle: int32(m.cfg.Triangle),
	}
	f.errorL, f.errorR, f.error = m.errors()
	if raw != nil {
		f.raw, f.pitch = raw.At(128*int64(m.below)), int32(m.below+m.weights.words)
	} else {
		f.c = m.c.target()
	}
	steps := m.weights.steps
	kernel, long := fmt.Sprintf("finish%d", steps), !slices.Contains(finishSteps, steps)
	warps, weights := 8, 0 // bytes of weights in shared memory
	kind := m.c.Arr.Kind
	switch {
	case steps == 1 && raw == nil && m.weights.words <= shortWords && (kind == num.F32 || kind == num.F64):
		kernel = "finish0"
	case long:
		kernel, warps, weights = "finishLong", 4, 3*8*512
		f.steps = int32(steps)
	case steps >= 9: // registers for two blocks a multiprocessor, one of which loads while the other multiplies
		warps = 4
		fallthrough
	case steps >= 5:
		weights = 2 * 512 * steps
	}
	words := m.weights.words
	if long && m.settles {
		words = 0
	}
	shared := func() int { return weights + 4*warps*(tileDigits*36+32*words) }
	for !long && shared() > m.e.dev.Info().SharedPerBlock && warps > 1 {
		warps /= 2
	}
	blocks := ((l.n+31)/32*r.n + warps - 1) / warps
	if err := m.launch("finish", kernel, cuda.Dim{X: blocks}, cuda.Dim{X: 32 * warps}, shared(), f); err != nil {
		return err
	}
	return m.mark("finish")
}

// sumBytes is what a word of a sum takes in shared memory in the exact pass.
const sumBytes = 4*2*4 + 4

// sumWords returns the room of the exact pass for sums, in words of 32 bits: what all entries
// need, for old entries of about their size, if the device has that.
func (m *multiplication) sumWords() int {
	bits := m.widths + int64(m.native.alpha.length) + 128
	if m.native.adds != 0 {
		bits += 32*(int64(m.native.beta.count)+int64(words32(m.expr.old.Arr.Format))) + 2200
	}
	return int(max(64, min(bits/32, int64(m.e.dev.Info().SharedPerBlock-1024)/sumBytes)))
}

// exactBlocks is the number of blocks of the exact pass.
func (m *multiplication) exactBlocks() int { return 2 * m.e.dev.Info().Multiprocessors }

// exactPass computes the entries that failed the rounding test, and returns those that the
// host has to compute.
func (m *multiplication) exactPass() ([]uint64, error) {
	got, err := m.outcome()
	if err != nil || got.list == 0 {
		return nil, err
	}
	if m.stats.Exact = int64(got.list); m.stats.Exact > m.capacity() {
		return nil, errRange
	}
	grid, room := m.exactBlocks(), m.sumWords()
	partial, err := m.alloc(4 * int64(grid) * int64(room+1))
	if err != nil {
		return nil, err
	}
	p := exactPass{
		x: m.left.vectors, y: m.right.vectors, l: m.left.lows(), r: m.right.lows(), c: m.c.target(),
		from: m.failed(), to: m.forHost(), counts: m.control.At(countsAt), e: m.native,
		partial: partial.Pointer(), arrived: m.control.At(arrivedAt), room: int32(room),
	}
	if err := m.launch("exact", "exact", cuda.Dim{X: grid}, cuda.Dim{X: 512}, sumBytes*room, p); err != nil {
		return nil, err
	}
	if err := m.mark("exact pass"); err != nil {
		return nil, err
	}
	if got, err = m.outcome(); err != nil {
		return nil, err
	}
	rest := make([]uint64, got.rest)
	return rest, cuda.Download(m.s, rest, m.rest.Pointer())
}

// outcome waits for the kernels and returns what became of the entries.
func (m *multiplication) outcome() (outcome, error) {
	box, err := m.e.mailbox(m.s)
	if err != nil {
		return outcome{}, err
	}
	if err := m.launch("scan", "outcomes", cuda.Dim{X: 1}, cuda.Dim{X: 32}, 0, m.control.Pointer(), box.At(0), box.Ticket()); err != nil {
		return outcome{}, err
	}
	if err := box.Await(m.s); err != nil {
		return outcome{}, err
	}
	got := *told[outcome](box)
	m.stats.Overflow, m.stats.Underflow = int64(got.overflow), int64(got.underflow)
	return got, nil
}
