package ozgpu

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
)

// Vectors are the rows of the left factor or the columns of the right factor of a product, with the
// largest entry of each.
type Vectors struct {
	view
	bits    cuda.Pointer // uint64 of each vector: its largest finite |x|
	special cuda.Pointer // int32 of each vector: 1 if it has infinite or NaN entries
}

// Factors are the two factors of a product A B.
type Factors struct {
	A, B *Vectors // rows of A, columns of B
	m    *cuda.Memory
	any  cuda.Pointer // int32: 1 if a factor has infinite or NaN entries

	began *cuda.Event // recorded before the search for the largest entries
}

// view is vectorsOf of kernels/ozaki/ozaki.cu: entry h of vector v is x[v vs + h hs].
type view struct {
	x      cuda.Pointer
	vs, hs int64
	n, len int32
	single int32 // 1 for float32, 0 for float64
	_      int32
}

// viewOf returns the rows of a Float64 or Float32 matrix.
func viewOf(m mem.Matrix) view {
	v := view{vs: int64(m.RS), hs: int64(m.CS), n: int32(m.Rows), len: int32(m.Cols)}
	size := int64(8)
	if m.Arr.Kind == num.F32 {
		v.single, size = 1, 4
	}
	v.x = m.Arr.Plane(0) + cuda.Pointer(size*int64(m.Off))
	return v
}

// at returns the view of the entries h0 to h1 - 1 of the vectors v0 to v1 - 1.
func (x view) at(v0, v1, h0, h1 int) view {
	size := int64(8)
	if x.single != 0 {
		size = 4
	}
	x.x += cuda.Pointer(size * (int64(v0)*x.vs + int64(h0)*x.hs))
	x.n, x.len = int32(v1-v0), int32(h1-h0)
	return x
}

// along returns 1 if the entries of a vector lie closer to each other than the vectors do, else 0.
func (x view) along() int {
	if max(x.hs, -x.hs) < max(x.vs, -x.vs) {
		return 1
	}
	return 0
}

// size returns the number n of vectors and their length.
func (x view) size() (n, length int) { return int(x.n), int(x.len) }

// The sizes of a block of ozakiMaxima and ozakiSplit, as in kernels/ozaki/ozaki.cu.
const (
	wide    = 16  // vectors
	lanes   = 32  // entries at a time
	chunk   = 512 // entries
	threads = wide * lanes
)

// maxLength is the most entries of a vector that one launch takes: a grid has at most 65535 rows.
const maxLength = chunk << 15

// grid returns the grid for n vectors of the given length.
func grid(n, length int) cuda.Dim {
	return cuda.Dim{X: (n + wide - 1) / wide, Y: (length + chunk - 1) / chunk}
}

// NewFactors returns the factors of A B and launches the search for their largest entries.
func (e *Engine) NewFactors(s *cuda.Stream, a, b mem.Matrix) (*Factors, error) {
	b = b.T()
	bits, special := 8*int64(a.Rows+b.Rows), 4*int64(a.Rows+b.Rows)
	m, err := zeros(s, bits+special+4)
	if err != nil {
		return nil, err
	}
	f := &Factors{
		A: &Vectors{viewOf(a), m.Pointer(), m.At(bits)},
		B: &Vectors{viewOf(b), m.At(8 * int64(a.Rows)), m.At(bits + 4*int64(a.Rows))},
		m: m, any: m.At(bits + special),
	}
	if f.began, err = s.NewEvent(); err == nil {
		err = s.Record(f.began)
	}
	if err != nil {
		f.Free()
		return nil, err
	}
	for _, v := range []*Vectors{f.A, f.B} {
		if err := e.measure(s, v, f.any); err != nil {
			f.Free()
			return nil, err
		}
	}
	return f, nil
}

// measure launches the search for the largest entries of v.
func (e *Engine) measure(s *cuda.Stream, v *Vectors, any cuda.Pointer) error {
	n, length := v.size()
	if n == 0 {
		return nil
	}
	for lo := 0; lo < length; lo += maxLength {
		part := v.at(0, n, lo, min(lo+maxLength, length))
		_, l := part.size()
		if err := e.maxima[v.along()].Launch(s, grid(n, l), cuda.Dim{X: threads}, 0, part, v.bits, v.special, any); err != nil {
			return err
		}
	}
	return nil
}

// zeros returns n bytes of memory set to zero.
func zeros(s *cuda.Stream, n int64) (*cuda.Memory, error) {
	m, err := s.Alloc(n)
	if err != nil {
		return nil, err
	}
	if err := s.Zero(m.Pointer(), n); err != nil {
		m.Free()
		return nil, err
	}
	return m, nil
}

// Free frees the tables of the factors and the event, not the matrices.
func (f *Factors) Free() {
	f.m.Free()
	if f.began != nil {
		_ = f.began.Close() // no result of it is needed any more
	}
}

// hasSpecial waits for the search and reports whether a factor has infinite or NaN entries.
func (f *Factors) hasSpecial(s *cuda.Stream) (bool, error) {
	var any [1]int32
	err := cuda.Download(s, any[:], f.any)
	return any[0] != 0, err
}

// bitsAt and specialAt return the addresses of the largest entry and of the special flag of vector
// i.
func (v *Vectors) bitsAt(i int) cuda.Pointer    { return v.bits + cuda.Pointer(8*i) }
func (v *Vectors) specialAt(i int) cuda.Pointer { return v.special + cuda.Pointer(4*i) }
