package sym

import (
	"errors"
	"math"
	"math/bits"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/symeig"
)

// there has the matrices of a problem on the first of the GPUs that the options name, from the
// first product on. Several GPUs share only products of matrices of the host.
type there struct {
	at        place.Place
	a, b, one num.Mat
	host      bool // products run on matrices of the host, which need not fit in the memory of GPUs
}

// release frees all matrices.
func (h *there) release() {
	for _, m := range []num.Mat{h.a, h.b, h.one} {
		free(m)
	}
	*h = there{host: h.host}
}

// free frees a matrix of a GPU, if it has an array.
func free(m num.Mat) {
	if m.Arr != nil {
		m.Free()
	}
}

// begin copies A, B and the unit matrix to the GPU.
func (h *there) begin(s *call.Run, p *problem) (err error) {
	if h.at != nil {
		return nil
	}
	defer func() {
		if err != nil {
			h.release()
		}
	}()
	at, err := s.Set.Device.Open()
	if err != nil {
		return err
	}
	h.at = at.First()
	if err := h.loadA(s, p); err != nil {
		return err
	}
	if h.one, err = h.unit(p.a.Cols); err != nil || p.b.Arr == nil {
		return err
	}
	h.b, err = place.On(h.at, p.b)
	return err
}

// loadA copies A. A matrix that is not normalized yet is normalized by the GPU.
func (h *there) loadA(s *call.Run, p *problem) (err error) {
	gpu, ok := place.Part[place.Newton](h.at)
	if !p.raw || !ok || p.a.Format() != num.Float64 {
		a, err := p.normal(s)
		if err == nil {
			h.a, err = place.On(h.at, a)
		}
		return err
	}
	from, err := place.On(h.at, p.a)
	if err != nil {
		return err
	}
	defer from.Free()
	if h.a, err = h.room(s, call.MP(53), p.a.Rows, p.a.Cols); err != nil {
		return err
	}
	rows := make([]int64, p.a.Rows)
	for i := range rows {
		rows[i] = -int64(p.top)
	}
	odd, err := gpu.Shift(s.Config(), from, rows, nil, h.a, nil)
	if err == nil && odd > 0 { // numbers beyond all exponents
		err = place.ErrUnsupported
	}
	return err
}

// unit returns the unit matrix.
func (h *there) unit(n int) (num.Mat, error) {
	if !place.Oblique(h.at) {
		return place.On(h.at, num.Identity(num.Float64, n))
	}
	x := num.NewMat(num.Float64, 2*n-1, 1)
	x.SetFloat64(n-1, 0, 1)
	z, err := place.On(h.at, x)
	return num.Mat{Arr: z.Arr, Off: n - 1, RS: 1, CS: -1, Rows: n, Cols: n}, err
}

// room returns a matrix with unspecified contents.
func (h *there) room(s *call.Run, f num.Format, rows, cols int) (num.Mat, error) {
	gpu, ok := place.Part[place.Newton](h.at)
	if !ok {
		return place.NewMat(h.at, f, rows, cols)
	}
	a, err := gpu.Room(s.Config(), num.NewMat(f, 0, 0).Arr.Format, rows, cols)
	return num.Mat{Arr: a, RS: 1, CS: max(rows, 1), Rows: rows, Cols: cols}, err
}

// products computes the upper triangles of S = Xᵀ A X and R = I - Xᵀ B X, rounded to format f, and
// norms. With gram it computes S = (A X)ᵀ (A X). A b without an array stands for the unit matrix.
// The matrices are on the GPUs, X too unless it was there before; the caller frees them.
func (h *there) products(s *call.Run, p *problem, x num.Mat, f num.Format) (sm, r, xx num.Mat, z norms, err error) {
	n := x.Rows
	if err := h.begin(s, p); err != nil {
		return sm, r, xx, z, err
	}
	var all []num.Mat
	defer func() {
		for _, m := range all {
			m.Free()
		}
		if err != nil {
			free(sm)
			free(r)
			if x.OnHost() {
				free(xx)
			}
			sm, r, xx = num.Mat{}, num.Mat{}, num.Mat{}
		}
	}()
	if xx = x; x.OnHost() {
		if xx, err = place.On(h.at, x); err != nil {
			return sm, r, xx, z, err
		}
	}
	// image computes m X.
	image := func(m num.Mat) (num.Mat, error) {
		z, err := h.room(s, f, m.Rows, n)
		if err != nil {
			return z, err
		}
		all = append(all, z)
		return z, s.Gemm(1, m, xx, 0, num.Mat{}, z)
	}
	// inner computes beta I + alpha yᵀ z, its upper triangle.
	inner := func(alpha float64, y, z num.Mat, beta float64, one num.Mat) (num.Mat, error) {
		m, err := place.NewMat(h.at, f, n, n)
		if err != nil {
			return m, err
		}
		return m, s.GemmTriangle('U', alpha, y.T(), z, beta, one, m, nil)
	}
	ax, err := image(h.a)
	if err != nil {
		return sm, r, xx, z, err
	}
	bx, list := xx, []num.Mat{xx.T(), ax.T(), xx}
	if h.b.Arr != nil {
		if bx, err = image(h.b); err != nil {
			return sm, r, xx, z, err
		}
		list = append(list, bx.T())
	}
	found, err := h.norms(s, list)
	if err != nil {
		return sm, r, xx, z, err
	}
	z.x, z.ax, z.rows = found[0], found[1], found[2]
	if h.b.Arr != nil {
		z.bx = found[3]
	}
	left := xx
	if p.gram {
		left = ax
	}
	if sm, err = inner(1, left, ax, 0, num.Mat{}); err != nil {
		return sm, r, xx, z, err
	}
	r, err = inner(-1, xx, bx, 1, h.one)
	return sm, r, xx, z, err
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

// seed computes eigenvectors of A, or right singular vectors of C, in float64 arithmetic, as
// columns in MP on the GPU, by decreasing magnitude of the eigenvalues: the GPU reduces A to a
// tridiagonal matrix, and merges the large pieces of that. It returns a matrix without an array if
// they cannot be computed. The error wraps place.ErrUnsupported if there is no GPU or n is small.
func (h *there) seed(s *call.Run, p *problem) (x num.Mat, err error) {
	n := p.a.Cols
	if s.Set.Device.Kind != place.CUDA || n < SeedFrom {
		return x, place.ErrUnsupported
	}
	if err := h.begin(s, p); err != nil {
		return x, err
	}
	gpu, ok := place.Part[place.Spectral](h.at)
	if !ok {
		return x, place.ErrUnsupported
	}
	a := h.a
	if p.gram {
		if a, err = h.square(s); err != nil {
			return x, err
		}
		defer a.Free()
	}
	r, d, e, err := gpu.Tridiagonal(s.Config(), a)
	if err != nil {
		return x, err
	}
	defer r.Free()
	w, ok := symeig.Reduced(s.Ctx, symeig.Reduction{
		D: d, E: e,
		Load: func(q []float64, rows int, base []int32) bool {
			err = r.Load(s.Config(), q, rows, base)
			return err == nil
		},
		Ends: func(p place.Piece) (row []float64, ok bool) {
			row, err = r.Ends(s.Config(), p)
			return row, err == nil
		},
		Merge: func(m place.Merge) (roots []float64, ok bool) {
			roots, ok, err = r.Merge(s.Config(), m)
			return roots, ok && err == nil
		},
	}, s.Threads)
	if err == nil {
		err = s.Ctx.Err()
	}
	if err != nil || !ok {
		return x, err
	}
	order, sorted := make([]int32, n), byMagnitude(w)
	for p, j := range sorted {
		order[p] = int32(j)
	}
	if p.gram && !(w[sorted[n-1]] > squared*w[sorted[0]]) {
		return x, place.ErrUnsupported
	}
	if x, err = h.room(s, call.MP(53), n, n); err != nil {
		return num.Mat{}, err
	}
	if ok, err = r.Apply(s.Config(), order, x); err == nil {
		err = s.Ctx.Err()
	}
	if err != nil || !ok {
		x.Free()
		return num.Mat{}, err
	}
	return x, nil
}

// squared bounds the quotients of eigenvalues of CᵀC whose eigenvectors are seeds of singular
// vectors. The vectors lose as many bits as the condition of C has; 18 of 53 leave a seed that
// doubles its bits. Matrices of worse condition have seeds from a bidiagonal matrix, on the host.
const squared = 0x1p-36

// square returns CᵀC in float64, divided by a power of two so that its entries are below 1.
func (h *there) square(s *call.Run) (num.Mat, error) {
	n := h.a.Cols
	z, err := h.room(s, num.Float64, n, n)
	if err != nil {
		return z, err
	}
	if err := s.Gemm(math.Ldexp(1, -bits.Len(uint(h.a.Rows))), h.a.T(), h.a, 0, num.Mat{}, z); err != nil {
		z.Free()
		return num.Mat{}, err
	}
	return z, nil
}

// declined reports whether products have to run on matrices of the host.
func declined(err error) bool {
	return errors.Is(err, place.ErrMemory) || errors.Is(err, place.ErrUnsupported) || errors.Is(err, product.ErrDirect)
}
