package residue

import (
	"context"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestBasesBounded runs products of many precisions: the bases kept take no more than they may, and
// a quarter of the limit of memory.
func TestBasesBounded(t *testing.T) {
	rng := testseed.Rand(t, 1, 3)
	kept := func() (n int64) {
		bases.Lock()
		defer bases.Unlock()
		for _, b := range bases.of {
			n += b.bytes()
		}
		return n
	}
	product := func(prec uint32, memory int64) {
		f := num.Format{Kind: num.MP, Prec: prec}
		a, c := randomMat(rng, f, 4, 4, 3), num.Mat{Arr: num.New(f, 16), RS: 1, CS: 4, Rows: 4, Cols: 4}
		q, err := Plan(Config{Run: par.Run{Ctx: context.Background(), Threads: 1, Memory: memory}}, one, a, a, num.Real{}, c, c, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Run(); err != nil {
			t.Fatal(err)
		}
	}
	for prec := uint32(4000); prec < 5200; prec += 30 {
		product(prec, 1<<30)
	}
	if n := kept(); n > keptBases || n == 0 {
		t.Errorf("bases of %d bytes are kept", n)
	}
	product(106, 1<<20)
	if n := kept(); n > 1<<18 || n == 0 {
		t.Errorf("bases of %d bytes are kept with a limit of 1 MiB", n)
	}
}
