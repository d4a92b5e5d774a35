package minors

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// random returns an integer with runs of ones and zeros.
func random(r *rand.Rand, words int) []uint64 {
	x := make([]uint64, words)
	for k := range x {
		switch r.IntN(4) {
		case 0:
			x[k] = 0
		case 1:
			x[k] = ^uint64(0)
		case 2:
			x[k] = ^uint64(0) << r.IntN(64)
		default:
			x[k] = r.Uint64() >> r.IntN(64)
		}
	}
	return x
}

func bigOf(x []uint64) *big.Int {
	z := new(big.Int)
	for k := len(x) - 1; k >= 0; k-- {
		z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(x[k]))
	}
	return z
}

func TestDivide(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range testlength.Of(2000, 20000, 1000000) {
		x, d := random(r, 1+r.IntN(6)), random(r, 1+r.IntN(5))
		d[len(d)-1] |= 1 << r.IntN(64)
		shift := r.IntN(3) * r.IntN(200)
		q, rest := divide(x, d, shift, make([]uint64, len(d)+2*(len(x)+shift/64+2+len(d))))
		want, remainder := new(big.Int).QuoRem(new(big.Int).Lsh(bigOf(x), uint(shift)), bigOf(d), new(big.Int))
		if bigOf(q).Cmp(want) != 0 || rest != (remainder.Sign() != 0) {
			t.Fatalf("seed %d: %x 2^%d / %x = %x, %v, want %x, %v", seed, bigOf(x), shift, bigOf(d), bigOf(q), rest, want, remainder)
		}
	}
}

// TestSolve compares determinants by Cramer's rule with elimination in rational numbers.
func TestSolve(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	solved, singular, short, gaveUp := 0, 0, 0, 0
	for trial := range testlength.Of(300, 3000, 100000) {
		n, k := 1+r.IntN(7), 1+r.IntN(3)
		f := []num.Format{{Kind: num.F64}, {Kind: num.F32}, num.Precision(2), num.Precision(70), num.Precision(200)}[r.IntN(5)]
		a, b := num.NewMat(f, n, n), num.NewMat(f, n, k)
		fill := func(m num.Mat) {
			spread, density := r.IntN(3)*r.IntN(40), r.IntN(4)
			for i := range m.Rows {
				for j := range m.Cols {
					if density == 1 && r.IntN(2) == 0 {
						continue
					}
					x := new(big.Float).SetInt(bigOf(random(r, 1+f.Bits()/64)))
					if r.IntN(3) == 0 {
						x.SetInt64(int64(1 + r.IntN(4)))
					}
					if r.IntN(2) == 0 {
						x.Neg(x)
					}
					if f.Kind != num.F32 {
						x.SetMantExp(x, -r.IntN(1+spread))
					} else {
						x.SetMantExp(x, -60)
					}
					m.SetBig(i, j, x)
				}
			}
		}
		fill(a)
		fill(b)
		if n > 1 && r.IntN(5) == 0 {
			for j := range n {
				a.SetBig(n-1, j, a.Big(0, j)) // equal rows
			}
		}
		s := new(System)
		if !s.Set(a, b, 1+r.IntN(100)) {
			short++
			continue
		}
		want := gauss(a, b)
		ok := s.Solve()
		if ok && want == nil {
			t.Fatalf("seed %d, trial %d: a singular matrix has a solution", seed, trial)
		}
		if !ok {
			singular++
			if want != nil { // divisors with many zeros at their ends
				gaveUp++
			}
			continue
		}
		solved++
		for i := range n {
			for j := range k {
				bits := 2 + r.IntN(200)
				v := s.Quotient(i, j, bits)
				got := new(big.Rat).SetInt(bigOf(v.Mag))
				up := new(big.Rat).SetInt(new(big.Int).Add(bigOf(v.Mag), big.NewInt(1)))
				unit := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(v.Exp, -v.Exp))))
				if v.Exp < 0 {
					unit.Inv(unit)
				}
				got.Mul(got, unit)
				up.Mul(up, unit)
				x := new(big.Rat).Abs(want[i][j])
				bad := v.Neg != (want[i][j].Sign() < 0)
				if v.Sticky {
					bad = bad || got.Cmp(x) >= 0 || up.Cmp(x) <= 0 || num.BitLen(v.Mag) < bits
				} else {
					bad = bad || got.Cmp(x) != 0
				}
				if bad {
					t.Fatalf("seed %d, trial %d, n = %d: unknown (%d, %d) is %v, want %v", seed, trial, n, i, j, v, want[i][j])
				}
			}
		}
	}
	if solved < singular/2 || short == 0 || singular == 0 || gaveUp > solved/20 {
		t.Errorf("%d systems solved, %d singular or given up, %d of them regular, %d of too many words", solved, singular, gaveUp, short)
	}
}

// gauss returns the solution, nil if a is singular.
func gauss(a, b num.Mat) [][]*big.Rat {
	n := a.Rows
	m := make([][]*big.Rat, n)
	for i := range m {
		for j := range n + b.Cols {
			var x *big.Float
			if j < n {
				x = a.Big(i, j)
			} else {
				x = b.Big(i, j-n)
			}
			v, _ := x.Rat(nil)
			m[i] = append(m[i], v)
		}
	}
	for k := range n {
		p := k
		for p < n && m[p][k].Sign() == 0 {
			p++
		}
		if p == n {
			return nil
		}
		m[k], m[p] = m[p], m[k]
		for i := range n {
			if i == k {
				continue
			}
			q := new(big.Rat).Quo(m[i][k], m[k][k])
			for j := k; j < len(m[i]); j++ {
				m[i][j] = new(big.Rat).Sub(m[i][j], new(big.Rat).Mul(q, m[k][j]))
			}
		}
	}
	x := make([][]*big.Rat, n)
	for i := range x {
		for j := range b.Cols {
			x[i] = append(x[i], new(big.Rat).Quo(m[i][n+j], m[i][i]))
		}
	}
	return x
}
