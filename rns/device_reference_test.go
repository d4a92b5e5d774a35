package rns

import (
	"math/big"
	"math/bits"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/testlength"
)

// The kernels of internal/kernels/rns/rnskernels.cuh in Go, by the arithmetic of this
// package. They stand for the kernels on a fake device.

// The kernels' structures, with C's layout.
type (
	refArray struct{ Digits, Heads cuda.Pointer }

	refOperand struct {
		A           refArray
		Off, RS, CS int64
	}
	refBase struct {
		Moduli, Inverse, Shift, Mu, MuLow   cuda.Pointer
		Pow, Inv, Weight, Low, NegM         cuda.Pointer
		MLo, MUp, Half, Lim, Target, SumLim place.RNSFloat
		Slack, Bits, Word, Pad              int32
	}
	refSums struct {
		X, Y, Z                                     refOperand
		N, First, Stride                            int64
		Rows, Cols, Size, Absolute, More, RowsFirst int32
		Stored, Triangle                            int32
	}
	refTrees struct {
		Sums                              refArray
		Z                                 refOperand
		Rows, Size, Half, More, Tile, Pad int32
	}
	refMaps struct {
		F               [3][3]refOperand
		Z               refOperand
		Rows, Cols      int64
		Minus, Triangle int32
	}
	refApplications struct {
		X, Y, C, Z refOperand
		Rows, Cols int64
	}
	refPairs struct {
		X, Z         refOperand
		N            int64
		Chunk, Depth int32
	}
)

// reference is a fake device with the kernels for a base.
type reference struct {
	t *testing.T
	b *Base
	w *scratch
}

// fakeDriver returns a fake driver with the kernels for a base.
func fakeDriver(t *testing.T, b *Base) *fake.Driver {
	t.Helper()
	r, drv := &reference{t, b, b.newScratch()}, &fake.Driver{Initcheck: true}
	drv.Kernel("rnsSum", r.partial)
	drv.Kernel("rnsDot", r.partial)
	drv.Kernel("rnsTree", r.tree)
	drv.Kernel("rnsMap", r.mapping)
	drv.Kernel("rnsPairs", r.pairwise)
	for name, op := range operations {
		drv.Kernel(name, func(l *fake.Launch, _ refBase, k refApplications) { r.apply(op, l, k) })
	}
	for _, team := range []string{"S", "P"} {
		drv.Kernel("rnsRecursive"+team, r.partial)
		drv.Kernel("rnsPairwise"+team, r.pairwise)
	}
	drv.Kernel("rnsSparse", r.sparse)
	r.published(drv)
	return drv
}

func newReference(t *testing.T, b *Base) place.Place {
	t.Helper()
	dev, err := cuda.OpenDriver(fakeDriver(t, b), 0)
	must(t, err)
	return backend.At(dev)
}

// padded is the number of residues that lie on a device for each number.
func (r *reference) padded() int { return max(8, 1<<bits.Len(uint(r.b.n-1))) }

func (r *reference) digits(l *fake.Launch, a refArray, i int64) []uint32 {
	return fake.Slice[uint32](l, a.Digits+cuda.Pointer(4*i*int64(r.padded())), r.padded())
}

func (r *reference) head(l *fake.Launch, a refArray, i int64) *place.RNSHead {
	return &fake.Slice[place.RNSHead](l, a.Heads+cuda.Pointer(32*i), 1)[0]
}

// load returns a copy of number i.
func (r *reference) load(l *fake.Launch, a refArray, i int64) *val {
	h := r.head(l, a, i)
	v := &val{x: make([]uint32, r.b.n), exp: h.Exp, neg: h.Negative != 0}
	v.ev = Interval{XFloat{h.Lo, h.LoI}, XFloat{h.Up, h.UpI}}
	copy(v.x, r.digits(l, a, i))
	return v
}

func (r *reference) store(l *fake.Launch, v *val, a refArray, i int64) {
	d := r.digits(l, a, i)
	clear(d)
	copy(d, v.x)
	h := place.RNSHead{Lo: v.ev.Lo.F, Up: v.ev.Up.F, LoI: v.ev.Lo.I, UpI: v.ev.Up.I, Exp: v.exp}
	if v.neg {
		h.Negative = 1
	}
	*r.head(l, a, i) = h
}

func (o refOperand) at(i, j int64) int64 { return o.Off + i*o.RS + j*o.CS }

func (r *reference) zero() *val { return &val{x: make([]uint32, r.b.n)} }

func (r *reference) times(v, w *val) *val {
	z := r.zero()
	r.b.mul(z, v, w, r.w)
	return z
}

// covers fails unless a grid has enough threads for items groups.
func (r *reference) covers(l *fake.Launch, items int) {
	lanes := r.padded() / 8
	if have := int(l.Grid.X) * int(l.Block.X) / lanes; l.Block.X > 32 && have < items {
		r.t.Errorf("%d groups of %d lanes for %d items", have, lanes, items)
	}
}

// outside reports whether (i, j) is outside a triangle, 1 the upper, 2 the lower one.
func outside(triangle int32, i, j int64) bool {
	return triangle == 1 && i > j || triangle == 2 && i < j
}

func (r *reference) partial(l *fake.Launch, _ refBase, s refSums) {
	rows := int64(s.Rows) * int64(s.Cols)
	r.covers(l, int(rows)*int(s.Size))
	for item := range rows * int64(s.Size) {
		row, t := item/int64(s.Size), item%int64(s.Size)
		i, j := row%int64(s.Rows), row/int64(s.Rows)
		if outside(s.Triangle, i, j) {
			continue
		}
		acc := r.zero()
		if s.More != 0 {
			acc = r.load(l, s.Z.A, s.Z.at(row, t))
		}
		// The entries e of thread (e - first) mod stride mod size, in order.
		for base := s.First * row; base < s.N; base += s.Stride {
			for o := t; o < min(2*int64(s.Size), s.Stride) && base+o < s.N; o += int64(s.Size) {
				e := base + o
				at := s.X.at(i, e)
				if outside(s.Stored, i, e) {
					at = s.X.at(e, i)
				}
				v := r.load(l, s.X.A, at)
				if s.Y.A.Digits != 0 {
					v = r.times(v, r.load(l, s.Y.A, s.Y.at(j, e)))
				}
				v.neg = v.neg && s.Absolute == 0
				r.b.addTo(acc, v, r.w)
			}
		}
		r.store(l, acc, s.Z.A, s.Z.at(row, t))
	}
}

func (r *reference) tree(l *fake.Launch, _ refBase, s refTrees) {
	if int(l.Grid.X)*int(s.Tile) < int(s.Rows) {
		r.t.Errorf("%d blocks of %d rows for %d", l.Grid.X, s.Tile, s.Rows)
	}
	for row := range int64(s.Rows) {
		for h := int64(s.Half); h > 0; h /= 2 {
			for t := int64(0); t < h && t+h < int64(s.Size); t++ {
				at := row*int64(s.Size) + t
				if *r.head(l, s.Sums, at+h) == (place.RNSHead{}) {
					continue // most partial sums of few numbers are zeros
				}
				u := r.load(l, s.Sums, at)
				r.b.addTo(u, r.load(l, s.Sums, at+h), r.w)
				r.store(l, u, s.Sums, at)
			}
		}
		u := r.load(l, s.Sums, row*int64(s.Size))
		if s.More != 0 {
			r.b.addTo(u, r.load(l, s.Z.A, s.Z.at(row, 0)), r.w)
		}
		r.store(l, u, s.Z.A, s.Z.at(row, 0))
	}
}

func (r *reference) mapping(l *fake.Launch, _ refBase, k refMaps) {
	r.covers(l, int(k.Rows*k.Cols))
	for item := range k.Rows * k.Cols {
		i, j := item%k.Rows, item/k.Rows
		z := r.zero()
		if outside(k.Triangle, i, j) {
			continue
		}
		for term, o := range k.F {
			if o[0].A.Digits == 0 {
				continue
			}
			v := r.load(l, o[0].A, o[0].at(i, j))
			for _, f := range o[1:] {
				if f.A.Digits != 0 {
					v = r.times(v, r.load(l, f.A, f.at(i, j)))
				}
			}
			v.neg = v.neg != (term == 1 && k.Minus != 0)
			r.b.addTo(z, v, r.w)
		}
		r.store(l, z, k.Z.A, k.Z.at(i, j))
	}
}

// operations are the operations of the kernels of divide.cuh.
var operations = map[string]func(z, x, y, c *Number){
	"rnsQuotient": func(z, x, y, _ *Number) { z.Quo(x, y) },
	"rnsRoot":     func(z, x, _, _ *Number) { z.Sqrt(x) },
	"rnsFMA":      func(z, x, y, c *Number) { z.FMA(x, y, c) },
}

func (r *reference) apply(op func(z, x, y, c *Number), l *fake.Launch, k refApplications) {
	r.covers(l, int(k.Rows*k.Cols))
	for item := range k.Rows * k.Cols {
		i, j := item%k.Rows, item/k.Rows
		var x [3]*Number
		for n, o := range []refOperand{k.X, k.Y, k.C} {
			if o.A.Digits != 0 {
				x[n] = &Number{r.b, *r.load(l, o.A, o.at(i, j))}
			}
		}
		z := r.b.NewNumber()
		op(z, x[0], x[1], x[2])
		r.store(l, &z.v, k.Z.A, k.Z.at(i, j))
	}
}

// pairwise sums each chunk by halves: Reduce2's stack, seen as a tree.
func (r *reference) pairwise(l *fake.Launch, _ refBase, s refPairs) {
	chunk := int64(s.Chunk)
	r.covers(l, int((s.N+chunk-1)/chunk))
	var sum func(from, n int64) *val
	sum = func(from, n int64) *val {
		if n == 1 {
			return r.load(l, s.X.A, s.X.at(from, 0))
		}
		half := int64(1) << (bits.Len64(uint64(n-1)) - 1)
		z := sum(from, half)
		r.b.addTo(z, sum(from+half, n-half), r.w)
		return z
	}
	for from := int64(0); from < s.N; from += chunk {
		r.store(l, sum(from, min(chunk, s.N-from)), s.Z.A, s.Z.at(from/chunk, 0))
	}
}

// TestDeviceReference compares the results of routines with these kernels with the CPU's.
func TestDeviceReference(t *testing.T) {
	bases := deviceBases(t)
	for k, i := range []int{1, 9, 13, 14} {
		if b := bases[i]; k == 0 || i == 14 && !testing.Short() || testlength.Long() {
			deviceSuite(t, newReference(t, b), []*Base{b}, 10+k%3*9)
		}
	}
}

// TestDeviceTables compares the tables on a device with their definition.
func TestDeviceTables(t *testing.T) {
	for _, b := range deviceBases(t) {
		r, drv := &reference{t, b, b.newScratch()}, &fake.Driver{Initcheck: true}
		launched := false
		drv.Kernel("rnsMap", func(l *fake.Launch, c refBase, _ refMaps) {
			launched = true
			r.checkTables(l, c)
		})
		for _, name := range []string{"rnsSum", "rnsDot", "rnsTree", "rnsPairs", "rnsRecursiveS", "rnsRecursiveP", "rnsPairwiseS", "rnsPairwiseP"} {
			drv.Kernel(name, func(*fake.Launch, refBase, refSums) {})
		}
		dev, err := cuda.OpenDriver(drv, 0)
		must(t, err)
		x := b.NewVector(1).onDevice(t, backend.At(dev))
		done(Scal(b.NewNumber(), x, nil))
		if !launched {
			t.Fatal("no launch")
		}
	}
}

func (r *reference) checkTables(l *fake.Launch, c refBase) {
	b, p := r.b, r.padded()
	row := func(table cuda.Pointer, k int) []uint32 {
		return fake.Slice[uint32](l, table+cuda.Pointer(4*k*p), p)
	}
	mu := fake.Slice[uint64](l, c.Mu, p)
	x := new(big.Int)
	pow := func(k int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(k)) }
	want := func(what string, i int, got uint64, z *big.Int) {
		if z.Cmp(new(big.Int).SetUint64(got)) != 0 {
			r.t.Fatalf("%s of modulus %d is %d, want %v", what, i, got, z)
		}
	}
	for a := range b.rows() {
		for i := range b.n {
			word := x.And(x.Rsh(b.cofactor[i], uint(a*int(c.Word))), new(big.Int).Sub(pow(int(c.Word)), big.NewInt(1)))
			want("low", i, uint64(row(c.Low, a)[i]), word)
		}
	}
	for i := range p {
		if i >= b.n {
			if row(c.Moduli, 0)[i] != 1 || row(c.Inverse, 0)[i] != 0 || mu[i] != 0 || row(c.Weight, 0)[i] != 0 || row(c.Pow, 3)[i] != 0 || row(c.Low, 0)[i] != 0 {
				r.t.Fatalf("padding %d", i)
			}
			continue
		}
		m := big.NewInt(int64(b.m[i]))
		length := m.BitLen()
		want("modulus", i, uint64(row(c.Moduli, 0)[i]), m)
		want("inverse", i, uint64(row(c.Inverse, 0)[i]), x.Quo(pow(length+31), m))
		want("shift", i, uint64(row(c.Shift, 0)[i]), big.NewInt(int64(length-1)))
		want("mu", i, mu[i], x.Quo(pow(64), m))
		want("muLow", i, uint64(row(c.MuLow, 0)[i]), x.And(x.Quo(pow(96), m), big.NewInt(1<<32-1)))
		weight := new(big.Int).ModInverse(x.Mod(b.cofactor[i], m), m)
		for k := 0; k <= b.bigM.BitLen()+3; k += 1 + b.bigM.BitLen()/50 {
			q := x.Mod(pow(k), m)
			want("pow", i, uint64(row(c.Pow, k)[i]), q)
			want("weight", i, uint64(row(c.Weight, k)[i]), new(big.Int).Mod(new(big.Int).Mul(q, weight), m))
			want("inv", i, uint64(row(c.Inv, k)[i]), new(big.Int).ModInverse(q, m))
		}
	}
}
