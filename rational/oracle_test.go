package rational_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
	"github.com/halfulp/halfulp/rational"
)

// The oracle: matrices as rows of big.Rat, and elimination in fractions.

type rats [][]*big.Rat

func zeros(m, n int) rats {
	z := make(rats, m)
	for i := range z {
		z[i] = make([]*big.Rat, n)
		for j := range z[i] {
			z[i][j] = new(big.Rat)
		}
	}
	return z
}

func unit(n int) rats {
	z := zeros(n, n)
	for i := range z {
		z[i][i].SetInt64(1)
	}
	return z
}

func oracleMul(a, b rats, cols int) rats {
	z := zeros(len(a), cols)
	for i, row := range a {
		for k, x := range row {
			for j := range cols {
				z[i][j].Add(z[i][j], new(big.Rat).Mul(x, b[k][j]))
			}
		}
	}
	return z
}

// oracleRREF returns the reduced echelon form of the first limit columns, its pivots, and the
// determinant of a square matrix.
func oracleRREF(a rats, cols, limit int) (z rats, pivots []int, det *big.Rat) {
	z = zeros(len(a), cols)
	for i := range a {
		for j := range cols {
			z[i][j].Set(a[i][j])
		}
	}
	det = big.NewRat(1, 1)
	for j := 0; j < limit && len(pivots) < len(z); j++ {
		r := len(pivots)
		k := r
		for k < len(z) && z[k][j].Sign() == 0 {
			k++
		}
		if k == len(z) {
			det = new(big.Rat)
			continue
		}
		if k != r {
			z[k], z[r] = z[r], z[k]
			det.Neg(det)
		}
		pivot := new(big.Rat).Set(z[r][j])
		det.Mul(det, pivot)
		for c := range cols {
			z[r][c].Quo(z[r][c], pivot)
		}
		for i := range z {
			if by := new(big.Rat).Set(z[i][j]); i != r && by.Sign() != 0 {
				for c := range cols {
					z[i][c].Sub(z[i][c], new(big.Rat).Mul(by, z[r][c]))
				}
			}
		}
		pivots = append(pivots, j)
	}
	return z, pivots, det
}

// oracleCharPoly returns det(x I - A) by the method of Faddeev and Le Verrier.
func oracleCharPoly(a rats) []*big.Rat {
	n := len(a)
	c := make([]*big.Rat, n+1)
	c[n] = big.NewRat(1, 1)
	m := zeros(n, n)
	for k := 1; k <= n; k++ {
		m = oracleMul(a, m, n)
		for i := range n {
			m[i][i].Add(m[i][i], c[n-k+1])
		}
		trace := new(big.Rat)
		for i, row := range oracleMul(a, m, n) {
			trace.Add(trace, row[i])
		}
		c[n-k] = trace.Mul(trace, big.NewRat(-1, int64(k)))
	}
	return c
}

// oracleMinPoly returns the minimal polynomial: the first power of A that is a combination of lower
// ones, as vectors of n² entries.
func oracleMinPoly(a rats) []*big.Rat {
	n := len(a)
	var powers []rats
	for p := unit(n); ; p = oracleMul(a, p, n) {
		powers = append(powers, p)
		k := len(powers)
		rows := zeros(n*n, k)
		for c, p := range powers {
			for i := range n {
				for j := range n {
					rows[i*n+j][c] = p[i][j]
				}
			}
		}
		z, pivots, _ := oracleRREF(rows, k, k)
		if len(pivots) < k {
			m := make([]*big.Rat, k)
			for i := range k - 1 {
				m[i] = new(big.Rat).Neg(z[i][k-1])
			}
			m[k-1] = big.NewRat(1, 1)
			return m
		}
	}
}

// of makes a matrix, also one without rows or columns.
func of(a rats, m, n int) *rational.Matrix {
	if m == 0 || n == 0 {
		return rational.New(m, n)
	}
	return rational.FromRats(a)
}

func same(t *testing.T, what string, got *rational.Matrix, want rats, m, n int) {
	t.Helper()
	if got.Rows() != m || got.Cols() != n || !got.Equal(of(want, m, n)) {
		t.Fatalf("%s:\n%v\nwant\n%v", what, got, of(want, m, n))
	}
	for i := range m {
		for j := range n {
			if got.At(i, j).Cmp(want[i][j]) != 0 {
				t.Fatalf("%s: entry (%d, %d) is %v, want %v", what, i, j, got.At(i, j), want[i][j])
			}
		}
	}
}

func sameNumbers(t *testing.T, what string, got, want []*big.Rat) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for i, x := range got {
		if x.Cmp(want[i]) != 0 {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
}

// randomInt returns an integer of up to the given bits.
func randomInt(r *rand.Rand, bits int) *big.Int {
	z := new(big.Int)
	for z.BitLen() < bits {
		z.Lsh(z, 64)
		z.Or(z, new(big.Int).SetUint64(r.Uint64()))
	}
	z.Rsh(z, uint(z.BitLen()-min(z.BitLen(), r.IntN(bits+1))))
	if r.IntN(2) == 0 {
		z.Neg(z)
	}
	return z
}

// adversary returns an m x n matrix, with its name.
func adversary(r *rand.Rand, m, n int) (a rats, name string) {
	a = zeros(m, n)
	fill := func(f func(i, j int) *big.Rat) {
		for i := range a {
			for j := range a[i] {
				a[i][j] = f(i, j)
			}
		}
	}
	bits := []int{1, 3, 10, 62, 64, 65, 130, 400}[r.IntN(8)]
	if max(m, n) > 8 { // the oracle takes long
		bits = min(bits, 64)
	}
	integer := func(i, j int) *big.Rat { return new(big.Rat).SetInt(randomInt(r, bits)) }
	switch r.IntN(9) {
	case 0:
		fill(func(i, j int) *big.Rat { return big.NewRat(1, int64(i+j+1)) })
		return a, "Hilbert"
	case 1:
		fill(func(i, j int) *big.Rat { return new(big.Rat).SetInt(new(big.Int).Binomial(int64(i+j), int64(i))) })
		return a, "Pascal"
	case 2: // unimodular with huge inverse
		fill(func(i, j int) *big.Rat {
			switch {
			case i == j:
				return big.NewRat(1, 1)
			case i < j:
				return integer(i, j)
			}
			return new(big.Rat)
		})
		for i := 1; i < m; i++ {
			for j := range n {
				a[i][j].Add(a[i][j], a[i-1][j])
			}
		}
		return a, "unimodular"
	case 3: // low rank
		k := r.IntN(min(m, n) + 1)
		left, right := zeros(m, k), zeros(k, n)
		for _, x := range []rats{left, right} {
			for _, row := range x {
				for j := range row {
					row[j] = integer(0, 0)
				}
			}
		}
		return oracleMul(left, right, n), "low rank"
	case 4: // denominators without common factors
		d := int64(101)
		fill(func(i, j int) *big.Rat {
			for d += 2; !big.NewInt(d).ProbablyPrime(0); d += 2 {
			}
			return big.NewRat(r.Int64N(2001)-1000, d)
		})
		return a, "coprime denominators"
	case 5: // few numbers other than 0
		fill(func(i, j int) *big.Rat {
			if r.IntN(3) > 0 {
				return new(big.Rat)
			}
			return big.NewRat(r.Int64N(5)-2, 1)
		})
		return a, "sparse"
	case 6: // multiples of the first prime of 61 bits: singular modulo it
		p := new(big.Rat).SetInt64(1<<61 - 1)
		fill(func(i, j int) *big.Rat {
			x := big.NewRat(r.Int64N(9)-4, 1)
			if (i+j)%2 == 0 {
				x.Mul(x, p)
			}
			return x
		})
		return a, "multiples of a prime"
	case 7: // columns repeat
		fill(integer)
		for j := 1; j < n; j++ {
			if r.IntN(2) == 0 {
				for i := range a {
					a[i][j] = new(big.Rat).Mul(a[i][j-1], big.NewRat(-3, 7))
				}
			}
		}
		return a, "dependent columns"
	default:
		fill(func(i, j int) *big.Rat {
			return new(big.Rat).SetFrac(randomInt(r, bits), new(big.Int).Add(new(big.Int).Abs(randomInt(r, bits)), big.NewInt(1)))
		})
		return a, "random"
	}
}

// TestOracle compares all routines with the oracle.
func TestOracle(t *testing.T) {
	r := testseed.Rand(t, 36, 1)
	small, large := testlength.Of(20, 80, 100000), testlength.Of(2, 5, 3000)
	for i := range small {
		restore := func() {}
		if i%2 == 0 {
			restore = rational.WithoutElimination()
		}
		check(t, r, r.IntN(8), r.IntN(8))
		restore()
	}
	for range large { // beyond the order of elimination without fractions
		n := 13 + r.IntN(3)
		if testlength.Long() {
			n += r.IntN(6)
		}
		check(t, r, max(0, n+r.IntN(5)-2), n)
	}
}

// check compares all routines with the oracle for an m x n matrix, or for a square one.
func check(t *testing.T, r *rand.Rand, m, n int) {
	t.Helper()
	if r.IntN(2) == 0 {
		n = m
	}
	a, name := adversary(r, m, n)
	t.Logf("%s %d x %d", name, m, n)
	checkMatrix(t, r, a, name, m, n)
}

// checkMatrix compares all routines with the oracle for an m x n matrix.
func checkMatrix(t *testing.T, r *rand.Rand, a rats, name string, m, n int) {
	t.Helper()
	A := of(a, m, n)
	defer func() {
		if t.Failed() {
			t.Logf("%s %d x %d:\n%v", name, m, n, A)
		}
	}()
	z, pivots, det := oracleRREF(a, n, n)
	rank := len(pivots)

	got, err := rational.Rank(A, nil)
	if err != nil || got != rank {
		t.Fatalf("rank %d (%v), want %d", got, err, rank)
	}
	R, p, err := rational.RREF(A, nil)
	if err != nil || len(p) != rank {
		t.Fatalf("pivots %v (%v), want %v", p, err, pivots)
	}
	for i, j := range p {
		if j != pivots[i] {
			t.Fatalf("pivots %v, want %v", p, pivots)
		}
	}
	same(t, "RREF", R, z, m, n)

	N, err := rational.NullSpace(A, nil)
	if err != nil || N.Rows() != n || N.Cols() != n-rank || !N.IsInteger() {
		t.Fatalf("NullSpace: %v\n%v", err, N)
	}
	nulls := zeros(n, n-rank)
	for k := range n - rank {
		g, sign := new(big.Int), 0
		for i := range n {
			x := N.At(i, k)
			nulls[i][k] = x
			if sign == 0 {
				sign = x.Sign()
			}
			g.GCD(nil, nil, g, new(big.Int).Abs(x.Num()))
		}
		if sign != 1 || g.Cmp(big.NewInt(1)) != 0 {
			t.Fatalf("NullSpace: column %d is not primitive:\n%v", k, N)
		}
	}
	same(t, "A N", of(oracleMul(a, nulls, n-rank), m, n-rank), zeros(m, n-rank), m, n-rank)
	if _, p, _ := oracleRREF(nulls, n-rank, n-rank); len(p) != n-rank {
		t.Fatalf("NullSpace: dependent columns\n%v", N)
	}

	// Consistent and inconsistent systems.
	k := 1 + r.IntN(3)
	x0 := zeros(n, k)
	for i := range x0 {
		for j := range k {
			x0[i][j].SetFrac64(r.Int64N(19)-9, 1+r.Int64N(5))
		}
	}
	b := oracleMul(a, x0, k)
	B := of(b, m, k)
	X, N2, err := rational.SolveAll(A, B, nil)
	if err != nil || !N2.Equal(N) {
		t.Fatalf("SolveAll: %v", err)
	}
	want := zeros(n, k)
	both := zeros(m, n+k)
	for i := range m {
		copy(both[i], a[i])
		copy(both[i][n:], b[i])
	}
	reduced, _, _ := oracleRREF(both, n+k, n)
	for i, j := range pivots {
		copy(want[j], reduced[i][n:])
	}
	same(t, "SolveAll", X, want, n, k)
	X, err = rational.Solve(A, B, nil)
	if rank == n {
		if err != nil {
			t.Fatal(err)
		}
		same(t, "Solve", X, x0, n, k)
	} else {
		var singular *rational.SingularError
		if !errors.As(err, &singular) || !errors.Is(err, rational.ErrSingular) || singular.Rank != rank {
			t.Fatalf("Solve: %v, want rank %d", err, rank)
		}
	}
	if rank < m {
		c := r.IntN(k)
		i := r.IntN(m)
		bad := B.Clone()
		bad.Set(i, c, new(big.Rat).Add(b[i][c], big.NewRat(1, 3)))
		both[i][n+c] = bad.At(i, c)
		_, p, _ := oracleRREF(both, n+k, n+k)
		_, _, err := rational.SolveAll(A, bad, nil)
		var inconsistent *rational.InconsistentError
		if len(p) > rank != errors.As(err, &inconsistent) || inconsistent != nil && inconsistent.Col != c {
			t.Fatalf("SolveAll of an inconsistent system: %v, rank %d with b %d", err, rank, len(p))
		}
		if B.At(i, c).Cmp(b[i][c]) != 0 {
			t.Fatal("Set changed the original of a clone")
		}
	}

	// Products and sums.
	b2, _ := adversary(r, n, k)
	P, err := rational.Mul(A, of(b2, n, k), nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "Mul", P, oracleMul(a, b2, k), m, k)
	c, _ := adversary(r, m, n)
	plus, minus, transposed := zeros(m, n), zeros(m, n), zeros(n, m)
	for i := range m {
		for j := range n {
			plus[i][j].Add(a[i][j], c[i][j])
			minus[i][j].Sub(a[i][j], c[i][j])
			transposed[j][i].Set(a[i][j])
		}
	}
	same(t, "Add", rational.Add(A, of(c, m, n)), plus, m, n)
	same(t, "Sub", rational.Sub(A, of(c, m, n)), minus, m, n)
	same(t, "T", A.T(), transposed, n, m)

	if m != n {
		return
	}
	d, err := rational.Det(A, nil)
	if err != nil || d.Cmp(det) != 0 {
		t.Fatalf("Det: %v (%v), want %v", d, err, det)
	}
	inverse, err := rational.Inverse(A, nil)
	if rank < n {
		if !errors.Is(err, rational.ErrSingular) {
			t.Fatalf("Inverse: %v", err)
		}
	} else {
		both := zeros(n, 2*n)
		for i := range n {
			copy(both[i], a[i])
			both[i][n+i].SetInt64(1)
		}
		z, _, _ := oracleRREF(both, 2*n, n)
		for i := range z {
			z[i] = z[i][n:]
		}
		same(t, "Inverse", inverse, z, n, n)
	}
	if n > 13 {
		return
	}
	poly, err := rational.CharPoly(A, nil)
	if err != nil {
		t.Fatal(err)
	}
	sameNumbers(t, "CharPoly", poly, oracleCharPoly(a))
	if n > 6 {
		return
	}
	if poly, err = rational.MinPoly(A, nil); err != nil {
		t.Fatal(err)
	}
	sameNumbers(t, "MinPoly", poly, oracleMinPoly(a))
}
