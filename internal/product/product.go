// Package product dispatches matrix products: to the method that should take the least time, or
// that was requested, and from a method that turns out not to apply to the next one. All methods
// give the same bits.
package product

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/residue"
)

// The methods that callers can request.
const (
	Auto    = "auto"
	Residue = residue.Residue
	Direct  = residue.Direct
)

// ErrMethod is wrapped by errors about methods that do not exist or do not apply.
var ErrMethod = errors.New("no such method")

// ErrMemory is wrapped by errors about products that do not fit in the memory allowed even in the
// smallest blocks.
var ErrMemory = residue.ErrMemory

// A Problem is C = Alpha A B + Beta Old, rounded once, for host matrices: A is m x k, B is k x n,
// Old and C are m x n views. C must not share storage with A and B, and with Old only if it is the
// same view. If Alpha is zero, A and B are not read; if Beta is zero, Old is not read. PreA and
// PreB, unless nil, keep data computed from A and B. Triangle restricts C to one triangle, 'U' or
// 'L', unless it is 0.
type Problem struct {
	Alpha      num.Real
	A, B       num.Mat
	Beta       num.Real
	Old, C     num.Mat
	PreA, PreB *residue.Prepared
	Triangle   byte
	// Steps, if not nil, bounds the triangle in place of the diagonal: row i of 'L' has the columns
	// j < Steps[i], and row i of 'U' the others. Steps must not decrease, and C need not be square.
	// Devices do not support it.
	Steps []int
	Bound *residue.Bound // a proved bound of the result, or nil
}

// Config holds the options of a product.
type Config struct {
	par.Run
	Method string // Auto, Residue or Direct
	Device Device // nil for none
	// Asked means that the device was requested: the host computes only what the device cannot.
	Asked bool
}

var forced atomic.Value // name of a way

func init() { forced.Store("") }

// Force makes all products use the way of the given name, one of Ways, or fail with ErrMethod,
// whatever method and device are requested, until restore is called. It is for tests and
// measurements.
func Force(name string) (restore func()) {
	before := forced.Swap(name)
	return func() { forced.Store(before) }
}

// A Device multiplies host matrices: a GPU, or several that share the work.
type Device interface {
	// Count returns the number of devices.
	Count() int
	// Estimate returns the approximate time of Gemm for numbers of similar size, including the
	// opening of the device. It returns false if the device leaves the product to the host, which
	// takes the time host.
	Estimate(p *Problem, host time.Duration) (time.Duration, bool)
	// Gemm computes the product. Its errors wrap the errors of this package.
	Gemm(cfg Config, p *Problem) (residue.Stats, error)
	// Leaves reports whether the host should compute a product for which the device returned err,
	// if the device was not requested.
	Leaves(err error) bool
}

// request is a product to be dispatched.
type request struct {
	Config
	Problem
	force  string   // name of the way of Force, or ""
	rivals []choice // remaining ways, the fastest first
	room   [5]choice
}

type choice struct {
	*way
	time time.Duration
}

// errLeave means that another way should be faster, now that the operands are known.
var errLeave = errors.New("another way should be faster")

// Run computes the product. Its progress ends at 1.
func Run(cfg Config, p Problem) (residue.Stats, error) {
	r := &request{Config: cfg, Problem: p, force: forced.Load().(string)}
	r.Progress = par.Rising(cfg.Progress)
	st, err := r.run()
	if err == nil && r.Progress != nil {
		r.Progress(1)
	}
	return st, err
}

// trivial reports whether there is nothing to multiply.
func (r *request) trivial() bool {
	return r.Alpha.Class == num.Zero || r.C.Rows == 0 || r.C.Cols == 0 || r.A.Cols == 0
}

// run tries the ways that apply, the fastest first.
func (r *request) run() (residue.Stats, error) {
	if err := r.choose(); err != nil {
		return residue.Stats{}, err
	}
	for {
		w := r.rivals[0]
		r.rivals = r.rivals[1:]
		st, err := w.run(r)
		if err == nil || len(r.rivals) == 0 || r.Ctx.Err() != nil || !w.leaves(r, err) {
			return st, err
		}
	}
}

// choose lists the ways that apply, in the order of their estimated times.
func (r *request) choose() error {
	var refused error
	r.rivals = r.room[:0]
	for i := range ways {
		w := &ways[i]
		if r.force != "" && w.name != r.force {
			continue
		}
		switch err := w.applies(r); {
		case err == nil:
			if t := w.estimate(r); t != declined {
				r.rivals = append(r.rivals, choice{w, t})
			}
		case refused == nil || errors.Is(refused, errOther):
			refused = err
		}
	}
	if len(r.rivals) == 0 {
		if refused == nil {
			refused = fmt.Errorf("gemm: way %q: %w", r.force, ErrMethod)
		}
		return refused
	}
	slices.SortStableFunc(r.rivals, func(x, y choice) int { return cmp.Compare(x.time, y.time) })
	return nil
}

// fastest returns the least estimate of the listed ways.
func (r *request) fastest() time.Duration {
	least := never
	for _, c := range r.rivals {
		least = min(least, c.time)
	}
	return least
}

// never is the estimate of a way that runs only where no other way applies.
const never = time.Duration(math.MaxInt64)

// declined is the estimate of a way that must not run.
const declined = time.Duration(-1)
