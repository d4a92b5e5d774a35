package grid

import (
	"testing"

	"github.com/halfulp/halfulp/internal/num"
)

// Kept arrays are used whole, and only for about as many numbers.
func TestKept(t *testing.T) {
	f := num.Format{Kind: num.MP, Prec: 77} // of no other test
	a := num.New(f, 1<<17)
	keepFactor(a)
	if b := factor(f, 1); b == a {
		t.Error("one number takes all memory")
	}
	if b := factor(f, 1<<17+1); b == a {
		t.Error("more numbers than there are")
	}
	b := factor(f, 1<<14)
	if b != a {
		t.Error("kept numbers are not taken")
	}
	keepFactor(b)
	if b := factor(f, 1<<17); b != a {
		t.Error("kept numbers are not whole")
	}
}
