package gputest

import (
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// arrayOf returns the array of the view's numbers in the fake's memory.
func arrayOf(l *fake.Launch, n abi.Numbers, prec, length int) *num.Array {
	a := &num.Array{Format: num.Format{Kind: num.Kind(n.Kind), Prec: uint32(prec)}}
	switch a.Kind {
	case num.F32:
		a.F32 = fake.Slice[float32](l, n.Plane[0], length)
	case num.MP:
		a.Prec = uint32(64 * n.Limbs)
		if prec != 0 {
			a.Prec = uint32(prec)
		}
		a.Sig = fake.Slice[uint64](l, n.Plane[0], length*int(n.Limbs))
		a.Exp = fake.Slice[int32](l, n.Plane[1], length)
		a.Cls = fake.Slice[num.Cls](l, n.Plane[2], length)
	default:
		for t := range a.Terms() {
			a.F64[t] = fake.Slice[float64](l, n.Plane[t], length)
		}
	}
	return a
}

// matOf returns the vectors as rows of a matrix.
func matOf(l *fake.Launch, x abi.Vectors) num.Mat {
	last := int(x.Off) + max(0, (int(x.N)-1)*int(x.RS)) + max(0, (int(x.K)-1)*int(x.CS))
	return num.Mat{Arr: arrayOf(l, x.A, 0, last+1), Off: int(x.Off), RS: int(x.RS), CS: int(x.CS), Rows: int(x.N), Cols: int(x.K)}
}

// resultsOf returns the view of a target for the vectors x.
func resultsOf(l *fake.Launch, z abi.Target, x abi.Vectors) num.Mat {
	m := matOf(l, abi.Vectors{A: z.A, Off: z.Off, RS: z.RS, CS: z.CS, N: x.N, K: x.K})
	if m.Arr.Kind == num.MP {
		m.Arr.Prec = uint32(z.Prec)
	}
	return m
}

func topOf(r num.Real) int64 { return r.Exp + int64(num.BitLen(r.Mag)) }
