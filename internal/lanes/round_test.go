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

// TestRoundVertical compares the kernel of the machine with the loop in Go.
func TestRoundVertical(t *testing.T) {
	fast := machineUnit()
	if fast == nil {
		t.Skip("no unit")
	}
	slow := fast.reference()
	r := testseed.Rand(t, 3, 1)
	decided := 0
	for trial := range testlength.Trials(5000) {
		z := num.Format{Kind: num.MP, Prec: uint32(2 + r.IntN(600))}
		if trial%10 == 0 {
			z.Prec = uint32(2 + r.IntN(3000))
		}
		if trial%7 == 0 {
			z.Prec = (z.Prec + 63) &^ 63
		}
		u, n := *fast, 1+r.IntN(4)
		d := max(2, (int(z.Prec)+r.IntN(200)-30)/u.Bits)
		size := u.Lanes * (d + 1)
		number := func() []int64 {
			x := make([]int64, n*size)
			for v := range n {
				for c := 1; c <= d; c++ {
					for l := range u.Lanes {
						var w uint64
						switch r.IntN(4) {
						case 0:
							w = -(r.Uint64() & 1)
						case 1:
							w = 1 << r.IntN(u.Bits)
						default:
							w = r.Uint64()
						}
						x[v*size+c*u.Lanes+l] = int64(w & (1<<u.Bits - 1))
					}
				}
			}
			return x
		}
		p, q := number(), number()
		for i := range q { // what cancels, or adds up to ones or a tie
			switch k := r.IntN(200); {
			case k == 0:
				q[i] = p[i]
			case k < 20 && i%size/u.Lanes > 1:
				q[i] = (1<<u.Bits - 1) ^ p[i]
			case k < 120 && trial%3 == 0 && i%size/u.Lanes > r.IntN(d):
				p[i], q[i] = 0, 0
			}
		}
		m := n * u.Lanes
		x, y := numtest.Numbers(r, z, m, trial), numtest.Numbers(r, z, m, trial/3)
		ref := make([]int64, m)
		for i := range ref {
			ref[i] = int64(r.IntN(100)) - 50
			switch r.IntN(20) {
			case 0:
				ref[i] += math.MaxInt32
			case 1:
				ref[i] += math.MinInt32
			}
		}
		exact := make([]uint8, n)
		for i := range exact {
			exact[i] = uint8(r.Uint64())
		}
		limbs := z.Limbs()
		words := max(limbs+1, (u.Bits*(d-1)+127)/64)
		stage := superacc.Aligned(u.Lanes * (words + max(d, 64*words/u.Bits+16) + 4))
		one, two := r.IntN(4) == 0, uint64(r.IntN(4))
		var out [2]*num.Array
		var oks [2][]uint8
		for k, u := range []*Unit{fast, slow} {
			out[k], oks[k] = num.New(z, m+1), make([]uint8, n)
			out[k].Cls[m], out[k].Exp[m], out[k].Sig[m*limbs] = 99, 99, 99
			job := roundJob{
				p: unsafe.Pointer(&p[u.Lanes]), pPitch: 8 * size, q: unsafe.Pointer(&q[u.Lanes]), qPitch: 8 * size, digits: d,
				xCls: unsafe.Pointer(&x.Cls[0]), yCls: unsafe.Pointer(&y.Cls[0]), negP: two & 1, negQ: two >> 1,
				ref: unsafe.Pointer(&ref[0]), exact: unsafe.Pointer(&exact[0]), ok: unsafe.Pointer(&oks[k][0]),
				sig: unsafe.Pointer(&out[k].Sig[0]), exp: unsafe.Pointer(&out[k].Exp[0]), cls: unsafe.Pointer(&out[k].Cls[0]),
				limbs: limbs, n: n, stage: unsafe.Pointer(&stage[u.Lanes*words]), words: words,
				spare: 64*limbs - int(z.Prec), bound: linearBound(d), shift: int(z.Prec) + u.Bits - u.Bits*d,
			}
			if one {
				job.q = nil
			}
			u.round(&job)
		}
		for i := range m {
			ok := oks[0][i/u.Lanes] >> (i % u.Lanes) & 1
			if want := oks[1][i/u.Lanes] >> (i % u.Lanes) & 1; ok != want {
				t.Fatalf("trial %d, %v, %d digits: lane %d is decided %v, want %v", trial, z, d, i, ok, want)
			}
			if decided += int(ok); ok != 0 && !out[0].SameBits(i, out[1], i) {
				t.Fatalf("trial %d, %v, %d digits: number %d is %x %d %d, want %x %d %d", trial, z, d, i, out[0].Sig[i*limbs:(i+1)*limbs], out[0].Exp[i],
					out[0].Cls[i], out[1].Sig[i*limbs:(i+1)*limbs], out[1].Exp[i], out[1].Cls[i])
			}
		}
		if out[0].Cls[m] != 99 || out[0].Exp[m] != 99 || out[0].Sig[m*limbs] != 99 {
			t.Fatalf("trial %d, %v: memory behind the numbers changed", trial, z)
		}
	}
	if decided < 1000 {
		t.Fatalf("only %d numbers decided", decided)
	}
}
