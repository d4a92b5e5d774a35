package residual

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// solve returns the exact solution, or nil if a is singular.
func solve(a, b num.Mat) [][]*big.Rat {
	n := a.Rows
	m := make([][]*big.Rat, n)
	for i := range m {
		for j := range n + b.Cols {
			x := new(big.Rat)
			if j < n {
				a.Big(i, j).Rat(x)
			} else {
				b.Big(i, j-n).Rat(x)
			}
			m[i] = append(m[i], x)
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
			if i == k || m[i][k].Sign() == 0 {
				continue
			}
			f := new(big.Rat).Quo(m[i][k], m[k][k])
			for j := k; j < len(m[i]); j++ {
				m[i][j].Sub(m[i][j], new(big.Rat).Mul(f, m[k][j]))
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

// random returns a matrix of numbers of the given kind.
func random(r *rand.Rand, f num.Format, rows, cols, kind int) num.Mat {
	m := num.NewMat(f, rows, cols)
	if r.IntN(2) == 0 {
		m = num.NewMat(f, cols, rows).T()
	}
	for i := range rows {
		for j := range cols {
			x := num.Real{Class: num.Finite, Neg: r.IntN(2) == 0, Mag: []uint64{r.Uint64()}, Exp: -64}
			for range f.Bits() / 64 {
				x.Mag, x.Exp = append(x.Mag, r.Uint64()), x.Exp-64
			}
			switch kind {
			case 1: // small integers: ties, zeros, singular matrices
				x.Mag, x.Exp = []uint64{uint64(r.IntN(4))}, 0
			case 2: // rows of several sizes
				x.Exp += int64(5 * i)
			case 3: // spread
				x.Exp += int64(r.IntN(60))
			case 4: // nearly singular: columns nearly alike
				x.Mag = []uint64{1<<40 + uint64(i*i) + r.Uint64N(1<<uint(r.IntN(30)))}
				x.Exp, x.Neg = -40, false
			}
			m.Arr.Set(m.At(i, j), x)
		}
	}
	return m
}

// TestSolve compares decided entries with rounded exact solutions. Most entries of ordinary systems
// must be decided.
func TestSolve(t *testing.T) {
	r := testseed.Rand(t, 1, 2)
	formats := []num.Format{num.Float64, num.Float32, {Kind: num.MP, Prec: 2}, {Kind: num.MP, Prec: 53}, {Kind: num.MP, Prec: 64}, {Kind: num.MP, Prec: 106}, {Kind: num.MP, Prec: 128}, {Kind: num.MP, Prec: 424}, {Kind: num.MP, Prec: 480}}
	room := new(Room)
	decided, all := 0, 0
	for trial := range testlength.Of(60, 150, 20000) {
		pick := func() num.Format { return formats[r.IntN(len(formats))] }
		fa, fb, fz := pick(), pick(), pick()
		if r.IntN(2) == 0 {
			fb, fz = fa, fa
		}
		kind := r.IntN(5)
		n, k := 1+r.IntN(6), 1+r.IntN(2)
		a, b := random(r, fa, n, n, kind), random(r, fb, n, k, min(kind, 3))
		z := num.NewMat(fz, n, k)
		ok := room.Solve(a, b, z)
		want := solve(a, b)
		every := true
		for i := range n {
			for j := range k {
				every = every && room.Done(i, j)
				if !room.Done(i, j) {
					continue
				}
				if want == nil {
					t.Fatalf("trial %d: a singular matrix has a solution", trial)
				}
				near := num.NewMat(fz, 1, 1)
				prec := uint(4000)
				x := new(big.Float).SetPrec(prec).SetRat(want[i][j])
				near.SetBig(0, 0, x) // 4000 bits do not round to a tie that is none
				if !near.Arr.SameBits(0, z.Arr, z.At(i, j)) {
					t.Fatalf("trial %d: n = %d, %v, %v, %v, kind %d: entry (%d, %d) is %v, want %v", trial, n, fa, fb, fz, kind, i, j, z.Big(i, j), near.Big(0, 0))
				}
			}
		}
		if every != ok {
			t.Fatalf("trial %d: Solve returned %v", trial, ok)
		}
		if kind == 0 && fa.Kind == num.MP && fa.Prec > 50 && fz.Bits() > 20 {
			all++
			if ok {
				decided++
			}
		}
	}
	if decided < all-all/4 {
		t.Errorf("decided %d of %d ordinary systems", decided, all)
	}
	t.Logf("decided %d of %d ordinary systems", decided, all)
}

// TestNearTies solves systems whose solutions lie a little above or below ties and powers of two,
// or there, farther from them or closer than a few steps tell.
func TestNearTies(t *testing.T) {
	r := testseed.Rand(t, 3, 4)
	room, half := new(Room), big.NewRat(1, 2)
	decided := 0
	for trial := range testlength.Of(1000, 5000, 200000) {
		n := 1 + r.IntN(3)
		fz := []num.Format{num.Float64, num.Float32, {Kind: num.MP, Prec: uint32(2 + r.IntN(140))}}[trial%3]
		a, b, z := num.NewMat(num.Float64, n, n), num.NewMat(num.Format{Kind: num.MP, Prec: 440}, n, 1), num.NewMat(fz, n, 1)
		bits := uint(fz.Bits())
		x := make([]*big.Rat, n)
		for i := range x {
			x[i] = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), bits-1))
			if r.IntN(2) == 0 {
				x[i].Add(x[i], half)
			}
			away := new(big.Int).Lsh(big.NewInt(1), uint(1+r.IntN(int(bits)+120)))
			x[i].Add(x[i], new(big.Rat).SetFrac(big.NewInt(int64(r.IntN(3)-1)), away))
		}
		for i := range n {
			sum := new(big.Rat)
			for j := range n {
				v := big.NewRat(r.Int64N(1<<30)-1<<29, 1)
				a.SetBig(i, j, new(big.Float).SetRat(v))
				sum.Add(sum, v.Mul(v, x[j]))
			}
			b.SetBig(i, 0, new(big.Float).SetPrec(440).SetRat(sum)) // exact
		}
		room.Solve(a, b, z)
		for i := range n {
			if !room.Done(i, 0) {
				continue
			}
			decided++
			want := num.NewMat(fz, 1, 1)
			want.SetBig(0, 0, new(big.Float).SetPrec(440).SetRat(x[i]))
			if !want.Arr.SameBits(0, z.Arr, z.At(i, 0)) {
				t.Fatalf("trial %d, %v: %v is rounded to %v, want %v", trial, fz, x[i], z.Big(i, 0), want.Big(0, 0))
			}
		}
	}
	if decided < 500 {
		t.Errorf("only %d entries were decided", decided)
	}
}
