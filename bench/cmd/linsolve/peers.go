package main

/*
#cgo CFLAGS: -O2 -I/usr/include/x86_64-linux-gnu/openblas-pthread -I/usr/include/aarch64-linux-gnu/openblas-pthread
#cgo LDFLAGS: -lopenblas -lflint-arb -lflint -lmpfr -lgmp
#include <stdlib.h>
#include <stdint.h>
#include <arb_mat.h>
#include <cblas.h>

void dgesv_(const int *n, const int *columns, double *a, const int *lda, int *pivots,
	double *b, const int *ldb, int *info);
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
void dgetri_(const int *n, double *a, const int *lda, const int *pivots,
	double *work, const int *length, int *info);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void dsytrf_rook_(const char *uplo, const int *n, double *a, const int *lda, int *pivots,
	double *work, const int *length, int *info, size_t);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau,
	double *work, const int *length, int *info);
void dorgqr_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau,
	double *work, const int *length, int *info);

static const char *arb_release(void) { return arb_version; }
static const char *flint_release(void) { return flint_version; }

static arb_mat_struct *matrix_new(long rows, long columns)
{
	arb_mat_struct *a = malloc(sizeof *a);
	arb_mat_init(a, rows, columns);
	return a;
}

static void matrix_free(arb_mat_struct *a)
{
	arb_mat_clear(a);
	free(a);
}

static void matrix_set(arb_mat_struct *a, long i, long j, const uint64_t *word, long words,
	long exponent, int negative)
{
	mpz_t z;
	arf_ptr x = arb_midref(arb_mat_entry(a, i, j));
	mpz_roinit_n(z, (const mp_limb_t *)word, negative ? -words : words);
	arf_set_mpz(x, z);
	arf_mul_2exp_si(x, x, exponent);
}

static int lu(arb_mat_struct *c, const arb_mat_struct *a, long precision)
{
	slong *rows = malloc(arb_mat_nrows(a) * sizeof *rows);
	int ok = arb_mat_lu(rows, c, a, precision);
	free(rows);
	return ok;
}

static void det(const arb_mat_struct *a, long precision)
{
	arb_t d;
	arb_init(d);
	arb_mat_det(d, a, precision);
	arb_clear(d);
}
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/bench/internal/machine"
	"github.com/halfulp/halfulp/bench/internal/record"
)

func versions() []record.Library {
	return []record.Library{
		{Name: "Arb", Version: C.GoString(C.arb_release()) + ", FLINT " + C.GoString(C.flint_release())},
		{Name: "OpenBLAS", Version: machine.OpenBLAS(C.GoString(C.openblas_get_config()))},
	}
}

// words returns the significand of a number as an integer, the exponent of its last bit and its
// sign.
func words(m *halfulp.Matrix, i, j int) (word []C.uint64_t, exponent int, negative bool) {
	x := m.Big(i, j)
	low := x.MantExp(nil) - int(x.MinPrec())
	x.SetMantExp(x, -low)
	z, _ := x.Int(nil)
	for _, w := range z.Bits() {
		word = append(word, C.uint64_t(w))
	}
	return word, low, x.Signbit()
}

func toArb(m *halfulp.Matrix) *C.arb_mat_struct {
	z := C.matrix_new(C.long(m.Rows()), C.long(m.Cols()))
	for i := range m.Rows() {
		for j := range m.Cols() {
			word, exponent, negative := words(m, i, j)
			if len(word) == 0 {
				continue
			}
			sign := C.int(0)
			if negative {
				sign = 1
			}
			C.matrix_set(z, C.long(i), C.long(j), &word[0], C.long(len(word)), C.long(exponent), sign)
		}
	}
	return z
}

var errNoProof = errors.New("no enclosure at this precision")

// peers returns methods of libraries, and what frees their operands.
func (p *problem) peers() ([]method, func()) {
	C.openblas_set_num_threads(1)
	C.flint_set_num_threads(1)
	a, b := toArb(p.a), toArb(p.b)
	x, c := C.matrix_new(C.long(p.n), 1), C.matrix_new(C.long(p.n), C.long(p.n))
	precision := C.long(p.bits)
	free := func() {
		for _, m := range []*C.arb_mat_struct{a, b, x, c} {
			C.matrix_free(m)
		}
	}
	proved := func(ok C.int) error {
		if ok == 0 {
			return errNoProof
		}
		return nil
	}
	methods := []method{
		{name: "Arb product", slow: true, run: func() (any, error) { C.arb_mat_mul(c, a, a, precision); return nil, nil }},
		{name: "Arb solve", slow: true, run: func() (any, error) { return nil, proved(C.arb_mat_solve(x, a, b, precision)) }},
		{name: "Arb approximate solve", slow: true, run: func() (any, error) { return nil, proved(C.arb_mat_approx_solve(x, a, b, precision)) }},
		{name: "Arb inverse", slow: true, run: func() (any, error) { return nil, proved(C.arb_mat_inv(c, a, precision)) }},
		{name: "Arb determinant", slow: true, run: func() (any, error) { C.det(a, precision); return nil, nil }},
	}
	methods = append(methods, method{name: "Arb LU", slow: true, run: func() (any, error) { return nil, proved(C.lu(c, a, precision)) }})
	if p.square != nil {
		square, release := toArb(p.square), free
		free = func() { release(); C.matrix_free(square) }
		methods = append(methods,
			method{name: "Arb Cholesky", slow: true, run: func() (any, error) { return nil, proved(C.arb_mat_cho(c, square, precision)) }},
			method{name: "Arb LDLT (definite)", slow: true, run: func() (any, error) { return nil, proved(C.arb_mat_ldl(c, square, precision)) }})
	}
	if p.bits == 53 {
		methods = append(methods, p.lapack()...)
	}
	return methods, free
}

func (p *problem) lapack() []method {
	n := p.n
	flat := func(m *halfulp.Matrix) []float64 {
		z := make([]float64, n*n)
		for j := range n {
			for i := range n {
				z[i+j*n] = m.At(i, j).Float64()
			}
		}
		return z
	}
	matrix, vector := flat(p.a), make([]float64, n)
	for j := range n {
		vector[j] = p.b.At(j, 0).Float64()
	}
	a, b, work, pivots := make([]float64, n*n), make([]float64, n), make([]float64, 64*n), make([]C.int, n)
	data := func(x []float64) *C.double { return (*C.double)(unsafe.Pointer(&x[0])) }
	order, one, length, info := C.int(n), C.int(1), C.int(len(work)), C.int(0)
	said := func() error {
		if info != 0 {
			return errors.New("singular")
		}
		return nil
	}
	lower, tau := C.char('L'), make([]float64, n)
	methods := []method{
		{name: "LAPACK LU (dgetrf)", run: func() (any, error) {
			copy(a, matrix)
			C.dgetrf_(&order, &order, data(a), &order, &pivots[0], &info)
			return nil, said()
		}},
		{name: "LAPACK LDLT (dsytrf_rook)", run: func() (any, error) {
			copy(a, matrix) // of which the lower triangle is read
			C.dsytrf_rook_(&lower, &order, data(a), &order, &pivots[0], data(work), &length, &info, 1)
			return nil, said()
		}},
		{name: "LAPACK QR (dgeqrf, dorgqr)", run: func() (any, error) {
			copy(a, matrix)
			C.dgeqrf_(&order, &order, data(a), &order, data(tau), data(work), &length, &info)
			C.dorgqr_(&order, &order, &order, data(a), &order, data(tau), data(work), &length, &info)
			return nil, said()
		}},
	}
	if p.square != nil {
		square := flat(p.square)
		methods = append(methods, method{name: "LAPACK Cholesky (dpotrf)", run: func() (any, error) {
			copy(a, square)
			C.dpotrf_(&lower, &order, data(a), &order, &info, 1)
			return nil, said()
		}})
	}
	return append(methods, []method{
		{name: "LAPACK dgemm", run: func() (any, error) {
			C.cblas_dgemm(C.CblasColMajor, C.CblasNoTrans, C.CblasNoTrans, order, order, order,
				1, data(matrix), order, data(matrix), order, 0, data(a), order)
			return nil, nil
		}},
		{name: "LAPACK dgesv", run: func() (any, error) {
			copy(a, matrix)
			copy(b, vector)
			C.dgesv_(&order, &one, data(a), &order, &pivots[0], data(b), &order, &info)
			return nil, said()
		}},
		{name: "LAPACK dgetrf, dgetri", run: func() (any, error) {
			copy(a, matrix)
			C.dgetrf_(&order, &order, data(a), &order, &pivots[0], &info)
			C.dgetri_(&order, data(a), &order, &pivots[0], data(work), &length, &info)
			return nil, said()
		}},
	}...)
}
