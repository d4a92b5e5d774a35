package linsolve

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/bufpool"
	"github.com/halfulp/halfulp/internal/testlength"
)

// TestKept runs operations of all kinds and sizes. After many of them the heap must hold no more
// than after few, apart from the buffers that package bufpool counts and bounds.
func TestKept(t *testing.T) {
	few, many, order := 30, 150, 40
	if testlength.Long() {
		few, many, order = 300, 3000, 120
	}
	rng := rand.New(rand.NewPCG(7, 1))
	formats := []halfulp.Format{halfulp.Float64, halfulp.DD, halfulp.MP(200), halfulp.MP(1000)}
	operation := func(i int) error {
		f, n := formats[rng.IntN(len(formats))], 1+rng.IntN(order)
		a, x := gallery.Random(f, n, n, 0, uint64(i)), halfulp.NewMatrix(f, n, n)
		var err error
		switch rng.IntN(7) {
		case 0, 1:
			err = halfulp.Gemm(halfulp.NoTrans, halfulp.Trans, halfulp.Float(1), a, a, halfulp.Float(0), x, nil)
		case 2:
			err = lintest.Into(x)(Inverse(a, x.NumberFormat(), nil))
		case 3:
			_, err = Det(a, f, nil)
		case 4:
			_, err = LU(a, f, nil)
		case 5:
			c := 1 + rng.IntN(n)
			err = lintest.ErrorOf(Solve(a, gallery.Random(f, n, c, 0, 1), f, nil))
		case 6:
			_, err = QR(a, f, nil)
		}
		return err
	}
	heap := func() int64 {
		var m runtime.MemStats
		for range 3 { // the pools of package sync too
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) - bufpool.Kept()
	}
	first := int64(0)
	for i := 1; i <= many; i++ {
		if err := operation(i); err != nil {
			t.Fatalf("operation %d: %v", i, err)
		}
		if i == few {
			first = heap()
		}
	}
	last := heap()
	// Package bufpool drops buffers soon after a collection.
	for i := 0; i < 100 && last > first+4<<20; i++ {
		time.Sleep(10 * time.Millisecond)
		last = heap()
	}
	if last > first+4<<20 {
		t.Errorf("%d bytes after %d operations, %d after %d", last, many, first, few)
	}
}
