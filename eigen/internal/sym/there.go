package sym

import (
	"errors"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/symeig"
)

// there has the matrices of a problem on the GPUs that compute products, from the first product on.
type there struct {
	at        place.Place
	a, b, one num.Mat
	host      bool // products run on matrices of the host, which need not fit in the memory of GPUs
}

// release frees all matrices.
func (h *there) release() {
	for _, m := range []num.Mat{h.a, h.b, h.one} {
		if m.Arr != nil {
			m.Free()
		}
	}
	*h = there{host: h.host}
}

// begin copies A, B and the unit matrix to the GPUs that the options name.
func (h *there) begin(s *call.Run, a, b num.Mat, n int) (err error) {
	if h.at, err = s.Set.Device.Open(); err != nil {
		return err
	}
	if h.a, err = place.On(h.at, a); err != nil {
		return err
	}
	if h.one, err = place.On(h.at, num.Identity(num.Float64, n)); err != nil || b.Arr == nil {
		return err
	}
	h.b, err = place.On(h.at, b)
	return err
}

// products computes the upper triangles of S = Xᵀ A X and R = I - Xᵀ B X, rounded to format f, and
// norms. With gram it computes S = (A X)ᵀ (A X). A b without an array stands for the unit matrix. X
// is copied to the GPUs once; S, R and norms are copied to the host.
func (h *there) products(s *call.Run, a, b num.Mat, gram bool, x num.Mat, f num.Format) (sm, r num.Mat, z norms, err error) {
	n := x.Rows
	if h.at == nil {
		if err := h.begin(s, a, b, n); err != nil {
			return sm, r, z, err
		}
	}
	var all []num.Mat
	defer func() {
		for _, m := range all {
			m.Free()
		}
	}()
	room := func(rows int) (num.Mat, error) {
		m, err := place.NewMat(h.at, f, rows, n)
		if err == nil {
			all = append(all, m)
		}
		return m, err
	}
	xx, err := place.On(h.at, x)
	if err != nil {
		return sm, r, z, err
	}
	all = append(all, xx)
	// image computes m X.
	image := func(m num.Mat) (num.Mat, error) {
		z, err := room(m.Rows)
		if err != nil {
			return z, err
		}
		return z, s.Gemm(1, m, xx, 0, num.Mat{}, z)
	}
	// inner computes beta I + alpha yᵀ z, its upper triangle.
	inner := func(alpha float64, y, z num.Mat, beta float64, one num.Mat) (num.Mat, error) {
		m, err := room(n)
		if err != nil {
			return m, err
		}
		if err := s.GemmTriangle('U', alpha, y.T(), z, beta, one, m, nil); err != nil {
			return m, err
		}
		return h.fetched(s, m)
	}
	ax, err := image(h.a)
	if err != nil {
		return sm, r, z, err
	}
	bx, list := xx, []num.Mat{xx.T(), ax.T(), xx}
	if b.Arr != nil {
		if bx, err = image(h.b); err != nil {
			return sm, r, z, err
		}
		list = append(list, bx.T())
	}
	found, err := h.norms(s, list)
	if err != nil {
		return sm, r, z, err
	}
	z.x, z.ax, z.rows = found[0], found[1], found[2]
	if b.Arr != nil {
		z.bx = found[3]
	}
	left := xx
	if gram {
		left = ax
	}
	if sm, err = inner(1, left, ax, 0, num.Mat{}); err != nil {
		return sm, r, z, err
	}
	r, err = inner(-1, xx, bx, 1, h.one)
	return sm, r, z, err
}

// fetched copies a matrix to the host.
func (h *there) fetched(s *call.Run, m num.Mat) (num.Mat, error) {
	if p, ok := place.Part[place.Fetcher](h.at); ok {
		z := s.MatrixHere(m.Format(), m.Rows, m.Cols)
		if err := p.Fetch(s.Config(), z, m); !errors.Is(err, place.ErrUnsupported) {
			return z, err
		}
		s.Drop(z)
	}
	return h.at.Get(s.Ctx, m)
}

// norms bounds the 2-norms of the rows of matrices: the square of a norm is at most the largest
// magnitude times the sum of all.
func (h *there) norms(s *call.Run, list []num.Mat) (z [][]size, err error) {
	newton, ok := place.Part[place.Newton](h.at)
	if !ok {
		return nil, place.ErrUnsupported
	}
	found, _, err := newton.Extents(s.Config(), nil, list...)
	if err != nil {
		return nil, err
	}
	for _, x := range found {
		if x.Special {
			return nil, place.ErrUnsupported
		}
		list := make([]size, len(x.Top))
		for i, top := range x.Top {
			if x.Norm[i] > 0 {
				list[i] = normal(x.Norm[i], 0).sqrt().shifted(top)
			}
		}
		z = append(z, list)
	}
	return z, nil
}

// SeedFrom is the order from which GPUs reduce matrices for seeds, as every column takes two
// launches. On an H200 the reduction and the product with H took 14 ms for order 1000 and 0.15 s
// for 4096, on its host with 16 threads 0.11 s and 2.9 s. Only tests change it.
var SeedFrom = 384

// floatColumns is a matrix with entry (i, j) at i rs + j cs of x.
type floatColumns struct {
	x      []float64
	rs, cs int
}

// seedThere computes eigenvalues w and eigenvectors z, in float64 arithmetic and in any order, of a
// symmetric n x n matrix of numbers below 1: the first GPU that the options name reduces it to a
// tridiagonal matrix, and merges the large pieces of that. The error wraps place.ErrUnsupported if
// there is no such GPU or n is small.
func seedThere(s *call.Run, x []float64, n int) (w []float64, z floatColumns, ok bool, err error) {
	if s.Set.Device.Kind != place.CUDA || n < SeedFrom {
		return nil, z, false, place.ErrUnsupported
	}
	at, err := s.Set.Device.Open()
	if err != nil {
		return nil, z, false, err
	}
	gpu, there := place.Part[place.Spectral](at.First())
	if !there {
		return nil, z, false, place.ErrUnsupported
	}
	h, d, e, err := gpu.Tridiagonal(s.Config(), x, n)
	if err != nil {
		return nil, z, false, err
	}
	defer h.Free()
	w, vectors, ok := symeig.Reduced(s.Ctx, symeig.Reduction{
		D: d, E: e,
		Load: func(q []float64) bool {
			err = h.Load(s.Config(), q)
			return err == nil
		},
		Ends: func(p place.Piece) (row []float64, ok bool) {
			row, err = h.Ends(s.Config(), p)
			return row, err == nil
		},
		Merge: func(m place.Merge) (roots []float64, ok bool) {
			roots, ok, err = h.Merge(s.Config(), m)
			return roots, ok && err == nil
		},
		Apply: func(z []float64) bool {
			err = h.Apply(s.Config(), z)
			return err == nil
		},
	}, s.Threads)
	if err == nil {
		err = s.Ctx.Err()
	}
	return w, floatColumns{vectors, 1, n}, ok, err
}

// declined reports whether products have to run on matrices of the host.
func declined(err error) bool {
	return errors.Is(err, place.ErrMemory) || errors.Is(err, place.ErrUnsupported) || errors.Is(err, product.ErrDirect)
}
