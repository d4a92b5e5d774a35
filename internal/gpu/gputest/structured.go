package gputest

import (
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

// structuredReference has the kernels of kernels/rows/structured.cu in Go.
func structuredReference(drv *fake.Driver) {
	drv.Kernel("fill", refFill)
	drv.Kernel("odd", refOddNumbers)
	drv.Kernel("mend", refMend)
}

// resultOf returns the rows x cols results of a target.
func resultOf(l *fake.Launch, t abi.Target, rows, cols int32) num.Mat {
	m := matOf(l, abi.Vectors{A: t.A, Off: t.Off, RS: t.RS, CS: t.CS, N: rows, K: cols})
	if m.Arr.Kind == num.MP {
		m.Arr.Prec = uint32(t.Prec)
	}
	return m
}

func refFill(l *fake.Launch, f abi.Filling) {
	z := resultOf(l, f.Z, f.X.N, f.X.K)
	last := int(f.X.Off)
	place := func(i, j int) int {
		if f.Layout != abi.LayoutView && f.Layout != abi.LayoutPackedLower && i > j || f.Layout == abi.LayoutPackedLower && i < j {
			i, j = j, i
		}
		switch f.Layout {
		case abi.LayoutPackedUpper:
			return int(f.X.Off) + int(f.X.RS)*(i+j*(j+1)/2)
		case abi.LayoutPackedLower:
			return int(f.X.Off) + int(f.X.RS)*(i+j*(2*int(f.Order)-j-1)/2)
		}
		return int(f.X.Off) + i*int(f.X.RS) + j*int(f.X.CS)
	}
	each := func(do func(to, i, j int, there bool)) {
		for j := range z.Cols {
			for i := range z.Rows {
				row, col := int(f.I0)+i, int(f.J0)+j
				do(z.At(i, j), row, col, row-col <= int(f.Below) && col-row <= int(f.Above))
			}
		}
	}
	each(func(_, i, j int, there bool) {
		if there && !(f.Unit != 0 && i == j) {
			last = max(last, place(i, j))
		}
	})
	x := arrayOf(l, f.X.A, 0, last+1)
	each(func(to, i, j int, there bool) {
		switch {
		case !there:
			z.Arr.Set(to, num.Real{})
		case f.Unit != 0 && i == j:
			z.Arr.Set(to, num.Real{Class: num.Finite, Mag: []uint64{1}})
		case x.Kind == num.MP && z.Arr.Kind == num.MP && x.Limbs() == z.Arr.Limbs(), x.Kind == z.Arr.Kind && x.Kind != num.MP:
			x.Prec = z.Arr.Prec
			z.Arr.CopyFrom(to, x, place(i, j))
		default:
			z.Arr.Convert(to, x, place(i, j))
		}
	})
}

func refOddNumbers(l *fake.Launch, k abi.Looking) {
	x := matOf(l, k.X)
	for j := range x.Cols {
		for i := range x.Rows {
			var c num.Class
			if x.Arr.Terms() > 1 {
				c, _ = partsClass(x.Arr, x.At(i, j))
			} else {
				c, _, _ = x.Arr.Span(x.At(i, j))
			}
			if c > num.Finite {
				fake.Slice[uint32](l, k.Count, 1)[0]++
			}
		}
	}
}

func refMend(l *fake.Launch, k abi.Mending) {
	s, b, c := matOf(l, k.S), matOf(l, k.B), resultOf(l, k.C, k.S.N, k.B.N)
	var old num.Mat
	if k.Adds != 0 {
		old = matOf(l, k.Old)
	}
	zero := func(a *num.Array, i int) (zero, neg bool) {
		r := a.Value(i, make([]uint64, num.ValueWords(a.Format)))
		return r.Class == num.Zero, r.Neg
	}
	for j := range b.Rows {
	entries:
		for i := range s.Rows {
			to := c.At(i, j)
			if z, _ := zero(c.Arr, to); !z {
				continue
			}
			addends, minus := k.Adds != 0, true
			for h := range s.Cols {
				if d := int(k.I0) + i - int(k.J0) - h; d > int(k.Below) || -d > int(k.Above) {
					continue
				}
				u, negU := zero(s.Arr, s.At(i, h))
				v, negV := zero(b.Arr, b.At(j, h))
				if !u && !v {
					continue entries
				}
				addends, minus = true, minus && (negU != negV) != (k.Neg != 0)
			}
			if k.Adds != 0 {
				z, neg := zero(old.Arr, old.At(i, j))
				if !z {
					continue
				}
				minus = minus && neg != (k.NegBeta != 0)
			}
			c.Arr.Set(to, num.Real{Neg: addends && minus})
		}
	}
}
