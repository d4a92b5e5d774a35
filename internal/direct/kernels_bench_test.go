package direct

import (
	"fmt"
	"testing"
	"unsafe"
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
