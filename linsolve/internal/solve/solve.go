package solve

import (
	"errors"
	"math"

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

// OnHost returns copies of matrices that live elsewhere.
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

// apart reports whether each process of a grid solves A X = B by itself: for few columns, where of
// order 600 at 424 bits two processes took 1.4 s together and 0.09 s alone for one, 1.9 and 0.75 s
// for 30, or as alone says. There is no B for an inverse.
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

// Anywhere returns the solution in format f, of so many columns, where A and B live; without B that
// of the unit matrix.
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
		s.At = call.At(place.Of(a.Arr))
		z, err := newton.SolveThere(s, a, b, f)
		if err != nil {
			return num.Mat{}, err
		}
		if z.Arr != nil {
			s.Keep(z)
			s.Finished()
			return z, nil
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
		x = z.Copy()
	}
	return x, err
}

// Finish counts the infinities of a result of the host, and returns it where A lives: itself on the
// host, else a copy.
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

// Solve solves A X = B on the host, in format f.
func Solve(s *call.Run, a, b num.Mat, f num.Format) (num.Mat, error) {
	if a.Rows == 0 || b.Cols == 0 {
		return call.TakeMatrix(f, b.Rows, b.Cols), s.Ctx.Err()
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
	// The result before it is X, and the rows of its entries that are open.
	beside := call.MatrixBytes(f, b.Rows, b.Cols) + 8*int64(b.Rows)*int64(b.Cols)
	s.Budget.Take(beside)
	defer s.Budget.Take(-beside)
	if err := s.Budget.Reserve(0); err != nil {
		return num.Mat{}, err
	}
	if err := s.Budget.Check(FewBytes(a, f, b.Cols)); err != nil { // no way takes less
		return num.Mat{}, err
	}
	z := call.TakeMatrix(f, b.Rows, b.Cols)
	todo := ziv.NewEntries(s, a, b, z)
	ziv.WithoutZeros(s, a, b, todo)
	planSolve(s, a, z.Format(), len(todo))
	lu, err := seed.NewFactors(s, a, scale.Of(a))
	if err != nil {
		return num.Mat{}, err
	}
	s.Did(call.FactorCost(a.Rows))
	p := &problem{s: s, a: a, b: b, z: z, todo: todo, lu: lu, few: call.Few(len(todo), a.Rows), entries: ziv.CountOpen(todo)}
	planBy(s, lu, p.few, a, z.Format(), len(todo))
	err = call.Try(s.Ctx, ways, p)
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

// ApproximateInverse returns an approximate inverse of a.
func ApproximateInverse(s *call.Run, a num.Mat) (*seed.Approximate, error) {
	defer s.Stage("approximate inverse")
	return invert(s, a)
}

// With stores the solution in z, which an approximate inverse of a is known for.
func With(s *call.Run, p *seed.Approximate, a, b, z num.Mat) error {
	todo := ziv.NewEntries(s, a, b, z)
	ziv.WithoutZeros(s, a, b, todo)
	return solveOpen(s, p, a, b, z, todo, call.Few(len(todo), a.Rows))
}

// solveOpen does so for what is open in todo, column by column if columns are few.
func solveOpen(s *call.Run, p *seed.Approximate, a, b, z num.Mat, todo []*ziv.Entries, few bool) error {
	defer s.Stage("refinement")
	cond := condition(s, a, p)
	if !few {
		err := newton.SolveMany(s, p, a, b, z, todo)
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

// condition notes what an approximate inverse of a proves and returns cond with 2^cond above the
// condition number.
func condition(s *call.Run, a num.Mat, p *seed.Approximate) (cond int) {
	rho, _ := p.Rho.Float64()
	return seed.Note(s, p.Rounds, rho, p.Abs.Norm(), bound.BoundsOf(a, bound.Negated(p.Scale), bound.Negated(p.Weights)).Norm())
}
