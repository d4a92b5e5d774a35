// Package problem defines the computations that are compared and generates their data, so that
// every library receives the same numbers.
package problem

import "fmt"

// Kind is a routine.
type Kind string

// The routines compared. Each is C = A B with A of m × k and B of k × n, except Sum, which adds the
// entries of A.
const (
	Gemm Kind = "gemm" // m = n = k = N
	Gemv Kind = "gemv" // m = k = N, n = 1
	Dot  Kind = "dot"  // k = N, m = n = 1
	Sum  Kind = "sum"  // k = N, m = 1, no B
)

// Problem is one computation on generated data.
type Problem struct {
	Kind Kind
	N    int  // order of the matrices, or length of the vectors
	Bits uint // significand of every entry and of the result
	// 0: entries uniform in (-1, 1); else binary exponents uniform in [-Spread, Spread]
	Spread int
	Seed   uint64 // of the generator
}

// Shape returns m, k, n: A is m × k, B is k × n and C is m × n.
func (p Problem) Shape() (m, k, n int) {
	switch p.Kind {
	case Gemm:
		return p.N, p.N, p.N
	case Gemv:
		return p.N, p.N, 1
	case Dot, Sum:
		return 1, p.N, 1
	}
	panic(fmt.Sprintf("problem: unknown kind %q", p.Kind))
}

// Operations returns the multiply-adds (additions, for Sum) in the first columns columns of C.
func (p Problem) Operations(columns int) float64 {
	m, k, _ := p.Shape()
	return float64(m) * float64(k) * float64(columns)
}

// Unit names one of the operations that Operations counts.
func (p Problem) Unit() string {
	if p.Kind == Sum {
		return "ns per element"
	}
	return "ns per multiply-add"
}
