package product

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/place"
)

// controlBytes is the size of a control in the memory that the host reads: a control for each
// matrix, then the results of the scans.
const controlBytes = (arrivedAt + 7) / 8 * 8

// Extents implements place.Newton. It scans two matrices at a time, like the factors of a product,
// if they have the same number of columns.
func Extents(s *cuda.Stream, tally *mem.Array, list ...mem.Matrix) (x []place.Extents, left int, err error) {
	e := engineOf(s)
	control := func(i int) int64 { return controlBytes * int64(i) }
	first := control(len(list))
	at, size := make([]int64, len(list)), first
	for i, a := range list {
		at[i] = size
		size += (scannedBytes*int64(a.Rows) + 7) / 8 * 8
	}
	memory, err := s.Alloc(size)
	if err != nil {
		return nil, 0, err
	}
	defer memory.Free()
	if err := s.Zero(memory.Pointer(), first); err != nil {
		return nil, 0, err
	}
	scan, err := e.kernels.Function(s, "exact/scan", "scan")
	if err != nil {
		return nil, 0, err
	}
	box, err := e.mailbox(s)
	if err != nil {
		return nil, 0, err
	}
	scanned := make([]bool, len(list))
	for i, a := range list {
		if scanned[i] {
			continue
		}
		of := func(j int) (abi.Vectors, abi.Scanned) {
			return abi.RowsOf(list[j]), scannedAt(memory.At(at[j]), list[j].Rows, memory.At(control(j)+leftTotalsAt))
		}
		v, to := of(i)
		w, too := v, to
		// Both factors are the same matrix, which is scanned once. The samples, which are not used
		// here, take one block each.
		too.Total = 0
		most := max(abi.MaxSamples, (a.Rows+7)/8)
		for j := i + 1; j < len(list); j++ {
			if !scanned[j] && list[j].Cols == a.Cols {
				w, too = of(j)
				most = max(most, (list[j].Rows+7)/8)
				scanned[j] = true
				break
			}
		}
		if err := scan.Launch(s, cuda.Dim{X: most, Y: 3}, cuda.Dim{X: 256}, 0,
			v, to, w, too, abi.OldSample{}, memory.At(control(i)), box.At(0), box.Ticket()); err != nil {
			return nil, 0, err
		}
	}
	words, count := make([]uint64, size/8), make([]uint32, 1)
	pieces := []cuda.Piece{cuda.To(words, memory.Pointer())}
	if tally != nil {
		pieces = append([]cuda.Piece{cuda.To(count, tally.Plane(0))}, pieces...)
	}
	if err := cuda.DownloadAll(s, pieces...); err != nil {
		return nil, 0, err
	}
	for i, a := range list {
		n, t := a.Rows, words[(control(i)+leftTotalsAt)/8:]
		x = append(x, place.Extents{
			Top: column[int64](words, at[i], n), Low: column[int64](words, at[i]+8*int64(n), n), Norm: column[float64](words, at[i]+16*int64(n), n),
			Width: int64(t[1]), Special: uint32(t[2])&special != 0,
		})
	}
	return x, int(count[0]), nil
}

// column returns n numbers of 64 bits in words, from the given byte on, without a copy.
func column[T int64 | float64](words []uint64, at int64, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(words[at/8:]))), n)
}

// special marks vectors with infinities or NaN, as in kernels/common/common.cuh.
const special = 1

// place sets the addresses of the results of the scan of n vectors: exponents, least exponents,
// norms and flags, one after the other.
func (o *operand) place(n int, total cuda.Pointer) {
	o.scanned = scannedAt(o.exp.Pointer(), n, total)
}

func scannedAt(from cuda.Pointer, n int, total cuda.Pointer) abi.Scanned {
	at := func(i int) cuda.Pointer { return from + cuda.Pointer(8*i*n) }
	return abi.Scanned{Exp: at(0), Low: at(1), Norm: at(2), Flags: at(3), Total: total}
}

// scannedBytes is the size in bytes of the results of the scan of a vector.
const scannedBytes = 25
