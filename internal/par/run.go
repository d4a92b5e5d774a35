package par

import (
	"context"
	"runtime"
)

// A Run is how a routine may run, whatever it computes. Routines hand it down whole to those that
// they call, whose own options embed it.
type Run struct {
	Ctx      context.Context
	Threads  int
	Memory   int64 // bytes that the host may take beside operands
	Progress func(done float64)
	// Check compares every entry of products of matrices modulo a redundant modulus. A difference
	// is a HardwareError of package residue.
	Check bool
}

// Filled returns the run with defaults for what it has not: a context that is never cancelled, and
// as many threads as GOMAXPROCS.
func (r Run) Filled() Run {
	if r.Ctx == nil {
		r.Ctx = context.Background()
	}
	if r.Threads <= 0 {
		r.Threads = runtime.GOMAXPROCS(0)
	}
	return r
}

// Reporting returns the run with another Progress, or none: nil.
func (r Run) Reporting(progress func(done float64)) Run {
	r.Progress = progress
	return r
}
