package amx

import "encoding/binary"

// A Machine has the tile registers of one thread. The zero Machine has none until Configure.
type Machine struct {
	tiles      [tiles][Bytes]byte
	configured bool
}

// Memory is what the registers of a program point to: bytes from there on, and strides.
type Memory struct {
	At     map[Reg][]byte
	Stride map[Reg]int
}

// Run executes a program. It panics where a processor would fault: tiles that are not configured,
// or memory that is not there.
func (m *Machine) Run(program []Op, mem *Memory) {
	for _, o := range program {
		switch o.Kind {
		case Configure:
			if [64]byte(mem.At[o.Base][o.Disp:]) != Config() {
				panic("amx: another configuration")
			}
			*m = Machine{configured: true}
			continue
		case Release:
			*m = Machine{}
			continue
		}
		if !m.configured {
			panic("amx: no tiles are configured")
		}
		t := &m.tiles[o.T]
		switch o.Kind {
		case Zero:
			clear(t[:])
		case Dot:
			dot(t, &m.tiles[o.A], &m.tiles[o.B], func(b byte) int32 { return int32(int8(b)) })
		case DotUnsigned:
			dot(t, &m.tiles[o.A], &m.tiles[o.B], func(b byte) int32 { return int32(b) })
		case Load, Store:
			at, stride := mem.At[o.Base][o.Disp:], mem.Stride[o.Stride]
			for r := range Rows {
				row, out := t[r*RowBytes:][:RowBytes], at[r*stride:][:RowBytes]
				if o.Kind == Load {
					copy(row, out)
				} else {
					copy(out, row)
				}
			}
		}
	}
}

// dot is TDPBSSD, or TDPBSUD, with the numbers that the bytes of b are. Fours of zeros, of which
// the tiles of small matrices are full, are passed over: most of a test's time is here.
func dot(c, a, b *[Bytes]byte, number func(byte) int32) {
	var y [Rows][RowBytes]int32
	for r := range y {
		for i := range y[r] {
			y[r][i] = number(b[r*RowBytes+i])
		}
	}
	for m := range Rows {
		row := c[m*RowBytes:][:RowBytes]
		var sums [RowBytes / 4]int32
		for r := range Rows {
			x := binary.LittleEndian.Uint32(a[m*RowBytes+4*r:])
			if x == 0 {
				continue
			}
			x0, x1, x2, x3 := int32(int8(x)), int32(int8(x>>8)), int32(int8(x>>16)), int32(int8(x>>24))
			for n := range sums {
				four := y[r][4*n:][:4]
				sums[n] += x0*four[0] + x1*four[1] + x2*four[2] + x3*four[3]
			}
		}
		for n, sum := range sums {
			at := row[4*n:]
			binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)+uint32(sum))
		}
	}
}
