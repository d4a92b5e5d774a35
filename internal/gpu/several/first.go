package several

import (
	"context"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// changed is the first GPU's copy of the numbers lo <= i < hi of an array whose entries a routine
// changes.
type changed struct {
	s      *storage
	lo, hi int
	at     *num.Array // array of the copy
	shift  int        // number i of s is number i - shift of at
	copied bool
}

// first runs a routine on the first GPU, which gets copies of the operands, and copies changed
// entries back.
func (p *Place) first(c place.Config, in, out []num.Mat, run func(g GPU, in, out []num.Mat) error) (err error) {
	if c.Ctx == nil {
		c.Ctx = context.Background()
	}
	f := p.fetching(c)
	defer func() { f.free(err) }()
	var list []*changed
	find := func(m num.Mat) *changed {
		for _, x := range list {
			if m.Arr != nil && x.s == m.Arr.Away {
				return x
			}
		}
		return nil
	}
	for _, m := range out {
		p.changed(m)
		if find(m) == nil && m.Arr != nil && m.Arr.Away != nil {
			list = append(list, &changed{s: storageOf(m.Arr)})
		}
	}
	// Operands that share an array with results share the copy as well.
	for _, m := range append(append([]num.Mat(nil), in...), out...) {
		lo, hi := span(m)
		if x := find(m); x != nil && lo < hi {
			if x.lo == x.hi {
				x.lo, x.hi = lo, hi
			}
			x.lo, x.hi = min(x.lo, lo), max(x.hi, hi)
		}
	}
	for _, x := range list {
		if x.lo < x.hi && x.hi <= x.s.start[1] {
			x.at = x.s.parts[0]
			continue
		}
		if x.at, err = f.room(0, formatOf(x.s, out), x.hi-x.lo, 1); err != nil {
			return err
		}
		x.shift, x.copied = x.lo, true
		f.stretch(0, x.at, x.lo, x.hi, x.s)
	}
	there := func(views []num.Mat) (z []num.Mat, err error) {
		for _, m := range views {
			if x := find(m); x != nil {
				m.Arr = x.at
				m.Off -= x.shift
			} else if m, err = f.get(0, m); err != nil {
				return nil, err
			}
			z = append(z, m)
		}
		return z, nil
	}
	from, err := there(in)
	if err != nil {
		return err
	}
	to, err := there(out)
	if err != nil {
		return err
	}
	if err = f.run(); err != nil {
		return err
	}
	if err = run(p.parts[0], from, to); err != nil {
		return err
	}
	return p.giveBack(c, list)
}

// Orders are orders of matrices, for products and for each place.Routine.
type Orders struct{ Products, Solutions, Cholesky, QR, Eliminations int }

// of returns the order for a routine.
func (o Orders) of(r place.Routine) int {
	switch r {
	case place.CholeskyFactors:
		return o.Cholesky
	case place.QRFactors:
		return o.QR
	case place.EliminationFactors:
		return o.Eliminations
	}
	return o.Solutions
}

// AloneBelow are the orders below which the first GPU alone takes less time: it stores matrices of
// at most aloneBytes, and routines of package linsolve run there. They are measured on two H200, in
// float64 (bench/records/h200-two.json.gz). Triangular factors for an elimination are computed by
// the first GPU in any case. Tests change AloneBelow.
var AloneBelow = Orders{Products: 3072, Solutions: 3072, Cholesky: 4096, QR: 6144, Eliminations: 8192}

// aloneBytes is the size of a float64 matrix of order 2048.
const aloneBytes = 2048 * 2048 * 8

// OnFirst runs routines of matrices below the order for the routine.
func (p *Place) OnFirst(c place.Config, routine place.Routine, order int, list []num.Mat, run func(list []num.Mat) error) (done bool, err error) {
	if order >= AloneBelow.of(routine) {
		return false, nil
	}
	return true, p.first(c, list, nil, func(_ GPU, in, _ []num.Mat) error { return run(in) })
}

// FromFirst returns a matrix whose numbers the first GPU stores.
func (p *Place) FromFirst(m num.Mat) num.Mat {
	m.Arr = p.held(0, m.Arr, m.Arr.Len())
	return m
}

// formatOf returns the format of the array, among the results, whose storage is s.
func formatOf(s *storage, out []num.Mat) (f num.Format) {
	for _, m := range out {
		if m.Arr != nil && m.Arr.Away == num.Storage(s) {
			f = m.Arr.Format
		}
	}
	return f
}

// giveBack copies entries that the first GPU has changed to the GPUs that store them.
func (p *Place) giveBack(c place.Config, list []*changed) error {
	f := p.fetching(c)
	for _, x := range list {
		if !x.copied {
			continue
		}
		for e, a := range x.s.parts {
			i, end := max(x.lo, x.s.start[e]), min(x.hi, x.s.start[e+1])
			switch {
			case i >= end:
			case e > 0:
				f.pull(e, a, i-x.s.start[e], 0, x.at, i-x.lo, end-i)
			default:
				f.packs[0] = append(f.packs[0], func() error {
					return p.parts[0].Copy(c, numbers(a, i, end-i), numbers(x.at, i-x.lo, end-i))
				})
			}
		}
	}
	return f.run()
}
