package amx

import "encoding/binary"

// A Machine has the tile registers of one thread. The zero Machine has none until Configure.
type Machine struct {
	tiles      [tiles][Bytes]byte
	configured bool
}

// Memory holds the values of a program's registers: bytes from an address on, and strides.
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
			dot(t, &m.tiles[o.A], &m.tiles[o.B], signed, signed)
		case DotUnsigned:
			dot(t, &m.tiles[o.A], &m.tiles[o.B], signed, unsigned)
		case DotNatural:
			dot(t, &m.tiles[o.A], &m.tiles[o.B], unsigned, unsigned)
		case Load, LoadOnce, Store:
			at, stride := mem.At[o.Base][o.Disp:], mem.Stride[o.Stride]
			for r := range Rows {
				row, out := t[r*RowBytes:][:RowBytes], at[r*stride:][:RowBytes]
				if o.Kind == Store {
					copy(out, row)
				} else {
					copy(row, out)
				}
			}
		}
	}
}

func signed(b byte) int64   { return int64(int8(b)) }
func unsigned(b byte) int64 { return int64(b) }

// dot computes TDPBSSD or a similar instruction. left and right convert the bytes of a and b to
// numbers. Most of the time of a test is spent here. So groups of four zeros are skipped, of which
// tiles of small matrices have many, and two columns share one int64, c0 + 2^32 c1, where the carry
// from c0 into c1 is subtracted at the end.
func dot(c, a, b *[Bytes]byte, left, right func(byte) int64) {
	const pairs = RowBytes / 8
	var numbers [256]int64
	for i := range numbers {
		numbers[i] = right(byte(i))
	}
	var y [Rows][4][pairs]int64
	for r := range y {
		for i, v := range b[r*RowBytes:][:RowBytes] {
			y[r][i%4][i/8] += numbers[v] << (i / 4 % 2 * 32)
		}
	}
	for m := range Rows {
		row := c[m*RowBytes:][:RowBytes]
		var sums [pairs]int64
		for r := range Rows {
			x := binary.LittleEndian.Uint32(a[m*RowBytes+4*r:])
			if x == 0 {
				continue
			}
			x0, x1, x2, x3 := left(byte(x)), left(byte(x>>8)), left(byte(x>>16)), left(byte(x>>24))
			four := &y[r]
			for n := range sums {
				sums[n] += x0*four[0][n] + x1*four[1][n] + x2*four[2][n] + x3*four[3][n]
			}
		}
		for n, sum := range sums {
			low := int32(sum)
			for k, v := range [2]uint32{uint32(low), uint32((sum - int64(low)) >> 32)} {
				at := row[8*n+4*k:]
				binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)+v)
			}
		}
	}
}
