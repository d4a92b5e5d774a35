// Package mpfr measures GNU MPFR: loops over mpfr_mul and mpfr_add, and the correctly rounded
// mpfr_sum and mpfr_dot.
package mpfr

/*
#cgo CFLAGS: -O2
#cgo LDFLAGS: -lmpfr -lgmp
#include "vector.h"
*/
import "C"

import (
	"math/big"
	"unsafe"

	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/problem"
)

// Library is GNU MPFR.
type Library struct{}

// Name returns "MPFR".
func (Library) Name() string { return "MPFR" }

// Version returns what mpfr_get_version says.
func (Library) Version() string { return C.GoString(C.mpfr_get_version()) }

// Load stores A by rows and B by columns, so that the inner loops run through memory in order.
func (Library) Load(p problem.Problem, threads int) (*peer.Loaded, error) {
	m, k, n := p.Shape()
	a := newVector(m*k, p.Bits)
	var x problem.Number
	for i := range m {
		for h := range k {
			p.Entry(problem.A, i, h, &x)
			a.set(i*k+h, &x)
		}
	}
	c := newVector(m*n, p.Bits)
	at := func(i, j int) *big.Float { return c.at(i + j*m) }

	if p.Kind == problem.Sum {
		return &peer.Loaded{
			Methods: []peer.Method{
				{Name: "MPFR mpfr_sum", Role: peer.Peer, Rounded: true, Threads: 1, At: at, Run: func(int) error {
					C.bench_mpfr_sum_rounded(a.c, c.c)
					return nil
				}},
				{Name: "MPFR loop", Role: peer.Peer, Threads: 1, At: at, Run: func(int) error {
					C.bench_mpfr_sum_loop(a.c, c.c)
					return nil
				}},
			},
			Close: func() { a.free(); c.free() },
		}, nil
	}

	b := newVector(k*n, p.Bits)
	for j := range n {
		for h := range k {
			p.Entry(problem.B, h, j, &x)
			b.set(j*k+h, &x)
		}
	}
	if m*n == 1 {
		threads = 1
	}
	methods := []peer.Method{
		{Name: "MPFR loop", Role: peer.Peer, MinColumns: threads, Linear: true, Threads: threads, At: at, Run: func(columns int) error {
			peer.Split(m*columns, threads, func(low, high int) {
				C.bench_mpfr_product(a.c, b.c, c.c, C.long(m), C.long(k), C.long(low), C.long(high))
			})
			return nil
		}},
	}
	if p.Kind == problem.Dot {
		methods = append(methods, peer.Method{
			Name: "MPFR mpfr_dot", Role: peer.Peer, Rounded: true, Threads: 1, At: at, Run: func(int) error {
				C.bench_mpfr_dot_rounded(a.c, b.c, c.c)
				return nil
			}})
	}
	return &peer.Loaded{Methods: methods, Close: func() { a.free(); b.free(); c.free() }}, nil
}

// vector is an array of mpfr_t.
type vector struct{ c *C.vector }

func newVector(length int, bits uint) vector {
	return vector{C.bench_mpfr_vector_new(C.long(length), C.long(bits))}
}

func (v vector) free() { C.bench_mpfr_vector_free(v.c) }

func (v vector) set(i int, x *problem.Number) {
	negative := C.int(0)
	if x.Negative {
		negative = 1
	}
	C.bench_mpfr_vector_set(v.c, C.long(i), (*C.uint64_t)(unsafe.Pointer(&x.Words[0])), C.long(len(x.Words)), C.long(x.Exponent), negative)
}

func (v vector) at(i int) *big.Float {
	text := C.bench_mpfr_vector_text(v.c, C.long(i))
	defer C.mpfr_free_str(text)
	return peer.ParseHex(C.GoString(text))
}
