package sym_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/eigen/internal/sym"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/proof/prooftest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// adversary returns a symmetric matrix that is hard in one of several ways.
func adversary(rng *rand.Rand) (string, num.Mat) {
	n := 1 + rng.IntN(6)
	a := num.NewMat(num.Precision(300), n, n)
	set := func(i, j int, x *big.Float) { a.SetBig(i, j, x); a.SetBig(j, i, x) }
	integer := func(k int64) *big.Float { return new(big.Float).SetPrec(300).SetInt64(k) }
	power := func(e int) *big.Float { return new(big.Float).SetPrec(300).SetMantExp(big.NewFloat(1), e) }
	kind := []string{"small integers", "graded", "diagonal", "identity", "rank one", "permuted blocks", "equal pairs", "near pairs", "laplacian", "path", "large integers", "orthogonal", "scattered"}[rng.IntN(13)]
	switch kind {
	case "small integers":
		for i := range n {
			for j := range i + 1 {
				set(i, j, integer(rng.Int64N(5)-2))
			}
		}
	case "graded":
		step := rng.IntN(60)
		for i := range n {
			for j := range i + 1 {
				x := integer(rng.Int64N(1<<20) - 1<<19)
				set(i, j, x.SetMantExp(x, -step*(i+j)))
			}
		}
	case "diagonal":
		for i := range n {
			set(i, i, integer(rng.Int64N(7)-3))
		}
	case "identity":
		for i := range n {
			set(i, i, power(rng.IntN(2)))
		}
	case "rank one":
		v := make([]int64, n)
		for i := range v {
			v[i] = rng.Int64N(9) - 4
		}
		for i := range n {
			for j := range n {
				x := integer(v[i] * v[j])
				if i == j {
					x.Add(x, integer(rng.Int64N(2)*3))
				}
				set(i, j, x)
			}
		}
	case "permuted blocks":
		p := rng.Perm(n)
		for i := 0; i+1 < n; i += 2 {
			x, y, z := rng.Int64N(5), rng.Int64N(5), rng.Int64N(5)
			set(p[i], p[i], integer(x))
			set(p[i+1], p[i+1], integer(y))
			set(p[i], p[i+1], integer(z))
		}
	case "equal pairs", "near pairs": // [[x, y], [y, x]] blocks: x ± y
		x, y := rng.Int64N(9)-4, rng.Int64N(4)
		for i := range n {
			d := integer(x)
			if kind == "near pairs" {
				d.Add(d, power(-30-rng.IntN(200)))
			}
			set(i, i, d)
			if i%2 == 1 {
				set(i, i-1, integer(y))
			}
		}
	case "laplacian":
		sum := make([]int64, n)
		for i := range n {
			for j := range i {
				if rng.IntN(2) == 0 {
					set(i, j, integer(-1))
					sum[i]++
					sum[j]++
				}
			}
		}
		for i := range n {
			set(i, i, integer(sum[i]))
		}
	case "path":
		for i := range n {
			set(i, i, integer(2))
			if i > 0 {
				set(i, i-1, integer(-1))
			}
		}
	case "large integers": // eigenvalues 2 x ± 1 halfway between numbers
		x := rng.Int64N(1<<55) | 1<<54
		for i := range n {
			for j := range i + 1 {
				set(i, j, integer(int64(rng.IntN(2))))
			}
			set(i, i, integer(x|1))
		}
	case "orthogonal": // Q diag(λ) Qᵀ times 9, Q = I - 2 v vᵀ / 3 or /9
		v := make([]int64, n)
		for i := range min(n, 3) {
			v[i] = 1
		}
		norm := int64(min(n, 3))
		l := make([]int64, n)
		for i := range l {
			l[i] = rng.Int64N(4)
		}
		for i := range n {
			for j := range i + 1 {
				var sum int64
				for k := range n {
					qi, qj := -2*v[i]*v[k], -2*v[j]*v[k]
					if i == k {
						qi += norm
					}
					if j == k {
						qj += norm
					}
					sum += qi * qj * l[k]
				}
				set(i, j, integer(sum))
			}
		}
	case "scattered":
		for i := range n {
			for j := range i + 1 {
				x := integer(rng.Int64N(1<<53) - 1<<52)
				set(i, j, x.SetMantExp(x, rng.IntN(600)-300))
			}
		}
	}
	return kind, a
}

func TestAdversaries(t *testing.T) {
	rng := testseed.Rand(t, 7, 1)
	for trial := range testlength.Of(100, 300, 100000) {
		kind, a := adversary(rng)
		f := []num.Format{num.Float32, num.Float64, num.Precision(24), num.Precision(53), num.Precision(150)}[rng.IntN(5)]
		n := a.Rows
		s := prooftest.Run(t, 1)
		z, err := sym.Sym(s, a, f, sym.Wanted{Vectors: rng.IntN(3) == 0, Last: n - 1})
		if err != nil {
			t.Fatalf("trial %d, %s, n = %d, %v: %v\n%v", trial, kind, n, f, err, lintest.Of(halfulp.MatrixOf(a)))
		}
		s.Release()
		check(t, a, f, z.Values)
	}
}
