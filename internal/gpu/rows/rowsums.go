// Package rows runs sums of numbers and of products along the rows of matrices on NVIDIA GPUs
// (reductions, moments, matrix-vector products), entrywise updates, and searches. Its results have
// the same bits as the results of package direct.
//
// Launches of sums are serialized: all kernels of this package start on the main stream of their
// device, the stream of cuda.Device.Do. The counters of kernels/rows/conclude.cuh are variables of
// the module, which a device loads once, so two concurrent launches would count each other's
// blocks.
package rows

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Sums of numbers and of products along the rows of a matrix, by digits. There are five kinds of
// kernels. fused.go supports up to 17 digits, where launches and waits would take much of the time.
// accumulate.go supports more digits, and also keeps the digits of long numbers in registers.
// words.go adds long numbers by words. Two kinds multiply on the tensor cores: outer.go for long
// rows and convolve.go for many rows. The last three kinds share fused.go.

// rowMargin is MARGIN of kernels/rows/fused.cuh.
const rowMargin = 3

// kept is what this package keeps for the calls of a device. It must be used on the device's thread
// only.
type kept struct {
	box       *cuda.Mailbox // receives the answers of kernels
	fused     fusedLaunch   // of the current call
	divisions map[divided]division
}

var keptBy launch.PerDevice[kept]

// keptOf returns what is kept for the device of s.
func keptOf(s *cuda.Stream) *kept {
	return keptBy.Of(s.Device(), func() *kept { return &kept{divisions: map[divided]division{}} })
}

// mailboxOf returns the mailbox of the device of s.
func mailboxOf(s *cuda.Stream) (_ *cuda.Mailbox, err error) {
	k := keptOf(s)
	if k.box == nil {
		k.box, err = s.NewMailbox(mailboxBytes)
	}
	return k.box, err
}

// mailboxBytes is the size of an answer of 64 columns.
var mailboxBytes = 8 * (abi.ColumnWord(64) + 2*spanWords)

// leftOver waits for an answer and returns the number of rows left over.
func leftOver(box *cuda.Mailbox, s *cuda.Stream) (int, error) {
	if err := box.AwaitWords(s, abi.LeftWord+1); err != nil {
		return 0, err
	}
	return int(box.Word(abi.LeftWord)), nil
}

// told waits for the sums of the only row and returns them.
func (q *rowSums) told(box *cuda.Mailbox) (*hostSums, error) {
	if err := box.AwaitWords(q.s, abi.ColumnWord(q.digits+1+spanWords)); err != nil {
		return nil, err
	}
	wide := func(c int) int64 {
		at := abi.ColumnWord(c)
		return int64(box.Word(at+1))<<32 | int64(box.Word(at))
	}
	h := q.hostSums()
	for c := range h.columns {
		h.columns[c] = wide(c)
	}
	c := len(h.columns)
	h.top[0], h.bottom[0], h.flags[0] = wide(c), wide(c+1), uint32(wide(c+2))
	return h, nil
}

// rowSums are the sums of the rows of a, or of their products with x, on the device.
type rowSums struct {
	s          *cuda.Stream // the main stream: launches are serialized
	a          mem.Matrix
	x          *mem.Matrix // a single row; nil for sums of numbers
	magnitudes bool

	digits int
	memory *cuda.Memory // columns, spans, list of rows left over, parts
}

func (q *rowSums) free() { q.memory.Free() }

// termsOf returns the number of terms of a number of format f, at least 1.
func termsOf(f num.Format) int { return max(1, f.Terms()) }

// addends returns the number of addends of a row: terms, or products of terms.
func (q *rowSums) addends() int {
	n := q.a.Cols * termsOf(q.a.Arr.Format)
	if q.x != nil {
		n *= termsOf(q.x.Arr.Format)
	}
	return n
}

// expansions reports whether the addends are terms of expansions.
func (q *rowSums) expansions() bool {
	return q.a.Arr.Terms() > 1 || q.x != nil && q.x.Arr.Terms() > 1
}

// unit returns the exponent of the last column relative to the reference of the row.
func (q *rowSums) unit() int64 {
	if q.x == nil {
		return int64(-abi.RowDigit * q.digits)
	}
	return int64(-abi.RowDigit * (q.digits + 1))
}

// error bounds the error of the sum of a row: errors 2^shift units of the last column.
func (q *rowSums) error() (errors uint64, shift int64) {
	errors = uint64(q.addends()) * q.errorDigits(q.digits)
	if q.x != nil {
		shift = abi.RowDigit
	}
	return errors, shift
}

// The size of the spans of a row: two exponents and flags.
const (
	spanWords = 3 // in an answer
	spanBytes = 20
)

// spansOf returns the spans of n rows that begin at p.
func spansOf(p cuda.Pointer, n int) abi.Spans {
	at := cuda.Pointer(n)
	return abi.Spans{Top: p, Bottom: p + 8*at, Flags: p + 16*at}
}

// spansAt returns the offset of the spans in q's memory.
func (q *rowSums) spansAt() int64 { return int64(8 * (q.digits + 1) * q.a.Rows) }

// listAt returns the offset of the list of rows left over.
func (q *rowSums) listAt() int64 { return (q.spansAt() + spanBytes*int64(q.a.Rows) + 7) &^ 7 }

// partsAt returns the offset of the parts, which blocks leave for other blocks.
func (q *rowSums) partsAt() int64 { return q.listAt() + int64(8*q.a.Rows) }

// alloc allocates q's memory, with the given bytes for parts.
func (q *rowSums) alloc(parts int64) (err error) {
	q.memory.Free()
	q.memory, err = q.s.Alloc(q.partsAt() + parts)
	if err != nil {
		q.memory = nil
	}
	return err
}

// compute computes the columns of digits. It calls end once q has memory; end tells what the
// kernels do with the columns.
func (q *rowSums) compute(digits int, end func() abi.RowEnding) error {
	q.digits = digits
	if q.fused() {
		return q.fuse(end)
	}
	return q.run(end)
}

// onDevice computes the columns of digits and leaves them on the device, with the spans.
func (q *rowSums) onDevice(digits int) error {
	return q.compute(digits, func() abi.RowEnding { return abi.RowEnding{Does: abi.Keeps} })
}

// sums computes the columns of digits and copies them to the host, for a single row through the
// mailbox.
func (q *rowSums) sums(digits int) (*hostSums, error) {
	if q.a.Rows > 1 {
		if err := q.onDevice(digits); err != nil {
			return nil, err
		}
		return q.download(0)
	}
	box, err := mailboxOf(q.s)
	if err != nil {
		return nil, err
	}
	if err := q.compute(digits, func() abi.RowEnding {
		return abi.RowEnding{Does: abi.Tells, Answer: box.At(0), Ticket: box.Ticket()}
	}); err != nil {
		return nil, err
	}
	return q.told(box)
}

// round computes the sums of the rows and rounds alpha times them to c; alpha must be a power of
// two. It returns the number of rows left over.
func (q *rowSums) round(digits int, alpha num.Real, c abi.Target) (int, error) {
	box, err := mailboxOf(q.s)
	if err != nil {
		return 0, err
	}
	if err := q.compute(digits, func() abi.RowEnding {
		exp, _ := powerOfTwo(alpha)
		errors, shift := q.error()
		return abi.RowEnding{Does: abi.Rounds, Answer: box.At(0), Ticket: box.Ticket(), To: abi.RowRounding{
			C: c, List: q.memory.At(q.listAt()), Unit: q.unit() + exp, Error: float64(errors) * float64(int64(1)<<shift),
			Exact: q.exactSpread(q.digits), Neg: abi.Flag(alpha.Neg), Expansions: abi.Flag(q.expansions())}}
	}); err != nil {
		return 0, err
	}
	return leftOver(box, q.s)
}

// left returns the n rows that round has left over, and the spans of all rows.
func (q *rowSums) left(n int) ([]int, *hostSums, error) {
	list := make([]uint64, n)
	if err := cuda.Download(q.s, list, q.memory.At(q.listAt())); err != nil {
		return nil, nil, err
	}
	rows := make([]int, n)
	for i, e := range list {
		rows[i] = int(uint32(e))
	}
	h, err := q.download(q.spansAt())
	return rows, h, err
}

// powerOfTwo returns the exponent of the last nonzero bit of a finite r, which must not be 0, and
// whether r has no other nonzero bit.
func powerOfTwo(r num.Real) (exp int64, ok bool) {
	tz := num.TrailingZeros(r.Mag)
	return r.Exp + int64(tz), num.BitLen(r.Mag) == tz+1
}

func abs(x int) int { return max(x, -x) }

// hostSums are the sums of rows in host memory, or only their spans.
type hostSums struct {
	q       *rowSums
	raw     []uint8 // the memory of the fields below
	columns []int64
	top     []int64
	bottom  []int64 // negated
	flags   []uint32
}

// hostSums returns a hostSums to be filled.
func (q *rowSums) hostSums() *hostSums {
	n := q.a.Rows
	words := make([]int64, q.listAt()/8)
	h := &hostSums{q: q, raw: unsafe.Slice((*uint8)(unsafe.Pointer(&words[0])), 8*len(words))}
	h.columns, words = words[:(q.digits+1)*n], words[(q.digits+1)*n:]
	h.top, h.bottom = words[:n], words[n:2*n]
	h.flags = unsafe.Slice((*uint32)(unsafe.Pointer(&words[2*n])), n)
	return h
}

// download copies the sums to the host, from the given byte offset on.
func (q *rowSums) download(offset int64) (*hostSums, error) {
	h := q.hostSums()
	end := q.spansAt() + spanBytes*int64(q.a.Rows) // without the padding before the list
	return h, cuda.Download(q.s, h.raw[offset:end], q.memory.At(offset))
}

// exact reports whether the sum of row i is exact.
func (h *hostSums) exact(i int) bool {
	return h.spread(i) <= h.q.exactSpread(h.q.digits)
}

// special reports whether row i contains an infinity or NaN.
func (h *hostSums) special(i int) bool { return h.flags[i]&abi.SeenSpecial != 0 }

// spread returns how far, in bits, the exponents of the addends of row i reach below its reference.
func (h *hostSums) spread(i int) int64 {
	if h.flags[i]&abi.SeenFinite == 0 {
		return 0
	}
	return h.top[i] + h.bottom[i]
}

// add adds alpha times the sum of row i to a, and returns a bound of its error, zero if it is
// exact. It returns false for rows left to the host: rows with infinities or NaN, and zero sums of
// unknown sign.
func (h *hostSums) add(a *superacc.Acc, i int, alpha num.Real) (bound num.Real, ok bool) {
	flags, q := h.flags[i], h.q
	if flags&abi.SeenSpecial != 0 {
		return bound, false
	}
	if flags&abi.SeenFinite == 0 {
		if flags&abi.SeenPositiveZero != 0 {
			a.AddProduct(alpha, num.Real{})
		}
		if flags&abi.SeenNegativeZero != 0 {
			a.AddProduct(alpha, num.Real{Neg: true})
		}
		return bound, true
	}
	v := h.sum(i)
	if !h.exact(i) {
		errors, shift := q.error()
		var b superacc.Acc
		b.AddProduct(alpha, num.Real{Class: num.Finite, Exp: v.Exp + shift, Mag: []uint64{errors}})
		bound = b.Exact()
		bound.Neg = false
	} else if num.IsZero(v.Mag) && q.expansions() {
		return bound, false
	}
	a.AddProduct(alpha, v)
	return bound, true
}

// sum returns the number that the columns of row i represent; Mag may be zero.
func (h *hostSums) sum(i int) num.Real {
	q := h.q
	mag := make([]uint64, (abi.RowDigit*q.digits+64+63)/64+1)
	carry := int64(0)
	for c := q.digits; c > 0; c-- {
		v := h.columns[c*q.a.Rows+i] + carry
		carry = v >> abi.RowDigit
		putBits(mag, abi.RowDigit*(q.digits-c), uint64(v)&(1<<abi.RowDigit-1))
	}
	last := h.columns[i] + carry
	neg := last < 0
	putBits(mag, abi.RowDigit*q.digits, uint64(last))
	if neg { // extend the sign to the words above
		at := abi.RowDigit*q.digits + 64
		mag[at>>6] |= ^uint64(0) << uint(at&63)
		for w := at>>6 + 1; w < len(mag); w++ {
			mag[w] = ^uint64(0)
		}
		num.Negate(mag)
	}
	return num.Real{Class: num.Finite, Neg: neg, Exp: h.top[i] + q.unit(), Mag: mag}
}

// putBits sets the bits of x from position pos on, which must be zero, to v.
func putBits(x []uint64, pos int, v uint64) {
	w, s := pos>>6, uint(pos&63)
	x[w] |= v << s
	if s != 0 && w+1 < len(x) {
		x[w+1] |= v >> (64 - s)
	}
}
