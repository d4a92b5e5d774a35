package residue

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/modgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/rounding"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// checkedProduct is a product with a redundant modulus whose stages a test runs itself.
type checkedProduct struct {
	*product
	ra, rb *residues
	wk     *worker
	ldc    int
	stride int     // from plane to plane of the product's residues
	places [2][]at // of the factors
}

// An at is a place of a residue of a factor, or of a byte of one, that is not 0.
type at struct{ plane, index int }

func newChecked(t *testing.T, rng *rand.Rand, f num.Format, m, n, k int, triangle byte) *checkedProduct {
	t.Helper()
	matrix := func(rows, cols int) num.Mat {
		a := num.Mat{Arr: num.New(f, rows*cols), RS: 1, CS: rows, Rows: rows, Cols: cols}
		mag := make([]uint64, (f.Bits()+63)/64)
		for i := range rows * cols {
			for l := range mag {
				mag[l] = rng.Uint64()
			}
			a.Arr.Set(i, num.Real{Class: num.Finite, Neg: rng.IntN(2) == 0, Mag: mag, Exp: int64(rng.IntN(7) - 64*len(mag))})
		}
		return a
	}
	c := num.Mat{Arr: num.New(f, m*n), RS: n, CS: 1, Rows: m, Cols: n} // by rows: not transposed
	a, b := matrix(m, k), matrix(k, n)
	cfg := Config{Run: par.Run{Ctx: context.Background(), Threads: 1, Memory: 1 << 30, Check: true}, Triangle: triangle}
	planned, err := Plan(cfg, one, a, b, num.Real{}, c, c, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := planned.p
	p := &checkedProduct{product: q}
	nothing := func(float64) {}
	base := q.plan.base
	p.ra = newResidues(q.plan.kernels, base, left, m, k, q.plan.WidthL)
	p.rb = newResidues(q.plan.kernels, base, right, n, k, q.plan.WidthR)
	if err := errors.Join(p.ra.compute(cfg.Ctx, 1, q.l, nothing), p.rb.compute(cfg.Ctx, 1, q.r, nothing)); err != nil {
		t.Fatal(err)
	}
	for i, r := range []*residues{p.ra, p.rb} {
		for plane := range base.planes {
			if r.bytes == nil {
				for x, v := range r.plane(plane, 0) {
					if v != 0 {
						p.places[i] = append(p.places[i], at{plane, plane*r.stride + x})
					}
				}
				continue
			}
			first := base.pool.products(plane)
			count := base.products() - first
			if plane+1 < len(base.planes) {
				count = base.pool.products(plane+1) - first
			}
			for y := range count {
				from := (first + y) * r.stride
				for x, v := range r.planed[from : from+r.panels*r.panel*r.steps*modgemm.StepNumbers] {
					if v != 0 {
						p.places[i] = append(p.places[i], at{plane, from + x})
					}
				}
			}
		}
	}
	w := base.reconstruction(q.plan.kernel, q.cut())
	q.unit = int64(w.cut - q.plan.WidthL - q.plan.WidthR)
	p.wk = newWorker(q, w, q.old, q.c, q.l, q.r, p.ra.panels*p.ra.panel*p.rb.panels*p.rb.panel)
	p.wk.fin.errL, p.wk.fin.errR, p.wk.fin.errAll = q.errors(q.l, q.r, w)
	p.ldc = p.rb.panels * p.rb.panel
	p.stride = p.ra.panels * p.ra.panel * p.ldc
	p.wk.c = make([]int16, q.planes()*p.stride)
	for t := range base.planes {
		p.multiplyPlane(t)
	}
	return p
}

// multiplyPlane computes the product modulo one modulus.
func (p *checkedProduct) multiplyPlane(t int) {
	all := region{0, 0, p.ra.panels, p.rb.panels, span{0, p.ra.length()}}
	p.multiplier(p.ra, p.rb)(t, p.wk.c[t*p.stride:(t+1)*p.stride], p.ldc, all, false)
}

// flip flips a bit of a residue.
func (r *residues) flip(a at, bit int) {
	if r.bytes != nil {
		r.planed[a.index] ^= 1 << bit
	} else {
		r.data[a.index] ^= 1 << bit
	}
}

// entry returns the place of an entry's residue.
func (p *checkedProduct) entry(plane, i, j int) int { return plane*p.stride + i*p.ldc + j }

// finish reconstructs and rounds the product, and returns the first entry that is not right.
func (p *checkedProduct) finish() *HardwareError {
	f := &p.wk.fin
	f.fault, f.compared, f.failed = nil, 0, nil
	p.wk.reconstruct(0, 0, p.ra.panels*p.ra.panel, p.ldc, p.stride)
	return f.fault
}

// TestFaults flips bits of residues of the factors, of residues of the product and of the sums of
// the reconstruction, one at a time: each is caught.
func TestFaults(t *testing.T) {
	testlength.SkipLevel(t, "it is about what is compared")
	eachUnit(t, testFaults)
}

func testFaults(t *testing.T) {
	// By its true cost the portable kernel would leave these products to the exact pass.
	slow := kernelCosts["generic"]
	kernelCosts["generic"] = kernelCosts["avx2"]
	defer func() { kernelCosts["generic"] = slow }()
	rng := testseed.Rand(t, 1, 2)
	const n, k = 30, 31
	faults := testlength.Of(30, 30, 400)
	for trial, format := range []num.Format{num.Float64, num.Float32, num.DDouble, num.QDouble, mp(53), mp(424)} {
		triangle := "\x00\x00UL\x00\x00"[trial]
		m, entries := 20, int64(20*n)
		if triangle != 0 {
			m, entries = n, n*(n+1)/2
		}
		p := newChecked(t, rng, format, m, n, k, triangle)
		planes := p.plan.base.planes
		if e := p.finish(); e != nil || p.wk.fin.compared != entries {
			t.Fatalf("%v: without a fault: %v, %d entries", format, e, p.wk.fin.compared)
		}
		if 10*int64(len(p.wk.fin.failed)) > entries || p.wk.across == nil {
			t.Fatalf("%v: %d entries of %d left to the exact pass", format, len(p.wk.fin.failed), entries)
		}
		right := slices.Clone(p.wk.c)
		wrong := 0
		for range faults { // of a factor, where they change the product
			side := rng.IntN(2)
			factor := []*residues{p.ra, p.rb}[side]
			a := p.places[side][rng.IntN(len(p.places[side]))]
			bit := rng.IntN(16)
			if p.ra.bytes != nil {
				bit %= 8
			}
			factor.flip(a, bit)
			p.multiplyPlane(a.plane)
			factor.flip(a, bit)
			bad := false
			for i := range m {
				for j := range n {
					e := p.entry(a.plane, i, j)
					bad = bad || !p.skip(i, j) && int(p.wk.c[e]-right[e])%planes[a.plane] != 0
				}
			}
			if bad {
				wrong++
			}
			if e := p.finish(); (e != nil) != bad {
				t.Fatalf("%v: bit %d of a residue modulo %d: %v, wrong: %v", format, bit, planes[a.plane], e, bad)
			}
			copy(p.wk.c, right)
		}
		if wrong < faults*9/10 {
			t.Errorf("%v: %d of %d faults change the product", format, wrong, faults)
		}
		place := func() (i, j int) {
			for i, j = rng.IntN(m), rng.IntN(n); p.skip(i, j); {
				i, j = rng.IntN(m), rng.IntN(n)
			}
			return i, j
		}
		for range faults { // of the product
			i, j := place()
			plane, bit := rng.IntN(len(planes)), rng.IntN(16)
			for 1<<bit%planes[plane] == 0 { // not wrong
				bit = rng.IntN(16)
			}
			p.wk.c[p.entry(plane, i, j)] ^= 1 << bit
			if e := p.finish(); e == nil || e.Row != i || e.Col != j || !errors.Is(e, ErrHardware) || e.Integer == e.Product {
				t.Fatalf("%v: bit %d of entry (%d, %d) modulo %d: %v", format, bit, i, j, planes[plane], e)
			}
			p.wk.c[p.entry(plane, i, j)] ^= 1 << bit
		}
		f, a := &p.wk.fin, p.wk.across
		n := len(p.plan.base.moduli)
		for range faults { // of the sums, and of the integers
			i, j := place()
			word, bit := rng.IntN(2*(len(f.w.m)+2)), rng.IntN(50)
			// The step that holds the entry.
			from := (i*p.ldc + j) / p.wk.entries * p.wk.entries
			step := span{from, min(from+p.wk.entries, p.stride)}
			p.wk.packed = span{}
			p.wk.combine(step.from, step.to, p.stride, p.stride)
			f.residues = p.wk.c[n*p.stride+step.from:]
			e := i*p.ldc + j - step.from
			pad := rounding.Pad(a.format.Limbs)
			if word == 0 { // lower bits of the quotient's sum do not count
				bit = wordBits + rng.IntN(8)
			}
			if word < len(f.w.m)+2 {
				p.wk.words[word*p.wk.stride+e] ^= 1 << bit
			}
			rounding.Integers(a.mag, a.neg, pad, p.wk.stride, p.wk.words, p.wk.stride, f.w.mod, step.length())
			if word >= len(f.w.m)+2 {
				a.mag[(pad+word%a.count)*p.wk.stride+e] ^= 1 << bit
			}
			f.fault = nil
			p.wk.row(i, j, 1, e)
			if e := f.fault; e == nil || e.Row != i || e.Col != j {
				t.Fatalf("%v: bit %d of sum %d of entry (%d, %d): %v", format, bit, word, i, j, e)
			}
		}
	}
}

// TestCheckedError spoils the residues of a prepared factor: the product with them is an error, at
// the same place in whatever order results are stored.
func TestCheckedError(t *testing.T) {
	rng := testseed.Rand(t, 3, 4)
	for _, byColumns := range []bool{false, true} {
		q := newChecked(t, rng, mp(212), 40, 30, 20, 0)
		pre, s := NewPrepared(q.b), right
		if byColumns {
			q.c.RS, q.c.CS, s = 1, 40, left
		}
		for run := range 2 {
			planned, err := Plan(q.cfg, one, q.a, q.b.T(), num.Real{}, q.c, q.c, nil, pre)
			if err != nil {
				t.Fatal(err)
			}
			st, err := planned.Run()
			var fault *HardwareError
			switch {
			case run == 0 && (err != nil || st.Check != Check{q.plan.base.pool.check, 40 * 30, st.Exact}):
				t.Fatalf("without a fault: %v, %+v", err, st.Check)
			case run == 1 && (!errors.As(err, &fault) || fault.Row != 0 || fault.Col != 3):
				t.Fatalf("stored by columns: %v: error %v", byColumns, err)
			}
			if run == 0 { // the first number of column 3
				r := pre.kept[0][s.index()]
				place := 3 * modgemm.StepNumbers
				if r.bytes == nil {
					place = 2 * 3
				} else if s == right {
					place = 3 * modgemm.RightGroup
				}
				r.flip(at{index: place}, 0)
			}
		}
	}
}
