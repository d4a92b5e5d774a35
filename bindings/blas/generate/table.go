package main

import "strings"

// routine is a routine of the BLAS for real numbers, float or double.
//
// args are its arguments in Fortran's order; "*" marks those that are written. Names give kinds:
// side, uplo, trans, transa, transb and diag are letters; m, n, k, kl and ku sizes; incx and incy
// increments; lda, ldb and ldc leading dimensions; arrays are those that shapes names; the others
// are numbers.
//
// shapes are the shapes of the arrays:
//
//	x: n            a vector with the increment incx
//	a: m, n         a matrix with the leading dimension lda
//	a: band m, n    a band matrix, whose storage has m rows also where it is row-major
//	a: triangle n   a triangle of a matrix of order n
//	a: only m       m numbers, one after the other
type routine struct {
	name, args, shapes string
	quick              string // when the routine returns at once
	result             string // the type of the result; empty for a subroutine
	value              string // the result of the quick return
	inC                bool   // shim.c has a function c_ that does a part itself
}

// routines are the routines that libhalfulp computes, for both types. REAL is the type.
var routines = []routine{
	{name: "dot", args: "n x incx y incy", shapes: "x: n; y: n", quick: "n <= 0", result: "REAL", value: "0", inC: true},
	{name: "nrm2", args: "n x incx", shapes: "x: n", quick: "n <= 0", result: "REAL", value: "0"},
	{name: "asum", args: "n x incx", shapes: "x: n", quick: "n <= 0 || incx <= 0", result: "REAL", value: "0"},
	{name: "axpy", args: "n alpha x incx y* incy", shapes: "x: n; y: n", quick: "n <= 0 || alpha == 0", inC: true},
	{name: "scal", args: "n alpha x* incx", shapes: "x: n", quick: "n <= 0 || incx <= 0", inC: true},
	{name: "rot", args: "n x* incx y* incy c s", shapes: "x: n; y: n", quick: "n <= 0"},
	{name: "rotm", args: "n x* incx y* incy param", shapes: "x: n; y: n; param: only 5", quick: "n <= 0 || param[0] == -2"},
	{name: "rotg", args: "a* b* c* s*", shapes: "a: only 1; b: only 1; c: only 1; s: only 1"},
	{name: "rotmg", args: "d1* d2* x1* y1 param*", shapes: "d1: only 1; d2: only 1; x1: only 1; param: only 5"},

	{name: "gemv", args: "trans m n alpha a lda x incx beta y* incy", shapes: "a: m, n; x: NOT(trans) ? n : m; y: NOT(trans) ? m : n",
		quick: "m == 0 || n == 0 || (alpha == 0 && beta == 1)"},
	{name: "gbmv", args: "trans m n kl ku alpha a lda x incx beta y* incy", shapes: "a: band kl + ku + 1, n; x: NOT(trans) ? n : m; y: NOT(trans) ? m : n",
		quick: "m == 0 || n == 0 || (alpha == 0 && beta == 1)"},
	{name: "symv", args: "uplo n alpha a lda x incx beta y* incy", shapes: "a: n, n; x: n; y: n", quick: "n == 0 || (alpha == 0 && beta == 1)"},
	{name: "sbmv", args: "uplo n k alpha a lda x incx beta y* incy", shapes: "a: band k + 1, n; x: n; y: n", quick: "n == 0 || (alpha == 0 && beta == 1)"},
	{name: "spmv", args: "uplo n alpha ap x incx beta y* incy", shapes: "ap: only n * (n + 1) / 2; x: n; y: n", quick: "n == 0 || (alpha == 0 && beta == 1)"},
	{name: "trmv", args: "uplo trans diag n a lda x* incx", shapes: "a: n, n; x: n", quick: "n == 0"},
	{name: "trsv", args: "uplo trans diag n a lda x* incx", shapes: "a: n, n; x: n", quick: "n == 0"},
	{name: "tbmv", args: "uplo trans diag n k a lda x* incx", shapes: "a: band k + 1, n; x: n", quick: "n == 0"},
	{name: "tbsv", args: "uplo trans diag n k a lda x* incx", shapes: "a: band k + 1, n; x: n", quick: "n == 0"},
	{name: "tpmv", args: "uplo trans diag n ap x* incx", shapes: "ap: only n * (n + 1) / 2; x: n", quick: "n == 0"},
	{name: "tpsv", args: "uplo trans diag n ap x* incx", shapes: "ap: only n * (n + 1) / 2; x: n", quick: "n == 0"},
	{name: "ger", args: "m n alpha x incx y incy a* lda", shapes: "x: m; y: n; a: m, n", quick: "m == 0 || n == 0 || alpha == 0"},
	{name: "syr", args: "uplo n alpha x incx a* lda", shapes: "x: n; a: triangle n", quick: "n == 0 || alpha == 0"},
	{name: "syr2", args: "uplo n alpha x incx y incy a* lda", shapes: "x: n; y: n; a: triangle n", quick: "n == 0 || alpha == 0"},
	{name: "spr", args: "uplo n alpha x incx ap*", shapes: "x: n; ap: only n * (n + 1) / 2", quick: "n == 0 || alpha == 0"},
	{name: "spr2", args: "uplo n alpha x incx y incy ap*", shapes: "x: n; y: n; ap: only n * (n + 1) / 2", quick: "n == 0 || alpha == 0"},

	{name: "gemm", args: "transa transb m n k alpha a lda b ldb beta c* ldc",
		shapes: "a: NOT(transa) ? m : k, NOT(transa) ? k : m; b: NOT(transb) ? k : n, NOT(transb) ? n : k; c: m, n",
		quick:  "m == 0 || n == 0 || ((alpha == 0 || k == 0) && beta == 1)"},
	{name: "symm", args: "side uplo m n alpha a lda b ldb beta c* ldc",
		shapes: "a: LEFT(side) ? m : n, LEFT(side) ? m : n; b: m, n; c: m, n", quick: "m == 0 || n == 0 || (alpha == 0 && beta == 1)"},
	{name: "syrk", args: "uplo trans n k alpha a lda beta c* ldc",
		shapes: "a: NOT(trans) ? n : k, NOT(trans) ? k : n; c: triangle n", quick: "n == 0 || ((alpha == 0 || k == 0) && beta == 1)"},
	{name: "syr2k", args: "uplo trans n k alpha a lda b ldb beta c* ldc",
		shapes: "a: NOT(trans) ? n : k, NOT(trans) ? k : n; b: NOT(trans) ? n : k, NOT(trans) ? k : n; c: triangle n",
		quick:  "n == 0 || ((alpha == 0 || k == 0) && beta == 1)"},
	{name: "trmm", args: "side uplo trans diag m n alpha a lda b* ldb", shapes: "a: LEFT(side) ? m : n, LEFT(side) ? m : n; b: m, n", quick: "m == 0 || n == 0"},
	{name: "trsm", args: "side uplo trans diag m n alpha a lda b* ldb", shapes: "a: LEFT(side) ? m : n, LEFT(side) ? m : n; b: m, n", quick: "m == 0 || n == 0"},
}

// mixed are routines on float vectors whose names begin with no letter of a type.
var mixed = []routine{
	{name: "dsdot", args: "n x incx y incy", shapes: "x: n; y: n", quick: "n <= 0", result: "double", value: "0"},
	{name: "sdsdot", args: "n b x incx y incy", shapes: "x: n; y: n", quick: "n <= 0", result: "float", value: "b"},
}

// plain are the names of functions that shim.c has, as Fortran and CBLAS have them.
const plain = `scopy_ dcopy_ sswap_ dswap_ isamax_ idamax_ lsame_ xerbla_array_
	cblas_scopy cblas_dcopy cblas_sswap cblas_dswap cblas_isamax cblas_idamax`

// forwarded returns the names of the routines for complex numbers, which the next BLAS provides.
func forwarded() []string {
	const both = `axpy copy dotc dotu gbmv gemm gemv gerc geru hbmv hemm hemv her her2 her2k herk hpmv hpr hpr2 rotg scal swap symm
		syr2k syrk tbmv tbsv tpmv tpsv trmm trmv trsm trsv`
	names := strings.Fields("csrot csscal icamax scasum scnrm2 scabs1 zdrot zdscal izamax dzasum dznrm2 dcabs1")
	for _, name := range strings.Fields(both) {
		names = append(names, "c"+name, "z"+name)
	}
	var all []string
	for _, name := range names {
		c := "cblas_" + name
		if strings.HasSuffix(name, "dotc") || strings.HasSuffix(name, "dotu") {
			c += "_sub"
		}
		all = append(all, name+"_", c)
	}
	return all
}
