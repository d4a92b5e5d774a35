package gputest

import (
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
)

// convolveReference gives a fake driver the kernels of kernels/rows/convolve.cuh in Go.
func convolveReference(drv *fake.Driver) {
	for _, k := range abi.ReduceDigits() {
		if _, file := abi.DigitFile(k); file != "" {
			drv.Kernel(fmt.Sprintf("convolve%d", k), refConvolve)
		}
	}
}

func refConvolve(l *fake.Launch, r abi.Convolution) {
	shape := abi.ConvolveShapeOf(int(r.Digits))
	refFusedSums(l, r.FusedReduction, true, func(d addend, total *big.Int, top int64) {
		a, x := signedDigits(d, 8*shape.Groups, top+2), bytesOf(fraction(d.x, int64(8*shape.Kept), topOf(d.x)), shape.Kept)
		v := new(big.Int)
		for t := range shape.Kept {
			sum := int64(0)
			for p := range t + 1 {
				sum += a[p] * int64(x[t-p])
			}
			v.Add(v.Lsh(v, 8), big.NewInt(sum))
		}
		// 4 2^-8(N+1) of 2^top, in units of the last column
		total.Add(total, v.Lsh(v, uint(2-8*(shape.Kept+1)+abi.RowDigit*(int(r.Digits)+1))))
	})
}

// signedDigits returns the first n digits of 8 bits, -128 to 127, of the first factor of a product,
// with its sign, whose last one is cut toward zero.
func signedDigits(d addend, n int, top int64) []int64 {
	v := fraction(d.a, int64(8*n), top-topOf(d.x))
	if d.neg {
		v.Neg(v)
	}
	digits := make([]int64, n)
	for p := n - 1; p >= 0; p-- {
		u := int64(int8(new(big.Int).And(v, big.NewInt(255)).Int64()))
		digits[p] = u
		v.Rsh(v.Sub(v, big.NewInt(u)), 8)
	}
	return digits
}
