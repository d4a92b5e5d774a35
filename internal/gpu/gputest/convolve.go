package gputest

import (
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// convolveReference gives a fake driver the kernels of kernels/rows/convolve.cuh in Go.
func convolveReference(drv *fake.Driver) {
	for _, k := range abi.ReduceDigits() {
		if _, file := abi.DigitFile(k); file != "" {
			drv.Kernel(fmt.Sprintf("convolve%d", k), func(l *fake.Launch, r abi.Convolution) { refConvolve(l, r, k) })
		}
	}
}

// smallDigits returns the first n digits of 7 bits of |x| < 2^top, with its sign.
func smallDigits(x num.Real, n int, top int64) []int64 {
	d := make([]int64, n)
	if x.Class != num.Finite {
		return d
	}
	v := fraction(x, int64(7*n), top)
	for i := n - 1; i >= 0; i-- {
		d[i] = new(big.Int).And(v, big.NewInt(127)).Int64()
		if x.Neg {
			d[i] = -d[i]
		}
		v.Rsh(v, 7)
	}
	return d
}

// refToeplitz makes the table of digits of x.
func refToeplitz(l *fake.Launch, r abi.RowReduction) {
	x := matOf(l, r.X)
	table := fake.Slice[int8](l, r.Table, x.Cols*int(r.Tiles)*64)
	var buf [num.MaxValueWords]uint64
	for h := range x.Cols {
		v := x.Arr.Value(x.At(0, h), buf[:])
		d := smallDigits(v, 8*int(r.Tiles), topOf(v))
		for g := range 8 * int(r.Tiles) {
			for i := range 8 { // digits g - 3 to g, then the four before
				at := g - 3 + i%4 - i/4*4
				digit := int64(0)
				if at >= 0 {
					digit = d[at]
				}
				table[(h*8*int(r.Tiles)+g)*8+i] = int8(digit)
			}
		}
	}
}

func refConvolve(l *fake.Launch, r abi.Convolution, k int) {
	n, cols, tiles := int(r.A.N), int(r.A.K), abi.ConvolveTiles(k)
	table := fake.Slice[int8](l, r.Table, cols*tiles*64)
	columns := fake.Slice[int64](l, r.Columns, (k+1)*n)
	tops := mergeSpans(l, r.S, r.Parts, int(r.Count), n)
	a, x := matOf(l, r.A), matOf(l, r.X)
	var bufs [2][num.MaxValueWords]uint64
	for i := range n {
		sums := make([]int64, 8*tiles+1) // D_t is number t + 1
		for h := range cols {
			u, v := a.Arr.Value(a.At(i, h), bufs[0][:]), x.Arr.Value(x.At(0, h), bufs[1][:])
			if u.Class != num.Finite || v.Class != num.Finite {
				continue
			}
			d := smallDigits(u, 4*k, tops[i]-topOf(v))
			for t := range 8 * tiles {
				for p := range min(t+1, 4*k) {
					sums[t+1] += d[p] * int64(table[((h*8*tiles)+t-p)*8+3])
				}
			}
		}
		for at, v := range sums {
			if at/4 <= k {
				columns[at/4*n+i] += v << (21 - 7*(at%4))
			}
		}
	}
	sumsIn(l, r.Columns, r.S, n, k).conclude(l, r.End)
}
