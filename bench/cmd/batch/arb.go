//go:build cgo

package main

/*
#cgo CFLAGS: -O2
#cgo LDFLAGS: -lflint-arb -lflint -lmpfr -lgmp
#include <stdlib.h>
#include <stdint.h>
#include <arb_mat.h>

static const char *arb_release(void) { return arb_version; }
static const char *flint_release(void) { return flint_version; }

static arb_mat_struct *matrices(long count, long rows, long columns)
{
	arb_mat_struct *a = malloc(count * sizeof *a);
	for (long i = 0; i < count; i++)
		arb_mat_init(a + i, rows, columns);
	return a;
}

static void matrices_free(arb_mat_struct *a, long count)
{
	for (long i = 0; i < count; i++)
		arb_mat_clear(a + i);
	free(a);
	flint_cleanup();
}

static void matrix_set(arb_mat_struct *m, long k, long i, long j, const uint64_t *word, long words,
	long exponent, int negative)
{
	mpz_t z;
	arf_ptr x = arb_midref(arb_mat_entry(m + k, i, j));
	mpz_roinit_n(z, (const mp_limb_t *)word, negative ? -words : words);
	arf_set_mpz(x, z);
	arf_mul_2exp_si(x, x, exponent);
}

static void products(arb_mat_struct *c, const arb_mat_struct *a, const arb_mat_struct *b,
	long low, long high, long precision)
{
	for (long i = low; i < high; i++)
		arb_mat_mul(c + i, a + i, b + i, precision);
	if (low > 0)
		flint_cleanup();
}

static int solutions(arb_mat_struct *x, const arb_mat_struct *a, const arb_mat_struct *b,
	long low, long high, long precision)
{
	int ok = 1;
	for (long i = low; i < high; i++)
		ok &= arb_mat_approx_solve(x + i, a + i, b + i, precision);
	if (low > 0)
		flint_cleanup();
	return ok;
}
*/
import "C"

import (
	"errors"
	"math/big"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/record"
)

func versions() []record.Library {
	return []record.Library{{Name: "Arb", Version: C.GoString(C.arb_release()) + ", FLINT " + C.GoString(C.flint_release())}}
}

var errNoSolution = errors.New("no solution by Arb")

// arb returns Arb's methods, and a function that frees their operands.
func (p *problem) arb() (methods []method, free func()) {
	count, n, k, precision := C.long(len(p.a)), C.long(p.n), C.long(p.b[0].Cols()), C.long(p.bits)
	a, b, c, x := C.matrices(count, n, n), C.matrices(count, n, n), C.matrices(count, n, n), C.matrices(count, n, k)
	r := C.matrices(count, n, k)
	for i := range p.a {
		toArb(a, i, p.a[i])
		toArb(b, i, p.a[(i+1)%len(p.a)])
		toArb(r, i, p.b[i])
	}
	methods = []method{
		{"products", "Arb arb_mat_mul", func(threads int) error {
			peer.Split(len(p.a), threads, func(low, high int) { C.products(c, a, b, C.long(low), C.long(high), precision) })
			return nil
		}},
		{"systems", "Arb arb_mat_approx_solve", func(threads int) (err error) {
			peer.Split(len(p.a), threads, func(low, high int) {
				if C.solutions(x, a, r, C.long(low), C.long(high), precision) == 0 {
					err = errNoSolution
				}
			})
			return err
		}},
	}
	return methods, func() {
		for _, m := range []*C.arb_mat_struct{a, b, c, x, r} {
			C.matrices_free(m, count)
		}
	}
}

// toArb stores m as matrix k of z.
func toArb(z *C.arb_mat_struct, k int, m *halfulp.Matrix) {
	for i := range m.Rows() {
		for j := range m.Cols() {
			x := m.Big(i, j)
			low := x.MantExp(nil) - int(x.MinPrec())
			integer, _ := new(big.Float).SetMantExp(x, -low).Int(nil)
			var words []C.uint64_t
			for _, w := range integer.Bits() {
				words = append(words, C.uint64_t(w))
			}
			if len(words) == 0 {
				continue
			}
			sign := C.int(0)
			if x.Signbit() {
				sign = 1
			}
			C.matrix_set(z, C.long(k), C.long(i), C.long(j), &words[0], C.long(len(words)), C.long(low), sign)
		}
	}
}
