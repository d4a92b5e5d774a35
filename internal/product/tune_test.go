package product

import (
	"context"
	"testing"
)

func TestTune(t *testing.T) {
	if testing.Short() {
		t.Skip("measures speed")
	}
	var last float64
	r, err := Tune(context.Background(), func(x float64) { last = x })
	if err != nil || last != 1 {
		t.Fatal(err, last)
	}
	for _, k := range r.Kernels {
		if k.Measured <= 0 || k.BuiltIn <= 0 {
			t.Errorf("kernel %+v", k)
		}
	}
	t.Logf("%+v", r)
}
