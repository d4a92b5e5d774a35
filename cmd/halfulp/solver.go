package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/internal/decimal"
	"github.com/halfulp/halfulp/internal/grid"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/linsolve"
)

// Shared code of the commands of package linsolve.

// solverJob begins a command of package linsolve.
func (f *commonFlags) solverJob(env *cli.Environment, command string, makesMatrix bool, operands ...string) (*job, error) {
	return f.job(env, command, makesMatrix, (*halfulp.Options).Validate, operands...)
}

// matrixJob begins a command with one matrix, which it reads like finiteMatrix.
func (f *commonFlags) matrixJob(env *cli.Environment, command string, makesMatrix bool, file string,
	fits func(name string, a sized) error) (*job, *halfulp.Matrix, error) {
	j, err := f.solverJob(env, command, makesMatrix, file)
	if err != nil {
		return nil, nil, err
	}
	a, err := j.finiteMatrix(file, fits)
	return j, a, err
}

// finiteMatrix reads a matrix of finite numbers. fits, unless it is nil, returns an error for a
// wrong shape.
func (j *job) finiteMatrix(file string, fits func(name string, a sized) error) (*halfulp.Matrix, error) {
	a, err := j.matrix(file)
	if err != nil {
		return nil, err
	}
	if fits != nil {
		if err := fits(file, a); err != nil {
			return nil, err
		}
	}
	return a, checkFinite(file, a)
}

// checkFinite returns an error that names the first entry that is infinite or NaN.
func checkFinite(name string, a *halfulp.Matrix) error {
	v := a.View()
	if g, ok := place.Of(v.Arr).(*grid.Grid); ok {
		return checkFiniteOn(g, name, a)
	}
	for j := range v.Cols {
		for i := range v.Rows {
			if c := v.Arr.Class(v.At(i, j)); c == num.Inf || c == num.NaN {
				return notFinite(name, i, j, a.At(i, j))
			}
		}
	}
	return nil
}

// checkFiniteOn is checkFinite for a matrix that lives on a grid of processes.
func checkFiniteOn(g *grid.Grid, name string, a *halfulp.Matrix) error {
	e, err := g.EntriesOf(context.Background(), a.View())
	if err != nil {
		return err
	}
	i, j, is, found, err := e.FirstSpecial(context.Background())
	if err != nil || !found {
		return err
	}
	x := math.NaN()
	if is.Class() == num.Inf {
		x = math.Inf(1)
		if is.Neg() {
			x = -x
		}
	}
	return notFinite(name, i, j, halfulp.Float(x))
}

func notFinite(name string, i, j int, x halfulp.Scalar) error {
	return fmt.Errorf("%s: the number in row %d, column %d is %v: finite numbers are wanted", shown(name), i+1, j+1, x)
}

// shaped returns m, transposed if it is a row where a column is required, or an error if it has
// another shape.
func shaped[M turned[M]](name string, m M, rows, cols int) (M, error) {
	if cols == 1 && m.Rows() == 1 && m.Cols() == rows {
		m = m.T()
	}
	if m.Rows() != rows || m.Cols() != cols {
		var none M
		return none, cli.Misuse("%s is %d x %d, want %d x %d", shown(name), m.Rows(), m.Cols(), rows, cols)
	}
	return m, nil
}

// rightSides returns B with as many rows as A. A row with as many entries becomes a column.
func rightSides[M turned[M]](nameA string, a M, nameB string, b M) (M, error) {
	if b.Rows() != a.Rows() && b.Rows() == 1 && b.Cols() == a.Rows() {
		b = b.T()
	}
	if b.Rows() != a.Rows() {
		var none M
		return none, cli.Misuse("%s is %d x %d, %s %d x %d: they must have as many rows", shown(nameA), a.Rows(), a.Cols(), shown(nameB), b.Rows(), b.Cols())
	}
	return b, nil
}

// finiteSystem is rightSides for systems of finite numbers.
func finiteSystem(nameA string, a *halfulp.Matrix, nameB string, b *halfulp.Matrix) (*halfulp.Matrix, error) {
	b, err := rightSides(nameA, a, nameB, b)
	if err != nil {
		return nil, err
	}
	if err := checkFinite(nameA, a); err != nil {
		return nil, err
	}
	return b, checkFinite(nameB, b)
}

// solved calls a routine of package linsolve and keeps its statistics. Its errors name the file
// that they are about.
func solved[T any](j *job, file string, routine func(*halfulp.Options) (T, error)) (T, error) {
	j.solver = &halfulp.Stats{}
	z, err := routine(j.options().WithStats(j.solver))
	j.finish()
	err = named(file, err)
	if errors.Is(err, linsolve.ErrNotSymmetric) {
		err = fmt.Errorf("%w (--uplo lower reads one triangle only)", err)
	}
	return z, err
}

// solution is solved for a matrix that lives where the operands do. It is returned on the host, or
// on the grid of the processes if results live there.
func (j *job) solution(file string, routine func(opt *halfulp.Options) (*halfulp.Matrix, error)) (*halfulp.Matrix, error) {
	x, err := solved(j, file, routine)
	if err != nil {
		return nil, err
	}
	return j.back(x)
}

// writeSolved is solution, and writes the matrix.
func (j *job) writeSolved(file string, routine func(opt *halfulp.Options) (*halfulp.Matrix, error)) error {
	x, err := j.solution(file, routine)
	if err != nil {
		return err
	}
	return j.writeMatrix(x, j.solver)
}

// newMatrix returns a matrix of the format of the result, on the grid of the processes if operands
// live there.
func (j *job) newMatrix(rows, cols int) (*halfulp.Matrix, error) {
	if j.grid == nil {
		return halfulp.NewMatrix(j.format, rows, cols), nil
	}
	return halfulp.NewMatrixOn(halfulp.Device(j.how.Device), j.format, rows, cols)
}

// back returns m on the host, or m itself if results live on the grid of the processes.
func (j *job) back(m *halfulp.Matrix) (*halfulp.Matrix, error) {
	if j.grid != nil {
		return m, nil
	}
	return m.Host()
}

// there copies all operands of a solver that computes where they live to the device of the command
// line, or to the device of the processes. For cpu and auto they stay on the host.
func (j *job) there(operands ...**halfulp.Matrix) error {
	d := halfulp.Device(j.how.Device)
	if d == halfulp.Auto || d == halfulp.CPU {
		return nil
	}
	for _, m := range operands {
		if (*m).Device() == d {
			continue
		}
		var err error
		if *m, err = (*m).On(d); err != nil {
			return err
		}
	}
	return nil
}

// namedError is an error of package linsolve with a file in place of the routine.
type namedError struct {
	text string
	error
}

func (e namedError) Error() string { return e.text }
func (e namedError) Unwrap() error { return e.error }

// named returns an error of package linsolve with the name of the file in place of the name of the
// routine.
func named(file string, err error) error {
	if err == nil {
		return nil
	}
	_, text, ok := strings.Cut(err.Error(), ": ")
	if !ok {
		return err
	}
	return namedError{shown(file) + ": " + text, err}
}

// solver prints the statistics of package linsolve.
func (t rows) solver(s *halfulp.Proof) {
	if s.Cond != "" {
		t.row("condition number of the scaled matrix", "at most "+s.Cond)
	}
	if s.Cond == "" && s.Digits > 0 {
		t.row("solved in", "rational numbers, by p-adic digits")
	}
	t.some("float64 decompositions", int64(s.Rounds))
	if s.Rho > 0 {
		t.row("bound of |I - R A|", decimal.AboveFloat(float64(s.Rho), 2))
	}
	t.some("steps of refinement", int64(s.Steps))
	t.some("bits worked with", int64(s.Precision))
	t.some("decompositions modulo primes", int64(s.Primes))
	t.some("columns that solve exactly", int64(s.Solved))
	t.some("zeros and ties proved", int64(s.Ties))
	t.some("p-adic digits", int64(s.Digits))
	t.some("entries not decided", int64(s.Undecided))
}

// turned is a matrix that has a transpose.
type turned[M any] interface {
	sized
	T() M
}

// sized is a matrix of any kind of numbers.
type sized interface {
	Rows() int
	Cols() int
}

func checkSquare(name string, a sized) error {
	if a.Rows() != a.Cols() {
		return cli.Misuse("%s is %d x %d, a square matrix is wanted", shown(name), a.Rows(), a.Cols())
	}
	return nil
}

func (j *job) twoMatrices(nameA, nameB string) (a, b *halfulp.Matrix, err error) {
	if a, err = j.matrix(nameA); err != nil {
		return nil, nil, err
	}
	b, err = j.matrix(nameB)
	return a, b, err
}
