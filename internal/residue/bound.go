package residue

import (
	"math"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
)

// A Bound describes a result C = alpha A B + beta Old before it is computed: every exact entry has
// magnitude at most 2^(Rows[i] + Cols[j]).
//
// An integer is determined by its residues if twice its magnitude is less than the product of the
// moduli, whatever the size of the numbers it was computed from. So the base of a bounded product
// need hold only the result, with the old entries added to the residues, and not the product of the
// factors: b bits less for results of 2^-b.
//
// What is stated here must be proved. An entry beyond its bound comes out as another number, and
// only Config.Check detects it, because the integers are known modulo M only. Devices with host
// operands, the direct method, and products for which the bound is of no use compute the same bits
// without it.
type Bound struct {
	Rows, Cols []int64
	// Within, if not 0, means that entries need not be correctly rounded: they may be the rounded
	// values of numbers that differ from the exact entries by at most 2^(Rows[i] + Cols[j] -
	// Within). On the host Rows and Cols may be nil, for results without known bounds; 2^Rows[i]
	// and 2^Cols[j] then stand for the least powers of two above row i of A and above column j of
	// alpha B. The bits of the results then depend on how the product runs. The direct method, and
	// devices with host operands, round correctly.
	Within int64
	// A and B describe the rows of A and the columns of B, nil if nothing is known. GPUs need not
	// scan factors in their memory if both are known and results may be in error. Other engines do
	// not use them. What is stated must be proved.
	A, B *Vectors
	// Tally, if not nil, is stored where the operands are stored: a number of Float64 whose lower
	// 32 bits count entries that could not be stored and have kept their old values. Entries beyond
	// the exponents of their format are such entries. The product may return before it has begun.
	Tally *num.Array
}

// transposed returns the bound of the transposed product, nil for nil.
func (b *Bound) transposed() *Bound {
	if b == nil {
		return nil
	}
	t := *b
	t.Rows, t.Cols, t.A, t.B = b.Cols, b.Rows, b.B, b.A
	return &t
}

// Vectors describes the rows or the columns of a factor. They are finite. The numbers of vector v
// have magnitude at most 2^Top[v], the sum of their magnitudes is at most Norm 2^Top[v], and they
// are multiples of 2^(Top[v] - Width).
type Vectors struct {
	Top   []int64
	Norm  float64
	Width int64 // 0 if unknown
}

// samplesBounded is the number of sampled entries of a bounded product. They need exact arithmetic,
// because they cancel.
const samplesBounded = 16

// bounded describes the old entries of a bounded product as integers to be added to the integers of
// A B: the multiples of 2^(exponents of the vectors - widths) nearest to beta/alpha times the old
// entries.
type bounded struct {
	shift    int64 // beta/alpha = ± 2^shift
	neg      bool
	top, low int64 // bits of all of them, relative to 2^(exponents of the vectors)
	width    int   // of the integers
	rounded  bool
}

// bound determines whether the bound of the result applies to the plan of the product of l and r.
// If so, it scans the old entries.
func (p *product) bound(l, r *operand) bool {
	b := p.cfg.Bound
	if b == nil || !p.alpha.pow || !p.beta.zero && !p.beta.pow || l.specials || r.specials {
		return false
	}
	p.tolerate(l, r)
	if b.Rows == nil {
		return false
	}
	over := func(bounds, exp []int64) int64 {
		most := int64(math.MinInt64)
		for v, e := range exp {
			if e == zeroExp {
				return zeroExp
			}
			most = max(most, bounds[v]-e)
		}
		return most
	}
	rows, cols := over(b.Rows, l.exp), over(b.Cols, r.exp)
	if rows == zeroExp || cols == zeroExp {
		return false
	}
	size := rows + cols - p.alpha.exp
	most := int64(min(l.summary().Norm, r.summary().Norm)) + 1 // of A B
	if size >= most {
		return false
	}
	o := &bounded{top: math.MinInt64, low: math.MaxInt64}
	if !p.beta.zero {
		o.shift, o.neg = p.beta.exp-p.alpha.exp, p.beta.neg != p.alpha.neg
		outer, inner := l.n, r.n // rows, and entries of each, or columns if columns are contiguous
		across, along := p.old.RS, p.old.CS
		byColumns := max(along, -along) > max(across, -across)
		if byColumns {
			outer, inner, across, along = inner, outer, along, across
		}
		floats := p.old.Arr.Kind == num.F64
		for y := range outer {
			at := p.old.Off + y*across - along
			for x := range inner {
				at += along
				// The usual case: a unit matrix.
				if floats {
					if p.old.Arr.F64[0][at] == 0 {
						continue
					}
				} else if p.old.Arr.Class(at) == num.Zero {
					continue
				}
				i, j := y, x
				if byColumns {
					i, j = x, y
				}
				if p.skip(i, j) {
					continue
				}
				switch c, top, low := p.old.Arr.Span(at); c {
				case num.Inf, num.NaN:
					return false
				case num.Finite:
					e := o.shift - l.exp[i] - r.exp[j]
					o.top, o.low = max(o.top, top+e), min(o.low, low+e)
				}
			}
		}
		if o.top > most+2 { // greater than A B and the result allow
			return false
		}
	}
	p.within = o
	p.problem.Bounded, p.problem.Bound = true, float64(size)
	if o.top != math.MinInt64 {
		p.problem.Hold(-o.low)
	}
	return true
}

// tolerate determines whether results may be in error, and by how much the integers may be,
// relative to 2^(exponents of the vectors). Results of zero vectors are exact.
func (p *product) tolerate(l, r *operand) {
	b := p.cfg.Bound
	if b.Within == 0 || p.c.Arr.Kind != num.MP {
		return
	}
	under := func(bounds, exp []int64) (least int64) {
		if bounds == nil {
			return 0
		}
		least = math.MaxInt64
		for v, e := range exp {
			if e != zeroExp {
				least = min(least, bounds[v]-e)
			}
		}
		return least
	}
	rows, cols := under(b.Rows, l.exp), under(b.Cols, r.exp)
	if rows == math.MaxInt64 || cols == math.MaxInt64 {
		return
	}
	p.problem.Tolerant = true
	p.problem.Tolerance = float64(rows + cols - b.Within)
	if b.Rows != nil {
		p.problem.Tolerance -= float64(p.alpha.exp)
	}
}

// fit sets the fields that depend on the widths of the operands.
func (o *bounded) fit(widths int) {
	if o.top == math.MinInt64 {
		return
	}
	o.width = int(max(0, o.top+int64(widths)))
	o.rounded = o.low+int64(widths) < 0
}

// factor returns beta/alpha.
func (p *product) factor() num.Real {
	if p.beta.zero {
		return num.Real{}
	}
	return num.Real{Class: num.Finite, Neg: p.within.neg, Mag: one.Mag, Exp: p.within.shift}
}

// betaCResidues holds the constants by which workers compute the residues of beta C.
type betaCResidues struct {
	*bounded
	pairs     int
	constants []int16
	moduli    modgemm.RowModuli
	panels    int                     // number of panels of moduli
	from      int                     // the first plane of bytes
	bytes     *modgemm.ByteConversion // nil unless products are products of bytes
}

func (p *product) newBetaC() *betaCResidues {
	if p.within == nil || p.within.top == math.MinInt64 {
		return nil
	}
	kern, b := p.plan.kernel, p.plan.base
	pairs := digitPairs(p.within.width)
	a := &betaCResidues{bounded: p.within, pairs: pairs, from: len(b.planes)}
	if p.plan.bytes != nil {
		a.from = b.convertedFrom(pairs)
		if a.from < len(b.planes) {
			a.bytes = b.byteConversion(a.from, pairs, true)
		}
	}
	a.constants, a.moduli = b.conversion(kern, 0, a.from, pairs, true), modgemm.NewRowModuli(kern, b.planes[:a.from])
	a.panels = modgemm.LeftPanels(kern, a.from)
	return a
}

// planes returns the number of planes of residues of a block: whole panels of moduli if old entries
// are converted into them.
func (p *product) planes() int {
	n := len(p.plan.base.planes)
	if p.within != nil {
		k := p.plan.kernel
		n = modgemm.LeftPanels(k, n) * k.MR
	}
	return n
}

// begin stores the residues of the old entries of the block of rows x ldc entries at (i0, j0) in
// its planes, which are stride apart.
func (wk *worker) begin(a *betaCResidues, i0, j0, rows, ldc, stride int) {
	f := &wk.fin
	kern := f.p.plan.kernel
	nr := kern.NR
	chunk := max(digitBytes/(4*nr*a.pairs), 1) // panels of entries
	if n := modgemm.ByteDigits(a.pairs, byteEntries(nr*chunk)); cap(wk.digits) < n {
		wk.digits = make([]int16, n)
	}
	perRow := ldc / nr
	total := rows * perRow
	for p := 0; p < total; {
		zero := wk.zeros(i0+p/perRow, j0+p%perRow*nr)
		q := p + 1
		for q < total && (zero || q-p < chunk) && wk.zeros(i0+q/perRow, j0+q%perRow*nr) == zero {
			q++
		}
		if zero {
			for t := range f.p.planes() {
				clear(wk.c[t*stride+p*nr : t*stride+q*nr])
			}
			p = q
			continue
		}
		d := newDigitWriter(wk.digits, nr, a.pairs)
		for x := p; x < q; x++ {
			i, j := i0+x/perRow, j0+x%perRow*nr
			for c := range nr {
				wk.writeBetaC(d, a, i, j+c)
			}
		}
		if a.from > 0 {
			modgemm.Convert(kern, wk.c[p*nr:], stride, a.constants, wk.digits, a.panels, q-p, a.pairs, a.moduli)
		}
		if a.bytes != nil {
			wk.joinBetaC(a, p*nr, (q-p)*nr, stride)
		}
		p = q
	}
}

// byteEntries returns the number of entries that ConvertBytes takes for n: n rounded up to a
// multiple of 64.
func byteEntries(n int) int { return (n + 63) / 64 * 64 }

// joinBetaC stores the residues of the entries e to e + n - 1, computed from their digits as bytes.
func (wk *worker) joinBetaC(a *betaCResidues, e, n, stride int) {
	p := wk.fin.p
	b, size := p.plan.base, byteEntries(n)
	first := b.pool.products(a.from)
	planes := make([]int8, (b.products()-first)*size)
	modgemm.ConvertBytes(p.plan.bytes, planes, size, a.bytes, wk.digits, p.plan.kernel.NR, size, false)
	joined := make([]int16, size)
	for t := a.from; t < len(b.planes); t++ {
		// The redundant modulus comes last, and has the planes of a Karatsuba modulus.
		from, out := planes[(b.pool.products(t)-first)*size:], wk.c[t*stride+e:][:n]
		if t < b.plain() {
			for i := range out {
				out[i] = int16(from[i])
			}
			continue
		}
		p.plan.bytes.Join(joined, from, size)
		copy(out, joined)
	}
}

// zeros reports whether the old entries of a panel from (i, j) on are all zero.
func (wk *worker) zeros(i, j int) bool {
	f := &wk.fin
	if i >= f.c.Rows {
		return true
	}
	end := min(j+f.p.plan.kernel.NR, f.c.Cols)
	if f.old.Arr.Kind == num.F64 && f.old.CS == 1 && j < end { // takes half of the time
		at := f.old.At(i, j)
		for _, x := range f.old.Arr.F64[0][at : at+end-j] {
			if x != 0 {
				return false
			}
		}
		return true
	}
	for c := j; c < end; c++ {
		if f.old.Arr.Class(f.old.At(i, c)) != num.Zero {
			return false
		}
	}
	return true
}

// writeBetaC writes the digits of the integer of old entry (i, j).
func (wk *worker) writeBetaC(d *digitWriter, a *betaCResidues, i, j int) {
	f := &wk.fin
	if i >= f.c.Rows || j >= f.c.Cols || f.p.skip(f.i0+i, f.j0+j) {
		d.zero()
		return
	}
	var buf [num.MaxValueWords]uint64
	r := f.old.Arr.Value(f.old.At(i, j), buf[:])
	if r.Class != num.Finite {
		d.zero()
		return
	}
	widths := int64(f.p.plan.WidthL + f.p.plan.WidthR)
	d.put(r.Neg != a.neg, r.Mag, r.Exp+a.shift+widths-f.left.exp[i]-f.right.exp[j])
}

// oldNegativeZero reports whether beta times old entry (i, j) is -0.
func (f *finisher) oldNegativeZero(i, j int) bool {
	var buf [num.MaxValueWords]uint64
	r := f.old.Arr.Value(f.old.At(i, j), buf[:])
	return r.Class == num.Zero && r.Neg != f.p.beta.neg
}
