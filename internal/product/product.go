// Package product dispatches matrix products: to the method that should take the least time, or
// that was requested, and from a method that turns out not to apply to the next one. All methods
// give the same bits.
//
// # From a file to the last kernel
//
// "halfulp gemm A.mtx B.mtx --format mp:424" on the CPU: cmd/halfulp reads each operand by package
// matfile, which detects the kind of file. Package internal/decimal rounds every number once, into
// a num.Array. halfulp.GemmTo (blas3.go) checks shapes. place.Settings finds that all operands live
// on the host, computes into a copy if the output overlaps an operand, and calls [Run], which lists
// the applicable methods (ways.go), estimates their time and tries the fastest.
//
// The residue method begins with residue.Plan. It scans exponents and norms of rows and columns
// (operand.go) and estimates the sizes of some entries (sample.go). plan.Machine.Choose derives the
// number of bits and of moduli from both and from the CPU's costs. Planned.Run (gemm.go) goes over
// tiles of the result: digits.go cuts aligned integers into digits; residues.go converts them to
// residues by a product of small integers; modgemm multiplies for every modulus and reduces in its
// epilogue; worker.go reconstructs leading bits by further products of small integers. Package
// internal/rounding rounds the integers of plain products, a vector at a time. Other products, and
// entries that remain open, go through finish.go, which includes alpha, beta and the old entry and
// stores the number to which both ends of the enclosure round. If the ends round to different
// numbers, exactPass adds the exact products of the entry (internal/superacc). Package matfile
// writes the result to a temporary file, and internal/files renames it.
//
// With "--device cuda:0", package cuda has registered internal/gpu/backend with internal/place, so
// that Run finds a device beside the host's methods. internal/gpu/product has one file for each
// stage: parts.go cuts operands that do not fit or that several GPUs share; call.go copies operands
// to the GPU; scan.go, plan.go, residues.go, products.go, finish.go, settle.go and exactpass.go
// launch kernels with the structures of internal/gpu/abi. launch.Kernels takes a kernel from the
// archive of internal/kernels and has the driver compile it. Entries that no kernel decides come
// back to residue.Finisher on the host. A GPU lists the blocks that it leaves to the host in a
// place.Declined, and Run computes these blocks.
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
