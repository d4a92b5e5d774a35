package solve

import (
	"errors"
	"math"

	"github.com/halfulp/halfulp/internal/dgemm"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/newton"
	"github.com/halfulp/halfulp/internal/proof/refine"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/proof/ziv"
)

// OnHost returns the operands on the host: a matrix on the host itself, a copy of any other.
func OnHost(operands ...num.Mat) ([]num.Mat, error) {
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

// apart reports whether each process of a grid solves A X = B by itself. It does so for few columns
// if A is small enough: at order 600 and 424 bits, one column took two processes 1.4 s together and
// one process 0.09 s; 30 columns took 1.9 s and 0.75 s. For more columns Alone decides. An inverse
// has no B.
func apart(s *call.Run, a, b num.Mat, f num.Format, cols int) (bool, error) {
	if call.Few(cols, a.Rows) {
		return small(s, a), nil
	}
	if b.Arr == nil {
		return Alone(s, a, f, aloneInverse)
	}
	if b.Format().Bits() > AloneBits {
		return false, nil
	}
	return Alone(s, a, f, AloneSystem)
}

// Anywhere returns the solution X of A X = B in format f, with cols columns, where A and B live.
// Without B it returns the inverse of A.
func Anywhere(s *call.Run, a, b num.Mat, f num.Format, cols int) (num.Mat, error) {
	defer s.Release()
	there := !a.OnHost() && a.Rows > 0 && cols > 0
	if there {
		apart, err := apart(s, a, b, f, cols)
		if err != nil {
			return num.Mat{}, err
		}
		there = !apart
	}
	if there {
		z, err := beside(s, a, b, f)
		if err != nil {
			return num.Mat{}, err
		}
		if z.Arr != nil {
			s.Finished()
			return place.Moved(place.Of(a.Arr), z)
		}
		s.Resign()
	}
	if b.Arr == nil {
		b = s.IdentityHere(a.Rows)
	}
	here, err := OnHost(a, b)
	if err != nil {
		return num.Mat{}, err
	}
	z, err := Solve(s, here[0], here[1], f)
	if err != nil {
		return num.Mat{}, err
	}
	defer call.PutMatrix(z)
	x, err := Finish(s, z, a)
	if x.Arr == z.Arr {
		x = call.Copy(s, z)
	}
	return x, err
}

// beside is newton.SolveThere beside A; see call.Run.Beside. Release does not free the solution.
func beside(s *call.Run, a, b num.Mat, f num.Format) (z num.Mat, err error) {
	list := []num.Mat{a}
	if b.Arr != nil {
		list = append(list, b)
	}
	err = s.Beside(place.Solution, list, func(list []num.Mat) (err error) {
		list = append(list, num.Mat{})
		if z, err = newton.SolveThere(s, list[0], list[1], f); z.Arr != nil {
			s.Keep(z)
		}
		return err
	})
	return z, err
}

// Finish counts the infinities of a result z on the host in Stats.Overflow and returns z where A
// lives: z itself on the host, else a copy.
func Finish(s *call.Run, z, a num.Mat) (num.Mat, error) {
	for j := range z.Cols {
		at := z.At(0, j)
		// The usual case.
		if z.Arr.Kind == num.F64 && z.RS == 1 && z.Rows > 0 && call.LargestOf(z.Arr.F64[0][at:at+z.Rows]) <= math.MaxFloat64 {
			continue
		}
		for range z.Rows {
			if z.Arr.Class(at) == num.Inf {
				s.Stats.Overflow++
			}
			at += z.RS
		}
	}
	s.Finished()
	if a.OnHost() {
		return z, nil
	}
	return place.On(place.Of(a.Arr), z)
}

// Solve returns the solution of A X = B in format f, for A and B on the host.
func Solve(s *call.Run, a, b num.Mat, f num.Format) (num.Mat, error) {
	if a.Rows == 0 || b.Cols == 0 {
		return call.TakeMatrix(f, b.Rows, b.Cols), s.Ctx.Err()
	}
	if err := call.FiniteOn(s.Threads, "A", a); err != nil {
		return num.Mat{}, err
	}
	if err := call.FiniteOn(s.Threads, "B", b); err != nil {
		return num.Mat{}, err
	}
	for _, m := range []num.Mat{a, b} {
		if err := call.Workable(f.Bits()+64, m); err != nil {
			return num.Mat{}, err
		}
	}
	defer s.Release()
	s.Reuse = true
	// The result, before it is returned as X, and the row indices of its open entries.
	beside := call.MatrixBytes(f, b.Rows, b.Cols) + 8*int64(b.Rows)*int64(b.Cols)
	if b.Cols <= call.FewColumns {
		// Panels of products. With more columns there are no products at the end.
		beside += dgemm.RoomBytes(a.Rows)
	}
	s.Budget.Take(beside)
	defer s.Budget.Take(-beside)
	if err := s.Budget.Reserve(0); err != nil {
		return num.Mat{}, err
	}
	if err := s.Budget.Check(FewBytes(a, f, b.Cols)); err != nil { // no way needs less
		return num.Mat{}, err
	}
	z := call.TakeMatrix(f, b.Rows, b.Cols)
	todo := ziv.NewEntries(s, a, b, z)
	ziv.WithoutZeros(s, a, b, todo)
	planSolve(s, a, z.Format(), len(todo))
	p := &problem{s: s, a: a, b: b, z: z, todo: todo, few: call.Few(len(todo), a.Rows), entries: ziv.CountOpen(todo)}
	if !triesResiduals(p) && !triesMinors(p) {
		if err := p.factor(); err != nil {
			return num.Mat{}, err
		}
	}
	err := call.Try(s.Ctx, ways, p)
	if err == nil && p.short {
		if err = p.oneByOne(); err == nil {
			err = call.Try(s.Ctx, ways, p)
		}
	}
	if err != nil {
		return num.Mat{}, err
	}
	return z, nil
}

// factor computes float64 factors of A, which all ways begin with but residuals and minors.
func (p *problem) factor() (err error) {
	s, a := p.s, p.a
	if p.lu, err = seed.NewFactors(s, a, scale.OfOn(s.Threads, a)); err != nil {
		return err
	}
	s.Did(call.FactorCost(a.Rows))
	planBy(s, p.lu, p.few, a, p.z.Format(), len(p.todo))
	return nil
}

// ApproximateInverse returns an approximate inverse of a.
func ApproximateInverse(s *call.Run, a num.Mat) (*seed.Approximate, error) {
	defer s.Stage("approximate inverse")
	return invert(s, a)
}

// With stores the solution of A X = B in z, by a known approximate inverse p of a.
func With(s *call.Run, p *seed.Approximate, a, b, z num.Mat) error {
	todo := ziv.NewEntries(s, a, b, z)
	ziv.WithoutZeros(s, a, b, todo)
	return solveOpen(s, p, a, b, z, todo, call.Few(len(todo), a.Rows), newton.Columns{Width: b.Cols})
}

// solveOpen is With for the open entries of todo. It solves column by column if columns are few.
func solveOpen(s *call.Run, p *seed.Approximate, a, b, z num.Mat, todo []*ziv.Entries, few bool, by newton.Columns) error {
	defer s.Stage("refinement")
	cond := condition(s, a, p)
	if !few {
		err := newton.SolveMany(s, p, a, b, z, todo, by)
		if err != nil && !errors.Is(err, call.ErrRange) || ziv.CountOpen(todo) == 0 {
			return err
		}
	}
	if few || call.Few(ziv.OpenColumns(todo), a.Rows) {
		w, err := refine.NewWideInverse(s, p)
		if err == nil {
			err = refine.SolveFew(s, a, b, z, w, todo)
		}
		if err != nil || ziv.CountOpen(todo) == 0 {
			return err
		}
	}
	return refine.Open(s, a, b, p, cond, z, todo)
}

// condition records in the statistics what an approximate inverse p of a proves. It returns cond
// with 2^cond above the condition number.
func condition(s *call.Run, a num.Mat, p *seed.Approximate) (cond int) {
	rho, _ := p.Rho.Float64()
	return seed.Note(s, p.Rounds, rho, p.Abs.Norm(), bound.BoundsOf(a, bound.Negated(p.Scale), bound.Negated(p.Weights)).Norm())
}
