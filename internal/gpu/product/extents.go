package product

import (
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/place"
)

// totalsBytes is the size of the extremes of all vectors of a matrix. In the memory that the host
// reads the extremes of all matrices come first, then the results of the scans.
const totalsBytes = int64(unsafe.Sizeof(abi.Totals{}))

// Extents implements place.Newton.
func Extents(s *cuda.Stream, tally *mem.Array, list ...mem.Matrix) (x []place.Extents, left int, err error) {
	e := engineOf(s)
	totals := func(i int) int64 { return totalsBytes * int64(i) }
	first := totals(len(list))
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
	extents, err := e.kernels.Function(s, "exact/scan", "extents")
	if err != nil {
		return nil, 0, err
	}
	for begin := 0; begin < len(list); begin += abi.Looks {
		var of abi.Extents
		some, most := list[begin:min(begin+abi.Looks, len(list))], 1
		for k, a := range some {
			i := begin + k
			of[k].X, of[k].To = abi.RowsOf(a), scannedAt(memory.At(at[i]), a.Rows, memory.At(totals(i)))
			most = max(most, (a.Rows+7)/8)
		}
		if err := extents.Launch(s, cuda.Dim{X: most, Y: len(some)}, cuda.Dim{X: 256}, 0, of); err != nil {
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
		n, t := a.Rows, words[totals(i)/8:]
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
