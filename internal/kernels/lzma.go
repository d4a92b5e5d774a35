package kernels

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// methodLZMA is the method of zip entries that Python's zipfile compresses by LZMA.
const methodLZMA = 14

// lzmaReader returns what LZMA has compressed in r: the entry of a zip archive, with a mark at the
// end. Igor Pavlov, LZMA specification, 2015.
func lzmaReader(r io.Reader) io.ReadCloser {
	in, err := io.ReadAll(r)
	if err != nil {
		return failed{err}
	}
	out, err := unpackLZMA(in)
	if err != nil {
		return failed{err}
	}
	return io.NopCloser(bytes.NewReader(out))
}

type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }
func (f failed) Close() error             { return nil }

var errLZMA = errors.New("the data is no LZMA stream of a zip archive")

// bit is the probability of a bit to be 0, times 2^11.
type bit uint16

// bits returns n probabilities of one half.
func bits(n int) []bit {
	list := make([]bit, n)
	for i := range list {
		list[i] = 1 << 10
	}
	return list
}

// rangeDecoder reads bits from a stream. At its end it reads zeros.
type rangeDecoder struct {
	in         []byte
	span, code uint32
}

func (d *rangeDecoder) normalize() {
	if d.span >= 1<<24 {
		return
	}
	d.span <<= 8
	d.code <<= 8
	if len(d.in) > 0 {
		d.code |= uint32(d.in[0])
		d.in = d.in[1:]
	}
}

// bit reads a bit with probability p, which it adapts.
func (d *rangeDecoder) bit(p *bit) uint32 {
	bound := d.span >> 11 * uint32(*p)
	var b uint32
	if d.code < bound {
		d.span = bound
		*p += (1<<11 - *p) >> 5
	} else {
		d.code -= bound
		d.span -= bound
		*p -= *p >> 5
		b = 1
	}
	d.normalize()
	return b
}

// direct reads n bits that are 0 or 1 with equal probability, the highest first.
func (d *rangeDecoder) direct(n int) (z uint32) {
	for range n {
		d.span >>= 1
		b := uint32(0)
		if d.code >= d.span {
			d.code -= d.span
			b = 1
		}
		z = z<<1 | b
		d.normalize()
	}
	return z
}

// tree reads n bits, the highest first.
func (d *rangeDecoder) tree(p []bit, n int) uint32 {
	m := uint32(1)
	for range n {
		m = m<<1 | d.bit(&p[m])
	}
	return m - 1<<n
}

// reverse reads n bits, the lowest first.
func (d *rangeDecoder) reverse(p []bit, n int) (z uint32) {
	m := uint32(1)
	for i := range n {
		b := d.bit(&p[m])
		m = m<<1 | b
		z |= b << i
	}
	return z
}

// lengths has the probabilities of lengths of matches.
type lengths struct{ choice, low, mid, high []bit }

func newLengths() *lengths { return &lengths{bits(2), bits(16 << 3), bits(16 << 3), bits(1 << 8)} }

func (l *lengths) next(d *rangeDecoder, place int) int {
	switch {
	case d.bit(&l.choice[0]) == 0:
		return 2 + int(d.tree(l.low[place<<3:], 3))
	case d.bit(&l.choice[1]) == 0:
		return 10 + int(d.tree(l.mid[place<<3:], 3))
	}
	return 18 + int(d.tree(l.high, 8))
}

// unpackLZMA returns what LZMA has compressed: after a version and a length, both of two bytes, the
// properties in 5 bytes and the stream.
func unpackLZMA(in []byte) ([]byte, error) {
	if len(in) < 14 || binary.LittleEndian.Uint16(in[2:]) != 5 || in[4] >= 9*5*5 || in[9] != 0 {
		return nil, errLZMA
	}
	props := int(in[4])
	lc, lp, pb := props%9, props/9%5, props/45
	d := &rangeDecoder{in: in[14:], span: 1<<32 - 1, code: binary.BigEndian.Uint32(in[10:])}
	var (
		out            []byte
		literals       = bits(0x300 << (lc + lp))
		isMatch        = bits(12 << 4)
		isRep, isRepG0 = bits(12), bits(12)
		isRepG1        = bits(12)
		isRepG2        = bits(12)
		isRep0Long     = bits(12 << 4)
		slots          = bits(4 << 6)
		special        = bits(1 + 128 - 14)
		align          = bits(1 << 4)
		matches, reps  = newLengths(), newLengths()
		state          int
		dist           [4]uint32 // of the last matches, less 1
	)
	for {
		place := len(out) & (1<<pb - 1)
		if d.bit(&isMatch[state<<4+place]) == 0 {
			var last byte
			if len(out) > 0 {
				last = out[len(out)-1]
			}
			p := literals[0x300*((len(out)&(1<<lp-1))<<lc|int(last)>>(8-lc)):]
			m := uint32(1)
			if state >= 7 {
				if int(dist[0]) >= len(out) {
					return nil, errLZMA
				}
				match := uint32(out[len(out)-1-int(dist[0])])
				for m < 0x100 {
					expected := match >> 7 & 1
					match <<= 1
					b := d.bit(&p[(1+expected)<<8+m])
					m = m<<1 | b
					if b != expected {
						break
					}
				}
			}
			for m < 0x100 {
				m = m<<1 | d.bit(&p[m])
			}
			out = append(out, byte(m))
			switch {
			case state < 4:
				state = 0
			case state < 10:
				state -= 3
			default:
				state -= 6
			}
			continue
		}
		length := 0
		after := func(early, late int) { // a literal, or a match
			if state < 7 {
				state = early
			} else {
				state = late
			}
		}
		if d.bit(&isRep[state]) == 0 {
			length = matches.next(d, place)
			after(7, 10)
			slot := int(d.tree(slots[min(length-2, 3)<<6:], 6))
			far := uint32(slot)
			if slot >= 4 {
				n := slot>>1 - 1
				far = uint32(2|slot&1) << n
				if slot < 14 {
					far += d.reverse(special[int(far)-slot:], n)
				} else {
					far += d.direct(n-4)<<4 + d.reverse(align, 4)
				}
			}
			if far == 1<<32-1 {
				return out, nil // the mark at the end
			}
			dist = [4]uint32{far, dist[0], dist[1], dist[2]}
		} else {
			if d.bit(&isRepG0[state]) == 0 {
				if d.bit(&isRep0Long[state<<4+place]) == 0 {
					length = 1
				}
			} else if d.bit(&isRepG1[state]) == 0 {
				dist[0], dist[1] = dist[1], dist[0]
			} else if d.bit(&isRepG2[state]) == 0 {
				dist[0], dist[1], dist[2] = dist[2], dist[0], dist[1]
			} else {
				dist[0], dist[1], dist[2], dist[3] = dist[3], dist[0], dist[1], dist[2]
			}
			if length == 1 {
				after(9, 11)
			} else {
				length = reps.next(d, place)
				after(8, 11)
			}
		}
		if uint64(dist[0]) >= uint64(len(out)) || len(d.in) == 0 && len(out) > 1<<30 {
			return nil, errLZMA
		}
		for range length {
			out = append(out, out[len(out)-1-int(dist[0])])
		}
	}
}
