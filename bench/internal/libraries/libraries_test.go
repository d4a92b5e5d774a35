package libraries

import (
	"fmt"
	"math/big"
	"runtime"
	"testing"

	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/problem"
)

// TestResults compares every method of every library with the exact product: correctly rounded ones
// bit for bit, the others with the bound of a plain loop, |c - Σ a b| ≤ 4 k u Σ |a b|.
func TestResults(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	shapes := []struct {
		kind problem.Kind
		n    int
	}{{problem.Gemm, 3}, {problem.Gemm, 20}, {problem.Gemm, 70}, {problem.Gemv, 20}, {problem.Dot, 300}, {problem.Sum, 300}}
	for _, shape := range shapes {
		for _, bits := range []uint{53, 106, 212, 424, 1696} {
			for _, spread := range []int{0, 50, 700, 1000} {
				for _, threads := range []int{1, 2} {
					if shape.n == 70 && (bits > 212 || threads == 1) {
						continue // the exact oracle takes seconds there
					}
					p := problem.Problem{Kind: shape.kind, N: shape.n, Bits: bits, Spread: spread, Seed: 7}
					exact, size := oracle(p)
					for _, library := range All() {
						check(t, library, p, threads, exact, size)
					}
				}
			}
		}
	}
}

func check(t *testing.T, library peer.Library, p problem.Problem, threads int, exact, size []*big.Float) {
	t.Helper()
	loaded, err := library.Load(p, threads)
	if err != nil {
		t.Fatalf("%s, %+v: %v", library.Name(), p, err)
	}
	if loaded.Close != nil {
		defer loaded.Close()
	}
	m, k, n := p.Shape()
	for _, method := range loaded.Methods {
		where := fmt.Sprintf("%s, %d threads, %+v", method.Name, threads, p)
		if method.Role == peer.Reference && p.Spread > 0 {
			continue // runs on other data
		}
		if err := method.Run(n); err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		for j := range n {
			for i := range m {
				got, want := method.At(i, j), exact[i+j*m]
				if method.Rounded {
					if rounded := round(want, p.Bits); got.Cmp(rounded) != 0 {
						t.Errorf("%s: entry (%d, %d) is %s, want %s", where, i, j, got.Text('x', -1), rounded.Text('x', -1))
					}
					continue
				}
				bound := new(big.Float).Mul(size[i+j*m], big.NewFloat(4*float64(k+1)))
				bound.SetMantExp(bound, -unitRoundoff(library, p))
				if d := new(big.Float).SetPrec(widest).Sub(got, want); d.Abs(d).Cmp(bound) > 0 {
					t.Errorf("%s: entry (%d, %d) is %g, want %g: off by %.3g, allowed %.3g", where, i, j, got, want, d, bound)
				}
			}
		}
	}
}

// widest holds every sum of the test exactly: exponents within ±2000 and two significands.
const widest = 8192

// oracle returns C = A B exactly, and |A| |B|.
func oracle(p problem.Problem) (exact, size []*big.Float) {
	m, k, n := p.Shape()
	entry := func(operand problem.Operand, i, j int) *big.Float {
		if p.Kind == problem.Sum && operand == problem.B {
			return big.NewFloat(1)
		}
		var x problem.Number
		p.Entry(operand, i, j, &x)
		return x.Big(p.Bits)
	}
	a, b := make([]*big.Float, m*k), make([]*big.Float, k*n)
	for h := range k {
		for i := range m {
			a[i*k+h] = entry(problem.A, i, h)
		}
		for j := range n {
			b[j*k+h] = entry(problem.B, h, j)
		}
	}
	for j := range n {
		for i := range m {
			sum, total := new(big.Float).SetPrec(widest), new(big.Float).SetPrec(64)
			for h := range k {
				term := new(big.Float).SetPrec(2*p.Bits).Mul(a[i*k+h], b[j*k+h])
				sum.Add(sum, term)
				total.Add(total, term.Abs(term))
			}
			exact, size = append(exact, sum), append(size, total)
		}
	}
	return exact, size
}

func round(x *big.Float, bits uint) *big.Float {
	return new(big.Float).SetPrec(bits).Set(x)
}

// unitRoundoff returns s with u = 2^-s for what the library computes with at p.Bits.
func unitRoundoff(library peer.Library, p problem.Problem) int {
	switch library.Name() {
	case "OpenBLAS":
		return 53
	case "QD": // its sloppy operations lose the last bits
		return int(p.Bits) - 5
	}
	return int(p.Bits)
}
