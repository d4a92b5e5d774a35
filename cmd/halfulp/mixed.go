package main

import (
	"math"
	"time"

	"github.com/halfulp/halfulp"
)

// The routines round alpha A B + beta C to the format that C is stored in. Where
// a file's C does not fit the format of the result, rounding it first would be a
// second rounding. Then the product is computed in an MP format that holds C and
// has more than one bit more than the result: rounding is monotone, so that the
// second rounding is harmless unless the first one hits a midpoint between two
// numbers of the result's format. Such entries are computed again, each as one
// dot product (alpha a_i1, ..., alpha a_ik, beta) (b_1j, ..., b_kj, c_ij).

// fits returns m in format f, and whether every entry has a place there, exactly.
func fits(m *halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, bool) {
	z := m.Convert(f)
	return z, z.Convert(m.Format()).Same(m.Clone())
}

// mixed stores in z the product p, whose C does not fit the format of z.
func (p *product) mixed(z *halfulp.Matrix, opt *halfulp.Options) (halfulp.Stats, error) {
	prec := uint(z.Format().Bits())
	wide := p.c.Convert(halfulp.MP(max(exactPrec(p.c.Format()), prec+64)))
	stats, err := p.run(wide)
	if err != nil {
		return stats, err
	}
	start := time.Now()
	d := p.newDots(z.Format(), opt)
	for i := range z.Rows() {
		for j := range z.Cols() {
			w := wide.At(i, j)
			z.Set(i, j, w)
			if harmless(w, z.At(i, j)) {
				continue
			}
			s, one, err := d.entry(i, j)
			if err != nil {
				return stats, err
			}
			z.Set(i, j, s)
			stats.Exact++
			stats.Overflow += one.Overflow
			stats.Underflow += one.Underflow
		}
	}
	stats.Stages = append(stats.Stages, halfulp.Stage{Name: "rounding", Time: time.Since(start)})
	return stats, nil
}

// harmless reports whether z, rounded from w, is what a number that w was rounded
// from would have been rounded to. It says so only of results within the normal
// range of the format.
func harmless(w, z halfulp.Scalar) bool {
	switch {
	case w.IsNaN() || w.IsInf(0):
		return true
	case z.IsInf(0):
		return false
	}
	exact, rounded := w.Big(), z.Big()
	if exact.Cmp(rounded) == 0 {
		return true
	}
	switch f := z.Format(); f {
	case halfulp.DD, halfulp.TD, halfulp.QD:
		return false // their midpoints may have any number of bits
	default:
		smallest := math.SmallestNonzeroFloat64 * (1 << 52)
		if f == halfulp.Float32 {
			smallest = math.SmallestNonzeroFloat32 * (1 << 23)
		}
		normal := f.IsMP() || math.Abs(z.Float64()) > smallest
		return normal && exact.MinPrec() > uint(f.Bits())+1
	}
}

// dots computes single entries of a product.
type dots struct {
	*product
	f           halfulp.Format
	left, right halfulp.Format // hold every number, and alpha's products, exactly
	k           int
	opt         halfulp.Options
	rows, cols  []*halfulp.Vector // filled as they are asked for
}

func (p *product) newDots(f halfulp.Format, opt *halfulp.Options) *dots {
	d := &dots{
		product: p, f: f, k: p.a.Cols(), opt: *opt,
		left:  halfulp.MP(max(exactPrec(p.a.Format())+exactPrec(p.alpha.Format()), exactPrec(p.beta.Format()))),
		right: halfulp.MP(max(exactPrec(p.b.Format()), exactPrec(p.c.Format()))),
		rows:  make([]*halfulp.Vector, p.a.Rows()),
		cols:  make([]*halfulp.Vector, p.b.Cols()),
	}
	if isZero(p.alpha) {
		d.k = 0 // A and B are unread
	}
	d.opt.Method = "auto"
	d.opt.Progress = nil
	d.opt.Threads = 1                                // a dot product is too short for more
	d.opt.MemoryLimit = halfulp.DefaultMemoryLimit() // asked for once
	return d
}

func (d *dots) entry(i, j int) (halfulp.Scalar, halfulp.Stats, error) {
	if d.rows[i] == nil {
		d.rows[i] = halfulp.NewVector(d.left, d.k+1)
		for h := range d.k {
			d.rows[i].Set(h, d.a.At(i, h))
		}
		if _, err := halfulp.Scal(d.alpha, d.rows[i].Slice(0, d.k), &d.opt); err != nil {
			return halfulp.Scalar{}, halfulp.Stats{}, err
		}
		d.rows[i].Set(d.k, d.beta)
	}
	if d.cols[j] == nil {
		d.cols[j] = halfulp.NewVector(d.right, d.k+1)
		for h := range d.k {
			d.cols[j].Set(h, d.b.At(h, j))
		}
	}
	d.cols[j].Set(d.k, d.c.At(i, j))
	return halfulp.Dot(d.rows[i], d.cols[j], d.f, &d.opt)
}

// exactPrec returns a precision at which MP holds every number of format f.
func exactPrec(f halfulp.Format) uint {
	switch f {
	case halfulp.DD, halfulp.TD, halfulp.QD:
		return 2100 // from the largest double, 2^1024, down to the smallest, 2^-1074
	}
	return uint(f.Bits())
}

func isZero(s halfulp.Scalar) bool { return !s.IsNaN() && s.Big().Sign() == 0 }
