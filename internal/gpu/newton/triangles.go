package newton

import (
	"errors"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/place"
)

// Triangle implements place.Factors.
func Triangle(s *cuda.Stream, op place.TriangleOperation, a mem.Matrix, tally *mem.Array) (count int, err error) {
	switch op {
	case place.CountAsymmetric:
		return counted(s, tally, func(count cuda.Pointer) error { return across(s, []Across{{a, a.T(), 'L'}}, count) })
	case place.MirrorLower:
		return 0, Mirror(s, []Across{{a, a.T(), 'U'}})
	case place.CountNotPositive:
		return counted(s, tally, func(count cuda.Pointer) error { return diagonal(s, abi.DiagonalPositive, a, count) })
	}
	a.Changed()
	return 0, diagonal(s, abi.DiagonalHalve, a, 0)
}

func diagonal(s *cuda.Stream, operation int32, a mem.Matrix, count cuda.Pointer) error {
	if a.Rows == 0 {
		return nil
	}
	grid := cuda.Dim{X: (a.Rows + threads - 1) / threads}
	return runTriangles(s, "diagonal", grid, abi.Diagonal{A: abi.RowsOf(a), Count: count, Operation: operation})
}

// An Across is a pair of blocks of a symmetric matrix in MP that should be equal; B is transposed.
// They are compared below ('L') or above ('U') the diagonal of A, or everywhere if Triangle is 0. B
// may be in the memory of another device that the device of the stream can access.
type Across struct {
	A, B     mem.Matrix
	Triangle byte
}

// CountAsymmetric returns the number of entries that differ, or 0 if it is in the tally.
func CountAsymmetric(s *cuda.Stream, list []Across, tally *mem.Array) (int, error) {
	return counted(s, tally, func(count cuda.Pointer) error { return across(s, list, count) })
}

// Mirror copies B to A for every pair. It does not wait for the device.
func Mirror(s *cuda.Stream, list []Across) error {
	for _, x := range list {
		x.A.Changed()
	}
	return across(s, list, 0)
}

// An aside is a stream in which blocks of other devices are copied.
type aside struct{ s *cuda.Stream }

var asides launch.PerDevice[aside]

// asideOf returns the aside of the device of s.
func asideOf(s *cuda.Stream) (_ *cuda.Stream, err error) {
	x := asides.Of(s.Device(), func() *aside { return new(aside) })
	if x.s == nil {
		x.s, err = s.NewStream()
	}
	return x.s, err
}

// across runs pairs: first the pairs whose B is on the device, while it copies the others in parts.
func across(s *cuda.Stream, list []Across, count cuda.Pointer) error {
	var near, far []Across
	var pulled []*mem.Pulled
	defer func() {
		for _, p := range pulled {
			p.Free()
		}
	}()
	for _, x := range list {
		if x.A.Rows == 0 || x.A.Cols == 0 {
			continue
		}
		if !x.B.Pulls(s.Device()) {
			near = append(near, x)
			continue
		}
		to, err := asideOf(s)
		if err != nil {
			return err
		}
		for _, y := range x.parts() {
			p, err := y.B.Pull(s, to)
			switch {
			case errors.Is(err, cuda.ErrMemory): // the kernel reads B directly
				near = append(near, y)
			case err != nil:
				return err
			default:
				pulled, y.B = append(pulled, p), p.Matrix
				far = append(far, y)
			}
		}
	}
	for _, x := range near {
		if err := x.run(s, count); err != nil {
			return err
		}
	}
	for k, x := range far {
		if err := pulled[k].Await(); err != nil {
			return err
		}
		if err := x.run(s, count); err != nil {
			return err
		}
	}
	return nil
}

// parts cuts a pair into up to four pairs of at least 16 rows.
func (x Across) parts() (list []Across) {
	count := 1
	if x.Triangle == 0 {
		count = max(1, min(4, x.A.Rows/16))
	}
	for k := range count {
		from, until := k*x.A.Rows/count, (k+1)*x.A.Rows/count
		rows := func(m mem.Matrix) mem.Matrix {
			m.Off += from * m.RS
			m.Rows = until - from
			return m
		}
		list = append(list, Across{rows(x.A), rows(x.B), x.Triangle})
	}
	return list
}

// run counts the entries that differ in count, or, if count is null, copies B to A.
func (x Across) run(s *cuda.Stream, count cuda.Pointer) error {
	const side = 32
	grid := cuda.Dim{X: (x.A.Rows + side - 1) / side, Y: min((x.A.Cols+side-1)/side, maxAcross)}
	return runTriangles(s, "acrossTiles", grid, abi.Across{A: abi.RowsOf(x.A), B: abi.RowsOf(x.B), Count: count, Triangle: int32(x.Triangle)})
}

// counted calls run with a counter and returns the count, or 0 if it is in the tally.
func counted(s *cuda.Stream, tally *mem.Array, run func(count cuda.Pointer) error) (int, error) {
	t, err := newTask(s, tally)
	if err != nil {
		return 0, err
	}
	defer t.free()
	if err := run(t.at); err != nil {
		return 0, err
	}
	return t.count()
}

// Spread implements place.Factors.
func Spread(s *cuda.Stream, a, b mem.Matrix, columns bool) (rows, cols float64, err error) {
	m, k, n := a.Rows, a.Cols, b.Cols
	if m == 0 || k == 0 || n == 0 {
		return 0, 0, nil
	}
	// |B| 1, |A| times that, |A|^T 1, |B|^T times that; both products are downloaded.
	x, err := s.Alloc(int64(8 * (2*k + m + n)))
	if err != nil {
		return 0, 0, err
	}
	defer x.Free()
	at := func(i int) cuda.Pointer { return x.At(8 * int64(i)) }
	list := []struct {
		a    mem.Matrix
		x, z cuda.Pointer
	}{{b, 0, at(0)}, {a, at(0), at(2 * k)}, {a.T(), 0, at(k)}, {b.T(), at(k), at(2*k + m)}}
	if !columns {
		list, n = list[:2], 0
	}
	for _, p := range list {
		if err := magnitudesTimes(s, p.a, p.x, p.z); err != nil {
			return 0, 0, err
		}
	}
	z := make([]float64, m+n)
	if err := cuda.Download(s, z, at(2*k)); err != nil {
		return 0, 0, err
	}
	for i, v := range z {
		if i < m {
			rows = max(rows, v)
		} else {
			cols = max(cols, v)
		}
	}
	return rows, cols, nil
}

// magnitudesTimes computes upper bounds z of |A| x; a null x stands for a vector of ones.
func magnitudesTimes(s *cuda.Stream, a mem.Matrix, x, z cuda.Pointer) error {
	each := 8
	if a.RS == 1 || a.RS == -1 {
		each = 32
	}
	return runTriangles(s, "magnitudesTimes", cuda.Dim{X: (a.Rows + each - 1) / each}, abi.Bounding{A: abi.RowsOf(a), X: x, Z: z})
}

// Magnitudes returns upper bounds of |A| x for matrices of finite numbers in MP and vectors x ≥ 0;
// a nil x stands for a vector of ones. No matrix may be empty.
func Magnitudes(s *cuda.Stream, list []mem.Matrix, x [][]float64) (z [][]float64, err error) {
	count := 0
	for _, a := range list {
		count += a.Rows
	}
	room, err := s.Alloc(int64(8 * count))
	if err != nil {
		return nil, err
	}
	defer room.Free()
	count = 0
	for k, a := range list {
		var by cuda.Pointer
		if x[k] != nil {
			vector, err := cuda.NewCopy(s, x[k])
			if err != nil {
				return nil, err
			}
			defer vector.Free()
			by = vector.Pointer()
		}
		if err := magnitudesTimes(s, a, by, room.At(int64(8*count))); err != nil {
			return nil, err
		}
		count += a.Rows
	}
	all := make([]float64, count)
	if err := cuda.Download(s, all, room.Pointer()); err != nil {
		return nil, err
	}
	for _, a := range list {
		z, all = append(z, all[:a.Rows]), all[a.Rows:]
	}
	return z, nil
}

func runTriangles(s *cuda.Stream, kernel string, grid cuda.Dim, args any) error {
	f, err := launch.KernelsOf(s).Function(s, "newton/triangles", kernel)
	if err != nil {
		return err
	}
	return f.Launch(s, grid, cuda.Dim{X: threads}, 0, args)
}
