package linsolve

import (
	"fmt"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/linsolve/internal/solve"
)

// stats returns how a routine ran.
func stats(s *call.Run) halfulp.Stats {
	t := &s.Stats
	z := halfulp.Stats{
		Device: t.Device, Method: halfulp.Method(t.Method), Threads: t.Threads, Exact: t.Exact, Overflow: t.Overflow, Underflow: t.Underflow, Check: (*halfulp.Check)(t.Check),
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

// ended stores the statistics of routine name if opt requests them. It returns err with the name in
// front, or nil.
func ended(opt *halfulp.Options, s *call.Run, name string, err error) error {
	if opt != nil && opt.Stats != nil {
		*opt.Stats = stats(s)
	}
	if err != nil {
		return wrapped(name, err)
	}
	return nil
}

// begin checks the options and operands of routine name and starts its run. All operands must live
// on one device. It returns the operands on the host.
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

// start is begin without the copies on the host.
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
	s := call.New(set)
	s.Brief = opt == nil || opt.Stats == nil
	return s, nil
}

// returned ends routine name, and returns its result.
func returned(opt *halfulp.Options, s *call.Run, name string, z num.Mat, err error) (*halfulp.Matrix, error) {
	if err := ended(opt, s, name, err); err != nil {
		return nil, err
	}
	return halfulp.MatrixOf(z), nil
}

const errShape = "linsolve: shapes do not fit"

// Solve returns the solution X of A X = B for a square, regular matrix A: every entry is the exact
// one rounded once to format f, ties to even, whatever the condition of A. Zeros are +0. A, B and X
// are n x n, n x k and n x k; A and B may have any formats. X lives where A and B do.
//
//	x, err := linsolve.Solve(a, b, halfulp.Float64, nil)
//
// The error is a *SingularError, which wraps ErrSingular, if A is singular. It wraps ErrNotFinite
// for infinities and NaN in A or B. It wraps halfulp.ErrMemory, and names the bytes, if a single
// column needs more than Options.MemoryLimit on the host, beside A, B and X. If only the products
// for many columns exceed that limit, Solve computes them for some columns at a time, or solves
// column by column, with the same bits in more time. Options.Method and Options.Device apply to the
// matrix products. Solve panics if the shapes do not fit.
//
// Cost. A few columns of B take a float64 decomposition of A, inverses of its triangles and, for
// each 40 bits or so of the result, a product of A with a vector of 62-bit integers. Condition
// numbers above some 2^30 also take the product of the two inverses and its residual in float64.
// Condition numbers above some 2^45 take an elimination in fixed point, in numbers of 90 bits more
// than the logarithm of the condition number; without AVX2, beyond 2^700 and for large orders it is
// an elimination by products of blocks. The solution is a vector of rational numbers: if its p-adic
// digits cost less, they are lifted instead. Many columns take a few matrix products in the bits of
// the format, with an approximate inverse of half as many bits.
//
// An entry that is zero for all regular A and B with the same patterns of zeros, as in inverses of
// triangular matrices, costs nothing. Any other entry that is zero, or halfway between two numbers
// of the format, costs about n further matrix-vector products, unless every entry of its column is
// a number of the format or halfway between two.
//
// If A and B live on a GPU, the computation runs there. The host handles only the cases that its
// arithmetic must decide: ties, zeros, and matrices that are singular or nearly so.
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

// Inverse returns the inverse of a square matrix A, each entry rounded once to format f. Errors and
// cost are as for [Solve] with many columns. Inverse panics if A is not square.
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
