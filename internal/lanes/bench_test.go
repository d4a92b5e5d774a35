package lanes

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
)

// The times of cutting vertical digits and of multiplying them, a number, on data in cache.
func BenchmarkVertical(b *testing.B) {
	for _, p := range []int{106, 212, 424, 848, 1696} {
		t, ok := PlanSum(p, 1000)
		if !ok {
			b.Skip("no unit")
		}
		f := num.Format{Kind: num.MP, Prec: uint32(p)}
		lanes, n := t.Unit.Lanes, t.Numbers
		a := num.New(f, n*lanes)
		for i := range a.Cls {
			a.Cls[i] = num.MakeCls(i%2 == 0, num.Finite)
		}
		ref, zero := make([]int64, n*lanes), uint64(0)
		c := newCutter(t, f)
		sums := make([]int64, lanes*(t.Digits+1))
		perNumber := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*lanes), "ns/number")
		}
		b.Run(fmt.Sprintf("bits=%d/cut", p), func(b *testing.B) {
			for b.Loop() {
				j := c.job(a, 0, lanes, n)
				j.ref, j.refLane, j.refStep = unsafe.Pointer(&ref[0]), 1, lanes
				j.scale, j.sign = unsafe.Pointer(&zero), unsafe.Pointer(&zero)
				t.Unit.cut(j)
			}
			perNumber(b)
		})
		b.Run(fmt.Sprintf("bits=%d/axpy", p), func(b *testing.B) {
			for b.Loop() {
				t.add(true, sums, c.digits, c.digits, 8*t.Digits, n)
			}
			perNumber(b)
		})
		b.Run(fmt.Sprintf("bits=%d/dot", p), func(b *testing.B) {
			for b.Loop() {
				t.add(false, sums, c.digits, c.digits, t.pitch(), n)
			}
			perNumber(b)
		})
	}
}
