package rns

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
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
			{"Reduce1", func() { sumOf(Reduce1(x, nil)) }},
			{"Reduce2", func() { sumOf(Reduce2(x, nil)) }},
			{"Reduce3", func() { sumOf(Reduce3(x, nil)) }},
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

func odd(x *big.Int) *big.Int { return x.SetBit(x, 0, 1) }

// BenchmarkGemv measures a multiply-add of a 200 x 200 product by algorithm 1, with inputs
// of p/4 bits, which need hardly any rounding, and of p bits.
func BenchmarkGemv(b *testing.B) {
	const n = 200
	r := rand.New(rand.NewPCG(5, 6))
	for _, p := range GemvPrecisions {
		base, err := GemvBase(p)
		if err != nil {
			b.Fatal(err)
		}
		one := base.NewNumber().SetInt64(1)
		for _, in := range []struct {
			name string
			bits int
		}{{"quarter", p / 4}, {"full", p}} {
			array := base.NewArray(n * (n + 2))
			for i := range array.Len() {
				v := array.val(i)
				base.setInt(&v, odd(randomInt(r, in.bits)), -int64(in.bits), r.IntN(2) == 0)
				array.put(i, &v)
			}
			a, x, y := array.Matrix(0, n, n, n), array.Vector(n*n, n, 1), array.Vector(n*(n+1), n, 1)
			b.Run(fmt.Sprintf("%s/%d", in.name, p), func(b *testing.B) {
				measure(b, n*n, func() { done(Gemv(halfulp.NoTrans, one, a, x, one, y, nil)) })
			})
		}
	}
}
