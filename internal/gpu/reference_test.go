package gpu

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"sync/atomic"
	"testing"

	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/num"
)

// The kernels in Go, by the same formulas. They stand for the kernels on a fake device, and
// are what those of a real one are compared with.

// reference returns a fake device.
func reference(t *testing.T, drv *fake.Driver) *cuda.Device {
	t.Helper()
	drv.Kernel("scan", func(l *fake.Launch, x vectors, sx scanned, y vectors, sy scanned, o oldSample, at, to cuda.Pointer, ticket uint32) {
		c := &fake.Slice[control](l, at, 1)[0]
		refScan(l, x, sx)
		refScan(l, y, sy)
		refSamples(l, x, y, sx, sy, o, c.samples[:])
		refTell(l, to, ticket, c.report)
	})
	drv.Kernel("outcomes", func(l *fake.Launch, at, to cuda.Pointer, ticket uint32) {
		refTell(l, to, ticket, fake.Slice[control](l, at, 1)[0].outcome)
	})
	drv.Kernel("residues0", func(l *fake.Launch, both sides) {
		for _, s := range both[:l.Grid.Z] {
			if kind := num.Kind(s.x.a.kind); s.c.width > shortBits || s.c.karatsuba != 0 || kind != num.F32 && kind != num.F64 && (kind != num.MP || s.x.a.limbs != 1) {
				panic("residues0 is not for these")
			}
		}
		refResidues(l, both, 1, false)
	})
	for k := 1; k <= maxSteps; k++ {
		drv.Kernel(fmt.Sprintf("residues%d", k), func(l *fake.Launch, both sides) { refResidues(l, both, k, false) })
	}
	drv.Kernel("residuesMore", func(l *fake.Launch, both sides) { refResidues(l, both, maxSteps, true) })
	drv.Kernel("products", refProducts)
	drv.Kernel("finish0", func(l *fake.Launch, f finishing) {
		if kind := num.Kind(f.c.a.kind); f.words > shortWords || f.raw != 0 || f.karatsuba != 0 || kind != num.F32 && kind != num.F64 {
			panic("finish0 is not for these")
		}
		refFinish(l, f, 1)
	})
	for _, k := range finishSteps {
		drv.Kernel(fmt.Sprintf("finish%d", k), func(l *fake.Launch, f finishing) { refFinish(l, f, k) })
	}
	drv.Kernel("finishLong", func(l *fake.Launch, f finishing) { refFinish(l, f, int(f.steps)) })
	drv.Kernel("settle", refSettle)
	drv.Kernel("exact", refExact)
	dev, err := cuda.OpenDriver(drv, 0)
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// array returns the array of the view's numbers in the fake's memory.
func (n numbers) array(l *fake.Launch, prec, length int) *num.Array {
	a := &num.Array{Format: num.Format{Kind: num.Kind(n.kind), Prec: uint32(prec)}}
	switch a.Kind {
	case num.F32:
		a.F32 = fake.Slice[float32](l, n.plane[0], length)
	case num.MP:
		a.Prec = uint32(64 * n.limbs)
		if prec != 0 {
			a.Prec = uint32(prec)
		}
		a.Sig = fake.Slice[uint64](l, n.plane[0], length*int(n.limbs))
		a.Exp = fake.Slice[int32](l, n.plane[1], length)
		a.Cls = fake.Slice[num.Cls](l, n.plane[2], length)
	default:
		for t := range a.Terms() {
			a.F64[t] = fake.Slice[float64](l, n.plane[t], length)
		}
	}
	return a
}

// mat returns the vectors as rows of a matrix.
func (x vectors) mat(l *fake.Launch) num.Mat {
	last := int(x.off) + max(0, (int(x.n)-1)*int(x.rs)) + max(0, (int(x.k)-1)*int(x.cs))
	return num.Mat{Arr: x.a.array(l, 0, last+1), Off: int(x.off), RS: int(x.rs), CS: int(x.cs), Rows: int(x.n), Cols: int(x.k)}
}

func refScan(l *fake.Launch, x vectors, out scanned) {
	if out.total == 0 {
		return
	}
	m := x.mat(l)
	exp, low := fake.Slice[int64](l, out.exp, m.Rows), fake.Slice[int64](l, out.low, m.Rows)
	norm, flags := fake.Slice[float64](l, out.norm, m.Rows), fake.Slice[uint8](l, out.flags, m.Rows)
	all := &fake.Slice[totals](l, out.total, 1)[0]
	room := spreadOf(m.Arr.Format)
	for v := range m.Rows {
		exp[v], low[v], norm[v], flags[v] = -1<<61, 1<<61, 0, 0
		sum := new(big.Float)
		for h := range m.Cols {
			c, top, lo := m.Arr.Span(m.At(v, h))
			switch c {
			case num.Zero:
				flags[v] |= 2
			case num.Finite:
				exp[v], low[v] = max(exp[v], top+room), min(low[v], lo)
				x, e := m.Arr.Leading(m.At(v, h))
				sum.Add(sum, new(big.Float).SetMantExp(big.NewFloat(math.Abs(x)), int(e)))
			default:
				flags[v] |= flagSpecial
			}
		}
		if exp[v] != -1<<61 {
			norm[v], _ = sum.SetMantExp(sum, -int(exp[v])).Float64()
			norm[v] *= 1 + 0x1p-40
			all.width = max(all.width, exp[v]-low[v])
		}
		all.norm = max(all.norm, norm[v])
		all.flags |= uint32(flags[v])
	}
}

// refTell writes an answer to a mailbox.
func refTell[T any](l *fake.Launch, to cuda.Pointer, ticket uint32, x T) {
	fake.Slice[T](l, to+toldAt, 1)[0] = x
	atomic.StoreUint32(&fake.Slice[uint32](l, to, 1)[0], ticket)
}

// flagSpecial marks vectors with infinities or NaN, as kernels/common.cuh numbers it.
const flagSpecial = 1

// spreadOf is the room that scan leaves for the sum of the terms of an expansion.
func spreadOf(f num.Format) int64 { return int64(min(max(0, f.Terms()-1), 2)) }

func refSamples(l *fake.Launch, x, y vectors, sx, sy scanned, o oldSample, s []sample) {
	a, b := x.mat(l), y.mat(l)
	var acc direct.Acc
	for k := range s {
		i := int(math.Mod((float64(k)+0.5)*0.7548776662466927, 1) * float64(a.Rows))
		j := int(math.Mod((float64(k)+0.5)*0.5698402909980532, 1) * float64(b.Rows))
		roomX, roomY := spreadOf(a.Arr.Format), spreadOf(b.Arr.Format)
		s[k] = sample{-1e9, math.Ldexp(fake.Slice[float64](l, sx.norm, a.Rows)[i], int(roomX)), math.Ldexp(fake.Slice[float64](l, sy.norm, b.Rows)[j], int(roomY)), 0}
		acc.Reset()
		acc.AddDot(a.Row(i), b.Row(j))
		r := acc.Value(num.Float64)
		if r.Class != num.Finite {
			continue
		}
		top := r.Exp + int64(num.BitLen(r.Mag))
		if o.ratio != 0 {
			at := int(o.off) + i*int(o.rs) + j*int(o.cs)
			old := o.old.array(l, 0, at+1).Value(at, make([]uint64, num.MaxValueWords))
			ratio := scalar(o.ratio)
			ratio.Exp += o.exp
			if old.Class == num.Finite {
				acc.AddProduct(ratio, old)
				most := max(top, old.Exp+int64(num.BitLen(old.Mag))+ratio.Exp+53)
				if r = acc.Value(num.Float64); r.Class == num.Finite {
					top = r.Exp + int64(num.BitLen(r.Mag))
				}
				if r.Class != num.Finite || top < most-30 {
					s[k].cancelled, top = 1, most
				}
			}
		}
		s[k].size = float64(min(64, top+roomX+roomY-fake.Slice[int64](l, sx.exp, a.Rows)[i]-fake.Slice[int64](l, sy.exp, b.Rows)[j]))
	}
}

// rounded returns round((-1)^neg mag 2^shift), halves upwards in magnitude.
func rounded(r num.Real, shift int64) *big.Int {
	x := new(big.Int)
	for i := len(r.Mag) - 1; i >= 0; i-- {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(r.Mag[i]))
	}
	if shift >= 0 {
		x.Lsh(x, uint(shift))
	} else if -shift > int64(x.BitLen())+1 {
		x.SetInt64(0)
	} else {
		x.Rsh(x, uint(-shift-1)).Add(x, big.NewInt(1)).Rsh(x, 1)
	}
	if r.Neg {
		x.Neg(x)
	}
	return x
}

// balancedDigits returns n digits in radix 2^8, -128 <= d <= 127.
func balancedDigits(x *big.Int, n int) []int8 {
	bias := new(big.Int)
	for range n {
		bias.Lsh(bias, 8).Add(bias, big.NewInt(128))
	}
	bias.Add(bias, x)
	d := make([]int8, n)
	for i := range d {
		d[i] = int8(new(big.Int).And(new(big.Int).Rsh(bias, uint(8*i)), big.NewInt(255)).Int64() - 128)
	}
	return d
}

// aligned returns the integer of number (v, h), or nil for zeros.
func aligned(m num.Mat, v, h int, shift int64) *big.Int {
	if v >= m.Rows || h >= m.Cols {
		return new(big.Int)
	}
	var buf [num.MaxValueWords]uint64
	sum := new(big.Int)
	if n := m.Arr.Terms(); n > 1 { // term by term
		for t := range n {
			one := num.Array{Format: num.Float64}
			one.F64[0] = m.Arr.F64[t]
			if r := one.Value(m.At(v, h), buf[:]); r.Class == num.Finite {
				sum.Add(sum, rounded(r, shift+r.Exp))
			}
		}
		return sum
	}
	if r := m.Arr.Value(m.At(v, h), buf[:]); r.Class == num.Finite {
		sum = rounded(r, shift+r.Exp)
	}
	return sum
}

// reducedReference is reduced of kernels/residues.cu.
func reducedReference(sum int32, m modulus) int32 {
	const magic = 0x4B400000
	s := float32(math.Float32frombits(uint32(sum)+magic) - 12582912)
	q := float32(math.FMA(float64(s), float64(math.Float32frombits(m.inverse)), 12582912)) // exact in binary64 before the rounding
	return int32(uint32(sum) + magic - math.Float32bits(q)*uint32(m.m))
}

// placeReference is place of kernels/mma.cuh.
func placeReference(v int) int {
	q, j, e := v%64/16, v%16/2, v%2
	return v - v%64 + 8*j + 2*q + e
}

// tilePlace is where number k of vector v lies in a plane.
func tilePlace(v, k, blocks int) int {
	r, c := v%tile, k%tile/16
	return (v/tile*blocks+k/tile)*tileBytes + r*tile + (c^r%8)*16 + k%16
}

func refResidues(l *fake.Launch, both sides, steps int, more bool) {
	for _, s := range both[:l.Grid.Z] {
		refResiduesOf(l, s.x, s.exps, s.c, steps, more)
	}
}

func refResiduesOf(l *fake.Launch, x vectors, exps cuda.Pointer, c conversion, steps int, more bool) {
	m := x.mat(l)
	exp := fake.Slice[int64](l, exps, m.Rows)
	first := 0 // digit
	if more {
		first = 4 * int(c.first)
	}
	plainTiles, pairs := (int(c.plain)+15)/16, (int(c.karatsuba)+15)/16
	fragments := fake.Slice[uint8](l, c.constants, (plainTiles+2*pairs)*steps*512)
	moduli := fake.Slice[modulus](l, c.moduli, 16*(plainTiles+pairs))
	vectors, k := int(c.vectors), int(l.Grid.X)*strip
	planes := fake.Slice[int8](l, c.planes, int(c.plain+3*c.karatsuba)*int(c.stride))
	digits := make([][]int8, vectors*k)
	for v := range vectors {
		for h := range k {
			shift := int64(c.width)
			if v < m.Rows {
				shift -= exp[v]
			}
			if x := aligned(m, v, h, shift); x.Sign() != 0 {
				digits[v*k+h] = balancedDigits(x, first+stepBytes*steps)[first:]
			}
		}
	}
	constant := func(tile, row, digit int) int32 {
		lane, word := row%8*4+digit%16/4, row/8+digit%32/16*2
		return int32(int8(fragments[((tile*steps+digit/32)*32+lane)*16+word*4+digit%4]))
	}
	// each calls f with the sum of every number's digits times row of a tile.
	sums := func(tile, row int) []int32 {
		out := make([]int32, vectors*k)
		w := make([]int32, stepBytes*steps)
		for s := range w {
			w[s] = constant(tile, row, s)
		}
		for e, d := range digits {
			for s, x := range d {
				if x != 0 {
					out[e] += int32(x) * w[s]
				}
			}
		}
		return out
	}
	place := func(v int) int {
		if c.permute != 0 {
			return placeReference(v)
		}
		return v
	}
	for t := range int(c.plain) {
		for e, s := range sums(t/16, t%16) {
			at := t*int(c.stride) + tilePlace(place(e/k), e%k, int(c.blocks))
			if more {
				s += int32(planes[at])
			}
			planes[at] = int8(reducedReference(s, moduli[t]))
		}
	}
	for t := range int(c.karatsuba) {
		low, high := sums(plainTiles+t/16*2, t%16), sums(plainTiles+t/16*2+1, t%16)
		mod := moduli[16*plainTiles+t]
		for e := range low {
			at := (int(c.plain)+3*t)*int(c.stride) + tilePlace(place(e/k), e%k, int(c.blocks))
			s := low[e] + 128*high[e]
			if more {
				s += int32(planes[at]) + 128*int32(planes[at+int(c.stride)])
			}
			a0, a1 := split(int64(s - mulHigh(s+mod.m/2, int32(mod.inverse))*mod.m))
			planes[at], planes[at+int(c.stride)], planes[at+2*int(c.stride)] = int8(a0), int8(a1), int8(a0+a1)
		}
	}
}

// mulHigh returns the high word of a product.
func mulHigh(a, b int32) int32 { return int32(int64(a) * int64(b) >> 32) }

func reducePlainReference(s int32, r reduction) uint8 {
	q := mulHigh(s, r.scale[0]) >> r.shift
	return uint8(s - q*r.m)
}

func reduceFactorReference(s int32, r reduction, pass int) int32 {
	return s*r.factor[pass] - mulHigh(s, r.scale[pass])*r.m
}

// refProducts stands for the kernel of compute capability 8.
func refProducts(l *fake.Launch, p productArgs) {
	blocks, rows, cols := int(p.blocks), int(p.rows)*tile, int(p.cols)*tile
	n := int(p.plain + 3*p.karatsuba)
	left := fake.Slice[int8](l, p.left, n*int(p.leftStride))
	right := fake.Slice[int8](l, p.right, n*int(p.rightStride))
	moduli := fake.Slice[reduction](l, p.moduli, int(p.plain+p.karatsuba))
	out := fake.Slice[uint8](l, p.out, int(p.plain)*int(p.stride))
	var wide []uint16
	if p.karatsuba > 0 {
		wide = fake.Slice[uint16](l, p.wide, int(p.karatsuba)*int(p.stride))
	}
	// unpack returns vectors of a plane; those of zeros alone are nil.
	unpack := func(plane []int8, vectors int, place func(int) int) [][]int8 {
		out := make([][]int8, vectors)
		for v := range out {
			x, some := make([]int8, blocks*tile), false
			for h := range x {
				x[h] = plane[tilePlace(place(v), h, blocks)]
				some = some || x[h] != 0
			}
			if some {
				out[v] = x
			}
		}
		return out
	}
	for plane := range n {
		as := unpack(left[plane*int(p.leftStride):], rows, placeReference)
		bs := unpack(right[plane*int(p.rightStride):], cols, func(j int) int { return j })
		for i, a := range as {
			for j, b := range bs {
				var s int32
				if a != nil && b != nil {
					for h, x := range a {
						s += int32(x) * int32(b[h])
					}
				}
				at := j*int(p.ld) + i
				if plane < int(p.plain) {
					out[plane*int(p.stride)+at] = reducePlainReference(s, moduli[plane])
					continue
				}
				t, pass := (plane-int(p.plain))/3, (plane-int(p.plain))%3
				r := moduli[int(p.plain)+t]
				w := &wide[t*int(p.stride)+at]
				if pass == 0 {
					*w = uint16(r.m)
				}
				*w += uint16(reduceFactorReference(s, r, pass))
			}
		}
	}
}

// leave adds an entry to a list.
func (f leftovers) leave(l *fake.Launch, i, j int) {
	count := &fake.Slice[uint32](l, f.count, 1)[0]
	if int64(*count) < f.capacity {
		fake.Slice[uint64](l, f.list, int(f.capacity))[*count] = uint64(j)<<32 | uint64(i)
	}
	*count++
}

// integer returns the words of the integer of an entry's residues, 16 bytes a group.
func (f *finishing) integer(y []uint8, weights []uint8, product []uint32, steps int) []uint32 {
	word := func(w int) (x uint64) {
		for d := 4*w + 3; d >= 4*w; d-- {
			var sum int32
			for k, v := range y {
				if v != 0 {
					sum += int32(v) * int32(weights[fragmentByte(d/tileDigits, steps, d%tileDigits, k/16, k%16)])
				}
			}
			x = x<<8 + uint64(sum)
		}
		return x
	}
	q := int64((word(0) + 1<<(quotientBits-1)) >> quotientBits)
	out := make([]uint32, f.words)
	var carry int64
	for w := range out {
		x := int64(word(w+1)) - q*int64(product[w]) + carry
		out[w] = uint32(x)
		carry = x >> 32
	}
	return out
}

func magnitudeOf(words []uint32) (neg bool, mag []uint64) {
	mag = make([]uint64, len(words)/2+1)
	for i := range mag {
		for k := range 2 {
			w := uint64(0)
			if int32(words[len(words)-1]) < 0 {
				w = 1<<32 - 1
			}
			if 2*i+k < len(words) {
				w = uint64(words[2*i+k])
			}
			mag[i] |= w << (32 * k)
		}
	}
	if neg = int64(mag[len(mag)-1]) < 0; neg {
		num.Negate(mag)
	}
	return neg, mag
}

func refFinish(l *fake.Launch, f finishing, steps int) {
	tiles := (4*(int(f.words)+1) + tileDigits - 1) / tileDigits
	weights := fake.Slice[uint8](l, f.weights, tiles*steps*512)
	product := fake.Slice[uint32](l, f.product, int(f.words))
	expL, normL := fake.Slice[int64](l, f.l.exp, int(f.m)), fake.Slice[float64](l, f.l.second, int(f.m))
	expR, normR := fake.Slice[int64](l, f.r.exp, int(f.n)), fake.Slice[float64](l, f.r.second, int(f.n))
	flagsL, flagsR := fake.Slice[uint8](l, f.l.flags, int(f.m)), fake.Slice[uint8](l, f.r.flags, int(f.n))
	y := make([]uint8, 32*steps)
	bytes, _ := groups(int(f.plain), 0)
	for j := range int(f.n) {
		for i := range int(f.m) {
			gi, gj := int(f.i0)+i, int(f.j0)+j
			if f.triangle == 'U' && gi > gj || f.triangle == 'L' && gi < gj {
				continue
			}
			at := int64(j)*f.ld + int64(i)
			for t := range int(f.plain) {
				y[t] = fake.Slice[uint8](l, f.y+cuda.Pointer(int64(t)*f.stride+at), 1)[0]
			}
			for t := range int(f.karatsuba) {
				v := fake.Slice[uint16](l, f.wide+cuda.Pointer(2*(int64(t)*f.stride+at)), 1)[0]
				y[16*bytes+2*t], y[16*bytes+2*t+1] = uint8(v), uint8(v>>8)
			}
			x := f.integer(y, weights, product, steps)
			if f.raw != 0 {
				for w, v := range x {
					fake.Slice[uint32](l, f.raw+rawPlace(i, j, int(f.m), int(f.pitch), w), 1)[0] = v
				}
				continue
			}
			if (flagsL[i]|flagsR[j])&flagSpecial != 0 {
				f.failed.leave(l, gi, gj)
				continue
			}
			to := int(f.c.off) + gi*int(f.c.rs) + gj*int(f.c.cs)
			c := f.c.a.array(l, int(f.c.prec), to+1)
			neg, mag := magnitudeOf(x)
			err := f.errorL*normL[i] + f.errorR*normR[j] + f.error
			unit := f.unit + expL[i] + expR[j]
			if !storeReference(c, to, neg != (f.neg != 0), mag, unit, err, flagsL[i]|flagsR[j]) {
				f.failed.leave(l, gi, gj)
			}
		}
	}
}

// storeReference stores a number whose enclosure decides its rounding.
func storeReference(c *num.Array, to int, neg bool, mag []uint64, exp int64, err float64, flags uint8) bool {
	if num.IsZero(mag) {
		if err != 0 || flags&2 != 0 {
			return false
		}
		c.Set(to, num.Real{Class: num.Zero})
		return true
	}
	ends := num.New(c.Format, 2)
	var flagged num.Flags
	for i := range 2 {
		x := append(append([]uint64{}, mag...), 0)
		if err != 0 {
			e := []uint64{uint64(err) + 1}
			if i == 0 {
				num.SubShifted(x, e)
			} else {
				num.AddShifted(x, e)
			}
			if err >= 1<<60 || int64(x[len(x)-1]) < 0 || num.IsZero(x) {
				return false
			}
		}
		flagged |= ends.Set(i, num.Real{Class: num.Finite, Neg: neg, Mag: x, Exp: exp})
	}
	if flagged != 0 || !ends.SameBits(0, ends, 1) {
		return false
	}
	c.CopyFrom(to, ends, 0)
	return true
}

// rawPlace is where word w of the integer of entry (i, j) lies, words pitch to an integer.
func rawPlace(i, j, m, pitch, w int) cuda.Pointer {
	return cuda.Pointer(4 * (32*((j*((m+31)/32)+i/32)*pitch+w) + i%32))
}

// real returns the coefficient.
func (s scaling) real(l *fake.Launch) num.Real {
	if s.plain != 0 {
		return num.Real{Class: num.Finite, Neg: s.neg != 0, Exp: s.exp, Mag: []uint64{1}}
	}
	r := num.Real{Class: num.Finite, Neg: s.neg != 0, Exp: s.exp, Mag: make([]uint64, (s.count+1)/2)}
	for i, w := range fake.Slice[uint32](l, s.words, int(s.count)) {
		r.Mag[i/2] |= uint64(w) << (i % 2 * 32)
	}
	return r
}

// scaledOld returns beta, and old entry (i, j); zeros if there is none.
func (e *expressionArgs) scaledOld(l *fake.Launch, i, j int) (beta, old num.Real) {
	if e.adds == 0 {
		return num.Real{}, num.Real{}
	}
	at := int(e.off) + i*int(e.rs) + j*int(e.cs)
	return e.beta.real(l), e.old.array(l, 0, at+1).Value(at, make([]uint64, num.MaxValueWords))
}

// tally counts what a result met.
func tally(l *fake.Launch, counts cuda.Pointer, f num.Flags) {
	c := fake.Slice[uint64](l, counts, 2)
	if f&num.Overflow != 0 {
		c[0]++
	}
	if f&num.Underflow != 0 {
		c[1]++
	}
}

func refSettle(l *fake.Launch, p settling) {
	expL, normL := fake.Slice[int64](l, p.l.exp, int(p.m)), fake.Slice[float64](l, p.l.second, int(p.m))
	expR, normR := fake.Slice[int64](l, p.r.exp, int(p.n)), fake.Slice[float64](l, p.r.second, int(p.n))
	flagsL, flagsR := fake.Slice[uint8](l, p.l.flags, int(p.m)), fake.Slice[uint8](l, p.r.flags, int(p.n))
	for j := range int(p.n) {
		for i := range int(p.m) {
			gi, gj := int(p.i0)+i, int(p.j0)+j
			if p.triangle == 'U' && gi > gj || p.triangle == 'L' && gi < gj {
				continue
			}
			x := make([]uint32, p.words)
			for w := range x {
				x[w] = fake.Slice[uint32](l, p.raw+rawPlace(i, j, int(p.m), int(p.below+p.words), int(p.below)+w), 1)[0]
			}
			flags := flagsL[i] | flagsR[j]
			err := p.errorL*normL[i] + p.errorR*normR[j] + p.error
			if flags&flagSpecial != 0 || err >= 1<<60 || !p.settle(l, gi, gj, x, p.unit+expL[i]+expR[j], err, flags) {
				p.failed.leave(l, gi, gj)
			}
		}
	}
}

// settle rounds both ends of the enclosure of entry (i, j).
func (p *settling) settle(l *fake.Launch, i, j int, words []uint32, unit int64, err float64, flags uint8) bool {
	to := int(p.c.off) + i*int(p.c.rs) + j*int(p.c.cs)
	c := p.c.a.array(l, int(p.c.prec), to+1)
	beta, old := p.e.scaledOld(l, i, j)
	if old.Class > num.Finite {
		return false
	}
	ends := num.New(c.Format, 2)
	var met [2]num.Flags
	for k, side := range []int64{-1, 1} {
		neg, mag := magnitudeOf(words)
		x := new(big.Int)
		for w := range mag {
			x.Or(x, new(big.Int).Lsh(new(big.Int).SetUint64(mag[w]), uint(64*w)))
		}
		if neg {
			x.Neg(x)
		}
		if err != 0 {
			x.Add(x, big.NewInt(side*(int64(err)+1)))
		}
		var acc direct.Acc
		if x.Sign() != 0 {
			r := num.Real{Class: num.Finite, Neg: x.Sign() < 0, Exp: unit}
			for _, w := range x.Bits() {
				r.Mag = append(r.Mag, uint64(w))
			}
			acc.AddProduct(p.e.alpha.real(l), r)
		}
		if old.Class == num.Finite {
			acc.AddProduct(beta, old)
		}
		r := acc.Value(c.Format)
		if r.Class == num.Zero && (err != 0 || flags&2 != 0 && num.IsZero(mag)) {
			return false
		}
		met[k] = ends.Set(k, r)
	}
	if met[0] != met[1] || met[0]&num.Underflow != 0 && err != 0 || !ends.SameBits(0, ends, 1) {
		return false
	}
	tally(l, p.counts, met[0])
	c.CopyFrom(to, ends, 0)
	return true
}

func refExact(l *fake.Launch, p exactPass) {
	x, y := p.x.mat(l), p.y.mat(l)
	count := fake.Slice[uint32](l, p.from.count, 1)[0]
	list := fake.Slice[uint64](l, p.from.list, int(p.from.capacity))
	var acc direct.Acc
	for _, e := range list[:min(int64(count), p.from.capacity)] {
		i, j := int(uint32(e)), int(e>>32)
		low := fake.Slice[int64](l, p.l.second, x.Rows)[i] + fake.Slice[int64](l, p.r.second, y.Rows)[j]
		top := fake.Slice[int64](l, p.l.exp, x.Rows)[i] + fake.Slice[int64](l, p.r.exp, y.Rows)[j] + 2 + int64(bits.Len32(uint32(p.x.k)))
		flags := fake.Slice[uint8](l, p.l.flags, x.Rows)[i] | fake.Slice[uint8](l, p.r.flags, y.Rows)[j]
		if flags&flagSpecial != 0 || top >= low && (top-low)/32+2 > int64(p.room) {
			p.to.leave(l, i, j)
			continue
		}
		to := int(p.c.off) + i*int(p.c.rs) + j*int(p.c.cs)
		c := p.c.a.array(l, int(p.c.prec), to+1)
		beta, old := p.e.scaledOld(l, i, j)
		if old.Class > num.Finite {
			p.to.leave(l, i, j)
			continue
		}
		one := num.New(c.Format, 1)
		f := one.Set(0, acc.Entry(c.Format, p.e.alpha.real(l), x.Row(i), y.Row(j), beta, old))
		if f != 0 && c.Format.Kind != num.F32 && c.Format.Kind != num.F64 {
			p.to.leave(l, i, j)
			continue
		}
		tally(l, p.counts, f)
		c.CopyFrom(to, one, 0)
	}
}
