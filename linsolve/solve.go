package linsolve

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// Method is the method in Stats.
const Method = call.Method

// Stats says how a solution was found, and what proved it. Stats.Exact counts entries that only
// exact arithmetic decided, Stats.Overflow those that became infinite, and Stats.Underflow those
// that lost bits below the smallest normal number, as far as enclosures tell; Stages has times.
type Stats struct {
	halfulp.Stats
	Proof
}

// Proof is what a result rests on.
type Proof struct {
	// Cond is a bound of the condition number ‖F‖ ‖F^-1‖ in the maximum norm, three digits, for the
	// matrix F that powers of two before and behind A bring near 1. With one right-hand side and
	// orders around 1000 it may be larger by four digits. It is empty where no approximate inverse
	// was made, as solutions in rational numbers need none.
	Cond   string          `json:"scaled_condition_at_most,omitempty"`
	Rounds int             `json:"decompositions,omitempty"` // float64, for the inverse
	Rho    halfulp.Measure `json:"rho,omitempty"`            // bound of ‖I - R A‖
	Steps  int             `json:"steps,omitempty"`          // of refinement
	// bits that were worked with last
	Precision int `json:"precision,omitempty"`
	Primes    int `json:"primes,omitempty"`        // modulo which A was decomposed
	Solved    int `json:"exact_columns,omitempty"` // columns that solve the system exactly
	// zeros and ties in others, by p-adic digits
	Ties int `json:"exact_entries,omitempty"`
	// p-adic digits of these, and of solutions in rational numbers
	Digits    int `json:"p_adic_digits,omitempty"`
	Undecided int `json:"undecided,omitempty"` // entries of Expm that seem to be 0 or ties
}

// result returns the statistics of a routine that has ended.
func result(s *call.Run) Stats {
	t := &s.Stats
	z := Stats{
		Stats: halfulp.Stats{Device: t.Device, Method: t.Method, Threads: t.Threads, Exact: t.Exact, Overflow: t.Overflow, Underflow: t.Underflow, Check: (*halfulp.Check)(t.Check)},
		Proof: Proof{
			Cond: t.Cond, Rounds: t.Rounds, Rho: halfulp.Measure(t.Rho), Steps: t.Steps, Precision: t.Precision, Primes: t.Primes, Solved: t.Solved,
			Ties: t.Ties, Digits: t.Digits, Undecided: t.Undecided,
		},
	}
	for _, g := range t.Stages {
		z.Stages = append(z.Stages, halfulp.Stage(g))
	}
	return z
}

// ended returns what a routine does that has ended.
func ended(s *call.Run, name string, err error) (Stats, error) {
	if err != nil {
		err = wrapped(name, err)
	}
	return result(s), err
}

// begin checks the options and operands of routine name: all operands live in one place. It returns
// them on the host.
func begin(name string, opt *halfulp.Options, operands ...num.Mat) (*call.Run, []num.Mat, error) {
	s, err := start(name, opt, operands...)
	if err != nil {
		return nil, nil, err
	}
	here, err := solve.OnHost(operands...)
	if err != nil {
		return nil, nil, wrapped(name, err)
	}
	return s, here, nil
}

// start is begin without copies.
func start(name string, opt *halfulp.Options, operands ...num.Mat) (*call.Run, error) {
	var o halfulp.Options
	if opt != nil {
		o = *opt
	}
	for _, m := range operands {
		if place.Label(place.Of(m.Arr)) != place.Label(place.Of(operands[0].Arr)) {
			return nil, fmt.Errorf("%s: operands on %s and %s: %w", name, place.Label(place.Of(operands[0].Arr)), place.Label(place.Of(m.Arr)), place.ErrPlace)
		}
	}
	if len(operands) > 0 && !operands[0].OnHost() {
		o.Device = halfulp.Device(place.Label(place.Of(operands[0].Arr)))
	}
	if err := o.Validate(); err != nil {
		return nil, wrapped(name, err)
	}
	set, err := o.Settings()
	if err != nil {
		return nil, wrapped(name, err)
	}
	return call.New(set), nil
}

const errShape = "linsolve: shapes do not fit"

// Solve stores in X the solution of A X = B, A square and regular: every entry is the exact one
// rounded once to the format of X, ties to even, whatever the condition of A. Zeros are +0. A, B
// and X are n x n, n x k and n x k of any formats; X may overlap A and B.
//
// For a few columns of B the time is that of a float64 decomposition, of inverses of its triangles,
// and for each 40 bits or so of a product of A with a vector of 62-bit integers; condition numbers
// above some 2^30 take the product of these inverses and its residual in float64 too, those above
// some 2^45 an elimination in fixed point, in numbers of 90 bits more than the condition number's
// logarithm, or one by products of blocks without AVX2, beyond 2^700 and of large orders. Where
// p-adic digits of the solution, a vector of rational numbers, take less, they are lifted. Many
// columns take a few products of the format's bits, by an approximate inverse of half of them.
// Entries that are 0 for all regular A and B with zeros in the same places, as those of inverses of
// triangular matrices, take no time. Others that are 0 or lie halfway between two numbers of the
// format, while not all of their column do or are such numbers, take about n products with vectors
// more.
//
// Where A and B live on a GPU all of it runs there, but for what only arithmetic on the host
// decides: ties, zeros, and matrices that are singular or nearly so.
//
// The error is a *SingularError, which wraps ErrSingular, if A is singular; it wraps ErrNotFinite
// for infinities and NaN in A or B. Where the products for many columns take more than
// Options.MemoryLimit on the host, beside A, B and X, they are computed for some columns at a time,
// or the columns are solved one after the other, with the same bits in more time. If one column
// takes more, the error wraps halfulp.ErrMemory and names the bytes. Options.Method is of the
// products, and so is Device. After an error X is unchanged. Solve panics if shapes do not fit.
func Solve(a, b, x *halfulp.Matrix, opt *halfulp.Options) (Stats, error) {
	if a.Rows() != a.Cols() || b.Rows() != a.Rows() || x.Rows() != b.Rows() || x.Cols() != b.Cols() {
		panic(errShape)
	}
	s, err := start("Solve", opt, a.View(), b.View(), x.View())
	if err != nil {
		return Stats{}, err
	}
	return ended(s, "Solve", solve.Into(s, a.View(), b.View(), x.View()))
}

// Inverse stores the inverse of a square matrix A in X, each entry correctly rounded; see Solve.
func Inverse(a, x *halfulp.Matrix, opt *halfulp.Options) (Stats, error) {
	if a.Rows() != a.Cols() || x.Rows() != a.Rows() || x.Cols() != a.Rows() {
		panic(errShape)
	}
	s, err := start("Inverse", opt, a.View(), x.View())
	if err != nil {
		return Stats{}, err
	}
	return ended(s, "Inverse", solve.Into(s, a.View(), num.Mat{}, x.View()))
}
