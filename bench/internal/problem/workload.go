package problem

// Workload is a named family of problems, one a precision.
type Workload struct {
	Name   string
	Kind   Kind
	N      int
	Spread int
}

// Workloads returns everything that is compared.
func Workloads() []Workload {
	return []Workload{
		{"gemm-32", Gemm, 32, 0},
		{"gemm-100", Gemm, 100, 0},
		{"gemm-300", Gemm, 300, 0},
		{"gemm-300-spread50", Gemm, 300, 50},
		{"gemm-300-spread1000", Gemm, 300, 1000},
		{"gemm-1000", Gemm, 1000, 0},
		{"gemm-1000-spread50", Gemm, 1000, 50},
		{"gemm-1000-spread1000", Gemm, 1000, 1000},
		{"gemv-1000", Gemv, 1000, 0},
		{"dot-1e5", Dot, 100_000, 0},
		{"dot-1e6", Dot, 1_000_000, 0},
		{"sum-1e6", Sum, 1_000_000, 0},
	}
}

// Problem returns the workload's problem at a precision.
func (w Workload) Problem(bits uint, seed uint64) Problem {
	return Problem{Kind: w.Kind, N: w.N, Bits: bits, Spread: w.Spread, Seed: seed}
}
