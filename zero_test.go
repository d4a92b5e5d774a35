package halfulp

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestZeroValues checks that zero matrices and vectors behave like empty ones of Float64, and that
// the zero Scalar is +0.
func TestZeroValues(t *testing.T) {
	var m Matrix
	var x Vector
	var s Scalar
	like := []any{NewMatrix(Float64, 0, 0), NewVector(Float64, 0), Float(0)}
	for i, z := range []any{&m, &x, s} {
		for _, verb := range []string{"%v", "%s"} {
			if got, want := fmt.Sprintf(verb, z), fmt.Sprintf(verb, like[i]); got != want {
				t.Errorf("%T: %s is %q, not %q", z, verb, got, want)
			}
		}
		got, err := json.Marshal(z)
		want, _ := json.Marshal(like[i])
		if err != nil || string(got) != string(want) {
			t.Errorf("%T: JSON %s, %v, not %s", z, got, err, want)
		}
		type binary interface{ MarshalBinary() ([]byte, error) }
		got, err = z.(binary).MarshalBinary()
		want, _ = like[i].(binary).MarshalBinary()
		if err != nil || string(got) != string(want) {
			t.Errorf("%T: binary %x, %v, not %x", z, got, err, want)
		}
	}
	if m.NumberFormat() != Float64 || m.Device() != CPU || !m.T().Clone().Same(&m) {
		t.Error("the zero Matrix is no empty one")
	}
	if x.NumberFormat() != Float64 || x.Device() != CPU || x.Len() != 0 || x.Clone().Len() != 0 || x.Slice(0, 0).Len() != 0 {
		t.Error("the zero Vector is no empty one")
	}
	if z, err := Sum(&x, Float64, nil); err != nil || !z.Same(s) {
		t.Errorf("sum of nothing %v, %v", z, err)
	}
	if err := Gemm(NoTrans, NoTrans, Float(1), &m, &m, Float(0), &m, nil); err != nil {
		t.Error(err)
	}
	for name, f := range map[string]func(){"Matrix.At": func() { m.At(0, 0) }, "Vector.SetFloat64": func() { x.SetFloat64(0, 1) }} {
		func() {
			defer func() {
				if r := recover(); r != errIndex {
					t.Errorf("%s of nothing: %v", name, r)
				}
			}()
			f()
		}()
	}
}

// TestColumnsWithoutRows runs routines on the columns of matrices without rows, which begin beyond
// the end of the storage.
func TestColumnsWithoutRows(t *testing.T) {
	for _, f := range []Format{Float32, Float64, DD, MP(100)} {
		a, b := NewMatrix(f, 0, 3), NewMatrix(MP(70), 0, 3)
		x, y := a.Col(1), b.Col(2)
		for name, run := range map[string]func() error{
			"Copy": func() error { return Copy(x, y, nil) },
			"Swap": func() error { return Swap(x, y, nil) },
			"Axpy": func() error { return Axpy(Float(2), x, y, nil) },
			"Scal": func() error { return Scal(Float(2), y, nil) },
			"Rot":  func() error { return Rot(x, y, Float(0.5), Float(0.5), nil) },
			"Gemv": func() error {
				err := Gemv(NoTrans, Float(1), a, NewVector(f, 3), Float(1), y, nil)
				return err
			},
			"Trsv": func() error { return Trsv(Upper, NoTrans, NonUnit, NewMatrix(f, 0, 0), y, nil) },
			"Sum":  func() error { _, err := Sum(x, f, nil); return err },
		} {
			if err := run(); err != nil {
				t.Errorf("%v: %s: %v", f, name, err)
			}
		}
	}
}
