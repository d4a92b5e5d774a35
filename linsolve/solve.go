package linsolve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/budget"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/raw"
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
var ErrNotFinite = errors.New("infinity or NaN")

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

// measure returns a bound for statistics.
func measure(x *big.Float) halfulp.Measure {
	v, _ := x.Float64()
	return halfulp.Measure(v)
}

// Method is the method in Stats.
const Method = "solve"

// solver is one call.
type solver struct {
	call.Call
	opt     halfulp.Options // of products
	vanish  bool            // products may, below the smallest number of a format of some bits
	lifting *lifting        // the last one of liftingOf
	stats   Stats
	since   time.Time
	lost    lostEntries

	at   place.Place       // where matrices of Newton's method live; nil: the host
	away []*halfulp.Matrix // those that live there
	// counts there what operations cannot store; nil: they wait, and say so
	tally *num.Array

	reuse bool              // no matrix of matrixHere outlives the next release
	here  []*halfulp.Matrix // those of matrixHere
	one   *halfulp.Matrix   // the unit matrix on the host, nil: not made yet
}

// begin checks the options and operands of routine name: all operands live in one place. It returns
// them on the host.
func begin(name string, opt *halfulp.Options, operands ...*halfulp.Matrix) (*solver, []*halfulp.Matrix, error) {
	s, err := start(name, opt, operands...)
	if err != nil {
		return nil, nil, err
	}
	here, err := onHost(name, operands...)
	return s, here, err
}

// onHost returns copies of matrices that live elsewhere.
func onHost(name string, operands ...*halfulp.Matrix) ([]*halfulp.Matrix, error) {
	here := make([]*halfulp.Matrix, len(operands))
	for i, m := range operands {
		here[i] = m
		if m.Place() != place.Host {
			var err error
			if here[i], err = m.Host(); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return here, nil
}

// start is begin without copies.
func start(name string, opt *halfulp.Options, operands ...*halfulp.Matrix) (*solver, error) {
	s := &solver{Call: call.Call{Ctx: context.Background(), Threads: runtime.GOMAXPROCS(0)}, since: time.Now()}
	if opt != nil {
		s.opt = *opt
		if opt.Context != nil {
			s.Ctx = opt.Context
		}
		if opt.Threads > 0 {
			s.Threads = min(opt.Threads, 4*runtime.GOMAXPROCS(0)+16)
		}
		if opt.Progress != nil {
			s.Work.Report = opt.Progress
		}
	}
	s.opt.Progress = nil
	s.Memory = budget.New(s.opt.MemoryLimit)
	for _, m := range operands {
		if m.Place() != operands[0].Place() {
			return nil, fmt.Errorf("%s: operands on %s and %s: %w", name, operands[0].Place(), m.Place(), halfulp.ErrPlace)
		}
	}
	if len(operands) > 0 && operands[0].Place() != place.Host {
		s.opt.Device = operands[0].Place()
	}
	if err := s.opt.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.begin()
	return s, nil
}

// begin makes Stats those of a routine of which nothing has been done.
func (s *solver) begin() {
	s.stats = Stats{Stats: halfulp.Stats{Device: place.Host, Method: Method, Threads: s.Threads}}
	if s.opt.Check {
		s.stats.Check = new(halfulp.Check)
	}
}

// stage ends a stage; stages of one name are one.
func (s *solver) stage(name string) {
	now := time.Now()
	took := now.Sub(s.since)
	s.since = now
	for i := range s.stats.Stages {
		if g := &s.stats.Stages[i]; g.Name == name {
			g.Time += took
			return
		}
	}
	s.stats.Stages = append(s.stats.Stages, halfulp.Stage{Name: name, Time: took})
}

// gemm stores RN(alpha A B + beta C) in d. Bounds rest on relative errors, so the error wraps
// ErrRange where a number of some bits leaves the exponents of its format.
func (s *solver) gemm(alpha float64, a, b *halfulp.Matrix, beta float64, c, d *halfulp.Matrix) error {
	defer s.multiplying(a, b, d, 0)()
	st, err := halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(alpha), a, b, halfulp.Float(beta), c, d, &s.opt)
	return s.within(st, d, err)
}

// within ends a product that was stored in d.
func (s *solver) within(st halfulp.Stats, d *halfulp.Matrix, err error) error {
	if err != nil {
		return err
	}
	s.stats.Device = st.Device
	s.checked(st.Check)
	if d.Format().IsMP() && (st.Overflow > 0 || st.Underflow > 0 && !s.vanish) {
		return fmt.Errorf("products beyond the exponents of formats: %w", ErrRange)
	}
	return nil
}

// checked adds what a product compared.
func (s *solver) checked(c *halfulp.Check) {
	if c == nil || s.stats.Check == nil {
		return
	}
	s.stats.Check.Modulus = max(s.stats.Check.Modulus, c.Modulus)
	s.stats.Check.Compared += c.Compared
	s.stats.Check.Unchecked += c.Unchecked
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
	s, err := start("Solve", opt, a, b, x)
	if err != nil {
		return Stats{}, err
	}
	return s.solveTo("Solve", a, b, x)
}

// apart reports whether each process of a grid solves A X = B by itself: for few columns, where of
// order 600 at 424 bits two processes took 1.4 s together and 0.09 s alone for one, 1.9 and 0.75 s
// for 30, or as alone says. There is no B for an inverse.
func (s *solver) apart(a, b, x *halfulp.Matrix) (bool, error) {
	if few(x.Cols(), a.Rows()) {
		return s.small(a), nil
	}
	if b == nil {
		return s.alone(a, x.Format(), aloneInverse)
	}
	if b.Format().Bits() > aloneBits {
		return false, nil
	}
	return s.alone(a, x.Format(), aloneSystem)
}

// solveTo stores the solution in x, wherever it lives; without b that of the unit matrix.
func (s *solver) solveTo(name string, a, b, x *halfulp.Matrix) (Stats, error) {
	defer s.release()
	there := a.Place() != place.Host && a.Rows() > 0 && x.Cols() > 0
	if there {
		apart, err := s.apart(a, b, x)
		if err != nil {
			return s.stats, fmt.Errorf("%s: %w", name, err)
		}
		there = !apart
	}
	if there {
		s.at = place.Of(raw.Matrix(a).Arr)
		z, err := s.solveThere(a, b, x.Format())
		if err == nil && z != nil {
			s.finished()
			err = x.CopyFrom(z)
		}
		if err != nil {
			return s.stats, fmt.Errorf("%s: %w", name, err)
		}
		if z != nil {
			return s.stats, nil
		}
		s.resign()
	}
	if b == nil {
		b = s.identityHere(a.Rows())
	}
	here, err := onHost(name, a, b)
	if err != nil {
		return s.stats, err
	}
	z, err := s.solve(here[0], here[1], x.Format())
	if err != nil {
		return s.stats, fmt.Errorf("%s: %w", name, err)
	}
	defer putMatrix(z)
	return s.finish(name, z, x)
}

// finish stores a result in x, wherever it lives.
func (s *solver) finish(name string, z, x *halfulp.Matrix) (Stats, error) {
	m := raw.Matrix(z)
	for j := range m.Cols {
		at := m.At(0, j)
		// The usual case.
		if m.Arr.Kind == num.F64 && m.RS == 1 && m.Rows > 0 && largestOf(m.Arr.F64[0][at:at+m.Rows]) <= math.MaxFloat64 {
			continue
		}
		for range m.Rows {
			if m.Arr.Class(at) == num.Inf {
				s.stats.Overflow++
			}
			at += m.RS
		}
	}
	s.finished()
	if x.Place() != place.Host {
		d, err := z.On(x.Place())
		if err != nil {
			return s.stats, fmt.Errorf("%s: %w", name, err)
		}
		defer d.Free()
		z = d
	}
	return s.stats, x.CopyFrom(z)
}

// Inverse stores the inverse of a square matrix A in X, each entry correctly rounded; see Solve.
func Inverse(a, x *halfulp.Matrix, opt *halfulp.Options) (Stats, error) {
	if a.Rows() != a.Cols() || x.Rows() != a.Rows() || x.Cols() != a.Rows() {
		panic(errShape)
	}
	s, err := start("Inverse", opt, a, x)
	if err != nil {
		return Stats{}, err
	}
	return s.solveTo("Inverse", a, nil, x)
}

func (s *solver) solve(a, b *halfulp.Matrix, f halfulp.Format) (*halfulp.Matrix, error) {
	z := takeMatrix(f, b.Rows(), b.Cols())
	if a.Rows() == 0 || b.Cols() == 0 {
		return z, s.Ctx.Err()
	}
	if err := finite("A", a); err != nil {
		return nil, err
	}
	if err := finite("B", b); err != nil {
		return nil, err
	}
	for _, m := range []*halfulp.Matrix{a, b} {
		if err := workable(f.Bits()+64, m); err != nil {
			return nil, err
		}
	}
	defer s.release()
	s.reuse = true
	todo := s.undecided(a, b, z)
	s.withoutZeros(a, b, todo)
	if few(len(todo), a.Rows()) {
		if err := s.Memory.Check(fewBytes(a, f, len(todo))); err != nil {
			return nil, err
		}
	}
	s.planSolve(a, z.Format(), len(todo))
	lu, err := s.factor(raw.Matrix(a), scale.Of(raw.Matrix(a)))
	if err != nil {
		return nil, err
	}
	s.Did(factorCost(a.Rows()))
	one := few(len(todo), a.Rows()) // by one
	s.planBy(lu, one, a, z.Format(), len(todo))
	if one {
		if r, rho, norm, err := s.invertFactors(raw.Matrix(a), lu, len(todo)); err != nil {
			return nil, err
		} else if r != nil {
			s.note(1, rho, bound.Upper().SetFloat64(norm), bound.Upper().SetFloat64(lu.norm))
			if done, err := s.solveFewBy(r, a, b, z, todo); done || err != nil {
				return z, err
			}
		}
	}
	if !one {
		// Each is for other formats and orders, the faster one first.
		ways := []func(a, b *halfulp.Matrix, f *factors, z *halfulp.Matrix, todo []*entries) error{s.inverseBySlices, s.inverseBySeries, s.quickInverse, s.solveByNewton}
		for _, way := range ways {
			if err := way(a, b, lu, z, todo); err != nil || open(todo) == 0 {
				return z, err
			}
		}
	}
	var p *approximate
	if lu.pivotsAbove(pivotRange) == a.Rows() || !one {
		if p, err = s.first(raw.Matrix(a), lu); err != nil && !(one && errors.Is(err, ErrRange)) {
			return nil, err
		}
	}
	if one && (p == nil || p.rho == nil) {
		if r, rho, norm, err := s.invertBlocks(a, lu, f.Bits()); err != nil {
			return nil, err
		} else if r != nil {
			s.Work.Guessed = false
			s.note(1+s.stats.Rounds, rho, bound.Upper().SetFloat64(norm), bound.Upper().SetFloat64(lu.norm))
			if done, err := s.solveFewBy(r, a, b, z, todo); done || err != nil {
				return z, err
			}
		}
	}
	if p == nil {
		if p, err = s.first(raw.Matrix(a), lu); err != nil {
			return nil, err
		}
	}
	s.Work.Guessed = p.rho == nil
	if p.rho == nil {
		end := s.Before(s.solutionLeft(a, len(todo), f.Bits()))
		p, err = s.multiply(p, a, lu)
		end()
		if err != nil {
			return nil, err
		}
	}
	s.stage("approximate inverse")
	return z, s.solveOpen(p, a, b, z, todo)
}

// solveFewBy is solveFew with an inverse that is just made; done if nothing is left.
func (s *solver) solveFewBy(r inverse, a, b, z *halfulp.Matrix, todo []*entries) (done bool, err error) {
	s.stage("approximate inverse")
	err = s.solveFew(a, b, z, r, todo)
	s.stage("refinement")
	return open(todo) == 0, err
}

// approximate returns an approximate inverse of a.
func (s *solver) approximate(a *halfulp.Matrix) (*approximate, error) {
	defer s.stage("approximate inverse")
	return s.invert(a)
}

// solveBy stores the solution in z, which an approximate inverse of a is known for.
func (s *solver) solveBy(p *approximate, a, b, z *halfulp.Matrix) error {
	todo := s.undecided(a, b, z)
	s.withoutZeros(a, b, todo)
	return s.solveOpen(p, a, b, z, todo)
}

// solveOpen does so for what is open in todo.
func (s *solver) solveOpen(p *approximate, a, b, z *halfulp.Matrix, todo []*entries) error {
	defer s.stage("refinement")
	cond := s.condition(a, p)
	if !few(len(todo), a.Rows()) {
		err := s.solveMany(p, a, b, z, todo)
		if err != nil && !errors.Is(err, ErrRange) || open(todo) == 0 {
			return err
		}
	}
	if few(openColumns(todo), a.Rows()) {
		w, err := s.newWideInverse(p)
		if err == nil {
			err = s.solveFew(a, b, z, w, todo)
		}
		if err != nil || open(todo) == 0 {
			return err
		}
	}
	return s.refineOpen(a, b, p, cond, z, todo)
}

// undecided returns the columns of the solution z, all of whose entries are open.
func (s *solver) undecided(a, b, z *halfulp.Matrix) []*entries {
	todo := make([]*entries, b.Cols())
	for j := range todo {
		todo[j] = &entries{s: s, a: a, b: b, z: z, j: j, open: make([]int, b.Rows()), never: map[int]*big.Float{}}
		for i := range todo[j].open {
			todo[j].open[i] = i
		}
	}
	return todo
}

// condition notes what an approximate inverse of a proves and returns cond with 2^cond above the
// condition number.
func (s *solver) condition(a *halfulp.Matrix, p *approximate) (cond int) {
	rho, _ := p.rho.Float64()
	return s.note(p.rounds, rho, p.abs.Norm(), bound.BoundsOf(raw.Matrix(a), bound.Negated(p.scale), bound.Negated(p.weights)).Norm())
}

// note is condition for bounds of ‖R‖ and ‖F‖.
func (s *solver) note(rounds int, rho float64, norm, of *big.Float) (cond int) {
	s.stats.Rounds, s.stats.Rho = rounds, halfulp.Measure(rho)
	// ‖F^-1‖ ≤ ‖R‖ / (1 - rho), and rho < 1/2.
	bound := bound.Upper().Mul(bound.Upper().Mul(norm, of), big.NewFloat(1+2*rho))
	s.stats.Cond = bound.Text('g', 3)
	return bound.MantExp(nil)
}

// finite returns an error if a matrix has an infinity or a NaN.
func finite(name string, m *halfulp.Matrix) error {
	v := raw.Matrix(m)
	for j := range v.Cols {
		// The usual cases.
		if at := v.At(0, j); v.Arr.Kind == num.F64 && v.RS == 1 && v.Rows > 0 && largestOf(v.Arr.F64[0][at:at+v.Rows]) <= math.MaxFloat64 {
			continue
		}
		for i, at := 0, v.At(0, j); i < v.Rows; i, at = i+1, at+v.RS {
			if v.Arr.Kind == num.MP && v.Arr.Cls[at].Class() == num.Finite {
				continue
			}
			if c := v.Arr.Class(at); c == num.Inf || c == num.NaN {
				return fmt.Errorf("%s[%d,%d]: %w", name, i+1, j+1, ErrNotFinite)
			}
		}
	}
	return nil
}

// mostFarBits bounds the bits beyond those of the format that solutions take where exponents are
// far apart: a few entries take seconds.
const mostFarBits = 1 << 12

// refine stores the rounded solution in z as far as it is open in todo; the condition number is
// below 2^cond.
func (s *solver) refine(a, b *halfulp.Matrix, p *approximate, cond int, z *halfulp.Matrix, todo []*entries) error {
	n, k := b.Rows(), b.Cols()
	target := z.Format().Bits() + 64
	if err := workable(max(target, cond+64), b); err != nil {
		return err
	}
	known := p.gain // bits of X, about
	// Numbers that are no ties differ from them by less bits than that.
	integers := toIntegers(raw.Matrix(a))
	most := min(target+2*integers.minorBits()+int(columnBits(b))+1<<16, bound.MaxBits)
	// No format has the bits, and fewer are not likely to do.
	if integers.mostBits() > bound.MaxBits/4 {
		most = min(most, target+mostFarBits)
	}
	width := func() int { return min(int(known+p.gain)+64, target) }

	x := halfulp.NewMatrix(halfulp.MP(uint(width())), n, k)
	if err := s.gemm(1, p.r, b, 0, nil, x); err != nil {
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
	for ; ; s.stats.Steps++ {
		s.planRefinement(missing, p.gain, cond, a, x)
		// R r loses up to cond bits to cancellation.
		r := halfulp.NewMatrix(halfulp.MP(uint(64+cond)), n, k)
		if err := s.gemm(-1, a, x, 1, b, r); err != nil {
			return err
		}
		s.stats.Precision = x.Format().Bits()
		missing = 0
		for j, e := range todo {
			if e == nil {
				continue
			}
			radius := p.abs.Apply(column(raw.Matrix(r), j, p.scale))
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
		if err := s.lift(suspected); err != nil {
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
			s.Did(residualCost(n, left, raw.Matrix(a).Arr.Format, raw.Matrix(x).Arr.Format))
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
		next := halfulp.NewMatrix(halfulp.MP(uint(width())), n, k)
		if err := s.gemm(1, p.r, r, 1, x, next); err != nil {
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
