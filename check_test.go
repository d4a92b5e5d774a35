package halfulp

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/halfulp/halfulp/internal/residue"
)

// TestCheck multiplies with and without Options.Check: the bits agree, and Stats reports the
// entries compared. Routines and methods without a check return an error.
func TestCheck(t *testing.T) {
	one, zero := Float(1), Float(0)
	for _, f := range []Format{Float32, Float64, DD, MP(106), MP(424)} {
		a, b := randomMatrix(f, 37, 29, 3, 1), randomMatrix(f, 29, 41, 3, 2)
		c, d := NewMatrix(f, 37, 41), NewMatrix(f, 37, 41)
		if err := Gemm(NoTrans, NoTrans, one, a, b, zero, c, nil); err != nil {
			t.Fatal(err)
		}
		var st Stats
		err := Gemm(NoTrans, NoTrans, one, a, b, zero, d, &Options{Check: true, Stats: &st})
		if err != nil || st.Check == nil || *st.Check != (Check{8191, 37 * 41, st.Exact}) || st.Method != "residue" {
			t.Fatalf("%v: %v, %+v by %s", f, err, st.Check, st.Method)
		}
		if !c.Same(d) {
			t.Errorf("%v: other bits", f)
		}
		s := NewMatrix(f, 37, 37)
		err = Syrk(Upper, NoTrans, one, a, zero, s, &Options{Check: true, Stats: &st})
		if err != nil || st.Check == nil || st.Check.Compared != 37*38/2 {
			t.Fatalf("%v: Syrk: %v, %+v", f, err, st.Check)
		}
	}
	a := randomMatrix(Float64, 3, 3, 3, 1)
	c := NewMatrix(Float64, 3, 3)
	var st Stats
	if err := Gemm(NoTrans, NoTrans, zero, a, a, one, c, &Options{Check: true, Stats: &st}); err != nil || st.Check == nil || *st.Check != (Check{Unchecked: 9}) {
		t.Errorf("alpha zero: %v, %+v", err, st.Check)
	}
	opt := &Options{Check: true}
	if err := Gemm(NoTrans, NoTrans, one, a, a, zero, c, &Options{Check: true, Method: "direct"}); !errors.Is(err, ErrMethod) {
		t.Errorf("method direct: error %v", err)
	}
	x, y := a.Col(0), NewVector(Float64, 3)
	for name, run := range map[string]func() error{
		"Gemv": func() error { return Gemv(NoTrans, one, a, x, zero, y, opt) },
		"Dot":  func() error { _, err := Dot(x, x, Float64, opt); return err },
		"Sum":  func() error { _, err := Sum(x, Float64, opt); return err },
		"Axpy": func() error { return Axpy(one, x, y, opt) },
		"Trsm": func() error { return Trsm(Left, Upper, NoTrans, NonUnit, one, a, c, opt) },
	} {
		if err := run(); !errors.Is(err, ErrMethod) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestFault flips bits of residues of products within routines: each is a HardwareError. Number 1
// of a block is the entry below the first, as results are stored by columns.
func TestFault(t *testing.T) {
	one, zero := Float(1), Float(0)
	a, b, c := randomMatrix(MP(106), 37, 37, 3, 1), randomMatrix(MP(106), 37, 29, 3, 2), NewMatrix(MP(106), 37, 29)
	s := NewMatrix(MP(106), 37, 37)
	defer residue.Spoil(func(residues []int16, _ int) { residues[1] ^= 4 })()
	for name, run := range map[string]func(opt *Options) error{
		"Gemm": func(opt *Options) error { return Gemm(NoTrans, NoTrans, one, a, b, zero, c, opt) },
		"Syrk": func(opt *Options) error { return Syrk(Lower, NoTrans, one, a, zero, s, opt) },
		"Symm": func(opt *Options) error { return Symm(Left, Upper, one, a, b, zero, c, opt) },
		"Trmm": func(opt *Options) error {
			err := Trmm(Left, Upper, NoTrans, NonUnit, one, a, randomMatrix(MP(106), 37, 29, 3, 2), opt)
			return err
		},
	} {
		var fault *HardwareError
		if err := run(&Options{Check: true, Device: "cpu"}); !errors.As(err, &fault) || !errors.Is(err, ErrHardware) || fault.Row != 1 || fault.Col != 0 {
			t.Errorf("%s: error %v", name, err)
		}
	}
	// From the right these multiply the transposes, and triangles are multiplied in parts.
	var fault *HardwareError
	if err := Trmm(Right, Upper, NoTrans, NonUnit, one, a, randomMatrix(MP(106), 29, 37, 3, 4), &Options{Check: true, Device: "cpu"}); !errors.As(err, &fault) || fault.Row != 0 || fault.Col != 1 {
		t.Errorf("Trmm from the right: error %v", err)
	}
	large := randomMatrix(MP(106), 300, 300, 3, 1)
	var blocks atomic.Int64
	defer residue.Spoil(func([]int16, int) { blocks.Add(1) })()
	trmm := func() error {
		err := Trmm(Left, Lower, NoTrans, NonUnit, one, large, randomMatrix(MP(106), 300, 2, 3, 2), &Options{Check: true, Threads: 1, Device: "cpu"})
		return err
	}
	if err := trmm(); err != nil {
		t.Fatal(err)
	}
	last := blocks.Swap(0)
	defer residue.Spoil(func(residues []int16, _ int) {
		if blocks.Add(1) == last {
			residues[1] ^= 4
		}
	})()
	if err := trmm(); !errors.As(err, &fault) || fault.Row < 256 || fault.Col != 0 {
		t.Errorf("the last of %d blocks: error %v", last, err)
	}
}
