package modgemm

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/halfulp/halfulp/internal/amx"
	"github.com/halfulp/halfulp/internal/impl"
)

// Products of matrices of bytes, for the moduli of a [BytePool], by the tiles of AMX-INT8.
//
// # Packed operands
//
// An operand is a sequence of panels of 32 vectors, rows of a left operand and columns of a right
// one; a panel holds, step of 64 numbers after step, two tiles of 16 vectors, of 1024 bytes each. A
// tile of a left operand holds the 64 numbers of a vector after those of the one before; one of a
// right operand holds groups of four numbers, in a group vector after vector. Vectors and numbers
// are padded with zeros to whole panels and steps.
//
// So number h of vector v lies in tile t = (v/32 K + h/64) 2 + v%32/16, K being the steps, at
// 1024 t + v%16 64 + h%64 in a left operand, and at 1024 t + h%64/4 64 + v%16 4 + h%4 in a right
// one.
//
// # Reduction
//
// Sums of at most 1024 products of bytes are at most 2^24 in magnitude and therefore exact in
// float32, u = 2^-24. The moduli are 32 <= m <= 8179, inv the float32 next to 1/m.
//
// Coarse fold, x -= m q with q = fma(x, inv, c) - c, c = 1.5 2^23, for integers |x| <= 2^24: as
// |x inv| < 2^20, the fused multiply-add is near c, where float32 are the integers, and q is the
// integer nearest to x inv, which differs from x/m by at most 1.001 u |x|/m <= 1.001/m. So
// |x - m q| <= m/2 + 1.001, an integer, which the second fused multiply-add finds exactly.
//
// Sum of factor, |f| <= m/2, times such an x, and any int16: at most
//
//	(m/2 + 1) m/2 + 2^15 <= 4090.5 4089.5 + 2^15 = 16 760 867.75 < 2^24,
//
// exact in a fused multiply-add, and folded again. The exact fold of bounds.go makes the
// representative in (-m/2, m/2] of it; its rint is an addition of c and a subtraction.
const (
	// maxByteModulus bounds moduli.
	maxByteModulus = 8179
	// byteSteps bounds the steps of a sum.
	byteSteps = 1 << 24 / (1 << 14 * amx.Step)
)

// ByteModuli returns the pool of the moduli of these products.
var ByteModuli = NewBytePool(maxByteModulus)

// A ByteKernel is a way to multiply matrices of bytes.
type ByteKernel struct {
	Name string
	// tiles computes, for blocks that lie below each other as in byteTilesGeneric.
	tiles  func(c []int16, ldc int, a []int8, aStride int, b []int8, panels, steps int, mod *ByteModulus, factor int, accumulate bool)
	narrow func(dst []int8, src []int16)
	split  func(dst []int8, stride int, src []int16)
	// kc is the steps of a block of k, mc the panels of A that stay in the second level cache.
	kc, mc int
}

// PanelVectors is the number of vectors of a panel.
const PanelVectors = amx.Block

// StepNumbers is the number of numbers of a vector in a step.
const StepNumbers = amx.Step

// Numbers of a vector that lie together in a tile of a left operand and of a right one, and the
// vectors of a tile.
const (
	LeftGroup   = amx.Step
	RightGroup  = 4
	TileVectors = amx.Rows
	TileBytes   = amx.Bytes
)

// A ByteModulus is a modulus, 32 <= m <= 8179.
type ByteModulus struct {
	m      int
	inv    float32
	factor [3]int // KaratsubaFactors modulo m
}

// NewByteModulus prepares m.
func NewByteModulus(m int) ByteModulus {
	if m < minPlain || m > maxByteModulus {
		panic(badModulus)
	}
	r := ByteModulus{m: m, inv: float32(1 / float64(m))}
	for i, f := range KaratsubaFactors {
		r.factor[i] = int(Balanced(f, int64(m)))
	}
	return r
}

// forced is set under ForceBytes.
var forced atomic.Bool

// BestBytes returns the kernel of the level in force, nil where there is none.
func BestBytes() *ByteKernel {
	switch {
	case impl.Level() >= impl.AMX:
		return byteKernel
	case forced.Load():
		return ByteEmulation
	}
	return nil
}

// ForceBytes lets products be those of bytes wherever these apply, faster or not, by emulated tiles
// on a machine without, until the returned function is called. It is for tests.
func ForceBytes() (restore func()) {
	old := forced.Swap(true)
	return func() { forced.Store(old) }
}

// BytesForced reports whether ForceBytes is in force.
func BytesForced() bool { return forced.Load() }

// ByteEmulation runs the tile instructions of the assembly, in their order and on the same
// operands, on emulated tiles.
var ByteEmulation = &ByteKernel{
	Name: "amx (emulated)", kc: byteSteps, mc: 8,
	tiles: byteTilesEmulated, narrow: narrowGeneric, split: splitGeneric,
}

// ByteSteps is the number of steps that k numbers fill.
func ByteSteps(k int) int { return (k + StepNumbers - 1) / StepNumbers }

// BytePanels is the number of panels that hold n vectors.
func BytePanels(n int) int { return (n + PanelVectors - 1) / PanelVectors }

// PanelBytes is the size of a panel of so many steps.
func PanelBytes(steps int) int { return amx.StepBytes * steps }

// AlignedBytes returns n bytes that begin at a multiple of 64, as the loads of tiles like it, in a
// buffer of at least n + 63.
func AlignedBytes(buf []int8, n int) []int8 {
	off := -uintptr(unsafe.Pointer(unsafe.SliceData(buf))) & 63
	return buf[off:][:n:n]
}

// Narrow writes the residues of n numbers, a multiple of 64, modulo a plain modulus as bytes.
func (k *ByteKernel) Narrow(dst []int8, src []int16) {
	checkBytes(len(dst), len(src))
	if len(src) > 0 {
		k.narrow(dst, src)
	}
}

// Split writes a0, a1 and a0 + a1 of residues modulo a Karatsuba modulus, a multiple of 64, at dst,
// dst[stride:] and dst[2 stride:].
func (k *ByteKernel) Split(dst []int8, stride int, src []int16) {
	if stride < len(src) {
		panic(badStride)
	}
	checkBytes(len(dst)-2*stride, len(src))
	if len(src) > 0 {
		k.split(dst, stride, src)
	}
}

func checkBytes(have, n int) {
	if n%64 != 0 {
		panic(badSize)
	}
	checkLen(have, n)
}

// MulBytes computes C = A B mod m, with representatives in (-m/2, m/2], for a plain modulus: the
// 32 mPanels x 32 nPanels matrix C, row-major at c with leading dimension ldc, of packed operands
// of so many steps, of which those from <= s < to are multiplied and read. With accumulate,
// C + A B, for a C of any int16.
func MulBytes(k *ByteKernel, c []int16, ldc int, a []int8, b []int8, mPanels, nPanels, steps, from, to int, mod *ByteModulus, accumulate bool) {
	k.sweep(c, ldc, a, b, mPanels, nPanels, steps, from, to, mod, 1, accumulate)
}

// MulKaratsuba is MulBytes for a Karatsuba modulus: the planes of a0, a1 and a0 + a1 of the
// operands are aPlane and bPlane apart.
func MulKaratsuba(k *ByteKernel, c []int16, ldc int, a []int8, aPlane int, b []int8, bPlane int, mPanels, nPanels, steps, from, to int, mod *ByteModulus, accumulate bool) {
	for i, f := range mod.factor {
		k.sweep(c, ldc, a[i*aPlane:], b[i*bPlane:], mPanels, nPanels, steps, from, to, mod, f, accumulate || i > 0)
	}
}

// sweep adds factor A B, blocked for the caches like the sweep of residues of 13 bits.
func (k *ByteKernel) sweep(c []int16, ldc int, a, b []int8, mPanels, nPanels, steps, from, to int, mod *ByteModulus, factor int, accumulate bool) {
	checkSizes(mPanels, nPanels, steps)
	checkRange(from, to, steps)
	checkLen(len(a), PanelBytes(steps)*mPanels)
	checkLen(len(b), PanelBytes(steps)*nPanels)
	checkRows(len(c), mPanels*PanelVectors, nPanels*PanelVectors, ldc)
	for i := 0; from == to && i < mPanels*PanelVectors; i++ {
		row := c[i*ldc:][:nPanels*PanelVectors]
		if !accumulate {
			clear(row)
			continue
		}
		for j, x := range row {
			row[j] = int16(Balanced(int64(x), int64(mod.m)))
		}
	}
	for p := from; p < to; p += k.kc {
		kc := min(k.kc, to-p)
		for i0 := 0; i0 < mPanels; i0 += k.mc {
			i1 := min(i0+k.mc, mPanels)
			for j := range nPanels {
				k.tiles(c[i0*PanelVectors*ldc+j*PanelVectors:], ldc, a[PanelBytes(i0*steps+p):], PanelBytes(steps),
					b[PanelBytes(j*steps+p):], i1-i0, kc, mod, factor, accumulate || p > from)
			}
		}
	}
}

// byteTilesGeneric computes blocks that lie below each other: for p < panels, i, j < 32 and
// r = 32 p + i,
//
//	c[r ldc + j] = ((accumulate ? c[r ldc + j] : 0) + factor Σ_h A_rh B_hj) mod m
//
// with the representative in (-m/2, m/2], A the first steps of the panels at a[p aStride], B those
// of panel b, and 1 <= steps <= 16. It is what the others equal.
func byteTilesGeneric(c []int16, ldc int, a []int8, aStride int, b []int8, panels, steps int, mod *ByteModulus, factor int, accumulate bool) {
	for r := range panels * PanelVectors {
		i := r % PanelVectors
		panel := a[r/PanelVectors*aStride:]
		for j := range PanelVectors {
			var sum int64
			for h := range steps * StepNumbers {
				s := h / StepNumbers * amx.StepBytes
				sum += int64(panel[s+i*64+h%64]) * int64(b[s+j/16*1024+h%64/4*64+j%16*4+h%4])
			}
			sum *= int64(factor)
			if accumulate {
				sum += int64(c[r*ldc+j])
			}
			c[r*ldc+j] = int16(Balanced(sum, int64(mod.m)))
		}
	}
}

// byteTilesEmulated is byteTilesGeneric by emulated tiles, as the assembly does it.
func byteTilesEmulated(c []int16, ldc int, a []int8, aStride int, b []int8, panels, steps int, mod *ByteModulus, factor int, accumulate bool) {
	var machine amx.Machine
	var block [amx.BlockBytes / 4]int32
	config := amx.Config()
	mem := &amx.Memory{
		At:     map[amx.Reg][]byte{amx.RegConfig: config[:], amx.RegC: bytesOf(block[:])},
		Stride: map[amx.Reg]int{amx.RegRow: amx.RowBytes, amx.RegBlockRow: 4 * amx.Block},
	}
	clear0, multiply, write := amx.Clear(), amx.Multiply(), amx.Write()
	machine.Run(amx.Begin(), mem)
	for p := range panels {
		machine.Run(clear0, mem)
		for s := range steps {
			mem.At[amx.RegA] = bytesOf(a[p*aStride+s*amx.StepBytes:])
			mem.At[amx.RegB] = bytesOf(b[s*amx.StepBytes:])
			machine.Run(multiply, mem)
		}
		machine.Run(write, mem)
		for i := range PanelVectors {
			row := c[(p*PanelVectors+i)*ldc:][:PanelVectors]
			for j, x := range block[i*amx.Block:][:amx.Block] {
				sum := int64(x) * int64(factor)
				if accumulate {
					sum += int64(row[j])
				}
				row[j] = int16(Balanced(sum, int64(mod.m)))
			}
		}
	}
	machine.Run(amx.End(), mem)
}

// bytesOf returns the memory of numbers.
func bytesOf[T int8 | int32](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

func narrowGeneric(dst []int8, src []int16) {
	for i, x := range src {
		dst[i] = int8(x)
	}
}

func splitGeneric(dst []int8, stride int, src []int16) {
	for i, x := range src {
		x0, x1 := SplitByte(int64(x))
		dst[i], dst[stride+i], dst[2*stride+i] = int8(x0), int8(x1), int8(x0+x1)
	}
}

// PackBytes writes n vectors of k numbers, number h of vector v at src[v vs + h hs], as a left or a
// right operand of ByteSteps(k) steps.
func PackBytes(dst []int8, src []int16, left bool, n, k, vs, hs int) {
	steps := ByteSteps(k)
	checkLen(len(dst), BytePanels(n)*PanelBytes(steps))
	clear(dst[:BytePanels(n)*PanelBytes(steps)])
	for v := range n {
		for h := range k {
			at := ((v/32*steps+h/64)*2 + v%32/16) * amx.Bytes
			if left {
				at += v%16*64 + h%64
			} else {
				at += h%64/4*64 + v%16*4 + h%4
			}
			dst[at] = int8(src[v*vs+h*hs])
		}
	}
}

// KernelNames returns what stats call products of the two kernels.
func KernelNames(k *Kernel, b *ByteKernel) string {
	if b == nil {
		return k.Name
	}
	return fmt.Sprintf("%s, %s", b.Name, k.Name)
}
