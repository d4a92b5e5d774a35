package call

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// A Way is a method for problems of type P, for example a system of equations with undecided
// entries.
type Way[P any] struct {
	Name string
	// Applies reports whether the way can be used for this problem; nil: for every problem.
	Applies func(P) bool
	// Faster reports whether the way is likely to be faster than the later ways of the table; nil:
	// yes. It is called before Applies, and not at all if the context forces the way.
	Faster func(P) bool
	Run    func(P) error
}

// Try tries the ways of a table in order until the problem is no longer open; or only the way that
// the context forces, followed by the last way of the table. The last way is always tried for a
// problem that is still open. Try returns the first error of a way, or an error that wraps ErrWay
// if a forced way does not apply. A [Record] in the context counts which ways decided.
func Try[P interface{ Open() bool }](ctx context.Context, table []Way[P], p P) error {
	forced := ""
	for _, w := range table {
		if Forced(ctx, w.Name) {
			forced = w.Name
		}
	}
	record, _ := ctx.Value(recordKey{}).(*Record)
	for i, w := range table {
		switch {
		case forced == w.Name && !w.applies(p):
			return fmt.Errorf("%s: %w", w.Name, ErrWay)
		case forced == w.Name, i == len(table)-1:
		case forced != "" || w.Faster != nil && !w.Faster(p) || !w.applies(p):
			continue
		}
		err := w.Run(p)
		decided := err == nil && !p.Open()
		record.add(p, w.Name, decided)
		if err != nil || decided {
			return err
		}
	}
	return nil
}

func (w Way[P]) applies(p P) bool { return w.Applies == nil || w.Applies(p) }

// Ways to solve systems: names for Forcing.
const (
	ByMinors      = "minors"      // an elimination of integers without fractions
	ByResiduals   = "residuals"   // a float64 inverse of a small matrix, and residuals in integers
	ByTriangles   = "triangles"   // float64 inverses of the triangular factors, and refinement
	BySlices      = "slices"      // an inverse in float64 slices
	BySeries      = "series"      // an inverse by a series of float64 matrices
	ByDigits      = "digits"      // an inverse by elimination in fixed point
	ByFloats      = "floats"      // Newton's method that begins with float64 slices
	ByElimination = "elimination" // an elimination in fixed point or by blocks, and refinement
	ByRationals   = "rationals"   // p-adic digits, and the rational numbers that have these digits
	ByProducts    = "products"    // an approximate inverse by products in many bits
)

// SystemWays lists the names of all ways to solve systems, in the order in which they are tried.
var SystemWays = []string{ByResiduals, ByMinors, ByTriangles, BySlices, BySeries, ByDigits, ByFloats, ByElimination, ByRationals, ByProducts}

// Ways to compute approximate inverses.
const (
	ByFloat64 = "float64" // from float64 factors
	ByBlocks  = "blocks"  // an elimination by blocks
	BySeeds   = "seeds"   // a product of float64 inverses, or an elimination in many bits
)

// InverseWays lists the names of all ways to compute approximate inverses, in the order in which
// they are tried.
var InverseWays = []string{ByFloat64, ByBlocks, BySeeds}

// Ways to enclose determinants, besides ByDigits, ByBlocks and ByElimination.
const (
	ByPivots = "pivots" // enclosed pivots of an elimination in enough bits
	ByPrimes = "primes" // an integer modulo primes
	ByTraces = "traces" // on devices: traces of powers of the error of an inverse

	ByBlockTraces = "block traces" // the same in less memory, on the host
)

// DeterminantWays lists the names of all ways to enclose determinants on the host, in the order in
// which they are tried.
var DeterminantWays = []string{ByBlockTraces, ByDigits, ByBlocks, ByElimination, ByPivots, ByPrimes}

// Ways to enclose factors, besides ByDigits and ByElimination.
const (
	ByNewton    = "newton"    // Newton's method that begins with float64 factors
	ByLongSeed  = "long seed" // Newton's method that begins with an elimination in more bits
	ByIntervals = "intervals" // an elimination in intervals
)

// FactorWays lists the names of all ways to enclose factors, in the order in which they are tried.
// Cholesky and QR have no way ByLongSeed.
var FactorWays = []string{ByDigits, ByNewton, ByLongSeed, ByIntervals, ByElimination}

// ErrWay is wrapped by errors about ways that do not apply.
var ErrWay = errors.New("this way is none for this problem")

// A Record counts how often each way decided a problem or left it open.
type Record struct {
	mu   sync.Mutex
	runs map[run]int
}

// run is a run of a way for a problem of some type.
type run struct {
	problem, way string
	decided      bool
}

type recordKey struct{}

// Recording returns a context in which Try counts the runs of ways in r.
func Recording(ctx context.Context, r *Record) context.Context {
	return context.WithValue(ctx, recordKey{}, r)
}

// add counts a run, if there is a record.
func (r *Record) add(problem any, way string, decided bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs == nil {
		r.runs = map[run]int{}
	}
	r.runs[run{fmt.Sprintf("%T", problem), way, decided}]++
}

// Of returns how many problems of a type, for example "*solve.problem", a way has decided, and how
// many it has left open or ended with an error.
func (r *Record) Of(problem, way string) (decided, left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs[run{problem, way, true}], r.runs[run{problem, way, false}]
}

type forcedKey struct{}

// Forcing returns a context in which problems are solved in these ways, even if others are faster.
// It is for tests and measurements. A table ignores names that it does not have. If a forced way
// does not apply, the error of the routine wraps ErrWay.
func Forcing(ctx context.Context, ways ...string) context.Context {
	return context.WithValue(ctx, forcedKey{}, ways)
}

// Forced reports whether the context forces one of these ways.
func Forced(ctx context.Context, ways ...string) bool {
	forced, _ := ctx.Value(forcedKey{}).([]string)
	return slices.ContainsFunc(ways, func(w string) bool { return slices.Contains(forced, w) })
}
