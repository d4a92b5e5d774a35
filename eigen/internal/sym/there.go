package sym

import (
	"errors"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/proof/call"
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

// products computes A X, the upper triangles of S = Xᵀ A X and R = I - Xᵀ B X, and B X, rounded to
// format f. With gram it computes S = (A X)ᵀ (A X). A b without an array stands for the unit
// matrix; B X is then X. X is copied to the GPUs once, and each product is copied to the host.
func (h *there) products(s *call.Run, a, b num.Mat, gram bool, x num.Mat, f num.Format) (ax, sm, r, bx num.Mat, err error) {
	n := x.Rows
	if h.at == nil {
		if err := h.begin(s, a, b, n); err != nil {
			return ax, sm, r, bx, err
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
		return ax, sm, r, bx, err
	}
	all = append(all, xx)
	// image computes m X.
	image := func(m num.Mat) (z, copied num.Mat, err error) {
		if z, err = room(m.Rows); err != nil {
			return z, copied, err
		}
		if err = s.Gemm(1, m, xx, 0, num.Mat{}, z); err != nil {
			return z, copied, err
		}
		copied, err = h.at.Get(s.Ctx, z)
		return z, copied, err
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
		return h.at.Get(s.Ctx, m)
	}
	image1, ax, err := image(h.a)
	if err != nil {
		return ax, sm, r, bx, err
	}
	left := xx
	if gram {
		left = image1
	}
	if sm, err = inner(1, left, image1, 0, num.Mat{}); err != nil {
		return ax, sm, r, bx, err
	}
	image2, bx := xx, x
	if b.Arr != nil {
		if image2, bx, err = image(h.b); err != nil {
			return ax, sm, r, bx, err
		}
	}
	r, err = inner(-1, xx, image2, 1, h.one)
	return ax, sm, r, bx, err
}

// declined reports whether products have to run on matrices of the host.
func declined(err error) bool {
	return errors.Is(err, place.ErrMemory) || errors.Is(err, place.ErrUnsupported) || errors.Is(err, product.ErrDirect)
}
