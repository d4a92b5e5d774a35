package direct

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

func needAssembly(t testing.TB) {
	if !superacc.Assembly() {
		t.Skip("no assembly at this level")
	}
}

func TestCompensatedKernels(t *testing.T) {
	needAssembly(t)
	r := testseed.Rand(t, 3, 4)
	for _, n := range []int{8, 16, 24, 256} {
		for trial := range 20 {
			x, okX := numtest.Guarded(n, math.NaN())
			y, okY := numtest.Guarded(n, math.NaN())
			for i := range x {
				x[i], y[i] = math.Ldexp(r.NormFloat64(), r.IntN(60)), math.Ldexp(r.NormFloat64(), r.IntN(200)-100)
				if trial == 19 {
					x[i] = math.Float64frombits(r.Uint64())
				}
			}
			var want, got [24]float64
			check := func(name string) {
				for i := range want {
					if math.Float64bits(want[i]) != math.Float64bits(got[i]) && (want[i] == want[i] || got[i] == got[i]) {
						t.Fatalf("%s n=%d trial %d: out[%d] = %x, want %x; x = %x, y = %x", name, n, trial, i, got[i], want[i], x, y)
					}
				}
			}
			sum2(x, &want)
			sum2Fast(x, &got)
			check("sum2")
			asum2(x, &want)
			asum2Fast(x, &got)
			check("asum2")
			dot2(x, y, &want)
			dot2Fast(x, y, &got)
			check("dot2")
			_, _ = okX, okY
		}
	}
}

func TestAxpyCompensatedKernel(t *testing.T) {
	needAssembly(t)
	r := testseed.Rand(t, 7, 8)
	for n := range 40 {
		a := make([]float64, n)
		var want, got [3][]float64
		for k := range got {
			got[k], _ = numtest.Guarded(n, math.NaN())
			want[k] = make([]float64, n)
		}
		for range 30 {
			x := math.Ldexp(r.NormFloat64(), r.IntN(200)-100)
			for i := range a {
				a[i] = math.Ldexp(r.NormFloat64(), r.IntN(60))
			}
			axpy2(a, x, want[0], want[1], want[2])
			axpy2Fast(a, x, got[0], got[1], got[2])
		}
		for k := range got {
			for i := range n {
				if got[k][i] != want[k][i] {
					t.Fatalf("n = %d: array %d, lane %d: %x, want %x", n, k, i, got[k][i], want[k][i])
				}
			}
		}
	}
}

func TestProductSpanKernel(t *testing.T) {
	needAssembly(t)
	r := testseed.Rand(t, 13, 14)
	for n := range 70 {
		xe, ye, xc, yc := make([]int32, n), make([]int32, n), make([]uint8, n), make([]uint8, n)
		for range 20 {
			for i := range n {
				xe[i], ye[i], xc[i], yc[i] = int32(r.Uint32()), int32(r.Uint32()), 2|uint8(r.IntN(2)), 2|uint8(r.IntN(2))
			}
			if n > 0 && r.IntN(2) == 0 {
				xc[r.IntN(n)], yc[r.IntN(n)] = uint8(r.IntN(8)), uint8(r.IntN(8))
			}
			want := make([]int64, n)
			got, ok := numtest.Guarded(n, int64(77))
			high, finite := productSpan(want, xe, ye, xc, yc)
			if h, f := productSpanFast(got, xe, ye, xc, yc); h != high || f != finite || !slices.Equal(got, want) || !ok() {
				t.Fatalf("n = %d: %d, %v, %v, want %d, %v, %v", n, h, f, got, high, finite, want)
			}
		}
	}
}

func TestDigitKernels(t *testing.T) {
	needAssembly(t)
	r := testseed.Rand(t, 7, 8)
	for groups := 1; groups <= maxGroups; groups++ {
		for limbs := 1; limbs <= 30; limbs += 1 + r.IntN(3) {
			n := 1 + r.IntN(5)
			s := newSplitter(groups, limbs, n)
			sig := make([]uint64, n*limbs)
			exp, cls := make([]int32, n), make([]uint8, n)
			ref, scale := make([]int64, n), make([]int64, n)
			for i := range sig {
				if sig[i] = r.Uint64(); r.IntN(3) == 0 {
					sig[i] = math.MaxUint64
				}
			}
			for i := range exp {
				exp[i], cls[i], scale[i] = int32(r.IntN(100)), uint8(2+r.IntN(2)), r.Int64N(100)
				ref[i] = int64(exp[i]) + scale[i] + r.Int64N(30)
				if r.IntN(3) == 0 {
					ref[i] += r.Int64N(int64(112*groups) + 20)
				}
				if r.IntN(6) == 0 {
					cls[i] = uint8(r.IntN(7))
				}
			}
			digits := 4 * groups
			want := make([]int64, n*digits)
			got, ok := numtest.Guarded(n*digits, int64(77))
			run := func(f func(*digitJob), dst []int64) {
				j := s.job()
				j.dst, j.dstPitch = unsafe.Pointer(&dst[0]), 8*digits
				s.significands(&j, sig, 0, 1)
				j.exp, j.expPitch = unsafe.Pointer(&exp[0]), 4
				j.cls, j.clsPitch = unsafe.Pointer(&cls[0]), 1
				j.ref, j.refPitch = unsafe.Pointer(&ref[0]), 8
				j.scale, j.scalePitch = unsafe.Pointer(&scale[0]), 8
				j.n = n
				f(&j)
			}
			run(splitDigits, want)
			run(splitDigitsFast, got)
			for i := range want {
				if int32(want[i]) != int32(got[i]) {
					t.Fatalf("groups %d limbs %d: digit %d of number %d is %d, want %d; sig %#x, shifts %v - %v - %v, cls %v",
						groups, limbs, i%digits, i/digits, int32(got[i]), int32(want[i]), sig, ref, exp, scale, cls)
				}
			}
			if !ok() {
				t.Fatalf("groups %d limbs %d: guards overwritten", groups, limbs)
			}
			for rows := 1; rows <= 2; rows++ {
				k := min(n, 127/digits)
				if k == 0 {
					continue
				}
				x := make([]int64, k*(digits+4))
				for i := range x {
					if i%(digits+4) >= 4 {
						x[i] = r.Int64N(1<<29) - 1<<28
					}
				}
				a := make([]int64, rows*k*digits)
				for i := range a {
					a[i] = got[i%len(got)]
				}
				accWant := make([]int64, rows*2*digits)
				accGot, ok := numtest.Guarded(rows*2*digits, int64(77))
				convolve(rows, groups, unsafe.Pointer(&accWant[0]), 16*digits, unsafe.Pointer(&a[0]), 8*k*digits, unsafe.Pointer(&x[0]), k)
				convolveFast(rows, groups, unsafe.Pointer(&accGot[0]), 16*digits, unsafe.Pointer(&a[0]), 8*k*digits, unsafe.Pointer(&x[0]), k)
				for i := range accWant {
					if accWant[i] != accGot[i] {
						t.Fatalf("rows %d groups %d n %d: word %d is %d, want %d; a %v, x %v", rows, groups, k, i, accGot[i], accWant[i], a, x)
					}
				}
				if !ok() {
					t.Fatalf("rows %d groups %d: guards overwritten", rows, groups)
				}
			}
		}
	}
}

func TestTopKernels(t *testing.T) {
	needAssembly(t)
	r := testseed.Rand(t, 9, 10)
	for trial := range testlength.Trials(900) {
		n, l := 1+r.IntN(12), 2+trial%6
		a, x := make([]uint64, l*n), make([]uint64, l*n)
		ae, xe := make([]int32, n), make([]int32, n)
		ac, xc := make([]uint8, n), make([]uint8, n)
		ref := make([]int64, n)
		const top = 700
		for i := range n {
			for k := range l {
				a[l*i+k], x[l*i+k] = r.Uint64(), r.Uint64()
				if r.IntN(3) == 0 {
					a[l*i+k], x[l*i+k] = math.MaxUint64, math.MaxUint64
				}
			}
			ae[i], xe[i] = int32(r.IntN(300)+50), int32(r.IntN(300)+50)
			if r.IntN(3) == 0 {
				ae[i], xe[i] = 350, 350-int32(r.IntN(4))
			}
			ac[i], xc[i] = uint8(2+r.IntN(2)), uint8(2+r.IntN(2))
			if r.IntN(6) == 0 {
				ac[i], xc[i] = uint8(r.IntN(4)), uint8(r.IntN(4))
			}
			ref[i] = top + r.Int64N(3)
		}
		want := make([]uint64, (l+2)*n)
		got, ok := numtest.Guarded((l+2)*n, uint64(0xabc))
		check := func(name string) {
			for i := range want {
				if want[i] != got[i] {
					t.Fatalf("%s trial %d: word %d is %#x, want %#x; a %#x %v %v x %#x %v %v", name, trial, i, got[i], want[i], a, ae, ac, x, xe, xc)
				}
			}
			if !ok() {
				t.Fatalf("%s trial %d: guards overwritten", name, trial)
			}
		}
		if l == 2 {
			dotTop2(want, top, a, ae, ac, x, xe, xc)
		} else {
			dotTop(l, want, top, a, ae, ac, x, xe, xc)
		}
		dotTopFast(l, got, top, a, ae, ac, x, xe, xc)
		check("dotTop")
		sign := uint64(xc[0] & 1)
		if l == 2 {
			axpyTop2(want, ref, a, ae, ac, x[1], x[0], int64(xe[0]), sign)
		} else {
			axpyTop(l, want, ref, a, ae, ac, x[:l], int64(xe[0]), sign)
		}
		axpyTopFast(l, got, ref, a, ae, ac, x[:l], int64(xe[0]), sign)
		check("axpyTop")
	}
}
