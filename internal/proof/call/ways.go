package call

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// A Way is a method for problems of type P, such as a system of equations of which some entries are
// not decided.
type Way[P any] struct {
	Name string
	// Applies reports whether it is a method for this problem; nil stands for a method for all.
	Applies func(P) bool
	// Faster reports whether it is likely to be faster than those after it in the table; nil stands
	// for yes. It is asked first, and not where the context asks for the way.
	Faster func(P) bool
	Run    func(P) error
}

// Try tries the ways of a table in order, or the one that the context asks for, until the problem
// is not open. The last way is tried for what these leave open. A [Record] in the context
// tells which way decided.
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

// The ways that systems are solved by, for Forcing.
const (
	ByTriangles   = "triangles"   // float64 inverses of the factors' triangles, and refinement
	BySlices      = "slices"      // an inverse in float64 slices
	ByDigits      = "digits"      // an inverse by elimination in fixed point
	ByFloats      = "floats"      // Newton's method that begins with float64 slices
	ByElimination = "elimination" // an elimination in fixed point or by blocks, and refinement
	ByRationals   = "rationals"   // p-adic digits, and the rational numbers they are those of
	ByProducts    = "products"    // an approximate inverse by products in many bits
)

// SystemWays are the names of all of them, in the order in which they are tried.
var SystemWays = []string{ByTriangles, BySlices, ByDigits, ByFloats, ByElimination, ByRationals, ByProducts}

// The ways that approximate inverses are made by.
const (
	ByFloat64 = "float64" // from float64 factors
	ByBlocks  = "blocks"  // an elimination by blocks
	BySeeds   = "seeds"   // a product of float64 inverses, or an elimination in many bits
)

// InverseWays are the names of all of them, in the order in which they are tried.
var InverseWays = []string{ByFloat64, ByBlocks, BySeeds}

// The ways that determinants are enclosed by, besides ByDigits, ByBlocks and ByElimination.
const (
	ByPivots = "pivots" // enclosed pivots of an elimination in enough bits
	ByPrimes = "primes" // an integer modulo primes
	ByTraces = "traces" // on devices: traces of powers of the error of an inverse
)

// DeterminantWays are the names of all on the host, in the order in which they are tried.
var DeterminantWays = []string{ByDigits, ByBlocks, ByElimination, ByPivots, ByPrimes}

// The ways that factors are enclosed by, besides ByDigits and ByElimination.
const (
	ByNewton    = "newton"    // Newton's method that begins with float64 factors
	ByLongSeed  = "long seed" // Newton's method that begins with an elimination in more bits
	ByIntervals = "intervals" // an elimination in intervals
)

// FactorWays are the names of all of them, in the order in which they are tried. Cholesky and QR
// have none of their own by a long seed.
var FactorWays = []string{ByDigits, ByNewton, ByLongSeed, ByIntervals, ByElimination}

// ErrWay is wrapped by errors about ways that do not apply.
var ErrWay = errors.New("this way is none for this problem")

// A Record counts which ways decided problems.
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

// Recording returns a context with which tables count the runs of their ways in r.
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

// Of returns how many problems of a type, such as "*solve.problem", a way has decided, and how many
// it has left open or failed for.
func (r *Record) Of(problem, way string) (decided, left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs[run{problem, way, true}], r.runs[run{problem, way, false}]
}

type forcedKey struct{}

// Forcing returns a context with which problems are solved in these ways, however fast they are,
// for tests and measurements. A table ignores names that it does not have. The error wraps ErrWay
// where a way does not apply.
func Forcing(ctx context.Context, ways ...string) context.Context {
	return context.WithValue(ctx, forcedKey{}, ways)
}

// Forced reports whether the context asks for one of these ways.
func Forced(ctx context.Context, ways ...string) bool {
	forced, _ := ctx.Value(forcedKey{}).([]string)
	return slices.ContainsFunc(ways, func(w string) bool { return slices.Contains(forced, w) })
}
