package linsolve

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/budget"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
)

// ErrSingular is wrapped by errors about matrices that are proved to be singular.
var ErrSingular = errors.New("singular matrix")

// SingularError says that a matrix is singular, which is proved. It wraps ErrSingular.
type SingularError struct {
	N    int // order of the matrix
	Rank int // its rank
}

func (e *SingularError) Error() string {
	return fmt.Sprintf("singular matrix: its rank is %d, its order %d (proved)", e.Rank, e.N)
}

func (e *SingularError) Unwrap() error { return ErrSingular }

// ErrNotSymmetric is wrapped by errors about matrices that are to be symmetric.
var ErrNotSymmetric = errors.New("matrix is not symmetric")

// ErrNotFinite is wrapped by errors about infinities and NaN.
var ErrNotFinite = call.ErrNotFinite

// ErrRange is wrapped by errors about numbers whose products do not fit any format.
var ErrRange = call.ErrRange

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

// measure returns a bound for statistics.
func measure(x *big.Float) float64 {
	v, _ := x.Float64()
	return v
}

// begin checks the options and operands of routine name: all operands live in one place. It returns
// them on the host.
func begin(name string, opt *halfulp.Options, operands ...num.Mat) (*call.Run, []num.Mat, error) {
	s, err := start(name, opt, operands...)
	if err != nil {
		return nil, nil, err
	}
	here, err := onHost(name, operands...)
	return s, here, err
}

// onHost returns copies of matrices that live elsewhere.
func onHost(name string, operands ...num.Mat) ([]num.Mat, error) {
	here := make([]num.Mat, len(operands))
	for i, m := range operands {
		here[i] = m
		if !m.OnHost() {
			var err error
			if here[i], err = place.On(nil, m); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
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
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	set, err := o.Settings()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &call.Run{Call: call.Call{Run: set.Run}, Set: set, Since: time.Now()}
	s.Budget = budget.New(set.Limit)
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
	return solveTo(s, "Solve", a.View(), b.View(), x.View())
}

// apart reports whether each process of a grid solves A X = B by itself: for few columns, where of
// order 600 at 424 bits two processes took 1.4 s together and 0.09 s alone for one, 1.9 and 0.75 s
// for 30, or as alone says. There is no B for an inverse.
func apart(s *call.Run, a, b, x num.Mat) (bool, error) {
	if few(x.Cols, a.Rows) {
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
func solveTo(s *call.Run, name string, a, b, x num.Mat) (Stats, error) {
	defer s.Release()
	there := !a.OnHost() && a.Rows > 0 && x.Cols > 0
	if there {
		apart, err := apart(s, a, b, x)
		if err != nil {
			return result(s), fmt.Errorf("%s: %w", name, err)
		}
		there = !apart
	}
	if there {
		s.At = place.Of(a.Arr)
		z, err := solveThere(s, a, b, x.Format())
		if err == nil && z.Arr != nil {
			s.Finished()
			err = place.Copy(x, z)
		}
		if err != nil {
			return result(s), fmt.Errorf("%s: %w", name, err)
		}
		if z.Arr != nil {
			return result(s), nil
		}
		s.Resign()
	}
	if b.Arr == nil {
		b = s.IdentityHere(a.Rows)
	}
	here, err := onHost(name, a, b)
	if err != nil {
		return result(s), err
	}
	z, err := solve(s, here[0], here[1], x.Format())
	if err != nil {
		return result(s), fmt.Errorf("%s: %w", name, err)
	}
	defer call.PutMatrix(z)
	return finish(s, name, z, x)
}

// finish stores a result in x, wherever it lives.
func finish(s *call.Run, name string, z, x num.Mat) (Stats, error) {
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
			return result(s), fmt.Errorf("%s: %w", name, err)
		}
		defer d.Free()
		z = d
	}
	return result(s), place.Copy(x, z)
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
	return solveTo(s, "Inverse", a.View(), num.Mat{}, x.View())
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
		if err := workable(f.Bits()+64, m); err != nil {
			return num.Mat{}, err
		}
	}
	defer s.Release()
	s.Reuse = true
	todo := undecided(s, a, b, z)
	withoutZeros(s, a, b, todo)
	if few(len(todo), a.Rows) {
		if err := s.Budget.Check(fewBytes(a, f, len(todo))); err != nil {
			return num.Mat{}, err
		}
	}
	planSolve(s, a, z.Format(), len(todo))
	lu, err := factor(s, a, scale.Of(a))
	if err != nil {
		return num.Mat{}, err
	}
	s.Did(factorCost(a.Rows))
	one := few(len(todo), a.Rows) // by one
	planBy(s, lu, one, a, z.Format(), len(todo))
	if one {
		if r, rho, norm, err := invertFactors(s, a, lu, len(todo)); err != nil {
			return num.Mat{}, err
		} else if r != nil {
			note(s, 1, rho, bound.Upper().SetFloat64(norm), bound.Upper().SetFloat64(lu.norm))
			if done, err := solveFewBy(s, r, a, b, z, todo); done || err != nil {
				return z, err
			}
		}
	}
	if !one {
		// Each is for other formats and orders, the faster one first.
		ways := []func(s *call.Run, a, b num.Mat, f *factors, z num.Mat, todo []*entries) error{inverseBySlices, inverseBySeries, quickInverse, solveByNewton}
		for _, way := range ways {
			if err := way(s, a, b, lu, z, todo); err != nil || open(todo) == 0 {
				return z, err
			}
		}
	}
	var p *approximate
	if lu.pivotsAbove(pivotRange) == a.Rows || !one {
		if p, err = firstInverse(s, a, lu); err != nil && !(one && errors.Is(err, call.ErrRange)) {
			return num.Mat{}, err
		}
	}
	if one && (p == nil || p.rho == nil) {
		if r, rho, norm, err := invertBlocks(s, a, lu, f.Bits()); err != nil {
			return num.Mat{}, err
		} else if r != nil {
			s.Work.Guessed = false
			note(s, 1+s.Stats.Rounds, rho, bound.Upper().SetFloat64(norm), bound.Upper().SetFloat64(lu.norm))
			if done, err := solveFewBy(s, r, a, b, z, todo); done || err != nil {
				return z, err
			}
		}
	}
	if p == nil {
		if p, err = firstInverse(s, a, lu); err != nil {
			return num.Mat{}, err
		}
	}
	s.Work.Guessed = p.rho == nil
	if p.rho == nil {
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
func solveFewBy(s *call.Run, r inverse, a, b, z num.Mat, todo []*entries) (done bool, err error) {
	s.Stage("approximate inverse")
	err = solveFew(s, a, b, z, r, todo)
	s.Stage("refinement")
	return open(todo) == 0, err
}

// approximate returns an approximate inverse of a.
func approximateInverse(s *call.Run, a num.Mat) (*approximate, error) {
	defer s.Stage("approximate inverse")
	return invert(s, a)
}

// solveBy stores the solution in z, which an approximate inverse of a is known for.
func solveBy(s *call.Run, p *approximate, a, b, z num.Mat) error {
	todo := undecided(s, a, b, z)
	withoutZeros(s, a, b, todo)
	return solveOpen(s, p, a, b, z, todo)
}

// solveOpen does so for what is open in todo.
func solveOpen(s *call.Run, p *approximate, a, b, z num.Mat, todo []*entries) error {
	defer s.Stage("refinement")
	cond := condition(s, a, p)
	if !few(len(todo), a.Rows) {
		err := solveMany(s, p, a, b, z, todo)
		if err != nil && !errors.Is(err, call.ErrRange) || open(todo) == 0 {
			return err
		}
	}
	if few(openColumns(todo), a.Rows) {
		w, err := newWideInverse(s, p)
		if err == nil {
			err = solveFew(s, a, b, z, w, todo)
		}
		if err != nil || open(todo) == 0 {
			return err
		}
	}
	return refineOpen(s, a, b, p, cond, z, todo)
}

// undecided returns the columns of the solution z, all of whose entries are open.
func undecided(s *call.Run, a, b, z num.Mat) []*entries {
	todo := make([]*entries, b.Cols)
	for j := range todo {
		todo[j] = &entries{s: s, a: a, b: b, z: z, j: j, open: make([]int, b.Rows), never: map[int]*big.Float{}}
		for i := range todo[j].open {
			todo[j].open[i] = i
		}
	}
	return todo
}

// condition notes what an approximate inverse of a proves and returns cond with 2^cond above the
// condition number.
func condition(s *call.Run, a num.Mat, p *approximate) (cond int) {
	rho, _ := p.rho.Float64()
	return note(s, p.rounds, rho, p.abs.Norm(), bound.BoundsOf(a, bound.Negated(p.scale), bound.Negated(p.weights)).Norm())
}

// note is condition for bounds of ‖R‖ and ‖F‖.
func note(s *call.Run, rounds int, rho float64, norm, of *big.Float) (cond int) {
	s.Stats.Rounds, s.Stats.Rho = rounds, rho
	// ‖F^-1‖ ≤ ‖R‖ / (1 - rho), and rho < 1/2.
	bound := bound.Upper().Mul(bound.Upper().Mul(norm, of), big.NewFloat(1+2*rho))
	s.Stats.Cond = bound.Text('g', 3)
	return bound.MantExp(nil)
}

// mostFarBits bounds the bits beyond those of the format that solutions take where exponents are
// far apart: a few entries take seconds.
const mostFarBits = 1 << 12

// refine stores the rounded solution in z as far as it is open in todo; the condition number is
// below 2^cond.
func refine(s *call.Run, a, b num.Mat, p *approximate, cond int, z num.Mat, todo []*entries) error {
	n, k := b.Rows, b.Cols
	target := z.Format().Bits() + 64
	if err := workable(max(target, cond+64), b); err != nil {
		return err
	}
	known := p.gain // bits of X, about
	// Numbers that are no ties differ from them by less bits than that.
	integers := toIntegers(a)
	most := min(target+2*integers.minorBits()+int(columnBits(b))+1<<16, bound.MaxBits)
	// No format has the bits, and fewer are not likely to do.
	if integers.mostBits() > bound.MaxBits/4 {
		most = min(most, target+mostFarBits)
	}
	width := func() int { return min(int(known+p.gain)+64, target) }

	x := num.NewMat(num.Precision(uint(width())), n, k)
	if err := s.Gemm(1, p.r, b, 0, num.Mat{}, x); err != nil {
		return err
	}
	// 1/(1 - rho), rounded up
	more := bound.Upper().Quo(p.rho, new(big.Float).SetPrec(64).SetMode(big.ToNegativeInf).Sub(big.NewFloat(1), p.rho))
	var suspected []suspects
	left, missing := 0, float64(target)
	for _, e := range todo {
		if e != nil {
			left++
		}
	}
	for ; ; s.Stats.Steps++ {
		planRefinement(s, missing, p.gain, cond, a, x)
		// R r loses up to cond bits to cancellation.
		r := num.NewMat(num.Precision(uint(64+cond)), n, k)
		if err := s.Gemm(-1, a, x, 1, b, r); err != nil {
			return err
		}
		s.Stats.Precision = x.Format().Bits()
		missing = 0
		for j, e := range todo {
			if e == nil {
				continue
			}
			radius := p.abs.Apply(column(r, j, p.scale))
			most := bound.Upper().Mul(bound.Largest(radius), more)
			for i := range radius {
				radius[i] = bound.Upper().Add(radius[i], most)
				radius[i] = bound.ScaledUp(radius[i], p.weights[i])
			}
			mid := func(i int) *big.Float { return x.Big(i, j) }
			ties, err := e.decide(mid, radius, p.weights)
			if err != nil {
				return err
			}
			if len(e.open) == 0 {
				todo[j] = nil
				left--
				continue
			}
			if ties != nil {
				suspected = append(suspected, suspects{e, ties})
			}
			missing = max(missing, e.missing(mid, radius))
		}
		if err := lift(s, suspected); err != nil {
			return err
		}
		for _, x := range suspected {
			if len(x.open) == 0 {
				todo[x.j] = nil
				left--
			}
		}
		suspected = suspected[:0]
		if s.Work.Report != nil {
			s.Did(residualCost(n, left, a.Arr.Format, x.Arr.Format))
			s.Work.Guessed = false // it is known what is missing
		}
		if left == 0 {
			return nil
		}
		known += p.gain
		if int(known) > target {
			target += 64 // entries near ties, or far below others
			if target > most {
				return fmt.Errorf("%d entries are not decided by %d bits: %w", open(todo), most, halfulp.ErrMemory)
			}
		}
		next := num.NewMat(num.Precision(uint(width())), n, k)
		if err := s.Gemm(1, p.r, r, 1, x, next); err != nil {
			return err
		}
		x = next
	}
}

// open counts the entries that are not decided.
func open(todo []*entries) (n int) {
	for _, e := range todo {
		if e != nil {
			n += len(e.open)
		}
	}
	return n
}

// column returns upper bounds of |r_ij| 2^scale[i].
func column(r num.Mat, j int, scale []int64) []*big.Float {
	z := make([]*big.Float, r.Rows)
	for i := range z {
		x, e := r.Arr.Leading(r.At(i, j))
		z[i] = bound.ScaledUp(bound.Upper().SetFloat64(math.Abs(x)*(1+0x1p-46)), e+scale[i])
	}
	return z
}
