package tiles

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfulp/halfulp/internal/amx"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/numtest"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/internal/testseed"
)

// TestTileVector compares the digits of vectors with their numbers.
func TestTileVector(t *testing.T) {
	r := testseed.Rand(t, 5, 5)
	for trial := range testlength.Trials(200) {
		p := Plan{&portable, tileBlocks[trial%len(tileBlocks)]}
		d := p.Digits()
		n := Quad + r.IntN(9)
		x := numtest.Numbers(r, num.Format{Kind: num.MP, Prec: uint32(64 * (1 + r.IntN(8)))}, n, 1)
		if r.IntN(2) == 0 {
			x.Cls[r.IntN(n)] = 0
		}
		v, scale, ok := p.Vector(num.Vec{Arr: x, Inc: 1, N: n})
		if !ok {
			t.Fatal("a vector that is not finite")
		}
		bias, seen := make([]int64, d), make([]bool, n)
		for slot, s := range v.signs {
			j := quadAt(slot/Quad, n) + slot%Quad
			value, sum := new(big.Int), int64(0)
			for c := range d {
				// Where the first row of the number has it beside the last digit of a block.
				x := v.digits[(slot/Quad*p.Blocks+c/blockDigits)*TileBytes+(slot%Quad*Quad+3)*amx.RowBytes+c%blockDigits*4+3]
				bias[c] += sum
				sum += int64(x) << 7
				value.Add(value.Lsh(value, 8), big.NewInt(int64(x)))
			}
			want := new(big.Int)
			if s.Class() == num.Finite {
				if seen[j] || v.scale[slot] != scale[j] || scale[j] != int64(x.Exp[j]) || s != x.Cls[j] {
					t.Fatalf("trial %d: number %d is there with exponent %d and class %d", trial, j, v.scale[slot], s)
				}
				seen[j] = true
				m := x.Value(j, make([]uint64, num.MaxValueWords)).Mag
				want.Set(numtest.Integer(m))
				want.Lsh(want, uint(8*d)).Rsh(want, uint(num.BitLen(m)+1)).Neg(want)
			}
			if value.Cmp(want) != 0 {
				t.Fatalf("trial %d: number %d of %d digits is %x, want %x", trial, j, d, value, want)
			}
		}
		for j, s := range seen {
			if !s && x.Cls[j].Class() == num.Finite {
				t.Fatalf("trial %d: number %d is not there", trial, j)
			}
		}
		if !slices.Equal(bias, v.bias) {
			t.Fatalf("trial %d: bias %v, want %v", trial, v.bias, bias)
		}
	}
}

// TestTileKernels compares the sums and the digits of the machine's kernels with the loops in Go.
func TestTileKernels(t *testing.T) {
	fast := machineTiles()
	if fast == nil {
		t.Skip("no unit")
	}
	r := testseed.Rand(t, 1, 3)
	for trial := range testlength.Trials(100) {
		blocks := tileBlocks[trial%len(tileBlocks)]
		limbs := 1 + r.IntN(2*blocks+2)
		rows, cols := Rows+r.IntN(30), Quad+r.IntN(40)
		f := num.Format{Kind: num.MP, Prec: uint32(64 * limbs)}
		a, x := numtest.Numbers(r, f, rows*cols, trial/3), numtest.Numbers(r, num.Format{Kind: num.MP, Prec: 300}, cols, 1)
		for i := range a.Exp {
			switch r.IntN(100) {
			case 0:
				a.Exp[i] -= int32(r.IntN(2000))
			case 1:
				a.Exp[i] = math.MinInt32
			}
		}
		for j := range cols {
			if r.IntN(20) == 0 {
				x.Cls[j] = 0
			}
		}
		m := num.Mat{Arr: a, RS: cols, CS: 1, Rows: rows, Cols: cols}
		if r.IntN(2) == 0 {
			m.RS, m.CS = 1, rows
		}
		var sums [2][]uint64
		var vectors [2]*Vector
		for k, u := range []*Unit{fast, &portable} {
			p := Plan{u, blocks}
			v, scale, ok := p.Vector(num.Vec{Arr: x, Inc: 1, N: cols})
			if !ok {
				t.Fatal("a vector that is not finite")
			}
			s := NewSums(p, m, m.CS == 1, rows, references(m, scale))
			s.Add(v, 0, rows)
			sums[k], vectors[k] = s.sums, v
		}
		name := fmt.Sprintf("trial %d: %d blocks, %d limbs, %d x %d, column step %d", trial, blocks, limbs, rows, cols, m.CS)
		if !slices.Equal(vectors[0].digits, vectors[1].digits) {
			t.Fatalf("%s: digits of x differ", name)
		}
		for i, v := range sums[0] {
			if v != sums[1][i] {
				t.Fatalf("%s: sum %d is %x, want %x", name, 2*i, v, sums[1][i])
			}
		}
	}
}

// TestTileBound compares errors of sums with their bound, for digits cut off and products shifted
// by any number of bits.
func TestTileBound(t *testing.T) {
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 0))
	worst := 0.0
	for trial := range testlength.Trials(60) {
		u := machineTiles()
		if u == nil || trial%2 == 0 {
			u = &portable
		}
		p := Plan{u, tileBlocks[r.IntN(len(tileBlocks))]}
		rows, cols := Rows+r.IntN(4), Quad+r.IntN(40)
		numbers := func(n, family int) *num.Array {
			a := numtest.Numbers(r, num.Format{Kind: num.MP, Prec: uint32(64 * (1 + r.IntN(2*p.Blocks+4)))}, n, 1)
			for i := range n {
				a.Exp[i] -= int32(r.IntN([]int{1, 70, 2000}[family]))
			}
			if r.IntN(2) == 0 { // as much as there is to cut, all of one sign
				for i := range a.Sig {
					a.Sig[i] = 1<<64 - 1
				}
				for i := range a.Cls {
					a.Cls[i] = num.MakeCls(false, num.Finite)
				}
			}
			return a
		}
		a, x := numbers(rows*cols, r.IntN(3)), numbers(cols, r.IntN(3))
		m := num.Mat{Arr: a, RS: cols, CS: 1, Rows: rows, Cols: cols}
		if r.IntN(2) == 0 {
			m.RS, m.CS = 1, rows
		}
		xt, scale, ok := p.Vector(num.Vec{Arr: x, Inc: 1, N: cols})
		if !ok {
			t.Fatal("a vector that is not finite")
		}
		ref, room := references(m, scale), make([]uint64, p.MagWords())
		s := NewSums(p, m, m.CS == 1, rows, ref)
		s.Add(xt, 0, rows)
		const prec = 20000
		var buf [2][num.MaxValueWords]uint64
		for i := range rows {
			mag, neg := s.Value(room, i)
			unit := int(ref[i]+2) - 8*(p.Digits()+1)
			off := new(big.Float).SetPrec(prec).SetInt(numtest.Integer(mag))
			if off.SetMantExp(off, unit); !neg {
				off.Neg(off)
			}
			for j := range cols {
				v, y := a.Value(m.At(i, j), buf[0][:]), x.Value(j, buf[1][:])
				z := new(big.Float).SetPrec(prec).SetInt(new(big.Int).Mul(numtest.Integer(v.Mag), numtest.Integer(y.Mag)))
				if z.SetMantExp(z, int(v.Exp+y.Exp)); v.Neg != y.Neg {
					z.Neg(z)
				}
				off.Add(off, z)
			}
			by, _ := off.SetMantExp(off.Abs(off), -unit).Float64()
			by /= float64(uint64(cols) * p.ProductBound())
			if worst = max(worst, by); by >= 1 {
				t.Fatalf("seed %d, trial %d: row %d is off by %g of its bound", seed, trial, i, by)
			}
		}
	}
	t.Logf("errors up to %g of their bound", worst)
}

// TestNear has one product of a row far below the others, or 0.
func TestNear(t *testing.T) {
	const n = 64
	f := num.Format{Kind: num.MP, Prec: 212}
	a := num.New(f, n*n)
	m := num.Mat{Arr: a, RS: 1, CS: n, Rows: n, Cols: n}
	p := Plan{Unit: &Unit{samples: 8}}
	scale := make([]int64, n)
	for j := range n {
		scale[j] = int64(1000 * (j % 2))
		for i := range n {
			a.Cls[n*j+i], a.Exp[n*j+i] = num.MakeCls(i%2 == 0, num.Finite), int32(-1000*(j%2))
		}
	}
	check := func(want bool, what string) {
		t.Helper()
		if p.Near(m, scale) != want {
			t.Errorf("%s: %v", what, !want)
		}
	}
	check(true, "products of like size")
	a.Cls[5*n] = num.MakeCls(false, num.Zero)
	check(false, "a zero in the first row")
	scale[5] = superacc.NoScale
	check(true, "a zero times a zero")
	a.Exp[20*n] -= 60
	check(false, "a small number in the first row")
	p.Unit = &Unit{}
	check(true, "no samples")
}

// references returns the largest exponent of a product of every row of m with numbers of these
// exponents, 0 if all are 0, infinite or NaN.
func references(m num.Mat, scale []int64) []int64 {
	ref := make([]int64, m.Rows)
	for i := range ref {
		top := int64(math.MinInt64)
		for j, f := range scale {
			if at := m.At(i, j); f != superacc.NoScale && m.Arr.Cls[at].Class() == num.Finite {
				top = max(top, int64(m.Arr.Exp[at])+f)
			}
		}
		if ref[i] = top; top == math.MinInt64 {
			ref[i] = 0
		}
	}
	return ref
}
