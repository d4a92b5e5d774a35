package ozgpu

import (
	"encoding/binary"

	"github.com/halfulp/halfulp/internal/cuda"
)

// mostSlices is the most slices of one launch, MOST_SLICES of kernels/ozaki/ozaki.cu.
const mostSlices = 8

// splitting is the argument of the kernel ozakiSplit.
type splitting struct {
	x                                  view
	bits, out, nonzero, squares, lossy cuda.Pointer
	ld, stride                         int64
	width, first, count, slices        int32
	q, r                               [mostSlices]int8
}

// places describes where slices are stored: q_t at place q(t) and r_t at place r(t), t counted from
// 0, -1 for slices that are not stored. count is the number of places.
type places struct {
	q, r  func(t int) int
	count int
}

// The left factor of a product in K slices needs q_1 … q_(K-1) and r_K, the right one
// q_1 … q_(K-1) and r_1 … r_K.
func leftPlaces(slices int) places {
	return places{
		q:     func(t int) int { return unless(t == slices-1, t) },
		r:     func(t int) int { return unless(t != slices-1, t) },
		count: slices,
	}
}

func rightPlaces(slices int) places {
	return places{
		q:     func(t int) int { return unless(t == slices-1, t) },
		r:     func(t int) int { return slices - 1 + t },
		count: 2*slices - 1,
	}
}

// noPlaces stores no slices: for a split whose norms alone are needed.
func noPlaces() places {
	none := func(int) int { return -1 }
	return places{none, none, 0}
}

// unless returns -1 if not is true, else i.
func unless(not bool, i int) int {
	if not {
		return -1
	}
	return i
}

// A split holds the slices of some entries of some vectors: entry h of vector v of the slice at
// place s is out[s stride + h ld + v].
type split struct {
	out        *cuda.Memory
	ld, stride int
	n, length  int
	count      int
	nonzero    *cuda.Memory // two uint64, for q and for r; bit t is set if slice t is nonzero
	squares    *cuda.Memory
	lossy      *cuda.Memory
	hasQ, hasR uint64 // the same bits on the host, set by look
	chunks     int
}

func (x *split) free() {
	if x != nil {
		x.out.Free()
		x.nonzero.Free()
		x.squares.Free()
		x.lossy.Free()
	}
}

// padded returns n rounded up to a multiple of 4, the leading dimension of float32 matrices.
func padded(n int) int { return (n + 3) &^ 3 }

// newRoom allocates the memory for count slices of n vectors of the given length.
func newRoom(s *cuda.Stream, n, length, count int, to places, looks, norms bool) (x *split, err error) {
	x = &split{n: n, length: length, count: count, chunks: (length + chunk - 1) / chunk, hasQ: ^uint64(0), hasR: ^uint64(0)}
	x.ld = padded(x.n)
	x.stride = x.ld * x.length
	defer func() {
		if err != nil {
			x.free()
		}
	}()
	if x.out, err = s.Alloc(4 * int64(x.stride) * int64(to.count)); err != nil {
		return nil, err
	}
	if looks {
		if x.nonzero, err = zeros(s, 16); err != nil {
			return nil, err
		}
	}
	if norms {
		if x.squares, err = s.Alloc(8 * 2 * int64(x.chunks) * int64(count) * int64(x.ld)); err != nil {
			return nil, err
		}
		if x.lossy, err = zeros(s, 4*int64(x.n)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// newSplit splits the entries h0 to h1 - 1 of the vectors v0 to v1 - 1 into count slices of width
// bits.
func (e *Engine) newSplit(s *cuda.Stream, v *Vectors, v0, v1, h0, h1, width, count int, to places, looks, norms bool) (*split, error) {
	x, err := newRoom(s, v1-v0, h1-h0, count, to, looks, norms)
	if err != nil {
		return nil, err
	}
	a := splitting{
		x: v.at(v0, v1, h0, h1), bits: v.bitsAt(v0), out: x.out.Pointer(),
		nonzero: address(x.nonzero), squares: address(x.squares), lossy: address(x.lossy),
		ld: int64(x.ld), stride: int64(x.stride), width: int32(width), slices: int32(count),
	}
	for first := 0; first < count; first += mostSlices {
		a.first, a.count = int32(first), int32(min(mostSlices, count-first))
		for t := range a.count {
			a.q[t], a.r[t] = int8(to.q(first+int(t))), int8(to.r(first+int(t)))
		}
		if err := e.split[v.along()].Launch(s, grid(x.ld, x.length), cuda.Dim{X: threads}, 0, a); err != nil {
			x.free()
			return nil, err
		}
	}
	return x, nil
}

// look waits for the slices and reads which of them are zero.
func (x *split) look(s *cuda.Stream) error {
	var b [16]uint8
	if err := cuda.Download(s, b[:], x.nonzero.Pointer()); err != nil {
		return err
	}
	x.hasQ, x.hasR = binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	return nil
}

// normsOf returns the norms of the slices of x, which must have been split with norms.
func (e *Engine) normsOf(s *cuda.Stream, x *split) (Norms, error) {
	m, err := zeros(s, 8*2*int64(x.count)*int64(x.ld)) // padding is copied as well
	if err != nil {
		return Norms{}, err
	}
	defer m.Free()
	blocks := (2*x.count*x.n + 255) / 256
	if err := e.norms.Launch(s, cuda.Dim{X: blocks}, cuda.Dim{X: 256}, 0, x.squares, x.lossy, m, int64(x.ld),
		int32(x.n), int32(x.length), int32(x.count), int32(x.chunks)); err != nil {
		return Norms{}, err
	}
	all := make([]float64, 2*x.count*x.ld)
	if err := cuda.Download(s, all, m.Pointer()); err != nil {
		return Norms{}, err
	}
	var z Norms
	for t := range x.count {
		z.Q = append(z.Q, all[t*x.ld:][:x.n])
		z.R = append(z.R, all[(x.count+t)*x.ld:][:x.n])
	}
	return z, nil
}

// Norms returns the norms of count slices of width bits of the entries h0 to h1 - 1 of v.
func (e *Engine) Norms(s *cuda.Stream, v *Vectors, h0, h1, width, count int) (Norms, error) {
	n, _ := v.size()
	x, err := e.newSplit(s, v, 0, n, h0, h1, width, count, noPlaces(), false, true)
	if err != nil {
		return Norms{}, err
	}
	defer x.free()
	return e.normsOf(s, x)
}
