package gputest

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
)

// triangularReference has the kernels of kernels/rows/triangular.cu in Go.
func triangularReference(drv *fake.Driver) {
	drv.Kernel("raiseTops", refRaiseTops)
	drv.Kernel("quotientsOfRows", refQuotients)
}

// noTop is the exponent of nothing.
const noTop = -1 << 61

func refRaiseTops(l *fake.Launch, p abi.Raising) {
	r := matOf(l, p.R)
	for j := range r.Cols {
		top := fake.Slice[int64](l, p.Top+8*cuda.Pointer(j)*cuda.Pointer(p.Rows), r.Rows)
		for i := range r.Rows {
			e := int64(noTop)
			if at := r.At(i, j); r.Arr.Class(at) == num.Finite {
				e = int64(r.Arr.Exp[at])
			}
			if p.First != 0 {
				top[i] = e
			}
			top[i] = max(top[i], e)
		}
	}
}

func refQuotients(l *fake.Launch, p abi.Quotients) {
	t, r, x := matOf(l, p.T), matOf(l, p.R), resultOf(l, p.X, p.R.N, p.R.K)
	for j := range r.Cols {
		top := fake.Slice[int64](l, p.Top+8*cuda.Pointer(j*r.Rows), r.Rows)
		for step := range int(p.Hi - p.Lo) {
			i, lo, hi := int(p.Lo)+step, int(p.Lo), int(p.Lo)+step
			if p.Lower == 0 {
				i = int(p.Hi) - 1 - step
				lo, hi = i+1, int(p.Hi)
			}
			if !refQuotient(l, &p, t, r, x, i, j, lo, hi, top[i]) {
				fake.Slice[uint32](l, p.Odd, 1)[0]++
				break
			}
		}
	}
}

// refQuotient reports whether it rounded entry (i, j), rows lo <= h < hi being solved.
func refQuotient(l *fake.Launch, p *abi.Quotients, t, r, x num.Mat, i, j, lo, hi int, top int64) bool {
	value := func(a *num.Array, at int) num.Real { return a.Value(at, make([]uint64, num.ValueWords(a.Format))) }
	d := direct.One(false)
	if p.Unit == 0 {
		d = value(t.Arr, t.At(i, i))
	}
	v := value(r.Arr, r.At(i, j))
	if d.Class != num.Finite || v.Class > num.Finite {
		return false
	}
	var acc superacc.Acc
	acc.Add(v)
	some := top != noTop
	for h := lo; h < hi; h++ {
		a, b := value(t.Arr, t.At(i, h)), value(x.Arr, x.At(h, j))
		if max(a.Class, b.Class) > num.Finite {
			return false
		}
		some = some || min(a.Class, b.Class) == num.Finite
		a.Neg = !a.Neg
		acc.AddProduct(a, b)
	}
	to := x.At(i, j)
	if !some {
		acc.SetQuotient(x.Arr, to, d)
		return true
	}
	divisor := superacc.NewDivisor(d, x.Arr.Bits()+32)
	flags, ok := acc.TryQuotient(x.Arr, to, &divisor, max(top, -1<<40)-p.Prec+5, superacc.NewQuotients(x.Arr.Format))
	if ok {
		tally(l, p.Counts, flags)
	}
	return ok
}
