package linsolve

import (
	"fmt"
	"github.com/halfulp/halfulp"
	"math"
	"os"
	"runtime/pprof"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	var n, bits int
	var kappa float64
	fmt.Sscan(os.Getenv("ZZ"), &n, &bits, &kappa)
	f := halfulp.MP(uint(bits))
	if bits == 53 {
		f = halfulp.Float64
	}
	opt := &halfulp.Options{Threads: 1}
	a, b := halfulp.Random(f, n, n, 0, 1), halfulp.Random(f, n, 1, 0, 2)
	if kappa > 0 {
		left := halfulp.NewMatrix(halfulp.MP(uint(bits+53)), n, n)
		for j := range n {
			d := math.Exp(-math.Log(kappa) * float64(j) / float64(max(n-1, 1)))
			for i := range n {
				x := a.Big(i, j)
				left.SetBig(i, j, x.SetPrec(uint(bits+53)).Mul(x, halfulp.Float(d).Big()))
			}
		}
		halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), left, halfulp.Random(f, n, n, 0, 3), halfulp.Float(0), nil, a, opt)
	}
	x := halfulp.NewMatrix(f, n, 1)
	w, _ := os.Create("/tmp/lx/cpu.prof")
	for range 3 {
		s := time.Now()
		st, err := Solve(a, b, x, opt)
		fmt.Println(time.Since(s), st.Proof, st.Stages, err)
		if kappa > 0 {
			break
		}
	}
	pprof.StartCPUProfile(w)
	s := time.Now()
	Solve(a, b, x, opt)
	fmt.Println(time.Since(s))
	pprof.StopCPUProfile()
}
