package gputest

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// batchReference has the kernels of kernels/rows/batch.cu in Go.
func batchReference(drv *fake.Driver) {
	for _, k := range abi.BatchDigits {
		drv.Kernel(abi.BatchKernel(k), func(l *fake.Launch, p abi.BatchProducts) { refBatch(l, &p, k) })
	}
}

func refBatch(l *fake.Launch, p *abi.BatchProducts, digits int) {
	outcomes := fake.Slice[abi.BatchOutcome](l, p.Outcomes, int(p.Count))
	var list []uint32
	if p.List != 0 {
		list = fake.Slice[uint32](l, p.List, int(p.Count))
	}
	alpha := direct.One(p.Neg != 0)
	alpha.Exp += p.Exp
	for place := range outcomes {
		id := place
		if list != nil {
			id = int(list[place])
		}
		a := problemOf(l, p.Factor[0], id, p.Size[0], p.K, 0)
		b := problemOf(l, p.Factor[1], id, p.Size[1], p.K, 0)
		c := problemOf(l, p.C, id, p.Size[0], p.Size[1], p.Prec)
		o := &outcomes[place]
		o.Left = leftOf(a, digits) | leftOf(b, digits)
		if o.Left != 0 {
			continue
		}
		var acc superacc.Acc
		for i := range c.Rows {
			for j := range c.Cols {
				flags := c.Arr.Set(c.At(i, j), acc.Entry(c.Arr.Format, alpha, a.Row(i), b.Row(j), num.Real{}, num.Real{}))
				tally(l, p.Outcomes+cuda.Pointer(24*place), flags)
			}
		}
	}
}

// problemOf returns rows vectors of cols numbers of a problem.
func problemOf(l *fake.Launch, o abi.BatchOperand, id int, rows, cols int32, prec int64) num.Mat {
	n := o.A
	for t := range n.Plane {
		if o.Table != 0 {
			n.Plane[t] = fake.Slice[cuda.Pointer](l, o.Table+cuda.Pointer(32*id+8*t), 1)[0]
		} else {
			n.Plane[t] += cuda.Pointer(int64(id) * o.Step)
		}
	}
	down, across := int(rows-1)*int(o.RS), int(cols-1)*int(o.CS)
	low, high := min(down, 0)+min(across, 0), max(down, 0)+max(across, 0)
	for t := range n.Plane {
		size := int64(8)
		switch kind := num.Kind(n.Kind); {
		case kind == num.F32 || kind == num.MP && t == 1:
			size = 4
		case kind == num.MP && t == 0:
			size = 8 * int64(n.Limbs)
		case kind == num.MP:
			size = 1
		}
		n.Plane[t] += cuda.Pointer(size * int64(low))
	}
	return num.Mat{Arr: arrayOf(l, n, int(prec), high-low+1), Off: -low, RS: int(o.RS), CS: int(o.CS), Rows: int(rows), Cols: int(cols)}
}

// leftOf returns why a problem with rows or columns m is left, or 0.
func leftOf(m num.Mat, digits int) (why uint32) {
	var buf [num.MaxValueWords]uint64
	for i := range m.Rows {
		top, low := int64(noTop), int64(-noTop)
		for h := range m.Cols {
			x := m.Arr.Value(m.At(i, h), buf[:])
			switch x.Class {
			case num.Finite:
				top, low = max(top, topOf(x)), min(low, x.Exp+int64(num.TrailingZeros(x.Mag)))
			case num.Inf, num.NaN:
				why |= abi.BatchOther
			}
		}
		if top != noTop && top+abi.BatchMargin-low > int64(abi.RowDigit*digits) {
			why |= abi.BatchWide
		}
	}
	return why
}
