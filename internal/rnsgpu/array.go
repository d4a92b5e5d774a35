package rnsgpu

import (
	"math"

	"github.com/halfulp/halfulp/cuda"
)

// Array is memory for numbers. Residues lie padded, number by number; what else a number
// has is 32 bytes next to each other, so that one access brings it.
type Array struct {
	digits, heads *cuda.Memory
	n             int
}

// Head is a number but for its residues: struct head of kernels/rns.cuh.
type Head struct {
	Lo, Up        float64
	LoI, UpI      int32
	Exp, Negative int32
}

// headWords is the size of a Head in words of 32 bits.
const headWords = 8

// NewArray returns an array of n numbers with unspecified contents.
func (b *Base) NewArray(s *cuda.Stream, n int) (*Array, error) {
	room := int64(max(n, 1))
	digits, err := s.Alloc(4 * int64(b.padded) * room)
	if err != nil {
		return nil, err
	}
	heads, err := s.Alloc(4 * headWords * room)
	if err != nil {
		digits.Free()
		return nil, err
	}
	return &Array{digits, heads, n}, nil
}

// Free gives the memory back.
func (a *Array) Free() {
	if a != nil {
		a.digits.Free()
		a.heads.Free()
	}
}

// Len returns the number of numbers.
func (a *Array) Len() int { return a.n }

// slice is how many numbers are packed at a time.
const slice = 1 << 16

// Set copies the residues of all numbers, n each, and their heads to the device.
func (b *Base) Set(s *cuda.Stream, a *Array, digits []uint32, head func(i int) Head) error {
	for lo := 0; lo < a.n; lo += slice {
		n := min(slice, a.n-lo)
		words := make([]uint32, n*headWords)
		for i := range n {
			h := head(lo + i)
			l, u := math.Float64bits(h.Lo), math.Float64bits(h.Up)
			copy(words[i*headWords:], []uint32{
				uint32(l), uint32(l >> 32), uint32(u), uint32(u >> 32),
				uint32(h.LoI), uint32(h.UpI), uint32(h.Exp), uint32(h.Negative),
			})
		}
		if err := cuda.Upload(s, a.heads.At(4*headWords*int64(lo)), words); err != nil {
			return err
		}
		part := digits[lo*b.n : (lo+n)*b.n]
		if b.padded != b.n {
			padded := make([]uint32, n*b.padded)
			for i := range n {
				copy(padded[i*b.padded:], part[i*b.n:(i+1)*b.n])
			}
			part = padded
		}
		if err := cuda.Upload(s, a.digits.At(4*int64(b.padded)*int64(lo)), part); err != nil {
			return err
		}
	}
	return nil
}

// Get copies all numbers to the host.
func (b *Base) Get(s *cuda.Stream, a *Array, digits []uint32, put func(i int, h Head)) error {
	for lo := 0; lo < a.n; lo += slice {
		n := min(slice, a.n-lo)
		words := make([]uint32, n*headWords)
		if err := cuda.Download(s, words, a.heads.At(4*headWords*int64(lo))); err != nil {
			return err
		}
		for i := range n {
			w := words[i*headWords : (i+1)*headWords]
			put(lo+i, Head{
				math.Float64frombits(uint64(w[1])<<32 | uint64(w[0])), math.Float64frombits(uint64(w[3])<<32 | uint64(w[2])),
				int32(w[4]), int32(w[5]), int32(w[6]), int32(w[7]),
			})
		}
		part := digits[lo*b.n : (lo+n)*b.n]
		to := part
		if b.padded != b.n {
			to = make([]uint32, n*b.padded)
		}
		if err := cuda.Download(s, to, a.digits.At(4*int64(b.padded)*int64(lo))); err != nil {
			return err
		}
		if b.padded != b.n {
			for i := range n {
				copy(part[i*b.n:(i+1)*b.n], to[i*b.padded:])
			}
		}
	}
	return nil
}

// View is numbers of an array by two indices: (i, j) is number Off + i RS + j CS.
type View struct {
	Array       *Array
	Off, RS, CS int
}

// T exchanges the indices.
func (v View) T() View { return View{v.Array, v.Off, v.CS, v.RS} }

// array and operand are those of the kernels.
type array struct{ digits, heads cuda.Pointer }

type operand struct {
	a           array
	off, rs, cs int64
}

func (a *Array) native() array { return array{a.digits.Pointer(), a.heads.Pointer()} }

// native is the operand of the kernels, that of no operand for the zero View.
func (v View) native() operand {
	if v.Array == nil {
		return operand{}
	}
	return operand{v.Array.native(), int64(v.Off), int64(v.RS), int64(v.CS)}
}
