package linsolve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/conformance/lintest"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/seed"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

func checkLU(t *testing.T, name string, a *halfulp.Matrix, f halfulp.Format) {
	t.Helper()
	var stats halfulp.Stats
	z, err := LU(a, f, &halfulp.Options{Stats: &stats})
	m, n := a.Dims()
	k := min(m, n)
	r, rankErr := Rank(a.Slice(0, m, 0, k), nil)
	if rankErr != nil {
		t.Fatal(rankErr)
	}
	if r < k {
		if !errors.Is(err, ErrSingular) {
			t.Fatalf("%s: error %v for rank %d of %d", name, err, r, k)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v (%+v)", name, err, stats)
	}
	// Pivots are the largest entries: no multiplier exceeds 1, except for entries accepted as equal
	// to the pivot.
	x, ok := lintest.Of(a).Rows(z.P).LU(k)
	if !ok {
		t.Fatalf("%s: P = %v has a pivot 0", name, z.P)
	}
	most, _ := seed.Slack.Rat(nil)
	for i := range m {
		for j := range n {
			if i > j && j < k {
				if new(big.Rat).Abs(x[i][j]).Cmp(most) > 0 {
					t.Fatalf("%s: multiplier %v", name, x[i][j])
				}
				if want := lintest.Nearest(f, x[i][j]); !z.L.At(i, j).Same(want) {
					t.Fatalf("%s: L[%d,%d] = %s, want %s (%+v)", name, i, j, z.L.At(i, j).Hex(), want.Hex(), stats)
				}
			} else if i <= j && i < k {
				if want := lintest.Nearest(f, x[i][j]); !z.U.At(i, j).Same(want) {
					t.Fatalf("%s: U[%d,%d] = %s, want %s (%+v)", name, i, j, z.U.At(i, j).Hex(), want.Hex(), stats)
				}
			}
		}
	}
	for i := range m {
		for j := range k {
			if i <= j && z.L.Big(i, j).Cmp(big.NewFloat(float64(min(1, 1+i-j)))) != 0 && (i == j || z.L.Big(i, j).Sign() != 0) {
				t.Fatalf("%s: L[%d,%d] = %v", name, i, j, z.L.At(i, j))
			}
		}
	}
	for i := range k {
		for j := range min(i, n) {
			if z.U.Big(i, j).Sign() != 0 {
				t.Fatalf("%s: U[%d,%d] = %v", name, i, j, z.U.At(i, j))
			}
		}
	}
}

func TestLU(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range lintest.Formats {
		for trial := range testlength.Of(1, 1, 60) {
			m, n := 1+r.IntN(8), 1+r.IntN(8)
			if r.IntN(2) == 0 {
				n = m
			}
			g := lintest.Formats[r.IntN(len(lintest.Formats))]
			name := fmt.Sprintf("seed %d, trial %d, %v from %v, %d x %d", seed, trial, f, g, m, n)
			checkLU(t, name+", random", gallery.Random(g, m, n, 0, r.Uint64()), f)
			checkLU(t, name+", spread", gallery.Random(g, m, n, 50, r.Uint64()), f)
			checkLU(t, name+", integers", lintest.Integers(r, m, n, 4), f)
			checkLU(t, name+", signs", lintest.Integers(r, m, n, 1), f)
			checkLU(t, name+", wide integers", lintest.Integers(r, m, n, 1<<(bits.UintSize-11)), f)
		}
		checkLU(t, "Hilbert", gallery.Hilbert(halfulp.MP(200), testlength.Of(8, 20, 20)), f)
	}
	checkLU(t, "panels", gallery.Random(halfulp.Float64, 60, 55, 0, seed), halfulp.Float64)
	checkLU(t, "many ties", lintest.Integers(r, 55, 60, 1), halfulp.MP(24))
}

func checkCholesky(t *testing.T, name string, a *halfulp.Matrix, f halfulp.Format) {
	t.Helper()
	n := a.Rows()
	var stats halfulp.Stats
	z, err := Cholesky(a, f, &halfulp.Options{Stats: &stats})
	x, ok := lintest.Of(a).LU(n)
	for j := range n {
		ok = ok && x[j][j].Sign() > 0
	}
	if !ok {
		var not *NotPositiveDefiniteError
		if !errors.As(err, &not) {
			t.Fatalf("%s: error %v, want a matrix that is not positive definite", name, err)
		}
		d, err := Det(a.Slice(0, not.Order, 0, not.Order), halfulp.MP(64), nil)
		if err != nil || d.Big().Sign() != not.Sign || not.Sign > 0 {
			t.Fatalf("%s: %v, but the minor is %v", name, not, d)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v (%+v)", name, err, stats)
	}
	for i := range n {
		for j := range n {
			want := halfulp.NewScalar(f, new(big.Float))
			switch {
			case i == j:
				want = lintest.NearestRoot(f, big.NewRat(1, 1), x[j][j])
			case i > j:
				want = lintest.NearestRoot(f, x[i][j], x[j][j])
			}
			if !z.L.At(i, j).Same(want) {
				t.Fatalf("%s: L[%d,%d] = %s, want %s (%+v)", name, i, j, z.L.At(i, j).Hex(), want.Hex(), stats)
			}
		}
	}
}

func TestCholesky(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range lintest.Formats {
		for trial := range testlength.Of(1, 1, 60) {
			n := 1 + r.IntN(7)
			g := lintest.Formats[r.IntN(len(lintest.Formats))]
			name := fmt.Sprintf("seed %d, trial %d, %v from %v, n = %d", seed, trial, f, g, n)
			checkCholesky(t, name+", random", lintest.Gram(gallery.Random(g, n+r.IntN(3), n, 0, r.Uint64())), f)
			checkCholesky(t, name+", spread", lintest.Gram(gallery.Random(g, n, n, 50, r.Uint64())), f)
			checkCholesky(t, name+", integers", lintest.Gram(lintest.Integers(r, n+r.IntN(2), n, 2)), f)
			checkCholesky(t, name+", dependent columns", lintest.Gram(lintest.Integers(r, n-r.IntN(2)+1, n+1, 2)), f)
			l := lintest.Integers(r, n, n, 1<<26) // entries of the factor
			for i := range n {
				for j := i + 1; j < n; j++ {
					l.SetFloat64(i, j, 0)
				}
			}
			checkCholesky(t, name+", integer factor", lintest.Gram(l.T()), f)
			s := lintest.Integers(r, n, n, 9)
			for i := range n {
				for j := range i {
					s.Set(i, j, s.At(j, i))
				}
			}
			checkCholesky(t, name+", symmetric", s, f)
		}
		for e := range 8 { // an entry too large for a definite matrix, behind a small pivot
			a := halfulp.Identity(halfulp.MP(100), 4)
			a.SetFloat64(1, 0, 1)
			a.SetFloat64(0, 1, 1)
			a.SetFloat64(3, 2, float64(int(1)<<e)+0.125)
			a.SetFloat64(2, 3, float64(int(1)<<e)+0.125)
			a.SetBig(1, 1, new(big.Float).SetPrec(100).Add(big.NewFloat(1), power2(1, -70)))
			checkCholesky(t, fmt.Sprintf("2^%d off the diagonal", e), a, f)
		}
		checkCholesky(t, "Hilbert", gallery.Hilbert(halfulp.MP(200), testlength.Of(8, 20, 20)), f)
	}
	checkCholesky(t, "panels", lintest.Gram(gallery.Random(halfulp.Float64, 60, testlength.Of(20, 50, 50), 0, seed)), halfulp.Float64)
	checkCholesky(t, "semidefinite", lintest.Gram(lintest.Integers(r, 30, 40, 9)), halfulp.Float64)
	checkCholesky(t, "semidefinite", lintest.Gram(gallery.Random(halfulp.Float64, 25, 30, 20, seed)), halfulp.Float64)
}

// checkQR compares with Gram-Schmidt orthogonalisation in rationals. With w_j the orthogonalised
// columns of A, column j of Q is w_j / ‖w_j‖ and R[i,j] = w_i · a_j / ‖w_i‖.
func checkQR(t *testing.T, name string, a *halfulp.Matrix, f halfulp.Format, pivoted bool) {
	t.Helper()
	m, n := a.Dims()
	factor := QR
	if pivoted {
		factor = QRPivoted
	}
	var stats halfulp.Stats
	z, err := factor(a, f, &halfulp.Options{Stats: &stats})
	if rank, _ := Rank(a, nil); rank < n {
		if !errors.Is(err, ErrSingular) {
			t.Fatalf("%s: error %v for rank %d of %d", name, err, rank, n)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v (%+v)", name, err, stats)
	}
	x := lintest.Of(a)
	w, squares := make([][]*big.Rat, n), make([]*big.Rat, n) // w_j, ‖w_j‖²
	dot := func(x, y []*big.Rat) *big.Rat {
		sum := new(big.Rat)
		for i := range x {
			sum.Add(sum, new(big.Rat).Mul(x[i], y[i]))
		}
		return sum
	}
	same := func(what string, i, j int, got, want halfulp.Scalar) {
		t.Helper()
		if !got.Same(want) {
			t.Fatalf("%s: %s[%d,%d] = %s, want %s, P = %v (%+v)", name, what, i, j, got.Hex(), want.Hex(), z.P, stats)
		}
	}
	rest := make([]*big.Rat, n) // ‖rest of column j‖², in the order of pivots
	for j, p := range z.P {
		if !pivoted && p != j {
			t.Fatalf("%s: P = %v", name, z.P)
		}
		col := make([]*big.Rat, m)
		for i := range col {
			col[i] = x[i][p]
		}
		rest[j] = dot(col, col)
		w[j] = append([]*big.Rat{}, col...)
		for i := range j {
			square := squares[i]
			c := dot(w[i], col)
			r := new(big.Rat).Quo(c, square)
			same("R", i, j, z.R.At(i, j), lintest.NearestRoot(f, r, square))
			most, _ := seed.Slack.Rat(nil)
			if most.Mul(most, square); pivoted && rest[j].Cmp(most) > 0 {
				t.Fatalf("%s: P = %v, column %d is longer than column %d", name, z.P, j, i)
			}
			rest[j].Sub(rest[j], new(big.Rat).Mul(r, c))
			for k := range m {
				w[j][k] = new(big.Rat).Sub(w[j][k], new(big.Rat).Mul(r, w[i][k]))
			}
			same("R", j, i, z.R.At(j, i), halfulp.NewScalar(f, new(big.Float)))
		}
		square := dot(w[j], w[j])
		squares[j] = square
		same("R", j, j, z.R.At(j, j), lintest.NearestRoot(f, big.NewRat(1, 1), square))
		for i := range m {
			same("Q", i, j, z.Q.At(i, j), lintest.NearestRoot(f, new(big.Rat).Quo(w[j][i], square), square))
		}
	}
}

func TestQR(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range lintest.Formats {
		for trial := range testlength.Of(1, 1, 60) {
			n := 1 + r.IntN(5)
			m := n + r.IntN(3)
			g := lintest.Formats[r.IntN(len(lintest.Formats))]
			name := fmt.Sprintf("seed %d, trial %d, %v from %v, %d x %d", seed, trial, f, g, m, n)
			for _, pivoted := range []bool{false, true} {
				checkQR(t, name+", random", gallery.Random(g, m, n, 0, r.Uint64()), f, pivoted)
				checkQR(t, name+", spread", gallery.Random(g, m, n, 40, r.Uint64()), f, pivoted)
				checkQR(t, name+", integers", lintest.Integers(r, m, n, 4), f, pivoted)
				checkQR(t, name+", signs", lintest.Integers(r, m, n, 1), f, pivoted)
			}
		}
		checkQR(t, "Pythagoras", halfulp.NewMatrixFloat64(2, 2, 2, []float64{3, 1, 4, 2}), f, false)
		checkQR(t, "Hilbert", gallery.Hilbert(halfulp.MP(200), testlength.Of(8, 8, 12)), f, true)
	}
}

// TestFactorsSolve solves with factors twice and compares with package function Solve.
func TestFactorsSolve(t *testing.T) {
	seed := testseed.Of(t)
	const n = 9
	a := lintest.Gram(gallery.Random(halfulp.Float64, n, n, 0, seed))
	c, err := Cholesky(a, halfulp.Float32, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := LU(a, halfulp.Float32, nil)
	if err != nil {
		t.Fatal(err)
	}
	q, err := QR(a, halfulp.Float32, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := LDLT(a, halfulp.Float32, nil)
	if err != nil {
		t.Fatal(err)
	}
	a0 := a.Clone()
	for i := range n {
		a.SetFloat64(i, 0, 0) // factors keep their own
	}
	for k := range 2 {
		b := gallery.Random(halfulp.Float64, n, 2, 0, seed+uint64(k))
		want, err := Solve(a0, b, halfulp.DD, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, solve := range map[string]func(b *halfulp.Matrix, f halfulp.Format, opt *halfulp.Options) (*halfulp.Matrix, error){"Cholesky": c.Solve, "LU": l.Solve, "QR": q.Solve, "LDLT": d.Solve} {
			x, err := solve(b, halfulp.DD, nil)
			if err != nil || !x.Same(want) {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
		}
	}
	bad := halfulp.NewMatrix(halfulp.Float64, n, 1)
	bad.Set(3, 0, halfulp.NaN(halfulp.Float64))
	if _, err := c.Solve(bad, halfulp.Float64, nil); !errors.Is(err, call.ErrNotFinite) {
		t.Error(err)
	}
}

func TestFactorsMisuse(t *testing.T) {
	empty := halfulp.NewMatrix(halfulp.Float64, 0, 0)
	if z, err := LU(empty, halfulp.DD, nil); err != nil || z.L.Rows() != 0 {
		t.Error(err)
	}
	if z, err := QR(halfulp.NewMatrix(halfulp.Float64, 3, 0), halfulp.DD, nil); err != nil || z.Q.Rows() != 3 {
		t.Error(err)
	}
	if _, err := Cholesky(empty, halfulp.DD, nil); err != nil {
		t.Error(err)
	}
	a := halfulp.NewMatrixFloat64(2, 2, 2, []float64{1, 2, 3, 4})
	if _, err := Cholesky(a, halfulp.Float64, nil); !errors.Is(err, ErrNotSymmetric) {
		t.Error(err)
	}
	if _, err := LU(halfulp.NewMatrix(halfulp.Float64, 3, 2), halfulp.Float64, nil); !errors.Is(err, ErrSingular) {
		t.Error(err)
	}
	a.Set(0, 0, halfulp.NaN(halfulp.Float64))
	if _, err := QR(a, halfulp.Float64, nil); !errors.Is(err, call.ErrNotFinite) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := LU(halfulp.Identity(halfulp.Float64, 4), halfulp.Float64, &halfulp.Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// checkLDLT compares with an elimination in rationals with these pivots and blocks.
func checkLDLT(t *testing.T, name string, a *halfulp.Matrix, f halfulp.Format) (twos int) {
	t.Helper()
	n := a.Rows()
	var stats halfulp.Stats
	z, err := LDLT(a, f, &halfulp.Options{Stats: &stats})
	if rank, _ := Rank(a, nil); rank < n {
		if !errors.Is(err, ErrSingular) {
			t.Fatalf("%s: error %v for rank %d of %d", name, err, rank, n)
		}
		return 0
	}
	if err != nil {
		t.Fatalf("%s: %v (%+v)", name, err, stats)
	}
	l, d, _ := lintest.Of(a).LDLT(z.P, z.Blocks)
	most, _ := seed.RookGrowth.Rat(nil)
	b := 0
	for _, size := range z.Blocks {
		if size == 2 {
			twos++
		}
		for i := b + size; i < n; i++ {
			for j := b; j < b+size; j++ {
				if new(big.Rat).Abs(l[i][j]).Cmp(most) > 0 {
					t.Fatalf("%s: multiplier %v", name, l[i][j])
				}
			}
		}
		b += size
	}
	for i := range n {
		for j := range n {
			if want := lintest.Nearest(f, l[i][j]); !z.L.At(i, j).Same(want) {
				t.Fatalf("%s: L[%d,%d] = %s, want %s (%+v)", name, i, j, z.L.At(i, j).Hex(), want.Hex(), stats)
			}
			if want := lintest.Nearest(f, d[i][j]); !z.D.At(i, j).Same(want) {
				t.Fatalf("%s: D[%d,%d] = %s, want %s (%+v)", name, i, j, z.D.At(i, j).Hex(), want.Hex(), stats)
			}
		}
	}
	return twos
}

func TestLDLT(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, f := range lintest.Formats {
		for trial := range testlength.Of(1, 1, 60) {
			n := 1 + r.IntN(8)
			g := lintest.Formats[r.IntN(len(lintest.Formats))]
			name := fmt.Sprintf("seed %d, trial %d, %v from %v, n = %d", seed, trial, f, g, n)
			checkLDLT(t, name+", random", lintest.Mirrored(gallery.Random(g, n, n, 0, r.Uint64())), f)
			checkLDLT(t, name+", spread", lintest.Mirrored(gallery.Random(g, n, n, 50, r.Uint64())), f)
			checkLDLT(t, name+", integers", lintest.Mirrored(lintest.Integers(r, n, n, 4)), f)
			signs := lintest.Mirrored(lintest.Integers(r, n, n, 1))
			checkLDLT(t, name+", signs", signs, f)
			for i := range n {
				signs.SetFloat64(i, i, 0)
			}
			checkLDLT(t, name+", no diagonal", signs, f)
		}
		checkLDLT(t, "Hilbert", gallery.Hilbert(halfulp.MP(200), 15), f)
		hollow := lintest.Integers(testseed.Rand(t, 1, 2), 6, 6, 9)
		for i := range 6 {
			hollow.SetFloat64(i, i, 0)
		}
		if checkLDLT(t, "hollow", lintest.Mirrored(hollow), f) == 0 {
			t.Errorf("%v: no block of order 2 of a matrix without a diagonal", f)
		}
	}
	checkLDLT(t, "panels", lintest.Mirrored(gallery.Random(halfulp.Float64, 40, 40, 0, seed)), halfulp.Float64)
}

// TestFactorsRange uses entries of 2^±500, results below the smallest normal number and beyond the
// largest number, and matrices one ulp from singular ones.
func TestFactorsRange(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(1, 1, 60) {
		n := 2 + r.IntN(4)
		name := fmt.Sprintf("seed %d, trial %d, n = %d", seed, trial, n)
		wide := gallery.Random(halfulp.Float64, n, n, 500, r.Uint64())
		for _, f := range []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.MP(53)} {
			checkLU(t, name+", wide", wide, f)
			checkLU(t, name+", scaled rows", scaledRows(r, n, 300), f)
			checkQR(t, name+", wide", scaledRows(r, n, 150), f, r.IntN(2) == 0)
			symmetric := halfulp.NewMatrix(halfulp.MP(3000), n, n)
			for i := range n {
				for j := range i + 1 {
					symmetric.Set(i, j, wide.At(i, j))
					symmetric.Set(j, i, wide.At(i, j))
				}
			}
			checkLDLT(t, name+", wide", symmetric, f)
			checkCholesky(t, name+", tiny", lintest.Gram(scaledRows(r, n, 60)), f)
		}
		// The last row is the sum of the others, except for an ulp in one entry.
		near := lintest.Integers(r, n, n, 1<<20)
		for j := range n {
			sum := 0.0
			for i := range n - 1 {
				sum += near.Float64(i, j)
			}
			near.SetFloat64(n-1, j, sum)
		}
		checkLU(t, name+", singular", near, halfulp.Float64)
		checkQR(t, name+", singular", near, halfulp.Float64, false)
		near.SetFloat64(n-1, 0, near.Float64(n-1, 0)+0x1p-30)
		checkLU(t, name+", almost singular", near, halfulp.DD)
		checkQR(t, name+", almost singular", near, halfulp.DD, true)
		checkCholesky(t, name+", almost singular", lintest.Gram(near), halfulp.Float64)
	}
}

// scaledRows are random numbers, each row times a power of two up to 2^±most.
func scaledRows(r *rand.Rand, n, most int) *halfulp.Matrix {
	a := gallery.Random(halfulp.Float64, n, n, 0, r.Uint64())
	for i := range n {
		e := r.IntN(2*most+1) - most
		for j := range n {
			a.SetFloat64(i, j, math.Ldexp(a.Float64(i, j), e))
		}
	}
	return a
}

// TestFactorsBands computes factors whose zeros follow from the pattern of the matrix, without
// primes. They must be the same for any number of threads.
func TestFactorsBands(t *testing.T) {
	const n = 50
	a := halfulp.NewMatrix(halfulp.Float64, n, n)
	for i := range n {
		a.SetFloat64(i, i, 4+math.Sqrt(float64(i+2)))
		if i > 0 {
			a.SetFloat64(i, i-1, -1)
			a.SetFloat64(i-1, i, -1)
		}
	}
	// Small entries of the diagonal make pivots of two rows.
	b := halfulp.NewMatrix(halfulp.Float64, n, n)
	for i := range n {
		for j := max(0, i-3); j <= i; j++ {
			x := math.Sqrt(float64(7*i + 5*j + 3))
			if i == j {
				x /= 64
			}
			b.SetFloat64(i, j, x)
			b.SetFloat64(j, i, x)
		}
	}
	if checkLDLT(t, "band", b, halfulp.Float64) == 0 {
		t.Error("no pivot of two rows")
	}
	for name, factor := range map[string]func(opt *halfulp.Options) ([]*halfulp.Matrix, error){
		"LDLT, pivots of two rows": func(opt *halfulp.Options) ([]*halfulp.Matrix, error) {
			z, err := LDLT(b, halfulp.MP(100), opt)
			return []*halfulp.Matrix{z.L, z.D}, err
		},
		"LU": func(opt *halfulp.Options) ([]*halfulp.Matrix, error) {
			z, err := LU(a, halfulp.MP(100), opt)
			return []*halfulp.Matrix{z.L, z.U}, err
		},
		"Cholesky": func(opt *halfulp.Options) ([]*halfulp.Matrix, error) {
			z, err := Cholesky(a, halfulp.MP(100), opt)
			return []*halfulp.Matrix{z.L}, err
		},
		"LDLT": func(opt *halfulp.Options) ([]*halfulp.Matrix, error) {
			z, err := LDLT(a, halfulp.MP(100), opt)
			return []*halfulp.Matrix{z.L, z.D}, err
		},
	} {
		var first []*halfulp.Matrix
		for _, threads := range []int{1, 3} {
			var stats halfulp.Stats
			z, err := factor(&halfulp.Options{Threads: threads, Stats: &stats})
			if err != nil || stats.Primes != 0 {
				t.Fatalf("%s: %v, %d primes", name, err, stats.Primes)
			}
			if first == nil {
				first = z
			}
			for k := range z {
				if !z[k].Same(first[k]) {
					t.Fatalf("%s: factor %d differs for %d threads", name, k, threads)
				}
			}
		}
	}
}

// TestKnownFactors factors L L^T and Q L^T with factors of as many bits as the format or up to two
// more. So many entries are numbers of the format or halfway between two. Some entries are 0, and
// rows of L reach up to overflow and underflow.
func TestKnownFactors(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for trial := range testlength.Of(20, 40, 1000) {
		f := lintest.Formats[r.IntN(len(lintest.Formats))]
		n, length, spread := 1+r.IntN(12), min(f.Bits()+r.IntN(3), 300), 1+r.IntN(1200)
		if trial%4 == 0 {
			spread = 1
		}
		opt := &halfulp.Options{Threads: 1 + trial%3}
		name := fmt.Sprintf("seed %d, trial %d, %v, n = %d, %d bits, rows up to 2^%d", seed, trial, f, n, length, spread)
		l := halfulp.NewMatrix(halfulp.MP(uint(max(length, 2))), n, n)
		for i := range n {
			e := r.IntN(2*spread) - spread
			for j := range i + 1 {
				x := new(big.Int)
				for range length {
					x.Add(x.Lsh(x, 1), big.NewInt(int64(r.IntN(2))))
				}
				switch {
				case i == j:
					x.SetBit(x, length-1, 1)
				case r.IntN(4) == 0:
					x.SetInt64(0)
				case r.IntN(2) == 0:
					x.Neg(x)
				}
				v := new(big.Float).SetInt(x)
				l.SetBig(i, j, v.SetMantExp(v, e-r.IntN(40)))
			}
		}
		// Columns of Q are columns of a 16 x 16 Hadamard matrix divided by 4, from a random one on.
		h, first := halfulp.NewMatrix(halfulp.Float64, 16, n), r.IntN(16-n+1)
		for i := range 16 {
			for j := range n {
				h.SetFloat64(i, j, 0.25-0.5*float64(bits.OnesCount(uint(i&(first+j)))&1))
			}
		}
		var stats halfulp.Stats
		y, err := Cholesky(lintest.Product(2000, l, l.T()), f, opt.WithStats(&stats))
		if err != nil {
			t.Fatalf("%s: %v (%+v)", name, err, stats)
		}
		z, err := QR(lintest.Product(2000, h, l.T()), f, opt.WithStats(&stats))
		if err != nil {
			t.Fatalf("%s: QR: %v (%+v)", name, err, stats)
		}
		for i := range n {
			for j := range n {
				want := halfulp.NewScalar(f, l.Big(i, j))
				if got := y.L.At(i, j); !got.Same(want) {
					t.Fatalf("%s: L[%d,%d] = %s, want %s (%+v)", name, i, j, got.Hex(), want.Hex(), stats)
				}
				if got := z.R.At(j, i); !got.Same(want) {
					t.Fatalf("%s: R[%d,%d] = %s, want %s (%+v)", name, j, i, got.Hex(), want.Hex(), stats)
				}
			}
			for k := range 16 {
				if got, want := z.Q.At(k, i), halfulp.NewScalar(f, h.Big(k, i)); !got.Same(want) {
					t.Fatalf("%s: Q[%d,%d] = %s, want %s (%+v)", name, k, i, got.Hex(), want.Hex(), stats)
				}
			}
		}
	}
}

// TestFreeOfOthers frees factors that no routine made.
func TestFreeOfOthers(t *testing.T) {
	m := halfulp.Identity(halfulp.Float64, 2)
	(&CholeskyFactors{L: m}).Free()
	(&LUFactors{L: m, U: m}).Free()
	(&LDLTFactors{L: m, D: m}).Free()
	(&QRFactors{Q: m, R: m}).Free()
}
