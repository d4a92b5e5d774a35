package seed

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// beside is the number of rows or columns beside a step's that a block of triangularInverses
// stores.
const beside = threads / block

// Factors are triangular factors that are being computed on the GPU. Settle or Drop ends them.
type Factors struct {
	seed  *Seed
	order *cuda.Fetch // nil for matrices without columns
	n     int
}

// Settle waits until the factors are computed, returns the order of their rows, and reports whether
// they are good. It must be called within Device.Do.
func (z *Factors) Settle() (order []int32, ok bool, err error) {
	if z.order == nil {
		return []int32{}, true, nil
	}
	ok, err = z.seed.Settle()
	if err != nil {
		z.order.Drop()
		return nil, false, err
	}
	order = make([]int32, z.n)
	return order, ok, cuda.Arrive(z.order, order)
}

// Drop abandons factors, unless they have been settled. It may be called from any goroutine.
func (z *Factors) Drop() {
	if z.order != nil {
		z.seed.Drop()
		z.order.Drop()
	}
}

// Triangles starts to compute approximate inverses of the triangular factors of P F = L U, where F
// is as in Inverse and the permutation P makes row order[j] of F row j of P F. It stores L^-1 in
// the n x n matrix z and U^-1 in u, both of Float64, which must be zero before the first attempt
// and share no entry. Their other triangles stay zero, and the diagonal of L^-1 is exactly 1. The
// error has no other known bound. The factors are not ok, and z and u unspecified, in the cases in
// which the seed of Inverse is not ok. They are nil if there is no such attempt. Triangles waits as
// Inverse does.
func Triangles(s *cuda.Stream, a, z, u mem.Matrix, attempt int) (rows, cols []int64, begun *Factors, err error) {
	if attempt >= len(searches) {
		return nil, nil, nil, nil
	}
	return factor(s, a, z, u, searches[attempt], widthFor(a.Rows, panelsFrom))
}

func factor(s *cuda.Stream, a, z, u mem.Matrix, way search, width int) (rows, cols []int64, begun *Factors, err error) {
	m, n := a.Rows, a.Cols
	switch {
	case n == 0:
		return make([]int64, m), []int64{}, new(Factors), nil
	case m > MaxOrder || way == partial && !fitsPanel(s.Device(), paddedRows(a)):
		return nil, nil, nil, nil
	}
	z.Changed()
	u.Changed()
	w, err := newWork(s, a, 0, n, way, width)
	if err != nil {
		return nil, nil, nil, err
	}
	defer w.free()
	if way == partial {
		if err := w.pivotPartially(); err != nil {
			return nil, nil, nil, err
		}
	}
	w.to = &abi.Triangles{N: int32(n), Rows: int32(m),
		Lower: first(z), LowerRS: int64(z.RS), LowerCS: int64(z.CS),
		Upper: first(u), UpperRS: int64(u.RS), UpperCS: int64(u.CS)}
	if err := w.equilibrate(); err != nil {
		return nil, nil, nil, err
	}
	begun = &Factors{n: n}
	fetch := func() (err error) {
		begun.order, err = s.Fetch(w.g.Order, 4*n)
		return err
	}
	tops := make([]int64, m+n)
	if begun.seed, err = begin(s, w.q.Rows, tops, w.q.Status, way.bad(), w.fill, w.eliminate, fetch); err != nil {
		if begun.order != nil {
			begun.order.Drop()
		}
		return nil, nil, nil, err
	}
	rows, cols = w.scales(tops)
	return rows, cols, begun, nil
}

// first returns the address of the first entry of a Float64 matrix.
func first(m mem.Matrix) cuda.Pointer { return m.Arr.Plane(0) + cuda.Pointer(8*m.Off) }

// triangles stores the part of the inverses that results from a panel, which ends before column
// end, if the inverses are wanted.
func (w *work) triangles(s *cuda.Stream, end int) error {
	if w.to == nil {
		return nil
	}
	return w.launch(s, "triangularInverses", cuda.Dim{X: end / beside, Y: 2, Z: (end - int(w.g.Panel)) / block}, 0, w.g, *w.to)
}

// updateTriangles updates columns by the factors of a step, which is a panel of its own, and stores
// the part of the inverses that results from the step.
func (w *work) updateTriangles(s *cuda.Stream, c stretch) error {
	g := w.g // of the step after
	g.First, g.Panel, g.Ahead = g.First+block, g.Panel+block, 0
	return w.nextPivots(s, g, c)
}
