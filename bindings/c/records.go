package main

// #include "library.h"
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/linsolve"
)

// record is several results under names.
type record struct {
	memory *memory // of its matrices on a device
	parts  []part
	// for factors: solves systems with them; order is the order of the factored matrix, -1 if it is
	// not square
	solve func(b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error)
	order int
}

type part struct {
	name  string
	value any // *halfulp.Matrix, halfulp.Scalar, int, []int, float64 or string
}

// add adds a part.
func (r *record) add(name string, value any) { r.parts = append(r.parts, part{name, value}) }

// get returns the part called name. It is a misuse if the record has no such part, or one of
// another type.
func get[T any](r *record, name string) (T, error) {
	var t T
	for _, p := range r.parts {
		if p.name != name {
			continue
		}
		t, ok := p.value.(T)
		if !ok {
			return t, misuse("%s is %s", name, partKind(p.value))
		}
		return t, nil
	}
	return t, misuse("the record has no %q: see halfulp_record_names", name)
}

func partKind(value any) string {
	switch value.(type) {
	case *halfulp.Matrix:
		return "matrix"
	case halfulp.Scalar:
		return "scalar"
	case int:
		return "integer"
	case []int:
		return "integers"
	case float64:
		return "real"
	}
	return "text"
}

func recordNames(r *record) (string, error) {
	var b strings.Builder
	for _, p := range r.parts {
		fmt.Fprintf(&b, "%s %s\n", p.name, partKind(p.value))
	}
	return b.String(), nil
}

func recordMatrix(r *record, name string) (view, error) {
	m, err := get[*halfulp.Matrix](r, name)
	return view{m, r.memory}, err
}

func recordScalar(r *record, name string) (halfulp.Scalar, error) {
	return get[halfulp.Scalar](r, name)
}
func recordInteger(r *record, name string) (int, error)  { return get[int](r, name) }
func recordReal(r *record, name string) (float64, error) { return get[float64](r, name) }

// recordIntegers copies at most room integers of a part to data, and returns how many the part has.
func recordIntegers(r *record, name string, data *int64, room int) (int, error) {
	all, err := get[[]int](r, name)
	if err != nil {
		return 0, err
	}
	if room < 0 || data == nil && room > 0 {
		return 0, misuse("argument data: there is no room for %d integers", room)
	}
	for i, x := range all[:min(room, len(all))] {
		*(*int64)(unsafe.Add(unsafe.Pointer(data), 8*i)) = int64(x)
	}
	return len(all), nil
}

// factors returns a record for the factors of a. On a device their memory is freed when the record
// and all views of its matrices are freed.
func factors(a *halfulp.Matrix, free func(), solve func(b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error)) *record {
	r := &record{solve: solve, order: -1}
	if a.Device() != halfulp.CPU {
		r.memory = &memory{free: free, at: place.Of(a.View().Arr)}
	}
	if a.Rows() == a.Cols() {
		r.order = a.Rows()
	}
	return r
}

func lu(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*record, error) {
	z, err := linsolve.LU(a, f, opt)
	if err != nil {
		return nil, err
	}
	r := factors(a, z.Free, z.Solve)
	r.add("P", z.P)
	r.add("L", z.L)
	r.add("U", z.U)
	return r, nil
}

func cholesky(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*record, error) {
	needSquare(a)
	z, err := linsolve.Cholesky(a, f, opt)
	if err != nil {
		return nil, err
	}
	r := factors(a, z.Free, z.Solve)
	r.add("L", z.L)
	return r, nil
}

func qr(a *halfulp.Matrix, pivoted bool, f halfulp.Format, opt *halfulp.Options) (*record, error) {
	if a.Rows() < a.Cols() {
		panic(misuse("the matrix is %d x %d; at least as many rows as columns are needed", a.Rows(), a.Cols()))
	}
	factor := linsolve.QR
	if pivoted {
		factor = linsolve.QRPivoted
	}
	z, err := factor(a, f, opt)
	if err != nil {
		return nil, err
	}
	r := factors(a, z.Free, z.Solve)
	if pivoted {
		r.add("P", z.P)
	}
	r.add("Q", z.Q)
	r.add("R", z.R)
	return r, nil
}

func ldlt(a *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*record, error) {
	needSquare(a)
	z, err := linsolve.LDLT(a, f, opt)
	if err != nil {
		return nil, err
	}
	r := factors(a, z.Free, z.Solve)
	r.add("P", z.P)
	r.add("L", z.L)
	r.add("D", z.D)
	r.add("blocks", z.Blocks)
	return r, nil
}

// factorsSolve solves A X = B with the factors of A.
func factorsSolve(r *record, b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error) {
	switch {
	case r.solve == nil:
		return nil, misuse("the record has no factors")
	case r.order < 0:
		return nil, misuse("the matrix that was factored is not square")
	case r.order != b.Rows():
		return nil, misuse("the matrix that was factored is %d x %[1]d, b is %d x %d: they need as many rows", r.order, b.Rows(), b.Cols())
	}
	if err := checkMemory(f, b.Rows(), b.Cols()); err != nil {
		return nil, err
	}
	return r.solve(b, f, opt)
}

func rotg(a, b halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (*record, error) {
	g, err := halfulp.Rotg(a, b, f, opt)
	if err != nil {
		return nil, err
	}
	r := &record{}
	r.add("c", g.C)
	r.add("s", g.S)
	r.add("r", g.R)
	r.add("z", g.Z)
	return r, nil
}

func rotmg(d1, d2, x1, y1 halfulp.Scalar, f halfulp.Format, opt *halfulp.Options) (*record, error) {
	g, err := halfulp.Rotmg(d1, d2, x1, y1, f, opt)
	if err != nil {
		return nil, err
	}
	r := &record{}
	r.add("flag", int(g.Flag))
	r.add("h11", g.H11)
	r.add("h21", g.H21)
	r.add("h12", g.H12)
	r.add("h22", g.H22)
	r.add("d1", g.D1)
	r.add("d2", g.D2)
	r.add("x1", g.X1)
	return r, nil
}

// accuracy returns the record of a comparison with exact values.
func accuracy(z linsolve.Accuracy, err error) (*record, error) {
	if err != nil {
		return nil, err
	}
	r := &record{}
	r.add("entries", z.Entries)
	r.add("correct", z.Correct)
	r.add("faithful", z.Faithful)
	r.add("wrong", z.Wrong)
	r.add("largest", float64(z.Largest))
	r.add("row", z.Row)
	r.add("col", z.Col)
	return r, nil
}

func verifyProduct(a, b, c *halfulp.Matrix, opt *halfulp.Options) (*record, error) {
	if a.Cols() != b.Rows() || c.Rows() != a.Rows() || c.Cols() != b.Cols() {
		panic(misuse("shapes do not fit: a is %d x %d, b %d x %d, c %d x %d", a.Rows(), a.Cols(), b.Rows(), b.Cols(), c.Rows(), c.Cols()))
	}
	return accuracy(linsolve.VerifyProduct(a, b, c, opt))
}

func verifySolution(a, b, x *halfulp.Matrix, opt *halfulp.Options) (*record, error) {
	needSquare(a)
	if a.Rows() != b.Rows() || x.Rows() != a.Rows() || x.Cols() != b.Cols() {
		panic(misuse("shapes do not fit: a is %d x %d, b %d x %d, x %d x %d", a.Rows(), a.Cols(), b.Rows(), b.Cols(), x.Rows(), x.Cols()))
	}
	return accuracy(linsolve.VerifySolution(a, b, x, opt))
}
