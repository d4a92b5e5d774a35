package gputest

import (
	"math/big"

	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
)

// refOuter is the kernels of kernels/rows/outer.cuh in Go.
func refOuter(l *fake.Launch, r abi.OuterReduction) {
	shape, _ := abi.OuterShapeOf(int(r.Digits))
	kept := shape.Kept(int(r.Digits))
	refFusedSums(l, r.FusedReduction, true, func(d addend, total *big.Int, top int64) {
		x, y := bytesOf(fraction(d.a, int64(8*kept), topOf(d.a)+top-d.top), kept), bytesOf(fraction(d.x, int64(8*kept), topOf(d.x)), kept)
		v := evaluate(kept, 8, func(t int) (sum uint64) {
			for p := range t + 1 {
				sum += uint64(x[p]) * uint64(y[t-p])
			}
			return sum
		})
		v.Lsh(v, uint(abi.RowDigit*(int(r.Digits)+1)-8*(kept+1))) // to the last column
		if d.neg {
			v.Neg(v)
		}
		total.Add(total, v)
	})
}

// bytesOf returns the k bytes of x, the highest first.
func bytesOf(x *big.Int, k int) []byte { return x.FillBytes(make([]byte, k)) }
