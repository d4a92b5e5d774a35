package main

import (
	"runtime"
	"testing"
)

// TestMeasure compares all ways on small matrices, one of them longer than a chunk.
func TestMeasure(t *testing.T) {
	runtime.LockOSThread()
	for _, x := range []struct{ rows, cols, spread int }{{50, 7, 0}, {60, 5, 40}, {2*chunk + 3, 3, 0}, {1, 1, 0}} {
		c := newComparison(x.rows, x.cols, 200, x.spread)
		for threads := range 3 {
			f, err := c.measure(threads+1, 1)
			if err != nil {
				t.Fatal(err)
			}
			for name, e := range f.Wrong {
				if e.Entries != x.cols*(x.cols+1)/2 || e.Rounded < e.Entries && e.Scaled > -190 {
					t.Errorf("%+v, %d threads, %s: %+v", x, threads+1, name, e)
				}
			}
		}
		c.free()
	}
}
