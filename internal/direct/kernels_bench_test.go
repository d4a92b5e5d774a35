package direct

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

// The time of one product of the two digit kernels on data in cache.
func BenchmarkConvolve(b *testing.B) {
	for rows := 1; rows <= 2; rows++ {
		for _, g := range []int{1, 2, 3, 4, 8, 16} {
			n := 255 / (4*g + 1)
			b.Run(fmt.Sprintf("rows=%d/groups=%d", rows, g), func(b *testing.B) {
				x := make([]int64, n*(4*g+4))
				a := make([]int64, rows*n*4*g)
				acc := make([]int64, rows*8*g)
				for b.Loop() {
					convolveFast(rows, g, unsafe.Pointer(&acc[0]), 64*g, unsafe.Pointer(&a[0]), 32*g*n, unsafe.Pointer(&x[0]), n)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows*n), "ns/mul")
			})
		}
	}
}

func BenchmarkSplitDigits(b *testing.B) {
	for _, c := range [][2]int{{1, 1}, {2, 2}, {4, 3}, {7, 4}, {14, 8}, {27, 16}} {
		limbs, g := c[0], c[1]
		b.Run(fmt.Sprintf("limbs=%d/groups=%d", limbs, g), func(b *testing.B) {
			const n = 16
			s := newSplitter(g, limbs, n)
			sig := make([]uint64, n*limbs)
			exp, cls := make([]int32, n), make([]uint8, n)
			ref := make([]int64, n)
			zero := make([]int64, 1)
			for i := range cls {
				cls[i] = 2
				ref[i] = int64(i % 3)
			}
			dst := make([]int64, n*4*g)
			j := s.job()
			j.dst, j.dstPitch = unsafe.Pointer(&dst[0]), 32*g
			s.significands(&j, sig, 0, 1)
			j.exp, j.expPitch = unsafe.Pointer(&exp[0]), 4
			j.cls, j.clsPitch = unsafe.Pointer(&cls[0]), 1
			j.ref, j.refPitch = unsafe.Pointer(&ref[0]), 8
			j.scale = unsafe.Pointer(&zero[0])
			j.n = n
			for b.Loop() {
				splitDigitsFast(&j)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/number")
		})
	}
}

// The time of products on tiles, a number, on data in cache, by columns and by rows in line.
func BenchmarkTiles(b *testing.B) {
	for _, p := range []int{212, 848, 1696} {
		for _, byRows := range []bool{false, true} {
			b.Run(fmt.Sprintf("bits=%d/byRows=%v", p, byRows), func(b *testing.B) {
				f := num.Format{Kind: num.MP, Prec: uint32(p)}
				t, ok := planTiles(f, p, 1000, 1000)
				if !ok {
					b.Skip("no unit")
				}
				rows, cols := 2*tileRows, 4*quad*t.unitQuads()
				a, x := num.New(f, rows*cols), num.New(f, cols)
				for _, v := range []*num.Array{a, x} {
					for i := range v.Cls {
						v.Cls[i] = num.MakeCls(i%3 == 0, num.Finite)
						v.Sig[(i+1)*v.Limbs()-1] = 1 << 63
					}
				}
				g := &gemv{m: num.Mat{Arr: a, RS: 1, CS: rows, Rows: rows, Cols: cols}, block: rows, byRows: byRows}
				if byRows {
					g.m.RS, g.m.CS = cols, 1
				}
				g.sums.tiles = t
				w := newGemvWorker(g, f)
				w.ref, w.special = make([]int64, rows+sumLanes), make([]bool, rows)
				w.xTiles, w.scale, _ = t.vector(num.Vec{Arr: x, Inc: 1, N: cols})
				w.tiles = w.newTileSums()
				w.references(0, rows)
				for b.Loop() {
					w.addTiles(0, rows, 0, cols/quad)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows*cols), "ns/number")
			})
		}
	}
}

// The time of products of dot products on tiles on data in cache.
func BenchmarkTileDot(b *testing.B) {
	for _, p := range []int{212, 424, 848, 1696} {
		b.Run(fmt.Sprintf("bits=%d", p), func(b *testing.B) {
			const n = 16 * tileNumbers
			f := num.Format{Kind: num.MP, Prec: uint32(p)}
			t, ok := planTileDot(f, f, p, 1<<20)
			if !ok {
				b.Skip("no unit")
			}
			x := num.New(f, n)
			for i := range n {
				x.Cls[i] = num.MakeCls(i%3 == 0, num.Finite)
				x.Sig[(i+1)*x.Limbs()-1] = 1 << 63
			}
			s, scale := newTileDot(t), make([]int64, n)
			j := &tileDotJob{
				room: unsafe.Pointer(&s.room[0]), limit: 8 * t.digits(), far: unsafe.Pointer(&s.far[0]), blocks: t.blocks,
			}
			for b.Loop() {
				j.run(t, x, 0, x, 0, scale)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/product")
		})
	}
}
