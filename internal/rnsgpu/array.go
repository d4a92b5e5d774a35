package rnsgpu

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/place"
)

// An Array is device memory for numbers. Residues are stored number by number, padded. The 32 bytes
// of a number's head are contiguous, so that one access reads them.
type Array struct {
	digits, heads *cuda.Memory
	n             int
	freed         atomic.Bool
}

// headWords is the size of a place.RNSHead, struct head of kernels/rns/rns.cuh, in words of 32
// bits.
const headWords = 8

// bytes returns the size of a number in bytes.
func (b *Base) bytes() int64 { return 4 * int64(b.padded+headWords) }

// newArray returns an array of n numbers with unspecified contents.
func (b *Base) newArray(s *cuda.Stream, n int) (*Array, error) {
	room := int64(max(n, 1))
	if room > math.MaxInt64/b.bytes() {
		return nil, fmt.Errorf("%v: %w: %d numbers", s.Device(), cuda.ErrMemory, n)
	}
	digits, err := s.Alloc(4 * int64(b.padded) * room)
	if err != nil {
		return nil, err
	}
	heads, err := s.Alloc(4 * headWords * room)
	if err != nil {
		digits.Free()
		return nil, err
	}
	return &Array{digits: digits, heads: heads, n: n}, nil
}

// zero sets all numbers to 0.
func (b *Base) zero(s *cuda.Stream, a *Array) error {
	if err := s.Zero(a.digits.Pointer(), 4*int64(b.padded)*int64(a.n)); err != nil {
		return err
	}
	return s.Zero(a.heads.Pointer(), 4*headWords*int64(a.n))
}

// Free frees the memory.
func (a *Array) Free() {
	if a != nil {
		a.freed.Store(true)
		a.digits.Free()
		a.heads.Free()
	}
}

// Freed reports whether Free was called.
func (a *Array) Freed() bool { return a.freed.Load() }

// Len returns how many numbers the array has.
func (a *Array) Len() int { return a.n }

// slice is the most numbers packed at a time.
const slice = 1 << 16

// set copies the residues and heads of count numbers to the entries of a from off on.
func (b *Base) set(s *cuda.Stream, a *Array, off, count int, digits []uint32, head func(i int) place.RNSHead) error {
	for lo := 0; lo < count; lo += slice {
		n, at := min(slice, count-lo), int64(off+lo)
		words := make([]uint32, n*headWords)
		for i := range n {
			h := head(lo + i)
			l, u := math.Float64bits(h.Lo), math.Float64bits(h.Up)
			copy(words[i*headWords:], []uint32{
				uint32(l), uint32(l >> 32), uint32(u), uint32(u >> 32),
				uint32(h.LoI), uint32(h.UpI), uint32(h.Exp), uint32(h.Negative),
			})
		}
		if err := cuda.Upload(s, a.heads.At(4*headWords*at), words); err != nil {
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
		if err := cuda.Upload(s, a.digits.At(4*int64(b.padded)*at), part); err != nil {
			return err
		}
	}
	return nil
}

// get copies count numbers of a from off on to the host.
func (b *Base) get(s *cuda.Stream, a *Array, off, count int, digits []uint32, put func(i int, h place.RNSHead)) error {
	for lo := 0; lo < count; lo += slice {
		n, at := min(slice, count-lo), int64(off+lo)
		words := make([]uint32, n*headWords)
		if err := cuda.Download(s, words, a.heads.At(4*headWords*at)); err != nil {
			return err
		}
		for i := range n {
			w := words[i*headWords : (i+1)*headWords]
			put(lo+i, place.RNSHead{
				Lo: math.Float64frombits(uint64(w[1])<<32 | uint64(w[0])), Up: math.Float64frombits(uint64(w[3])<<32 | uint64(w[2])),
				LoI: int32(w[4]), UpI: int32(w[5]), Exp: int32(w[6]), Negative: int32(w[7]),
			})
		}
		part := digits[lo*b.n : (lo+n)*b.n]
		to := part
		if b.padded != b.n {
			to = make([]uint32, n*b.padded)
		}
		if err := cuda.Download(s, to, a.digits.At(4*int64(b.padded)*at)); err != nil {
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

// array and operand are the structures of the same names in the kernels.
type array struct{ digits, heads cuda.Pointer }

type operand struct {
	a           array
	off, rs, cs int64
}

func (a *Array) native() array { return array{a.digits.Pointer(), a.heads.Pointer()} }

// native returns a view as an operand of the kernels, the zero operand for the zero view.
func native(v place.RNSView) operand {
	if v.Array == nil {
		return operand{}
	}
	return operand{v.Array.(*Array).native(), int64(v.Off), int64(v.RS), int64(v.CS)}
}
