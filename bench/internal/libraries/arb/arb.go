// Package arb measures Arb, which multiplies matrices by FLINT's integer products: balls with error
// bounds (arb_mat_mul, arb_dot), the same without bounds (arb_mat_approx_mul, arb_approx_dot), and
// the correctly rounded arf_sum.
package arb

/*
#cgo CFLAGS: -O2
#cgo LDFLAGS: -lflint-arb -lflint -lmpfr -lgmp
#include "matrix.h"

static const char *flint_release(void) { return flint_version; }
*/
import "C"

import (
	"fmt"
	"math/big"
	"unsafe"

	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/problem"
)

// Library is Arb on FLINT. FLINT keeps state a thread: load and run it from one locked operating
// system thread.
type Library struct{}

// Name returns "Arb".
func (Library) Name() string { return "Arb" }

// Version returns what arb_version and flint_version say.
func (Library) Version() string {
	return fmt.Sprintf("%s, FLINT %s", C.GoString(C.bench_arb_library_version()), C.GoString(C.flint_release()))
}

// Load stores the operands as matrices of exact balls.
func (Library) Load(p problem.Problem, threads int) (*peer.Loaded, error) {
	C.flint_set_num_threads(C.int(threads))
	m, k, n := p.Shape()
	precision := C.long(p.Bits)
	a := load(p, problem.A, m, k)
	c := newMatrix(m, n)

	if p.Kind == problem.Sum {
		x := C.bench_arb_row_midpoints(a.c)
		return &peer.Loaded{
			Methods: []peer.Method{
				{Name: "Arb arf_sum", Role: peer.Peer, Rounded: true, Threads: 1, At: c.at, Run: func(int) error {
					C.bench_arb_sum_rounded(c.c, x, C.long(k), precision)
					return nil
				}},
			},
			Close: func() { C.bench_arb_row_midpoints_free(x); a.free(); c.free() },
		}, nil
	}

	b := load(p, problem.B, k, n)
	loaded := &peer.Loaded{Close: func() { a.free(); b.free(); c.free() }}
	if p.Kind == problem.Gemm {
		quarter := (n + 3) / 4 // still a matrix product to Arb's choice of algorithm
		loaded.Methods = []peer.Method{
			{Name: "Arb arb_mat_mul", Role: peer.Peer, MinColumns: quarter, Threads: threads, At: c.at, Run: func(columns int) error {
				C.bench_arb_multiply(c.c, a.c, b.c, C.long(columns), precision)
				return nil
			}},
			{Name: "Arb arb_mat_approx_mul", Role: peer.Peer, MinColumns: quarter, Threads: threads, At: c.at, Run: func(columns int) error {
				C.bench_arb_multiply_approximately(c.c, a.c, b.c, C.long(columns), precision)
				return nil
			}},
		}
		return loaded, nil
	}

	if m == 1 {
		threads = 1
	}
	loaded.Methods = []peer.Method{
		{Name: "Arb arb_dot", Role: peer.Peer, Threads: threads, At: c.at, Run: func(int) error {
			peer.Split(m, threads, func(low, high int) {
				C.bench_arb_multiply_vector(c.c, a.c, b.c, C.long(low), C.long(high), precision)
			})
			return nil
		}},
		{Name: "Arb arb_approx_dot", Role: peer.Peer, Threads: threads, At: c.at, Run: func(int) error {
			peer.Split(m, threads, func(low, high int) {
				C.bench_arb_multiply_vector_approximately(c.c, a.c, b.c, C.long(low), C.long(high), precision)
			})
			return nil
		}},
	}
	return loaded, nil
}

// matrix is an arb_mat_t.
type matrix struct{ c *C.arb_mat_struct }

func newMatrix(rows, columns int) matrix {
	return matrix{C.bench_arb_matrix_new(C.long(rows), C.long(columns))}
}

func load(p problem.Problem, operand problem.Operand, rows, columns int) matrix {
	a := newMatrix(rows, columns)
	var x problem.Number
	for i := range rows {
		for j := range columns {
			p.Entry(operand, i, j, &x)
			a.set(i, j, &x)
		}
	}
	return a
}

func (a matrix) free() { C.bench_arb_matrix_free(a.c) }

func (a matrix) set(i, j int, x *problem.Number) {
	negative := C.int(0)
	if x.Negative {
		negative = 1
	}
	C.bench_arb_matrix_set(a.c, C.long(i), C.long(j),
		(*C.uint64_t)(unsafe.Pointer(&x.Words[0])), C.long(len(x.Words)), C.long(x.Exponent), negative)
}

func (a matrix) at(i, j int) *big.Float {
	text := C.bench_arb_matrix_text(a.c, C.long(i), C.long(j))
	defer C.mpfr_free_str(text)
	return peer.ParseHex(C.GoString(text))
}
