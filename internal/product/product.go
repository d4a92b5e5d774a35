// Package product dispatches products of matrices: to the way that should take the least time, or
// that was asked for, and from one that turns out not to apply to the next. All ways give the same
// bits.
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

// The methods that callers ask for.
const (
	Auto    = "auto"
	Residue = residue.Residue
	Direct  = residue.Direct
)

// ErrMethod is wrapped by errors about methods that do not exist or do not apply.
var ErrMethod = errors.New("no such method")

// ErrMemory is wrapped by errors about products that cannot fit the memory allowed even in the
// smallest blocks.
var ErrMemory = residue.ErrMemory

// A Problem is C = Alpha A B + Beta Old, rounded once, for matrices of the host: A m x k, B k x n,
// Old and C m x n views; C shares no storage with A and B, and with Old only if it is the same
// view. Alpha and Beta zero leave A and B, or Old, unread. PreA and PreB keep what is computed of A
// and B, unless they are nil. Triangle restricts C to one triangle, 'U' or 'L', unless it is 0.
type Problem struct {
	Alpha      num.Real
	A, B       num.Mat
	Beta       num.Real
	Old, C     num.Mat
	PreA, PreB *residue.Prepared
	Triangle   byte
	// Steps, if not nil, are what bounds the triangle in place of the diagonal: of row i 'L' has
	// columns j < Steps[i], 'U' the others. They do not fall, and C need not be square. Devices do
	// not take them.
	Steps []int
	Bound *residue.Bound // proved of the result, or nil
}

// Config says how a product may run.
type Config struct {
	par.Run
	Method string // Auto, Residue or Direct
	Device Device // nil for none
	// Asked says that the device was asked for: the host computes only what the device cannot.
	Asked bool
}

var forced atomic.Value // the name of a way

func init() { forced.Store("") }

// Force makes all products take the way of that name, of Ways, or fail with ErrMethod, whatever
// method and device are asked for, until restore is called. It is for tests and measurements.
func Force(name string) (restore func()) {
	before := forced.Swap(name)
	return func() { forced.Store(before) }
}

// A Device multiplies matrices of the host: a GPU, or several that share the work.
type Device interface {
	// Count returns how many there are.
	Count() int
	// Estimate returns about how long Gemm takes for numbers of like size, the device's opening
	// included, and false if it leaves the product to the host, which takes the time host.
	Estimate(p *Problem, host time.Duration) (time.Duration, bool)
	// Gemm computes the product, with errors in words that wrap those of this package.
	Gemm(cfg Config, p *Problem) (residue.Stats, error)
	// Leaves reports whether the host is to compute what the device failed at with err, where the
	// device was not asked for.
	Leaves(err error) bool
}

// request is a product that is to be dispatched.
type request struct {
	Config
	Problem
	force  string   // the way of Force, or ""
	rivals []choice // ways that remain, the fastest first
	room   [5]choice
}

type choice struct {
	*way
	time time.Duration
}

// errLeave says that another way should be faster, now that the operands are known.
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

// choose lists the ways that apply, those that should take the least time first.
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

// fastest returns the least estimate of the ways listed.
func (r *request) fastest() time.Duration {
	least := never
	for _, c := range r.rivals {
		least = min(least, c.time)
	}
	return least
}

// never is the estimate of a way that applies to what no other does.
const never = time.Duration(math.MaxInt64)

// declined is the estimate of a way that is not to run at all.
const declined = time.Duration(-1)
