package budget

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/bufpool"
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

// TestLeast checks that the error names the least bytes of the ways refused one after the other,
// and forgets them once a request is granted.
func TestLeast(t *testing.T) {
	b := New(Least)
	says := func(err error, need int) {
		t.Helper()
		if want := fmt.Sprintf("it takes %d bytes", need); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	says(b.Check(3*Least), 3*Least)
	says(b.Check(2*Least), 2*Least)
	says(b.Check(4*Least), 2*Least)
	if err := b.Check(1); err != nil {
		t.Error(err)
	}
	says(b.Check(4*Least), 4*Least)
	if err := b.Reserve(Least / 2); err != nil {
		t.Error(err)
	}
	says(b.Check(Least), Least*3/2)
	if left, ok := b.Left(); !ok || left != Least {
		t.Errorf("%d bytes are left, which is no less than %d at any time", left, Least)
	}
	if err := b.Reserve(Least); err != nil { // replaces the other reservation
		t.Error(err)
	}
	says(b.Reserve(Least+1), Least+1)
	if err := b.Check(Least); err != nil {
		t.Errorf("what was refused is reserved: %v", err)
	}
	if _, ok := new(Budget).Left(); ok {
		t.Error("without a bound some bytes are left")
	}
}

// TestReclaim checks that Reclaim frees kept buffers before a limit would be exceeded, and nothing
// else.
func TestReclaim(t *testing.T) {
	var s bufpool.Shelf[[]float64]
	keep := func() { s.Put(make([]float64, 100), 100, 800) }
	b := New(Least)
	keep()
	if b.Reclaim(0); bufpool.Kept() != 800 {
		t.Errorf("%d bytes are kept within the limit, want 800", bufpool.Kept())
	}
	if b.Reclaim(math.MaxInt32); bufpool.Kept() != 0 {
		t.Errorf("%d bytes are kept beyond the limit", bufpool.Kept())
	}
	keep()
	if b.Reclaim(math.MaxInt32); bufpool.Kept() != 800 {
		t.Errorf("%d bytes are kept where nothing was allocated since, want 800", bufpool.Kept())
	}
	b = New(0)
	if b.Reclaim(math.MaxInt64 / 2); bufpool.Kept() != 800 {
		t.Errorf("%d bytes are kept without a limit, want 800", bufpool.Kept())
	}
	bufpool.Drop()
}

// TestSizesFor: small limits count with the heap as it is, large ones with recent sizes of it.
func TestSizesFor(t *testing.T) {
	old := &sizes{heap: -1, resident: -2, read: time.Now().Add(time.Hour)}
	recent.Store(old)
	if s := sizesFor(coarseLimit); s != *old {
		t.Errorf("a large limit: %+v, want %+v", s, *old)
	}
	if s := sizesFor(coarseLimit - 1); s.heap <= 0 || s.resident < s.heap {
		t.Errorf("a small limit: %+v", s)
	}
	recent.Store(&sizes{heap: -1, resident: -2, read: time.Now().Add(-time.Second)})
	if s := sizesFor(coarseLimit); s.heap <= 0 || s.resident < s.heap {
		t.Errorf("a large limit after a second: %+v", s)
	}
}
