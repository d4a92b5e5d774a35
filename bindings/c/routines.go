package main

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/linsolve"
)

// version returns the text of halfulp_version: the version of the module, or "development" and the
// revision.
func version() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", nil
	}
	for _, d := range info.Deps {
		if d.Path == "github.com/halfulp/halfulp" && d.Replace == nil {
			return d.Version, nil
		}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "development " + s.Value, nil
		}
	}
	return "development", nil
}

func release(handle uint64) error {
	if handle != 0 && !freeHandle(handle) {
		return misuse("the handle %#x was freed before, or never made", handle)
	}
	return nil
}

func collect() error {
	debug.FreeOSMemory()
	return nil
}

func clone(m *halfulp.Matrix) (*halfulp.Matrix, error) {
	z, err := likeMatrix(m, m.NumberFormat())
	if err != nil {
		return nil, err
	}
	return z, z.CopyFrom(m)
}

func convert(m *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	z, err := likeMatrix(m, f)
	if err == nil {
		err = copyInto(m, z, opt)
	}
	return z, err
}

func assign(a, z *halfulp.Matrix, opt *halfulp.Options) error {
	return copyInto(a, z, opt)
}

func same(a, b *halfulp.Matrix) (bool, error) {
	if a.NumberFormat() != b.NumberFormat() || a.Rows() != b.Rows() || a.Cols() != b.Cols() {
		return false, nil
	}
	a, err := onHost(a, a.NumberFormat())
	if err != nil {
		return false, err
	}
	b, err = onHost(b, b.NumberFormat())
	return err == nil && a.Same(b), err
}

func compare(x, y halfulp.Scalar) (int, error) {
	if x.IsNaN() || y.IsNaN() {
		return 2, nil
	}
	return x.Cmp(y), nil
}

// result returns a matrix of zeros for a result, at the place of an operand.
func result(f halfulp.Format, rows, cols int, operand *halfulp.Matrix) (*halfulp.Matrix, error) {
	return newMatrix(f, rows, cols, string(operand.Device()))
}

// needSquare panics unless a matrix is square.
func needSquare(m *halfulp.Matrix) {
	if m.Rows() != m.Cols() {
		panic(misuse("the matrix is %d x %d; a square one is needed", m.Rows(), m.Cols()))
	}
}

var one, zero = halfulp.Float(1), halfulp.Float(0)

func matmul(a, b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	if a.Cols() != b.Rows() {
		panic(misuse("%d x %d times %d x %d: the columns of a are not as many as the rows of b", a.Rows(), a.Cols(), b.Rows(), b.Cols()))
	}
	c, err := result(f, a.Rows(), b.Cols(), a)
	if err != nil {
		return nil, err
	}
	return c, halfulp.Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, zero, c, opt)
}

func solve(a, b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	needSquare(a)
	if a.Rows() != b.Rows() {
		panic(misuse("a is %d x %d, b is %d x %d: they need as many rows", a.Rows(), a.Cols(), b.Rows(), b.Cols()))
	}
	if err := checkMemory(f, a.Cols(), b.Cols()); err != nil {
		return nil, err
	}
	return linsolve.Solve(a, b, f, opt)
}

// stack returns the matrices that lie one below another in m.
func stack(m *halfulp.Matrix, count int, name string) []*halfulp.Matrix {
	if count < 0 || m.Rows() != 0 && (count == 0 || m.Rows()%count != 0) {
		panic(misuse("argument %s: %d rows are not those of %d matrices of one shape", name, m.Rows(), count))
	}
	parts := make([]*halfulp.Matrix, count)
	for i := range parts {
		rows := m.Rows() / count
		parts[i] = m.Slice(i*rows, (i+1)*rows, 0, m.Cols())
	}
	return parts
}

func matmulStack(a, b *halfulp.Matrix, count int, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	as, bs := stack(a, count, "a"), stack(b, count, "b")
	if count > 0 && as[0].Cols() != bs[0].Rows() {
		panic(misuse("%d x %d times %d x %d: the columns of a_i are not as many as the rows of b_i", as[0].Rows(), as[0].Cols(), bs[0].Rows(), bs[0].Cols()))
	}
	c, err := result(f, a.Rows(), b.Cols(), a)
	if err != nil {
		return nil, err
	}
	return c, first(halfulp.GemmBatch(halfulp.NoTrans, halfulp.NoTrans, one, as, bs, zero, stack(c, count, "c"), opt))
}

func solveStack(a, b *halfulp.Matrix, count int, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	as, bs := stack(a, count, "a"), stack(b, count, "b")
	if count > 0 {
		needSquare(as[0])
		if as[0].Rows() != bs[0].Rows() {
			panic(misuse("a_i is %d x %d, b_i is %d x %d: they need as many rows", as[0].Rows(), as[0].Cols(), bs[0].Rows(), bs[0].Cols()))
		}
	}
	x, err := result(f, b.Rows(), b.Cols(), a)
	if err != nil {
		return nil, err
	}
	parts, err := linsolve.SolveBatch(as, bs, f, opt)
	if err != nil {
		return nil, first(err)
	}
	for i, part := range stack(x, count, "x") {
		if err := part.CopyFrom(parts[i]); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// first returns an error that tells of the first problem of a batch that failed, and wraps only its
// cause, so that the status is that problem's.
func first(err error) error {
	if failed := (*halfulp.BatchError)(nil); errors.As(err, &failed) {
		return fmt.Errorf("problem %d of %s: %w", failed.Indices[0], failed.Routine, failed.Errors[0])
	}
	return err
}

// solveF64 solves A X = B for C arrays of float64, n x n and n x nrhs, without handles.
func solveF64(n, nrhs int, a, b, x grid[float64], opt *halfulp.Options) error {
	var m [3]*halfulp.Matrix
	for i, g := range []struct {
		grid[float64]
		cols int
	}{{a, n}, {b, nrhs}, {x, nrhs}} {
		var err error
		if m[i], err = wrapF64(g.data, n, g.cols, g.rs, g.cs); err != nil {
			return err
		}
	}
	z, err := linsolve.Solve(m[0], m[1], halfulp.Float64, opt)
	if err != nil {
		return err
	}
	return m[2].CopyFrom(z)
}

func inverse(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	needSquare(a)
	if err := checkMemory(f, a.Cols(), a.Rows()); err != nil {
		return nil, err
	}
	return linsolve.Inverse(a, f, opt)
}

func checkOrder(n int, f halfulp.Format) error {
	checkShape(n, n)
	return checkMemory(f, n, n)
}

func hilbert(n int, f halfulp.Format) (*halfulp.Matrix, error) {
	if err := checkOrder(n, f); err != nil {
		return nil, err
	}
	return gallery.Hilbert(f, n), nil
}

func identity(n int, f halfulp.Format) (*halfulp.Matrix, error) {
	if err := checkOrder(n, f); err != nil {
		return nil, err
	}
	return halfulp.Identity(f, n), nil
}

func random(f halfulp.Format, rows, cols, spread int, seed uint64) (*halfulp.Matrix, error) {
	checkShape(rows, cols)
	if spread < 0 {
		return nil, misuse("argument spread: %d; at least 0 is needed", spread)
	}
	if err := checkMemory(f, rows, cols); err != nil {
		return nil, err
	}
	return gallery.Random(f, rows, cols, spread, seed), nil
}

func vandermonde(x *halfulp.Vector, cols int, f halfulp.Format) (*halfulp.Matrix, error) {
	checkShape(x.Len(), cols)
	if err := checkMemory(f, x.Len(), cols); err != nil {
		return nil, err
	}
	return gallery.Vandermonde(f, x, cols), nil
}

func scalarFromInt(n int) (halfulp.Scalar, error) {
	x := int64(n)
	m, err := fromI64(&x, 1, 1, 1, 1, "mp:64")
	if err != nil {
		return halfulp.Scalar{}, err
	}
	return m.At(0, 0), nil
}
