package halfulp

import (
	"math/rand/v2"
	"testing"
)

func TestAutoWithoutGPU(t *testing.T) {
	skipWithGPU(t)
	// A product of 2^60 multiply-adds, of which there is no more than its shape.
	a := NewMatrix(Float64, 0, 0).m
	a.Rows, a.Cols = 1<<20, 1<<20
	if d := fasterDevice(settings{threads: 1}, a, a, a); d != cpu {
		t.Errorf("device %d where there is no GPU", d)
	}
}

// TestDeviceAuto runs on a GPU: large products go there once it is open, small ones stay.
func TestDeviceAuto(t *testing.T) {
	needGPU(t)
	if _, err := openDevice(0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n      int
		device string
	}{{10, "cpu"}, {1200, "cuda:0"}} {
		f := MP(424)
		a, b := NewMatrix(f, c.n, c.n), NewMatrix(f, c.n, c.n)
		fillUniform(rand.New(rand.NewPCG(1, 1)), a.m.Arr)
		fillUniform(rand.New(rand.NewPCG(1, 2)), b.m.Arr)
		x, y := NewMatrix(f, c.n, c.n), NewMatrix(f, c.n, c.n)
		st, err := Gemm(NoTrans, Trans, Float(1), a, b, Float(0), x, &Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		if st.Device != c.device {
			t.Errorf("n = %d ran on %s, want %s", c.n, st.Device, c.device)
		}
		if _, err := Gemm(NoTrans, Trans, Float(1), a, b, Float(0), y, &Options{Device: "cpu"}); err != nil {
			t.Fatal(err)
		}
		for i := range c.n * c.n {
			if !x.m.Arr.SameBits(i, y.m.Arr, i) {
				t.Fatalf("n = %d: entry %d differs", c.n, i)
			}
		}
	}
}
