package gpu

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
)

// rowReference returns a fake device with the kernels of kernels/reduce.cuh, convolve.cuh and fused.cuh in Go.
func rowReference(t *testing.T, drv *fake.Driver) *cuda.Device {
	t.Helper()
	drv.Kernel("scanRows", refScanRows)
	drv.Kernel("roundRows", refRoundRows)
	convolveReference(drv)
	for _, f := range digitFiles {
		for _, k := range f.digits {
			if f.name == fusedFile {
				drv.Kernel(fmt.Sprintf("sums%d", k), func(l *fake.Launch, r fusedReduction) { refFused(l, r, false) })
				drv.Kernel(fmt.Sprintf("products%d", k), func(l *fake.Launch, r fusedReduction) { refFused(l, r, true) })
			} else {
				drv.Kernel(fmt.Sprintf("sums%d", k), refAccumulate)
				drv.Kernel(fmt.Sprintf("products%d", k), refAccumulate)
			}
		}
	}
	dev, err := cuda.OpenDriver(drv, 0)
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// An addend is a number or a product as the kernels see it: top is the sum of the exponents.
type addend struct {
	class num.Class
	neg   bool
	top   int64
	a, x  num.Real
}

// addends calls f for the addends of row i.
func (r *rowReduction) addends(l *fake.Launch, i int, f func(addend)) {
	addendsOf(l, r.a, r.x, r.products != 0, r.magnitudes != 0, i, f)
}

// addendsOf calls f for the addends of row i of a, or of its products with x.
func addendsOf(l *fake.Launch, left, right vectors, products, magnitudes bool, i int, f func(addend)) {
	a := left.mat(l)
	var x num.Mat
	if products {
		x = right.mat(l)
	}
	var bufs [2][num.MaxValueWords]uint64
	for h := range a.Cols {
		u := a.Arr.Value(a.At(i, h), bufs[0][:])
		d := addend{class: u.Class, neg: u.Neg, top: u.Exp + int64(num.BitLen(u.Mag)), a: u}
		if products {
			v := x.Arr.Value(x.At(0, h), bufs[1][:])
			d.x = v
			d.top += v.Exp + int64(num.BitLen(v.Mag))
			d.neg = u.Neg != v.Neg
			d.class = min(u.Class, v.Class)
			if max(u.Class, v.Class) > num.Finite {
				d.class = num.NaN
			}
		}
		if magnitudes {
			d.neg = false
		}
		f(d)
	}
}

// addSpan adds the spans of the rows at from to those at to.
func addSpan(l *fake.Launch, to spans, n int, top, bottom []int64, flags []uint32) {
	t, b, f := fake.Slice[int64](l, to.top, n), fake.Slice[int64](l, to.bottom, n), fake.Slice[uint32](l, to.flags, n)
	for i := range n {
		t[i], b[i], f[i] = max(t[i], top[i]), max(b[i], bottom[i]), f[i]|flags[i]
	}
}

// mergeSpans sets the spans of n rows to those of all parts, and returns the largest exponents.
func mergeSpans(l *fake.Launch, s, parts spans, count, n int) []int64 {
	clearSpans(l, s, n)
	for p := range count {
		from := parts.part(p, n)
		addSpan(l, s, n, fake.Slice[int64](l, from.top, n), fake.Slice[int64](l, from.bottom, n), fake.Slice[uint32](l, from.flags, n))
	}
	return fake.Slice[int64](l, s.top, n)
}

// clearSpans sets the spans of n rows to those of nothing.
func clearSpans(l *fake.Launch, s spans, n int) {
	t, b, f := fake.Slice[int64](l, s.top, n), fake.Slice[int64](l, s.bottom, n), fake.Slice[uint32](l, s.flags, n)
	for i := range n {
		t[i], b[i], f[i] = -1<<61, -1<<61, 0
	}
}

// part returns the spans of part p of n rows.
func (s spans) part(p, n int) spans {
	at := cuda.Pointer(p * n)
	return spans{s.top + 8*at, s.bottom + 8*at, s.flags + 4*at}
}

// refScanRows finds all in the first of the launch's parts.
func refScanRows(l *fake.Launch, r rowReduction) {
	n := int(r.a.n)
	for y := range int(l.Grid.Y) {
		clearSpans(l, r.parts.part(int(r.first)+y, n), n)
	}
	to := r.parts.part(int(r.first), n)
	top, bottom := fake.Slice[int64](l, to.top, n), fake.Slice[int64](l, to.bottom, n)
	flags := fake.Slice[uint32](l, to.flags, n)
	for i := range n {
		r.addends(l, i, func(d addend) {
			switch {
			case d.class > num.Finite:
				flags[i] |= seenSpecial
			case d.class == num.Finite:
				flags[i] |= seenFinite
				top[i], bottom[i] = max(top[i], d.top), max(bottom[i], -d.top)
			case r.later != 0:
			case d.neg:
				flags[i] |= seenNegativeZero
			default:
				flags[i] |= seenPositiveZero
			}
		})
	}
	if r.later == 0 {
		clear(fake.Slice[int64](l, r.columns, (int(r.digits)+1)*n+1))
	}
	if r.tiles != 0 {
		refToeplitz(l, r)
	}
}

// fraction returns floor(|x| 2^(bits - top)), |x| < 2^top.
func fraction(x num.Real, bits, top int64) *big.Int {
	x.Neg = false
	n := direct.ToInt(x.Mag)
	if s := x.Exp + bits - top; s >= 0 {
		return n.Lsh(n, uint(s))
	} else if -s > int64(64*len(x.Mag)) {
		return n.SetInt64(0)
	} else {
		return n.Rsh(n, uint(-s))
	}
}

// digitsOf returns the k digits of x, the highest first.
func digitsOf(x *big.Int, k int) []int64 {
	d := make([]int64, k)
	for i := range d {
		d[k-1-i] = new(big.Int).And(new(big.Int).Rsh(x, uint(rowDigit*i)), big.NewInt(1<<rowDigit-1)).Int64()
	}
	return d
}

// addTo adds the addend to a sum of k digits in units of the last column.
func (d addend) addTo(total *big.Int, products bool, k int, top int64) {
	bits := int64(rowDigit * k)
	topA := d.a.Exp + int64(num.BitLen(d.a.Mag))
	a := fraction(d.a, bits, topA+top-d.top)
	v := a
	if products {
		v = new(big.Int)
		u, w := digitsOf(a, k), digitsOf(fraction(d.x, bits, d.x.Exp+int64(num.BitLen(d.x.Mag))), k)
		for c := range k {
			column := int64(0)
			for j := range c + 1 {
				column += u[c-j] * w[j]
			}
			v.Add(v.Lsh(v, rowDigit), big.NewInt(column))
		}
	}
	if d.neg {
		total.Sub(total, v)
	} else {
		total.Add(total, v)
	}
}

func refAccumulate(l *fake.Launch, r rowReduction) {
	n, k := int(r.a.n), int(r.digits)
	columns := fake.Slice[int64](l, r.columns, (k+1)*n)
	tops := mergeSpans(l, r.s, r.parts, int(r.count), n)
	for i := range n {
		total := new(big.Int) // in units of the last column
		r.addends(l, i, func(d addend) {
			if d.class != num.Finite {
				return
			}
			d.addTo(total, r.products != 0, k, tops[i])
		})
		for c := k; c > 0; c-- {
			columns[c*n+i] += new(big.Int).And(total, big.NewInt(1<<rowDigit-1)).Int64()
			total.Rsh(total, rowDigit)
		}
		columns[i] += total.Int64()
	}
}

func refRoundRows(l *fake.Launch, r rowRounding) {
	n, k := int(r.rows), int(r.digits)
	columns := fake.Slice[int64](l, r.columns, (k+1)*n)
	top, bottom := fake.Slice[int64](l, r.s.top, n), fake.Slice[int64](l, r.s.bottom, n)
	flags := fake.Slice[uint32](l, r.s.flags, n)
	how := fusedRounding{c: r.c, unit: r.unit, error: r.error, exact: r.exact, neg: r.neg, expansions: r.expansions}
	for i := range n {
		total := new(big.Int)
		for c := range k + 1 {
			total.Add(total.Lsh(total, rowDigit), big.NewInt(columns[c*n+i]))
		}
		refRoundRow(l, how, r.rest, i, total, top[i], bottom[i], flags[i])
	}
	answer := fake.Slice[uint32](l, r.answer, 2)
	answer[leftAt/4] = fake.Slice[uint32](l, r.rest.count, 1)[0]
	answer[0] = r.ticket
}
