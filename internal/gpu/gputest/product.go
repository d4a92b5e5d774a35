package gputest

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// The kernels in Go, by the same formulas. They replace the kernels on a fake device. Results of
// kernels on a real device are compared with theirs.

// Reference returns a fake device with the kernels of products.
func Reference(t testing.TB, drv *fake.Driver) *cuda.Device {
	t.Helper()
	drv.Kernel("scan", func(l *fake.Launch, x abi.Vectors, sx abi.Scanned, y abi.Vectors, sy abi.Scanned, o abi.OldSample, at, to cuda.Pointer, ticket uint32) {
		c := &fake.Slice[abi.Control](l, at, 1)[0]
		refScan(l, x, sx)
		refScan(l, y, sy)
		a := matOf(l, x)
		refSamples(l, a, func(_, i int) num.Vec { return a.Row(i) }, y, sx, sy, o, c.Samples[:])
		if to != 0 {
			refTell(l, to, ticket, c.Report)
		}
	})
	drv.Kernel("extents", func(l *fake.Launch, of abi.Extents) {
		for _, m := range of[:l.Grid.Y] {
			refScan(l, m.X, m.To)
		}
	})
	drv.Kernel("scanPanel", refScanPanel)
	drv.Kernel("scanPanels", refScanPanels)
	drv.Kernel("outcomes", func(l *fake.Launch, at, to cuda.Pointer, ticket uint32) {
		c := &fake.Slice[abi.Control](l, at, 1)[0]
		refTell(l, to, ticket, c.Outcome)
		if c.List == 0 {
			*c = abi.Control{}
		}
	})
	drv.Kernel("residues0", func(l *fake.Launch, both abi.Sides) {
		for _, s := range both.S[:l.Grid.Z] {
			if kind := num.Kind(s.X.A.Kind); s.C.Width > abi.ShortBits || s.C.Karatsuba != 0 || kind != num.F32 && kind != num.F64 && (kind != num.MP || s.X.A.Limbs != 1) {
				panic("residues0 is not for these")
			}
		}
		refResidues(l, both, 1, abi.ShortStrip, false)
	})
	for k := 1; k <= abi.MaxSteps; k++ {
		drv.Kernel(fmt.Sprintf("residues%d", k), func(l *fake.Launch, both abi.Sides) { refResidues(l, both, k, abi.Strip, false) })
	}
	drv.Kernel("residuesMore", func(l *fake.Launch, both abi.Sides) { refResidues(l, both, abi.MaxSteps, abi.Strip, true) })
	drv.Kernel("products", refProducts)
	drv.Kernel("finish0", func(l *fake.Launch, f abi.Finishing) {
		if kind := num.Kind(f.C.A.Kind); f.Words > abi.ShortWords || f.Raw != 0 || f.Karatsuba != 0 || kind != num.F32 && kind != num.F64 {
			panic("finish0 is not for these")
		}
		refFinish(l, f, 1)
	})
	for _, k := range abi.FinishSteps {
		drv.Kernel(fmt.Sprintf("finish%d", k), func(l *fake.Launch, f abi.Finishing) { refFinish(l, f, k) })
	}
	for _, k := range abi.FinishSteps {
		drv.Kernel(fmt.Sprintf("finish%dChecked", k), func(l *fake.Launch, f abi.Finishing) { refFinish(l, f, k) })
	}
	drv.Kernel("finishLongChecked", func(l *fake.Launch, f abi.Finishing) { refFinish(l, f, int(f.Steps)) })
	drv.Kernel("finishLong", func(l *fake.Launch, f abi.Finishing) { refFinish(l, f, int(f.Steps)) })
	drv.Kernel("settle", refSettle)
	drv.Kernel("olds", refOlds)
	drv.Kernel("exact", refExact)
	return opened(t, drv)
}

func refScan(l *fake.Launch, x abi.Vectors, out abi.Scanned) {
	if out.Total != 0 {
		refScanVectors(l, x, out, &fake.Slice[abi.Totals](l, out.Total, 1)[0])
	}
}

func refScanVectors(l *fake.Launch, x abi.Vectors, out abi.Scanned, all *abi.Totals) {
	m := matOf(l, x)
	exp, low := fake.Slice[int64](l, out.Exp, m.Rows), fake.Slice[int64](l, out.Low, m.Rows)
	norm, flags := fake.Slice[float64](l, out.Norm, m.Rows), fake.Slice[uint8](l, out.Flags, m.Rows)
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
			all.Width = max(all.Width, exp[v]-low[v])
		}
		all.Norm = max(all.Norm, norm[v])
		all.Flags |= uint32(flags[v])
	}
}

// refTell writes an answer to a mailbox.
func refTell[T any](l *fake.Launch, to cuda.Pointer, ticket uint32, x T) {
	fake.Slice[T](l, to+abi.ToldAt, 1)[0] = x
	atomic.StoreUint32(&fake.Slice[uint32](l, to, 1)[0], ticket)
}

// flagSpecial marks vectors with infinities or NaN, as kernels/common/common.cuh numbers it.
const flagSpecial = 1

// spreadOf is the room that scan leaves for the sum of the terms of an expansion.
func spreadOf(f num.Format) int64 { return int64(min(max(0, f.Terms()-1), 2)) }

// sampledRow returns which of n rows sample k has.
func sampledRow(k, n int) int {
	return int(math.Mod((float64(k)+0.5)*0.7548776662466927, 1) * float64(n))
}

// refSamples computes samples. row(k, i) returns row i of a, for sample k.
func refSamples(l *fake.Launch, a num.Mat, row func(k, i int) num.Vec, y abi.Vectors, sx, sy abi.Scanned, o abi.OldSample, s []abi.Sample) {
	b := matOf(l, y)
	var acc superacc.Acc
	for k := range s {
		i := sampledRow(k, a.Rows)
		j := int(math.Mod((float64(k)+0.5)*0.5698402909980532, 1) * float64(b.Rows))
		roomX, roomY := spreadOf(a.Arr.Format), spreadOf(b.Arr.Format)
		s[k] = abi.Sample{Size: -1e9, NormL: math.Ldexp(fake.Slice[float64](l, sx.Norm, a.Rows)[i], int(roomX)), NormR: math.Ldexp(fake.Slice[float64](l, sy.Norm, b.Rows)[j], int(roomY)), Cancelled: 0}
		acc.Reset()
		acc.AddDot(row(k, i), b.Row(j))
		r := acc.Value(num.Float64)
		if r.Class != num.Finite {
			continue
		}
		top := r.Exp + int64(num.BitLen(r.Mag))
		if o.Ratio != 0 {
			at := int(o.Off) + i*int(o.RS) + j*int(o.CS)
			old := arrayOf(l, o.Old, 0, at+1).Value(at, make([]uint64, num.MaxValueWords))
			ratio := Scalar(o.Ratio)
			ratio.Exp += o.Exp
			if old.Class == num.Finite {
				acc.AddProduct(ratio, old)
				most := max(top, old.Exp+int64(num.BitLen(old.Mag))+ratio.Exp+53)
				if r = acc.Value(num.Float64); r.Class == num.Finite {
					top = r.Exp + int64(num.BitLen(r.Mag))
				}
				if r.Class != num.Finite || top < most-30 {
					s[k].Cancelled, top = 1, most
				}
			}
		}
		s[k].Size = float64(min(64, top+roomX+roomY-fake.Slice[int64](l, sx.Exp, a.Rows)[i]-fake.Slice[int64](l, sy.Exp, b.Rows)[j]))
	}
}

// roundedWords adds round((-1)^neg mag 2^shift), halves upwards in magnitude, to sum modulo
// 2^(64 len(sum)). shifted is scratch of as many words.
func roundedWords(sum, shifted []uint64, r num.Real, shift int64) {
	if shift < 0 && -shift > int64(num.BitLen(r.Mag))+1 {
		return
	}
	// The bit below the units is the carry of the rounding.
	var carry uint64
	if shift < 0 {
		carry = num.WordAt(r.Mag, -shift-1) & 1
	}
	for i := range shifted {
		shifted[i] = num.WordAt(r.Mag, int64(64*i)-shift)
	}
	for i := 0; i < len(shifted) && carry != 0; i++ {
		shifted[i], carry = bits.Add64(shifted[i], carry, 0)
	}
	carry = 0
	for i, w := range shifted {
		if r.Neg {
			sum[i], carry = bits.Sub64(sum[i], w, carry)
		} else {
			sum[i], carry = bits.Add64(sum[i], w, carry)
		}
	}
}

// balancedDigits returns the digits of sum in radix 2^8, -128 <= d <= 127, modulo 2^(8 len(d)), in
// d, without zeros at the end. It changes sum.
func balancedDigits(d []int8, sum []uint64) []int8 {
	const bias = 0x8080808080808080
	var carry uint64
	for i := range sum {
		sum[i], carry = bits.Add64(sum[i], bias, carry)
	}
	n := 0
	for i := range d {
		if d[i] = int8(int(uint8(sum[i/8]>>(i%8*8))) - 128); d[i] != 0 {
			n = i + 1
		}
	}
	return d[:n]
}

// aligned adds the integer of number (v, h) to sum, term by term.
func aligned(sum, shifted []uint64, m num.Mat, v, h int, shift int64) {
	var buf [num.MaxValueWords]uint64
	n := m.Arr.Terms()
	if n <= 1 {
		if r := m.Arr.Value(m.At(v, h), buf[:]); r.Class == num.Finite {
			roundedWords(sum, shifted, r, shift+r.Exp)
		}
		return
	}
	for t := range n {
		one := num.Array{Format: num.Float64}
		one.F64[0] = m.Arr.F64[t]
		if r := one.Value(m.At(v, h), buf[:]); r.Class == num.Finite {
			roundedWords(sum, shifted, r, shift+r.Exp)
		}
	}
}

// reducedReference is reduced of kernels/exact/residues.cu.
func reducedReference(sum int32, m abi.Modulus) int32 {
	const magic = 0x4B400000
	s := float32(math.Float32frombits(uint32(sum)+magic) - 12582912)
	// exact in binary64 before the rounding
	q := float32(math.FMA(float64(s), float64(math.Float32frombits(m.Inverse)), 12582912))
	return int32(uint32(sum) + magic - math.Float32bits(q)*uint32(m.M))
}

// placeReference is place of kernels/common/mma.cuh.
func placeReference(v int) int {
	q, j, e := v%64/16, v%16/2, v%2
	return v - v%64 + 8*j + 2*q + e
}

// tilePlace is where number k of vector v lies in a plane.
func tilePlace(v, k, blocks int) int {
	r, c := v%abi.Tile, k%abi.Tile/16
	return (v/abi.Tile*blocks+k/abi.Tile)*abi.TileBytes + r*abi.Tile + (c^r%8)*16 + k%16
}

func refResidues(l *fake.Launch, both abi.Sides, steps, strip int, more bool) {
	if t := both.Told; t.C != 0 {
		refTell(l, t.To, t.Ticket, fake.Slice[abi.Control](l, t.C, 1)[0].Report)
	}
	for _, s := range both.S[:l.Grid.Z] {
		refResiduesOf(l, s.X, s.Exps, s.C, steps, strip, more)
	}
}

func refResiduesOf(l *fake.Launch, x abi.Vectors, exps cuda.Pointer, c abi.Conversion, steps, strip int, more bool) {
	m := matOf(l, x)
	exp := fake.Slice[int64](l, exps, m.Rows)
	first := 0 // digit
	if more {
		first = 4 * int(c.First)
	}
	plainTiles, pairs := (int(c.Plain)+15)/16, (int(c.Karatsuba)+15)/16
	fragments := fake.Slice[uint8](l, c.Constants, (plainTiles+2*pairs)*steps*512)
	moduli := fake.Slice[abi.Modulus](l, c.Moduli, 16*(plainTiles+pairs))
	vectors, k := int(c.Vectors), int(l.Grid.X)*strip
	n := first + abi.StepBytes*steps
	room := make([]int8, n*min(vectors, m.Rows)*min(k, m.Cols))
	sum, shifted := make([]uint64, (n+7)/8), make([]uint64, (n+7)/8)
	type number struct {
		place  int // in a plane
		digits []int8
	}
	var some []number                      // whose residues are computed
	groups := make([]int, 0, vectors*k/16) // places of sixteen numbers side by side
	for v := range vectors {
		at := v
		if c.Permute != 0 {
			at = placeReference(v)
		}
		for h := range k {
			if h%16 == 0 {
				groups = append(groups, tilePlace(at, h, int(c.Blocks)))
			}
			e := number{place: groups[len(groups)-1] + h%16}
			if v < m.Rows && h < m.Cols {
				clear(sum)
				aligned(sum, shifted, m, v, h, int64(c.Width)-exp[v])
				if d := balancedDigits(room[:n], sum); len(d) > first {
					e.digits = d[first:]
					room = room[n:]
				}
			} else if !more {
				continue
			}
			if e.digits != nil || more {
				some = append(some, e)
			}
		}
	}
	// The numbers may be some of longer vectors, whose planes begin before.
	planes := fake.Slice[int8](l, c.Planes, int(c.Plain+3*c.Karatsuba-1)*int(c.Stride)+slices.Max(groups)+16)
	constant := func(tile, row, digit int) int32 {
		lane, word := row%8*4+digit%16/4, row/8+digit%32/16*2
		return int32(int8(fragments[((tile*steps+digit/32)*32+lane)*16+word*4+digit%4]))
	}
	out, w := [2][]int32{make([]int32, len(some)), make([]int32, len(some))}, make([]int32, abi.StepBytes*steps)
	// sums returns the sums of the digits of some numbers times row of a tile, in a list of out.
	sums := func(list, tile, row int) []int32 {
		for s := range w {
			w[s] = constant(tile, row, s)
		}
		for i, e := range some {
			var sum int32
			for s, c := range w[:len(e.digits)] {
				sum += int32(e.digits[s]) * c
			}
			out[list][i] = sum
		}
		return out[list]
	}
	fill := func(plane []int8, value int8) {
		var sixteen [16]int8
		for i := range sixteen {
			sixteen[i] = value
		}
		for _, at := range groups {
			copy(plane[at:], sixteen[:])
		}
	}
	for t := range int(c.Plain) {
		plane := planes[t*int(c.Stride):]
		if !more {
			fill(plane, int8(reducedReference(0, moduli[t])))
		}
		for i, s := range sums(0, t/16, t%16) {
			at := some[i].place
			if more {
				s += int32(plane[at])
			}
			plane[at] = int8(reducedReference(s, moduli[t]))
		}
	}
	for t := range int(c.Karatsuba) {
		low, high := sums(0, plainTiles+t/16*2, t%16), sums(1, plainTiles+t/16*2+1, t%16)
		mod := moduli[16*plainTiles+t]
		plane := planes[(int(c.Plain)+3*t)*int(c.Stride):]
		put := func(at int, a0, a1 int32) {
			plane[at], plane[at+int(c.Stride)], plane[at+2*int(c.Stride)] = int8(a0), int8(a1), int8(a0+a1)
		}
		if !more {
			a0, a1 := SplitReference(0, mod)
			for part, zero := range []int8{int8(a0), int8(a1), int8(a0 + a1)} {
				fill(plane[part*int(c.Stride):], zero)
			}
		}
		for i := range low {
			at, s := some[i].place, low[i]+128*high[i]
			if more {
				s += int32(plane[at]) + 128*int32(plane[at+int(c.Stride)])
			}
			a0, a1 := SplitReference(s, mod)
			put(at, a0, a1)
		}
	}
}

// SplitReference returns the parts of a residue 128 a1 + a0 of a sum modulo a Karatsuba modulus, as
// kernels/exact/residues.cu makes them.
func SplitReference(sum int32, m abi.Modulus) (a0, a1 int32) {
	const margin = 1<<27 + 1<<24
	d := 17 * m.M >> 12
	sum += 128*d + 64
	x := sum - int32((int64(sum)*int64(m.Inverse)-margin)>>32)*m.M
	return x&127 - 64, x>>7 - d
}

// mulHigh returns the high word of a product.
func mulHigh(a, b int32) int32 { return int32(int64(a) * int64(b) >> 32) }

// ReducePlainReference is the reduction of a sum modulo a plain modulus of
// kernels/exact/product.cuh.
func ReducePlainReference(s int32, r abi.Reduction) uint8 {
	q := mulHigh(s, r.Scale[0]) >> r.Shift
	return uint8(s - q*r.M)
}

// ReduceFactorReference reduces one of the three sums modulo a Karatsuba modulus.
func ReduceFactorReference(s int32, r abi.Reduction, pass int) int32 {
	return s*r.Factor[pass] - mulHigh(s, r.Scale[pass])*r.M
}

// quickBlocks are the tiles along k up to which sums modulo Karatsuba moduli are reduced in
// binary32.
const quickBlocks = 8

// KaratsubaReference is the residue modulo a Karatsuba modulus before the first of the three sums,
// for a number of tiles along k, and what each sum adds to it.
func KaratsubaReference(blocks int, r abi.Reduction) (start int32, reduce func(s int32, pass int) int32) {
	if blocks > quickBlocks {
		return r.M, func(s int32, pass int) int32 { return ReduceFactorReference(s, r, pass) }
	}
	return 2 * r.M, func(s int32, pass int) int32 {
		ratio := float32(r.Scale[pass]) * 0x1p-32
		// exact in binary64 before the rounding
		return s*r.Factor[pass] - int32(math.RoundToEven(float64(s)*float64(ratio)))*r.M
	}
}

// refProducts stands for the kernel of compute capability 8.
func refProducts(l *fake.Launch, p abi.ProductArgs) {
	blocks, rows, cols := int(p.Blocks), int(p.Rows)*abi.Tile, int(p.Cols)*abi.Tile
	n := int(p.Plain + 3*p.Karatsuba)
	left := fake.Slice[int8](l, p.Left, n*int(p.LeftStride))
	right := fake.Slice[int8](l, p.Right, n*int(p.RightStride))
	moduli := fake.Slice[abi.Reduction](l, p.Moduli, int(p.Plain+p.Karatsuba))
	out := fake.Slice[uint8](l, p.Out, int(p.Plain)*int(p.Stride))
	var wide []uint16
	if p.Karatsuba > 0 {
		wide = fake.Slice[uint16](l, p.Wide, int(p.Karatsuba)*int(p.Stride))
	}
	// placesOf returns where the numbers of vectors lie in a plane, sixteen at a time.
	length := blocks * abi.Tile
	placesOf := func(vectors int, place func(int) int) []int {
		at := make([]int, vectors*length/16)
		for e := range at {
			at[e] = tilePlace(place(16*e/length), 16*e%length, blocks)
		}
		return at
	}
	// unpack returns vectors of a plane, each from begin to end; beyond are zeros.
	type vector struct {
		x          []int8
		begin, end int
	}
	unpack := func(plane []int8, places []int) []vector {
		out := make([]vector, 16*len(places)/length)
		for v := range out {
			for h, at := range places[v*length/16:][:length/16] {
				x := [16]int8(plane[at:])
				if x == [16]int8{} {
					continue
				}
				if out[v].x == nil {
					out[v] = vector{x: make([]int8, length), begin: 16 * h}
				}
				copy(out[v].x[16*h:], x[:])
				out[v].end = 16*h + 16
			}
		}
		return out
	}
	leftPlaces, rightPlaces := placesOf(rows, placeReference), placesOf(cols, func(j int) int { return j })
	type span struct{ begin, end int } // along k, of a tile
	spans := make([]span, int(p.Rows)*int(p.Cols))
	for row := range int(p.Rows) {
		for col := range int(p.Cols) {
			spans[row*int(p.Cols)+col].begin, spans[row*int(p.Cols)+col].end = rangeReference(&p, row, col)
		}
	}
	for plane := range n {
		as := unpack(left[plane*int(p.LeftStride):], leftPlaces)
		bs := unpack(right[plane*int(p.RightStride):], rightPlaces)
		mod, pass := moduli[min(plane, int(p.Plain))], 0
		if plane >= int(p.Plain) {
			mod, pass = moduli[int(p.Plain)+(plane-int(p.Plain))/3], (plane-int(p.Plain))%3
		}
		start, reduce := KaratsubaReference(blocks, mod)
		// put writes or adds what belongs to a sum of this plane. A sum of 0 has 0.
		put := func(i, j int, s int32) {
			if at := j*int(p.LD) + i; plane < int(p.Plain) {
				out[plane*int(p.Stride)+at] = ReducePlainReference(s, mod)
			} else {
				wide[(plane-int(p.Plain))/3*int(p.Stride)+at] += uint16(reduce(s, pass))
			}
		}
		// begin sets the sums of a tile's column to 0.
		begin := func(i, j int) {
			if at := j*int(p.LD) + i; plane < int(p.Plain) {
				clear(out[plane*int(p.Stride)+at:][:abi.Tile])
			} else if pass == 0 {
				column := wide[(plane-int(p.Plain))/3*int(p.Stride)+at:][:abi.Tile]
				for i := range column {
					column[i] = uint16(start)
				}
			}
		}
		var some []int // rows that are not zeros
		for i, a := range as {
			if a.x != nil {
				some = append(some, i)
			}
		}
		// Two columns at once: their numbers are the halves of a word, and their sums too.
		two := make([]int64, length)
		for j := 0; j < cols; j += 2 {
			b, c := bs[j], bs[j+1]
			from, to := min(b.begin, c.begin), max(b.end, c.end)
			clear(two)
			for h, x := range b.x {
				two[h] = int64(x)
			}
			for h, x := range c.x {
				two[h] += int64(x) << 32
			}
			spans := func(i int) span { return spans[i/abi.Tile*int(p.Cols)+j/abi.Tile] }
			for i0 := 0; i0 < rows; i0 += abi.Tile {
				begin(i0, j)
				begin(i0, j+1)
				if of := spans(i0); of.begin == of.end { // of a tile that is not needed
					for i := i0; i < i0+abi.Tile; i++ {
						put(i, j, int32(i*j)%100)
						put(i, j+1, int32(i*(j+1))%100)
					}
				}
			}
			if from == to {
				continue
			}
			for _, i := range some {
				a, of := as[i], spans(i)
				var s int64
				if from, to := max(from, a.begin, of.begin*abi.Tile), min(to, a.end, of.end*abi.Tile); from < to {
					t := two[from:to]
					for h, x := range a.x[from:to] {
						s += int64(x) * t[h]
					}
				}
				if s != 0 {
					put(i, j, int32(s))
					put(i, j+1, int32((s-int64(int32(s)))>>32))
				}
			}
		}
	}
}

// rangeReference returns which tiles along k a tile of the result takes.
func rangeReference(p *abi.ProductArgs, row, col int) (begin, end int) {
	i0, j0 := int(p.I0)+row*abi.Tile, int(p.J0)+col*abi.Tile
	i1, j1 := i0+abi.Tile, j0+abi.Tile
	if p.Triangle == 'L' && j0 >= i1 || p.Triangle == 'U' && i0 >= j1 {
		return 0, 0
	}
	end = int(p.Blocks)
	if p.LeftTriangle == 'L' {
		end = min(end, (i1+abi.Tile-1)/abi.Tile)
	}
	if p.RightTriangle == 'U' {
		end = min(end, (j1+abi.Tile-1)/abi.Tile)
	}
	if p.LeftTriangle == 'U' {
		begin = i0 / abi.Tile
	}
	if p.RightTriangle == 'L' {
		begin = max(begin, j0/abi.Tile)
	}
	begin = min(begin, int(p.Blocks)-1)
	return begin, max(end, begin+1)
}

// leave adds an entry to a list.
func leave(l *fake.Launch, f abi.Leftovers, i, j int) {
	count := &fake.Slice[uint32](l, f.Count, 1)[0]
	if int64(*count) < f.Capacity {
		fake.Slice[uint64](l, f.List, int(f.Capacity))[*count] = uint64(j)<<32 | uint64(i)
	}
	*count++
}

// integerOf returns the words of the integer of an entry's residues, 16 bytes a group, the
// quotient, and for products that are checked the sum of the y_t r_t.
func integerOf(f *abi.Finishing, y []uint8, weights []uint8, product []uint32, steps int) (out []uint32, q int64, rest uint64) {
	at := make([]int, len(y)) // where weights of a row lie, from its first one on
	for k := range at {
		at[k] = abi.FragmentByte(0, steps, 0, k/16, k%16)
	}
	word := func(w int) (x uint64) {
		for d := 4*w + 3; d >= 4*w; d-- {
			var sum int32
			row := weights[abi.FragmentByte(d/abi.TileDigits, steps, d%abi.TileDigits, 0, 0):]
			for k, v := range y {
				if v != 0 {
					sum += int32(v) * int32(row[at[k]])
				}
			}
			x = x<<8 + uint64(sum)
		}
		return x
	}
	q = int64((word(0) + 1<<(abi.QuotientBits-1)) >> abi.QuotientBits)
	out = make([]uint32, f.Words)
	var carry int64
	for w := range out {
		x := int64(word(w+1)) - q*int64(product[w]) + carry
		out[w] = uint32(x)
		carry = x >> 32
	}
	if f.Check.Modulus != 0 {
		rest = word(int(f.Words) + 1)
	}
	return out, q, rest
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

// refCompare is compare of kernels/exact/finish.cu.
func refCompare(l *fake.Launch, f *abi.Finishing, x []uint32, q int64, rest uint64, i, j int) {
	c := &f.Check
	powers := fake.Slice[uint32](l, c.Powers, len(x)+1)
	sum := rest + uint64(q)*uint64(c.Rest)
	for w, v := range x {
		sum += uint64(v) * uint64(powers[w])
	}
	if int32(x[len(x)-1]) < 0 {
		sum += uint64(c.Modulus - powers[len(x)])
	}
	y := fake.Slice[uint16](l, f.Wide+cuda.Pointer(2*(int64(f.Karatsuba)*f.Stride+int64(j)*f.LD+int64(i))), 1)[0]
	got, want := sum%uint64(c.Modulus), uint64(y)%uint64(c.Modulus)
	if got != want {
		place := uint64(f.J0+int32(j))*uint64(c.Rows) + uint64(f.I0+int32(i))
		fault := &fake.Slice[uint64](l, c.Fault, 1)[0]
		*fault = max(*fault, ^(place<<32 | got<<16 | want))
	}
}

func refFinish(l *fake.Launch, f abi.Finishing, steps int) {
	sums := int(f.Words) + 1
	if f.Check.Modulus != 0 {
		sums++
	}
	tiles := (4*sums + abi.TileDigits - 1) / abi.TileDigits
	weights := fake.Slice[uint8](l, f.Weights, tiles*steps*512)
	product := fake.Slice[uint32](l, f.Product, int(f.Words))
	expL, normL := fake.Slice[int64](l, f.L.Exp, int(f.M)), fake.Slice[float64](l, f.L.Second, int(f.M))
	expR, normR := fake.Slice[int64](l, f.R.Exp, int(f.N)), fake.Slice[float64](l, f.R.Second, int(f.N))
	flagsL, flagsR := fake.Slice[uint8](l, f.L.Flags, int(f.M)), fake.Slice[uint8](l, f.R.Flags, int(f.N))
	y := make([]uint8, 32*steps)
	bytes, _ := abi.Groups(int(f.Plain), 0)
	for j := range int(f.N) {
		for i := range int(f.M) {
			gi, gj := int(f.I0)+i, int(f.J0)+j
			if f.Triangle == 'U' && gi > gj || f.Triangle == 'L' && gi < gj {
				continue
			}
			at := int64(j)*f.LD + int64(i)
			for t := range int(f.Plain) {
				y[t] = fake.Slice[uint8](l, f.Y+cuda.Pointer(int64(t)*f.Stride+at), 1)[0]
			}
			for t := range int(f.Karatsuba) {
				v := fake.Slice[uint16](l, f.Wide+cuda.Pointer(2*(int64(t)*f.Stride+at)), 1)[0]
				y[16*bytes+2*t], y[16*bytes+2*t+1] = uint8(v), uint8(v>>8)
			}
			x, q, rest := integerOf(&f, y, weights, product, steps)
			if f.Check.Modulus != 0 {
				refCompare(l, &f, x, q, rest, i, j)
			}
			if f.Raw != 0 {
				for w, v := range x {
					fake.Slice[uint32](l, f.Raw+rawPlace(i, j, int(f.M), int(f.Pitch), w), 1)[0] = v
				}
				continue
			}
			if (flagsL[i]|flagsR[j])&flagSpecial != 0 {
				leave(l, f.Failed, gi, gj)
				continue
			}
			to := int(f.C.Off) + gi*int(f.C.RS) + gj*int(f.C.CS)
			c := arrayOf(l, f.C.A, int(f.C.Prec), to+1)
			neg, mag := magnitudeOf(x)
			err := float64(f.ErrorL*normL[i]) + float64(f.ErrorR*normR[j]) + f.Error
			unit, flags := f.Unit+expL[i]+expR[j], flagsL[i]|flagsR[j]
			if err < 0 {
				err, flags = 0, 0
			}
			if !storeReference(c, to, neg != (f.Neg != 0), mag, unit, err, flags) {
				leave(l, f.Failed, gi, gj)
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

// coefficientAt returns a coefficient on the device.
func coefficientAt(l *fake.Launch, s abi.Scaling) num.Real {
	if s.Plain != 0 {
		return num.Real{Class: num.Finite, Neg: s.Neg != 0, Exp: s.Exp, Mag: []uint64{1}}
	}
	r := num.Real{Class: num.Finite, Neg: s.Neg != 0, Exp: s.Exp, Mag: make([]uint64, (s.Count+1)/2)}
	for i, w := range fake.Slice[uint32](l, s.Words, int(s.Count)) {
		r.Mag[i/2] |= uint64(w) << (i % 2 * 32)
	}
	return r
}

// scaledOld returns beta and old entry (i, j), or zeros if there are no old entries.
func scaledOld(l *fake.Launch, e abi.ExpressionArgs, i, j int) (beta, old num.Real) {
	if e.Adds == 0 {
		return num.Real{}, num.Real{}
	}
	at := int(e.Off) + i*int(e.RS) + j*int(e.CS)
	return coefficientAt(l, e.Beta), arrayOf(l, e.Old, 0, at+1).Value(at, make([]uint64, num.MaxValueWords))
}

// tally counts the flags of a result.
func tally(l *fake.Launch, counts cuda.Pointer, f num.Flags) {
	c := fake.Slice[uint64](l, counts, 2)
	if f&num.Overflow != 0 {
		c[0]++
	}
	if f&num.Underflow != 0 {
		c[1]++
	}
}

func refSettle(l *fake.Launch, p abi.Settling) {
	expL, normL := fake.Slice[int64](l, p.L.Exp, int(p.M)), fake.Slice[float64](l, p.L.Second, int(p.M))
	expR, normR := fake.Slice[int64](l, p.R.Exp, int(p.N)), fake.Slice[float64](l, p.R.Second, int(p.N))
	flagsL, flagsR := fake.Slice[uint8](l, p.L.Flags, int(p.M)), fake.Slice[uint8](l, p.R.Flags, int(p.N))
	for j := range int(p.N) {
		for i := range int(p.M) {
			gi, gj := int(p.I0)+i, int(p.J0)+j
			if p.Triangle == 'U' && gi > gj || p.Triangle == 'L' && gi < gj {
				continue
			}
			x := make([]uint32, p.Words)
			for w := range x {
				x[w] = fake.Slice[uint32](l, p.Raw+rawPlace(i, j, int(p.M), int(p.Below+p.Words), int(p.Below)+w), 1)[0]
			}
			flags := flagsL[i] | flagsR[j]
			err := float64(p.ErrorL*normL[i]) + float64(p.ErrorR*normR[j]) + p.Error
			if err < 0 {
				err, flags = 0, flags&flagSpecial
			}
			if flags&flagSpecial != 0 || err >= 1<<60 || !refSettleEntry(l, &p, gi, gj, x, p.Unit+expL[i]+expR[j], err, flags) {
				leave(l, p.Failed, gi, gj)
			}
		}
	}
}

// refSettleEntry rounds both ends of the enclosure of entry (i, j).
func refSettleEntry(l *fake.Launch, p *abi.Settling, i, j int, words []uint32, unit int64, err float64, flags uint8) bool {
	to := int(p.C.Off) + i*int(p.C.RS) + j*int(p.C.CS)
	c := arrayOf(l, p.C.A, int(p.C.Prec), to+1)
	beta, old := scaledOld(l, p.E, i, j)
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
		var acc superacc.Acc
		if x.Sign() != 0 {
			r := num.Real{Class: num.Finite, Neg: x.Sign() < 0, Exp: unit}
			for _, w := range x.Bits() {
				r.Mag = append(r.Mag, uint64(w))
			}
			acc.AddProduct(coefficientAt(l, p.E.Alpha), r)
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
	tally(l, p.Counts, met[0])
	c.CopyFrom(to, ends, 0)
	return true
}

func refExact(l *fake.Launch, p abi.ExactPass) {
	x, y := matOf(l, p.X), matOf(l, p.Y)
	count := fake.Slice[uint32](l, p.From.Count, 1)[0]
	list := fake.Slice[uint64](l, p.From.List, int(p.From.Capacity))
	var acc superacc.Acc
	for _, e := range list[:min(int64(count), p.From.Capacity)] {
		i, j := int(uint32(e)), int(e>>32)
		low := fake.Slice[int64](l, p.L.Second, x.Rows)[i] + fake.Slice[int64](l, p.R.Second, y.Rows)[j]
		top := fake.Slice[int64](l, p.L.Exp, x.Rows)[i] + fake.Slice[int64](l, p.R.Exp, y.Rows)[j] + 2 + int64(bits.Len32(uint32(p.X.K)))
		flags := fake.Slice[uint8](l, p.L.Flags, x.Rows)[i] | fake.Slice[uint8](l, p.R.Flags, y.Rows)[j]
		if flags&flagSpecial != 0 || top >= low && (top-low)/32+2 > int64(p.Room) {
			leave(l, p.To, i, j)
			continue
		}
		to := int(p.C.Off) + i*int(p.C.RS) + j*int(p.C.CS)
		c := arrayOf(l, p.C.A, int(p.C.Prec), to+1)
		beta, old := scaledOld(l, p.E, i, j)
		if old.Class > num.Finite {
			leave(l, p.To, i, j)
			continue
		}
		one := num.New(c.Format, 1)
		f := one.Set(0, acc.Entry(c.Format, coefficientAt(l, p.E.Alpha), x.Row(i), y.Row(j), beta, old))
		if f != 0 && c.Format.Kind != num.F32 && c.Format.Kind != num.F64 {
			leave(l, p.To, i, j)
			continue
		}
		tally(l, p.Counts, f)
		c.CopyFrom(to, one, 0)
	}
}
