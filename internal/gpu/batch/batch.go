// Package batch computes many small matrix products on an NVIDIA GPU in one launch: each entry from
// the exact sum of its products, rounded once. See kernels/rows/batch.cu.
package batch

import (
	"context"
	"errors"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/residue"
)

const (
	// digitRoom is the shared memory of a block for digits in bytes.
	digitRoom = 40 << 10
	// spareBits is the spread of the exponents of a row or column that the first launch allows.
	spareBits = 20
	// partBytes is the most bytes of host operands that are on the device at a time.
	partBytes = 1 << 30
	// tableBytes are the bytes of the addresses of a problem, listBytes those of its outcome and
	// its place in a list.
	tableBytes = 3 * 4 * 8
	listBytes  = 24 + 4
	// mostWork is the largest product of the three dimensions of a problem.
	mostWork = 1 << 21
)

// Products is a batch with a power of two as Alpha.
type Products struct {
	*place.Batch
	exp     int64
	m, n, k int
	digits  int // of the first launch
}

// Plan returns the products of b. It is not ok if the kernels do not apply to them.
func Plan(b *place.Batch) (p *Products, ok bool) {
	p = &Products{Batch: b, m: b.C[0].Rows, n: b.C[0].Cols, k: b.A[0].Cols}
	tz := num.TrailingZeros(b.Alpha.Mag)
	p.exp = b.Alpha.Exp + int64(tz)
	switch {
	case b.Alpha.Class != num.Finite || num.BitLen(b.Alpha.Mag) != tz+1 || max(p.exp, -p.exp) > 1<<40:
		return p, false
	case p.m == 0 || p.n == 0 || p.k == 0 || p.k > abi.BatchInner || max(p.m, p.n) > mostWork || p.m*p.n*p.k > mostWork:
		return p, false
	}
	bits := abi.BatchMargin + spareBits + max(b.A[0].Arr.Bits(), b.B[0].Arr.Bits())
	for _, k := range abi.BatchDigits {
		if abi.RowDigit*k >= bits {
			p.digits = k
			return p, max(p.item(), p.result()) <= cuda.MaxUnit/2
		}
	}
	return p, false
}

// item returns the bytes of the factors of a problem as they are copied to the device, result those
// of its result.
func (p *Products) item() int {
	_, a := planes(p.A[0].Arr.Format, p.m*p.k)
	_, b := planes(p.B[0].Arr.Format, p.k*p.n)
	return a + b
}

func (p *Products) result() int {
	_, c := planes(p.C[0].Arr.Format, p.m*p.n)
	return c
}

// planes returns where the planes of n numbers are in memory that holds them one after the other,
// and its size, a multiple of 8.
func planes(f num.Format, n int) (at [4]int, size int) {
	for plane, bytes := range mem.PlaneBytes(f) {
		at[plane] = size
		size += (int(bytes)*n + 7) &^ 7
	}
	return at, size
}

// packed returns the matrix of the shape and format of m that is stored in bytes, by rows if the
// rows of m are contiguous in memory, else by columns.
func packed(bytes []byte, a *num.Array, m num.Mat) num.Mat {
	n := m.Rows * m.Cols
	at, _ := planes(m.Arr.Format, n)
	*a = num.Array{Format: m.Arr.Format}
	switch a.Kind {
	case num.F32:
		a.F32 = slice[float32](bytes[at[0]:], n)
	case num.MP:
		a.Sig, a.Exp, a.Cls = slice[uint64](bytes[at[0]:], n*a.Limbs()), slice[int32](bytes[at[1]:], n), slice[num.Cls](bytes[at[2]:], n)
	default:
		for t := range a.Terms() {
			a.F64[t] = slice[float64](bytes[at[t]:], n)
		}
	}
	z := num.Mat{Arr: a, Rows: m.Rows, Cols: m.Cols}
	z.RS, z.CS = strides(m)
	return z
}

func slice[T cuda.Number](bytes []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), n)
}

// strides returns the strides of packed.
func strides(m num.Mat) (rs, cs int) {
	if m.RS != 1 && m.CS == 1 {
		return m.Cols, 1
	}
	return 1, m.Rows
}

// copyMat copies a matrix to another one of the same shape and format.
func copyMat(to, from num.Mat) {
	if to.RS != 1 {
		to, from = to.T(), from.T()
	}
	if to.CS == to.Rows && to.RS == 1 && from.CS == from.Rows && from.RS == 1 {
		to.Arr.CopyRun(to.Off, from.Arr, from.Off, to.Rows*to.Cols)
		return
	}
	to.CopyFrom(from)
}

// Host computes products of matrices of the host, with at most limit bytes of device memory, if
// that is positive. The error is cuda.ErrMemory if one product needs more.
func (p *Products) Host(s *cuda.Stream, limit int64) (left []int, st residue.Stats, err error) {
	one := int64(p.item()+p.result()) + listBytes
	part := max(1, int(partBytes/one))
	if limit > 0 {
		if part = min(part, int(limit/one)); part == 0 {
			return nil, st, cuda.ErrMemory
		}
	}
	for first := 0; first < len(p.C); first += part {
		rest, err := p.hostPart(s, first, min(part, len(p.C)-first), &st)
		if err != nil {
			return nil, st, err
		}
		left = append(left, rest...)
	}
	return left, st, nil
}

// hostPart computes count products from product first on.
func (p *Products) hostPart(s *cuda.Stream, first, count int, st *residue.Stats) (left []int, err error) {
	item, result := p.item(), p.result()
	memory, err := s.Alloc(int64(count) * int64(item+result))
	if err != nil {
		return nil, err
	}
	defer memory.Free()
	a, b, c := p.A[0], p.B[0], p.C[0]
	_, second := planes(a.Arr.Format, p.m*p.k)
	err = s.UploadBy(memory.Pointer(), count*item, item, func(to []byte, at int) {
		var room num.Array
		for i := first + at/item; len(to) > 0; i++ {
			copyMat(packed(to, &room, p.A[i]), p.A[i])
			copyMat(packed(to[second:], &room, p.B[i]), p.B[i])
			to = to[item:]
		}
	})
	if err != nil {
		return nil, err
	}
	operand := func(m num.Mat, at cuda.Pointer, step int) abi.BatchOperand {
		f := m.Arr.Format
		o := abi.BatchOperand{A: abi.Numbers{Kind: int32(f.Kind), Limbs: int32(f.Limbs())}, Step: int64(step)}
		list, _ := planes(f, m.Rows*m.Cols)
		for t, offset := range list {
			o.A.Plane[t] = at + cuda.Pointer(offset)
		}
		rs, cs := strides(m)
		o.RS, o.CS = int64(rs), int64(cs)
		return o
	}
	results := memory.At(int64(count) * int64(item))
	k := abi.BatchProducts{C: operand(c, results, result)}
	k.Factor[0] = operand(a, memory.Pointer(), item)
	k.Factor[1] = operand(b, memory.Pointer()+cuda.Pointer(second), item)
	left, err = p.run(s, &k, count, st)
	if err != nil {
		return nil, err
	}
	skip := make([]bool, count)
	for i, j := range left {
		skip[j] = true
		left[i] += first
	}
	return left, s.DownloadBy(results, count*result, result, func(from []byte, at int) {
		var room num.Array
		for i := at / result; len(from) > 0; i++ {
			if !skip[i] {
				z := p.C[first+i]
				copyBack(z, packed(from, &room, z))
			}
			from = from[result:]
		}
	})
}

// copyBack is copyMat for a matrix to that need not be packed.
func copyBack(to, from num.Mat) {
	if from.RS != 1 {
		to, from = to.T(), from.T()
	}
	copyMat(to, from)
}

// Device computes products of matrices in the memory of the device of s, whose views view returns.
// The error is cuda.ErrMemory if it needs more than limit bytes, if that is positive, beside them.
func (p *Products) Device(s *cuda.Stream, threads int, limit int64, view func(m num.Mat) mem.Matrix) (left []int, st residue.Stats, err error) {
	count := len(p.C)
	if limit > 0 && int64(count)*(tableBytes+listBytes) > limit {
		return nil, st, cuda.ErrMemory
	}
	table := make([]cuda.Pointer, 12*count)
	var operands [3]abi.BatchOperand
	for o, list := range [...][]num.Mat{p.A, p.B, p.C} {
		const part = 256
		// never cancelled
		_ = par.For(context.Background(), threads, (count+part-1)/part, func(_, k int) {
			for i := k * part; i < min((k+1)*part, count); i++ {
				m := view(list[i])
				if o == 2 {
					m.Changed()
				}
				for t := range m.Arr.Planes() {
					table[4*(o*count+i)+t] = m.Arr.Address(t, m.Off)
				}
			}
		})
		m := list[0]
		f := m.Arr.Format
		operands[o] = abi.BatchOperand{A: abi.Numbers{Kind: int32(f.Kind), Limbs: int32(f.Limbs())}, RS: int64(m.RS), CS: int64(m.CS)}
	}
	memory, err := cuda.NewCopy(s, table)
	if err != nil {
		return nil, st, err
	}
	defer memory.Free()
	for o := range operands {
		operands[o].Table = memory.At(int64(32 * o * count))
	}
	k := abi.BatchProducts{Factor: [2]abi.BatchOperand{operands[0], operands[1]}, C: operands[2]}
	left, err = p.run(s, &k, count, &st)
	return left, st, err
}

// run computes the products of k, again with more digits where numbers of a row or column spread
// widely. It returns the indices of the products that are left.
func (p *Products) run(s *cuda.Stream, k *abi.BatchProducts, count int, st *residue.Stats) (left []int, err error) {
	o := &k.Factor[1] // by columns
	o.RS, o.CS = o.CS, o.RS
	k.Size, k.K, k.Prec = [2]int32{int32(p.m), int32(p.n)}, int32(p.k), int64(p.C[0].Arr.Prec)
	k.Exp, k.Neg = p.exp, abi.Flag(p.Alpha.Neg)
	st.Device, st.Method, st.Blocks = s.Device().String(), residue.Direct, st.Blocks+count
	var again []uint32 // the products of a launch, nil for all of them
	for i, digits := range abi.BatchDigits {
		if digits < p.digits || count == 0 {
			continue
		}
		outcomes, err := p.launch(s, k, digits, count, again)
		if err != nil {
			return nil, err
		}
		st.Kernel = abi.BatchKernel(digits)
		var wide []uint32
		for j := range outcomes {
			o := &outcomes[j]
			index := uint32(j)
			if again != nil {
				index = again[j]
			}
			switch {
			case o.Left == 0:
				st.Overflow += int64(o.Overflow)
				st.Underflow += int64(o.Underflow)
			case o.Left == abi.BatchWide && i < len(abi.BatchDigits)-1:
				wide = append(wide, index)
			default:
				left = append(left, int(index))
			}
		}
		again, count = wide, len(wide)
	}
	st.Blocks -= len(left)
	return left, nil
}

// launch computes count products, those of list if it is not nil, and returns their outcomes.
func (p *Products) launch(s *cuda.Stream, k *abi.BatchProducts, digits, count int, list []uint32) (z []abi.BatchOutcome, err error) {
	const size = int64(unsafe.Sizeof(abi.BatchOutcome{}))
	memory, err := s.Alloc(size*int64(count) + 4*int64(len(list)))
	if err != nil {
		return nil, err
	}
	defer memory.Free()
	k.Outcomes, k.List, k.Count = memory.Pointer(), 0, int32(count)
	if err := s.Zero(memory.Pointer(), size*int64(count)); err != nil {
		return nil, err
	}
	if list != nil {
		k.List = memory.At(size * int64(count))
		if err := cuda.Upload(s, k.List, list); err != nil {
			return nil, err
		}
	}
	f, err := launch.KernelsOf(s).Function(s, "rows/batch", abi.BatchKernel(digits))
	if err != nil {
		return nil, err
	}
	k.Log = [2]int32{}
	grid, shared := k.SetTiles(digits, digitRoom)
	if err := f.Launch(s, grid, cuda.Dim{X: abi.BatchThreads}, shared, *k); err != nil {
		return nil, err
	}
	z = make([]abi.BatchOutcome, count)
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(z))), int(size)/8*count)
	return z, cuda.Download(s, words, memory.Pointer())
}

// Lacks reports whether an error says that the device has too little memory.
func Lacks(err error) bool { return errors.Is(err, cuda.ErrMemory) }
