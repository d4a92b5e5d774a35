package sgemm

// Panels are the vectors of one factor, the rows of the left or the columns of the right
// one, Width of them interleaved: entry h of vector v is
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

// Pack returns the panels of vectors whose entry h of vector v is x[v vs + h hs].
func Pack(width, n, length int, x []float32, vs, hs int) *Panels {
	p := NewPanels(width, n, length, nil)
	for v := range n {
		for h := range length {
			p.Data[(v/width*length+h)*width+v%width] = x[v*vs+h*hs]
		}
	}
	return p
}
