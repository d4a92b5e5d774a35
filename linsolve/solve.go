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

// stats returns how a routine ran.
func stats(s *call.Run) halfulp.Stats {
	t := &s.Stats
	z := halfulp.Stats{
		Device: t.Device, Method: t.Method, Threads: t.Threads, Exact: t.Exact, Overflow: t.Overflow, Underflow: t.Underflow, Check: (*halfulp.Check)(t.Check),
		Proof: halfulp.Proof{
			Cond: t.Cond, Rounds: t.Rounds, Rho: halfulp.Measure(t.Rho), Steps: t.Steps, Precision: t.Precision, Primes: t.Primes, Solved: t.Solved,
			Ties: t.Ties, Digits: t.Digits, Undecided: t.Undecided,
		},
	}
	for _, g := range t.Stages {
		z.Stages = append(z.Stages, halfulp.Stage(g))
	}
	return z
}

// ended stores the statistics of routine name where its options ask for them, and returns its
// error, if there is one.
func ended(opt *halfulp.Options, s *call.Run, name string, err error) error {
	if opt != nil && opt.Stats != nil {
		*opt.Stats = stats(s)
	}
	if err != nil {
		return wrapped(name, err)
	}
	return nil
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

// returned ends routine name, and returns its result.
func returned(opt *halfulp.Options, s *call.Run, name string, z num.Mat, err error) (*halfulp.Matrix, error) {
	if err := ended(opt, s, name, err); err != nil {
		return nil, err
	}
	return halfulp.MatrixOf(z), nil
}

const errShape = "linsolve: shapes do not fit"

// Solve returns the solution X of A X = B, A square and regular: every entry is the exact one
// rounded once to format f, ties to even, whatever the condition of A. Zeros are +0. A, B and X are
// n x n, n x k and n x k, A and B of any formats. X lives where A and B do.
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
// Options.MemoryLimit on the host, beside A, B and X, the columns are solved one after the other,
// with the same bits in more time. If one column takes more, the error wraps halfulp.ErrMemory and
// names the bytes. Options.Method is of the products, and so is Device. Solve panics if shapes do
// not fit.
func Solve(a, b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if a.Rows() != a.Cols() || b.Rows() != a.Rows() {
		panic(errShape)
	}
	s, err := start("Solve", opt, a.View(), b.View())
	if err != nil {
		return nil, err
	}
	z, err := solve.Anywhere(s, a.View(), b.View(), f.View(), b.Cols())
	return returned(opt, s, "Solve", z, err)
}

// Inverse returns the inverse of a square matrix A, each entry rounded once to format f; see Solve.
func Inverse(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if a.Rows() != a.Cols() {
		panic(errShape)
	}
	s, err := start("Inverse", opt, a.View())
	if err != nil {
		return nil, err
	}
	z, err := solve.Anywhere(s, a.View(), num.Mat{}, f.View(), a.Rows())
	return returned(opt, s, "Inverse", z, err)
}
