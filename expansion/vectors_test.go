package expansion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// wordFormats are the formats of w words.
var wordFormats = [5]halfulp.Format{1: halfulp.Float64, 2: halfulp.DD, 3: halfulp.TD, 4: halfulp.QD}

// anyArray fills a vector with numbers of any kind, canonical for its format.
func anyArray(r *rand.Rand, f halfulp.Format, n int) *halfulp.Vector {
	x := halfulp.NewVector(f, n)
	a := x.View().Arr
	for i := range n {
		if f == halfulp.Float32 {
			a.F32[i] = float32(anyWord(r))
			continue
		}
		q := anyQD(r)
		w := a.Terms()
		renormalise(q[:w])
		canonical(q[:w])
		for t := range w {
			a.F64[t][i] = q[t]
		}
	}
	return x
}

// renormalise turns any words into an expansion, or a special value.
func renormalise(x []float64) {
	for range len(x) {
		for i := len(x) - 2; i >= 0; i-- {
			x[i], x[i+1] = twoSum(x[i], x[i+1])
		}
	}
	for _, w := range x {
		if w-w != 0 {
			x[0] = math.NaN()
		}
	}
}

// wordsAt are the words of entry i, as many as a QD has.
func wordsAt(v num.Vec, i int) (x QD) {
	if v.Arr.Kind == num.F32 {
		return QD{float64(v.Arr.F32[v.At(i)])}
	}
	for t := range v.Arr.Terms() {
		x[t] = v.Arr.F64[t][v.At(i)]
	}
	return x
}

// entry is the result of operation op for words, by the methods of w words.
func entry(op operation, w int, x, y, c QD) QD {
	t := new(bench)
	for k := range 4 {
		t.in[0][k][0], t.in[1][k][0], t.in[2][k][0] = x[k], y[k], c[k]
	}
	switch w {
	case 2:
		operateLanes[DD](op, t, 0, 1)
	case 3:
		operateLanes[TD](op, t, 0, 1)
	default:
		operateLanes[QD](op, t, 0, 1)
	}
	z := laneWords(&t.z, 0)
	clear(z[w:])
	return z
}

func forAllLevels(t *testing.T, f func(t *testing.T)) {
	for _, level := range isa.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			defer isa.Force(level)()
			f(t)
		})
	}
}

// errOf is the error of a routine.
func errOf(err error) error { return err }

func operateVectors(op operation, x, y, c, z *halfulp.Vector, o *halfulp.Options) error {
	switch op {
	case opAdd:
		return errOf(Add(x, y, z, o))
	case opSub:
		return errOf(Sub(x, y, z, o))
	case opMul:
		return errOf(Mul(x, y, z, o))
	case opDiv:
		return errOf(Div(x, y, z, o))
	case opSqrt:
		return errOf(Sqrt(x, z, o))
	default:
		return errOf(FMA(x, y, c, z, o))
	}
}

// TestVectors compares every operation on vectors with the method on each entry, over lengths,
// strides, formats of operands, threads and levels, out of and in place.
func TestVectors(t *testing.T) {
	forAllLevels(t, func(t *testing.T) {
		r := testseed.Rand(t, 60, 0)
		for _, n := range []int{0, 1, 7, 8, 63, 64, 65, 200, 1024, 5000} {
			for w := 2; w <= 4; w++ {
				for op := range operations {
					formats := []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.TD, halfulp.QD}[:w+1]
					pick := func() *halfulp.Vector {
						f := wordFormats[w]
						if r.IntN(5) == 0 {
							f = formats[r.IntN(len(formats))]
						}
						if r.IntN(3) == 0 {
							return anyArray(r, f, 3*n).Stride(-3)
						}
						return anyArray(r, f, n)
					}
					x, y, c := pick(), pick(), pick()
					z := anyArray(r, wordFormats[w], n)
					switch r.IntN(4) {
					case 0:
						z = anyArray(r, wordFormats[w], 2*n).Stride(2)
					case 1:
						if x.NumberFormat() == wordFormats[w] {
							z = x
						}
					case 2: // operands that overlap the result otherwise
						z = anyArray(r, wordFormats[w], 2*n)
						x, z = z.Slice(n/2, n/2+n), z.Slice(0, n)
					}
					want := make([]QD, n)
					vx, vy, vc := x.View(), y.View(), c.View()
					for i := range n {
						want[i] = entry(op, w, wordsAt(vx, i), wordsAt(vy, i), wordsAt(vc, i))
					}
					xs := make([]QD, n)
					for i := range n {
						xs[i] = wordsAt(vx, i)
					}
					if err := operateVectors(op, x, y, c, z, &halfulp.Options{Threads: 1 + r.IntN(3)}); err != nil {
						t.Fatal(err)
					}
					for i := range n {
						got := wordsAt(z.View(), i)
						for k := range got {
							if math.Float64bits(got[k]) != math.Float64bits(want[i][k]) {
								t.Fatalf("operation %d, %d words, entry %d of %d: %v, want %v; operand %v", op, w, i, n, got, want[i], xs[i])
							}
						}
					}
				}
			}
		}
	})
}

// TestMatrices compares operations on views of matrices with operations on their columns.
func TestMatrices(t *testing.T) {
	r := testseed.Rand(t, 61, 0)
	for range 60 {
		m, n := r.IntN(40), r.IntN(40)
		view := func() *halfulp.Matrix {
			rows, cols := m, n
			transposed := r.IntN(2) == 0
			if transposed {
				rows, cols = n, m
			}
			a := halfulp.NewMatrixLD(halfulp.TD, rows, cols, max(1, rows+r.IntN(2)*3))
			for j := range cols {
				v := anyArray(r, halfulp.TD, rows)
				for i := range rows {
					a.Set(i, j, v.At(i))
				}
			}
			if transposed {
				a = a.T()
			}
			return a
		}
		x, y, z := view(), view(), view()
		want := halfulp.NewMatrix(halfulp.TD, m, n)
		for j := range n {
			if err := Mul(x.Col(j), y.Col(j), want.Col(j), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := Mul(x, y, z, nil); err != nil {
			t.Fatal(err)
		}
		if !z.Same(want) {
			t.Fatalf("%d x %d: product of entries differs from the product of columns", m, n)
		}
		if m == n {
			if err := Add(x, x.T(), x, nil); err != nil {
				t.Fatal(err)
			}
			for i := range m {
				for j := range i {
					if a, b := x.Col(j).Slice(i, i+1), x.Col(i).Slice(j, j+1); !a.Same(b) {
						t.Fatalf("x + xᵀ in place is not symmetric at %d, %d", i, j)
					}
				}
			}
		}
	}
}

// TestMapVectors compares every function of vectors with the scalars' function.
func TestMapVectors(t *testing.T) {
	forAllLevels(t, func(t *testing.T) {
		r := testseed.Rand(t, 62, 0)
		for _, f := range Functions() {
			for w := 2; w <= 4; w++ {
				const n = 150
				x, y := anyArray(r, wordFormats[w], n), anyArray(r, wordFormats[w], n)
				z := halfulp.NewVector(wordFormats[w], n)
				err := errors.New("no arity")
				switch f.Arity() {
				case 1:
					err = errOf(Map(f, x, z, nil))
				case 2:
					err = errOf(Map2(f, x, y, z, nil))
				}
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					a, b := wordsAt(x.View(), i), wordsAt(y.View(), i)
					var want QD
					switch w {
					case 2:
						want = applyOne(f, a.DD(), b.DD()).Canonical().QD()
					case 3:
						want = applyOne(f, a.TD(), b.TD()).Canonical().QD()
					default:
						want = applyOne(f, a, b).Canonical()
					}
					got := wordsAt(z.View(), i)
					for k := range got {
						if math.Float64bits(got[k]) != math.Float64bits(want[k]) {
							t.Fatalf("%v of %v, %v is %v, want %v", f, a[:w], b[:w], got, want)
						}
					}
				}
			}
		}
	})
}

// TestSinCosVectors compares with Map of each.
func TestSinCosVectors(t *testing.T) {
	r := testseed.Rand(t, 63, 0)
	for _, f := range []halfulp.Format{halfulp.DD, halfulp.TD, halfulp.QD} {
		x := anyArray(r, f, 150)
		s, c, sin, cos := x.Clone(), x.Clone(), x.Clone(), x.Clone()
		for _, err := range []error{errOf(Map(Sin, x, s, nil)), errOf(Map(Cos, x, c, nil)), errOf(SinCos(x, sin, cos, nil))} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !sin.Same(s) || !cos.Same(c) {
			t.Errorf("%v: SinCos differs from sin and cos", f)
		}
		if err := SinCos(x, sin, x, nil); err != nil || !sin.Same(s) || !x.Same(c) {
			t.Errorf("%v: SinCos in place differs: %v", f, err)
		}
	}
	x := halfulp.NewVector(halfulp.DD, 3)
	if err := SinCos(x, x, halfulp.NewVector(halfulp.TD, 3), nil); !errors.Is(err, halfulp.ErrFormat) {
		t.Errorf("results of two formats: %v", err)
	}
}

// TestSinCosOverlap has results that share storage: apart in one matrix, and the same.
func TestSinCosOverlap(t *testing.T) {
	r := testseed.Rand(t, 64, 0)
	for _, f := range []halfulp.Format{halfulp.DD, halfulp.TD, halfulp.QD} {
		x := anyArray(r, f, 150)
		s, c := x.Clone(), x.Clone()
		if err := SinCos(x, s, c, nil); err != nil {
			t.Fatal(err)
		}
		for _, m := range []*halfulp.Matrix{halfulp.NewMatrix(f, 150, 2), halfulp.NewMatrix(f, 2, 150).T()} {
			copyMatrix(m.Col(1).Matrix(), x.Matrix())
			if err := SinCos(m.Col(1), m.Col(0), m.Col(1), nil); err != nil || !m.Col(0).Same(s) || !m.Col(1).Same(c) {
				t.Errorf("%v: in two columns of one matrix SinCos differs: %v", f, err)
			}
		}
		if err := SinCos(x, x, x, nil); err != nil || !x.Same(c) {
			t.Errorf("%v: in one vector SinCos leaves no cosines: %v", f, err)
		}
	}
}

func TestVectorErrors(t *testing.T) {
	dd, qd, f64 := halfulp.NewVector(halfulp.DD, 3), halfulp.NewVector(halfulp.QD, 3), halfulp.NewVector(halfulp.Float64, 3)
	mp := halfulp.NewVector(halfulp.MP(100), 3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for i, c := range []struct {
		err, want error
	}{
		{errOf(Add(dd, qd, dd, nil)), halfulp.ErrFormat},
		{errOf(Add(dd, mp, dd, nil)), halfulp.ErrFormat},
		{errOf(Add(dd, dd, f64, nil)), halfulp.ErrFormat},
		{errOf(Add(dd, dd, mp, nil)), halfulp.ErrFormat},
		{errOf(Map(Exp, qd, dd, nil)), halfulp.ErrFormat},
		{errOf(Add(dd, dd, dd, &halfulp.Options{Context: ctx})), context.Canceled},
		{errOf(Add(dd, dd, dd, &halfulp.Options{Method: "residue"})), halfulp.ErrMethod},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("case %d: error %v, want %v", i, c.err, c.want)
		}
	}
	if err := Map(Pow, dd, dd, nil); err == nil {
		t.Error("pow of one argument is no error")
	}
	if err := Map(Function(1000), dd, dd, nil); err == nil {
		t.Error("function 1000 is no error")
	}
	defer func() {
		if e := recover(); fmt.Sprint(e) != errShape {
			t.Errorf("shapes that differ: panic %v, want %q", e, errShape)
		}
	}()
	_ = Add(dd, halfulp.NewVector(halfulp.DD, 4), dd, nil)
}
