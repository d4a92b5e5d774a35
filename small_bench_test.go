package halfulp

import (
	"fmt"
	"testing"
)

// BenchmarkSmall times calls whose work is small compared with the cost of a call.
func BenchmarkSmall(b *testing.B) {
	b.Run("dot/4", func(b *testing.B) {
		x := NewVectorFloat64(4, 1, []float64{1, 2, 3, 4.5})
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Dot(x, x, Float64, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, n := range []int{2, 8, 16, 32} {
		b.Run(fmt.Sprintf("gemm/%d", n), func(b *testing.B) {
			x, z := NewMatrix(Float64, n, n), NewMatrix(Float64, n, n)
			for i := range n {
				for j := range n {
					x.SetFloat64(i, j, 1/float64(i+j+1))
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := Gemm(NoTrans, NoTrans, Float(1), x, x, Float(0), z, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, n := range []int{8, 32, 128} {
		b.Run(fmt.Sprintf("trsm/%d", n), func(b *testing.B) {
			a, z := Identity(Float64, n), NewMatrix(Float64, n, n)
			x := randomMatrix(Float64, n, n, 3, 1)
			for i := range n {
				for j := range i {
					a.SetFloat64(i, j, 1/float64(i+2*j+3))
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				z.CopyFrom(x)
				if err := Trsm(Left, Lower, NoTrans, NonUnit, Float(1), a, z, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
