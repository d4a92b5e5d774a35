package modgemm

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/halfulp/halfulp/internal/amx"
	"github.com/halfulp/halfulp/internal/isa"
)

// Products of matrices of bytes, for the moduli of a [BytePool], by the tiles of AMX-INT8.
//
// # Packed operands
//
// An operand is a sequence of panels of 32 vectors, which are rows of a left operand or columns of
// a right operand. A panel consists of steps of 64 numbers of each vector. A step holds two tiles
// of 16 vectors, 1024 bytes each. A tile of a left operand stores vector after vector, 64 numbers
// each. A tile of a right operand stores groups of four numbers; a group stores vector after
// vector. Vectors and numbers are padded with zeros to whole panels and steps.
//
// So number h of vector v lies in tile t = (v/32 K + h/64) 2 + v%32/16, K being the steps, at
// 1024 t + v%16 64 + h%64 in a left operand, and at 1024 t + h%64/4 64 + v%16 4 + h%4 in a right
// one.
//
// # Reduction
//
// inv is the float32 next to 1/m, u = 2^-24. Integers of at most 2^24 in magnitude are exact in
// float32.
//
// # Plain moduli
//
// Coarse fold, x -= m q with q = fma(x, inv, c) - c, c = 1.5 2^23, for integers |x| <= 2^24. As
// |x inv| < 2^20, the fused multiply-add is near c, where the float32 numbers are the integers. So
// q is the integer nearest to x inv, which differs from x/m by at most 1.001 u |x|/m <= 1.001/m,
// and x - m q is an integer of at most m/2 + 1.001 in magnitude, which the second fused
// multiply-add computes exactly. The exact fold of bounds.go reduces it to the representative in
// (-m/2, m/2]; its rint adds c and subtracts it.
//
// The sum of 16 steps of 64 products of residues modulo an odd m < 256, of 15 steps modulo 256, and
// any int16, is at most
//
//	16 64 127^2 + 2^15 = 16 548 864 < 2^24, 15 64 2^14 + 2^15 = 15 761 408 < 2^24.
//
// # Karatsuba moduli
//
// 2^14 < m <= 32491. A residue is a = 128 a1 + a0, a1 = floor((257 a + 2^14) 2^-15), which differs
// from a/127.502 by d, |d| <= 1/2. With |a| <= 16256, |a1| <= 127, |a0| = |127.502 d - 0.498 a1| <
// 128 and |a0 + a1| = |127.502 d + 0.502 a1| < 128: all are bytes, and of a magnitude of at most
// 127. (A test goes through all of them.) The digits of a1 a0 lie about the diagonal a0 = -a1/2
// of what three bytes hold: half-way between, a1 = round(a/128), |a| could be 8192 at most.
// The sums x of a0 b0, y of a1 b1 and z of (a0 + a1)(b0 + b1) make
//
//	Σ a b = x + 128 ((z - x - y) + 128 y).
//
// Fold computes x -= m q in int32, with q = fma(float32(x), inv, c) - c. As an int16, this integer
// is the lower half of the word that the fused multiply-add returns. For |x| <= 2^28 the error of
// the quotient is less than 2.001 u |x|/m, |q| < 2^14 + 2, and the remainder is at most
// m/2 + 2.001 u |x| <= m/2 + 33. After 64 steps, with y and the parenthesis folded,
//
//	|y| <= 64 64 127^2 < 2^27, |parenthesis| <= 2 64 64 127^2 + 128 16279 < 2^28,
//	|all| <= 64 64 127^2 + 2^15 + 128 16279 < 2^27.
//
// The remainder of the last sum is less than 2^24, hence exact in float32. The quotient of its
// second fold has an error of less than 1.001 u (1/2 + 33/m) < 2^-24. As m is odd, x/m is at least
// 1/(2m) > 2^-16 from every half of an odd integer. So the second fold leaves the representative in
// (-m/2, m/2].
const (
	// maxByteModulus bounds moduli. Moduli above minKaratsuba are Karatsuba moduli.
	maxByteModulus = 32491
	minKaratsuba   = 1 << 14
	// maxSplit bounds the magnitude of arguments of splitResidue.
	maxSplit = 16256
	// byteSteps, evenSteps and karatsubaSteps bound the steps of a sum modulo odd plain moduli, 256
	// and Karatsuba moduli.
	byteSteps      = 16
	evenSteps      = 15
	karatsubaSteps = 64
	// karatsubaPlanes is the number of planes: for a0, a1 and a0 + a1.
	karatsubaPlanes = 3
)

// ByteModuli returns the pool of the moduli of these products.
var ByteModuli = NewBytePool(minKaratsuba, maxByteModulus)

// splitResidue returns a0 and a1 of a residue |a| <= maxSplit modulo a Karatsuba modulus.
func splitResidue(a int64) (a0, a1 int64) {
	a1 = (257*a + 1<<14) >> 15
	return a - a1<<7, a1
}

// A ByteKernel multiplies matrices of bytes.
type ByteKernel struct {
	Name string
	// tiles computes blocks one below the other, see byteTilesGeneric.
	tiles  func(c []int16, ldc int, a, b bytePanels, panels, steps int, mod *ByteModulus, accumulate bool)
	narrow func(dst []int8, src []int16)
	// join is defined by joinGeneric.
	join func(dst []int16, a []int8, stride int)
	// convert is defined by convertBytesGeneric.
	convert func(dst []int8, stride int, c *ByteConversion, digits []int16, panel, n int, stream bool)
	// packResidues is defined by packResiduesGeneric, combine by combineBytesGeneric.
	packResidues func(dst, src []int16, planeStride, planes, panels int)
	combine      func(out []int64, outStride int, c *ByteCombination, y []int16, panels int)
	// kc and karatsubaKc are the numbers of steps in a block of k for a plain modulus and for a
	// Karatsuba modulus. mc is the number of panels of A that stay in the second level cache.
	kc, karatsubaKc, mc int
}

// bytePanels are panels of an operand: their first step, the distances of panels and of planes, and
// as a hint for prefetching the distance to the panels that are multiplied next.
type bytePanels struct {
	data                []int8
	stride, plane, next int
}

// PanelVectors is the number of vectors of a panel.
const PanelVectors = amx.Block

// StepNumbers is the number of numbers of a vector in a step.
const StepNumbers = amx.Step

// The lengths of the groups of a vector's numbers that are adjacent in tiles of a left and of a
// right operand, and the number of vectors in a tile.
const (
	LeftGroup   = amx.Step
	RightGroup  = 4
	TileVectors = amx.Rows
	TileBytes   = amx.Bytes
)

// A ByteModulus is a modulus, 32 <= m <= 256 or 2^14 < m <= 32491.
type ByteModulus struct {
	m   int
	inv float32
}

// NewByteModulus prepares m.
func NewByteModulus(m int) ByteModulus {
	if !isByteModulus(m) {
		panic(badModulus)
	}
	return ByteModulus{m: m, inv: float32(1 / float64(m))}
}

// isByteModulus reports whether m is within the bounds of plain moduli or of Karatsuba moduli.
func isByteModulus(m int) bool {
	return m >= minPlain && m <= 256 || m > minKaratsuba && m <= maxByteModulus && m%2 == 1
}

// planes returns the number of planes of bytes of an operand.
func (m *ByteModulus) planes() int {
	if m.m > 256 {
		return karatsubaPlanes
	}
	return 1
}

// steps bounds the steps of a sum.
func (m *ByteModulus) steps() int {
	switch {
	case m.m > 256:
		return karatsubaSteps
	case m.m == 256:
		return evenSteps
	}
	return byteSteps
}

// forced is set under ForceBytes.
var forced atomic.Bool

// BestBytes returns the kernel of the level in force, or nil if the level has none.
func BestBytes() *ByteKernel {
	switch {
	case isa.Level() >= isa.AMX:
		return byteKernel
	case forced.Load():
		return ByteEmulation
	}
	return nil
}

// ForceBytes makes all products that can use bytes use them, faster or not, until the returned
// function is called. A machine without tiles emulates them. It is for tests.
func ForceBytes() (restore func()) {
	old := forced.Swap(true)
	return func() { forced.Store(old) }
}

// BytesForced reports whether ForceBytes is in force.
func BytesForced() bool { return forced.Load() }

// ByteEmulation runs the tile instructions of the assembly, in their order and on the same
// operands, on emulated tiles.
var ByteEmulation = &ByteKernel{
	Name: "amx (emulated)", kc: byteSteps, karatsubaKc: karatsubaSteps, mc: 8,
	tiles: byteTilesEmulated, narrow: narrowGeneric, join: joinGeneric, convert: convertBytesEmulated,
	packResidues: packResiduesGeneric, combine: combineBytesEmulated,
}

// ByteSteps returns the number of steps that hold k numbers.
func ByteSteps(k int) int { return (k + StepNumbers - 1) / StepNumbers }

// BytePanels returns the number of panels that hold n vectors.
func BytePanels(n int) int { return (n + PanelVectors - 1) / PanelVectors }

// PanelBytes returns the size of a panel of steps steps, in bytes.
func PanelBytes(steps int) int { return amx.StepBytes * steps }

// AlignedBytes returns n bytes of buf that begin at a multiple of 64, where loads of tiles are
// faster. buf has at least n + 63 bytes.
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

// Join writes the residues 128 a1 + a0 modulo a Karatsuba modulus, a multiple of 64 of them. a
// holds the bytes a0, and the bytes a1 follow stride after them.
func (k *ByteKernel) Join(dst []int16, a []int8, stride int) {
	if stride < len(dst) {
		panic(badStride)
	}
	checkBytes(len(a)-stride, len(dst))
	if len(dst) > 0 {
		k.join(dst, a, stride)
	}
}

func checkBytes(have, n int) {
	if n%64 != 0 {
		panic(badSize)
	}
	checkLen(have, n)
}

// MulBytes computes C = A B mod m, with representatives in (-m/2, m/2]. C is a 32 mPanels x 32
// nPanels matrix, row-major at c with leading dimension ldc. The packed operands have steps steps,
// of which from <= s < to are read and multiplied. With accumulate it computes C + A B, for a C of
// any int16.
//
// The planes of bytes a0, a1 and a0 + a1 of operands modulo a Karatsuba modulus lie aPlane and
// bPlane apart. The planes of the next modulus usually follow, and are prefetched.
func MulBytes(k *ByteKernel, c []int16, ldc int, a []int8, aPlane int, b []int8, bPlane int, mPanels, nPanels, steps, from, to int, mod *ByteModulus, accumulate bool) {
	checkSizes(mPanels, nPanels, steps)
	checkRange(from, to, steps)
	planes, most := mod.planes(), min(k.kc, mod.steps())
	if planes > 1 {
		most = k.karatsubaKc
	}
	checkLen(len(a), PanelBytes(steps)*mPanels+(planes-1)*aPlane)
	checkLen(len(b), PanelBytes(steps)*nPanels+(planes-1)*bPlane)
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
	panel := PanelBytes(steps)
	blocks := (to - from + most - 1) / most
	for i := range blocks {
		p, end := from+(to-from)*i/blocks, from+(to-from)*(i+1)/blocks
		for i0 := 0; i0 < mPanels; i0 += k.mc {
			i1 := min(i0+k.mc, mPanels)
			// The next panels: of rows below, of the next block of k, or of the next modulus.
			aNext, bNext := (i1-i0)*panel, -(nPanels-1)*panel
			switch {
			case i1 < mPanels:
			case i < blocks-1:
				aNext, bNext = -i0*panel+PanelBytes(end-p), bNext+PanelBytes(end-p)
			default:
				aNext, bNext = -i0*panel-PanelBytes(p-from)+planes*aPlane, bNext-PanelBytes(p-from)+planes*bPlane
			}
			for j := range nPanels {
				x := bytePanels{a[i0*panel+PanelBytes(p):], panel, aPlane, aNext + j%16*(end-p)*aheadLeft}
				y := bytePanels{b[j*panel+PanelBytes(p):], 0, bPlane, panel}
				if j == nPanels-1 {
					y.next = bNext
				}
				k.tiles(c[i0*PanelVectors*ldc+j*PanelVectors:], ldc, x, y, i1-i0, end-p, mod, accumulate || p > from)
			}
		}
	}
}

// aheadLeft is the number of bytes of a left operand that a step of the assembly prefetches: a
// 16th.
const aheadLeft = amx.StepBytes / 16

// byteTilesGeneric computes blocks one below the other: for p < panels, i, j < 32 and
// r = 32 p + i,
//
//	c[r ldc + j] = ((accumulate ? c[r ldc + j] : 0) + Σ_h A_rh B_hj) mod m
//
// with the representative in (-m/2, m/2], where A and B are the first steps of the panels of a and
// of the panel of b, 1 <= steps <= mod.steps(). It is the reference for the other kernels.
func byteTilesGeneric(c []int16, ldc int, a, b bytePanels, panels, steps int, mod *ByteModulus, accumulate bool) {
	factors := [karatsubaPlanes]int64{1}
	if mod.planes() > 1 {
		factors = KaratsubaFactors
	}
	for r := range panels * PanelVectors {
		i := r % PanelVectors
		for j := range PanelVectors {
			var sum int64
			if accumulate {
				sum = int64(c[r*ldc+j])
			}
			for plane := range mod.planes() {
				x, y := a.data[r/PanelVectors*a.stride+plane*a.plane:], b.data[plane*b.plane:]
				for h := range steps * StepNumbers {
					s := h / StepNumbers * amx.StepBytes
					sum += factors[plane] * int64(x[s+i*64+h%64]) * int64(y[s+j/16*1024+h%64/4*64+j%16*4+h%4])
				}
			}
			c[r*ldc+j] = int16(Balanced(sum, int64(mod.m)))
		}
	}
}

// byteTilesEmulated computes byteTilesGeneric by emulated tiles in the order of the assembly, with
// one exception: the assembly loads the first step of a panel during the last products of the panel
// before.
func byteTilesEmulated(c []int16, ldc int, a, b bytePanels, panels, steps int, mod *ByteModulus, accumulate bool) {
	var machine amx.Machine
	planes := mod.planes()
	blocks := make([]int32, planes*panels*amx.BlockBytes/4)
	config := amx.Config()
	mem := &amx.Memory{
		At:     map[amx.Reg][]byte{amx.RegConfig: config[:]},
		Stride: map[amx.Reg]int{amx.RegRow: amx.RowBytes, amx.RegBlockRow: 4 * amx.Block},
	}
	clear0, first, next, last := amx.Clear(), amx.Packed.First(), amx.Packed.Next(), amx.Packed.Last()
	machine.Run(amx.Begin(), mem)
	for plane := range planes {
		for p := range panels {
			mem.At[amx.RegC] = bytesOf(blocks[(p*planes+plane)*amx.BlockBytes/4:])
			machine.Run(clear0, mem)
			for s := range steps {
				mem.At[amx.RegA] = bytesOf(a.data[p*a.stride+plane*a.plane+s*amx.StepBytes:])
				mem.At[amx.RegB] = bytesOf(b.data[plane*b.plane+s*amx.StepBytes:])
				if s == 0 {
					machine.Run(first, mem)
				}
				if s < steps-1 {
					machine.Run(next, mem)
				} else {
					machine.Run(last, mem)
				}
			}
			machine.Run(amx.Write(0), mem)
		}
	}
	for p := range panels {
		for i := range PanelVectors {
			row := c[(p*PanelVectors+i)*ldc:][:PanelVectors]
			for j, old := range row {
				block := func(plane int) int64 { return int64(blocks[((p*planes+plane)*amx.Block+i)*amx.Block+j]) }
				sum := block(0)
				if planes > 1 {
					sum += 128 * (block(2) - block(0) - block(1) + 128*block(1))
				}
				if accumulate {
					sum += int64(old)
				}
				row[j] = int16(Balanced(sum, int64(mod.m)))
			}
		}
	}
	machine.Run(amx.End(), mem)
}

// bytesOf returns the memory of numbers.
func bytesOf[T int8 | int16 | int32](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

func narrowGeneric(dst []int8, src []int16) {
	for i, x := range src {
		dst[i] = int8(x)
	}
}

// joinGeneric is the definition of join.
func joinGeneric(dst []int16, a []int8, stride int) {
	for i := range dst {
		dst[i] = int16(a[i]) + 128*int16(a[stride+i])
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

// KernelNames returns the name of the two kernels in statistics.
func KernelNames(k *Kernel, b *ByteKernel) string {
	if b == nil {
		return k.Name
	}
	return fmt.Sprintf("%s, %s", b.Name, k.Name)
}
