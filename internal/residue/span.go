package residue

import "github.com/halfulp/halfulp/internal/num"

// A span is the range from <= h < to of the numbers of a vector, or of the units in which they are
// packed. The zero span is the empty one.
type span struct{ from, to int }

// and returns the intersection of two spans.
func (s span) and(t span) span {
	if s.from, s.to = max(s.from, t.from), min(s.to, t.to); s.from >= s.to {
		return span{}
	}
	return s
}

// or returns the shortest span that contains both.
func (s span) or(t span) span {
	switch {
	case s.empty():
		return t
	case t.empty():
		return s
	}
	return span{min(s.from, t.from), max(s.to, t.to)}
}

func (s span) empty() bool { return s == span{} }

// length returns the number of numbers in the span.
func (s span) length() int { return s.to - s.from }

// spanVectors computes the spans of the vectors v0 <= v < v1, outside of which all their numbers
// are zero. It reads only these zeros and the first other number on each side.
func (o *operand) spanVectors(v0, v1 int) {
	zero := func(at int) bool { return o.mat.Arr.Class(at) == num.Zero }
	if o.mat.Arr.Terms() > 1 { // their first term may be 0
		zero = func(at int) bool {
			c, _, _ := o.mat.Arr.Span(at)
			return c == num.Zero
		}
	}
	// search calls found with the first nonzero number of each vector, from h on in steps of step.
	search := func(h, step int, found func(v, h int)) {
		var open [scanBlock]int
		n := v1 - v0
		for i := range n {
			open[i] = v0 + i
		}
		for ; n > 0 && h >= 0 && h < o.k; h += step {
			left := 0
			for _, v := range open[:n] {
				if zero(o.mat.At(v, h)) {
					open[left] = v
					left++
				} else {
					found(v, h)
				}
			}
			n = left
		}
	}
	search(0, 1, func(v, h int) { o.spans[v] = span{h, o.k} })
	search(o.k-1, -1, func(v, h int) { o.spans[v].to = h + 1 })
}

// dense is the fraction of an operand's numbers within spans from which on spans are not used.
const dense = 0.9

// panelSpans returns the spans of the panels of residues of the operand, in pairs or steps, or
// whole vectors if spans would save little.
func (o *operand) panelSpans(r *residues) []span {
	spans, total := make([]span, r.panels), r.length()
	unit, align := r.unit()
	sum := 0
	for p := range spans {
		var s span
		for v := p * r.panel; v < min((p+1)*r.panel, o.n); v++ {
			s = s.or(o.spans[v])
		}
		step := unit * align
		s = span{s.from / step * align, min(total, (s.to+step-1)/step*align)}
		spans[p] = s
		sum += s.length()
	}
	if float64(sum) > dense*float64(r.panels*total) {
		for p := range spans {
			spans[p] = span{0, total}
		}
	}
	return spans
}

// A region is a part of a block of the result: panels of rows and of columns, and the span of their
// numbers that must be multiplied.
type region struct {
	pi, pj, mp, np int
	span
}

// Sizes of the regions of structured products: small, because the zeros between the differing spans
// of a region's panels are multiplied, but larger than tiles of the kernels.
const (
	regionRows = 24
	regionCols = 16
)

// regions returns the parts of a block of mp x np panels from (pi, pj) on that are computed one by
// one, without parts outside of the requested triangle. It returns a single region if there are
// neither zeros to omit nor a triangle. The block's residues begin with entry (i0, j0) of the
// result.
func (p *product) regions(list []region, ra, rb *residues, pi, pj, mp, np, i0, j0 int) []region {
	whole := span{0, ra.length()}
	if p.cfg.Triangle == 0 && ra.full() && rb.full() {
		return append(list, region{pi, pj, mp, np, whole})
	}
	rows, cols := max(1, regionRows/ra.panel), max(1, regionCols/rb.panel)
	for j := pj; j < pj+np; j += cols {
		n := min(cols, pj+np-j)
		right := hull(rb.spans[j : j+n])
		for i := pi; i < pi+mp; i += rows {
			m := min(rows, pi+mp-i)
			if p.cfg.Triangle != 0 && p.outside(i0+i*ra.panel, i0+(i+m)*ra.panel, j0+j*rb.panel, j0+(j+n)*rb.panel) {
				continue
			}
			list = append(list, region{i, j, m, n, hull(ra.spans[i : i+m]).and(right)})
		}
	}
	return list
}

// hull returns the shortest span that contains all spans.
func hull(spans []span) span {
	var s span
	for _, t := range spans {
		s = s.or(t)
	}
	return s
}
