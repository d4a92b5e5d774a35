package modgemm

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/halfulp/halfulp/internal/hugepage"
)

// BenchmarkByteSweep multiplies whole matrices block by block as package exact does, modulo several
// moduli a block, on several threads that share the operands' planes.
func BenchmarkByteSweep(b *testing.B) {
	for _, s := range []struct{ n, moduli, karatsuba, threads, rows, cols int }{
		{1000, 20, 0, 1, 256, 512}, {1000, 0, 20, 1, 256, 512}, {4000, 20, 0, 1, 256, 512},
		{4000, 20, 0, 16, 256, 512}, {4000, 0, 8, 16, 256, 512}, {4000, 20, 0, 16, 512, 512},
	} {
		for _, large := range []bool{false, true} {
			b.Run(fmt.Sprintf("n=%d/moduli=%d+%d/threads=%d/block=%dx%d/large=%v", s.n, s.moduli, s.karatsuba, s.threads, s.rows, s.cols, large), func(b *testing.B) {
				benchBytes(b, func(b *testing.B, k *ByteKernel) {
					steps, panels := ByteSteps(s.n), BytePanels(s.n)
					stride := panels*PanelBytes(steps) + 64
					planes := s.moduli + 3*s.karatsuba
					alloc := func(n int) []int8 {
						x := make([]int8, n+63)
						if large {
							hugepage.Large(x)
						}
						x = AlignedBytes(x, n)
						for i := range x {
							x[i] = int8(i*7 + i>>10)
						}
						return x
					}
					x, y := alloc(planes*stride), alloc(planes*stride)
					pool := ByteModuli()
					var mods []ByteModulus
					for i := range s.moduli {
						mods = append(mods, NewByteModulus(pool.Moduli[1+i]))
					}
					for i := range s.karatsuba {
						mods = append(mods, NewByteModulus(pool.Moduli[pool.Plain+i]))
					}
					rp, cp := s.rows/PanelVectors, s.cols/PanelVectors
					rowBlocks, colBlocks := (panels+rp-1)/rp, (panels+cp-1)/cp
					cs := make([][]int16, s.threads)
					for i := range cs {
						cs[i] = make([]int16, len(mods)*s.rows*s.cols)
						if large {
							hugepage.Large(cs[i])
						}
						for j := range cs[i] {
							cs[i][j] = 1
						}
					}
					tasks := rowBlocks * colBlocks
					if s.threads == 1 {
						tasks = min(tasks, 8)
					}
					var macs atomic.Int64
					for b.Loop() {
						var next atomic.Int64
						var wg sync.WaitGroup
						for id := range s.threads {
							wg.Go(func() {
								for {
									task := int(next.Add(1)) - 1
									if task >= tasks {
										return
									}
									pi, pj := task%rowBlocks*rp, task/rowBlocks*cp
									mp, np := min(rp, panels-pi), min(cp, panels-pj)
									plane := 0
									for t := range mods {
										c := cs[id][t*s.rows*s.cols:][:s.rows*s.cols]
										a, bb := x[plane*stride+pi*PanelBytes(steps):], y[plane*stride+pj*PanelBytes(steps):]
										MulBytes(k, c, s.cols, a, stride, bb, stride, mp, np, steps, 0, steps, &mods[t], false)
										plane += mods[t].planes()
									}
									macs.Add(int64(mp*np*PanelVectors*PanelVectors) * int64(planes) * int64(s.n))
								}
							})
						}
						wg.Wait()
					}
					b.ReportMetric(float64(macs.Load())/b.Elapsed().Seconds()/1e9/float64(s.threads), "GMAC/s/thread")
				})
			})
		}
	}
}
