package rational_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/rational"
)

// oracleLU eliminates in fractions.
func oracleLU(a rats, m, n int) (p []int, l, u rats) {
	k := min(m, n)
	w := zeros(m, n)
	for i := range a {
		p = append(p, i)
		for j := range n {
			w[i][j].Set(a[i][j])
		}
	}
	l, u = zeros(m, k), zeros(k, n)
	for j := range k {
		i := j
		for i < m && w[i][j].Sign() == 0 {
			i++
		}
		l[j][j].SetInt64(1)
		if i == m {
			continue
		}
		w[i], w[j], p[i], p[j] = w[j], w[i], p[j], p[i]
		for c := range j {
			l[i][c], l[j][c] = l[j][c], l[i][c]
		}
		for i := j + 1; i < m; i++ {
			l[i][j].Quo(w[i][j], w[j][j])
			for c := range n {
				w[i][c].Sub(w[i][c], new(big.Rat).Mul(l[i][j], w[j][c]))
			}
		}
	}
	for i := range k {
		copy(u[i], w[i])
	}
	return p, l, u
}

// oracleLDLT eliminates in fractions, one block after the other.
func oracleLDLT(a rats) (p, blocks []int, l, d rats) {
	n := len(a)
	w := zeros(n, n)
	for i := range a {
		p = append(p, i)
		for j := range n {
			w[i][j].Set(a[i][j])
		}
	}
	l, d = unit(n), zeros(n, n)
	exchange := func(i, k, done int) {
		p[i], p[k] = p[k], p[i]
		w[i], w[k] = w[k], w[i]
		for _, row := range w {
			row[i], row[k] = row[k], row[i]
		}
		for c := range done {
			l[i][c], l[k][c] = l[k][c], l[i][c]
		}
	}
	for k := 0; k < n; {
		diagonal, below := k, k+1
		for diagonal < n && w[diagonal][diagonal].Sign() == 0 {
			diagonal++
		}
		for below < n && w[below][k].Sign() == 0 {
			below++
		}
		size := 1
		switch {
		case diagonal < n:
			exchange(diagonal, k, k)
		case below < n:
			exchange(below, k+1, k)
			size = 2
		}
		blocks = append(blocks, size)
		for i := k; i < k+size; i++ {
			for j := k; j < k+size; j++ {
				d[i][j].Set(w[i][j])
			}
		}
		other := func(c int) int { // the column of a block's pivot in row c
			if size == 2 {
				return 2*k + 1 - c
			}
			return c
		}
		for i := k + size; i < n; i++ {
			for c := k; c < k+size; c++ {
				if x := w[other(c)][c]; x.Sign() != 0 {
					l[i][c].Quo(w[i][other(c)], x)
				}
			}
		}
		for i := k + size; i < n; i++ {
			for j := k + size; j < n; j++ {
				for c := k; c < k+size; c++ {
					w[i][j].Sub(w[i][j], new(big.Rat).Mul(l[i][c], w[c][j]))
				}
			}
		}
		k += size
	}
	return p, blocks, l, d
}

func TestFactors(t *testing.T) {
	r := testseed.Rand(t, 36, 7)
	for i := range testlength.Of(60, 200, 20000) {
		restore := func() {}
		if i%2 == 0 {
			restore = rational.WithoutElimination()
		}
		m, n := r.IntN(8), r.IntN(8)
		if i%16 == 0 && testlength.Long() {
			m, n = 13+r.IntN(3), 13+r.IntN(3)
		}
		checkLU(t, r, m, n)
		checkLDLT(t, r, m)
		checkPow(t, r, m%6)
		restore()
	}
	checkLU(t, r, 14, 13) // beyond the order of eliminations without fractions
	checkLDLT(t, r, 13)
}

func checkLU(t *testing.T, r *rand.Rand, m, n int) {
	a, name := adversary(r, m, n)
	z, err := rational.LU(of(a, m, n), nil)
	if err != nil {
		t.Fatalf("%s %v: %v", name, a, err)
	}
	p, l, u := oracleLU(a, m, n)
	if !slices.Equal(p, z.P) {
		t.Fatalf("%s\n%v: P is %v, want %v", name, of(a, m, n), z.P, p)
	}
	same(t, "L of "+name, z.L, l, m, min(m, n))
	same(t, "U of "+name, z.U, u, min(m, n), n)
}

func checkLDLT(t *testing.T, r *rand.Rand, n int) {
	a, name := adversary(r, n, n)
	hollow := r.IntN(3) == 0
	for i := range a {
		for j := range i {
			a[i][j].Set(a[j][i])
		}
		if hollow {
			a[i][i].SetInt64(0)
		}
	}
	z, err := rational.LDLT(of(a, n, n), nil)
	if err != nil {
		t.Fatalf("%s %v: %v", name, a, err)
	}
	p, blocks, l, d := oracleLDLT(a)
	if !slices.Equal(p, z.P) || !slices.Equal(blocks, z.Blocks) {
		t.Fatalf("%s\n%v: P is %v, want %v; blocks %v, want %v", name, of(a, n, n), z.P, p, z.Blocks, blocks)
	}
	same(t, "L of "+name, z.L, l, n, n)
	same(t, "D of "+name, z.D, d, n, n)
	// The formula itself.
	product := oracleMul(oracleMul(l, d, n), transposed(l), n)
	for i := range n {
		for j := range n {
			if product[i][j].Cmp(a[p[i]][p[j]]) != 0 {
				t.Fatalf("the oracle's factors of\n%v are wrong", of(a, n, n))
			}
		}
	}
}

func transposed(a rats) rats {
	z := zeros(len(a), len(a))
	for i := range a {
		for j := range a {
			z[j][i] = a[i][j]
		}
	}
	return z
}

func checkPow(t *testing.T, r *rand.Rand, n int) {
	a, name := adversary(r, n, n)
	k := r.IntN(11) - 5
	z, err := rational.Pow(of(a, n, n), k, nil)
	_, pivots, _ := oracleRREF(a, n, n)
	if k < 0 && len(pivots) < n {
		if !errors.Is(err, rational.ErrSingular) {
			t.Fatalf("%s %v^%d: %v", name, a, k, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s %v^%d: %v", name, a, k, err)
	}
	want := unit(n)
	for range max(k, -k) {
		want = oracleMul(want, a, n)
	}
	if k < 0 { // z A^-k = I
		z, err = rational.Mul(z, of(want, n, n), nil)
		if err != nil {
			t.Fatal(err)
		}
		want = unit(n)
	}
	same(t, "Pow of "+name, z, want, n, n)
}

func TestFactorsErrors(t *testing.T) {
	a := rational.FromInt64([][]int64{{1, 2}, {3, 4}})
	if _, err := rational.LDLT(a, nil); !errors.Is(err, rational.ErrNotSymmetric) {
		t.Error(err)
	}
	little := &halfulp.Options{MemoryLimit: 4 << 20}
	if _, err := rational.Pow(a, math.MaxInt32, little); !errors.Is(err, halfulp.ErrMemory) {
		t.Error(err)
	}
	if _, err := rational.Pow(a, -math.MaxInt32, little); !errors.Is(err, halfulp.ErrMemory) {
		t.Error(err)
	}
	r := testseed.Rand(t, 36, 8)
	n := 120
	large := rational.New(n, n)
	for i := range n {
		for j := range i + 1 {
			x := new(big.Rat).SetInt(randomInt(r, 40))
			large.Set(i, j, x)
			large.Set(j, i, x)
		}
	}
	if _, err := rational.LU(large, little); !errors.Is(err, halfulp.ErrMemory) {
		t.Error(err)
	}
	if _, err := rational.LDLT(large, little); !errors.Is(err, halfulp.ErrMemory) {
		t.Error(err)
	}
	if z, err := rational.Pow(rational.Identity(9), math.MaxInt, little); err != nil || !z.Equal(rational.Identity(9)) {
		t.Error(err)
	}
}
