// Package qd measures the QD library: loops over double-double numbers at 106 bits and quad-double
// numbers at 212.
package qd

/*
#cgo CXXFLAGS: -O3 -march=native
#cgo LDFLAGS: -lqd
#include "loops.h"
*/
import "C"

import (
	"math/big"
	"os/exec"
	"strings"
	"unsafe"

	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/problem"
)

// Library is QD, compiled without contraction of its error-free transformations.
type Library struct{}

// Name returns "QD".
func (Library) Name() string { return "QD" }

// Version returns what qd-config says; the library itself does not know.
func (Library) Version() string {
	out, err := exec.Command("qd-config", "--version").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// Load expands every entry into 2 or 4 doubles; A lies by rows and B by columns. Other precisions
// have no method.
func (Library) Load(p problem.Problem, threads int) (*peer.Loaded, error) {
	var terms int
	var name string
	switch p.Bits {
	case 106:
		terms, name = 2, "QD dd_real loop"
	case 212:
		terms, name = 4, "QD qd_real loop"
	}
	if terms == 0 || p.Spread > largestSpread {
		return &peer.Loaded{}, nil
	}

	m, k, n := p.Shape()
	var x problem.Number
	a := make([]float64, m*k*terms)
	for i := range m {
		for h := range k {
			p.Entry(problem.A, i, h, &x)
			expand(x.Big(p.Bits), a[(i*k+h)*terms:][:terms])
		}
	}
	c := make([]float64, m*n*terms)
	at := func(i, j int) *big.Float { return collapse(c[(i+j*m)*terms:][:terms]) }

	if p.Kind == problem.Sum {
		return &peer.Loaded{Methods: []peer.Method{
			{Name: name, Role: peer.Peer, Threads: 1, At: at, Run: func(int) error {
				C.bench_qd_sum(C.int(terms), pointer(a), pointer(c), C.long(k))
				return nil
			}},
		}}, nil
	}

	b := make([]float64, k*n*terms)
	for j := range n {
		for h := range k {
			p.Entry(problem.B, h, j, &x)
			expand(x.Big(p.Bits), b[(j*k+h)*terms:][:terms])
		}
	}
	if m*n == 1 {
		threads = 1
	}
	return &peer.Loaded{Methods: []peer.Method{
		{Name: name, Role: peer.Peer, MinColumns: threads, Linear: true, Threads: threads, At: at, Run: func(columns int) error {
			peer.Split(m*columns, threads, func(low, high int) {
				C.bench_qd_product(C.int(terms), pointer(a), pointer(b), pointer(c), C.long(m), C.long(k), C.long(low), C.long(high))
			})
			return nil
		}},
	}}, nil
}

// largestSpread keeps the last term of a product inside the range of doubles:
// 2 · 100 + 4 · 53 < 1022.
const largestSpread = 100

func pointer(x []float64) *C.double { return (*C.double)(unsafe.Pointer(&x[0])) }

// expand writes x as a sum of doubles, each the nearest to what the ones before leave over.
func expand(x *big.Float, terms []float64) {
	rest := new(big.Float).Set(x)
	for t := range terms {
		terms[t], _ = rest.Float64()
		rest.Sub(rest, big.NewFloat(terms[t]))
	}
}

// collapse returns the sum of the terms.
func collapse(terms []float64) *big.Float {
	const exact = 2200 // covers the range of doubles
	z := new(big.Float).SetPrec(exact)
	for _, t := range terms {
		z.Add(z, big.NewFloat(t))
	}
	return z
}
