package grid

import (
	"testing"

	"github.com/halfulp/halfulp/internal/num"
)

// What is kept is taken whole, by who needs about as much.
func TestKept(t *testing.T) {
	for _, c := range []struct {
		many, n int
		want    bool
	}{{0, 0, true}, {1 << 16, 0, true}, {1<<16 + 1, 0, false}, {999, 1000, false}, {1000, 1000, true}, {8e6, 1e6, true}, {9e6, 1e6, false}} {
		if got := fits(c.many, c.n); got != c.want {
			t.Errorf("memory of %d for %d: %v", c.many, c.n, got)
		}
	}
	f := num.Format{Kind: num.MP, Prec: 77} // of no other test
	a := num.New(f, 100)
	keepFactor(a)
	if b := factor(f, 10); b == a { // pools may forget
		keepFactor(b)
		if c := factor(f, 100); c.Len() < 100 {
			t.Errorf("%d numbers, want 100", c.Len())
		}
	}
	if b := factor(f, 101); b.Len() != 101 {
		t.Errorf("%d numbers, want 101", b.Len())
	}
}
