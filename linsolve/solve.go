package linsolve

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/budget"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/refine"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
	"github.com/halfulp/halfulp/linsolve/internal/blocks"
	"github.com/halfulp/halfulp/linsolve/internal/digits"
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
	// orders around 1000 it may be larger by four digits.
	Cond   string          `json:"scaled_condition_at_most,omitempty"`
	Rounds int             `json:"decompositions,omitempty"` // float64, for the inverse
	Rho    halfulp.Measure `json:"rho,omitempty"`            // bound of ‖I - R A‖
	Steps  int             `json:"steps,omitempty"`          // of refinement
	// bits that were worked with last
	Precision int `json:"precision,omitempty"`
	Primes    int `json:"primes,omitempty"`        // modulo which A was decomposed
	Solved    int `json:"exact_columns,omitempty"` // columns that solve the system exactly
	// zeros and ties in others, by p-adic digits
	Ties      int `json:"exact_entries,omitempty"`
	Digits    int `json:"p_adic_digits,omitempty"` // that this took
	Undecided int `json:"undecided,omitempty"`     // entries of Expm that seem to be 0 or ties
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
	here, err := onHost(operands...)
	if err != nil {
		return nil, nil, wrapped(name, err)
	}
	return s, here, nil
}

// onHost returns copies of matrices that live elsewhere.
func onHost(operands ...num.Mat) ([]num.Mat, error) {
	here := make([]num.Mat, len(operands))
	for i, m := range operands {
		here[i] = m
		if !m.OnHost() {
			var err error
			if here[i], err = place.On(nil, m); err != nil {
				return nil, err
			}
		}
	}
	return here, nil
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
	s := &call.Run{Call: call.Call{Ctx: set.Ctx, Threads: set.Threads}, Set: set, Since: time.Now()}
	s.Memory = budget.New(set.Limit)
	s.Work.Report, s.Set.Progress = set.Progress, nil
	s.Begin()
	return s, nil
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
// logarithm, or one by products of blocks without AVX2, beyond 2^700 and of large orders. Many
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
// for infinities and NaN in A or B. It wraps halfulp.ErrMemory, and names the bytes, if few columns
// take more than Options.MemoryLimit on the host beside A, B and X. Options.Method is of the
// products, and so is Device, and MemoryLimit for many columns. After an error X is unchanged.
// Solve panics if shapes do not fit.
func Solve(a, b, x *halfulp.Matrix, opt *halfulp.Options) (Stats, error) {
	if a.Rows() != a.Cols() || b.Rows() != a.Rows() || x.Rows() != b.Rows() || x.Cols() != b.Cols() {
		panic(errShape)
	}
	s, err := start("Solve", opt, a.View(), b.View(), x.View())
	if err != nil {
		return Stats{}, err
	}
	return ended(s, "Solve", solveTo(s, a.View(), b.View(), x.View()))
}

// apart reports whether each process of a grid solves A X = B by itself: for few columns, where of
// order 600 at 424 bits two processes took 1.4 s together and 0.09 s alone for one, 1.9 and 0.75 s
// for 30, or as alone says. There is no B for an inverse.
func apart(s *call.Run, a, b, x num.Mat) (bool, error) {
	if call.Few(x.Cols, a.Rows) {
		return small(s, a), nil
	}
	if b.Arr == nil {
		return alone(s, a, x.Format(), aloneInverse)
	}
	if b.Format().Bits() > aloneBits {
		return false, nil
	}
	return alone(s, a, x.Format(), aloneSystem)
}

// solveTo stores the solution in x, wherever it lives; without b that of the unit matrix.
func solveTo(s *call.Run, a, b, x num.Mat) error {
	defer s.Release()
	there := !a.OnHost() && a.Rows > 0 && x.Cols > 0
	if there {
		apart, err := apart(s, a, b, x)
		if err != nil {
			return err
		}
		there = !apart
	}
	if there {
		s.At = place.Of(a.Arr)
		z, err := newton.SolveThere(s, a, b, x.Format())
		if err == nil && z.Arr != nil {
			s.Finished()
			err = place.Copy(x, z)
		}
		if err != nil || z.Arr != nil {
			return err
		}
		s.Resign()
	}
	if b.Arr == nil {
		b = s.IdentityHere(a.Rows)
	}
	here, err := onHost(a, b)
	if err != nil {
		return err
	}
	z, err := solve(s, here[0], here[1], x.Format())
	if err != nil {
		return err
	}
	defer call.PutMatrix(z)
	return finish(s, z, x)
}

// finish stores a result in x, wherever it lives.
func finish(s *call.Run, z, x num.Mat) error {
	m := z
	for j := range m.Cols {
		at := m.At(0, j)
		// The usual case.
		if m.Arr.Kind == num.F64 && m.RS == 1 && m.Rows > 0 && call.LargestOf(m.Arr.F64[0][at:at+m.Rows]) <= math.MaxFloat64 {
			continue
		}
		for range m.Rows {
			if m.Arr.Class(at) == num.Inf {
				s.Stats.Overflow++
			}
			at += m.RS
		}
	}
	s.Finished()
	if !x.OnHost() {
		d, err := place.On(place.Of(x.Arr), z)
		if err != nil {
			return err
		}
		defer d.Free()
		z = d
	}
	return place.Copy(x, z)
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
	return ended(s, "Inverse", solveTo(s, a.View(), num.Mat{}, x.View()))
}

func solve(s *call.Run, a, b num.Mat, f num.Format) (num.Mat, error) {
	z := call.TakeMatrix(f, b.Rows, b.Cols)
	if a.Rows == 0 || b.Cols == 0 {
		return z, s.Ctx.Err()
	}
	if err := call.Finite("A", a); err != nil {
		return num.Mat{}, err
	}
	if err := call.Finite("B", b); err != nil {
		return num.Mat{}, err
	}
	for _, m := range []num.Mat{a, b} {
		if err := call.Workable(f.Bits()+64, m); err != nil {
			return num.Mat{}, err
		}
	}
	defer s.Release()
	s.Reuse = true
	todo := ziv.NewEntries(s, a, b, z)
	ziv.WithoutZeros(s, a, b, todo)
	if call.Few(len(todo), a.Rows) {
		if err := s.Memory.Check(fewBytes(a, f, len(todo))); err != nil {
			return num.Mat{}, err
		}
	}
	planSolve(s, a, z.Format(), len(todo))
	lu, err := seed.NewFactors(s, a, scale.Of(a))
	if err != nil {
		return num.Mat{}, err
	}
	s.Did(call.FactorCost(a.Rows))
	one := call.Few(len(todo), a.Rows) // by one
	planBy(s, lu, one, a, z.Format(), len(todo))
	if one {
		if r, rho, norm, err := seed.InvertFactors(s, a, lu, len(todo)); err != nil {
			return num.Mat{}, err
		} else if r != nil {
			seed.Note(s, 1, rho, bound.Upper().SetFloat64(norm), bound.Upper().SetFloat64(lu.Norm))
			if done, err := solveFewBy(s, r, a, b, z, todo); done || err != nil {
				return z, err
			}
		}
	}
	if !one {
		// Each is for other formats and orders, the faster one first.
		ways := []func(s *call.Run, a, b num.Mat, f *seed.Factors, z num.Mat, todo []*ziv.Entries) error{newton.InverseBySlices, newton.InverseBySeries, digits.QuickInverse, newton.SolveByNewton}
		for _, way := range ways {
			if err := way(s, a, b, lu, z, todo); err != nil || ziv.CountOpen(todo) == 0 {
				return z, err
			}
		}
	}
	var p *seed.Approximate
	if lu.PivotsAbove(blocks.PivotRange) == a.Rows || !one {
		if p, err = seed.FirstInverse(s, a, lu); err != nil && !(one && errors.Is(err, call.ErrRange)) {
			return num.Mat{}, err
		}
	}
	if one && (p == nil || p.Rho == nil) {
		if r, rho, norm, err := invertBlocks(s, a, lu, f.Bits()); err != nil {
			return num.Mat{}, err
		} else if r != nil {
			s.Work.Guessed = false
			seed.Note(s, 1+s.Stats.Rounds, rho, bound.Upper().SetFloat64(norm), bound.Upper().SetFloat64(lu.Norm))
			if done, err := solveFewBy(s, r, a, b, z, todo); done || err != nil {
				return z, err
			}
		}
	}
	if p == nil {
		if p, err = seed.FirstInverse(s, a, lu); err != nil {
			return num.Mat{}, err
		}
	}
	s.Work.Guessed = p.Rho == nil
	if p.Rho == nil {
		end := s.Before(solutionLeft(s, a, len(todo), f.Bits()))
		p, err = multiply(s, p, a, lu)
		end()
		if err != nil {
			return num.Mat{}, err
		}
	}
	s.Stage("approximate inverse")
	return z, solveOpen(s, p, a, b, z, todo)
}

// solveFewBy is solveFew with an inverse that is just made; done if nothing is left.
func solveFewBy(s *call.Run, r seed.Inverse, a, b, z num.Mat, todo []*ziv.Entries) (done bool, err error) {
	s.Stage("approximate inverse")
	err = refine.SolveFew(s, a, b, z, r, todo)
	s.Stage("refinement")
	return ziv.CountOpen(todo) == 0, err
}

// approximate returns an approximate inverse of a.
func approximateInverse(s *call.Run, a num.Mat) (*seed.Approximate, error) {
	defer s.Stage("approximate inverse")
	return invert(s, a)
}

// solveBy stores the solution in z, which an approximate inverse of a is known for.
func solveBy(s *call.Run, p *seed.Approximate, a, b, z num.Mat) error {
	todo := ziv.NewEntries(s, a, b, z)
	ziv.WithoutZeros(s, a, b, todo)
	return solveOpen(s, p, a, b, z, todo)
}

// solveOpen does so for what is open in todo.
func solveOpen(s *call.Run, p *seed.Approximate, a, b, z num.Mat, todo []*ziv.Entries) error {
	defer s.Stage("refinement")
	cond := condition(s, a, p)
	if !call.Few(len(todo), a.Rows) {
		err := newton.SolveMany(s, p, a, b, z, todo)
		if err != nil && !errors.Is(err, call.ErrRange) || ziv.CountOpen(todo) == 0 {
			return err
		}
	}
	if call.Few(ziv.OpenColumns(todo), a.Rows) {
		w, err := refine.NewWideInverse(s, p)
		if err == nil {
			err = refine.SolveFew(s, a, b, z, w, todo)
		}
		if err != nil || ziv.CountOpen(todo) == 0 {
			return err
		}
	}
	return refine.RefineOpen(s, a, b, p, cond, z, todo)
}

// condition notes what an approximate inverse of a proves and returns cond with 2^cond above the
// condition number.
func condition(s *call.Run, a num.Mat, p *seed.Approximate) (cond int) {
	rho, _ := p.Rho.Float64()
	return seed.Note(s, p.Rounds, rho, p.Abs.Norm(), bound.BoundsOf(a, bound.Negated(p.Scale), bound.Negated(p.Weights)).Norm())
}
