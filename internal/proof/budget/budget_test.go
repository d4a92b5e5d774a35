package budget

import (
	"errors"
	"testing"

	"github.com/halfulp/halfulp/internal/memlimit"
)

// TestBudget counts bytes and checks them against a bound.
func TestBudget(t *testing.T) {
	b := New(Least + 1000)
	b.Take(600)
	if err := b.Check(Least + 400); err != nil {
		t.Errorf("all that is allowed: %v", err)
	}
	if err, want := b.Check(Least+401), "not enough memory: it takes 4195305 bytes beside operands and results, 4195304 are allowed"; !errors.Is(err, memlimit.ErrExceeded) || err.Error() != want {
		t.Errorf("a byte more than allowed: %v, want %s", err, want)
	}
	b.Take(-500)
	if err := b.Check(Least + 900); err != nil {
		t.Errorf("after some were given back: %v", err)
	}
	if b.Most() != 600 {
		t.Errorf("the most was %d, want 600", b.Most())
	}
	if b := New(1); b.Check(Least) != nil {
		t.Error("a small limit refuses what is always allowed")
	}
	if b := (Budget{}); b.Check(1e300) != nil {
		t.Error("without a bound there is an error")
	}
	if b := New(0); b.Check(1e300) == nil {
		t.Error("more is allowed than any system has")
	}
}
