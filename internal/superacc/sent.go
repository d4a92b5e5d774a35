package superacc

import (
	"encoding/binary"
	"errors"
)

// AppendBinary appends the sum in the form of UnmarshalBinary: the special values and the pages. It
// normalises a.
func (a *Acc) AppendBinary(b []byte) ([]byte, error) {
	a.normalise()
	order := binary.LittleEndian
	b = order.AppendUint64(b, uint64(a.seen))
	for _, p := range a.pages {
		b = order.AppendUint64(b, uint64(p.index))
		for _, w := range p.w {
			b = order.AppendUint64(b, w)
		}
	}
	return b, nil
}

// UnmarshalBinary sets a to a sum that AppendBinary wrote.
func (a *Acc) UnmarshalBinary(b []byte) error {
	const size = 8 * (1 + pageWords + 1)
	if len(b)%size != 8 {
		return errors.New("direct: not an exact sum")
	}
	a.Reset()
	order := binary.LittleEndian
	a.seen = uint(order.Uint64(b))
	for b = b[8:]; len(b) > 0; b = b[size:] {
		p := a.page(int64(order.Uint64(b)))
		for i := range p.w {
			p.w[i] = order.Uint64(b[8+8*i:])
		}
	}
	return nil
}
