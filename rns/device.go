package rns

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
)

// Constant messages about numbers that do not live on the host.
const (
	errHost  = "rns: entries of an array that lives on a device: Host copies it"
	errFreed = "rns: use of an array after Free"
)

// where returns the place where a lives, nil for the host. It panics if a was freed.
func (a *Array) where() place.Place {
	if a.away != nil && a.away.Freed() {
		panic(errFreed)
	}
	return a.at
}

// needHost panics unless a lives on the host.
func (a *Array) needHost() {
	if a.where() != nil {
		panic(errHost)
	}
}

// arrayAt returns an array of n zeros at p.
func (b *Base) arrayAt(p place.Place, n int) (*Array, error) {
	if p == nil {
		return b.NewArray(n), nil
	}
	c, err := b.on(context.Background(), p)
	if err != nil {
		return nil, err
	}
	away, err := c.New(context.Background(), n)
	if err != nil {
		return nil, err
	}
	return &Array{b: b, away: away, at: p}, nil
}

// on returns the base at p.
func (b *Base) on(ctx context.Context, p place.Place) (place.RNSBase, error) {
	if c, ok := b.places.Load(p); ok {
		return c.(place.RNSBase), nil
	}
	c, err := place.Provided[place.RNS]().Base(ctx, p, b.m, func() place.RNSConstants {
		float := func(x XFloat) place.RNSFloat { return place.RNSFloat{F: x.F, I: x.I} }
		c := place.RNSConstants{
			Moduli: b.m, Weights: b.row(b.weight, 0), NegM: b.negM, WordBits: b.wordBits, Bits: b.bigM.BitLen(),
			MLo: float(b.mLo), MUp: float(b.mUp), Half: float(b.half), Lim: float(b.lim),
			Target: float(b.target), SumLim: float(b.sumLim), Slack: int(b.slack),
			ILo: float(b.iLo), IUp: float(b.iUp),
		}
		if b.maxSigBits <= fracBits+1 {
			c.MaxSignificand = b.limInt.Uint64()
		}
		for a := range b.rows() {
			c.Low = append(c.Low, b.row(b.low, a))
		}
		return c
	})
	switch {
	case errors.Is(err, place.ErrModuli):
		return nil, fmt.Errorf("%w: %w", ErrModuli, err)
	case err != nil:
		return nil, err
	}
	b.places.Store(p, c)
	return c, nil
}

// A view is numbers of an array by two indices: (i, j) is number off + i rs + j cs. A vector is a
// column with cs = 0, so that it serves as any number of equal columns.
type view struct {
	arr                     *Array
	off, rs, cs, rows, cols int
}

func (a *Array) view() view  { return view{a, 0, 1, 0, a.Len(), 1} }
func (x *Vector) view() view { return view{x.arr, x.off, x.inc, 0, x.n, 1} }
func (m *Matrix) view() view { return view{m.arr, m.off, 1, m.ld, m.rows, m.cols} }

func (v view) len() int { return v.rows * v.cols }

// index returns the index in the array of entry k, counted by columns.
func (v view) index(k int) int { return v.off + k%v.rows*v.rs + k/v.rows*v.cs }

// dense reports whether the entries are contiguous by columns.
func (v view) dense() bool { return (v.rows <= 1 || v.rs == 1) && (v.cols <= 1 || v.cs == v.rows) }

// copyFrom copies the entries of u; both views are the host's, and of different arrays.
func (v view) copyFrom(u view) {
	for k := range v.len() {
		i := v.index(k)
		x, z := u.arr.val(u.index(k)), v.arr.val(i)
		z.set(&x)
		v.arr.put(i, &z)
	}
}

// compact returns the same numbers contiguously, as all of an array or a part of one.
func (v view) compact() view {
	if v.len() == 0 || v.dense() {
		return v
	}
	z := view{v.arr.b.NewArray(v.len()), 0, 1, v.rows, v.rows, v.cols}
	z.copyFrom(v)
	return z
}

// digits returns the residues of a compact view.
func (v view) digits() []uint32 {
	n := v.arr.b.n
	if v.len() == 0 {
		return nil
	}
	return v.arr.Digits[v.off*n : (v.off+v.len())*n]
}

// head returns entry k of a compact view without its residues.
func (v view) head(k int) place.RNSHead {
	a, i := v.arr, v.off+k
	lo, up := a.Eval[i], a.Eval[a.Len()+i]
	return place.RNSHead{Lo: lo.F, Up: up.F, LoI: lo.I, UpI: up.I, Exp: a.Exp[i], Negative: a.Sign[i]}
}

// setHead is the inverse of head.
func (v view) setHead(k int, h place.RNSHead) {
	a, i := v.arr, v.off+k
	a.Eval[i], a.Eval[a.Len()+i] = XFloat{h.Lo, h.LoI}, XFloat{h.Up, h.UpI}
	a.Exp[i], a.Sign[i] = h.Exp, h.Negative
}

// native returns v as a view of the place where its array lives.
func (v view) native() place.RNSView {
	return place.RNSView{Array: v.arr.away, Off: v.off, RS: v.rs, CS: v.cs}
}

// load returns a copy of a view of the host that lasts as long as a run.
func (v view) load(q place.RNSQueue) (place.RNSView, error) {
	u := v.compact()
	a, err := q.Load(v.len(), u.digits(), u.head)
	return place.RNSView{Array: a, RS: 1, CS: min(v.cs, v.rows)}, err
}

// get copies the numbers of x to a view of the host.
func (v view) get(q place.RNSQueue, x place.RNSView) error {
	z := v
	if !v.dense() {
		z = view{v.arr.b.NewArray(v.len()), 0, 1, v.rows, v.rows, v.cols}
	}
	if err := q.Get(x, v.rows, v.cols, z.digits(), z.setHead); err != nil {
		return err
	}
	if z != v {
		v.copyFrom(z)
	}
	return nil
}

// onHost returns a view of the host with the entries of v, v itself if it lives there.
func (v view) onHost() (view, error) {
	p := v.arr.where()
	if p == nil {
		return v, nil
	}
	z := view{v.arr.b.NewArray(v.len()), 0, 1, v.rows, v.rows, v.cols}
	c, err := v.arr.b.on(context.Background(), p)
	if err != nil {
		return v, err
	}
	return z, c.Run(context.Background(), 0, func(q place.RNSQueue) error { return z.get(q, v.native()) })
}

// assign copies the entries of u, of the same shape, to v, wherever they live.
func (v view) assign(u view) error {
	if !v.arr.b.same(u.arr.b) {
		panic(errBase)
	}
	if v.rows != u.rows || v.cols != u.cols {
		panic(errShape)
	}
	p := v.arr.where()
	u, err := u.onHost()
	if err != nil || v.len() == 0 {
		return err
	}
	if p == nil {
		if u.arr == v.arr {
			z := view{v.arr.b.NewArray(v.len()), 0, 1, v.rows, v.rows, v.cols}
			z.copyFrom(u)
			u = z
		}
		v.copyFrom(u)
		return nil
	}
	c, err := v.arr.b.on(context.Background(), p)
	if err != nil {
		return err
	}
	u = u.compact()
	return c.Run(context.Background(), 0, func(q place.RNSQueue) error {
		return q.Set(v.native(), v.rows, v.cols, u.digits(), u.head)
	})
}

// away runs f at r.at with the scalars and the operands. If the operands live on the host, f
// receives copies, and the last ones, the outputs, are copied back.
func (r *run) away(scalars []*Number, operands []view, outputs int, f func(q place.RNSQueue, s, v []place.RNSView) error) error {
	c, err := r.b.on(r.ctx, r.at)
	if err != nil {
		return err
	}
	return c.Run(r.ctx, r.MemoryLimit, func(q place.RNSQueue) error {
		s, err := r.b.loadScalars(q, scalars)
		if err != nil {
			return err
		}
		v, err := r.load(q, operands)
		if err != nil {
			return err
		}
		if err := f(q, s, v); err != nil || r.resident {
			return err
		}
		for i := len(operands) - outputs; i < len(operands); i++ {
			if err := operands[i].get(q, v[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// loadScalars returns views of copies of numbers.
func (b *Base) loadScalars(q place.RNSQueue, xs []*Number) ([]place.RNSView, error) {
	if len(xs) == 0 {
		return nil, nil
	}
	h := b.NewVector(len(xs))
	for i, x := range xs {
		h.Set(i, x)
	}
	all, err := h.view().load(q)
	if err != nil {
		return nil, err
	}
	list := make([]place.RNSView, len(xs))
	for i := range xs {
		list[i] = place.RNSView{Array: all.Array, Off: i}
	}
	return list, nil
}

// load returns the operands where r runs. Operands of the host are copied, equal views only once.
func (r *run) load(q place.RNSQueue, operands []view) ([]place.RNSView, error) {
	list := make([]place.RNSView, len(operands))
	copies := map[view]place.RNSView{}
	for i, v := range operands {
		if r.resident {
			list[i] = v.native()
			continue
		}
		z, ok := copies[v]
		if !ok {
			var err error
			if z, err = v.load(q); err != nil {
				return nil, err
			}
			copies[v] = z
		}
		list[i] = z
	}
	return list, nil
}

// sums runs f at r.at, which stores n numbers in z there, and returns them on the host.
func (r *run) sums(n int, operands []view, f func(q place.RNSQueue, v []place.RNSView, z place.RNSView) error) (*Vector, error) {
	h := r.b.NewVector(n)
	err := r.away(nil, operands, 0, func(q place.RNSQueue, _, v []place.RNSView) error {
		a, err := q.New(n)
		if err != nil {
			return err
		}
		z := place.RNSView{Array: a, RS: 1}
		if err := f(q, v, z); err != nil {
			return err
		}
		return h.view().get(q, z)
	})
	return h, err
}

// NewArrayOn returns an array of n zeros that lives on a device, "cuda:N" or "cpu". Free releases
// its memory. The error wraps [halfulp.ErrDevice] if there is no such device, [halfulp.ErrMemory]
// if the device has too little memory, and [ErrModuli] if it does not support the base: GPUs
// support up to 256 odd moduli below 2^30.
func (b *Base) NewArrayOn(d halfulp.Device, n int) (*Array, error) {
	if n < 0 {
		panic(errNegativeDim)
	}
	p, err := place.One(string(d))
	if err != nil {
		return nil, err
	}
	return b.arrayAt(p, n)
}

// NewVectorOn returns a vector of n zeros that lives on a device, with the errors of
// [Base.NewArrayOn].
func (b *Base) NewVectorOn(d halfulp.Device, n int) (*Vector, error) {
	a, err := b.NewArrayOn(d, n)
	if err != nil {
		return nil, err
	}
	return a.Vector(0, n, 1), nil
}

// NewMatrixOn returns a rows x cols matrix of zeros that lives on a device, without gaps between
// columns, with the errors of [Base.NewArrayOn].
func (b *Base) NewMatrixOn(d halfulp.Device, rows, cols int) (*Matrix, error) {
	if rows < 0 || cols < 0 {
		panic(errNegativeDim)
	}
	if rows > 0 && cols > math.MaxInt/rows {
		return nil, fmt.Errorf("%s: %w: %d x %d numbers", d, halfulp.ErrMemory, rows, cols)
	}
	a, err := b.NewArrayOn(d, rows*cols)
	if err != nil {
		return nil, err
	}
	return a.Matrix(0, rows, cols, max(rows, 1)), nil
}

// Device returns where a lives: "cpu" or "cuda:N".
func (a *Array) Device() halfulp.Device { return halfulp.Device(place.Label(a.at)) }

// Device returns where x lives: "cpu" or "cuda:N".
func (x *Vector) Device() halfulp.Device { return x.arr.Device() }

// Device returns where m lives: "cpu" or "cuda:N".
func (m *Matrix) Device() halfulp.Device { return m.arr.Device() }

// On returns a copy of a that lives on a device, "cuda:N" or "cpu", with the errors of
// [Base.NewArrayOn]. Free releases its memory.
func (a *Array) On(d halfulp.Device) (*Array, error) {
	z, err := a.b.NewArrayOn(d, a.Len())
	if err != nil {
		return nil, err
	}
	if err := z.CopyFrom(a); err != nil {
		z.Free()
		return nil, err
	}
	return z, nil
}

// On returns a copy of x, with stride 1, that lives on a device, like [Array.On].
func (x *Vector) On(d halfulp.Device) (*Vector, error) {
	z, err := x.arr.b.NewVectorOn(d, x.n)
	if err != nil {
		return nil, err
	}
	if err := z.CopyFrom(x); err != nil {
		z.Free()
		return nil, err
	}
	return z, nil
}

// On returns a copy of m, without gaps between columns, that lives on a device, like [Array.On].
func (m *Matrix) On(d halfulp.Device) (*Matrix, error) {
	z, err := m.arr.b.NewMatrixOn(d, m.rows, m.cols)
	if err != nil {
		return nil, err
	}
	if err := z.CopyFrom(m); err != nil {
		z.Free()
		return nil, err
	}
	return z, nil
}

// Host returns a copy of a that lives on the host.
func (a *Array) Host() (*Array, error) { return a.On(halfulp.CPU) }

// Host returns a copy of x, with stride 1, that lives on the host.
func (x *Vector) Host() (*Vector, error) { return x.On(halfulp.CPU) }

// Host returns a copy of m, without gaps between columns, that lives on the host.
func (m *Matrix) Host() (*Matrix, error) { return m.On(halfulp.CPU) }

// CopyFrom copies c to a, wherever they live. It panics unless they have the same base and length.
func (a *Array) CopyFrom(c *Array) error { return a.view().assign(c.view()) }

// CopyFrom copies y to x, of the same base and length, like [Array.CopyFrom]. x and y may overlap.
func (x *Vector) CopyFrom(y *Vector) error { return x.view().assign(y.view()) }

// CopyFrom copies a to m, of the same base and shape, like [Array.CopyFrom]. m and a may overlap.
func (m *Matrix) CopyFrom(a *Matrix) error { return m.view().assign(a.view()) }

// Free releases the memory of an array on a device, and so the memory of all its views. Any later
// use panics, except Free, which then does nothing. No routine may be using the array. On the host
// Free does nothing.
func (a *Array) Free() {
	if a.away != nil {
		a.away.Free()
	}
}

// Free releases the memory of the array of x, like [Array.Free].
func (x *Vector) Free() { x.arr.Free() }

// Free releases the memory of the array of m, like [Array.Free].
func (m *Matrix) Free() { m.arr.Free() }

// onHost returns a vector of the host with the entries of x, x itself if it lives there.
func (x *Vector) onHost() (*Vector, error) {
	if x.arr.where() == nil {
		return x, nil
	}
	return x.Host()
}

// onHost returns a matrix of the host with the entries of m, m itself if it lives there.
func (m *Matrix) onHost() (*Matrix, error) {
	if m.arr.where() == nil {
		return m, nil
	}
	return m.Host()
}
