package halfulp

import (
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/cuda"
)

// TestDeviceSeveral multiplies on one GPU and on all GPUs of a machine, and compares the bits.
func TestDeviceSeveral(t *testing.T) {
	gpus, _ := cuda.Devices()
	if len(gpus) < 2 {
		t.Skipf("%d GPUs", len(gpus))
	}
	for _, f := range []Format{Float64, MP(424)} {
		const n = 3000
		a, b := randomMatrix(f, n, n, 3, 1), randomMatrix(f, n, n, 3, 2)
		c, d := NewMatrix(f, n, n), NewMatrix(f, n, n)
		for _, v := range []struct {
			device Device
			c      *Matrix
		}{{"cuda:0", c}, {"cuda:all", d}} {
			for range 2 { // the first one opens the GPUs
				start := time.Now()
				var st Stats
				err := Gemm(NoTrans, Trans, Float(-1), a, b, Float(0), v.c, &Options{Device: v.device, Stats: &st})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%v on %s: %v, %d blocks", f, st.Device, time.Since(start), st.Blocks)
			}
		}
		if !c.Same(d) {
			t.Errorf("%v: other bits on several GPUs", f)
		}
		if err := Syrk(Upper, NoTrans, Float(1), a, Float(2), d, &Options{Device: "cuda:all"}); err != nil {
			t.Fatal(err)
		}
		if err := Syrk(Upper, NoTrans, Float(1), a, Float(2), c, &Options{Device: "cuda:1"}); err != nil {
			t.Fatal(err)
		}
		if !c.Same(d) {
			t.Errorf("%v: other bits of Syrk on several GPUs", f)
		}
	}
}
