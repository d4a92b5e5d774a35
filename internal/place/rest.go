package place

import (
	"context"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/product"
	"github.com/halfulp/halfulp/internal/residue"
)

// A Rest is a block of the result of a product: rows I0 <= i < I1 and columns J0 <= j < J1, or only
// one triangle of this block, 'U' or 'L'.
type Rest struct {
	I0, I1, J0, J1 int
	Triangle       byte
}

// Declined is the error of a Gemm that leaves the blocks of List to the host and has computed the
// rest of C. In these blocks C is unchanged if beta is not 0, else unspecified. The Stats that come
// with the error count the work of the place.
type Declined struct{ List []Rest }

func (d *Declined) Error() string { return "products of matrices: " + ErrUnsupported.Error() }
func (d *Declined) Unwrap() error { return ErrUnsupported }

// DeclineAll is the error of a Gemm that leaves an m x n result, or a triangle of it, entirely to
// the host.
func DeclineAll(m, n int, triangle byte) *Declined {
	return &Declined{[]Rest{{0, m, 0, n, triangle}}}
}

// Shifted returns the blocks in the coordinates of a larger matrix, in which the result begins at
// row i0 and column j0.
func (d *Declined) Shifted(i0, j0 int) (list []Rest) {
	for _, r := range d.List {
		list = append(list, Rest{r.I0 + i0, r.I1 + i0, r.J0 + j0, r.J1 + j0, r.Triangle})
	}
	return list
}

// Transposed returns the error of the transposed product. The blocks must not be triangles.
func (d *Declined) Transposed() *Declined {
	z := new(Declined)
	for _, r := range d.List {
		z.List = append(z.List, Rest{I0: r.J0, I1: r.J1, J0: r.I0, J1: r.I1})
	}
	return z
}

// entries returns about how many entries the block has.
func (r Rest) entries() float64 {
	n := float64(r.I1-r.I0) * float64(r.J1-r.J0)
	if r.Triangle != 0 {
		n /= 2
	}
	return n
}

// of returns the product that computes block r of p, without the bounds that are known for all of
// p.
func (r Rest) of(p *product.Problem) product.Problem {
	q := product.Problem{Alpha: p.Alpha, Beta: p.Beta, Triangle: r.Triangle, C: p.C.Slice(r.I0, r.I1, r.J0, r.J1)}
	q.A, q.B = p.A.Slice(r.I0, r.I1, 0, p.A.Cols), p.B.Slice(0, p.B.Rows, r.J0, r.J1)
	if p.Beta.Class != num.Zero {
		q.Old = p.Old.Slice(r.I0, r.I1, r.J0, r.J1)
	}
	return q
}

// finish computes the blocks of a product one after the other and adds their statistics to st, the
// statistics of the place. report may be nil.
func (d *Declined) finish(p *product.Problem, st residue.Stats, report func(done float64),
	compute func(q product.Problem, progress func(done float64)) (residue.Stats, error)) (residue.Stats, error) {
	left := 0.0
	for _, r := range d.List {
		left += r.entries()
	}
	whole := max(Rest{0, p.C.Rows, 0, p.C.Cols, p.Triangle}.entries(), left, 1)
	done := 1 - left/whole
	ran := st.Device
	for _, r := range d.List {
		from, share := done, r.entries()/whole
		var progress func(float64)
		if report != nil {
			progress = func(part float64) { report(min(1, from+float64(share*part))) }
		}
		one, err := compute(r.of(p), progress)
		if err != nil {
			return st, residue.Shifted(err, r.I0, r.J0)
		}
		st.Add(one)
		done += share
		st.Device = one.Device
	}
	if ran != "" {
		st.Device += "," + ran
	}
	if report != nil {
		report(1)
	}
	return st, nil
}

// Finish computes on the host the blocks that a place has left of a product of matrices of the
// host. d is the place's error, and st its statistics.
func (d *Declined) Finish(cfg product.Config, p *product.Problem, st residue.Stats) (residue.Stats, error) {
	cfg.Device, cfg.Asked = nil, false
	return d.finish(p, st, cfg.Progress, func(q product.Problem, progress func(float64)) (residue.Stats, error) {
		cfg := cfg
		cfg.Progress = progress
		return product.Run(cfg, q)
	})
}

// finishAt is Finish for matrices that live at a place: operands are copied to the host, and
// results are copied back.
func (d *Declined) finishAt(at Place, cfg product.Config, p *product.Problem, st residue.Stats) (residue.Stats, error) {
	return d.finish(p, st, cfg.Progress, func(q product.Problem, progress func(float64)) (residue.Stats, error) {
		cfg := cfg
		cfg.Progress = progress
		to := q.C
		if err := bring(cfg.Ctx, at, &q); err != nil {
			return residue.Stats{}, err
		}
		st, err := product.Run(cfg, q)
		if err != nil {
			return st, err
		}
		return st, at.Set(cfg.Ctx, to, q.C)
	})
}

// bring replaces the operands of a product by copies on the host, one copy for equal views.
// Operands that are not read are not copied.
func bring(ctx context.Context, at Place, p *product.Problem) error {
	copies := map[num.Mat]num.Mat{}
	for _, m := range []struct {
		*num.Mat
		read bool
	}{
		{&p.A, p.Alpha.Class != num.Zero}, {&p.B, p.Alpha.Class != num.Zero}, {&p.Old, p.Beta.Class != num.Zero}, {&p.C, true},
	} {
		if !m.read {
			if m.Arr != nil {
				m.Arr = &num.Array{Format: m.Arr.Format}
			}
			continue
		}
		h, ok := copies[*m.Mat]
		if !ok {
			var err error
			if h, err = at.Get(ctx, *m.Mat); err != nil {
				return err
			}
			copies[*m.Mat] = h
		}
		*m.Mat = h
	}
	return nil
}
