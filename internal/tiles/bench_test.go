package tiles

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

// The time of products on tiles, a number, on data in cache, by columns and by rows in line.
func BenchmarkTiles(b *testing.B) {
	for _, p := range []int{212, 848, 960, 1100, 1250, 1350, 1500, 1700, 2000} {
		for _, byRows := range []bool{false, true} {
			b.Run(fmt.Sprintf("bits=%d/byRows=%v", p, byRows), func(b *testing.B) {
				f := num.Format{Kind: num.MP, Prec: uint32(p)}
				t, ok := PlanRows(f, p, 1000, 1000)
				if !ok {
					b.Skip("no unit")
				}
				rows, cols := 2*Rows, 4*Quad*t.unitQuads()
				a, x := num.New(f, rows*cols), num.New(f, cols)
				for _, v := range []*num.Array{a, x} {
					for i := range v.Cls {
						v.Cls[i] = num.MakeCls(i%3 == 0, num.Finite)
						v.Sig[(i+1)*v.Limbs()-1] = 1 << 63
					}
				}
				m := num.Mat{Arr: a, RS: 1, CS: rows, Rows: rows, Cols: cols}
				if byRows {
					m.RS, m.CS = cols, 1
				}
				v, scale, _ := t.Vector(num.Vec{Arr: x, Inc: 1, N: cols})
				s := NewSums(t, m, byRows, rows, references(m, scale))
				s.x = v
				for b.Loop() {
					s.addTiles(0, rows, 0, cols/Quad)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows*cols), "ns/number")
			})
		}
	}
}

// The time of products of a matrix in memory with a vector, a number.
func BenchmarkTilesMemory(b *testing.B) {
	for _, p := range []int{212, 848, 2000} {
		for _, byRows := range []bool{false, true} {
			b.Run(fmt.Sprintf("bits=%d/byRows=%v", p, byRows), func(b *testing.B) {
				f := num.Format{Kind: num.MP, Prec: uint32(p)}
				t, ok := PlanRows(f, p, 1000, 1000)
				if !ok {
					b.Skip("no unit")
				}
				rows, cols := 512, 1000
				a, x := num.New(f, rows*cols), num.New(f, cols)
				for _, v := range []*num.Array{a, x} {
					for i := range v.Cls {
						v.Cls[i] = num.MakeCls(i%3 == 0, num.Finite)
						v.Sig[(i+1)*v.Limbs()-1] = 1 << 63
					}
				}
				m := num.Mat{Arr: a, RS: 1, CS: rows, Rows: rows, Cols: cols}
				if byRows {
					m.RS, m.CS = cols, 1
				}
				v, scale, _ := t.Vector(num.Vec{Arr: x, Inc: 1, N: cols})
				s := NewSums(t, m, byRows, rows, references(m, scale))
				for b.Loop() {
					s.Add(v, 0, rows)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows*cols), "ns/number")
			})
		}
	}
}

// The time of products of dot products on tiles on data in cache.
func BenchmarkTileDot(b *testing.B) {
	for _, p := range []int{212, 350, 424, 848, 1100, 1200, 1350, 1500, 1700, 2000} {
		b.Run(fmt.Sprintf("bits=%d", p), func(b *testing.B) {
			const n = 16 * tileNumbers
			f := num.Format{Kind: num.MP, Prec: uint32(p)}
			t, ok := PlanDot(f, f, p, 1<<20)
			if !ok {
				b.Skip("no unit")
			}
			x := num.New(f, n)
			for i := range n {
				x.Cls[i] = num.MakeCls(i%3 == 0, num.Finite)
				x.Sig[(i+1)*x.Limbs()-1] = 1 << 63
			}
			s, scale := NewDot(t), make([]int64, n)
			j := &tileDotJob{
				room: unsafe.Pointer(&s.room[0]), limit: 8 * t.Digits(), far: unsafe.Pointer(&s.far[0]), blocks: t.Blocks,
			}
			for b.Loop() {
				j.run(t, x, 0, x, 0, scale)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/product")
		})
	}
}
