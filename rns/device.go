package rns

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/internal/rnsgpu"
)

// Routines on GPUs. Each has the name of its counterpart on the CPU after Device, and gives
// the same bits; numbers travel where the documentation says so. Errors wrap
// halfulp.ErrDevice if there is no such GPU, halfulp.ErrMemory if it has too little memory.
//
// Moduli have to be odd and below 2^30 there, and at most 256, else errors wrap ErrModuli.

// DeviceArray is numbers of one base in the memory of a GPU.
type DeviceArray struct {
	b   *Base
	dev *cuda.Device
	a   *rnsgpu.Array
}

const errDevices = "rns: operands on different devices"

// parseDevice returns N of "cuda:N".
func parseDevice(name string) (int, error) {
	if digits, ok := strings.CutPrefix(name, "cuda:"); ok {
		if n, err := strconv.ParseUint(digits, 10, 16); err == nil {
			return int(n), nil
		}
	}
	return 0, fmt.Errorf("device %q: %w (want cuda:N)", name, halfulp.ErrDevice)
}

// To returns a copy of a in the memory of the GPU "cuda:N". Free gives the memory back.
func (a *Array) To(device string) (*DeviceArray, error) {
	n, err := parseDevice(device)
	if err != nil {
		return nil, err
	}
	dev, err := openDevice(n)
	if err != nil {
		return nil, err
	}
	return a.toDevice(dev)
}

// openDevice returns GPU number n.
func openDevice(n int) (*cuda.Device, error) {
	dev, err := gpu.Open(n)
	if err != nil {
		return nil, fmt.Errorf("device \"cuda:%d\": %w", n, err)
	}
	return dev, nil
}

func (a *Array) toDevice(dev *cuda.Device) (*DeviceArray, error) {
	d := &DeviceArray{b: a.b, dev: dev}
	err := d.do(func(s *cuda.Stream, c *rnsgpu.Base) (err error) {
		if d.a, err = c.NewArray(s, a.Len()); err != nil {
			return err
		}
		if err = a.upload(s, c, d.a); err != nil {
			d.a.Free()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// upload copies a to an array of its length on the device.
func (a *Array) upload(s *cuda.Stream, c *rnsgpu.Base, to *rnsgpu.Array) error {
	n := a.Len()
	return c.Set(s, to, a.Digits, func(i int) rnsgpu.Head {
		lo, up := a.Eval[i], a.Eval[n+i]
		return rnsgpu.Head{Lo: lo.F, Up: up.F, LoI: lo.I, UpI: up.I, Exp: a.Exp[i], Negative: a.Sign[i]}
	})
}

// download is the converse of upload.
func (a *Array) download(s *cuda.Stream, c *rnsgpu.Base, from *rnsgpu.Array) error {
	n := a.Len()
	return c.Get(s, from, a.Digits, func(i int, h rnsgpu.Head) {
		a.Eval[i], a.Eval[n+i] = XFloat{h.Lo, h.LoI}, XFloat{h.Up, h.UpI}
		a.Exp[i], a.Sign[i] = h.Exp, h.Negative
	})
}

// do runs f on the device.
func (d *DeviceArray) do(f func(s *cuda.Stream, c *rnsgpu.Base) error) error {
	err := d.dev.Do(context.Background(), func(s *cuda.Stream) error {
		c, err := d.b.onDevice(s)
		if err != nil {
			return err
		}
		return f(s, c)
	})
	switch {
	case errors.Is(err, cuda.ErrMemory):
		return fmt.Errorf("%w: %w", halfulp.ErrMemory, err)
	case errors.Is(err, rnsgpu.ErrModuli):
		return fmt.Errorf("%w: %w", ErrModuli, err)
	}
	return err
}

// onDevice returns the base on the device of s.
func (b *Base) onDevice(s *cuda.Stream) (*rnsgpu.Base, error) {
	if c, ok := b.onGPU.Load(s.Device()); ok {
		return c.(*rnsgpu.Base), nil
	}
	c, err := rnsgpu.BaseOf(s, b.m, func() rnsgpu.Constants {
		native := func(x XFloat) rnsgpu.XFloat { return rnsgpu.XFloat{F: x.F, I: x.I} }
		c := rnsgpu.Constants{
			Moduli: b.m, Weights: b.row(b.weight, 0), NegM: b.negM, WordBits: b.wordBits, Bits: b.bigM.BitLen(),
			MLo: native(b.mLo), MUp: native(b.mUp), Half: native(b.half), Lim: native(b.lim),
			Target: native(b.target), SumLim: native(b.sumLim), Slack: int(b.slack),
		}
		for a := range b.rows() {
			c.Low = append(c.Low, b.row(b.low, a))
		}
		return c
	})
	if err == nil {
		b.onGPU.Store(s.Device(), c)
	}
	return c, err
}

// Base returns the base of the numbers.
func (d *DeviceArray) Base() *Base { return d.b }

// Len returns the number of numbers.
func (d *DeviceArray) Len() int { return d.a.Len() }

// Device returns the name of the GPU, "cuda:N".
func (d *DeviceArray) Device() string { return d.dev.String() }

// Set copies a, of the same base and length, to d.
func (d *DeviceArray) Set(a *Array) error {
	if !d.b.same(a.b) {
		panic(errBase)
	}
	if a.Len() != d.Len() {
		panic(errShape)
	}
	return d.do(func(s *cuda.Stream, c *rnsgpu.Base) error { return a.upload(s, c, d.a) })
}

// Array returns a copy of d in the host's memory.
func (d *DeviceArray) Array() (*Array, error) {
	a := d.b.NewArray(d.Len())
	if err := d.do(func(s *cuda.Stream, c *rnsgpu.Base) error { return a.download(s, c, d.a) }); err != nil {
		return nil, err
	}
	return a, nil
}

// Free gives the memory of d and of all its views back.
func (d *DeviceArray) Free() { d.a.Free() }

// DeviceVector is a view of n numbers of a DeviceArray with a stride, like Vector.
type DeviceVector struct {
	arr         *DeviceArray
	off, inc, n int
}

// Vector returns the vector of n numbers that Array.Vector describes.
func (d *DeviceArray) Vector(offset, n, inc int) *DeviceVector {
	return &DeviceVector{d, vectorOffset(d.Len(), offset, n, inc), inc, n}
}

// To returns a copy of x, with stride 1, in the memory of the GPU "cuda:N".
func (x *Vector) To(device string) (*DeviceVector, error) {
	d, err := x.Clone().arr.To(device)
	if err != nil {
		return nil, err
	}
	return d.Vector(0, x.n, 1), nil
}

// Len returns the number of entries.
func (x *DeviceVector) Len() int { return x.n }

// Array returns the storage, and where in it the entries are: number offset + i inc.
func (x *DeviceVector) Array() (d *DeviceArray, offset, inc int) { return x.arr, x.off, x.inc }

// Vector returns a copy of the entries in the host's memory.
func (x *DeviceVector) Vector() (*Vector, error) {
	a, err := x.arr.Array()
	if err != nil {
		return nil, err
	}
	return (&Vector{a, x.off, x.inc, x.n}).Clone(), nil
}

func (x *DeviceVector) view() rnsgpu.View {
	return rnsgpu.View{Array: x.arr.a, Off: x.off, RS: x.inc}
}

// DeviceMatrix is a view of numbers of a DeviceArray as a matrix, like Matrix.
type DeviceMatrix struct {
	arr             *DeviceArray
	off, rows, cols int
	ld              int
}

// Matrix returns the matrix that Array.Matrix describes.
func (d *DeviceArray) Matrix(offset, rows, cols, ld int) *DeviceMatrix {
	checkMatrix(d.Len(), offset, rows, cols, ld)
	return &DeviceMatrix{d, offset, rows, cols, ld}
}

// To returns a copy of all of m's storage in the memory of the GPU "cuda:N", and in it m.
func (m *Matrix) To(device string) (*DeviceMatrix, error) {
	d, err := m.arr.To(device)
	if err != nil {
		return nil, err
	}
	return d.Matrix(m.off, m.rows, m.cols, m.ld), nil
}

// Dims returns the numbers of rows and columns.
func (m *DeviceMatrix) Dims() (rows, cols int) { return m.rows, m.cols }

// Array returns the storage, and where in it the entries are: offset + i + j ld.
func (m *DeviceMatrix) Array() (d *DeviceArray, offset, ld int) { return m.arr, m.off, m.ld }

// Matrix returns a copy of the storage in the host's memory, and in it m.
func (m *DeviceMatrix) Matrix() (*Matrix, error) {
	a, err := m.arr.Array()
	if err != nil {
		return nil, err
	}
	return &Matrix{a, m.off, m.rows, m.cols, m.ld}, nil
}

func (m *DeviceMatrix) view() rnsgpu.View {
	return rnsgpu.View{Array: m.arr.a, Off: m.off, RS: 1, CS: m.ld}
}

// op returns m or its transpose, and its dimensions.
func (m *DeviceMatrix) op(t Transpose) (v rnsgpu.View, rows, cols int) {
	if t {
		return m.view().T(), m.cols, m.rows
	}
	return m.view(), m.rows, m.cols
}

// with panics unless all arrays have the base and the device of d.
func (d *DeviceArray) with(others ...*DeviceArray) {
	for _, o := range others {
		if !d.b.same(o.b) {
			panic(errBase)
		}
		if d.dev != o.dev {
			panic(errDevices)
		}
	}
}

// scalars copies numbers to the device; each is a view of a scalar. It gives the memory
// back by free.
func (b *Base) deviceScalars(s *cuda.Stream, c *rnsgpu.Base, xs ...*Number) (vs []rnsgpu.View, free func(), err error) {
	h := b.NewVector(len(xs))
	for i, x := range xs {
		h.Set(i, x)
	}
	a, err := c.NewArray(s, len(xs))
	if err != nil {
		return nil, nil, err
	}
	if err := h.arr.upload(s, c, a); err != nil {
		a.Free()
		return nil, nil, err
	}
	for i := range xs {
		vs = append(vs, rnsgpu.View{Array: a, Off: i})
	}
	return vs, a.Free, nil
}
