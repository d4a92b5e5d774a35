package lanes

import (
	"math"
	"testing"
	"unsafe"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestVerticalKernels compares the kernels of the machine with the loops in Go.
func TestVerticalKernels(t *testing.T) {
	fast := machineUnit()
	if fast == nil {
		t.Skip("no unit")
	}
	slow := fast.reference()
	r := testseed.Rand(t, 1, 1)
	for trial := range testlength.Trials(3000) {
		d := 2 + r.IntN(20)
		if trial%10 == 0 {
			d = 2 + r.IntN(60)
		}
		limbs := 1 + r.IntN((d*fast.Bits+63)/64+2)
		n := 1 + r.IntN(5)
		plan := Plan{Unit: fast, Digits: d, Words: (fast.Bits*d + 63) / 64, Numbers: n}
		f := num.Format{Kind: num.MP, Prec: uint32(64 * limbs)}
		lanes := fast.Lanes
		a := numtest.Numbers(r, f, n*lanes, trial)
		b := numtest.Numbers(r, f, n*lanes, trial/2)
		ref, scale := make([]int64, n*lanes), make([]int64, n*lanes)
		for i := range ref {
			ref[i] = int64(r.IntN(5)) * int64(r.IntN(1+fast.Bits*d/3))
			scale[i] = -int64(r.IntN(3))
			switch r.IntN(40) {
			case 0:
				scale[i] = superacc.NoScale
			case 1:
				scale[i] = math.MaxInt32
			}
		}
		byRows := r.IntN(2) == 0
		var out [2][]uint64
		var sums [2][]int64
		start := make([]int64, lanes*(d+1))
		for i := range start {
			start[i] = r.Int64N(1 << fast.Bits)
		}
		for k, u := range []*Unit{fast, slow} {
			plan.Unit = u
			cx, cy := newCutter(plan, f), newCutter(plan, f)
			job := cx.job(a, 0, lanes, n)
			job.scale, job.sign = unsafe.Pointer(&scale[0]), unsafe.Pointer(&b.Cls[0])
			job.ref = unsafe.Pointer(&ref[0])
			if byRows {
				job.xLane, job.xStep = 1, lanes
			} else {
				job.refLane, job.refStep, job.xStep = 1, lanes, 1
			}
			u.cut(job)
			zero := make([]int64, n*lanes)
			yExp := make([]int64, n*lanes)
			for i := range yExp {
				yExp[i] = int64(b.Exp[i])
			}
			job = cy.job(b, 0, lanes, n)
			job.ref, job.refLane, job.refStep = unsafe.Pointer(&yExp[0]), 1, lanes
			job.scale, job.sign, job.xLane, job.xStep = unsafe.Pointer(&zero[0]), job.cls, 1, lanes
			u.cut(job)
			out[k] = append(append(out[k], cx.digits...), cy.digits...)
			sums[k] = append(sums[k], start...)
			if byRows {
				plan.add(false, sums[k], cx.digits, cy.digits, plan.pitch(), n)
			} else {
				plan.add(true, sums[k], cx.digits, cy.digits, 8*d, min(n, plan.pitch()/(8*d)))
			}
		}
		for i := range out[0] {
			if out[0][i] != out[1][i] {
				t.Fatalf("trial %d, digits %d, limbs %d, vectors %d, byRows %v: word %d of the digits is %x, want %x", trial, d, limbs, n, byRows, i, out[0][i], out[1][i])
			}
		}
		for i := range sums[0] {
			if sums[0][i] != sums[1][i] {
				t.Fatalf("trial %d, digits %d, vectors %d, byRows %v: lane %d of column %d is %x, want %x", trial, d, n, byRows, i%lanes, i/lanes-1, sums[0][i], sums[1][i])
			}
		}
	}
}
