package rns

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkSum sums 10^6 doubles, uniform in [0, 1], as figures 6 and 7 of 003 do.
func BenchmarkSum(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]float64, 1000000)
	for i := range data {
		data[i] = r.Float64()
	}
	for _, p := range SummationPrecisions[1:] {
		base, err := SummationBase(p)
		if err != nil {
			b.Fatal(err)
		}
		x := base.VectorFloat64(data)
		for _, sum := range []struct {
			name string
			do   func()
		}{
			{"Reduce1", func() { Reduce1(x) }},
			{"Reduce2", func() { Reduce2(x) }},
			{"Reduce3", func() { Reduce3(x, nil) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", sum.name, p), func(b *testing.B) {
				measure(b, len(data), sum.do)
			})
		}
	}
}

// BenchmarkOperations measures one operation on full significands.
func BenchmarkOperations(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, p := range GemvPrecisions {
		base, err := GemvBase(p)
		if err != nil {
			b.Fatal(err)
		}
		x, y, z := base.NewNumber(), base.NewNumber(), base.NewNumber()
		base.setInt(&x.v, randomInt(r, base.maxSigBits-1), 0, false)
		base.setInt(&y.v, randomInt(r, base.maxSigBits-1), 5, false)
		for _, op := range []struct {
			name string
			do   func()
		}{
			{"Add", func() { z.Add(x, y) }},
			{"Mul", func() { z.Mul(x, y) }},
			{"FMA", func() { z.FMA(x, y, x) }},
			{"Quo", func() { z.Quo(x, y) }},
			{"Sqrt", func() { z.Sqrt(x) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", op.name, p), func(b *testing.B) {
				measure(b, 1, op.do)
			})
		}
	}
}

// measure runs a benchmark of n operations a call and reports the processor time of one.
func measure(b *testing.B, n int, do func()) {
	cpu := cpuTime()
	for b.Loop() {
		do()
	}
	b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N*n), "cpu-ns/each")
}
