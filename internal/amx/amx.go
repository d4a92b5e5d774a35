// Package amx encodes and emulates the tile instructions of x86-64 (AMX-TILE and AMX-INT8).
// Generators of assembly use the encodings, because Go's assembler does not support these
// instructions. Tests on processors without AMX use the emulation, byte by byte. Both take the same
// lists of instructions.
//
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, and volume 1,
// chapter 18.
package amx

import "fmt"

// A tile has 16 rows of 64 bytes, in all programs of this package.
const (
	Rows     = 16
	RowBytes = 64
	Bytes    = Rows * RowBytes
	tiles    = 8
)

// A Kind is the kind of an instruction.
type Kind int

const (
	// Load is TILELOADD: row r of tile T becomes the 64 bytes at Base + Disp + r Stride.
	Load Kind = iota
	// LoadOnce is TILELOADDT1: Load, with the hint that the bytes need not stay in the first level
	// cache.
	LoadOnce
	// Store is TILESTORED, the other way.
	Store
	// Zero is TILEZERO of tile T.
	Zero
	// Dot is TDPBSSD: to the int32 at row m, column n of tile T it adds, modulo 2^32,
	// Σ_{r<16, i<4} A[m][4r+i] B[r][4n+i] of the int8 of tiles A and B.
	Dot
	// DotUnsigned is TDPBSUD: Dot with the bytes of B taken for uint8.
	DotUnsigned
	// DotNatural is TDPBUUD: Dot with the bytes of A and B taken for uint8.
	DotNatural
	// Configure is LDTILECFG from Base + Disp.
	Configure
	// Release is TILERELEASE.
	Release
)

// A Reg is a general register by its number in encodings.
type Reg int

// The registers that programs use.
const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
)

var regNames = [...]string{"RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", "R8", "R9", "R10", "R11", "R12", "R13"}

// An Op is an instruction. Memory operands are Base + Disp, with rows Stride apart.
type Op struct {
	Kind    Kind
	T, A, B int
	Base    Reg
	Stride  Reg
	Disp    int32
}

// String returns the instruction in Intel's notation, as objdump prints it, except for case and
// blanks.
func (o Op) String() string {
	switch o.Kind {
	case Load:
		return fmt.Sprintf("TILELOADD TMM%d, [%s+%s*1+%#x]", o.T, regNames[o.Base], regNames[o.Stride], o.Disp)
	case LoadOnce:
		return fmt.Sprintf("TILELOADDT1 TMM%d, [%s+%s*1+%#x]", o.T, regNames[o.Base], regNames[o.Stride], o.Disp)
	case Store:
		return fmt.Sprintf("TILESTORED [%s+%s*1+%#x], TMM%d", regNames[o.Base], regNames[o.Stride], o.Disp, o.T)
	case Zero:
		return fmt.Sprintf("TILEZERO TMM%d", o.T)
	case Dot:
		return fmt.Sprintf("TDPBSSD TMM%d, TMM%d, TMM%d", o.T, o.A, o.B)
	case DotUnsigned:
		return fmt.Sprintf("TDPBSUD TMM%d, TMM%d, TMM%d", o.T, o.A, o.B)
	case DotNatural:
		return fmt.Sprintf("TDPBUUD TMM%d, TMM%d, TMM%d", o.T, o.A, o.B)
	case Configure:
		return fmt.Sprintf("LDTILECFG [%s+%#x]", regNames[o.Base], o.Disp)
	}
	return "TILERELEASE"
}

// The pp field of a VEX prefix.
const (
	prefixNone = iota
	prefix66
	prefixF3
	prefixF2
)

// Encode returns the bytes of the instruction: a VEX prefix of three bytes (map 0F38, W = 0,
// L = 0), an opcode, ModRM, and for memory SIB and a displacement of 32 bits.
func (o Op) Encode() []byte {
	switch o.Kind {
	case Load:
		return o.memory(prefixF2, 0x4b, o.T, true)
	case LoadOnce:
		return o.memory(prefix66, 0x4b, o.T, true)
	case Store:
		return o.memory(prefixF3, 0x4b, o.T, true)
	case Zero:
		return []byte{0xc4, 0xe2, vex(prefixF2, 0), 0x49, byte(0xc0 | o.T<<3)}
	case Dot:
		return []byte{0xc4, 0xe2, vex(prefixF2, o.B), 0x5e, byte(0xc0 | o.T<<3 | o.A)}
	case DotUnsigned:
		return []byte{0xc4, 0xe2, vex(prefixF3, o.B), 0x5e, byte(0xc0 | o.T<<3 | o.A)}
	case DotNatural:
		return []byte{0xc4, 0xe2, vex(prefixNone, o.B), 0x5e, byte(0xc0 | o.T<<3 | o.A)}
	case Configure:
		return o.memory(prefixNone, 0x49, 0, false)
	}
	return []byte{0xc4, 0xe2, vex(prefixNone, 0), 0x49, 0xc0}
}

// vex returns the third byte of a VEX prefix, with field vvvv inverted.
func vex(prefix, vvvv int) byte { return byte((^vvvv&15)<<3 | prefix) }

// memory encodes an instruction with operand Base + Disp, and with a stride as its index.
func (o Op) memory(prefix int, opcode byte, reg int, indexed bool) []byte {
	index := RSP // none
	if indexed {
		index = o.Stride
	}
	p := byte(0xe2) // inverted: R, X, B
	p ^= byte(index>>3)<<6 | byte(o.Base>>3)<<5
	d := uint32(o.Disp)
	return []byte{
		0xc4, p, vex(prefix, 0), opcode,
		byte(0x84 | reg<<3), byte(index&7)<<3 | byte(o.Base&7),
		byte(d), byte(d >> 8), byte(d >> 16), byte(d >> 24),
	}
}

// A Directive of Go's assembler stands for bytes: QUAD, LONG, WORD or BYTE, with a number in
// little-endian order.
type Directive struct {
	Name  string
	Value uint64
}

// Directives returns what stands for bytes.
func Directives(code []byte) (list []Directive) {
	for len(code) > 0 {
		d, size := Directive{Name: "BYTE"}, 1
		switch n := len(code); {
		case n >= 8:
			d.Name, size = "QUAD", 8
		case n >= 4:
			d.Name, size = "LONG", 4
		case n >= 2:
			d.Name, size = "WORD", 2
		}
		for i, b := range code[:size] {
			d.Value |= uint64(b) << (8 * i)
		}
		list, code = append(list, d), code[size:]
	}
	return list
}

// Config returns the operand of LDTILECFG: palette 1, all tiles whole.
func Config() [64]byte {
	var c [64]byte
	c[0] = 1
	for t := range tiles {
		c[16+2*t] = RowBytes
		c[48+t] = Rows
	}
	return c
}
