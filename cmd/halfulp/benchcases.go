package main

import (
	"slices"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/eigen"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/linsolve"
)

// benchOperation is an operation that halfulp bench measures.
type benchOperation struct {
	name, text string
	needs      string                  // operands
	work       func(n float64) float64 // multiply-adds, or additions, as LAPACK counts them
	run        func(d *benchData, opt *halfulp.Options) error
}

// benchProduct is the operation whose time is the unit for the times of others.
const benchProduct = "gemm"

func linear(n float64) float64 { return n }

func square(n float64) float64 { return n * n }

// cubic returns the function share n³.
func cubic(share float64) func(n float64) float64 {
	return func(n float64) float64 { return share * n * n * n }
}

// vectors reports whether an operation has no n x n operand.
func (o benchOperation) vectors() bool { return !strings.ContainsAny(o.needs, "ABS") }

// freed releases the result of a routine.
func freed(x *halfulp.Matrix, err error) error {
	if err == nil {
		x.Free()
	}
	return err
}

var benchOperations = []benchOperation{
	{"sum", "sum of n numbers", "x", linear, func(d *benchData, opt *halfulp.Options) error {
		_, err := halfulp.Sum(d.vector(opX), d.format, opt)
		return err
	}},
	{"dot", "dot product", "xy", linear, func(d *benchData, opt *halfulp.Options) error {
		_, err := halfulp.Dot(d.vector(opX), d.vector(opY), d.format, opt)
		return err
	}},
	{"nrm2", "Euclidean norm", "x", linear, func(d *benchData, opt *halfulp.Options) error {
		_, err := halfulp.Nrm2(d.vector(opX), d.format, opt)
		return err
	}},
	{"axpy", "y <- 3 x + y", "xy", linear, func(d *benchData, opt *halfulp.Options) error {
		return halfulp.Axpy(halfulp.Float(3), d.vector(opX), d.vector(opY), opt)
	}},
	{"gemv", "matrix times vector", "Axz", square, func(d *benchData, opt *halfulp.Options) error {
		return halfulp.GemvTo(halfulp.NoTrans, halfulp.Float(1), d.matrix(opA), d.vector(opX), halfulp.Float(0), nil, d.vector(opZ), opt)
	}},
	{benchProduct, "matrix times matrix", "ABC", cubic(1), func(d *benchData, opt *halfulp.Options) error {
		return halfulp.GemmTo(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), d.matrix(opA), d.matrix(opB), halfulp.Float(0), nil, d.matrix(opC), opt)
	}},
	{"syrk", "lower triangle of A A'", "AC", cubic(1. / 2), func(d *benchData, opt *halfulp.Options) error {
		return halfulp.Syrk(halfulp.Lower, halfulp.NoTrans, halfulp.Float(1), d.matrix(opA), halfulp.Float(0), d.matrix(opC), opt)
	}},
	{"trsm", "triangular system, n right-hand sides", "SBC", cubic(1. / 2), func(d *benchData, opt *halfulp.Options) error {
		return halfulp.TrsmTo(halfulp.Left, halfulp.Lower, halfulp.NoTrans, halfulp.NonUnit, halfulp.Float(1), d.matrix(opS), d.matrix(opB), d.matrix(opC), opt)
	}},
	{"solve", "system, 1 right-hand side", "Ax", cubic(1. / 3), func(d *benchData, opt *halfulp.Options) error {
		return freed(linsolve.Solve(d.matrix(opA), d.matrix(opX), d.format, opt))
	}},
	{"solve-n", "system, n right-hand sides", "AB", cubic(4. / 3), func(d *benchData, opt *halfulp.Options) error {
		return freed(linsolve.Solve(d.matrix(opA), d.matrix(opB), d.format, opt))
	}},
	{"inv", "inverse", "A", cubic(1), func(d *benchData, opt *halfulp.Options) error {
		return freed(linsolve.Inverse(d.matrix(opA), d.format, opt))
	}},
	{"det", "determinant", "A", cubic(1. / 3), func(d *benchData, opt *halfulp.Options) error {
		_, err := linsolve.Det(d.matrix(opA), d.format, opt)
		return err
	}},
	{"rank", "rank", "A", cubic(1. / 3), func(d *benchData, opt *halfulp.Options) error {
		_, err := linsolve.Rank(d.matrix(opA), opt)
		return err
	}},
	{"cond", "condition number in the 1-norm", "A", cubic(1), func(d *benchData, opt *halfulp.Options) error {
		_, err := linsolve.Cond(halfulp.OneNorm, d.matrix(opA), d.format, opt)
		return err
	}},
	{"chol", "Cholesky factor", "S", cubic(1. / 6), func(d *benchData, opt *halfulp.Options) error {
		z, err := linsolve.Cholesky(d.matrix(opS), d.format, opt)
		if err == nil {
			z.Free()
		}
		return err
	}},
	{"ldlt", "factors P A P' = L D L'", "S", cubic(1. / 6), func(d *benchData, opt *halfulp.Options) error {
		z, err := linsolve.LDLT(d.matrix(opS), d.format, opt)
		if err == nil {
			z.Free()
		}
		return err
	}},
	{"lu", "factors P A = L U", "A", cubic(1. / 3), func(d *benchData, opt *halfulp.Options) error {
		z, err := linsolve.LU(d.matrix(opA), d.format, opt)
		if err == nil {
			z.Free()
		}
		return err
	}},
	{"qr", "factors A = Q R", "A", cubic(4. / 3), func(d *benchData, opt *halfulp.Options) error {
		z, err := linsolve.QR(d.matrix(opA), d.format, opt)
		if err == nil {
			z.Free()
		}
		return err
	}},
	{"qrp", "factors A P = Q R", "A", cubic(4. / 3), func(d *benchData, opt *halfulp.Options) error {
		z, err := linsolve.QRPivoted(d.matrix(opA), d.format, opt)
		if err == nil {
			z.Free()
		}
		return err
	}},
	{"eigvalsh", "eigenvalues of a symmetric matrix", "S", cubic(2. / 3), func(d *benchData, opt *halfulp.Options) error {
		return d.eigen(opt, true)
	}},
	{"eigh", "eigenvalues and eigenvectors", "S", cubic(5. / 3), func(d *benchData, opt *halfulp.Options) error {
		return d.eigen(opt, false)
	}},
	{"svdvals", "singular values", "A", cubic(4. / 3), func(d *benchData, opt *halfulp.Options) error {
		return d.singular(opt, true)
	}},
	{"svd", "singular values and vectors", "A", cubic(10. / 3), func(d *benchData, opt *halfulp.Options) error {
		return d.singular(opt, false)
	}},
}

// eigen computes eigenvalues of S, and eigenvectors unless only values are requested.
func (d *benchData) eigen(opt *halfulp.Options, valuesOnly bool) error {
	z, err := eigen.Sym(d.matrix(opS), d.format, &eigen.SymOptions{Options: *opt, ValuesOnly: valuesOnly})
	if err != nil {
		return err
	}
	z.Values.Free()
	if !valuesOnly {
		z.Vectors.Free()
	}
	return nil
}

// singular computes singular values of A, and singular vectors unless only values are requested.
func (d *benchData) singular(opt *halfulp.Options, valuesOnly bool) error {
	z, err := eigen.SVD(d.matrix(opA), d.format, &eigen.SVDOptions{Options: *opt, ValuesOnly: valuesOnly})
	if err != nil {
		return err
	}
	z.S.Free()
	if !valuesOnly {
		z.U.Free()
		z.V.Free()
	}
	return nil
}

// findBenchOperation returns the operation of that name.
func findBenchOperation(name string) (benchOperation, bool) {
	k := slices.IndexFunc(benchOperations, func(o benchOperation) bool { return o.name == name })
	if k < 0 {
		return benchOperation{}, false
	}
	return benchOperations[k], true
}

// benchNames lists the operations.
func benchNames() []string {
	var names []string
	for _, o := range benchOperations {
		names = append(names, o.name)
	}
	return names
}

// operand is an operand of a benchmark: the letter of its name in the formulas.
type operand byte

const (
	opA operand = 'A' // n x n, random, uniform in (-1, 1)
	opB operand = 'B' // another
	opS operand = 'S' // A A' + n I, symmetric and positive definite
	opC operand = 'C' // room for a result of n x n
	opX operand = 'x' // n random numbers
	opY operand = 'y' // others
	opZ operand = 'z' // room for a result of n
)

// benchData are the operands of one order, format and place.
type benchData struct {
	n      int
	format halfulp.Format
	on     halfulp.Device // where they live
	made   map[operand]*halfulp.Matrix
}

func (d *benchData) matrix(o operand) *halfulp.Matrix { return d.made[o] }
func (d *benchData) vector(o operand) *halfulp.Vector { return d.made[o].Col(0) }

// make makes operands on the host, unless they exist, and copies them to their place.
func (d *benchData) make(needs string) error {
	for _, o := range []operand(needs) {
		if d.made[o] != nil {
			continue
		}
		if o == opS {
			if err := d.make(string(opA)); err != nil {
				return err
			}
		}
		m, err := d.build(o).On(d.on)
		if err != nil {
			return err
		}
		d.made[o] = m
		if o == opS {
			a := d.matrix(opA)
			if err := halfulp.Gemm(halfulp.NoTrans, halfulp.Trans, halfulp.Float(1), a, a, halfulp.Float(float64(d.n)), m, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// build returns an operand on the host, and I for S.
func (d *benchData) build(o operand) *halfulp.Matrix {
	switch o {
	case opA, opB:
		return gallery.Random(d.format, d.n, d.n, 0, uint64(o))
	case opX, opY:
		return gallery.Random(d.format, d.n, 1, 0, uint64(o))
	case opS:
		return halfulp.Identity(d.format, d.n)
	case opC:
		return halfulp.NewMatrix(d.format, d.n, d.n)
	default:
		return halfulp.NewMatrix(d.format, d.n, 1)
	}
}

// free releases the operands.
func (d *benchData) free() {
	for _, m := range d.made {
		m.Free()
	}
	clear(d.made)
}
