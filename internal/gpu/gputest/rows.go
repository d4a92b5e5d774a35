package gputest

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// RowReference returns a fake device with the kernels of kernels/rows/reduce.cuh, convolve.cuh,
// fused.cuh, structured.cu and others in Go.
func RowReference(t testing.TB, drv *fake.Driver) *cuda.Device {
	t.Helper()
	structuredReference(drv)
	triangularReference(drv)
	batchReference(drv)
	drv.Kernel("scanRows", refScanRows)
	drv.Kernel("integersOfRows", refIntegers)
	drv.Kernel("settle", refSettle)
	convolveReference(drv)
	for _, s := range abi.OuterShapes {
		drv.Kernel(s.Kernel(), refOuter)
	}
	for _, s := range abi.WordShapes {
		drv.Kernel(s.Kernel(), func(l *fake.Launch, r abi.WordReduction) { refFused(l, r.FusedReduction, false) })
	}
	for _, f := range abi.DigitFiles {
		for _, k := range f.Digits {
			if f.Sums == abi.FusedFile {
				drv.Kernel(fmt.Sprintf("sums%d", k), func(l *fake.Launch, r abi.FusedReduction) { refFused(l, r, false) })
				drv.Kernel(fmt.Sprintf("products%d", k), func(l *fake.Launch, r abi.FusedReduction) { refFused(l, r, true) })
			} else {
				drv.Kernel(fmt.Sprintf("sums%d", k), refAccumulate)
				drv.Kernel(fmt.Sprintf("products%d", k), refAccumulate)
			}
		}
	}
	return opened(t, drv)
}

// An addend is a number or a product as the kernels see it: top is the sum of the exponents.
type addend struct {
	class num.Class
	neg   bool
	top   int64
	a, x  num.Real
}

// rowAddends calls f for the addends of row i.
func rowAddends(l *fake.Launch, r *abi.RowReduction, i int, f func(addend)) {
	addendsOf(l, r.A, r.X, r.Products != 0, r.Magnitudes != 0, i, f)
}

// addendsOf calls f for the addends of row i of a, or of its products with x.
func addendsOf(l *fake.Launch, left, right abi.Vectors, products, magnitudes bool, i int, f func(addend)) {
	a := matOf(l, left)
	var x num.Mat
	if products {
		x = matOf(l, right)
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
func addSpan(l *fake.Launch, to abi.Spans, n int, top, bottom []int64, flags []uint32) {
	t, b, f := fake.Slice[int64](l, to.Top, n), fake.Slice[int64](l, to.Bottom, n), fake.Slice[uint32](l, to.Flags, n)
	for i := range n {
		t[i], b[i], f[i] = max(t[i], top[i]), max(b[i], bottom[i]), f[i]|flags[i]
	}
}

// mergeSpans sets the spans of n rows to the spans of all parts, and returns the largest exponents.
func mergeSpans(l *fake.Launch, s, parts abi.Spans, count, n int) []int64 {
	clearSpans(l, s, n)
	for p := range count {
		from := partOf(parts, p, n)
		addSpan(l, s, n, fake.Slice[int64](l, from.Top, n), fake.Slice[int64](l, from.Bottom, n), fake.Slice[uint32](l, from.Flags, n))
	}
	return fake.Slice[int64](l, s.Top, n)
}

// clearSpans clears the spans of n rows.
func clearSpans(l *fake.Launch, s abi.Spans, n int) {
	t, b, f := fake.Slice[int64](l, s.Top, n), fake.Slice[int64](l, s.Bottom, n), fake.Slice[uint32](l, s.Flags, n)
	for i := range n {
		t[i], b[i], f[i] = -1<<61, -1<<61, 0
	}
}

// partOf returns the spans of part p of n rows.
func partOf(s abi.Spans, p, n int) abi.Spans {
	at := cuda.Pointer(p * n)
	return abi.Spans{Top: s.Top + 8*at, Bottom: s.Bottom + 8*at, Flags: s.Flags + 4*at}
}

// refScanRows finds all in the first of the launch's parts.
func refScanRows(l *fake.Launch, r abi.RowReduction) {
	n := int(r.A.N)
	for y := range int(l.Grid.Y) {
		clearSpans(l, partOf(r.Parts, int(r.First)+y, n), n)
	}
	to := partOf(r.Parts, int(r.First), n)
	top, bottom := fake.Slice[int64](l, to.Top, n), fake.Slice[int64](l, to.Bottom, n)
	flags := fake.Slice[uint32](l, to.Flags, n)
	for i := range n {
		rowAddends(l, &r, i, func(d addend) {
			switch {
			case d.class > num.Finite:
				flags[i] |= abi.SeenSpecial
			case d.class == num.Finite:
				flags[i] |= abi.SeenFinite
				top[i], bottom[i] = max(top[i], d.top), max(bottom[i], -d.top)
			case r.Later != 0:
			case d.neg:
				flags[i] |= abi.SeenNegativeZero
			default:
				flags[i] |= abi.SeenPositiveZero
			}
		})
	}
	if r.Later == 0 {
		clear(fake.Slice[int64](l, r.Columns, (int(r.Digits)+1)*n))
	}
}

// fraction returns floor(|x| 2^(bits - top)), |x| < 2^top.
func fraction(x num.Real, bits, top int64) *big.Int {
	x.Neg = false
	n := num.ToInt(x.Mag)
	if s := x.Exp + bits - top; s >= 0 {
		return n.Lsh(n, uint(s))
	} else if -s > int64(64*len(x.Mag)) {
		return n.SetInt64(0)
	} else {
		return n.Rsh(n, uint(-s))
	}
}

// digitsOf returns the k digits of floor(|x| 2^(RowDigit k - top)), |x| < 2^top, the highest first.
func digitsOf(x num.Real, k int, top int64) []uint64 {
	d, shift := make([]uint64, k), x.Exp+int64(abi.RowDigit*k)-top
	for i := range d {
		d[k-1-i] = num.WordAt(x.Mag, int64(abi.RowDigit*i)-shift) & (1<<abi.RowDigit - 1)
	}
	return d
}

// evaluate returns the sum of column(c) 2^(width (n - 1 - c)) over 0 <= c < n, width < 64.
func evaluate(n, width int, column func(c int) uint64) *big.Int {
	words := make([]big.Word, n*width/64+2)
	put := func(at int, v uint64) {
		words[at/64] |= big.Word(v << (at % 64))
		words[at/64+1] |= big.Word(v >> (64 - at%64))
	}
	var carry uint64
	for c := n - 1; c >= 0; c-- {
		carry += column(c)
		put(width*(n-1-c), carry&(1<<width-1))
		carry >>= width
	}
	put(width*n, carry)
	return new(big.Int).SetBits(words)
}

// addTo adds the addend to a sum of k digits in units of the last column.
func (d addend) addTo(total *big.Int, products bool, k int, top int64) {
	topA := d.a.Exp + int64(num.BitLen(d.a.Mag))
	u := digitsOf(d.a, k, topA+top-d.top)
	column := func(c int) uint64 { return u[c] }
	if products {
		w := digitsOf(d.x, k, d.x.Exp+int64(num.BitLen(d.x.Mag)))
		column = func(c int) (sum uint64) {
			for j := range c + 1 {
				sum += u[c-j] * w[j]
			}
			return sum
		}
	}
	if v := evaluate(k, abi.RowDigit, column); d.neg {
		total.Sub(total, v)
	} else {
		total.Add(total, v)
	}
}

func refAccumulate(l *fake.Launch, r abi.RowReduction) {
	n, k := int(r.A.N), int(r.Digits)
	columns := fake.Slice[int64](l, r.Columns, (k+1)*n)
	tops := mergeSpans(l, r.S, r.Parts, int(r.Count), n)
	for i := range n {
		total := new(big.Int) // in units of the last column
		rowAddends(l, &r, i, func(d addend) {
			if d.class != num.Finite {
				return
			}
			d.addTo(total, r.Products != 0, k, tops[i])
		})
		for c := k; c > 0; c-- {
			columns[c*n+i] += new(big.Int).And(total, big.NewInt(1<<abi.RowDigit-1)).Int64()
			total.Rsh(total, abi.RowDigit)
		}
		columns[i] += total.Int64()
	}
	sumsIn(l, r.Columns, r.S, n, k).conclude(l, r.End)
}

// refIntegers makes integers of the rows' columns for refSettle.
func refIntegers(l *fake.Launch, p abi.Integers) {
	n, k := int(p.Rows), int(p.Digits)
	columns := fake.Slice[int64](l, p.Columns, (k+1)*n)
	top, bottom := fake.Slice[int64](l, p.S.Top, n), fake.Slice[int64](l, p.S.Bottom, n)
	seen := fake.Slice[uint32](l, p.S.Flags, n)
	exp, norm, flags := fake.Slice[int64](l, p.L.Exp, n), fake.Slice[float64](l, p.L.Second, n), fake.Slice[uint8](l, p.L.Flags, n)
	fake.Slice[int64](l, p.R.Exp, 1)[0], fake.Slice[float64](l, p.R.Second, 1)[0], fake.Slice[uint8](l, p.R.Flags, 1)[0] = 0, 0, 0
	clear(fake.Slice[uint64](l, p.Counts, 3))
	for i := range n {
		exp[i], norm[i], flags[i] = 0, 0, 0
		if seen[i]&abi.SeenFinite != 0 {
			if exp[i] = top[i]; top[i]+bottom[i] > p.Exact {
				norm[i] = 1
			}
		}
		if seen[i]&abi.SeenSpecial != 0 {
			flags[i] |= flagSpecial
		}
		if p.Expansions != 0 || seen[i]&(abi.SeenPositiveZero|abi.SeenNegativeZero) != 0 {
			flags[i] |= 2
		}
		total := new(big.Int)
		for c := range k + 1 {
			total.Add(total.Lsh(total, abi.RowDigit), big.NewInt(columns[c*n+i]))
		}
		for w := range int(p.Words) {
			word := new(big.Int).Rsh(total, uint(32*w)) // of two's complement
			word.And(word, big.NewInt(1<<32-1))
			place := p.Raw + rawPlace(i, 0, n, int(p.Pitch), int(p.Pitch-p.Words)+w)
			fake.Slice[uint32](l, place, 1)[0] = uint32(word.Uint64())
		}
	}
}
