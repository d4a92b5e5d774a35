package gpu

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/kernels"
	"github.com/halfulp/halfulp/internal/num"
)

// Sums of numbers and of products along the rows of a matrix, which are cut into digits:
// kernels/reduce.cuh has the arithmetic and its error.

const (
	rowDigit     = 28              // bits of a digit
	rowThreads   = 128             // of a block of accumulating kernels
	scanThreads  = 256             // of a block of scanRows
	scanBatch    = 8               // numbers that a thread of it reads at a time
	roundThreads = 32              // of a block of roundRows
	rowTile      = 32              // rows of a block, if it does not work on one
	fewRows      = 16              // up to which a block works on one row
	scanBlocks   = 4               // a multiprocessor
	spanShared   = 24 * rowThreads // bytes of shared memory in which a block merges spans

	// stageBytes is what a block loads at a time, if that is more than an entry a thread.
	// TestRowSpeed on an H100, µs of products at 106 bits with 4, 8, 16, 32 KiB: 41, 41, 37, 45.
	stageBytes = 16 << 10
)

// digitFiles tells which source has the kernels for how many digits. A file is compiled when
// it is first needed.
var digitFiles = []struct {
	name   string
	digits []int
}{
	{"reduce", []int{3, 4, 5, 6, 8, 9, 10}},
	{"reduce17", []int{13, 17}},
	{"reduce32", []int{24, 32}},
	{"reduce62", []int{48, 62}},
}

// reduceDigits are the numbers of digits that there are kernels for, ascending.
func reduceDigits() (list []int) {
	for _, f := range digitFiles {
		list = append(list, f.digits...)
	}
	return list
}

// A reducer is what a device keeps for reductions: its kernels. It is used on the device's
// thread alone.
type reducer struct {
	modules map[string]*cuda.Module
	blocks  map[occupancy]int
}

// An occupancy is of what blocks a multiprocessor holds so many at a time.
type occupancy struct {
	f      *cuda.Function
	shared int
}

var reducers struct {
	sync.Mutex
	of map[*cuda.Device]*reducer
}

func reducerOf(s *cuda.Stream) *reducer {
	reducers.Lock()
	defer reducers.Unlock()
	r := reducers.of[s.Device()]
	if r == nil {
		if reducers.of == nil {
			reducers.of = map[*cuda.Device]*reducer{}
		}
		r = &reducer{modules: map[string]*cuda.Module{}, blocks: map[occupancy]int{}}
		reducers.of[s.Device()] = r
	}
	return r
}

// function returns a kernel of a source.
func (r *reducer) function(s *cuda.Stream, file, name string) (*cuda.Function, error) {
	m := r.modules[file]
	if m == nil {
		var err error
		if m, err = s.Load(kernels.PTX(file)); err != nil {
			return nil, err
		}
		r.modules[file] = m
	}
	return m.Function(name)
}

// blocksOf returns how many blocks of f run on a multiprocessor at a time.
func (r *reducer) blocksOf(f *cuda.Function, shared int) (int, error) {
	key := occupancy{f, shared}
	if n, ok := r.blocks[key]; ok {
		return n, nil
	}
	res, err := f.Resources(rowThreads, shared)
	if err != nil {
		return 0, err
	}
	r.blocks[key] = max(1, res.BlocksPerMultiprocessor)
	return r.blocks[key], nil
}

// The structures of kernels/reduce.cuh and reduce.cu.

type spans struct{ top, bottom, flags cuda.Pointer }

type rowReduction struct {
	a, x                         vectors
	parts, s                     spans
	columns                      cuda.Pointer
	digits, products, magnitudes int32
	count, first                 int32
	rows, width, buffers         int32
	down, later                  int32
}

type rowRounding struct {
	s               spans
	columns         cuda.Pointer
	c               target
	rest            leftovers
	unit            int64
	error           float64
	exact           int64
	digits, rows    int32
	neg, expansions int32
}

// Flags of a row's addends.
const (
	seenSpecial = 1 << iota
	seenFinite
	seenPositiveZero
	seenNegativeZero
)

// rowSums are the sums of the rows of a, or of their products with x, on the device.
type rowSums struct {
	s          *cuda.Stream
	a          Matrix
	x          *Matrix // of one row; nil: sums of numbers
	magnitudes bool

	digits int
	memory *cuda.Memory // columns, a count, spans, spans of parts, a list of rows
	parts  int          // of a row
}

func (q *rowSums) free() { q.memory.Free() }

// terms returns of how many terms numbers of a format are the sum.
func termsOf(f num.Format) int { return max(1, f.Terms()) }

// addends returns how many addends a row has, a term or a product of terms each.
func (q *rowSums) addends() int {
	n := q.a.Cols * termsOf(q.a.Arr.Format)
	if q.x != nil {
		n *= termsOf(q.x.Arr.Format)
	}
	return n
}

// expansions reports whether addends are terms of numbers.
func (q *rowSums) expansions() bool {
	return q.a.Arr.Terms() > 1 || q.x != nil && q.x.Arr.Terms() > 1
}

// unit returns the exponent of the last column relative to a row's reference.
func (q *rowSums) unit() int64 {
	if q.x == nil {
		return int64(-rowDigit * q.digits)
	}
	return int64(-rowDigit * (q.digits + 1))
}

// error returns the error of a row's sum, errors 2^shift in units of the last column.
func (q *rowSums) error() (errors uint64, shift int64) {
	errors = uint64(q.addends()) * q.errorDigits(q.digits)
	if q.x != nil {
		shift = rowDigit
	}
	return errors, shift
}

// countAt returns where the count of rows that are left over is in memory.
func (q *rowSums) countAt() int64 { return int64(8 * (q.digits + 1) * q.a.Rows) }

// spansAt returns where the spans of rows are.
func (q *rowSums) spansAt() int64 { return q.countAt() + 8 }

// partsAt returns where the spans of parts are.
func (q *rowSums) partsAt() int64 { return (q.spansAt() + spanBytes*int64(q.a.Rows) + 7) &^ 7 }

// listAt returns where the list of rows that are left over is.
func (q *rowSums) listAt() int64 {
	return (q.partsAt() + spanBytes*int64(q.parts)*int64(q.a.Rows) + 7) &^ 7
}

// spanBytes is the size of the spans of a row.
const spanBytes = 20

// launches returns the number of terms, or of pairs of them.
func (q *rowSums) launches() int {
	n := termsOf(q.a.Arr.Format)
	if q.x != nil {
		n *= termsOf(q.x.Arr.Format)
	}
	return n
}

// spansOf returns spans of the parts of rows.
func (q *rowSums) spansOf(offset int64, parts int) spans {
	at, n := q.memory.At(offset), cuda.Pointer(q.a.Rows*parts)
	return spans{at, at + 8*n, at + 16*n}
}

func (q *rowSums) spans() spans { return q.spansOf(q.spansAt(), 1) }

// term returns the vectors of term t of the numbers.
func (x vectors) term(t int) vectors {
	if x.a.kind == int32(num.DD) || x.a.kind == int32(num.TD) || x.a.kind == int32(num.QD) {
		x.a = numbers{plane: [4]cuda.Pointer{x.a.plane[t]}, kind: int32(num.F64)}
	}
	return x
}

// run computes the columns of digits.
func (q *rowSums) run(digits int) error {
	q.digits = digits
	q.memory.Free()
	q.memory = nil
	r, grid := q.arguments()
	q.parts = int(r.count)
	var err error
	if q.memory, err = q.s.Alloc(q.listAt() + int64(8*q.a.Rows)); err != nil {
		return err
	}
	r.columns, r.s, r.parts = q.memory.Pointer(), q.spans(), q.spansOf(q.partsAt(), q.parts)
	if err := q.eachTerm(r, func(r rowReduction) error { return q.scan(r, grid) }); err != nil {
		return err
	}
	return q.eachTerm(r, q.accumulate)
}

// arguments returns those of the kernels, but for the vectors and the memory, and the grid of
// scanRows.
func (q *rowSums) arguments() (r rowReduction, grid cuda.Dim) {
	r = rowReduction{
		digits: int32(q.digits), rows: 1, products: flag(q.x != nil), magnitudes: flag(q.magnitudes),
		down: flag(abs(q.a.RS) < abs(q.a.CS) && q.a.Rows > fewRows),
	}
	if q.a.Rows > fewRows {
		r.rows = rowTile
	}
	lanes := scanThreads
	grid.X = q.a.Rows
	if r.down != 0 {
		lanes = scanThreads / rowTile
		grid.X = (q.a.Rows + rowTile - 1) / rowTile
	}
	blocks := scanBlocks * q.s.Device().Info().Multiprocessors
	grid.Y = min((q.a.Cols+lanes*scanBatch-1)/(lanes*scanBatch), max(1, blocks/grid.X))
	r.count = int32(q.launches() * grid.Y)
	return r, grid
}

// eachTerm calls f for the terms of a, or for all pairs of terms of a and x.
func (q *rowSums) eachTerm(r rowReduction, f func(rowReduction) error) error {
	others := 1
	if q.x != nil {
		others = termsOf(q.x.Arr.Format)
	}
	for t := range termsOf(q.a.Arr.Format) {
		for u := range others {
			r.a = q.a.rows().term(t)
			if q.x != nil {
				r.x = q.x.rows().term(u)
			}
			r.first = r.count / int32(q.launches()) * int32(t*others+u)
			r.later = flag(t+u > 0)
			if err := f(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *rowSums) scan(r rowReduction, grid cuda.Dim) error {
	f, err := reducerOf(q.s).function(q.s, "reduce", "scanRows")
	if err != nil {
		return err
	}
	return f.Launch(q.s, grid, cuda.Dim{X: scanThreads}, 0, r)
}

func (q *rowSums) accumulate(r rowReduction) error {
	file, name := "", fmt.Sprintf("sums%d", q.digits)
	if q.x != nil {
		name = fmt.Sprintf("products%d", q.digits)
	}
	for _, d := range digitFiles {
		if slices.Contains(d.digits, q.digits) {
			file = d.name
		}
	}
	red := reducerOf(q.s)
	f, err := red.function(q.s, file, name)
	if err != nil {
		return err
	}
	lanes, each := q.stage(int(r.rows))
	r.width = 1
	for r.width < 8 && 2*int(r.width)*each <= stageBytes && int(r.width)*lanes < q.a.Cols {
		r.width *= 2
	}
	// Two buffers, if they do not leave room for fewer blocks.
	perSM, shared := 0, 0
	for buffers := int32(1); buffers <= 2; buffers++ {
		bytes := q.sharedBytes(int(r.rows), int(buffers*r.width)*each)
		if bytes > q.s.Device().Info().SharedPerBlock {
			break
		}
		blocks, err := red.blocksOf(f, bytes)
		if err != nil {
			return err
		}
		if blocks >= perSM {
			perSM, shared, r.buffers = blocks, bytes, buffers
		}
	}
	grid := cuda.Dim{X: (q.a.Rows + int(r.rows) - 1) / int(r.rows)}
	stages := (q.a.Cols + lanes*int(r.width) - 1) / (lanes * int(r.width))
	slices := min(stages, max(1, perSM*q.s.Device().Info().Multiprocessors/grid.X))
	turns := (stages + slices - 1) / slices
	grid.Y = (stages + turns - 1) / turns
	return f.Launch(q.s, grid, cuda.Dim{X: rowThreads}, shared, r)
}

// stage returns how many threads of a block work on a row, and the bytes of shared memory that
// one entry a thread takes.
func (q *rowSums) stage(rows int) (lanes, bytes int) {
	lanes = rowThreads / rows
	bytes = rowThreads * numberBytes(q.a.Arr.Format)
	if q.x != nil {
		bytes += lanes * numberBytes(q.x.Arr.Format)
	}
	return lanes, bytes
}

// sharedBytes returns the shared memory of a block with buffers of so many bytes. In the end it
// holds the sums of warps.
func (q *rowSums) sharedBytes(rows, buffers int) int {
	sums := rowThreads / 32
	if rows > 1 {
		sums = rowThreads - rowTile
	}
	return max(buffers, spanShared, 8*(q.digits+1)*sums)
}

// fits reports whether the shared memory of a block holds an entry a thread.
func (q *rowSums) fits() bool {
	_, bytes := q.stage(1)
	return bytes <= q.s.Device().Info().SharedPerBlock
}

// numberBytes is what a number takes in shared memory.
func numberBytes(f num.Format) int {
	if f.Kind == num.MP {
		return 8 * (1 + (f.Limbs() | 1))
	}
	return 16
}

func abs(x int) int { return max(x, -x) }

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// hostSums are the sums of rows on the host.
type hostSums struct {
	q       *rowSums
	columns []int64
	top     []int64
	bottom  []int64 // negative
	flags   []uint32
}

// download copies the sums to the host.
func (q *rowSums) download() (*hostSums, error) {
	n := q.a.Rows
	words := make([]int64, (q.digits+1)*n+1+2*n+(n+1)/2)
	raw := unsafe.Slice((*uint8)(unsafe.Pointer(&words[0])), 8*len(words))
	if err := cuda.Download(q.s, raw[:q.spansAt()+spanBytes*int64(n)], q.memory.Pointer()); err != nil {
		return nil, err
	}
	h := &hostSums{q: q}
	h.columns, words = words[:(q.digits+1)*n], words[(q.digits+1)*n+1:]
	h.top, h.bottom = words[:n], words[n:2*n]
	h.flags = unsafe.Slice((*uint32)(unsafe.Pointer(&words[2*n])), n)
	return h, nil
}

// exact reports whether the sum of row i is exact.
func (h *hostSums) exact(i int) bool {
	return h.spread(i) <= h.q.exactSpread(h.q.digits)
}

// special reports whether row i has an infinity or NaN.
func (h *hostSums) special(i int) bool { return h.flags[i]&seenSpecial != 0 }

// spread returns how far the exponents of the addends of row i lie apart.
func (h *hostSums) spread(i int) int64 {
	if h.flags[i]&seenFinite == 0 {
		return 0
	}
	return h.top[i] + h.bottom[i]
}

// add adds alpha times the sum of row i to a, and returns the bound of its error, zero if it is
// exact. It returns false for what is left to the host: infinities, NaN, and zeros whose sign
// is not known.
func (h *hostSums) add(a *direct.Acc, i int, alpha num.Real) (bound num.Real, ok bool) {
	flags, q := h.flags[i], h.q
	if flags&seenSpecial != 0 {
		return bound, false
	}
	if flags&seenFinite == 0 {
		if flags&seenPositiveZero != 0 {
			a.AddProduct(alpha, num.Real{})
		}
		if flags&seenNegativeZero != 0 {
			a.AddProduct(alpha, num.Real{Neg: true})
		}
		return bound, true
	}
	v := h.sum(i)
	if !h.exact(i) {
		errors, shift := q.error()
		var b direct.Acc
		b.AddProduct(alpha, num.Real{Class: num.Finite, Exp: v.Exp + shift, Mag: []uint64{errors}})
		bound = b.Exact()
		bound.Neg = false
	} else if num.IsZero(v.Mag) && q.expansions() {
		return bound, false
	}
	a.AddProduct(alpha, v)
	return bound, true
}

// sum returns the number that the columns of row i stand for, perhaps with Mag zero.
func (h *hostSums) sum(i int) num.Real {
	q := h.q
	mag := make([]uint64, (rowDigit*q.digits+64+63)/64+1)
	carry := int64(0)
	for c := q.digits; c > 0; c-- {
		v := h.columns[c*q.a.Rows+i] + carry
		carry = v >> rowDigit
		putBits(mag, rowDigit*(q.digits-c), uint64(v)&(1<<rowDigit-1))
	}
	last := h.columns[i] + carry
	neg := last < 0
	putBits(mag, rowDigit*q.digits, uint64(last))
	if neg { // the sign goes on above
		at := rowDigit*q.digits + 64
		mag[at>>6] |= ^uint64(0) << uint(at&63)
		for w := at>>6 + 1; w < len(mag); w++ {
			mag[w] = ^uint64(0)
		}
		num.Negate(mag)
	}
	return num.Real{Class: num.Finite, Neg: neg, Exp: h.top[i] + q.unit(), Mag: mag}
}

// putBits sets the bits of x from position pos on, which are zeros, to v.
func putBits(x []uint64, pos int, v uint64) {
	w, s := pos>>6, uint(pos&63)
	x[w] |= v << s
	if s != 0 && w+1 < len(x) {
		x[w+1] |= v >> (64 - s)
	}
}
