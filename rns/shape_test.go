package rns

import (
	"math"
	"testing"
)

// TestHugeShapes checks that views whose sizes overflow are refused.
func TestHugeShapes(t *testing.T) {
	b, err := NewBase([]uint32{251, 253, 255})
	if err != nil {
		t.Fatal(err)
	}
	a := b.NewArray(4)
	for i, f := range []func(){
		func() { a.Matrix(0, 1, 5, math.MaxInt/2) },
		func() { a.Matrix(0, 1, 2, 4) },
		func() { a.Vector(0, 5, math.MaxInt/2) },
		func() { a.Vector(0, 2, math.MinInt) },
		func() { a.Vector(4, 1, 1) },
		func() { b.NewMatrixLD(1, 4, math.MaxInt/2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("call %d is accepted", i)
				}
			}()
			f()
		}()
	}
	a.Matrix(0, 1, 4, 1)
	a.Matrix(1, 1, 2, 2)
	a.Vector(0, 2, -3)
	a.Vector(3, 1, math.MaxInt)
	a.Vector(4, 0, 1)
}
