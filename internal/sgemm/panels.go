package sgemm

import (
	"context"

	"github.com/halfulp/halfulp/internal/par"
)

// Panels are the vectors of one factor, rows of the left or columns of the right factor.
// Width vectors are interleaved: entry h of vector v is
//
//	Data[(v/Width*Len + h)*Width + v%Width].
//
// Entries of the last panel beyond N are 0.
type Panels struct {
	Width  int // vectors a panel
	N, Len int // vectors, and entries of one
	Data   []float32
}

// NewPanels returns n vectors of the given length, width a panel, the padding zero and the
// entries unspecified. It uses the storage of old if that is large enough.
func NewPanels(width, n, length int, old []float32) *Panels {
	size := (n + width - 1) / width * width * length
	if cap(old) < size {
		old = make([]float32, size)
	}
	p := &Panels{Width: width, N: n, Len: length, Data: old[:size]}
	if n%width != 0 {
		clear(p.from(n, 0))
	}
	return p
}

// from returns the panel of vector v from entry h on.
func (p *Panels) from(v, h int) []float32 { return p.Data[(v/p.Width*p.Len+h)*p.Width:] }

// Put sets the entries of vector v from lo on. It does nothing if p is nil.
func (p *Panels) Put(x []float32, v, lo int) {
	if p == nil {
		return
	}
	to, at := p.from(v, lo)[v%p.Width:], 0
	for _, y := range x {
		to[at] = y
		at += p.Width
	}
}

// Pack returns the panels of vectors whose entry h of vector v is x[v vs + h hs], in the
// storage of old if that is large enough.
func Pack(ctx context.Context, threads, width, n, length int, x []float32, vs, hs int, old []float32) (*Panels, error) {
	p := NewPanels(width, n, length, old)
	const few = 1 << 15 // entries, not worth a goroutine
	if n*length < few {
		threads = 1
	}
	return p, par.For(ctx, threads, (n+width-1)/width, func(_, i int) {
		panel, v := p.from(i*width, 0), i*width
		vectors := min(width, n-v)
		if vs == 1 {
			for h := range length {
				copy(panel[h*width:h*width+vectors], x[v+h*hs:])
			}
			return
		}
		const near = 128 // entries of all vectors stay in the first-level cache
		for h0 := 0; h0 < length; h0 += near {
			for r := range vectors {
				at, to := (v+r)*vs+h0*hs, h0*width+r
				for range min(near, length-h0) {
					panel[to] = x[at]
					at, to = at+hs, to+width
				}
			}
		}
	})
}
