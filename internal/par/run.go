package par

import (
	"context"
	"runtime"
)

// A Run has the options common to all routines. A routine passes it unchanged to the routines that
// it calls, whose own options embed it.
type Run struct {
	Ctx      context.Context
	Threads  int
	Memory   int64 // bytes that the host may use beside operands
	Progress func(done float64)
	// Check compares every entry of products of matrices modulo a redundant modulus. A difference
	// is a HardwareError of package residue.
	Check bool
}

// Filled returns the run with defaults for missing options: a context that is never cancelled, and
// GOMAXPROCS threads.
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
